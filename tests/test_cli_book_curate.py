"""``junqi book``: the commands that change what a book holds, and taking a change back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from book_samples import A_MIRRORED, ILLEGAL, A, B, C, make_book

from book.store import Book
from book.transfer import export_lines
from junqi.layout import format_layout, random_layouts

Cli = Callable[..., Any]
NEW = format_layout(random_layouts(1, 1)[0])


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sample book, which is also the one that commands take without --book."""
    path = make_book(tmp_path / "sample.db")
    monkeypatch.setenv("JUNQI_BOOK", str(path))
    return path


def content(path: Path) -> str:
    """All that a book holds, but its log."""
    with Book.open(path, read_only=True) as book:
        return "".join(export_lines(book))


def row(cli: Cli, word: object) -> dict[str, Any]:
    (found,) = json.loads(cli("book", "show", word, "--json").out)
    return found  # type: ignore[no-any-return]


CHANGES = [
    ("add", NEW, "--name", "New", "--tag", "mine"),
    ("remove", "1", "--yes"),
    ("disable", "1", "tag:mine"),
    ("weight", "3", "2"),
    ("weight", "--normalize", "3", "2"),
    ("tag", "fresh", "all"),
    ("untag", "mine", "all"),
    ("note", "be careful", "Wall"),
    ("note", "again", "2", "--append"),
    ("set", "3", "--name", "Rampart", "--role", "own", "--moves", "first", "--origin", "seen"),
]
change_ids = [" ".join(change[:2]) for change in CHANGES]


@pytest.mark.parametrize("change", CHANGES, ids=change_ids)
def test_a_change_says_what_it_changed_and_can_be_undone(
    cli: Cli, path: Path, change: tuple[str, ...]
) -> None:
    before = content(path)
    ran = cli("book", *change)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith(f"{path}: ")
    assert ran.err.count("\n") == 1
    assert "nothing" not in ran.err
    after = content(path)
    assert after != before
    assert cli("book", "check").code == 0
    ran = cli("book", "undo")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith(f"{path}: undone: junqi book {change[0]} ")
    assert content(path) == before
    ran = cli("book", "redo")
    assert ran.code == 0
    assert ran.err.startswith(f"{path}: done again: junqi book {change[0]} ")
    assert content(path) == after


@pytest.mark.parametrize("change", CHANGES, ids=change_ids)
def test_a_dry_run_says_the_same_and_changes_nothing(
    cli: Cli, path: Path, change: tuple[str, ...]
) -> None:
    before = content(path)
    log = cli("book", "log", "--json").out
    dry = cli("book", *change, "--dry-run")
    assert (dry.code, dry.out) == (0, "")
    assert dry.err.endswith(" (dry run: nothing is written)\n")
    assert content(path) == before
    assert cli("book", "log", "--json").out == log
    done = cli("book", *change)
    assert dry.err == done.err.replace("\n", " (dry run: nothing is written)\n")


def test_a_change_that_changes_nothing_says_so(cli: Cli, path: Path) -> None:
    log = cli("book", "log", "--json").out
    for change in (["enable", "all"], ["tag", "mine", "1"], ["untag", "nobody", "all"]):
        ran = cli("book", *change)
        assert (ran.code, ran.err) == (0, f"{path}: nothing changed\n")
    assert cli("book", "log", "--json").out == log


# add


def test_layouts_are_added_from_arguments_files_and_a_pipe(
    cli: Cli, path: Path, tmp_path: Path
) -> None:
    texts = [format_layout(layout) for layout in random_layouts(6, 2)]
    file, other = tmp_path / "a.txt", tmp_path / "b.txt"
    file.write_text(f"# mine\n{texts[1]} a remark\n{texts[2]}\n")
    other.write_text(texts[3])
    ran = cli("book", "add", texts[0], file, "-", "--file", other, "--json", stdin=texts[4])
    assert ran.code == 0
    data = json.loads(ran.out)
    assert (data["added"], data["merged"], data["faults"]) == (5, 0, [])
    assert len(data["ids"]) == 5
    ran = cli("book", "add", "--json", stdin=texts[5])
    assert json.loads(ran.out)["added"] == 1
    assert len(json.loads(cli("book", "list", "--json").out)) == 9


