"""Who plays: what a referee asks of a player, and what a player can do wrong.

A player is told the lines of the contest protocol as objects, all in its own coordinates, and
nothing else. Players in this process are made of a `Decider`, which is given a `View`.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol

from junqi.errors import JunqiError
from junqi.pieces import BLACK, RED
from junqi.protocol import End, Go, Result, Start
from junqi.rules import Move, Reason, Rules
from junqi.view import View

GREETINGS = ("INFO", "INFORMATION")


@dataclass(frozen=True)
class GameSettings:
    """How a game is played and what of it is told: platforms differ."""

    rules: Rules = field(default_factory=Rules)
    """With the time and the steps that START names."""
    movetime: float | None = None
    """Seconds that each move may take at most; None without limit."""
    patience: float = 10.0
    """Seconds that a program has for its name, for its layout, and beyond its time before it is
    taken to hang."""
    greeting: str = "INFO"
    """The word that asks for the name: ``INFO`` or ``INFORMATION``."""
    sends_last_result: bool = True
    """Whether the mover is told the RESULT of the move that ends the game."""
    sends_last_go: bool = False
    """Whether the other is told of that move by a GO, which asks for no answer."""
    sends_end: bool = True
    """Whether both are told END."""

    def __post_init__(self) -> None:
        """Refuse settings that no game could be played by."""
        if self.greeting not in GREETINGS:
            raise ValueError(f"expected a greeting of {GREETINGS}, got {self.greeting!r}")
        if self.movetime is not None and not self.movetime > 0:
            raise ValueError(f"expected a time for a move above 0, got {self.movetime}")
        if not self.patience > 0:
            raise ValueError(f"expected a patience above 0 seconds, got {self.patience}")

    def seconds_for_move(self, left: float) -> float:
        """How long a player with so much time left may think about one move."""
        return left if self.movetime is None else min(left, self.movetime)


class Fault(Enum):
    """What a player did wrong: its word, and the reason by which it loses, if it does."""

    CANNOT_START = "cannot-start", Reason.CRASH
    CRASH = "crash", Reason.CRASH
    CLOSED_OUTPUT = "closed-output", Reason.CRASH
    NO_ANSWER = "no-answer", Reason.NO_ANSWER
    FLOOD = "flood", Reason.NO_ANSWER
    TIME = "time", Reason.TIME
    ILLEGAL_LAYOUT = "illegal-layout", Reason.ILLEGAL_LAYOUT
    GARBAGE_LAYOUT = "garbage-layout", Reason.ILLEGAL_LAYOUT
    ILLEGAL_MOVE = "illegal-move", Reason.ILLEGAL_MOVE
    GARBAGE_MOVE = "garbage-move", Reason.ILLEGAL_MOVE
    OUT_OF_TURN = "out-of-turn", Reason.ILLEGAL_MOVE
    # Harmless, but a platform may be less patient than we are.
    OTHER_LINE = "other-line", None
    NAME_WITHOUT_WORD = "name-without-word", None
    LATE_NAME = "late-name", None
    NO_NAME = "no-name", None
    CARRIAGE_RETURN = "carriage-return", None
    NOT_UTF8 = "not-utf8", None
    LAYOUT_NOT_TAKEN = "layout-not-taken", None

    def __init__(self, word: str, reason: Reason | None) -> None:
        self.word = word
        self.reason = reason

    @property
    def is_harmless(self) -> bool:
        """Whether the game goes on."""
        return self.reason is None


class FaultNote(NamedTuple):
    """A fault, and when it happened."""

    fault: Fault
    ply: int
    """Plies that had been played."""
    text: str
    """What was expected and what came."""


class PlayerFault(JunqiError):
    """A player has lost the game by its conduct."""

    def __init__(self, fault: Fault, text: str) -> None:
        super().__init__(text)
        self.fault = fault


class Answer(NamedTuple):
    """A move, and how long the player thought."""

    move: Move
    seconds: float


class Player(ABC):
    """One seat at the board. All points are in the player's own coordinates."""

    def __init__(self) -> None:
        self.oddities: dict[Fault, str] = {}
        """Harmless faults since the referee last took them away: the first of each kind."""

    def note(self, fault: Fault, text: str) -> None:
        """Remember a harmless fault for the referee."""
        self.oddities.setdefault(fault, text)

    @abstractmethod
    def name(self) -> str:
        """How the player calls itself."""

    @abstractmethod
    def start(self, start: Start, rules: Rules) -> str:
        """Begin a game with a layout, which the referee checks."""

    @abstractmethod
    def move(self, go: Go, seconds: float) -> Answer:
        """Take in the enemy's move and answer it, with so many seconds to think."""

    @abstractmethod
    def told(self, result: Result) -> None:
        """Take in what came of the own move."""

    @abstractmethod
    def shown(self, go: Go) -> None:
        """Take in the enemy's move that ended the game."""

    @abstractmethod
    def end(self, end: End) -> None:
        """Take in how the game ended."""

    @abstractmethod
    def close(self) -> None:
        """Leave the table; what runs for the player is ended."""

    @abstractmethod
    def kill(self) -> None:
        """Let nobody wait for the player any longer: called by another thread to stop a game."""


class Decider(Protocol):
    """What makes the decisions of a player in this process: it sees views only."""

    def layout(self, is_first: bool, rules: Rules) -> str:
        """A legal layout, 25 letters."""

    def move(self, view: View, seconds_left: float) -> Move:
        """A legal move of the view's side, whose turn it is."""


class ViewPlayer(Player):
    """A player in this process: keeps the view of what it is told, for a decider to look at."""

    def __init__(
        self,
        decider: Decider,
        name: str,
        *,
        layout: str | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Seat a decider.

        Args:
            decider: who decides.
            name: what the player is called.
            layout: plays this layout, whatever the decider would like.
            now: the clock, in seconds.
        """
        super().__init__()
        self._decider = decider
        self._name = name
        self._layout = layout
        self._now = now
        self._view: View | None = None
        self._answer: Answer | None = None

    def name(self) -> str:
        """The name that was given."""
        return self._name

    def start(self, start: Start, rules: Rules) -> str:
        """Let the decider choose a layout, if none was given."""
        layout = self._layout or self._decider.layout(start.is_first, rules)
        self._view = View.start(RED if start.is_first else BLACK, layout, rules)
        return layout

    def move(self, go: Go, seconds: float) -> Answer:
        """Let the decider move."""
        begin = self._now()
        self.shown(go)
        assert self._view is not None
        move = self._decider.move(self._view, seconds)
        self._answer = Answer(move, self._now() - begin)
        return self._answer

    def told(self, result: Result) -> None:
        """Follow the own move."""
        assert self._view is not None
        assert self._answer is not None
        move, seconds = self._answer
        self._view = self._view.after(move, result.result, result.flag, seconds)

    def shown(self, go: Go) -> None:
        """Follow the enemy's move."""
        assert self._view is not None
        if go.move is not None:
            self._view = self._view.after(go.move, go.result, go.flag)

    def end(self, end: End) -> None:
        """Forget the game."""
        self._view = None

    def close(self) -> None:
        """Nothing is to be done."""

    def kill(self) -> None:
        """A decider is waited for: nothing can stop it."""
