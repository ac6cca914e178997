"""Moves race each other over worlds and depths."""

import numpy as np
import pytest

from junqi.race import NEVER, UNCHANGED, Race
from junqi.rules import Move

MOVES = [Move(1, 2), Move(3, 4), Move(5, 6)]
SILENT = dict.fromkeys(MOVES, 0)


def noise(worlds: int, seed: int = 1) -> np.ndarray:
    """Values around 0 for each move, with that very mean."""
    values = np.random.default_rng(seed).normal(size=(worlds, 3)) * 0.01
    return values - values.mean(axis=0)


def test_a_move_that_is_clearly_worse_leaves_the_race() -> None:
    race = Race(MOVES)
    random = np.random.default_rng(1)
    luck = random.normal(size=(40, 1)) * 0.2
    values = 0.5 + luck + random.normal(size=(40, 3)) * 0.01 - np.array([0.0, 0.1, 0.001])
    race.add(values.astype(np.float32))
    assert race.moves == [MOVES[0], MOVES[2]]
    thought = race.thought(0.1, SILENT)
    assert thought.move in race.moves
    assert thought.candidates[-1].move == MOVES[1]
    assert thought.candidates[1].error < 0.01  # of the difference, though both vary by 0.2


def test_of_equal_moves_the_one_is_played_that_tells_least() -> None:
    race = Race(MOVES)
    values = np.array([0.5, 0.4995, 0.3]) + noise(40)
    race.add(values.astype(np.float32))
    assert race.thought(0.1, dict(zip(MOVES, (2, 1, 0), strict=True))).move == MOVES[1]
    assert race.thought(0.1, dict(zip(MOVES, (1, 1, 0), strict=True))).move == MOVES[0]
    won = Race(MOVES)
    won.add((values + 0.45).astype(np.float32))
    assert won.thought(0.1, dict(zip(MOVES, (2, 1, 0), strict=True))).move == MOVES[0]


def test_a_few_deep_looks_correct_many_shallow_ones() -> None:
    race = Race(MOVES, NEVER)
    race.add((np.array([0.55, 0.53, 0.52]) + noise(64)).astype(np.float32))
    assert race.thought(0.1, SILENT).move == MOVES[0]
    race.add((np.array([-0.2, 0.0, 0.1]) + noise(8, 2)).astype(np.float32), 1)
    assert race.counts == [64, 8]
    thought = race.thought(0.1, SILENT)
    assert thought.move == MOVES[2]
    assert thought.value == pytest.approx(0.52 + 0.1 * 8 / (8 + UNCHANGED), abs=1e-6)
    assert thought.worlds == 64


def test_the_errors_of_all_levels_add_up() -> None:
    race = Race(MOVES[:2], NEVER)
    race.add(np.array([[0.5, 0.4], [0.5, 0.44]], np.float32).repeat(50, axis=0))
    race.add(np.array([[0.0, 0.1], [0.0, -0.1]], np.float32).repeat(4, axis=0), 1)
    error = race.thought(0.1, SILENT).candidates[1].error
    deep = 8 / (8 + UNCHANGED) * 0.1 / 8**0.5
    assert error == pytest.approx(np.hypot(0.02 / 100**0.5, deep), rel=1e-3)
    assert race.spread(1) == pytest.approx(
        0.1**2 / 2, rel=1e-3
    )  # the best keeps its own, which is 0


def test_a_move_that_a_deeper_look_may_still_save_stays() -> None:
    values = (np.array([0.55, 0.54, 0.4]) + 0.01 * noise(64)).astype(np.float32)
    hasty, doubting = Race(MOVES), Race(MOVES, doubt=0.02)
    for race in (hasty, doubting):
        race.add(values)
    assert hasty.moves == MOVES[:1]
    assert doubting.moves == MOVES[:2]
    assert doubting.columns.tolist() == [0, 1]
    doubting.add(np.zeros((40, 2), np.float32), 1)
    assert doubting.moves == MOVES[:1]


def test_chances_stay_chances() -> None:
    race = Race(MOVES)
    race.add((np.array([0.95, 0.95, 0.02]) + noise(20)).astype(np.float32))
    race.add(np.full((20, len(race.moves)), 0.1, np.float32), 1)
    assert all(0 <= c.value <= 1 for c in race.thought(0.1, SILENT).candidates)


def test_nobody_leaves_by_the_word_of_two_or_three_worlds() -> None:
    race = Race(MOVES, doubt=1.0)
    race.add((np.array([0.5, 0.5, 0.5]) + noise(64)).astype(np.float32))
    for _ in range(3):
        race.add(np.array([[0.0, -0.2, 0.1]] * 2, np.float32), 1)
        assert race.moves == MOVES
        assert not race.is_decided()
    race.add(np.array([[0.0, -0.2, 0.1]] * 2, np.float32), 1)
    assert race.moves == MOVES[2:]
