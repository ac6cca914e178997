"""The book's page: the gallery and what is known of a layout, and changes that land in the file."""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from book_samples import A, B, C, make_book
from web_pages import client

from book.default import VARIABLE
from book.rows import NewLayout, Opening
from book.store import Book
from junqi.layout import format_layout, random_layouts
from junqi.web import books

API = "/api/book"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = make_book(tmp_path / "book.db")
    monkeypatch.setenv(VARIABLE, str(path))
    return path


@pytest.fixture
def asked(path: Path) -> Iterator[Any]:
    with client(path.parent, load=None) as asked:
        yield asked


def error_of(answer: Any, status: int = 400) -> str:
    assert answer.status_code == status, answer.text
    return str(answer.json()["error"])


def names(asked: Any, query: str = "") -> list[str]:
    return [row["layout"] for row in asked.get(f"{API}/layouts?{query}").json()["layouts"]]


def change(asked: Any, action: str, ids: list[int], **more: Any) -> Any:
    return asked.post(f"{API}/change", json={"action": action, "ids": ids, **more})


def kept(path: Path, id: int) -> Any:
    """What the file itself holds of a layout, read by SQLite alone."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        connection.row_factory = sqlite3.Row
        row = connection.execute("SELECT * FROM layouts WHERE id = ?", [id]).fetchone()
        tags = connection.execute("SELECT tag FROM layout_tags WHERE layout_id = ?", [id])
        return dict(row) | {"tags": sorted(tag for (tag,) in tags)}


def test_the_book_is_told_in_numbers(asked: Any, path: Path) -> None:
    about = asked.get(f"{API}/about").json()
    assert about["path"] == str(path)
    assert (about["layouts"], about["in_mixture"], about["total_weight"]) == (3, 2, 1.0)
    assert [(part["name"], part["weight"]) for part in about["mixture"]] == [
        ("Wall", 0.75),
        (B, 0.25),
    ]
    assert about["tags"] == {"mine": 2, "old": 1}
    assert about["undo"]["what"] == "make a sample"
    assert about["redo"] is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [A, B, C]),
        ("sort=weight&order=up", [C, B, A]),
        ("sort=score", [A, B, C]),
        ("sort=score&order=up", [B, A, C]),
        ("origin=human", [B, C]),
        ("role=own", [A, B]),
        ("role=opponent&origin=human", [B, C]),
        ("tags=mine", [A, C]),
        ("tags=mine+old", [A]),
        ("min_score=0.5", [A]),
        ("max_score=0.5", [B]),
        ("state=mixture", [A, B]),
        ("state=disabled", []),
        ("name=wal", [A]),
        ("judge=nobody&min_score=0.1", []),
    ],
)
def test_layouts_are_sorted_and_filtered(asked: Any, query: str, expected: list[str]) -> None:
    assert names(asked, query) == expected
    assert asked.get(f"{API}/layouts?{query}").json()["count"] == len(expected)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sort=luck", "sort: expected one of id, layout"),
        ("origin=mars", "origin: expected one of evolved"),
        ("state=odd", "state: expected one of"),
        ("min_score=much", "min_score: expected a score from 0 to 1, got 'much'"),
        ("max_score=nan", "max_score: expected a score"),
        ("page=-1", "page: expected a whole number"),
    ],
)
def test_odd_filters_are_refused(asked: Any, query: str, expected: str) -> None:
    assert expected in error_of(asked.get(f"{API}/layouts?{query}"))


def test_many_layouts_come_in_pages(asked: Any, path: Path) -> None:
    with Book.open(path) as book:
        book.add_layouts([NewLayout(format_layout(row)) for row in random_layouts(60, 1)])
    pages = [asked.get(f"{API}/layouts?sort=id&order=up&page={n}").json() for n in range(3)]
    assert [len(page["layouts"]) for page in pages] == [24, 24, 15]
    assert len({row["id"] for page in pages for row in page["layouts"]}) == 63
    # After the last page comes the last page: the book may have shrunk.
    assert asked.get(f"{API}/layouts?page=99").json()["page"] == 2


def test_boards_are_drawn_for_layouts(asked: Any) -> None:
    board = asked.get(f"{API}/boards/{A}").json()["board"]
    assert board.count("jq-piece") == 25
    assert "expected 25" in error_of(asked.get(f"{API}/boards/abc"))


def test_all_about_a_layout(asked: Any) -> None:
    found = asked.get(f"{API}/layouts/1").json()
    assert (found["name"], found["tags"]) == ("Wall", ["mine", "old"])
    assert [(row["judge"], row["games"], row["score"]) for row in found["evidence"]] == [
        ("policy", 100, 0.65)
    ]
    assert [(row["opponent"], row["score"]) for row in found["payoffs"]] == [(B, 0.65)]
    assert asked.get(f"{API}/layouts/2").json()["payoffs"][0]["name"] == "Wall"
    assert "no layout #9" in error_of(asked.get(f"{API}/layouts/9"), 404)


def test_the_opening_tree_of_a_layout_with_boards(asked: Any, path: Path) -> None:
    with Book.open(path) as book:
        book.add_openings(
            [
                Opening(A, "start", "G1H1", 0, 10, 0.5),
                Opening(A, "C2C1,G1H1", "G0G1", 2, 9, 0.6),
                Opening(A, "my:own:key", "G0F0", 0, 3),
            ]
        )
    tree = asked.get(f"{API}/layouts/1").json()["openings"]
    assert [(row["depth"], row["key"], row["move"]) for row in tree["first"]] == [
        (0, "start", "G1H1"),
        (1, "C2C1,G1H1", "G0G1"),
        (0, "start", "G0F0"),
        (0, "start", "G2F2"),
    ]
    assert [row["key"] for row in tree["others"]] == ["my:own:key"]
    assert tree["second"] == []
    assert tree["total"] == 5
    drawn = asked.get(f"{API}/layouts/1/opening?key=start&move=G0F0").json()["board"]
    assert drawn.count("jq-hidden") == 25
    assert "jq-arrow" in drawn
    refused = asked.get(f"{API}/layouts/1/opening?key=my:own:key&move=G0F0")
    assert "expected the key of a position" in error_of(refused)
    assert "expected a move" in error_of(asked.get(f"{API}/layouts/1/opening?key=start&move=up"))


def test_changes_land_in_the_file(asked: Any, path: Path) -> None:
    assert change(asked, "disable", [1, 2]).json()["summary"] == "2 layouts changed"
    assert (kept(path, 1)["enabled"], kept(path, 2)["enabled"]) == (0, 0)
    change(asked, "enable", [2])
    assert (kept(path, 1)["enabled"], kept(path, 2)["enabled"]) == (0, 1)
    change(asked, "weight", [1, 3], value=0.4)
    assert (kept(path, 1)["weight"], kept(path, 3)["weight"]) == (0.4, 0.4)
    change(asked, "tag", [2, 3], value="决赛")
    change(asked, "untag", [3], value="mine")
    assert (kept(path, 2)["tags"], kept(path, 3)["tags"]) == (["决赛"], ["决赛"])
    change(asked, "name", [2], value="Fort")
    answer = change(asked, "note", [2], value="two\nlines", before=kept(path, 2)["notes"])
    assert answer.status_code == 200
    assert (kept(path, 2)["name"], kept(path, 2)["notes"]) == ("Fort", "two\nlines")
    log = answer.json()["about"]["log"]
    assert [entry["what"] for entry in log[:2]] == ["web: note #2", "web: name 'Fort' #2"]
    assert not change(asked, "enable", [2]).json()["is_changed"]


def test_undo_and_redo_are_those_of_the_book(asked: Any, path: Path) -> None:
    about = change(asked, "weight", [1], value=0.5).json()["about"]
    first = about["undo"]["id"]
    change(asked, "tag", [1], value="new")
    with Book.open(path) as book:
        assert [entry.what for entry in book.changes(2)] == [
            "web: tag new #1",
            "web: weight 0.5 #1",
        ]
    # An old page shows another change than the one that would be undone.
    stale = asked.post(f"{API}/undo", json={"change": first})
    assert "changed meanwhile" in error_of(stale)
    assert "new" in kept(path, 1)["tags"]
    for _ in range(2):
        last = asked.get(f"{API}/about").json()["undo"]["id"]
        answer = asked.post(f"{API}/undo", json={"change": last})
        assert answer.status_code == 200, answer.text
    assert (kept(path, 1)["weight"], kept(path, 1)["tags"]) == (0.75, ["mine", "old"])
    for _ in range(2):
        step = asked.get(f"{API}/about").json()["redo"]
        assert asked.post(f"{API}/redo", json={"change": step["id"]}).status_code == 200
    assert (kept(path, 1)["weight"], kept(path, 1)["tags"]) == (0.5, ["mine", "new", "old"])
    assert asked.get(f"{API}/about").json()["redo"] is None
    with Book.open(path) as book:
        assert book.undo().undone.what == "web: tag new #1"


def test_a_note_that_was_changed_elsewhere_is_not_overwritten(asked: Any, path: Path) -> None:
    with Book.open(path) as book:
        book.set_note([1], "from the terminal")
    answer = change(asked, "note", [1], value="from the page", before="")
    assert "it now says: from the terminal" in error_of(answer, 409)
    assert kept(path, 1)["notes"] == "from the terminal"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"action": "explode", "ids": [1]}, "action: expected one of enable"),
        ({"action": "enable", "ids": []}, "ids: expected 1 to 500"),
        ({"action": "enable", "ids": [True]}, "ids: expected 1 to 500"),
        ({"action": "enable", "ids": "all"}, "ids: expected 1 to 500"),
        ({"action": "weight", "ids": [1], "value": -1}, "value: expected a number from 0"),
        ({"action": "weight", "ids": [1], "value": "much"}, "value: expected a number"),
        ({"action": "weight", "ids": [1]}, "expected value, got nothing"),
        ({"action": "tag", "ids": [1], "value": "two words"}, "expected a tag to be one word"),
        ({"action": "name", "ids": [1, 2], "value": "x"}, "expected one layout to name"),
        ({"action": "note", "ids": [1], "value": "x" * 5000}, "expected a note of at most"),
        ({"action": "note", "ids": [1], "value": "nul\0"}, "binary data"),
        ({"action": "enable", "ids": [1], "force": True}, "expected only action"),
    ],
)
def test_odd_changes_are_refused(
    asked: Any, path: Path, body: dict[str, Any], expected: str
) -> None:
    before = kept(path, 1)
    assert expected in error_of(asked.post(f"{API}/change", json=body))
    assert kept(path, 1) == before


def test_all_of_a_change_is_made_or_nothing(asked: Any, path: Path) -> None:
    assert "no layout #77" in error_of(change(asked, "disable", [1, 77]), 404)
    assert kept(path, 1)["enabled"] == 1


def test_a_locked_book_is_told_and_nothing_is_lost(
    asked: Any, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(books, "PATIENCE", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        assert "is locked" in error_of(change(asked, "disable", [1]))
        # Who only looks does not wait.
        assert asked.get(f"{API}/layouts/1").json()["enabled"]
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert change(asked, "disable", [1]).status_code == 200
    assert kept(path, 1)["enabled"] == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_book_can_be_looked_at(asked: Any, path: Path) -> None:
    path.chmod(0o444)
    assert asked.get(f"{API}/layouts/1").json()["enabled"]
    assert "is read-only" in error_of(change(asked, "disable", [1]))


def test_a_book_that_is_damaged_or_gone_is_told(asked: Any, path: Path) -> None:
    chinese = {"Accept-Language": "zh"}
    path.write_bytes(path.read_bytes()[:5000])
    for ending in ("-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    for place in ("about", "layouts", "layouts/1"):
        answer = asked.get(f"{API}/{place}", headers=chinese)
        assert error_of(answer) == f"{path} 不完整：请用备份"
    assert "is cut short" in error_of(change(asked, "disable", [1]))
    path.write_bytes(b"not a book at all")
    assert "is not a book" in error_of(asked.get(f"{API}/about"))
    path.unlink()
    assert "no such book" in error_of(asked.get(f"{API}/about"))
    assert not path.exists()
