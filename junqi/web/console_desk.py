"""A game of the console that is being played: its file, its clocks and its engine.

The engine thinks in a thread of its own. What it thinks about has a token; whatever makes the
thought useless takes the token away, and the answer is then not listened to.
"""

import random
import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

from junqi.board import Point
from junqi.engine import Engine
from junqi.errors import JunqiError
from junqi.fallback import fallback_move
from junqi.pieces import ATTACKER_WINS, NO_CONTACT, NOBODY, Contact, Side
from junqi.program import Shelf, StoredMoves
from junqi.record import format_record
from junqi.rules import Move, Outcome, format_move
from junqi.textfile import write_whole
from junqi.view import View
from junqi.web.console_game import (
    UNFINISHED,
    Entry,
    Game,
    GameProblem,
    Question,
    Terms,
    end_to_json,
    question_of,
    record_of,
)
from junqi.web.console_log import ChangedElsewhere, GameLog
from junqi.web.room import Setup

# A search that is to be stopped is waited for so long; then the rules of thumb move.
STOP_SECONDS = 0.7
STOP_STEP = 0.02
RECORD_SUFFIX = ".junqi"


class Stale(JunqiError):
    """Whoever asks does not know the present state of the game."""


class Desk:
    """One game, for any number of tabs."""

    def __init__(self, setup: Setup, shelf: Shelf | None, key: str, log: GameLog) -> None:
        """Open a game; one whose clocks ran when the server ended is paused.

        Args:
            setup: what the server was started with.
            shelf: the books that the engine has opening moves from.
            key: of the game.
            log: its file; closed with the desk.
        """
        self.key = key
        self.feed = setup.feeds.new()
        self.trouble = ""
        """Why the engine's last move could not be made or written, if so."""
        self._log = log
        self._note = setup.note
        self._lock = threading.RLock()
        self._engine_lock = threading.Lock()
        self._token: object | None = None
        self._began: float | None = None
        # Whether another program goes on with the game: then it is only looked at here, until
        # something is done here again.
        self._is_elsewhere = False
        # Larger than any of an earlier server: tabs go on with what is newer.
        self.serial = int(1000 * time.time())
        """Counts whatever a tab could see change."""
        terms = log.game.terms
        options = replace(setup.options, movetime=terms.movetime or setup.options.movetime)
        opening = StoredMoves(shelf, options) if shelf else None
        self._engine = Engine(options, setup.note, opening=opening, load=setup.load)
        self._record = log.path.with_suffix(RECORD_SUFFIX)
        if log.game.is_running:
            log.append({"do": "pause", "spent": log.game.spent, "interrupted": True})
        if log.game.is_over and not self._record.exists():
            self._keep_record()
        if not log.game.is_over:
            self._engine.start_loading()
        self._was_loading = self.is_loading
        self._changed()

    @property
    def game(self) -> Game:
        """The game as it stands."""
        return self._log.game

    @property
    def terms(self) -> Terms:
        """What was agreed."""
        return self.game.terms

    @property
    def is_thinking(self) -> bool:
        """Whether the engine thinks."""
        return self._token is not None

    @property
    def is_loading(self) -> bool:
        """Whether the engine is not ready yet, and would move by rules of thumb."""
        return self._engine.is_loading

    def locked(self) -> threading.RLock:
        """To be held while several things are read that belong together."""
        return self._lock

    def used(self, side: Side) -> float:
        """Seconds that a side has used up to now."""
        with self._lock:
            running = self._elapsed() - self.game.spent if self.game.clock_side == side else 0.0
            return max(0.0, self.game.used(side) + running)

    def resume(self) -> None:
        """Let the clocks run."""
        with self._lock:
            self._see_others()
            if not self.game.is_running:
                self._do({"do": "resume"})

    def pause(self) -> None:
        """Stop the clocks, and the engine's thoughts."""
        with self._lock:
            self._see_others()
            if self.game.is_running:
                self._do({"do": "pause", "spent": self._elapsed()})

    def enter(
        self,
        version: int,
        move: Move,
        result: Contact,
        flag: Point | None,
        is_taken: bool,
        is_flag_answered: bool,
    ) -> Question | None:
        """Enter a ply of whichever side is to move; or return what is still to be asked about it.

        Args:
            version: of the game that the operator has seen.
            move: in own coordinates.
            result: told from the mover; `NO_CONTACT` for a contact whose result is not known yet.
            flag: the place of the enemy's flag, if it was told.
            is_taken: whether the enemy's flag was taken.
            is_flag_answered: whether the operator has said if the flag was told.

        Raises:
            Stale: if the version is not the present one.
            JunqiError: if the ply cannot be.
        """
        with self._lock:
            self._check(version)
            if self.game.is_over:
                raise GameProblem("the game is over")
            view, announced = self.game.view, self.game.announced
            _check_legal(view, move)
            question = question_of(view, move)
            if question is not None:
                if is_taken and question.taken_results:
                    # Whether our piece is left is not asked: only a bomb goes with the flag.
                    result = question.taken_results[0]
                is_open = result in question.flag_results and not is_flag_answered
                if result == NO_CONTACT or is_open:
                    self._await_result(move)
                    return question
                is_taken = is_taken or result in question.sure_results
            is_answer = announced is not None and announced.move == move
            seconds = announced.seconds if announced and is_answer else self._elapsed()
            self._enter(Entry(move, result, flag, is_taken, round(seconds, 3)))
            return None

    def retract(self, version: int) -> None:
        """Take back a move of the opponent whose result was not entered yet."""
        with self._lock:
            self._check(version)
            self._do({"do": "retract"})

    def undo(self, version: int, plies: int) -> None:
        """Take plies back; the clocks stop, and stand as they did then."""
        with self._lock:
            self._check(version)
            self._do({"do": "undo", "plies": plies})

    def redo(self, version: int, plies: int) -> None:
        """Do plies again that were taken back."""
        with self._lock:
            self._check(version)
            self._do({"do": "redo", "plies": plies})

    def set_clocks(self, version: int, own: float, enemy: float) -> None:
        """Put the clocks right: the seconds that each side has used."""
        with self._lock:
            self._check(version)
            self._do({"do": "clock", "own": own, "enemy": enemy, "spent": self._elapsed()})

    def end(self, version: int, end: Outcome | None) -> None:
        """End the game as the referee has decided; None leaves it without a result."""
        with self._lock:
            self._check(version)
            told = {"winner": UNFINISHED, "reason": ""} if end is None else end_to_json(end)
            self._do({"do": "end", **told, "spent": self._elapsed()})

    def move_now(self) -> None:
        """Have the engine's move at once.

        Raises:
            GameProblem: if the engine does not think.
        """
        with self._lock:
            token, view = self._token, self.game.view
        if token is None:
            raise GameProblem("the engine is not thinking")
        until = time.monotonic() + STOP_SECONDS
        while self._token is token and time.monotonic() < until:
            self._engine.stop()
            time.sleep(STOP_STEP)
        with self._lock:
            if self._token is token:
                self._play(fallback_move(view, random.Random(), view.legal_moves()))

    def tick(self) -> None:
        """Write down how far the clock has come, for the case of a crash; see what others wrote."""
        with self._lock, suppress(OSError, JunqiError):
            if self._was_loading and not self.is_loading:
                self._was_loading = False
                self._publish()
            self._see_others()
            if self.game.clock_side is not None and not self._is_elsewhere:
                self._log.append({"do": "tick", "spent": self._elapsed()})
                self._began = time.monotonic()

    def record_text(self) -> str:
        """The record of the game so far."""
        return format_record(record_of(self.game))

    def close(self) -> None:
        """Stop the clocks and the engine, and close the file."""
        with self._lock:
            with suppress(OSError, JunqiError):
                self.pause()
            self._token = None
            self._engine.stop()
            self._log.close()

    def _check(self, version: int) -> None:
        if version != self.game.version:
            raise Stale("the game has gone on since this page was drawn: here is how it stands now")

    def _elapsed(self) -> float:
        """Seconds that the side to move has used for this move."""
        since = 0.0 if self._began is None else time.monotonic() - self._began
        return round(self.game.spent + since, 3)

    def _do(self, event: dict[str, Any]) -> None:
        """Let something happen, and all that follows from it."""
        try:
            self._log.append(event)
        except ChangedElsewhere:
            self._read_again()
            raise Stale("another program has gone on with this game") from None
        self.trouble = ""
        self._is_elsewhere = False
        self._keep_record()
        self._changed()

    def _see_others(self) -> None:
        """Take in what another program wrote, if it did: the clocks stop and run for all."""
        if self._log.is_changed:
            self._read_again()

    def _read_again(self) -> None:
        """Show what another program has made of the game."""
        self._log.read()
        self._is_elsewhere = True
        self._changed()

    def _keep_record(self) -> None:
        """Have a record beside a game that is over, and none that an undo has made untrue.

        What is there may have been left by a process that was killed, so it is not looked at.
        """
        try:
            if self.game.is_over:
                write_whole(self._record, self.record_text())
            else:
                self._record.unlink(missing_ok=True)
        except OSError as error:
            self.trouble = f"{self._record}: {error.strerror}"

    def _changed(self) -> None:
        """Start and stop what the present state asks for, and tell the tabs."""
        game = self.game
        self._began = None if game.clock_side is None else time.monotonic()
        wants_move = game.wants_move and not self._is_elsewhere
        if not wants_move and self._token is not None:
            self._token = None
            self._engine.stop()
        elif wants_move and self._token is None:
            self._start_thinking()
        self._publish()

    def _publish(self) -> None:
        self.serial += 1
        self.feed.publish({"version": self.game.version, "serial": self.serial})

    def _tell_trouble(self, error: Exception) -> None:
        self.trouble = f"{type(error).__name__}: {error}"
        self._note(f"the engine's move could not be made: {self.trouble}")
        self._publish()

    def _start_thinking(self) -> None:
        token = self._token = object()
        view = self.game.view
        left = self.terms.rules.time - self.used(self.terms.side)
        thread = threading.Thread(target=self._think, args=(token, view, left), daemon=True)
        thread.start()

    def _think(self, token: object, view: View, left: float) -> None:
        """Have a move, and make it unless nobody wants it any more."""
        try:
            with self._engine_lock:  # a thought that was given up ends first
                if self._token is not token:
                    return
                move = self._engine.move(view, left)
            with self._lock:
                if self._token is token:
                    self._play(move)
        except Exception as error:  # the operator must know, whatever it is
            with self._lock:
                if self._token is token:
                    self._token = None
                    self._tell_trouble(error)

    def _play(self, move: Move) -> None:
        """Make the engine's move, or announce it if the referee has to say what comes of it."""
        self._token = None
        seconds = self._elapsed()
        try:
            if question_of(self.game.view, move) is None:
                self._enter(Entry(move, seconds=seconds))
            else:
                self._announce(move, seconds)
        except (OSError, JunqiError) as error:
            self._tell_trouble(error)

    def _await_result(self, move: Move) -> None:
        """Keep the opponent's contact while the referee is asked, and let its clock stand.

        Another move of ours is not kept: until it is entered, the engine's may still be played.
        """
        announced = self.game.announced
        is_known = announced is not None and announced.move == move
        if not self.game.view.is_own_turn and not is_known:
            self._announce(move, self._elapsed())

    def _announce(self, move: Move, seconds: float) -> None:
        self._do({"do": "announce", "move": format_move(move), "seconds": seconds})

    def _enter(self, entry: Entry) -> None:
        self._do({"do": "ply", **self.game.settled(entry).to_json()})


def _check_legal(view: View, move: Move) -> None:
    """Raise for a move that cannot be, whatever its result."""
    is_contact = view.position.owners[move.target] != NOBODY
    view.after(move, ATTACKER_WINS if is_contact else NO_CONTACT)
