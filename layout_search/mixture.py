"""From payoffs to a mixture: how often each layout should be played, and what threatens it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

ITERATIONS = 3000
# Of `temper`: its steps are so many times as many as its slowest part needs to shrink by e.
SETTLED = 8
# What entropy is worth to the columns, as a part of what it is to the rows: who attacks a mixture
# plays what beats it. With the same worth an attack on one archive's mixture found 55.3 instead of
# 54.6 %.
COLUMN_SPREAD = 0.5
# A layout that is played less often is left out, it would only be noise; but no more of all games
# than this is taken away from such layouts, however many there are.
LEAST_SHARE = 0.0025
MOST_LEFT_OUT = 0.1


class Solution(NamedTuple):
    """The shares of both sides of a matrix game, each with sum 1."""

    rows: Vector
    columns: Vector


def solve(payoff: Matrix, bonus: Vector | None = None, iterations: int = ITERATIONS) -> Solution:
    """The mixture that does best against its worst opponent.

    Solved by regret matching plus with alternating updates and linear averaging, which needs no
    library and no tuning: 2,000 iterations left less than 0.00003 to gain in random games between
    20 to 200 layouts.

    Args:
        payoff: ``float64[n, k]``, what row scores against column above one half.
        bonus: ``float64[n]``, added to each row whatever the column does.
    """
    _check(payoff)
    rows = payoff if bonus is None else payoff + bonus[:, None]
    row_regret, column_regret = np.zeros(payoff.shape[0]), np.zeros(payoff.shape[1])
    rows_total, columns_total = np.zeros(payoff.shape[0]), np.zeros(payoff.shape[1])
    row, column = _shares(row_regret), _shares(column_regret)
    for step in range(1, iterations + 1):
        gains = rows @ column
        row_regret = np.maximum(row_regret + gains - row @ gains, 0)
        row = _shares(row_regret)
        costs = row @ rows
        column_regret = np.maximum(column_regret + column @ costs - costs, 0)
        column = _shares(column_regret)
        rows_total += step * row
        columns_total += step * column
    return Solution(rows_total / rows_total.sum(), columns_total / columns_total.sum())


def temper(payoff: Matrix, bonus: Vector | None = None, spread: float = 0.02) -> Solution:
    """The mixture that also keeps its shares spread out.

    The exact solution leans on few layouts, and who knows them finds a counter outside of the
    payoff matrix. Here both sides are paid for the entropy of their shares (a logit equilibrium,
    found by optimistic multiplicative weights), which costs about `spread` against counters inside
    of the matrix, and makes a layout that was lucky in noisy payoffs count for less.

    Args:
        payoff: as for `solve`.
        bonus: as for `solve`.
        spread: what entropy is worth, above 0.
    """
    _check(payoff)
    rows = payoff if bonus is None else payoff + bonus[:, None]
    rate = 0.5 / (float(np.abs(rows).max()) + spread)
    kept, columns_kept = 1 - rate * spread, 1 - rate * COLUMN_SPREAD * spread
    row, column = np.zeros(payoff.shape[0]), np.zeros(payoff.shape[1])
    gains, costs = rows @ _softmax(column), _softmax(row) @ rows
    for _ in range(round(SETTLED / (1 - columns_kept))):
        # Each side answers what the other is about to play, not what it played last.
        ahead, columns_ahead = kept * row + rate * gains, columns_kept * column - rate * costs
        gains, costs = rows @ _softmax(columns_ahead), _softmax(ahead) @ rows
        row, column = kept * row + rate * gains, columns_kept * column - rate * costs
    return Solution(_softmax(row), _softmax(column))


def _softmax(logits: Vector) -> Vector:
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def prune(shares: Vector) -> Vector:
    """The mixture without what is hardly ever played."""
    order = np.argsort(-shares, kind="stable")
    before = np.cumsum(shares[order]) - shares[order]
    is_kept = np.empty(len(shares), bool)
    is_kept[order] = (shares[order] >= LEAST_SHARE) | (before < 1 - MOST_LEFT_OUT)
    kept = np.where(is_kept, shares, 0.0)
    return kept / kept.sum()


def exploitability(payoff: Matrix, shares: Vector) -> float:
    """What the best counter among the rows scores against a mixture, above one half."""
    _check(payoff)
    return float((payoff @ shares).max())


def _shares(regret: Vector) -> Vector:
    """In proportion to the regrets; all equal while there are none."""
    total = regret.sum()
    return regret / total if total > 0 else np.full(len(regret), 1 / len(regret))


def _check(payoff: Matrix) -> None:
    if payoff.ndim != 2 or 0 in payoff.shape:
        raise ValueError(f"expected a payoff matrix, got shape {payoff.shape}")
