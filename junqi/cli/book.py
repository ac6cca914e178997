"""``junqi book``: look into a book, and make one."""

from dataclasses import asdict, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from junqi.cli.book_common import (
    BookOption,
    BooksOption,
    MovesChoice,
    OriginChoice,
    RoleChoice,
    SelectArgument,
    TurnOption,
    plural,
    reading,
    reading_all,
    select_layered,
    share_option,
    the_book,
)
from junqi.cli.common import (
    CsvOption,
    JsonOption,
    NamesChoice,
    NamesOption,
    SeedOption,
    SvgOption,
    add_command,
    choice_option,
    names_for,
    note,
    number_option,
    plain,
    print_csv,
    print_json,
    print_table,
    seed_or_new,
    use_color,
    write_file,
    wrong_usage,
)

if TYPE_CHECKING:
    from book.rows import BookLayout, BookStats
    from book.store import Book

app = typer.Typer(
    help="""Keep a book of layouts, scores, opening moves and games.

    The book is one SQLite file. Without --book it is the one that JUNQI_BOOK names, or the one in
    your data folder, which is made with the default layouts when it is first needed.

    \b
    Examples:
      junqi book stats
      junqi book list --origin human --sort score
      junqi book show 1
    """,
)

# What `show` prints of long lists.
_OPENINGS_SHOWN = 20
_PAYOFFS_SHOWN = 20


class SortChoice(StrEnum):
    """What a list is sorted by."""

    ID = "id"
    LAYOUT = "layout"
    NAME = "name"
    ORIGIN = "origin"
    ROLE = "role"
    WEIGHT = "weight"
    CREATED = "created"
    GAMES = "games"
    SCORE = "score"
    ERROR = "error"


# These are asked for to see the greatest.
_GREATEST_FIRST = {SortChoice.WEIGHT, SortChoice.CREATED, SortChoice.GAMES, SortChoice.SCORE}


@add_command(
    app,
    "junqi book init",
    "junqi book init --empty --book mine.db",
)
def init(
    context: typer.Context,
    book: BookOption = None,
    empty: Annotated[bool, typer.Option("--empty", help="Without the default layouts.")] = False,
) -> None:
    """Make a new book, with the layouts that come with the program."""
    from book.default import book_paths, build_default
    from book.errors import BookError
    from book.store import Book

    path = book_paths(the_book(context, book))[0]
    if path.exists():
        raise BookError(f"{path}: expected no file there yet: a book is never overwritten")
    path.parent.mkdir(parents=True, exist_ok=True)
    if empty:
        Book.create(path).close()
    else:
        build_default(path)
    with Book.open(path, read_only=True) as made:
        note(f"{path}: a new book with {plural(made.count_layouts(), 'layout')}")


@add_command(
    app,
    "junqi book stats",
    "junqi book stats --book mine.db --json",
)
def stats(context: typer.Context, book: BookOption = None, json: JsonOption = False) -> None:
    """Say in numbers what a book holds."""
    with reading(context, book) as opened:
        figures = opened.stats()
        path = str(opened.path)
    if json:
        print_json({"book": path} | asdict(figures))
    else:
        print("\n".join(_stats_lines(path, figures)))


def _stats_lines(path: str, figures: "BookStats") -> list[str]:
    def parts(counts: dict[str, int]) -> str:
        return ", ".join(f"{count:,} {plain(name)}" for name, count in counts.items())

    lines = [
        f"book       {plain(path)}",
        f"file       {figures.bytes / 1e6:,.1f} MB, schema version {figures.schema_version}",
        f"layouts    {figures.layouts:,}, {figures.enabled:,} enabled",
        f"mixture    {plural(figures.in_mixture, 'layout')}, total weight {figures.total_weight:g}",
    ]
    lines += [
        f"{name:<10} {parts(counts)}"
        for name, counts in (
            ("origin", figures.by_origin),
            ("role", figures.by_role),
            ("tags", figures.tags),
        )
        if counts
    ]
    judged = f", judged by {', '.join(map(plain, figures.by_judge))}" if figures.by_judge else ""
    return [
        *lines,
        f"evidence   {plural(figures.evidence, 'score')} of "
        f"{plural(figures.evidence_games, 'game')}{judged}",
        f"payoffs    {plural(figures.payoffs, 'pair')}, {plural(figures.payoff_games, 'game')}",
        f"openings   {plural(figures.openings, 'move')} in "
        f"{plural(figures.opening_positions, 'position')} of "
        f"{plural(figures.opening_layouts, 'layout')}",
        f"runs       {figures.runs:,}",
        f"games      {figures.games:,}",
        f"changes    {figures.changes:,}"
        + (f", the last {figures.last_change}" if figures.last_change else ""),
    ]


