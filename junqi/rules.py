"""The rules in plain Python, written to be read: the authority that the kernels are tested by.

A `Position` is what is true on the board. Some of its pieces may be `HIDDEN`: the legal moves of
a side depend on its own pieces and on where the others stand, never on what the others are, so
the same functions serve a player who sees only one half.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple

from junqi.board import (
    IS_CAMP,
    IS_HEADQUARTERS,
    IS_RAIL,
    NEIGHBOURS,
    POINTS,
    RAIL_NEIGHBOURS,
    RAIL_RAYS,
    Point,
    mirror_point,
    parse_point,
    point_name,
    rotate_point,
)
from junqi.errors import IllegalMove, InvalidBoard
from junqi.layout import Layout, place_layout
from junqi.pieces import (
    ATTACKER_WINS,
    BLACK,
    BOTH_REMOVED,
    EMPTY,
    ENGINEER,
    FLAG,
    HIDDEN,
    MARSHAL,
    MINE,
    NO_CONTACT,
    NOBODY,
    RED,
    SIDE_NAMES,
    Contact,
    Piece,
    Side,
    contact,
    other,
    piece_name,
)

STEPS_LOSERS = ("mover", "next")


@dataclass(frozen=True)
class Rules:
    """The settings of a game, with the readings of the rule book that are open."""

    steps: int = 31
    """So many plies in a row without contact end the game."""
    steps_loser: str = "mover"
    """Who then loses: ``mover`` made the last of them, ``next`` would have to move."""
    flag_first: bool = True
    """A taken flag ends the game even if the taker has no move left."""
    time: float = 1800.0
    """Seconds that each side has for the whole game."""

    def __post_init__(self) -> None:
        """Refuse settings that no game could be played by."""
        if self.steps < 1:
            raise ValueError(f"expected steps of at least 1, got {self.steps}")
        if self.steps_loser not in STEPS_LOSERS:
            raise ValueError(f"expected steps_loser 'mover' or 'next', got {self.steps_loser!r}")
        if not self.time > 0:
            raise ValueError(f"expected a time above 0 seconds, got {self.time}")


class Reason(IntEnum):
    """Why a game ended. The first three follow from the position, the others from conduct."""

    FLAG = 1
    NO_MOVES = 2
    STEPS = 3
    TIME = 4
    ILLEGAL_MOVE = 5
    ILLEGAL_LAYOUT = 6
    CRASH = 7
    NO_ANSWER = 8
    ABORTED = 9
    # Whoever wrote the game down was told who won, and not why.
    UNKNOWN = 10

    @property
    def text(self) -> str:
        """The reason as records and tables write it, like ``no-moves``."""
        return self.name.lower().replace("_", "-")


class Outcome(NamedTuple):
    """How a game ended: the winner, `NOBODY` for a draw, and the reason."""

    winner: Side
    reason: Reason


class Move(NamedTuple):
    """From one point to another."""

    origin: Point
    target: Point

    def rotated(self) -> "Move":
        """The move as the player on the other side calls it."""
        return Move(rotate_point(self.origin), rotate_point(self.target))

    def mirrored(self) -> "Move":
        """The move with left and right exchanged."""
        return Move(mirror_point(self.origin), mirror_point(self.target))


def parse_move(text: str) -> Move:
    """Read a move like ``G0F0``.

    Raises:
        IllegalMove: if the text is not two names of points.
    """
    try:
        return Move(parse_point(text[:2]), parse_point(text[2:]))
    except InvalidBoard:
        raise IllegalMove(f"expected a move like G0F0, got {text!r}") from None


def format_move(move: Move) -> str:
    """Write a move like ``G0F0``."""
    return point_name(move.origin) + point_name(move.target)


@dataclass(frozen=True)
class Position:
    """Where all pieces stand, who is to move, and how long there was no contact."""

    pieces: tuple[Piece, ...]
    """What stands on each of the 60 points."""
    owners: tuple[Side, ...]
    """Whose it is, `NOBODY` where nothing stands."""
    to_move: Side = RED
    quiet_plies: int = 0
    """Plies since the last contact."""

    @classmethod
    def from_layouts(cls, red: Layout, black: Layout, to_move: Side = RED) -> "Position":
        """The start of a game; each layout is in its own player's coordinates."""
        return cls.from_pieces(
            {RED: place_layout(red, RED), BLACK: place_layout(black, BLACK)}, to_move
        )

    @classmethod
    def from_pieces(
        cls, placed: dict[Side, dict[Point, Piece]], to_move: Side = RED, quiet_plies: int = 0
    ) -> "Position":
        """A position from the pieces of each side by point."""
        pieces, owners = [EMPTY] * POINTS, [NOBODY] * POINTS
        for side, men in placed.items():
            for point, piece in men.items():
                pieces[point], owners[point] = piece, side
        return cls(tuple(pieces), tuple(owners), to_move, quiet_plies)

    def points_of(self, side: Side) -> list[Point]:
        """The points where a side's pieces stand."""
        return [p for p in range(POINTS) if self.owners[p] == side]

    def find(self, side: Side, piece: Piece) -> Point | None:
        """The first point where a side has a piece of this kind."""
        point = -1
        for _ in range(self.pieces.count(piece)):
            point = self.pieces.index(piece, point + 1)
            if self.owners[point] == side:
                return point
        return None

    def told_flag(self, side: Side) -> Point | None:
        """Where the flag of a side is, if its marshal is gone and everybody has been told."""
        return self.find(side, FLAG) if self.find(side, MARSHAL) is None else None

    def rotated(self) -> "Position":
        """The board turned by 180 degrees; the sides stay who they are."""
        return replace(self, pieces=self.pieces[::-1], owners=self.owners[::-1])

    def mirrored(self) -> "Position":
        """The board with left and right exchanged."""
        order = [mirror_point(p) for p in range(POINTS)]
        return replace(
            self,
            pieces=tuple(self.pieces[p] for p in order),
            owners=tuple(self.owners[p] for p in order),
        )


