"""Everything in a book, row after row in a fixed order that does not depend on ids.

Export, merge and diff all read books this way.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from book.file import telling
from book.game_table import record_digest
from book.opening_table import opening_of
from book.rows import BookLayout, Evidence, Game, Opening, Payoff, Run
from book.store import Book

Row = Run | BookLayout | Evidence | Payoff | Opening | Game

SECTIONS: dict[type[Row], str] = {
    Run: "run",
    BookLayout: "layout",
    Evidence: "evidence",
    Payoff: "payoff",
    Opening: "opening",
    Game: "game",
}
_LAYOUTS_AT_ONCE = 5_000
_ORDER = {kind: number for number, kind in enumerate(SECTIONS)}

_EVIDENCE = """
    SELECT l.layout, e.opponents, e.judge, e.games, e.wins, e.draws, e.losses, e.error, e.seed,
        e.kind, e.version, e.command, runs.key, e.created
    FROM evidence AS e JOIN layouts AS l ON l.id = e.layout_id
        LEFT JOIN runs ON runs.id = e.run_id
    ORDER BY l.layout, e.kind, e.judge, e.opponents, coalesce(e.seed, -1), e.games, e.version,
        e.command
"""
_PAYOFFS = """
    SELECT a.layout, b.layout, p.judge, p.games, p.wins, p.draws, p.losses, p.error, p.seed,
        p.version, p.command, runs.key, p.created
    FROM payoffs AS p JOIN layouts AS a ON a.id = p.layout_id
        JOIN layouts AS b ON b.id = p.opponent_id LEFT JOIN runs ON runs.id = p.run_id
    ORDER BY a.layout, b.layout, p.judge, coalesce(p.seed, -1), p.games, p.version, p.command
"""
# CROSS JOIN is SQLite's word for "in this order": along two indices, with nothing to sort.
_OPENINGS = """
    SELECT l.layout, o.key, o.move, o.ply, o.visits, o.score, o.error, o.weight, o.enabled,
        o.notes, o.source, (SELECT key FROM runs WHERE id = o.run_id)
    FROM layouts AS l CROSS JOIN openings AS o ON o.layout_id = l.id
    ORDER BY l.layout, o.key, o.move
"""
_GAMES = """
    SELECT g.record, g.side, l.layout, g.seen, g.played, g.opponent, g.result, g.reason, g.plies,
        g.source, g.notes, g.created
    FROM games AS g LEFT JOIN layouts AS l ON l.id = g.layout_id
    ORDER BY g.digest
"""


def dump(book: Book) -> Iterator[Row]:
    """The rows of a book as it is now, whatever others change meanwhile; holds few at a time."""
    with _snapshot(book):
        yield from sorted(book.runs(), key=lambda run: run.key)
        for offset in range(0, book.count_layouts(), _LAYOUTS_AT_ONCE):
            yield from book.layouts(sort="layout", limit=_LAYOUTS_AT_ONCE, offset=offset)
        query = book.connection.execute
        for row in query(_EVIDENCE):
            yield Evidence(*row)
        for row in query(_PAYOFFS):
            yield Payoff(*row)
        for row in query(_OPENINGS):
            yield opening_of(row)
        for row in query(_GAMES):
            yield Game(*row)


def sort_key(row: Row) -> tuple[Any, ...]:
    """What a row is sorted by, and told apart by, in every book."""
    return _ORDER[type(row)], *row_key(row)


def row_key(row: Row) -> tuple[Any, ...]:
    """What tells a row from the others of its kind."""
    if isinstance(row, Run):
        return (row.key,)
    if isinstance(row, BookLayout):
        return (row.layout,)
    if isinstance(row, Opening):
        return row.layout, row.key, row.move
    if isinstance(row, Game):
        return (record_digest(row.record),)
    games = (-1 if row.seed is None else row.seed, row.games, row.version, row.command)
    if isinstance(row, Evidence):
        return row.layout, row.kind, row.judge, row.opponents, *games
    return row.layout, row.opponent, row.judge, *games


@contextmanager
def _snapshot(book: Book) -> Iterator[None]:
    """See one state of the book throughout."""
    if book.connection.in_transaction:
        yield
        return
    with telling(book.path):
        book.connection.execute("BEGIN")
        book.connection.execute("SELECT 1 FROM layouts").fetchone()  # the state is that of now
        try:
            yield
        finally:
            book.connection.rollback()
