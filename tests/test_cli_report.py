"""``junqi layout report`` as a user runs it."""

import json
import sqlite3
from pathlib import Path

import pytest

from book.letters import canonical_letters
from book.store import Book

SMALL = """
rounds = 5
population = 12
generations = 2
games = 16
pair_games = 16
support_games = 16
test_games = 64
finals = "search:1x1"
finalists = 5
finalist_games = 8
evidence_games = 20
"""


@pytest.fixture(scope="module")
def evolved(tmp_path_factory) -> Path:
    """A book after a run; tests only read it."""
    from junqi.cli import run

    folder = tmp_path_factory.mktemp("report")
    path, settings = folder / "mine.db", folder / "search.toml"
    settings.write_text(SMALL, encoding="utf-8")
    assert run(["book", "init", "--book", str(path)]) == 0
    options = ["--settings", str(settings), "--seed", "1", "--book", str(path)]
    assert run(["layout", "evolve", *options]) == 0
    return path


def test_the_report_tells_all_of_it_in_words(cli, evolved) -> None:
    ran = cli("layout", "report", "--book", evolved)
    assert ran.code == 0, ran.err
    for heading in ("The mixture", "Progress", "Where each kind stands", "Who beats whom"):
        assert f"\n{heading}" in ran.out
    assert "Do policy and search:1x1 agree?" in ran.out
    with sqlite3.connect(evolved) as db:
        layouts = [row[0] for row in db.execute("select layout from layouts where weight > 0")]
    assert all(layout in ran.out for layout in layouts)
    marshal = ran.out.partition("marshal")[2].splitlines()[1:7]
    shares = [int(cell) for line in marshal for cell in line[:20].split() if cell.isdigit()]
    assert sum(shares) == pytest.approx(100, abs=10)


def test_the_page_beside_the_book_can_be_made_again(cli, evolved, tmp_path) -> None:
    page = tmp_path / "again.html"
    ran = cli("layout", "report", "--book", evolved, "--html", page)
    assert (ran.code, ran.out) == (0, "")
    assert str(page) in ran.err
    beside = evolved.with_name("mine.db.report.html")
    assert page.read_text(encoding="utf-8") == beside.read_text(encoding="utf-8")


def test_the_report_as_json_has_every_figure(cli, evolved) -> None:
    told = json.loads(cli("layout", "report", "--book", evolved, "--json").out)
    assert len(told["rounds"]) == 5
    assert told["seed"] == "1"
    assert {"panel", "payoffs"} == set(told["transfer"])
    size = len(told["finalists"])
    assert all(len(row) == size for row in told["payoff"])
    assert [judge["judge"] for judge in told["judges"]] == ["policy", "search:1x1"]


def test_an_attack_on_the_mixture_is_in_the_report(cli, evolved, tmp_path) -> None:
    path = tmp_path / "copy.db"
    with Book.open(evolved, read_only=True) as book:
        book.backup(path)
    ran = cli("layout", "attack", "--attempts", 1, "--seed", 3, "--book", path, "--json")
    counter = json.loads(ran.out)
    told = json.loads(cli("layout", "report", "--book", path, "--json").out)
    (attack,) = told["attacks"]
    assert attack["layout"] == canonical_letters(counter["counter"])
    assert attack["score"] == pytest.approx(counter["score"])
    assert "best counter of an attack by policy" in cli("layout", "report", "--book", path).out


def test_a_page_that_cannot_be_written_leaves_nothing(cli, evolved, tmp_path) -> None:
    ran = cli("layout", "report", "--book", evolved, "--html", tmp_path / "none" / "x.html")
    assert ran.code == 1
    assert "no such file or directory" in ran.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--run", "evolve-nothing"), 1, "no run 'evolve-nothing'"),
        (("--json", "--html", "x.html"), 2, "expected --json or --html, got both"),
        (("--book", "there-is-none.db"), 1, "no such book"),
    ],
)
def test_wrong_wishes_get_one_line(cli, evolved, arguments, code, said) -> None:
    book = () if "--book" in arguments else ("--book", evolved)
    ran = cli("layout", "report", *arguments, *book)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_a_book_without_a_run_says_how_to_get_one(cli, tmp_path) -> None:
    path = tmp_path / "new.db"
    cli("book", "init", "--empty", "--book", path)
    cli("book", "add", "abccddeeffggghhhiiijjkklj", "--weight", 1, "--book", path)
    ran = cli("layout", "report", "--book", path)
    assert ran.code == 1
    assert "no run to report on: junqi layout evolve makes one" in ran.err
    cli("book", "evaluate", "1", "--games", 2, "--seed", 1, "--book", path)
    with Book.open(path, read_only=True) as book:
        key = next(run.key for run in book.runs() if run.key.startswith("evaluate-"))
    ran = cli("layout", "report", "--run", key, "--book", path)
    assert ran.code == 1
    assert f"expected a run of junqi layout evolve, got '{key}'" in ran.err
