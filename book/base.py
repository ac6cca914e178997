"""A book's connection, and the changes that are made through it: what its tables are built on."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from book.errors import BookError
from book.file import telling
from book.log import Change, ChangeLog, UndoResult, change_to_undo, entries, undo_to_redo
from book.rows import ChangeEntry
from book.schema import read_version

# So many ids fit into one statement in every build of SQLite.
_IDS_AT_ONCE = 500

# SQLite's integers have 64 bits with a sign.
LARGEST_INTEGER = 2**63 - 1


class BookFile:
    """An open book, as far as its tables do not matter. `book.store.Book` is the whole."""

    def __init__(self, path: Path, connection: sqlite3.Connection, is_read_only: bool) -> None:
        self.path = path
        self.connection = connection
        """For reading with one's own SQL."""
        self.is_read_only = is_read_only
        self._change: Change | None = None
        with telling(path):
            self.schema_version = read_version(connection)
            self._log = None if is_read_only else ChangeLog(connection)

    def close(self) -> None:
        """Let go of the file."""
        if not self.is_read_only:
            self._bring_home()
        with telling(self.path):
            self.connection.close()

    def _bring_home(self) -> None:
        """Move all changes into the book itself, though others may be reading it.

        Who then copies the file alone has all of it. If somebody is in the way, it is done another
        time: nothing is lost.
        """
        with suppress(sqlite3.Error):
            self.connection.execute("PRAGMA busy_timeout = 100")
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def __enter__(self) -> "BookFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def change(self, what: str, *, dry_run: bool = False) -> Iterator[Change]:
        """Make a change: all of it or nothing, with one entry in the change log.

        Inside a change that is being made already this is a part of it.

        Args:
            what: what the user did, for the log.
            dry_run: work out what would change, then leave all as it was.

        Raises:
            BookError: if the book cannot be changed.
        """
        if self._change is not None:
            yield self._change
            return
        with self._transaction(Change(clean_text(what), dry_run)) as change:
            yield change

    def undo(self, *, dry_run: bool = False, force: bool = False) -> UndoResult:
        """Take back the last change that was not taken back yet.

        Args:
            force: even if another program has changed the same rows since.

        Raises:
            BookError: if there is none, or if the rows have been changed since.
        """
        self._check_writable()
        with self._transaction(Change("undo", dry_run)) as change:
            entry = change_to_undo(self.connection, change.id)
            self._take_back(change, f"undo: {entry.what}", entry.id, force)
        return UndoResult(entry, change)

    def redo(self, *, dry_run: bool = False, force: bool = False) -> UndoResult:
        """Do again what the last undo took back.

        Raises:
            BookError: if there is nothing to redo.
        """
        self._check_writable()
        with self._transaction(Change("redo", dry_run)) as change:
            undo, entry = undo_to_redo(self.connection, change.id)
            self._take_back(change, f"redo: {entry.what}", undo.id, force)
        return UndoResult(entry, change)

    def changes(self, limit: int | None = None) -> list[ChangeEntry]:
        """The change log, newest first."""
        found: list[ChangeEntry] = []
        with telling(self.path):
            for entry in entries(self.connection):
                if limit is not None and len(found) >= limit:
                    break
                found.append(entry)
        return found

    @contextmanager
    def _transaction(self, change: Change) -> Iterator[Change]:
        self._check_writable()
        if self._change is not None:
            raise BookError("expected the change before this one to be finished")
        assert self._log is not None
        with telling(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            self._change = change
            try:
                self._log.start(change)
                yield change
                self._log.finish(change)
                # An undo counts as done even if others have done it already.
                keeps = (change or change.undoes is not None) and not change.is_dry_run
                self.connection.execute("COMMIT" if keeps else "ROLLBACK")
            finally:
                self._change = None
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")

    def _take_back(self, change: Change, what: str, id: int, force: bool) -> None:
        assert self._log is not None
        change.what, change.undoes = what, id
        self.connection.execute(
            "UPDATE changes SET what = ?, undoes = ? WHERE id = ?", [what, id, change.id]
        )
        self._log.take_back(id, force)

    def _check_writable(self) -> None:
        if self.is_read_only:
            raise BookError(f"{self.path}: was opened for reading only")

    def _rows(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[Any]:
        """All rows that a query gives."""
        with telling(self.path):
            return self.connection.execute(sql, parameters).fetchall()

    def _value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The one value that a query gives, None without a row."""
        with telling(self.path):
            row = self.connection.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def _run(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> int:
        """Run a statement of a change; the number of rows that it touched."""
        with telling(self.path):
            return self.connection.execute(sql, parameters).rowcount

    def _run_with_ids(self, sql: str, ids: Iterable[int], parameters: Sequence[Any] = ()) -> int:
        """Run a statement with ``id IN (...)``, where ``{ids}`` stands, for any number of ids."""
        every, touched = list(ids), 0
        for first in range(0, len(every), _IDS_AT_ONCE):
            part = every[first : first + _IDS_AT_ONCE]
            marks = ", ".join("?" * len(part))
            touched += self._run(sql.format(ids=f"({marks})"), [*parameters, *part])
        return touched


def clean_text(text: str) -> str:
    """A text that SQLite and text files can hold.

    Raises:
        BookError: if it is none.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise BookError(f"expected text in UTF-8, got {text[:60]!a}") from None
    if "\0" in text:
        raise BookError(f"expected text, got binary data: {text[:60]!a}")
    return text


def is_word(text: str) -> bool:
    """Whether a text is one word: something, and without white space."""
    return clean_text(text).split() == [text]


def clean_integer(number: int | None, what: str) -> int | None:
    """A whole number that SQLite can hold.

    Raises:
        BookError: if it is negative or too large.
    """
    if number is not None and not 0 <= number <= LARGEST_INTEGER:
        raise BookError(f"expected a {what} from 0 to 2**63 - 1, got {number}")
    return number
