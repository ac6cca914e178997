"""Which games are asked for: everything that is named has to be so."""

from dataclasses import dataclass

from junqi.pieces import NOBODY, Side, other
from junqi.record import Record
from junqi.replay import SIDES, first_fault
from junqi.rules import Move


@dataclass(frozen=True)
class RecordFilter:
    """What a game has to be; None asks for nothing. Names and events need only hold the text."""

    player: str | None = None
    winner: str | None = None
    loser: str | None = None
    event: str | None = None
    since: str | None = None
    """A day; of a game whose day is unknown it is not so, nor is `until`."""
    until: str | None = None
    result: str | None = None
    reason: str | None = None
    layout: str | None = None
    """How a layout that is known begins."""
    opening: tuple[Move, ...] = ()
    min_plies: int | None = None
    max_plies: int | None = None
    is_valid: bool = False
    """Whether it has to follow the rules."""

    def matches(self, record: Record) -> bool:
        """Whether a game is asked for; what takes longest is looked at last."""
        return (
            self._matches_players(record)
            and self._matches_tags(record)
            and self._matches_plies(record)
            and not (self.is_valid and first_fault(record))
        )

    def _matches_players(self, record: Record) -> bool:
        if self.player is not None and not any(has_name(record, s, self.player) for s in SIDES):
            return False
        winner = record.outcome.winner if record.outcome else NOBODY
        for name, side in ((self.winner, winner), (self.loser, other(winner))):
            if name is not None and (winner == NOBODY or not has_name(record, side, name)):
                return False
        layouts = [text for side in SIDES if (text := record.layout_of(side)) is not None]
        return self.layout is None or any(text.startswith(self.layout) for text in layouts)

    def _matches_tags(self, record: Record) -> bool:
        day = _sortable(record.date)
        reason = record.outcome.reason.text if record.outcome else None
        return (
            (self.event is None or self.event.casefold() in record.event.casefold())
            and (self.since is None or (day != "" and day >= _sortable(self.since)))
            and (self.until is None or (day != "" and day <= _sortable(self.until)))
            and self.result in (None, record.result)
            and self.reason in (None, reason)
        )

    def _matches_plies(self, record: Record) -> bool:
        plies = len(record.plies)
        return (
            (self.min_plies is None or plies >= self.min_plies)
            and (self.max_plies is None or plies <= self.max_plies)
            and tuple(ply.move for ply in record.plies[: len(self.opening)]) == self.opening
        )


def has_name(record: Record, side: Side, part: str) -> bool:
    """Whether this stands in the name of a side's player, in large or small letters."""
    return part.casefold() in record.name_of(side).casefold()


def _sortable(day: str) -> str:
    """A day with dashes in it, whatever separates its parts."""
    return day.replace(".", "-").replace("/", "-")