def can_leave(position: Position, point: Point) -> bool:
    """Whether what stands on a point is of a kind, and in a place, that lets it move at all."""
    return position.pieces[point] not in (FLAG, MINE) and not IS_HEADQUARTERS[point]


def can_enter(position: Position, side: Side, point: Point) -> bool:
    """Whether a side's piece may end its move on a point: empty, or an enemy outside a camp."""
    owner = position.owners[point]
    return owner == NOBODY or (owner != side and not IS_CAMP[point])


def targets(position: Position, origin: Point) -> set[Point]:
    """Where the piece on a point can go; a hidden one might be an engineer."""
    if not can_leave(position, origin):
        return set()
    side = position.owners[origin]
    reached = set(NEIGHBOURS[origin])
    if IS_RAIL[origin]:
        if position.pieces[origin] in (ENGINEER, HIDDEN):
            reached |= _rail_flood(position, origin)
        else:
            reached |= _rail_slide(position, origin)
    return {point for point in reached if can_enter(position, side, point)}


def _rail_slide(position: Position, origin: Point) -> set[Point]:
    """Points in a straight line on rail, up to and with the first that is not empty."""
    reached = set()
    for ray in RAIL_RAYS[origin]:
        for point in ray:
            reached.add(point)
            if position.owners[point] != NOBODY:
                break
    return reached


def _rail_flood(position: Position, origin: Point) -> set[Point]:
    """Points that an engineer reaches over empty rail points, with what bounds them."""
    reached: set[Point] = set()
    frontier = [origin]
    while frontier:
        for point in RAIL_NEIGHBOURS[frontier.pop()]:
            if point not in reached:
                reached.add(point)
                if position.owners[point] == NOBODY:
                    frontier.append(point)
    return reached


def legal_moves(position: Position, side: Side | None = None) -> list[Move]:
    """All legal moves of the side to move, or of a given side, in order."""
    side = position.to_move if side is None else side
    return [
        Move(origin, target)
        for origin in position.points_of(side)
        for target in sorted(targets(position, origin))
    ]


def has_legal_move(position: Position, side: Side) -> bool:
    """Whether a side could move if it were its turn."""
    return any(
        owner == side and targets(position, origin) for origin, owner in enumerate(position.owners)
    )


