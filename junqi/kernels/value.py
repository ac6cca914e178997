"""The chance to win in a position with open pieces, as learned from many games.

A position is seen from the side to move: turned so that its pieces are at the bottom, and mirrored
so that its flag is on the left. Its value is the sum of one number for each piece (by owner, kind,
point and the enemy flag's headquarters) and what a small net makes of a few counts: how many of
each kind are left, how many of them the other side knows something of, who is near to a flag and
how soon it could be taken.
"""

from itertools import product
from math import exp
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from junqi.board import (
    COLUMNS,
    HEADQUARTERS_POINTS,
    NEIGHBOURS,
    POINTS,
    REACHED,
    distances,
    mirror_point,
)
from junqi.kernels.bits import U0, U1, first
from junqi.kernels.jit import njit
from junqi.kernels.knowledge import HEADQUARTERS, STRONGER_THAN, flag_number
from junqi.kernels.moves import move_sets
from junqi.kernels.tables import BOARD, NOT_CAMPS, NOT_HEADQUARTERS
from junqi.pieces import BOMB, ENGINEER, FLAG, MARSHAL, MINE, RED

KIND_COUNT = FLAG
PLACES = 2 * 2 * KIND_COUNT * POINTS
# The counts: kinds of both sides, officers of both sides of which something is known, quiet plies,
# for each flag what is next to it and who is one, two or three moves away on an empty board, for
# each side how many moves it would take to the other's flag on this one, and who is pressed: at the
# limit of quiet plies one side has to make a contact, and that is worse the nearer the limit and
# the fewer pieces there are.
EXPOSED = 2 * KIND_COUNT
QUIET = EXPOSED + 2 * MARSHAL
FLAGS = QUIET + 1
RAIDS = FLAGS + 2 * 5
FARTHEST = 4
PRESS = RAIDS + 2 * FARTHEST
COUNTS = PRESS + 4
HIDDEN_UNITS = 32
MOST_PIECES = 50
# Where `worths_here` writes what a contact brings by who is pressed before and after, at [quiet
# plies that are left]; with more of them than there is room for, nothing.
PRESSING = 2048
MOST_LEFT = 64
WORTHS = PRESSING + MOST_LEFT

_LOW = np.uint8(STRONGER_THAN)


class Net(NamedTuple):
    """What was learned."""

    places: NDArray[np.float32]
    """``float32[2, PLACES]``: on a full board, and on an empty one; a mean of both in between."""
    inner: NDArray[np.float32]
    """``float32[COUNTS, HIDDEN_UNITS]``."""
    shifts: NDArray[np.float32]
    """``float32[HIDDEN_UNITS]``."""
    outer: NDArray[np.float32]
    """``float32[HIDDEN_UNITS]``."""


def without_press(net: Net) -> Net:
    """The same net, to which it is all one who is pressed."""
    inner = net.inner.copy()
    inner[PRESS:] = 0.0
    return net._replace(inner=inner)


OWN_FLAG = HEADQUARTERS_POINTS[RED][0]
FRONT = OWN_FLAG - COLUMNS
# Moves to the own flag on the left, at the bottom.
_AWAY = np.array(distances((OWN_FLAG,), REACHED))
_MIRROR = np.array([mirror_point(p) for p in range(POINTS)])


def _flag_counts() -> NDArray[np.int64]:
    """At [crossed, owner, whether it can move, point]: the counts of `FLAGS` a piece adds to, -1.

    A point is as seen from the own flag on the left, and from the enemy's turned and mirrored.
    """
    table = np.full((2, 2, 2, POINTS, 3), -1)
    for crossed, owner, point in product(range(2), range(2), range(POINTS)):
        turned = POINTS - 1 - point if crossed else mirror_point(POINTS - 1 - point)
        at_home, at_other = (point, turned) if owner == 0 else (turned, point)
        home, near = FLAGS + 5 * owner, FLAGS + 5 * (1 - owner)
        if at_home == FRONT:
            table[crossed, owner, :, point, 0] = home
        if at_home in NEIGHBOURS[OWN_FLAG]:
            table[crossed, owner, :, point, 1] = home + 1
        if 0 < _AWAY[at_other] <= 3:
            table[crossed, owner, 1, point, 2] = near + 1 + _AWAY[at_other]
    return table


_FLAG_COUNTS = _flag_counts()


