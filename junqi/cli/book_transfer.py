"""``junqi book``: text in and out, several books, copies, and a book for reading and printing."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from junqi.cli.book_common import (
    BookOption,
    BooksOption,
    DryRunOption,
    OriginOption,
    RoleOption,
    changing,
    plural,
    reading,
    the_book,
)
from junqi.cli.common import (
    JsonOption,
    NamesChoice,
    NamesOption,
    add_command,
    names_for,
    note,
    number_option,
    plain,
    print_json,
)

if TYPE_CHECKING:
    from book.transfer import Difference

app = typer.Typer()


@add_command(
    app,
    "junqi book import book.txt",
    "junqi book import layouts.txt --keep-going --dry-run",
    "junqi book export --book old.db | junqi book import - --book new.db",
    name="import",
)
def import_text(
    context: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Text from junqi book export, or a list with one layout a line; - for stdin.",
        ),
    ],
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Leave bad lines out instead of stopping.")
    ] = False,
    origin: OriginOption = None,
    role: RoleOption = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="Of plain layouts; may be repeated."),
    ] = None,
    book: BookOption = None,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Read text into a book: all of it, or nothing if a line is bad.

    The bad line is named. With --keep-going all others are read, every bad line is named, and the
    exit code is 1. --origin, --role and --tag are for plain lists of layouts.
    """
    from book import transfer

    faults: list[str] = []
    with changing(context, book, dry_run) as opened:
        for file in files:
            report = transfer.import_file(
                opened,
                file,
                keep_going=keep_going,
                origin=origin.value if origin else None,
                role=role.value if role else None,
                tags=tuple(tag or ()),
            )
            faults += report.faults
    for fault in faults:
        note(plain(fault))
    if json:
        print_json({"faults": faults})
    if faults:
        note(f"{plural(len(faults), 'line is', 'lines are')} left out")
        raise typer.Exit(1)


@add_command(
    app,
    "junqi book export > book.txt",
    "junqi book export book.txt --book mine.db",
)
def export(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Where to; - for standard output.")
    ] = "-",
    book: BookOption = None,
) -> None:
    """Write a book as text.

    One row a line, in a fixed order: it diffs well, and junqi book import reads it exactly.
    """
    from book import transfer

    with reading(context, book) as opened:
        transfer.export_file(opened, file)
    if file != "-":
        note(f"{file}: written")


@add_command(
    app,
    "junqi book merge friend.db lab.db",
    "junqi book merge friend.db --book mine.db --dry-run",
)
def merge(
    context: typer.Context,
    books: Annotated[
        list[str], typer.Argument(metavar="BOOK", help="A book whose rows are taken over.")
    ],
    book: BookOption = None,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Take over what other books hold.

    Evidence is pooled, and each conflict is named: where two books say different things about one
    layout, like its weight or its name, this book's word stays.
    """
    from book import transfer

    with changing(context, book, dry_run) as opened:
        report = transfer.merge(opened, books)
    if json:
        print_json({"conflicts": report.conflicts})
    else:
        for conflict in report.conflicts:
            print(plain(conflict))


@add_command(
    app,
    "junqi book diff old.db new.db",
    "junqi book diff old.db new.db --json",
)
def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="A book.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    json: JsonOption = False,
) -> None:
    """Say in what two books differ.

    Row numbers do not matter. The exit code is 1 if the books differ.
    """
    from book import transfer

    differences = list(transfer.diff(a, b))
    if json:
        print_json([asdict(difference) for difference in differences])
    else:
        for difference in differences:
            print(_difference_text(difference))
    if differences:
        raise typer.Exit(1)


def _difference_text(difference: "Difference") -> str:
    head = plain(f"{difference.section} {difference.key}")
    if difference.side != "both":
        return f"{'-' if difference.side == 'a' else '+'} {head}"
    changed = ", ".join(f"{name} {a!r} -> {b!r}" for name, (a, b) in difference.fields.items())
    return f"~ {head}: {plain(changed)}"


@add_command(
    app,
    "junqi book backup",
    "junqi book backup /media/stick/book.db",
)
def backup(
    context: typer.Context,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="Where to; beside the book, with a date, if missing."),
    ] = None,
    book: BookOption = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Copy a book, also while another program works with it.

    The copy is a single file, which can be opened where nothing can be written.
    """
    from datetime import datetime

    with reading(context, book) as opened:
        moment = datetime.now().strftime("%Y%m%d-%H%M%S")
        path = file or opened.path.with_name(f"{opened.path.stem}-{moment}{opened.path.suffix}")
        note(f"{opened.backup(path, overwrite=force)}: written")


@add_command(
    app,
    "junqi book migrate --book old.db",
)
def migrate(context: typer.Context, book: BookOption = None, dry_run: DryRunOption = False) -> None:
    """Bring a book of an older version up to date.

    The old one is kept beside it as a backup.
    """
    from book.default import book_paths
    from book.migrate import migrate_file

    path = book_paths(the_book(context, book))[0]
    report = migrate_file(path, dry_run=dry_run)
    if report.old == report.new:
        note(f"{path}: schema version {report.new}, nothing to do")
        return
    kept = f", the old one is {report.backup}" if report.backup else ""
    dry = " (dry run: nothing is written)" if dry_run else ""
    note(f"{path}: schema version {report.old} becomes {report.new}{kept}{dry}")


@add_command(
    app,
    "junqi book html site",
    "junqi book html site --book mine.db --limit 100",
)
def html(
    context: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The folder for the pages.")],
    limit: Annotated[
        int,
        number_option("--limit", minimum=1, help="At most so many layouts, the heaviest first."),
    ] = 1000,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Of the site.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also into a folder with other files in it.")
    ] = False,
    book: BookOption = None,
) -> None:
    """Write a book as web pages, for reading and printing.

    The pages need no network and no server: open index.html.
    """
    from book.site import write_site

    with reading(context, book) as opened:
        report = write_site(opened, folder, limit=limit, title=title, force=force)
    note(f"{report.index}: written, {plural(report.pages, 'page')}")
    if report.left_out:
        note(f"{plural(report.left_out, 'layout')} left out: --limit takes more")


@add_command(
    app,
    "junqi book explore",
    "junqi book explore --book mine.db --port 8002 --no-browser",
)
def explore(
    context: typer.Context,
    book: BooksOption = None,
    port: Annotated[
        int, number_option("--port", minimum=0, help="On this machine only; 0 for any free one.")
    ] = 8001,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser window.")
    ] = True,
    names: NamesOption = NamesChoice.AUTO,
) -> None:
    """Look around in a book with Datasette.

    Layouts are drawn as boards, and nothing can be changed. Datasette comes with the extra
    explore. Ctrl-C ends it.
    """
    from book.default import open_layers

    try:
        from book.explore import serve
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("datasette", "uvicorn"):
            raise
        raise _no_datasette() from None
    with open_layers(book or []) as layers:  # tells what is wrong with a file
        paths = [opened.path for opened in layers.books]
    serve(paths, port=port, open_browser=browser, names=names_for(names), tell=note)


def _no_datasette() -> Exception:
    from junqi.errors import JunqiError

    return JunqiError(
        "expected Datasette, which is not installed: pip install 'junqi[explore]',"
        " or pip install datasette"
    )
