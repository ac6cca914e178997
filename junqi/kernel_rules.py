"""The kernels' answers to questions that `rules.py` answers too: legal moves and move counts."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from junqi.board import IS_HEADQUARTERS, POINTS
from junqi.kernels import perft as perft_kernel
from junqi.kernels.moves import list_moves
from junqi.kernels.playout import settle
from junqi.kernels.tables import BOARD
from junqi.pieces import ENGINEER, FLAG, HIDDEN, MINE, Side, other
from junqi.rules import Move, Position

Words: TypeAlias = NDArray[np.uint64]

# More than any board has, also one with an engineer on every point.
_ROOM = POINTS * POINTS


def legal_moves(position: Position) -> list[Move]:
    """All legal moves of the side to move, in order: `rules.legal_moves` by the kernels."""
    words = words_of(position)
    origins, targets = np.zeros(_ROOM, np.uint8), np.zeros(_ROOM, np.uint8)
    empty = BOARD & ~(words[0] | words[3])
    count = int(list_moves(words[0], words[1], words[2], words[3], empty, origins, targets))
    pairs = zip(origins[:count].tolist(), targets[:count].tolist(), strict=True)
    return sorted(Move(origin, target) for origin, target in pairs)


def perft(position: Position, depth: int) -> int:
    """The number of sequences of exactly so many plies: `rules.perft` by the kernels."""
    return 1 if depth == 0 else _perft(board_of(position), words_of(position), depth)


def perft_divide(position: Position, depth: int) -> Iterator[tuple[Move, int]]:
    """The sequences of `perft`, counted for each first move."""
    for move in legal_moves(position):
        if depth > 1 and position.pieces[move.target] == FLAG:
            yield move, 0
        elif depth == 1:
            yield move, 1
        else:
            board = board_of(position)
            origin, target = (np.uint64(point) for point in move)
            after = settle(board, origin, target, *words_of(position))
            yield move, _perft(board, np.array(after[3:] + after[:3], np.uint64), depth - 1)


def _perft(board: NDArray[np.uint8], words: Words, depth: int) -> int:
    frames = np.zeros((depth + 1, 6), np.uint64)
    frames[depth] = words
    moves = np.zeros((depth + 1, 2, _ROOM), np.uint8)
    places = np.zeros((depth + 1, 4), np.int64)
    return int(perft_kernel.perft(depth, board, frames, moves, places))


def board_of(position: Position) -> NDArray[np.uint8]:
    """What stands on each point, as the kernels keep it."""
    board = np.zeros(64, np.uint8)
    board[:POINTS] = position.pieces
    return board


def words_of(position: Position) -> Words:
    """The six sets of a position, seen from the side to move, as the kernels keep them."""
    return np.array(
        [*_sets(position, position.to_move), *_sets(position, other(position.to_move))],
        dtype=np.uint64,
    )


def _sets(position: Position, side: Side) -> tuple[int, int, int]:
    """Where a side's pieces stand, which can move, and which of those are engineers."""
    own = mobile = engineers = 0
    for point in position.points_of(side):
        piece = position.pieces[point]
        own |= 1 << point
        if piece not in (MINE, FLAG) and not IS_HEADQUARTERS[point]:
            mobile |= 1 << point
            # A hidden piece might be an engineer.
            engineers |= (piece in (ENGINEER, HIDDEN)) << point
    return own, mobile, engineers
