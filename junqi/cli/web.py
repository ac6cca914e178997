"""``junqi web``: the board in the browser."""

from pathlib import Path
from typing import Annotated

import typer

from junqi.cli.book_common import BooksOption
from junqi.cli.common import add_command, note, number_option
from junqi.errors import JunqiError

app = typer.Typer()


class ExtraMissing(JunqiError):
    """What the command needs is not installed."""


@add_command(
    app,
    "junqi web",
    "junqi web --games contest --book mine.db",
    "junqi web --host 0.0.0.0 --port 8080 --no-browser",
)
def web(
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help="Where to listen; beyond this machine, the address printed holds a secret token.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        number_option("--port", minimum=0, help="The first free one from 8425 on if missing."),
    ] = None,
    games: Annotated[
        Path | None,
        typer.Option(
            "--games",
            metavar="FOLDER",
            help="Where games are kept; the one in your data folder if missing.",
            show_default=False,
        ),
    ] = None,
    book: BooksOption = None,
    movetime: Annotated[
        float | None,
        typer.Option(
            "--movetime",
            metavar="SECONDS",
            help="For each move of the engine; it shares out the time of the game if missing.",
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address, do not open it.")
    ] = False,
) -> None:
    """Open the board in the browser: contest console, viewer, layout studio and book.

    The console is for contests without a platform, with clocks, undo and records; the viewer steps
    through games; in the studio layouts are made and scored; the book is looked at and curated.
    The page comes from this machine and needs no network. Every move is on the disk before the
    page shows it: after a crash the game goes on where it was.
    """
    try:
        from junqi.web.server import serve
    except ImportError as error:
        raise ExtraMissing(
            f"junqi web needs the extra web ({error.name} is missing): pip install 'junqi[web]'"
        ) from None
    import os

    from platformdirs import user_data_path

    from junqi.program import gather_options
    from junqi.web.room import Setup

    options = gather_options(os.environ, note, book or ())
    if book:
        options = options.with_option("book", book)
    if movetime is not None:
        options = options.with_option("movetime", movetime)
    folder = games or user_data_path("junqi") / "games"
    folder.mkdir(parents=True, exist_ok=True)
    serve(Setup(folder, options, note), host=host, port=port, opens_browser=not no_browser)
