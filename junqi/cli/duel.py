"""``junqi layout duel``: two layouts against each other."""

from typing import Annotated, Any

import typer

from junqi.cli.common import (
    SAMPLE,
    JsonOption,
    JudgeOption,
    SeedOption,
    ThreadsOption,
    add_command,
    number_option,
    print_json,
    progress_bar,
    seed_or_new,
    wrong_usage,
)

OTHER_SAMPLE = "cbacddeeffggghhhiiijjkklj"


def _layout_argument(name: str) -> Any:
    return typer.Argument(
        metavar=name, help="25 letters, or a file with one layout in it.", show_default=False
    )


def add_to(app: typer.Typer) -> None:
    """Add the command to its group."""
    add_command(
        app,
        f"junqi layout duel {SAMPLE} {OTHER_SAMPLE} --games 1000 --seed 1",
        f"junqi layout duel {SAMPLE} {OTHER_SAMPLE} --judge search:3x3 --games 100",
    )(duel)


def duel(
    context: typer.Context,
    layout: Annotated[str, _layout_argument("A")],
    other: Annotated[str, _layout_argument("B")],
    games: Annotated[
        int, number_option("--games", minimum=2, help="How many, an even number.")
    ] = 1000,
    seed: SeedOption = None,
    judge: JudgeOption = "policy",
    judge_a: Annotated[
        str | None, typer.Option("--judge-a", metavar="JUDGE", help="Who plays A, if another.")
    ] = None,
    judge_b: Annotated[
        str | None, typer.Option("--judge-b", metavar="JUDGE", help="Who plays B, if another.")
    ] = None,
    threads: ThreadsOption = None,
    json: JsonOption = False,
) -> None:
    """Let two layouts play each other in simulated games, colours swapped in pairs.

    A judge is a simulated player: random, policy, search:DxW, which searches D plies deep on each
    of W sampled worlds, or think:N, the engine itself with N worlds, which takes some thirty times
    as long as search:3x3. Each player knows only what it would be told in a real game. The score is
    A's, with its 95 % interval.
    """
    from junqi.duel import duel as play
    from junqi.layout_file import gather_one
    from junqi.simulate import parse_judge

    if games % 2:
        raise wrong_usage(context, f"expected an even number for --games, got {games}")
    layout_a, layout_b = gather_one(layout), gather_one(other)
    player_a = parse_judge(judge if judge_a is None else judge_a)
    player_b = parse_judge(judge if judge_b is None else judge_b)
    seed = seed_or_new(seed)
    with progress_bar("games", games) as progress:
        result = play(
            layout_a.parse(),
            layout_b.parse(),
            games,
            seed,
            player_a,
            player_b,
            threads=threads,
            progress=progress,
        )
    low, high = result.score.interval
    if json:
        print_json(
            {
                "a": layout_a.text,
                "b": layout_b.text,
                "judge_a": str(player_a),
                "judge_b": str(player_b),
                "seed": seed,
                "games": result.games,
                "wins": result.wins,
                "draws": result.draws,
                "losses": result.losses,
                "score": result.score.mean,
                "error": result.score.error,
                "low": low,
                "high": high,
                "score_moving_first": result.score_moving_first,
                "score_moving_second": result.score_moving_second,
                "reasons": result.reasons,
                "plies": result.plies,
                "seconds": result.seconds,
            }
        )
        return
    print(f"A       {layout_a.text}  {player_a}")
    print(f"B       {layout_b.text}  {player_b}")
    print(f"score   {result.score} for A (95 % interval {100 * low:.1f} to {100 * high:.1f} %)")
    print(f"games   {result.games}: {result.wins} won, {result.draws} drawn, {result.losses} lost")
    first, second = 100 * result.score_moving_first, 100 * result.score_moving_second
    print(f"colour  {first:.1f} % moving first, {second:.1f} % moving second")
    print("ends    " + ", ".join(f"{count} by {name}" for name, count in result.reasons.items()))
    rate = result.games / result.seconds
    print(f"plies   {result.plies / result.games:.1f} a game, {rate:,.0f} games/s")