@njit
def _of_kind(board, points, kind):
    """Those of some points on which a kind stands."""
    found = U0
    while points:
        point = first(points)
        points &= points - U1
        if board[point] == kind:
            found |= U1 << point
    return found


@njit
def raid_distance(board, raiders, victims, flag):
    """Moves that the fastest raider needs to take a flag while nobody else moves.

    A raider goes where it can and takes what it beats. Engineers are taken to go straight.

    Returns `FARTHEST` + 1 if it takes more than that.
    """
    empty = BOARD & ~(raiders | victims)
    goal = U1 << flag
    best = FARTHEST + 1
    beaten = goal
    raiders &= NOT_HEADQUARTERS
    for kind in range(ENGINEER, BOMB + 1):
        frontier = _of_kind(board, raiders, kind)
        takes = beaten
        if kind == ENGINEER:
            takes = goal | _of_kind(board, victims, MINE)
        elif kind == BOMB:
            takes = goal
        allowed = empty | (takes & NOT_CAMPS)
        reached = frontier
        steps = 1
        while frontier and steps < best:
            e, s, se, sw, w, n, nw, ne = move_sets(frontier, U0, allowed, empty)
            targets = e | s | se | sw | w | n | nw | ne
            if targets & goal:
                best = steps
            frontier = targets & ~reached & NOT_HEADQUARTERS
            reached |= frontier
            steps += 1
        beaten |= _of_kind(board, victims, kind)
    return best


@njit
def read_position(board, known, own, enemy, side, quiet, steps, places_out, counts_out):
    """Write the position down as a net sees it: numbers into `places_out`, counts.

    Args:
        own: the points of the side to move.
        places_out: ``int64[50]``, indices into `Net.places`; their number is returned.
        counts_out: ``float32[COUNTS]``.
    """
    counts_out[:] = 0.0
    counts_out[QUIET] = quiet / steps
    number = flag_number(board, side)
    enemy_number = flag_number(board, 1 - side)
    is_mirrored = number != side  # turned round, headquarters 1 of side 1 is on the left
    is_enemy_left = (enemy_number == 0) == (side == 0)
    crossed = np.int64(is_enemy_left == is_mirrored)
    found = 0
    for owner in range(2):
        left = own if owner == 0 else enemy
        while left:
            point = np.int64(first(left))
            left &= left - U1
            kind = np.int64(board[point])
            is_known = (known[point] & _LOW) != 0
            if side == 1:
                point = POINTS - 1 - point
            if is_mirrored:
                point = _MIRROR[point]
            places_out[found] = ((crossed * 2 + owner) * KIND_COUNT + kind - 1) * POINTS + point
            found += 1
            counts_out[owner * KIND_COUNT + kind - 1] += 1.0
            if kind <= MARSHAL and is_known:
                counts_out[EXPOSED + owner * MARSHAL + kind - 1] += 1.0
            for count in _FLAG_COUNTS[crossed, owner, np.int64(kind < MINE), point]:
                if count >= 0:
                    counts_out[count] += 1.0
    for owner in range(2):
        raiders, victims = (own, enemy) if owner == 0 else (enemy, own)
        other = 1 - side if owner == 0 else side
        flag = HEADQUARTERS[other, flag_number(board, other)]
        distance = raid_distance(board, raiders, victims, flag)
        if distance <= FARTHEST:
            counts_out[RAIDS + owner * FARTHEST + distance - 1] = 1.0
    write_press(is_pressed(steps - quiet), found, quiet / steps, counts_out)
    return found


@njit
def is_pressed(left):
    """Whether the side to move would make the last of the quiet plies that are left."""
    return left % 2 == 1


@njit
def write_press(is_own, found, part, counts_out):
    """Write down who is pressed, the side to move or the other.

    Args:
        found: the number of pieces.
        part: how much of the quiet plies is over, from 0 to 1.
    """
    sign = np.float32(-1.0 if is_own else 1.0)
    bare = np.float32(1 - found / MOST_PIECES)
    counts_out[PRESS] = sign
    counts_out[PRESS + 1] = sign * np.float32(part)
    counts_out[PRESS + 2] = sign * bare
    counts_out[PRESS + 3] = sign * bare * np.float32(part)


@njit
def shares_of(pieces):
    """How much a board with so many pieces is a full one, and an empty one."""
    return np.float32(pieces / MOST_PIECES), np.float32(1 - pieces / MOST_PIECES)


