"""The engine as a program: real processes, where options come from, the book it draws from."""

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from book_samples import A, make_book

from book.letters import canonical_letters
from book.store import Book
from junqi import __version__
from junqi.engine import Engine, EngineOptions
from junqi.layout import layout_problems
from junqi.program import Shelf, gather_options, main
from junqi.rules import Rules
from junqi.streams import NOTES_BYTES, Log

SAMPLE = "abccddeeffggghhhiiijjkklj"
GAME = b"INFO 1.0\nSTART 0 1800 31\nGO 0000 0 00\n"

# The program without its search, which takes long to compile and is no concern here.
PROGRAM = """
import sys
import junqi.program
junqi.program.make_warm = lambda *args: sys.exit("no search")
sys.exit(junqi.program.main())
"""


def run_engine(
    text: bytes, *args: str, code: str = PROGRAM, **env: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", code, *args],
        input=text,
        capture_output=True,
        timeout=30,
        check=False,
        env={**os.environ, "JUNQI_BOOK": "no", **env},
    )


def notes_of(ran: subprocess.CompletedProcess[bytes]) -> list[str]:
    """What the engine wrote to stderr, but for the missing search."""
    return [line for line in ran.stderr.decode().splitlines() if "there is no search" not in line]


# Processes


def test_a_process_answers_and_ends_with_its_input() -> None:
    ran = run_engine(b"INFORMATION 1.0\r\n\r\nSTART 0 1800 31\r\nGO 0000 0 00\r\n", JUNQI_SEED="1")
    replies = ran.stdout.decode().split("\n")
    assert [reply.split(" ")[0] for reply in replies] == ["NAME", "ARRAY", "BESTMOVE", ""]
    assert ran.returncode == 0
    assert notes_of(ran) == []
    again = run_engine(GAME.rstrip(), JUNQI_SEED="1")
    assert again.stdout == ran.stdout


def test_a_first_line_that_is_not_info_is_answered_too() -> None:
    ran = run_engine(b"START 1 1800 31\nGO F0E1 3 00\nINFO 1.0\n", JUNQI_SEED="1")
    assert [reply.split(b" ")[0] for reply in ran.stdout.splitlines()] == [
        b"ARRAY",
        b"BESTMOVE",
        b"NAME",
    ]


def test_a_greeting_sent_twice_is_answered_once() -> None:
    ran = run_engine(b"INFO 1.0\nINFO 1.0\n")
    assert ran.stdout == b"NAME Junqi\n"
    assert notes_of(ran) == ["junqi-engine: ignored, sent twice: 'INFO 1.0'"]


def test_no_input_is_no_error() -> None:
    ran = run_engine(b"")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_replies_come_one_by_one() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "JUNQI_BOOK": "no"},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for question, answer in (
            (b"INFO 1.0\n", b"NAME Junqi\n"),
            (b"START 0 1800 31\n", b"ARRAY "),
            (b"GO 0000 0 00\n", b"BESTMOVE "),
        ):
            process.stdin.write(question)
            process.stdin.flush()
            assert process.stdout.readline().startswith(answer)
        process.stdin.close()
        assert process.wait(timeout=10) == 0


def test_the_name_is_told_before_anything_heavy_is_imported() -> None:
    heavy = """
import sys
import junqi.program
class Replies:
    def write(self, data):
        loaded = {"numpy", "numba", "sqlite3", "typer"} & set(sys.modules)
        sys.__stdout__.write(f"{data.decode().strip()} {sorted(loaded)}\\n")
    def flush(self):
        sys.__stdout__.flush()
        raise BrokenPipeError
junqi.program.take_stdout = Replies
sys.exit(junqi.program.main())
"""
    assert run_engine(b"INFO 1.0\n", code=heavy).stdout == b"NAME Junqi []\n"


def test_nothing_but_replies_is_written_to_stdout() -> None:
    noisy = f"""
import os, sys
from junqi import loop

def handle(self, line, old=loop.Session.handle):
    print("noise")
    sys.stdout.flush()
    os.write(1, b"deeper noise\\n")
    os.system("echo noise of another program")
    return old(self, line)

loop.Session.handle = handle
{PROGRAM}
"""
    ran = run_engine(b"INFO 1.0\n", code=noisy)
    assert ran.stdout == b"NAME Junqi\n"
    assert ran.stderr.count(b"noise") == 3