@add_command(
    app,
    "junqi book list --sort weight --limit 10",
    "junqi book list --origin human --min-score 55%",
    "junqi book list --tag old --csv > old.csv",
    "junqi book list --max-score 0.4 | junqi book disable -",
    name="list",
)
def list_layouts(
    context: typer.Context,
    book: BooksOption = None,
    origin: Annotated[
        list[OriginChoice] | None,
        choice_option(OriginChoice, "--origin", help="Only of this origin; may be repeated."),
    ] = None,
    role: Annotated[
        RoleChoice | None, choice_option(RoleChoice, "--role", help="Only with this role.")
    ] = None,
    moves: Annotated[
        MovesChoice | None,
        choice_option(MovesChoice, "--moves", help="Only those restricted like this."),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="Only with this tag; may be repeated."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="TEXT", help="Only with this in the name.")
    ] = None,
    min_score: Annotated[
        float | None, share_option("--min-score", help="Only with at least this score.")
    ] = None,
    max_score: Annotated[
        float | None, share_option("--max-score", help="Only with at most this score.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", metavar="JUDGE", help="Count only this judge's scores.")
    ] = None,
    opponents: Annotated[
        str | None,
        typer.Option("--opponents", metavar="PANEL", help="Count only scores against these."),
    ] = None,
    enabled: Annotated[
        bool | None,
        typer.Option("--enabled/--disabled", help="Only enabled, or only disabled ones."),
    ] = None,
    mixture: Annotated[
        bool, typer.Option("--mixture", help="Only those that the engine draws from.")
    ] = False,
    run: Annotated[
        str | None, typer.Option("--run", metavar="KEY", help="Only those that this run found.")
    ] = None,
    sort: Annotated[
        SortChoice, choice_option(SortChoice, "--sort", help="What to sort by.")
    ] = SortChoice.ID,
    reverse: Annotated[bool, typer.Option("--reverse", help="The other way around.")] = False,
    limit: Annotated[
        int | None, number_option("--limit", minimum=1, help="At most so many.")
    ] = None,
    json: JsonOption = False,
    csv: CsvOption = False,
) -> None:
    """List the layouts of a book, or some of them.

    The score is the mean over all fresh evidence, with its standard error in the CSV and JSON
    forms and its 95 % interval in the table. By weight, score, games and date the greatest come
    first.
    """
    from book.store import Filter

    if json and csv:
        raise wrong_usage(context, "expected --json or --csv, got both")
    wanted = Filter(
        origin=tuple(choice.value for choice in origin or ()),
        role=role.value if role else None,
        tags=tuple(tag or ()),
        min_score=min_score,
        max_score=max_score,
        enabled=enabled,
        in_mixture=True if mixture else None,
        moves=moves.value if moves else None,
        name=name,
        run=run,
        judge=judge,
        opponents=opponents,
    )
    descending = (sort in _GREATEST_FIRST) != reverse
    with reading_all(book) as layers:
        rows = layers.layouts(wanted, sort=sort.value, descending=descending, limit=limit)
    if json:
        print_json([vars(row) for row in rows])
    elif csv:
        columns = [field.name for field in fields(_row_type())]
        print_csv(columns, ([_csv_cell(getattr(row, c)) for c in columns] for row in rows))
    else:
        _print_layouts(rows)


def _row_type() -> Any:
    from book.rows import BookLayout

    return BookLayout


def _csv_cell(value: Any) -> Any:
    if isinstance(value, tuple):
        return " ".join(value)
    return int(value) if isinstance(value, bool) else value


