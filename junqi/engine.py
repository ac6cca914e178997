"""The engine: layouts and moves from whatever answers best, and always in time.

A move comes from the first of these that has one: the only legal move, the book, the search, the
rules of thumb. Book and search run in threads of their own and are given up when they are late,
fail or answer nonsense; the rules of thumb are asked then, and any legal move if even they fail.
What goes out is one of the moves that `rules.py` allows, so an illegal one cannot.
"""

import random
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from junqi.board import NEIGHBOURS
from junqi.clock import Budget, Clock
from junqi.engine_options import EngineOptions, InvalidOption, parse_options
from junqi.fallback import fallback_move
from junqi.job import Job, JobFailed
from junqi.layout import format_layout, layout_problems, mirror_layout, parse_layout
from junqi.pieces import FLAG, NOBODY
from junqi.rules import Move, Rules, format_move
from junqi.view import View

__all__ = [
    "Candidate",
    "Decision",
    "Engine",
    "EngineOptions",
    "InvalidOption",
    "Layouts",
    "Load",
    "Opening",
    "Thinking",
    "Thought",
    "criticality",
    "load_thinker",
    "mind_the_limit",
    "parse_options",
]

Note: TypeAlias = Callable[[str], None]

# Looks a view up among the book's openings; None if the book does not know it.
Opening: TypeAlias = Callable[[View], Move | None]
# Draws a layout by a seed, for the side that moves first or for the other one.
Layouts: TypeAlias = Callable[[int, bool], str]

# A book is a file on a disk that may be slow: it is not waited for longer than this.
LAYOUT_SECONDS = 0.7
OPENING_SECONDS = 0.1
# So long after loading has begun a layout is held back, to have the search for the first move.
LOADING_SECONDS = 0.5
# A search in less than this is not worth its thread.
SHORTEST_THOUGHT = 0.002
# A search that is late for so long hangs: it is left behind, with all that it occupies, and another
# one is made, but not without end.
HANGING_SECONDS = 5.0
MOST_SEARCHES = 3

# A move that costs no more than this of the winning chances costs nothing.
FREE = 0.002

# Layouts for when no book can be read: those that the default book draws.
LAYOUTS_AT_HAND = (
    "bfahccikdiifkgedhgjeghjlj",
    "bhaffcickiiedgkejghdjljhg",
    "cbafhkicfiidegkejghdjljhg",
)


class Candidate(Protocol):
    """What a search found out about one move."""

    @property
    def move(self) -> Move:
        """The move."""

    @property
    def value(self) -> float:
        """The chance to win, from 0 to 1."""

    @property
    def error(self) -> float:
        """Of the value, as far as it is due to the worlds that were sampled."""

    @property
    def worlds(self) -> int:
        """In how many it was tried."""


class Thought(Protocol):
    """What a search found out."""

    @property
    def move(self) -> Move:
        """The move to play."""

    @property
    def value(self) -> float:
        """The chance to win, from 0 to 1."""

    @property
    def candidates(self) -> Sequence[Candidate]:
        """The moves that were considered, the best first."""


class Thinking(Protocol):
    """A search."""

    def think(self, view: View, seconds: float, hard: float) -> Thought:
        """Look for the best move: for so long, and never longer than the second number."""


Load: TypeAlias = Callable[[EngineOptions, Note, int], Thinking]


def load_thinker(options: EngineOptions, note: Note, seed: int) -> Thinking:
    """Make the search. Takes a second, or as long as it takes to compile the kernels."""
    from junqi.thinker import Thinker

    return Thinker(options.threads, seed, note, effort=options.effort)


@dataclass(frozen=True)
class Decision:
    """A move, and how the engine came to it."""

    move: Move
    source: str
    """``only``, ``book``, ``search``, ``thumb`` (the rules of thumb) or ``any``."""
    seconds: float
    thought: Thought | None = None
    """What the search thought, if it was the search."""

    def __str__(self) -> str:
        value = "" if self.thought is None else f", {self.thought.value:.1%} to win"
        return f"{format_move(self.move)} by {self.source} in {self.seconds:.3f} s{value}"