def test_notes_go_to_stderr_but_not_without_end() -> None:
    ran = run_engine(b"HELLO\n" + b"".join(b"X%d\n" % n for n in range(NOTES_BYTES)))
    assert ran.stdout == b""
    lines = ran.stderr.decode().splitlines()
    assert len(lines) > 20
    assert all(line.startswith("junqi-engine: ") for line in lines)
    assert NOTES_BYTES - 200 < len(ran.stderr) <= NOTES_BYTES


def test_a_platform_that_never_reads_the_notes_gets_its_replies() -> None:
    # A long line of nonsense was once quoted whole, which filled the pipe and stopped the engine.
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "JUNQI_BOOK": "no"},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stuck = threading.Timer(20, process.kill)
        stuck.start()
        for number in range(300):
            process.stdin.write(b"X%d " % number + 1000 * "军".encode() + b"\n")
        process.stdin.write(GAME)
        process.stdin.close()
        words = [line.split(b" ")[0] for line in process.stdout]
        stuck.cancel()
    assert words == [b"NAME", b"ARRAY", b"BESTMOVE"]


@pytest.mark.skipif(os.name == "nt", reason="file descriptors are not closed so on Windows")
def test_a_closed_stderr_does_no_harm() -> None:
    # The notes once went to the replies, whose descriptor had become that of stderr.
    closed = f"import os; os.close(2)\n{PROGRAM}"
    assert run_engine(b"HELLO\nINFO 1.0\n", code=closed).stdout == b"NAME Junqi\n"


@pytest.mark.skipif(os.name == "nt", reason="file descriptors are not closed so on Windows")
@pytest.mark.parametrize(("stream", "code"), [("<&-", 0), (">&-", 1)])
def test_without_a_partner_the_engine_ends_with_a_word(stream: str, code: int) -> None:
    ran = subprocess.run(
        ["sh", "-c", f'"$0" -m junqi.program {stream}', sys.executable],
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert ran.returncode == code
    assert len(ran.stderr.splitlines()) == 1
    assert ran.stderr.startswith(b"junqi-engine: standard ")


@pytest.mark.skipif(os.name == "nt", reason="a process cannot be stopped so on Windows")
def test_a_process_that_is_stopped_for_a_while_counts_the_time() -> None:
    import signal

    code = PROGRAM.replace(
        "sys.exit(junqi.program.main())",
        """
import junqi.loop
def serve(session, lines, *args, old=junqi.loop.serve):
    code = old(session, lines, *args)
    print(f"used {session.used:.2f}", file=sys.stderr)
    return code
junqi.loop.serve = serve
sys.exit(junqi.program.main())
""",
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "JUNQI_BOOK": "no"},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"START 0 1800 31\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        process.stdin.write(b"GO 0000 0 00\n")
        process.stdin.flush()
        time.sleep(1.0)
        process.send_signal(signal.SIGCONT)
        assert process.stdout.readline().startswith(b"BESTMOVE")
        _, err = process.communicate()
    used = float(err.decode().rsplit("used ", 1)[1])
    assert used > 0.7


def test_without_memory_for_threads_the_game_goes_on() -> None:
    # The engine once ended when it could not begin to open the book in the background.
    starved = f"""
import threading
def start(self):
    raise RuntimeError("can't start new thread")
threading.Thread.start = start
{PROGRAM}
"""
    ran = run_engine(GAME + b"RESULT 2 00\nGO F2E3 3 00\n", code=starved, JUNQI_BOOK="")
    words = [line.split(b" ")[0] for line in ran.stdout.splitlines()]
    assert words == [b"NAME", b"ARRAY", b"BESTMOVE", b"BESTMOVE"]
    assert b"there is no search" in ran.stderr
    assert ran.returncode == 0


def test_unknown_arguments_are_noted_and_harmless() -> None:
    ran = run_engine(b"INFO 1.0\n", "--foo")
    assert ran.stdout == b"NAME Junqi\n"
    assert b"ignored arguments: --foo" in ran.stderr


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"junqi-engine {__version__}\n"
    assert main(["--help"]) == 0
    assert "Usage: junqi-engine" in capsys.readouterr().out


# Options


def test_a_layout_and_a_name_of_the_environment_are_used() -> None:
    ran = run_engine(GAME, JUNQI_LAYOUT=SAMPLE, JUNQI_NAME="军棋 甲队", JUNQI_ENCODING="gbk")
    name, array, _ = ran.stdout.splitlines()
    assert name.decode("gbk") == "NAME 军棋 甲队"
    assert array == f"ARRAY {SAMPLE}".encode()


def test_options_that_cannot_be_are_noted_and_left_out() -> None:
    ran = run_engine(GAME, JUNQI_SEED="x", JUNQI_LAYOUT="abc", JUNQI_MOVETIME="-1")
    assert len(ran.stdout.splitlines()) == 3
    notes = "\n".join(notes_of(ran))
    assert "JUNQI_SEED: expected an integer of at least 0 for seed, got 'x'" in notes
    assert "JUNQI_LAYOUT: layout: not a legal layout: 'abc'" in notes
    assert "JUNQI_MOVETIME: expected a number of seconds above 0 for movetime, got '-1'" in notes


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "config"
    folder.mkdir()
    monkeypatch.setattr("platformdirs.user_config_path", lambda *_: folder)
    monkeypatch.setenv("JUNQI_BOOK", str(tmp_path / "books" / "book.db"))
    return folder


def gathered(**environment: str) -> tuple[EngineOptions, list[str]]:
    notes: list[str] = []
    return gather_options(environment, notes.append), notes


def test_the_environment_goes_over_the_file(config: Path) -> None:
    (config / "engine.toml").write_text('name = "File"\nthreads = 3\ntime-fraction = 0.5\n')
    options, notes = gathered(JUNQI_NAME="Environment")
    assert options == EngineOptions(name="Environment", threads=3, time_fraction=0.5)
    assert notes == []


def test_the_file_beside_the_book_goes_before_the_one_in_the_configuration_folder(
    config: Path, tmp_path: Path
) -> None:
    (config / "engine.toml").write_text('name = "Folder"\nthreads = 3\n')
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "engine.toml").write_text('name = "Book"\n')
    assert gathered()[0] == EngineOptions(name="Book")


