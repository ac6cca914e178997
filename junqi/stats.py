"""What results prove: scores with their errors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

# Standard errors on each side of a 95 % interval.
NORMAL_95 = 1.959964


@dataclass(frozen=True)
class Score:
    """A mean score from 0 to 1 with its uncertainty."""

    mean: float
    error: float
    """The standard error."""

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, within 0 and 1."""
        reach = NORMAL_95 * self.error
        return max(0.0, self.mean - reach), min(1.0, self.mean + reach)

    def __str__(self) -> str:
        return f"{100 * self.mean:.1f} ± {100 * NORMAL_95 * self.error:.1f} %"


def score_of_pairs(pairs: ArrayLike) -> Score:
    """The score of colour-swapped pairs of games.

    The two games of a pair share layouts and seed, so they are not independent, and the error is
    that of the pairs. One won and one lost pair are added in thought to the spread, so that a
    clean sweep of a few games does not claim certainty.

    Args:
        pairs: the mean score of each pair, from 0 to 1.
    """
    values = np.asarray(pairs, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"expected the scores of at least one pair, got shape {values.shape}")
    mean = float(values.mean())
    spread = np.concatenate([values, [0.0, 1.0]])
    variance = float(((spread - spread.mean()) ** 2).mean())
    return Score(mean, float(np.sqrt(variance / len(values))))
