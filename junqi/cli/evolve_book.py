"""What ``junqi layout evolve`` writes into a book: the run, layouts, payoffs, fresh evidence."""

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from junqi import __version__
from junqi.cli.book_common import machine_name
from junqi.cli.book_evaluate import Job, play_panel
from junqi.cli.report import REPORT

if TYPE_CHECKING:
    from book.rows import Evidence, Payoff
    from book.rows import Run as BookRun
    from book.store import Book
    from layout_search.report import Report
    from layout_search.run import FinalGames, Run
    from layout_search.settings import Settings
    from layout_search.workers import Workers

TAG = "evolved"
FINALIST_TAG = "finalist"
# The opponents of the evidence, the same after every run so that runs can be compared.
EVIDENCE_PANELS = ("human", "random:100")
# Of each layout against each panel; the best single one plays at least a quarter of the games.
LEAST_GAMES = 4
_EVIDENCE_STREAM = 300


def evidence_games(report: "Report", settings: "Settings") -> dict[str, int]:
    """How many games each layout plays against a panel: by its share, an even number."""
    games = settings.fresh_games() / len(EVIDENCE_PANELS)
    wanted = {layout: share * games for layout, share in report.mixture.items()}
    wanted[report.greediest] = max(wanted.get(report.greediest, 0.0), games / 4)
    return {layout: max(LEAST_GAMES, 2 * round(n / 2)) for layout, n in wanted.items()}


def play_evidence(
    book: "Book",
    report: "Report",
    run: "Run",
    workers: "Workers",
    progress: Callable[[int], None],
) -> "list[Evidence]":
    """Let the layouts of the mixture, and the best single one, play games that choose nothing.

    Each layout and panel has a seed of its own, so that the errors of a mixture's layouts are
    independent.
    """
    import numpy as np

    from book.panels import find_panel
    from junqi.simulate import parse_judge

    settings = run.settings
    judge = parse_judge(settings.judge if settings.finals == "none" else settings.finals)
    games = evidence_games(report, settings)
    rows = []
    for number, word in enumerate(EVIDENCE_PANELS):
        for place, (layout, count) in enumerate(games.items()):
            name = (settings.seed, _EVIDENCE_STREAM, number, place)
            seed = int(np.random.SeedSequence(name).generate_state(1)[0])
            panel = find_panel(book, word, seed)
            rows += play_panel([layout], panel, Job(judge, count, seed, workers, progress))
    return rows


def keep_run(
    book: "Book",
    command: str,
    seconds: float,
    run: "Run",
    report: "Report",
    evidence: "list[Evidence]",
) -> "BookRun":
    """Write all that a run found into a book, and give the mixture its weights.

    Writing the same run again changes nothing.
    """
    from book.rows import NewLayout
    from book.store import Filter
    from layout_search.report import to_store

    played = sum(row.games for row in evidence)
    row = _book_run(run, command, seconds, to_store(report), played)
    book.add_run(row)
    book.set_weight([known.id for known in book.layouts(Filter(in_mixture=True))], 0.0)
    finalists = [layout for layout in report.finalists if layout not in report.mixture]
    book.add_layouts(
        NewLayout(layout, origin="evolved", role="both", tags=(FINALIST_TAG,), run=row.key)
        for layout in finalists
    )
    added = book.add_layouts(
        NewLayout(layout, origin="evolved", role="both", tags=(TAG,), run=row.key)
        for layout in report.mixture
    )
    # Set apart from adding: the search may end at a layout that the book has already.
    for number, share in zip(added.ids, report.mixture.values(), strict=True):
        book.set_weight([number], share)
    # What the book has of the same games, of an earlier run with the same seed, stays as it is.
    book.add_evidence(
        replace(score, run=row.key) for score in evidence if book.known_evidence(score) is None
    )
    if run.final is not None:
        payoffs = _payoffs(run, run.final, row.key)
        book.add_payoffs(payoff for payoff in payoffs if book.known_payoff(payoff) is None)
    return book.run(row.key)


def _book_run(
    run: "Run", command: str, seconds: float, report: dict[str, Any], played: int
) -> "BookRun":
    """The run as a book has it; `played` games are those after the search."""
    from book.rows import Run as BookRun

    settings = run.settings.to_json() | {"rounds_run": len(run.rounds), REPORT: report}
    return BookRun(
        key=run.key,
        command=command,
        settings=settings,
        seed=run.settings.seed,
        seconds=seconds,
        games=run.games + played,
        machine=machine_name(),
        version=__version__,
        status="done",
    )


def _payoffs(run: "Run", final: "FinalGames", key: str) -> "list[Payoff]":
    """The games between finalists by the stronger judge."""
    import numpy as np

    from book.rows import Payoff
    from junqi.layout import format_layout

    met = final.strong
    texts = [format_layout(layout) for layout in met.layouts]
    command = _command_again(run)
    rows = []
    for row, column in zip(*np.nonzero(met.games), strict=True):
        games, draws = int(met.games[row, column]), int(met.draws[row, column])
        points = float(met.points[row, column])
        # One won and one lost game are added in thought, as in `score_of_pairs`.
        share = (points + 1) / (games + 2)
        rows.append(
            Payoff(
                layout=texts[row],
                opponent=texts[column],
                judge=run.settings.finals,
                games=games,
                wins=round(points - draws / 2),
                draws=draws,
                losses=round(games - points - draws / 2),
                error=float(np.sqrt(share * (1 - share) / games)),
                seed=run.settings.seed,
                version=__version__,
                command=command,
                run=key,
            )
        )
    return rows


def _command_again(run: "Run") -> str:
    """What gives the payoffs of the finals again, with a digest of all they depend on."""
    from junqi.layout import format_layout

    people = [format_layout(layout) for layout in run.people]
    all_of_it = json.dumps([run.settings.to_json(), people], sort_keys=True)
    digest = sha256(all_of_it.encode()).hexdigest()[:10]
    words = ["junqi", "layout", "evolve", "--rounds", len(run.rounds), "--seed", run.settings.seed]
    return f"{shlex.join(map(str, words))} # settings {digest}"
