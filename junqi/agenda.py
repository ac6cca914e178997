"""What a thought does next: at which depth, and in how many worlds, while there is time.

The time goes where it takes most off the error of the outcome, the variance of a level by the
number of its worlds and what they cost. A level two plies deeper is begun when there are enough
worlds below it, and time for some of its own.
"""

import time
from dataclasses import dataclass

from junqi.race import FEWEST, Race

# Worlds of the first step, of every later one, and of a thought at most.
FIRST_WORLDS = 16
MORE_WORLDS = 64
MOST_WORLDS = 20_000
# A world costs about so many times more one level up, to begin with, and that level is begun if in
# half of the time there would be so many worlds of it.
DEARER = 19
WORTH_WHILE = 4
# Worlds that a level has before the next one is begun: the lowest, which are cheap, and the others.
ENOUGH = (48, 12)
# No step takes more than this part of the time that is left, but for a few worlds.
PART = 0.2
# With an effort instead of a time, one world of so many is looked at more deeply.
DEEP_SHARE = 8


@dataclass(frozen=True)
class Step:
    """Worlds to look at: new ones at level 0, above it the next of those below."""

    level: int
    worlds: int


class Agenda:
    """What one thought does, step by step."""

    def __init__(
        self, levels: int, threads: int, limit: float, effort: int | None, enough: int
    ) -> None:
        """Begin now.

        Args:
            levels: how many there may be.
            threads: that share the worlds of a step.
            limit: seconds.
            effort: worlds of the lowest level, whatever the time.
            enough: with an effort of so many worlds there is a second level.
        """
        self._begin = time.monotonic()
        self._levels = levels
        self._threads = threads
        self._limit = limit
        self._effort = effort
        self._enough = enough
        self._costs: list[float] = []
        """Seconds for a world of each level, by the last step there."""

    def goes_deeper(self) -> bool:
        """Whether there may be levels above the lowest."""
        return self._levels > 1 and (self._effort is None or self._effort >= self._enough)

    def next(self, race: Race) -> Step | None:
        """The next step; None if there is nothing more to do."""
        if not race.counts:
            first = FIRST_WORLDS if self._effort is None else min(self._effort, FIRST_WORLDS)
            return Step(0, first)
        if len(race.columns) == 1:
            return None
        return self._by_time(race) if self._effort is None else self._by_effort(race, self._effort)

    def took(self, step: Step, seconds: float) -> None:
        """Be told how long a step took."""
        # Moves that have left the race make the next worlds cheaper, never dearer.
        self._costs[step.level :] = [seconds / step.worlds, *self._costs[step.level + 1 :]]

    def _by_effort(self, race: Race, effort: int) -> Step | None:
        worlds = race.counts[0]
        if worlds < effort and not race.is_decided():
            return Step(0, min(MORE_WORLDS, effort - worlds))
        deep = race.counts[1] if len(race.counts) > 1 else 0
        wanted = worlds // DEEP_SHARE if self.goes_deeper() else 0
        return Step(1, min(FIRST_WORLDS, wanted - deep)) if deep < wanted else None

    def _by_time(self, race: Race) -> Step | None:
        left = self._limit - (time.monotonic() - self._begin)
        counts, costs = race.counts, self._costs
        top = len(counts) - 1
        missing = min(FEWEST, counts[top - 1]) - counts[top] if top else 0
        if missing > 0 and costs[top] * self._threads <= left:
            # Two or three worlds may agree by chance, and none leaves while there are so few.
            return self._step(top, missing, left)
        is_decided = race.is_decided()
        if top + 1 < self._levels and (is_decided or counts[top] >= ENOUGH[min(top, 1)]):
            fitting = left / 2 / (DEARER * costs[top])
            if fitting >= WORTH_WHILE:
                return Step(top + 1, min(counts[top], max(2, self._threads)))
        if is_decided or counts[0] >= MOST_WORLDS:
            return None
        open_levels = [
            level
            for level in range(top + 1)
            if (level == 0 or counts[level] < counts[level - 1])
            and costs[level] * self._threads <= left
        ]
        if not open_levels:
            return None
        gains = {n: race.spread(n) / (counts[n] ** 2 * costs[n]) for n in open_levels}
        level = max(open_levels, key=gains.__getitem__)
        below = MOST_WORLDS if level == 0 else counts[level - 1] - counts[level]
        # As many again at most: then it is known better where they are needed.
        return self._step(level, min(counts[level], MORE_WORLDS, below), left)

    def _step(self, level: int, worlds: int, left: float) -> Step:
        """So many worlds, if they do not take too much of the time."""
        fitting = max(int(PART * left / self._costs[level]), self._threads)
        return Step(level, min(worlds, fitting))
