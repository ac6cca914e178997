"""The change log: what each change did to the rows of a book, so that it can be taken back.

Triggers that live only in the writer's connection note every row that is changed or removed, as it
was before. Rows that are added cost nothing: they have the ids above the highest one that was ever
given, so a change notes the first and the last of them. Taking a change back is a change like any
other, and can be taken back itself.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from book.errors import BookError
from book.rows import ChangeEntry, Counts
from book.schema import TABLES
from junqi import __version__

# So many changes can be taken back; what was done before that is still told, without its rows.
UNDO_DEPTH = 50

# A row of each table as people call it.
NOUNS = {
    "runs": ("run", "runs"),
    "layouts": ("layout", "layouts"),
    "layout_tags": ("tag", "tags"),
    "evidence": ("score", "scores"),
    "payoffs": ("payoff", "payoffs"),
    "openings": ("opening move", "opening moves"),
    "games": ("game", "games"),
}


@dataclass
class Change:
    """A change while it is made, and what came of it."""

    what: str
    """What the user did."""
    is_dry_run: bool = False
    undoes: int | None = None
    id: int = 0
    counts: dict[str, Counts] = field(default_factory=dict)
    """What it did to each table; filled at its end, with the tables that it touched."""

    @property
    def summary(self) -> str:
        """What came of it, like ``2 layouts added, 1 tag removed``."""
        parts = []
        for table, counts in self.counts.items():
            for verb in ("added", "changed", "removed"):
                if number := getattr(counts, verb):
                    parts.append(f"{number:,} {NOUNS[table][number != 1]} {verb}")
        return ", ".join(parts) or "nothing changed"

    def __bool__(self) -> bool:
        return any(self.counts.values())


@dataclass(frozen=True)
class UndoResult:
    """What was taken back, or done again."""

    undone: ChangeEntry
    """The change that was taken back; for a redo the one that is in force again."""
    change: Change

    @property
    def summary(self) -> str:
        """What it did to the rows."""
        return self.change.summary


class ChangeLog:
    """Writes the log of a connection that may change its book."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._columns = {table: _columns(connection, table) for table in TABLES}
        # The ids above `last_id` are new in the change that is being made.
        connection.execute(
            "CREATE TEMP TABLE log_start (table_name TEXT PRIMARY KEY, change_id, last_id)"
        )
        for table, columns in self._columns.items():
            connection.create_function(
                f"row_of_{table}", len(columns), _row_writer(columns), deterministic=True
            )
            for statement in _triggers(table, columns):
                connection.execute(statement)

    def start(self, change: Change) -> None:
        """Begin to note what happens, in the transaction that is open."""
        change.id = self._value(
            "INSERT INTO changes (made, what, summary, version, undoes) "
            "VALUES (?, ?, '', ?, ?) RETURNING id",
            [now(), change.what, __version__, change.undoes],
        )
        for table in TABLES:
            self._connection.execute(
                "INSERT INTO log_start VALUES (?1, ?2, "
                "coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?1), 0))",
                [table, change.id],
            )

    def finish(self, change: Change) -> None:
        """End the noting, count, and forget the rows of changes long ago."""
        for table in TABLES:
            counts = self._finish_table(change.id, table)
            if counts:
                change.counts[table] = counts
        self._connection.execute("DELETE FROM log_start")
        self._connection.execute(
            "UPDATE changes SET summary = ? WHERE id = ?", [change.summary, change.id]
        )
        # Undo and redo do not count, or one could go back only half the way.
        self._connection.execute(
            "DELETE FROM change_rows WHERE change_id < (SELECT id FROM changes "
            "WHERE undoes IS NULL ORDER BY id DESC LIMIT 1 OFFSET ?)",
            [UNDO_DEPTH - 1],
        )

    def take_back(self, change_id: int, force: bool) -> None:
        """Restore the rows as they were before a change, as part of another one.

        Raises:
            BookError: if a row was changed since by a program that keeps no log.
        """
        if not force:
            self._check_unchanged(change_id)
        self._connection.execute("PRAGMA defer_foreign_keys = ON")
        # First what has to go: it may hold what must be unique, like a layout's letters.
        for table in reversed(TABLES):
            added = (
                "SELECT first_id, last_id FROM change_rows "
                "WHERE change_id = ? AND table_name = ? AND before IS NULL"
            )
            for ids in self._connection.execute(added, [change_id, table]).fetchall():
                self._connection.execute(f"DELETE FROM {table} WHERE id BETWEEN ? AND ?", ids)
        for table in TABLES:
            self._restore(change_id, table)

    def _restore(self, change_id: int, table: str) -> None:
        columns = self._columns[table]
        names = ", ".join(columns)
        values = ", ".join(f":{column}" for column in columns)
        settings = ", ".join(f"{column} = :{column}" for column in columns if column != "id")
        old = self._connection.execute(
            "SELECT before FROM change_rows "
            "WHERE change_id = ? AND table_name = ? AND before IS NOT NULL",
            [change_id, table],
        )
        self._connection.executemany(
            f"INSERT INTO {table} ({names}) VALUES ({values}) "
            f"ON CONFLICT (id) DO UPDATE SET {settings}",
            (json.loads(before) for (before,) in old),
        )

    def _check_unchanged(self, change_id: int) -> None:
        for table, columns in self._columns.items():
            found = self._connection.execute(
                f"SELECT first_id FROM change_rows LEFT JOIN {table} ON {table}.id = first_id "
                "WHERE change_id = ? AND table_name = ? AND before IS NOT NULL "
                f"AND after IS NOT {_row_json(table, columns)}",
                [change_id, table],
            ).fetchone()
            if found:
                raise BookError(
                    f"row {found[0]} of {table} was changed since by another program: "
                    "undo with --force would overwrite that"
                )

    def _finish_table(self, change_id: int, table: str) -> Counts:
        where = f"change_id = {change_id} AND table_name = '{table}'"
        start = self._value("SELECT last_id FROM log_start WHERE table_name = ?", [table])
        row = _row_json(table, self._columns[table])
        for statement in (
            f"UPDATE change_rows SET after = (SELECT {row} FROM {table} WHERE id = first_id) "
            f"WHERE {where} AND before IS NOT NULL",
            # What came to nothing is not a change: rows that are as before, rows not there again.
            f"DELETE FROM change_rows WHERE {where} AND before IS NOT NULL AND before IS after",
            f"DELETE FROM change_rows WHERE {where} AND before IS NULL "
            f"AND NOT EXISTS (SELECT 1 FROM {table} WHERE id = first_id)",
        ):
            self._connection.execute(statement)
        restored, removed, changed = self._connection.execute(
            "SELECT total(before IS NULL), total(before IS NOT NULL AND after IS NULL), "
            f"total(after IS NOT NULL) FROM change_rows WHERE {where}"
        ).fetchone()
        if restored:
            self._join_ids(where)
        first, last, added = self._connection.execute(
            f"SELECT min(id), max(id), count(*) FROM {table} WHERE id > ?", [start]
        ).fetchone()
        if added:
            self._connection.execute(
                "INSERT INTO change_rows VALUES (?, ?, ?, ?, NULL, NULL)",
                [change_id, table, first, last],
            )
        return Counts(int(restored) + added, int(changed), int(removed))

    def _join_ids(self, where: str) -> None:
        """Tell rows that are there again by their first and last ids, as rows that are new."""
        runs = self._connection.execute(
            "SELECT change_id, table_name, min(first_id), max(first_id) FROM ("
            "SELECT *, first_id - row_number() OVER (ORDER BY first_id) AS run "
            f"FROM change_rows WHERE {where} AND before IS NULL) GROUP BY run"
        ).fetchall()
        self._connection.execute(f"DELETE FROM change_rows WHERE {where} AND before IS NULL")
        self._connection.executemany(
            "INSERT INTO change_rows VALUES (?, ?, ?, ?, NULL, NULL)", runs
        )

    def _value(self, sql: str, parameters: list[object]) -> int:
        value: int = self._connection.execute(sql, parameters).fetchone()[0]
        return value


