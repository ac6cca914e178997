"""Rows of a book as the page of the book is told of them."""

from collections.abc import Sequence
from typing import Any

from book.errors import BookError
from book.opening_tree import Line, branches, tree
from book.openings import LEVEL_NAMES, level_of, read_key
from book.rows import BookLayout, ChangeEntry, Opening, Payoff, PooledScore
from junqi.layout import parse_layout
from junqi.render import Names
from junqi.render_svg import render_layout_svg, render_svg
from junqi.rules import parse_move
from junqi.web.words import Language

# Of the opening tree: own moves one after the other, and positions after each.
TREE_DEPTH = 6
TREE_WIDTH = 3
MOST_OTHERS = 100


def names_in(language: Language) -> Names:
    """What is written on pieces."""
    return "chinese" if language == "zh" else "english"


def layout_row(layout: BookLayout) -> dict[str, Any]:
    """A layout with what is known about it."""
    return {
        "id": layout.id,
        "layout": layout.layout,
        "name": layout.name,
        "origin": layout.origin,
        "role": layout.role,
        "weight": layout.weight,
        "moves": layout.moves,
        "enabled": layout.enabled,
        "in_mixture": layout.in_mixture,
        "notes": layout.notes,
        "created": layout.created,
        "run": layout.run,
        "tags": list(layout.tags),
        "games": layout.games,
        "score": layout.score,
        "error": layout.error,
    }


def layout_board(letters: str, language: Language) -> str:
    """A layout as a picture."""
    return render_layout_svg(parse_layout(letters), names=names_in(language), has_style=False)


def pooled_row(row: PooledScore) -> dict[str, Any]:
    """All scores by one judge against the same opponents."""
    return {
        "opponents": row.opponents,
        "judge": row.judge,
        "kind": row.kind,
        "games": row.games,
        "score": row.score,
        "error": row.error,
    }


def payoff_row(row: Payoff, names: dict[str, str]) -> dict[str, Any]:
    """How a layout fared against another one of the book."""
    return {
        "opponent": row.opponent,
        "name": names.get(row.opponent, ""),
        "judge": row.judge,
        "games": row.games,
        "score": row.score,
        "error": row.error,
    }


def change_row(entry: ChangeEntry) -> dict[str, Any]:
    """One line of the change log."""
    return {
        "id": entry.id,
        "made": entry.made,
        "what": entry.what,
        "summary": entry.summary,
        "is_undone": entry.is_undone,
        "is_undo": entry.undoes is not None,
    }


def opening_tree(layout: str, rows: Sequence[Opening]) -> dict[str, Any]:
    """The main lines of a layout when it moves first and second; rows of strange keys apart."""
    known = {branch.key for level in branches(layout, rows).values() for branch in level}
    return {
        "first": [_line(line) for line in tree(layout, rows, 0, TREE_DEPTH, TREE_WIDTH)],
        "second": [_line(line) for line in tree(layout, rows, 1, TREE_DEPTH, TREE_WIDTH)],
        "others": [opening_row(row) for row in rows if row.key not in known][:MOST_OTHERS],
        "total": len(rows),
    }


def _line(line: Line) -> dict[str, Any]:
    return {"depth": line.depth, **opening_row(line.row)}


def opening_row(row: Opening) -> dict[str, Any]:
    """One candidate move."""
    return {
        "key": row.key,
        "level": LEVEL_NAMES[level_of(row.key)],
        "ply": row.ply,
        "move": row.move,
        "visits": row.visits,
        "score": row.score,
        "error": row.error,
        "weight": row.weight,
        "enabled": row.enabled,
        "notes": row.notes,
    }


def opening_board(layout: str, key: str, move: str, language: Language) -> str:
    """What a key tells of the board, as a picture with a move as an arrow.

    Raises:
        BookError: if it tells nothing, or what cannot be.
        IllegalMove: if the move is none.
    """
    board = read_key(layout, key)
    if board is None:
        raise BookError(f"expected the key of a position, got {key[:60]!r}")
    return render_svg(
        board.position,
        names=names_in(language),
        highlight=parse_move(move),
        has_style=False,
    )


def next_steps(log: Sequence[ChangeEntry]) -> dict[str, dict[str, Any] | None]:
    """What undo and redo would do now; None for nothing."""
    undone = next((e for e in log if e.undoes is None and not e.is_undone), None)
    redone = None
    by_id = {entry.id: entry for entry in log}
    for entry in log:
        if entry.is_undone:
            continue
        if entry.undoes is None:
            break
        before = by_id.get(entry.undoes)
        if before is not None and before.undoes is None:
            redone = before
            break
    return {
        "undo": change_row(undone) if undone and undone.can_undo else None,
        "redo": change_row(redone) if redone else None,
    }


def check_expected(step: dict[str, Any] | None, expected: int) -> None:
    """See that undo or redo would do what the page shows.

    Raises:
        BookError: if the book has been changed meanwhile.
    """
    if step is None or step["id"] != expected:
        raise BookError("the book has been changed meanwhile; look at it again")
