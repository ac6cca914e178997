"""``junqi bench``: how fast this machine plays."""

from typing import Annotated, Any

import typer

from junqi.cli.common import JsonOption, add_command, note, print_json

app = typer.Typer()


@add_command(
    app,
    "junqi bench",
    "junqi bench --quick --json",
)
def bench(
    quick: Annotated[
        bool, typer.Option("--quick", help="Shorter runs, and no compilation anew.")
    ] = False,
    yardstick: Annotated[
        str | None,
        typer.Option("--yardstick", metavar="PATH", help="Also race this program, in turn."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Measure speed, start-up and memory on this machine.

    All seeds are fixed. The signature is a checksum over the games that are played: it changes
    when the players' behaviour changes, and only then. Leave the machine in peace meanwhile.
    """
    from junqi import bench as library

    figures = library.bench(quick, yardstick, note)
    if json:
        print_json(figures)
    else:
        print("\n".join(_lines(figures)))


def _lines(figures: dict[str, Any]) -> list[str]:
    threads = figures["threads"]
    lines = [f"signature           {figures['signature']}"]
    for name in ("random", "policy", "search:3x3"):
        one, everything = figures[name]["one"], figures[name]["all"]
        lines.append(
            f"{name:<12} games {one['games_per_second']:>13,.0f} /s   "
            f"plies {one['plies_per_second']:>13,.0f} /s   on 1 thread"
        )
        lines.append(
            f"{'':<12} games {everything['games_per_second']:>13,.0f} /s   "
            f"plies {everything['plies_per_second']:>13,.0f} /s   on {threads} threads, "
            f"{figures[name]['scaling']:.2f} times"
        )
    lines += [
        f"search depth {figures['search_depth']} nodes {figures['search_nodes_per_second']:>12,.0f}"
        f" /s   {1000 * figures['search_seconds_per_position']:.2f} ms a position, on 1 thread",
        f"                   {figures['search_nodes_per_second_all']:>13,.0f} /s"
        f"   on {threads} threads",
        f"worlds             {figures['worlds_per_second']:>13,.0f} /s   on 1 thread",
        f"                   {figures['worlds_per_second_all']:>13,.0f} /s   on {threads} threads",
        f"referee            {figures['referee_ms_per_move']:>13.2f} ms   a move in this process",
        f"                   {figures['referee_ms_per_move_programs']:>13.2f} ms   with programs",
        f"start              {figures['start_seconds']:>13.2f} s    from the cache",
    ]
    if "compile_seconds" in figures:
        lines.append(f"compile            {figures['compile_seconds']:>13.2f} s    everything anew")
    if figures["memory_mb"] is not None:
        lines.append(f"memory             {figures['memory_mb']:>13,.0f} MB")
    for name, race in figures.get("yardstick", {}).items():
        lines.append(
            f"to the yardstick   {race['ratio']:>13.2f} x    {name} "
            f"({race['lowest']:.2f} to {race['highest']:.2f})"
        )
    return lines
