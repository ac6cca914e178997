"""Games that were played, as rows of a book: their records, and what was seen of the opponent."""

import hashlib
from collections.abc import Iterable
from typing import Any

from book.base import clean_text
from book.errors import BookError
from book.layout_edit import check_word
from book.letters import canonical_letters, is_legal
from book.log import now
from book.opening_table import OpeningTable
from book.rows import Game
from junqi.board import seen_from
from junqi.layout import LAYOUT_POINTS
from junqi.pieces import BLACK, RED, Side, other
from junqi.record import Record, format_record, parse_record
from junqi.tags import WINNER_OF_RESULT

UNSEEN = "?"
_SIDES: dict[str | None, Side] = {"red": RED, "black": BLACK}

_COLUMNS = (
    "digest", "record", "side", "layout_id", "seen", "played", "opponent", "result", "reason",
    "plies", "source", "notes", "created",
)  # fmt: skip

_SELECT = """
    SELECT g.record, g.side, l.layout, g.seen, g.played, g.opponent, g.result, g.reason, g.plies,
        g.source, g.notes, g.created, g.id
    FROM games AS g LEFT JOIN layouts AS l ON l.id = g.layout_id
"""


class GameTable(OpeningTable):
    """A book's games."""

    def add_games(self, games: Iterable[Game]) -> int:
        """Add games; how many were new. The same record is kept only once.

        Raises:
            BookError: if something about a game cannot be.
            InvalidRecord: if its record cannot be read.
        """
        names, marks = ", ".join(_COLUMNS), ", ".join("?" * len(_COLUMNS))
        sql = f"INSERT INTO games ({names}) VALUES ({marks}) ON CONFLICT (digest) DO NOTHING"
        with self.change("add games"):
            return sum(self._run(sql, self._game_values(game)) for game in games)

    def games(
        self, layout: str | None = None, *, limit: int | None = None, offset: int = 0
    ) -> list[Game]:
        """Games, oldest first, with one own layout or with any."""
        where, values = "1", []
        if layout is not None:
            where, values = "g.layout_id = ?", [self.layout_id(layout)]
        rows = self._rows(
            f"{_SELECT} WHERE {where} ORDER BY g.played, g.id LIMIT ? OFFSET ?",
            [*values, -1 if limit is None else limit, offset],
        )
        return [Game(*row) for row in rows]

    def game(self, id: int) -> Game | None:
        """One game; None if the book does not have it."""
        rows = self._rows(f"{_SELECT} WHERE g.id = ?", [id])
        return Game(*rows[0]) if rows else None

    def remove_games(self, ids: Iterable[int]) -> int:
        """Remove games; how many there were."""
        with self.change("remove games"):
            return self._run_with_ids("DELETE FROM games WHERE id IN {ids}", ids)

    def _game_values(self, game: Game) -> list[Any]:
        parse_record(clean_text(game.record))
        layout_id = None
        if game.layout is not None:
            layout_id = self.layout_id(game.layout)
        if game.side is not None:
            check_word(game.side, tuple(str(side) for side in _SIDES), "side")
        check_word(game.result, tuple(WINNER_OF_RESULT), "result")
        if game.seen and len(game.seen) != len(LAYOUT_POINTS):
            raise BookError(f"expected 25 letters or {UNSEEN} that were seen, got {game.seen!r}")
        return [
            record_digest(game.record),
            game.record,
            game.side,
            layout_id,
            clean_text(game.seen),
            clean_text(game.played),
            clean_text(game.opponent),
            game.result,
            clean_text(game.reason),
            game.plies,
            clean_text(game.source),
            clean_text(game.notes),
            game.created or now(),
        ]


def record_digest(record: str) -> str:
    """What tells one record from another."""
    return hashlib.sha256(record.encode()).hexdigest()[:32]


def game_from_record(record: Record, side: Side | None = None, source: str = "") -> Game:
    """A game for the book, from a record of it.

    Args:
        side: the own side; None for a game between others.
        source: where the record comes from.
    """
    own = None if side is None else record.layout_of(side)
    return Game(
        record=format_record(record),
        side=None if side is None else ("red" if side == RED else "black"),
        layout=canonical_letters(own) if own is not None and is_legal(own) else None,
        seen="" if side is None else _seen(record, other(side)),
        played=record.date,
        opponent="" if side is None else (record.black if side == RED else record.red),
        result=record.result,
        reason=record.outcome.reason.text if record.outcome else "",
        plies=len(record.plies),
        source=source,
    )


def _seen(record: Record, side: Side) -> str:
    """What a record makes certain of a side's layout."""
    known = record.layout_of(side)
    if known is not None:
        return known if is_legal(known) else ""
    letters = [UNSEEN] * len(LAYOUT_POINTS)
    for ply in record.plies:
        for flag in ply.flags:
            point = seen_from(flag, side)
            if point in LAYOUT_POINTS:
                letters[LAYOUT_POINTS.index(point)] = "l"
    return "".join(letters)
