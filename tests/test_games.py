"""Games by any judge: the engine's search among them."""

import numpy as np
import pytest

from junqi import simulate
from junqi.games import play_games, play_thought_game, warm_up
from junqi.layout import parse_layout, random_layouts
from junqi.rules import Reason, Rules
from junqi.simulate import game_seeds, parse_judge

SAMPLE = parse_layout("abccddeeffggghhhiiijjkklj")
RANDOM, POLICY, THINK = (parse_judge(name) for name in ("random", "policy", "think:2"))


def test_the_engine_judges_the_same_for_any_number_of_threads_and_move_by_move() -> None:
    layouts, seeds = random_layouts(2, 5), [7, 8]
    told: list[int] = []
    one = play_games(layouts, layouts[::-1], seeds, THINK, POLICY, threads=1, progress=told.append)
    assert told == [1, 1]
    two = play_games(layouts, layouts[::-1], seeds, THINK, POLICY, threads=2)
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    moves, end = play_thought_game((THINK, POLICY), Rules(), layouts[0], layouts[1], 7)
    assert (end.winner, end.reason, len(moves)) == (one.winners[0], one.reasons[0], one.plies[0])


def test_the_engine_beats_a_random_player_by_its_rules() -> None:
    moves, end = play_thought_game((THINK, RANDOM), Rules(steps=9), SAMPLE, SAMPLE, 1)
    assert end.winner == 0 or end.reason == Reason.STEPS
    assert len(moves) >= 9


def test_others_are_played_by_the_kernels() -> None:
    layouts, seeds = random_layouts(20, 5), game_seeds(1, 20)
    found = play_games(layouts, SAMPLE, seeds, POLICY, RANDOM, threads=1)
    expected = simulate.play_games(layouts, SAMPLE, seeds, POLICY, RANDOM)
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    warm_up()
    warm_up(THINK, POLICY)


def test_what_no_game_can_start_from_is_refused() -> None:
    with pytest.raises(ValueError, match="expected at least 1 thread, got 0"):
        play_games(SAMPLE, SAMPLE, [1], THINK, threads=0)
    with pytest.raises(ValueError, match="expected the second layouts to be legal"):
        play_games(SAMPLE, SAMPLE[::-1], [1], THINK)
    with pytest.raises(ValueError, match="expected seeds of shape"):
        play_games(SAMPLE, SAMPLE, 1, THINK)


def test_only_the_quick_judges_are_quick() -> None:
    slow = [judge.is_slow for judge in (RANDOM, POLICY, THINK, parse_judge("search:1x1"))]
    assert slow == [False, False, True, True]
