"""``junqi book openings``: look at the opening moves of a book, curate them, teach them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from junqi.cli.book import score_text
from junqi.cli.book_common import (
    BookOption,
    DryRunOption,
    TurnChoice,
    WeightOption,
    YesOption,
    changing,
    command_line,
    confirm,
    machine_name,
    plural,
    reading,
    share_option,
    tell_change,
    the_book,
    with_stdin,
)
from junqi.cli.common import (
    CsvOption,
    JsonOption,
    NamesChoice,
    NamesOption,
    UnexpectedValue,
    add_command,
    choice_option,
    names_for,
    note,
    number_option,
    plain,
    print_csv,
    print_json,
    print_table,
    use_color,
    wrong_usage,
)

if TYPE_CHECKING:
    from book.rows import Opening, Run
    from book.store import Book
    from junqi.pieces import Side
    from junqi.record import Record

app = typer.Typer(
    help="""Look at the opening moves of a book, curate them, and let games teach them.

    A row is one candidate move; the rows with the same layout and key are one position. What a key
    tells is in docs/openings.md. The commands take rows by the numbers that `list` prints.

    \b
    Examples:
      junqi book openings list --max-ply 1
      junqi book openings show 12
      junqi book openings tree 1 --turn first
    """,
)


class LevelChoice(StrEnum):
    """How much a key tells."""

    EXACT = "exact"
    NEAR = "near"
    WIDE = "wide"


class SideChoice(StrEnum):
    """Whose moves of a game are looked at."""

    RED = "red"
    BLACK = "black"
    BOTH = "both"


RowsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="ROW", help="Numbers of rows; or - for those on stdin.", show_default=False
    ),
]
LayoutOption = Annotated[
    str | None,
    typer.Option("--layout", metavar="LAYOUT", help="Only of this one: number, name or letters."),
]
MaxPlyOption = Annotated[
    int | None, number_option("--max-ply", minimum=0, help="Only up to this ply of both sides.")
]


@add_command(
    app,
    "junqi book openings list --max-ply 1",
    "junqi book openings list --layout 17 --level wide --csv > wide.csv",
    name="list",
)
def list_openings(
    context: typer.Context,
    book: BookOption = None,
    layout: LayoutOption = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="Only of this position.")
    ] = None,
    level: Annotated[
        LevelChoice | None, choice_option(LevelChoice, "--level", help="Only of such keys.")
    ] = None,
    max_ply: MaxPlyOption = None,
    min_visits: Annotated[
        int, number_option("--min-visits", minimum=0, help="Only with at least so many.")
    ] = 0,
    max_error: Annotated[
        float | None, share_option("--max-error", help="Only with at most this error.")
    ] = None,
    enabled: Annotated[
        bool | None,
        typer.Option("--enabled/--disabled", help="Only enabled, or only disabled ones."),
    ] = None,
    limit: Annotated[
        int | None, number_option("--limit", minimum=1, help="At most so many.")
    ] = None,
    json: JsonOption = False,
    csv: CsvOption = False,
) -> None:
    """List opening moves, by layout, ply, key and weight."""
    from book.openings import LEVEL_NAMES, level_of

    if json and csv:
        raise wrong_usage(context, "expected --json or --csv, got both")
    with reading(context, book) as opened:
        letters = None if layout is None else opened.find_layout(layout).layout
        found = opened.openings(letters, key, enabled=enabled, max_ply=max_ply)
    rows = [
        row
        for row in found
        if row.visits >= min_visits
        and (max_error is None or (row.error is not None and row.error <= max_error))
        and (level is None or LEVEL_NAMES[level_of(row.key)] == level.value)
    ][:limit]
    if json:
        print_json([asdict(row) for row in rows])
    elif csv:
        columns = ["id", *(f.name for f in fields(_row_type()) if f.name != "id")]
        print_csv(columns, ([_cell(getattr(row, c)) for c in columns] for row in rows))
    else:
        _print_rows(rows, with_place=True)


def _row_type() -> Any:
    from book.rows import Opening

    return Opening


def _cell(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


def _print_rows(rows: "Sequence[Opening]", with_place: bool) -> None:
    from book.openings import LEVEL_NAMES, level_of

    columns = ["id", "move", "weight", "score", "visits", "state", "source"]
    columns += ["ply", "level", "key", "layout"] if with_place else []
    cells = []
    for row in rows:
        line = [
            str(row.id),
            row.move,
            f"{row.weight:.2f}",
            score_text(row.score, row.error),
            f"{row.visits:,}",
            "" if row.enabled else "disabled",
            plain(row.source),
        ]
        if with_place:
            line += [str(row.ply), LEVEL_NAMES[level_of(row.key)], plain(row.key), row.layout]
        cells.append(line)
    print_table(columns, cells, right="id weight score visits ply")


@add_command(
    app,
    "junqi book openings show 12",
    "junqi book openings show 12 --names chinese",
)
def show(
    context: typer.Context,
    rows: RowsArgument,
    book: BookOption = None,
    names: NamesOption = NamesChoice.AUTO,
    json: JsonOption = False,
) -> None:
    """Draw positions, with what is known of them and all their moves.

    Of the enemy's pieces only those are drawn that the key tells of.
    """
    from book.openings import LEVEL_NAMES, describe_key, level_of, read_key
    from junqi.render import render_text
    from junqi.rules import parse_move

    written = names_for(names)
    with reading(context, book) as opened:
        found = _rows_named(opened, rows)
        places = list(dict.fromkeys((row.layout, row.key) for row in found))
        positions = [(place, opened.lookup(*place, disabled=True)) for place in places]
    if json:
        print_json(
            [
                {
                    "layout": layout,
                    "key": key,
                    "level": LEVEL_NAMES[level_of(key)],
                    "known": describe_key(key),
                    "moves": [asdict(row) for row in moves],
                }
                for (layout, key), moves in positions
            ]
        )
        return
    for number, ((layout, key), moves) in enumerate(positions):
        if number:
            print()
        board = read_key(layout, key)
        if board is not None:
            best = parse_move(moves[0].move)
            drawn = render_text(board.position, names=written, color=use_color(), highlight=best)
            print(f"{drawn}\n")
        print(f"layout  {layout}")
        print(f"key     {plain(key)} ({LEVEL_NAMES[level_of(key)]}), ply {moves[0].ply}")
        for line in describe_key(key):
            print(f"        {plain(line)}")
        print()
        _print_rows(moves, with_place=False)


def _rows_named(book: "Book", words: Sequence[str]) -> "list[Opening]":
    """The rows with these numbers.

    Raises:
        BookError: if there is none of a number.
    """
    from book.errors import BookError

    numbers = []
    for word in with_stdin(words):
        digits = word.removeprefix("#")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
            raise UnexpectedValue("the number of a row", word)
        numbers.append(int(digits))
    found = {row.id: row for row in book.openings_by_id(numbers)}
    for wanted in numbers:
        if wanted not in found:
            raise BookError(f"{book.path}: expected the number of an opening row, got {wanted}")
    return [found[wanted] for wanted in dict.fromkeys(numbers)]


def _ids(rows: "Sequence[Opening]") -> list[int]:
    return [row.id for row in rows if row.id is not None]


@add_command(
    app,
    "junqi book openings tree 1 --turn first",
    "junqi book openings tree Wall --turn second --depth 3 --width 2",
)
def tree(
    context: typer.Context,
    layout: Annotated[str, typer.Argument(metavar="LAYOUT", help="Number, name or 25 letters.")],
    turn: Annotated[
        TurnChoice, choice_option(TurnChoice, "--turn", help="When moving first, or second.")
    ] = TurnChoice.FIRST,
    depth: Annotated[int, number_option("--depth", minimum=1, help="Own moves at most.")] = 4,
    width: Annotated[
        int, number_option("--width", minimum=1, help="Positions shown after each move.")
    ] = 3,
    book: BookOption = None,
    json: JsonOption = False,
) -> None:
    """Print the main lines of a layout as a tree.

    Under each move stand the positions in which the own pieces are as after it, the most visited
    first. Moves that are not played are left out.
    """
    from book.opening_tree import tree as tree_of

    with reading(context, book) as opened:
        letters = opened.find_layout(layout).layout
        rows = opened.openings(letters)
    first = 0 if turn is TurnChoice.FIRST else 1
    lines = [
        line
        for line in tree_of(letters, rows, first, depth, width)
        if line.row.enabled and line.row.weight > 0
    ]
    if json:
        print_json([{"depth": line.depth} | asdict(line.row) for line in lines])
        return
    if not lines:
        note(f"no opening moves of {letters} yet: junqi book grow finds some")
    before = None
    for line in lines:
        indent = "  " * (2 * line.depth)
        if line.branch.key != before:
            print(f"{indent}{plain(line.branch.key)}")
        before = line.branch.key
        score = score_text(line.row.score, None)
        print(f"{indent}  {line.row.move}  {line.row.weight:.0%}  {score}  #{line.row.id}")


@add_command(
    app,
    "junqi book openings edit 12 --weight 0.5",
    'junqi book openings edit 12 13 --note "they always answer F2G2"',
)
def edit(
    context: typer.Context,
    rows: RowsArgument,
    weight: WeightOption = None,
    note_text: Annotated[
        str | None, typer.Option("--note", metavar="TEXT", help="A note; empty to remove it.")
    ] = None,
    book: BookOption = None,
    dry_run: DryRunOption = False,
) -> None:
    """Change the weight or the note of opening moves.

    A position with a weight set by hand is left alone by growing and learning.
    """
    from book.opening_rows import HAND, is_by_hand

    if weight is None and note_text is None:
        raise wrong_usage(context, "expected --weight or --note")
    with changing(context, book, dry_run) as opened:
        found = _rows_named(opened, rows)
        if note_text is not None:
            opened.set_openings(_ids(found), notes=note_text)
        if weight is not None:
            for row in found:
                source = row.source if is_by_hand(row) else f"{row.source} {HAND}"
                opened.set_openings(_ids([row]), weight=weight, source=source)


@add_command(app, "junqi book openings disable 12 13")
def disable(
    context: typer.Context,
    rows: RowsArgument,
    book: BookOption = None,
    dry_run: DryRunOption = False,
) -> None:
    """Keep opening moves in the book, but do not play them.

    A move that is disabled in a position is not played there because a wider key has it either.
    """
    with changing(context, book, dry_run) as opened:
        opened.set_openings(_ids(_rows_named(opened, rows)), enabled=False)


@add_command(app, "junqi book openings enable 12")
def enable(
    context: typer.Context,
    rows: RowsArgument,
    book: BookOption = None,
    dry_run: DryRunOption = False,
) -> None:
    """Let opening moves be played again."""
    with changing(context, book, dry_run) as opened:
        opened.set_openings(_ids(_rows_named(opened, rows)), enabled=True)


@add_command(
    app,
    "junqi book openings prune --unused --dry-run",
    "junqi book openings prune --min-visits 500 --max-error 2% --yes",
    "junqi book openings prune --run grow-20261116-030126-9f2c",
)
def prune(
    context: typer.Context,
    layout: LayoutOption = None,
    min_visits: Annotated[
        int | None, number_option("--min-visits", minimum=1, help="Remove those with fewer.")
    ] = None,
    max_ply: Annotated[
        int | None, number_option("--max-ply", minimum=0, help="Remove those after it.")
    ] = None,
    max_error: Annotated[
        float | None, share_option("--max-error", help="Remove those with a greater one.")
    ] = None,
    unused: Annotated[
        bool, typer.Option("--unused", help="Remove those with weight 0, which nobody plays.")
    ] = False,
    run: Annotated[
        str | None, typer.Option("--run", metavar="KEY", help="Remove what this run last wrote.")
    ] = None,
    book: BookOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Remove opening moves that are not worth their room.

    What any of the options names goes. Rows with a note, disabled ones and those with a weight set
    by hand stay.
    """
    from book.opening_rows import is_by_hand

    if not unused and all(given is None for given in (min_visits, max_ply, max_error, run)):
        raise wrong_usage(
            context, "expected --min-visits, --max-ply, --max-error, --unused or --run"
        )

    def is_out(row: "Opening") -> bool:
        if row.notes or not row.enabled or is_by_hand(row):
            return False
        return (
            (min_visits is not None and row.visits < min_visits)
            or (max_ply is not None and row.ply > max_ply)
            or (max_error is not None and (row.error or 0.0) > max_error)
            or (unused and row.weight == 0)
            or (run is not None and row.run == run)
        )

    with reading(context, book) as opened:
        letters = None if layout is None else opened.find_layout(layout).layout
        rows = opened.openings(letters)
        out = [row for row in rows if is_out(row)]
        question = f"remove {len(out):,} of {plural(len(rows), 'opening move')} in {opened.path}?"
    if out:
        confirm(question, yes or dry_run)
    with changing(context, book, dry_run) as opened:
        opened.remove_openings(_ids(out))
    if json:
        print_json({"rows": len(rows), "removed": _ids(out)})


