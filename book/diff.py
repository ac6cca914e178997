"""In what two books differ, whatever the ids of their rows."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from book.dump import SECTIONS, Row, dump, row_key, sort_key
from book.rows import BookLayout
from book.store import Book

# What is worked out from other rows, or is a book's own.
_NOT_COMPARED = {"id"}
_NOT_COMPARED_OF_LAYOUTS = {"id", "games", "score", "error"}


@dataclass(frozen=True)
class Difference:
    """A row that only one of two books has, or that they have differently."""

    section: str
    """The kind of row, as in the text format."""
    key: str
    """What tells the row from others."""
    side: Literal["a", "b", "both"]
    """Which book has it."""
    fields: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    """What both have differently, as the first and the second book say."""


def diff(a: str | Path, b: str | Path) -> Iterator[Difference]:
    """Compare two books row by row, in the order of the text format.

    Raises:
        BookError: if one cannot be opened.
    """
    with Book.open(a, read_only=True) as first, Book.open(b, read_only=True) as second:
        yield from _compared(dump(first), dump(second))


def _compared(first: Iterator[Row], second: Iterator[Row]) -> Iterator[Difference]:
    a, b = next(first, None), next(second, None)
    while a is not None or b is not None:
        if b is None or (a is not None and sort_key(a) < sort_key(b)):
            assert a is not None
            yield _difference(a, "a")
            a = next(first, None)
        elif a is None or sort_key(b) < sort_key(a):
            yield _difference(b, "b")
            b = next(second, None)
        else:
            if fields := _different_fields(a, b):
                yield _difference(a, "both", fields)
            a, b = next(first, None), next(second, None)


def _different_fields(a: Row, b: Row) -> dict[str, tuple[Any, Any]]:
    left_out = _NOT_COMPARED_OF_LAYOUTS if isinstance(a, BookLayout) else _NOT_COMPARED
    mine, other = vars(a), vars(b)
    return {
        name: (mine[name], other[name])
        for name in mine
        if name not in left_out and mine[name] != other[name]
    }


def _difference(
    row: Row,
    side: Literal["a", "b", "both"],
    fields: dict[str, tuple[Any, Any]] | None = None,
) -> Difference:
    words = [str(part) for part in row_key(row) if part not in ("", -1)]
    return Difference(SECTIONS[type(row)], " ".join(words), side, fields or {})