def test_paths_of_a_file_are_taken_from_its_folder(config: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.db"
    (config / "engine.toml").write_text(f"log = 'game.log'\nbook = ['mine.db', '{elsewhere}']\n")
    books = (str(config / "mine.db"), str(elsewhere))
    assert gathered()[0] == EngineOptions(log=str(config / "game.log"), book=books)
    (config / "engine.toml").write_text("book = false\n")
    assert gathered()[0] == EngineOptions(use_book=False)


def test_a_file_with_mistakes_is_noted_and_the_rest_of_it_used(config: Path) -> None:
    file = config / "engine.toml"
    file.write_text('thread = 3\nseed = 5\nbook = ["a.db", "b.db"]\nmovetime = "x"\n')
    options, notes = gathered()
    books = (str(config / "a.db"), str(config / "b.db"))
    assert options == EngineOptions(seed=5, book=books)
    assert [note.split(": ", 1)[0] for note in notes] == [str(file), str(file)]
    file.write_bytes(b"\xff\xfe = [")
    options, notes = gathered()
    assert options == EngineOptions()
    assert "cannot be read" in notes[0]


# The book


def test_layouts_are_drawn_from_the_mixture_by_weight_and_mirrored(tmp_path: Path) -> None:
    path = make_book(tmp_path / "book.db")
    shelf = Shelf((str(path),), lambda text: None)
    drawn = Counter(shelf.draw(seed, seed % 2 == 0) for seed in range(400))
    by_entry: Counter[str] = Counter()
    for layout, count in drawn.items():
        assert layout_problems(layout) == []
        by_entry[canonical_letters(layout)] += count
    assert 260 < by_entry[A] < 340
    assert len(drawn) == 4
    assert shelf.draw(7, True) == Shelf((str(path),), print).draw(7, True)


def start(*books: Path | str, **env: str) -> tuple[str, list[str]]:
    """The layout of a process with these books, and its notes."""
    ran = run_engine(GAME, JUNQI_BOOK=os.pathsep.join(map(str, books)), **env)
    _, array, move = ran.stdout.decode().splitlines()
    assert move.startswith("BESTMOVE ")
    return array.removeprefix("ARRAY "), notes_of(ran)


def test_a_layout_comes_from_the_book_by_the_seed(tmp_path: Path) -> None:
    path = make_book(tmp_path / "book.db")
    with Book.open(path, read_only=True) as book:
        entries = {layout.layout for layout in book.mixture()}
    first, again = (start(path, JUNQI_SEED="1")[0] for _ in range(2))
    assert first == again
    assert canonical_letters(first) in entries


def test_other_seeds_draw_other_layouts_and_no_seed_is_not_a_seed(tmp_path: Path) -> None:
    shelf = Shelf((str(make_book(tmp_path / "book.db")),), print)

    def draws(seed: int | None) -> list[str]:
        engine = Engine(EngineOptions(seed=seed), layouts=shelf.draw, load=None)
        return [engine.layout(True, Rules()) for _ in range(30)]

    assert draws(1) == draws(1)
    assert len({tuple(draws(seed)) for seed in (1, 2, None, None)}) == 4


def damage_nothing(path: Path) -> None:
    path.unlink()


def damage_all(path: Path) -> None:
    path.write_bytes(b"nonsense" * 1000)


def damage_part(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))


