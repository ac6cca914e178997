from collections import Counter
from math import comb, factorial, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from junqi import layout as layout_module
from junqi.board import point_name
from junqi.errors import InvalidLayout
from junqi.layout import (
    LAYOUT_POINTS,
    canonical_layout,
    count_layouts,
    format_layout,
    layout_problems,
    mirror_layout,
    parse_layout,
    parse_layouts,
    place_layout,
    random_layouts,
)
from junqi.pieces import (
    BLACK,
    BOMB,
    FLAG,
    GENERAL,
    KINDS,
    MARSHAL,
    MINE,
    PIECE_OF_LETTER,
    RED,
)

SAMPLE = "abccddeeffggghhhiiijjkklj"
seeds = st.integers(0, 2**63)


def random_layout(seed: int) -> np.ndarray:
    return random_layouts(1, seed)[0]


def test_letters_go_row_by_row_from_the_front_and_skip_the_camps() -> None:
    names = [point_name(p) for p in LAYOUT_POINTS]
    rows = "G0 G1 G2 G3 G4 H0 H2 H4 I0 I1 I3 I4 J0 J2 J4 K0 K1 K2 K3 K4 L0 L1 L2 L3 L4"
    assert names == rows.split()


def test_the_sample_of_the_protocol_is_legal() -> None:
    assert layout_problems(SAMPLE) == []
    assert format_layout(parse_layout(SAMPLE)) == SAMPLE


@given(seeds)
def test_random_layouts_are_legal_and_round_trip(seed: int) -> None:
    layout = random_layout(seed)
    text = format_layout(layout)
    assert layout_problems(text) == []
    assert (parse_layout(text) == layout).all()
    assert layout.dtype == np.int8


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("abccddeeffggghhhiiijjkkl", ["expected 25 letters, got 24", "2 x mine (j): expected 3"]),
        ("abccddeeffggghhhiiijjkkljj", ["expected 25 letters, got 26", "4 x mine (j): expected 3"]),
        (
            "aaccddeeffggghhhiiijjkklj",
            ["2 x marshal (a): expected 1", "0 x general (b): expected 1"],
        ),
        (
            "kbccddeeffggghhhiiijjaklj",
            ["bomb (k) at G0: must not stand in the front row (G)"],
        ),
        (
            "abccddeeffjgghhhiiigjkklj",
            ["mine (j) at I3: must stand in the last two rows (K or L)"],
        ),
        (
            "abccddeeffggghhhiiijjkljk",
            ["flag (l) at L2: must stand in a headquarters (L1 or L3)"],
        ),
        ("zbccddeeffggghhhiiijjkklj", ["unknown piece 'z' at G0: expected a letter from a to l",
                                       "0 x marshal (a): expected 1"]),
        ("Abccddeeffggghhhiiijjkklj", ["capital A at G0: expected small letters"]),
        ("ABccddeeffggghhhiiijjkklj", ["capital A at G0, B at G1: expected small letters"]),
    ],
)  # fmt: skip
def test_every_reason_is_named(text: str, reasons: list[str]) -> None:
    assert layout_problems(text) == reasons


def test_several_rules_broken_at_once_are_all_named() -> None:
    problems = layout_problems("jlkkjjiiihhhgggffeeddccba")
    assert len(problems) == 6
    assert [problem.split(":")[0] for problem in problems] == [
        "mine (j) at G0",
        "flag (l) at G1",
        "bomb (k) at G2",
        "bomb (k) at G3",
        "mine (j) at G4",
        "mine (j) at H0",
    ]


def test_an_empty_text_misses_every_kind() -> None:
    assert len(layout_problems("")) == 13


def test_a_letter_that_only_looks_like_ours_is_unknown() -> None:
    # The Kelvin sign becomes k in small letters.
    assert "unknown piece '\N{KELVIN SIGN}'" in layout_problems("\N{KELVIN SIGN}" + SAMPLE[1:])[0]


def test_an_illegal_layout_is_quoted_with_all_its_reasons() -> None:
    with pytest.raises(InvalidLayout) as caught:
        parse_layout("abc")
    assert str(caught.value).startswith("not a legal layout: 'abc': expected 25 letters, got 3; ")


def test_several_layouts_make_one_array() -> None:
    assert parse_layouts([SAMPLE, SAMPLE]).shape == (2, 25)
    assert parse_layouts([]).shape == (0, 25)


def test_the_mirror_exchanges_left_and_right_row_by_row() -> None:
    mirrored = format_layout(mirror_layout(parse_layout(SAMPLE)))
    assert mirrored == "dccba" + "eed" + "ggff" + "hhg" + "jiiih" + "jlkkj"


@given(seeds)
def test_the_mirror_image_is_legal_and_mirrors_back(seed: int) -> None:
    layout = random_layout(seed)
    assert layout_problems(format_layout(mirror_layout(layout))) == []
    assert (mirror_layout(mirror_layout(layout)) == layout).all()


def test_many_layouts_are_mirrored_at_once() -> None:
    layouts = random_layouts(5, seed=1)
    for one, mirrored in zip(layouts, mirror_layout(layouts), strict=True):
        assert (mirror_layout(one) == mirrored).all()


@given(seeds)
def test_a_layout_and_its_mirror_image_have_one_canonical_form(seed: int) -> None:
    layout = random_layout(seed)
    canonical = format_layout(canonical_layout(layout))
    assert canonical == format_layout(canonical_layout(mirror_layout(layout)))
    assert canonical == min(format_layout(layout), format_layout(mirror_layout(layout)))
    assert canonical == format_layout(canonical_layout(parse_layout(canonical)))


