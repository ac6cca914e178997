"""A round: counters to the mixture, a layout that answers them, and the mixture solved anew.

What is solved is a game between two who want different things. The one who plays the mixture wants
to lose to no counter, and, by the greed, to score well against everybody in the strong judge's
eyes. The other one wants to beat the mixture and nothing else, so his threats may be layouts that
nobody would play otherwise. Both draw from the archive. A round looks for what each of them lacks:
several counters to the mixture, from different beginnings, and the layout that does best against
the threats and everybody.

The strong judge's games cost a thousand times those of the fast one. They go to layouts that carry
the mixture; of all others he is foreseen (`foresight.py`).
"""

import time
from collections.abc import Callable
from functools import partial
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from junqi.layout import Layout, random_layouts
from junqi.simulate import Judge, parse_judge
from layout_search.fitness import Opponents, mix_opponents, score
from layout_search.foresight import LEAST_LAYOUTS, Foresight, learn
from layout_search.mixture import Solution, prune, solve, temper
from layout_search.respond import Bonus, Response, respond
from layout_search.run import Run
from layout_search.settings import Settings
from layout_search.workers import ALL_CORES, Workers

Vector = NDArray[np.float64]
GenerationReport = Callable[[int, float, int], None]

# Random opponents that a run meets; they are drawn anew for each round.
RANDOM_OPPONENTS = 200
# A layout with this share of the mixture or of the threats meets newcomers more often.
CARRIES = 0.01
# The strong judge looks at so many layouts in a round, at each no more often than this, and first
# at those with most of the mixture for each game seen; a layout he has not seen counts as seen in
# some games, or else a trifling share would come before a large one.
ASKED = 2
ASKED_TIMES = 4
UNSEEN_GAMES = 8
# In every so many rounds the layout is bred for everybody alone, as the best single one; a point
# that the strong judge is foreseen to give is then worth so many of the fast judge's.
SINGLE_EVERY = 4
SINGLE_WORTH = 3.0
# The greed that is taken for 1, where nothing but the strong judge's score counts.
GREATEST_GREED = 0.99
# Streams of random numbers within a run.
_ROUND, _ASK = 0, 1000


def one_round(
    run: Run,
    judge: Judge,
    workers: Workers = ALL_CORES,
    report_generation: GenerationReport = lambda generation, best, games: None,
) -> float:
    """Add best responses to the archive and solve for the mixture anew.

    Returns what the best counter scored against the mixture before.
    """
    settings, archive = run.settings, run.archive
    seed = (settings.seed, _ROUND, len(run.rounds))
    panel = panel_of(run, seed)
    breed = partial(
        respond, settings=settings, judge=judge, workers=workers, report=report_generation
    )
    if not len(archive):
        found = [breed(panel, run.people, seed=(*seed, 0))]
    else:
        mixture = mix_opponents([(1.0, archive.layouts, prune(run.shares))])
        beginnings = zip(range(settings.counters), cycle(_beginnings(run, seed)), strict=False)
        found = [breed(mixture, parents, seed=(*seed, number)) for number, parents in beginnings]
    counter = max(best[0].score for best in found)
    # What does not even beat the mixture is no threat to it.
    found = [best for best in found if best[0].score > 0.5 or not len(archive)]
    attempts = settings.counters if len(archive) else 1
    if len(archive) and settings.greed > 0:
        threats, parents, bonus = _to_answer(run, panel)
        found.append(breed(threats, parents, seed=(*seed, settings.counters), bonus=bonus))
        attempts += 1
    run.games += attempts * settings.respond_games()
    for number, best in enumerate(found, settings.counters + 1):
        _take_in(run, best, panel, (*seed, number), judge, workers)
    solve_anew(run)
    if settings.finals != "none":
        ask(run, panel, seed, workers)
    return counter


def _beginnings(run: Run, seed: tuple[int, ...]) -> list[Layout]:
    """What counters are bred from, one after the other, another one first in each round.

    From the best counters so far, from the mixture itself, from any of the archive, and from random
    layouts alone: those score less as a rule, but are far from all that has been found.
    """
    layouts, shares = run.archive.layouts, run.shares
    counters = np.argsort(-(run.archive.payoff() @ shares), kind="stable")
    members = np.argsort(-shares, kind="stable")[: int((prune(shares) > 0).sum())]
    anyone = np.random.default_rng(seed).permutation(len(layouts))
    beginnings = [layouts[counters], layouts[members], layouts[anyone], layouts[:0]]
    first = len(run.rounds) % len(beginnings)
    return beginnings[first:] + beginnings[:first]


