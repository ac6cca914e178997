"""A book in Datasette: the server, with the plugin that draws boards and words about the tables.

Importing this needs Datasette, which comes with the extra ``explore``.
"""

import socket
import sqlite3
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import uvicorn
from datasette.app import Datasette
from datasette.plugins import pm

from book import datasette_plugin
from book.errors import BookError
from junqi.render import Names

HOST = "127.0.0.1"
LAST_PORT = 65535

SETTINGS = {"default_page_size": 50, "sql_time_limit_ms": 5000}

ABOUT_TABLES = {
    "layouts": "Layouts in canonical mirror form, with their weight in the mixture.",
    "layout_tags": "The tags of layouts.",
    "evidence": "Scores of layouts, each with the command that gives it again.",
    "payoffs": "Scores of pairs of layouts.",
    "runs": "Searches and evaluations: settings, seeds, duration.",
    "openings": "Candidate moves of the early game, by what the player knows.",
    "games": "Records of games, with what was seen of the opponent.",
    "changes": "What was changed, when and by which command.",
    "mixture": "What the engine draws from, and how often.",
    "layout_scores": "All evidence of a layout by one judge against the same opponents, pooled.",
    "payoff_matrix": "Payoffs told from both sides.",
    "opening_moves": "Openings with the letters of their layouts.",
    "recent_changes": "The last changes, newest first.",
}
HIDDEN_TABLES = ("change_rows", "_sqlite_migrations")
QUERIES = {
    "best_layouts": {
        "title": "The best layouts by each judge",
        "sql": "SELECT layout, judge, opponents, round(100 * score, 1) AS score,"
        " round(196 * error, 1) AS plus_minus, games FROM layout_scores"
        " WHERE kind = 'fresh' ORDER BY layout_scores.score DESC LIMIT 20",
    },
    "tagged": {
        "title": "Layouts with a tag",
        "sql": "SELECT layouts.layout, layouts.name, layouts.weight FROM layouts"
        " JOIN layout_tags ON layout_tags.layout_id = layouts.id WHERE tag = :tag"
        " ORDER BY weight DESC",
    },
}


def make_datasette(paths: Sequence[Path], names: Names = "english") -> Datasette:
    """Datasette on these books, for reading only."""
    if not pm.is_registered(datasette_plugin):
        pm.register(datasette_plugin, datasette_plugin.PLUGIN_NAME)
    changing = [str(path) for path in paths if _can_lock(path)]
    unchanging = [str(path) for path in paths if not _can_lock(path)]
    return Datasette(
        changing,
        immutables=unchanging,
        metadata=_metadata(paths, names),
        settings=SETTINGS,
    )


def serve(
    paths: Sequence[Path],
    *,
    port: int,
    open_browser: bool,
    names: Names = "english",
    tell: Callable[[str], None],
) -> None:
    """Show the books on this machine until Ctrl-C.

    Raises:
        BookError: if the port is taken, or there is none of this number.
    """
    if not 0 <= port <= LAST_PORT:
        raise BookError(f"expected a port from 0 to {LAST_PORT}, got {port}")
    try:
        listening = socket.create_server((HOST, port))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BookError(
            f"port {port} cannot be used ({reason}): --port 0 takes any free one"
        ) from None
    with listening:
        address = f"http://{HOST}:{listening.getsockname()[1]}/"
        tell(f"{address} (Ctrl-C ends it)")
        if open_browser:
            webbrowser.open(address)  # it waits: we are listening already
        config = uvicorn.Config(make_datasette(paths, names).app(), log_level="warning")
        uvicorn.Server(config).run(sockets=[listening])


def _can_lock(path: Path) -> bool:
    """Whether SQLite can work beside others here, not so on a read-only medium."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as reader:
            reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        return False
    return True


def _metadata(paths: Sequence[Path], names: Names) -> dict[str, Any]:
    tables: dict[str, Any] = {name: {"description": text} for name, text in ABOUT_TABLES.items()}
    tables |= {name: {"hidden": True} for name in HIDDEN_TABLES}
    tables["layouts"] |= {"label_column": "layout", "sort_desc": "weight"}
    tables["runs"] |= {"label_column": "key", "sort_desc": "started"}
    tables["evidence"] |= {"sort_desc": "id"}
    book = {"tables": tables, "queries": QUERIES}
    return {
        "title": "Junqi book",
        "databases": {path.stem: book for path in paths},
        "plugins": {datasette_plugin.PLUGIN_NAME: {"names": names}},
    }
