"""The engine as a contest platform runs it: lines in, at most one reply each.

Layouts and moves come from a `Decider`. What is done here is never to forfeit: to live with
whatever lines come, to follow the game through all of them, and to answer legally whatever the
decider does.
"""

import random
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import BinaryIO

from junqi.board import Point, point_name
from junqi.clock import PauseWatch
from junqi.errors import ImpossibleEvent, JunqiError, ProtocolError
from junqi.fallback import fallback_move
from junqi.layout import format_layout, layout_problems, random_layouts
from junqi.pieces import (
    ATTACKER_WINS,
    BLACK,
    BOTH_REMOVED,
    DEFENDER_WINS,
    MINE,
    NO_CONTACT,
    NOBODY,
    RED,
    Contact,
    Side,
)
from junqi.player import Decider
from junqi.protocol import (
    Array,
    BestMove,
    Command,
    End,
    Go,
    Info,
    Name,
    Reply,
    Result,
    Start,
    decode_line,
    format_reply,
    parse_command,
    salvage_command,
)
from junqi.rules import Move, Rules, check_move, format_move, legal_moves
from junqi.streams import Log
from junqi.view import ENEMY_HEADQUARTERS, View

# A line that is sent twice comes twice at once; a START that comes later than this begins another
# game.
NEW_GAME_SECONDS = 1.0


