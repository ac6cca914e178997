"""``junqi layout evolve`` in bad company: killed, interrupted, without a book to write to.

Whatever happens, nothing is lost: ``--resume`` ends with the book of a run that was left alone.
"""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

LAYOUT = "cigdcegkefkfaibgidjhhhjlj"
WINDOWS = sys.platform == "win32"
SETTINGS = """
rounds = 5
seed = 7
population = 12
generations = 2
games = 16
pair_games = 16
support_games = 16
test_games = 64
finals = "search:1x2"
finalists = 6
finalist_games = 64
evidence_games = 40
"""
# Longer than any of these runs takes on a busy machine.
PATIENCE = 120


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    """The folder of a run that was left alone."""
    folder = tmp_path_factory.mktemp("alone")
    prepare(folder)
    assert finish(start(folder)) == 0
    return folder


def prepare(folder: Path) -> None:
    from junqi.cli import run

    (folder / "search.toml").write_text(SETTINGS, encoding="utf-8")
    assert run(["book", "init", "--empty", "--book", str(folder / "mine.db")]) == 0


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    options = ["--book", str(folder / "mine.db"), "--log-json", str(folder / "log.jsonl")]
    if "--resume" not in more:
        options += ["--settings", str(folder / "search.toml")]
    return subprocess.Popen(
        [sys.executable, "-m", "junqi", "layout", "evolve", *options, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> int:
    _, told = process.communicate(timeout=PATIENCE)
    if process.returncode not in (0, 130, -signal.SIGKILL if not WINDOWS else 1):
        print(told)
    return process.returncode


def wait_for(folder: Path, event: str, times: int, process: subprocess.Popen[str]) -> None:
    """Until so many events of a kind are in the log; the process may end before."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        log = folder / "log.jsonl"
        text = log.read_text(encoding="utf-8") if log.exists() else ""
        if text.count(f'"event": "{event}"') >= times:
            return
        time.sleep(0.002)


def content(folder: Path) -> list[list[tuple[object, ...]]]:
    """All that a run leaves in a book, without names and dates."""
    with sqlite3.connect(folder / "mine.db") as db:
        queries = (
            "select layout, weight, role, origin from layouts order by layout",
            "select layout_id, judge, opponents, seed, wins, draws, losses from evidence"
            " order by 1, 4",
            "select l.layout, p.judge, p.wins, p.draws, p.losses, p.command from payoffs p"
            " join layouts l on l.id = p.layout_id order by 1, 3, 4, 5",
            "select seed, games, status from runs where key like 'evolve-%'",
        )
        return [list(db.execute(query)) for query in queries]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("event", "times"),
    [("generation", 1), ("round", 3), ("finals", 2)],
    ids=["in the first round", "between rounds", "in the finals"],
)
def test_a_killed_run_is_resumed_to_the_same_book(alone, tmp_path, event, times) -> None:
    prepare(tmp_path)
    process = start(tmp_path)
    wait_for(tmp_path, event, times, process)
    time.sleep(random.random() / 50)  # at any moment
    process.kill()
    assert finish(process) != 0, "killed too late to try anything"
    assert content(tmp_path)[3] == []
    assert finish(start(tmp_path, "--resume")) == 0
    assert content(tmp_path) == content(alone)
    assert not (tmp_path / "mine.db.evolve.json").exists()


@pytest.mark.slow
@pytest.mark.skipif(WINDOWS, reason="no such signal")
def test_a_run_that_is_interrupted_again_and_again_ends_with_the_same_book(alone, tmp_path) -> None:
    prepare(tmp_path)
    process = start(tmp_path)
    for event, times in (("round", 2), ("finals", 1)):
        wait_for(tmp_path, event, times, process)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        assert "--resume goes on" in told
        assert "Traceback" not in told
        process = start(tmp_path, "--resume")
    assert finish(process) == 0
    assert content(tmp_path) == content(alone)


@pytest.mark.slow
def test_a_run_killed_after_its_book_was_written_changes_nothing_more(cli, alone, tmp_path) -> None:
    # The checkpoint is removed last, so it may outlive a run that is all in the book.
    from layout_search.run import load

    prepare(tmp_path)
    process = start(tmp_path)
    checkpoint = tmp_path / "mine.db.evolve.json"
    wait_for(tmp_path, "finals", 1, process)
    kept = checkpoint.read_text(encoding="utf-8")
    assert len(load(checkpoint).rounds) == 4  # of five; the last comes after the finals
    assert finish(process) == 0
    checkpoint.write_text(kept, encoding="utf-8")
    assert cli("layout", "evolve", "--resume", "--book", tmp_path / "mine.db").code == 0
    assert content(tmp_path) == content(alone)


@pytest.fixture
def stopped(tmp_path) -> Path:
    """The checkpoint of a run that was stopped after a round."""
    from junqi.layout import parse_layouts
    from layout_search.evolve import search
    from layout_search.run import start as start_run
    from layout_search.settings import read_settings

    prepare(tmp_path)
    run = start_run(
        read_settings(tmp_path / "search.toml", rounds=1),
        parse_layouts([LAYOUT]),
        "evolve-x",
    )
    path = tmp_path / "mine.db.evolve.json"
    search(run, checkpoint=path)
    return path


def evolve_with(cli, checkpoint: Path, *more: object):
    return cli("layout", "evolve", *more, "--book", checkpoint.with_name("mine.db"))


def test_a_stopped_run_is_not_forgotten_by_mistake(cli, stopped) -> None:
    kept = stopped.read_text(encoding="utf-8")
    ran = evolve_with(cli, stopped, "--seed", 1, "--rounds", 1)
    assert ran.code == 1
    assert "--resume goes on with it, --restart begins anew" in ran.err
    assert stopped.read_text(encoding="utf-8") == kept
    settings = stopped.with_name("search.toml")
    ran = evolve_with(cli, stopped, "--settings", settings, "--rounds", 1, "--restart")
    assert ran.code == 0, ran.err


def test_a_resumed_run_keeps_its_settings_but_may_be_longer(cli, stopped) -> None:
    ran = evolve_with(cli, stopped, "--resume", "--greed", 0.9)
    assert ran.code == 2
    assert "expected greed 0.4 as the stopped run has it, got 0.9" in ran.err
    ran = evolve_with(cli, stopped, "--resume", "--rounds", 2, "--json")
    assert ran.code == 0, ran.err
    assert len(json.loads(ran.out)["rounds"]) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[: len(text) // 2], "expected a checkpoint"),
        (lambda text: "", "expected a checkpoint"),
        (lambda text: "[]", "expected a checkpoint"),
        (lambda text: text.replace('"version": "', '"version": "9'), "made by version 9"),
        (lambda text: text.replace('"points"', '"pionts"'), "got one without 'points'"),
        (lambda text: text.replace('"greed"', '"gread"'), "unexpected keyword argument 'gread'"),
    ],
    ids=["torn", "empty", "no checkpoint", "other version", "lacking", "other settings"],
)
def test_a_checkpoint_that_cannot_be_read_is_told_and_kept(cli, stopped, change, said) -> None:
    changed = change(stopped.read_text(encoding="utf-8"))
    stopped.write_text(changed, encoding="utf-8")
    for more in (("--resume",), ("--seed", 1, "--rounds", 1)):
        ran = evolve_with(cli, stopped, *more)
        assert ran.code == 1
        assert ran.err.count("\n") == 1
        assert "a bug" not in ran.err
        assert stopped.read_text(encoding="utf-8") == changed
    assert said in evolve_with(cli, stopped, "--resume").err


def test_a_locked_book_is_told_before_the_search(cli, tmp_path) -> None:
    prepare(tmp_path)
    path = tmp_path / "mine.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        ran = cli("layout", "evolve", "--seed", 1, "--rounds", 1, "--book", path)
    finally:
        writer.execute("ROLLBACK")
        writer.close()
    assert (ran.code, ran.out) == (1, "")
    assert "is locked" in ran.err
    assert not (tmp_path / "mine.db.evolve.json").exists()


def test_a_book_that_is_locked_in_the_end_costs_no_rounds(cli, stopped, monkeypatch) -> None:
    from junqi.cli import evolve

    path = stopped.with_name("mine.db")
    writer = sqlite3.connect(path, isolation_level=None)
    play = evolve.play_evidence

    def play_and_lock(*args: object) -> object:
        writer.execute("BEGIN IMMEDIATE")
        return play(*args)

    with monkeypatch.context() as patch:
        patch.setattr(evolve, "play_evidence", play_and_lock)
        ran = evolve_with(cli, stopped, "--resume")
    writer.execute("ROLLBACK")
    writer.close()
    assert ran.code == 1
    assert "is locked" in ran.err
    assert "--resume goes on" in ran.err
    assert evolve_with(cli, stopped, "--resume").code == 0


# First something is rated, since what is imported later may be out of nobody's reach.
AS_NOBODY = """
import contextlib, io, os, sys
import layout_search.report
from junqi.cli import run
with contextlib.redirect_stdout(io.StringIO()):
    assert run(["layout", "rate", sys.argv[-1], "--games", "2", "--seed", "1"]) == 0
if os.geteuid() == 0:  # who may write everywhere
    os.setuid(65534)
sys.exit(run(sys.argv[1:-1]))
"""


@pytest.mark.skipif(WINDOWS, reason="folders have no such permissions")
def test_a_book_that_may_not_be_written_to_is_told_before_the_search() -> None:
    folder = Path("/tmp") / f"junqi-test-{os.getpid()}-{os.urandom(4).hex()}"
    folder.mkdir()
    try:
        prepare(folder)
        (folder / "mine.db").chmod(0o444)
        folder.chmod(0o555)
        options = ["--seed", "1", "--rounds", "1", "--book", str(folder / "mine.db")]
        ran = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, "layout", "evolve", *options, LAYOUT],
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=os.environ | {"JUNQI_BOOK": str(folder / "mine.db")},
        )
        assert (ran.returncode, ran.stdout) == (1, "")
        assert "read-only" in ran.stderr or "cannot be opened" in ran.stderr
        assert ran.stderr.count("\n") == 1
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_an_illegal_layout_among_the_opponents_is_named_with_its_line(cli, tmp_path) -> None:
    prepare(tmp_path)
    rivals = tmp_path / "rivals.txt"
    rivals.write_text(f"{LAYOUT}\n{25 * 'a'}\n", encoding="utf-8")
    options = ("--opponents", f"{rivals},random", "--seed", 1, "--book", tmp_path / "mine.db")
    ran = cli("layout", "evolve", *options)
    assert ran.code == 1
    assert f"{rivals}:2" in ran.err
    assert "expected 1" in ran.err


def test_files_of_layouts_can_be_opponents(cli, tmp_path) -> None:
    prepare(tmp_path)
    rivals = tmp_path / "rivals.txt"
    rivals.write_text(f"{LAYOUT}\n", encoding="utf-8")
    options = ("--settings", tmp_path / "search.toml", "--rounds", 1, "--finals", "none")
    ran = cli("layout", "evolve", *options, "--opponents", rivals, "--book", tmp_path / "mine.db")
    assert ran.code == 0, ran.err
    assert "agreement" not in ran.err
