"""Any engine put through the protocol: the talk with it, and games held to the rules.

A check (`compliance_checks`) starts the engine, plays referee and opponent, and raises a `Failure`
at the first thing that a platform could not live with. The truth is known here, so that every
layout and every move is judged by the rules.
"""

import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from junqi.board import HEADQUARTERS_POINTS, Point, seen_from
from junqi.engine_process import EngineEnded, EngineLine, EngineProcess, TranscriptLine
from junqi.errors import IllegalMove
from junqi.layout import layout_problems, parse_layout, random_layouts
from junqi.pieces import BLACK, NO_CONTACT, RED, Contact, other
from junqi.protocol import Command, Go, Result, Start, format_command
from junqi.replay import told_flags
from junqi.rules import (
    Move,
    Outcome,
    Position,
    Rules,
    check_move,
    legal_moves,
    outcome,
    parse_move,
    play,
)

_REPLY_FORMS = {
    "NAME": re.compile(r"NAME \S.*"),
    "ARRAY": re.compile(r"ARRAY \S+"),
    "BESTMOVE": re.compile(r"BESTMOVE [A-L][0-4][A-L][0-4]"),
}
_FORM_TEXT = {
    "NAME": "NAME and a name",
    "ARRAY": "ARRAY and 25 letters",
    "BESTMOVE": "BESTMOVE and a move like G0F0",
}


@dataclass(frozen=True)
class Settings:
    """How an engine is tried."""

    command: str
    seed: int = 0
    seconds: float = 20.0
    """The time of START where no other is tried."""
    patience: float = 20.0
    """Seconds to wait for any answer, even if START gives more."""
    grace: float = 3.0
    """Seconds to end in after the end of the input."""


class Failure(Exception):
    """The engine did something that a platform could not live with."""

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(f"expected {expected}, got {got}")
        self.expected = expected
        self.got = got


class NotReached(Exception):
    """What was to be tried did not come about."""


@dataclass(frozen=True)
class Checked:
    """What came of a check."""

    name: str
    what: str
    """What the engine has to do."""
    failure: Failure | None = None
    not_reached: str = ""
    """Why it could not be tried."""
    transcripts: list[list[TranscriptLine]] = field(default_factory=list)
    """The talks with the engine, one for each time that it was started."""

    @property
    def status(self) -> str:
        """The word for a list."""
        return "FAULT" if self.failure else "skipped" if self.not_reached else "ok"


class Trial:
    """One check on its way: starts the engine as often as the check wants."""

    def __init__(self, settings: Settings, name: str) -> None:
        self.settings = settings
        # Not the same games in every check, and the same ones whichever checks are made.
        self.rng = random.Random(f"{settings.seed} {name}")
        self.transcripts: list[list[TranscriptLine]] = []

    @contextmanager
    def engine(self, folder: str | None = None, command: str | None = None) -> "Iterator[Talk]":
        """A newly started engine."""
        with EngineProcess(command or self.settings.command, folder=folder) as process:
            try:
                yield Talk(process, self.settings, self.rng)
            finally:
                self.transcripts.append(process.transcript)


class Talk:
    """One process of the engine, spoken to as a platform does."""

    def __init__(self, engine: EngineProcess, settings: Settings, rng: random.Random) -> None:
        self.engine = engine
        self.settings = settings
        self.rng = rng
        self.dress: Callable[[str], str] = lambda line: f"{line}\n"
        """What is really sent for a line."""
        self.is_move_borne = False
        """Whether a move that nobody waits for is passed over."""

    def send(self, line: str) -> float:
        """Send a line; gives when that was."""
        try:
            return self.engine.send(self.dress(line), end="")
        except EngineEnded as error:
            raise Failure(f"an engine that takes {line!r}", str(error)) from None

    def tell(self, command: Command) -> float:
        """Send a command."""
        return self.send(format_command(command))

    def ask(self, line: str, word: str, seconds: float | None = None) -> tuple[str, float]:
        """Send a line; what the one reply says, which has its exact form, and its seconds."""
        self.stay_silent(f"before {line!r}")
        sent = self.send(line)
        return self.answer(line, word, sent, seconds)

    def answer(
        self, line: str, word: str, sent: float, seconds: float | None = None
    ) -> tuple[str, float]:
        """The reply to a line that was sent, and its seconds."""
        limit = min(self.settings.patience, seconds or self.settings.patience)
        expected = f"{_FORM_TEXT[word]} after {line!r}"
        reply = self._read(sent + limit, expected)
        if reply is None:
            half = self.engine.half_line
            got = f"half a line: {half!r}" if half else "nothing"
            raise Failure(expected, f"{got} within {limit:.3g} s")
        text = reply.text.rstrip()
        if not reply.is_whole or not _REPLY_FORMS[word].fullmatch(text):
            raise Failure(expected, repr(text))
        return text.split(maxsplit=1)[1], reply.received - sent

    def stay_silent(self, when: str, seconds: float = 0.0) -> None:
        """Fail if something is said that nobody asked for."""
        expected = f"silence {when}"
        line = self._read(time.monotonic() + seconds, expected)
        if line is not None:
            raise Failure(expected, repr(line.text))

    def _read(self, deadline: float, expected: str) -> EngineLine | None:
        try:
            while True:
                line = self.engine.read(deadline)
                is_move = line is not None and _REPLY_FORMS["BESTMOVE"].fullmatch(line.text)
                if not (is_move and self.is_move_borne):
                    return line
        except EngineEnded as error:
            raise Failure(expected, str(error)) from None

    def greet(self, line: str = "INFO 1.0") -> str:
        """Ask for the name."""
        name, _ = self.ask(line, "NAME")
        return name

    def end_input(self) -> None:
        """Close the input; the engine has to end by itself."""
        self.engine.end_input()
        deadline = time.monotonic() + self.settings.grace
        while self.engine.exit_code is None:
            if time.monotonic() > deadline:
                grace = f"{self.settings.grace:g} s"
                raise Failure(
                    f"an engine that ends within {grace} of its input", "one that runs on"
                )
            time.sleep(0.01)


