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

from junqi.board import HEADQUARTERS_POINTS, POINTS, Point, mirror_point, seen_from
from junqi.kernels.value import KIND_COUNT, Net
from junqi.pieces import BLACK, RED, Side, other
from junqi.weights import most_quiet_gain

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
    return Worths(table.reshape(2, 2, 2048), most_quiet_gain(table))


def _seen(
    sums: NDArray[np.float64], owner: int, viewer: Side, flags: dict[Side, Point]
) -> NDArray[np.float64]:
    """What pieces of an owner (0 the viewer himself) add for a viewer, by kind and real point."""
    is_mirrored = seen_from(flags[viewer], viewer) != HEADQUARTERS_POINTS[RED][0]

    def seen(point: Point) -> Point:
        point = seen_from(point, viewer)
        return mirror_point(point) if is_mirrored else point

    crossed = int(seen(flags[other(viewer)]) != HEADQUARTERS_POINTS[BLACK][0])
    return sums[crossed, owner][:, [seen(point) for point in range(POINTS)]]
