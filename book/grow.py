"""Growing a book's opening moves, best first: where opponents lead, and where it is uncertain.

Games are simulated in which we follow the book against opponents of several kinds. A turn at which
the book has no answer, or an uncertain one, is a leaf. The leaves with the highest product of how
often they were reached and how uncertain they are get the next thoughts, each in far more worlds
than a quick game allows. A thought goes to the widest key that may serve, and to a narrower one
where the widest has turned out to be too wide; see docs/openings.md.

While thoughts run in threads the games of the next round are simulated, on the book as it was when
the thoughts began. So what is found depends on the book, the settings and the seed alone.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue
from random import Random

from book.advice import MOST_LOSS, Advice, advise
from book.grow_games import (
    DEFAULT_OPPONENTS,
    Opponents,
    Pairing,
    draw_enemy_layout,
    play_out,
)
from book.letters import mirror_letters
from book.opening_rows import Judged, absorb, is_by_hand, thoughts_in, with_result
from book.openings import EXACT, NEAR, WIDE, Spot, spot_of
from book.rows import BookLayout, Opening
from junqi.pieces import BLACK, RED
from junqi.race import Thought
from junqi.rules import Move, format_move
from junqi.simulate import parse_judge
from junqi.thinker import Thinker
from junqi.view import View

# Thoughts of a round, and games simulated meanwhile; no matter how many threads there are.
THOUGHTS_A_ROUND = 32
GAMES_A_ROUND = 40
# One game in so many is played to its end, to have a result.
FINISHED = 4
# How uncertain a turn without any answer is: between its best and its tenth best move there are
# some hundredths.
UNKNOWN = 0.05
# A class of views is thought about so often before a narrower key may take its place, and so often
# at most.
CLASS_THOUGHTS = 2
MOST_CLASS_THOUGHTS = 8
# An answer that is as certain as this is left alone.
CERTAIN = 0.003
# Leaves that are remembered.
MOST_LEAVES = 5000
# So many rounds without any leaf: there is nothing left to do.
IDLE_ROUNDS = 8
# Coverage is told of the last so many games.
COVERAGE_GAMES = 512

Place = tuple[str, str]
"""A position of the book: layout and key."""


@dataclass(frozen=True)
class GrowSettings:
    """How to grow."""

    seed: int
    worlds: int = 500
    """Of each thought."""
    plies: int = 20
    """Turns before this ply of both sides are grown."""
    loss: float = MOST_LOSS
    """Up to which a stored move counts as an answer, as the engine has it."""
    opponents: tuple[str, ...] = DEFAULT_OPPONENTS
    nodes: int | None = None
    """Thoughts in all; the same result for any number of threads."""
    minutes: float | None = None
    threads: int = 1


@dataclass
class Leaf:
    """A turn that waits for a thought."""

    count: int
    """How often it was reached since it was last thought about."""
    uncertainty: float
    view: View

    @property
    def priority(self) -> float:
        """What is to be gained here."""
        return self.count * self.uncertainty


@dataclass
class Growth:
    """The book's opening moves while they grow."""

    settings: GrowSettings
    layouts: Sequence[BookLayout]
    """The own ones, met by their weights."""
    enemies: Sequence[str]
    """Layouts of opponents."""
    run: str
    first_game: int = 0
    """Games of runs before this one: no game is simulated twice."""
    places: dict[Place, list[Opening]] = field(default_factory=dict)
    changed: set[Place] = field(default_factory=set)
    """Positions that differ from what was last saved."""
    leaves: dict[Place, Leaf] = field(default_factory=dict)
    thoughts: int = 0
    games: int = 0
    _done: set[tuple[Place, str]] = field(default_factory=set)
    """Views that a position was thought about in, by their exact keys."""
    _recent: list[list[bool]] = field(default_factory=list)
    """For each of the last games, whether its own turns were answered by the book."""

    def __post_init__(self) -> None:
        """Seat the opponents."""
        self._opponents = Opponents(self.settings.opponents, self.settings.seed)
        self._policy = parse_judge("policy")
        turns = {"both": (RED, BLACK), "first": (RED,), "second": (BLACK,)}
        # A layout that is not in the mixture and was asked for is met as often as the lightest.
        least = min((row.weight for row in self.layouts if row.weight > 0), default=1.0)
        self._seats = [
            (row.layout, side, (row.weight or least) / len(turns[row.moves]))
            for row in self.layouts
            for side in turns[row.moves]
        ]

    def load(self, rows: Iterable[Opening]) -> None:
        """Begin with what a book has."""
        for row in rows:
            self.places.setdefault((row.layout, row.key), []).append(row)

    def coverage(self) -> dict[int, float]:
        """Share of the games in which the n-th own move was answered, from the first on.

        A game that left the book counts as unanswered from there on.
        """
        if not self._recent:
            return {}
        turns = (self.settings.plies + 1) // 2
        answered = Counter(
            number for game in self._recent for number, is_known in enumerate(game, 1) if is_known
        )
        return {number: answered[number] / len(self._recent) for number in range(1, turns + 1)}

    def grow(self, tell: Callable[["Growth"], None] = lambda growth: None) -> None:
        """Grow until the thoughts or the minutes of the settings are used up.

        Args:
            tell: called after each round. What it raises ends the growing; what was found until
                then stands.
        """
        settings, begin, idle = self.settings, time.monotonic(), 0
        with thinking(settings) as think:
            self._simulate(GAMES_A_ROUND)
            while idle < IDLE_ROUNDS:
                room = THOUGHTS_A_ROUND
                if settings.nodes is not None:
                    room = min(room, settings.nodes - self.thoughts)
                is_late = (
                    settings.minutes is not None
                    and time.monotonic() - begin > 60 * settings.minutes
                )
                if room <= 0 or is_late:
                    return
                chosen = self._choose(room)
                idle = 0 if chosen else idle + 1
                answers = [(place, leaf, think(leaf.view)) for place, leaf in chosen]
                self._simulate(GAMES_A_ROUND)
                for place, leaf, answer in answers:
                    self._take(place, leaf, answer.result())
                tell(self)

    def _choose(self, most: int) -> list[tuple[Place, Leaf]]:
        """The leaves that are thought about next; they begin to count anew."""
        ranked = sorted(self.leaves.items(), key=lambda item: (-item[1].priority, item[0]))
        self.leaves = dict(ranked[most:MOST_LEAVES])
        return ranked[:most]

    def _take(self, place: Place, leaf: Leaf, thought: Thought) -> None:
        """Write down what was thought."""
        spot = spot_of(leaf.view)
        judged = [
            Judged(format_move(spot.move(Move(*c.move))), c.value, c.error, c.worlds)
            for c in thought.candidates
        ]
        layout, key = place
        blank = Opening(layout, key, "", ply=len(leaf.view.plies), run=self.run)
        rows = self.places.get(place, [])
        self.places[place] = absorb(
            rows, blank, judged, self.settings.worlds, self._habit(spot, key)
        )
        self.changed.add(place)
        self._done.add((place, spot.keys[EXACT]))
        # Games that were simulated meanwhile did not know the answer.
        self.leaves.pop(place, None)
        self.thoughts += 1

    def _habit(self, spot: Spot, key: str) -> str | None:
        """The move of the widest class that a position belongs to."""
        rows = self.places.get((spot.layout, spot.keys[WIDE]), ())
        if key == spot.keys[WIDE] or not rows:
            return None
        return max(rows, key=lambda row: row.weight).move

    def _simulate(self, games: int) -> None:
        for _ in range(games):
            self._play(self.first_game + self.games)
            self.games += 1
        del self._recent[:-COVERAGE_GAMES]

    def _play(self, number: int) -> None:
        """Simulate one game, and note where it left the book."""
        lots = Random(f"grow {self.settings.seed} {number}")
        layout, side, _ = lots.choices(self._seats, [weight for *_, weight in self._seats])[0]
        letters = mirror_letters(layout) if lots.random() < 0.5 else layout
        enemy = draw_enemy_layout(self.enemies, lots)
        pairing = Pairing(letters, side, enemy, self._opponents.draw(lots), self._policy)
        is_finished = number % FINISHED == 0
        played: list[tuple[Place, str]] = []
        answered: list[bool] = []

        def decide(view: View) -> Move | None:
            if len(view.plies) < self.settings.plies:
                spot = spot_of(view)
                advice = advise(spot, self._lookup, view.legal_moves(), self.settings.loss, lots)
                self._note(spot, advice)
                answered.append(advice is not None)
                if advice is not None:
                    played.append(((layout, advice.row.key), advice.row.move))
                    return advice.move
            return None

        result = play_out(pairing, decide, is_finished, lots.getrandbits(62))
        self._recent.append(answered)
        if result is not None:
            for place, move in played:
                self.places[place] = with_result(self.places[place], move, result)
                self.changed.add(place)

    def _lookup(self, layout: str, key: str) -> Sequence[Opening]:
        return self.places.get((layout, key), ())

    def _note(self, spot: Spot, advice: Advice | None) -> None:
        """Count a turn among the leaves, if a thought about it is of use."""
        uncertainty = UNKNOWN if advice is None else advice.row.error or 0.0
        if uncertainty <= CERTAIN:
            return
        key = self._key_to_grow(spot, advice)
        if key is None:
            return
        place = (spot.layout, key)
        leaf = self.leaves.get(place)
        if leaf is None:
            self.leaves[place] = Leaf(1, uncertainty, spot.view)
        else:
            leaf.count += 1
            leaf.uncertainty = uncertainty

    def _key_to_grow(self, spot: Spot, advice: Advice | None) -> str | None:
        """The widest key of a turn that another thought would serve; None if there is none."""
        exact = spot.keys[EXACT]
        # Before anything has happened there are no other views to put into a class with this one.
        levels = (EXACT,) if not spot.view.plies else (WIDE, NEAR, EXACT)
        for level in levels:
            key = spot.keys[level]
            place = (spot.layout, key)
            rows = self.places.get(place, ())
            if any(map(is_by_hand, rows)):
                return None
            if (place, exact) in self._done:
                continue
            thoughts = max(map(thoughts_in, rows), default=0)
            if level == EXACT:
                return key if thoughts == 0 else None
            # A class that has an answer is made surer of it; one without is given up sooner.
            is_in_use = advice is not None and advice.row.key == key
            if thoughts < (MOST_CLASS_THOUGHTS if is_in_use else CLASS_THOUGHTS):
                return key
        return None


@contextmanager
def thinking(settings: GrowSettings) -> Iterator[Callable[[View], "Future[Thought]"]]:
    """Give a function that has a view thought about, by one of the threads."""
    idle: SimpleQueue[Thinker] = SimpleQueue()
    for _ in range(settings.threads):
        idle.put(Thinker(1, settings.seed, effort=settings.worlds))

    def think(view: View) -> Thought:
        thinker = idle.get()
        try:
            return thinker.think(view, float("inf"), float("inf"))
        finally:
            idle.put(thinker)

    pool = ThreadPoolExecutor(settings.threads)
    try:
        yield lambda view: pool.submit(think, view)
    finally:
        pool.shutdown(cancel_futures=True)
