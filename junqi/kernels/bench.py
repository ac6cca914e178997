"""Kernels that only `junqi bench` runs."""

import numpy as np

from junqi.kernels.bits import U0, advance, below, random_state, scramble
from junqi.kernels.jit import njit
from junqi.kernels.knowledge import flag_number
from junqi.kernels.moves import allowed_targets
from junqi.kernels.playout import U_FLAG, count_moves, pick_move, place, settle
from junqi.kernels.search import (
    ALPHA,
    BETA,
    DEEPEST,
    ENEMY,
    ENEMY_ENGINEERS,
    ENEMY_MOBILE,
    ENGINEERS,
    LEFT,
    MOBILE,
    OWN,
    SCORE,
    WIN,
    score_board,
    search,
)
from junqi.kernels.tables import BOARD
from junqi.kernels.worlds import ALL_KINDS, MAY_AT_START, MIXING, SLOTS, mend_world, mix_world

# Random plies before a position is searched, in turn.
SHORTEST_OPENING = 10
OPENINGS = 60


@njit
def search_positions(first, second, depth, seed, positions, steps, worths, quiet_most, scratch):
    """Search positions from random games, everything known; returns a sum of their values."""
    total = 0
    board, sets, stack = scratch.board, scratch.sets, scratch.stack
    for number in range(positions):
        board[:] = 0
        own, mobile, engineers = place(first, 0, board)
        enemy, enemy_mobile, enemy_engineers = place(second, 1, board)
        state = random_state(seed + number)
        side = 0
        for _ in range(SHORTEST_OPENING + (7 * number) % OPENINGS):
            empty = BOARD & ~(own | enemy)
            moves = count_moves(mobile, engineers, allowed_targets(enemy, empty), empty, sets)
            if moves == U0:
                break
            state = advance(state)
            origin, target = pick_move(below(scramble(state), moves), own, sets)
            if board[target] == U_FLAG:
                break
            own, mobile, engineers, enemy, enemy_mobile, enemy_engineers = settle(
                board, origin, target, own, mobile, engineers, enemy, enemy_mobile, enemy_engineers
            )
            own, enemy = enemy, own
            mobile, enemy_mobile = enemy_mobile, mobile
            engineers, enemy_engineers = enemy_engineers, engineers
            side = 1 - side
        worth = worths[flag_number(board, 0), flag_number(board, 1)]
        words, numbers = stack.words[depth], stack.numbers[depth]
        words[OWN], words[MOBILE], words[ENGINEERS] = own, mobile, engineers
        words[ENEMY], words[ENEMY_MOBILE] = enemy, enemy_mobile
        words[ENEMY_ENGINEERS] = enemy_engineers
        numbers[SCORE] = score_board(board, own, enemy, side, worth)
        numbers[LEFT] = steps
        numbers[ALPHA] = -WIN - DEEPEST
        numbers[BETA] = WIN + DEEPEST
        total += search(depth, side, board, worth, quiet_most, steps, stack, scratch.nodes)
    return total


@njit
def sample_worlds(count, seed):
    """Draw worlds of a start position; returns a checksum of them."""
    world = np.zeros(128, np.uint8)[64 : 64 + SLOTS]  # alone in its cache line, on every thread
    world[:] = ALL_KINDS
    mend_world(MAY_AT_START, world)
    state = random_state(seed)
    total = 0
    for _ in range(count):
        state = mix_world(MAY_AT_START, world, MIXING, state)
        total += world[0]
    return np.int64(total)
