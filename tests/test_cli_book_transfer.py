"""``junqi book``: text in and out, merging and comparing, copies, older books, web pages."""

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from book_samples import ILLEGAL, A, B, C, make_book

from book.rows import Evidence, NewLayout
from book.store import Book
from junqi.layout import format_layout, random_layouts

Cli = Callable[..., Any]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sample book, which is also the one that commands take without --book."""
    path = make_book(tmp_path / "sample.db")
    monkeypatch.setenv("JUNQI_BOOK", str(path))
    return path


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    path = tmp_path / "empty.db"
    Book.create(path).close()
    return path


def export(cli: Cli, path: Path, file: Path) -> str:
    ran = cli("book", "export", file, "--book", path)
    assert (ran.code, ran.out, ran.err) == (0, "", f"{file}: written\n")
    return file.read_text(encoding="utf-8")


# import and export


def test_a_book_goes_through_text_and_stays_the_same(
    cli: Cli, path: Path, empty: Path, tmp_path: Path
) -> None:
    text = export(cli, path, tmp_path / "book.txt")
    assert text.startswith("# junqi book 1\n")
    ran = cli("book", "import", tmp_path / "book.txt", "--book", empty)
    assert (ran.code, ran.out) == (0, "")
    assert "3 layouts added" in ran.err
    assert export(cli, empty, tmp_path / "again.txt") == text
    assert cli("book", "diff", path, empty).code == 0
    assert cli("book", "import", tmp_path / "book.txt").err == f"{path}: nothing changed\n"


def test_text_is_read_from_a_pipe(cli: Cli, path: Path, empty: Path, tmp_path: Path) -> None:
    text = export(cli, path, tmp_path / "book.txt")
    ran = cli("book", "import", "-", "--book", empty, stdin=text)
    assert ran.code == 0
    assert cli("book", "diff", path, empty).code == 0


def test_text_goes_to_standard_output(path: Path, tmp_path: Path) -> None:
    import subprocess
    import sys

    program = "from junqi.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", program, "book", "export", "--book", str(path)],
        capture_output=True,
        check=True,
    )
    assert ran.stderr == b""
    lines = ran.stdout.decode("utf-8").splitlines()
    assert lines[0] == "# junqi book 1"
    assert any(line.startswith(f"layout {A} ") for line in lines)


def test_plain_lists_of_layouts_are_imported_too(cli: Cli, empty: Path, tmp_path: Path) -> None:
    file = tmp_path / "list.tsv"
    file.write_text(f"layout\torigin\n{A}\tteam A\n{C}\tteam B\n")
    args = ["--origin", "human", "--role", "opponent", "--tag", "rivals", "--book", empty]
    assert cli("book", "import", file, *args).code == 0
    rows = json.loads(cli("book", "list", "--json", "--book", empty).out)
    assert [row["layout"] for row in rows] == [A, C]
    assert {(r["origin"], r["role"], r["tags"][0]) for r in rows} == {
        ("human", "opponent", "rivals")
    }


def test_a_dry_run_of_import_changes_nothing(cli: Cli, empty: Path, tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    file.write_text(f"{A}\n{B}\n")
    ran = cli("book", "import", file, "--dry-run", "--book", empty)
    assert ran.code == 0
    assert "2 layouts added" in ran.err
    assert ran.err.endswith("(dry run: nothing is written)\n")
    assert json.loads(cli("book", "stats", "--json", "--book", empty).out)["layouts"] == 0


def test_an_illegal_layout_in_the_middle_of_an_import_is_named(
    cli: Cli, empty: Path, tmp_path: Path
) -> None:
    texts = [format_layout(layout) for layout in random_layouts(10_000, 4)]
    texts[5_000] = ILLEGAL
    file = tmp_path / "many.txt"
    file.write_text("\n".join(texts))
    ran = cli("book", "import", file, "--book", empty)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"junqi: error: {file}:5001: not a legal layout: '{ILLEGAL}'")
    assert json.loads(cli("book", "stats", "--json", "--book", empty).out)["layouts"] == 0
    ran = cli("book", "import", file, "--keep-going", "--json", "--book", empty)
    assert ran.code == 1
    (fault,) = json.loads(ran.out)["faults"]
    assert fault.startswith(f"{file}:5001: not a legal layout")
    assert fault in ran.err
    assert ran.err.endswith("1 line is left out\n")
    assert json.loads(cli("book", "stats", "--json", "--book", empty).out)["layouts"] == 9_999
    assert cli("book", "check", "--book", empty).code == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected the text of a book or one layout a line, got neither"),
        (b"\x89PNG\r\n\x1a\n\x00", "expected text in UTF-8, got the byte 0x89"),
        (b"# junqi book 99\n", "expected text of format 1 or older, got 99"),
        (f"# junqi book 1\nlayout {A} weight=heavy\n".encode(), ":2: "),
        (f"# junqi book 1\nevidence {A}\n".encode(), ":2: "),
        (b"# junqi book 1\nnonsense\n", ":2: "),
    ],
)
def test_text_that_is_no_book_is_told_in_one_line(
    cli: Cli, empty: Path, tmp_path: Path, content: bytes, message: str
) -> None:
    file = tmp_path / "some.txt"
    file.write_bytes(content)
    ran = cli("book", "import", file, "--book", empty)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"junqi: error: {file}:")
    assert message in ran.err
    assert ran.err.count("\n") == 1


def test_a_file_that_is_not_there_is_told(cli: Cli, path: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    for args in (["import", missing], ["merge", missing], ["diff", path, missing]):
        ran = cli("book", *args)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith(f"junqi: error: {missing}: no such ")
        assert ran.err.count("\n") == 1


def test_a_book_is_not_text_and_text_is_no_book(cli: Cli, path: Path, tmp_path: Path) -> None:
    export(cli, path, tmp_path / "book.txt")
    ran = cli("book", "merge", tmp_path / "book.txt")
    assert ran.code == 1
    assert "junqi book import" in ran.err
    ran = cli("book", "import", path)
    assert ran.code == 1
    assert ran.err.count("\n") == 1


# merge and diff


def test_merging_pools_evidence_and_names_conflicts(cli: Cli, path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with Book.create(other) as book:
        book.add_layouts([NewLayout(A, weight=0.5, name="Bulwark"), NewLayout(C, notes="new")])
        book.add_evidence([Evidence(A, "random:10", "policy", 100, 50, 0, 50, 0.05, 8)])
    dry = cli("book", "merge", other, "--dry-run")
    assert dry.code == 0
    assert dry.err.endswith("(dry run: nothing is written)\n")
    assert json.loads(cli("book", "stats", "--json").out)["evidence"] == 2
    ran = cli("book", "merge", other)
    assert ran.code == 0
    assert ran.out == dry.out
    assert "1 score added" in ran.err
    for conflict in (A, "name", "Bulwark"):
        assert conflict in ran.out
    (row,) = json.loads(cli("book", "show", A, "--json").out)
    assert (row["name"], row["weight"], row["games"]) == ("Wall", 0.75, 200)
    assert row["score"] == pytest.approx(0.575)
    assert cli("book", "check").code == 0
    assert cli("book", "merge", other, "--json").err == f"{path}: nothing changed\n"


def test_a_difference_is_a_line(cli: Cli, path: Path, tmp_path: Path) -> None:
    other = make_book(tmp_path / "other.db")
    new = format_layout(random_layouts(1, 1)[0])
    with Book.open(other) as book:
        book.set_weight([1], 0.5)
        book.remove_layouts([3])
        book.add_layouts([NewLayout(new)])
    ran = cli("book", "diff", path, other)
    assert (ran.code, ran.err) == (1, "")
    lines = ran.out.splitlines()
    assert any(line.startswith(f"~ layout {A}") and "0.75 -> 0.5" in line for line in lines)
    assert any(line.startswith(f"- layout {C}") for line in lines)
    assert any(line.startswith("+ layout ") for line in lines)
    data = json.loads(cli("book", "diff", path, other, "--json").out)
    assert len(data) == len(lines)
    ran = cli("book", "diff", path, path)
    assert (ran.code, ran.out) == (0, "")


# Copies


def test_a_backup_is_a_whole_book(cli: Cli, path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    ran = cli("book", "backup", copy)
    assert (ran.code, ran.out, ran.err) == (0, "", f"{copy}: written\n")
    assert cli("book", "diff", path, copy).code == 0
    assert cli("book", "check", "--book", copy).code == 0
    ran = cli("book", "backup", copy)
    assert ran.code == 1
    assert "--force overwrites it" in ran.err
    assert cli("book", "backup", copy, "--force").code == 0


def test_a_backup_without_a_name_lies_beside_the_book(cli: Cli, path: Path) -> None:
    assert cli("book", "backup").code == 0
    (copy,) = path.parent.glob("sample-*.db")
    assert cli("book", "diff", path, copy).code == 0


@pytest.mark.skipif(os.name == "nt", reason="permissions are others on Windows")
def test_a_copy_on_a_stick_is_read_where_nothing_can_be_written(
    cli: Cli, path: Path, tmp_path: Path
) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    cli("book", "backup", stick / "book.db")
    (stick / "book.db").chmod(0o444)
    stick.chmod(0o555)
    try:
        args = ["--book", stick / "book.db"]
        assert cli("book", "sample", "--seed", 1, *args).code == 0
        assert cli("book", "stats", *args).code == 0
        assert cli("book", "check", *args).code == 0
        assert [file.name for file in stick.iterdir()] == ["book.db"]
    finally:
        stick.chmod(0o755)


def test_a_book_of_today_needs_no_migration(cli: Cli, path: Path) -> None:
    for options in ([], ["--dry-run"]):
        ran = cli("book", "migrate", *options)
        assert (ran.code, ran.out) == (0, "")
        assert ran.err == f"{path}: schema version 1, nothing to do\n"


def test_a_locked_book_can_be_read_but_not_changed(cli: Cli, path: Path) -> None:
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        assert cli("book", "stats").code == 0
        assert cli("book", "show", 1).code == 0
        ran = cli("book", "tag", "x", 1)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith(f"junqi: error: {path}: is locked")
        assert ran.err.count("\n") == 1
    finally:
        writer.execute("ROLLBACK")
        writer.close()
    assert cli("book", "tag", "x", 1).code == 0


# Web pages


def test_the_command_writes_a_site(cli: Cli, path: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    ran = cli("book", "html", site, "--title", "My book")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == f"{site / 'index.html'}: written, 5 pages\n"
    assert "<title>My book</title>" in (site / "index.html").read_text(encoding="utf-8")
    ran = cli("book", "html", site, "--limit", 2)
    assert ran.err.endswith("4 pages\n1 layout left out: --limit takes more\n")
    ran = cli("book", "html", tmp_path)
    assert ran.code == 1
    assert "--force" in ran.err
