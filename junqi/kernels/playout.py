"""What every simulated game needs (the start, the end, a uniformly random move) and random games.

A game is told by three numbers: the winner (0 the side that moved first, 1 the other, -1 nobody),
the reason (a `rules.Reason`) and the plies played. `settings` is ``int64[3]``: steps, whether the
side to move next loses by steps, whether a taken flag ends the game before all else.
"""

import numpy as np

from junqi.kernels.bits import U0, U1, advance, below, first, nth, popcount, random_state, scramble
from junqi.kernels.jit import njit
from junqi.kernels.moves import (
    allowed_targets,
    any_move,
    engineer_targets,
    move_sets,
    origin_of,
)
from junqi.kernels.tables import (
    AFTER,
    BOARD,
    GONE,
    NOT_HEADQUARTERS,
    RAIL,
    START_POINTS,
    STAYS,
)
from junqi.pieces import ENGINEER, FLAG, MINE
from junqi.rules import Reason, Rules

STEPS = 0
NEXT_LOSES = 1
FLAG_FIRST = 2

BY_FLAG = int(Reason.FLAG)
BY_NO_MOVES = int(Reason.NO_MOVES)
BY_STEPS = int(Reason.STEPS)

U3 = np.uint64(3)
U8 = np.uint64(8)
U16 = np.uint64(16)
U17 = np.uint64(17)
U_FLAG = np.uint64(FLAG)


def settings_of(rules: Rules) -> np.ndarray:
    """The rules as the kernels read them."""
    return np.array([rules.steps, rules.steps_loser == "next", rules.flag_first], dtype=np.int64)


@njit
def place(layout, side, board_out):
    """Put a layout ``int8[25]`` of side 0 or 1 on a board ``uint8[64]``; returns its three sets."""
    own = U0
    mobile = U0
    engineers = U0
    for index in range(layout.shape[0]):
        point = START_POINTS[side, index]
        piece = layout[index]
        bit = U1 << point
        board_out[point] = piece
        own |= bit
        if piece < MINE and piece != FLAG:
            mobile |= bit
        if piece == ENGINEER:
            engineers |= bit
    return own, mobile & NOT_HEADQUARTERS, engineers & NOT_HEADQUARTERS


@njit
def after_flag(own, mobile, engineers, enemy, enemy_mobile, enemy_engineers, mover, settings):
    """Winner and reason when the mover has just taken the flag; the sets are those afterwards."""
    if settings[FLAG_FIRST] == 0:
        empty = BOARD & ~(own | enemy)
        mover_can = any_move(mobile, engineers, allowed_targets(enemy, empty), empty)
        enemy_can = any_move(enemy_mobile, enemy_engineers, allowed_targets(own, empty), empty)
        if not mover_can and not enemy_can:
            return -1, BY_NO_MOVES
        if not mover_can:
            return 1 - mover, BY_NO_MOVES
        if not enemy_can:
            return mover, BY_NO_MOVES
    return mover, BY_FLAG


@njit
def without_move(own, empty, enemy_mobile, enemy_engineers, side):
    """Winner and reason when a side to move cannot."""
    if any_move(enemy_mobile, enemy_engineers, allowed_targets(own, empty), empty):
        return 1 - side, BY_NO_MOVES
    return -1, BY_NO_MOVES


@njit
def by_steps(side, settings):
    """Winner and reason when the steps are used up and a side would be next to move."""
    return (1 - side if settings[NEXT_LOSES] else side), BY_STEPS


@njit
def settle(board, origin, target, own, mobile, engineers, enemy, enemy_mobile, enemy_engineers):
    """Make a move on the board; returns the six sets afterwards, still seen from the mover."""
    meeting = np.uint64(board[origin]) * U16 + np.uint64(board[target])
    board[origin] = 0
    board[target] = AFTER[meeting]
    left = U1 << origin
    kept = ~((U1 << target) & GONE[meeting])
    stays = (U1 << target) & STAYS[meeting]
    can_go_on = stays & NOT_HEADQUARTERS
    own = (own ^ left) | stays
    mobile = (mobile ^ left) | can_go_on
    if engineers & left:
        engineers = (engineers ^ left) | can_go_on
    return own, mobile, engineers, enemy & kept, enemy_mobile & kept, enemy_engineers & kept


