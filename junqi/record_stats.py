"""What many games have in common: lengths, ends, openings, and what the layouts look like.

Records are taken one at a time and none is kept. A record with one layout unknown counts for all
that it does tell: where the flag turned out to be, and which of the pieces moved.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from junqi.board import (
    HEADQUARTERS_POINTS,
    IS_CAMP,
    POINTS,
    ROW_NAMES,
    Point,
    point_at,
    point_name,
    rotate_point,
    row_of,
    seen_from,
)
from junqi.layout import LAYOUT_POINTS, layout_problems
from junqi.pieces import (
    ATTACKER_WINS,
    BLACK,
    BOTH_REMOVED,
    KINDS,
    NO_CONTACT,
    NOBODY,
    RED,
    Side,
    other,
)
from junqi.record import Record
from junqi.record_filter import has_name
from junqi.replay import SIDES
from junqi.rules import Reason, format_move
from junqi.tags import WINNER_OF_RESULT

# Points of a half, as its own player names them.
_OWN_HALF = range(POINTS // 2, POINTS)


@dataclass(frozen=True)
class Whose:
    """Which sides of a game are looked at; those of all players unless one is named."""

    of: str | None = None
    """Part of a player's name: that player's sides."""
    against: str | None = None
    """Part of a player's name: the sides of the others."""

    def sides(self, record: Record) -> list[Side]:
        """The sides of a game that are meant."""
        return [
            side
            for side in SIDES
            if (self.of is None or has_name(record, side, self.of))
            and (self.against is None or has_name(record, other(side), self.against))
        ]


@dataclass
class RecordStats:
    """Counts over records, added one at a time."""

    whose: Whose = field(default_factory=Whose)
    opening_plies: int = 2
    """How many plies make an opening."""
    games: int = 0
    results: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    """How many games have so many plies."""
    openings: Counter[str] = field(default_factory=Counter)
    opening_points: Counter[str] = field(default_factory=Counter)
    """Half points that red made after each opening, in finished games."""
    opening_finished: Counter[str] = field(default_factory=Counter)
    timed_plies: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    """Seconds of the slowest ply."""
    sides: int = 0
    """Sides that are looked at, and the half points they made in finished games."""
    points: int = 0
    finished: int = 0
    layouts: int = 0
    """Legal layouts among them that are known."""
    kinds: dict[str, Counter[Point]] = field(
        default_factory=lambda: {kind.letter: Counter() for kind in KINDS}
    )
    """How often a kind starts on a point, of known layouts."""
    hidden: int = 0
    """Layouts that are unknown."""
    hidden_flags: Counter[Point] = field(default_factory=Counter)
    """Where flags of unknown layouts turned out to be."""
    moved: Counter[Point] = field(default_factory=Counter)
    """How often the piece that starts on a point moves."""

    def add(self, record: Record) -> None:
        """Count a game, if a side of it is looked at."""
        sides = self.whose.sides(record)
        if not sides:
            return
        self.games += 1
        self.results[record.result] += 1
        self.reasons[record.outcome.reason.text if record.outcome else "unfinished"] += 1
        self.lengths[len(record.plies)] += 1
        self._add_opening(record)
        self._add_times(record)
        movers = _movers(record)
        for side in sides:
            self.sides += 1
            if record.outcome is not None:
                self.finished += 1
                self.points += _half_points(record.outcome.winner, side)
            self.moved.update(seen_from(start, side) for start in movers[side])
            self._add_layout(record, side)

    def _add_opening(self, record: Record) -> None:
        opening = " ".join(format_move(ply.move) for ply in record.plies[: self.opening_plies])
        self.openings[opening] += 1
        if record.outcome is not None:
            self.opening_finished[opening] += 1
            self.opening_points[opening] += _half_points(record.outcome.winner, RED)

    def _add_times(self, record: Record) -> None:
        for ply in record.plies:
            if ply.seconds is not None:
                self.timed_plies += 1
                self.seconds += ply.seconds
                self.longest = max(self.longest, ply.seconds)

    def _add_layout(self, record: Record, side: Side) -> None:
        layout = record.layout_of(side)
        if layout is None:
            self.hidden += 1
            flag = _flag_found(record, side)
            if flag is not None:
                self.hidden_flags[seen_from(flag, side)] += 1
        elif not layout_problems(layout):
            self.layouts += 1
            for point, letter in zip(LAYOUT_POINTS, layout, strict=True):
                self.kinds[letter][point] += 1

    @property
    def mean_plies(self) -> float:
        """Plies of a game on average."""
        return sum(plies * games for plies, games in self.lengths.items()) / max(1, self.games)

    def plies_at(self, share: float) -> int:
        """The length that this share of the games does not exceed; 0.5 gives the median."""
        reached = 0
        for plies, games in sorted(self.lengths.items()):
            reached += games
            if reached >= share * self.games:
                return plies
        return 0

    def to_json(self) -> dict[str, Any]:
        """All of it as an object for `json.dumps`."""
        return {
            "games": self.games,
            "results": {result: self.results[result] for result in WINNER_OF_RESULT},
            "reasons": dict(self.reasons.most_common()),
            "plies": {
                "mean": round(self.mean_plies, 2),
                "median": self.plies_at(0.5),
                "least": min(self.lengths, default=0),
                "most": max(self.lengths, default=0),
            },
            "seconds": {
                "plies": self.timed_plies,
                "mean": round(self.seconds / self.timed_plies, 6) if self.timed_plies else None,
                "most": self.longest if self.timed_plies else None,
            },
            "openings": [
                {"moves": moves, "games": games, "red_score": self.red_score(moves)}
                for moves, games in self.openings.most_common()
            ],
            "sides": self.sides,
            "score": self.score,
            "layouts": self.layouts,
            "hidden_layouts": self.hidden,
            "hidden_flags": _named(self.hidden_flags),
            "kinds": {kind.english: _named(self.kinds[kind.letter]) for kind in KINDS},
            "moved": _named(self.moved),
        }

    @property
    def score(self) -> float | None:
        """Points a finished game of the sides looked at."""
        return self.points / (2 * self.finished) if self.finished else None

    def red_score(self, opening: str) -> float | None:
        """Points a finished game of red after an opening."""
        finished = self.opening_finished[opening]
        return self.opening_points[opening] / (2 * finished) if finished else None


