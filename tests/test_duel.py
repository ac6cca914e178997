"""Two layouts against each other: pairs of games with the colours swapped."""

from typing import Any

import numpy as np
import pytest

from junqi import duel as duel_module
from junqi.duel import duel
from junqi.layout import mirror_layout, parse_layout, random_layouts
from junqi.rules import Reason, Rules
from junqi.simulate import game_seeds, parse_judge, play_games

SAMPLE = parse_layout("abccddeeffggghhhiiijjkklj")
OTHER = parse_layout("cbacddeeffggghhhiiijjkklj")
RANDOM, POLICY, SEARCH = (parse_judge(name) for name in ("random", "policy", "search:2x2"))


@pytest.mark.parametrize("judge", [RANDOM, POLICY, SEARCH], ids=str)
def test_a_layout_against_itself_scores_exactly_half(judge: Any) -> None:
    result = duel(SAMPLE, SAMPLE, 40, 1, judge)
    assert result.score.mean == 0.5
    assert result.wins == result.losses
    assert result.score_moving_first == pytest.approx(1 - result.score_moving_second)
    # Every pair cancels: all that is left is the doubt of so few games.
    assert result.score.error < 0.04


@pytest.mark.parametrize("judge", [RANDOM, POLICY, SEARCH], ids=str)
def test_the_two_sides_add_up_to_one(judge: Any) -> None:
    first, second = random_layouts(2, 1)
    one, two = duel(first, second, 40, 3, judge), duel(second, first, 40, 3, judge)
    assert one.score.mean + two.score.mean == pytest.approx(1)
    assert (one.wins, one.draws, one.losses) == (two.losses, two.draws, two.wins)
    assert one.score.error == pytest.approx(two.score.error)
    assert one.score_moving_first == pytest.approx(1 - two.score_moving_second)
    assert (one.plies, one.reasons) == (two.plies, two.reasons)


def test_each_side_is_played_by_its_own_judge() -> None:
    strong, weak = (
        duel(SAMPLE, SAMPLE, 200, 1, POLICY, RANDOM),
        duel(SAMPLE, SAMPLE, 200, 1, RANDOM, POLICY),
    )
    assert strong.score.mean > 0.75
    assert strong.score.mean + weak.score.mean == pytest.approx(1)
    assert strong.score_moving_first > 0.7
    assert strong.score_moving_second > 0.7


def test_the_numbers_are_those_of_the_games() -> None:
    games, seed = 60, 5
    result = duel(SAMPLE, OTHER, games, seed, POLICY)
    seeds = game_seeds(seed, games // 2)
    first = play_games(SAMPLE, OTHER, seeds, POLICY)
    second = play_games(OTHER, SAMPLE, seeds, POLICY)
    scores = np.concatenate([first.scores_of_first(), 1 - second.scores_of_first()])
    assert result.games == games == result.wins + result.draws + result.losses
    assert result.wins == (scores == 1).sum()
    assert result.draws == (scores == 0.5).sum()
    assert result.score.mean == pytest.approx(scores.mean())
    assert result.score_moving_first == pytest.approx(scores[:30].mean())
    assert result.score_moving_second == pytest.approx(scores[30:].mean())
    assert result.plies == first.plies.sum() + second.plies.sum()
    reasons = np.concatenate([first.reasons, second.reasons])
    assert result.reasons == {
        "flag": (reasons == Reason.FLAG).sum(),
        "no-moves": (reasons == Reason.NO_MOVES).sum(),
        "steps": (reasons == Reason.STEPS).sum(),
    }
    assert sum(result.reasons.values()) == games


def test_the_same_seed_gives_the_same_duel_on_any_threads() -> None:
    results = [duel(SAMPLE, OTHER, 100, 2, POLICY, threads=threads) for threads in (1, 2, 5)]
    assert len({(r.wins, r.draws, r.plies, r.score) for r in results}) == 1
    another = duel(SAMPLE, OTHER, 100, 3, POLICY)
    assert another.plies != results[0].plies


def test_mirror_images_are_worth_the_same() -> None:
    result = duel(SAMPLE, mirror_layout(SAMPLE), 4000, 1, POLICY)
    low, high = result.score.interval
    assert low - 0.01 < 0.5 < high + 0.01


@pytest.mark.parametrize("games", [-2, 0, 1, 3, 101])
def test_games_come_in_pairs(games: int) -> None:
    with pytest.raises(
        ValueError, match=f"expected an even number of games, at least 2, got {games}"
    ):
        duel(SAMPLE, OTHER, games, 1, POLICY)


def test_progress_adds_up_to_all_games() -> None:
    told: list[int] = []
    duel(SAMPLE, OTHER, 50, 1, POLICY, progress=told.append)
    assert sum(told) == 50


def test_rules_reach_the_games() -> None:
    result = duel(SAMPLE, OTHER, 40, 1, RANDOM, rules=Rules(steps=2))
    assert result.reasons["steps"] > 30


def test_seconds_are_those_of_play_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 103.5])
    order = []
    monkeypatch.setattr(duel_module, "warm_up", lambda *judges: order.append(judges))
    monkeypatch.setattr(
        duel_module.time, "perf_counter", lambda: (order.append("clock"), next(clock))[1]
    )
    result = duel(SAMPLE, OTHER, 4, 1, POLICY, RANDOM, threads=1)
    assert result.seconds == 3.5
    assert order == [(POLICY, RANDOM), "clock", "clock"]
