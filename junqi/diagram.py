"""A position as twelve strings of five letters, the form in which positions are kept as data.

Small letters are the pieces of the bottom side, capitals those of the top side, ``x`` and ``X``
pieces whose kind is hidden, and ``.`` is an empty point.
"""

from collections.abc import Sequence

from junqi.board import COLUMNS, POINTS, ROWS, Point, point_name
from junqi.errors import InvalidBoard
from junqi.pieces import (
    BLACK,
    EMPTY,
    HIDDEN,
    LETTER_OF_PIECE,
    PIECE_OF_LETTER,
    RED,
    Piece,
    Side,
)
from junqi.rules import Position

SEATS = {"bottom": RED, "top": BLACK}

_LETTER = {**LETTER_OF_PIECE, HIDDEN: "x"}
# A table rather than `str.lower`, which turns some letters of other scripts into ours.
_MAN: dict[str, tuple[Side, Piece]] = {}
for _small, _kind in {**PIECE_OF_LETTER, "x": HIDDEN}.items():
    _MAN[_small], _MAN[_small.upper()] = (RED, _kind), (BLACK, _kind)


def parse_diagram(rows: Sequence[str], to_move: Side = RED) -> Position:
    """Read a position; the side at the bottom is red.

    Raises:
        InvalidBoard: naming the row or the point that is wrong.
    """
    if len(rows) != ROWS:
        raise InvalidBoard(f"expected {ROWS} rows in a board, got {len(rows)}")
    placed: dict[Side, dict[Point, Piece]] = {RED: {}, BLACK: {}}
    for number, row in enumerate(rows):
        if not isinstance(row, str) or len(row) != COLUMNS:
            raise InvalidBoard(f"expected {COLUMNS} letters in row {number + 1}, got {row!r}")
        for column, letter in enumerate(row):
            point = number * COLUMNS + column
            if letter == ".":
                continue
            if letter not in _MAN:
                raise InvalidBoard(
                    f"expected a-l, A-L, x, X or . on {point_name(point)}, got {letter!r}"
                )
            side, piece = _MAN[letter]
            placed[side][point] = piece
    return Position.from_pieces(placed, to_move)


def format_diagram(position: Position) -> list[str]:
    """Write a position as its twelve rows."""
    letters = [_letter(position.pieces[p], position.owners[p]) for p in range(POINTS)]
    return ["".join(letters[row * COLUMNS : (row + 1) * COLUMNS]) for row in range(ROWS)]


def _letter(piece: Piece, owner: Side) -> str:
    if piece == EMPTY:
        return "."
    return _LETTER[piece].upper() if owner == BLACK else _LETTER[piece]
