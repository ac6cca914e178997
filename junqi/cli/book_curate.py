"""``junqi book``: the commands by which a person changes what a book holds."""

from typing import TYPE_CHECKING, Annotated

import typer

from junqi.cli.book_common import (
    BookOption,
    DryRunOption,
    MovesOption,
    OriginOption,
    RoleOption,
    SelectArgument,
    WeightOption,
    YesOption,
    changing,
    confirm,
    parse_weight,
    plural,
    reading,
    select,
    tell_change,
    the_book,
)
from junqi.cli.common import (
    SAMPLE,
    FilesOption,
    JsonOption,
    LayoutsArgument,
    add_command,
    gather_named,
    note,
    print_json,
    wrong_usage,
)

if TYPE_CHECKING:
    from book.rows import BookLayout
    from junqi.layout_file import FoundLayout

app = typer.Typer()

TagsOption = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; may be repeated.")
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Also where the rows were changed in another way since.")
]
NameOption = Annotated[str | None, typer.Option("--name", metavar="TEXT", help="Its name.")]


@add_command(
    app,
    f"junqi book add {SAMPLE} --name Wall --tag mine",
    "junqi book add layouts.txt --origin human --role opponent",
    "junqi layout random --count 5 --seed 1 | junqi book add --tag random",
)
def add(
    context: typer.Context,
    layouts: LayoutsArgument = None,
    file: FilesOption = None,
    book: BookOption = None,
    origin: OriginOption = None,
    role: RoleOption = None,
    weight: WeightOption = None,
    moves: MovesOption = None,
    tag: TagsOption = None,
    name: NameOption = None,
    note_text: Annotated[
        str | None, typer.Option("--note", metavar="TEXT", help="A note about it.")
    ] = None,
    disabled: Annotated[bool, typer.Option("--disabled", help="Not to be used for now.")] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Leave illegal ones out instead of stopping.")
    ] = False,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Add layouts to a book.

    A layout that the book knows, itself or mirrored, gets what the options say and keeps the rest;
    tags are added to those it has, and an own layout that is added as an opponent's becomes both.
    """
    from book.rows import NewLayout

    found, faults = _legal(gather_named(context, layouts, file), keep_going)
    if name is not None and len(found) != 1:
        raise wrong_usage(context, f"expected one layout for --name, got {len(found)}")
    new = [
        NewLayout(
            layout=layout.text,
            origin=origin.value if origin else None,
            role=role.value if role else None,
            weight=weight,
            moves=moves.value if moves else None,
            enabled=False if disabled else None,
            name=name,
            notes=note_text,
            tags=tuple(tag or ()),
        )
        for layout in found
    ]
    with changing(context, book, dry_run) as opened:
        added = opened.add_layouts(new)
    if json:
        print_json(
            {"ids": added.ids, "added": added.added, "merged": added.merged, "faults": faults}
        )
    if faults:
        raise typer.Exit(1)


def _legal(found: "list[FoundLayout]", keep_going: bool) -> "tuple[list[FoundLayout], list[str]]":
    """The legal layouts, and what is wrong with the others, which is told.

    Raises:
        InvalidLayout: at the first that is not legal, unless others are to be kept.
    """
    from junqi.errors import InvalidLayout

    legal, faults = [], []
    for layout in found:
        try:
            layout.parse()
            legal.append(layout)
        except InvalidLayout as error:
            if not keep_going:
                raise
            faults.append(str(error))
            note(str(error))
    return legal, faults


@add_command(
    app,
    "junqi book remove 17",
    "junqi book remove tag:old --yes",
)
def remove(
    context: typer.Context,
    layouts: SelectArgument,
    book: BookOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
) -> None:
    """Remove layouts, with their evidence and opening moves.

    To keep what is known about a layout but never draw it, disable it instead.
    """
    with reading(context, book) as opened:
        rows = select(opened, layouts)
        question = f"remove {_named(rows)} from {opened.path}?"
    confirm(question, yes or dry_run)
    with changing(context, book, dry_run) as opened:
        opened.remove_layouts(_ids(select(opened, [row.layout for row in rows])))


@add_command(
    app,
    "junqi book enable 17",
)
def enable(
    context: typer.Context,
    layouts: SelectArgument,
    book: BookOption = None,
    dry_run: DryRunOption = False,
) -> None:
    """Let layouts be used again."""
    with changing(context, book, dry_run) as opened:
        opened.set_enabled(_ids(select(opened, layouts)), True)


@add_command(
    app,
    "junqi book disable 17 Wall tag:old",
    "junqi book list --max-score 0.4 | junqi book disable -",
)
def disable(
    context: typer.Context,
    layouts: SelectArgument,
    book: BookOption = None,
    dry_run: DryRunOption = False,
) -> None:
    """Keep layouts in the book, but do not use them."""
    with changing(context, book, dry_run) as opened:
        opened.set_enabled(_ids(select(opened, layouts)), False)


@add_command(
    app,
    "junqi book weight 0.25 17 18",
    "junqi book weight --normalize",
)
def weight(
    context: typer.Context,
    value: Annotated[
        float | None,
        typer.Argument(
            parser=parse_weight,
            metavar="WEIGHT",
            help="Relative to the others; 0 leaves a layout out.",
            show_default=False,
        ),
    ] = None,
    layouts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LAYOUT",
            help="Number, name or 25 letters; tag:TAG, mixture, all; or - for such words on stdin.",
            show_default=False,
        ),
    ] = None,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Then make all weights sum to 1.")
    ] = False,
    book: BookOption = None,
    dry_run: DryRunOption = False,
) -> None:
    """Say how often the engine draws layouts, relative to the others."""
    if value is not None and not layouts:
        raise wrong_usage(context, "expected LAYOUT after WEIGHT, got nothing")
    if value is None and not normalize:
        raise wrong_usage(context, "expected WEIGHT and LAYOUT, or --normalize")
    with changing(context, book, dry_run) as opened:
        if value is not None and layouts:
            opened.set_weight(_ids(select(opened, layouts)), value)
        if normalize:
            opened.normalize_weights()


@add_command(
    app,
    "junqi book tag favourite 17 18",
)
def tag(
    context: typer.Context,
    tag: Annotated[str, typer.Argument(metavar="TAG", help="A word.")],
    layouts: SelectArgument,
    book: BookOption = None,
    dry_run: DryRunOption = False,
) -> None:
    """Give layouts a tag."""
    with changing(context, book, dry_run) as opened:
        opened.add_tags(_ids(select(opened, layouts)), [tag])


@add_command(
    app,
    "junqi book untag favourite all",
)
def untag(
    context: typer.Context,
    tag: Annotated[str, typer.Argument(metavar="TAG", help="A word.")],
    layouts: SelectArgument,
    book: BookOption = None,
    dry_run: DryRunOption = False,
) -> None:
    """Take a tag from layouts."""
    with changing(context, book, dry_run) as opened:
        opened.remove_tags(_ids(select(opened, layouts)), [tag])


@add_command(
    app,
    'junqi book note "lost twice to a rush on the left" 17',
    name="note",
)
def note_layouts(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The note; empty to remove it.")],
    layouts: SelectArgument,
    append: Annotated[bool, typer.Option("--append", help="Add a line to what is noted.")] = False,
    book: BookOption = None,
    dry_run: DryRunOption = False,
) -> None:
    """Write a note to layouts."""
    with changing(context, book, dry_run) as opened:
        opened.set_note(_ids(select(opened, layouts)), text, append=append)


@add_command(
    app,
    "junqi book set 17 --name Wall --role own",
    "junqi book set 17 --moves second",
    name="set",
)
def set_layouts(
    context: typer.Context,
    layouts: SelectArgument,
    name: NameOption = None,
    role: RoleOption = None,
    moves: MovesOption = None,
    origin: OriginOption = None,
    book: BookOption = None,
    dry_run: DryRunOption = False,
) -> None:
    """Change the name, the role, the origin or the turn of layouts."""
    if name is None and role is None and moves is None and origin is None:
        raise wrong_usage(context, "expected --name, --role, --moves or --origin")
    with changing(context, book, dry_run) as opened:
        rows = select(opened, layouts)
        if name is not None:
            if len(rows) != 1:
                raise wrong_usage(context, f"expected one layout for --name, got {len(rows)}")
            opened.set_name(rows[0].id, name)
        if role is not None:
            opened.set_role(_ids(rows), role.value)
        if moves is not None:
            opened.set_moves(_ids(rows), moves.value)
        if origin is not None:
            opened.set_origin(_ids(rows), origin.value)


@add_command(
    app,
    "junqi book undo",
    "junqi book undo --dry-run",
)
def undo(
    context: typer.Context,
    book: BookOption = None,
    force: ForceOption = False,
    dry_run: DryRunOption = False,
) -> None:
    """Take the last change back; again for the one before."""
    from book.default import open_book

    with open_book(the_book(context, book)) as opened:
        result = opened.undo(dry_run=dry_run, force=force)
        told = f"undone: {result.undone.what}: {result.summary}"
        tell_change(str(opened.path), told, dry_run)


@add_command(
    app,
    "junqi book redo",
)
def redo(
    context: typer.Context,
    book: BookOption = None,
    force: ForceOption = False,
    dry_run: DryRunOption = False,
) -> None:
    """Make the change again that was last undone."""
    from book.default import open_book

    with open_book(the_book(context, book)) as opened:
        result = opened.redo(dry_run=dry_run, force=force)
        tell_change(
            str(opened.path), f"done again: {result.undone.what}: {result.summary}", dry_run
        )


def _ids(rows: "list[BookLayout]") -> list[int]:
    return [row.id for row in rows]


def _named(rows: "list[BookLayout]") -> str:
    """A few layouts by name, many by their number."""
    if len(rows) > 3:
        return plural(len(rows), "layout")
    return ", ".join(f"#{row.id} {row.name or row.layout}" for row in rows)