def test_a_known_layout_gets_what_is_said_and_keeps_the_rest(cli: Cli, path: Path) -> None:
    ran = cli("book", "add", A_MIRRORED, "--moves", "first", "--tag", "new", "--json")
    assert json.loads(ran.out) == {"ids": [1], "added": 0, "merged": 1, "faults": []}
    found = row(cli, 1)
    assert (found["moves"], found["name"], found["weight"]) == ("first", "Wall", 0.75)
    assert found["tags"] == ["mine", "new", "old"]
    cli("book", "add", C, "--role", "own")
    assert row(cli, C)["role"] == "both"


def test_a_new_layout_gets_all_that_is_said(cli: Cli, path: Path) -> None:
    ran = cli(
        "book", "add", NEW, "--origin", "seen", "--role", "opponent", "--weight", "0.5", "--moves",
        "first", "--tag", "x", "--tag", "y", "--name", "New", "--note", "careful", "--disabled",
    )  # fmt: skip
    assert ran.code == 0
    found = row(cli, "New")
    assert {key: found[key] for key in ("origin", "role", "weight", "moves", "notes")} == {
        "origin": "seen",
        "role": "opponent",
        "weight": 0.5,
        "moves": "first",
        "notes": "careful",
    }
    assert (found["tags"], found["enabled"]) == (["x", "y"], False)


def test_an_illegal_layout_stops_everything_and_its_line_is_named(
    cli: Cli, path: Path, tmp_path: Path
) -> None:
    texts = [format_layout(layout) for layout in random_layouts(100, 2)]
    texts[50] = ILLEGAL
    file = tmp_path / "many.txt"
    file.write_text("\n".join(texts))
    before = content(path)
    ran = cli("book", "add", file)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        f"junqi: error: {file}:51: not a legal layout: '{ILLEGAL}': flag (l) at L4: must stand in"
        " a headquarters (L1 or L3)\n"
    )
    assert content(path) == before
    ran = cli("book", "add", file, "--keep-going", "--json")
    assert ran.code == 1
    data = json.loads(ran.out)
    assert data["added"] == 99
    assert data["faults"][0].startswith(f"{file}:51: not a legal layout")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["add", A, "--weight", "-1"], "expected a weight of at least 0 for --weight, got '-1'"),
        (["add", A, "--weight", "nan"], "expected a weight of at least 0 for --weight, got 'nan'"),
        (["add", A, B, "--name", "x"], "expected one layout for --name, got 2"),
        (["weight", "x", "1"], "expected a weight of at least 0 for WEIGHT, got 'x'"),
        (["weight", "inf", "1"], "expected a weight of at least 0 for WEIGHT, got 'inf'"),
        (["weight", "1"], "expected LAYOUT after WEIGHT, got nothing"),
        (["weight"], "expected WEIGHT and LAYOUT, or --normalize"),
        (["set", "1"], "expected --name, --role, --moves or --origin"),
        (["set", "all", "--name", "x"], "expected one layout for --name, got 3"),
        (["tag", "x"], "expected LAYOUT, got nothing"),
    ],
)
def test_wrong_usage_changes_nothing(cli: Cli, path: Path, args: list[str], message: str) -> None:
    before = content(path)
    ran = cli("book", *args)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert content(path) == before


@pytest.mark.parametrize(
    "args",
    [
        ["disable", "1", "nobody"],
        ["weight", "2", "1", "99"],
        ["tag", "two words", "1"],
        ["tag", "", "1"],
        ["remove", "99", "--yes"],
    ],
)
def test_a_bad_word_changes_nothing(cli: Cli, path: Path, args: list[str]) -> None:
    before = content(path)
    ran = cli("book", *args)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("junqi: error: ")
    assert ran.err.count("\n") == 1
    assert content(path) == before


