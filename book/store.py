"""`Book`: one file with layouts, their evidence, opening moves and games.

    with Book.open("book.db") as book, book.change("trust the first more"):
        book.set_weight([1], 0.5)

The methods stand in the modules of the tables: `layout_query`, `layout_edit`, `evidence_table`,
`opening_table`, `game_table`, and in `base` for the changes.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from book.check import faults
from book.errors import BookError
from book.evidence_table import new_run_key
from book.file import (
    beside,
    check_no_journal,
    connect,
    copy_database,
    remove_database,
    sync_file,
    telling,
)
from book.game_table import GameTable, game_from_record
from book.layout_edit import Added
from book.layout_query import SORTS, Filter
from book.log import Change, UndoResult
from book.migrate import migrate_open
from book.rows import BookStats
from book.schema import migrate, newest_version, read_version

__all__ = [
    "SORTS",
    "Added",
    "Book",
    "BookError",
    "Change",
    "Filter",
    "UndoResult",
    "game_from_record",
    "new_run_key",
]


class Book(GameTable):
    """An open book; a context manager that closes it."""

    @classmethod
    def open(
        cls, path: str | Path, read_only: bool = False, *, wait: float = 5.0, upgrade: bool = True
    ) -> "Book":
        """Open a book.

        Args:
            read_only: as an engine does: never changes the file or waits for a writer, and works
                from a read-only medium.
            wait: seconds to wait for another program that is changing the book.
            upgrade: migrate a book with an older schema, with a backup beside it.

        Raises:
            BookError: if there is no whole book, or it needs a newer or older junqi.
        """
        path = Path(path)
        connection = connect(path, read_only=read_only, wait=wait)
        try:
            with telling(path):
                version = read_version(connection)
                if version < newest_version():
                    if read_only or not upgrade:
                        raise BookError(
                            f"{path}: has the older schema version {version}: "
                            "`junqi book migrate` brings it up to date, with a backup"
                        )
                    migrate_open(path, connection)
            return cls(path, connection, read_only)
        except BaseException:
            connection.close()
            raise

    @classmethod
    def create(cls, path: str | Path) -> "Book":
        """Make a new book with nothing in it, and open it.

        Raises:
            BookError: if there is a file of that name, or none can be made.
        """
        path = Path(path)
        create_file(path)
        return cls.open(path)

    def __enter__(self) -> "Book":
        return self

    def stats(self) -> BookStats:
        """What the book holds, in numbers."""
        mixture = "FROM layouts WHERE enabled = 1 AND weight > 0 AND role <> 'opponent'"
        layouts = self._rows("SELECT count(*), total(enabled) FROM layouts")[0]
        in_mixture = self._rows(f"SELECT count(*), total(weight) {mixture}")[0]
        evidence = self._rows("SELECT count(*), total(games) FROM evidence")[0]
        payoffs = self._rows("SELECT count(*), total(games) FROM payoffs")[0]
        # One pass along the index; `count(DISTINCT ...)` of pairs would need a table of them.
        openings = self._rows(
            "SELECT total(moves), count(*), count(DISTINCT layout_id) FROM "
            "(SELECT layout_id, count(*) AS moves FROM openings GROUP BY layout_id, key)"
        )[0]
        return BookStats(
            schema_version=self.schema_version,
            bytes=self._value(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            ),
            layouts=layouts[0],
            enabled=int(layouts[1]),
            in_mixture=in_mixture[0],
            total_weight=in_mixture[1],
            by_origin=self._counts("SELECT origin, count(*) FROM layouts GROUP BY 1"),
            by_role=self._counts("SELECT role, count(*) FROM layouts GROUP BY 1"),
            tags=self._counts("SELECT tag, count(*) FROM layout_tags GROUP BY 1"),
            evidence=evidence[0],
            evidence_games=int(evidence[1]),
            by_judge=self._counts("SELECT judge, sum(games) FROM evidence GROUP BY 1"),
            payoffs=payoffs[0],
            payoff_games=int(payoffs[1]),
            runs=self._value("SELECT count(*) FROM runs"),
            openings=int(openings[0]),
            opening_positions=openings[1],
            opening_layouts=openings[2],
            games=self._value("SELECT count(*) FROM games"),
            changes=self._value("SELECT count(*) FROM changes"),
            last_change=self._value("SELECT made FROM changes ORDER BY id DESC LIMIT 1"),
        )

    def check(self) -> Iterator[str]:
        """Everything that is wrong with the book, one text each; nothing if it is sound."""
        with telling(self.path):
            yield from faults(self.connection)

    def backup(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write a copy of the whole book, also while others read or change it.

        The copy appears under its name only when it is whole.

        Raises:
            BookError: if there is a file of that name, or it cannot be written.
        """
        path = Path(path)
        if path.exists() and path.samefile(self.path):
            raise BookError(f"{path}: expected another file than the book itself")
        if path.exists() and not overwrite:
            raise BookError(f"{path}: is there already; --force overwrites it")
        copy_database(self.connection, path)
        return path

    def _counts(self, sql: str) -> dict[str, int]:
        rows: Sequence[Any] = self._rows(f"{sql} ORDER BY 2 DESC, 1")
        return dict(rows)


def create_file(path: Path) -> None:
    """Make an empty book: it gets its name when it is whole, and takes nobody's place.

    Raises:
        BookError: if there is a file of that name, or none can be made.
    """
    if path.exists():
        raise BookError(f"{path}: is there already")
    part = beside(path)
    try:
        with telling(path):
            make_part(part)
        give_name(part, path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BookError(f"{path}: cannot be written: {reason}") from None
    finally:
        remove_database(part)


def make_part(part: Path) -> None:
    """Make an empty book under a name that nobody looks for."""
    part.touch(exist_ok=False)
    with closing(sqlite3.connect(part, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        migrate(connection)
        connection.execute("COMMIT")


def give_name(part: Path, path: Path) -> None:
    """Give a whole book its name, unless another one got it in the meantime.

    Raises:
        BookError: if another file has the name.
    """
    sync_file(part)
    if path.exists():
        raise BookError(f"{path}: is there already")
    check_no_journal(path)
    try:
        os.link(part, path)
    except FileExistsError:
        raise BookError(f"{path}: is there already") from None
    except OSError:  # sticks and some network folders have no links
        os.rename(part, path)
