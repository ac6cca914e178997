"""``junqi layout evolve``, ``attack`` and ``rate`` as a user runs them."""

import json
import sqlite3

import pytest

LAYOUT = "cigdcegkefkfaibgidjhhhjlj"
OTHER = "abccddeeffggghhhiiijjkklj"
SMALL = """
population = 12
generations = 2
games = 16
pair_games = 16
support_games = 16
test_games = 64
finals = "search:1x1"
finalists = 3
finalist_games = 8
"""


@pytest.fixture
def book(tmp_path, cli):
    """A book of people's layouts, half of them its mixture, with nothing known about them yet."""
    path = tmp_path / "mine.db"
    assert cli("book", "init", "--book", path).code == 0
    assert cli("book", "remove", "tag:evolved", "tag:finalist", "--yes", "--book", path).code == 0
    assert cli("book", "weight", "1", "tag:team-a", "--book", path).code == 0
    return path


@pytest.fixture
def settings(tmp_path):
    path = tmp_path / "search.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def mixture(path) -> dict[str, float]:
    with sqlite3.connect(path) as db:
        return dict(db.execute("select layout, weight from layouts where weight > 0"))


def evolve(cli, book, settings, *more):
    options = ("--settings", settings, "--rounds", 2, "--seed", 1, "--book", book)
    return cli("layout", "evolve", *options, *more)


def test_evolve_puts_a_mixture_into_the_book_and_undo_takes_it_out(
    cli, book, settings, tmp_path
) -> None:
    before = mixture(book)
    log = tmp_path / "rounds.jsonl"
    ran = evolve(cli, book, settings, "--log-json", log)
    assert ran.code == 0, ran.err
    assert "round" not in ran.err, "quiet when nobody watches"
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [row["number"] for row in rows if row["event"] == "round"] == [1, 2]
    events = list(dict.fromkeys(row["event"] for row in rows))
    assert events == ["generation", "round", "finals", "evidence"]
    after = mixture(book)
    assert not set(after) & set(before)
    assert sum(after.values()) == pytest.approx(1, abs=0.001)
    assert all(layout in ran.out for layout in after)
    assert cli("book", "check", "--book", book).code == 0
    assert cli("book", "undo", "--book", book).code == 0
    assert mixture(book) == before


def test_a_seed_gives_the_same_book_for_any_number_of_threads(cli, book, settings) -> None:
    evolve(cli, book, settings, "--threads", 1)
    one = mixture(book)
    cli("book", "undo", "--book", book)
    evolve(cli, book, settings, "--threads", 2)
    assert mixture(book) == one


def test_evolve_prints_json_with_evidence_and_figures(cli, book, settings) -> None:
    ran = evolve(cli, book, settings, "--json")
    told = json.loads(ran.out)
    assert {row["layout"]: row["share"] for row in told["mixture"]} == mixture(book)
    whole = [row for row in told["evidence"] if row["layout"] is None]
    assert [row["opponents"].partition("@")[0] for row in whole] == ["human", "random:100"]
    assert all(row["interval"][0] < row["score"] < row["interval"][1] for row in whole)
    assert len(told["rounds"]) == 2


def test_evidence_is_fresh_and_comes_again_by_its_command(cli, book, settings) -> None:
    import shlex

    evolve(cli, book, settings)
    with sqlite3.connect(book) as db:
        rows = list(db.execute("select kind, judge, score, command from evidence order by id"))
        (payoffs,) = db.execute("select count(*) from payoffs where judge = 'search:1x1'")
    assert {row[:2] for row in rows} == {("fresh", "search:1x1")}
    assert payoffs[0] > 0
    *_, score, command = rows[0]
    again = cli(*shlex.split(command)[1:], "--book", book, "--dry-run", "--json")
    assert json.loads(again.out)[0]["score"] == score


def test_the_same_run_again_adds_no_games(cli, book, settings) -> None:
    def figures() -> list[int]:
        with sqlite3.connect(book) as db:
            tables = ("evidence", "payoffs", "layouts")
            return [db.execute(f"select count(*) from {t}").fetchone()[0] for t in tables]

    evolve(cli, book, settings)
    before = figures()
    assert evolve(cli, book, settings).code == 0
    assert figures() == before
    told = json.loads(cli("layout", "report", "--book", book, "--json").out)
    assert [row["layout"] for row in told["evidence"]][:2] == [None, None]