# remove asks


@pytest.mark.parametrize("answer", ["y\n", "yes\n", "Y\n"])
def test_removing_asks_first(cli: Cli, path: Path, answer: str) -> None:
    ran = cli("book", "remove", "Wall", "3", stdin=answer)
    assert ran.code == 0
    assert ran.err.startswith(f"remove #1 Wall, #3 左翼 from {path}? [y/N] {path}: ")
    assert [r["layout"] for r in json.loads(cli("book", "list", "--json").out)] == [B]


@pytest.mark.parametrize("answer", ["n\n", "\n", "what\n"])
def test_removing_is_not_done_without_a_yes(cli: Cli, path: Path, answer: str) -> None:
    before = content(path)
    ran = cli("book", "remove", "all", stdin=answer)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"remove #1 Wall, #2 {B}, #3 左翼 from {path}? [y/N] nothing is removed\n"
    assert content(path) == before


def test_removing_is_not_done_without_an_answer(cli: Cli, path: Path) -> None:
    before = content(path)
    ran = cli("book", "remove", "all")
    assert ran.code == 1
    assert ran.err.endswith(
        "junqi: error: expected y or n, got no answer: nothing is removed; --yes does not ask\n"
    )
    assert content(path) == before


def test_a_dry_run_of_removing_does_not_ask(cli: Cli, path: Path) -> None:
    ran = cli("book", "remove", "all", "--dry-run")
    assert ran.code == 0
    assert "[y/N]" not in ran.err
    assert "3 layouts removed" in ran.err


# The rest


def test_weights_are_set_and_made_to_sum_to_1(cli: Cli, path: Path) -> None:
    assert cli("book", "weight", "3", "2").code == 0
    assert row(cli, 2)["weight"] == 3
    assert cli("book", "weight", "--normalize").code == 0
    assert row(cli, 1)["weight"] == pytest.approx(0.2)
    assert row(cli, 2)["weight"] == pytest.approx(0.8)


def test_notes_are_replaced_or_added_to(cli: Cli, path: Path) -> None:
    cli("book", "note", "one", "1")
    cli("book", "note", "two", "1", "--append")
    assert row(cli, 1)["notes"] == "one\ntwo"
    cli("book", "note", "", "1")
    assert row(cli, 1)["notes"] == ""


def test_a_piped_list_is_disabled_and_enabled(cli: Cli, path: Path) -> None:
    piped = cli("book", "list", "--origin", "human").out
    assert cli("book", "disable", "-", stdin=piped).code == 0
    rows = json.loads(cli("book", "list", "--disabled", "--json").out)
    assert [r["layout"] for r in rows] == [B, C]
    assert cli("book", "enable", "-", stdin=piped).code == 0
    assert json.loads(cli("book", "list", "--disabled", "--json").out) == []


def test_changes_are_undone_one_after_the_other(cli: Cli, path: Path) -> None:
    states = [content(path)]
    for change in (["tag", "a", "1"], ["tag", "b", "1"], ["disable", "2"]):
        cli("book", *change)
        states.append(content(path))
    for state in reversed(states[:-1]):
        before = content(path)
        assert cli("book", "undo", "--dry-run").code == 0
        assert content(path) == before
        assert cli("book", "undo").code == 0
        assert content(path) == state


def test_there_is_an_end_to_undoing(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    cli("book", "init", "--empty", "--book", path)
    for command in ("undo", "redo"):
        ran = cli("book", command, "--book", path)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith(f"junqi: error: nothing to {command}")
        assert ran.err.count("\n") == 1


def test_a_long_command_line_is_cut_in_the_log(cli: Cli, path: Path) -> None:
    cli("book", "note", "x" * 5000, "1")
    (entry,) = json.loads(cli("book", "log", "--limit", 1, "--json").out)
    assert entry["what"].startswith("junqi book note xxx")
    assert len(entry["what"]) == 500
