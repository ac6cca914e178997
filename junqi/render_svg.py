"""A board as SVG: one self-contained picture that scales, for files and for the browser.

All class names begin with ``jq-``, and there are no ids, so that many boards fit on one page.
Each point and each piece carries ``data-point``, its name as the player in the seat calls it.
What a hidden piece is stands nowhere in the picture.
"""

import re
from collections.abc import Iterable
from html import escape
from math import atan2, degrees, hypot, inf
from typing import TypeAlias

from junqi.board import (
    CAMP,
    COLUMN_NAMES,
    COLUMNS,
    HEADQUARTERS,
    NEIGHBOURS,
    PLACE,
    POINTS,
    RAIL_LINKS,
    ROAD_LINKS,
    ROW_NAMES,
    STATION,
    Point,
)
from junqi.layout import Layout
from junqi.pieces import EMPTY, HIDDEN, RED, SIDE_NAMES, Piece, Side
from junqi.render import (
    LAYOUT_ROWS,
    PIECE_NAMES,
    Cell,
    Names,
    cells_of,
    layout_on_board,
    view_on_board,
)
from junqi.rules import Move, Position
from junqi.view import View

XY: TypeAlias = tuple[int, int]

# Distances between the centres of neighbouring points, and from the outer ones to the rim.
PITCH_X, PITCH_Y = 88, 64
MARGIN_X, MARGIN_Y = 68, 58
# The rows F and G stand further apart, to leave room for the mountains.
FRONTIER = 14
TILE_WIDTH, TILE_HEIGHT = 64, 40
CAMP_RADIUS = 30
RAIL_GAUGE = 6

CLASS_OF_PLACE = {STATION: "jq-station", CAMP: "jq-camp", HEADQUARTERS: "jq-headquarters"}

# Neighbours in a column with no link between them: a mountain stands there.
MOUNTAINS = [(p, p + COLUMNS) for p in range(POINTS - COLUMNS) if p + COLUMNS not in NEIGHBOURS[p]]

STYLE = """
.jq-board{font-family:"Noto Sans CJK SC","Noto Sans SC","Source Han Sans SC","PingFang SC",
"Hiragino Sans GB","Microsoft YaHei","WenQuanYi Micro Hei",system-ui,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif;text-anchor:middle}
.jq-paper{fill:#f4ead2;stroke:#a58f66;stroke-width:2}
.jq-label{fill:#6b5b3e;font-size:16px;font-weight:600}
.jq-road{stroke:#97865f;stroke-width:1.8}
.jq-rail path{fill:none;stroke:#4b4538;stroke-width:2}
.jq-rail .jq-ties{stroke:#8b7a58;stroke-width:13;stroke-dasharray:3 5}
.jq-mountain{fill:#8d9a78;stroke:#5f6b4e;stroke-width:1.5;stroke-linejoin:round}
.jq-point{fill:#fdf8ea;stroke:#7d6d4a;stroke-width:1.8}
.jq-camp{fill:#d5e2b6;stroke:#56703a;stroke-width:2.6}
.jq-headquarters{fill:#e9d3a4;stroke:#8a6a2c;stroke-width:2.6}
.jq-piece rect{stroke-width:1.6}
.jq-piece text{font-weight:700;font-size:19px}
.jq-chinese .jq-piece text{font-size:24px}
.jq-letters .jq-piece text{font-size:24px}
.jq-red rect{fill:#b3211b;stroke:#6f0f0b}
.jq-red text{fill:#fff6ea}
.jq-black rect{fill:#22304a;stroke:#0b1322}
.jq-black text{fill:#f2f6ff}
.jq-piece .jq-back{fill:none;stroke-width:1.4}
.jq-red .jq-back{stroke:#e58d83}
.jq-black .jq-back{stroke:#7f93b8}
.jq-last{pointer-events:none}
.jq-last rect{fill:none;stroke:#f2a900;stroke-width:4}
.jq-last .jq-origin{stroke-dasharray:6 4;stroke-width:3}
.jq-arrow{fill:#f2a900;stroke:#5c4000;stroke-width:1.2;stroke-linejoin:round}
"""


