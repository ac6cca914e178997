"""The outer loop: rounds of best responses, and finals before the last of them."""

import time
from collections.abc import Callable
from pathlib import Path

from junqi.games import warm_up
from junqi.simulate import parse_judge
from layout_search.finals import FinalsReport, hold_finals, planned_games
from layout_search.mixture import prune
from layout_search.rounds import GenerationReport, one_round
from layout_search.run import RoundReport, Run, save
from layout_search.workers import ALL_CORES, Workers

# A run is over before its time when so many rounds in a row found no counter above the margin: one
# alone may just have been unlucky.
STEADY_ROUNDS = 6
# Where in a run the finals are: what is left is for counters to what they made of the mixture.
FINALS_AT = 0.75


def search(
    run: Run,
    workers: Workers = ALL_CORES,
    report: Callable[[RoundReport], None] = lambda report: None,
    checkpoint: Path | None = None,
    report_generation: GenerationReport = lambda generation, best, games: None,
    report_finals: FinalsReport = lambda games, planned: None,
) -> None:
    """Run rounds and finals until the time or the number of rounds is used up.

    Args:
        report: told of each round.
        checkpoint: the file that is written after each round, and after the finals.
        report_generation: told of each generation within a round, see `respond`.
        report_finals: told of the games of the finals, see `hold_finals`.
    """
    settings = run.settings
    judge = parse_judge(settings.judge)
    warm_up(judge)
    if settings.finals != "none":
        warm_up(parse_judge(settings.finals))
    begin = time.monotonic() - run.seconds
    while True:
        if _finals_are_due(run):
            hold_finals(run, workers, report_finals)
        elif _is_over(run):
            break
        else:
            counter = one_round(run, judge, workers, report_generation)
            carrying = int((prune(run.shares) > 0).sum())
            number, seconds = len(run.rounds) + 1, time.monotonic() - begin
            run.rounds.append(
                RoundReport(number, counter, len(run.archive), carrying, run.games, seconds)
            )
            report(run.rounds[-1])
        run.seconds = time.monotonic() - begin
        if checkpoint is not None:
            save(run, checkpoint)


def _finals_are_due(run: Run) -> bool:
    if run.settings.finals == "none" or run.final is not None or not run.rounds:
        return False
    if _is_over(run):
        return True
    if run.settings.rounds is not None:
        return len(run.rounds) >= FINALS_AT * run.settings.rounds
    evidence, finals = _strong_seconds(run, run.settings.fresh_games()), _seconds_of_finals(run)
    return run.seconds + finals >= FINALS_AT * (60 * run.settings.minutes - evidence)


def _is_over(run: Run) -> bool:
    # What counters scored before the finals tells nothing of the mixture after them.
    before = 0 if run.final is None else run.final.rounds
    last = run.rounds[before:][-STEADY_ROUNDS:]
    if len(last) == STEADY_ROUNDS and all(r.counter <= 0.5 + run.settings.margin for r in last):
        return True
    if run.settings.rounds is not None:
        return len(run.rounds) >= run.settings.rounds
    if not run.rounds:
        return False
    # Half of the next round would be too late.
    held = 0.0 if run.final is None else run.final.seconds
    next_round = (run.seconds - held) / len(run.rounds)
    after = _strong_seconds(run, run.settings.fresh_games())
    after += _seconds_of_finals(run) if run.final is None else 0.0
    return run.seconds + next_round / 2 + after >= 60 * run.settings.minutes


def _seconds_of_finals(run: Run) -> float:
    return 0.0 if run.settings.finals == "none" else _strong_seconds(run, planned_games(run))


def _strong_seconds(run: Run, games: float) -> float:
    """What so many games of the strong judge will take, at his pace so far."""
    return games * run.strong_seconds / run.strong_played if run.strong_played else 0.0
