"""``junqi engine``: the engine of ``junqi-engine``, with options."""

import os
from enum import StrEnum
from typing import Annotated

import typer

from junqi.cli.common import (
    SAMPLE,
    ThreadsOption,
    add_command,
    choice_option,
    number_option,
    wrong_usage,
)

app = typer.Typer()


class Encoding(StrEnum):
    """Of the engine's name."""

    UTF8 = "utf-8"
    GBK = "gbk"


@add_command(
    app,
    "printf 'INFO 1.0\\nSTART 0 1800 31\\nGO 0000 0 00\\n' | junqi engine --seed 1 --movetime 0.1",
    "junqi engine --warm-up",
    f"junqi engine --layout {SAMPLE} --name 'Team A' --log game.log",
)
def engine(
    context: typer.Context,
    book: Annotated[
        list[str] | None,
        typer.Option(
            "--book",
            metavar="PATH",
            help="A book to use, several from the most trusted on; "
            "JUNQI_BOOK, or the one in your data folder, if missing.",
        ),
    ] = None,
    no_book: Annotated[bool, typer.Option("--no-book", help="Use no book.")] = False,
    layout: Annotated[
        str | None,
        typer.Option(
            "--layout",
            metavar="LAYOUT",
            help="Always this layout, 25 letters; drawn from the book if missing.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="TEXT", help="What NAME says; Junqi if missing.")
    ] = None,
    movetime: Annotated[
        str | None,
        typer.Option(
            "--movetime",
            metavar="SECONDS",
            help="For each move; if missing, the time of the game is shared out.",
        ),
    ] = None,
    time_fraction: Annotated[
        str | None,
        typer.Option(
            "--time-fraction",
            metavar="PART",
            help="Of the game's time that is shared out; 0.9 if missing.",
        ),
    ] = None,
    threads: ThreadsOption = None,
    seed: Annotated[
        int | None,
        number_option(
            "--seed", minimum=0, help="Of layouts and moves; other ones every time if missing."
        ),
    ] = None,
    effort: Annotated[
        int | None,
        number_option(
            "--effort",
            minimum=1,
            help="So many sampled worlds for each move instead of a time: the same moves "
            "on every machine.",
        ),
    ] = None,
    opening_loss: Annotated[
        str | None,
        typer.Option(
            "--opening-loss",
            metavar="PART",
            help="Of the winning chances, up to which a stored opening move saves the search; "
            "0.01 if missing.",
        ),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option("--log", metavar="PATH", help="Add all lines and notes to this file."),
    ] = None,
    encoding: Annotated[
        Encoding | None, choice_option(Encoding, "--encoding", help="Of the name.")
    ] = None,
    warm_up: Annotated[
        bool,
        typer.Option("--warm-up", help="Compile what is needed, open the book, and exit."),
    ] = False,
) -> None:
    """Play by the contest protocol on standard input and output.

    What is not said here is taken from the environment (JUNQI_BOOK, JUNQI_MOVETIME and so on),
    then from engine.toml beside the book or in your configuration folder. The program
    junqi-engine is the same without options, for platforms that start a file.

    Run it with --warm-up once on the machine of a contest: compiling takes about a minute, and
    until it is done the engine plays by rules of thumb.
    """
    from junqi.engine_options import NO_BOOK
    from junqi.program import gather_options, prepare_machine, run
    from junqi.streams import Notes, take_stdout

    if book and no_book:
        raise wrong_usage(context, "expected --book or --no-book, got both")
    given: dict[str, object] = {
        "book": NO_BOOK if no_book else book,
        "layout": layout,
        "name": name,
        "movetime": movetime,
        "time-fraction": time_fraction,
        "threads": threads,
        "seed": seed,
        "effort": effort,
        "opening-loss": opening_loss,
        "log": log,
        "encoding": encoding and encoding.value,
    }
    note = Notes()
    options = gather_options(os.environ, note, book or ())
    options = options.with_options(
        {key: value for key, value in given.items() if value is not None}
    )
    if warm_up:
        for line in prepare_machine(options):
            print(line, flush=True)
    else:
        run(options, note, take_stdout())
