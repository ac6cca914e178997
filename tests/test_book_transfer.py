"""Books as text: exact round trips, bad lines named; merging and comparing books."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from book_samples import A_MIRRORED, ILLEGAL, RUN, A, B, C, make_book
from hypothesis import given
from hypothesis import strategies as st

from book import default, transfer
from book.default import (
    book_paths,
    build_default,
    default_path,
    default_text,
    human_layouts,
    open_book,
    open_layers,
)
from book.errors import BookError
from book.letters import canonical_letters
from book.rows import Evidence, NewLayout, Opening, Payoff, Run
from book.store import Book, game_from_record
from book.words import format_line, parse_line
from junqi.engine import LAYOUTS_AT_HAND
from junqi.layout import format_layout, random_layouts
from junqi.pieces import RED
from junqi.record import open_records

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_book(tmp_path / "book.db")


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Book]:
    with Book.create(tmp_path / "empty.db") as book:
        yield book


def text_of(path: Path | Book) -> str:
    if isinstance(path, Book):
        return "".join(transfer.export_lines(path))
    with Book.open(path, read_only=True) as book:
        return "".join(transfer.export_lines(book))


def some_layouts(count: int) -> list[str]:
    return [format_layout(row) for row in random_layouts(count, 1)]


# Lines

texts = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=20)


@given(
    st.lists(texts, min_size=1, max_size=4),
    st.dictionaries(st.sampled_from(["a", "notes", "x_y"]), texts, max_size=3),
)
def test_any_text_goes_through_a_line(words: list[str], values: dict[str, str]) -> None:
    line = format_line([f"w{word}" for word in words], values)
    assert "\n" not in line
    assert "\r" not in line
    assert line.isprintable()
    assert parse_line(line, len(words)) == ([f"w{word}" for word in words], values)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_goes_through_a_line(number: float) -> None:
    _, values = parse_line(format_line([], {"n": number}), 0)
    assert float(values["n"]) == number


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("layout", "expected 2 words, got 1"),
        ("layout abc weight", "expected name=value, got 'weight'"),
        ('layout abc name="x', "expected a word or a quoted text"),
        ('layout abc name=x"y"', "expected a word or a quoted text"),
        ('layout abc name="x"y', "expected a word or a quoted text"),
        ("layout abc a=1 a=2", "expected a once, got it twice"),
        (r'layout abc a="\u{d800}"', "expected the number of a letter"),
        (r'layout abc a="\u{ffffff}"', "expected the number of a letter"),
    ],
)
def test_a_line_that_cannot_be_read_is_told(line: str, message: str) -> None:
    with pytest.raises(BookError, match=message):
        parse_line(line, 2)


# Export and import


def test_the_text_of_a_book_is_for_people(path: Path) -> None:
    lines = text_of(path).splitlines()
    assert lines[0] == "# junqi book 1"
    layouts = [line for line in lines if line.startswith("layout")]
    assert layouts[0].startswith(
        f"layout {A} origin=evolved role=both weight=0.75 name=Wall tags=mine,old created="
    )
    assert 'notes="weak on the left\\nlost twice"' in layouts[1]
    assert [line.split()[1] for line in layouts] == sorted([A, B, C])
    assert lines[-2].startswith(
        f"opening {A} start G0F0 ply=0 visits=50 score=0.55 error=0.02 weight=0.75 source="
    )
    assert "enabled=no" in lines[-1]


def test_a_round_trip_is_exact(path: Path, empty: Book) -> None:
    with Book.open(path) as book:
        record = next(open_records(DOCS / "example.junqi"))
        book.add_layouts([NewLayout(record.red_layout or "", weight=1 / 3)])
        book.add_games([game_from_record(record, RED, "a file")])
        book.set_note([1], 'quotes " and \\ and\ttabs, 军棋, \x1b[31m, \u2028')
    text = text_of(path)
    report = transfer.import_lines(empty, text.splitlines(), "text")
    assert (report.rows, report.faults) == (11, [])
    assert text_of(empty) == text
    assert list(empty.check()) == []
    with empty.change("again") as change:
        transfer.import_lines(empty, text.splitlines(), "text")
    assert not change


@given(
    notes=texts,
    name=st.text(st.characters(whitelist_categories=["L", "N", "P"]), max_size=9),
    key=st.text(st.characters(whitelist_categories=["L", "N", "P", "S"]), min_size=1, max_size=9),
    weight=st.floats(0, 1e200),
    seed=st.integers(0, 2**63 - 1),
)
def test_whatever_a_book_holds_the_round_trip_is_exact(
    tmp_path_factory: pytest.TempPathFactory,
    notes: str,
    name: str,
    key: str,
    weight: float,
    seed: int,
) -> None:
    folder = tmp_path_factory.mktemp("trip")
    with Book.create(folder / "a.db") as book, Book.create(folder / "b.db") as other:
        with book.change("all"):
            book.add_run(Run("r", notes, {name: [notes, weight]}, seed, notes=notes))
            book.add_layouts([NewLayout(A, weight=weight, name=name, notes=notes, run="r")])
            book.add_evidence([Evidence(A, notes, name, 1, 1, 0, 0, weight, seed, command=notes)])
            book.add_openings([Opening(A, key, "G0F0", weight=weight, notes=notes, source=name)])
        text = text_of(book)
        transfer.import_lines(other, text.split("\n"), "text")
        assert text_of(other) == text


def test_files_are_written_whole_or_not_at_all(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "book.txt"
    with Book.open(path, read_only=True) as book:
        transfer.export_file(book, target)
        assert target.read_bytes() == text_of(path).encode()

        def broken(book: Book) -> Iterator[str]:
            yield "half"
            raise BookError("no")

        monkeypatch.setattr(transfer, "export_lines", broken)
        with pytest.raises(BookError, match="no"):
            transfer.export_file(book, target)
    monkeypatch.undo()
    assert target.read_bytes() == text_of(path).encode()
    assert not [file for file in tmp_path.iterdir() if "part" in file.name]


@pytest.mark.parametrize("change", ["\r\n", "bom", "comments", "indented"])
def test_files_are_read_as_editors_leave_them(
    path: Path, empty: Book, tmp_path: Path, change: str
) -> None:
    text = text_of(path)
    edited = {
        "\r\n": text.replace("\n", "\r\n"),
        "bom": "\ufeff" + text,
        "comments": "# by me\n\n" + text.replace("\n\n", "\n# more\n\n\n"),
        "indented": text.replace("\nlayout", "\n  layout"),
    }[change]
    file = tmp_path / "edited.txt"
    file.write_bytes(edited.encode())
    transfer.import_file(empty, file)
    assert text_of(empty) == text


def test_a_line_makes_a_known_row_what_it_says(path: Path) -> None:
    text = text_of(path)
    edited = text.replace("tags=mine,old ", "tags=new ").replace("weight=0.25", "weight=0.5")
    with Book.open(path) as book:
        with book.change("edit") as change:
            transfer.import_lines(book, edited.splitlines(), "edited")
        assert change.summary == (
            "1 layout changed, 1 tag added, 2 tags removed, 1 opening move changed"
        )
        assert text_of(book) == edited
        book.undo()
        assert text_of(book) == text


def test_an_illegal_layout_among_ten_thousand_is_named_and_nothing_imported(
    empty: Book, tmp_path: Path
) -> None:
    lines = [f"layout {row} weight=1" for row in some_layouts(10_000)]
    lines[5_000] = f"layout {ILLEGAL} weight=1"
    file = tmp_path / "many.txt"
    file.write_text("# junqi book 1\n" + "\n".join(lines))
    with pytest.raises(BookError, match=f"^{file}:5002: not a legal layout: '{ILLEGAL}'"):
        transfer.import_file(empty, file)
    assert empty.count_layouts() == 0
    assert empty.changes() == []
    report = transfer.import_file(empty, file, keep_going=True)
    assert len(report.faults) == 1
    assert report.faults[0].startswith(f"{file}:5002: not a legal layout")
    assert empty.count_layouts() == report.rows == 9_999
    assert len(empty.changes()) == 1
    assert list(empty.check()) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "text:3: expected a line of run, layout, evidence"),
        (f"layout {A} colour=red", "text:3: expected nothing named 'colour' here"),
        (f"layout {A} weight=much", "text:3: expected weight to be a number, got 'much'"),
        (f"layout {A} weight=-1", "text:3: expected a weight of 0 or more"),
        (f"layout {A} weight=nan", "text:3: expected a weight of 0 or more"),
        (f"layout {A} enabled=1", "text:3: expected enabled to be yes or no, got '1'"),
        (f"layout {A} run=none", "text:3: expected a run of this book, got 'none'"),
        (f"layout {A} tags=a,,b", "text:3: expected a tag to be one word"),
        (f"evidence {A}", "text:3: expected games=..., got none"),
        (f"evidence {A} games=x", "text:3: expected games to be a whole number"),
        (
            f"evidence {A} games=2 wins=2 draws=2 losses=0 error=0",
            "text:3: expected wins, draws and losses to be 2 games",
        ),
        (
            f"evidence {C} games=2 wins=2 draws=0 losses=0 error=0",
            "text:3: .*expected a layout of this book",
        ),
        (f"payoff {A}", "text:3: expected 3 words, got 2"),
        (
            f"payoff {A} {A_MIRRORED} games=2 wins=2 draws=0 losses=0 error=0",
            "text:3: expected two layouts",
        ),
        (f"opening {A} k XXXX", "text:3: expected a move like G0F0"),
        (f"opening {A} k G0F0 score=2", "text:3: expected a score from 0 to 1"),
        ("run r settings=[]", "text:3: expected settings to be an object"),
        ('run r settings="{"', "text:3: expected settings to be an object"),
        ("run r status=lost", "text:3: expected status to be one of"),
        ('game 00 record="x"', "text:3: expected the digest"),
        ("# junqi book 2", "text: expected text of format 1 or older, got 2"),
    ],
)
def test_a_bad_line_is_named_and_the_others_can_be_kept(
    empty: Book, line: str, message: str
) -> None:
    lines = ["# junqi book 1", f"layout {A} weight=1", line, f"layout {B} weight=1"]
    with pytest.raises(BookError, match=f"^{message}"):
        transfer.import_lines(empty, lines, "text")
    assert empty.count_layouts() == 0
    if line.startswith("#"):
        return
    report = transfer.import_lines(empty, lines, "text", keep_going=True)
    assert len(report.faults) == 1
    assert [row.layout for row in empty.layouts()] == [A, B]
    assert [row.weight for row in empty.layouts()] == [1, 1]


def test_plain_lists_of_layouts_are_read_too(empty: Book, tmp_path: Path) -> None:
    file = tmp_path / "list.tsv"
    file.write_text(f"layout\torigin\n{A}\tme\n\n# more\n{A_MIRRORED}, the same\n{B}\n")
    report = transfer.import_file(empty, file, origin="human", role="opponent", tags=("mine",))
    assert report.rows == 3
    rows = empty.layouts()
    assert [(row.layout, row.origin, row.role, row.tags) for row in rows] == [
        (A, "human", "opponent", ("mine",)),
        (B, "human", "opponent", ("mine",)),
    ]


def test_a_plain_list_leaves_what_it_does_not_say(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    file.write_text(f"{A}\n{ILLEGAL}\n{B}\n")
    with Book.open(path) as book:
        before = text_of(book)
        with pytest.raises(BookError, match=f"{file}:2: not a legal layout"):
            transfer.import_file(book, file)
        assert len(transfer.import_file(book, file, keep_going=True).faults) == 1
        assert text_of(book) == before


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "expected the text of a book or one layout a line, got neither"),
        (b"# nothing\n", "expected the text of a book or one layout a line, got neither"),
        (b"# junqi book 1\nlayout \xff\n", r":2: expected text in UTF-8, got the byte 0xff"),
        (b"SQLite format 3\0", ":1: expected text in UTF-8, got binary data"),
    ],
)
def test_what_is_no_text_is_told(empty: Book, tmp_path: Path, data: bytes, message: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    with pytest.raises(BookError, match=message):
        transfer.import_file(empty, file)


def test_text_comes_from_standard_input_and_goes_to_standard_output(
    path: Path, empty: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(io.TextIOWrapper(io.BytesIO(), "ascii")) as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        with Book.open(path, read_only=True) as book:
            transfer.export_file(book, "-")
        text = pipe.buffer.getvalue()
    assert "左翼".encode() in text
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text), "ascii"))
    transfer.import_file(empty, "-")
    assert text_of(empty) == text_of(path)


def test_an_import_in_a_change_is_part_of_it(path: Path, empty: Book) -> None:
    with empty.change("both") as change:
        empty.add_layouts([NewLayout(C, weight=5)])
        transfer.import_lines(empty, text_of(path).splitlines(), "text")
    assert change.counts["layouts"].added == 3
    assert [entry.what for entry in empty.changes()] == ["both"]
    with empty.change("dry", dry_run=True) as change:
        transfer.import_lines(empty, [f"layout {A}"], "text")
    assert change.summary == "1 layout changed, 2 tags removed"
    assert empty.find_layout(A).weight == 0.75


# Merge


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A book that shares two layouts with the sample, and tells some of it otherwise."""
    path = tmp_path / "other.db"
    letters = canonical_letters(some_layouts(1)[0])
    with Book.create(path) as book, book.change("make another"):
        book.add_run(Run("r2", "junqi layout evolve --seed 2"))
        book.add_layouts(
            [
                NewLayout(letters, "evolved", weight=1, run="r2"),
                NewLayout(C, "seen", "own", 0.5, tags=("theirs",), name="C"),
                NewLayout(A, "human", "both", 0.75, notes="seen twice", enabled=False),
            ]
        )
        book.add_evidence(
            [
                Evidence(A, "random:10", "policy", 100, 50, 0, 50, 0.05, 8),
                Evidence(A, "random:10", "policy", 100, 61, 9, 30, 0.05, 7, "fresh", "0.1.0",
                         f"junqi book evaluate {A} --panel random:10 --games 100 --seed 7"),
            ]
        )  # fmt: skip
        book.add_payoffs([Payoff(A, C, "policy", 10, 5, 0, 5, 0.1, seed=1)])
        book.add_openings(
            [
                Opening(A, "start", "G0F0", 0, 500, 0.6, 0.01, 0.5, False),
                Opening(A, "start", "G2F2", 0, 20, 0.4),
                Opening(A, "other", "G2F2"),
            ]
        )
    return path