def heat_lines(title: str, counts: Counter[Point], total: int) -> list[str]:
    """A half of the board with the percentage of each point: ``.`` a camp, ``-`` never."""
    lines = [f"{title:22}"]
    for row in sorted({row_of(point) for point in _OWN_HALF}):
        cells = []
        for point in (point_at(row, column) for column in range(5)):
            share = f"{100 * counts[point] / total:.0f}" if counts[point] else "-"
            cells.append("." if IS_CAMP[point] else share)
        lines.append(f"{ROW_NAMES[row]} " + "".join(f"{cell:>4}" for cell in cells))
    return lines


def _half_points(winner: Side, side: Side) -> int:
    return 1 if winner == NOBODY else 2 * (winner == side)


def _named(counts: Counter[Point]) -> dict[str, int]:
    return {point_name(point): counts[point] for point in sorted(counts)}


def _movers(record: Record) -> dict[Side, set[Point]]:
    """Where the pieces of each side that moved had started, on red's board."""
    started = {p: p for half in (LAYOUT_POINTS, map(rotate_point, LAYOUT_POINTS)) for p in half}
    moved: dict[Side, set[Point]] = {RED: set(), BLACK: set()}
    for number, ply in enumerate(record.plies):
        origin, target = ply.move
        start = started.pop(origin, origin)
        moved[BLACK if number % 2 else RED].add(start)
        if ply.result in (NO_CONTACT, ATTACKER_WINS):
            started[target] = start
        elif ply.result == BOTH_REMOVED:
            started.pop(target, None)
    return moved


def _flag_found(record: Record, side: Side) -> Point | None:
    """Where the flag of a side turned out to be: told, or taken by the last ply."""
    homes = HEADQUARTERS_POINTS[side]
    for ply in record.plies:
        for flag in ply.flags:
            if flag in homes:
                return flag
    end = record.outcome
    if end is not None and end.reason == Reason.FLAG and end.winner == other(side):
        target = record.plies[-1].move.target if record.plies else None
        return target if target in homes else None
    return None
