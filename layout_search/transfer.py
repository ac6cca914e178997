"""How well the fast judge's scores predict those of the stronger one.

Few games make noisy scores, and noise makes two judges look less alike than they are. So the
correlation that is seen is divided by what noise takes from it: the root of both reliabilities,
where a reliability is the share of the spread that is not noise, known from the number of games.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

# Resamplings of the interval: its ends move by less than 0.01 with more of them.
RESAMPLES = 2000
# Of a score; where more than nine tenths of the spread is noise, nothing can be concluded.
LEAST_RELIABILITY = 0.1
# An interval is told if so many of the resamplings allow a conclusion.
LEAST_CONCLUSIVE = 0.8
LEAST_LAYOUTS = 4
# Games of a pair after which half of a payoff's spread is noise: a payoff by fewer counts for less.
HALF_NOISE = 25


@dataclass(frozen=True)
class Transfer:
    """How alike two judges see the same scores."""

    scores: int
    """How many were compared."""
    seen: float
    """The correlation as it is, with the noise of both judges."""
    fast_reliability: float
    strong_reliability: float
    correlation: float | None
    """With the noise removed; None if noise is nearly all there is."""
    interval: tuple[float, float] | None
    """95 %, by resampling layouts; None if the resamplings are too often all noise."""

    def __str__(self) -> str:
        if self.correlation is None:
            return f"too noisy to tell ({self.seen:.2f} with the noise)"
        reach = "" if self.interval is None else " ({:.2f} to {:.2f})".format(*self.interval)
        return f"{self.correlation:.2f}{reach}, {self.seen:.2f} with the noise"

    def to_json(self) -> dict[str, Any]:
        """All figures by name."""
        return asdict(self)


def compare_scores(
    fast: Vector, strong: Vector, fast_games: Vector | float, strong_games: Vector | float
) -> Transfer | None:
    """Compare scores of layouts, ``float64[n]`` from 0 to 1; None for fewer than four."""
    if len(fast) < LEAST_LAYOUTS:
        return None
    noise = _noise(fast, fast_games), _noise(strong, strong_games)
    return _compare(fast, strong, noise, _resampled(len(fast)), True)


def compare_payoffs(
    fast: Matrix, strong: Matrix, fast_games: Matrix, strong_games: Matrix
) -> Transfer | None:
    """Compare payoffs between layouts; None if there are fewer than four layouts.

    Args:
        fast: ``float64[n, n]``, what row scores against column above one half; antisymmetric.
        fast_games: ``float64[n, n]``, symmetric; pairs without games are left out.
    """
    if len(fast) < LEAST_LAYOUTS:
        return None
    rows, columns = np.nonzero(np.tril((fast_games > 0) & (strong_games > 0), -1))
    if len(rows) < LEAST_LAYOUTS:
        return None
    met = rows, columns
    noise = _noise(fast[met] + 0.5, fast_games[met]), _noise(strong[met] + 0.5, strong_games[met])
    counts = _resampled(len(fast))
    trust = strong_games[met] / (strong_games[met] + HALF_NOISE)
    # A pair is drawn as often as both of its layouts are. Which of the two is told of does not
    # matter, as the mean is known to be 0.
    weights = counts[:, rows] * counts[:, columns] * trust
    return _compare(fast[met], strong[met], noise, weights, False)


def _noise(scores: Vector, games: Vector | float) -> Vector:
    """The variance of scores by so many games.

    Of pairs of games with the colours swapped it is 0.90 (policy) to 1.02 (search:3x3) of what it
    would be for as many independent games: measured on 40 and 30 pairs of people's layouts.
    """
    return np.maximum(scores * (1 - scores), 0.01) / games


def _resampled(size: int) -> Matrix:
    """How often each of so many is drawn; all of them once in the first row."""
    random = np.random.default_rng(0)
    drawn = random.multinomial(size, np.full(size, 1 / size), RESAMPLES)
    return np.concatenate([np.ones((1, size)), drawn])


def _compare(
    fast: Vector,
    strong: Vector,
    noise: tuple[Vector, Vector],
    weights: Matrix,
    is_centred: bool,
) -> Transfer:
    """Estimates for every row of weights: the first is the result, the others its interval."""
    total = np.maximum(weights.sum(axis=1), 1e-9)
    x, y = np.tile(fast, (len(weights), 1)), np.tile(strong, (len(weights), 1))
    if is_centred:
        x -= ((weights * x).sum(axis=1) / total)[:, None]
        y -= ((weights * y).sum(axis=1) / total)[:, None]
    freedom = total - 1 if is_centred else total
    x_spread, y_spread = ((weights * v**2).sum(axis=1) / freedom for v in (x, y))
    shared = (weights * x * y).sum(axis=1) / freedom
    with np.errstate(divide="ignore", invalid="ignore"):
        seen = shared / np.sqrt(x_spread * y_spread)
        reliable = [
            1 - (weights @ v) / total / spread
            for v, spread in zip(noise, (x_spread, y_spread), strict=True)
        ]
        is_conclusive = (reliable[0] > LEAST_RELIABILITY) & (reliable[1] > LEAST_RELIABILITY)
        corrected = np.clip(
            seen / np.sqrt(np.where(is_conclusive, reliable[0] * reliable[1], 1)), -1, 1
        )
    interval = None
    if is_conclusive[0] and is_conclusive[1:].mean() >= LEAST_CONCLUSIVE:
        low, high = np.quantile(corrected[1:][is_conclusive[1:]], [0.025, 0.975]).tolist()
        interval = low, high
    return Transfer(
        scores=len(fast),
        seen=float(np.nan_to_num(seen[0])),
        fast_reliability=_share(reliable[0][0]),
        strong_reliability=_share(reliable[1][0]),
        correlation=float(corrected[0]) if is_conclusive[0] else None,
        interval=interval,
    )


def _share(value: float) -> float:
    return float(np.clip(np.nan_to_num(value, nan=0.0, neginf=0.0), 0, 1))
