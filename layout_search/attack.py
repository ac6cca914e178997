"""Who beats this? An independent search for a counter to a frozen mixture.

It shares nothing with the search that made the mixture: its own seeds, its own populations, its
own games. What it reports is the score of the best counter in games that chose nothing.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from junqi.games import warm_up
from junqi.layout import Layout
from junqi.simulate import parse_judge
from junqi.stats import Score, score_of_pairs
from layout_search.fitness import Opponents, draw, play_colours
from layout_search.respond import respond
from layout_search.settings import Settings
from layout_search.workers import ALL_CORES, Workers

# A slow judge affords smaller populations and fewer games.
SLOW = Settings(population=24, generations=12, games=8, test_games=64)
FAST = Settings(population=64, generations=30)
CERTIFICATE_GAMES = {True: 400, False: 20_000}
_ATTACK_STREAM, _CERTIFICATE_STREAM = 200, 201


@dataclass(frozen=True, eq=False)
class Counter:
    """The best counter an attack found."""

    layout: Layout
    score: Score
    """In fresh games."""
    games: int
    """Of those."""
    wins: int
    draws: int
    attempts: int
    """Searches from new populations."""
    all_games: int
    seconds: float


def attack(
    target: Opponents,
    hints: Layout,
    *,
    minutes: float,
    attempts: int | None = None,
    seed: int,
    judge: str,
    workers: Workers = ALL_CORES,
    report: Callable[[int, float], None] = lambda attempt, best: None,
) -> Counter:
    """Search for a counter until the time or the number of attempts is used up.

    Args:
        target: the mixture that is attacked; its layouts are mirrored at random.
        hints: layouts that every other attempt begins from, ``int8[n, 25]``; others begin with
            random ones.
        attempts: exactly so many instead of `minutes`.
        report: told of each attempt: its number, and the best score so far.
    """
    player = parse_judge(judge)
    warm_up(player)
    is_slow = player.is_slow
    settings = SLOW if is_slow else FAST
    begin = time.monotonic()
    best: tuple[float, Layout] | None = None
    attempt = 0
    while attempt == 0 or _goes_on(attempt, attempts, time.monotonic() - begin, minutes):
        parents = hints if attempt % 2 else hints[:0]
        name = (seed, _ATTACK_STREAM, attempt)
        found = respond(target, parents, settings, name, player, workers)[0]
        if best is None or found.score > best[0]:
            best = found.score, found.layout
        attempt += 1
        report(attempt, best[0])
    assert best is not None
    games = CERTIFICATE_GAMES[is_slow]
    certificate = (seed, _CERTIFICATE_STREAM)
    enemies = draw(target, games // 2, certificate)
    own = np.repeat(best[1][None], len(enemies), axis=0)
    scores = play_colours(own, enemies, len(enemies), certificate, player, workers)
    return Counter(
        layout=best[1],
        score=score_of_pairs(scores.mean(axis=0)),
        games=games,
        wins=int((scores == 1).sum()),
        draws=int((scores == 0.5).sum()),
        attempts=attempt,
        all_games=attempt * settings.respond_games() + games,
        seconds=time.monotonic() - begin,
    )


def _goes_on(attempt: int, attempts: int | None, seconds: float, minutes: float) -> bool:
    if attempts is not None:
        return attempt < attempts
    # Not begun if it would end, at the pace so far, long after the time.
    return seconds + 0.5 * seconds / attempt < 60 * minutes
