"""The search of the engine: every move is tried in many sampled worlds, the best mean is played.

Worlds are drawn from the belief in batches. All moves meet the same worlds, so that two of them are
compared by their differences, and a move that is clearly worse than the best leaves the race. Of
moves that are as good as equal the one is played that tells the enemy least. With an effort instead
of a time the same view and seed give the same thought, for any number of threads: the look ahead
shares out the worlds, and the play after each move, which builds on what it saw before, the moves.
"""

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from junqi.alarm import Alarm
from junqi.belief import Belief
from junqi.board import parse_point, row_of
from junqi.deduce import SLOTS
from junqi.judge_player import Knowledge
from junqi.kernel_rules import board_of, words_of
from junqi.kernels.deep import Habits
from junqi.kernels.knowledge import IS_ENGINEER, IS_FLAG, STRONGER_THAN
from junqi.kernels.think import (
    IS_STOPPED,
    Desk,
    Judgement,
    Root,
    Worlds,
    lay_out,
    look_ahead,
    new_desk,
    new_worlds,
    play_on,
)
from junqi.kernels.tree import Tree, grown, new_tree
from junqi.kernels.worlds import GONE_POINT
from junqi.layout import MINE_ROWS
from junqi.learned import learned_net
from junqi.pieces import (
    ATTACKER_WINS,
    BOTH_REMOVED,
    DEFENDER_WINS,
    EMPTY,
    NO_CONTACT,
    NOBODY,
    RED,
)
from junqi.rules import Move, parse_move
from junqi.view import View
from junqi.weights import PolicyWeights, policy_tables
from junqi.worlds import WorldSampler

Values = NDArray[np.float32]
Trees: TypeAlias = dict[Move, Tree]

# Worlds of the first batch, of every later one, and of a thought at most.
FIRST_WORLDS = 16
MORE_WORLDS = 64
MOST_WORLDS = 20_000
# Two plies more take so many times longer at these depths, often less. The look ahead goes deeper
# where there is time for so many worlds, and begins with a few.
DEARER = {3: 30, 5: 30}
WORTH_WHILE = 16
FEW_WORLDS = 2
# A move leaves the race when it is worse than the best by so many standard errors. They are
# estimates too: after few worlds it takes more of them, as if so many worlds were missing.
CLEARLY = 3.0
UNSURE = 8
NEVER = 1e9
# Differences below this do not matter any more.
SLIGHT = 0.002
# From here on equal chances hide how soon a game is won, and nothing is kept secret for later.
AS_GOOD_AS_WON = 0.9
# Of the look ahead's whole numbers, so many make one in the logarithm of the odds.
SCALE = 150.0
# Room for plies after a move, to begin with.
SMALL_TREE = 512


@dataclass(frozen=True)
class ThinkWeights:
    """How the search judges; see `kernels.think.Judgement`."""

    policy: PolicyWeights = field(default_factory=PolicyWeights)
    horizon: int = 8
    widen: float = 1.0
    explore: float = 0.15
    depth: int = 3
    """Plies of the look ahead; 0 for none."""
    deepest: int = 7
    """The same at most: two plies more each time that so many worlds were looked at, and time is
    left for some more."""
    enough: int = 64
    is_wary: bool = True
    trust: float = 0.7
    margin: int = 300
    takes_back: bool = True
    remembers: bool = True
    passes: bool = True
    races: bool = True
    """Whether moves that are clearly worse are not tried any more."""
    belief: float = 1.0
    """How far what is likely counts beside what is possible; 0 if all that is possible is alike."""


@dataclass(frozen=True)
class Candidate:
    """What was found out about one move."""

    move: Move
    value: float
    """The chance to win, from 0 to 1."""
    error: float
    """The standard error of the difference to the best move; of the value, for the best."""
    worlds: int
    """In how many it was tried."""


@dataclass(frozen=True)
class Thought:
    """What a search found out."""

    move: Move
    value: float
    """The chance to win, from 0 to 1."""
    candidates: tuple[Candidate, ...]
    """All legal moves, the best first."""
    worlds: int
    seconds: float


