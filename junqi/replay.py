"""Records on the board: replayed and checked by the rules, seen by one side, and made from play.

A record need not know both layouts. The pieces of an unknown one are `HIDDEN`, and the record is
held to everything that is certain all the same.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from junqi.board import HEADQUARTERS_POINTS, POINTS, Point, point_name, seen_from
from junqi.errors import InvalidLayout, InvalidRecord, JunqiError
from junqi.layout import ALLOWED, LAYOUT_POINTS, Layout, parse_layout, place_layout
from junqi.pieces import (
    ATTACKER_WINS,
    BLACK,
    BOTH_REMOVED,
    DEFENDER_WINS,
    FLAG,
    HIDDEN,
    KIND_OF,
    MARSHAL,
    MINE,
    NO_CONTACT,
    RED,
    SIDE_NAMES,
    Contact,
    Piece,
    Side,
    contact,
)
from junqi.record import Ply, Record, format_ply
from junqi.rules import (
    Move,
    Outcome,
    Position,
    Reason,
    Rules,
    check_move,
    legal_moves,
    outcome,
    play,
    settle,
    targets,
)
from junqi.tags import RESULT_OF_WINNER
from junqi.view import View

SIDES = (RED, BLACK)

# The ends that follow from the position; a game ends for any other reason where it stands.
ENDS_BY_RULES = (Reason.FLAG, Reason.NO_MOVES, Reason.STEPS)

_RESULT_TEXT = {
    NO_CONTACT: "no mark (no contact)",
    ATTACKER_WINS: "+ (the target is gone)",
    DEFENDER_WINS: "- (the mover is gone)",
    BOTH_REMOVED: "= (both are gone)",
}

Choose: TypeAlias = Callable[[Position, list[Move]], Move]

# For each side with hidden pieces: where its flag may stand. None is a flag that may be lost.
Homes: TypeAlias = dict[Side, set[Point | None]]


def record_game(red: str, black: str, choose: Choose, rules: Rules | None = None) -> Record:
    """Play a game between two layouts to its end by the rules, and write it down.

    Args:
        red: the layout of red, 25 letters.
        black: the layout of black, in black's own coordinates.
        choose: picks one of the legal moves of a position, for both sides.
        rules: the settings of the game.

    Raises:
        InvalidLayout: if a layout is not legal.
    """
    rules = rules or Rules()
    position = Position.from_layouts(parse_layout(red), parse_layout(black))
    plies: list[Ply] = []
    while (end := outcome(position, rules)) is None:
        ply, position = play_ply(position, choose(position, legal_moves(position)))
        plies.append(ply)
    return Record(tuple(plies), end, red_layout=red, black_layout=black, rules=rules)


def play_ply(position: Position, move: Move, seconds: float | None = None) -> tuple[Ply, Position]:
    """Make a legal move: the ply to write down, and the position after it.

    Raises:
        IllegalMove: with the rule that forbids it.
    """
    after, result = play(position, move)
    return Ply(move, result, told_flags(position, after), seconds), after


def told_flags(before: Position, after: Position) -> tuple[Point, ...]:
    """The flags whose places are told with the ply between two positions, in order."""
    places = (after.told_flag(side) for side in SIDES if before.told_flag(side) is None)
    return tuple(sorted(place for place in places if place is not None))


def start_position(record: Record) -> Position:
    """The position before the first ply, with `HIDDEN` pieces for an unknown layout.

    Raises:
        InvalidRecord: if a layout is not legal, and the game was not lost by that.
    """
    placed: dict[Side, dict[Point, Piece]] = {}
    for side in SIDES:
        if (layout := _layout(record, side)) is not None:
            placed[side] = place_layout(layout, side)
        else:
            placed[side] = {seen_from(point, side): HIDDEN for point in LAYOUT_POINTS}
    return Position.from_pieces(placed)


def replay(record: Record) -> Iterator[Position]:
    """The position before the first ply and after each ply, checked by the rules.

    A flag of an unknown layout is shown from the ply on that told its place.

    Raises:
        InvalidRecord: naming the first ply that cannot be, or the end that is wrong.
    """
    plies = len(record.plies)
    for number, (position, ends) in enumerate(_walk(record)):
        if number == plies:
            _check_end(record, ends)
        yield position


def possible_ends(record: Record) -> set[Outcome | None]:
    """How the game may have ended by the rules after the last ply; None if it may go on.

    What the record says about its end is not looked at.

    Raises:
        InvalidRecord: naming the first ply that cannot be.
    """
    (ends,) = deque((ends for _, ends in _walk(record)), maxlen=1)
    return ends


def _walk(record: Record) -> Iterator[tuple[Position, set[Outcome | None]]]:
    """The position before the first ply and after each ply, with the ends that it may be."""
    position = start_position(record)
    homes: Homes = {
        side: set(HEADQUARTERS_POINTS[side]) for side in SIDES if _layout(record, side) is None
    }
    ends = _possible_ends(position, record.rules, homes)
    yield position, ends
    for number, ply in enumerate(record.plies, 1):
        if None not in ends or _is_lost_by_layout(record):
            over = "an illegal layout" if None in ends else _ends_text(ends)
            name = _ply_name(number, ply)
            raise InvalidRecord(f"{name}: the game was over before this ply: {over}")
        try:
            position = _after(position, ply, homes)
        except JunqiError as error:
            raise InvalidRecord(f"{_ply_name(number, ply)}: {error}") from None
        ends = _possible_ends(position, record.rules, homes)
        yield position, ends


def check_record(record: Record) -> None:
    """Replay a record by the rules, to its end.

    Raises:
        InvalidRecord: naming the first ply that cannot be, or the end that is wrong.
    """
    for _ in replay(record):
        pass


def first_fault(record: Record) -> tuple[int, str] | None:
    """The number of the first ply that cannot be, and why; None if all is by the rules.

    A layout that is not legal is found before the first ply, at 0.
    """
    positions = 0
    try:
        for _ in replay(record):
            positions += 1
    except InvalidRecord as error:
        return positions, str(error)
    return None


def record_views(record: Record, side: Side) -> Iterator[View]:
    """What one side knew before each ply and after the last, built from what it was told.

    As over the protocol, the place of a flag is told with the ply that gives it away and with
    all later ones.

    Raises:
        InvalidRecord: if the layout of this side is unknown, or a ply cannot be.
    """
    layout = record.layout_of(side)
    if layout is None:
        raise InvalidRecord(f"the view of {SIDE_NAMES[side]} needs its layout, which is unknown")
    try:
        view = View.start(side, layout, record.rules)
    except InvalidLayout as error:
        raise InvalidRecord(f"layout of {SIDE_NAMES[side]}: {error}") from None
    yield view
    for number, ply in enumerate(record.plies, 1):
        move = Move(seen_from(ply.move.origin, side), seen_from(ply.move.target, side))
        told = [seen_from(flag, side) for flag in ply.flags if _side_of(flag) != side]
        flag = told[0] if told else view.enemy_flag
        try:
            view = view.after(move, ply.result, flag, ply.seconds or 0.0)
        except JunqiError as error:
            raise InvalidRecord(f"ply {number}, as {SIDE_NAMES[side]} sees it: {error}") from None
        yield view


def _ply_name(number: int, ply: Ply) -> str:
    side = SIDE_NAMES[RED if number % 2 else BLACK]
    return f"ply {number} ({side} {format_ply(replace(ply, seconds=None, comment=''))})"


def _side_of(headquarters: Point) -> Side:
    """The side on whose half a headquarters lies."""
    return BLACK if headquarters < POINTS // 2 else RED


def _is_lost_by_layout(record: Record) -> bool:
    return record.outcome is not None and record.outcome.reason == Reason.ILLEGAL_LAYOUT


def _layout(record: Record, side: Side) -> Layout | None:
    """The layout of a side, if it is known and can be set up."""
    text = record.layout_of(side)
    try:
        return None if text is None else parse_layout(text)
    except InvalidLayout as error:
        if _is_lost_by_layout(record):
            return None
        raise InvalidRecord(f"layout of {SIDE_NAMES[side]}: {error}") from None


def _after(position: Position, ply: Ply, homes: Homes) -> Position:
    """The position after a ply; narrows where hidden flags may stand.

    Raises:
        IllegalMove: if no piece that may stand there can move so.
        InvalidRecord: if the result or a told flag cannot be.
    """
    check_move(position, ply.move)
    for points in homes.values():
        points.discard(None)  # the game goes on
    meetings = _possible_contacts(position, ply, homes)
    if ply.result not in meetings:
        results = " or ".join(_RESULT_TEXT[result] for result in sorted(meetings))
        raise InvalidRecord(f"expected {results}, got {_RESULT_TEXT[ply.result]}")
    after = settle(position, ply.move, ply.result)
    known = tuple(flag for flag in ply.flags if _side_of(flag) not in homes)
    expected = () if ply.result == NO_CONTACT else told_flags(position, after)
    if sorted(known) != list(expected):
        raise InvalidRecord(f"expected {_flags_text(expected)} told, got {_flags_text(known)}")
    for side, points in homes.items():
        if side != position.to_move and ply.move.target in points:
            points.remove(ply.move.target)
            if FLAG in meetings[ply.result]:
                points.add(None)
        for flag in ply.flags:
            if _side_of(flag) == side:
                _check_hidden_flag(position, after, flag, points)
                points.intersection_update({flag})
                pieces = (*after.pieces[:flag], FLAG, *after.pieces[flag + 1 :])
                after = replace(after, pieces=pieces)
    return after


def _possible_contacts(position: Position, ply: Ply, homes: Homes) -> dict[Contact, set[Piece]]:
    """The results that a move can have, each with the pieces that may have been met."""
    telling = {_side_of(flag) for flag in ply.flags}

    def kinds(point: Point) -> set[Piece]:
        side = position.owners[point]
        if position.pieces[point] != HIDDEN:
            return {position.pieces[point]}
        if side in telling:
            return {MARSHAL}
        if homes[side] == {point}:
            return {FLAG}
        return set(KIND_OF) if point in homes[side] else set(KIND_OF) - {FLAG}

    found: dict[Contact, set[Piece]] = {}
    for attacker in kinds(ply.move.origin) - {FLAG, MINE}:
        for defender in kinds(ply.move.target):
            found.setdefault(contact(attacker, defender), set()).add(defender)
    return found


def _check_hidden_flag(
    before: Position, after: Position, flag: Point, points: set[Point | None]
) -> None:
    """Raise unless the flag of a hidden side can be told now, and can stand there."""
    side, place = _side_of(flag), point_name(flag)
    if before.find(side, FLAG) is not None:
        raise InvalidRecord(f"the flag on {place} was told before")
    if len(after.points_of(side)) == len(before.points_of(side)):
        raise InvalidRecord(f"the flag on {place} is told though {SIDE_NAMES[side]} lost no piece")
    if flag not in points:
        raise InvalidRecord(f"the flag of {SIDE_NAMES[side]} cannot stand on {place}")


def _flags_text(flags: tuple[Point, ...]) -> str:
    return " and ".join(f"the flag on {point_name(flag)}" for flag in flags) or "no flag"


def _possible_ends(position: Position, rules: Rules, homes: Homes) -> set[Outcome | None]:
    """How the game may have ended in a position; None if it may go on."""
    positions = [position]
    for side, points in homes.items():
        positions = [full for p in positions for full in _completions(p, side, points)]
    return {outcome(p, rules) for p in positions}


def _completions(position: Position, side: Side, homes: set[Point | None]) -> Iterator[Position]:
    """What the hidden pieces of a side may be, as far as the end of the game depends on it.

    A piece in a headquarters does not move, so it matters only whether there is a flag, and
    whether all pieces that could move are mines.
    """
    flags: list[Point | None] = [None] if None in homes else []
    flags += [point for point in homes if point is not None][:1]
    for flag in flags:
        pieces = list(position.pieces)
        if flag is not None:
            pieces[flag] = FLAG
        yield replace(position, pieces=tuple(pieces))
        movers = [point for point in position.points_of(side) if targets(position, point)]
        can_be_mines = all(seen_from(point, side) in ALLOWED[MINE] for point in movers)
        if can_be_mines and len(movers) <= KIND_OF[MINE].count:
            for point in movers:
                pieces[point] = MINE
            yield replace(position, pieces=tuple(pieces))


def _check_end(record: Record, ends: set[Outcome | None]) -> None:
    """Raise unless the game can have ended as the record says."""
    found = record.outcome
    is_by_rules = found is not None and found.reason in ENDS_BY_RULES
    is_possible = (found if is_by_rules else None) in ends
    if found and found.reason == Reason.UNKNOWN:
        is_possible |= any(end is not None and end.winner == found.winner for end in ends)
    if not is_possible:
        raise InvalidRecord(
            f"after ply {len(record.plies)}: expected {_ends_text(ends)}, got {_ends_text({found})}"
        )
    if found and _is_lost_by_layout(record):
        for side in SIDES:
            if side != found.winner and _layout(record, side) is not None:
                raise InvalidRecord(
                    f"layout of {SIDE_NAMES[side]}: expected one that is not legal, "
                    f"got {record.layout_of(side)!r}"
                )


def _ends_text(ends: set[Outcome | None]) -> str:
    return " or ".join(
        "no end (*)" if end is None else f"{RESULT_OF_WINNER[end.winner]} by {end.reason.text}"
        for end in sorted(ends, key=str)
    )
