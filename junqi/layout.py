"""Layouts: 25 letters and 25 numbers, which of them are legal and why not, mirror, random ones.

A layout lists the pieces row by row from the front row G to the back row L, left to right, the
five camps skipped. As an array it is ``int8[25]`` of piece codes in the same order; many
layouts are ``int8[n, 25]``.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from math import factorial, prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from junqi.board import (
    HEADQUARTERS_POINTS,
    IS_CAMP,
    POINTS,
    ROW_NAMES,
    Point,
    mirror_point,
    point_name,
    row_of,
    seen_from,
)
from junqi.errors import InvalidLayout
from junqi.pieces import (
    BOMB,
    EMPTY,
    FLAG,
    KIND_OF,
    KINDS,
    LETTER_OF_PIECE,
    MINE,
    PIECE_OF_LETTER,
    PIECES_A_SIDE,
    RED,
    Piece,
    Side,
    piece_name,
)

Layout: TypeAlias = NDArray[np.int8]

# The points of a layout's letters, in order, for the player who sits at the bottom.
LAYOUT_POINTS: tuple[Point, ...] = tuple(p for p in range(POINTS // 2, POINTS) if not IS_CAMP[p])

FRONT_ROW = ROW_NAMES.index("G")
MINE_ROWS = (ROW_NAMES.index("K"), ROW_NAMES.index("L"))

# Where the kinds that the rules restrict may start, and how the rule reads.
ALLOWED: dict[Piece, frozenset[Point]] = {
    FLAG: frozenset(HEADQUARTERS_POINTS[RED]),
    MINE: frozenset(p for p in LAYOUT_POINTS if row_of(p) in MINE_ROWS),
    BOMB: frozenset(p for p in LAYOUT_POINTS if row_of(p) != FRONT_ROW),
}
RULE_TEXT: dict[Piece, str] = {
    FLAG: "must stand in a headquarters (L1 or L3)",
    MINE: "must stand in the last two rows (K or L)",
    BOMB: "must not stand in the front row (G)",
}

_CAPITALS = {letter.upper(): letter for letter in PIECE_OF_LETTER}
_LAYOUTS_AT_ONCE = 10_000
_INDEX_OF_POINT = {point: index for index, point in enumerate(LAYOUT_POINTS)}
_MIRROR_INDEX = np.array([_INDEX_OF_POINT[mirror_point(p)] for p in LAYOUT_POINTS])
_LETTERS = np.zeros(max(LETTER_OF_PIECE) + 1, dtype="S1")
for _piece, _letter in LETTER_OF_PIECE.items():
    _LETTERS[_piece] = _letter


def parse_layout(text: str) -> Layout:
    """Read a legal layout.

    Raises:
        InvalidLayout: with every reason, if the text is not a legal layout.

    >>> format_layout(parse_layout("abccddeeffggghhhiiijjkklj"))
    'abccddeeffggghhhiiijjkklj'
    """
    if problems := layout_problems(text):
        raise InvalidLayout(f"not a legal layout: {text!r}: {'; '.join(problems)}")
    return np.array([PIECE_OF_LETTER[letter] for letter in text], dtype=np.int8)


def format_layout(layout: Layout) -> str:
    """Write a layout as its 25 letters."""
    return b"".join(_LETTERS[layout].tolist()).decode("ascii")


def parse_layouts(texts: Iterable[str]) -> Layout:
    """Read several layouts into one array ``int8[n, 25]``."""
    rows = [parse_layout(text) for text in texts]
    return np.array(rows, dtype=np.int8).reshape(len(rows), PIECES_A_SIDE)


def layout_problems(text: str) -> list[str]:
    """Every reason why a text is not a legal layout; none for a legal one.

    >>> layout_problems("lbccddeeffggghhhiiijjkkaj")
    ['flag (l) at G0: must stand in a headquarters (L1 or L3)']
    """
    problems = []
    if len(text) != PIECES_A_SIDE:
        problems.append(f"expected {PIECES_A_SIDE} letters, got {len(text)}")
    capitals = []
    for point, letter in zip(LAYOUT_POINTS, text, strict=False):
        if letter in _CAPITALS:
            capitals.append(f"{letter} at {point_name(point)}")
        elif letter not in PIECE_OF_LETTER:
            problems.append(
                f"unknown piece {letter!r} at {point_name(point)}: expected a letter from a to l"
            )
    if capitals:
        problems.append(f"capital {', '.join(capitals)}: expected small letters")
    # A capital has its own reason, and need not be missed as well.
    found = Counter(_CAPITALS.get(letter, letter) for letter in text)
    for kind in KINDS:
        if found[kind.letter] != kind.count:
            problems.append(
                f"{found[kind.letter]} x {piece_name(kind.piece)}: expected {kind.count}"
            )
    if len(text) != PIECES_A_SIDE:
        return problems  # the letters do not stand where they seem to
    for point, letter in zip(LAYOUT_POINTS, text, strict=True):
        piece = PIECE_OF_LETTER.get(letter)
        if piece in ALLOWED and point not in ALLOWED[piece]:
            problems.append(f"{piece_name(piece)} at {point_name(point)}: {RULE_TEXT[piece]}")
    return problems


def mirror_layout(layout: Layout) -> Layout:
    """A layout, or many, with left and right exchanged."""
    return layout[..., _MIRROR_INDEX]


def canonical_layout(layout: Layout) -> Layout:
    """The smaller of a layout and its mirror image, compared as texts."""
    return min(layout, mirror_layout(layout), key=format_layout)


def place_layout(layout: Layout, side: Side) -> dict[Point, Piece]:
    """Where each piece of a layout stands on red's board, for either side."""
    pieces = layout.tolist()
    return {seen_from(p, side): piece for p, piece in zip(LAYOUT_POINTS, pieces, strict=True)}