class Engine:
    """Plays any number of games, one after the other."""

    def __init__(
        self,
        options: EngineOptions | None = None,
        note: Note = lambda text: None,
        *,
        layouts: Layouts | None = None,
        opening: Opening | None = None,
        load: Load | None = load_thinker,
        watch: Callable[[View, Decision], None] = lambda view, decision: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare, without loading anything heavy.

        Args:
            options: how to play.
            note: told when something did not go as it should.
            layouts: draws layouts from a book.
            opening: finds moves in a book.
            load: makes the search; None plays by the rules of thumb alone.
            watch: told of every decision.
            now: the clock, in seconds.
        """
        self.options = options or EngineOptions()
        self._note = note
        self._layouts = layouts
        self._opening = opening
        self._load = load
        self._watch = watch
        self._now = now
        self._clock = Clock(self.options.movetime, self.options.time_fraction)
        seed = self.options.seed
        self._seed = secrets.randbits(63) if seed is None else seed
        self._games = 0
        self._overrun = 0.0
        self._search: Job[Thinking] | None = None
        self._searches = 0
        self._loading_since = now()
        self._thinking: Job[Thought] | None = None
        self._late_since = 0.0

    def start_loading(self) -> None:
        """Make the search in the background; until it is there the rules of thumb play."""
        if self._load is not None and self._search is None:
            load, seed = self._load, self._seed
            self._searches += 1
            self._loading_since = self._now()
            self._search = Job(lambda: load(self.options, self._note, seed))

    @property
    def is_loading(self) -> bool:
        """Whether the search is being made, and the rules of thumb would play."""
        return self._search is not None and not self._search.wait(0)

    def load(self) -> None:
        """Make the search, and wait until it is there, or has failed."""
        self.start_loading()
        if self._search is not None:
            self._search.wait(None)

    def layout(self, is_first: bool, rules: Rules) -> str:
        """A legal layout for a new game: the one asked for, or drawn from the book."""
        layout = self._choose_layout(is_first)
        if self._search is not None:
            self._search.wait(self._loading_since + LOADING_SECONDS - self._now())
        return layout

    def _choose_layout(self, is_first: bool) -> str:
        self._games += 1
        self._overrun = 0.0
        if self.options.layout is not None:
            return self.options.layout
        draw = random.Random(f"layout {self._seed} {self._games}").getrandbits(63)
        if self._layouts is not None:
            layouts = self._layouts
            try:
                layout = Job(lambda: layouts(draw, is_first)).value(LAYOUT_SECONDS)
                if not (problems := layout_problems(layout)):
                    return layout
                self._note(f"the book's layout is not legal: {layout!r}: {'; '.join(problems)}")
            except Exception as error:
                self._note(f"no layout from the book: {error}")
        return _layout_at_hand(draw)

    def move(self, view: View, seconds_left: float) -> Move:
        """A legal move.

        Args:
            view: what is known, at the own turn.
            seconds_left: for the rest of the game.

        Raises:
            ValueError: if there is no move.
        """
        return self.decide(view, seconds_left).move

    def decide(self, view: View, seconds_left: float) -> Decision:
        """A legal move as `move` gives it, and how it came about."""
        started = self._now()
        moves = view.legal_moves()
        if not moves:
            raise ValueError("expected a view with a legal move")
        thought = None
        if len(moves) == 1:
            move, source = moves[0], "only"
        elif (known := self._from_book(view, moves)) is not None:
            move, source = known, "book"
        elif (found := self._from_search(view, moves, seconds_left, started)) is not None:
            (move, thought), source = found, "search"
        else:
            move, source = self._at_once(view, moves)
        decision = Decision(move, source, self._now() - started, thought)
        self._watch(view, decision)
        return decision

    def stop(self) -> None:
        """Have a search under way answer at once with what it has found; from any thread."""
        search = self._search
        if search is None or not search.wait(0):
            return
        with suppress(JobFailed):
            stop = getattr(search.value(0), "stop", None)
            if stop is not None:
                stop()

    def _from_book(self, view: View, moves: Sequence[Move]) -> Move | None:
        """The book's move, if it knows one that can be played."""
        if self._opening is None:
            return None
        opening = self._opening
        try:
            move = Job(lambda: opening(view)).value(OPENING_SECONDS)
        except Exception as error:
            self._note(f"no move from the book: {error}")
            return None
        if move is not None and move not in moves:
            self._note(f"the book's move is not legal: {move}")
            return None
        return move

    def _from_search(
        self, view: View, moves: Sequence[Move], seconds_left: float, started: float
    ) -> tuple[Move, Thought] | None:
        """The search's move and what it thinks, if it has a legal move in time."""
        made = sum(told.mover == view.side for told in view.plies)
        budget = self._clock.plan(
            view.rules.time, seconds_left, made, criticality(view, moves), self._overrun
        )
        if self._load is None or budget.soft < SHORTEST_THOUGHT:
            return None
        try:
            thought = self._think(view, budget, started)
            if thought is None:
                return None
            if thought.move in moves:
                return mind_the_limit(view, moves, thought), thought
            self._note(f"the search's move is not legal: {thought.move}")
        except Exception as error:  # not even a lack of memory may cost the game
            self._note(f"the search failed: {error}")
        finally:
            self._overrun += max(self._now() - started - budget.deadline, 0.0)
        return None

    def _think(self, view: View, budget: Budget, started: float) -> Thought | None:
        """Let the search think, in what remains of the budget when it is ready."""
        if self._search is None:
            self.load()
            started = self._now()  # nobody has prepared us: that is not the search's time
        search = self._ready_search(started + budget.soft)
        if search is None:
            return None
        spent = self._now() - started
        soft = max(budget.soft - spent, SHORTEST_THOUGHT)
        hard = max(budget.hard - spent, soft)
        self._thinking = Job(lambda: search.think(view, soft, hard))
        try:
            return self._thinking.value(budget.deadline - spent)
        except TimeoutError:
            self._late_since = self._now()
            self._note(f"the search is late: no move after {self._now() - started:.2f} s")
            return None

    def _ready_search(self, until: float) -> Thinking | None:
        """The search, if it is loaded and idle by then."""
        assert self._search is not None
        if not self._search.wait(until - self._now()):
            return None
        try:
            search = self._search.value(0)
        except JobFailed as error:
            self._note(f"there is no search: {error}")
            self._load = None
            return None
        if self._thinking is None or self._thinking.wait(until - self._now()):
            return search
        is_hanging = self._now() - self._late_since > HANGING_SECONDS
        if is_hanging and self._searches < MOST_SEARCHES:
            self._note("the search hangs: another one is made")
            self._search = self._thinking = None
            self.start_loading()
        return None

    def _at_once(self, view: View, moves: Sequence[Move]) -> tuple[Move, str]:
        """A legal move without any search, and where it comes from."""
        rng = random.Random(f"move {self._seed} {self._games} {len(view.plies)}")
        try:
            return fallback_move(view, rng, moves), "thumb"
        except Exception as error:
            self._note(f"the rules of thumb failed: {type(error).__name__}: {error}")
            return rng.choice(moves), "any"


def criticality(view: View, moves: Sequence[Move]) -> float:
    """Times the usual thinking that a view deserves, by what is at stake on the board."""
    owners, flag = view.position.owners, view.position.find(view.side, FLAG)
    if flag is not None:
        doors = NEIGHBOURS[flag]
        if any(owners[door] == view.enemy for door in doors):
            return 2.0
        near = {point for door in doors for point in NEIGHBOURS[door]}
        if view.is_own_flag_told or any(owners[point] == view.enemy for point in near):
            return 1.5
    if any(owners[move.target] != NOBODY for move in moves):
        return 1.2
    return 0.9 if view.contacts else 0.6


def mind_the_limit(view: View, moves: Sequence[Move], thought: Thought) -> Move:
    """The move of a thought, or another one where the limit of quiet plies is near.

    The search takes it that whoever makes the last quiet ply loses. A platform may hold that the
    side to move after it does. So with two quiet plies left a contact that costs nothing is made,
    which is safe either way. Where the rules are known to be the other ones, any contact is made
    then, and with one quiet ply left a quiet move wins.
    """
    left = view.rules.steps - view.quiet_plies
    is_other = view.rules.steps_loser == "next"
    if not (left == 2 or (left == 1 and is_other)):
        return Move(*thought.move)
    least = 0.0 if is_other else thought.value - FREE
    fitting = [
        candidate
        for candidate in thought.candidates
        if candidate.move in moves
        and (view.position.owners[candidate.move[1]] != NOBODY) == (left == 2)
        and candidate.value >= least
    ]
    best = max(fitting, key=lambda candidate: candidate.value, default=thought)
    return Move(*best.move)


def _layout_at_hand(draw: int) -> str:
    """A layout without a book, by a seed, mirrored by a coin flip."""
    rng = random.Random(draw)
    layout = parse_layout(rng.choice(LAYOUTS_AT_HAND))
    return format_layout(mirror_layout(layout) if rng.random() < 0.5 else layout)
