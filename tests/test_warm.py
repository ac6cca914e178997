"""The search is made ready: on a warm machine, on a cold one, and where nothing can be kept."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from book_samples import make_book

from junqi import warm
from junqi.kernels import jit
from junqi.program import make_warm

Cli = Callable[..., Any]

GAME = b"INFO 1.0\nSTART 0 20 31\nGO 0000 0 00\n"
REPLIES = [b"NAME", b"ARRAY", b"BESTMOVE"]


class Stage:
    """Stands in for the compiler, and notes what is asked of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, is_warm: bool, failure: Exception | None):
        self.done: list[str] = []
        self.notes: list[str] = []
        self.failure = failure
        monkeypatch.setattr(warm, "is_warm", lambda: is_warm)
        monkeypatch.setattr(warm, "warm_up", lambda: self.done.append("here"))
        monkeypatch.setattr(warm, "warm_up_elsewhere", self.elsewhere)
        make_warm(self.notes.append, lambda process: None)

    def elsewhere(self, started: object) -> None:
        self.done.append("elsewhere")
        if self.failure is not None:
            raise self.failure


def test_a_warm_cache_is_loaded_and_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(monkeypatch, is_warm=True, failure=None)
    assert (stage.done, stage.notes) == (["here"], [])


def test_a_cold_cache_is_filled_by_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(monkeypatch, is_warm=False, failure=None)
    assert stage.done == ["elsewhere", "here"]
    assert len(stage.notes) == 1


@pytest.mark.parametrize("failure", [OSError("no more processes"), RuntimeError("ended with -9")])
def test_where_another_process_cannot_compile_this_one_does(
    monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    stage = Stage(monkeypatch, is_warm=False, failure=failure)
    assert stage.done == ["elsewhere", "here"]
    assert stage.notes[1] == f"compiling here: {failure}"


def test_where_nothing_can_be_kept_nobody_else_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    # Another process once compiled everything in vain before this one began.
    monkeypatch.setattr(jit, "IS_CACHED", False)
    stage = Stage(monkeypatch, is_warm=False, failure=None)
    assert stage.done == ["here"]
    assert "cannot be written" in stage.notes[0]


def test_a_mark_that_cannot_be_written_does_not_cost_the_search(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # With a cache that another user has filled the engine once had no search at all.
    (tmp_path / "file").touch()
    monkeypatch.setattr(warm, "_mark", lambda: tmp_path / "file" / "mark")
    monkeypatch.setattr(jit, "IS_CACHED", True)
    assert warm.warm_up() >= 0
    assert not warm.is_warm()


def test_warm_up_says_what_is_ready(cli: Cli, tmp_path: Path) -> None:
    path = make_book(tmp_path / "mine.db")
    ran = cli("engine", "--warm-up", "--book", str(path))
    kernels, book = ran.out.splitlines()
    assert kernels.startswith("kernels  ready in ")
    assert str(jit.cache_folder()) in kernels
    assert book.startswith(f"book     {path}, ")
    assert ran.code == 0


def test_warm_up_tells_of_a_book_that_cannot_be_read(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_bytes(b"nonsense")
    ran = cli("engine", "--warm-up", "--book", str(tmp_path / "bad.db"))
    assert ran.out.startswith("kernels  ready in ")
    assert "is not a book" in ran.err
    assert ran.code == 1


def test_warm_up_tells_where_nothing_can_be_kept(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "IS_CACHED", False)
    ran = cli("engine", "--warm-up", "--no-book")
    assert "cannot be written" in ran.err
    assert ran.code == 1


def play(code: str, **env: str) -> tuple[list[bytes], str]:
    """The first words of the engine's replies, and its notes."""
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import junqi.program, sys\n{code}\nsys.exit(junqi.program.main())",
        ],
        input=GAME,
        capture_output=True,
        timeout=60,
        check=True,
        env={**os.environ, "JUNQI_BOOK": "no", **env},
    )
    return [line.split(b" ")[0] for line in ran.stdout.splitlines()], ran.stderr.decode()


def test_on_a_cold_machine_the_first_replies_do_not_wait_for_the_compiler(tmp_path: Path) -> None:
    begin = time.monotonic()
    replies, notes = play("", NUMBA_CACHE_DIR=str(tmp_path), JUNQI_MOVETIME="0.1")
    assert replies == REPLIES
    assert "the kernels are being compiled" in notes
    # Compiling takes some 15 s of an idle machine.
    assert time.monotonic() - begin < 10


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked for in /proc")
def test_the_compiler_ends_with_the_engine(tmp_path: Path) -> None:
    play("", NUMBA_CACHE_DIR=str(tmp_path), JUNQI_MOVETIME="0.1")
    begin, left = time.monotonic(), True
    while left and time.monotonic() - begin < 5:
        left = any(str(tmp_path).encode() in environ for environ in environments())
    assert not left


def environments() -> list[bytes]:
    """Of all processes but this one."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int(folder.name) != os.getpid():
                found.append((folder / "environ").read_bytes())
        except OSError:  # gone, or not ours
            continue
    return found


def test_kernels_that_do_not_compile_do_not_cost_the_game() -> None:
    broken = """
import junqi.warm, numba
from junqi.kernels import think
junqi.warm.is_warm = lambda: True
think.lay_out = numba.njit(lambda *args: unknown(args))
"""
    replies, notes = play(broken, JUNQI_MOVETIME="0.1")
    assert replies == REPLIES
    assert "there is no search: TypingError" in notes
