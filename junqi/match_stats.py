"""What a match proves: Elo with its interval, and the sequential test that ends it when decided.

The two games of a pair share what chance decided, so a pair is one observation with five possible
scores. All that is needed of a match is how often each of them came: its pentanomial counts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from junqi.errors import JunqiError
from junqi.stats import NORMAL_95, Score

# The mean scores that a pair of games can have: both lost, ..., both won.
PAIR_SCORES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])

# A score that never came is given this many pairs, without which a likelihood could be zero.
_NEARLY_NONE = 1e-3


class InvalidTest(JunqiError, ValueError):
    """Bounds of a sequential test that make no sense."""

    is_usage = True


@dataclass(frozen=True)
class Elo:
    """A difference in Elo with its 95 % interval; infinite where every game was won or lost."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.1f} ({self.low:+.1f} to {self.high:+.1f})"


@dataclass(frozen=True)
class Sprt:
    """A sequential test of two differences in Elo against each other."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    """The chance to accept `elo1` where `elo0` is true."""
    beta: float = 0.05
    """The chance to accept `elo0` where `elo1` is true."""

    def __post_init__(self) -> None:
        """Refuse bounds that no match could decide between."""
        if not (math.isfinite(self.elo0) and math.isfinite(self.elo1) and self.elo0 < self.elo1):
            raise InvalidTest(f"expected ELO0 below ELO1, got {self.elo0} and {self.elo1}")
        for name, chance in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < chance < 0.5:
                raise InvalidTest(f"expected {name} between 0 and 0.5, got {chance}")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which `elo0` and `elo1` are accepted."""
        lower = math.log(self.beta / (1 - self.alpha))
        return lower, math.log((1 - self.beta) / self.alpha)

    def ratio(self, counts: Sequence[int]) -> float:
        """The log-likelihood ratio of `elo1` to `elo0` after these pairs.

        Each hypothesis fixes the mean score only; the chances of the five scores are those that
        explain the counts best among all with this mean.
        """
        if sum(counts) == 0:
            return 0.0
        weights = np.where(np.array(counts) > 0, counts, _NEARLY_NONE)
        low, high = (_likeliest(weights, score_of_elo(elo)) for elo in (self.elo0, self.elo1))
        return float((weights * np.log(high / low)).sum())

    def decision(self, counts: Sequence[int]) -> str | None:
        """``elo0`` or ``elo1`` once one of them is accepted."""
        lower, upper = self.bounds
        ratio = self.ratio(counts)
        return "elo1" if ratio >= upper else "elo0" if ratio <= lower else None


def elo_of_score(score: float) -> float:
    """The difference in Elo at which a mean score is expected.

    >>> round(elo_of_score(0.75), 2)
    190.85
    """
    if score <= 0 or score >= 1:
        return math.inf if score >= 1 else -math.inf
    return 400 * math.log10(score / (1 - score))


def score_of_elo(elo: float) -> float:
    """Undo `elo_of_score`."""
    return 1 / (1 + 10 ** (-elo / 400))


def score_of_counts(counts: Sequence[int]) -> Score:
    """The mean score of pairs with its standard error.

    Raises:
        ValueError: if there is no pair.
    """
    pairs = sum(counts)
    if len(counts) != len(PAIR_SCORES) or pairs == 0:
        raise ValueError(f"expected the counts of five scores, not all 0, got {list(counts)}")
    weights = np.array(counts) / pairs
    mean = float(weights @ PAIR_SCORES)
    variance = float(weights @ (PAIR_SCORES - mean) ** 2)
    return Score(mean, math.sqrt(variance / pairs))


def elo_of_counts(counts: Sequence[int]) -> Elo:
    """The difference in Elo that pairs show.

    The interval is that of the mean score, read as Elo. Equal pairs have no spread by which to
    judge, so then the interval is that of `score_of_pairs`' kind: with one won and one lost pair
    added in thought.
    """
    score = score_of_counts(counts)
    error = score.error
    if error == 0:
        error = score_of_counts([counts[0] + 1, *counts[1:4], counts[4] + 1]).error
    low, high = score.mean - NORMAL_95 * error, score.mean + NORMAL_95 * error
    return Elo(elo_of_score(score.mean), elo_of_score(low), elo_of_score(high))


def _likeliest(weights: NDArray[np.float64], mean: float) -> NDArray[np.float64]:
    """The chances of the five scores, of all with this mean, that make the weights likeliest.

    They are p / (1 + x * (score - mean)) for the share p of each weight, and the one x for which
    the mean is right; the sum that must be 0 falls in x, so halving the range finds it.
    """
    shares = weights / weights.sum()
    distances = PAIR_SCORES - mean
    # Between these all chances are positive.
    low, high = -1 / distances[-1], -1 / distances[0]
    for _ in range(60):  # as far as double precision goes
        x = (low + high) / 2
        if (shares * distances / (1 + x * distances)).sum() > 0:
            low = x
        else:
            high = x
    return shares / (1 + x * distances)
