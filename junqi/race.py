"""The moves of a thought race each other: what each is worth, and who is still in the race.

A move is tried in sampled worlds, the same for all, so that two moves are compared by their
differences. Looks of different depths are levels: the lowest has many worlds, each higher one only
tells, for some of the same worlds, by how much two plies more change the value. The mean of a level
joins what the levels below say, so that a few dear looks correct many cheap ones, instead of being
one voice among them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from junqi.rules import Move

Values = NDArray[np.float32]
Vector = NDArray[np.float64]

# A move leaves the race when it is worse than the best by so many standard errors. They are
# estimates too: after few worlds it takes more of them, as if so many worlds were missing.
CLEARLY = 3.0
UNSURE = 8
NEVER = 1e9
# None leaves while a level has fewer worlds than this: a variance of two or three is none.
FEWEST = 8
# What a deeper look may still change between two moves, while there was none: its standard
# deviation, from 5 instead of 3 plies in 47 positions of 12 games.
DOUBT = 0.014
# The mean of a level counts as if in so many worlds more nothing had changed.
UNCHANGED = 2
# Differences below this do not matter any more.
SLIGHT = 0.002
# From here on equal chances hide how soon a game is won, and nothing is kept secret for later.
AS_GOOD_AS_WON = 0.9


@dataclass(frozen=True)
class Candidate:
    """What was found out about one move."""

    move: Move
    value: float
    """The chance to win, from 0 to 1."""
    error: float
    """The standard error of the difference to the best move; of the value, for the best."""
    worlds: int
    """In how many it was tried."""


@dataclass(frozen=True)
class Thought:
    """What a search found out."""

    move: Move
    value: float
    """The chance to win, from 0 to 1."""
    candidates: tuple[Candidate, ...]
    """All legal moves, the best first."""
    worlds: int
    seconds: float


class Race:
    """The moves that are still in the race, and what they were worth in each world so far."""

    def __init__(self, moves: list[Move], clearly: float = CLEARLY, doubt: float = 0.0) -> None:
        """Begin with all moves.

        Args:
            clearly: by how many standard errors a move is worse that leaves.
            doubt: added to the difference it takes, while there is one level only.
        """
        self.columns = np.arange(len(moves))
        """Of the moves that are still in, in the list of all."""
        self._all = moves
        self._clearly = clearly
        self._doubt = doubt
        self._left: list[Candidate] = []
        """Moves that have left, with what they were behind the best then for their values."""
        self._levels: list[Values] = []

    @property
    def moves(self) -> list[Move]:
        """Those that are still in."""
        return [self._all[column] for column in self.columns]

    @property
    def counts(self) -> list[int]:
        """How many worlds each level has."""
        return [len(level) for level in self._levels]

    def add(self, values: Values, level: int = 0) -> None:
        """Take in the values of more worlds; moves that are clearly worse leave.

        Args:
            values: ``float32[worlds, moves in the race]``: chances to win at the lowest level,
                changes of them above.
            level: one of those there are, or the next.
        """
        if level == len(self._levels):
            self._levels.append(values)
        else:
            self._levels[level] = np.concatenate([self._levels[level], values])
        if self._is_told():
            self._let_leave()

    def _is_told(self) -> bool:
        """Whether all levels have enough worlds for their variances to tell something."""
        return min(self.counts) >= min(FEWEST, self.counts[0])

    def _let_leave(self) -> None:
        """Let moves leave that are clearly worse than the best."""
        ranked = self._ranked()
        best = ranked[0].value
        clearly = self._clearly * (1 + UNSURE / min(self.counts))
        doubt = self._doubt if len(self._levels) == 1 else 0.0
        stays = [c for c in ranked if best - c.value <= clearly * c.error + doubt or c is ranked[0]]
        if len(stays) < len(ranked):
            kept = {candidate.move for candidate in stays}
            # What was lost to the best in the same worlds tells more than what was reached in them.
            self._left += [replace(c, value=best - c.value) for c in ranked if c.move not in kept]
            is_kept = np.array([move in kept for move in self.moves])
            self.columns = self.columns[is_kept]
            self._levels = [level[:, is_kept] for level in self._levels]

    def is_decided(self) -> bool:
        """Whether more worlds could not change much."""
        return self._is_told() and all(c.error < SLIGHT for c in self._ranked()[1:])

    def spread(self, level: int) -> float:
        """How much one world of a level differs from others: the mean variance over the moves."""
        against = self._against(level, int(np.argmax(self._means())))
        return float(against.var(axis=0, dtype=np.float64).mean())

    def thought(self, seconds: float, tells: Mapping[Move, int]) -> Thought:
        """The outcome of the race.

        Args:
            tells: how much each move in the race tells the enemy; it decides between equals.
        """
        ranked = self._ranked()
        least = ranked[0].value - (SLIGHT if ranked[0].value < AS_GOOD_AS_WON else 0.0)
        equals = [c for c in ranked if c.value >= least]
        best = min(equals, key=lambda candidate: tells[candidate.move])
        ranked.remove(best)
        out = [replace(c, value=best.value - c.value) for c in self._left]
        out.sort(key=lambda candidate: -candidate.value)
        told = tuple(replace(c, value=min(max(c.value, 0.0), 1.0)) for c in (best, *ranked, *out))
        return Thought(best.move, told[0].value, told, self.counts[0], seconds)

    def _means(self) -> Vector:
        """What the moves in the race are worth, by all levels together."""
        parts = zip(self._levels, self._trusts(), strict=True)
        return np.sum([trust * one.mean(axis=0, dtype=np.float64) for one, trust in parts], axis=0)

    def _trusts(self) -> list[float]:
        return [1.0, *(count / (count + UNCHANGED) for count in self.counts[1:])]

    def _against(self, level: int, best: int) -> Values:
        """The values of a level less those of the best move, which keeps its own."""
        values = self._levels[level]
        against = values - values[:, best : best + 1]
        against[:, best] = values[:, best]
        return against

    def _ranked(self) -> list[Candidate]:
        """The moves in the race, best first."""
        means = self._means()
        best = int(np.argmax(means))
        variances = np.zeros(len(means))
        for level, (count, trust) in enumerate(zip(self.counts, self._trusts(), strict=True)):
            against = self._against(level, best)
            variances += trust**2 * against.var(axis=0, dtype=np.float64) / count
        errors, moves, worlds = np.sqrt(variances), self.moves, self.counts[0]
        order = np.argsort(-means, kind="stable")
        return [Candidate(moves[i], float(means[i]), float(errors[i]), worlds) for i in order]
