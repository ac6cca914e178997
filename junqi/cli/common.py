"""What the commands share: options that are declared once, and how to print."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
import typer.core

from junqi.errors import JunqiError

if TYPE_CHECKING:
    from junqi.layout_file import FoundLayout
    from layout_search.workers import Workers

Choice = TypeVar("Choice", bound=StrEnum)
Function = TypeVar("Function", bound=Callable[..., Any])

# A legal layout for examples.
SAMPLE = "abccddeeffggghhhiiijjkklj"


class UnexpectedValue(typer.BadParameter):
    """An option or argument with a value that it cannot have."""

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(f"expected {expected}, got {got!r}")
        self.expected = expected
        self.got = got


class NamesChoice(StrEnum):
    """What is written on the pieces."""

    AUTO = "auto"
    CHINESE = "chinese"
    ENGLISH = "english"
    LETTERS = "letters"


class Engine(StrEnum):
    """Which implementation of the rules answers."""

    RULES = "rules"
    KERNEL = "kernel"


def whole_number(minimum: int) -> Callable[[str], int]:
    """A parser of integers of at least so much."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise UnexpectedValue("an integer", text) from None
        if number < minimum:
            raise UnexpectedValue(f"an integer of at least {minimum}", str(text))
        return number

    return parse


def number_option(*names: str, minimum: int, help: str) -> Any:
    """An option with an integer of at least so much."""
    return typer.Option(*names, parser=whole_number(minimum), metavar="N", help=help)


def choice_option(choices: type[Choice], *names: str, help: str) -> Any:
    """An option with one of a few words, which the shell can complete."""
    words = [choice.value for choice in choices]

    def parse(text: str) -> Choice:
        if text not in words:
            raise UnexpectedValue(f"one of {', '.join(words)}", text)
        return choices(text)

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return typer.Option(
        *names, parser=parse, metavar="|".join(words), autocompletion=complete, help=help
    )


JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print CSV, with a line of headings.")]
LayoutsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="LAYOUT",
        help="25 letters, a file with one layout a line, or - for standard input.",
        show_default=False,
    ),
]
FilesOption = Annotated[
    list[str] | None,
    typer.Option("--file", metavar="PATH", help="A file with one layout a line; may be repeated."),
]
SeedOption = Annotated[
    int | None,
    number_option("--seed", minimum=0, help="Of the random numbers; chosen and told if missing."),
]
NamesOption = Annotated[
    NamesChoice,
    choice_option(NamesChoice, "--names", help="What is written on the pieces."),
]
SvgOption = Annotated[
    str | None, typer.Option("--svg", metavar="FILE", help="Write a picture to this file instead.")
]
ThreadsOption = Annotated[
    int | None, number_option("--threads", minimum=1, help="How many; all cores if missing.")
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Instead of threads: HOST:PORT of a Dask scheduler, or local:N for N workers here.",
    ),
]
JudgeOption = Annotated[
    str, typer.Option("--judge", metavar="JUDGE", help="random, policy, search:DxW or think:N.")
]
EngineOption = Annotated[
    Engine, choice_option(Engine, "--engine", help="Which implementation answers.")
]


class PlainCommand(typer.core.TyperCommand):
    """A command whose help does not show users the types of Python."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options."""
        for kind, heading in (("argument", "Arguments"), ("option", "Options")):
            parameters = [p for p in self.get_params(ctx) if p.param_type_name == kind]
            records = [record for p in parameters if (record := p.get_help_record(ctx))]
            if records:
                with formatter.section(heading):
                    formatter.write_dl([(_without_type(name), text) for name, text in records])


def _without_type(name: str) -> str:
    return re.sub(r" <[^<>]*>$", "", name)


def add_command(
    app: typer.Typer, *examples: str, name: str | None = None
) -> Callable[[Function], Function]:
    """Add a command to a group, by the function's name if it has no other.

    Its help ends with these examples.
    """
    heading = "Example:" if len(examples) == 1 else "Examples:"
    lines = "\n".join(f"  {line}" for example in examples for line in example.splitlines())
    return app.command(name, cls=PlainCommand, epilog=f"\b\n{heading}\n{lines}")


