"""Boards as text and as SVG.

``JUNQI_UPDATE_SNAPSHOTS=1 pytest tests/test_render.py`` writes the snapshots and the README's
picture anew; look at what changed before keeping it.
"""

import os
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from junqi.board import (
    DRAWING,
    POINTS,
    RAIL_LINKS,
    ROAD_LINKS,
    ROW_NAMES,
    parse_point,
    point_name,
)
from junqi.diagram import parse_diagram
from junqi.layout import parse_layout
from junqi.pieces import BLACK, EMPTY, HIDDEN, KINDS, NO_CONTACT, NOBODY, RED, Side, other
from junqi.render import (
    LAYOUT_ROWS,
    NAMES,
    PIECE_NAMES,
    Names,
    cells_of,
    default_names,
    display_width,
    render_layout_text,
    render_text,
    render_view_text,
)
from junqi.render_svg import MOUNTAINS, render_layout_svg, render_svg, render_view_svg
from junqi.rules import Move, Position, parse_move, play
from junqi.view import View

DATA = Path(__file__).parent / "data" / "render"
README_PICTURE = Path(__file__).parents[1] / "docs" / "board.svg"

RED_LAYOUT = "cigdcegkefkfaibgidjhhhjlj"
BLACK_LAYOUT = "hcgcgkikgfdfdabejiiejljhh"
START = Position.from_layouts(parse_layout(RED_LAYOUT), parse_layout(BLACK_LAYOUT))
# Each side holds a camp, red a headquarters of black's; one piece of each side is hidden.
MIDGAME = parse_diagram(
    [
        "JaJLH",
        "GJ.HI",
        "ECG.D",
        ".B.F.",
        "..iAD",
        "K...x",
        "c.g.X",
        "e.g.k",
        "ef..f",
        "..bi.",
        "g.djh",
        "hhjlj",
    ]
)
LAST_MOVE = parse_move("E0G0")
EMPTY_BOARD = Position((EMPTY,) * POINTS, (NOBODY,) * POINTS)
OTHER_COLOUR = {"red": "black", "black": "red"}


def hide(position: Position, side: Side) -> Position:
    owned = zip(position.pieces, position.owners, strict=True)
    return replace(position, pieces=tuple(HIDDEN if o == side else p for p, o in owned))


def swap_colours(position: Position) -> Position:
    return replace(position, owners=tuple(o if o == NOBODY else other(o) for o in position.owners))


def strip_styles(text: str) -> str:
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def check_snapshot(path: Path, text: str) -> None:
    if os.environ.get("JUNQI_UPDATE_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8", newline="\n")
    assert path.read_text(encoding="utf-8") == text


def elements(svg: str, name: str) -> list[ElementTree.Element]:
    """The elements of a picture that have a class."""
    root = ElementTree.fromstring(svg)
    return [e for e in root.iter() if name in e.get("class", "").split()]


def pieces_of(svg: str) -> dict[str, tuple[str, str, str]]:
    """Class, place and text of the piece on each point."""
    pieces = {
        e.attrib["data-point"]: (e.attrib["class"], e.attrib["transform"], "".join(e.itertext()))
        for e in elements(svg, "jq-piece")
    }
    assert len(pieces) == len(elements(svg, "jq-piece"))
    return pieces


def arrows_of(svg: str) -> list[bytes]:
    return [ElementTree.tostring(e) for e in elements(svg, "jq-last")]


men = st.one_of(
    st.just((EMPTY, NOBODY)),
    st.tuples(st.integers(1, HIDDEN), st.sampled_from((RED, BLACK))),
)
positions = st.lists(men, min_size=POINTS, max_size=POINTS).map(
    lambda placed: Position(tuple(p for p, _ in placed), tuple(o for _, o in placed))
)
moves = st.permutations(range(POINTS)).map(lambda points: Move(points[0], points[1]))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("start-english", render_text(hide(START, BLACK))),
        ("start-chinese", render_text(hide(START, BLACK), names="chinese")),
        ("start-letters", render_text(hide(START, BLACK), names="letters")),
        ("midgame-english", render_text(MIDGAME, highlight=LAST_MOVE)),
        ("midgame-letters", render_text(MIDGAME, names="letters", highlight=LAST_MOVE)),
        (
            "midgame-chinese-black-seat",
            render_text(hide(MIDGAME, RED), seat=BLACK, names="chinese", highlight=LAST_MOVE),
        ),
        (
            "midgame-chinese-color",
            render_text(hide(MIDGAME, BLACK), names="chinese", color=True, highlight=LAST_MOVE),
        ),
        ("layout-english", render_layout_text(parse_layout(RED_LAYOUT))),
        ("layout-chinese", render_layout_text(parse_layout(RED_LAYOUT), names="chinese")),
    ],
)
def test_text_is_as_it_was_when_looked_at(name: str, text: str) -> None:
    check_snapshot(DATA / f"{name}.txt", text + "\n")


