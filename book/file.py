"""The file of a book: connections to it, and SQLite's errors in words that help.

A book is in WAL mode: a reader sees the last whole change and never waits for a writer. Reading
does not write, but SQLite wants a small file for its locks beside a WAL book; where there is no
room for it, on a read-only medium, the book is opened as one that nobody changes.
"""

import math
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from book.errors import BookError, BookFileError
from book.schema import newest_version, read_version

OLDEST_SQLITE = (3, 37, 0)
"""The first with STRICT tables."""

MAGIC = b"SQLite format 3\0"

# Of SQLite's cache, in KiB: enough to keep the index of a million opening rows while importing.
WRITER_CACHE = 160_000
READER_CACHE = 16_000

# SQLite's primary result codes, which are the lowest byte of an error's code.
_CODES = {
    sqlite3.SQLITE_BUSY: "is locked: another program is changing it; try again when that is done",
    sqlite3.SQLITE_LOCKED: "is locked: another program is changing it; try again when that is done",
    sqlite3.SQLITE_READONLY: "is read-only: change the permissions, or work on a copy",
    sqlite3.SQLITE_FULL: "cannot be written: the disk is full; the book is as it was before",
    sqlite3.SQLITE_NOTADB: "is not a book: expected an SQLite database",
    sqlite3.SQLITE_CORRUPT: "is damaged: use a backup, or save what is left with "
    "`sqlite3 BOOK .recover`",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
    sqlite3.SQLITE_PERM: "cannot be opened: permission denied",
}

# What SQLite says if it cannot keep its locks beside a book that it may only read.
_NO_ROOM_FOR_LOCKS = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into `BookError`, naming the book."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explained(path, error) from error


def _explained(path: Path, error: sqlite3.Error) -> BookError:
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None and code & 0xFF in _CODES:
        return BookFileError(f"{path}: {_CODES[code & 0xFF]}")
    if code is not None and code & 0xFF == sqlite3.SQLITE_IOERR:
        return BookFileError(
            f"{path}: reading or writing failed ({error}): is the disk full or gone?"
        )
    if code is not None and code & 0xFF == sqlite3.SQLITE_CONSTRAINT:
        return BookError(f"{path}: the book does not allow this: {error}")
    return BookError(f"{path}: SQLite says: {error}")


def connect(path: Path, *, read_only: bool, wait: float = 5.0) -> sqlite3.Connection:
    """Connect to a book of any schema version.

    Args:
        wait: seconds to wait for another program's lock.

    Raises:
        BookError: if it is not a whole book.
    """
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        oldest = ".".join(str(part) for part in OLDEST_SQLITE)
        raise BookError(f"expected SQLite {oldest} or newer, got {sqlite3.sqlite_version}")
    _check_place(path)
    with telling(path):
        try:
            return _open(path, "ro" if read_only else "rw", wait)
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
                raise no_book(path) from error
            if not read_only or code not in _NO_ROOM_FOR_LOCKS:
                raise
        if has_journal(path):
            raise BookError(
                f"{path}: its last changes are still in {path.name}-wal, which cannot be read on "
                "a read-only medium: copy both files to a folder that can be written"
            )
        return _open(path, "ro&immutable=1", wait)


def no_book(path: Path) -> BookError:
    """What is wrong with a file that SQLite does not take for a whole database.

    Only then may the file be opened by other means than SQLite's: on most systems, closing it
    takes away the locks that other connections of this process have on it.
    """
    with open(path, "rb") as file:
        header = file.read(100)
    size = path.stat().st_size
    if not header.startswith(MAGIC[: len(header)]):
        hint = "; `junqi book import` reads text" if _is_text(header) else ""
        return BookError(f"{path}: is not a book: expected an SQLite database{hint}")
    pages, page_size = int.from_bytes(header[28:32], "big"), int.from_bytes(header[16:18], "big")
    expected = pages * (65536 if page_size == 1 else page_size)
    if size < max(expected, 512):
        return BookError(f"{path}: is cut short, at {size} of {expected} bytes; use a backup")
    return BookFileError(f"{path}: {_CODES[sqlite3.SQLITE_CORRUPT]}")


