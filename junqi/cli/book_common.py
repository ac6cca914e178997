"""What the commands of ``junqi book`` share: which book, which layouts, telling what changed."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from junqi.cli.common import UnexpectedValue, choice_option, note, wrong_usage

if TYPE_CHECKING:
    from book.layers import Layers
    from book.rows import BookLayout
    from book.store import Book

# The word for all layouts that the engine draws from.
MIXTURE = "mixture"
# A longer command line is cut in the book's log.
_LONGEST_LOG = 500


class OriginChoice(StrEnum):
    """Where a layout came from."""

    EVOLVED = "evolved"
    HUMAN = "human"
    IMPORTED = "imported"
    SEEN = "seen"


class RoleChoice(StrEnum):
    """What a layout is in the book for."""

    OWN = "own"
    OPPONENT = "opponent"
    BOTH = "both"


class MovesChoice(StrEnum):
    """In which turn a layout is played."""

    BOTH = "both"
    FIRST = "first"
    SECOND = "second"


class TurnChoice(StrEnum):
    """Who moves first."""

    FIRST = "first"
    SECOND = "second"


BookOption = Annotated[
    list[str] | None,
    typer.Option(
        "--book",
        metavar="PATH",
        help="The book; JUNQI_BOOK, or the one in your data folder, if missing.",
    ),
]
BooksOption = Annotated[
    list[str] | None,
    typer.Option(
        "--book",
        metavar="PATH",
        help="The book; may be repeated: the first that knows a layout answers. "
        "JUNQI_BOOK, or the one in your data folder, if missing.",
    ),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only say what would be changed.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
SelectArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="LAYOUT",
        help="Number, name or 25 letters; tag:TAG, mixture, all; or - for such words on stdin.",
        show_default=False,
    ),
]
OriginOption = Annotated[
    OriginChoice | None, choice_option(OriginChoice, "--origin", help="Where it came from.")
]
RoleOption = Annotated[
    RoleChoice | None, choice_option(RoleChoice, "--role", help="What it is in the book for.")
]
MovesOption = Annotated[
    MovesChoice | None,
    choice_option(MovesChoice, "--moves", help="Draw it only when moving first or second."),
]
TurnOption = Annotated[
    TurnChoice | None,
    choice_option(TurnChoice, "--turn", help="Only what is drawn when moving first or second."),
]


def parse_share(text: str) -> float:
    """Read a score, like ``0.55`` or ``55%``."""
    expected = "a score like 0.55 or 55%"
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise UnexpectedValue(expected, text) from None
    if not 0 <= value <= 1:
        raise UnexpectedValue(expected, text)
    return value


def parse_weight(text: str) -> float:
    """Read a weight, a number of at least 0."""
    expected = "a weight of at least 0"
    try:
        value = float(text)
    except ValueError:
        raise UnexpectedValue(expected, text) from None
    if not 0 <= value < float("inf"):
        raise UnexpectedValue(expected, text)
    return value


def share_option(*names: str, help: str) -> Any:
    """An option with a score."""
    return typer.Option(*names, parser=parse_share, metavar="SCORE", help=help)


WeightOption = Annotated[
    float | None,
    typer.Option(
        "--weight",
        parser=parse_weight,
        metavar="W",
        help="In the mixture that the engine draws from, relative to the others.",
    ),
]


def the_book(context: typer.Context, paths: list[str] | None) -> list[str]:
    """The option of a command that works on one book."""
    if paths and len(paths) > 1:
        raise wrong_usage(context, f"expected one --book, got {len(paths)}")
    return paths or []


@contextmanager
def reading(context: typer.Context, paths: list[str] | None) -> "Iterator[Book]":
    """A book to read from."""
    from book.default import open_book

    with open_book(the_book(context, paths), read_only=True) as book:
        yield book


@contextmanager
def reading_all(paths: list[str] | None) -> "Iterator[Layers]":
    """All the books that were named, the first on top."""
    from book.default import open_layers

    with open_layers(paths or []) as layers:
        yield layers


@contextmanager
def changing(context: typer.Context, paths: list[str] | None, dry_run: bool) -> "Iterator[Book]":
    """A book to change: one transaction, and one line that says what came of it."""
    from book.default import open_book

    with open_book(the_book(context, paths)) as book:
        with book.change(command_line(context), dry_run=dry_run) as change:
            yield book
        tell_change(str(book.path), change.summary, dry_run)


def check_writable(context: typer.Context, paths: list[str] | None) -> None:
    """See that a book can be changed.

    Raises:
        BookError: if it is locked or read-only.
    """
    from book.default import open_book

    with open_book(the_book(context, paths)) as book, book.change("", dry_run=True):
        pass


def tell_change(path: str, summary: str, dry_run: bool) -> None:
    """Say what a change did, or would do."""
    note(f"{path}: {summary}" + (" (dry run: nothing is written)" if dry_run else ""))


def command_line(context: typer.Context) -> str:
    """The command as the user typed it, for the book's log."""
    text = str(context.obj or context.command_path)
    return text if len(text) <= _LONGEST_LOG else f"{text[: _LONGEST_LOG - 3]}..."


