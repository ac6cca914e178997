"""The search of the engine: every move is tried in many sampled worlds, the best mean is played.

Worlds are drawn from the belief, and all moves meet the same ones (`race.py`). The first look at a
world goes a few plies ahead; the time that is left goes to looks into some of the same worlds that
go further (`agenda.py`). Of moves that are as good as equal the one is played that tells the enemy
least. With an effort instead of a time the same view and seed give the same thought, for any number
of threads: the look ahead shares out the worlds, and the play after each move, which builds on what
it saw before, the moves.
"""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from junqi.agenda import Agenda, Step
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
from junqi.kernels.value import without_press
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
from junqi.race import CLEARLY, DOUBT, NEVER, Race, Thought, Values
from junqi.rules import Move, parse_move
from junqi.view import View
from junqi.weights import PolicyWeights, policy_tables
from junqi.worlds import WorldSampler

Trees: TypeAlias = dict[Move, Tree]

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
    """The same at most: two plies more for some of the worlds, while there is time."""
    enough: int = 64
    """With a fixed number of worlds, from so many on, some of them are looked at with two plies
    more."""
    is_wary: bool = True
    trust: float = 0.7
    takes_back: bool = True
    remembers: bool = True
    passes: bool = True
    presses: bool = True
    """Whether it counts who has to make the next contact."""
    races: bool = True
    """Whether moves that are clearly worse are not tried any more."""
    belief: float = 1.0
    """How far what is likely counts beside what is possible; 0 if all that is possible is alike."""


