"""``junqi player``: a built-in player as a program."""

import os
import sys
from typing import Annotated

import typer

from junqi.cli.common import UnexpectedValue, add_command, seed_or_new

app = typer.Typer()


@add_command(
    app,
    "printf 'INFO 1.0\\nSTART 0 1800 31\\nGO 0000 0 00\\n' | JUNQI_SEED=7 junqi player policy",
    "junqi match --first random --second 'junqi player policy' --games 10",
)
def player(
    name: Annotated[
        str,
        typer.Argument(
            metavar="PLAYER",
            help="random, policy, search:DxW, engine or engine:OPTIONS.",
            show_default=False,
        ),
    ],
) -> None:
    """Run a built-in player as a program that speaks the contest protocol.

    It reads INFO, START, GO, RESULT and END from standard input and answers on standard output.
    JUNQI_SEED in the environment makes it play the same moves every time; JUNQI_LAYOUT, 25
    letters, is the layout that it plays.
    """
    from junqi.layout import parse_layout
    from junqi.players import BUILT_IN_FORMS, is_built_in, make_player
    from junqi.process_player import LAYOUT_VARIABLE, SEED_VARIABLE
    from junqi.serve import serve_player
    from junqi.streams import take_stdout

    if not is_built_in(name):
        raise UnexpectedValue(BUILT_IN_FORMS, name)
    layout = os.environ.get(LAYOUT_VARIABLE) or None
    if layout is not None:
        parse_layout(layout)
    seed = os.environ.get(SEED_VARIABLE) or None
    try:
        number = seed_or_new(None if seed is None else int(seed))
    except ValueError:
        raise UnexpectedValue(f"an integer in {SEED_VARIABLE}", str(seed)) from None
    built_in = make_player(name, number, layout=layout)
    serve_player(built_in, iter(sys.stdin.buffer.readline, b""), take_stdout())
