"""``junqi book evaluate``: scores that anybody can get again."""

import csv
import io
import json
import re
import shlex
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from book_samples import LETTERS, A, B, C, make_book

from book.rows import NewLayout
from book.store import Book
from junqi import __version__
from junqi.cli import book_evaluate

Cli = Callable[..., Any]

NUMBERS = ("games", "wins", "draws", "losses", "score", "error", "seed", "judge", "command")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sample book, which is also the one that commands take without --book."""
    path = make_book(tmp_path / "sample.db")
    monkeypatch.setenv("JUNQI_BOOK", str(path))
    return path


def evidence(path: Path) -> list[Any]:
    """The scores that were not in the sample."""
    with Book.open(path, read_only=True) as book:
        return book.evidence()[2:]


def test_scores_are_printed_and_kept(cli: Cli, path: Path) -> None:
    ran = cli("book", "evaluate", "mixture", "--panel", "book:mine", "--games", 40, "--seed", 5)
    assert ran.code == 0
    head, *lines = ran.out.splitlines()
    assert head.split() == ["layout", "score", "games", "won", "drawn", "lost", "opponents"]
    assert [line.split()[0] for line in lines] == [A, B]
    assert ran.err == f"{path}: 1 run added, 2 scores added\n"
    first, second = evidence(path)
    assert (first.layout, second.layout) == (A, B)
    for row in (first, second):
        assert (row.games, row.seed, row.judge, row.kind) == (40, 5, "policy", "fresh")
        assert row.wins + row.draws + row.losses == 40
        assert row.version == __version__
        assert re.fullmatch(r"book:mine@[0-9a-f]{10}", row.opponents)
        assert row.run.startswith("evaluate-")
    assert cli("book", "check").code == 0


@pytest.mark.parametrize("panel", ["human", "book", "book:mine", "random:7", B, "file"])
def test_the_command_that_is_kept_gives_the_score_again_to_the_bit(
    cli: Cli, path: Path, tmp_path: Path, panel: str
) -> None:
    if panel == "file":
        (tmp_path / "my rivals.txt").write_text(f"{A}\n{C}\n")
        panel = str(tmp_path / "my rivals.txt")
    args = ["book", "evaluate", "1", "2", "--panel", panel, "--games", 20, "--seed", 9]
    rows = json.loads(cli(*args, "--json").out)
    kept = evidence(path)
    # Whatever becomes of the book and the file.
    cli("book", "weight", "5", "2")
    cli("book", "untag", "mine", "1")
    for file in tmp_path.glob("*.txt"):
        file.unlink()
    for row, told in zip(kept, rows, strict=True):
        assert {name: getattr(row, name) for name in NUMBERS} == {n: told[n] for n in NUMBERS}
        program, *command = shlex.split(row.command)
        assert program == "junqi"
        ran = cli(*command, "--dry-run", "--json")
        assert ran.code == 0
        assert json.loads(ran.out) == [told]
        again = cli(*command)
        assert again.err == f"{path}: nothing changed\n"
    assert len(evidence(path)) == len(kept)


def test_a_score_does_not_depend_on_threads_or_company(cli: Cli, path: Path) -> None:
    args = ["--panel", "random:5", "--games", 30, "--seed", 2, "--dry-run", "--json"]
    together = json.loads(cli("book", "evaluate", "all", *args).out)
    alone = [
        json.loads(cli("book", "evaluate", letters, *args, "--threads", 1).out)[0]
        for letters in LETTERS
    ]
    assert alone == together


def test_a_dry_run_keeps_nothing(cli: Cli, path: Path) -> None:
    ran = cli("book", "evaluate", "1", "--panel", B, "--games", 10, "--seed", 1, "--dry-run")
    assert ran.code == 0
    assert ran.err == f"{path}: 1 run added, 1 score added (dry run: nothing is written)\n"
    assert evidence(path) == []


def test_seeds_are_fresh_and_told(cli: Cli, path: Path) -> None:
    for _ in range(2):
        ran = cli("book", "evaluate", "1", "--panel", B, "--games", 10)
        assert re.match(r"seed \d+\n", ran.err)
    first, second = evidence(path)
    assert first.seed != second.seed


def test_any_judge_may_judge(cli: Cli, path: Path) -> None:
    for judge in ("random", "search:1x2"):
        args = ["--panel", B, "--games", 4, "--seed", 1, "--judge", judge]
        assert cli("book", "evaluate", "1", *args).code == 0
    assert [row.judge for row in evidence(path)] == ["random", "search:1x2"]


def test_csv_has_the_same_columns_as_json(cli: Cli, path: Path) -> None:
    args = ["book", "evaluate", "1", "2", "--panel", "book", "--games", 10, "--seed", 1]
    rows = json.loads(cli(*args, "--dry-run", "--json").out)
    table = list(csv.DictReader(io.StringIO(cli(*args, "--dry-run", "--csv").out)))
    assert [list(row) for row in table] == [list(row) for row in rows]
    assert [float(row["score"]) for row in table] == [row["score"] for row in rows]


def test_pairs_are_kept_as_payoffs(cli: Cli, path: Path) -> None:
    args = ["book", "evaluate", "all", "--each-other", "--games", 20, "--seed", 3]
    ran = cli(*args, "--json")
    assert ran.code == 0
    assert ran.err == f"{path}: 1 run added, 3 payoffs added\n"
    rows = json.loads(ran.out)
    assert [(row["layout"], row["opponents"]) for row in rows] == [(A, B), (A, C), (B, C)]
    with Book.open(path, read_only=True) as book:
        kept = [payoff for payoff in book.payoffs() if payoff.games == 20]
        assert len(kept) == 3
        for payoff, row in zip(sorted(kept, key=lambda p: (p.layout, p.opponent)), rows,
                               strict=True):  # fmt: skip
            assert (payoff.wins, payoff.command) == (row["wins"], row["command"])
    for row in rows:
        told = json.loads(cli(*shlex.split(row["command"])[1:], "--dry-run", "--json").out)
        assert told == [row]
    assert cli(*args).err == f"{path}: nothing changed\n"
    assert cli("book", "check").code == 0


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ("--games 3", 2, "expected an even number for --games, got 3"),
        ("--json --csv", 2, "expected --json or --csv, got both"),
        ("--each-other --panel human", 2, "expected --panel or --each-other, got both"),
        ("--each-other", 2, "expected two layouts for --each-other, got 1"),
        ("--seed 9223372036854775808", 2, "expected a seed of at most 9223372036854775807"),
        ("--judge god", 2, "expected random, policy, search:DxW"),
        ("--panel nobody", 1, "expected book, book:TAG, human, random:N, a file or 25 letters"),
        ("--panel book:nobody", 1, "has the tag 'nobody'"),
    ],
)
def test_wrong_usage_is_told_before_any_game(
    cli: Cli, path: Path, options: str, code: int, message: str
) -> None:
    ran = cli("book", "evaluate", "1", "--seed", "1", *options.split())
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
    assert evidence(path) == []


def test_scores_are_shown_even_if_they_cannot_be_kept(
    cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Hours of games must not be lost because somebody else is changing the book by then.
    writer = sqlite3.connect(path, isolation_level=None)
    play = book_evaluate.play_panel

    def play_and_lock(*args: Any) -> Any:
        writer.execute("BEGIN IMMEDIATE")
        return play(*args)

    monkeypatch.setattr(book_evaluate, "play_panel", play_and_lock)
    try:
        ran = cli("book", "evaluate", "1", "--panel", B, "--games", 4, "--seed", 1)
    finally:
        writer.execute("ROLLBACK")
        writer.close()
    assert ran.code == 1
    assert ran.out.splitlines()[1].startswith(A)
    assert "is locked" in ran.err


def test_a_book_that_cannot_be_changed_is_told_before_any_game(
    cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book_evaluate, "play_panel", lambda *_: pytest.fail("a game was played"))
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        ran = cli("book", "evaluate", "1", "--panel", B, "--games", 4, "--seed", 1)
    finally:
        writer.execute("ROLLBACK")
        writer.close()
    assert (ran.code, ran.out) == (1, "")
    assert "is locked" in ran.err


def test_the_run_is_kept_with_what_it_took(cli: Cli, path: Path) -> None:
    cli("book", "evaluate", "all", "--panel", "book", "--games", 10, "--seed", 1)
    with Book.open(path, read_only=True) as book:
        run = next(run for run in book.runs() if run.key.startswith("evaluate-"))
    assert run.command == "junqi book evaluate all --panel book --games 10 --seed 1"
    assert (run.seed, run.games, run.status, run.version) == (1, 30, "done", __version__)
    assert run.seconds is not None
    assert run.seconds > 0
    assert "Python" in run.machine
    assert run.settings["opponents"] == {A: 0.75, B: 0.25}
    assert run.settings["judge"] == "policy"


def test_a_layout_of_the_panel_may_be_scored_itself(cli: Cli, path: Path) -> None:
    with Book.open(path) as book:
        book.add_layouts([NewLayout(A, tags=("only",))])
    ran = cli("book", "evaluate", A, "--panel", "book:only", "--games", 400, "--seed", 1, "--json")
    (row,) = json.loads(ran.out)
    assert row["score"] == pytest.approx(0.5, abs=0.1)
