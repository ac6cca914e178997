"""Scores of layouts: any layouts against any panel, judged by any simulated player.

Every layout meets the same opponents with the same seeds, so that two scores of one run compare
better than their errors say, and a layout's score does not depend on what else was rated with it. A
mixture is rated as one player, who draws a layout for each pair of games.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from junqi.games import play_games, warm_up
from junqi.layout import Layout, parse_layouts
from junqi.panel import Panel, draw_opponents, draw_rows
from junqi.simulate import Judge, Progress, Results, Seeds, game_seeds
from junqi.stats import Score, score_of_pairs

# Games whose layouts are laid side by side in memory at once: 50 bytes each.
_GAMES_AT_ONCE = 200_000
# A mixture's own layouts are not drawn by the numbers that draw its opponents.
_OWN_STREAM = 3


class Play(Protocol):
    """What plays games, as `play_games` does: here or elsewhere."""

    def __call__(
        self,
        first: Layout,
        second: Layout,
        seeds: Seeds,
        judge: Judge,
        *,
        progress: Progress,
    ) -> Results:
        """Play one game for each seed, and tell of games as they are finished."""


@dataclass(frozen=True, eq=False)
class Rating:
    """How one layout fared against a panel."""

    games: int
    wins: int
    draws: int
    losses: int
    score: Score
    score_moving_first: float
    score_moving_second: float
    met: NDArray[np.int64]
    """Wins, draws and losses against each opponent of the panel, ``int64[n, 3]``."""


def rate(
    layouts: Sequence[Layout] | Layout,
    panel: Panel,
    games: int,
    seed: int,
    judge: Judge,
    *,
    play: Play = play_games,
    progress: Progress = lambda games: None,
) -> list[Rating]:
    """Let each layout play so many games against a panel, colours swapped in pairs.

    Args:
        layouts: ``int8[n, 25]``.
        panel: the opponents; each pair of games has one, mirrored by a coin flip.
        games: of each layout, an even number.
        seed: of the games, of the order of opponents and of the coin.
        judge: who plays both sides.
        play: where games are played; on all cores if missing.
        progress: called now and then with the number of games finished since the last call.

    Raises:
        ValueError: if the number of games is odd or not positive.
    """
    pairs = _pairs_of(games)
    warm_up(judge)
    seeds = game_seeds(seed, pairs)
    draw = draw_opponents(panel, pairs, seed)
    at_once = max(1, _GAMES_AT_ONCE // games)
    ratings = []
    rows = np.asarray(layouts, dtype=np.int8)
    for start in range(0, len(rows), at_once):
        chunk = rows[start : start + at_once]
        own = np.repeat(chunk, pairs, axis=0)
        enemy = np.tile(draw.layouts, (len(chunk), 1))
        scores = _play_colours(own, enemy, np.tile(seeds, len(chunk)), judge, play, progress)
        ratings += [
            _rating(first, second, draw.indices, len(panel))
            for first, second in scores.reshape(2, len(chunk), pairs).swapaxes(0, 1)
        ]
    return ratings


def rate_mixture(
    mixture: Panel,
    panel: Panel,
    games: int,
    seed: int,
    judge: Judge,
    *,
    play: Play = play_games,
    progress: Progress = lambda games: None,
) -> Rating:
    """Let a mixture play so many games in all against a panel; the arguments are as for `rate`.

    Who meets whom is drawn by lot: a layout of the mixture meets all kinds of opponents.
    """
    pairs = _pairs_of(games)
    warm_up(judge)
    draw = draw_opponents(panel, pairs, seed)
    random = np.random.default_rng(np.random.SeedSequence([seed, _OWN_STREAM]))
    weights = np.array(mixture.weights)
    own = draw_rows(parse_layouts(mixture.texts), weights, pairs, random).layouts
    own = own[random.permutation(pairs)]
    scores = _play_colours(own, draw.layouts, game_seeds(seed, pairs), judge, play, progress)
    return _rating(scores[0], scores[1], draw.indices, len(panel))


def _pairs_of(games: int) -> int:
    if games < 2 or games % 2:
        raise ValueError(f"expected an even number of games, at least 2, got {games}")
    return games // 2


def _play_colours(
    own: Layout, enemy: Layout, seeds: Seeds, judge: Judge, play: Play, progress: Progress
) -> NDArray[np.float64]:
    """Scores of rows of layouts against rows of others, ``float64[2, n]``: first, second mover."""
    # The same games with the colours swapped follow in the same call, to fill all threads.
    first, second = np.concatenate([own, enemy]), np.concatenate([enemy, own])
    results = play(first, second, np.tile(seeds, 2), judge, progress=progress)
    scores = results.scores_of_first().reshape(2, len(own))
    return np.stack([scores[0], 1 - scores[1]])


def _rating(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    opponents: NDArray[np.int64],
    size: int,
) -> Rating:
    """Of the scores moving first and second in each pair."""
    met = np.zeros((size, 3), np.int64)
    for scores in (first, second):
        # A win, a draw and a loss score 1, 0.5 and 0: columns 0, 1 and 2.
        np.add.at(met, (opponents, (2 - 2 * scores).astype(np.int64)), 1)
    wins, draws, losses = met.sum(axis=0).tolist()
    return Rating(
        games=2 * len(first),
        wins=wins,
        draws=draws,
        losses=losses,
        score=score_of_pairs((first + second) / 2),
        score_moving_first=float(first.mean()),
        score_moving_second=float(second.mean()),
        met=met,
    )
