import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SAMPLE = "abccddeeffggghhhiiijjkklj"
UNEVEN = ("hhgebeaigfihcdijjfdjklcgk", "ffebigcihgkiddchjjkgalehj")
POSITIONS = Path(__file__).parent / "data" / "positions.json"
BOARD = [".L...", *["....."] * 9, "i....", ".l..."]

Cli = Callable[..., Any]


def item(**changes: object) -> dict[str, object]:
    return {"board": BOARD, "side": "bottom"} | changes


# moves


def test_the_moves_of_400_positions_are_filled_in(cli: Cli) -> None:
    given = json.loads(POSITIONS.read_text())
    bare = [{key: value for key, value in one.items() if key != "moves"} for one in given]
    ran = cli("rules", "moves", "-", stdin=json.dumps(bare))
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out) == given


def test_the_output_has_the_form_of_the_data(cli: Cli) -> None:
    assert cli("rules", "moves", POSITIONS).out.strip() == POSITIONS.read_text().strip()


def test_other_keys_are_kept(cli: Cli) -> None:
    ran = cli("rules", "moves", "-", stdin=json.dumps([item(name="残局", moves=["old"])]))
    (answer,) = json.loads(ran.out)
    assert answer["name"] == "残局"
    assert "K0L0" in answer["moves"]
    assert "old" not in answer["moves"]


def test_moves_of_the_top_side_are_in_the_printed_boards_coordinates(cli: Cli) -> None:
    board = ["A....", *["....."] * 11]
    ran = cli("rules", "moves", "-", stdin=json.dumps([item(board=board, side="top")]))
    assert json.loads(ran.out)[0]["moves"] == ["A0A1", "A0B0"]


def test_no_positions_have_no_moves(cli: Cli) -> None:
    assert cli("rules", "moves", "-", stdin="[]").out == "[]\n"


def test_an_engine_that_there_is_not_is_wrong_usage(cli: Cli) -> None:
    ran = cli("rules", "moves", POSITIONS, "--engine", "magic")
    assert ran.code == 2
    assert "expected one of rules, kernel for --engine, got 'magic'" in ran.err


def test_the_kernels_give_the_same_answers(cli: Cli) -> None:
    start = ["rules", "perft", "--bottom", UNEVEN[0], "--top", UNEVEN[1], "--depth", 3]
    for args in (["rules", "moves", POSITIONS], start, [*start, "--divide"]):
        by_rules = cli(*args, "--engine", "rules")
        by_kernel = cli(*args, "--engine", "kernel")
        assert (by_kernel.code, by_kernel.out) == (0, by_rules.out)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "standard input: expected JSON with a list of positions, got nothing"),
        ("x", "standard input:1:1: expected JSON with a list of positions: Expecting value"),
        ("[\n{]", "standard input:2:2: expected JSON with a list of positions: "),
        ("[" * 100_000, "standard input: expected JSON with a list of positions: "),
        ("{}", "standard input: expected a list of positions, got {}"),
        ("[1]", 'standard input: item 1: expected an object with "board" and "side", got 1'),
        ([item(), {"side": "top"}],
         'standard input: item 2: expected an object with "board" and "side", got no "board"'),
        ([{"board": BOARD}],
         'standard input: item 1: expected an object with "board" and "side", got no "side"'),
        ([item(board="....")],
         'standard input: item 1: expected a list of rows for "board", got "...."'),
        ([item(board=[*BOARD, "....."])], "item 1: expected 12 rows in a board, got 13"),
        ([item(board=BOARD[:11])], "item 1: expected 12 rows in a board, got 11"),
        ([item(board=[*BOARD[:11], "...z."])],
         "item 1: expected a-l, A-L, x, X or . on L3, got 'z'"),
        ([item(board=[*BOARD[:11], 7])], "item 1: expected 5 letters in row 12, got 7"),
        ([item(), item(), item(side="left")],
         'item 3: expected "bottom" or "top" for "side", got "left"'),
        ([item(side=None)], 'item 1: expected "bottom" or "top" for "side", got null'),
        ([item(side=[])], 'item 1: expected "bottom" or "top" for "side", got []'),
    ],
)  # fmt: skip
def test_what_is_wrong_with_positions_is_told_in_one_line(
    cli: Cli, text: object, message: str
) -> None:
    given = text if isinstance(text, str) else json.dumps(text)
    ran = cli("rules", "moves", "-", stdin=given)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("junqi: error: ")
    assert ran.err.count("\n") == 1
    assert message in ran.err