def test_readme_picture_is_current() -> None:
    title = "A game of Junqi begins: red's pieces in the open, black's hidden"
    picture = render_svg(hide(START, BLACK), names="chinese", title=title)
    check_snapshot(README_PICTURE, picture)


@pytest.mark.parametrize("names", NAMES)
def test_lines_of_the_text_are_the_drawing_of_the_board(names: Names) -> None:
    labels, *lines = render_text(EMPTY_BOARD, names=names).split("\n")
    centres = [labels.index(label) for label in "01234"]
    halfway = [(a + b) // 2 for a, b in pairwise(centres)]

    def mark(line: str, column: int) -> str:
        if column in centres and line[0] in ROW_NAMES:
            bracket = line[: column + 1].rstrip()[-1]
            return {"+": "s", "(": "C", "[": "H"}[bracket]
        return "#" if line[column : column + 2] == "||" else line[column]

    drawn = ["".join(mark(line, c) for c in sorted(centres + halfway)) for line in lines]
    assert drawn == [line[4:] for line in DRAWING.strip("\n").splitlines()]


@given(position=positions, names=st.sampled_from(NAMES), color=st.booleans(), highlight=moves)
@settings(deadline=None)
def test_all_lines_are_equally_wide_and_fit_a_terminal(
    position: Position, names: Names, color: bool, highlight: Move
) -> None:
    text = render_text(position, names=names, color=color, highlight=highlight)
    widths = {display_width(line) for line in strip_styles(text).split("\n")}
    assert len(widths) == 1
    assert widths.pop() < 80


@given(position=positions, names=st.sampled_from(NAMES), highlight=st.none() | moves)
@settings(deadline=None)
def test_colour_adds_styles_and_changes_nothing_else(
    position: Position, names: Names, highlight: Move | None
) -> None:
    plain = render_text(position, names=names, highlight=highlight)
    coloured = render_text(position, names=names, highlight=highlight, color=True)
    assert "\x1b" not in plain
    assert strip_styles(coloured) == plain


def test_each_seat_sees_the_board_turned_by_180_degrees() -> None:
    red, black = cells_of(RED), cells_of(BLACK)
    assert all(black[p] == (11 - red[p][0], 4 - red[p][1]) for p in range(POINTS))
    assert cells_of(RED)[parse_point("G0")] == (6, 0)
    assert cells_of(BLACK)[parse_point("G0")] == (5, 4)
    assert cells_of(BLACK, LAYOUT_ROWS)[parse_point("F4")] == (0, 0)


@given(position=positions, names=st.sampled_from(NAMES), move=moves)
@settings(deadline=None)
def test_blacks_picture_is_reds_picture_of_the_turned_board(
    position: Position, names: Names, move: Move
) -> None:
    turned, turned_move = swap_colours(position.rotated()), move.rotated()
    from_black = render_text(position, seat=BLACK, names=names, highlight=move)
    assert from_black == render_text(turned, names=names, highlight=turned_move)
    svg = render_svg(position, seat=BLACK, names=names, highlight=move)
    turned_svg = render_svg(turned, names=names, highlight=turned_move)
    assert arrows_of(svg) == arrows_of(turned_svg)
    assert pieces_of(svg) == {
        point: (re.sub("red|black", lambda m: OTHER_COLOUR[m[0]], kind), place, text)
        for point, (kind, place, text) in pieces_of(turned_svg).items()
    }


@given(position=positions, names=st.sampled_from(NAMES), seat=st.sampled_from((RED, BLACK)))
@settings(deadline=None)
def test_only_what_is_shown_has_a_name(position: Position, names: Names, seat: Side) -> None:
    shown = Counter(PIECE_NAMES[names][p] for p in position.pieces if p not in (EMPTY, HIDDEN))
    svg = render_svg(position, names=names, seat=seat)
    faces = Counter(text for _, _, text in pieces_of(svg).values())
    assert faces.pop("", 0) == len(elements(svg, "jq-hidden")) == position.pieces.count(HIDDEN)
    assert faces == shown
    # Row labels and camps apart, letters on the board can only be names.
    lines = render_text(position, names=names, seat=seat).split("\n")[1::2]
    written = re.findall(r"[\^v]([A-Za-z\u4e00-\u9fff]+)", "".join(line[1:] for line in lines))
    assert Counter(written) == shown


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("seat", [RED, BLACK])
def test_a_board_of_hidden_pieces_tells_no_kind(names: Names, seat: Side) -> None:
    position = hide(hide(START, RED), BLACK)
    text = render_text(position, seat=seat, names=names, color=True)
    svg = render_svg(position, seat=seat, names=names).lower()
    for kind in KINDS:
        assert not {kind.english, kind.chinese} & set(re.findall(r"\w+", svg))
        assert kind.chinese not in text
    assert not re.search("[a-z]", re.sub("[vm^]", "", text))
    assert len({(kind, text) for kind, _, text in pieces_of(svg).values()}) == 2


@pytest.mark.parametrize("side", [RED, BLACK])
def test_a_view_is_drawn_from_its_players_seat(side: Side) -> None:
    view = View.start(side, RED_LAYOUT if side == RED else BLACK_LAYOUT)
    assert render_view_text(view) == render_text(hide(START, other(side)), seat=side)
    move = parse_move("G0H1")
    view = view.after(move if side == RED else move.rotated(), NO_CONTACT)
    known = hide(play(START, move)[0], other(side))
    assert render_view_text(view, names="chinese", color=True) == render_text(
        known, seat=side, names="chinese", color=True, highlight=move
    )
    assert render_view_svg(view) == render_svg(known, seat=side, highlight=move)


@pytest.mark.parametrize("seat", [RED, BLACK])
def test_svg_draws_every_point_and_link_once(seat: Side) -> None:
    full = Position((HIDDEN,) * POINTS, (RED,) * POINTS)
    svg = render_svg(full, seat=seat)
    names = sorted(map(point_name, range(POINTS)))
    assert sorted(e.attrib["data-point"] for e in elements(svg, "jq-point")) == names
    assert sorted(pieces_of(svg)) == names

    name_at = {
        tuple(re.findall(r"\d+", place)): name for name, (_, place, _) in pieces_of(svg).items()
    }

    def ends(path: ElementTree.Element) -> frozenset[str]:
        x, y, other_x, other_y = re.findall(r"\d+", path.attrib["d"])
        return frozenset((name_at[x, y], name_at[other_x, other_y]))

    roads = [ends(e) for e in elements(svg, "jq-road")]
    rails = [ends(e) for e in elements(svg, "jq-ties")]
    assert len(roads) + len(rails) == 133
    assert len(rails) == len(elements(svg, "jq-rail")) == 35
    assert set(roads) == {frozenset(map(point_name, link)) for link in ROAD_LINKS}
    assert set(rails) == {frozenset(map(point_name, link)) for link in RAIL_LINKS}


def test_mountains_stand_where_the_front_rows_are_cut() -> None:
    assert [(point_name(a), point_name(b)) for a, b in MOUNTAINS] == [("F1", "G1"), ("F3", "G3")]
    assert len(elements(render_svg(START), "jq-mountain")) == 2


def test_svg_points_are_called_as_the_seat_calls_them() -> None:
    assert pieces_of(render_svg(START, seat=BLACK))["L1"][0] == "jq-piece jq-black"
    assert pieces_of(render_svg(START, seat=BLACK, names="letters"))["A1"][2] == "l"
    assert pieces_of(render_svg(START, seat=RED, names="letters"))["L3"][2] == "l"


@given(title=st.text())
@settings(deadline=None)
def test_any_title_makes_a_picture_that_can_be_read(title: str) -> None:
    root = ElementTree.fromstring(render_svg(START, title=title))
    assert root.attrib["role"] == "img"
    assert root[0].tag.endswith("title")


def test_title_is_escaped() -> None:
    svg = render_svg(START, title='<script> & "甲"\0')
    assert "<script>" not in svg
    assert ElementTree.fromstring(svg)[0].text == '<script> & "甲"'


def test_a_picture_needs_nothing_from_elsewhere_and_has_no_ids() -> None:
    svg = render_svg(MIDGAME, highlight=LAST_MOVE)
    assert re.findall('https?://[^"]*', svg) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"url\(|@import|href|\bid=", svg)
    classes = {
        name for e in ElementTree.fromstring(svg).iter() for name in e.get("class", "").split()
    }
    assert all(name.startswith("jq-") for name in classes)