def check_move(position: Position, move: Move) -> None:
    """Explain why a move of the side to move is illegal.

    Raises:
        IllegalMove: with the rule that forbids it.
    """
    origin, target = move
    name, side = format_move(move), position.to_move
    if position.owners[origin] != side:
        owner = position.owners[origin]
        there = "it is empty" if owner == NOBODY else f"{SIDE_NAMES[owner]} stands there"
        here = point_name(origin)
        raise IllegalMove(f"{name}: {SIDE_NAMES[side]} has no piece on {here}, {there}")
    piece = position.pieces[origin]
    if IS_HEADQUARTERS[origin]:
        raise IllegalMove(f"{name}: a piece in a headquarters never moves again")
    if not can_leave(position, origin):
        raise IllegalMove(f"{name}: a {piece_name(piece)} never moves")
    if position.owners[target] == side:
        raise IllegalMove(f"{name}: {point_name(target)} holds a piece of the same side")
    if not can_enter(position, side, target):
        raise IllegalMove(f"{name}: a piece in a camp cannot be attacked")
    if target not in targets(position, origin):
        raise IllegalMove(f"{name}: no free road or rail leads there")


def contact_of(position: Position, move: Move) -> Contact:
    """The result code of a move, from the true pieces."""
    return contact(position.pieces[move.origin], position.pieces[move.target])


def settle(position: Position, move: Move, result: Contact) -> Position:
    """The position after a move with a known result. Checks nothing."""
    origin, target = move
    pieces, owners = list(position.pieces), list(position.owners)
    if result in (ATTACKER_WINS, NO_CONTACT):
        pieces[target], owners[target] = pieces[origin], owners[origin]
    elif result == BOTH_REMOVED:
        pieces[target], owners[target] = EMPTY, NOBODY
    pieces[origin], owners[origin] = EMPTY, NOBODY
    quiet = position.quiet_plies + 1 if result == NO_CONTACT else 0
    return Position(tuple(pieces), tuple(owners), other(position.to_move), quiet)


def play(position: Position, move: Move) -> tuple[Position, Contact]:
    """Make a legal move.

    Raises:
        IllegalMove: with the rule that forbids it.
    """
    check_move(position, move)
    result = contact_of(position, move)
    return settle(position, move, result), result


def outcome(position: Position, rules: Rules) -> Outcome | None:
    """How the game has ended in this position, before the side to move does anything.

    Judged in the order of the rule book: flag (see `Rules.flag_first`), no legal move, steps.
    Needs the true pieces: a side with no flag to be seen has lost it.
    """
    mover, waiting = position.to_move, other(position.to_move)
    flagless = next((s for s in (mover, waiting) if position.find(s, FLAG) is None), None)
    if flagless is not None:
        stuck = [s for s in (mover, waiting) if not has_legal_move(position, s)]
        if stuck and not rules.flag_first:
            return _stuck(stuck)
        return Outcome(other(flagless), Reason.FLAG)
    if not has_legal_move(position, mover):
        return _stuck([mover] if has_legal_move(position, waiting) else [mover, waiting])
    if position.quiet_plies >= rules.steps:
        loser = waiting if rules.steps_loser == "mover" else mover
        return Outcome(other(loser), Reason.STEPS)
    return None


def _stuck(sides: list[Side]) -> Outcome:
    """The end when these sides have no legal move."""
    return Outcome(NOBODY if len(sides) == 2 else other(sides[0]), Reason.NO_MOVES)


def perft(position: Position, depth: int) -> int:
    """The number of sequences of exactly so many plies, everything known.

    A ply that takes the flag ends its sequence; the no-contact limit plays no part.
    """
    if depth == 0:
        return 1
    if depth == 1:
        return len(legal_moves(position))
    return sum(count for _, count in perft_divide(position, depth))


def perft_divide(position: Position, depth: int) -> Iterator[tuple[Move, int]]:
    """The sequences of `perft`, counted for each first move."""
    for move in legal_moves(position):
        if depth > 1 and position.pieces[move.target] == FLAG:
            yield move, 0
        else:
            yield move, perft(settle(position, move, contact_of(position, move)), depth - 1)
