"""The opponent that sees everything goes for what it wants, and for nothing else."""

from collections.abc import Callable
from random import Random

import pytest

from junqi.hunter import Wanted, hunting_move, loses_the_marshal, spares_only_the_flag
from junqi.layout import random_layouts
from junqi.pieces import BLACK
from junqi.rules import Outcome, Position, Reason, Rules, format_move, legal_moves, outcome, play

At = Callable[..., Position]


@pytest.mark.parametrize(
    ("pieces", "wanted", "move"),
    [
        ("aG0 BF0 HG1 lL1 LA1", spares_only_the_flag, "G0F0"),  # the stronger of two victims
        ("bG0 AF0 HG1 lL1 LA1", spares_only_the_flag, "G0G1"),  # what it cannot beat it leaves
        ("aB1 LA1 HB2 lL1", spares_only_the_flag, "B1B2"),  # the flag is spared
        ("aG0 JF0 HG1 lL1 LA1", loses_the_marshal, "G0F0"),
        ("aG0 HF0 AG1 lL1 LA1", loses_the_marshal, "G0G1"),
    ],
)
def test_wanted_contacts_are_made(at: At, pieces: str, wanted: Wanted, move: str) -> None:
    assert format_move(hunting_move(at(pieces), wanted, Random(1))) == move


def test_it_walks_towards_its_prey(at: At) -> None:
    for seed in range(5):
        move = hunting_move(at("bJ2 HH2 lL1 LA1"), spares_only_the_flag, Random(seed))
        assert format_move(move) == "J2I2"


def test_it_does_not_walk_into_a_stronger_piece(at: At) -> None:
    """From I2 both H2 and H3 lead to the prey on G3; the marshal on G2 waits beside H2."""
    for seed in range(5):
        move = hunting_move(at("bI2 HG3 AG2 lL1 LA1"), spares_only_the_flag, Random(seed))
        assert format_move(move) == "I2H3"


def test_a_random_player_is_stuck_before_long() -> None:
    stuck = Outcome(BLACK, Reason.NO_MOVES)
    rules = Rules(steps=10_000)
    for seed in range(3):
        rng = Random(seed)
        position = Position.from_layouts(*random_layouts(2, seed))
        while (end := outcome(position, rules)) is None:
            if position.to_move == BLACK:
                move = hunting_move(position, spares_only_the_flag, rng)
            else:
                move = rng.choice(legal_moves(position))
            position, _ = play(position, move)
        assert end == stuck
