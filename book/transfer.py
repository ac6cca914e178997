"""Books as text: written in a fixed order, one row a line, and read again exactly.

    # junqi book 1
    layout abccddeeffggghhhiiijjkklj origin=human role=both weight=0.25 name="The old one"

Rows stand in the order of `book.dump`, so that two exports can be compared line by line. Blank
lines and lines that begin with ``#`` mean nothing when read.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from book.diff import Difference, diff
from book.dump import dump
from book.errors import BookError, BookFileError
from book.file import beside, sync_file
from book.lines import WORDS, NewRow, format_row, parse_row
from book.merge import MergeReport, merge
from book.rows import Evidence, Game, NewLayout, Opening, Origin, Payoff, Role, Run
from book.store import Book
from junqi.errors import JunqiError
from junqi.layout_file import find_layouts
from junqi.textfile import STDIN, source_name

__all__ = [
    "Difference",
    "ImportReport",
    "MergeReport",
    "diff",
    "export_file",
    "export_lines",
    "import_file",
    "import_lines",
    "merge",
]

FORMAT_VERSION = 1

_HEADER = re.compile(r"#\s*junqi book ([0-9]{1,9})\s*")
_LAYOUT_LINE = re.compile(r"layout\s+[a-l]{25}(\s|$)")
_ROWS_AT_ONCE = 10_000
_LINES_AT_ONCE = 1_000


@dataclass
class ImportReport:
    """What came of reading a text."""

    rows: int = 0
    """So many were read; what they changed tells the change."""
    faults: list[str] = field(default_factory=list)
    """What was left out, each with its line."""


def export_lines(book: Book) -> Iterator[str]:
    """A book as lines of text, with their ends."""
    yield f"# junqi book {FORMAT_VERSION}\n"
    kind = None
    for row in dump(book):
        if kind is not None and type(row) is not kind:
            yield "\n"
        kind = type(row)
        yield f"{format_row(row)}\n"


def export_file(book: Book, path: str | Path) -> None:
    """Write a book as a text file, or to standard output for ``-``.

    The file appears under its name only when it is whole. What stands there and is no file, such
    as a pipe, is written into as it is.

    Raises:
        BookError: if the book cannot be read.
        OSError: if the file cannot be written.
    """
    if str(path) == STDIN:
        _write(sys.stdout.buffer, export_lines(book))
        sys.stdout.buffer.flush()
        return
    path = Path(os.path.realpath(path))  # a link stays a link
    if path.exists() and not path.is_file():
        with open(path, "wb") as file:
            _write(file, export_lines(book))
        return
    part = beside(path)
    try:
        with open(part, "wb") as file:
            _write(file, export_lines(book))
        sync_file(part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def import_file(
    book: Book,
    path: str | Path,
    *,
    keep_going: bool = False,
    origin: Origin | None = None,
    role: Role | None = None,
    tags: tuple[str, ...] = (),
) -> ImportReport:
    """Read a text into a book: all of it, or nothing.

    Args:
        path: the text of a book, or a plain list of layouts; ``-`` for standard input.
        keep_going: leave bad lines out and read all others.
        origin: of the layouts of a plain list, and so are role and tags.

    Raises:
        BookError: naming the first bad line, unless `keep_going`.
        OSError: if the file cannot be read.
    """
    source = source_name(str(path))
    with nullcontext(sys.stdin.buffer) if str(path) == STDIN else open(path, "rb") as file:
        lines = _decoded(file, source)
        head = list(_head(lines))
        if _is_book_text(head):
            return import_lines(book, chain(head, lines), source, keep_going=keep_going)
        text = "".join(chain(head, lines))
    found = find_layouts(text, source)
    if not found:
        raise BookError(f"{source}: expected the text of a book or one layout a line, got neither")
    rows = (
        (layout.line or 0, NewLayout(layout.text, origin=origin, role=role, tags=tags))
        for layout in found
    )
    return _import_rows(book, rows, source, ImportReport(), keep_going)


def import_lines(
    book: Book, lines: Iterable[str], source: str, *, keep_going: bool = False
) -> ImportReport:
    """Read the text of a book, taking the lines one after the other.

    A layout, run, evidence, payoff or opening move that the book holds already becomes what the
    line says.

    Args:
        source: what errors call the text.

    Raises:
        BookError: naming the first bad line, unless `keep_going`.
    """
    report = ImportReport()
    rows = _parsed(lines, source, report, keep_going)
    return _import_rows(book, rows, source, report, keep_going)


def _import_rows(
    book: Book,
    rows: Iterable[tuple[int, NewRow]],
    source: str,
    report: ImportReport,
    keep_going: bool,
) -> ImportReport:
    """Add numbered rows in parts; a part that fails is gone through row by row."""
    with book.change(f"import {source}"):
        for part in _parts(rows):
            if _try_to_add(book, [row for _, row in part], keep_going) is None:
                report.rows += len(part)
                continue
            for number, row in part:
                fault = _try_to_add(book, [row], keep_going)
                if fault is None:
                    report.rows += 1
                elif keep_going:
                    report.faults.append(f"{source}:{number}: {fault}")
                else:
                    raise BookError(f"{source}:{number}: {fault}")
    return report


def _try_to_add(book: Book, rows: list[NewRow], all_or_none: bool) -> JunqiError | None:
    """Add rows of one kind; what is wrong if it fails.

    Args:
        all_or_none: if it fails, leave no row of them; takes twice the time, and can be spared
            when the whole import is to be given up anyway.
    """
    with _savepoint(book) if all_or_none else nullcontext():
        try:
            _add(book, rows)
        except BookFileError:
            raise  # this is not about a row
        except JunqiError as error:
            if all_or_none:
                book.connection.execute("ROLLBACK TO part")
            return error
    return None


@contextmanager
def _savepoint(book: Book) -> Iterator[None]:
    book.connection.execute("SAVEPOINT part")
    try:
        yield
    finally:
        if book.connection.in_transaction:
            book.connection.execute("RELEASE part")


def _add(book: Book, rows: list[Any]) -> None:
    kind = type(rows[0])
    if kind is Run:
        for run in rows:
            book.add_run(run)
    elif kind is NewLayout:
        # A line of a book says all there is to say; one of a plain list only the letters.
        book.add_layouts(rows, replace=rows[0].weight is not None)
    elif kind is Evidence:
        book.add_evidence(rows)
    elif kind is Payoff:
        book.add_payoffs(rows)
    elif kind is Opening:
        book.add_openings(rows)
    elif kind is Game:
        book.add_games(rows)


def _parts(rows: Iterable[tuple[int, NewRow]]) -> Iterator[list[tuple[int, NewRow]]]:
    """Runs of rows of one kind, not too long."""
    part: list[tuple[int, NewRow]] = []
    for number, row in rows:
        if part and (len(part) >= _ROWS_AT_ONCE or type(row) is not type(part[0][1])):
            yield part
            part = []
        part.append((number, row))
    if part:
        yield part


def _parsed(
    lines: Iterable[str], source: str, report: ImportReport, keep_going: bool
) -> Iterator[tuple[int, NewRow]]:
    """The rows of the lines, with the numbers of the lines."""
    for number, line in enumerate(lines, start=1):
        line = line.strip()
        if not line:
            continue
        if line.startswith("#"):
            _check_header(line, source)
            continue
        try:
            yield number, parse_row(line)
        except JunqiError as error:
            if not keep_going:
                raise BookError(f"{source}:{number}: {error}") from None
            report.faults.append(f"{source}:{number}: {error}")


def _check_header(line: str, source: str) -> None:
    match = _HEADER.fullmatch(line)
    if match and int(match[1]) > FORMAT_VERSION:
        raise BookError(
            f"{source}: expected text of format {FORMAT_VERSION} or older, got {match[1]}: "
            "it was made by a newer junqi; update this one"
        )


def _decoded(file: Iterable[bytes], source: str) -> Iterator[str]:
    for number, raw in enumerate(file, start=1):
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            byte = f"0x{raw[error.start]:02x}"
            raise BookError(
                f"{source}:{number}: expected text in UTF-8, got the byte {byte}"
            ) from None
        if "\0" in line:
            raise BookError(f"{source}:{number}: expected text in UTF-8, got binary data")
        yield line


def _head(lines: Iterator[str]) -> Iterator[str]:
    """The first lines, up to the one that tells what a text is."""
    for line in lines:
        yield line
        if _HEADER.fullmatch(line.strip()) or (line.strip() and not line.lstrip().startswith("#")):
            return


def _is_book_text(head: list[str]) -> bool:
    last = head[-1].strip() if head else ""
    if _HEADER.fullmatch(last) or _LAYOUT_LINE.match(last):
        return True
    section = last.split(maxsplit=1)[:1]
    return section not in ([], ["layout"]) and section[0] in WORDS


def _write(file: Any, lines: Iterator[str]) -> None:
    part: list[str] = []
    for line in lines:
        part.append(line)
        if len(part) >= _LINES_AT_ONCE:
            file.write("".join(part).encode())
            part.clear()
    file.write("".join(part).encode())
