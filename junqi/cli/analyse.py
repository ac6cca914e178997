"""``junqi analyse``: what the engine thinks of a position, and why."""

from typing import TYPE_CHECKING, Annotated

import typer

from junqi.cli.common import (
    JsonOption,
    NamesChoice,
    NamesOption,
    SeedOption,
    ThreadsOption,
    UnexpectedValue,
    add_command,
    names_for,
    number_option,
    print_json,
    print_table,
    seed_or_new,
    use_color,
)

if TYPE_CHECKING:
    from junqi.analyse import Analysis

app = typer.Typer()


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise UnexpectedValue("a number of seconds above 0", text)
    return number


@add_command(
    app,
    "junqi analyse docs/example.junqi --ply 40",
    "junqi analyse docs/example.junqi --ply 40 --time 10 --top 3 --json",
    "junqi record import engine.log | junqi analyse -",
)
def analyse(
    record: Annotated[
        str, typer.Argument(metavar="RECORD", help="A file of game records, or - for stdin.")
    ],
    game: Annotated[
        int | None,
        number_option("--game", minimum=1, help="Which game of the file; else the first."),
    ] = None,
    ply: Annotated[
        int | None,
        number_option("--ply", minimum=0, help="After so many plies; at the last turn if missing."),
    ] = None,
    time: Annotated[
        float, typer.Option("--time", metavar="SECONDS", parser=_seconds, help="To think.")
    ] = 2.0,
    top: Annotated[int, number_option("--top", minimum=1, help="So many candidate moves.")] = 10,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    names: NamesOption = NamesChoice.AUTO,
    json: JsonOption = False,
) -> None:
    """Think about a position of a game, as the side that is to move there.

    It is given what that side was told, and nothing else: a record that has only this side's
    layout will do, so one that junqi record import makes of a player's log is enough. Printed are
    the candidate moves with the chance to win, its standard error and the number of sampled worlds
    it was tried in, and what the side believes of the enemy's pieces. All points are as this side
    calls them: it sits at the bottom.
    """
    from junqi.analyse import analyse as think
    from junqi.analyse import view_at
    from junqi.belief_table import format_belief
    from junqi.cli.replay import pick_game
    from junqi.engine import EngineOptions
    from junqi.pieces import SIDE_NAMES
    from junqi.render import render_view_text

    view = view_at(pick_game(record, game), ply)
    shown = names_for(names)
    analysis = think(view, time, EngineOptions(threads=threads), seed_or_new(seed))
    if json:
        print_json(analysis.as_json(top))
        return
    rules, side = view.rules, SIDE_NAMES[view.side]
    print(f"{side} to move after ply {len(view.plies)}")
    print(f"{view.quiet_plies} of {rules.steps} plies without contact")
    print(render_view_text(view, names=shown, color=use_color()))
    print()
    _print_candidates(analysis, top)
    print()
    print(format_belief(view), end="")


def _print_candidates(analysis: "Analysis", top: int) -> None:
    rows = [
        [
            str(number),
            row["move"],
            row["piece"],
            f"{100 * row['win']:.1f} %",
            f"{100 * row['error']:.1f}",
            f"{row['worlds']:,}",
        ]
        for number, row in enumerate(analysis.as_json(top)["candidates"], 1)
    ]
    columns = ["#", "move", "piece", "win", "error", "worlds"]
    print_table(columns, rows, right="# win error worlds")
