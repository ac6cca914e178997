"""Ratings of many players from all games between them: Bradley and Terry's model, read as Elo.

The ratings are those that make the results likeliest. A draw is half a win and half a loss. Every
player is given one more draw in thought, against a player of the average: without it, whoever has
won or lost every game would be infinitely strong or weak.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from junqi.match_stats import Elo
from junqi.stats import NORMAL_95

PRIOR_GAMES = 1.0

# Elo points of a rating of 1 in the natural logarithm of the odds.
_ELO = 400 / math.log(10)
# The longest step of an iteration: far from the solution a whole one may lead away from it.
_LONGEST_STEP = 1.0
_NEAR_ENOUGH = 1e-10


def rate_players(wins: ArrayLike, prior_games: float = PRIOR_GAMES) -> list[Elo]:
    """The rating of each player above the mean of all, with its 95 % interval.

    Args:
        wins: for each player, how many games were won against each other one; draws are halves.
        prior_games: draws against the average that everybody is given. With 0 every player must
            have won and lost something, or the ratings are without bounds.

    >>> [round(elo.mean, 2) for elo in rate_players([[0, 3], [1, 0]], prior_games=0)]
    [95.42, -95.42]
    """
    won = np.array(wins, dtype=np.float64)
    players = len(won)
    if won.shape != (players, players) or players == 0 or (won < 0).any():
        raise ValueError(f"expected a square of wins of at least 0, got shape {won.shape}")
    np.fill_diagonal(won, 0.0)
    games = won + won.T
    scored = won.sum(axis=1) + prior_games / 2
    ratings = np.zeros(players)
    for _ in range(1000):
        chances = 1 / (1 + np.exp(ratings[None, :] - ratings[:, None]))
        of_prior = 1 / (1 + np.exp(-ratings))
        slope = scored - (games * chances).sum(axis=1) - prior_games * of_prior
        information = -games * chances * (1 - chances)
        own = -information.sum(axis=1) + prior_games * of_prior * (1 - of_prior)
        np.fill_diagonal(information, own)
        # Without the prior nothing fixes where 0 is; the pseudoinverse leaves it where it was.
        covariance = np.linalg.pinv(information, hermitian=True)
        step = covariance @ slope
        longest = float(np.abs(step).max())
        ratings += step * min(1.0, _LONGEST_STEP / longest if longest else 1.0)
        if longest < _NEAR_ENOUGH:
            break
    from_mean = np.eye(players) - 1 / players
    ratings = from_mean @ ratings
    errors = np.sqrt(np.diag(from_mean @ covariance @ from_mean).clip(min=0.0))
    return [
        Elo(
            _ELO * float(rating),
            _ELO * float(rating - NORMAL_95 * error),
            _ELO * float(rating + NORMAL_95 * error),
        )
        for rating, error in zip(ratings, errors, strict=True)
    ]
