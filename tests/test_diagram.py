import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from junqi.diagram import SEATS, format_diagram, parse_diagram
from junqi.errors import InvalidBoard
from junqi.pieces import BLACK, BOMB, HIDDEN, RED
from junqi.rules import format_move, legal_moves

POSITIONS = json.loads((Path(__file__).parent / "data" / "positions.json").read_text())
EMPTY_BOARD = ["....."] * 12


def with_row(number: int, row: object) -> list[str]:
    return [*EMPTY_BOARD[:number], row, *EMPTY_BOARD[number + 1 :]]  # type: ignore[list-item]


def test_there_are_400_positions() -> None:
    assert len(POSITIONS) == 400
    assert {item["side"] for item in POSITIONS} == {"bottom", "top"}


@pytest.mark.parametrize("number", range(400))
def test_moves_equal_those_of_an_independent_implementation(number: int) -> None:
    item = POSITIONS[number]
    position = parse_diagram(item["board"], SEATS[item["side"]])
    assert [format_move(move) for move in legal_moves(position)] == item["moves"]


def test_boards_round_trip() -> None:
    for item in POSITIONS:
        assert format_diagram(parse_diagram(item["board"])) == item["board"]


@given(
    st.lists(
        st.text("abcdefghijklABCDEFGHIJKLxX.", min_size=5, max_size=5), min_size=12, max_size=12
    )
)
def test_any_board_round_trips(board: list[str]) -> None:
    assert format_diagram(parse_diagram(board)) == board


def test_small_letters_are_red_capitals_black_and_x_is_hidden() -> None:
    position = parse_diagram(with_row(0, "kKxX."), BLACK)
    assert position.owners[:5] == (RED, BLACK, RED, BLACK, -1)
    assert position.pieces[:4] == (BOMB, BOMB, HIDDEN, HIDDEN)
    assert position.to_move == BLACK


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ([], "expected 12 rows in a board, got 0"),
        (["....."] * 13, "expected 12 rows in a board, got 13"),
        (with_row(2, "...."), "expected 5 letters in row 3, got '....'"),
        (with_row(2, "......"), "expected 5 letters in row 3, got '......'"),
        (with_row(2, 5), "expected 5 letters in row 3, got 5"),
        (with_row(2, ["."] * 5), "expected 5 letters in row 3, got ['.', '.', '.', '.', '.']"),
        (with_row(11, "...z."), "expected a-l, A-L, x, X or . on L3, got 'z'"),
        (with_row(0, "军...."), "expected a-l, A-L, x, X or . on A0, got '军'"),
        # The Kelvin sign becomes k in small letters; it was once taken for a bomb of black's.
        (with_row(0, "\N{KELVIN SIGN}...."), "on A0, got '\N{KELVIN SIGN}'"),
    ],
)
def test_what_is_wrong_with_a_board_is_said_with_its_place(board: list[str], message: str) -> None:
    with pytest.raises(InvalidBoard) as caught:
        parse_diagram(board)
    assert message in str(caught.value)
