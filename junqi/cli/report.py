"""``junqi layout report``: how a run of ``junqi layout evolve`` went, as text and as a page."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from junqi.cli.book_common import BookOption, plural, reading
from junqi.cli.common import JsonOption, add_command, note, print_json, print_table, wrong_usage

if TYPE_CHECKING:
    from book.rows import Evidence, Run
    from book.store import Book
    from layout_search.report import Report, Scored

# Where the settings of a run have what the report is made from.
REPORT = "report"
# Lines that tell of the rounds, however many rounds there were.
PROGRESS_LINES = 12
BAR_LENGTH = 40
BOARDS_ABREAST = 3
# Of the payoff matrix, the heaviest: more columns are not read in a terminal.
MOST_COLUMNS = 16


def add_to(app: typer.Typer) -> None:
    """Add the command to its group."""
    add_command(
        app,
        "junqi layout report --book mine.db",
        "junqi layout report --book mine.db --html report.html",
    )(report)


def report(
    context: typer.Context,
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="KEY", help="Which run of the book; the last if missing."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page with pictures instead."),
    ] = None,
    book: BookOption = None,
    json: JsonOption = False,
) -> None:
    """Tell how a run of evolve went: the mixture, the evidence, progress, payoffs, the judges.

    All of it is made from the book; junqi layout evolve writes the page beside the book when it
    ends.
    """
    if json and html is not None:
        raise wrong_usage(context, "expected --json or --html, got both")
    with reading(context, book) as opened:
        row = find_run(opened, run)
        found = load_report(opened, row)
        if html is not None:
            write_page(html, found, row, str(opened.path.name))
            note(f"{html}: written")
        elif json:
            print_json({"run": row.key} | run_facts(row) | found.to_json())
        else:
            print_report(found, row)


def find_run(book: "Book", key: str | None) -> "Run":
    """A run with a report, by its key, or the last.

    Raises:
        JunqiError: if there is none.
    """
    from layout_search.report import NoReport

    if key is not None:
        run = book.run(key)
        if REPORT not in run.settings:
            raise NoReport(f"{book.path}: expected a run of junqi layout evolve, got {key!r}")
        return run
    runs = [run for run in book.runs() if REPORT in run.settings]
    if not runs:
        raise NoReport(f"{book.path}: no run to report on: junqi layout evolve makes one")
    return runs[-1]


def load_report(book: "Book", run: "Run") -> "Report":
    """The report of a run, with the evidence that the book has."""
    from book.panels import panel_word
    from junqi.panel import make_panel
    from layout_search.report import from_store

    found = from_store(run.settings[REPORT], map(scored, book.evidence(kind="fresh")))
    mixture = panel_word(make_panel("book", found.mixture, found.mixture.values()))
    attacks = [row for row in book.evidence(kind="attack") if row.opponents == mixture]
    found.attacks.extend(map(scored, attacks))
    return found


def scored(row: "Evidence") -> "Scored":
    """Evidence of a book as a report has it."""
    from junqi.stats import Score
    from layout_search.report import Scored

    score = Score(row.score, row.error)
    return Scored(row.layout, row.opponents, row.judge, row.games, score, row.command)


def run_facts(run: "Run") -> dict[str, str]:
    """What there is to know of a run, by name, as it is to be read."""
    settings = run.settings
    seconds = run.seconds or 0.0
    time = f"{seconds / 60:.1f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"
    facts = {
        "command": run.command,
        "ended": run.started or "",
        "time": time,
        "games": f"{run.games or 0:,}",
        "seed": "" if run.seed is None else str(run.seed),
        "judges": f"{settings.get('judge')}, finals by {settings.get('finals')}",
        "greed": f"{settings.get('greed')}",
        "machine": run.machine,
        "version": run.version,
    }
    return {name: text for name, text in facts.items() if text}


def write_page(path: Path, found: "Report", run: "Run", name: str) -> None:
    """Write the page of a report, whole or not at all.

    Raises:
        OSError: if it cannot be written.
    """
    from book.site import page_style
    from junqi.textfile import write_whole
    from layout_search.report_page import render_page

    settings = {key: value for key, value in run.settings.items() if key != REPORT}
    facts = {"run": run.key} | run_facts(run)
    title = f"Layouts evolved for {name}"
    page = render_page(found, title=title, facts=facts, settings=settings, style=page_style())
    write_whole(path, page)


def print_report(found: "Report", run: "Run") -> None:
    """Print all of a report."""
    for name, text in ({"run": run.key} | run_facts(run)).items():
        print(f"{name:9}{text}")
    _heading("The mixture")
    print_mixture(found)
    for row in found.attacks:
        print(f"best counter of an attack by {row.judge}: {row.score}, {row.layout}")
    _heading("Progress: what the best response of each round scored")
    _print_progress(found)
    _heading("Where each kind stands, in percent of the games; the front on top, + is a camp")
    _print_standing(found.mixture)
    _heading("Who beats whom: row against column in percent, as the mixture was solved on")
    _print_payoffs(found)
    if found.strong is not None:
        judges = f"{found.fast.judge} and {found.strong.judge}"
        _heading(f"Do {judges} agree? Correlations of finalists' scores, without the noise")
        print(f"against the panel   {found.panel_transfer() or 'too few layouts'}")
        print(f"against each other  {found.payoff_transfer() or 'too few layouts'}")


def print_mixture(found: "Report") -> None:
    """Print the layouts of the mixture with their shares, and the scores of fresh games."""
    from layout_search.report import LEAST_TOLD

    panels = list(dict.fromkeys((row.opponents, row.judge) for row in found.evidence))
    told = [row for row in found.evidence if row.games >= LEAST_TOLD]
    scores = {(row.layout, row.opponents, row.judge): str(row.score) for row in told}
    whole = {(row.opponents, row.judge): str(row.score) for row in found.mixture_scores()}
    rows = [
        [layout, f"{100 * share:.1f} %", *(scores.get((layout, *panel), "") for panel in panels)]
        for layout, share in found.mixture.items()
    ]
    single = [scores.get((found.greediest, *panel), "") for panel in panels]
    rows.append(["the mixture", "", *(whole.get(panel, "") for panel in panels)])
    rows.append(["the best single one", "", *single])
    columns = ["layout", "share", *(opponents.partition("@")[0] for opponents, _ in panels)]
    print_table(columns, rows, right=" ".join(columns[1:]))


def _heading(text: str) -> None:
    print(f"\n{text}")


def _print_progress(found: "Report") -> None:
    rows = []
    for group in _groups(found.rounds, PROGRESS_LINES):
        first, last = group[0].number, group[-1].number
        counter = sum(row.counter for row in group) / len(group)
        rows.append(
            [
                f"{first}" if first == last else f"{first}-{last}",
                f"{100 * counter:.1f} %",
                "#" * round(BAR_LENGTH * max(0.0, 2 * counter - 1)),
                str(group[-1].mixture),
                str(group[-1].archive),
                f"{group[-1].seconds:.0f}",
            ]
        )
    columns = ["rounds", "counter", "above 50 %", "mixture", "archive", "seconds"]
    print_table(columns, rows, right="rounds counter mixture archive seconds")


def _groups(rounds: Sequence[Any], most: int) -> Iterator[Sequence[Any]]:
    """Neighbouring rounds, in at most so many groups of about the same size."""
    size = -(-len(rounds) // most)
    for start in range(0, len(rounds), size):
        yield rounds[start : start + size]


def _print_standing(mixture: Mapping[str, float]) -> None:
    from junqi.pieces import KINDS
    from layout_search.report import standing

    boards = standing(mixture)
    for start in range(0, len(KINDS), BOARDS_ABREAST):
        kinds = KINDS[start : start + BOARDS_ABREAST]
        print("   ".join(f"{kind.english:20}" for kind in kinds).rstrip())
        for lines in zip(*(boards[kind.letter] for kind in kinds), strict=True):
            print("   ".join("".join(map(_cell, line)) for line in lines))


def _cell(share: float | None) -> str:
    if share is None:
        return "   +"
    return f"{100 * share:4.0f}" if share >= 0.005 else "   ."


def _print_payoffs(found: "Report") -> None:
    names = [str(number) for number in range(1, len(found.finalists) + 1)][:MOST_COLUMNS]
    rows = []
    for number, name in enumerate(names):
        cells = [f"{50 + 100 * x:.0f}" for x in found.payoff[number, : len(names)]]
        cells[number] = "."
        share = found.mixture.get(found.finalists[number])
        drawn = f"{100 * share:.1f} %" if share else ""
        rows.append([name, *cells, drawn, found.finalists[number]])
    print_table(["", *names, "share", "layout"], rows, right=" ".join([*names, "share"]))
    if len(found.finalists) > len(names):
        print(f"the first {len(names)} of {plural(len(found.finalists), 'finalist')}")
