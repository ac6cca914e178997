"""The outer loop: best response to the present mixture, into the archive, a new mixture, again.

The state after a round is all there is: rounds draw their random numbers from the run's seed and
their own number, so that a run that was stopped and resumed ends like one that was not.
"""

import json
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
from junqi.textfile import write_whole
from layout_search.archive import Archive
from layout_search.fitness import Opponents, mix_opponents, score
from layout_search.foresight import LEAST_LAYOUTS, Foresight, learn
from layout_search.mixture import prune, solve, temper
from layout_search.respond import Response, respond
from layout_search.settings import Settings
from layout_search.workers import ALL_CORES, Workers

Vector = NDArray[np.float64]
GenerationReport = Callable[[int, float, int], None]

# Random opponents that a run meets; they are drawn anew for each round.
RANDOM_OPPONENTS = 200
# A layout with this share of the mixture meets newcomers more often.
CARRIES = 0.01
# Of the payoffs between two layouts under the strong judge: the part of the fast judge's that
# holds, and the part of their difference against people's and random layouts.
HOLDING, RATING = 0.6, 0.8
# What a counter from the archive is to be worth in the strong judge's eyes, beside its score: the
# mixture needs answers to counters that are not themselves bad against everybody else.
SOUNDNESS = 0.5
# A run is over before its time when so many counters in a row scored within the margin: every other
# one begins from random layouts, and one alone may just have been unlucky.
STEADY_ROUNDS = 6
# Streams of random numbers within a run.
_ROUND = 0


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
    strong_scores: Vector = field(default_factory=lambda: np.zeros(0))
    """The same by the judge of the finals, in few games; none without finals."""
    shares: Vector = field(default_factory=lambda: np.zeros(0))
    rounds: list[RoundReport] = field(default_factory=list)
    games: int = 0
    seconds: float = 0.0
    key: str = ""
    """What a book calls the run, also after it was stopped and resumed."""


def start(settings: Settings, people: Layout, key: str = "") -> Run:
    """A new search; `people` are layouts made by people, ``int8[n, 25]``, or none."""
    return Run(settings, people, key=key)


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
    while not _is_over(run, time.monotonic() - begin):
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


def _is_over(run: Run, seconds: float) -> bool:
    last = run.rounds[-STEADY_ROUNDS:]
    if len(last) == STEADY_ROUNDS and all(r.counter <= 0.5 + run.settings.margin for r in last):
        return True
    if run.settings.rounds is not None:
        return len(run.rounds) >= run.settings.rounds
    # Finals and fresh evidence take the rest.
    has_finals = run.settings.finals != "none"
    return len(run.rounds) > 0 and seconds >= 60 * run.settings.minutes * (
        0.78 if has_finals else 1.0
    )


def one_round(
    run: Run,
    judge: Judge,
    workers: Workers = ALL_CORES,
    report_generation: GenerationReport = lambda generation, best, games: None,
) -> float:
    """Add best responses to the archive and solve for the mixture anew.

    One response is the best counter to the mixture; its score is returned. With greed another one
    looks for what the mixture lacks against everybody else. What responds begins from the archive
    in every other round, and from random layouts in between: there are counters far from all that
    has been found.
    """
    settings, archive = run.settings, run.archive
    seed = (settings.seed, _ROUND, len(run.rounds))
    panel = panel_of(run, seed)
    panel_part = (settings.against_people + settings.against_random, panel.layouts, panel.shares)
    before = run.shares
    foresight = foresight_of(run)
    counter = None
    if len(archive):
        mixture = mix_opponents([(1.0, archive.layouts, before)])
        is_cold = len(run.rounds) % 2 == 1
        parents = archive.layouts[:0] if is_cold else archive.layouts[_best_first(archive, before)]
        bonus = None if is_cold or foresight is None else foresight.scaled(SOUNDNESS)
        found = respond(mixture, parents, settings, seed, judge, workers, report_generation, bonus)
        counter = max(response.score for response in found)
        _take_in(run, found, panel, (*seed, 1), judge, workers)
    if not len(archive):
        everybody, parents = mix_opponents([(1.0, *panel_part[1:])]), run.people
    else:
        everybody = mix_opponents(
            [
                panel_part,
                (settings.against_mixture, archive.layouts[: len(before)], before),
                (settings.against_archive, archive.layouts, None),
            ]
        )
        parents = archive.layouts[np.argsort(-expected_scores(run), kind="stable")]
    if settings.greed > 0 or counter is None:
        name = (*seed, 2)
        bonus = None if foresight is None else foresight.predict
        found = respond(
            everybody, parents, settings, name, judge, workers, report_generation, bonus
        )
        _take_in(run, found, panel, (*name, 1), judge, workers)
        counter = found[0].score if counter is None else counter
    expected = expected_scores(run)
    run.shares = mixture_of(counters_of(run, expected), expected, settings)
    return counter


def _best_first(archive: Archive, shares: Vector) -> NDArray[np.intp]:
    """The archive, from what does best against a mixture of it."""
    return np.argsort(-(archive.payoff() @ shares), kind="stable")


