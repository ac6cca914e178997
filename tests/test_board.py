from itertools import combinations

import pytest

from junqi.board import (
    CAMPS,
    DRAWING,
    HEADQUARTERS_POINTS,
    IS_CAMP,
    IS_HEADQUARTERS,
    IS_RAIL,
    NEIGHBOURS,
    POINTS,
    RAIL_LINKS,
    RAIL_NEIGHBOURS,
    RAIL_RAYS,
    ROAD_LINKS,
    column_of,
    mirror_point,
    parse_point,
    point_at,
    point_name,
    rotate_point,
    row_of,
    seen_from,
)
from junqi.errors import InvalidBoard
from junqi.pieces import BLACK, RED

LINKS = {*ROAD_LINKS, *RAIL_LINKS}


def names(points: object) -> str:
    return " ".join(sorted(point_name(p) for p in points))  # type: ignore[attr-defined]


def linked(name: str) -> bool:
    return tuple(sorted((parse_point(name[:2]), parse_point(name[2:])))) in LINKS


def test_there_are_133_links_and_35_of_them_are_rail() -> None:
    assert len(LINKS) == len(ROAD_LINKS) + len(RAIL_LINKS) == 133
    assert len(RAIL_LINKS) == 35


def test_32_points_lie_on_rail() -> None:
    assert sum(IS_RAIL) == 32


def test_camps_and_headquarters_are_where_the_rule_book_has_them() -> None:
    assert names(CAMPS) == "C1 C3 D2 E1 E3 H1 H3 I2 J1 J3"
    assert names(HEADQUARTERS_POINTS[RED]) == "L1 L3"
    assert names(HEADQUARTERS_POINTS[BLACK]) == "A1 A3"
    assert sum(IS_CAMP) == 10
    assert sum(IS_HEADQUARTERS) == 4


def test_rail_runs_along_four_rows_two_columns_and_over_the_middle() -> None:
    rows = {
        (point_at(r, c), point_at(r, c + 1))
        for r in map("ABCDEFGHIJKL".index, "BFGK")
        for c in range(4)
    }
    columns = {(point_at(r, c), point_at(r + 1, c)) for r in range(1, 10) for c in (0, 4)}
    assert set(RAIL_LINKS) == rows | columns | {(parse_point("F2"), parse_point("G2"))}


def test_orthogonal_neighbours_are_linked_but_for_the_mountains() -> None:
    cut = set()
    for a, b in combinations(range(POINTS), 2):
        if (
            abs(row_of(a) - row_of(b)) + abs(column_of(a) - column_of(b)) == 1
            and (a, b) not in LINKS
        ):
            cut.add(point_name(a) + point_name(b))
    assert cut == {"F1G1", "F3G3"}


def test_diagonal_links_are_those_of_the_camps() -> None:
    for a, b in combinations(range(POINTS), 2):
        is_diagonal = abs(row_of(a) - row_of(b)) == abs(column_of(a) - column_of(b)) == 1
        if is_diagonal:
            assert ((a, b) in LINKS) == (IS_CAMP[a] or IS_CAMP[b])


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ("D2", "C1 C2 C3 D1 D3 E1 E2 E3"),
        ("C1", "B0 B1 B2 C0 C2 D0 D1 D2"),
        ("A0", "A1 B0"),
        ("F1", "E1 F0 F2"),
        ("F2", "E1 E2 E3 F1 F3 G2"),
        ("L3", "K3 L2 L4"),
    ],
)
def test_neighbours_of_a_point(point: str, expected: str) -> None:
    assert names(NEIGHBOURS[parse_point(point)]) == expected


def test_links_work_both_ways() -> None:
    for table in (NEIGHBOURS, RAIL_NEIGHBOURS):
        for p in range(POINTS):
            assert all(p in table[q] for q in table[p])


def test_a_straight_line_on_rail_is_a_line_on_the_drawing() -> None:
    rays = {names(ray) for ray in RAIL_RAYS[parse_point("F2")]}
    assert rays == {"F0 F1", "F3 F4", "G2"}
    rays = {names(ray) for ray in RAIL_RAYS[parse_point("F0")]}
    assert rays == {"B0 C0 D0 E0", "F1 F2 F3 F4", "G0 H0 I0 J0 K0"}


def test_rays_list_points_outwards() -> None:
    for p in range(POINTS):
        for ray in RAIL_RAYS[p]:
            steps = {b - a for a, b in zip((p, *ray), ray, strict=False)}
            assert len(steps) == 1


@pytest.mark.parametrize("turn", [rotate_point, mirror_point])
def test_the_board_looks_the_same_turned_and_in_the_mirror(turn: object) -> None:
    for links in (ROAD_LINKS, RAIL_LINKS):
        turned = {tuple(sorted((turn(a), turn(b)))) for a, b in links}  # type: ignore[operator]
        assert turned == set(links)
    for p in range(POINTS):
        assert IS_CAMP[p] == IS_CAMP[turn(p)]  # type: ignore[operator]
        assert IS_HEADQUARTERS[p] == IS_HEADQUARTERS[turn(p)]  # type: ignore[operator]
        assert turn(turn(p)) == p  # type: ignore[operator]


def test_g0_here_is_f4_there() -> None:
    assert point_name(rotate_point(parse_point("G0"))) == "F4"
    assert seen_from(parse_point("G0"), BLACK) == parse_point("F4")
    assert seen_from(parse_point("G0"), RED) == parse_point("G0")


def test_the_mirror_exchanges_left_and_right() -> None:
    assert point_name(mirror_point(parse_point("G0"))) == "G4"


def test_names_of_points_round_trip() -> None:
    assert [parse_point(point_name(p)) for p in range(POINTS)] == list(range(POINTS))


@pytest.mark.parametrize("name", ["", "A", "A5", "M0", "a0", "0A", "A00", "Ａ0", "A-1"])
def test_what_is_not_a_point_is_quoted(name: str) -> None:
    with pytest.raises(InvalidBoard, match="expected a point from A0 to L4, got") as caught:
        parse_point(name)
    assert repr(name) in str(caught.value)


def test_the_drawing_has_twelve_rows_of_five_points() -> None:
    assert sum(DRAWING.count(mark) for mark in "sCH") == POINTS


def test_mountains_stop_engineers_and_everyone_else() -> None:
    assert not linked("F1G1")
    assert not linked("F3G3")
    assert linked("F2G2")
