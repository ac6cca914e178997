"""A plugin for Datasette: a cell that holds a layout is drawn as a board.

Datasette finds it by the entry point in ``pyproject.toml``, so ``datasette book.db`` draws boards
too; `junqi book explore` registers it itself.
"""

import math
import sqlite3
from typing import Any

from datasette import Response, hookimpl
from markupsafe import Markup

from junqi.layout import layout_problems, parse_layout
from junqi.pieces import PIECES_A_SIDE
from junqi.render import NAMES, Names
from junqi.render_svg import STYLE, render_layout_svg

PLUGIN_NAME = "junqi-book"
STYLE_PATH = "/-/junqi-book.css"

# A page lists a hundred layouts: each is large enough to be read, and no larger.
_PAGE_STYLE = """
.junqi-layout{display:inline-block;width:15rem;max-width:100%;margin:0;white-space:normal}
.junqi-layout svg{display:block;width:100%;height:auto}
.junqi-layout code{font-size:.8rem}
"""


@hookimpl
def render_cell(value: Any, datasette: Any) -> Markup | None:
    """Draw what is a legal layout; leave everything else to Datasette."""
    if not isinstance(value, str) or len(value) != PIECES_A_SIDE or layout_problems(value):
        return None
    names = _names(datasette)
    picture = render_layout_svg(parse_layout(value), names=names, title=f"layout {value}")
    # The style is the same for all boards of a page, and stands in a file of its own.
    picture = picture.replace(f"<style>{STYLE}</style>\n", "")
    return Markup(f'<figure class="junqi-layout">{picture}<code>{value}</code></figure>')


@hookimpl
def extra_css_urls(datasette: Any) -> list[str]:
    """The style of the boards."""
    return [datasette.urls.path(STYLE_PATH)]


@hookimpl
def register_routes() -> list[tuple[str, Any]]:
    """Where the style is."""
    return [(rf"^{STYLE_PATH}$", _style)]


@hookimpl
def prepare_connection(conn: sqlite3.Connection) -> None:
    """Give the book's views the square root, which not every SQLite has."""
    try:
        conn.execute("SELECT sqrt(1)")
    except sqlite3.OperationalError:
        conn.create_function("sqrt", 1, math.sqrt, deterministic=True)


async def _style() -> Any:
    return Response(STYLE + _PAGE_STYLE, content_type="text/css; charset=utf-8")


def _names(datasette: Any) -> Names:
    """What is written on the pieces, by the plugin's setting ``names``."""
    asked = (datasette.plugin_config(PLUGIN_NAME) or {}).get("names")
    return next((names for names in NAMES if names == asked), "english")
