"""The words by which users name opponents, and opponents that a book has kept."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from book_samples import A_MIRRORED, ILLEGAL, A, B, C, make_book

from book.default import human_layouts
from book.panels import find_panel, panel_settings, panel_word
from book.rows import NewLayout, Run
from book.store import Book
from junqi.errors import JunqiError


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book.open(make_book(tmp_path / "sample.db")) as book:
        yield book


def test_the_book_is_its_mixture_by_weight(book: Book) -> None:
    panel = find_panel(book, "book", 1)
    assert (panel.texts, panel.weights) == ((A, B), (0.75, 0.25))


def test_a_tag_is_its_enabled_layouts_equally_often(book: Book) -> None:
    panel = find_panel(book, "book:mine", 1)
    assert (panel.texts, panel.weights) == ((A, C), (1, 1))
    book.set_enabled([1], False)
    assert find_panel(book, "book:mine", 1).texts == (C,)


def test_people_are_those_that_come_with_the_program(book: Book) -> None:
    panel = find_panel(book, "human", 1)
    assert set(panel.texts) == set(human_layouts())
    assert len(panel) > 10


def test_random_ones_depend_on_the_seed(book: Book) -> None:
    assert len(find_panel(book, "random:20", 1)) == 20
    assert find_panel(book, "random:20", 1).digest != find_panel(book, "random:20", 2).digest


def test_letters_are_one_opponent(book: Book) -> None:
    panel = find_panel(book, A_MIRRORED, 1)
    assert (panel.name, panel.texts) == (A, (A,))
    assert panel_word(panel) == A


def test_a_file_has_one_layout_a_line(book: Book, tmp_path: Path) -> None:
    file = tmp_path / "rivals.txt"
    file.write_text(f"{B} a remark\n{C}\n{B}\n")
    panel = find_panel(book, str(file), 1)
    assert (panel.texts, panel.weights) == ((B, C), (2, 1))


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("book:nobody", "no enabled layout in .*sample.db has the tag 'nobody'"),
        ("random:0", "expected random:N with N from 1 to"),
        ("random:x", "expected random:N with N from 1 to"),
        ("random:9999999", "expected random:N with N from 1 to"),
        ("nobody", "expected book, book:TAG, human, random:N, a file or 25 letters, got 'nobody'"),
        ("", "a file or 25 letters, got ''"),
        ("no/such.txt", "got 'no/such.txt', which is no file"),
        (ILLEGAL, "not a legal layout: .* flag"),
        ("human@0123456789", "expected the opponents human@0123456789, got human@"),
    ],
)
def test_who_is_nobody_is_told(book: Book, word: str, message: str) -> None:
    with pytest.raises(JunqiError, match=message):
        find_panel(book, word, 1)


def test_an_empty_mixture_is_told(book: Book) -> None:
    book.set_weight([1, 2], 0)
    with pytest.raises(JunqiError, match=r"in the mixture of .*: see junqi book weight"):
        find_panel(book, "book", 1)


def test_an_illegal_line_of_a_file_is_named(book: Book, tmp_path: Path) -> None:
    file = tmp_path / "rivals.txt"
    file.write_text(f"{A}\n{ILLEGAL}\n")
    with pytest.raises(JunqiError, match=r"rivals.txt:2: not a legal layout"):
        find_panel(book, str(file), 1)


@pytest.mark.parametrize("word", ["book", "book:mine", "human", "file"])
def test_opponents_that_were_kept_are_found_whatever_changes(
    book: Book, tmp_path: Path, word: str
) -> None:
    file = tmp_path / "rivals.txt"
    file.write_text(f"{B}\n{C}\n")
    panel = find_panel(book, str(file) if word == "file" else word, 1)
    kept = panel_word(panel)
    assert kept == f"{panel.name}@{panel.digest}"
    assert find_panel(book, kept, 1).digest == panel.digest
    book.add_run(Run("evaluate-1", "x", panel_settings(panel)))
    book.set_weight([1], 0.1)
    book.add_tags([2], ["mine"])
    file.write_text(A)
    again = find_panel(book, kept, 1)
    assert (again.texts, again.weights, panel_word(again)) == (panel.texts, panel.weights, kept)


def test_a_name_that_means_others_by_now_is_refused(book: Book) -> None:
    kept = panel_word(find_panel(book, "book:mine", 1))
    book.add_layouts([NewLayout(B, tags=("mine",))])
    with pytest.raises(JunqiError, match=f"expected the opponents {kept}, got book:mine@"):
        find_panel(book, kept, 1)


def test_what_a_word_tells_by_itself_is_not_kept(book: Book) -> None:
    for word in ("random:5", A):
        assert panel_settings(find_panel(book, word, 1)) == {"panel": word}
