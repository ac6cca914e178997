"""``junqi book grow``: opening moves for the layouts that the engine plays."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from junqi.cli.book_common import (
    MIXTURE,
    BookOption,
    DryRunOption,
    command_line,
    machine_name,
    plural,
    select,
    share_option,
    tell_change,
    the_book,
)
from junqi.cli.common import (
    JsonOption,
    SeedOption,
    ThreadsOption,
    add_command,
    note,
    number_option,
    print_json,
    seed_or_new,
    wrong_usage,
)
from junqi.cli.evolve import parse_minutes

if TYPE_CHECKING:
    from book.grow import Growth

app = typer.Typer()

# Of the own moves, those whose coverage is told.
_TOLD = (1, 2, 4, 6, 8, 10)
_MINUTES = 10.0


@add_command(
    app,
    "junqi book grow --minutes 15",
    "junqi book grow --book mine.db --layouts 17 --layouts tag:finals --nodes 500 --seed 1",
    "junqi book grow --nodes 32 --dry-run --json",
)
def grow(
    context: typer.Context,
    minutes: Annotated[
        float | None,
        typer.Option(
            "--minutes", parser=parse_minutes, metavar="M", help="The time; 10 if missing."
        ),
    ] = None,
    nodes: Annotated[
        int | None,
        number_option("--nodes", minimum=1, help="Exactly so many thoughts, however long."),
    ] = None,
    layouts: Annotated[
        list[str] | None,
        typer.Option(
            "--layouts",
            metavar="LAYOUT",
            help="Number, name or 25 letters; tag:TAG, mixture, all; may be repeated. "
            "The mixture if missing.",
        ),
    ] = None,
    plies: Annotated[
        int, number_option("--plies", minimum=1, help="Turns before this ply of both sides.")
    ] = 20,
    worlds: Annotated[int, number_option("--worlds", minimum=2, help="Of each thought.")] = 500,
    loss: Annotated[
        float | None,
        share_option(
            "--loss",
            help="Up to which a stored move is an answer; as the engine has it if missing.",
        ),
    ] = None,
    opponents: Annotated[
        str | None,
        typer.Option(
            "--opponents",
            metavar="WORDS",
            help="With commas between them, each met equally often: policy, search:DxW, think:N "
            "(the engine's search in N worlds); all of these kinds if missing.",
        ),
    ] = None,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    book: BookOption = None,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Find opening moves for layouts, where games are likely to lead.

    Games are simulated in which the book is followed against opponents of several kinds. Where it
    has no answer, or an uncertain one, the search thinks for long: first where that is needed most
    often. What is found is saved every few seconds; stop it at any time, and run it again to go on.
    With --nodes the same book and seed give the same moves for any number of threads.
    """
    from book.default import open_book
    from book.grow import GrowSettings
    from book.grow_run import GrowRun

    if minutes is not None and nodes is not None:
        raise wrong_usage(context, "expected --minutes or --nodes, got both")
    if nodes is None and minutes is None:
        minutes = _MINUTES
    given = {
        "loss": loss,
        "opponents": tuple(filter(None, opponents.split(","))) if opponents is not None else None,
    }
    if given["opponents"] == ():
        raise wrong_usage(context, "expected opponents, got none")
    settings = GrowSettings(
        seed=seed_or_new(seed),
        worlds=worlds,
        plies=plies,
        nodes=nodes,
        minutes=minutes,
        threads=threads or os.cpu_count() or 1,
        **{name: value for name, value in given.items() if value is not None},  # type: ignore[arg-type]
    )
    with open_book(the_book(context, book)) as opened:
        rows = select(opened, layouts or [MIXTURE])
        run = GrowRun(
            opened,
            rows,
            settings,
            command=command_line(context),
            machine=machine_name(),
            dry_run=dry_run,
            note=note,
        )
        try:
            with _watching() as tell:
                grown = run.grow(tell)
        except BaseException:
            if not dry_run:
                note(
                    f"stopped after {plural(run.growth.thoughts, 'thought')}: run it again to go on"
                )
            raise
        tell_change(
            str(opened.path),
            f"{plural(grown.thoughts, 'thought')} about {plural(grown.positions, 'position')}, "
            f"{plural(grown.games, 'game')}",
            dry_run,
        )
    if json:
        print_json(asdict(grown) | {"seed": settings.seed})
    else:
        print(coverage_text(grown.coverage))


def coverage_text(coverage: dict[int, float]) -> str:
    """Coverage in a line, like ``answered: own move 1 100 %, 2 97 %``."""
    parts = [f"{n} {100 * coverage[n]:.0f} %" for n in _TOLD if n in coverage]
    return f"answered: own move {', '.join(parts)}" if parts else "answered: nothing yet"


@contextmanager
def _watching() -> "Iterator[Callable[[Growth], None]]":
    """A line on stderr that is kept up to date, if that is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _growth: None
        return
    from rich.console import Console

    with Console(stderr=True).status("the first games") as status:

        def tell(growth: "Growth") -> None:
            status.update(
                f"{plural(growth.thoughts, 'thought')}, {plural(growth.games, 'game')}, "
                f"{plural(len(growth.places), 'position')}; {coverage_text(growth.coverage())}"
            )

        yield tell