def test_a_dry_run_changes_nothing(cli, book, settings, tmp_path) -> None:
    before = mixture(book)
    assert evolve(cli, book, settings, "--dry-run").code == 0
    assert mixture(book) == before
    assert not list(tmp_path.glob("*.evolve.json"))
    assert not list(tmp_path.glob("*.html"))


def test_a_stopped_run_is_resumed_to_the_same_book(cli, book, settings, monkeypatch) -> None:
    from layout_search import evolve as loop

    evolve(cli, book, settings)
    whole = mixture(book)
    cli("book", "undo", "--book", book)

    def interrupted(*_args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loop, "hold_finals", interrupted)
        ran = evolve(cli, book, settings)
    assert ran.code == 130
    assert "stopped after 2 rounds: --resume goes on" in ran.err
    assert mixture(book) != whole
    ran = cli("layout", "evolve", "--resume", "--book", book)
    assert ran.code == 0, ran.err
    assert mixture(book) == whole


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--minutes", "0"), 2, "minutes above 0"),
        (("--opponents", "me"), 1, "a file or 25 letters, got 'me'"),
        (("--opponents", f"human,{'a' * 25}"), 1, "25 x marshal (a): expected 1"),
        (("--resume", "--restart"), 2, "expected --resume or --restart, got both"),
        (("--opponents", "book:nobody"), 1, "nobody"),
        (("--judge", "me"), 2, "expected random, policy, search"),
        (("--resume",), 1, "no checkpoint to resume from"),
        (("--settings", "none.toml"), 1, "no such file"),
        (("--greed", "2"), 2, "expected greed from 0 to 1"),
    ],
)
def test_wrong_wishes_get_one_line(cli, book, arguments, code, said) -> None:
    ran = cli("layout", "evolve", *arguments, "--book", book, "--seed", 1)
    assert ran.code == code
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_attack_keeps_its_certificate_in_the_book(cli, book) -> None:
    options = ("--attempts", 1, "--seed", 3, "--book", book, "--json")
    ran = cli("layout", "attack", *options)
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    with sqlite3.connect(book) as db:
        rows = list(db.execute("select games, wins, draws, kind, command from evidence"))
    ((games, wins, draws, kind, command),) = rows
    assert kind == "attack"
    assert (wins + draws / 2) / games == pytest.approx(told["score"])
    assert command == "junqi layout attack --attempts 1 --seed 3 --judge policy"
    assert cli("book", "check", "--book", book).code == 0


def test_attack_on_a_layout_leaves_the_book_alone(cli, book) -> None:
    ran = cli("layout", "attack", LAYOUT, "--attempts", 1, "--seed", 3, "--book", book)
    assert ran.code == 0, ran.err
    assert "fresh games by policy" in ran.out
    with sqlite3.connect(book) as db:
        assert db.execute("select count(*) from evidence").fetchone() == (0,)


def test_rate_scores_layouts_against_a_panel(cli, book) -> None:
    arguments = ("--panel", "random:20", "--games", 200, "--seed", 1, "--book", book, "--json")
    ran = cli("layout", "rate", LAYOUT, *arguments)
    assert ran.code == 0, ran.err
    (row,) = json.loads(ran.out)
    assert row["layout"] == LAYOUT
    assert row["games"] == 200
    assert 0.3 < row["score"] < 1
    csv = cli("layout", "rate", LAYOUT, *arguments[:-1], "--csv").out
    assert csv.splitlines()[0].startswith("layout,opponents,judge")


def test_rate_scores_a_mixture_as_one_player(cli, book) -> None:
    arguments = ("--mixture", "--panel", "random:20", "--games", 200, "--seed", 1, "--book", book)
    ran = cli("layout", "rate", *arguments, "--json")
    assert ran.code == 0, ran.err
    (row,) = json.loads(ran.out)
    assert row["layout"].startswith("book@")
    assert row["games"] == 200
    (of_two,) = json.loads(cli("layout", "rate", LAYOUT, OTHER, *arguments, "--json").out)
    assert of_two["layout"].startswith("layouts@")
    (alone,) = json.loads(cli("layout", "rate", LAYOUT, *arguments, "--json").out)
    assert alone["score"] != of_two["score"]


def test_rate_names_an_illegal_layout(cli, book) -> None:
    ran = cli("layout", "rate", "a" * 25, "--book", book)
    assert ran.code == 1
    assert "25 x marshal (a): expected 1" in ran.err
