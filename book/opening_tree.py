"""The main lines of a layout's opening moves, as a tree.

Keys do not tell what came before them. But they tell where the own pieces are: the positions that
may follow a move are those two plies later in which the own pieces stand as after the move, but for
those that were lost in it or in the enemy's reply.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from book.errors import BookError
from book.openings import Board, read_key
from book.rows import Opening
from junqi.board import Point
from junqi.rules import parse_move

# An own move that fails and an enemy's that succeeds take one own piece each.
_MOST_LOST = 2


@dataclass(frozen=True)
class Branch:
    """A position of the tree."""

    key: str
    ply: int
    visits: int
    """Of all its moves."""
    rows: tuple[Opening, ...]
    """Its moves, the heaviest first."""
    board: Board


@dataclass(frozen=True)
class Line:
    """One line of the tree as it is printed."""

    depth: int
    """Own moves before it."""
    branch: Branch
    row: Opening


def branches(layout: str, rows: Iterable[Opening]) -> dict[int, list[Branch]]:
    """The positions of a layout by ply, the most visited first, without keys that are not ours."""
    by_key: dict[str, list[Opening]] = defaultdict(list)
    for row in rows:
        by_key[row.key].append(row)
    found: dict[int, list[Branch]] = defaultdict(list)
    for key, moves in by_key.items():
        try:
            board = read_key(layout, key)
        except BookError:
            board = None
        if board is not None:
            moves.sort(key=lambda row: (-row.weight, -row.visits, row.move))
            ply = min(row.ply for row in moves)
            visits = sum(row.visits for row in moves)
            found[ply].append(Branch(key, ply, visits, tuple(moves), board))
    for level in found.values():
        level.sort(key=lambda branch: (-branch.visits, branch.key))
    return found


def tree(
    layout: str, rows: Iterable[Opening], first_ply: int, depth: int, width: int
) -> Iterator[Line]:
    """The main lines, each position once, parents before children.

    Args:
        layout: canonical letters.
        rows: all rows of the layout.
        first_ply: 0 for games in which we move first, 1 for others.
        depth: own moves at most.
        width: positions that are shown after each move.
    """
    found = branches(layout, rows)
    shown: set[str] = set()

    def follow(branch: Branch, level: int) -> Iterator[Line]:
        shown.add(branch.key)
        for row in branch.rows:
            yield Line(level, branch, row)
            if level + 1 >= depth or not row.enabled or row.weight <= 0:
                continue
            after = _places_after(branch.board, row)
            next_ones = [
                b
                for b in found.get(branch.ply + 2, [])
                if b.key not in shown and _may_follow(b.board.starts, after)
            ]
            for child in next_ones[:width]:
                if child.key not in shown:
                    yield from follow(child, level + 1)

    for root in found.get(first_ply, [])[:width]:
        yield from follow(root, 0)


def _places_after(board: Board, row: Opening) -> dict[Point, Point]:
    """Where the own pieces stand after a move that succeeds, by their starts."""
    move = parse_move(row.move)
    return {s: move.target if p == move.origin else p for s, p in board.starts.items()}


def _may_follow(places: dict[Point, Point], after: dict[Point, Point]) -> bool:
    is_same = all(after.get(start) == point for start, point in places.items())
    return is_same and len(after) - len(places) <= _MOST_LOST
