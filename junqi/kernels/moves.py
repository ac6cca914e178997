"""Legal moves, generated for all pieces of a side at once.

A side is three sets: where its pieces stand, which of them can move, and which of those are
engineers. All moves in one of the eight directions are one set of targets: along a line a target
is reached by one piece only, the nearest behind it. Slides along rail are found for a whole set
by doubling (the Kogge-Stone fill of chess programs), so that there is no loop and no branch in
the common case. Engineers take single steps with the others; what else they reach is a set each.
"""

import numpy as np

from junqi.kernels.bits import U0, U1, first, last
from junqi.kernels.jit import njit
from junqi.kernels.tables import (
    BEHIND,
    LINK_EAST,
    LINK_NORTH,
    LINK_NORTHEAST,
    LINK_NORTHWEST,
    LINK_SOUTH,
    LINK_SOUTHEAST,
    LINK_SOUTHWEST,
    LINK_WEST,
    NOT_CAMPS,
    RAIL,
    RAIL_EAST,
    RAIL_NORTH,
    RAIL_SOUTH,
    RAIL_STEP_POINTS,
    RAIL_WEST,
    STEP_POINTS,
)

# No position has more: 22 mobile pieces, of which at most three reach more than 17 points.
MOST_MOVES = 512

_U4 = np.uint64(4)
_U64 = np.uint64(64)
_S1 = np.uint64(1)
_S2 = np.uint64(2)
_S4 = np.uint64(4)
_S5 = np.uint64(5)
_S6 = np.uint64(6)
_S10 = np.uint64(10)
_S20 = np.uint64(20)


@njit
def _fill_east(reached, open_points):
    """Extend a set eastwards over open points, up to three further ones: a row has no more."""
    reached |= open_points & (reached << _S1)
    open_points &= open_points << _S1
    return reached | (open_points & (reached << _S2))


@njit
def _fill_west(reached, open_points):
    reached |= open_points & (reached >> _S1)
    open_points &= open_points >> _S1
    return reached | (open_points & (reached >> _S2))


@njit
def _fill_south(reached, open_points):
    """Extend a set southwards over open points, up to seven further ones: a column has no more."""
    reached |= open_points & (reached << _S5)
    open_points &= open_points << _S5
    reached |= open_points & (reached << _S10)
    open_points &= open_points << _S10
    return reached | (open_points & (reached << _S20))


@njit
def _fill_north(reached, open_points):
    reached |= open_points & (reached >> _S5)
    open_points &= open_points >> _S5
    reached |= open_points & (reached >> _S10)
    open_points &= open_points >> _S10
    return reached | (open_points & (reached >> _S20))


@njit
def allowed_targets(enemy, empty):
    """Where a move may end: empty points, and enemies outside camps."""
    return empty | (enemy & NOT_CAMPS)


@njit
def move_sets(mobile, engineers, allowed, empty):
    """The targets of all straight moves, one set for each direction as `tables` numbers them.

    Engineers are given their single steps only; see `engineer_targets` for the rest.
    """
    sliders = mobile & ~engineers
    free = empty & RAIL_EAST
    slide = _fill_east(((sliders & RAIL_EAST) << _S1) & free, free)
    east = (((mobile & LINK_EAST) | slide) << _S1) & allowed
    free = empty & RAIL_WEST
    slide = _fill_west(((sliders & RAIL_WEST) >> _S1) & free, free)
    west = (((mobile & LINK_WEST) | slide) >> _S1) & allowed
    free = empty & RAIL_SOUTH
    slide = _fill_south(((sliders & RAIL_SOUTH) << _S5) & free, free)
    south = (((mobile & LINK_SOUTH) | slide) << _S5) & allowed
    free = empty & RAIL_NORTH
    slide = _fill_north(((sliders & RAIL_NORTH) >> _S5) & free, free)
    north = (((mobile & LINK_NORTH) | slide) >> _S5) & allowed
    southeast = ((mobile & LINK_SOUTHEAST) << _S6) & allowed
    southwest = ((mobile & LINK_SOUTHWEST) << _S4) & allowed
    northwest = ((mobile & LINK_NORTHWEST) >> _S6) & allowed
    northeast = ((mobile & LINK_NORTHEAST) >> _S4) & allowed
    return east, south, southeast, southwest, west, north, northwest, northeast


@njit
def engineer_targets(origin, allowed, empty):
    """What an engineer reaches over rail beyond the next points, which `move_sets` has."""
    free = empty & RAIL
    frontier = RAIL_STEP_POINTS[origin] & free
    reached = frontier
    while frontier:
        step = ((frontier & RAIL_EAST) << _S1) | ((frontier & RAIL_WEST) >> _S1)
        step |= ((frontier & RAIL_SOUTH) << _S5) | ((frontier & RAIL_NORTH) >> _S5)
        frontier = step & free & ~reached
        reached |= step
    return reached & allowed & ~STEP_POINTS[origin]


@njit
def origin_of(direction, target, own):
    """Where the piece stands that reaches a target of a direction's set."""
    behind = own & BEHIND[direction * _U64 + target]
    return last(behind) if direction < _U4 else first(behind)


@njit
def any_move(mobile, engineers, allowed, empty):
    """Whether a side can move; a piece that can go anywhere can take a single step somewhere.

    (A longer move passes an empty point next to the piece, which is itself a move.)
    """
    e, s, se, sw, w, n, nw, ne = move_sets(mobile, engineers, allowed, empty)
    return (e | s | se | sw | w | n | nw | ne) != U0


@njit
def list_moves(own, mobile, engineers, enemy, empty, origins_out, targets_out):
    """Write all legal moves into two ``uint8[MOST_MOVES]`` and return their number."""
    allowed = allowed_targets(enemy, empty)
    sets = move_sets(mobile, engineers, allowed, empty)
    count = U0
    direction = U0
    for targets in sets:
        while targets:
            target = first(targets)
            targets &= targets - U1
            origins_out[count] = origin_of(direction, target, own)
            targets_out[count] = target
            count += U1
        direction += U1
    on_rail = engineers & RAIL
    while on_rail:
        origin = first(on_rail)
        on_rail &= on_rail - U1
        targets = engineer_targets(origin, allowed, empty)
        while targets:
            origins_out[count] = origin
            targets_out[count] = first(targets)
            targets &= targets - U1
            count += U1
    return count