def _to_answer(run: Run, panel: Opponents) -> tuple[Opponents, Layout, Bonus | None]:
    """Whom the answer to the threats meets, what it is bred from, and its worth beside its score.

    While the strong judge is not foreseen, it meets everybody as often as the greed says.
    """
    settings, layouts = run.settings, run.archive.layouts
    foresight = foresight_of(run)
    if foresight is not None and _is_for_single(run):
        best = np.argsort(-expected_scores(run), kind="stable")
        return panel, layouts[best], foresight.scaled(SINGLE_WORTH)
    answers = run.archive.payoff() @ run.threats + _worth(settings) * expected_scores(run)
    parents = layouts[np.argsort(-answers, kind="stable")]
    threats, greed = (layouts, run.threats), settings.greed
    if foresight is None:
        everybody = (panel.layouts, panel.shares)
        return mix_opponents([(1 - greed, *threats), (greed, *everybody)]), parents, None
    return mix_opponents([(1.0, *threats)]), parents, foresight.scaled(_worth(settings))


def _is_for_single(run: Run) -> bool:
    """Whether this round is one for the best single layout."""
    return len(run.rounds) % SINGLE_EVERY == SINGLE_EVERY - 1


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
    best = next((response for response in found if response.layout not in archive), None)
    if best is None:
        return
    newest = archive.add(best.layout)
    if newest:
        everyone = [(newest, other) for other in range(newest)]
        run.games += archive.play(everyone, settings.pair_games, (*seed, 0), judge, workers)
    carrying = np.flatnonzero((run.shares >= CARRIES) | (run.threats >= CARRIES)).tolist()
    if carrying:
        pairs = [(newest, other) for other in carrying]
        run.games += archive.play(pairs, settings.support_games, (*seed, 1), judge, workers)
    games = settings.support_games
    panel_score = score(archive.layouts[newest:], panel, games, (*seed, 2), judge, workers)
    run.games += games
    run.panel_scores = np.append(run.panel_scores, panel_score)
    run.strong_points, run.strong_games = (
        np.append(known, 0.0) for known in (run.strong_points, run.strong_games)
    )


def ask(run: Run, panel: Opponents, seed: tuple[int, ...], workers: Workers) -> None:
    """Let the strong judge look at layouts that carry the mixture and that he knows least of.

    After a layout was bred to be the best single one he looks at the best that are expected too.
    """
    judge, games = parse_judge(run.settings.finals), run.settings.asked_games()
    begin = time.monotonic()
    for number in range(ASKED):
        claims = run.shares / (run.strong_games + UNSEEN_GAMES)
        if _is_for_single(run) and number == ASKED - 1:
            claims = expected_scores(run)
        # A new array: what is expected may be the run's own panel scores.
        claims = np.where(run.strong_games >= ASKED_TIMES * games, 0.0, claims)
        asked = int(np.argmax(claims))
        layout, name = run.archive.layouts[asked : asked + 1], (*seed, _ASK, number)
        run.strong_points[asked] += games * score(layout, panel, games, name, judge, workers)[0]
        run.strong_games[asked] += games
        run.games += games
        run.strong_played += games
    run.strong_seconds += time.monotonic() - begin


def foresight_of(run: Run) -> Foresight | None:
    """What is known of the strong judge's mind; None while that is too little."""
    points, games = run.strong_points, run.strong_games
    known = games > 0
    if known.sum() < LEAST_LAYOUTS:
        return None
    return learn(run.archive.layouts[known], points[known] / games[known], games[known])


def expected_scores(run: Run) -> Vector:
    """Of each layout of the archive against the panel, by the strongest judge that was asked."""
    foresight = foresight_of(run)
    if foresight is None:
        return run.panel_scores
    expected = foresight.predict(run.archive.layouts)
    expected[run.strong_games > 0] = foresight.learned
    return expected


def solve_anew(run: Run) -> None:
    """Solve for the mixture and for what threatens it, with all that is known."""
    run.shares, run.threats = solution_of(run, expected_scores(run))


def solution_of(run: Run, expected: Vector) -> Solution:
    """The mixture between one without counters and the best against the panel, and the threats.

    Args:
        expected: the score of each layout of the archive against the panel.
    """
    settings = run.settings
    payoff = (1 - settings.greed) * run.archive.payoff()
    bonus = settings.greed * (expected - 0.5)
    return temper(payoff, bonus, settings.spread) if settings.spread else solve(payoff, bonus)


def _worth(settings: Settings) -> float:
    """What a point against everybody is worth, in points against the threats."""
    greed = min(settings.greed, GREATEST_GREED)
    return greed / (1 - greed)


def panel_of(run: Run, seed: tuple[int, ...]) -> Opponents:
    """People's and random layouts in the shares of the settings."""
    number = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
    strangers = random_layouts(RANDOM_OPPONENTS, number)
    people, random = run.settings.against_people, run.settings.against_random
    if not len(run.people) or people + random == 0:
        return mix_opponents([(1.0, strangers, None)])
    return mix_opponents([(people, run.people, None), (random, strangers, None)])
