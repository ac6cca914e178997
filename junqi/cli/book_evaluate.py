"""``junqi book evaluate``: fresh scores of layouts, kept as evidence in the book."""

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from junqi import __version__
from junqi.cli.book import score_text
from junqi.cli.book_common import (
    BookOption,
    DryRunOption,
    SelectArgument,
    changing,
    check_writable,
    command_line,
    machine_name,
    reading,
    select,
)
from junqi.cli.common import (
    ClusterOption,
    CsvOption,
    JsonOption,
    JudgeOption,
    SeedOption,
    ThreadsOption,
    add_command,
    number_option,
    plain,
    print_csv,
    print_json,
    print_table,
    progress_bar,
    seed_or_new,
    the_workers,
    wrong_usage,
)

if TYPE_CHECKING:
    from book.rows import Evidence, Payoff
    from book.store import Book
    from junqi.panel import Panel
    from junqi.rate import Rating
    from junqi.simulate import Judge
    from layout_search.workers import Workers

app = typer.Typer()

# What evidence has and payoffs have not.
_NOT_OF_PAIRS = {"opponents", "kind"}
PanelOption = Annotated[
    str | None,
    typer.Option(
        "--panel",
        metavar="PANEL",
        help="The opponents: book (the mixture, by weight), book:TAG, human, random:N, "
        "a file with one layout a line, or 25 letters; human if missing.",
    ),
]

# SQLite's integers end here.
_GREATEST_SEED = 2**63 - 1
_COLUMNS = (
    *("layout", "opponents", "judge", "seed", "games", "wins", "draws", "losses"),
    *("score", "error", "version", "command"),
)


@dataclass(frozen=True)
class Job:
    """How games are to be played."""

    judge: "Judge"
    games: int
    seed: int
    workers: "Workers"
    progress: Callable[[int], None]

    def command(self, layout: str, panel: str) -> str:
        """What gives the score of a layout again, to the bit."""
        words = ["junqi", "book", "evaluate", layout, "--panel", panel, "--judge", self.judge]
        return shlex.join(map(str, [*words, "--games", self.games, "--seed", self.seed]))


@add_command(
    app,
    "junqi book evaluate 1 2 --panel human",
    "junqi book evaluate mixture --panel random:100 --judge search:3x3 --games 200",
    "junqi book evaluate tag:finals --panel book:rivals --seed 7 --dry-run --json",
    "junqi book evaluate tag:finals --each-other --games 400",
)
def evaluate(
    context: typer.Context,
    layouts: SelectArgument,
    panel: PanelOption = None,
    each_other: Annotated[
        bool,
        typer.Option("--each-other", help="Instead of a panel, play every pair of the layouts."),
    ] = False,
    judge: JudgeOption = "policy",
    games: Annotated[
        int, number_option("--games", minimum=2, help="Of each layout or pair, an even number.")
    ] = 1000,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    book: BookOption = None,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
    csv: CsvOption = False,
) -> None:
    """Score layouts in simulated games, and keep the scores.

    Every layout plays pairs of games with the colours swapped, against the same opponents, each
    mirrored by a coin flip. The opponents are kept with the scores, so that the command stored
    with a score gives it again to the bit, whatever becomes of the book or the file meanwhile.
    With --each-other the scores are kept as payoffs of the pairs.
    """
    from book.panels import find_panel
    from junqi.simulate import parse_judge

    if games % 2:
        raise wrong_usage(context, f"expected an even number for --games, got {games}")
    if json and csv:
        raise wrong_usage(context, "expected --json or --csv, got both")
    if each_other and panel is not None:
        raise wrong_usage(context, "expected --panel or --each-other, got both")
    if seed is not None and seed > _GREATEST_SEED:
        raise wrong_usage(context, f"expected a seed of at most {_GREATEST_SEED}, got {seed}")
    player, seed = parse_judge(judge), seed_or_new(seed)
    workers = the_workers(context, threads, cluster)
    with reading(context, book) as opened:
        chosen = [row.layout for row in select(opened, layouts)]
        word = "human" if panel is None else panel
        opponents = None if each_other else find_panel(opened, word, seed)
    if each_other and len(chosen) < 2:
        raise wrong_usage(context, f"expected two layouts for --each-other, got {len(chosen)}")
    if not dry_run:
        check_writable(context, book)  # before hours of games, not after
    pairs = len(chosen) * (len(chosen) - 1) // 2
    begin = time.perf_counter()
    with progress_bar("games", games * (pairs if opponents is None else len(chosen))) as progress:
        job = Job(player, games, seed, workers, progress)
        scores = (
            play_each_other(chosen, job)
            if opponents is None
            else play_panel(chosen, opponents, job)
        )
    seconds = time.perf_counter() - begin
    print_scores(scores, json, csv)  # first, so that they are not lost if the book is locked
    with changing(context, book, dry_run) as opened:
        _keep(context, opened, scores, opponents, job, seconds)