class Game:
    """A game of the engine against somebody of ours. Points of the position are red's."""

    def __init__(
        self,
        talk: Talk,
        *,
        is_first: bool = True,
        seconds: float | None = None,
        steps: int = Rules.steps,
        enemy_layout: str | None = None,
    ) -> None:
        """Open a game with START; the engine's layout has to be legal.

        Args:
            talk: with the engine.
            is_first: whether the engine moves first.
            seconds: the time of START, if not the usual one.
            steps: the steps of START.
            enemy_layout: what the engine meets; any layout if missing.
        """
        self.talk = talk
        start = Start(is_first, seconds or talk.settings.seconds, steps)
        self.rules = Rules(steps=steps, time=start.seconds)
        self.side = RED if is_first else BLACK
        text, _ = talk.ask(format_command(start), "ARRAY")
        if problems := layout_problems(text):
            raise Failure("a legal layout", f"{text!r}: {'; '.join(problems)}")
        enemy = random_layouts(1, talk.rng.getrandbits(32))[0]
        if enemy_layout is not None:
            enemy = parse_layout(enemy_layout)
        layouts = {self.side: parse_layout(text), other(self.side): enemy}
        self.position = Position.from_layouts(layouts[RED], layouts[BLACK])
        self.choose: Callable[[Position], Move] = lambda p: talk.rng.choice(legal_moves(p))
        """How the engine's enemy moves."""
        self.flag: Point | None = None
        """The enemy flag's place, once the engine has been told."""
        self.go = Go()
        self.result: Contact = NO_CONTACT
        """Of the engine's last move."""
        self.moves = 0
        """That the engine has made."""
        self.used = 0.0
        """Seconds of the engine."""

    def end(self) -> Outcome | None:
        """How the game has ended by the rules."""
        return outcome(self.position, self.rules)

    def play(self, moves: int | None = None, until: Callable[[], bool] = lambda: False) -> None:
        """Play so many moves of the engine, or to the end of the game, and tell their results."""
        last = None if moves is None else self.moves + moves
        while self.end() is None and self.moves != last and not until():
            self.enemy_move()
            if self.end() is None:
                self.ask_move()
                self.tell_result()

    def enemy_move(self) -> None:
        """Let the enemy move if it is its turn."""
        if self.position.to_move == self.side:
            return
        move = self.choose(self.position)
        result = self._make(move)
        self.go = Go(self._turned(move), result, self._seen_flag())

    def ask_move(self) -> None:
        """Ask the engine for a move, which has to be legal and in time."""
        line = format_command(self.go)
        left = self.rules.time - self.used
        text, seconds = self.talk.ask(line, "BESTMOVE", left)
        self.used += seconds
        self.take_move(text, line)

    def take_move(self, text: str, line: str) -> None:
        """Make a move of the engine."""
        move = parse_move(text)
        seen = self.position if self.side == RED else self.position.rotated()
        try:
            check_move(seen, move)
        except IllegalMove as error:
            raise Failure(f"a legal move after {line!r}", str(error)) from None
        self.moves += 1
        self.result = self._make(self._turned(move))

    def tell_result(self) -> None:
        """Tell the engine what came of its move."""
        self.talk.tell(Result(self.result, self._seen_flag()))

    def _make(self, move: Move) -> Contact:
        before = self.position
        self.position, result = play(before, move)
        for flag in told_flags(before, self.position):
            if flag in HEADQUARTERS_POINTS[other(self.side)]:
                self.flag = flag
        return result

    def _turned(self, move: Move) -> Move:
        return move if self.side == RED else move.rotated()

    def _seen_flag(self) -> Point | None:
        return None if self.flag is None else seen_from(self.flag, self.side)
