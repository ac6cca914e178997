"""What the studio says of the letters on its board: whether they are legal, and what is amiss."""

from collections import Counter
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from junqi.board import Point, point_name
from junqi.errors import InvalidLayout
from junqi.layout import ALLOWED, LAYOUT_POINTS, Layout, layout_problems
from junqi.pieces import KINDS, PIECE_OF_LETTER, PIECES_A_SIDE, Piece

_ALL_LETTERS = Counter({kind.letter: kind.count for kind in KINDS})


@dataclass(frozen=True)
class Verdict:
    """Whether the rules let a game start like this."""

    problems: list[str]
    """Every reason why not, in English."""
    points: list[str]
    """Where pieces stand that must not stand there."""


def check_set(letters: str) -> None:
    """Refuse what is not one whole set of pieces, wherever they stand.

    Raises:
        InvalidLayout: with every reason.
    """
    if Counter(letters) != _ALL_LETTERS:
        raise InvalidLayout("; ".join(layout_problems(letters)))


def judge_letters(letters: str) -> Verdict:
    """What the rules say of a whole set of pieces as it stands."""
    amiss = [
        point_name(point)
        for point, letter in zip(LAYOUT_POINTS, letters, strict=True)
        if not may_stand(PIECE_OF_LETTER[letter], point)
    ]
    return Verdict(layout_problems(letters), amiss)


def may_stand(piece: Piece, point: Point) -> bool:
    """Whether the rules let a piece start at a point of a layout."""
    return point in ALLOWED.get(piece, LAYOUT_POINTS)


def to_layout(letters: str) -> Layout:
    """A whole set of pieces as an array, legal or not."""
    return np.array([PIECE_OF_LETTER[letter] for letter in letters], dtype=np.int8)


def good_swaps(letters: str) -> list[tuple[int, int]]:
    """Pairs of places, as indices, whose unlike pieces may stand in each other's place."""
    pieces = [PIECE_OF_LETTER[letter] for letter in letters]
    return [
        (a, b)
        for a, b in combinations(range(PIECES_A_SIDE), 2)
        if pieces[a] != pieces[b]
        and may_stand(pieces[a], LAYOUT_POINTS[b])
        and may_stand(pieces[b], LAYOUT_POINTS[a])
    ]


def swap_letters(letters: str, a: int, b: int) -> str:
    """The letters with two of them exchanged.

    >>> swap_letters("abc", 0, 2)
    'cba'
    """
    changed = list(letters)
    changed[a], changed[b] = changed[b], changed[a]
    return "".join(changed)
