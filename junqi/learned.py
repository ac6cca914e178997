"""What was learned from games, as the kernels take it: `junqi/data/value.npz`.

Made by `scripts/learn_value.py`. It holds the net that values positions, and the same learned
without the part that knows counts, a plain sum over pieces and places, for the search to carry
along.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from junqi.board import (
    HEADQUARTERS_POINTS,
    IS_HEADQUARTERS,
    POINTS,
    Point,
    mirror_point,
    rotate_point,
)
from junqi.kernels.value import KIND_COUNT, Net
from junqi.pieces import BLACK, BOMB, ENGINEER, MARSHAL, RED, Side, other

_FILE = Path(__file__).parent / "data" / "value.npz"

# Of the search's whole numbers, so many make one in the logarithm of the odds.
SCALE = 150


class Worths(NamedTuple):
    """What the search counts."""

    worths: NDArray[np.int32]
    """``int32[2, 2, 2048]``, as `weights.SearchTables` has them."""
    quiet_most: int
    """No quiet move gains more."""


@cache
def learned_net() -> Net:
    """The net that values positions."""
    with np.load(_FILE) as stored:
        return Net(*(stored[name] for name in Net._fields))


@cache
def learned_worths() -> Worths:
    """What each piece is worth to its side on each point, by the flags' headquarters."""
    with np.load(_FILE) as stored:
        sums = stored["sums"].reshape(2, 2, KIND_COUNT, POINTS).astype(np.float64)
    table = np.zeros((2, 2, 2, 16, 64), np.int32)
    for red, red_flag in enumerate(HEADQUARTERS_POINTS[RED]):
        for black, black_flag in enumerate(HEADQUARTERS_POINTS[BLACK]):
            flags = {RED: red_flag, BLACK: black_flag}
            for side in (RED, BLACK):
                # Its side counts it up and the other side counts it down: the mean of both.
                gains = (_seen(sums, 0, side, flags) - _seen(sums, 1, other(side), flags)) / 2
                table[red, black, side, 1 : KIND_COUNT + 1, :POINTS] = np.rint(SCALE * gains)
    movers = table[:, :, :, [*range(ENGINEER, MARSHAL + 1), BOMB], :POINTS]
    leaving = np.where(IS_HEADQUARTERS, np.iinfo(np.int32).max, movers).min(axis=-1)
    quiet_most = int((movers.max(axis=-1) - leaving).max())
    return Worths(table.reshape(2, 2, 2048), quiet_most)


def _seen(
    sums: NDArray[np.float64], owner: int, viewer: Side, flags: dict[Side, Point]
) -> NDArray[np.float64]:
    """What pieces of an owner (0 the viewer himself) add for a viewer, by kind and real point."""

    def turned(point: Point) -> Point:
        return point if viewer == RED else rotate_point(point)

    is_mirrored = turned(flags[viewer]) != HEADQUARTERS_POINTS[RED][0]

    def seen(point: Point) -> Point:
        return mirror_point(turned(point)) if is_mirrored else turned(point)

    crossed = int(seen(flags[other(viewer)]) != HEADQUARTERS_POINTS[BLACK][0])
    return sums[crossed, owner][:, [seen(point) for point in range(POINTS)]]
