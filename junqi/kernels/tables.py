"""The board and the rules as words and small arrays, built from `board.py` and `pieces.py`.

The eight directions are numbered so that the first four lead to larger points::

    0 east  1 south  2 south-east  3 south-west      4 west  5 north  6 north-west  7 north-east
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from junqi.board import (
    COLUMNS,
    IS_CAMP,
    IS_HEADQUARTERS,
    NEIGHBOURS,
    POINTS,
    RAIL_NEIGHBOURS,
    row_of,
)
from junqi.layout import LAYOUT_POINTS
from junqi.pieces import ATTACKER_WINS, BOTH_REMOVED, EMPTY, FLAG, NO_CONTACT, contact


def word(points: Iterable[int]) -> np.uint64:
    """The set of these points."""
    return np.uint64(sum(1 << p for p in points))


def _leaving(table: tuple[tuple[int, ...], ...], step: int) -> np.uint64:
    """The points from which a link leads to the point with a number larger by a step."""
    return word(p for p in range(POINTS) if p + step in table[p])


BOARD = word(range(POINTS))
CAMPS = word(p for p in range(POINTS) if IS_CAMP[p])
NOT_CAMPS = BOARD & ~CAMPS
NOT_HEADQUARTERS = word(p for p in range(POINTS) if not IS_HEADQUARTERS[p])
RAIL = word(p for p in range(POINTS) if RAIL_NEIGHBOURS[p])

# Points with a link of any sort in each of the eight directions.
LINK_EAST = _leaving(NEIGHBOURS, 1)
LINK_WEST = _leaving(NEIGHBOURS, -1)
LINK_SOUTH = _leaving(NEIGHBOURS, 5)
LINK_NORTH = _leaving(NEIGHBOURS, -5)
LINK_SOUTHEAST = _leaving(NEIGHBOURS, 6)
LINK_SOUTHWEST = _leaving(NEIGHBOURS, 4)
LINK_NORTHEAST = _leaving(NEIGHBOURS, -4)
LINK_NORTHWEST = _leaving(NEIGHBOURS, -6)
# Points with a rail in each of the four directions that rails take.
RAIL_EAST = _leaving(RAIL_NEIGHBOURS, 1)
RAIL_WEST = _leaving(RAIL_NEIGHBOURS, -1)
RAIL_SOUTH = _leaving(RAIL_NEIGHBOURS, 5)
RAIL_NORTH = _leaving(RAIL_NEIGHBOURS, -5)

STEP_POINTS = np.array([word(NEIGHBOURS[p]) for p in range(POINTS)], dtype=np.uint64)
RAIL_STEP_POINTS = np.array([word(RAIL_NEIGHBOURS[p]) for p in range(POINTS)], dtype=np.uint64)

DIRECTIONS = (1, 5, 6, 4, -1, -5, -6, -4)


def _behind() -> NDArray[np.uint64]:
    """At [direction * 64 + target] the points from which a move in that direction may come.

    The nearest piece among them is the one that moved: all points between are empty.
    """
    table = np.zeros((len(DIRECTIONS), 64), dtype=np.uint64)
    for number, step in enumerate(DIRECTIONS):
        for target in range(POINTS):
            if abs(step) == 1:
                line = [p for p in range(POINTS) if row_of(p) == row_of(target)]
            elif abs(step) == COLUMNS:
                line = [p for p in range(POINTS) if p % COLUMNS == target % COLUMNS]
            else:
                line = [p for p in NEIGHBOURS[target] if p == target - step]
            table[number, target] = word(p for p in line if (target - p) * step > 0)
    return table.ravel()


BEHIND = _behind()

# The points of a layout's letters for the side at the bottom and for the side at the top.
START_POINTS = np.array([LAYOUT_POINTS, [POINTS - 1 - p for p in LAYOUT_POINTS]], dtype=np.uint64)


def _contacts() -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint64]]:
    """All contacts at once, at [attacker * 16 + defender]; an empty point is a defender too.

    What stands on the target afterwards, and two masks of all or no bits: the attacker stays
    on the board; the defender is gone from it.
    """
    after = np.zeros(256, dtype=np.uint8)
    stays = np.zeros(256, dtype=np.uint64)
    gone = np.zeros(256, dtype=np.uint64)
    everything = ~np.uint64(0)
    for attacker in range(EMPTY, FLAG + 1):
        for defender in range(EMPTY, FLAG + 1):
            index = attacker * 16 + defender
            result = contact(attacker, defender)
            if result in (ATTACKER_WINS, NO_CONTACT):
                after[index], stays[index], gone[index] = attacker, everything, everything
            elif result == BOTH_REMOVED:
                after[index], gone[index] = EMPTY, everything
            else:
                after[index] = defender
    return after, stays, gone


AFTER, STAYS, GONE = _contacts()