@njit
def _count_odds(net, counts):
    """What the counts add to the odds."""
    total = np.float32(0.0)
    for unit in range(HIDDEN_UNITS):
        inside = net.shifts[unit]
        for count in range(COUNTS):
            inside += counts[count] * net.inner[count, unit]
        if inside > 0:
            total += inside * net.outer[unit]
    return total


@njit
def net_value(net, places, found, counts):
    """The logarithm of the odds that the side to move wins."""
    full, bare = shares_of(found)
    total = np.float32(0.0)
    for index in range(found):
        place = places[index]
        total += full * net.places[0, place] + bare * net.places[1, place]
    return total + _count_odds(net, counts)


@njit
def _slopes(net, counts, slopes_out):
    """What one of each count adds to the odds here: the last there is, or the first one."""
    slopes_out[:] = 0.0
    for unit in range(HIDDEN_UNITS):
        inside = net.shifts[unit]
        for count in range(COUNTS):
            inside += counts[count] * net.inner[count, unit]
        here = max(inside, np.float32(0.0))
        for count in range(RAIDS):
            step = net.inner[count, unit]
            if counts[count] > 0:
                change = here - max(inside - step, np.float32(0.0))
            else:
                change = max(inside + step, np.float32(0.0)) - here
            slopes_out[count] += net.outer[unit] * change


@njit
def _pressing_here(net, found, counts, steps, scale, worth_out):
    """Write what a contact brings by who is pressed; the counts of it are spoilt."""
    ends = np.zeros(2)
    for end in range(2):
        counts[QUIET] = end
        write_press(False, found, end, counts)
        odds = _count_odds(net, counts)
        write_press(True, found, end, counts)
        ends[end] = scale * (odds - _count_odds(net, counts)) / 2
    # Who makes a contact with this many plies left leaves the other side all of them.
    after = ends[0] if is_pressed(steps) else -ends[0]
    worth_out[PRESSING:] = 0
    for left in range(1, min(steps + 1, MOST_LEFT)):
        here = ends[1] + (ends[0] - ends[1]) * left / steps
        worth_out[PRESSING + left] = np.int64(after + (here if is_pressed(left) else -here))


@njit
def worths_here(net, board, found, counts, steps, scale, slopes, worth_out):
    """What each piece is worth to its side on each point, as things stand for side 0 to move.

    The net's sum over pieces and places, and what its counts add for one piece more or less: a bomb
    is worth more while there is a marshal to meet, an engineer while mines stand.

    Args:
        found: what `read_position` returned, with the counts it wrote.
        scale: this many make one in the odds.
        slopes: ``float32[COUNTS]``, scratch.
        worth_out: ``int32[WORTHS]``, at [side, kind, point], see `search`, then at `PRESSING`.

    Returns what no quiet move gains more than.
    """
    _slopes(net, counts, slopes)
    full, bare = shares_of(found)
    number = flag_number(board, 0)
    is_mirrored = number != 0
    crossed = np.int64((flag_number(board, 1) == 0) == is_mirrored)
    quiet_most = np.int64(0)
    for owner in range(2):
        sign = scale if owner == 0 else -scale
        for kind in range(1, KIND_COUNT + 1):
            of_kind = slopes[owner * KIND_COUNT + kind - 1]
            row = ((crossed * 2 + owner) * KIND_COUNT + kind - 1) * POINTS
            most = np.int64(-1 << 30)
            least = np.int64(1 << 30)
            for point in range(POINTS):
                seen = _MIRROR[point] if is_mirrored else point
                odds = of_kind + full * net.places[0, row + seen]
                odds += bare * net.places[1, row + seen]
                for count in _FLAG_COUNTS[crossed, owner, np.int64(kind < MINE), seen]:
                    if count >= 0:
                        odds += slopes[count]
                worth = np.int64(sign * odds)
                worth_out[owner * 1024 + kind * 64 + point] = worth
                most = max(most, worth)
                if (NOT_HEADQUARTERS >> np.uint64(point)) & U1:
                    least = min(least, worth)
            if kind <= BOMB:  # mines and flags come after it, and do not move
                quiet_most = max(quiet_most, most - least)
    _pressing_here(net, found, counts, steps, scale, worth_out)
    return quiet_most


@njit
def chance_of(odds):
    """A chance from the logarithm of its odds."""
    return 1.0 / (1.0 + exp(-odds))
