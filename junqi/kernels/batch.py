"""Many games in one call."""

import numpy as np

from junqi.kernels.game import RANDOM, game
from junqi.kernels.jit import njit
from junqi.kernels.playout import random_game


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
