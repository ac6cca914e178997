"""What the enemy's pieces did, as far as it tells their kinds: a few named signs for each slot.

How much more often a kind gives a sign than the others is learned from games, by
`scripts/learn_signs.py`.
"""

from bisect import bisect_right

from junqi.board import CAMPS, IS_HEADQUARTERS, NEIGHBOURS, POINTS, ROW_NAMES, Point, row_of
from junqi.deduce import ENEMY_STARTS, SLOT_OF_START, SLOTS
from junqi.history import Scene, scenes
from junqi.layout import LAYOUT_POINTS
from junqi.pieces import ATTACKER_WINS, BOTH_REMOVED, DEFENDER_WINS, NO_CONTACT
from junqi.rules import Move
from junqi.view import Told, View

# Chances to move, counted up to the first of the next class.
CHANCES = (0, 1, 2, 3, 4, 6, 9, 13, 18, 25, 34, 46, 61)

_CAMPS = sum(1 << p for p in CAMPS)
_AROUND = tuple(sum(1 << n for n in NEIGHBOURS[p]) for p in range(POINTS))
_ROWS = tuple(ROW_NAMES[row_of(p)] for p in LAYOUT_POINTS)
_NEVER_MOVES = tuple(IS_HEADQUARTERS[p] for p in LAYOUT_POINTS)
_STAYED = [[f"{row} stayed {chances}" for chances in CHANCES] for row in _ROWS]
_LEFT = [[f"{row} left {chances}" for chances in CHANCES] for row in _ROWS]

# Whom an attacker attacked: a piece that had neither moved nor met anybody, one that had moved, one
# that had met somebody and survived.
ATTACKED = ("attacked unmoved", "attacked moved", "attacked known")
# It left the neighbourhood of an own piece that had met somebody and survived.
FLED = "fled known"


def signs_of(view: View) -> list[list[str]]:
    """The signs that each of the enemy's 25 slots has given, in the order of a layout's letters."""
    return _Watcher(view).signs


class _Watcher:
    """Goes through the plies of a view and notes the signs."""

    def __init__(self, view: View) -> None:
        self.signs: list[list[str]] = [[] for _ in range(SLOTS)]
        self.chances = [0] * SLOTS
        self.waiting = {slot for slot in range(SLOTS) if not _NEVER_MOVES[slot]}
        """Slots that have not moved yet, but for the headquarters."""
        self.moved: set[Point] = set()
        self.known: dict[Point, Point] = {}
        """Own pieces that have won a contact, by where they started: where they stand."""
        for scene in scenes(view):
            if scene.told.mover == view.side:
                self._see_own(scene.told)
            else:
                self._see_enemy(scene)
        for slot in self.waiting:
            self._note_stay(slot)

    def _see_own(self, told: Told) -> None:
        self.moved.add(told.attacker)
        if told.result == ATTACKER_WINS or told.attacker in self.known:
            self.known[told.attacker] = told.move.target
        if told.result in (DEFENDER_WINS, BOTH_REMOVED):
            self.known.pop(told.attacker, None)
        if told.result in (ATTACKER_WINS, BOTH_REMOVED) and told.defender in SLOT_OF_START:
            slot = SLOT_OF_START[told.defender]
            if slot in self.waiting:
                self.waiting.discard(slot)
                self._note_stay(slot)

    def _see_enemy(self, scene: Scene) -> None:
        told = scene.told
        open_points = ~(scene.enemy | scene.own & _CAMPS)
        for slot in self.waiting:
            if _AROUND[ENEMY_STARTS[slot]] & open_points:
                self.chances[slot] += 1
        slot = SLOT_OF_START[told.attacker]
        if slot in self.waiting:
            self.waiting.discard(slot)
            self._note(slot, _LEFT[slot][_class_of(self.chances[slot])])
        if told.result == NO_CONTACT:
            self._see_quiet_move(slot, told.move)
        elif told.defender is not None:
            how_well = 2 if told.defender in self.known else int(told.defender in self.moved)
            self._note(slot, ATTACKED[how_well])
            if told.result == DEFENDER_WINS:
                self.known[told.defender] = told.move.target
            else:
                self.known.pop(told.defender, None)

    def _see_quiet_move(self, slot: int, move: Move) -> None:
        known = 0
        for point in self.known.values():
            known |= 1 << point
        if _AROUND[move.origin] & known and not _AROUND[move.target] & known:
            self._note(slot, FLED)

    def _note(self, slot: int, sign: str) -> None:
        # Once only: a piece that does a thing twice tells little more.
        if sign not in self.signs[slot]:
            self.signs[slot].append(sign)

    def _note_stay(self, slot: int) -> None:
        self._note(slot, _STAYED[slot][_class_of(self.chances[slot])])


def _class_of(chances: int) -> int:
    return bisect_right(CHANCES, chances) - 1
