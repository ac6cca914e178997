"""A cheap player that chooses by what it may know: own pieces and the `known` of the enemy's."""

import numpy as np

from junqi.kernels.bits import U0, U1, below, first
from junqi.kernels.jit import njit
from junqi.kernels.moves import origin_of
from junqi.kernels.playout import U3, U8, U16, pick_move
from junqi.pieces import ENGINEER

# Places of the numbers in `weights.PolicyTables.limits`.
BOLDNESS = 0
PATIENCE = 1
HASTE = 2
DEFENCE = 3
CANDIDATES = 4

# Less than any value.
NOTHING = -1_000_000

_SHAKE = np.uint64(0x9E3779B97F4A7C15)
_U64 = np.uint64(64)
_U256 = np.uint64(256)


@njit
def policy_move(
    board, known, own, enemy, total, sets, near_flag, quiet, left, bits, gain, place, at, limits
):
    """Choose a move among the `total` of `count_moves`.

    Args:
        near_flag: the points next to the own flag.
        quiet: plies without contact so far.
        left: plies that remain before the steps are used up.
        at: where in `place` the present situation begins.
    """
    best = NOTHING
    best_origin = U0
    best_target = U0
    reach = sets[0] | sets[1] | sets[2] | sets[3] | sets[4] | sets[5] | sets[6] | sets[7]
    if reach & enemy:
        for direction in range(8):
            targets = sets[direction] & enemy
            while targets:
                target = first(targets)
                targets &= targets - U1
                origin = origin_of(np.uint64(direction), target, own)
                value = gain[np.uint64(board[origin]) * _U256 + np.uint64(known[target])]
                if (near_flag >> target) & U1:
                    value += limits[DEFENCE]
                if value > best:
                    best = value
                    best_origin = origin
                    best_target = target
    number = U8
    while sets[number + U16] < total:
        targets = sets[number] & enemy
        while targets:
            target = first(targets)
            targets &= targets - U1
            value = gain[np.uint64(ENGINEER) * _U256 + np.uint64(known[target])]
            if (near_flag >> target) & U1:
                value += limits[DEFENCE]
            if value > best:
                best = value
                best_origin = sets[number + U3]
                best_target = target
        number += U1
    least = limits[BOLDNESS] - limits[HASTE] * max(0, quiet - limits[PATIENCE])
    if best > least or (left <= 1 and best > NOTHING):
        return best_origin, best_target
    best_step = NOTHING
    for _ in range(limits[CANDIDATES]):
        origin, target = pick_move(below(bits, total), own, sets)
        bits *= _SHAKE
        if (enemy >> target) & U1:
            continue
        row = at + np.uint64(board[origin]) * _U64
        value = place[row + target] - place[row + origin]
        if value > best_step:
            best_step = value
            best_origin = origin
            best_target = target
    return best_origin, best_target