@dataclass(eq=False)
class Study:
    """What a thought has seen so far."""

    root: Root
    sampler: WorldSampler
    seed: int
    trees: Trees
    kinds: NDArray[np.int8]
    """``int8[worlds, 25]``, the worlds drawn."""
    seen: list[Values]
    """``float32[worlds, moves]`` for each level: what the look ahead said; of moves that had left
    the race before, 0."""

    def keep(self, level: int, columns: NDArray[np.int64], looks: Values) -> None:
        """Remember what was said of the moves in some columns."""
        rows = np.zeros((len(looks), len(self.trees)), np.float32)
        rows[:, columns] = looks
        if level == len(self.seen):
            self.seen.append(rows)
        else:
            self.seen[level] = np.concatenate([self.seen[level], rows])


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
        belief = Belief.of(view, self._note)
        sampler = WorldSampler(belief.masks, _sharpened(belief.weights, self._weights.belief))
        ply_seed = hash((self._seed, len(view.plies))) & (1 << 62) - 1
        trees = {move: new_tree(SMALL_TREE) for move in moves}
        no_worlds = np.zeros((0, SLOTS), np.int8)
        study = Study(self._root(view), sampler, ply_seed, trees, no_worlds, [])
        weights = self._weights
        levels = 1 + max(0, weights.deepest - weights.depth) // 2 if self._looks() else 1
        agenda = Agenda(levels, self._threads, limit, effort, weights.enough)
        clearly = CLEARLY if weights.races else NEVER
        race = Race(moves, clearly, DOUBT if agenda.goes_deeper() else 0.0)
        with Alarm(begin + limit, self.stop) as alarm:
            while (step := agenda.next(race)) is not None:
                before = time.monotonic()
                values = self._take(step, study, race)
                if values is None:
                    break
                race.add(values, step.level)
                agenda.took(step, time.monotonic() - before)
                if not self._has_values:
                    # Some values there must be. From now on there are.
                    self._has_values = True
                    if effort is None:
                        alarm.start()
                if self._is_stopped:
                    break
        tells = {move: _tells(view, move) for move in race.moves}
        return race.thought(time.monotonic() - begin, tells)

    def _looks(self) -> bool:
        """Whether there is a look ahead at all."""
        return self._weights.trust > 0 and self._weights.depth > 1

    def _take(self, step: Step, study: Study, race: Race) -> Values | None:
        """What a step says of the moves in the race, for `Race.add`; None if stopped."""
        trust, depth = self._weights.trust, self._weights.depth + 2 * step.level
        drawn = len(study.kinds)
        if step.level > 0:
            first = race.counts[step.level] if step.level < len(race.counts) else 0
            rows = slice(first, first + step.worlds)
            worlds = _laid_out(study.root, study.kinds[rows])
            looks = self._look(study.root, worlds, race.moves, depth)
            if looks is None:
                return None
            study.keep(step.level, race.columns, looks)
            return trust * (looks - study.seen[step.level - 1][rows, race.columns])
        kinds = study.sampler.draw(step.worlds, study.seed + drawn)
        worlds = _laid_out(study.root, kinds)
        values = np.zeros((step.worlds, len(race.moves)), np.float32)
        if self._looks():
            looks = self._look(study.root, worlds, race.moves, depth)
            if looks is None:
                return None
            study.keep(0, race.columns, looks)
            values += trust * looks
        if trust < 1:
            played = self._play(study, worlds, race.moves, study.seed + drawn)
            if played is None:
                return None
            values += (1 - trust) * played
        study.kinds = np.concatenate([study.kinds, kinds])
        return values

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

    def _look(self, root: Root, worlds: Worlds, moves: list[Move], depth: int) -> Values | None:
        """What the look ahead says, ``float32[worlds, moves]``; None if stopped."""
        count = len(worlds.boards)
        pairs = np.array(moves, np.uint8).reshape(-1, 2)
        looks = np.zeros((count, len(moves)), np.float32)
        share = -(-count // self._threads)

        def look(number: int, desk: Desk) -> bool:
            part = slice(number * share, (number + 1) * share)
            some = Worlds(worlds.boards[part], worlds.known[part], worlds.words[part])
            return look_ahead(root, self._judgement, depth, some, pairs, desk, looks[part])

        return looks if self._run(look) else None

    def _play(self, study: Study, worlds: Worlds, moves: list[Move], seed: int) -> Values | None:
        """What tree and policy make of the moves, ``float32[worlds, moves]``; None if stopped."""
        count, trees = len(worlds.boards), study.trees
        played = np.zeros((len(moves), count), np.float32)

        def play(number: int, desk: Desk) -> bool:
            for index in range(number, len(moves), self._threads):
                if desk.nodes[IS_STOPPED]:
                    return False
                move = moves[index]
                tree = trees[move] = grown(trees[move], int(trees[move].used[0]) + 2 * count)
                origin, target = np.uint64(move.origin), np.uint64(move.target)
                play_on(
                    study.root,
                    self._judgement,
                    worlds,
                    origin,
                    target,
                    seed,
                    tree,
                    desk,
                    played[index],
                )
            return True

        return played.T if self._run(play) else None

    def _run(self, work: Callable[[int, Desk], bool]) -> bool:
        """Share work out over the threads; returns whether all of it was done."""
        run = map if self._pool is None else self._pool.map
        return all(list(run(work, range(self._threads), self._desks)))


def _laid_out(root: Root, kinds: NDArray[np.int8]) -> Worlds:
    worlds = new_worlds(len(kinds))
    lay_out(root, kinds, worlds)
    return worlds


def eventful_view() -> View:
    """A view in which all has happened that takes a kernel: a contact, and a flag that was told."""
    start = View.start(RED, "abccddeeffggghhhiiijjkklj")
    marshals_meet = start.after(parse_move("G0F0"), BOTH_REMOVED, parse_point("A1"))
    return marshals_meet.after(parse_move("E0F0"), NO_CONTACT)


def judgement_of(weights: ThinkWeights) -> Judgement:
    """The weights as the kernels take them."""
    policy = policy_tables(weights.policy)
    net = learned_net()
    return Judgement(
        policy.gain,
        policy.place,
        policy.limits,
        net if weights.presses else without_press(net),
        weights.horizon,
        weights.widen,
        weights.explore,
        Habits(weights.is_wary, weights.takes_back, weights.remembers, weights.passes),
        weights.trust,
        SCALE,
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
