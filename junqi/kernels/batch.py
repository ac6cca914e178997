"""Many games in one call."""

import numpy as np

from junqi.kernels.bits import U0, U1
from junqi.kernels.game import RANDOM, game
from junqi.kernels.jit import njit
from junqi.kernels.playout import random_game
from junqi.kernels.worlds import MAY_AT_START, SLOTS
from junqi.pieces import KINDS

# Five bits for each kind count its pieces.
_BITS = np.uint64(5)
_COUNTS = np.uint64(sum(kind.count << (5 * kind.piece) for kind in KINDS))


@njit
def first_illegal(layouts):
    """The first row of ``int8[n, 25]``, pieces or 0, that is no legal layout, or -1.

    All other kernels rely on legal layouts: they have no room for a fourth engineer.
    """
    for row in range(layouts.shape[0]):
        counts = U0
        for slot in range(SLOTS):
            piece = layouts[row, slot]
            if not (MAY_AT_START[slot] >> piece) & 1:
                return row
            counts += U1 << (np.uint64(piece) * _BITS)
        if counts != _COUNTS:
            return row
    return -1


@njit
def play_batch(
    firsts,
    seconds,
    seeds,
    settings,
    players,
    scratch,
    winners_out,
    reasons_out,
    plies_out,
):
    """Play one game for each row of the layouts ``int8[n, 25]`` and seed ``uint64[n]``.

    Writes ``int8[n]`` winners and reasons and ``int32[n]`` plies.
    """
    no_moves = np.zeros((0, 2), np.uint8)
    is_random = players.kinds[0] == RANDOM and players.kinds[1] == RANDOM
    for index in range(seeds.shape[0]):
        if is_random:  # the same game, without what only thinking players need
            winner, reason, plies = random_game(
                firsts[index], seconds[index], seeds[index], settings, scratch.board, scratch.sets
            )
        else:
            winner, reason, plies = game(
                firsts[index], seconds[index], seeds[index], settings, players, scratch, no_moves
            )
        winners_out[index] = winner
        reasons_out[index] = reason
        plies_out[index] = plies
