"""The standard streams of the engine, kept clean, and what it says besides its replies.

Nothing heavy is imported here: the first reply waits for it.
"""

import os
import sys
from collections.abc import Callable
from datetime import datetime
from typing import BinaryIO

# The numbers of the standard streams, the same everywhere.
STDOUT = 1
STDERR = 2

# A platform may never read our notes, and a full pipe would stop us for good. Some systems' pipes
# hold 4 KiB; the log has no such limit.
NOTE_LETTERS = 300
NOTES_BYTES = 4000


def take_stdout() -> BinaryIO:
    """Keep standard output for the replies; whatever else is printed goes to standard error."""
    try:
        os.fstat(STDERR)
    except OSError:
        # A platform may give us no standard error. Its number must not fall to the replies.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        if nowhere != STDERR:
            os.dup2(nowhere, STDERR)
            os.close(nowhere)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    replies = os.fdopen(os.dup(STDOUT), "wb", buffering=0)
    # Below Python as well, for libraries that print on their own.
    os.dup2(STDERR, STDOUT)
    sys.stdout = sys.stderr
    return replies


class Notes:
    """Writes what is odd to standard error, as much as fits into a pipe, and to the log."""

    def __init__(self) -> None:
        self.left = NOTES_BYTES
        self.log: Log | None = None

    def __call__(self, text: str) -> None:
        """Write one line."""
        if self.log is not None:
            self.log(f"# {text}")
        if len(text) > NOTE_LETTERS:
            text = f"{text[:NOTE_LETTERS]}..."
        line = f"junqi-engine: {text}\n"
        # The most that it can be in any encoding, with two bytes for the end of the line.
        self.left -= len(line.encode("ascii", "backslashreplace")) + 1
        if self.left < 0:
            return
        try:
            print(line, end="", file=sys.stderr, flush=True)
        except (OSError, ValueError):
            self.left = 0  # nobody reads them


class Log:
    """A file of everything that was said, with times; one that cannot be written is forgotten."""

    def __init__(self, path: str, note: Callable[[str], None]) -> None:
        self._path = path
        self._note = note
        self._file: BinaryIO | None = None
        try:
            self._file = open(path, "ab", buffering=0)  # noqa: SIM115
        except (OSError, ValueError) as error:
            self._give_up(error)

    def __call__(self, text: str) -> None:
        """Add one line."""
        if self._file is None:
            return
        stamp = datetime.now().isoformat(timespec="milliseconds")
        try:
            self._file.write(f"{stamp} {text}\n".encode(errors="replace"))
        except (OSError, ValueError) as error:
            self._file.close()
            self._file = None
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        self._note(f"{self._path}: the log cannot be written: {error}")
