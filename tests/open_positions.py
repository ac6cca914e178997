"""Positions with open pieces, and what they are worth by the tables of the simulated search."""

import random

import numpy as np
from following import limits_of

from junqi.board import HEADQUARTERS_POINTS, POINTS
from junqi.kernels.knowledge import flag_number
from junqi.kernels.search import WIN
from junqi.kernels.value import PRESSING
from junqi.layout import random_layouts
from junqi.pieces import BLACK, EMPTY, ENGINEER, FLAG, KINDS, MINE, RED
from junqi.rules import Position, Rules, legal_moves, outcome, play
from junqi.weights import SearchWeights, search_tables

HEADQUARTERS = {*HEADQUARTERS_POINTS[RED], *HEADQUARTERS_POINTS[BLACK]}
TABLES = search_tables(SearchWeights())
LIMITS = limits_of(TABLES)
STEPS = Rules().steps


def board_of(position: Position) -> np.ndarray:
    board = np.zeros(64, np.uint8)
    board[:POINTS] = position.pieces
    return board


def worth_of(position: Position) -> np.ndarray:
    """The table of the two flags' places."""
    board = board_of(position)
    return TABLES.worths[flag_number(board, RED), flag_number(board, BLACK)]


def sets_of(position: Position, side: int) -> list[np.uint64]:
    """A side's pieces, those that can move, and the engineers among them, by the rules."""
    sets = [0, 0, 0]
    for point in position.points_of(side):
        piece = position.pieces[point]
        can_move = piece not in (FLAG, MINE) and point not in HEADQUARTERS
        sets[0] |= 1 << point
        sets[1] |= can_move << point
        sets[2] |= (can_move and piece == ENGINEER) << point
    return [np.uint64(word) for word in sets]


def score(position: Position, worth: np.ndarray) -> int:
    """The score of the side to move, added up by hand."""
    table = worth[:PRESSING].reshape(2, 16, 64)
    total = 0
    for point, (piece, owner) in enumerate(zip(position.pieces, position.owners, strict=True)):
        if piece != EMPTY:
            sign = 1 if owner == position.to_move else -1
            total += sign * int(table[owner, piece, point])
    return total


def told(value: int) -> int | str:
    """A value, or that it is won or lost: how far away that is, both count in their own way."""
    return "won" if value >= WIN else "lost" if value <= -WIN else value


def small_position(seed: int, most: int = 5) -> Position:
    """A few pieces of each side in random places, flags at home, any number of quiet plies."""
    rng = random.Random(seed)
    free = [point for point in range(POINTS) if point not in HEADQUARTERS]
    rng.shuffle(free)
    placed: dict[int, dict[int, int]] = {}
    for side in (RED, BLACK):
        men = [kind.piece for kind in KINDS for _ in range(kind.count) if kind.piece != FLAG]
        placed[side] = {rng.choice(HEADQUARTERS_POINTS[side]): FLAG}
        for piece in rng.sample(men, rng.randint(1, most)):
            placed[side][free.pop()] = piece
    quiet = rng.choice([0, rng.randrange(STEPS), STEPS - 1, STEPS - 2, STEPS - 3])
    return Position.from_pieces(placed, rng.choice([RED, BLACK]), quiet)


def midgame(seed: int) -> Position:
    rng = random.Random(seed)
    position = Position.from_layouts(*random_layouts(2, seed))
    for _ in range(rng.randrange(10, 120)):
        if outcome(position, Rules()) is not None:
            return midgame(seed + 1000)
        position, _ = play(position, rng.choice(legal_moves(position)))
    return position
