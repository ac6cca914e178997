"""A board as text for the terminal, from either seat, in plain ASCII lines or in colour.

`cells_of` says where each point is drawn; it alone knows about seats, and `render_svg` uses it
too. The lines come from the tables of `board`. Only ASCII is used for them: box-drawing
characters are two columns wide in many Chinese terminals.

Positions and moves are given on red's board. Labels, and rows to be drawn, are in the coordinates
of the seat, as the player there calls the points.
"""

from collections.abc import Mapping
from itertools import groupby
from typing import Literal, TypeAlias, get_args
from unicodedata import east_asian_width

from junqi.board import (
    CAMP,
    COLUMN_NAMES,
    HEADQUARTERS,
    PLACE,
    POINTS,
    RAIL_LINKS,
    ROAD_LINKS,
    ROW_NAMES,
    STATION,
    Point,
    column_of,
    row_of,
    seen_from,
)
from junqi.layout import Layout, place_layout
from junqi.pieces import (
    BATTALION,
    BLACK,
    BOMB,
    BRIGADE,
    COMPANY,
    DIVISION,
    EMPTY,
    ENGINEER,
    FLAG,
    GENERAL,
    HIDDEN,
    KIND_OF,
    LETTER_OF_PIECE,
    MARSHAL,
    MINE,
    PLATOON,
    RED,
    REGIMENT,
    Piece,
    Side,
)
from junqi.rules import Move, Position
from junqi.view import View

Names: TypeAlias = Literal["english", "chinese", "letters"]
Cell: TypeAlias = tuple[int, int]

NAMES: tuple[Names, ...] = get_args(Names)
LAYOUT_ROWS = "GHIJKL"

SHORT_NAMES = {
    MARSHAL: "Mar",
    GENERAL: "Gen",
    DIVISION: "Div",
    BRIGADE: "Brig",
    REGIMENT: "Regt",
    BATTALION: "Batt",
    COMPANY: "Comp",
    PLATOON: "Plat",
    ENGINEER: "Eng",
    MINE: "Mine",
    BOMB: "Bomb",
    FLAG: "Flag",
}
# What is written on each kind of piece. Hidden pieces have no name in any of them.
PIECE_NAMES: dict[Names, dict[Piece, str]] = {
    "english": SHORT_NAMES,
    "chinese": {piece: kind.chinese for piece, kind in KIND_OF.items()},
    "letters": LETTER_OF_PIECE,
}

_BRACKETS = {STATION: "  ", CAMP: "()", HEADQUARTERS: "[]"}
_LABEL_WIDTH = 2
_GAP = 3

# ANSI styles. A hidden piece is written in the colour of its tile, so that it looks blank and
# the text without its styles is the same as the text drawn without colour.
_TILE = {RED: "1;97;41", BLACK: "1;97;44"}
_BACK = {RED: "31;41", BLACK: "34;44"}
_HIGHLIGHT = "30;43"


def default_names(encoding: str | None, environ: Mapping[str, str]) -> Names:
    """The names that a terminal's user most likely wants.

    ``JUNQI_NAMES`` decides if it is set. Otherwise Chinese for a Chinese locale, if the
    terminal's encoding can carry it, else English.

    Raises:
        ValueError: if ``JUNQI_NAMES`` is set to something else than names or ``auto``.

    >>> default_names("utf-8", {"LANG": "zh_CN.UTF-8"})
    'chinese'
    """
    asked = environ.get("JUNQI_NAMES") or "auto"
    for names in NAMES:
        if asked == names:
            return names
    if asked != "auto":
        raise ValueError(f"expected JUNQI_NAMES to be auto or {' or '.join(NAMES)}, got {asked!r}")
    variables = ("LC_ALL", "LC_MESSAGES", "LANG")
    locale = next((environ[name] for name in variables if environ.get(name)), "")
    is_chinese = locale.lower().startswith("zh")
    return "chinese" if is_chinese and _can_carry_chinese(encoding) else "english"