def render_svg(
    position: Position,
    *,
    seat: Side = RED,
    names: Names = "english",
    highlight: Move | None = None,
    title: str | None = None,
    rows: str = ROW_NAMES,
    has_style: bool = True,
) -> str:
    """Draw a board as an SVG document, which may also be put into a page as it is.

    Args:
        position: the board; what the onlooker must not see is `HIDDEN` in it.
        seat: who sits at the bottom.
        names: what is written on the pieces.
        highlight: a move that is drawn as an arrow.
        title: what the picture is called for those who do not see it.
        rows: the rows to draw, see `cells_of`.
        has_style: whether `STYLE` is in it; a page may have it once for all its boards.
    """
    cells = cells_of(seat, rows)
    centres = {point: centre_of(cell, rows) for point, cell in cells.items()}
    called = _called(cells, rows)
    last_move = [highlight] if highlight else []
    width, height = size_of(rows)
    title = xml_text(title or f"Junqi board, {SIDE_NAMES[seat]} at the bottom")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
            f' class="jq-board jq-{names}" role="img" aria-label="{title}">',
            f"<title>{title}</title>",
            *([f"<style>{STYLE}</style>"] if has_style else []),
            *ground_lines(seat, rows),
            *(
                _piece(position.pieces[p], position.owners[p], names, called[p], centre)
                for p, centre in centres.items()
                if position.pieces[p] != EMPTY
            ),
            *(_arrow(centres[a], centres[b]) for a, b in _drawn(last_move, centres)),
            "</svg>\n",
        ]
    )


def ground_lines(seat: Side, rows: str) -> list[str]:
    """The elements of a board without pieces, to be drawn first."""
    cells = cells_of(seat, rows)
    centres = {point: centre_of(cell, rows) for point, cell in cells.items()}
    called = _called(cells, rows)
    width, height = size_of(rows)
    return [
        f'<rect class="jq-paper" x="1" y="1" width="{width - 2}" height="{height - 2}" rx="14"/>',
        *_labels(rows, width, height),
        *(_mountain(centres[a], centres[b]) for a, b in _drawn(MOUNTAINS, centres)),
        *(_road(centres[a], centres[b]) for a, b in _drawn(ROAD_LINKS, centres)),
        *(_rail(centres[a], centres[b]) for a, b in _drawn(RAIL_LINKS, centres)),
        *(_place(PLACE[p], called[p], centre) for p, centre in centres.items()),
    ]


def render_layout_svg(
    layout: Layout,
    *,
    side: Side = RED,
    names: Names = "english",
    title: str | None = None,
    has_style: bool = True,
) -> str:
    """Draw a layout alone, rows G to L, as its player sees it."""
    return render_svg(
        layout_on_board(layout, side),
        seat=side,
        names=names,
        title=title or f"Junqi layout of {SIDE_NAMES[side]}",
        rows=LAYOUT_ROWS,
        has_style=has_style,
    )


def render_view_svg(
    view: View, *, names: Names = "english", title: str | None = None, has_style: bool = True
) -> str:
    """Draw what a player knows, from his seat, with the last move as an arrow."""
    position, last = view_on_board(view)
    return render_svg(
        position,
        seat=view.side,
        names=names,
        highlight=last,
        title=title,
        has_style=has_style,
    )


def centre_of(cell: Cell, rows: str) -> XY:
    """Where on the picture the middle of a cell is."""
    line, column = cell
    below_frontier = "F" in rows and rows[line] > "F"
    y = MARGIN_Y + PITCH_Y * line + (FRONTIER if below_frontier else 0)
    return MARGIN_X + PITCH_X * column, y


def size_of(rows: str) -> XY:
    """The width and the height of a picture with these rows."""
    right, bottom = centre_of((len(rows) - 1, COLUMNS - 1), rows)
    return right + MARGIN_X, bottom + MARGIN_Y


def _called(cells: dict[Point, Cell], rows: str) -> dict[Point, str]:
    """What the player in the seat calls each drawn point."""
    return {point: rows[line] + COLUMN_NAMES[column] for point, (line, column) in cells.items()}


def _drawn(
    links: Iterable[tuple[Point, Point]], centres: dict[Point, XY]
) -> list[tuple[Point, Point]]:
    """Those of the links that have both ends on the picture."""
    return [(a, b) for a, b in links if a in centres and b in centres]