def test_a_binary_file_is_told_in_one_line(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "binary"
    file.write_bytes(b"\x80\x81")
    ran = cli("rules", "moves", file)
    assert ran.code == 1
    assert ran.err == (
        f"junqi: error: {file}: expected text in UTF-8, got the byte 0x80 at offset 0\n"
    )


# perft


def test_sequences_are_counted_depth_by_depth(cli: Cli) -> None:
    ran = cli("rules", "perft", "--bottom", SAMPLE, "--top", SAMPLE, "--depth", 3)
    assert (ran.code, ran.out, ran.err) == (0, "1 34\n2 1159\n3 36260\n", "")


def test_layouts_are_each_in_their_own_players_coordinates(cli: Cli) -> None:
    bottom, top = UNEVEN
    args = ["rules", "perft", "--bottom", bottom, "--top", top, "--depth", 2, "--json"]
    assert json.loads(cli(*args).out) == [{"depth": 1, "count": 32}, {"depth": 2, "count": 1027}]


def test_the_top_side_may_move_first(cli: Cli) -> None:
    bottom, top = UNEVEN
    turned = cli("rules", "perft", "--bottom", top, "--top", bottom, "--depth", 2)
    ran = cli("rules", "perft", "--bottom", bottom, "--top", top, "--depth", 2, "--top-first")
    assert ran.out == turned.out


def test_sequences_are_counted_for_each_first_move(cli: Cli) -> None:
    args = ["rules", "perft", "--bottom", SAMPLE, "--top", SAMPLE, "--depth", 2, "--divide"]
    lines = [line.split() for line in cli(*args).out.splitlines()]
    assert lines[0] == ["G0F0", "34"]
    assert lines[-1] == ["total", "1159"]
    assert sum(int(count) for _, count in lines[:-1]) == 1159
    data = json.loads(cli(*args, "--json").out)
    assert data["depth"] == 2
    assert data["total"] == 1159
    assert data["moves"] == {move: int(count) for move, count in lines[:-1]}


@pytest.mark.parametrize("in_list", [False, True])
def test_sequences_are_counted_from_a_board(cli: Cli, in_list: bool) -> None:
    data: object = [item()] if in_list else item()
    ran = cli("rules", "perft", "--board", "-", "--depth", 1, stdin=json.dumps(data))
    moves = cli("rules", "moves", "-", stdin=json.dumps([item()]))
    assert ran.out == f"1 {len(json.loads(moves.out)[0]['moves'])}\n"


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["--bottom", SAMPLE], 2, "expected --bottom and --top, or --board"),
        (["--board", "-", "--top", SAMPLE], 2, "expected --board without --bottom, --top and"),
        (["--board", "-", "--top-first"], 2, "expected --board without --bottom, --top and"),
        (["--bottom", SAMPLE, "--top", "abc"], 1, "not a legal layout: 'abc'"),
        (["--board", "-"], 1, "standard input: expected one position, got a list of 2"),
    ],
)
def test_what_cannot_be_counted_is_told_in_one_line(
    cli: Cli, args: list[str], code: int, message: str
) -> None:
    ran = cli("rules", "perft", "--depth", 1, *args, stdin=json.dumps([item(), item()]))
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.count("\n") == 1
    assert message in ran.err