@njit
def count_moves(mobile, engineers, allowed, empty, sets):
    """Sort all legal moves into sets for `pick_move`, and return their number.

    Scratch is one ``uint64[32]``: at 0 the eight straight sets and one for each engineer on rail,
    at 11 the engineers' points, at 16 the number of moves in all sets before each (so 16 itself
    stays 0).
    """
    e, s, se, sw, w, n, nw, ne = move_sets(mobile, engineers, allowed, empty)
    sets[0], sets[1], sets[2], sets[3] = e, s, se, sw
    sets[4], sets[5], sets[6], sets[7] = w, n, nw, ne
    total = popcount(e)
    sets[17] = total
    total += popcount(s)
    sets[18] = total
    total += popcount(se)
    sets[19] = total
    total += popcount(sw)
    sets[20] = total
    total += popcount(w)
    sets[21] = total
    total += popcount(n)
    sets[22] = total
    total += popcount(nw)
    sets[23] = total
    total += popcount(ne)
    sets[24] = total
    number = U8
    on_rail = engineers & RAIL
    while on_rail:
        origin = first(on_rail)
        on_rail &= on_rail - U1
        targets = engineer_targets(origin, allowed, empty)
        sets[number] = targets
        sets[number + U3] = origin
        total += popcount(targets)
        number += U1
        sets[number + U16] = total
    return total


@njit
def pick_move(lot, own, sets):
    """The move with this number among those of `count_moves`."""
    if lot < sets[24]:
        # Seven comparisons cost less than the branches of a search.
        number = np.uint64(lot >= sets[17]) + np.uint64(lot >= sets[18])
        number += np.uint64(lot >= sets[19]) + np.uint64(lot >= sets[20])
        number += np.uint64(lot >= sets[21]) + np.uint64(lot >= sets[22])
        number += np.uint64(lot >= sets[23])
        target = nth(sets[number], lot - sets[number + U16])
        return origin_of(number, target, own), target
    number = U8
    while lot >= sets[number + U17]:
        number += U1
    return sets[number + U3], nth(sets[number], lot - sets[number + U16])


@njit
def random_game(first_layout, second_layout, seed, settings, board, sets):
    """One game of uniformly random moves. Scratch: ``uint8[64]``, ``uint64[32]``.

    Returns winner, reason and plies.
    """
    board[:] = 0
    own, mobile, engineers = place(first_layout, 0, board)
    enemy, enemy_mobile, enemy_engineers = place(second_layout, 1, board)
    steps = settings[STEPS]
    state = random_state(seed)
    quiet = 0
    plies = 0
    while True:
        side = plies & 1
        empty = BOARD & ~(own | enemy)
        allowed = allowed_targets(enemy, empty)
        total = count_moves(mobile, engineers, allowed, empty, sets)
        if total == U0:
            winner, reason = without_move(own, empty, enemy_mobile, enemy_engineers, side)
            return winner, reason, plies
        if quiet >= steps:
            winner, reason = by_steps(side, settings)
            return winner, reason, plies
        state = advance(state)
        origin, target = pick_move(below(scramble(state), total), own, sets)
        defender = np.uint64(board[target])
        own, mobile, engineers, enemy, enemy_mobile, enemy_engineers = settle(
            board, origin, target, own, mobile, engineers, enemy, enemy_mobile, enemy_engineers
        )
        plies += 1
        if defender == U_FLAG:
            winner, reason = after_flag(
                own, mobile, engineers, enemy, enemy_mobile, enemy_engineers, side, settings
            )
            return winner, reason, plies
        quiet = quiet + 1 if defender == U0 else 0
        own, enemy = enemy, own
        mobile, enemy_mobile = enemy_mobile, mobile
        engineers, enemy_engineers = enemy_engineers, engineers
