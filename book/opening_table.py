"""Early-game responses as rows of a book: written in bulk, looked up in microseconds."""

from collections.abc import Iterable, Iterator
from itertools import islice
from math import isfinite
from typing import Any

from book.base import clean_integer, clean_text, is_word
from book.errors import BookError
from book.evidence_table import EvidenceTables
from book.file import telling
from book.layout_edit import check_weight
from book.rows import Opening
from junqi.errors import IllegalMove
from junqi.rules import parse_move

_ROWS_AT_ONCE = 10_000

_SELECT = """
    SELECT l.layout, o.key, o.move, o.ply, o.visits, o.score, o.error, o.weight, o.enabled,
        o.notes, o.source, runs.key, o.id
    FROM openings AS o JOIN layouts AS l ON l.id = o.layout_id
        LEFT JOIN runs ON runs.id = o.run_id
"""
_INSERT = """
    INSERT INTO openings (layout_id, key, move, ply, visits, score, error, weight, enabled, notes,
        source, run_id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (layout_id, key, move) DO UPDATE SET ply = excluded.ply, visits = excluded.visits,
        score = excluded.score, error = excluded.error, weight = excluded.weight,
        enabled = excluded.enabled, notes = excluded.notes, source = excluded.source,
        run_id = excluded.run_id
"""
# The engine asks this before every early move. It needs no more than one part of one index.
_LOOKUP = f"{_SELECT} WHERE l.layout = ? AND o.key = ? AND o.enabled >= ?"
_ENABLED = 8  # the column of a row that is not a number here
EDITABLE = ("ply", "visits", "score", "error", "weight", "enabled", "notes", "source")


class OpeningTable(EvidenceTables):
    """A book's early-game responses."""

    def add_openings(self, openings: Iterable[Opening]) -> int:
        """Add candidate moves; one with the same layout, key and move is replaced.

        The rows are taken one after the other, so there may be any number of them.

        Returns:
            How many were given.

        Raises:
            BookError: if the book does not hold a layout or a run, or a value cannot be.
        """
        count = 0
        with self.change("add opening moves"), telling(self.path):
            rows = self._opening_rows(openings)
            while part := list(islice(rows, _ROWS_AT_ONCE)):
                self.connection.executemany(_INSERT, part)
                count += len(part)
        return count

    def lookup(self, layout: str, key: str, *, disabled: bool = False) -> list[Opening]:
        """The enabled candidate moves where an own layout knows what the key tells.

        Args:
            layout: canonical letters.
            disabled: give the disabled ones too.

        Returns:
            The heaviest first; none if the book has no answer.
        """
        rows = [opening_of(row) for row in self._rows(_LOOKUP, (layout, key, not disabled))]
        return sorted(rows, key=lambda row: (-row.weight, -row.visits, row.move))

    def opening(self, layout: str, key: str, move: str) -> Opening | None:
        """One candidate move, enabled or not; None if the book does not have it.

        Args:
            layout: canonical letters.
        """
        rows = self._rows(
            f"{_SELECT} WHERE l.layout = ? AND o.key = ? AND o.move = ?", (layout, key, move)
        )
        return opening_of(rows[0]) if rows else None

    def openings(
        self,
        layout: str | None = None,
        key: str | None = None,
        *,
        enabled: bool | None = None,
        max_ply: int | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[Opening]:
        """Candidate moves, sorted by layout, ply, key and weight."""
        conditions, values = ["1"], []
        for condition, value in (
            ("o.layout_id = ?", None if layout is None else self.layout_id(layout)),
            ("o.key = ?", key),
            ("o.enabled = ?", enabled),
            ("o.ply <= ?", max_ply),
        ):
            if value is not None:
                conditions.append(condition)
                values.append(value)
        rows = self._rows(
            f"{_SELECT} WHERE {' AND '.join(conditions)} "
            "ORDER BY l.layout, o.ply, o.key, o.weight DESC, o.move LIMIT ? OFFSET ?",
            [*values, -1 if limit is None else limit, offset],
        )
        return [opening_of(row) for row in rows]

    def openings_by_id(self, ids: Iterable[int]) -> list[Opening]:
        """The candidate moves with these numbers, as far as there are such."""
        return [
            opening_of(row) for id in ids for row in self._rows(f"{_SELECT} WHERE o.id = ?", [id])
        ]

    def set_openings(self, ids: Iterable[int], **fields: Any) -> int:
        """Change fields of candidate moves, like ``enabled=False`` or ``weight=0.5``."""
        if unknown := set(fields) - set(EDITABLE):
            raise ValueError(f"expected {', '.join(EDITABLE)}, got {', '.join(sorted(unknown))}")
        sample = Opening("", "-", "A0A1", **fields)
        check_opening(sample)
        settings = ", ".join(f"{name} = ?" for name in fields)
        with self.change("change opening moves"):
            return self._run_with_ids(
                f"UPDATE openings SET {settings} WHERE id IN {{ids}}", ids, list(fields.values())
            )

    def remove_openings(self, ids: Iterable[int]) -> int:
        """Remove candidate moves; how many there were."""
        with self.change("remove opening moves"):
            return self._run_with_ids("DELETE FROM openings WHERE id IN {ids}", ids)

    def _opening_rows(self, openings: Iterable[Opening]) -> Iterator[tuple[Any, ...]]:
        """Rows for the statement; layouts and runs are looked up once each."""
        layout_ids: dict[str, int] = {}
        run_ids: dict[str | None, int | None] = {}
        for row in openings:
            check_opening(row)
            if row.layout not in layout_ids:
                layout_ids[row.layout] = self.layout_id(row.layout)
            if row.run not in run_ids:
                run_ids[row.run] = self.run_id(row.run)
            yield (
                layout_ids[row.layout], row.key, row.move, row.ply, row.visits, row.score,
                row.error, row.weight, int(row.enabled), row.notes, row.source, run_ids[row.run],
            )  # fmt: skip


def check_opening(row: Opening) -> None:
    """See that a candidate move can be kept.

    Raises:
        BookError: if it cannot.
    """
    if not is_word(row.key):
        raise BookError(f"expected the key of an opening to be one word, got {row.key!r}")
    if row.move not in _MOVES_SEEN:
        check_opening_move(row.move)
    if row.ply < 0 or row.visits < 0:
        raise BookError(f"expected ply and visits of 0 or more, got {row.ply} and {row.visits}")
    if row.score is not None and not 0 <= row.score <= 1:
        raise BookError(f"expected a score from 0 to 1, got {row.score}")
    if row.error is not None and not (isfinite(row.error) and row.error >= 0):
        raise BookError(f"expected an error of 0 or more, got {row.error}")
    check_weight(row.weight)
    if row.notes or row.source:
        clean_text(row.notes + row.source)
    clean_integer(row.visits, "number of visits")
    clean_integer(row.ply, "ply")


# There are 3,540 of them at most, and a million rows to check.
_MOVES_SEEN: set[str] = set()


def check_opening_move(text: str) -> None:
    """See that a text is a move.

    Raises:
        BookError: if it is none.
    """
    try:
        move = parse_move(text)
    except IllegalMove as error:
        raise BookError(str(error)) from None
    if move.origin == move.target:
        raise BookError(f"expected a move to another point, got {text!r}")
    _MOVES_SEEN.add(text)


def opening_of(row: tuple[Any, ...]) -> Opening:
    """A candidate move of a row with its columns, ``enabled`` as SQLite's number."""
    values: list[Any] = list(row)
    values[_ENABLED] = bool(values[_ENABLED])
    return Opening(*values)
