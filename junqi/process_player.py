"""A program that speaks the contest protocol, as a player.

What is harmless is borne and noted; what a platform could not live with loses the game. A reply is
told from other lines by its word, in capitals or not: other lines may begin with any letter.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from junqi.engine_process import (
    CannotStart,
    EngineEnded,
    EngineLine,
    EngineProcess,
    TranscriptLine,
)
from junqi.errors import ProtocolError
from junqi.player import Answer, Fault, GameSettings, Player, PlayerFault
from junqi.protocol import (
    VERSION,
    Array,
    BestMove,
    End,
    Go,
    Name,
    Reply,
    Result,
    Start,
    format_command,
    parse_reply,
)
from junqi.rules import Rules

R = TypeVar("R", Array, BestMove)

# A program of ours plays the same every time it is started with the same number.
SEED_VARIABLE = "JUNQI_SEED"
# A program of ours plays this layout, if there is one.
LAYOUT_VARIABLE = "JUNQI_LAYOUT"

# A program that writes more lines than this that are no answer is not waited for.
MOST_OTHER_LINES = 2000
# A program that has said a name in its own words may say it in the protocol's words within this.
_SECOND_THOUGHTS = 0.3
_LONGEST_NAME = 100

_WORDS = {Name: "NAME", Array: "ARRAY", BestMove: "BESTMOVE"}
_ALREADY_OVER = float("-inf")


class ProcessPlayer(Player):
    """A program, started when it is first asked for its name; any number of games."""

    def __init__(
        self,
        command: str,
        settings: GameSettings,
        *,
        seed: int,
        layout: str | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare to start a program.

        Args:
            command: its command line.
            settings: what it is told, and how long it is waited for.
            seed: put into its environment.
            layout: the layout it should play, put into its environment.
            now: the clock, in seconds.
        """
        super().__init__()
        self.command = command
        self._settings = settings
        self._environment = {SEED_VARIABLE: str(seed)}
        self._layout = layout
        if layout is not None:
            self._environment[LAYOUT_VARIABLE] = layout
        self._now = now
        self._engine: EngineProcess | None = None
        self._name: str | None = None

    @property
    def transcript(self) -> list[TranscriptLine]:
        """The last lines sent and received."""
        return self._engine.transcript if self._engine else []

    @property
    def stderr(self) -> str:
        """The last that the program wrote to stderr."""
        return self._engine.stderr if self._engine else ""

    def report(self) -> str:
        """All that was said, as a text: what the program was told, its replies, its stderr."""
        lines = [f"# {self.command}", *map(str, self.transcript), "# stderr", self.stderr]
        return "\n".join(lines)

    def name(self) -> str:
        """Start the program if need be, and ask it for its name once."""
        if self._name is None:
            self._name = self.command
            try:
                self._engine = EngineProcess(
                    self.command, environment=self._environment, now=self._now
                )
            except CannotStart as error:
                raise PlayerFault(Fault.CANNOT_START, str(error)) from None
            self._take_name(self._ask_name())
        return self._name

    def start(self, start: Start, rules: Rules) -> str:
        """Ask for a layout."""
        with suppress(PlayerFault):  # the game before is over, whatever is still said of it
            for _ in range(MOST_OTHER_LINES):
                if self._next(_ALREADY_OVER) is None:
                    break
        reply, _ = self._ask(
            format_command(start), Array, self._settings.patience, Fault.GARBAGE_LAYOUT
        )
        if self._layout is not None and reply.layout != self._layout:
            self.note(
                Fault.LAYOUT_NOT_TAKEN, f"expected the layout {self._layout}, got {reply.layout!r}"
            )
        return reply.layout

    def move(self, go: Go, seconds: float) -> Answer:
        """Ask for a move."""
        self._check_silence()
        patience = seconds + self._settings.patience
        reply, taken = self._ask(format_command(go), BestMove, patience, Fault.GARBAGE_MOVE)
        return Answer(reply.move, taken)

    def told(self, result: Result) -> None:
        """Tell what came of the move; a program that has gone is found out when it is asked."""
        with suppress(PlayerFault):
            self._send(format_command(result))

    def shown(self, go: Go) -> None:
        """Tell of the enemy's last move, without waiting for an answer."""
        with suppress(PlayerFault):
            self._send(format_command(go))

    def end(self, end: End) -> None:
        """Tell how the game ended."""
        with suppress(PlayerFault):
            self._send(format_command(end))

    def close(self) -> None:
        """End the program."""
        if self._engine is not None:
            self._engine.close()

    def kill(self) -> None:
        """End the program at once; whoever waits for its answer waits no longer."""
        if self._engine is not None:
            self._engine.kill()

    def _ask_name(self) -> str:
        self._send(f"{self._settings.greeting} {VERSION}")
        deadline = self._now() + self._settings.patience
        own_words = ""
        others = 0
        while (line := self._next(deadline)) is not None and others < MOST_OTHER_LINES:
            reply = None
            with suppress(ProtocolError):
                reply = _read_reply(line)
            if isinstance(reply, Name) and reply.name:
                if own_words:
                    self._note_other(own_words)
                return reply.name
            others += 1
            if reply is None and not own_words:
                own_words = line.text
                deadline = min(deadline, self._now() + _SECOND_THOUGHTS)
            else:
                self._note_other(line.text)
        if own_words:
            self.note(Fault.NAME_WITHOUT_WORD, f"expected NAME and a name, got {own_words!r}")
            return own_words
        self.note(Fault.NO_NAME, "expected NAME and a name, got none")
        return self.command

    def _take_name(self, name: str) -> None:
        self._name = " ".join(name.split())[:_LONGEST_NAME]

    def _ask(
        self, question: str, kind: type[R], patience: float, garbage: Fault
    ) -> tuple[R, float]:
        """Send a line and wait for the answer: the answer, and the seconds that it took.

        Args:
            question: the line.
            kind: of the answer.
            patience: seconds to wait.
            garbage: the fault if what comes cannot be read.
        """
        sent = self._send(question)
        expected = f"{_WORDS[kind]} after {question!r}"
        other_line = ""
        for _ in range(MOST_OTHER_LINES):
            line = self._next(sent + patience)
            if line is None:
                if other_line:
                    raise PlayerFault(garbage, f"expected {expected}, got only {other_line!r}")
                assert self._engine is not None
                half = self._engine.half_line
                got = f"half a line: {half!r}" if half else "nothing"
                raise PlayerFault(
                    Fault.NO_ANSWER, f"expected {expected}, got {got} in {patience:.4g} s"
                )
            try:
                reply = _read_reply(line)
            except ProtocolError as error:
                raise PlayerFault(garbage, str(error)) from None
            if isinstance(reply, kind):
                return reply, line.received - sent
            if isinstance(reply, BestMove):
                raise PlayerFault(Fault.OUT_OF_TURN, f"expected {expected}, got {line.text!r}")
            if not self._is_late_name(reply):
                other_line = line.text
                self._note_other(line.text)
        raise PlayerFault(
            Fault.FLOOD, f"expected {expected}, got {MOST_OTHER_LINES} lines like {other_line!r}"
        )

    def _check_silence(self) -> None:
        """Look through what was written without being asked.

        Raises:
            PlayerFault: if a move is among it, which would be taken for the answer to come, or if
                it does not end.
        """
        for _ in range(MOST_OTHER_LINES):
            line = self._next(_ALREADY_OVER)
            if line is None:
                return
            reply = None
            with suppress(ProtocolError):
                reply = _read_reply(line)
            if isinstance(reply, BestMove):
                raise PlayerFault(
                    Fault.OUT_OF_TURN, f"expected no move before the next GO, got {line.text!r}"
                )
            if not self._is_late_name(reply):
                self._note_other(line.text)
        raise PlayerFault(
            Fault.FLOOD, f"expected nothing before the next GO, got {MOST_OTHER_LINES} lines"
        )

    def _is_late_name(self, reply: Reply | None) -> bool:
        """Whether this is the name, and was not said when it was asked for."""
        if isinstance(reply, Name) and reply.name:
            self.note(Fault.LATE_NAME, f"expected the name after INFO, got {reply.name!r} later")
            self._take_name(reply.name)
            return True
        return False

    def _note_other(self, text: str) -> None:
        self.note(Fault.OTHER_LINE, f"expected the replies alone, got {text!r}")

    def _send(self, line: str) -> float:
        if self._engine is None:
            raise PlayerFault(Fault.CANNOT_START, f"{self.command!r} does not run")
        try:
            return self._engine.send(line)
        except EngineEnded as error:
            fault = Fault.NO_ANSWER if error.exit_code is None else Fault.CRASH
            raise PlayerFault(fault, f"{error}, before {line!r}") from None

    def _next(self, deadline: float) -> EngineLine | None:
        """The next line that is not blank; None if there is none before the deadline."""
        assert self._engine is not None
        while True:
            try:
                line = self._engine.read(deadline)
            except EngineEnded as error:
                fault = Fault.CLOSED_OUTPUT if error.exit_code is None else Fault.CRASH
                raise PlayerFault(fault, str(error)) from None
            if line is None:
                return None
            if line.has_return:
                self.note(Fault.CARRIAGE_RETURN, f"{line.text!r} ended with a carriage return")
            if not _is_utf8(line.data):
                self.note(Fault.NOT_UTF8, f"expected UTF-8, got {line.data!r}")
            if line.text.strip():
                return line


def _read_reply(line: EngineLine) -> Reply | None:
    """The reply that a line holds; None if it holds something else.

    Raises:
        ProtocolError: if it begins like a reply and cannot be read.
    """
    words = line.text.strip("\ufeff\0 \t\r").split(maxsplit=1)
    is_reply = line.is_whole and words and words[0].upper() in _WORDS.values()
    return parse_reply(line.text) if is_reply else None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