@pytest.mark.parametrize("side", [RED, BLACK])
def test_a_layout_alone_shows_its_25_pieces(side: Side) -> None:
    layout = parse_layout(RED_LAYOUT)
    text = render_layout_text(layout, side=side, names="letters")
    assert [line[0] for line in text.split("\n")[1::2]] == list(LAYOUT_ROWS)
    assert "".join(re.findall(r"\^(.)", text)) == RED_LAYOUT
    svg = render_layout_svg(layout, side=side, names="letters")
    pieces = pieces_of(svg)
    assert "".join(text for _, _, text in pieces.values()) == RED_LAYOUT
    assert {name[0] for name in pieces} == set(LAYOUT_ROWS)
    assert len(elements(svg, "jq-point")) == 30
    assert not elements(svg, "jq-mountain")


def test_a_move_that_leaves_the_drawn_rows_has_no_arrow() -> None:
    svg = render_svg(MIDGAME, highlight=LAST_MOVE, rows=LAYOUT_ROWS)
    assert arrows_of(svg) == []


@pytest.mark.parametrize("rows", ["", "AC", "LK", "M"])
def test_rows_that_are_no_part_of_the_board_are_refused(rows: str) -> None:
    with pytest.raises(ValueError, match="expected rows like 'ABCDEFGHIJKL'"):
        render_text(START, rows=rows)