def _take_in(
    run: Run,
    found: list[Response],
    panel: Opponents,
    seed: tuple[int, ...],
    judge: Judge,
    workers: Workers,
) -> None:
    """Add the best response that is new to the archive, with its payoffs and panel score."""
    settings, archive = run.settings, run.archive
    run.games += settings.respond_games()
    best = next((response for response in found if response.layout not in archive), None)
    if best is None:
        return
    newest = archive.add(best.layout)
    _meet_archive(run, newest, seed, judge, workers)
    games = settings.support_games
    panel_score = score(archive.layouts[newest:], panel, games, (*seed, 2), judge, workers)
    run.games += games
    run.panel_scores = np.append(run.panel_scores, panel_score)
    if settings.finals != "none":
        strong, games = parse_judge(settings.finals), settings.strong_games
        strong_score = score(archive.layouts[newest:], panel, games, (*seed, 3), strong, workers)
        run.games += games
        run.strong_scores = np.append(run.strong_scores, strong_score)


def foresight_of(run: Run) -> Foresight | None:
    """What is known of the strong judge's mind; None while that is too little."""
    if len(run.strong_scores) < LEAST_LAYOUTS:
        return None
    return learn(run.archive.layouts, run.strong_scores, run.settings.strong_games)


def expected_scores(run: Run) -> Vector:
    """Of each layout of the archive against the panel, by the strongest judge that was asked."""
    foresight = foresight_of(run)
    return run.panel_scores if foresight is None else foresight.learned


def counters_of(run: Run, expected: Vector) -> NDArray[np.float64]:
    """What each layout of the archive scores above one half against each counter.

    Nobody is to have a counter under either judge. The fast one's payoffs were played; of the
    strong one's a part is the same, and the rest is how much better he thinks of one layout than
    of the other.
    """
    payoff = run.archive.payoff()
    if not len(run.strong_scores):
        return payoff
    better = expected[:, None] - expected[None, :]
    return np.concatenate([payoff, HOLDING * payoff + RATING * better], axis=1)


def mixture_of(payoff: NDArray[np.float64], panel_scores: Vector, settings: Settings) -> Vector:
    """The mixture between one without counters and the best against the panel.

    Args:
        payoff: ``float64[n, k]``, of n layouts against k counters.
        panel_scores: ``float64[n]``, of the layouts against the panel.
    """
    greed = settings.greed
    payoff, bonus = (1 - greed) * payoff, greed * (panel_scores - 0.5)
    return temper(payoff, bonus, settings.spread) if settings.spread else solve(payoff, bonus)


def _meet_archive(
    run: Run, newest: int, seed: tuple[int, ...], judge: Judge, workers: Workers
) -> None:
    """Extend the payoff matrix by one layout; those that carry the mixture are met more often."""
    settings = run.settings
    if newest == 0:
        return
    everyone = [(newest, other) for other in range(newest)]
    run.games += run.archive.play(everyone, settings.pair_games, (*seed, 0), judge, workers)
    carrying = [(newest, int(other)) for other in np.flatnonzero(run.shares >= CARRIES)]
    if carrying:
        more = settings.support_games
        run.games += run.archive.play(carrying, more, (*seed, 1), judge, workers)


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
        "key": run.key,
        "settings": run.settings.to_json(),
        "people": [format_layout(layout) for layout in run.people],
        "archive": [format_layout(layout) for layout in run.archive.layouts],
        "points": run.archive.points.tolist(),
        "games": run.archive.games.tolist(),
        "draws": run.archive.draws.tolist(),
        "panel_scores": run.panel_scores.tolist(),
        "strong_scores": run.strong_scores.tolist(),
        "shares": run.shares.tolist(),
        "rounds": [vars(report) for report in run.rounds],
        "all_games": run.games,
        "seconds": run.seconds,
    }
    write_whole(path, json.dumps(state))


def load(path: Path) -> Run:
    """Read a checkpoint.

    Raises:
        CannotResume: if it is none, or one of another version of the program.
    """
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        version = state["version"]
        if version != __version__:
            raise CannotResume(f"{path}: made by version {version}, this is {__version__}")
        return _run_of(state)
    except FileNotFoundError:
        raise CannotResume(f"{path}: no checkpoint to resume from") from None
    except KeyError as error:
        raise CannotResume(f"{path}: expected a checkpoint, got one without {error}") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise CannotResume(f"{path}: expected a checkpoint: {error}") from None


def _run_of(state: dict[str, Any]) -> Run:
    layouts = parse_layouts(state["archive"])
    points, games, draws = (
        np.array(state[name], dtype=np.float64).reshape(len(layouts), len(layouts))
        for name in ("points", "games", "draws")
    )
    return Run(
        Settings(**state["settings"]),
        parse_layouts(state["people"]),
        Archive(layouts, points, games, draws),
        np.array(state["panel_scores"], dtype=np.float64),
        np.array(state["strong_scores"], dtype=np.float64),
        np.array(state["shares"], dtype=np.float64),
        [RoundReport(**row) for row in state["rounds"]],
        state["all_games"],
        state["seconds"],
        state["key"],
    )