def play_panel(layouts: Sequence[str], panel: "Panel", job: Job) -> "list[Evidence]":
    """Score each layout against a panel."""
    from book.panels import panel_word
    from junqi.layout import parse_layouts
    from junqi.rate import rate

    ratings = rate(
        parse_layouts(layouts),
        panel,
        job.games,
        job.seed,
        job.judge,
        play=job.workers.play_and_tell,
        progress=job.progress,
    )
    return [
        evidence_of(layout, panel, job, rating, job.command(layout, panel_word(panel)))
        for layout, rating in zip(layouts, ratings, strict=True)
    ]


def evidence_of(
    layout: str, panel: "Panel", job: Job, rating: "Rating", command: str
) -> "Evidence":
    """A rating as a book keeps it, with the command that gives it again."""
    from book.panels import panel_word
    from book.rows import Evidence

    return Evidence(
        layout=layout,
        opponents=panel_word(panel),
        judge=str(job.judge),
        games=rating.games,
        wins=rating.wins,
        draws=rating.draws,
        losses=rating.losses,
        error=rating.score.error,
        seed=job.seed,
        version=__version__,
        command=command,
    )


def play_each_other(layouts: Sequence[str], job: Job) -> "list[Payoff]":
    """Score every pair of layouts, told from the one that comes first in the alphabet."""
    from book.rows import Payoff
    from junqi.panel import make_panel

    payoffs = []
    ordered = sorted(layouts)
    for number, opponent in enumerate(ordered[1:], start=1):
        panel = make_panel(opponent, [opponent])
        for score in play_panel(ordered[:number], panel, job):
            values = vars(score) | {"opponent": opponent}
            payoffs.append(Payoff(**{k: v for k, v in values.items() if k not in _NOT_OF_PAIRS}))
    return payoffs


def _keep(
    context: typer.Context,
    book: "Book",
    scores: "list[Evidence] | list[Payoff]",
    panel: "Panel | None",
    job: Job,
    seconds: float,
) -> None:
    """Add the scores that the book does not have yet, and the run that they came from."""
    from book.panels import panel_settings
    from book.rows import Run
    from book.store import new_run_key

    new = [score for score in scores if not _is_known(book, score)]
    if not new:
        return
    settings: dict[str, Any] = {"panel": "each other"} if panel is None else panel_settings(panel)
    settings |= {"judge": str(job.judge), "games": job.games}
    run = Run(
        key=new_run_key("evaluate"),
        command=command_line(context),
        settings=settings,
        seed=job.seed,
        seconds=seconds,
        games=sum(score.games for score in scores),
        machine=machine_name(),
        version=__version__,
        status="done",
    )
    book.add_run(run)
    rows: list[Any] = [type(score)(**vars(score) | {"run": run.key}) for score in new]
    if panel is None:
        book.add_payoffs(rows)
    else:
        book.add_evidence(rows)


def _is_known(book: "Book", score: "Evidence | Payoff") -> bool:
    """Whether the book has this very result of these very games."""
    from book.rows import Evidence

    known = book.known_evidence(score) if isinstance(score, Evidence) else book.known_payoff(score)
    return known == (score.wins, score.draws, score.losses)


def print_scores(scores: "list[Evidence] | list[Payoff]", json: bool, csv: bool) -> None:
    """Print scores as a table, as JSON or as CSV."""
    data = [asdict(score) | {"score": score.score} for score in scores]
    for row in data:
        row.setdefault("opponents", row.get("opponent"))
    if json:
        print_json([{column: row[column] for column in _COLUMNS} for row in data])
    elif csv:
        print_csv(_COLUMNS, ([row[column] for column in _COLUMNS] for row in data))
    else:
        print_table(
            ["layout", "score", "games", "won", "drawn", "lost", "opponents"],
            [
                [
                    row["layout"],
                    score_text(row["score"], row["error"]),
                    f"{row['games']:,}",
                    f"{row['wins']:,}",
                    f"{row['draws']:,}",
                    f"{row['losses']:,}",
                    plain(row["opponents"]),
                ]
                for row in data
            ],
            right="score games won drawn lost",
        )