def _can_carry_chinese(encoding: str | None) -> bool:
    try:
        "".join(PIECE_NAMES["chinese"].values()).encode(encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def display_width(text: str) -> int:
    """How many columns of a terminal a text takes.

    >>> display_width("司令"), display_width("Mar")
    (4, 3)
    """
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def cells_of(seat: Side, rows: str = ROW_NAMES) -> dict[Point, Cell]:
    """Where each drawn point stands for the player in a seat: its line and column, from 0.

    Args:
        seat: who sits at the bottom.
        rows: the rows to draw, as that player calls them: the whole board, or ``GHIJKL``.

    Raises:
        ValueError: if the rows are not a part of ``ABCDEFGHIJKL``.
    """
    if not rows or rows not in ROW_NAMES:
        raise ValueError(f"expected rows like {ROW_NAMES!r} or {LAYOUT_ROWS!r}, got {rows!r}")
    first = ROW_NAMES.index(rows[0])
    cells = {}
    for seen in range(POINTS):
        line = row_of(seen) - first
        if 0 <= line < len(rows):
            cells[seen_from(seen, seat)] = (line, column_of(seen))
    return cells


def view_on_board(view: View) -> tuple[Position, Move | None]:
    """What a view knows, and the last move, on red's board; to be drawn from ``view.side``."""
    last = view.plies[-1].move if view.plies else None
    if view.side == RED:
        return view.position, last
    return view.position.rotated(), last.rotated() if last else None


def layout_on_board(layout: Layout, side: Side) -> Position:
    """One side's layout alone on the board."""
    return Position.from_pieces({side: place_layout(layout, side)})


def render_text(
    position: Position,
    *,
    seat: Side = RED,
    names: Names = "english",
    color: bool = False,
    highlight: Move | None = None,
    rows: str = ROW_NAMES,
) -> str:
    """Draw a board as text; all its lines are equally wide, and the last has no newline.

    Rail is ``=`` and ``||``, road ``-`` and ``|``, a camp ``( )``, a headquarters ``[ ]``. A name
    has ``^`` before it if its owner sits at the bottom, else ``v``; a hidden piece is ``####``.

    Args:
        position: the board; what the onlooker must not see is `HIDDEN` in it.
        seat: who sits at the bottom.
        names: what is written on the pieces.
        color: whether to use ANSI colours.
        highlight: a move whose two points are marked, by ``>`` and ``<`` or in yellow.
        rows: the rows to draw, see `cells_of`.
    """
    cells = cells_of(seat, rows)
    name_width = max(map(display_width, PIECE_NAMES[names].values()))
    width = name_width + 3  # a bracket, the side's mark, the name, a bracket
    canvas = _Canvas(rows, width)
    for links, is_rail in ((ROAD_LINKS, False), (RAIL_LINKS, True)):
        for a, b in links:
            if a in cells and b in cells:
                canvas.draw_link(cells[a], cells[b], is_rail)
    for point, cell in cells.items():
        piece, owner = position.pieces[point], position.owners[point]
        edges, edge_style = _BRACKETS[PLACE[point]], ""
        if highlight and point in highlight:
            edges, edge_style = "><", _HIGHLIGHT
        if piece != EMPTY:
            name = PIECE_NAMES[names].get(piece, "#" * name_width)
            name += " " * (name_width - display_width(name))
            tile = ("^" if owner == seat else "v") + name
            tile_style = _BACK[owner] if piece == HIDDEN else _TILE[owner]
            canvas.draw_cell(cell, edges, tile, edge_style, tile_style)
        elif edges.strip():
            canvas.draw_cell(cell, edges, " " * (width - 2), edge_style, edge_style)
        if piece == EMPTY and PLACE[point] == STATION:
            canvas.draw_crossing(cell, edge_style)
    return canvas.text(color)


def render_layout_text(
    layout: Layout, *, side: Side = RED, names: Names = "english", color: bool = False
) -> str:
    """Draw a layout alone, rows G to L, as its player sees it."""
    position = layout_on_board(layout, side)
    return render_text(position, seat=side, names=names, color=color, rows=LAYOUT_ROWS)


def render_view_text(view: View, *, names: Names = "english", color: bool = False) -> str:
    """Draw what a player knows, from his seat, with the last move marked."""
    position, last = view_on_board(view)
    return render_text(position, seat=view.side, names=names, color=color, highlight=last)


class _Canvas:
    """Columns of a terminal, each with a letter and a style.

    Of a letter that is two columns wide the second column is an empty string.
    """

    def __init__(self, rows: str, width: int) -> None:
        """An empty sheet with the labels, for cells of a given width."""
        self.width = width
        columns = self._left((0, len(COLUMN_NAMES) - 1))[1] + width
        self.letters = [[" "] * columns for _ in range(2 * len(rows))]
        self.styles = [[""] * columns for _ in range(2 * len(rows))]
        for column, label in enumerate(COLUMN_NAMES):
            self._put(0, self._centre((0, column))[1], label)
        for line, label in enumerate(rows):
            self._put(self._left((line, 0))[0], 0, label)

    def _left(self, cell: Cell) -> tuple[int, int]:
        """The line and the first column of a cell."""
        return 1 + 2 * cell[0], _LABEL_WIDTH + (self.width + _GAP) * cell[1]

    def _centre(self, cell: Cell) -> tuple[int, int]:
        """The line and the middle column of a cell."""
        line, column = self._left(cell)
        return line, column + self.width // 2

    def _put(self, line: int, column: int, text: str, style: str = "") -> None:
        for letter in text:
            size = display_width(letter)
            self.letters[line][column : column + size] = [letter] + [""] * (size - 1)
            self.styles[line][column : column + size] = [style] * size
            column += size

    def draw_link(self, a: Cell, b: Cell, is_rail: bool) -> None:
        """A line from centre to centre of two neighbours; cells are drawn over its ends."""
        (line, column), (line_b, column_b) = sorted((self._centre(a), self._centre(b)))
        if line == line_b:
            self._put(line, column, ("=" if is_rail else "-") * (column_b - column + 1))
        elif column == column_b:
            self._put(line + 1, column, "||" if is_rail else "|")
        else:
            mark = "\\" if column < column_b else "/"
            self._put(line + 1, (column + column_b) // 2, mark)

    def draw_cell(
        self, cell: Cell, edges: str, tile: str, edge_style: str, tile_style: str
    ) -> None:
        """A cell over its whole width: what stands there between two edges."""
        line, column = self._left(cell)
        self._put(line, column, edges[0], edge_style)
        self._put(line, column + 1, tile, tile_style)
        self._put(line, column + self.width - 1, edges[1], edge_style)

    def draw_crossing(self, cell: Cell, style: str) -> None:
        """An empty station, where lines meet."""
        self._put(*self._centre(cell), "+", style)

    def text(self, color: bool) -> str:
        """All lines; with colour, each run of one style between its escapes."""
        lines = []
        for letters, styles in zip(self.letters, self.styles, strict=True):
            line = ""
            for style, run in groupby(zip(styles, letters, strict=True), key=lambda pair: pair[0]):
                text = "".join(letter for _, letter in run)
                line += f"\x1b[{style}m{text}\x1b[0m" if color and style else text
            lines.append(line)
        return "\n".join(lines)