def test_merging_pools_evidence_and_names_conflicts(path: Path, other: Path) -> None:
    with Book.open(path) as book:
        report = transfer.merge(book, [other])
        assert sorted(report.conflicts) == [
            f"{other}: evidence of {A} against random:10 by policy, seed 7, 100 games: "
            "60 won, 10 drawn, 30 lost here, 61 won, 9 drawn, 30 lost there; kept ours",
            f"{other}: layout {A}: enabled True here, False there; kept True",
            f"{other}: layout {C}: name '左翼' here, 'C' there; kept '左翼'",
            f"{other}: layout {C}: weight 0.0 here, 0.5 there; kept 0.0",
            f"{other}: opening {A} start G0F0: enabled True here, False there; kept True",
            f"{other}: opening {A} start G2F2: enabled False here, True there; kept False",
            f"{other}: opening {A} start G2F2: score 0.5 here, 0.4 there; kept 0.5",
        ]
        assert book.count_layouts() == 4
        first, _, third, new = book.layouts()
        assert (first.origin, first.notes, first.run) == ("human", "seen twice", RUN)
        assert (first.games, first.score) == (200, (65 + 50) / 200)
        assert (third.role, third.tags, third.origin) == ("both", ("mine", "theirs"), "human")
        assert (new.run, new.weight) == ("r2", 1)
        assert len(book.payoffs()) == 2
        better = book.opening(A, "start", "G0F0")
        assert better is not None
        assert (better.visits, better.score, better.enabled) == (500, 0.6, True)
        assert book.opening(A, "other", "G2F2") is not None
        assert list(book.check()) == []