class Thinker:
    """Thinks about views, one after the other."""

    def __init__(
        self,
        threads: int | None = None,
        seed: int = 0,
        note: Callable[[str], None] = lambda text: None,
        *,
        effort: int | None = None,
        weights: ThinkWeights | None = None,
    ) -> None:
        """Prepare, and compile or load the kernels.

        Args:
            threads: all cores if None.
            seed: of the worlds.
            note: told what could not be believed.
            effort: worlds for each thought, whatever the time.
        """
        self._threads = threads or os.cpu_count() or 1
        self._seed = seed
        self._note = note
        self._effort = effort
        self._weights = weights or ThinkWeights()
        self._judgement = judgement_of(self._weights)
        self._desks = [new_desk() for _ in range(self._threads)]
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 else None
        self._knowledge: Knowledge | None = None
        self._is_stopped = False
        self._has_values = False
        """Whether a thought under way can be broken off at any moment."""
        # Compiled or loaded now, not when a clock runs.
        self._think(eventful_view(), 0.0, 1)

    def think(self, view: View, seconds: float, hard: float) -> Thought:
        """Look for the best move: for about so long, and not longer than the second number.

        Args:
            view: what is known, at the own turn.

        Raises:
            ValueError: if there is no legal move.
        """
        return self._think(view, min(seconds, hard), self._effort)

    def stop(self) -> None:
        """Let a thought that is under way end now, with the best move so far."""
        self._is_stopped = True
        if self._has_values:
            self._tell_desks()

    def _tell_desks(self) -> None:
        for desk in self._desks:
            desk.nodes[IS_STOPPED] = self._is_stopped

    def _think(self, view: View, limit: float, effort: int | None) -> Thought:
        self._is_stopped = self._has_values = False
        self._tell_desks()
        begin = time.monotonic()
        moves = view.legal_moves()
        if not moves:
            raise ValueError("expected a view with a legal move")
        root = self._root(view)
        belief = Belief.of(view, self._note)
        sampler = WorldSampler(belief.masks, _sharpened(belief.weights, self._weights.belief))
        race = Race(moves, CLEARLY if self._weights.races else NEVER)
        trees = {move: new_tree(SMALL_TREE) for move in moves}
        ply_seed = hash((self._seed, len(view.plies))) & (1 << 62) - 1
        batch = FIRST_WORLDS if effort is None else min(effort, FIRST_WORLDS)
        depth, looked = self._weights.depth, 0
        with Alarm(begin + limit, self.stop) as alarm:
            while True:
                before = time.monotonic()
                kinds = sampler.draw(batch, ply_seed + race.worlds)
                seed = ply_seed + race.worlds
                values = self._values(root, kinds, race.moves, trees, seed, depth)
                if values is None:
                    break
                race.add(values)
                looked += batch
                if not self._has_values:
                    # Some values there must be. From now on there are.
                    self._has_values = True
                    if effort is None:
                        alarm.start()
                # Moves that have left the race make the next worlds cheaper, never dearer.
                now = time.monotonic()
                fitting = (limit - (now - begin)) / (now - before) * batch
                if effort is not None:
                    fitting = effort - race.worlds
                batch = min(MORE_WORLDS, int(fitting))
                if effort is None and batch < MORE_WORLDS:
                    batch = (batch + 1) // 2  # worlds differ, and the time is a limit
                if self._goes_deeper(depth, looked, race, fitting if effort is None else None):
                    depth, looked, batch = depth + 2, 0, min(batch, FEW_WORLDS)
                elif race.is_decided() or race.worlds >= MOST_WORLDS:
                    break
                if batch < 1 or self._is_stopped:
                    break
        tells = {move: _tells(view, move) for move in race.moves}
        return race.thought(time.monotonic() - begin, tells)

    def _goes_deeper(self, depth: int, looked: int, race: "Race", fitting: float | None) -> bool:
        """Whether the look ahead goes on with two plies more.

        Args:
            looked: how many worlds were looked at with this depth.
            fitting: how many more there is time for, with this depth; None if time plays no part.
        """
        if depth >= self._weights.deepest or len(race.moves) == 1:
            return False
        if looked < self._weights.enough and not race.is_decided():
            return False
        if fitting is None:
            return depth == self._weights.depth
        return fitting >= WORTH_WHILE * DEARER.get(depth, MOST_WORLDS)

    def _root(self, view: View) -> Root:
        """The view as the kernels take it."""
        if self._knowledge is None or not self._knowledge.is_before(view):
            self._knowledge = Knowledge(view)
        else:
            self._knowledge.follow(view)
        known = self._knowledge.scratch.known.copy()
        for man in view.men[:SLOTS]:
            # What the enemy knows of it depends on what it has beaten, and so on the world.
            if man.point is not None and known[man.point] & STRONGER_THAN not in (
                IS_ENGINEER,
                IS_FLAG,
            ):
                known[man.point] &= ~np.uint8(STRONGER_THAN)
        own, mobile, engineers, enemy, _, _ = words_of(view.position)
        where = np.full((2, SLOTS), GONE_POINT, np.uint8)
        board = board_of(view.position)
        for slot, man in enumerate(view.men[SLOTS:]):
            if man.point is not None:
                where[1, slot] = man.point
                board[man.point] = EMPTY
        return Root(
            board,
            known,
            np.array([own, mobile, engineers, enemy], np.uint64),
            where,
            _beaten(view),
            view.quiet_plies,
            view.rules.steps,
        )

    def _values(
        self,
        root: Root,
        kinds: NDArray[np.int8],
        moves: list[Move],
        trees: Trees,
        seed: int,
        depth: int,
    ) -> Values | None:
        """What the moves are worth in the worlds, ``float32[worlds, moves]``; None if stopped."""
        count, trust = len(kinds), self._weights.trust
        worlds = new_worlds(count)
        lay_out(root, kinds, worlds)
        pairs = np.array(moves, np.uint8).reshape(-1, 2)
        seen = np.zeros((count, len(moves)), np.float32)
        played = np.zeros((len(moves), count), np.float32)
        share = -(-count // self._threads)

        def look(number: int, desk: Desk) -> bool:
            part = slice(number * share, (number + 1) * share)
            some = Worlds(worlds.boards[part], worlds.known[part], worlds.words[part])
            return look_ahead(root, self._judgement, depth, some, pairs, desk, seen[part])

        def play(number: int, desk: Desk) -> bool:
            for index in range(number, len(moves), self._threads):
                if desk.nodes[IS_STOPPED]:
                    return False
                move = moves[index]
                tree = trees[move] = grown(trees[move], int(trees[move].used[0]) + 2 * count)
                origin, target = np.uint64(move.origin), np.uint64(move.target)
                play_on(
                    root, self._judgement, worlds, origin, target, seed, tree, desk, played[index]
                )
            return True

        works = [look] * (trust > 0 and depth > 1) + [play] * (trust < 1)
        for work in works:
            numbers = range(self._threads)
            run = map if self._pool is None else self._pool.map
            if not all(list(run(work, numbers, self._desks))):
                return None
        return trust * seen + (1 - trust) * played.T


class Race:
    """The moves that are still in the race, and what they were worth in each world so far."""

    def __init__(self, moves: list[Move], clearly: float = CLEARLY) -> None:
        """Begin with all moves.

        Args:
            clearly: by how many standard errors a move is worse that leaves.
        """
        self.moves = moves
        self._clearly = clearly
        self.worlds = 0
        self._left: list[Candidate] = []
        """Moves that have left, with what they were behind the best then for their values."""
        self._values = np.empty((0, len(moves)), np.float32)

    def add(self, values: Values) -> None:
        """Take in the values of more worlds; moves that are clearly worse leave."""
        self._values = np.concatenate([self._values, values])
        self.worlds = len(self._values)
        ranked = self._ranked()
        best = ranked[0].value
        clearly = self._clearly * (1 + UNSURE / self.worlds)
        stays = [c for c in ranked if best - c.value <= clearly * c.error or c is ranked[0]]
        if len(stays) < len(ranked):
            kept = {candidate.move for candidate in stays}
            # What was lost to the best in the same worlds tells more than what was reached in them.
            self._left += [replace(c, value=best - c.value) for c in ranked if c.move not in kept]
            columns = [i for i, move in enumerate(self.moves) if move in kept]
            self.moves = [self.moves[i] for i in columns]
            self._values = self._values[:, columns]

    def is_decided(self) -> bool:
        """Whether more worlds could not change much."""
        ranked = self._ranked()
        return all(c.error < SLIGHT for c in ranked[1:])

    def thought(self, seconds: float, tells: Mapping[Move, int]) -> Thought:
        """The outcome of the race.

        Args:
            tells: how much each move in the race tells the enemy; it decides between equals.
        """
        ranked = self._ranked()
        least = ranked[0].value - (SLIGHT if ranked[0].value < AS_GOOD_AS_WON else 0.0)
        equals = [c for c in ranked if c.value >= least]
        best = min(equals, key=lambda candidate: tells[candidate.move])
        ranked.remove(best)
        out = [replace(c, value=max(0.0, best.value - c.value)) for c in self._left]
        out.sort(key=lambda candidate: -candidate.value)
        return Thought(best.move, best.value, (best, *ranked, *out), self.worlds, seconds)

    def _ranked(self) -> list[Candidate]:
        """The moves in the race, best first."""
        means = self._values.mean(axis=0, dtype=np.float64)
        best = int(np.argmax(means))
        against = self._values - self._values[:, best : best + 1]
        against[:, best] = self._values[:, best]
        errors = against.std(axis=0, dtype=np.float64) / np.sqrt(self.worlds)
        order = np.argsort(-means, kind="stable")
        return [
            Candidate(self.moves[i], float(means[i]), float(errors[i]), self.worlds) for i in order
        ]


def eventful_view() -> View:
    """A view in which all has happened that takes a kernel: a contact, and a flag that was told."""
    start = View.start(RED, "abccddeeffggghhhiiijjkklj")
    marshals_meet = start.after(parse_move("G0F0"), BOTH_REMOVED, parse_point("A1"))
    return marshals_meet.after(parse_move("E0F0"), NO_CONTACT)


def judgement_of(weights: ThinkWeights) -> Judgement:
    """The weights as the kernels take them."""
    policy = policy_tables(weights.policy)
    return Judgement(
        policy.gain,
        policy.place,
        policy.limits,
        learned_net(),
        weights.horizon,
        weights.widen,
        weights.explore,
        Habits(weights.is_wary, weights.takes_back, weights.remembers, weights.passes),
        weights.trust,
        SCALE,
        weights.margin,
    )


def _sharpened(weights: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """Weights to a power; what has none stays impossible."""
    return weights if power == 1.0 else np.where(weights > 0, weights**power, 0.0)


def _tells(view: View, move: Move) -> int:
    """How much a move tells: a contact most, then the first move of a piece that might be a mine.

    What never moved may be a mine or the flag; who sees a piece move knows better. In front of the
    last two rows nothing is told by it.
    """
    if view.position.owners[move.target] != NOBODY:
        return 2
    man = view.man_at(move.origin)
    return int(man is not None and not man.has_moved and row_of(man.start) in MINE_ROWS)


def _beaten(view: View) -> NDArray[np.uint8]:
    """Which living own pieces have beaten which enemy slots."""
    own = {man.start: man.point for man in view.men[:SLOTS]}
    slots = {man.start: slot for slot, man in enumerate(view.men[SLOTS:])}
    rows = []
    for told in view.plies:
        if told.result == NO_CONTACT or told.defender is None:
            continue
        if told.mover == view.side and told.result == ATTACKER_WINS:
            winner, loser = told.attacker, told.defender
        elif told.mover != view.side and told.result == DEFENDER_WINS:
            winner, loser = told.defender, told.attacker
        else:
            continue
        point = own.get(winner)
        if point is not None and loser in slots:
            rows.append((point, slots[loser]))
    return np.array(rows, np.uint8).reshape(-1, 2)