@pytest.mark.parametrize("damage", [damage_nothing, damage_all, damage_part])
def test_a_book_that_cannot_be_read_does_not_cost_the_game(damage: Any, tmp_path: Path) -> None:
    path = make_book(tmp_path / "book.db")
    damage(path)
    layout, notes = start(path)
    assert layout_problems(layout) == []
    assert any(str(path) in note for note in notes)


def test_a_broken_book_does_not_hide_the_next(tmp_path: Path) -> None:
    broken, sound = tmp_path / "broken.db", make_book(tmp_path / "sound.db")
    broken.write_bytes(b"nonsense" * 1000)
    with Book.open(sound, read_only=True) as book:
        entries = {layout.layout for layout in book.mixture()}
    assert canonical_letters(start(broken, sound)[0]) in entries


def test_a_book_on_a_read_only_medium_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "medium"
    folder.mkdir()
    with Book.open(make_book(tmp_path / "book.db")) as book:
        book.backup(folder / "book.db")
        entries = {layout.layout for layout in book.mixture()}
    (folder / "book.db").chmod(0o444)
    folder.chmod(0o555)
    try:
        assert canonical_letters(start(folder / "book.db")[0]) in entries
    finally:
        folder.chmod(0o755)


def test_a_locked_book_is_not_waited_for(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "book.db"
    with Book.open(make_book(tmp_path / "first.db")) as book:
        book.backup(path)  # not in WAL mode: its readers do wait for a writer
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    layout, notes = start(path)
    connection.close()
    assert layout_problems(layout) == []
    assert any("no layout from the book" in note for note in notes)


# The log


def test_the_log_holds_lines_decisions_and_notes(tmp_path: Path) -> None:
    log = tmp_path / "game.log"
    run_engine(GAME + b"HELLO\n", JUNQI_LOG=str(log))
    texts = [line.split(" ", 1)[1] for line in log.read_text(encoding="utf-8").splitlines()]
    texts = [text for text in texts if "there is no search" not in text]
    assert texts[:3] == ["< INFO 1.0", "> NAME Junqi", "< START 0 1800 31"]
    assert texts[4] == "< GO 0000 0 00"
    assert " by thumb in " in texts[5]
    assert texts[6].startswith("> BESTMOVE ")
    assert texts[8].startswith("# ignored: expected INFO")


def test_a_log_that_cannot_be_written_is_noted_and_forgotten(tmp_path: Path) -> None:
    ran = run_engine(GAME, JUNQI_LOG=str(tmp_path / "nowhere" / "game.log"))
    assert len(ran.stdout.splitlines()) == 3
    assert len([note for note in notes_of(ran) if "the log cannot be written" in note]) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_log_that_breaks_off_is_noted_once() -> None:
    notes: list[str] = []
    log = Log("/dev/full", notes.append)
    for number in range(5):
        log(str(number))
    assert len(notes) == 1
