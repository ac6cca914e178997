"""``junqi book``: the commands that look into a book, and `init`."""

import csv
import io
import json
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from book_samples import A_MIRRORED, LETTERS, RUN, A, B, C, make_book

from book.rows import NewLayout
from book.store import Book

Cli = Callable[..., Any]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sample book, which is also the one that commands take without --book."""
    path = make_book(tmp_path / "sample.db")
    monkeypatch.setenv("JUNQI_BOOK", str(path))
    return path


def listed(cli: Cli, *options: object) -> list[str]:
    """The letters of the layouts that a list has."""
    ran = cli("book", "list", "--json", *options)
    assert (ran.code, ran.err) == (0, "")
    return [row["layout"] for row in json.loads(ran.out)]


# Which book


def test_without_a_book_the_default_one_is_made_and_used(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUNQI_BOOK", raising=False)
    monkeypatch.setattr("platformdirs.user_data_path", lambda *_, **__: tmp_path / "data")
    monkeypatch.setattr(
        "book.default.user_data_path", lambda *_, **__: tmp_path / "data", raising=False
    )
    ran = cli("book", "stats", "--json")
    assert ran.code == 0
    figures = json.loads(ran.out)
    assert figures["book"].startswith(str(tmp_path / "data"))
    assert figures["by_origin"]["human"] > 10
    assert figures["in_mixture"] > 0
    assert cli("book", "check").code == 0


def test_the_option_comes_before_the_variable(cli: Cli, path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    Book.create(other).close()
    assert json.loads(cli("book", "stats", "--json").out)["layouts"] == 3
    assert json.loads(cli("book", "stats", "--json", "--book", other).out)["layouts"] == 0


def test_only_commands_that_read_take_several_books(cli: Cli, path: Path) -> None:
    ran = cli("book", "stats", "--book", path, "--book", path)
    assert ran.code == 2
    assert ran.err == "junqi book stats: expected one --book, got 2 (see junqi book stats --help)\n"


@pytest.mark.parametrize("command", ["stats", "list", "check", "sample", "show 1", "log"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such book"),
        (b"", "is not a book: the file is empty"),
        (b"abccddeeffggghhhiiijjkklj\n", "is not a book: expected an SQLite database"),
        (b"\x89PNG\r\n\x1a\n\x00\x01" * 200, "is not a book: expected an SQLite database"),
        ("cut", "is cut short"),
        ("newer", "expected schema version"),
        ("other", "is an SQLite database, but not a book"),
    ],
)
def test_what_is_no_book_is_told_in_one_line(
    cli: Cli, tmp_path: Path, command: str, content: Any, message: str
) -> None:
    path = tmp_path / "some.db"
    if content == "cut":
        make_book(path)
        data = path.read_bytes()
        for file in tmp_path.iterdir():
            file.unlink()
        path.write_bytes(data[: len(data) // 2])
    elif content == "newer":
        make_book(path)
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
    elif content == "other":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE t (a)")
        connection.close()
    elif content is not None:
        path.write_bytes(content)
    ran = cli("book", *command.split(), "--book", path)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"junqi: error: {path}: ") or command == "sample"
    assert f"{path}: {message}" in ran.err.replace(f"{path}: {path}", str(path))


# init


def test_a_new_book_has_the_layouts_that_come_with_the_program(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "mine.db"
    ran = cli("book", "init", "--book", path)
    assert (ran.code, ran.out) == (0, "")
    count = re.fullmatch(rf"{re.escape(str(path))}: a new book with (\d+) layouts\n", ran.err)
    assert count
    assert len(listed(cli, "--book", path)) == int(count[1]) > 10


def test_a_new_book_may_be_empty(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "mine.db"
    ran = cli("book", "init", "--empty", "--book", path)
    assert ran.err == f"{path}: a new book with 0 layouts\n"
    assert listed(cli, "--book", path) == []


def test_a_book_is_never_overwritten(cli: Cli, path: Path) -> None:
    for options in ([], ["--empty"]):
        ran = cli("book", "init", *options)
        assert (ran.code, ran.out) == (1, "")
        assert f"{path}: expected no file there yet" in ran.err
    assert len(listed(cli)) == 3


# stats


def test_stats_are_printed_for_reading(cli: Cli, path: Path) -> None:
    ran = cli("book", "stats")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == f"book       {path}"
    assert "layouts    3, 3 enabled" in lines
    assert "mixture    2 layouts, total weight 1" in lines
    assert "origin     2 human, 1 evolved" in lines
    assert "tags       2 mine, 1 old" in lines
    assert "evidence   2 scores of 200 games, judged by policy" in lines
    assert "payoffs    1 pair, 10 games" in lines
    assert "openings   2 moves in 1 position of 1 layout" in lines


def test_stats_as_json_have_every_number(cli: Cli, path: Path) -> None:
    figures = json.loads(cli("book", "stats", "--json").out)
    assert figures["book"] == str(path)
    assert (figures["layouts"], figures["in_mixture"], figures["openings"]) == (3, 2, 2)
    assert figures["tags"] == {"mine": 2, "old": 1}


# list


def test_a_list_is_a_table_for_reading(cli: Cli, path: Path) -> None:
    ran = cli("book", "list")
    assert (ran.code, ran.err) == (0, "")
    head, first, second, third = ran.out.splitlines()
    assert " ".join(head.split()) == "id layout weight score games origin role name tags"
    assert first.split() == f"1 {A} 0.75 65.0 ± 9.8 % 100 evolved both Wall mine old".split()
    assert second.split() == f"2 {B} 0.25 40.0 ± 9.8 % 100 human both".split()
    assert third.split() == f"3 {C} 0 human opponent 左翼 mine".split()


def test_a_list_of_nothing_is_empty(cli: Cli, path: Path) -> None:
    ran = cli("book", "list", "--tag", "nobody")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.split()[:2] == ["id", "layout"]
    assert ran.out.count("\n") == 1
    assert json.loads(cli("book", "list", "--tag", "nobody", "--json").out) == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--origin human", [B, C]),
        ("--origin human --origin evolved", [A, B, C]),
        ("--origin seen", []),
        ("--role opponent", [A, B, C]),
        ("--role own", [A, B]),
        ("--tag mine", [A, C]),
        ("--tag mine --tag old", [A]),
        ("--min-score 0.5", [A]),
        ("--min-score 50%", [A]),
        ("--max-score 0.5", [B]),
        ("--min-score 0.5 --judge search:3x3", []),
        ("--min-score 0.5 --opponents random:10", [A]),
        ("--enabled", [A, B, C]),
        ("--disabled", []),
        ("--mixture", [A, B]),
        ("--name al", [A]),
        (f"--run {RUN}", [A]),
        ("--sort weight", [A, B, C]),
        ("--sort weight --reverse", [C, B, A]),
        ("--sort score", [A, B, C]),
        ("--sort layout --reverse", [C, B, A]),
        ("--sort score --limit 1", [A]),
        ("--limit 2", [A, B]),
    ],
)
def test_a_list_is_filtered_and_sorted(
    cli: Cli, path: Path, options: str, expected: list[str]
) -> None:
    assert listed(cli, *options.split()) == expected


def test_json_and_csv_have_the_same_columns(cli: Cli, path: Path) -> None:
    rows = json.loads(cli("book", "list", "--json").out)
    table = list(csv.DictReader(io.StringIO(cli("book", "list", "--csv").out)))
    assert list(rows[0]) == list(table[0])
    assert [row["layout"] for row in table] == [A, B, C]
    assert table[0]["tags"] == "mine old"
    assert table[0]["enabled"] == "1"
    assert table[2]["score"] == ""
    assert table[2]["name"] == "左翼"
    assert rows[0]["tags"] == ["mine", "old"]
    assert rows[0]["score"] == pytest.approx(0.65)
    assert rows[2]["score"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--sort size", "expected one of id, layout, name"),
        ("--min-score x", "expected a score like 0.55 or 55% for --min-score, got 'x'"),
        ("--min-score 55", "expected a score like 0.55 or 55% for --min-score, got '55'"),
        ("--json --csv", "expected --json or --csv, got both"),
        ("--origin mars", "expected one of evolved, human, imported, seen for --origin"),
    ],
)
def test_wrong_options_of_a_list_are_told(cli: Cli, path: Path, options: str, message: str) -> None:
    ran = cli("book", "list", *options.split())
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1


def test_names_and_notes_do_nothing_to_the_terminal(cli: Cli, path: Path) -> None:
    with sqlite3.connect(path) as connection:  # the commands do not let such names in
        connection.execute("UPDATE layouts SET name = 'red\x1b[2J', notes = 'a\x07b' WHERE id = 1")
    connection.close()
    for args in (["list"], ["show", "1"]):
        out = cli("book", *args).out
        assert "red?[2J" in out
        assert "\x1b" not in out
        assert "\x07" not in out


# Several books


def test_of_layered_books_the_first_that_knows_a_layout_answers(
    cli: Cli, path: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.db"
    with Book.create(mine) as book:
        book.add_layouts([NewLayout(B, weight=9.0, name="Mine")])
    layers = ["--book", mine, "--book", path]
    assert sorted(listed(cli, *layers)) == sorted(LETTERS)
    rows = {r["layout"]: r for r in json.loads(cli("book", "list", "--json", *layers).out)}
    assert (rows[B]["name"], rows[B]["weight"]) == ("Mine", 9.0)
    assert rows[A]["name"] == "Wall"
    assert listed(cli, *layers, "--sort", "weight", "--limit", 2) == [B, A]
    shown = json.loads(cli("book", "show", A, "Mine", "--json", *layers).out)
    assert [Path(row["book"]).name for row in shown] == ["sample.db", "mine.db"]
    draws = json.loads(cli("book", "sample", "--seed", 1, "--count", 5, "--json", *layers).out)
    assert {draw["entry"] for draw in draws["draws"]} == {B}


# show


def test_show_draws_the_board_and_tells_all_that_is_known(cli: Cli, path: Path) -> None:
    ran = cli("book", "show", 1, "--names", "english")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("     0         1         2")
    for known in (
        f"#1 Wall  {A}",
        "weight    0.75, enabled, role both",
        f"origin    evolved by {RUN}",
        "tags      mine old",
        "evidence (1 score)",
        "65.0 ± 9.8 %",
        f"  junqi book evaluate {A} --panel random:10 --games 100 --seed 7",
        "payoffs (1 pair)",
        "openings",
        "G0F0",
        "disabled",
    ):
        assert known in ran.out
    assert "notes     weak on the left\n          lost twice\n" in cli("book", "show", 2).out
    assert "no evidence yet" in cli("book", "show", 3).out


@pytest.mark.parametrize("word", ["1", "#1", A, A_MIRRORED, "Wall", "tag:old"])
def test_a_layout_has_many_names(cli: Cli, path: Path, word: str) -> None:
    (row,) = json.loads(cli("book", "show", word, "--json").out)
    assert row["layout"] == A


def test_words_come_from_a_pipe_too(cli: Cli, path: Path) -> None:
    table = cli("book", "list", "--origin", "human").out
    shown = json.loads(cli("book", "show", "-", "--json", stdin=table).out)
    assert [row["layout"] for row in shown] == [B, C]
    table = cli("book", "list", "--origin", "human", "--csv").out
    shown = json.loads(cli("book", "show", "-", "--json", stdin=table).out)
    assert [row["layout"] for row in shown] == [B, C]


def test_each_layout_is_shown_once(cli: Cli, path: Path) -> None:
    shown = json.loads(cli("book", "show", "mixture", "all", "1", "--json").out)
    assert [row["layout"] for row in shown] == [A, B, C]


def test_show_as_json_has_evidence_payoffs_and_openings(cli: Cli, path: Path) -> None:
    (row,) = json.loads(cli("book", "show", 2, "--json").out)
    assert (row["book"], row["layout"], row["weight"]) == (str(path), B, 0.25)
    assert row["evidence"][0]["score"] == pytest.approx(0.4)
    assert row["payoffs"][0]["opponent"] == A
    assert row["payoffs"][0]["score"] == pytest.approx(0.35)
    assert row["openings"] == []


def test_show_writes_a_picture(cli: Cli, path: Path, tmp_path: Path) -> None:
    picture = tmp_path / "one.svg"
    ran = cli("book", "show", 1, "--svg", picture, "--names", "chinese")
    assert (ran.code, ran.out) == (0, "")
    assert "司令" in picture.read_text(encoding="utf-8")
    ran = cli("book", "show", "all", "--svg", picture)
    assert ran.code == 2
    assert "expected one layout for --svg, got 3" in ran.err


def test_a_layout_that_the_book_does_not_know_is_told(cli: Cli, path: Path) -> None:
    for word in ("17", "Nobody", "abc", "tag:nobody"):
        ran = cli("book", "show", word)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.count("\n") == 1
        assert ran.err.startswith("junqi: error: ")
        assert word.removeprefix("tag:") in ran.err


# sample


def test_a_sample_is_what_the_engine_would_draw(cli: Cli, path: Path) -> None:
    ran = cli("book", "sample", "--seed", 1, "--count", 400, "--json")
    assert (ran.code, ran.err) == (0, "")
    data = json.loads(ran.out)
    assert data["seed"] == 1
    assert cli("book", "sample", "--seed", 1, "--count", 400, "--json").out == ran.out
    counts = Counter(draw["entry"] for draw in data["draws"])
    assert set(counts) == {A, B}
    assert 250 < counts[A] < 350
    mirrored = [draw for draw in data["draws"] if draw["is_mirrored"]]
    assert 150 < len(mirrored) < 250
    played = {draw["layout"] for draw in mirrored if draw["entry"] == A}
    assert played == {A_MIRRORED}
    assert {draw["share"] for draw in data["draws"]} == {0.75, 0.25}


def test_a_sample_is_printed_one_draw_a_line(cli: Cli, path: Path) -> None:
    lines = cli("book", "sample", "--seed", 2, "--count", 20).out.splitlines()
    assert len(lines) == 20
    for line in lines:
        assert re.fullmatch(r"[a-l]{25}   (75\.0|25\.0) %  (mirrored|as it is)(  Wall)?", line)


def test_the_seed_is_told_if_it_was_chosen(cli: Cli, path: Path) -> None:
    ran = cli("book", "sample")
    seed = re.fullmatch(r"seed (\d+)\n", ran.err)
    assert seed
    assert cli("book", "sample", "--seed", seed[1]).out == ran.out


def test_a_layout_for_one_turn_is_drawn_in_that_turn_only(cli: Cli, path: Path) -> None:
    assert cli("book", "set", 1, "--moves", "second").code == 0
    for turn, expected in (("first", {B}), ("second", {A, B})):
        ran = cli("book", "sample", "--seed", 1, "--count", 50, "--turn", turn, "--json")
        assert {draw["entry"] for draw in json.loads(ran.out)["draws"]} == expected


def test_an_empty_mixture_is_told(cli: Cli, path: Path) -> None:
    cli("book", "disable", "all")
    ran = cli("book", "sample", "--seed", 1)
    assert (ran.code, ran.out) == (1, "")
    assert "mixture" in ran.err
    ran = cli("book", "show", "mixture")
    assert ran.code == 1
    assert "expected layouts in the mixture, got none" in ran.err


# check and log


def test_a_sound_book_is_ok(cli: Cli, path: Path) -> None:
    ran = cli("book", "check")
    assert (ran.code, ran.out, ran.err) == (0, f"{path}: ok\n", "")
    assert json.loads(cli("book", "check", "--json").out) == {
        "book": str(path),
        "sound": True,
        "faults": [],
    }


def test_every_fault_is_named(cli: Cli, path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("UPDATE layouts SET weight = -1 WHERE id = 1")
        connection.execute("UPDATE layouts SET layout = ? WHERE id = 2", [A_MIRRORED])
        connection.execute("UPDATE openings SET move = 'L1K1' WHERE move = 'G0F0'")
        connection.execute("UPDATE evidence SET layout_id = 99 WHERE layout_id = 2")
    connection.close()
    ran = cli("book", "check")
    assert (ran.code, ran.err) == (1, "")
    for fault in ("weight", A_MIRRORED, "L1K1", "evidence"):
        assert fault in ran.out
    faults = json.loads(cli("book", "check", "--json").out)
    assert (faults["sound"], faults["faults"]) == (False, ran.out.splitlines())


def test_the_log_lists_changes_newest_first(cli: Cli, path: Path) -> None:
    cli("book", "tag", "new tag".replace(" ", "-"), 1)
    cli("book", "disable", "Wall")
    ran = cli("book", "log")
    assert (ran.code, ran.err) == (0, "")
    head, *lines = ran.out.splitlines()
    assert head.split()[0] == "change"
    assert lines[0].endswith("junqi book disable Wall")
    assert lines[1].endswith("junqi book tag new-tag 1")
    assert len(lines) == 3
    entries = json.loads(cli("book", "log", "--limit", 1, "--json").out)
    assert [entry["what"] for entry in entries] == ["junqi book disable Wall"]


# Other people's tools


def test_sqlite_utils_is_at_home_in_a_book(path: Path) -> None:
    def sqlite_utils(*args: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-m", "sqlite_utils", args[0], str(path), *args[1:]],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
        )
        return ran.stdout

    rows = json.loads(sqlite_utils("rows", "layouts"))
    assert [row["layout"] for row in rows] == [A, B, C]
    schema = sqlite_utils("schema", "layouts")
    assert "STRICT" in schema
    assert "FOREIGN KEY" in schema or "REFERENCES" in schema
    assert [row["table"] for row in json.loads(sqlite_utils("tables"))]
    mixture = json.loads(sqlite_utils("rows", "mixture"))
    assert [row["share"] for row in mixture] == [0.75, 0.25]
    sqlite_utils("query", "UPDATE layouts SET name = 'Rampart' WHERE name = 'Wall'")


def test_what_another_tool_changed_is_seen(cli: Cli, path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE layouts SET name = 'Rampart' WHERE name = 'Wall'")
    connection.close()
    assert json.loads(cli("book", "show", "Rampart", "--json").out)[0]["layout"] == A
    assert cli("book", "check").code == 0
