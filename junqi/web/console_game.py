"""A game at the console: what its events make of it, and what is still to be asked.

A `Game` is never changed; each event makes a new one. The same events, read again from the disk,
make the same game. All points are in the own coordinates, as in a `View`.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from junqi.board import Point, parse_point, point_name, seen_from
from junqi.deduce import SLOT_OF_START, deduce
from junqi.errors import JunqiError
from junqi.pieces import (
    ATTACKER_WINS,
    BLACK,
    BOTH_REMOVED,
    DEFENDER_WINS,
    FLAG,
    KINDS,
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
)
from junqi.record import Ply, Record
from junqi.replay import check_record, possible_ends, told_flags
from junqi.rules import Move, Outcome, Reason, Rules, format_move, parse_move
from junqi.view import ENEMY_HEADQUARTERS, View

CONTACTS = (ATTACKER_WINS, DEFENDER_WINS, BOTH_REMOVED)
SIDE_OF_NAME = {name: side for side, name in SIDE_NAMES.items()}
REASON_OF_TEXT = {reason.text: reason for reason in Reason}
# The winner of a game that was left without a result.
UNFINISHED = "unfinished"


class GameProblem(JunqiError):
    """Something that cannot be done at this moment of the game."""


def end_to_json(end: Outcome) -> dict[str, str]:
    """An end as events and pages have it."""
    return {"winner": SIDE_NAMES[end.winner], "reason": end.reason.text}


def end_from_json(data: dict[str, str]) -> Outcome:
    """Undo `end_to_json`."""
    return Outcome(SIDE_OF_NAME[data["winner"]], REASON_OF_TEXT[data["reason"]])


@dataclass(frozen=True)
class Terms:
    """What was agreed before the game."""

    side: Side
    """The own side; red moves first."""
    layout: str
    own: str = ""
    """The names of the players."""
    enemy: str = ""
    event: str = ""
    date: str = ""
    rules: Rules = field(default_factory=Rules)
    is_turned: bool = False
    """Whether the opponent names points as they are on its own board."""
    movetime: float | None = None
    """Seconds for each move of the engine; None for what the server was started with."""

    def to_json(self) -> dict[str, Any]:
        """As the first line of a game's file has it."""
        rules = self.rules
        return {
            "side": SIDE_NAMES[self.side],
            "layout": self.layout,
            "own": self.own,
            "enemy": self.enemy,
            "event": self.event,
            "date": self.date,
            "time": rules.time,
            "steps": rules.steps,
            "steps_loser": rules.steps_loser,
            "flag_first": rules.flag_first,
            "turned": self.is_turned,
            "movetime": self.movetime,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Terms":
        """Undo `to_json`."""
        return cls(
            SIDE_OF_NAME[data["side"]],
            data["layout"],
            data["own"],
            data["enemy"],
            data["event"],
            data["date"],
            Rules(data["steps"], data["steps_loser"], data["flag_first"], data["time"]),
            data["turned"],
            data["movetime"],
        )


@dataclass(frozen=True)
class Entry:
    """One ply as it was entered."""

    move: Move
    result: Contact = NO_CONTACT
    flag: Point | None = None
    """The enemy flag's place, if it was told with this ply."""
    is_taken: bool = False
    """Whether it took the enemy's flag."""
    seconds: float = 0.0
    end: Outcome | None = None
    """The end of the game, if this ply was it by the rules."""

    def to_json(self) -> dict[str, Any]:
        """As an event has it."""
        return {
            "move": format_move(self.move),
            "result": self.result,
            "flag": None if self.flag is None else point_name(self.flag),
            "taken": self.is_taken,
            "seconds": self.seconds,
            "end": None if self.end is None else end_to_json(self.end),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Entry":
        """Undo `to_json`."""
        flag = None if data["flag"] is None else parse_point(data["flag"])
        return cls(
            parse_move(data["move"]),
            data["result"],
            flag,
            data["taken"],
            data["seconds"],
            None if data["end"] is None else end_from_json(data["end"]),
        )


@dataclass(frozen=True)
class Question:
    """What the referee's answer to a contact has to be entered of."""

    move: Move
    expected: tuple[Contact, ...]
    """The results that do not contradict what was told before."""
    flag_results: tuple[Contact, ...]
    """With these, the enemy's marshal may be gone, and its flag told."""
    flag_places: tuple[Point, ...]
    taken_results: tuple[Contact, ...]
    """With these, the enemy's flag may have been taken."""
    sure_results: tuple[Contact, ...]
    """With these, nothing else than the flag can have been taken."""

    def to_json(self) -> dict[str, Any]:
        """As pages have it."""
        return {
            "move": format_move(self.move),
            "expected": list(self.expected),
            "flag_results": list(self.flag_results),
            "flag_places": [point_name(point) for point in self.flag_places],
            "taken_results": list(self.taken_results),
            "sure_results": list(self.sure_results),
        }


@dataclass(frozen=True)
class Game:
    """A game as its events have made it."""

    terms: Terms
    views: tuple[View, ...]
    """What is known before the first ply and after each."""
    entries: tuple[Entry, ...] = ()
    undone: tuple[Entry, ...] = ()
    """What can be done again, the next ply first."""
    version: int = 0
    """Counts the events, but for the mere passing of time."""
    is_running: bool = False
    spent: float = 0.0
    """Seconds that the side to move has used for this move, up to the last event."""
    corrections: tuple[float, float] = (0.0, 0.0)
    """What was added to the clocks by hand: the own one, the enemy's."""
    announced: Entry | None = None
    """The move with a contact that was made, and whose result is awaited."""
    end: Outcome | None = None
    is_over: bool = False
    was_interrupted: bool = False
    """Whether the server had ended while the clocks ran."""

    @classmethod
    def start(cls, terms: Terms) -> "Game":
        """The game before anything has happened.

        Raises:
            InvalidLayout: if the layout is not legal.
        """
        return cls(terms, (View.start(terms.side, terms.layout, terms.rules),))

    @property
    def view(self) -> View:
        """What is known now."""
        return self.views[-1]

    @property
    def clock_side(self) -> Side | None:
        """Whose clock runs; nobody's while the referee is asked for a result."""
        if not self.is_running or self.is_over or self.announced is not None:
            return None
        return self.view.position.to_move

    @property
    def wants_move(self) -> bool:
        """Whether the engine is to think."""
        return self.clock_side == self.terms.side

    def used(self, side: Side) -> float:
        """Seconds that a side has used, up to the last event."""
        is_own = side == self.terms.side
        seconds = self.view.own_seconds if is_own else self.view.enemy_seconds
        current = self.spent if side == self.view.position.to_move else 0.0
        return seconds + current + self.corrections[0 if is_own else 1]

    def after(self, event: dict[str, Any]) -> "Game":
        """The game after an event.

        Raises:
            JunqiError: if it cannot be.
        """
        if event["do"] == "tick":
            return replace(self, spent=event["spent"])
        game: Game = getattr(self, f"_after_{event['do']}")(event)
        return replace(game, version=self.version + 1)

    def _after_resume(self, event: dict[str, Any]) -> "Game":
        if self.is_over:
            raise GameProblem("the game is over")
        return replace(self, is_running=True, was_interrupted=False)

    def _after_pause(self, event: dict[str, Any]) -> "Game":
        interrupted = event.get("interrupted", False)
        return replace(self, is_running=False, spent=event["spent"], was_interrupted=interrupted)

    def _after_announce(self, event: dict[str, Any]) -> "Game":
        entry = Entry(parse_move(event["move"]), seconds=event["seconds"])
        self._check_turn()
        if self.view.position.owners[entry.move.target] == NOBODY:
            raise GameProblem("expected a move with a contact to be announced")
        self.view.after(entry.move, ATTACKER_WINS)  # raises if it is illegal
        return replace(self, announced=entry, spent=entry.seconds)

    def _after_retract(self, event: dict[str, Any]) -> "Game":
        if self.announced is None or self.view.is_own_turn:
            raise GameProblem("the opponent has no move that awaits its result")
        return replace(self, announced=None)

    def _after_ply(self, event: dict[str, Any]) -> "Game":
        entry = Entry.from_json(event)
        self._check_turn()
        is_same = bool(self.undone) and replace(self.undone[0], seconds=0.0) == replace(
            entry, seconds=0.0
        )
        game = self._with_entry(entry)
        return replace(game, undone=self.undone[1:] if is_same else ())

    def _after_undo(self, event: dict[str, Any]) -> "Game":
        plies = event["plies"]
        if not 1 <= plies <= len(self.entries):
            raise GameProblem(f"expected 1 to {len(self.entries)} plies to take back, got {plies}")
        return replace(
            self._halted(),
            views=self.views[:-plies],
            entries=self.entries[:-plies],
            undone=self.entries[-plies:] + self.undone,
            end=None,
            is_over=False,
        )

    def _after_redo(self, event: dict[str, Any]) -> "Game":
        plies = event["plies"]
        if not 1 <= plies <= len(self.undone):
            raise GameProblem(f"expected 1 to {len(self.undone)} plies to do again, got {plies}")
        game = self._halted()
        for entry in self.undone[:plies]:
            game = game._with_entry(entry)
        return replace(game, undone=self.undone[plies:])

    def _after_clock(self, event: dict[str, Any]) -> "Game":
        base = replace(self, spent=event["spent"], corrections=(0.0, 0.0))
        own, enemy = base.used(self.terms.side), base.used(self.view.enemy)
        return replace(base, corrections=(event["own"] - own, event["enemy"] - enemy))

    def _after_end(self, event: dict[str, Any]) -> "Game":
        if self.is_over:
            raise GameProblem("the game is over")
        end = None
        if event["winner"] != UNFINISHED:
            end = end_from_json(event)
            check_record(replace(record_of(self), outcome=end))
        ended = replace(self, spent=event["spent"], announced=None, undone=())
        return ended._over(end)

    def _halted(self) -> "Game":
        """Clocks stopped, and nothing announced."""
        return replace(self, is_running=False, spent=0.0, announced=None, was_interrupted=False)

    def _check_turn(self) -> None:
        if self.is_over:
            raise GameProblem("the game is over")

    def settled(self, entry: Entry) -> Entry:
        """A ply that is about to be entered, checked by the rules, with the end that it makes.

        Raises:
            JunqiError: if it cannot be.
        """
        self._check_turn()
        game = self._with_entry(replace(entry, end=None))
        ends = possible_ends(record_of(game))
        taken = Outcome(self.terms.side, Reason.FLAG)
        if entry.is_taken:
            if taken not in ends:
                raise GameProblem(f"{format_move(entry.move)} cannot have taken the flag")
            ends = {taken}
        elif len(ends) > 1:
            ends.discard(taken)
        return replace(entry, end=ends.pop() if len(ends) == 1 else None)

    def _with_entry(self, entry: Entry) -> "Game":
        """The game with one more ply, and with its end if that is one."""
        view = self.view.after(entry.move, entry.result, entry.flag, entry.seconds)
        game = replace(
            self,
            views=(*self.views, view),
            entries=(*self.entries, entry),
            spent=0.0,
            announced=None,
        )
        return game if entry.end is None else game._over(entry.end)

    def _over(self, end: Outcome | None) -> "Game":
        """The game at its end, which may be left open."""
        return replace(self, end=end, is_over=True, is_running=False, was_interrupted=False)


def question_of(view: View, move: Move) -> Question | None:
    """What has to be entered of a legal move besides itself; None without a contact."""
    own = view.position.to_move == view.side
    enemy_man = view.man_at(move.target if own else move.origin)
    own_piece = view.position.pieces[move.origin if own else move.target]
    if view.position.owners[move.target] == NOBODY or enemy_man is None:
        return None
    mask = deduce(view)[SLOT_OF_START[enemy_man.start]]
    by_result: dict[Contact, set[Piece]] = {result: set() for result in CONTACTS}
    for kind in KINDS:
        if mask >> kind.piece & 1 and (own or kind.piece not in (MINE, FLAG)):
            pair = (own_piece, kind.piece) if own else (kind.piece, own_piece)
            by_result[contact(*pair)].add(kind.piece)
    can_tell = view.enemy_flag is None
    held = {man.start for man in view.men if man.side == view.enemy and man.point == man.start}
    places = tuple(sorted(held & set(ENEMY_HEADQUARTERS) - {move.target}))
    return Question(
        move,
        tuple(result for result in CONTACTS if by_result[result]),
        tuple(r for r in _enemy_gone(view) if can_tell and places and MARSHAL in by_result[r]),
        places,
        tuple(r for r in CONTACTS if own and FLAG in by_result[r]),
        tuple(r for r in CONTACTS if own and by_result[r] == {FLAG}),
    )


def covered(question: Question, view: View) -> Question:
    """The question as it can be asked on a screen that the opponent sees.

    It is made of what both players know: which results are expected, whether the flag is asked for,
    and what takes it would tell of our piece.
    """
    target = question.move.target
    man = view.man_at(target)
    is_at_home = man is not None and man.point == man.start and target in ENEMY_HEADQUARTERS
    may_be_flag = view.is_own_turn and is_at_home and view.enemy_flag in (None, target)
    return Question(
        question.move,
        CONTACTS,
        _enemy_gone(view) if view.enemy_flag is None and question.flag_places else (),
        question.flag_places,
        (ATTACKER_WINS,) if may_be_flag else (),
        (ATTACKER_WINS, BOTH_REMOVED) if view.enemy_flag == target else (),
    )


def _enemy_gone(view: View) -> tuple[Contact, Contact]:
    """The results with which the enemy loses a piece."""
    return BOTH_REMOVED, ATTACKER_WINS if view.is_own_turn else DEFENDER_WINS


def record_of(game: Game) -> Record:
    """The game as it is written down, with the enemy's layout unknown."""
    terms, side = game.terms, game.terms.side
    plies = []
    for before, after, entry in zip(game.views, game.views[1:], game.entries, strict=False):
        flags = sorted(seen_from(p, side) for p in told_flags(before.position, after.position))
        move = entry.move if side == RED else entry.move.rotated()
        plies.append(Ply(move, entry.result, tuple(flags), round(entry.seconds, 3)))
    used = {each: round(max(game.used(each), 0.0), 3) for each in (RED, BLACK)}
    names = (terms.own, terms.enemy) if side == RED else (terms.enemy, terms.own)
    return Record(
        tuple(plies),
        game.end,
        red_layout=terms.layout if side == RED else None,
        black_layout=terms.layout if side == BLACK else None,
        rules=terms.rules,
        red=names[0],
        black=names[1],
        event=terms.event,
        date=terms.date,
        red_clock=used[RED],
        black_clock=used[BLACK],
    )