def _print_layouts(rows: "list[BookLayout]") -> None:
    columns = [
        "id",
        "layout",
        "weight",
        "score",
        "games",
        "origin",
        "role",
        "state",
        "name",
        "tags",
    ]
    cells = [
        [
            str(row.id),
            row.layout,
            f"{row.weight:g}",
            score_text(row.score, row.error),
            f"{row.games:,}" if row.games else "",
            row.origin,
            row.role if row.moves == "both" else f"{row.role}, moving {row.moves}",
            "" if row.enabled else "disabled",
            plain(row.name),
            plain(" ".join(row.tags)),
        ]
        for row in rows
    ]
    print_table(columns, cells, right="id weight score games")


def score_text(score: float | None, error: float | None) -> str:
    """A score with its 95 % interval, like ``55.0 ± 1.2 %``; nothing if there is none."""
    from junqi.stats import Score

    if score is None:
        return ""
    return str(Score(score, error)) if error is not None else f"{100 * score:.1f} %"


@add_command(
    app,
    "junqi book show 1",
    "junqi book show cigdcegkefkfaibgidjhhhjlj --names chinese",
    "junqi book show tag:favourite --json",
)
def show(
    context: typer.Context,
    layouts: SelectArgument,
    book: BooksOption = None,
    names: NamesOption = NamesChoice.AUTO,
    svg: SvgOption = None,
    json: JsonOption = False,
) -> None:
    """Draw layouts of a book, with all that is known about them."""
    from junqi.layout import parse_layout
    from junqi.render import render_layout_text
    from junqi.render_svg import render_layout_svg

    written = names_for(names)
    with reading_all(book) as layers:
        found = select_layered(layers, layouts)
        if svg is not None:
            if len(found) != 1:
                raise wrong_usage(context, f"expected one layout for --svg, got {len(found)}")
            write_file(svg, render_layout_svg(parse_layout(found[0][1].layout), names=written))
        elif json:
            print_json([_layout_json(opened, row) for opened, row in found])
        else:
            for number, (opened, row) in enumerate(found):
                if number:
                    print()
                drawn = parse_layout(row.layout)
                print(render_layout_text(drawn, names=written, color=use_color()))
                _print_facts(opened, row)


def _layout_json(book: "Book", row: "BookLayout") -> dict[str, Any]:
    return {
        "book": str(book.path),
        **asdict(row),
        "evidence": [asdict(e) | {"score": e.score} for e in book.evidence(row.layout)],
        "payoffs": [asdict(p) | {"score": p.score} for p in book.payoffs(row.layout)],
        "openings": [asdict(opening) for opening in book.openings(row.layout)],
    }


def _print_facts(book: "Book", row: "BookLayout") -> None:
    """What the book knows about a layout, below its drawing."""
    name = f" {plain(row.name)}" if row.name else ""
    print(f"\n#{row.id}{name}  {row.layout}")
    state = "enabled" if row.enabled else "disabled"
    turn = "" if row.moves == "both" else f", only when moving {row.moves}"
    print(f"weight    {row.weight:g}{turn}, {state}, role {row.role}")
    found_by = f" by {plain(row.run)}" if row.run else ""
    print(f"origin    {row.origin}{found_by}, {row.created}")
    if row.tags:
        print(f"tags      {plain(' '.join(row.tags))}")
    for number, line in enumerate(row.notes.splitlines()):
        print(f"{'notes' if number == 0 else '':<10}{plain(line)}")
    _print_evidence(book, row)
    _print_payoffs(book, row)
    _print_openings(book, row)


def _print_evidence(book: "Book", row: "BookLayout") -> None:
    rows = book.evidence(row.layout)
    if not rows:
        print("no evidence yet: junqi book evaluate finds some")
        return
    print(f"\nevidence ({plural(len(rows), 'score')})")
    print_table(
        ["score", "games", "won", "drawn", "lost", "judge", "opponents", "seed", "kind", "made"],
        [
            [
                score_text(e.score, e.error),
                f"{e.games:,}",
                f"{e.wins:,}",
                f"{e.draws:,}",
                f"{e.losses:,}",
                plain(e.judge),
                plain(e.opponents),
                "" if e.seed is None else str(e.seed),
                e.kind,
                e.created or "",
            ]
            for e in rows
        ],
        right="score games won drawn lost seed",
    )
    for command in dict.fromkeys(e.command for e in rows if e.command):
        print(f"  {plain(command)}")