def xml_text(text: str) -> str:
    """A text as XML may hold it: escaped, and without the characters it forbids."""
    return escape(re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", text))


def _labels(rows: str, width: int, height: int) -> list[str]:
    """The names of the rows on both sides, and of the columns above and below."""
    spots: list[tuple[int, int, str]] = []
    for line, name in enumerate(rows):
        y = centre_of((line, 0), rows)[1]
        spots += [(20, y, name), (width - 20, y, name)]
    for column, name in enumerate(COLUMN_NAMES):
        x = centre_of((0, column), rows)[0]
        spots += [(x, 18, name), (x, height - 18, name)]
    return [
        f'<text class="jq-label" x="{x}" y="{y}" dy=".35em">{name}</text>' for x, y, name in spots
    ]


def _mountain(a: XY, b: XY) -> str:
    x, y = (a[0] + b[0]) / 2, (a[1] + b[1]) / 2
    peaks = "M-33 14L-15-9L-6 2L8-15L33 14Z"
    return f'<path class="jq-mountain" transform="translate({x:g} {y:g})" d="{peaks}"/>'


def _road(a: XY, b: XY) -> str:
    return f'<path class="jq-road" d="M{a[0]} {a[1]}L{b[0]} {b[1]}"/>'


def _rail(a: XY, b: XY) -> str:
    """Two rails on their ties, which are the dashes of a broad line."""
    across = (0, RAIL_GAUGE) if a[1] == b[1] else (RAIL_GAUGE, 0)
    rails = "".join(
        f"M{a[0] + side * across[0]:g} {a[1] + side * across[1]:g}"
        f"L{b[0] + side * across[0]:g} {b[1] + side * across[1]:g}"
        for side in (-0.5, 0.5)
    )
    ties = f"M{a[0]} {a[1]}L{b[0]} {b[1]}"
    return f'<g class="jq-rail"><path class="jq-ties" d="{ties}"/><path d="{rails}"/></g>'


def _place(place: str, name: str, centre: XY) -> str:
    """An empty point by its kind."""
    x, y = centre
    about = f'class="jq-point {CLASS_OF_PLACE[place]}" data-point="{name}"'
    if place == CAMP:
        return f'<circle {about} cx="{x}" cy="{y}" r="{CAMP_RADIUS}"/>'
    if place == HEADQUARTERS:
        octagon = "l12-13h54l12 13v28l-12 13h-54l-12-13z"
        return f'<path {about} d="M{x - 39} {y - 14}{octagon}"/>'
    return f'<rect {about} x="{x - 20}" y="{y - 12}" width="40" height="24" rx="5"/>'


def _piece(piece: Piece, owner: Side, names: Names, point: str, centre: XY) -> str:
    """A tile with its name, or the back of one."""
    kind = f"jq-piece jq-{SIDE_NAMES[owner]}"
    if piece == HIDDEN:
        kind, face = kind + " jq-hidden", tile_shape("jq-back", -5)
    else:
        face = f'<text dy=".36em">{PIECE_NAMES[names][piece]}</text>'
    return (
        f'<g class="{kind}" data-point="{point}" transform="translate({centre[0]} {centre[1]})">'
        f"{tile_shape('jq-tile')}{face}</g>"
    )


def tile_shape(name: str, growth: int = 0) -> str:
    """A rounded rectangle about the origin, larger or smaller than a tile all around."""
    x, y = TILE_WIDTH // 2 + growth, TILE_HEIGHT // 2 + growth
    return (
        f'<rect class="{name}" x="{-x}" y="{-y}" width="{2 * x}" height="{2 * y}"'
        f' rx="{7 + growth // 2}"/>'
    )


def _arrow(a: XY, b: XY) -> str:
    """The last move: both points framed, and an arrow from one to the rim of the other's tile."""
    length = hypot(b[0] - a[0], b[1] - a[1])
    along = (b[0] - a[0]) / length, (b[1] - a[1]) / length
    rim = min(
        half / abs(part) if part else inf
        for half, part in zip((TILE_WIDTH / 2, TILE_HEIGHT / 2), along, strict=True)
    )
    angle = degrees(atan2(along[1], along[0]))
    tip = length - rim
    shape = f"M0-3.5H{tip - 17:.1f}v-7L{tip:.1f} 0L{tip - 17:.1f} 10.5v-7H0Z"
    return (
        '<g class="jq-last">'
        f'<g transform="translate({a[0]} {a[1]})">{tile_shape("jq-origin")}</g>'
        f'<g transform="translate({b[0]} {b[1]})">{tile_shape("jq-target", 3)}</g>'
        f'<path class="jq-arrow" transform="translate({a[0]} {a[1]}) rotate({angle:.2f})"'
        f' d="{shape}"/></g>'
    )
