"""A game while the messages of a log tell it, and the record that is made of it at the end.

The end of a record is what END told, together with what the rules say; where neither is certain
it stays open.
"""

from dataclasses import dataclass, field, replace

from junqi.board import HEADQUARTERS_POINTS, Point
from junqi.errors import IllegalMove, InvalidRecord
from junqi.layout import layout_problems
from junqi.pieces import (
    ATTACKER_WINS,
    BLACK,
    BOMB,
    BOTH_REMOVED,
    EMPTY,
    HIDDEN,
    RED,
    SIDE_NAMES,
    Contact,
    Side,
    contact,
    other,
)
from junqi.protocol import ABNORMAL, WON
from junqi.record import Ply, Record
from junqi.replay import possible_ends, start_position, told_flags
from junqi.rules import (
    STEPS_LOSERS,
    Move,
    Outcome,
    Position,
    Reason,
    Rules,
    check_move,
    format_move,
    settle,
)

# The comment of a last ply of which only the rules tell the result.
NOT_TOLD = "the result was not told"


@dataclass
class LoggedPlayer:
    """One of those who play a game of the log."""

    side: Side
    name: str = ""
    label: int | None = None
    asked: float | None = None
    """When the player was asked for a move."""


@dataclass
class LoggedGame:
    """A game while its messages come. All points are red's."""

    line: int
    rules: Rules
    date: str
    players: list[LoggedPlayer]
    layouts: dict[Side, str] = field(default_factory=dict)
    plies: list[Ply] = field(default_factory=list)
    pending: tuple[Move | None, float | None] | None = None
    """The last move sent, None for what is no move, whose result has not come; its seconds."""
    told: dict[Side, Point] = field(default_factory=dict)
    """Places of flags, by their sides."""
    ends: dict[Side, int] = field(default_factory=dict)
    """What each side was told by END."""
    notes: list[str] = field(default_factory=list)
    is_torn: bool = False
    """Whether a message is missing, so that the plies after it cannot be followed."""

    @property
    def mover(self) -> Side:
        """Who makes the next ply."""
        return BLACK if len(self.plies) % 2 else RED

    def player(self, side: Side) -> LoggedPlayer | None:
        """The player of a side, if the log has it."""
        return next((player for player in self.players if player.side == side), None)

    def add(self, move: Move, result: Contact, seconds: float | None, flag: Point | None) -> None:
        """Add a ply; `flag` is the place of the flag that the message tells."""
        flags: tuple[Point, ...] = ()
        if flag is not None:
            side = BLACK if flag in HEADQUARTERS_POINTS[BLACK] else RED
            if side not in self.told:
                self.told[side] = flag
                flags = (flag,)
        self.plies.append(Ply(move, result, flags, seconds))
        self.pending = None


def record_of(game: LoggedGame) -> Record:
    """The record of a game whose messages have all come."""
    red, black = game.player(RED), game.player(BLACK)
    record = Record(
        tuple(game.plies),
        red_layout=game.layouts.get(RED),
        black_layout=game.layouts.get(BLACK),
        rules=game.rules,
        red=red.name if red else "",
        black=black.name if black else "",
        date=game.date,
    )
    illegal = [side for side, text in game.layouts.items() if layout_problems(text)]
    winner = _told_winner(game)
    if illegal and not game.plies:
        record = replace(record, outcome=Outcome(other(illegal[0]), Reason.ILLEGAL_LAYOUT))
    elif illegal:
        game.notes.append(f"the layout of {SIDE_NAMES[illegal[0]]} is not legal")
        record = replace(record, outcome=_by(winner, Reason.UNKNOWN))
    else:
        record = _with_end(game, _with_flags(_with_pending(game, record, winner)), winner)
    return _with_clocks(record)


def _by(winner: Side | None, reason: Reason) -> Outcome | None:
    return None if winner is None else Outcome(winner, reason)


def _told_winner(game: LoggedGame) -> Side | None:
    """Who won by what END said; None if it did not say, or not the same to both."""
    winners = {
        side if win == WON else other(side) for side, win in game.ends.items() if win != ABNORMAL
    }
    if len(winners) > 1:
        game.notes.append("END told both sides that they won, or that they lost")
    return winners.pop() if len(winners) == 1 else None


def last_position(game: LoggedGame) -> Position | None:
    """The position after the plies so far; None if the layout is not legal."""
    record = Record(red_layout=game.layouts.get(RED), black_layout=game.layouts.get(BLACK))
    try:
        position = start_position(record)
    except InvalidRecord:
        return None
    for ply in game.plies:
        position = settle(position, ply.move, ply.result)
    return position


