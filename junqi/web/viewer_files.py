"""Where the viewer's games are: files of the games folder, opened files, and games of the book.

A file that a user opens is kept in a folder beside the games, so that a page can be loaded again
and the server started anew; only the last few of them stay.
"""

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from junqi.errors import InvalidRecord
from junqi.record import Found, Record, scan_records
from junqi.textfile import decode_text, write_whole
from junqi.web.answers import LONGEST_UPLOAD, NotThere, Refused
from junqi.web.books import reading
from junqi.web.room import Setup

FOLDER, OPENED, BOOK = "folder", "opened", "book"
ENDINGS = (".junqi", ".jsonl")
MOST_OPENED = 20
MOST_GAMES = 10_000
# So many read files are kept in memory.
_MOST_CACHED = 4
_KEY = re.compile(r"[0-9a-f]{16}")


class Library:
    """All games that can be looked at, by the kind of place, a name there, and a number."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._opened = setup.games / OPENED
        self._lock = threading.Lock()
        self._read: OrderedDict[tuple[Path, int, int], list[Found]] = OrderedDict()

    def keep(self, data: bytes) -> str:
        """Keep a file that a user opens; its name here.

        Raises:
            InvalidRecord: if none of its games can be read.
            JunqiError: if it is not text.
        """
        text = decode_text(data, "the file")
        games = _scan(text.split("\n"))
        if not any(found.record for found in games):
            raise InvalidRecord(f"game 1, {games[0].fault}")
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        self._opened.mkdir(exist_ok=True)
        write_whole(self._path(OPENED, key), text)
        for path in self._newest_first(self._opened)[MOST_OPENED:]:
            path.unlink(missing_ok=True)
        return key

    def files(self) -> list[dict[str, Any]]:
        """The files of the folder and the opened ones, the newest first."""
        return [
            {"kind": kind, "name": path.stem if kind == OPENED else path.name, "title": title}
            for kind, folder in ((OPENED, self._opened), (FOLDER, self._setup.games))
            for path in self._newest_first(folder)
            if (title := self._title(path))
        ]

    def games(self, kind: str, name: str) -> list[Found]:
        """The games of a file, broken ones too; of the book's games, the one of that name.

        Raises:
            NotThere: if there is no such file or game.
            InvalidRecord: if there is no game in it.
            BookError: if the book cannot be read.
            OSError: if the file cannot be read.
        """
        if kind == BOOK:
            return _scan(self._record_in_book(name).split("\n"))
        return self._scanned(self._path(kind, name))

    def record(self, kind: str, name: str, number: int) -> Record:
        """One game of a file, from 1 on.

        Raises:
            InvalidRecord: if it is broken.
            NotThere: if there is no such game; and what `games` raises.
        """
        games = self.games(kind, name)
        if not 1 <= number <= len(games):
            raise NotThere(f"expected a game from 1 to {len(games)}, got {number}")
        found = games[number - 1]
        if found.record is None:
            raise InvalidRecord(f"game {number}, {found.fault}")
        return found.record

    def _record_in_book(self, name: str) -> str:
        with reading(self._setup) as book:
            is_number = name.isascii() and name.isdigit() and len(name) < 19
            game = book.game(int(name)) if is_number else None
        if game is None:
            raise NotThere(f"there is no game {name[:40]} in the book")
        return game.record

    def _path(self, kind: str, name: str) -> Path:
        """Where a file is; only what is listed, or could be, has a place."""
        if kind == OPENED and _KEY.fullmatch(name):
            return self._opened / f"{name}{ENDINGS[0]}"
        if kind == FOLDER and name in {path.name for path in self._newest_first(self._setup.games)}:
            return self._setup.games / name
        raise NotThere(f"there is no file {name[:60]}")

    def _newest_first(self, folder: Path) -> list[Path]:
        found = []
        with suppress(FileNotFoundError):
            for path in folder.iterdir():
                with suppress(OSError):
                    is_record = path.suffix in ENDINGS and not path.name.startswith(".")
                    if is_record and path.is_file():
                        found.append((-path.stat().st_mtime, path.name, path))
        return [path for _, _, path in sorted(found)]

    def _title(self, path: Path) -> str:
        """Who played, in the first game that can be read; what is wrong if there is none."""
        try:
            games = self._scanned(path, most=1)
        except (InvalidRecord, Refused, OSError) as error:
            return str(error)
        record = games[0].record
        if record is None:
            return games[0].fault
        return " – ".join(name for name in (record.red, record.black) if name) or path.name

    def _scanned(self, path: Path, most: int | None = None) -> list[Found]:
        try:
            status = path.stat()
        except FileNotFoundError:
            raise NotThere(f"there is no file {path.name}; open it again") from None
        key = (path, status.st_mtime_ns, status.st_size)
        with self._lock:
            if key in self._read:
                self._read.move_to_end(key)
                return self._read[key]
        if status.st_size > LONGEST_UPLOAD:
            raise Refused(
                f"{path.name}: expected at most {LONGEST_UPLOAD >> 20} MiB, "
                f"got {status.st_size >> 20}: `junqi records filter` takes games out of a file"
            )
        with open(path, "rb") as file:
            games = _scan(file, most)
        with self._lock:
            if most is None:
                self._read[key] = games
            while len(self._read) > _MOST_CACHED:
                self._read.popitem(last=False)
        return games


def _scan(lines: Iterable[str | bytes], most: int | None = None) -> list[Found]:
    """The games of the lines of a file, of many perhaps only the first."""
    found = list(islice(scan_records(lines), most or MOST_GAMES + 1))
    if not found:
        raise InvalidRecord("expected a game record, the file is empty")
    if len(found) > MOST_GAMES:
        raise Refused(f"expected at most {MOST_GAMES} games in a file, got more")
    return found
