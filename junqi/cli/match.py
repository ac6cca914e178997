"""``junqi match``: two players against each other, over the contest protocol."""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from junqi.cli.common import (
    JsonOption,
    SeedOption,
    UnexpectedValue,
    add_command,
    choice_option,
    note,
    number_option,
    plain,
    print_json,
    seed_or_new,
    wrong_usage,
)

if TYPE_CHECKING:
    from junqi.match import MatchSettings
    from junqi.match_tally import PlayerTally, Tally
    from junqi.record import Record

app = typer.Typer()


class StepsLoser(StrEnum):
    """Who loses when the steps are used up."""

    MOVER = "mover"
    NEXT = "next"


class Greeting(StrEnum):
    """The word by which a platform asks for the name."""

    INFO = "INFO"
    INFORMATION = "INFORMATION"


def parse_seconds(text: str) -> float:
    """Read a time above 0 seconds."""
    expected = "seconds above 0"
    try:
        seconds = float(text)
    except ValueError:
        raise UnexpectedValue(expected, text) from None
    if not 0 < seconds < math.inf:
        raise UnexpectedValue(expected, text)
    return seconds


def seconds_option(name: str, help: str) -> Any:
    """An option with a time."""
    return typer.Option(name, parser=parse_seconds, metavar="SECONDS", help=help)


def _player_option(name: str) -> Any:
    return typer.Option(
        name,
        metavar="PLAYER",
        help="random, policy, search:DxW, engine, engine:OPTIONS, or a command line.",
        show_default=False,
    )


