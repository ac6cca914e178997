"""Scores of many layouts at once by simulated games against drawn opponents.

All layouts of one call meet the same opponents with the same seeds, in colour-swapped pairs, so
that they can be compared after few games. Opponents are mirrored at random.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from junqi.layout import Layout
from junqi.panel import draw_rows
from junqi.simulate import Judge, game_seeds
from layout_search.workers import ALL_CORES, Workers

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Opponents:
    """Layouts and how often each is met."""

    layouts: Layout
    """``int8[n, 25]``."""
    shares: Vector
    """``float64[n]``, with sum 1."""


def mix_opponents(parts: list[tuple[float, Layout, Vector | None]]) -> Opponents:
    """Several groups of opponents in one, each with its share of the games.

    Args:
        parts: the share of a group, its layouts, and theirs within the group (equal if None).
    """
    parts = [part for part in parts if part[0] > 0 and len(part[1])]
    if not parts:
        raise ValueError("expected at least one group of opponents with a share above 0")
    shares = []
    for share, layouts, within in parts:
        inner = np.ones(len(layouts)) if within is None else np.asarray(within)
        shares.append(share * inner / inner.sum())
    total = np.concatenate(shares)
    return Opponents(np.concatenate([part[1] for part in parts]), total / total.sum())


def draw(opponents: Opponents, pairs: int, seed: tuple[int, ...]) -> Layout:
    """One opponent for each pair of games, as often as its share says, mirrored by a coin flip."""
    random = np.random.default_rng(seed)
    return draw_rows(opponents.layouts, opponents.shares, pairs, random).layouts


def score(
    layouts: Layout,
    opponents: Opponents,
    games: int,
    seed: tuple[int, ...],
    judge: Judge,
    workers: Workers = ALL_CORES,
) -> Vector:
    """The mean score of each layout over so many games, an even number.

    Args:
        seed: any numbers that name this call within the run.
    """
    pairs = games // 2
    enemies = np.tile(draw(opponents, pairs, seed), (len(layouts), 1))
    own = np.repeat(layouts, pairs, axis=0)
    return play_pairs(own, enemies, pairs, seed, judge, workers).reshape(-1, pairs).mean(axis=1)


def play_pairs(
    own: Layout,
    enemies: Layout,
    seeds_repeat: int,
    seed: tuple[int, ...],
    judge: Judge,
    workers: Workers = ALL_CORES,
) -> Vector:
    """The mean score of each colour-swapped pair of games between rows of two arrays."""
    return play_colours(own, enemies, seeds_repeat, seed, judge, workers).mean(axis=0)


def play_colours(
    own: Layout,
    enemies: Layout,
    seeds_repeat: int,
    seed: tuple[int, ...],
    judge: Judge,
    workers: Workers = ALL_CORES,
) -> Vector:
    """Scores of rows of layouts against rows of others, ``float64[2, n]``: moving first, second.

    The seeds of the games begin anew after every `seeds_repeat` pairs.
    """
    run = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
    seeds = np.tile(game_seeds(run, seeds_repeat), len(own) // seeds_repeat)
    first, second = np.concatenate([own, enemies]), np.concatenate([enemies, own])
    results = workers.play(first, second, np.tile(seeds, 2), judge)
    scores = results.scores_of_first()
    return np.stack([scores[: len(own)], 1 - scores[len(own) :]])
