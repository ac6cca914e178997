"""``junqi layout attack`` and ``rate``: who beats this, and how good is it?"""

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from junqi import __version__
from junqi.cli.book_common import (
    BookOption,
    DryRunOption,
    changing,
    command_line,
    machine_name,
    reading,
)
from junqi.cli.book_evaluate import Job, PanelOption, evidence_of, play_panel, print_scores
from junqi.cli.common import (
    SAMPLE,
    ClusterOption,
    CsvOption,
    FilesOption,
    JsonOption,
    JudgeOption,
    LayoutsArgument,
    SeedOption,
    ThreadsOption,
    add_command,
    gather_named,
    note,
    number_option,
    print_json,
    progress_bar,
    seed_or_new,
    the_workers,
    wrong_usage,
)
from junqi.cli.evolve import MinutesOption

if TYPE_CHECKING:
    from book.rows import Evidence
    from book.store import Book
    from junqi.panel import Panel
    from layout_search.attack import Counter

COUNTER_TAG = "counter"


def add_to(app: typer.Typer) -> None:
    """Add the commands to their group."""
    add_command(
        app,
        "junqi layout attack --minutes 3",
        f"junqi layout attack {SAMPLE} --attempts 2 --seed 1",
    )(attack)
    add_command(
        app,
        f"junqi layout rate {SAMPLE} --panel human",
        "junqi layout rate layouts.txt --panel random:100 --judge search:3x3 --games 200 --csv",
        "junqi layout rate --mixture --panel human --judge search:3x3 --games 400",
    )(rate)


