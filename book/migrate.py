"""Books with an older schema: brought up to date, with a backup beside them."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from book.errors import BookError
from book.file import connect, copy_database, telling
from book.schema import migrate, newest_version, read_version


@dataclass(frozen=True)
class MigrationReport:
    """What was done to a book."""

    path: Path
    old: int
    """The schema version before."""
    new: int
    backup: Path | None
    """The book as it was; None if there was nothing to do."""


def migrate_file(path: str | Path, *, dry_run: bool = False, wait: float = 5.0) -> MigrationReport:
    """Bring a book up to date.

    Args:
        dry_run: only say what would be done.
        wait: seconds to wait for another program that is changing the book.

    Raises:
        BookError: if it cannot be.
    """
    path = Path(path)
    with closing(connect(path, read_only=dry_run, wait=wait)) as connection:
        if dry_run:
            with telling(path):
                return MigrationReport(path, read_version(connection), newest_version(), None)
        return migrate_open(path, connection)


def migrate_open(path: Path, connection: sqlite3.Connection) -> MigrationReport:
    """Take an open book through the steps that it lacks: all of them or none.

    Raises:
        BookError: if it cannot be.
    """
    with telling(path):
        # A step may rebuild a table, which others refer to; they are checked afterwards.
        connection.execute("PRAGMA foreign_keys = OFF")
        # Nobody can change the book between the backup and the migration.
        connection.execute("BEGIN IMMEDIATE")
        try:
            old = read_version(connection)
            if old >= newest_version():
                return MigrationReport(path, old, old, None)
            backup = _free_name(path, old)
            with closing(connect(path, read_only=True)) as reader:
                copy_database(reader, backup)
            migrate(connection)
            if orphan := connection.execute("PRAGMA foreign_key_check").fetchone():
                table, row = orphan[:2]
                raise BookError(f"{path}: cannot be migrated: row {row} of {table} would be lost")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            connection.execute("PRAGMA foreign_keys = ON")
    return MigrationReport(path, old, newest_version(), backup)


def _free_name(path: Path, version: int) -> Path:
    backup = path.with_name(f"{path.name}.v{version}-backup")
    number = 2
    while backup.exists():
        backup = path.with_name(f"{path.name}.v{version}-backup-{number}")
        number += 1
    return backup
