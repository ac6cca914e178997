"""A player by rules of thumb in plain Python: always there, within milliseconds.

It answers when nothing better can: while the kernels compile, when the search fails or is late,
when the time is nearly over. It needs a `View` and nothing else, not even numpy's speed.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from junqi.board import IS_CAMP, IS_HEADQUARTERS, NEIGHBOURS, Point, row_of
from junqi.deduce import SLOTS, Kinds, deduce
from junqi.pieces import (
    ATTACKER_WINS,
    BATTALION,
    BOMB,
    BOTH_REMOVED,
    BRIGADE,
    COMPANY,
    DEFENDER_WINS,
    DIVISION,
    ENGINEER,
    FLAG,
    GENERAL,
    KINDS,
    MARSHAL,
    MINE,
    NOBODY,
    PLATOON,
    REGIMENT,
    Piece,
    contact,
)
from junqi.rules import Move, Position, can_leave, targets
from junqi.view import Man, View

# What a piece is worth, about in the unit of a company.
WORTH = {
    MARSHAL: 40.0,
    GENERAL: 26.0,
    DIVISION: 16.0,
    BRIGADE: 10.0,
    REGIMENT: 7.0,
    BATTALION: 4.5,
    COMPANY: 3.0,
    PLATOON: 2.0,
    ENGINEER: 5.0,
    BOMB: 12.0,
    MINE: 4.0,
    FLAG: 60.0,
}

# Far above anything that pieces are worth, in the order of what must not be missed.
WIN = 100_000.0
SAVE_FLAG = 20_000.0
STEPS_LOST = 10_000.0
# A contact that is lost for certain, with nothing to show for it.
CERTAIN_LOSS = 100.0

# The piece in front of the own flag stays, unless there is much to gain elsewhere.
LEAVE_FLAG = 12.0
GUARD_FLAG = 4.0
CHASE_RAIDER = 15.0
CAMP = 0.6
ADVANCE = 0.15
# Only a part of what could be lost on a point: the enemy may not dare, or not see it.
EXPOSURE = 0.5
# Pieces that never moved in the enemy's last two rows are mines more and more often: 43 % of those
# in row K at ply 10, 95 % at ply 140.
MINE_PLIES = 25.0
# With fewer quiet plies than this to go, a contact is worth so much more for each that is missing.
HURRY_PLIES = 8
HURRY = 0.6
# What it is worth to be safe under the other reading of the limit too: more than nothing.
UNSAFE = 0.05


def fallback_move(view: View, rng: random.Random, moves: Sequence[Move] | None = None) -> Move:
    """A decent move.

    Args:
        view: what the player knows, whether or not it is the own turn.
        rng: decides between moves that look the same.
        moves: the moves to choose from; all legal ones if None.

    Raises:
        ValueError: if there is no move to choose from.
    """
    moves = view.legal_moves() if moves is None else moves
    thumb = _Thumb.of(view)
    return max(moves, key=lambda move: thumb.value(move) + 0.01 * rng.random())


@dataclass(frozen=True)
class _Thumb:
    """The rules of thumb, with what they need to know of one view."""

    view: View
    chances: dict[Point, dict[Piece, float]]
    """For each enemy piece on the board the likelihood of each kind, by its point."""
    attackers: dict[Point, list[Point]]
    """The enemy pieces that may be able to go to a point with their next move."""
    flag: Point | None
    """The own flag."""

    @classmethod
    def of(cls, view: View) -> "_Thumb":
        chances = {
            man.point: _chances(view, man, kinds)
            for man, kinds in zip(view.men[SLOTS:], deduce(view), strict=True)
            if man.point is not None
        }
        attackers: dict[Point, list[Point]] = {}
        for origin, kinds in chances.items():
            if any(kind not in (MINE, FLAG) for kind in kinds):
                for target in _slides(view.position, origin):
                    attackers.setdefault(target, []).append(origin)
        return cls(view, chances, attackers, view.position.find(view.side, FLAG))

    def value(self, move: Move) -> float:
        """How good a move looks."""
        view, (origin, target) = self.view, move
        piece = view.position.pieces[origin]
        is_contact = view.position.owners[target] == view.enemy
        value = self._flag_safety(move)
        if is_contact:
            value += self._contact(piece, target)
        else:
            value += self._quiet_ply()
            value += CAMP * (IS_CAMP[target] - IS_CAMP[origin])
            if piece not in (BOMB, ENGINEER):
                value += ADVANCE * (row_of(origin) - row_of(target))
            if IS_HEADQUARTERS[target]:
                value -= WORTH[piece]  # never moves again
            value -= self._exposure(piece, target)
        return value + self._exposure(piece, origin)

    def _contact(self, attacker: Piece, target: Point) -> float:
        """What meeting the piece on a point gains, on average."""
        if target == self.view.enemy_flag:
            return WIN
        value = 0.0
        gains = False
        for kind, chance in self.chances[target].items():
            result = contact(attacker, kind)
            if result in (ATTACKER_WINS, BOTH_REMOVED):
                gains = True
                value += chance * WORTH[kind]
            if result in (DEFENDER_WINS, BOTH_REMOVED):
                value -= chance * WORTH[attacker]
        return value + self._hurry() - (0.0 if gains else CERTAIN_LOSS)

    def _hurry(self) -> float:
        """What a contact is worth for the no-contact limit alone."""
        missing = HURRY_PLIES - (self.view.rules.steps - self.view.quiet_plies)
        return HURRY * max(missing, 0)

    def _quiet_ply(self) -> float:
        """What one more ply without contact does to the no-contact limit."""
        rules, quiet = self.view.rules, self.view.quiet_plies + 1
        if rules.steps_loser == "mover":
            # The other reading of the rules decides between equals.
            unsafe = -UNSAFE if quiet + 1 >= rules.steps else 0.0
            return -STEPS_LOST if quiet >= rules.steps else unsafe
        if quiet >= rules.steps:
            return STEPS_LOST
        return -STEPS_LOST if quiet + 1 >= rules.steps else 0.0

    def _flag_safety(self, move: Move) -> float:
        """What a move does to the points from which the own flag can be taken."""
        if self.flag is None:
            return 0.0
        view, doors = self.view, NEIGHBOURS[self.flag]
        value = 0.0
        raiders = [p for p in doors if p in self.chances and self._can_move(p)]
        if move.target in raiders:
            value += SAVE_FLAG
        elif move.target in self.chances and self._is_near(move.target, self.flag):
            value += CHASE_RAIDER
        is_open = not raiders and any(
            view.position.owners[door] == NOBODY and door in self.attackers for door in doors
        )
        if move.origin in doors:
            value -= LEAVE_FLAG
        if move.target in doors and view.position.owners[move.target] == NOBODY:
            value += GUARD_FLAG + (CHASE_RAIDER if is_open else 0.0)
        return value

    def _is_near(self, point: Point, flag: Point) -> bool:
        """Whether an enemy piece there is one move away from a door to the flag."""
        reach = _slides(self.view.position, point) if self._can_move(point) else set()
        return any(door in reach for door in NEIGHBOURS[flag])

    def _can_move(self, point: Point) -> bool:
        return any(kind not in (MINE, FLAG) for kind in self.chances[point])

    def _exposure(self, piece: Piece, point: Point) -> float:
        """What a piece stands to lose on a point, if the enemy comes there."""
        if IS_CAMP[point] or point not in self.attackers:
            return 0.0
        worst = 0.0
        for origin in self.attackers[point]:
            loss = 0.0
            for kind, chance in self.chances[origin].items():
                if kind in (MINE, FLAG):
                    continue
                result = contact(kind, piece)
                if result in (ATTACKER_WINS, BOTH_REMOVED):
                    loss += chance * WORTH[piece]
                if result in (DEFENDER_WINS, BOTH_REMOVED):
                    loss -= chance * WORTH[kind]
            worst = max(worst, loss)
        return EXPOSURE * worst


def _chances(view: View, man: Man, kinds: Kinds) -> dict[Piece, float]:
    """The likelihood of each kind that an enemy piece can be."""
    weights = {kind.piece: float(kind.count) for kind in KINDS if kinds >> kind.piece & 1}
    if MINE in weights:
        weights[MINE] *= 1 + len(view.plies) / MINE_PLIES
    total = sum(weights.values())
    return {kind: weight / total for kind, weight in weights.items()}


def _slides(position: Position, origin: Point) -> set[Point]:
    """Where an enemy piece can go if it is no engineer."""
    if not can_leave(position, origin):
        return set()
    # As an officer: what only an engineer could do would make every point look attacked.
    pieces = list(position.pieces)
    pieces[origin] = PLATOON
    return targets(
        Position(tuple(pieces), position.owners, position.to_move, position.quiet_plies), origin
    )
