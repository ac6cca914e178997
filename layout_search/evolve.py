"""The outer loop: rounds of best responses, until the time or the number of rounds is used up."""

import time
from collections.abc import Callable
from pathlib import Path

from junqi.games import warm_up
from junqi.simulate import parse_judge
from layout_search.finals import planned_games
from layout_search.mixture import prune
from layout_search.rounds import GenerationReport, one_round
from layout_search.run import RoundReport, Run, save
from layout_search.workers import ALL_CORES, Workers

# A run is over before its time when so many rounds in a row found no counter above the margin: one
# alone may just have been unlucky.
STEADY_ROUNDS = 6


def search(
    run: Run,
    workers: Workers = ALL_CORES,
    report: Callable[[RoundReport], None] = lambda report: None,
    checkpoint: Path | None = None,
    report_generation: GenerationReport = lambda generation, best, games: None,
) -> None:
    """Run rounds until the time or the number of rounds is used up.

    Args:
        report: told of each round.
        checkpoint: the file that is written after each round.
        report_generation: told of each generation within a round, see `respond`.
    """
    settings = run.settings
    judge = parse_judge(settings.judge)
    warm_up(judge)
    if settings.finals != "none":
        warm_up(parse_judge(settings.finals))
    begin = time.monotonic() - run.seconds
    while not _is_over(run):
        counter = one_round(run, judge, workers, report_generation)
        run.seconds = time.monotonic() - begin
        carrying = int((prune(run.shares) > 0).sum())
        number = len(run.rounds) + 1
        run.rounds.append(
            RoundReport(number, counter, len(run.archive), carrying, run.games, run.seconds)
        )
        report(run.rounds[-1])
        if checkpoint is not None:
            save(run, checkpoint)


def _is_over(run: Run) -> bool:
    last = run.rounds[-STEADY_ROUNDS:]
    if len(last) == STEADY_ROUNDS and all(r.counter <= 0.5 + run.settings.margin for r in last):
        return True
    if run.settings.rounds is not None:
        return len(run.rounds) >= run.settings.rounds
    if not run.rounds:
        return False
    # Half of the next round would be too late.
    next_round = run.seconds / len(run.rounds)
    return run.seconds + next_round / 2 + _seconds_after(run) >= 60 * run.settings.minutes


def _seconds_after(run: Run) -> float:
    """What finals and fresh evidence will take, at the pace of the strong judge's games so far."""
    asked = run.strong_games.sum()
    if run.settings.finals == "none" or not asked:
        return 0.0
    return float((planned_games(run) + run.settings.fresh_games()) * run.strong_seconds / asked)
