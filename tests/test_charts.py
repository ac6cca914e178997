"""Charts are well-formed SVG, and show what they are given."""

from xml.etree import ElementTree

import pytest

from layout_search.charts import (
    Dot,
    column_chart,
    heat_board,
    heat_matrix,
    line_chart,
    scatter_chart,
    smoothed,
)

NAUGHTY = 'a < b & "c"'


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in parsed(svg).iter("text")]


def of_class(svg: str, name: str) -> list[ElementTree.Element]:
    return [e for e in parsed(svg).iter() if name in e.get("class", "").split()]


def test_a_line_goes_up_where_values_do() -> None:
    svg = line_chart("x", "round", [[(1, 0.5), (2, 0.6), (3, 0.9)]], mark=0.5)
    (line,) = of_class(svg, "ch-line")
    points = [tuple(map(float, p.split())) for p in line.get("d", "")[1:].split("L")]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    heights = [y for _, y in points]
    assert heights == sorted(heights, reverse=True), "down is larger in SVG"
    assert {"50 %", "90 %"} <= set(texts(svg))


@pytest.mark.parametrize("values", [[], [(1.0, 0.5)], [(1.0, 0.5), (1.0, 0.5)], [(0.0, 0.0)]])
def test_few_values_are_no_reason_to_fail(values) -> None:
    parsed(line_chart("x", "round", [values]))
    parsed(scatter_chart("x", "one", "two", [Dot(x, y) for x, y in values]))


def test_dots_are_within_the_picture_with_their_errors() -> None:
    dots = [Dot(0.7, 0.6, "one", 0.02, 0.1), Dot(0.9, 0.8, NAUGHTY, 0.02, 0.1)]
    svg = scatter_chart("x", "fast", "strong", dots)
    circles = of_class(svg, "ch-dot")
    assert len(circles) == 2
    assert all(0 <= float(c.get("cx", "-1")) <= 640 for c in circles)
    assert [title.text for title in parsed(svg).iter("title")] == ["one", NAUGHTY]


def test_columns_are_as_high_as_their_values_and_stand_on_one_line() -> None:
    svg = column_chart("x", [("1", 0.6, "60 %"), (NAUGHTY, 0.3, NAUGHTY)])
    high, low = of_class(svg, "ch-bar")
    assert float(high.get("height", "0")) == pytest.approx(2 * float(low.get("height", "0")), abs=1)
    bottoms = [float(c.get("y", "0")) + float(c.get("height", "0")) for c in (high, low)]
    assert bottoms[0] == pytest.approx(bottoms[1], abs=0.2)
    assert NAUGHTY in texts(svg)
    parsed(column_chart("nothing", []))


def test_a_heat_board_has_numbers_where_something_stands() -> None:
    svg = heat_board("x", [[0.5, None, 0.0], [0.25, 0.001, 1.0]], 1.0)
    assert texts(svg) == ["50", "25", "100"]
    depths = [float(e.get("fill-opacity", "0")) for e in of_class(svg, "ch-heat")]
    assert depths[0] > depths[2] > depths[1] == 0
    parsed(heat_board("nothing", [[0.0]], 0.0))


def test_a_matrix_tells_wins_and_losses_apart() -> None:
    values = [[None, 0.25], [-0.25, None]]
    svg = heat_matrix("x", ["1", "2"], values, deepest=0.25, hint=lambda r, c: f"{r} {c}")
    assert len(of_class(svg, "ch-good")) == len(of_class(svg, "ch-bad")) == 1
    assert {"75", "25"} <= set(texts(svg))
    assert [title.text for title in parsed(svg).iter("title")] == ["0 1", "1 0"]


def test_smoothing_keeps_the_ends_and_the_straight() -> None:
    assert smoothed([1, 2, 3, 4, 5], 2) == [1, 2, 3, 4, 5]
    assert smoothed([0, 3, 0], 1) == [0, 1, 0]
    assert smoothed([], 2) == []