@add_command(
    app,
    "junqi match --first search:3x3 --second policy --games 20 --seed 1",
    "junqi match --first 'python3 mine.py' --second junqi-engine --games 100 --concurrency 2 "
    "\\\n    --time 60 --records games.junqi --log talk",
    "junqi match --first ./new --second ./old --games 2000 --sprt 0 20 --seed 1 "
    "\\\n    --records test.junqi --resume",
)
def match(
    context: typer.Context,
    first: Annotated[str, _player_option("--first")],
    second: Annotated[str, _player_option("--second")],
    games: Annotated[
        int, number_option("--games", minimum=2, help="How many, an even number.")
    ] = 100,
    concurrency: Annotated[
        int, number_option("--concurrency", minimum=1, help="Games at a time.")
    ] = 1,
    time: Annotated[
        float, seconds_option("--time", help="For all moves of a player in a game.")
    ] = 1800.0,
    movetime: Annotated[
        float | None, seconds_option("--movetime", help="For each move at most.")
    ] = None,
    steps: Annotated[
        int, number_option("--steps", minimum=1, help="Plies without contact that end a game.")
    ] = 31,
    seed: SeedOption = None,
    layouts: Annotated[
        str | None,
        typer.Option(
            "--layouts", metavar="FILE", help="Draw the layouts of each pair from this file."
        ),
    ] = None,
    records: Annotated[
        str | None, typer.Option("--records", metavar="FILE", help="Write the games to this file.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where the file of records ends.")
    ] = False,
    log: Annotated[
        str | None,
        typer.Option("--log", metavar="DIR", help="Write what programs say into this folder."),
    ] = None,
    sprt: Annotated[
        tuple[float, float] | None,
        typer.Option(
            "--sprt", metavar="ELO0 ELO1", help="Stop as soon as one of the two is accepted."
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option("--alpha", metavar="CHANCE", help="Of accepting ELO1 wrongly.")
    ] = 0.05,
    beta: Annotated[
        float, typer.Option("--beta", metavar="CHANCE", help="Of accepting ELO0 wrongly.")
    ] = 0.05,
    steps_loser: Annotated[
        StepsLoser,
        choice_option(StepsLoser, "--steps-loser", help="Who loses by steps."),
    ] = StepsLoser.MOVER,
    flag_first: Annotated[
        bool,
        typer.Option(
            "--flag-first/--moves-first", help="What counts if a last mobile piece takes the flag."
        ),
    ] = True,
    greeting: Annotated[
        Greeting, choice_option(Greeting, "--greeting", help="The first word of the referee.")
    ] = Greeting.INFO,
    last_result: Annotated[
        bool,
        typer.Option("--last-result/--no-last-result", help="Whether the last RESULT is sent."),
    ] = True,
    last_go: Annotated[
        bool, typer.Option("--last-go/--no-last-go", help="Whether the last GO is sent.")
    ] = False,
    end: Annotated[bool, typer.Option("--end/--no-end", help="Whether END is sent.")] = True,
    patience: Annotated[
        float,
        seconds_option("--patience", help="For a name, a layout, and beyond the time of a move."),
    ] = 10.0,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Play all games in one process; not for reproducible games."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Play many games between two players, in pairs with the colours swapped.

    A player knows only what the contest protocol tells. Programs are started anew for each game,
    with JUNQI_SEED in their environment, and JUNQI_LAYOUT if --layouts is given; both games of a
    pair have the same seeds and layouts. A player that sends an illegal layout or move, crashes or
    does not answer loses, and the match goes on. The same seed gives the same records, clocks
    aside, whatever the number of games at a time, if the players play the same for the same seed.

    The score, the Elo and the pairs are the first player's. The pairs are counted by their points,
    from 0 to 2.
    """
    from junqi.layout_file import read_layout_file
    from junqi.match import MatchSettings, play_match
    from junqi.match_stats import Sprt
    from junqi.player import GameSettings
    from junqi.record_log import RecordLog
    from junqi.rules import Rules

    if games % 2:
        raise wrong_usage(context, f"expected an even number for --games, got {games}")
    if resume and (records is None or seed is None):
        raise wrong_usage(context, "expected --records and --seed with --resume")
    found = read_layout_file(layouts) if layouts else []
    for layout in found:
        layout.parse()
    settings = MatchSettings(
        first,
        second,
        games,
        seed_or_new(seed),
        GameSettings(
            rules=Rules(steps, steps_loser.value, flag_first, time),
            movetime=movetime,
            patience=patience,
            greeting=greeting.value,
            sends_last_result=last_result,
            sends_last_go=last_go,
            sends_end=end,
        ),
        layouts=tuple(layout.text for layout in found),
        keeps_programs=keep,
        sprt=None if sprt is None else Sprt(*sprt, alpha=alpha, beta=beta),
    )
    with (
        nullcontext() if records is None else RecordLog(records, is_resumed=resume) as book,
        _live_table(settings) as show,
    ):
        tally = play_match(
            settings,
            concurrency=concurrency,
            log=book,
            transcripts=Path(log) if log else None,
            told=show,
        )
    if json:
        print_json(_figures(settings, tally))
    else:
        print("\n".join(_lines(settings, tally)))


@contextmanager
def _live_table(settings: "MatchSettings") -> Iterator[Callable[["Tally", "Record | None"], None]]:
    """The growing table on stderr, if that is a terminal; games lost by a fault in any case."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda tally, record: tell_fault(record)
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as live:

        def show(tally: "Tally", record: "Record | None") -> None:
            tell_fault(record)
            live.update(Text("\n".join(_lines(settings, tally))), refresh=True)

        yield show


def tell_fault(record: "Record | None") -> None:
    """Tell of a game that was lost by a fault."""
    from junqi.match_tally import FAULT_TAG, ROUND_TAG
    from junqi.pieces import other

    if record is not None and FAULT_TAG in record.extra:
        assert record.outcome is not None
        winner, reason = record.outcome
        number, fault = record.extra[ROUND_TAG], record.extra[FAULT_TAG]
        loser = plain(record.name_of(other(winner)))
        note(f"game {number}: {loser} lost by {reason.text}: {plain(fault)}")


def _lines(settings: "MatchSettings", tally: "Tally") -> list[str]:
    elo = tally.elo
    lines = [
        f"games   {tally.games} of {settings.games}: {tally.wins} won, {tally.draws} drawn, "
        f"{tally.losses} lost by the first player",
        f"score   {100 * tally.score:.1f} %",
    ]
    if elo is not None:
        lines.append(f"elo     {elo.mean:+.1f} (95 % interval {elo.low:+.1f} to {elo.high:+.1f})")
        points = ("0", "½", "1", "1½", "2")
        counted = zip(points, tally.pairs, strict=True)
        lines.append(
            "pairs   " + ", ".join(f"{count} with {point}" for point, count in counted) + " points"
        )
    if settings.sprt is not None:
        test = settings.sprt
        low, high = test.bounds
        accepted = {"elo0": test.elo0, "elo1": test.elo1}.get(test.decision(tally.pairs) or "")
        verdict = "undecided" if accepted is None else f"Elo {accepted:g} is accepted"
        lines.append(
            f"sprt    Elo {test.elo0:g} against {test.elo1:g}: {verdict}, log-likelihood ratio "
            f"{test.ratio(tally.pairs):.2f} ({low:.2f} to {high:.2f})"
        )
    if tally.games:
        ends = ", ".join(
            f"{count} by {reason.text}" for reason, count in tally.reasons.most_common()
        )
        lines.append(f"ends    {ends}")
        lines.append(f"plies   {tally.plies / tally.games:.1f} a game")
        lines += [_player_line("first", settings.first, tally.players[0])]
        lines += [_player_line("second", settings.second, tally.players[1])]
    return lines


def _player_line(place: str, text: str, player: "PlayerTally") -> str:
    name = text if player.name == text else f"{player.name} ({text})"
    faults = ", ".join(f"{count} x {word}" for word, count in sorted(player.faults.items()))
    return (
        f"{place:<7} {plain(name)}: {1000 * player.mean_seconds:.1f} ms a move, "
        f"{player.slowest:.3f} s at most; faults: {faults or 'none'}"
    )


def _figures(settings: "MatchSettings", tally: "Tally") -> dict[str, Any]:
    elo, test = tally.elo, settings.sprt
    return {
        "first": player_figures(settings.first, tally.players[0]),
        "second": player_figures(settings.second, tally.players[1]),
        "seed": settings.seed,
        "games": tally.games,
        "wins": tally.wins,
        "draws": tally.draws,
        "losses": tally.losses,
        "score": tally.score,
        "elo": None if elo is None else _finite(elo.mean),
        "elo_low": None if elo is None else _finite(elo.low),
        "elo_high": None if elo is None else _finite(elo.high),
        "pairs": tally.pairs,
        "reasons": {reason.text: count for reason, count in sorted(tally.reasons.items())},
        "plies": tally.plies,
        "sprt": None
        if test is None
        else {
            "elo0": test.elo0,
            "elo1": test.elo1,
            "alpha": test.alpha,
            "beta": test.beta,
            "ratio": test.ratio(tally.pairs),
            "bounds": test.bounds,
            "accepted": test.decision(tally.pairs),
        },
    }


def player_figures(text: str, player: "PlayerTally") -> dict[str, Any]:
    """One player, for JSON."""
    return {
        "player": text,
        "name": player.name,
        "moves": player.moves,
        "mean_seconds": player.mean_seconds,
        "worst_seconds": player.slowest,
        "faults": dict(sorted(player.faults.items())),
    }


def _finite(number: float) -> float | None:
    """JSON has no infinite numbers."""
    return number if math.isfinite(number) else None
