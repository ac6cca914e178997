import pytest

from junqi.pieces import (
    ATTACKER_WINS,
    BLACK,
    BOMB,
    BOTH_REMOVED,
    DEFENDER_WINS,
    EMPTY,
    ENGINEER,
    KINDS,
    LETTER_OF_PIECE,
    MARSHAL,
    MINE,
    NO_CONTACT,
    PIECE_OF_LETTER,
    PIECES_A_SIDE,
    RED,
    contact,
    other,
    piece_name,
)

# The table of the contest's protocol, as printed there. Attackers are in the head line; each
# cell names who loses.
RULE_BOOK = """
| 攻守 | 司令   | 军长   | 师长   | 旅长   | 团长   | 营长   | 连长   | 排长   | 工兵   | 炸弹 |
| 司令 | 同尽   | 军长败 | 师长败 | 旅长败 | 团长败 | 营长败 | 连长败 | 排长败 | 工兵败 | 同尽 |
| 军长 | 军长败 | 同尽   | 师长败 | 旅长败 | 团长败 | 营长败 | 连长败 | 排长败 | 工兵败 | 同尽 |
| 师长 | 师长败 | 师长败 | 同尽   | 旅长败 | 团长败 | 营长败 | 连长败 | 排长败 | 工兵败 | 同尽 |
| 旅长 | 旅长败 | 旅长败 | 旅长败 | 同尽   | 团长败 | 营长败 | 连长败 | 排长败 | 工兵败 | 同尽 |
| 团长 | 团长败 | 团长败 | 团长败 | 团长败 | 同尽   | 营长败 | 连长败 | 排长败 | 工兵败 | 同尽 |
| 营长 | 营长败 | 营长败 | 营长败 | 营长败 | 营长败 | 同尽   | 连长败 | 排长败 | 工兵败 | 同尽 |
| 连长 | 连长败 | 连长败 | 连长败 | 连长败 | 连长败 | 连长败 | 同尽   | 排长败 | 工兵败 | 同尽 |
| 排长 | 排长败 | 排长败 | 排长败 | 排长败 | 排长败 | 排长败 | 排长败 | 同尽   | 工兵败 | 同尽 |
| 工兵 | 工兵败 | 工兵败 | 工兵败 | 工兵败 | 工兵败 | 工兵败 | 工兵败 | 工兵败 | 同尽   | 同尽 |
| 地雷 | 司令败 | 军长败 | 师长败 | 旅长败 | 团长败 | 营长败 | 连长败 | 排长败 | 地雷败 | 同尽 |
| 炸弹 | 同尽   | 同尽   | 同尽   | 同尽   | 同尽   | 同尽   | 同尽   | 同尽   | 同尽   | 同尽 |
| 军旗 | 军旗败 | 军旗败 | 军旗败 | 军旗败 | 军旗败 | 军旗败 | 军旗败 | 军旗败 | 军旗败 | 同尽 |
"""

PIECE_OF_CHINESE = {kind.chinese: kind.piece for kind in KINDS}


def rule_book_cells() -> list[tuple[str, str, str]]:
    rows = [line.strip("|").split("|") for line in RULE_BOOK.split("\n") if line]
    table = [[cell.strip() for cell in row] for row in rows]
    attackers = table[0][1:]
    return [
        (attacker, row[0], verdict)
        for row in table[1:]
        for attacker, verdict in zip(attackers, row[1:], strict=True)
    ]


def test_the_rule_book_has_every_kind_as_defender_and_every_mobile_kind_as_attacker() -> None:
    cells = rule_book_cells()
    assert len(cells) == 120
    assert {defender for _, defender, _ in cells} == set(PIECE_OF_CHINESE)
    assert {attacker for attacker, _, _ in cells} == set(PIECE_OF_CHINESE) - {"地雷", "军旗"}


@pytest.mark.parametrize(("attacker", "defender", "verdict"), rule_book_cells())
def test_contact_follows_the_rule_book(attacker: str, defender: str, verdict: str) -> None:
    expected = {
        "同尽": BOTH_REMOVED,
        f"{attacker}败": DEFENDER_WINS,
        f"{defender}败": ATTACKER_WINS,
    }[verdict]
    assert contact(PIECE_OF_CHINESE[attacker], PIECE_OF_CHINESE[defender]) == expected


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.english)
def test_nothing_is_met_on_an_empty_point(kind: object) -> None:
    assert contact(kind.piece, EMPTY) == NO_CONTACT  # type: ignore[attr-defined]


def test_the_codes_of_results_are_those_of_the_protocol() -> None:
    assert (DEFENDER_WINS, ATTACKER_WINS, BOTH_REMOVED, NO_CONTACT) == (0, 1, 2, 3)


def test_a_side_has_25_pieces_in_the_numbers_of_the_rule_book() -> None:
    assert PIECES_A_SIDE == 25
    counts = {kind.letter: kind.count for kind in KINDS}
    assert counts == dict(zip("abcdefghijkl", (1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 2, 1), strict=True))


def test_letters_and_pieces_undo_each_other() -> None:
    assert "".join(PIECE_OF_LETTER) == "abcdefghijkl"
    for letter, piece in PIECE_OF_LETTER.items():
        assert LETTER_OF_PIECE[piece] == letter


def test_names_and_codes_are_each_given_once() -> None:
    for field in ("piece", "letter", "english", "chinese"):
        assert len({getattr(kind, field) for kind in KINDS}) == 12


def test_officers_are_numbered_by_rank() -> None:
    officers = [kind.piece for kind in KINDS[:9]]
    assert officers == sorted(officers, reverse=True)
    assert (officers[0], officers[-1]) == (MARSHAL, ENGINEER)
    assert min(BOMB, MINE) > MARSHAL


def test_each_side_is_the_other_of_the_other() -> None:
    assert (other(RED), other(BLACK)) == (BLACK, RED)


def test_a_piece_is_named_with_its_letter() -> None:
    assert piece_name(MARSHAL) == "marshal (a)"
