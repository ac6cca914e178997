"""``junqi layout``: check, draw, mirror and make layouts."""

from typing import TYPE_CHECKING, Annotated

import typer

from junqi.cli.common import (
    SAMPLE,
    FilesOption,
    JsonOption,
    LayoutsArgument,
    NamesChoice,
    NamesOption,
    SeedOption,
    SvgOption,
    add_command,
    gather_named,
    names_for,
    number_option,
    print_json,
    seed_or_new,
    use_color,
    write_file,
    wrong_usage,
)

if TYPE_CHECKING:
    from junqi.layout_file import FoundLayout

app = typer.Typer(
    help=f"""Check, draw, mirror and make layouts.

    \b
    Example:
      junqi layout check {SAMPLE}
    """,
)


@add_command(
    app,
    f"junqi layout check {SAMPLE}",
    "junqi layout check layouts.txt --json",
    "junqi layout random --count 5 | junqi layout check",
)
def check(
    context: typer.Context,
    layouts: LayoutsArgument = None,
    file: FilesOption = None,
    json: JsonOption = False,
) -> None:
    """Say whether layouts are legal, and if not, every reason.

    The exit code is 1 if one of them is not legal.
    """
    found = gather_named(context, layouts, file)
    if json:
        print_json(
            [
                {
                    "layout": layout.text,
                    "source": layout.source,
                    "line": layout.line,
                    "legal": not layout.problems,
                    "problems": layout.problems,
                }
                for layout in found
            ]
        )
    else:
        for layout in found:
            text = layout.text if layout.text.isprintable() else repr(layout.text)
            print(f"{layout.where}{text}: {'; '.join(layout.problems) or 'ok'}")
    if any(layout.problems for layout in found):
        raise typer.Exit(1)


@add_command(
    app,
    f"junqi layout show {SAMPLE}",
    f"junqi layout show {SAMPLE} --svg layout.svg",
)
def show(
    context: typer.Context,
    layouts: LayoutsArgument = None,
    file: FilesOption = None,
    names: NamesOption = NamesChoice.AUTO,
    svg: SvgOption = None,
) -> None:
    """Draw layouts as their player sees them, the front row on top."""
    from junqi.render import render_layout_text
    from junqi.render_svg import render_layout_svg

    pieces = [layout.parse() for layout in gather_named(context, layouts, file)]
    written = names_for(names)
    if svg is None:
        drawings = [render_layout_text(p, names=written, color=use_color()) for p in pieces]
        print("\n\n".join(drawings))
    elif len(pieces) == 1:
        write_file(svg, render_layout_svg(pieces[0], names=written))
    else:
        raise wrong_usage(context, f"expected one layout for --svg, got {len(pieces)}")


@add_command(
    app,
    "junqi layout random --count 5 --seed 1",
)
def random(
    count: Annotated[int, number_option("--count", minimum=1, help="How many.")] = 1,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Make random legal layouts, each of them equally likely."""
    from junqi.layout import format_layout, random_layouts

    seed = seed_or_new(seed)
    texts = (format_layout(layout) for layout in random_layouts(count, seed))
    if json:
        print_json({"seed": seed, "layouts": list(texts)})
    else:
        for text in texts:
            print(text)


@add_command(
    app,
    f"junqi layout mirror {SAMPLE}",
)
def mirror(
    context: typer.Context,
    layouts: LayoutsArgument = None,
    file: FilesOption = None,
    json: JsonOption = False,
) -> None:
    """Exchange left and right."""
    from junqi.layout import format_layout, mirror_layout

    found = gather_named(context, layouts, file)
    results = [format_layout(mirror_layout(layout.parse())) for layout in found]
    _print_pairs(found, "mirror", results, json)


@add_command(
    app,
    f"junqi layout canonical {SAMPLE}",
)
def canonical(
    context: typer.Context,
    layouts: LayoutsArgument = None,
    file: FilesOption = None,
    json: JsonOption = False,
) -> None:
    """Print a layout or its mirror image, whichever comes first."""
    from junqi.layout import canonical_layout, format_layout

    found = gather_named(context, layouts, file)
    results = [format_layout(canonical_layout(layout.parse())) for layout in found]
    _print_pairs(found, "canonical", results, json)


@add_command(
    app,
    "junqi layout count",
)
def count(json: JsonOption = False) -> None:
    """Count the legal layouts."""
    from junqi.layout import count_layouts

    if json:
        print_json({"count": count_layouts()})
    else:
        print(f"{count_layouts():,}")


def _print_pairs(found: "list[FoundLayout]", key: str, results: list[str], json: bool) -> None:
    """Print what was made of each layout."""
    if json:
        pairs = zip(found, results, strict=True)
        print_json([{"layout": layout.text, key: result} for layout, result in pairs])
    else:
        for result in results:
            print(result)