def _with_pending(game: LoggedGame, record: Record, winner: Side | None) -> Record:
    """The record with the last move, if its result is not told and cannot be in doubt."""
    position = last_position(game)
    if game.pending is None or position is None:
        return record
    move, seconds = game.pending
    loses = Outcome(other(game.mover), Reason.ILLEGAL_MOVE)
    try:
        if move is None:
            raise IllegalMove("no move")
        check_move(position, move)
    except IllegalMove as error:
        if winner not in (None, loses.winner):
            game.notes.append(f"the last move is left out: {error}")
            return record
        return replace(record, outcome=loses)
    attacker, defender = position.pieces[move.origin], position.pieces[move.target]
    is_home = move.target in HEADQUARTERS_POINTS[other(game.mover)]
    if HIDDEN not in (attacker, defender) or defender == EMPTY:
        result = contact(attacker, defender)
    elif winner == game.mover and is_home and attacker != HIDDEN:
        # Nothing else than the flag can have been met by a move that won.
        result = BOTH_REMOVED if attacker == BOMB else ATTACKER_WINS
    else:
        game.notes.append(f"{format_move(move)} is left out: {NOT_TOLD}")
        return record
    ply = Ply(move, result, seconds=seconds, comment=NOT_TOLD)
    longer = replace(record, plies=(*record.plies, ply))
    if winner == other(game.mover) and not _ends_for(_with_flags(longer), winner):
        return record  # whoever lost by this move did so by time or conduct
    return longer


def _ends_for(record: Record, winner: Side) -> list[Outcome]:
    """The ends by the rules that this side wins."""
    try:
        return [end for end in possible_ends(record) if end is not None and end.winner == winner]
    except InvalidRecord:
        return []


def _with_flags(record: Record) -> Record:
    """The record with the flags of known layouts told where their sides lose the marshal."""
    known = {side for side in (RED, BLACK) if record.layout_of(side) is not None}
    position, plies = start_position(record), []
    for ply in record.plies:
        after = settle(position, ply.move, ply.result)
        flags = {flag for flag in ply.flags if _side_of(flag) not in known}
        flags.update(told_flags(position, after))
        plies.append(replace(ply, flags=tuple(sorted(flags))))
        position = after
    return replace(record, plies=tuple(plies))


def _side_of(flag: Point) -> Side:
    return BLACK if flag in HEADQUARTERS_POINTS[BLACK] else RED


def _with_end(game: LoggedGame, record: Record, winner: Side | None) -> Record:
    """The record with its end: what END told, and what the rules say."""
    if record.outcome is not None:
        return record
    try:
        ends = possible_ends(record)
    except InvalidRecord as error:
        game.notes.append(f"not by the rules: {error}")
        return replace(record, outcome=_by(winner, Reason.UNKNOWN))
    by_rules = [end for end in ends if end is not None]
    if winner is None:
        if None in ends or len(by_rules) != 1:
            return record
        return replace(record, outcome=by_rules[0])
    found = [end for end in by_rules if end.winner == winner]
    if len(found) == 1:
        return replace(record, outcome=found[0])
    clocks = _clocks(record)
    if not found and (clocks[other(winner)] or 0.0) > record.rules.time:
        return replace(record, outcome=Outcome(winner, Reason.TIME))
    if not found and [end.reason for end in by_rules] == [Reason.STEPS] and None not in ends:
        # The other reading of the rule is the one that was played.
        _, loser = STEPS_LOSERS
        rules = replace(record.rules, steps_loser=loser)
        return replace(record, rules=rules, outcome=Outcome(winner, Reason.STEPS))
    if not found and None not in ends:
        told = ", ".join(sorted({SIDE_NAMES[end.winner] for end in by_rules}))
        game.notes.append(f"END says that {SIDE_NAMES[winner]} won, by the rules {told} did")
    return replace(record, outcome=Outcome(winner, Reason.UNKNOWN))


def _clocks(record: Record) -> dict[Side, float | None]:
    """Seconds used by each side, where those of every ply are known."""
    clocks: dict[Side, float | None] = {}
    for side in (RED, BLACK):
        seconds = [ply.seconds for ply in record.plies[side::2]]
        known = [s for s in seconds if s is not None]
        clocks[side] = round(sum(known), 3) if known and len(known) == len(seconds) else None
    return clocks


def _with_clocks(record: Record) -> Record:
    clocks = _clocks(record)
    return replace(record, red_clock=clocks[RED], black_clock=clocks[BLACK])