@add_command(
    app,
    "junqi book openings learn games.junqi",
    "junqi book openings learn finals/*.junqi --side red --add",
)
def learn(
    context: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Game records; or - for standard input."),
    ],
    side: Annotated[
        SideChoice, choice_option(SideChoice, "--side", help="Whose moves are looked at.")
    ] = SideChoice.BOTH,
    plies: Annotated[int, number_option("--plies", minimum=1, help="So far into each game.")] = 20,
    add: Annotated[
        bool, typer.Option("--add", help="Keep moves that the book does not have yet, too.")
    ] = False,
    book: BookOption = None,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Let the results of games change the weights of the moves that were played in them.

    Only sides whose layout is in the book are looked at. Every game is a change of its own in the
    book's log, and none is learned twice. Games that ended by a crash, the clock or an illegal move
    say nothing about the opening, and are left out.
    """
    from book.default import open_book
    from book.learn import Learner
    from junqi.pieces import BLACK, RED

    sides: dict[SideChoice, tuple[Side, ...]] = {
        SideChoice.RED: (RED,),
        SideChoice.BLACK: (BLACK,),
        SideChoice.BOTH: (RED, BLACK),
    }
    faults: list[str] = []
    records = _records(files, faults)
    with open_book(the_book(context, book)) as opened:
        learner = Learner(
            opened,
            sides=sides[side],
            plies=plies,
            adds=add,
            command=command_line(context),
            machine=machine_name(),
            note=note,
        )
        if dry_run:
            with opened.change(command_line(context), dry_run=True):
                learned = learner.learn(records)
        else:
            learned = learner.learn(records)
        tell_change(
            str(opened.path),
            f"{plural(learned.games, 'game')} learned, {learned.known:,} known already, "
            f"{learned.left_out:,} left out; {plural(learned.moves, 'move')} changed, "
            f"{learned.added:,} added",
            dry_run,
        )
    if json:
        print_json(asdict(learned) | {"faults": faults})
    if faults:
        raise typer.Exit(1)


def _records(files: Sequence[str], faults: list[str]) -> "Iterator[tuple[str, Record]]":
    """The games of files, each with its name; what cannot be read is told, and added to a list."""
    from junqi.record import scan_file
    from junqi.textfile import source_name

    for file in files:
        for found in scan_file(file):
            name = f"{source_name(file)}: game {found.game}"
            if found.record is None:
                faults.append(f"{name}, {found.fault}")
                note(faults[-1])
            else:
                yield name, found.record


@add_command(app, "junqi book openings why 12")
def why(
    context: typer.Context,
    rows: RowsArgument,
    book: BookOption = None,
    json: JsonOption = False,
) -> None:
    """Say how opening moves came to be, and what finds them again."""
    with reading(context, book) as opened:
        found = [
            (row, None if row.run is None else opened.run(row.run))
            for row in _rows_named(opened, rows)
        ]
    if json:
        print_json(
            [
                asdict(row) | {"how": _how(row), "run": run and asdict(run), "again": _again(run)}
                for row, run in found
            ]
        )
        return
    for number, (row, run) in enumerate(found):
        if number:
            print()
        print(f"#{row.id} {row.move}  {score_text(row.score, row.error)}, {row.visits:,} visits")
        print(f"layout   {row.layout}")
        print(f"key      {plain(row.key)}, ply {row.ply}")
        print(f"how      {plain(_how(row))}")
        if row.notes:
            print(f"note     {plain(row.notes)}")
        if run is None:
            continue
        print(f"run      {run.key}, {run.started}, {run.status}, junqi {run.version}")
        print(f"machine  {plain(run.machine)}")
        print(f"command  {plain(run.command)}")
        if again := _again(run):
            print(f"again    {plain(again)}")
            if run.settings.get("first_game"):
                print("         with the book as it was before that run")


def _how(row: "Opening") -> str:
    """The source of a row in words."""
    import re

    from book.opening_rows import GAME, is_by_hand

    match = re.search(r"think:(\d+)x(\d+)", row.source)
    parts = []
    if match:
        thoughts, worlds = int(match[2]), int(match[1])
        parts.append(f"{plural(thoughts, 'thought')} in up to {worlds:,} worlds each")
    if row.source == GAME:
        parts.append("seen in games")
    if is_by_hand(row):
        parts.append("weight set by hand" if match else f"written by hand ({row.source or '-'})")
    return ", ".join(parts)


def _again(run: "Run | None") -> str | None:
    """The command that finds the same again, whatever the machine; None if none does."""
    import shlex

    if run is None or not run.key.startswith("grow-"):
        return None
    settings, thoughts = run.settings, run.notes.partition(" ")[0]
    words = ["junqi", "book", "grow", "--nodes", thoughts, "--seed", str(run.seed)]
    for option in ("worlds", "plies", "loss"):
        words += [f"--{option}", str(settings[option])]
    words += ["--opponents", ",".join(settings["opponents"])]
    for layout in settings["layouts"]:
        words += ["--layouts", layout]
    return shlex.join(words)