def wrong_usage(context: typer.Context, message: str) -> typer.BadParameter:
    """An error about options that do not go together, to be raised."""
    return typer.BadParameter(message, ctx=context)


def gather_named(
    context: typer.Context, layouts: list[str] | None, files: list[str] | None
) -> "list[FoundLayout]":
    """The layouts that the user named, or those of standard input if none was."""
    from junqi.layout_file import gather_layouts
    from junqi.textfile import STDIN

    if not layouts and not files:
        if sys.stdin is None or sys.stdin.isatty():
            raise wrong_usage(context, "expected a layout, a file or - for standard input")
        layouts = [STDIN]
    return gather_layouts(layouts or [], files or [])


def the_workers(context: typer.Context, threads: int | None, cluster: str | None) -> "Workers":
    """Who plays the games, as the user wishes; let go of when the command ends."""
    from layout_search.workers import open_workers

    if threads is not None and cluster is not None:
        raise wrong_usage(context, "expected --threads or --cluster, got both")
    return context.with_resource(open_workers(threads, cluster))


def note(text: str) -> None:
    """Tell the user something that is not the data asked for."""
    print(text, file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """Print JSON, a list with one item a line. All of it is ASCII, for any terminal or file.

    The items of an iterator are printed as they come.
    """
    if not isinstance(value, list | Iterator):
        print(json.dumps(value))
        return
    before = "["
    for item in value:
        print(before, json.dumps(item), sep="\n", end="")
        before = ","
    print("[]" if before == "[" else "\n]")


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table with a line of headings, as spreadsheets read it."""
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: str = "") -> None:
    """Print a table for reading: columns two spaces apart, as wide as need be.

    A column with nothing in it is left out.

    Args:
        columns: the headings.
        rows: the cells of each line.
        right: headings, separated by spaces, of the columns that end together.
    """
    from junqi.render import display_width

    shown = [i for i in range(len(columns)) if not rows or any(row[i] for row in rows)]
    columns = [columns[i] for i in shown]
    lines = [columns, *([row[i] for i in shown] for row in rows)]
    sizes = [[display_width(text) for text in line] for line in lines]
    widths = [max(column) for column in zip(*sizes, strict=True)]
    is_right = [column in right.split() for column in columns]
    for line, taken in zip(lines, sizes, strict=True):
        cells = [
            " " * (width - size) + text if to_right else text + " " * (width - size)
            for text, size, width, to_right in zip(line, taken, widths, is_right, strict=True)
        ]
        print("  ".join(cells).rstrip())


def plain(text: str) -> str:
    """A text from a file without what could do something to the terminal, in one line."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def write_file(path: str, text: str) -> None:
    """Write a text file, with the same line ends everywhere."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr if that is a terminal; gives a function that is told of each advance."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _advance: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda advance: progress.advance(task, advance)


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def use_color() -> bool:
    """Whether to print in colour: only on a terminal, and not if NO_COLOR is set."""
    is_dumb = os.environ.get("TERM") == "dumb"
    return is_terminal() and not os.environ.get("NO_COLOR") and not is_dumb


def seed_or_new(seed: int | None) -> int:
    """The seed that was asked for, or a new one, which is told."""
    if seed is None:
        seed = int.from_bytes(os.urandom(4), "little")
        note(f"seed {seed}")
    return seed


def names_for(choice: NamesChoice) -> Any:
    """The names to write on pieces, for `render`.

    Raises:
        JunqiError: if the environment asks for names that there are not.
    """
    from junqi.render import default_names

    if choice is not NamesChoice.AUTO:
        return choice.value
    try:
        return default_names(getattr(sys.stdout, "encoding", None), os.environ)
    except ValueError as error:
        raise JunqiError(str(error)) from None