def random_layouts(count: int, seed: int) -> Layout:
    """Uniformly random legal layouts, ``int8[count, 25]``.

    Flag, mines and bombs are placed in this order on what the rules leave them, then all the
    others. The number of choices of each never depends on the choices before it, so every
    layout is equally likely. Each layout uses one row of random numbers: a longer list with
    the same seed begins with the shorter one.
    """
    rng = np.random.default_rng(seed)
    layouts = np.full((count, PIECES_A_SIDE), EMPTY, dtype=np.int8)
    # The random numbers take 32 times the room of the layouts, so they are drawn in parts.
    for first in range(0, count, _LAYOUTS_AT_ONCE):
        part = layouts[first : first + _LAYOUTS_AT_ONCE]
        _fill(part, rng.random((len(part), 4, PIECES_A_SIDE)))
    return layouts


def _fill(layouts: Layout, lots: NDArray[np.float64]) -> None:
    """Make legal layouts of empty ones, by four rows of random numbers for each."""
    for step, piece in enumerate((FLAG, MINE, BOMB)):
        free = np.isin(LAYOUT_POINTS, list(ALLOWED[piece])) & (layouts == EMPTY)
        _place(layouts, [piece] * KIND_OF[piece].count, free, lots[:, step])
    others = [kind.piece for kind in KINDS if kind.piece not in ALLOWED for _ in range(kind.count)]
    _place(layouts, others, layouts == EMPTY, lots[:, -1])


def _place(
    layouts: Layout, pieces: list[Piece], free: NDArray[np.bool_], lots: NDArray[np.float64]
) -> None:
    """Put the pieces on free points of each layout, the points in the order of their lots."""
    order = np.argsort(np.where(free, lots, np.inf), axis=1, kind="stable")
    np.put_along_axis(layouts, order[:, : len(pieces)], np.array(pieces, np.int8)[None], axis=1)


def count_layouts() -> int:
    """The number of legal layouts, counted from the rules' own tables.

    Kinds with the same allowed points form a class. The points are filled one after the other
    with classes; then the pieces of a class are told apart by kind.
    """
    anywhere = frozenset(LAYOUT_POINTS)
    classes: Counter[frozenset[Point]] = Counter()
    for kind in KINDS:
        classes[ALLOWED.get(kind.piece, anywhere)] += kind.count
    allowed = list(classes)

    @cache
    def fillings(index: int, left: tuple[int, ...]) -> int:
        if index == len(LAYOUT_POINTS):
            return 1
        return sum(
            fillings(index + 1, (*left[:c], left[c] - 1, *left[c + 1 :]))
            for c in range(len(left))
            if left[c] and LAYOUT_POINTS[index] in allowed[c]
        )

    orders = prod(factorial(size) for size in classes.values())
    same_kind_orders = prod(factorial(kind.count) for kind in KINDS)
    return fillings(0, tuple(classes.values())) * orders // same_kind_orders
