"""A game in which whoever decides is shown a view alone; the truth stays in here.

Without clocks and faults: those are the referee's (`referee.py`).
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from junqi.board import seen_from
from junqi.layout import parse_layout
from junqi.pieces import BLACK, RED, Side, other
from junqi.rules import Move, Outcome, Position, Rules, contact_of, outcome, settle
from junqi.view import View


class Moves(Protocol):
    """Who decides, from a view alone."""

    def move(self, view: View, seconds_left: float) -> Move:
        """A legal move."""


# The move of the side whose turn it is, in its own coordinates; None to break the game off.
Choose: TypeAlias = Callable[[Side, View], Move | None]


def play_views(
    layouts: tuple[str, str], choose: Choose, rules: Rules
) -> tuple[list[Move], Outcome | None]:
    """Play a game to its end, or until no move is chosen.

    Args:
        layouts: red's and black's.
        choose: asked for each move; it is expected to be legal.

    Returns:
        The moves in red's coordinates, and how it ended; None if it was broken off.
    """
    position = Position.from_layouts(parse_layout(layouts[RED]), parse_layout(layouts[BLACK]))
    views = {side: View.start(side, layouts[side], rules) for side in (RED, BLACK)}
    moves: list[Move] = []
    end = outcome(position, rules)
    while end is None:
        mover = position.to_move
        chosen = choose(mover, views[mover])
        if chosen is None:
            return moves, None
        move = chosen if mover == RED else chosen.rotated()
        result = contact_of(position, move)
        position = settle(position, move, result)
        moves.append(move)
        end = outcome(position, rules)
        if end is None:
            for side, view in views.items():
                flag = position.told_flag(other(side))
                told = None if flag is None else seen_from(flag, side)
                views[side] = view.after(move if side == RED else move.rotated(), result, told)
    return moves, end