def attack(
    context: typer.Context,
    layouts: LayoutsArgument = None,
    file: FilesOption = None,
    minutes: MinutesOption = None,
    attempts: Annotated[
        int | None,
        number_option("--attempts", minimum=1, help="Exactly so many searches, however long."),
    ] = None,
    seed: SeedOption = None,
    judge: JudgeOption = "policy",
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    book: BookOption = None,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Search for the layout that beats the book's mixture, or the layouts given, most.

    The target is frozen and mirrored by a coin flip in each game. The attack has seeds and
    populations of its own, and what it reports is the best counter's score in fresh games. A
    counter to the book's mixture is kept in the book as evidence.
    """
    import numpy as np

    from book.panels import find_panel
    from junqi.layout import format_layout, parse_layouts
    from junqi.panel import make_panel
    from layout_search.attack import attack as search
    from layout_search.fitness import Opponents

    workers = the_workers(context, threads, cluster)
    seed = seed_or_new(seed)
    is_book = not layouts and not file
    if is_book:
        with reading(context, book) as opened:
            panel = find_panel(opened, "book", seed)
    else:
        texts = [layout.parse() for layout in gather_named(context, layouts, file)]
        panel = make_panel("layouts", [format_layout(layout) for layout in texts])
    members = parse_layouts(panel.texts)
    target = Opponents(members, np.array(panel.weights) / sum(panel.weights))
    found = search(
        target,
        members,
        minutes=minutes or 3.0,
        attempts=attempts,
        seed=seed,
        judge=judge,
        workers=workers,
        report=lambda number, best: note(f"attempt {number}: best counter {100 * best:.1f} %"),
    )
    _print_counter(found, seed, judge, json)
    if is_book:
        with changing(context, book, dry_run) as opened:
            _keep(context, opened, panel, found, seed, judge)


def rate(
    context: typer.Context,
    layouts: LayoutsArgument = None,
    file: FilesOption = None,
    panel: PanelOption = None,
    mixture: Annotated[
        bool,
        typer.Option(
            "--mixture",
            help="One score for all of them together, as a player who draws one of them in each "
            "game; the book's mixture, by its weights, if no layout is given.",
        ),
    ] = False,
    judge: JudgeOption = "policy",
    games: Annotated[
        int, number_option("--games", minimum=2, help="Of each layout or mixture, an even number.")
    ] = 1000,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    book: BookOption = None,
    json: JsonOption = False,
    csv: CsvOption = False,
) -> None:
    """Score layouts against a panel of opponents, without keeping anything.

    All layouts meet the same opponents, mirrored by a coin flip, with the same seeds, in pairs of
    games with the colours swapped. With --mixture a layout is drawn for each pair.
    """
    from book.panels import find_panel
    from junqi.layout import format_layout
    from junqi.panel import make_panel
    from junqi.simulate import parse_judge

    if games % 2:
        raise wrong_usage(context, f"expected an even number for --games, got {games}")
    if json and csv:
        raise wrong_usage(context, "expected --json or --csv, got both")
    is_book = mixture and not layouts and not file
    named = [] if is_book else gather_named(context, layouts, file)
    texts = [format_layout(layout.parse()) for layout in named]
    player, seed = parse_judge(judge), seed_or_new(seed)
    workers = the_workers(context, threads, cluster)
    with reading(context, book) as opened:
        opponents = find_panel(opened, panel or "human", seed)
        mixed = find_panel(opened, "book", seed) if is_book else None
    if mixture and mixed is None:
        mixed = make_panel("layouts", texts)
    with progress_bar("games", games * (1 if mixture else len(texts))) as progress:
        job = Job(player, games, seed, workers, progress)
        scores = (
            play_panel(texts, opponents, job)
            if mixed is None
            else [_play_mixture(mixed, opponents, job, command_line(context))]
        )
    print_scores(scores, json, csv)


def _play_mixture(mixture: "Panel", opponents: "Panel", job: Job, command: str) -> "Evidence":
    from book.panels import panel_word
    from junqi.rate import rate_mixture

    play = job.workers.play_and_tell
    rating = rate_mixture(
        mixture, opponents, job.games, job.seed, job.judge, play=play, progress=job.progress
    )
    return evidence_of(panel_word(mixture), opponents, job, rating, command)


def _print_counter(found: "Counter", seed: int, judge: str, json: bool) -> None:
    from junqi.layout import format_layout

    low, high = found.score.interval
    if json:
        print_json(
            {
                "counter": format_layout(found.layout),
                "score": found.score.mean,
                "error": found.score.error,
                "low": low,
                "high": high,
                "games": found.games,
                "judge": judge,
                "seed": seed,
                "attempts": found.attempts,
                "all_games": found.all_games,
                "seconds": found.seconds,
            }
        )
        return
    print(f"counter  {format_layout(found.layout)}")
    print(f"score    {found.score} in {found.games:,} fresh games by {judge}")
    print(f"search   {found.attempts} attempts, {found.all_games:,} games, {found.seconds:.0f} s")


def _keep(
    context: typer.Context, book: "Book", panel: "Panel", found: "Counter", seed: int, judge: str
) -> None:
    """Add the counter, and its score as evidence of an attack."""
    from book.panels import panel_settings, panel_word
    from book.rows import Evidence, NewLayout, Run
    from book.store import new_run_key
    from junqi.layout import format_layout

    words = ["junqi", "layout", "attack", "--attempts", found.attempts, "--seed", seed]
    command = shlex.join(map(str, [*words, "--judge", judge]))
    key = new_run_key("attack")
    run = Run(
        key=key,
        command=command_line(context),
        settings=panel_settings(panel) | {"judge": judge, "attempts": found.attempts},
        seed=seed,
        seconds=found.seconds,
        games=found.all_games,
        machine=machine_name(),
        version=__version__,
        status="done",
    )
    book.add_run(run)
    layout = format_layout(found.layout)
    book.add_layouts(
        [NewLayout(layout, origin="evolved", role="opponent", tags=(COUNTER_TAG,), run=key)]
    )
    book.add_evidence(
        [
            Evidence(
                layout=layout,
                opponents=panel_word(panel),
                judge=judge,
                games=found.games,
                wins=found.wins,
                draws=found.draws,
                losses=found.games - found.wins - found.draws,
                error=found.score.error,
                seed=seed,
                kind="attack",
                version=__version__,
                command=command,
                run=key,
            )
        ]
    )