def test_merging_again_changes_nothing(path: Path, other: Path) -> None:
    before = text_of(path)
    with Book.open(path) as book:
        transfer.merge(book, [other])
        with book.change("again") as change:
            transfer.merge(book, [other])
        assert not change
        book.undo()
    assert text_of(path) == before


def test_several_books_become_one_and_undo_parts_them(path: Path, other: Path, empty: Book) -> None:
    transfer.merge(empty, [path, other])
    assert empty.count_layouts() == 4
    assert [entry.what for entry in empty.changes()] == [f"merge {path} {other}"]
    empty.undo()
    assert text_of(empty) == "# junqi book 1\n"


def test_merging_a_copy_gives_the_copy(path: Path, empty: Book) -> None:
    report = transfer.merge(empty, [path])
    assert report.conflicts == []
    assert report.rows == 9
    assert text_of(empty) == text_of(path)


def test_what_cannot_be_merged_leaves_all_as_it_was(
    path: Path, empty: Book, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.db"
    bad.write_text("no book")
    for paths in ([path, bad], [path, empty.path], [path, tmp_path / "none.db"]):
        with pytest.raises(BookError):
            transfer.merge(empty, paths)
        assert empty.count_layouts() == 0


# Diff


def test_a_book_does_not_differ_from_a_copy(path: Path, empty: Book) -> None:
    transfer.import_lines(empty, text_of(path).splitlines(), "text")
    assert list(transfer.diff(path, empty.path)) == []
    assert list(transfer.diff(path, path)) == []


def test_every_difference_is_named(path: Path, other: Path) -> None:
    differences = list(transfer.diff(path, other))
    assert [(one.section, one.key, one.side) for one in differences][:2] == [
        ("run", RUN, "a"),
        ("run", "r2", "b"),
    ]
    layout = next(one for one in differences if one.section == "layout" and one.key == A)
    assert layout.side == "both"
    assert layout.fields["name"] == ("Wall", "")
    assert layout.fields["enabled"] == (True, False)
    assert layout.fields["tags"] == (("mine", "old"), ())
    assert "weight" not in layout.fields
    assert "score" not in layout.fields
    evidence = [one for one in differences if one.section == "evidence" and one.side == "both"]
    assert evidence[0].fields["wins"] == (60, 61)
    opening = [one for one in differences if one.section == "opening"]
    assert [(one.key, one.side) for one in opening] == [
        (f"{A} other G2F2", "b"),
        (f"{A} start G0F0", "both"),
        (f"{A} start G2F2", "both"),
    ]
    turned = list(transfer.diff(other, path))
    assert [one.side for one in turned] == [
        {"a": "b", "b": "a", "both": "both"}[one.side] for one in differences
    ]


# The default book


def test_the_default_book_is_built_from_its_text_exactly(tmp_path: Path) -> None:
    build_default(tmp_path / "book.db")
    with Book.open(tmp_path / "book.db", read_only=True) as book:
        assert text_of(book) == default_text()
        assert list(book.check()) == []
        # Those that the engine has at hand without a book, and it knows opening moves for them.
        assert {row.layout for row in book.mixture()} == set(LAYOUTS_AT_HAND)
        for row in book.mixture():
            assert book.openings(row.layout)
        assert {(row.weight, row.origin) for row in book.mixture()} == {(1.0, "evolved")}
        assert book.stats().by_origin == {"human": 30, "evolved": 6}
        assert book.stats().opening_layouts == 6
        assert len(book.find_layouts(["tag:team-a"])) == 9
    with pytest.raises(BookError, match="is there already"):
        build_default(tmp_path / "book.db")
    assert [file.name for file in tmp_path.iterdir() if "part" in file.name] == []


def test_peoples_layouts_come_with_the_package() -> None:
    layouts = human_layouts()
    assert len(set(layouts)) == 30
    assert all(canonical_letters(row) == row for row in layouts)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user who has no book yet."""
    monkeypatch.delenv("JUNQI_BOOK", raising=False)
    path = tmp_path / "home" / "junqi" / "book.db"
    monkeypatch.setattr(default, "default_path", lambda: path)
    return path


def test_the_default_book_is_made_at_its_first_use(home: Path) -> None:
    assert book_paths() == [home]
    with open_book(read_only=True) as book:
        assert book.path == home
        assert book.count_layouts() == 36
    with open_book() as book:
        book.set_weight([1], 5)
    with open_layers() as layers:
        assert layers.books[0].layouts()[0].weight == 5


def test_another_book_is_not_made(home: Path, tmp_path: Path) -> None:
    with pytest.raises(BookError, match="no such book; `junqi book init` makes one"):
        open_book([tmp_path / "none.db"])
    with pytest.raises(BookError, match="no such book"):
        open_layers([tmp_path / "none.db"])
    assert not home.exists()


def test_options_come_before_the_variable_and_that_before_the_default(
    home: Path, path: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUNQI_BOOK", f"{path}{os.pathsep}{other}")
    assert book_paths() == [path, other]
    assert book_paths([str(other)]) == [other]
    with open_layers() as layers:
        assert [book.path for book in layers.books] == [path, other]
    with open_book([other]) as book:
        assert book.path == other
    monkeypatch.setenv("JUNQI_BOOK", "")
    assert book_paths() == [home]


def test_a_folder_that_cannot_be_made_is_told(home: Path) -> None:
    home.parent.parent.mkdir()
    home.parent.write_text("a file in its place")
    with pytest.raises(BookError, match="cannot be made"):
        open_book()


def test_the_default_book_is_in_the_platforms_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    assert default_path().name == "book.db"
    assert default_path().parent.name == "junqi"


def test_a_replaced_opening_keeps_its_id(path: Path) -> None:
    with Book.open(path) as book:
        before = book.opening(A, "start", "G0F0")
        assert before is not None
        book.add_openings([replace(before, visits=1)])
        after = book.opening(A, "start", "G0F0")
        assert after == replace(before, visits=1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no links or pipes to speak of on Windows")
def test_an_export_leaves_links_and_pipes_what_they_are(tmp_path: Path) -> None:
    with Book.create(tmp_path / "a.db") as book:
        real, link, pipe = tmp_path / "real.txt", tmp_path / "link.txt", tmp_path / "pipe"
        real.write_text("old", encoding="utf-8")
        link.symlink_to(real)
        transfer.export_file(book, link)
        assert link.is_symlink()
        assert real.read_text(encoding="utf-8").startswith("# junqi book")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            transfer.export_file(book, pipe)
            assert os.read(reader, 100).startswith(b"# junqi book")
        finally:
            os.close(reader)
        assert not pipe.is_file()
        with pytest.raises(BookError, match="expected a file to replace"):
            book.backup(pipe, overwrite=True)
