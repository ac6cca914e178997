"""The book on a page: a gallery of its layouts, what is known of them, and a person's changes.

The book is opened for every question, so that what other programs do to it is seen, and a change is
in the file before the page is told. Changes go through the book's own log: undo and redo here are
those of ``junqi book``.
"""

from typing import Any

from starlette.routing import BaseRoute

from book.layout_query import Filter
from book.log import UNDO_DEPTH, UndoResult
from book.rows import BookLayout
from book.store import Book
from junqi.web.answers import Answer, Ask, NotThere, Refused, get, post
from junqi.web.book_asks import action_of, filter_of, ids_of, page_of, sort_of
from junqi.web.book_rows import (
    change_row,
    check_expected,
    layout_board,
    layout_row,
    next_steps,
    opening_board,
    opening_tree,
    payoff_row,
    pooled_row,
)
from junqi.web.books import reading, writing
from junqi.web.room import Room, Setup

PAGE = 24
MOST_PAYOFFS = 40
MOST_CHANGES = 30
# What of the mixture is drawn as parts of one bar; the rest is one part.
MOST_PARTS = 40


def routes(setup: Setup) -> list[BaseRoute]:
    """What the page of the book can ask for."""
    desk = Desk(setup)
    return [
        get("/about", desk.about),
        get("/layouts", desk.layouts),
        get("/layouts/{id:int}", desk.layout),
        get("/layouts/{id:int}/opening", desk.opening),
        get("/boards/{letters}", lambda ask: {"board": _board(ask)}),
        post("/change", desk.change),
        post("/undo", lambda ask: desk.step(ask, "undo")),
        post("/redo", lambda ask: desk.step(ask, "redo")),
    ]


ROOM = Room("book", routes)


class Desk:
    """Answers the page, from the book."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    def about(self, ask: Ask) -> Answer:
        """What the book holds, its mixture, and its log."""
        with reading(self._setup) as book:
            return _about(book)

    def layouts(self, ask: Ask) -> Answer:
        """A page of the layouts that pass a filter."""
        sort = sort_of(ask)
        chosen = filter_of(ask)
        page = page_of(ask)
        with reading(self._setup) as book:
            count = book.count_layouts(chosen)
            pages = max(1, -(-count // PAGE))
            page = min(page, pages - 1)
            rows = book.layouts(
                chosen,
                sort,
                descending=ask.query.get("order") != "up",
                limit=PAGE,
                offset=page * PAGE,
            )
        return {
            "count": count,
            "page": page,
            "pages": pages,
            "layouts": [layout_row(row) for row in rows],
        }

    def layout(self, ask: Ask) -> Answer:
        """All about one layout."""
        with reading(self._setup) as book:
            layout = _layouts(book, [int(ask.path["id"])])[0]
            payoffs = sorted(book.payoffs(layout.layout), key=lambda row: row.score)
            shown = payoffs[:MOST_PAYOFFS]
            names = {row.opponent: book.find_layout(row.opponent).name for row in shown}
            return {
                **layout_row(layout),
                "board": layout_board(layout.layout, ask.language),
                "evidence": [pooled_row(row) for row in book.pooled(layout.layout)],
                "payoffs": [payoff_row(row, names) for row in shown],
                "more_payoffs": len(payoffs) - len(shown),
                "openings": opening_tree(layout.layout, book.openings(layout.layout)),
            }

    def opening(self, ask: Ask) -> Answer:
        """The board of an opening position, with a move."""
        with reading(self._setup) as book:
            layout = _layouts(book, [int(ask.path["id"])])[0]
        key, move = ask.query.get("key", ""), ask.query.get("move", "")
        return {"board": opening_board(layout.layout, key, move, ask.language)}

    def change(self, ask: Ask) -> Answer:
        """Change layouts, as one entry of the log."""
        ask.only("action", "ids", "value", "before")
        ids = ids_of(ask)
        what, do = action_of(ask)
        more = ", ..." if len(ids) > 10 else ""
        named = f"web: {what} {', '.join(f'#{id}' for id in ids[:10])}{more}"
        with writing(self._setup) as book:
            with book.change(named) as change:
                layouts = _layouts(book, ids)
                if "before" in ask.data:
                    _check_note(layouts[0], ask)
                do(book, ids)
            return {"summary": change.summary, "is_changed": bool(change), "about": _about(book)}

    def step(self, ask: Ask, name: str) -> Answer:
        """Undo or redo the change that the page shows for it, and no other."""
        ask.only("change")
        expected = ask.whole("change", 1, 2**62)
        with writing(self._setup) as book:
            check_expected(next_steps(book.changes(4 * UNDO_DEPTH))[name], expected)
            done: UndoResult = book.undo() if name == "undo" else book.redo()
            return {
                "what": done.undone.what,
                "summary": done.summary,
                "about": _about(book),
            }


def _check_note(layout: BookLayout, ask: Ask) -> None:
    """See that a note that is written anew is the one that the page showed."""
    if ask.data["before"] != layout.notes:
        now = " ".join(layout.notes.split()) or "nothing"
        raise Refused(
            f"the note was changed meanwhile, yours was not written; it now says: {now}", 409
        )


def _about(book: Book) -> dict[str, Any]:
    stats = book.stats()
    log = book.changes(4 * UNDO_DEPTH)
    mixture = book.layouts(Filter(in_mixture=True), "weight", descending=True, limit=MOST_PARTS)
    return {
        "path": str(book.path),
        "layouts": stats.layouts,
        "enabled": stats.enabled,
        "in_mixture": stats.in_mixture,
        "total_weight": stats.total_weight,
        "origins": stats.by_origin,
        "tags": stats.tags,
        "judges": list(stats.by_judge),
        "evidence_games": stats.evidence_games,
        "openings": stats.openings,
        "games": stats.games,
        "mixture": [
            {"id": row.id, "name": row.name or row.layout, "weight": row.weight} for row in mixture
        ],
        "log": [change_row(entry) for entry in log[:MOST_CHANGES]],
        **next_steps(log),
    }


def _board(ask: Ask) -> str:
    return layout_board(ask.path["letters"], ask.language)


def _layouts(book: Book, ids: list[int]) -> list[BookLayout]:
    """The layouts with these numbers.

    Raises:
        NotThere: if one of them is not in the book, or not any more.
    """
    found = book.layouts_by_id(ids)
    if missing := set(ids) - {layout.id for layout in found}:
        raise NotThere(f"the book has no layout #{min(missing)}; look at it again")
    return found
