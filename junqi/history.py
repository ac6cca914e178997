"""The plies of a view one after the other, each with the board as it was before."""

from collections.abc import Iterator
from typing import NamedTuple

from junqi.board import Point
from junqi.pieces import ATTACKER_WINS, DEFENDER_WINS, NO_CONTACT
from junqi.view import Told, View


class Scene(NamedTuple):
    """The board before a ply; sets of points are words, bit p stands for point p."""

    ply: int
    told: Told
    own: int
    enemy: int


def scenes(view: View) -> Iterator[Scene]:
    """Every ply of a view, in order.

    Pieces are moved as `View.after` and `View.forced` do it: where a message was believed that
    another one contradicts, the piece that moved may have stood elsewhere.
    """
    points: dict[Point, int] = {man.start: 1 << man.start for man in view.men}
    sets = [0, 0]
    for man in view.men:
        sets[man.side] |= 1 << man.start
    side = view.side
    for ply, told in enumerate(view.plies):
        yield Scene(ply, told, sets[side], sets[1 - side])
        target = 1 << told.move.target
        gone = 1 << told.move.origin | points.pop(told.attacker, 0)
        if told.result != DEFENDER_WINS:
            gone |= target
            if told.defender is not None:
                points.pop(told.defender, None)
        sets[0] &= ~gone
        sets[1] &= ~gone
        if told.result in (ATTACKER_WINS, NO_CONTACT):
            sets[told.mover] |= target
            points[told.attacker] = target