class Session:
    """One process of the engine: any number of games, one after the other."""

    def __init__(
        self,
        decider: Decider,
        name: str,
        *,
        seed: int | None = None,
        note: Callable[[str], None] = lambda text: None,
        now: Callable[[], float] = time.monotonic,
        watch: PauseWatch | None = None,
    ) -> None:
        """Prepare for the first line.

        Args:
            decider: decides what to play.
            name: what NAME says.
            seed: of what is played where the decider has nothing; None for a new one.
            note: told what is odd about the lines that come.
            now: the clock, in seconds.
            watch: knows of pauses before a line could be read.
        """
        self.decider = decider
        self.name = name
        self.view: View | None = None
        """What the game looks like; None between games."""
        self.pending: Move | None = None
        """The own move whose result has not been told yet."""
        self.doubtful: set[Point] = set()
        """Points of which we only guess what stands there."""
        self.used = 0.0
        """Seconds of the game's time that are gone, as far as we can know."""
        self._random = random.Random(seed)
        self._note = note
        self._now = now
        self._watch = watch
        self._came = self._since = now()
        self._replied = self._came
        self._thought = 0.0
        self._last_line = self._last_go = ""

    def handle(self, line: str | bytes) -> str | None:
        """Take a line of the referee and say what to reply, if anything. Never raises."""
        came = self._now()
        # As far as the referee knows, a pause before we read the line may have been after it came.
        if self._watch:
            came -= self._watch.take()
        self._came = came
        reply = self._handle(line)
        if reply is not None:
            self._replied = self._now()
            self.used += self._replied - came
        if self._watch:
            self._watch.take()  # pauses up to here are in our own measure
        return reply

    def _handle(self, line: str | bytes) -> str | None:
        text = (decode_line(line) if isinstance(line, bytes) else line).strip()
        try:
            command = parse_command(text)
        except ProtocolError as error:
            command = salvage_command(text)
            if command is None:
                self._note(f"ignored: {error}")
                return self._answer_unreadable(text)
            self._note(f"read as {command}: {error}")
        if command is None:
            return None
        if self._is_sent_twice(text, command):
            # Platforms do send a line twice. A second answer would be taken for the answer to
            # the next question.
            self._note(f"ignored, sent twice: {text!r}")
            return None
        self._last_line = text
        if isinstance(command, Go):
            self._last_go = text
        try:
            reply = self._answer(command)
        except Exception as error:  # a reply that is not perfect is better than none
            self._note(f"bug: {type(error).__name__}: {error}, after {text!r}")
            return self._move_anyhow() if isinstance(command, Go) else None
        return None if reply is None else format_reply(reply)

    def _is_sent_twice(self, text: str, command: Command) -> bool:
        """Whether a line is the last one again, and not a new one that reads the same."""
        if isinstance(command, Go) and self.pending is not None and text == self._last_go:
            return True  # no piece can make the same move twice in a row
        # A game that ended before its first move may be followed by one that begins like it, but
        # not before our layout was read.
        is_new_game = isinstance(command, Start) and self._came - self._replied > NEW_GAME_SECONDS
        return text == self._last_line and not is_new_game

    def _answer_unreadable(self, text: str) -> str | None:
        """A move, if that is what a line asks for that tells nothing else."""
        is_go = text.upper().split()[:1] == ["GO"] and text != self._last_line
        self._last_line = text
        return self._move_anyhow() if is_go else None

    def _move_anyhow(self) -> str | None:
        """A move when something went wrong; none rather than another error."""
        with suppress(Exception):
            reply = self._best_move(self._any_move)
            return None if reply is None else format_reply(reply)
        return None

    def _answer(self, command: Command) -> Reply | None:
        match command:
            case Info():
                return Name(self.name)
            case Start():
                return self._start(command)
            case Go():
                return self._go(command)
            case Result(result, flag):
                self._result(result, flag)
            case End():
                self.view = self.pending = None
        return None

    def _start(self, start: Start) -> Reply:
        """Begin a game, whatever became of the one before."""
        self.used = 0.0
        rules = Rules(steps=start.steps, time=start.seconds)
        layout = self._choose_layout(start.is_first, rules)
        self.view = View.start(RED if start.is_first else BLACK, layout, rules)
        self.pending = None
        self.doubtful = set()
        return Array(layout)

    def _choose_layout(self, is_first: bool, rules: Rules) -> str:
        """The decider's layout, or a random one if that cannot be played."""
        try:
            layout = self.decider.layout(is_first, rules)
            if not (problems := layout_problems(layout)):
                return layout
            self._note(f"not a legal layout: {layout!r}: {'; '.join(problems)}")
        except Exception as error:
            self._note(f"no layout: {type(error).__name__}: {error}")
        return format_layout(random_layouts(1, self._random.getrandbits(63))[0])

    def _go(self, go: Go) -> Reply | None:
        """Take in the enemy's move and choose one."""
        if self.view is None:
            self._note("ignored: GO before START")
            return None
        if self.pending is not None:
            self._note(f"no RESULT came for {format_move(self.pending)}")
            doubtful = self.pending.target
            self._result(self._guess_result(self.view, self.pending, go), None)
            if self.view.plies[-1].result != NO_CONTACT:
                self.doubtful.add(doubtful)
        if go.move is not None:
            self._take_in(self.view.enemy, go.move, go.result, go.flag, self._lap())
        self._lap()
        return self._best_move(self._choose_move)

    def _result(self, result: Contact, flag: Point | None) -> None:
        """Take in what came of the own move."""
        if self.view is None or self.pending is None:
            self._note("ignored: RESULT without a move")
            return
        move, self.pending = self.pending, None
        self._take_in(self.view.side, move, result, flag, self._thought)
        self._lap()

    def _take_in(
        self, mover: Side, move: Move, result: Contact, flag: Point | None, seconds: float
    ) -> None:
        """Follow a ply; if it contradicts what we know, believe it and go on."""
        assert self.view is not None
        if flag is not None and flag not in ENEMY_HEADQUARTERS:
            # The move is told rightly all the same, and leaves no doubts.
            self._note(f"no place of a flag: {point_name(flag)}")
            flag = None
        try:
            if self.view.position.to_move != mover:
                raise ImpossibleEvent(f"{format_move(move)}: out of turn")
            self.view = self.view.after(move, result, flag, seconds)
            self.doubtful -= set(move)
        except JunqiError as error:
            self._note(f"believed, though impossible: {error}")
            is_over_own = self.view.position.owners[move.target] == self.view.side
            self.view = self.view.forced(mover, move, result, flag, seconds)
            # The message says for certain what is on both points now, but for the piece that
            # has beaten the enemy's, or that the message knows nothing of.
            self.doubtful -= set(move)
            is_unsure = result == DEFENDER_WINS or (result == NO_CONTACT and is_over_own)
            if mover == self.view.enemy and is_unsure:
                self.doubtful.add(move.target)

    @staticmethod
    def _guess_result(view: View, move: Move, go: Go) -> Contact:
        """A result of an own move that agrees with what the enemy did next."""
        if view.position.owners[move.target] == NOBODY:
            return NO_CONTACT
        for result in (DEFENDER_WINS, ATTACKER_WINS, BOTH_REMOVED):
            with suppress(JunqiError):
                after = view.after(move, result)
                if go.move is not None:
                    after.after(go.move, go.result)
                return result
        return DEFENDER_WINS

    def _best_move(self, choose: Callable[[View, list[Move]], Move]) -> Reply | None:
        """A legal move, remembered until its result is told."""
        if self.view is None:
            return None
        if not self.view.is_own_turn:
            position = replace(self.view.position, to_move=self.view.side)
            self.view = replace(self.view, position=position)
        moves = self._certain_moves() or self.view.legal_moves()
        if not moves:
            self._note("no legal move to be seen")
            return None
        move = choose(self.view, moves)
        check_move(self.view.position, move)
        self.pending = move
        self._thought = self._lap()
        return BestMove(move)

    def _choose_move(self, view: View, moves: list[Move]) -> Move:
        """The decider's move, or another one if that cannot be played for certain."""
        try:
            used = self.used + self._now() - self._came
            move = self.decider.move(view, view.rules.time - used)
            if move in moves:
                return move
            self._note(f"not a move to be played for certain: {format_move(move)}")
        except Exception as error:
            self._note(f"no move: {type(error).__name__}: {error}")
        return self._any_move(view, moves)

    def _any_move(self, view: View, moves: list[Move]) -> Move:
        """One of these moves, at once."""
        try:
            return fallback_move(view, self._random, moves)
        except Exception as error:
            self._note(f"bug: {type(error).__name__}: {error}")
            return self._random.choice(moves)

    def _certain_moves(self) -> list[Move]:
        """The legal moves that do not begin, pass or end on a doubtful point."""
        assert self.view is not None
        position = self.view.position
        pieces, owners = list(position.pieces), list(position.owners)
        for point in self.doubtful:
            # As if a mine of our own lay there.
            pieces[point], owners[point] = MINE, self.view.side
        blocked = replace(position, pieces=tuple(pieces), owners=tuple(owners))
        return legal_moves(blocked, self.view.side)

    def _lap(self) -> float:
        """Seconds since the last call."""
        before, self._since = self._since, self._now()
        return self._since - before


def serve(
    session: Session,
    lines: Iterable[bytes],
    replies: BinaryIO,
    encoding: str = "utf-8",
    log: Log | None = None,
) -> int:
    """Answer lines until they end; the exit code of the process.

    Args:
        session: follows the game.
        lines: from the referee.
        replies: to the referee.
        encoding: of the replies.
        log: told every line.
    """
    tell: Callable[[str], None] = log or (lambda text: None)
    try:
        for line in lines:
            tell(f"< {decode_line(line).strip()}")
            reply = session.handle(line)
            if reply is not None:
                replies.write(reply.encode(encoding, errors="replace") + b"\n")
                replies.flush()
                tell(f"> {reply}")
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        pass  # nobody reads our replies any more
    return 0
