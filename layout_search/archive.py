"""The layouts found so far and what each scores against each other.

Payoffs are kept as points and games of one triangle, so that the matrix is antisymmetric by
construction. Both mirror images of a pair are played: a layout meets the other and its mirror
image equally often.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from junqi.layout import Layout, canonical_layout, mirror_layout
from junqi.pieces import PIECES_A_SIDE
from junqi.simulate import Judge
from layout_search.fitness import play_colours
from layout_search.workers import ALL_CORES, Workers

Matrix = NDArray[np.float64]


@dataclass(eq=False)
class Archive:
    """Layouts in canonical form, in the order in which they came."""

    layouts: Layout = field(default_factory=lambda: np.zeros((0, PIECES_A_SIDE), np.int8))
    points: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    """``float64[n, n]``: points of row i against column j, for i > j."""
    games: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    draws: Matrix = field(default_factory=lambda: np.zeros((0, 0)))

    def __len__(self) -> int:
        return len(self.layouts)

    def __contains__(self, layout: Layout) -> bool:
        return bool((self.layouts == canonical_layout(layout)).all(axis=1).any())

    def add(self, layout: Layout) -> int:
        """Take a layout in, with no games yet; returns its number."""
        self.layouts = np.concatenate([self.layouts, canonical_layout(layout)[None]])
        self.points, self.games, self.draws = (
            np.pad(a, (0, 1)) for a in (self.points, self.games, self.draws)
        )
        return len(self) - 1

    def payoff(self) -> Matrix:
        """What row scores against column above one half; 0 where they have not met."""
        scored = np.where(self.games > 0, self.points / np.maximum(self.games, 1) - 0.5, 0.0)
        return scored - scored.T

    def play(
        self,
        pairs: list[tuple[int, int]],
        games: int,
        seed: tuple[int, ...],
        judge: Judge,
        workers: Workers = ALL_CORES,
    ) -> int:
        """Let pairs of different layouts play, a multiple of 4 games each; returns all games.

        The seeds of a pair depend on the run and on the two alone.
        """
        quarter = max(1, games // 4)
        rows = np.array([max(pair) for pair in pairs])
        columns = np.array([min(pair) for pair in pairs])
        own = np.repeat(self.layouts[rows], 2 * quarter, axis=0)
        straight = self.layouts[columns]
        images = np.stack([straight, mirror_layout(straight)], axis=1)
        enemies = np.repeat(images, quarter, axis=1).reshape(-1, PIECES_A_SIDE)
        scores = play_colours(own, enemies, 2 * quarter, seed, judge, workers)
        by_pair = scores.reshape(2, len(pairs), -1)
        self.points[rows, columns] += by_pair.sum(axis=(0, 2))
        self.draws[rows, columns] += (by_pair == 0.5).sum(axis=(0, 2))
        self.games[rows, columns] += 4 * quarter
        return 4 * quarter * len(pairs)
