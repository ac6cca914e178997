"""``junqi layout evolve``: layouts nobody has a counter to, into the book."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from junqi import __version__
from junqi.cli.book_common import (
    BookOption,
    DryRunOption,
    changing,
    command_line,
    machine_name,
    reading,
    the_book,
)
from junqi.cli.common import (
    SeedOption,
    ThreadsOption,
    UnexpectedValue,
    add_command,
    note,
    number_option,
    print_table,
    progress_bar,
    seed_or_new,
    wrong_usage,
)

if TYPE_CHECKING:
    from book.store import Book
    from junqi.layout import Layout
    from layout_search.evolve import Run
    from layout_search.finals import Finals

TAG = "evolved"
# A mixture that the last best response beat like this needs more rounds.
YOUNG = 0.6


def parse_minutes(text: str) -> float:
    """Read a time, a number above 0."""
    expected = "minutes above 0"
    try:
        value = float(text)
    except ValueError:
        raise UnexpectedValue(expected, text) from None
    if not 0 < value < float("inf"):
        raise UnexpectedValue(expected, text)
    return value


MinutesOption = Annotated[
    float | None,
    typer.Option("--minutes", parser=parse_minutes, metavar="M", help="The time; 10 if missing."),
]


def add_to(app: typer.Typer) -> None:
    """Add the command to its group."""
    add_command(
        app,
        "junqi layout evolve",
        "junqi layout evolve --minutes 1 --seed 1 --book mine.db",
        "junqi layout evolve --book mine.db --resume",
    )(evolve)


def evolve(
    context: typer.Context,
    minutes: MinutesOption = None,
    rounds: Annotated[
        int | None,
        number_option("--rounds", minimum=1, help="Exactly so many rounds, however long."),
    ] = None,
    seed: SeedOption = None,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="JUDGE", help="Who plays the search; policy if missing."),
    ] = None,
    finals: Annotated[
        str | None,
        typer.Option(
            "--finals",
            metavar="JUDGE",
            help="Who judges the best again, or none; search:3x3 if missing.",
        ),
    ] = None,
    greed: Annotated[
        float | None,
        typer.Option(
            "--greed",
            metavar="G",
            help="From 0, no counter, to 1, most against people's layouts; 0.25 if missing.",
        ),
    ] = None,
    population: Annotated[
        int | None, number_option("--population", minimum=2, help="Layouts of a generation.")
    ] = None,
    opponents: Annotated[
        str,
        typer.Option(
            "--opponents",
            metavar="WORDS",
            help="Beside the mixture: human, random, book:TAG, with commas between them.",
        ),
    ] = "human,random",
    settings: Annotated[
        Path | None,
        typer.Option("--settings", metavar="FILE", help="TOML with any of the settings."),
    ] = None,
    threads: ThreadsOption = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where a stopped run of this book was.")
    ] = False,
    log_json: Annotated[
        Path | None,
        typer.Option("--log-json", metavar="FILE", help="Add a line of JSON for every round."),
    ] = None,
    book: BookOption = None,
    dry_run: DryRunOption = False,
) -> None:
    """Evolve layouts into a mixture that no counter beats by much, and put it into the book.

    In each round a genetic algorithm looks for the best response to the present mixture, and the
    mixture is solved anew with it. In the end a stronger judge looks at the best again, and the
    final mixture is written to the book: its layouts get their weights, all others weight 0
    (junqi book undo takes that back). A checkpoint beside the book lets a stopped run go on.
    """
    from book.default import book_paths
    from junqi.layout import parse_layouts
    from layout_search import evolve as library
    from layout_search.finals import hold_finals, planned_games

    path = book_paths(the_book(context, book))[0]
    checkpoint = path.with_name(f"{path.name}.evolve.json")
    if resume:
        run = library.load(checkpoint)
    else:
        given = {
            "minutes": minutes,
            "rounds": rounds,
            "judge": judge,
            "finals": finals,
            "greed": greed,
            "population": population,
        }
        with reading(context, book) as opened:  # also: fails now, not after ten minutes
            people, shares = _people(context, opened, opponents)
        chosen = _settings(settings, given | shares, seed)
        run = library.start(chosen, parse_layouts(people))
    result = None
    try:
        with _reporting(log_json) as report:
            library.search(run, threads, report, None if dry_run else checkpoint)
        if run.settings.finals != "none":
            with progress_bar(f"finals by {run.settings.finals}", planned_games(run)) as progress:
                result = hold_finals(run, threads, progress)
    except KeyboardInterrupt:
        if checkpoint.exists():
            note(f"stopped after {len(run.rounds)} rounds: --resume goes on from {checkpoint}")
        raise
    if run.rounds[-1].counter > YOUNG:
        counter = 100 * run.rounds[-1].counter
        note(f"a young mixture: its last counter scored {counter:.0f} %; more time brings it down")
    with changing(context, book, dry_run) as opened:
        _keep(context, opened, run, result)
    if not dry_run:
        checkpoint.unlink(missing_ok=True)
    _print_mixture(run, result)


def _settings(path: Path | None, given: dict[str, Any], seed: int | None) -> Any:
    from layout_search.settings import Settings, read_settings

    changes = {name: value for name, value in given.items() if value is not None}
    if path is None:
        return Settings(**changes, seed=seed_or_new(seed))
    return read_settings(path, **changes, **({} if seed is None else {"seed": seed}))


def _people(context: typer.Context, book: "Book", words: str) -> tuple[list[str], dict[str, float]]:
    """The layouts met beside the mixture, and the shares of games that are not wanted."""
    from book.panels import find_panel

    people: list[str] = []
    shares: dict[str, float] = {"against_people": 0.0, "against_random": 0.0}
    for word in filter(None, words.split(",")):
        if word == "random":
            shares.pop("against_random", None)
        elif word == "human" or word.startswith("book:"):
            people += [t for t in find_panel(book, word, 0).texts if t not in people]
            shares.pop("against_people", None)
        else:
            raise wrong_usage(context, f"expected human, random or book:TAG, got {word!r}")
    return people, shares


@contextmanager
def _reporting(path: Path | None) -> Iterator[Callable[[Any], None]]:
    """What tells of rounds: on stderr if that is a terminal, and in a file if one is named."""
    with nullcontext() if path is None else path.open("a", encoding="utf-8") as file:

        def report(round: Any) -> None:
            if sys.stderr is not None and sys.stderr.isatty():
                _tell_round(round)
            if file is not None:
                print(json.dumps(vars(round)), file=file, flush=True)

        yield report


def _tell_round(report: Any) -> None:
    rate = report.games / report.seconds
    note(
        f"round {report.number}: best counter {100 * report.counter:.1f} %, mixture of "
        f"{report.mixture} in {report.archive} layouts, {rate:,.0f} games/s, {report.seconds:.0f} s"
    )


def _final_mixture(run: "Run", finals: "Finals | None") -> "tuple[Layout, list[float]]":
    """The layouts that carry the mixture, the heaviest first, and their shares."""
    import numpy as np

    from layout_search.mixture import prune

    layouts = run.archive.layouts if finals is None else finals.layouts
    shares = prune(run.shares) if finals is None else finals.shares
    order = [i for i in np.argsort(-shares, kind="stable") if shares[i] > 0]
    return layouts[order], shares[order].tolist()


def _keep(context: typer.Context, book: "Book", run: "Run", finals: "Finals | None") -> None:
    """Write the run, its layouts and the new weights."""
    from book.rows import NewLayout
    from book.rows import Run as BookRun
    from book.store import Filter, new_run_key
    from junqi.layout import format_layout

    key = new_run_key("evolve")
    book.add_run(
        BookRun(
            key=key,
            command=command_line(context),
            settings=run.settings.to_json() | {"rounds_run": len(run.rounds)},
            seed=run.settings.seed,
            seconds=run.seconds,
            games=run.games + (0 if finals is None else finals.games),
            machine=machine_name(),
            version=__version__,
            status="done",
        )
    )
    book.set_weight([row.id for row in book.layouts(Filter(in_mixture=True))], 0.0)
    layouts, shares = _final_mixture(run, finals)
    added = book.add_layouts(
        NewLayout(format_layout(layout), origin="evolved", role="both", tags=(TAG,), run=key)
        for layout in layouts
    )
    # Set apart from adding: the search may end at a layout that the book has already.
    for number, share in zip(added.ids, shares, strict=True):
        book.set_weight([number], round(share, 4))


def _print_mixture(run: "Run", finals: "Finals | None") -> None:
    from junqi.layout import format_layout

    layouts, shares = _final_mixture(run, finals)
    rows = [
        [format_layout(layout), f"{100 * share:.1f} %"]
        for layout, share in zip(layouts, shares, strict=True)
    ]
    print_table(["layout", "share"], rows, right="share")
