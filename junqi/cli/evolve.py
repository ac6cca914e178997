"""``junqi layout evolve``: layouts nobody has a counter to, into the book."""

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from junqi.cli.book_common import (
    BookOption,
    DryRunOption,
    changing,
    check_writable,
    command_line,
    reading,
    the_book,
)
from junqi.cli.common import (
    ClusterOption,
    JsonOption,
    SeedOption,
    ThreadsOption,
    UnexpectedValue,
    add_command,
    note,
    number_option,
    print_json,
    progress_bar,
    seed_or_new,
    the_workers,
    wrong_usage,
)
from junqi.cli.evolve_book import EVIDENCE_PANELS, evidence_games, keep_run, play_evidence
from junqi.cli.live import Log, event_log, watching
from junqi.cli.report import load_report, print_mixture, run_facts, scored, write_page
from junqi.errors import JunqiError

if TYPE_CHECKING:
    from book.rows import Evidence
    from book.rows import Run as BookRun
    from book.store import Book
    from layout_search.report import Report
    from layout_search.run import Run
    from layout_search.settings import Settings
    from layout_search.workers import Workers

# A mixture that the last best responses beat like this needs more rounds.
YOUNG = 0.6


class StoppedRun(JunqiError, RuntimeError):
    """A stopped run that would be lost."""

    def __init__(self, checkpoint: Path) -> None:
        super().__init__(
            f"{checkpoint}: a stopped run is kept there: --resume goes on with it, --restart"
            " begins anew and forgets it"
        )


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
    margin: Annotated[
        float | None,
        typer.Option(
            "--margin",
            metavar="M",
            help="Also end when counter after counter scores at most 0.5 + M; 0 if missing.",
        ),
    ] = None,
    greed: Annotated[
        float | None,
        typer.Option(
            "--greed",
            metavar="G",
            help="From 0, no counter, to 1, most against people's layouts; 0.3 if missing.",
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
            help="Beside the mixture, with commas between them: human, random, book:TAG, files.",
        ),
    ] = "human,random",
    settings: Annotated[
        Path | None,
        typer.Option("--settings", metavar="FILE", help="TOML with any of the settings."),
    ] = None,
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on where a stopped run of this book was, as it was."),
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin anew, and forget a stopped run.")
    ] = False,
    log_json: Annotated[
        Path | None,
        typer.Option("--log-json", metavar="FILE", help="Add a line of JSON for every event."),
    ] = None,
    book: BookOption = None,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Evolve layouts into a mixture that no counter beats by much, and put it into the book.

    In each round a genetic algorithm looks for the best response to the present mixture, and the
    mixture is solved anew with it. Before the last quarter of the run a stronger judge looks at
    the best again. The final mixture is written to the book: its layouts get their weights, all
    others weight 0 (junqi book undo takes that back). Its score in fresh games is kept as evidence,
    and a report with pictures is written beside the book. A checkpoint there lets a stopped run go
    on; of the settings, only --minutes and --rounds may then be changed.
    """
    from book.default import book_paths
    from book.store import new_run_key
    from junqi.layout import parse_layouts
    from layout_search.evolve import search
    from layout_search.report import report_of
    from layout_search.run import load, save, start

    workers = the_workers(context, threads, cluster)
    path = book_paths(the_book(context, book))[0]
    checkpoint = path.with_name(f"{path.name}.evolve.json")
    given = {
        "minutes": minutes,
        "rounds": rounds,
        "judge": judge,
        "finals": finals,
        "margin": margin,
        "greed": greed,
        "population": population,
    }
    if resume and restart:
        raise wrong_usage(context, "expected --resume or --restart, got both")
    if resume:
        run = load(checkpoint)
        longer = _resumed(context, run.settings, given | {"seed": seed})
        if longer != run.settings:  # the finals were those of another length
            run.settings, run.final = longer, None
    else:
        if not restart and not dry_run:
            _check_not_waiting(checkpoint)
        with reading(context, book) as opened:
            people, shares = _people(opened, opponents)
        chosen = _settings(settings, given | shares, seed)
        run = start(chosen, parse_layouts(people), new_run_key("evolve"))
    if not dry_run:
        check_writable(context, book)  # before the search, not after
        save(run, checkpoint)
    try:
        with event_log(log_json) as log:
            with watching(run, log) as watch:
                kept_at = None if dry_run else checkpoint
                search(run, workers, watch.round, kept_at, watch.generation, watch.finals)
            begin = time.monotonic()
            report = report_of(run)
            with reading(context, book) as opened:
                evidence = _evidence(opened, report, run, workers, log)
        with changing(context, book, dry_run) as opened:
            seconds = run.seconds + time.monotonic() - begin
            row = keep_run(opened, command_line(context), seconds, run, report, evidence)
            report = load_report(opened, row)  # what is told now is what is told later
    except BaseException:  # whatever it was, nothing is lost
        if not dry_run:
            note(f"stopped after {len(run.rounds)} rounds: --resume goes on from {checkpoint}")
        raise
    _print(report, row, json)
    if not dry_run:
        checkpoint.unlink(missing_ok=True)
        page = path.with_name(f"{path.name}.report.html")
        write_page(page, report, row, path.name)
        note(f"{page}: pictures and figures of the run")


def _check_not_waiting(checkpoint: Path) -> None:
    """See that no rounds of a stopped run would be lost."""
    from layout_search.run import CannotResume, load

    if not checkpoint.exists():
        return
    try:
        rounds = len(load(checkpoint).rounds)
    except CannotResume:  # by this version
        rounds = None
    if rounds != 0:
        raise StoppedRun(checkpoint)


def _resumed(context: typer.Context, settings: "Settings", given: dict[str, Any]) -> "Settings":
    """The settings of a stopped run, with another length if one is given."""
    changes = {name: value for name, value in given.items() if value is not None}
    for name, value in changes.items():
        known = getattr(settings, name)
        if name not in ("minutes", "rounds") and value != known:
            raise wrong_usage(
                context, f"expected {name} {known} as the stopped run has it, got {value}"
            )
    return replace(settings, **changes)


def _settings(path: Path | None, given: dict[str, Any], seed: int | None) -> Any:
    from layout_search.settings import Settings, read_settings

    changes = {name: value for name, value in given.items() if value is not None}
    if path is None:
        return Settings(**changes, seed=seed_or_new(seed))
    return read_settings(path, **changes, **({} if seed is None else {"seed": seed}))


def _people(book: "Book", words: str) -> tuple[list[str], dict[str, float]]:
    """The layouts met beside the mixture, and the shares of games that are not wanted."""
    from book.panels import find_panel

    people: list[str] = []
    shares: dict[str, float] = {"against_people": 0.0, "against_random": 0.0}
    for word in filter(None, words.split(",")):
        if word == "random":
            shares.pop("against_random", None)
        else:
            people += [text for text in find_panel(book, word, 0).texts if text not in people]
            shares.pop("against_people", None)
    return people, shares


def _evidence(
    book: "Book", report: "Report", run: "Run", workers: "Workers", log: Log
) -> "list[Evidence]":
    """Play fresh games, and add their scores to the report."""
    games = evidence_games(report, run.settings)
    with progress_bar("fresh games", len(EVIDENCE_PANELS) * sum(games.values())) as progress:
        rows = play_evidence(book, report, run, workers, progress)
    report.evidence.extend(map(scored, rows))
    for row in report.mixture_scores():
        log("evidence", **row.to_json())
    return rows


def _print(report: "Report", run: "BookRun", json: bool) -> None:
    if json:
        print_json({"run": run.key} | run_facts(run) | report.to_json())
        return
    print_mixture(report)
    if report.last_counter() > YOUNG:
        counter = 100 * report.last_counter()
        note(f"a young mixture: the last counters scored {counter:.0f} %; more time brings it down")
    transfer = report.payoff_transfer()
    if transfer is not None:
        note(f"agreement of the judges about finalists: {transfer}")
