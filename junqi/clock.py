"""How long to think: the time of a whole game shared out over moves whose number nobody knows.

Between programs a game has 41 own moves at the median, 95 % have fewer than 100, and the longest
seen had 162. The share of a move is the time left divided by the moves to be expected from here
on, so what is left shrinks but never runs out. A part of the time is kept out of this sharing:
games far beyond 200 moves live on it, and so do pauses of the machine.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

# Own moves to be expected at the start of a game, and from the move LATE on. Shares by the moves
# really to be expected (about 48 falling to 25) would leave a game of 200 moves too little.
EXPECTED_FIRST = 50
EXPECTED_LATE = 35
LATE = 60
# What is kept for the end is shared out over so many moves.
KEPT_MOVES = 400

# A move costs so much besides our own thinking: pipes, the referee, a busy machine. It is set
# aside for every move to come, but never more than a quarter of the time goes to it.
MARGIN = 0.05
MARGIN_SHARE = 0.25
MARGIN_MOVES = 400

# A critical move may take so many times its share, and no move more than this part of what is left.
LIMIT_FACTOR = 3.0
LIMIT_SHARE = 0.08
# Of a fixed time for a move so much is left for all but the search, or the margin if that is less:
# a referee may take the time to be a limit.
MOVETIME_SHARE = 0.15
# A search that should have ended is waited for so long, no longer than a fixed time for a move, and
# no longer than this part of the rest.
PATIENCE = 0.5
PATIENCE_SHARE = 0.04


class Budget(NamedTuple):
    """The seconds for one move, counted from the question."""

    soft: float
    """What the search should take."""
    hard: float
    """When the search must have ended."""
    deadline: float
    """When a move goes out, whatever the search does."""


@dataclass(frozen=True)
class Clock:
    """Shares out the time of a game."""

    movetime: float | None = None
    """Seconds for each move, where the time left allows it; None shares out the whole time."""
    time_fraction: float = 0.9
    """The part of the game's time that is shared out; the rest is kept for the end."""

    def plan(
        self,
        total: float,
        left: float,
        moves: int,
        criticality: float = 1.0,
        overrun: float = 0.0,
    ) -> Budget:
        """The budget of the next move.

        Args:
            total: seconds for the whole game.
            left: seconds left, by our own measure.
            moves: own moves made so far.
            criticality: times the usual share that this move deserves.
            overrun: seconds that moves so far took beyond their deadlines, all together. The
                moves to come are expected to be as late as those were.
        """
        still = max(MARGIN_MOVES - moves, MARGIN_MOVES / 4)
        usable = left - still * min(MARGIN, MARGIN_SHARE * total / MARGIN_MOVES)
        if usable <= 0:
            return Budget(0.0, 0.0, 0.0)
        # Half of it remains to think with, however long the machine was stopped.
        usable -= min(still * max(overrun, 0.0) / (moves + 1), usable / 2)
        longest = LIMIT_SHARE * usable
        if self.movetime is not None:
            overhead = min(MOVETIME_SHARE * self.movetime, MARGIN)
            soft = hard = min(self.movetime - overhead, longest)
            patience = min(PATIENCE, self.movetime)
        else:
            kept = min((1 - self.time_fraction) * total, usable)
            share = (usable - kept) / _expected_moves(moves) + kept / KEPT_MOVES
            soft = min(max(criticality, 0.0) * share, longest)
            hard = min(LIMIT_FACTOR * max(soft, share), longest)
            patience = PATIENCE
        return Budget(soft, hard, hard + min(patience, PATIENCE_SHARE * usable))


def _expected_moves(moves: int) -> float:
    """Own moves to be expected after so many."""
    late = min(moves / LATE, 1.0)
    return EXPECTED_FIRST + (EXPECTED_LATE - EXPECTED_FIRST) * late


class PauseWatch:
    """Notices when this process was stopped or starved, which no other clock of ours can see.

    A question that came in while the process did not run is read only when it runs again, and the
    time until then was ours. A thread that wants to wake up at short intervals sees the gap.
    """

    TICK = 0.05
    # A shorter gap is the ordinary unrest of a machine, which the margin pays for.
    SHORTEST = 0.2

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._last = now()
        self._missed = 0.0
        self._lock = threading.Lock()

    def start(self) -> None:
        """Watch from now on, in the background, for as long as the process lives."""
        with suppress(RuntimeError):  # without memory for a thread no pauses are seen
            threading.Thread(target=self._watch, name="pause watch", daemon=True).start()

    def tick(self) -> None:
        """Wake up: note the gap if this comes late."""
        with self._lock:
            before, self._last = self._last, self._now()
            gap = self._last - before - self.TICK
            if gap > self.SHORTEST:
                self._missed += gap

    def take(self) -> float:
        """Seconds missed since the last call."""
        self.tick()
        with self._lock:
            missed, self._missed = self._missed, 0.0
        return missed

    def _watch(self) -> None:
        while True:
            time.sleep(self.TICK)
            self.tick()