def select(book: "Book", words: Sequence[str]) -> "list[BookLayout]":
    """The layouts that the user means, each once, in the order of naming.

    Raises:
        BookError: if a word names none.
    """
    found: dict[str, BookLayout] = {}
    for word in with_stdin(words):
        found |= {row.layout: row for row in _rows_of(book, word)}
    return list(found.values())


def select_layered(layers: "Layers", words: Sequence[str]) -> "list[tuple[Book, BookLayout]]":
    """The layouts that the user means, each with the first book that knows the word.

    Raises:
        BookError: if no book knows a word.
    """
    from book.errors import BookError

    found: dict[str, tuple[Book, BookLayout]] = {}
    for word in with_stdin(words):
        for number, book in enumerate(layers.books, start=1):
            try:
                rows = _rows_of(book, word)
            except BookError:
                if number == len(layers.books):
                    raise
                continue
            for row in rows:
                found.setdefault(row.layout, (book, row))
            break
    return list(found.values())


def _rows_of(book: "Book", word: str) -> "list[BookLayout]":
    from book.errors import BookError

    if word != MIXTURE:
        return book.find_layouts([word])
    rows = book.mixture()
    if not rows:
        raise BookError(
            f"{book.path}: expected layouts in the mixture, got none: see junqi book weight"
        )
    return rows


def with_stdin(words: Sequence[str]) -> Iterator[str]:
    """The words, with those of standard input for ``-``: the first of each line.

    So the output of ``junqi book list``, with or without ``--csv``, can be piped into a command.
    """
    import csv

    from junqi.textfile import STDIN, read_text

    for word in words:
        if word != STDIN:
            yield word
            continue
        lines = read_text(STDIN).split("\n")
        is_csv = lines[0].startswith("id,")
        rows = csv.reader(line + "\n" for line in lines) if is_csv else map(str.split, lines)
        yield from (row[0] for row in rows if row and row[0] != "id")


def confirm(question: str, yes: bool) -> None:
    """Ask before something is removed.

    Raises:
        BookError: if nobody answers.
        typer.Exit: with code 1, if the answer is no.
    """
    from book.errors import BookError

    if yes:
        return
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline() if sys.stdin is not None else ""
    if not answer:
        note("")
        raise BookError("expected y or n, got no answer: nothing is removed; --yes does not ask")
    if answer.strip().lower() not in ("y", "yes"):
        note("nothing is removed")
        raise typer.Exit(1)


def machine_name() -> str:
    """This machine in a few words, for the runs of a book."""
    import os
    import platform

    kind = f"{platform.system()} {platform.machine()}".strip()
    return f"{kind}, {plural(os.cpu_count() or 1, 'core')}, Python {platform.python_version()}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """A number and what it counts.

    >>> plural(1, "layout"), plural(1000, "layout"), plural(2, "change of it", "changes of it")
    ('1 layout', '1,000 layouts', '2 changes of it')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
