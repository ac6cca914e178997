"""Games of the console on the disk: one file each, a line of JSON for every event.

A line is on the disk before anybody is told of what it says. A process that is killed while it
writes leaves a torn last line, which is cut off when the file is opened again.
"""

import errno
import json
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from junqi.errors import JunqiError
from junqi.web.console_game import Game, Terms

SUFFIX = ".game"
FORMAT = 1
_KEY = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}")


class BrokenGame(JunqiError):
    """A file that is no game, or not one that can be gone on with."""


class ChangedElsewhere(JunqiError):
    """Another process has written into the file."""


def new_key() -> str:
    """A key for a new game, by the time of day."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"


def is_key(text: str) -> bool:
    """Whether a text can be the key of a game."""
    return _KEY.fullmatch(text) is not None


def game_keys(folder: Path) -> Iterator[str]:
    """The keys of all games in a folder, the newest first."""
    for path in sorted(folder.glob(f"*{SUFFIX}"), reverse=True):
        if is_key(path.stem):
            yield path.stem


class GameLog:
    """The open file of one game; `game` is what its events have made of it."""

    def __init__(self, folder: Path, key: str) -> None:
        """Open the file of a game, and read it.

        Raises:
            BrokenGame: if it cannot be read as a game.
            OSError: if it cannot be opened.
        """
        self.path = folder / f"{key}{SUFFIX}"
        self._file = open(self.path, "r+b", buffering=0)  # noqa: SIM115
        try:
            self.read()
        except BaseException:
            self._file.close()
            raise

    @classmethod
    def create(cls, folder: Path, key: str, terms: Terms) -> "GameLog":
        """Begin the file of a new game.

        Raises:
            InvalidLayout: if the layout is not legal.
            OSError: if it cannot be written.
        """
        Game.start(terms)
        first = _line({"junqi": "game", "format": FORMAT, **terms.to_json()})
        path = folder / f"{key}{SUFFIX}"
        part = folder / f".{key}.part"
        try:
            with open(part, "xb") as file:
                file.write(first)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        return cls(folder, key)

    def read(self) -> None:
        """Make the game anew from all events of the file.

        Raises:
            BrokenGame: if they are not those of a game.
        """
        self._file.seek(0)
        data = self._file.read()
        whole = data.rfind(b"\n") + 1
        self.size = whole
        self.game = _replayed(data[:whole], str(self.path))
        if whole != len(data):
            self._file.truncate(whole)

    @property
    def is_changed(self) -> bool:
        """Whether another process has written into the file since it was read."""
        return os.fstat(self._file.fileno()).st_size != self.size

    def append(self, event: dict[str, Any]) -> Game:
        """Let something happen; it is on the disk when this returns the game after it.

        Raises:
            ChangedElsewhere: if another process has written into the file; nothing is written.
            JunqiError: if it cannot happen; nothing is written.
            OSError: if it cannot be written.
        """
        game = self.game.after(event)
        if self.is_changed:
            raise ChangedElsewhere(f"{self.path}: another program has gone on with this game")
        line = _line({**event, "at": round(time.time(), 3)})
        self._write(line)
        self.size += len(line)
        self.game = game
        return game

    def _write(self, line: bytes) -> None:
        """Add a line that is on the disk when this returns, or leave the file as it was."""
        try:
            self._file.seek(self.size)
            written = self._file.write(line)
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            os.fsync(self._file.fileno())
        except OSError:
            with suppress(OSError):
                self._file.truncate(self.size)
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_game(folder: Path, key: str) -> Game:
    """A game as it stands on the disk, without opening it to be gone on with.

    Raises:
        BrokenGame: if it cannot be read as a game.
        OSError: if it cannot be read.
    """
    path = folder / f"{key}{SUFFIX}"
    data = path.read_bytes()
    return _replayed(data[: data.rfind(b"\n") + 1], str(path))


def _line(data: dict[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode() + b"\n"


def _replayed(data: bytes, name: str) -> Game:
    """The game that the lines of a file make."""
    number = 1
    try:
        first, *lines = data.split(b"\n")[:-1]
        header = json.loads(first)
        if header["junqi"] != "game" or header["format"] != FORMAT:
            raise ValueError("another format")
        game = Game.start(Terms.from_json(header))
        for line in lines:
            number += 1
            game = game.after(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError, JunqiError) as error:
        raise BrokenGame(
            f"{name}, line {number}: expected an event of a game: {error or type(error).__name__}"
        ) from None
    return game