def has_journal(path: Path) -> bool:
    """Whether changes wait in a file beside the book."""
    for ending in ("-wal", "-journal"):
        with suppress(OSError):
            if os.path.getsize(f"{path}{ending}"):
                return True
    return False


def check_no_journal(path: Path) -> None:
    """See that no changes wait for a file that is about to be replaced, or made.

    SQLite would put the changes of one book into another.

    Raises:
        BookError: if there are some.
    """
    if has_journal(path):
        raise BookError(
            f"{path}: cannot be written: {path.name}-wal or -journal holds changes of a book "
            "of that name; open that book once, or remove them"
        )


def copy_database(source: sqlite3.Connection, target: Path) -> None:
    """Write a whole copy to a new file, then give it its name, replacing what has it.

    The copy is not in WAL mode: a single file, also for tools that open it where nothing can be
    written.

    Raises:
        BookError: if it cannot be written, or the file of that name is in use.
    """
    target = Path(os.path.realpath(target))  # a link stays a link
    if target.exists() and not target.is_file():
        raise BookError(f"{target}: expected a file to replace, got something else")
    check_no_journal(target)
    part = beside(target)
    try:
        with telling(target):
            with closing(sqlite3.connect(part, isolation_level=None)) as copy:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
            sync_file(part)
            os.replace(part, target)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BookError(f"{target}: cannot be written: {reason}") from None
    finally:
        remove_database(part)


def beside(path: Path) -> Path:
    """A name in the same folder, for a file that is not whole yet."""
    return path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.part")


def sync_file(path: Path) -> None:
    """Have the disk hold what was written."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def remove_database(path: Path) -> None:
    """Remove a file and what SQLite put beside it, if they are there and can be removed."""
    for ending in ("", "-wal", "-shm", "-journal"):
        with suppress(OSError):
            os.unlink(f"{path}{ending}")


def _check_place(path: Path) -> None:
    """See from the outside that there is a file with something in it."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise BookError(f"{path}: no such book; `junqi book init` makes one") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BookError(f"{path}: cannot be opened: {reason}") from None
    if stat.S_ISDIR(status.st_mode):
        raise BookError(f"{path}: cannot be opened: it is a folder")
    if not os.access(path, os.R_OK):
        raise BookError(f"{path}: cannot be opened: permission denied")
    if status.st_size == 0:
        raise BookError(f"{path}: is not a book: the file is empty")


def _open(path: Path, mode: str, wait: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=wait,
        isolation_level=None,
        # A reader may be handed to another thread: SQLite itself keeps the threads apart.
        check_same_thread=mode == "rw",
    )
    try:
        _check_version(path, read_version(connection))
        _check_size(path, connection)
        _set_up(connection, is_writer=mode == "rw")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_version(path: Path, version: int) -> None:
    if version == 0:
        raise BookError(f"{path}: is an SQLite database, but not a book of Junqi")
    if version > newest_version():
        raise BookError(
            f"{path}: expected schema version {newest_version()} or older, got {version}: "
            "it was made by a newer junqi; update this one"
        )


def _check_size(path: Path, connection: sqlite3.Connection) -> None:
    """See that the last page is whole; SQLite itself looks only for its beginning."""
    pages: int = connection.execute("PRAGMA page_count").fetchone()[0]
    page_size: int = connection.execute("PRAGMA page_size").fetchone()[0]
    # With another file beside it, that file may hold what is missing here.
    if path.stat().st_size < pages * page_size and not has_journal(path):
        raise no_book(path)


def _set_up(connection: sqlite3.Connection, is_writer: bool) -> None:
    """What holds for a connection, not for the file."""
    try:
        connection.execute("SELECT sqrt(1)")
    except sqlite3.OperationalError:  # SQLite may be built without it; the views need it
        connection.create_function("sqrt", 1, math.sqrt, deterministic=True)
    connection.execute(f"PRAGMA cache_size = -{WRITER_CACHE if is_writer else READER_CACHE}")
    if not is_writer:
        connection.execute("PRAGMA query_only = ON")
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")


def _is_text(data: bytes) -> bool:
    with suppress(UnicodeDecodeError):
        return "\0" not in data.decode("utf-8", errors="strict")
    return False
