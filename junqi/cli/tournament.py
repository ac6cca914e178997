"""``junqi tournament``: many players, by the form of the contest."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from junqi.cli.common import (
    JsonOption,
    add_command,
    note,
    print_json,
    print_table,
    wrong_usage,
)
from junqi.cli.match import player_figures, tell_fault

if TYPE_CHECKING:
    from junqi.record import Record
    from junqi.tournament import Report
    from junqi.tournament_file import TournamentSettings

app = typer.Typer()


@add_command(
    app,
    "junqi tournament --example > cup.toml",
    "junqi tournament cup.toml --dry-run",
    "junqi tournament cup.toml",
)
def tournament(
    context: typer.Context,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="The tournament, written down in TOML.", show_default=False
        ),
    ] = None,
    example: Annotated[
        bool, typer.Option("--example", help="Print such a file, with all that can stand in it.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print who meets whom, and play nothing.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Play a tournament: a double round robin, or groups and a final.

    A win counts 2 points, a draw 1. Players with the same points are parted by the games among
    them, then by a pair of blitz games, then by a single game with the colours drawn by lot.

    Every game is written to the file of records as soon as it is finished. To go on with a
    tournament that was stopped, by whatever, give the same command again. In the tables, the
    points against each opponent are those as red and as black.
    """
    from junqi.record_log import RecordLog
    from junqi.tournament import play_tournament
    from junqi.tournament_file import EXAMPLE, read_tournament

    if example:
        print(EXAMPLE, end="")
        return
    if file is None:
        raise wrong_usage(context, "expected FILE or --example")
    settings = read_tournament(Path(file))
    if dry_run:
        _print_schedule(settings, json)
        return
    with RecordLog(settings.records, is_resumed=True) as log:
        if log.records:
            note(f"{settings.records}: {len(log.records)} games have been played")
        with _progress() as told:
            report = play_tournament(settings, log=log, told=told)
    if json:
        print_json(_figures(settings, report))
    else:
        _print_report(settings, report)


@contextmanager
def _progress() -> Iterator[Callable[[int, int, "Record | None"], None]]:
    """The state of things on stderr, if that is a terminal; games lost by a fault in any case."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda played, known, record: tell_fault(record)
        return
    from rich.console import Console
    from rich.text import Text

    from junqi.tournament import STAGE_TAG

    with Console(stderr=True).status("") as status:

        def show(played: int, known: int, record: "Record | None") -> None:
            tell_fault(record)
            line = f"{played} of {known} games"
            if record is not None:
                stage = record.extra[STAGE_TAG]
                line += f", {stage}: {record.red} - {record.black} {record.result}"
            status.update(Text(line))

        yield show


def _print_schedule(settings: "TournamentSettings", as_json: bool) -> None:
    from junqi.tournament import schedule

    fixtures = schedule(settings)
    if as_json:
        columns = ("stage", "round", "red", "black")
        print_json([{column: getattr(game, column) for column in columns} for game in fixtures])
        return
    print_table(
        ("stage", "round", "red", "black"),
        [(game.stage, str(game.round), game.red, game.black) for game in fixtures],
        right="round",
    )


def _print_report(settings: "TournamentSettings", report: "Report") -> None:
    from junqi.crosstable import crosstable_cells

    for table in report.tables:
        headings, lines = crosstable_cells(table)
        print(table.stage)
        print_table(headings, lines, right="place points won drawn lost")
        for tie in table.ranking.ties:
            print(f"tie by {tie}")
        print()
    rows = []
    for entrant in sorted(settings.entrants, key=lambda e: -report.ratings[e.name].mean):
        elo, tally = report.ratings[entrant.name], report.players[entrant.name]
        faults = ", ".join(f"{count} x {word}" for word, count in sorted(tally.faults.items()))
        rows.append(
            (
                entrant.name,
                f"{elo.mean:+.0f}",
                f"{elo.low:+.0f} to {elo.high:+.0f}",
                f"{1000 * tally.mean_seconds:.1f}",
                f"{tally.slowest:.3f}",
                faults or "none",
            )
        )
    print(f"ratings from all {report.games} games")
    columns = ("player", "elo", "95 % interval", "ms/move", "slowest s", "faults")
    print_table(columns, rows, right="elo ms/move")


def _figures(settings: "TournamentSettings", report: "Report") -> dict[str, Any]:
    from junqi.crosstable import crosstable

    return {
        "event": settings.event,
        "form": settings.form,
        "seed": settings.seed,
        "games": report.games,
        "tables": [
            {
                "stage": table.stage,
                "rows": [vars(row) for row in crosstable(table)],
                "ties": [
                    {"step": tie.step.value, "order": tie.order, "points": tie.points}
                    for tie in table.ranking.ties
                ],
            }
            for table in report.tables
        ],
        "players": [
            {
                **player_figures(entrant.player, report.players[entrant.name]),
                "elo": report.ratings[entrant.name].mean,
                "elo_low": report.ratings[entrant.name].low,
                "elo_high": report.ratings[entrant.name].high,
            }
            for entrant in settings.entrants
        ],
    }
