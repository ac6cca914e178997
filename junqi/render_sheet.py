"""Many layouts on one page: the empty half board and each piece are drawn once, and used by name.

A page holds `sheet` once, in which everything has an id beginning with ``jq-``, and then any number
of boards of about one kilobyte each. Every piece carries its Chinese name, its English name and its
letter; the page shows one of them by the custom properties of `SHEET_STYLE`, so that a reader can
change the names without anything being drawn again.
"""

from junqi.layout import LAYOUT_POINTS, Layout
from junqi.pieces import KIND_OF, LETTER_OF_PIECE, RED
from junqi.render import LAYOUT_ROWS, PIECE_NAMES, Names, cells_of
from junqi.render_svg import STYLE, centre_of, ground_lines, size_of, tile_shape, xml_text

# A name is shown where its property says so: properties are inherited by what is used, while
# selectors that begin outside of it do not reach it.
SHEET_STYLE = f"""{STYLE.strip()}
.jq-sheet{{position:absolute;width:0;height:0;overflow:hidden}}
.jq-piece .jq-zh{{display:var(--jq-zh,none);font-size:24px}}
.jq-piece .jq-en{{display:var(--jq-en,inline)}}
.jq-piece .jq-letter{{display:var(--jq-letter,none);font-size:24px}}
"""

_CLASS_OF_NAMES: dict[Names, str] = {
    "chinese": "jq-zh",
    "english": "jq-en",
    "letters": "jq-letter",
}
_CENTRES = {
    point: centre_of(cell, LAYOUT_ROWS) for point, cell in cells_of(RED, LAYOUT_ROWS).items()
}


def sheet() -> str:
    """What the boards of a page are made of; stands in the page before the first of them."""
    width, height = size_of(LAYOUT_ROWS)
    ground = "".join(ground_lines(RED, LAYOUT_ROWS))
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" class="jq-sheet jq-board" aria-hidden="true">',
            f'<symbol id="jq-ground" viewBox="0 0 {width} {height}">{ground}</symbol>',
            *(_piece(piece) for piece in KIND_OF),
            "</svg>\n",
        ]
    )


def render_layout_use(layout: Layout, title: str) -> str:
    """Draw a layout from the page's `sheet`, rows G to L, as its player sees it."""
    width, height = size_of(LAYOUT_ROWS)
    pieces = "".join(
        f'<use href="#jq-{LETTER_OF_PIECE[piece]}" x="{x}" y="{y}"/>'
        for piece, (x, y) in zip(
            layout.tolist(), (_CENTRES[point] for point in LAYOUT_POINTS), strict=True
        )
    )
    return (
        f'<svg class="jq-board" viewBox="0 0 {width} {height}" role="img"'
        f' aria-label="{xml_text(title)}"><use href="#jq-ground" width="{width}"'
        f' height="{height}"/>{pieces}</svg>'
    )


def _piece(piece: int) -> str:
    """A tile about the origin, with all its names."""
    names = "".join(
        f'<text class="{kind}" dy=".36em">{PIECE_NAMES[names][piece]}</text>'
        for names, kind in _CLASS_OF_NAMES.items()
    )
    return (
        f'<g id="jq-{LETTER_OF_PIECE[piece]}" class="jq-piece jq-red">{tile_shape("jq-tile")}'
        f"{names}</g>"
    )