def test_black_sits_at_the_top_as_black_sees_it() -> None:
    layout = parse_layout(SAMPLE)
    assert {point_name(p) for p, x in place_layout(layout, RED).items() if x == MARSHAL} == {"G0"}
    assert {point_name(p) for p, x in place_layout(layout, BLACK).items() if x == MARSHAL} == {"F4"}


def test_there_are_as_many_legal_layouts_as_the_rule_book_allows() -> None:
    assert count_layouts() == 709_596_419_051_520_000


def test_the_number_of_layouts_is_a_product_of_choices() -> None:
    others = [kind.count for kind in KINDS if kind.piece not in (FLAG, MINE, BOMB)]
    orders = factorial(sum(others))
    for count in others:
        orders //= factorial(count)
    # The flag's headquarters; mines on the other nine points of two rows; bombs on what is left
    # outside the front row.
    assert count_layouts() == 2 * comb(9, 3) * comb(16, 2) * orders


def test_the_same_seed_gives_the_same_layouts_and_a_longer_list_begins_with_the_shorter() -> None:
    assert (random_layouts(20, seed=7)[:5] == random_layouts(5, seed=7)).all()
    assert (random_layouts(5, seed=7) != random_layouts(5, seed=8)).any()
    assert random_layouts(0, seed=1).shape == (0, 25)


def test_random_layouts_are_the_same_however_many_are_drawn_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A million layouts once took a gigabyte for their random numbers.
    whole = random_layouts(100, seed=3)
    monkeypatch.setattr(layout_module, "_LAYOUTS_AT_ONCE", 7)
    assert (random_layouts(100, seed=3) == whole).all()


# A layout is made by four choices: the flag's headquarters; three of the nine points left for
# mines; two of the sixteen left for bombs; an order of the other nineteen. The layouts are
# uniform if these are uniform and independent.
DRAWN = 120_000


@pytest.fixture(scope="module")
def choices() -> list[tuple[int, tuple[int, ...], tuple[int, ...], int, int]]:
    made = []
    front = np.arange(25) < 5
    back = np.arange(25) >= 15
    for row in random_layouts(DRAWN, seed=20240501):
        is_flag, is_mine, is_bomb = row == FLAG, row == MINE, row == BOMB
        mines = tuple(np.flatnonzero(is_mine[back & ~is_flag]).tolist())
        bombs = tuple(np.flatnonzero(is_bomb[~front & ~is_flag & ~is_mine]).tolist())
        rest = row[~(is_flag | is_mine | is_bomb)]
        marshal, general = (int(np.flatnonzero(rest == x)[0]) for x in (MARSHAL, GENERAL))
        made.append((int(np.flatnonzero(is_flag)[0]), mines, bombs, marshal, general))
    return made


@pytest.mark.parametrize(
    ("fields", "cells"),
    [
        ((0, 1), 2 * 84),
        ((2,), 120),
        ((3, 4), 19 * 18),
        ((0, 3), 2 * 19),
        ((1, 3), 84 * 19),
        ((2, 3), 120 * 19),
        ((0, 2), 2 * 120),
    ],
    ids=["flag-mines", "bombs", "marshal-general", "flag-marshal", "mines-marshal",
         "bombs-marshal", "flag-bombs"],
)  # fmt: skip
def test_random_layouts_are_uniform(
    choices: list[tuple[object, ...]], fields: tuple[int, ...], cells: int
) -> None:
    counts = Counter(tuple(choice[field] for field in fields) for choice in choices)
    assert len(counts) == cells
    expected = len(choices) / cells
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    freedom = cells - 1
    # By Wilson and Hilferty this is nearly a standard normal number.
    normal = ((chi_square / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / sqrt(2 / (9 * freedom))
    assert abs(normal) < 3.5


def test_every_kind_stands_on_every_point_as_often_as_it_should() -> None:
    layouts = random_layouts(DRAWN, seed=5)
    for column, point in enumerate(LAYOUT_POINTS):
        name = point_name(point)
        flag = 1 / 2 if name in ("L1", "L3") else 0
        mine = 3 / 9 * (1 - flag) if name[0] in "KL" else 0
        bomb = 2 / 16 * (1 - flag - mine) if name[0] != "G" else 0
        for kind in KINDS:
            expected = {FLAG: flag, MINE: mine, BOMB: bomb}.get(
                kind.piece, kind.count / 19 * (1 - flag - mine - bomb)
            )
            seen = np.count_nonzero(layouts[:, column] == kind.piece)
            error = sqrt(DRAWN * expected * (1 - expected))
            assert abs(seen - DRAWN * expected) <= 4.5 * error, (kind.english, name)


@settings(max_examples=200)
@given(st.text(alphabet="abcdefghijklABK军 \n.", max_size=30))
def test_any_text_is_a_layout_or_has_reasons(text: str) -> None:
    problems = layout_problems(text)
    if problems:
        with pytest.raises(InvalidLayout):
            parse_layout(text)
    else:
        assert format_layout(parse_layout(text)) == text


def test_a_shuffled_layout_is_legal_only_if_the_rules_are_kept() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        text = "".join(rng.permutation(list(SAMPLE)))
        row_of_letter = dict(zip(LAYOUT_POINTS, text, strict=True))
        where = {x: {point_name(p) for p, y in row_of_letter.items() if y == x} for x in "jkl"}
        keeps = (
            where["l"] <= {"L1", "L3"}
            and all(name[0] in "KL" for name in where["j"])
            and all(name[0] != "G" for name in where["k"])
        )
        assert keeps == (layout_problems(text) == [])
    assert set(text) == set(PIECE_OF_LETTER)
