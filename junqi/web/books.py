"""The book that the pages work on: the first of those that the server was started with."""

from collections.abc import Iterator
from contextlib import contextmanager

from book.default import open_book
from book.errors import BookError
from book.store import Book
from junqi.web.room import Setup

# Seconds that a page waits for another program that is changing the book.
PATIENCE = 2.0


@contextmanager
def reading(setup: Setup) -> Iterator[Book]:
    """The book, to read from: what others do to it meanwhile is not in the way.

    Raises:
        BookError: if there is none, or it cannot be read.
    """
    with open_book(_names(setup), read_only=True) as book:
        yield book


@contextmanager
def writing(setup: Setup) -> Iterator[Book]:
    """The book, to be changed.

    Raises:
        BookError: if there is none, or it is locked, read-only or damaged.
    """
    with open_book(_names(setup), wait=PATIENCE) as book:
        yield book


def _names(setup: Setup) -> tuple[str, ...]:
    if not setup.options.use_book:
        raise BookError("expected a book, but junqi web was started without one")
    return setup.options.book