def entries(connection: sqlite3.Connection, before: int | None = None) -> Iterator[ChangeEntry]:
    """The log, newest first, with what is in force worked out; perhaps only before a change."""
    undone: set[int] = set()
    rows = connection.execute(
        "SELECT id, made, what, summary, undoes, "
        "EXISTS (SELECT 1 FROM change_rows WHERE change_id = changes.id) "
        "FROM changes WHERE id < coalesce(?, id + 1) ORDER BY id DESC",
        [before],
    )
    for id, made, what, summary, undoes, can_undo in rows:
        is_undone = id in undone
        if undoes is not None and not is_undone:
            undone.add(undoes)
        yield ChangeEntry(id, made, what, summary, undoes, is_undone, bool(can_undo))


def change_to_undo(connection: sqlite3.Connection, before: int) -> ChangeEntry:
    """The last change in force that is not itself an undo or redo."""
    for entry in entries(connection, before):
        if entry.undoes is None and not entry.is_undone:
            if not entry.can_undo:
                raise BookError(
                    f"cannot undo {entry.what!r} of {entry.made}: what was before is kept only "
                    f"for {UNDO_DEPTH} changes, and until the book is migrated"
                )
            return entry
    raise BookError("nothing to undo: no change is in the log")


def undo_to_redo(connection: sqlite3.Connection, before: int) -> tuple[ChangeEntry, ChangeEntry]:
    """The last undo in force, and the change that it took back."""
    log = {entry.id: entry for entry in entries(connection, before)}
    for entry in log.values():
        if entry.is_undone:
            continue
        if entry.undoes is None:
            break  # something new was done since: there is no way forward from before it
        undone = log[entry.undoes]
        if undone.undoes is None:
            return entry, undone
    raise BookError("nothing to redo: the last change was not an undo")


def now() -> str:
    """The time, as the book writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]


def _row_writer(columns: list[str]) -> Callable[..., str]:
    # Not SQLite's own JSON, which rounds numbers to 15 digits.
    encode = json.JSONEncoder(ensure_ascii=False).encode
    return lambda *values: encode(dict(zip(columns, values, strict=True)))


def _row_json(table: str, columns: list[str], row: str = "") -> str:
    """SQL for a row as JSON, NULL if there is no row."""
    prefix = row or table
    values = ", ".join(f"{prefix}.{column}" for column in columns)
    return f"CASE WHEN {prefix}.id IS NOT NULL THEN row_of_{table}({values}) END"


def _triggers(table: str, columns: list[str]) -> Iterator[str]:
    """A row that was there before the change is noted when it is first touched."""
    for event, row in (("UPDATE", "OLD"), ("DELETE", "OLD"), ("INSERT", "NEW")):
        before = _row_json(table, columns, "OLD") if row == "OLD" else "NULL"
        yield f"""
CREATE TEMP TRIGGER log_{event.lower()}_{table} AFTER {event} ON main.{table}
WHEN {row}.id <= (SELECT last_id FROM log_start WHERE table_name = '{table}')
BEGIN
    INSERT INTO change_rows
    SELECT change_id, '{table}', {row}.id, {row}.id, {before}, NULL
    FROM log_start
    WHERE table_name = '{table}' AND NOT EXISTS (
        SELECT 1 FROM change_rows AS noted
        WHERE noted.change_id = log_start.change_id AND noted.table_name = '{table}'
            AND noted.first_id = {row}.id
    );
END
"""