def _print_payoffs(book: "Book", row: "BookLayout") -> None:
    rows = book.payoffs(row.layout)
    if not rows:
        return
    print(f"\npayoffs ({plural(len(rows), 'pair')})")
    print_table(
        ["score", "games", "judge", "opponent"],
        [
            [score_text(p.score, p.error), f"{p.games:,}", plain(p.judge), p.opponent]
            for p in rows[:_PAYOFFS_SHOWN]
        ],
        right="score games",
    )
    _tell_rest(len(rows) - _PAYOFFS_SHOWN)


def _print_openings(book: "Book", row: "BookLayout") -> None:
    rows = book.openings(row.layout, limit=_OPENINGS_SHOWN + 1)
    if not rows:
        return
    print("\nopenings")
    print_table(
        ["ply", "move", "weight", "score", "visits", "state", "source", "key"],
        [
            [
                str(o.ply),
                o.move,
                f"{o.weight:g}",
                score_text(o.score, o.error),
                f"{o.visits:,}",
                "" if o.enabled else "disabled",
                plain(o.source),
                plain(o.key),
            ]
            for o in rows[:_OPENINGS_SHOWN]
        ],
        right="ply weight score visits",
    )
    if len(rows) > _OPENINGS_SHOWN:
        print("  and more: --json shows all")


def _tell_rest(rest: int) -> None:
    if rest > 0:
        print(f"  and {rest:,} more: --json shows all")


@add_command(
    app,
    "junqi book sample --seed 1 --count 3",
    "junqi book sample --turn first --json",
)
def sample(
    book: BooksOption = None,
    count: Annotated[int, number_option("--count", minimum=1, help="How many draws.")] = 1,
    seed: SeedOption = None,
    turn: TurnOption = None,
    json: JsonOption = False,
) -> None:
    """Draw layouts from the mixture, as the engine does.

    Each is mirrored by a coin flip. A draw is a line: the letters to play, how often the engine
    draws this layout, and whether it is mirrored.
    """
    seed = seed_or_new(seed)
    with reading_all(book) as layers:
        draws = layers.sample(seed, count, turn.value if turn else None)
        weights = {row.layout: row.weight for row in layers.mixture(turn.value if turn else None)}
    total = sum(weights.values())
    shares = {layout: weight / total for layout, weight in weights.items()}
    if json:
        listed = [asdict(draw) | {"share": shares[draw.entry]} for draw in draws]
        print_json({"seed": seed, "draws": listed})
        return
    for draw in draws:
        mirrored = "mirrored" if draw.is_mirrored else "as it is"
        name = f"  {plain(draw.name)}" if draw.name else ""
        print(f"{draw.layout}  {100 * shares[draw.entry]:5.1f} %  {mirrored}{name}")


@add_command(
    app,
    "junqi book check",
    "junqi book check --book mine.db --json",
)
def check(context: typer.Context, book: BookOption = None, json: JsonOption = False) -> None:
    """Name everything that is wrong in a book.

    Layouts are checked by the rules, opening moves by what can be played, weights and scores by
    what they may be, and all keys. The exit code is 1 if there is a fault.
    """
    with reading(context, book) as opened:
        path = str(opened.path)
        faults = list(opened.check())
    if json:
        print_json({"book": path, "sound": not faults, "faults": faults})
    else:
        for fault in faults:
            print(plain(fault))
        if not faults:
            print(f"{plain(path)}: ok")
    if faults:
        raise typer.Exit(1)


@add_command(
    app,
    "junqi book log",
    "junqi book log --limit 5 --json",
)
def log(
    context: typer.Context,
    book: BookOption = None,
    limit: Annotated[int, number_option("--limit", minimum=1, help="At most so many.")] = 20,
    json: JsonOption = False,
) -> None:
    """List the last changes, newest first."""
    with reading(context, book) as opened:
        entries = opened.changes(limit)
    if json:
        print_json([asdict(entry) for entry in entries])
    elif entries:
        print_table(
            ["change", "made", "what came of it", "state", "command"],
            [
                [
                    str(entry.id),
                    entry.made,
                    plain(entry.summary),
                    "undone" if entry.is_undone else "",
                    plain(entry.what),
                ]
                for entry in entries
            ],
            right="change",
        )
