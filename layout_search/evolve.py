"""The outer loop: best response to the present mixture, into the archive, a new mixture, again.

The state after a round is all there is: rounds draw their random numbers from the run's seed and
their own number, so that a run that was stopped and resumed ends like one that was not.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from junqi import __version__
from junqi.errors import JunqiError
from junqi.layout import Layout, format_layout, parse_layouts, random_layouts
from junqi.simulate import Judge, parse_judge, warm_up
from layout_search.archive import Archive
from layout_search.fitness import Opponents, mix_opponents, score
from layout_search.mixture import prune, solve
from layout_search.respond import respond
from layout_search.settings import Settings

Vector = NDArray[np.float64]

# Random opponents that a run meets; they are drawn anew for each round.
RANDOM_OPPONENTS = 200
# Streams of random numbers within a run.
_ROUND, _PAIRS = 0, 1


class CannotResume(JunqiError, RuntimeError):
    """A checkpoint that does not fit."""


@dataclass(frozen=True)
class RoundReport:
    """What a round brought."""

    number: int
    counter: float
    """What the best response scored against the mixture before, in games of its own."""
    archive: int
    mixture: int
    """Layouts that carry the mixture now."""
    games: int
    """Of the run so far."""
    seconds: float


@dataclass(eq=False)
class Run:
    """A search on its way."""

    settings: Settings
    people: Layout
    archive: Archive = field(default_factory=Archive)
    panel_scores: Vector = field(default_factory=lambda: np.zeros(0))
    """Of each layout of the archive against people's and random layouts."""
    shares: Vector = field(default_factory=lambda: np.zeros(0))
    rounds: list[RoundReport] = field(default_factory=list)
    games: int = 0
    seconds: float = 0.0


def start(settings: Settings, people: Layout) -> Run:
    """A new search; `people` are layouts made by people, ``int8[n, 25]``, or none."""
    return Run(settings, people)


def search(
    run: Run,
    threads: int | None = None,
    report: Callable[[RoundReport], None] = lambda report: None,
    checkpoint: Path | None = None,
) -> None:
    """Run rounds until the time or the number of rounds is used up."""
    settings = run.settings
    judge = parse_judge(settings.judge)
    warm_up(judge)
    begin = time.monotonic() - run.seconds
    while not _is_over(run, time.monotonic() - begin):
        counter = one_round(run, judge, threads)
        run.seconds = time.monotonic() - begin
        carrying = int((prune(run.shares) > 0).sum())
        number = len(run.rounds) + 1
        run.rounds.append(
            RoundReport(number, counter, len(run.archive), carrying, run.games, run.seconds)
        )
        report(run.rounds[-1])
        if checkpoint is not None:
            save(run, checkpoint)


def _is_over(run: Run, seconds: float) -> bool:
    if run.settings.rounds is not None:
        return len(run.rounds) >= run.settings.rounds
    # Finals take the last quarter.
    has_finals = run.settings.finals != "none"
    return len(run.rounds) > 0 and seconds >= 60 * run.settings.minutes * (
        0.75 if has_finals else 1.0
    )


def one_round(run: Run, judge: Judge, threads: int | None = None) -> float:
    """Add a best response to the archive and solve for the mixture anew; returns its score."""
    settings, archive = run.settings, run.archive
    number = len(run.rounds)
    seed = (settings.seed, _ROUND, number)
    panel = panel_of(run, seed)
    outside = settings.against_people + settings.against_random
    parts: list[tuple[float, Layout, Vector | None]] = [(outside, panel.layouts, panel.shares)]
    parents = run.people
    if len(archive):
        parts.append((settings.against_mixture, archive.layouts, run.shares))
        parents = archive.layouts[np.argsort(-run.shares, kind="stable")]
    found = respond(mix_opponents(parts), parents, settings, seed, judge, threads)
    run.games += settings.respond_games()
    best = next((response for response in found if response.layout not in archive), found[0])
    if best.layout in archive:
        return best.score
    newest = archive.add(best.layout)
    _meet_archive(run, newest, number, judge, threads)
    panel_score = score(
        archive.layouts[newest:], panel, settings.support_games, (*seed, 1), judge, threads
    )
    run.games += settings.support_games
    run.panel_scores = np.append(run.panel_scores, panel_score)
    before = np.append(run.shares, 0.0)
    counter = 0.5 + float(archive.payoff()[newest] @ before) if newest else best.score
    run.shares = mixture_of(archive.payoff(), run.panel_scores, settings.greed)
    return counter


def mixture_of(payoff: NDArray[np.float64], panel_scores: Vector, greed: float) -> Vector:
    """The mixture between one without counters and the best against the panel."""
    return solve((1 - greed) * payoff, greed * (panel_scores - 0.5))


def _meet_archive(run: Run, newest: int, number: int, judge: Judge, threads: int | None) -> None:
    """Extend the payoff matrix by one layout; those that carry the mixture are met more often."""
    settings = run.settings
    if newest == 0:
        return
    everyone = [(newest, other) for other in range(newest)]
    seed = (settings.seed, _PAIRS, number)
    run.games += run.archive.play(everyone, settings.pair_games, (*seed, 0), judge, threads)
    carrying = [(newest, other) for other in range(newest) if run.shares[other] >= 0.01]
    if carrying:
        more = settings.support_games
        run.games += run.archive.play(carrying, more, (*seed, 1), judge, threads)


def panel_of(run: Run, seed: tuple[int, ...]) -> Opponents:
    """People's and random layouts in the shares of the settings."""
    strangers = random_layouts(RANDOM_OPPONENTS, _number(seed))
    people, random = run.settings.against_people, run.settings.against_random
    if not len(run.people) or people + random == 0:
        return mix_opponents([(1.0, strangers, None)])
    return mix_opponents([(people, run.people, None), (random, strangers, None)])


def _number(seed: tuple[int, ...]) -> int:
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


def save(run: Run, path: Path) -> None:
    """Write a checkpoint: the old one stays until the new one is whole."""
    state: dict[str, Any] = {
        "version": __version__,
        "settings": run.settings.to_json(),
        "people": [format_layout(layout) for layout in run.people],
        "archive": [format_layout(layout) for layout in run.archive.layouts],
        "points": run.archive.points.tolist(),
        "games": run.archive.games.tolist(),
        "panel_scores": run.panel_scores.tolist(),
        "shares": run.shares.tolist(),
        "rounds": [vars(report) for report in run.rounds],
        "all_games": run.games,
        "seconds": run.seconds,
    }
    new = path.with_name(path.name + ".new")
    with new.open("w", encoding="utf-8") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def load(path: Path) -> Run:
    """Read a checkpoint.

    Raises:
        CannotResume: if it is none, or one of another version of the program.
    """
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        version = state["version"]
    except FileNotFoundError:
        raise CannotResume(f"{path}: no checkpoint to resume from") from None
    except (ValueError, KeyError, TypeError) as error:
        raise CannotResume(f"{path}: expected a checkpoint: {error}") from None
    if version != __version__:
        raise CannotResume(f"{path}: made by version {version}, this is {__version__}")
    size = len(state["archive"])
    return Run(
        Settings(**state["settings"]),
        parse_layouts(state["people"]),
        Archive(
            parse_layouts(state["archive"]),
            np.array(state["points"], dtype=np.float64).reshape(size, size),
            np.array(state["games"], dtype=np.float64).reshape(size, size),
        ),
        np.array(state["panel_scores"], dtype=np.float64),
        np.array(state["shares"], dtype=np.float64),
        [RoundReport(**row) for row in state["rounds"]],
        state["all_games"],
        state["seconds"],
    )
