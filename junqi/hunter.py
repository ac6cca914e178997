"""An opponent that sees everything and plays for certain contacts, to bring something about."""

import random
from collections import deque
from collections.abc import Callable, Set
from typing import TypeAlias

from junqi.board import IS_HEADQUARTERS, NEIGHBOURS, Point
from junqi.pieces import (
    ATTACKER_WINS,
    BOTH_REMOVED,
    EMPTY,
    FLAG,
    MARSHAL,
    MINE,
    NOBODY,
    Piece,
    contact,
    other,
)
from junqi.rules import Move, Position, legal_moves, settle, targets

# Whether an attacker is to meet a defender.
Wanted: TypeAlias = Callable[[Piece, Piece], bool]

_FAR = 60


def hunting_move(position: Position, wanted: Wanted, rng: random.Random) -> Move:
    """A move of the side to move: a wanted contact, or the way to one; no other contact.

    Pieces in camps are waited for beside them. What the enemy can gain by its next move counts
    against a move.
    """
    enemies = position.points_of(other(position.to_move))
    preys: dict[Piece, Set[Point]] = {}

    def value(move: Move) -> float:
        attacker, defender = position.pieces[move.origin], position.pieces[move.target]
        if defender != EMPTY and not wanted(attacker, defender):
            return -2 * _FAR
        result = contact(attacker, defender)
        risk = _threat(settle(position, move, result))
        if defender != EMPTY:
            return _FAR + defender - risk
        if IS_HEADQUARTERS[move.target]:
            return -_FAR  # it could not leave again
        if attacker not in preys:
            preys[attacker] = {p for p in enemies if wanted(attacker, position.pieces[p])}
        before, after = (_steps(position, point, preys[attacker]) for point in move)
        return before - after - after / _FAR - risk + rng.random() / 2

    return max(legal_moves(position), key=value)


def _threat(position: Position) -> int:
    """What the side to move can gain at most by one contact, in ranks."""
    worst = 0
    for origin in position.points_of(position.to_move):
        for target in targets(position, origin):
            attacker, defender = position.pieces[origin], position.pieces[target]
            if defender == FLAG:
                return _FAR
            result = contact(attacker, defender)
            if result == ATTACKER_WINS:
                worst = max(worst, defender)
            elif result == BOTH_REMOVED:
                worst = max(worst, defender - attacker)
    return worst


def spares_only_the_flag(attacker: Piece, defender: Piece) -> bool:
    """Wants whatever rids the enemy of pieces that can move, or of mines in the way."""
    if defender == MINE:
        return contact(attacker, defender) == ATTACKER_WINS
    return defender != FLAG and contact(attacker, defender) in (ATTACKER_WINS, BOTH_REMOVED)


def loses_the_marshal(attacker: Piece, defender: Piece) -> bool:
    """Wants the own marshal gone."""
    return attacker == MARSHAL and contact(attacker, defender) != ATTACKER_WINS


def _steps(position: Position, start: Point, goals: Set[Point]) -> int:
    """Single steps over empty points to the nearest goal; `_FAR` if there is no way."""
    if not goals:
        return _FAR
    steps, frontier = {start: 0}, deque([start])
    while frontier:
        here = frontier.popleft()
        for point in NEIGHBOURS[here]:
            if point in goals:
                return steps[here] + 1
            if point not in steps and position.owners[point] == NOBODY:
                steps[point] = steps[here] + 1
                frontier.append(point)
    return _FAR
