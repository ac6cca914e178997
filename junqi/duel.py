"""Two layouts against each other in simulated games."""

import time
from dataclasses import dataclass

import numpy as np

from junqi.games import play_games, warm_up
from junqi.layout import Layout
from junqi.rules import Reason, Rules
from junqi.simulate import Judge, Progress, Results, game_seeds
from junqi.stats import Score, score_of_pairs


@dataclass(frozen=True)
class DuelResult:
    """How the first of two layouts fared."""

    games: int
    wins: int
    draws: int
    losses: int
    score: Score
    """Of all pairs of games."""
    score_moving_first: float
    """Of the games in which the first layout moved first."""
    score_moving_second: float
    reasons: dict[str, int]
    """How many games ended by what."""
    plies: int
    """Of all games together."""
    seconds: float
    """Of play alone: compilation and start-up are not in it."""


def duel(
    layout: Layout,
    other: Layout,
    games: int,
    seed: int,
    judge: Judge,
    other_judge: Judge | None = None,
    *,
    rules: Rules | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> DuelResult:
    """Play pairs of games with the same seed and the colours swapped.

    Raises:
        ValueError: if the number of games is odd or not positive.
    """
    if games < 2 or games % 2:
        raise ValueError(f"expected an even number of games, at least 2, got {games}")
    other_judge = other_judge or judge
    warm_up(judge, other_judge)
    seeds = game_seeds(seed, games // 2)
    begin = time.perf_counter()
    moving_first = play_games(
        layout, other, seeds, judge, other_judge, rules=rules, threads=threads, progress=progress
    )
    moving_second = play_games(
        other, layout, seeds, other_judge, judge, rules=rules, threads=threads, progress=progress
    )
    seconds = time.perf_counter() - begin
    first, second = moving_first.scores_of_first(), 1 - moving_second.scores_of_first()
    scores = np.concatenate([first, second])
    return DuelResult(
        games=games,
        wins=int((scores == 1).sum()),
        draws=int((scores == 0.5).sum()),
        losses=int((scores == 0).sum()),
        score=score_of_pairs((first + second) / 2),
        score_moving_first=float(first.mean()),
        score_moving_second=float(second.mean()),
        reasons=_reasons([moving_first, moving_second]),
        plies=int(moving_first.plies.sum() + moving_second.plies.sum()),
        seconds=seconds,
    )


def _reasons(results: list[Results]) -> dict[str, int]:
    reasons = np.concatenate([part.reasons for part in results])
    return {
        reason.text: int((reasons == reason).sum())
        for reason in (Reason.FLAG, Reason.NO_MOVES, Reason.STEPS)
    }
