"""What a match has come to, counted from its records: so a resumed match counts the same.

Records of a match have tags beyond those of `docs/records.md`:

- ``Round``: the number of the game, from 1; in odd games the first player is red
- ``RedPlayer``, ``BlackPlayer``: the names or command lines by which the players were called
- ``RedFaults``, ``BlackFaults``: the words of the faults of each, if there were any
- ``Fault``: what was expected and what came, if the game was lost by a fault
"""

from collections import Counter
from dataclasses import dataclass, field

from junqi.match_stats import PAIR_SCORES, Elo, elo_of_counts
from junqi.pieces import BLACK, NOBODY, RED, Side, other
from junqi.record import Record
from junqi.rules import Reason

FAULT_TAGS = {RED: "RedFaults", BLACK: "BlackFaults"}
PLAYER_TAGS = {RED: "RedPlayer", BLACK: "BlackPlayer"}
ROUND_TAG = "Round"
FAULT_TAG = "Fault"

# Seconds in records are rounded to the microsecond.
_ROUNDING = 1e-6


@dataclass
class PlayerTally:
    """One player of a match."""

    name: str = ""
    """As it calls itself."""
    moves: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    """Seconds of its longest thought."""
    faults: Counter[str] = field(default_factory=Counter)
    """Games in which it had each fault."""

    @property
    def mean_seconds(self) -> float:
        """Seconds a move."""
        return self.seconds / self.moves if self.moves else 0.0

    def add(self, record: Record, side: Side) -> None:
        """Count a game in which the player had this side."""
        self.name = record.name_of(side)
        self.faults.update(record.extra.get(FAULT_TAGS[side], "").split())
        thoughts = [ply.seconds or 0.0 for ply in record.plies[side::2]]
        clock = record.red_clock if side == RED else record.black_clock
        lost = (clock or 0.0) - sum(thoughts)
        if lost > _ROUNDING * (len(thoughts) + 1):
            thoughts.append(lost)  # over a move that came too late, or was illegal
        self.moves += len(thoughts)
        self.seconds += sum(thoughts)
        self.slowest = max([self.slowest, *thoughts])


@dataclass
class Tally:
    """The games of a match so far, told from the first player."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    pairs: list[int] = field(default_factory=lambda: [0] * len(PAIR_SCORES))
    """How many pairs of games came to 0, half, 1, one and a half and 2 points."""
    reasons: Counter[Reason] = field(default_factory=Counter)
    plies: int = 0
    players: tuple[PlayerTally, PlayerTally] = field(
        default_factory=lambda: (PlayerTally(), PlayerTally())
    )
    _points_before: int = 0
    """Half points of the game before."""

    @property
    def games(self) -> int:
        """How many have been played."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The mean score of all games, 0.5 before the first."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.5

    @property
    def elo(self) -> Elo | None:
        """What the whole pairs show; None before the first."""
        return elo_of_counts(self.pairs) if sum(self.pairs) else None

    def add(self, record: Record) -> None:
        """Count the next game."""
        assert record.outcome is not None
        first = side_of_first(self.games + 1)
        winner = record.outcome.winner
        points = 1 if winner == NOBODY else 2 if winner == first else 0
        self.wins += points == 2
        self.draws += points == 1
        self.losses += points == 0
        if self.games % 2:
            self._points_before = points
        else:
            self.pairs[self._points_before + points] += 1
        self.reasons[record.outcome.reason] += 1
        self.plies += len(record.plies)
        for player, side in zip(self.players, (first, other(first)), strict=True):
            player.add(record, side)


def side_of_first(number: int) -> Side:
    """The side that the first player has in a game."""
    return RED if number % 2 else BLACK
