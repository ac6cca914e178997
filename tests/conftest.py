"""What the tests share: running a command as a user would, and positions drawn in a line."""

import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import settings

from junqi.board import parse_point
from junqi.cli import run
from junqi.pieces import BLACK, PIECE_OF_LETTER, RED, Side
from junqi.rules import Position

# Other work on the machine must not fail a test.
settings.register_profile("junqi", deadline=None)
settings.load_profile("junqi")


@pytest.fixture(scope="session", autouse=True)
def nobodys_book(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the tests away from the book of whoever runs them; a test that needs one makes it."""
    os.environ["JUNQI_BOOK"] = str(tmp_path_factory.mktemp("book") / "there-is-none.db")


@dataclass
class Ran:
    """What came of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run ``junqi`` in this process; `stdin` is what is piped into it."""

    def call(*args: object, stdin: str | bytes = b"") -> Ran:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), "utf-8"))
        capsys.readouterr()
        code = run([str(arg) for arg in args])
        return Ran(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def at() -> Callable[..., Position]:
    """Make a position like ``aG0 BF0``: small letters are red's pieces, capitals black's."""

    def make(text: str, to_move: Side = RED, quiet_plies: int = 0) -> Position:
        placed: dict[Side, dict[int, int]] = {RED: {}, BLACK: {}}
        for word in text.split():
            side = RED if word[0].islower() else BLACK
            placed[side][parse_point(word[1:])] = PIECE_OF_LETTER[word[0].lower()]
        return Position.from_pieces(placed, to_move, quiet_plies)

    return make
