"""A file of game records that grows by whole games, and loses none whatever happens.

A record counts once it is written to its last letter. A program that is killed while it writes
leaves a torn record at the end, which is cut off when the file is opened again.
"""

import os
import re
from pathlib import Path
from typing import Self

from junqi.errors import InvalidRecord, JunqiError
from junqi.record import Record, format_record, read_records
from junqi.tags import WINNER_OF_RESULT

# How a record ends that was written as a whole: the result on its own line, then a blank line.
_END = re.compile(
    rb"^(?:" + b"|".join(re.escape(text.encode()) for text in WINNER_OF_RESULT) + rb")\n\n", re.M
)


class FileInUse(JunqiError):
    """A file of records that would be overwritten."""

    is_usage = True


class RecordLog:
    """An open file of records; a context manager that closes it."""

    def __init__(self, path: str | Path, *, is_resumed: bool) -> None:
        """Open a file, making it if there is none.

        Args:
            path: the file.
            is_resumed: go on where it ends; else it must be new or empty.

        Raises:
            FileInUse: if it is to be new and holds something.
            InvalidRecord: if what it holds are not records.
            OSError: if it cannot be read or written.
        """
        self.path = Path(path)
        self.records: list[Record] = []
        """The whole records that were there at first."""
        self._file = open(self.path, "a+b")  # noqa: SIM115
        try:
            self._open(is_resumed)
        except BaseException:
            self._file.close()
            raise

    def _open(self, is_resumed: bool) -> None:
        self._file.seek(0)
        data = self._file.read()
        if data and not is_resumed:
            raise FileInUse(f"{self.path}: expected a new file; --resume goes on with this one")
        whole = max((match.end() for match in _END.finditer(data)), default=0)
        try:
            self.records = list(read_records(data[:whole].decode("utf-8").split("\n")))
        except (InvalidRecord, UnicodeDecodeError) as error:
            raise InvalidRecord(f"{self.path}: {error}") from None
        torn = data[whole:]
        if torn.strip() and not torn.startswith(b"["):
            raise InvalidRecord(f"{self.path}: expected game records, got {torn[:40]!r}")
        self._file.truncate(whole)

    def append(self, record: Record) -> None:
        """Write a record; it is on the disk when this returns."""
        self._file.write(format_record(record).encode("utf-8"))
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
