"""The book that everything works with when nobody has made one.

It comes with the package as text, and is built into a real book at its first use, in the platform's
folder for data. ``JUNQI_BOOK`` and the option ``--book`` name other ones. Nothing heavy is imported
here before a book is opened: the engine asks for the paths before its first reply.
"""

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from book.errors import BookError

if TYPE_CHECKING:
    from book.layers import Layers
    from book.store import Book

VARIABLE = "JUNQI_BOOK"


def default_path() -> Path:
    """Where the user's own book is, if nothing else is said."""
    from platformdirs import user_data_path

    return user_data_path("junqi") / "book.db"


def book_paths(options: Sequence[str | Path] = ()) -> list[Path]:
    """The books to use, the most trusted first.

    Args:
        options: what the user named with ``--book``. If nothing, ``JUNQI_BOOK`` names the books,
            several as in ``PATH``; if it is not set, it is the default book.
    """
    if options:
        return [Path(option).expanduser() for option in options]
    named = [word for word in os.environ.get(VARIABLE, "").split(os.pathsep) if word]
    return [Path(word).expanduser() for word in named] or [default_path()]


def open_book(
    options: Sequence[str | Path] = (), read_only: bool = False, *, wait: float = 5.0
) -> "Book":
    """Open the first of the books to use; the default book is made if it is not there.

    Args:
        options: see `book_paths`.
        read_only: see `Book.open`, also of the seconds to wait.

    Raises:
        BookError: if it cannot be opened.
    """
    from book.store import Book

    path = book_paths(options)[0]
    _make_if_default(path)
    return Book.open(path, read_only, wait=wait)


def open_layers(options: Sequence[str | Path] = ()) -> "Layers":
    """Open all the books to use for reading; the default book is made if it is not there.

    Raises:
        BookError: if one cannot be opened.
    """
    from book.layers import Layers

    paths = book_paths(options)
    for path in paths:
        _make_if_default(path)
    return Layers(paths)


def build_default(path: str | Path) -> None:
    """Make a book with what comes with the package.

    It gets its name when it is whole. If two processes make it at once, one of them wins.

    Raises:
        BookError: if there is a file of that name, or none can be made.
    """
    from book.file import beside, remove_database, telling
    from book.store import Book, give_name, make_part
    from book.transfer import import_lines

    path = Path(path)
    if path.exists():
        raise BookError(f"{path}: is there already")
    part = beside(path)
    try:
        with telling(path):
            make_part(part)
        with Book.open(part) as book, book.change("the book that comes with junqi"):
            import_lines(book, default_text().splitlines(), "default_book.txt")
        give_name(part, path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BookError(f"{path}: cannot be written: {reason}") from None
    finally:
        remove_database(part)


@cache
def default_text() -> str:
    """The default book in the text format; it is kept compressed, 2 MB being a lot to carry."""
    from gzip import decompress
    from importlib.resources import files

    data = (files("book") / "data" / "default_book.txt.gz").read_bytes()
    return decompress(data).decode("utf-8")


def human_layouts() -> list[str]:
    """People's layouts that come with the package, in canonical form."""
    from book.lines import parse_row
    from book.rows import NewLayout

    rows = [parse_row(line) for line in default_text().splitlines() if line.startswith("layout ")]
    return [row.layout for row in rows if isinstance(row, NewLayout) and row.origin == "human"]


def _make_if_default(path: Path) -> None:
    if path.exists() or path != default_path():
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BookError(f"{path.parent}: cannot be made: {reason}; --book names a book") from None
    try:
        build_default(path)
    except BookError:
        if not path.exists():  # else another process has made it first
            raise
