"""The engine as a contest platform runs it: lines in, at most one reply each.

For now it is a ground-floor player: a random legal layout, then random legal moves. It plays by
the rules, not well. What it does do is never to forfeit: it lives with whatever lines come, and
whatever it sends is legal as far as it has been told.
"""

import os
import random
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import BinaryIO

from junqi import __version__
from junqi.board import Point
from junqi.errors import ImpossibleEvent, JunqiError, ProtocolError
from junqi.layout import format_layout, random_layouts
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
)
from junqi.rules import Move, Rules, check_move, format_move, legal_moves
from junqi.view import View

NAME = "Junqi"

HELP = """\
Usage: junqi-engine [--version] [--help]

Plays 军棋 by the contest protocol 1.0 on standard input and output: a random legal player.
JUNQI_SEED=NUMBER in the environment makes it play the same moves every time.

Example, one line each way:
  printf 'INFO 1.0\\nSTART 0 1800 31\\nGO 0000 0 00\\n' | junqi-engine
"""

# The numbers of the standard streams, the same everywhere.
STDOUT = 1
STDERR = 2

# A platform may never read our notes; more of them than this could fill the pipe and stop us.
NOTES = 200


class Session:
    """One process of the engine: any number of games, one after the other."""

    def __init__(
        self,
        name: str = NAME,
        seed: int | None = None,
        note: Callable[[str], None] = lambda text: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare for the first line.

        Args:
            name: what NAME says.
            seed: of the layouts and moves; None for other ones every time.
            note: told what is odd about the lines that come.
            now: the clock, in seconds.
        """
        self.name = name
        self.view: View | None = None
        """What the game looks like; None between games."""
        self.pending: Move | None = None
        """The own move whose result has not been told yet."""
        self.doubtful: set[Point] = set()
        """Points of which we only guess what stands there."""
        self._random = random.Random(seed)
        self._note = note
        self._now = now
        self._since = now()
        self._thought = 0.0
        self._last_line = ""

    def handle(self, line: str | bytes) -> str | None:
        """Take a line of the referee and say what to reply, if anything. Never raises."""
        text = (decode_line(line) if isinstance(line, bytes) else line).strip()
        try:
            command = parse_command(text)
        except ProtocolError as error:
            self._note(f"ignored: {error}")
            # A GO that cannot be read still waits for an answer.
            is_go = text.upper().startswith("GO ") and text != self._last_line
            self._last_line = text
            return self._move_anyhow() if is_go else None
        if command is None:
            return None
        if text == self._last_line:
            # Platforms do send a line twice. A second answer would be taken for the answer to
            # the next question.
            self._note(f"ignored, sent twice: {text!r}")
            return None
        self._last_line = text
        try:
            reply = self._answer(command)
        except Exception as error:  # a reply that is not perfect is better than none
            self._note(f"bug: {type(error).__name__}: {error}, after {text!r}")
            return self._move_anyhow() if isinstance(command, Go) else None
        return None if reply is None else format_reply(reply)

    def _move_anyhow(self) -> str | None:
        """A move when something went wrong; none rather than another error."""
        with suppress(Exception):
            reply = self._any_move()
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
        layout = format_layout(random_layouts(1, self._random.getrandbits(63))[0])
        rules = Rules(steps=start.steps, time=start.seconds)
        self.view = View.start(RED if start.is_first else BLACK, layout, rules)
        self.pending = None
        self.doubtful = set()
        return Array(layout)

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
        return self._any_move()

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
        try:
            if self.view.position.to_move != mover:
                raise ImpossibleEvent(f"{format_move(move)}: out of turn")
            self.view = self.view.after(move, result, flag, seconds)
            self.doubtful -= set(move)
        except JunqiError as error:
            self._note(f"believed, though impossible: {error}")
            self.view = self.view.forced(mover, move, result, flag, seconds)
            # The message says for certain what is on both points now, but for the piece that
            # has beaten the enemy's.
            self.doubtful -= set(move)
            if mover == self.view.enemy and result == DEFENDER_WINS:
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

    def _any_move(self) -> Reply | None:
        """A random legal move, remembered until its result is told."""
        if self.view is None:
            return None
        if not self.view.is_own_turn:
            position = replace(self.view.position, to_move=self.view.side)
            self.view = replace(self.view, position=position)
        moves = self._certain_moves() or self.view.legal_moves()
        if not moves:
            self._note("no legal move to be seen")
            return None
        move = self._random.choice(moves)
        check_move(self.view.position, move)
        self.pending = move
        self._thought = self._lap()
        return BestMove(move)

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


def main(args: list[str] | None = None) -> int:
    """Run the engine on standard input and output; the console entry ``junqi-engine``."""
    args = sys.argv[1:] if args is None else args
    if "--version" in args:
        print(f"junqi-engine {__version__}")
        return 0
    if "--help" in args or "-h" in args:
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
        print(HELP, end="")
        return 0
    replies = _take_stdout()
    note = _Notes()
    if args:
        note(f"ignored arguments: {' '.join(args)}")
    session = Session(seed=_seed(note), note=note)
    try:
        for line in iter(sys.stdin.buffer.readline, b""):
            reply = session.handle(line)
            if reply is not None:
                replies.write(reply.encode("utf-8") + b"\n")
                replies.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        pass  # nobody reads our replies any more
    return 0


def _take_stdout() -> BinaryIO:
    """Keep standard output for the replies; whatever else is printed goes to standard error."""
    try:
        os.fstat(STDERR)
    except OSError:
        # A platform may give us no standard error. Its number must not fall to the replies.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        if nowhere != STDERR:
            os.dup2(nowhere, STDERR)
            os.close(nowhere)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    replies = os.fdopen(os.dup(STDOUT), "wb", buffering=0)
    # Below Python as well, for libraries that print on their own.
    os.dup2(STDERR, STDOUT)
    sys.stdout = sys.stderr
    return replies


class _Notes:
    """Writes what is odd to standard error, but not without end."""

    def __init__(self) -> None:
        self.left = NOTES

    def __call__(self, text: str) -> None:
        if self.left == 0:
            return
        self.left -= 1
        try:
            print(f"junqi-engine: {text}", file=sys.stderr, flush=True)
        except (OSError, ValueError):
            self.left = 0  # nobody reads them any more


def _seed(note: Callable[[str], None]) -> int | None:
    text = os.environ.get("JUNQI_SEED", "")
    try:
        return int(text) if text else None
    except ValueError:
        note(f"expected an integer in JUNQI_SEED, got {text!r}")
        return None


if __name__ == "__main__":
    sys.exit(main())