@pytest.mark.parametrize(
    ("encoding", "environ", "names"),
    [
        ("utf-8", {}, "english"),
        ("utf-8", {"LANG": "en_GB.UTF-8"}, "english"),
        ("utf-8", {"LANG": "zh_CN.UTF-8"}, "chinese"),
        ("gbk", {"LC_ALL": "zh_CN.GBK"}, "chinese"),
        ("ascii", {"LANG": "zh_CN.UTF-8"}, "english"),
        (None, {"LANG": "zh_CN.UTF-8"}, "english"),
        ("no-such-encoding", {"LANG": "zh_CN.UTF-8"}, "english"),
        ("utf-8", {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "english"),
        ("utf-8", {"LC_ALL": "", "LC_MESSAGES": "zh_TW.UTF-8", "LANG": "en_US"}, "chinese"),
        ("utf-8", {"JUNQI_NAMES": "letters", "LANG": "zh_CN.UTF-8"}, "letters"),
        ("utf-8", {"JUNQI_NAMES": "auto", "LANG": "zh_CN.UTF-8"}, "chinese"),
        ("utf-8", {"JUNQI_NAMES": "", "LANG": "zh_CN.UTF-8"}, "chinese"),
    ],
)
def test_names_follow_the_terminal(
    encoding: str | None, environ: dict[str, str], names: Names
) -> None:
    assert default_names(encoding, environ) == names


def test_unknown_names_in_the_environment_are_refused() -> None:
    with pytest.raises(ValueError, match="got 'klingon'"):
        default_names("utf-8", {"JUNQI_NAMES": "klingon"})


@pytest.mark.parametrize("names", NAMES)
def test_every_kind_has_a_name_of_its_own_that_fits(names: Names) -> None:
    written = PIECE_NAMES[names]
    assert set(written) == {kind.piece for kind in KINDS}
    assert len(set(written.values())) == len(KINDS)
    assert max(map(display_width, written.values())) <= 4
