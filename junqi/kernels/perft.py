"""Counting move sequences, to compare the kernels' moves with the rules'."""

import numpy as np

from junqi.kernels.jit import njit
from junqi.kernels.moves import list_moves
from junqi.kernels.playout import settle
from junqi.kernels.tables import BOARD
from junqi.pieces import FLAG


@njit
def perft(depth, board, words, moves, places):
    """The number of sequences of exactly `depth` plies, at least 1, from the frame `depth`.

    Args:
        board: ``uint8[64]``, left as it was.
        words: ``uint64[depth + 1, 6]``, six sets a frame as `settle` takes them.
        moves: ``uint8[depth + 1, 2, n]`` with room for all moves of a position.
        places: ``int64[depth + 1, 4]``: the next move, how many there are, and what stood on the
            two points of the current one.
    """
    total = np.int64(0)
    top = depth
    is_new = True
    while True:
        own, mobile, engineers, enemy, enemy_mobile, enemy_engineers = (
            words[depth, 0],
            words[depth, 1],
            words[depth, 2],
            words[depth, 3],
            words[depth, 4],
            words[depth, 5],
        )
        origins, targets = moves[depth, 0], moves[depth, 1]
        if is_new:
            empty = BOARD & ~(own | enemy)
            count = np.int64(list_moves(own, mobile, engineers, enemy, empty, origins, targets))
            places[depth, 0] = 0
            places[depth, 1] = count
            if depth == 1:
                total += count
                places[depth, 0] = count
        index = places[depth, 0]
        if index == places[depth, 1]:
            if depth == top:
                return total
            depth += 1
            index = places[depth, 0]
            board[moves[depth, 0, index]] = places[depth, 2]
            board[moves[depth, 1, index]] = places[depth, 3]
            places[depth, 0] = index + 1
            is_new = False
            continue
        origin, target = np.uint64(origins[index]), np.uint64(targets[index])
        if board[target] == FLAG:
            places[depth, 0] = index + 1
            is_new = False
            continue
        places[depth, 2] = board[origin]
        places[depth, 3] = board[target]
        own, mobile, engineers, enemy, enemy_mobile, enemy_engineers = settle(
            board, origin, target, own, mobile, engineers, enemy, enemy_mobile, enemy_engineers
        )
        depth -= 1
        words[depth, 0], words[depth, 1], words[depth, 2] = enemy, enemy_mobile, enemy_engineers
        words[depth, 3], words[depth, 4], words[depth, 5] = own, mobile, engineers
        is_new = True
