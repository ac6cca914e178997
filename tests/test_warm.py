"""The search is made ready: on a warm machine, on a cold one, and where nothing can be kept."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from book_samples import make_book

from junqi import warm
from junqi.kernels import jit
from junqi.program import make_warm

Cli = Callable[..., Any]

GAME = b"INFO 1.0\nSTART 0 1800 31\nGO 0000 0 00\n"
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
        make_warm(self.notes.append)

    def elsewhere(self) -> None:
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


def play(code: str, until: str, **env: str) -> tuple[list[bytes], str]:
    """The first words of the engine's replies, and its notes up to one that is waited for."""
    program = f"import junqi.program, sys\n{code}\nsys.exit(junqi.program.main())"
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "JUNQI_BOOK": "no", **env},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        stuck = threading.Timer(120, process.kill)
        stuck.start()
        process.stdin.write(GAME)
        process.stdin.flush()
        replies = [process.stdout.readline().split(b" ")[0] for _ in REPLIES]
        notes = ""
        while until not in notes and (line := process.stderr.readline()):
            notes += line.decode()
        process.stdin.close()
        stuck.cancel()
    return replies, notes


def test_on_a_cold_machine_the_first_replies_do_not_wait_for_the_compiler(tmp_path: Path) -> None:
    note = "the kernels are being compiled"
    replies, notes = play("", note, NUMBA_CACHE_DIR=str(tmp_path), JUNQI_MOVETIME="0.1")
    assert replies == REPLIES
    assert note in notes
    # Machine code is written function by function; the search needs some thirty of them.
    assert len(list(tmp_path.rglob("*.nbc"))) < 10


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked for in /proc")
def test_the_compiler_ends_with_the_engine(tmp_path: Path) -> None:
    # It once went on for a minute where the engine ended before it knew of it, or was killed.
    play("", "being compiled", NUMBA_CACHE_DIR=str(tmp_path), JUNQI_MOVETIME="0.1")
    begin, left = time.monotonic(), True
    while left and time.monotonic() - begin < 10:
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
    # The first move waits for the search, and no longer once that has failed.
    note = "there is no search: TypingError"
    replies, notes = play(broken, note, JUNQI_MOVETIME="60")
    assert replies == REPLIES
    assert note in notes


class StartUp(NamedTuple):
    """Processor seconds until the first two replies, and the most memory in use after a thought.

    Seconds of the clock would tell how busy the machine is.
    """

    name: float
    array: float
    megabytes: float


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_a_warm_engine_starts_quickly_and_stays_small(tmp_path: Path) -> None:
    warm.warm_up()
    starts = [start_up(tmp_path / f"{number}.log") for number in range(3)]
    assert min(start.name for start in starts) < 0.3
    assert min(start.array for start in starts) < 1.0
    assert max(start.megabytes for start in starts) < 500
    assert "by search" in (tmp_path / "0.log").read_text("utf-8")


def start_up(log: Path) -> StartUp:
    with subprocess.Popen(
        [sys.executable, "-m", "junqi.program"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "JUNQI_BOOK": "no", "JUNQI_EFFORT": "64", "JUNQI_LOG": str(log)},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        folder = Path(f"/proc/{process.pid}")
        seconds = []
        for question in GAME.splitlines(keepends=True):
            process.stdin.write(question)
            process.stdin.flush()
            assert process.stdout.readline()
            ticks = (folder / "stat").read_text().rsplit(")", 1)[1].split()[11:13]
            seconds.append(sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"))
        status = (folder / "status").read_text()
        process.stdin.close()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return StartUp(seconds[0], seconds[1], int(peak.split()[1]) / 1024)


# Prints what is compiled or loaded only after the search was made, in two games.
_COMPILED_LATE = """
import importlib, pkgutil
import junqi.kernels as kernels
from junqi.layout import random_layouts
from junqi.rules import Rules
from junqi.simulate import parse_judge
from junqi.thinker import Thinker
from junqi.games import play_thought_game

modules = [importlib.import_module(f"junqi.kernels.{m.name}")
           for m in pkgutil.iter_modules(kernels.__path__)]

def signatures():
    return {(function.py_func.__module__, function.py_func.__name__, str(signature))
            for module in modules for function in vars(module).values()
            if hasattr(function, "signatures") for signature in function.signatures}

Thinker(1, 0, effort=1)
before = signatures()
assert before
for seed in range(2):
    judges = (parse_judge("think:2"),) * 2
    play_thought_game(judges, Rules(), *random_layouts(2, seed), seed)
print(sorted(signatures() - before))
"""


def test_nothing_is_compiled_while_a_clock_runs() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _COMPILED_LATE],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (ran.stdout.strip(), ran.stderr) == ("[]", "")
