"""Layouts as letters: whether they are legal, their mirror image and their canonical form, fast.

`junqi.layout` says the same of arrays, with every reason; a book has a hundred thousand texts.
"""

from operator import itemgetter

import numpy as np

from junqi.layout import ALLOWED, LAYOUT_POINTS, mirror_layout, parse_layout
from junqi.pieces import KINDS, LETTER_OF_PIECE, PIECES_A_SIDE

_MIRRORED = itemgetter(*mirror_layout(np.arange(PIECES_A_SIDE, dtype=np.int8)).tolist())
_ALL_LETTERS = sorted("".join(kind.letter * kind.count for kind in KINDS))
# For each kind that the rules restrict, its letter and the indices where it must not stand.
_FORBIDDEN = tuple(
    (
        LETTER_OF_PIECE[piece],
        itemgetter(*(i for i, point in enumerate(LAYOUT_POINTS) if point not in points)),
    )
    for piece, points in ALLOWED.items()
)


def mirror_letters(letters: str) -> str:
    """A layout with left and right exchanged.

    >>> mirror_letters("abccddeeffggghhhiiijjkklj")
    'dccbaeedggffhhgjiiihjlkkj'
    """
    return "".join(_MIRRORED(letters))


def canonical_letters(letters: str) -> str:
    """The smaller of a legal layout and its mirror image.

    Raises:
        InvalidLayout: with every reason, if it is not legal.
    """
    if not is_legal(letters):
        parse_layout(letters)  # tells what is wrong
    return min(letters, mirror_letters(letters))


def is_legal(letters: str) -> bool:
    """Whether a text is a legal layout."""
    return sorted(letters) == _ALL_LETTERS and not any(
        letter in places(letters) for letter, places in _FORBIDDEN
    )
