"""What the tests of the kernels share: a game followed ply by ply with all that is kept of it.

A `Follower` does in Python what `kernels.game.game` does, one ply at a time, so that a test can
look at what each player knows, and change what it must not know.
"""

from collections.abc import Iterator
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from junqi.kernels.bits import advance, below, random_state, scramble
from junqi.kernels.game import FIRST_MIXING, POLICY, RANDOM, new_scratch
from junqi.kernels.knowledge import HEADQUARTERS, KNOWN_AT_START, flag_number, learn, tell_flag
from junqi.kernels.moves import allowed_targets
from junqi.kernels.playout import count_moves, pick_move, place, settle
from junqi.kernels.policy import policy_move
from junqi.kernels.search import search_move
from junqi.kernels.tables import BOARD, STEP_POINTS
from junqi.kernels.worlds import ALL_KINDS, mend_world, mix_world, start_tracking, track
from junqi.layout import Layout
from junqi.pieces import EMPTY, FLAG
from junqi.rules import Move, Rules
from junqi.simulate import Judge, play_game
from junqi.weights import SearchTables, policy_tables, search_tables

_policy_tables, _search_tables = cache(policy_tables), cache(search_tables)


class Follower:
    """A game and what each side knows of the other's pieces."""

    def __init__(self, layouts: tuple[Layout, Layout], steps: int = Rules().steps) -> None:
        self.layouts = layouts
        self.steps = steps
        self.scratch = new_scratch()
        self.board = self.scratch.board
        self.known = self.scratch.known
        self.where = self.scratch.where
        self.may = self.scratch.may
        self.known[:] = KNOWN_AT_START
        start_tracking(self.scratch.slots, self.where, self.may)
        self.sets = [_words(place(layouts[side], side, self.board)) for side in (0, 1)]
        self.flags = [flag_number(self.board, side) for side in (0, 1)]
        self.told = [0, 0]
        """What each side was told of the other's flag: 1 or 2 for its headquarters, or 0."""
        self.side = 0
        self.quiet = 0
        self.is_over = False

    def play(self, move: Move) -> None:
        """Make a legal move, and let both sides know what they are told."""
        side, origin, target = self.side, np.uint64(move.origin), np.uint64(move.target)
        own, enemy = self.sets[side], self.sets[1 - side]
        defender = self.board[target]
        if defender != FLAG:
            slots = self.scratch.slots
            track(self.board, slots, self.where, self.may, origin, target, side, own[0], enemy[0])
        losses = learn(self.board, self.known, origin, target, own[0], enemy[0])
        after = _words(settle(self.board, origin, target, *own, *enemy))
        self.sets[side], self.sets[1 - side] = after[:3], after[3:]
        self.side = 1 - side
        self.quiet = self.quiet + 1 if defender == EMPTY else 0
        self.is_over = bool(defender == FLAG)
        if not self.is_over:
            for loser, is_lost in zip((side, 1 - side), losses, strict=True):
                if is_lost:
                    self.told[1 - loser] = tell_flag(self.board, self.known, loser)

    def truth(self, side: int) -> list[int]:
        """The kinds of a side's slots."""
        return self.layouts[side].tolist()

    def start_worlds(self, state: np.uint64) -> np.uint64:
        """Draw the first world of each side, as a game with a searching player begins."""
        for side in (0, 1):
            world = self.scratch.worlds[side]
            world[:] = ALL_KINDS
            mend_world(self.may[1 - side], world)
            state = np.uint64(mix_world(self.may[1 - side], world, FIRST_MIXING, state))
        return state

    def choose(self, judge: Judge, state: np.uint64) -> tuple[Move, np.uint64]:
        """The move of the side to move, played by a judge, and the generator's next state."""
        if judge.kind in (RANDOM, POLICY):
            state = np.uint64(advance(state))
            bits = np.uint64(scramble(state))
            return (
                self._random(bits) if judge.kind == RANDOM else self._policy(judge, bits)
            ), state
        return self._search(judge, np.uint64(advance(state)))

    def _count(self) -> np.uint64:
        own, mobile, engineers = self.sets[self.side]
        enemy = self.sets[1 - self.side][0]
        empty = BOARD & ~(own | enemy)
        allowed = np.uint64(allowed_targets(enemy, empty))
        return np.uint64(count_moves(mobile, engineers, allowed, empty, self.scratch.sets))

    def _random(self, bits: np.uint64) -> Move:
        lot = np.uint64(below(bits, self._count()))
        return Move(*pick_move(lot, self.sets[self.side][0], self.scratch.sets))

    def _policy(self, judge: Judge, bits: np.uint64) -> Move:
        side, number = self.side, self.flags[self.side]
        tables = _policy_tables(judge.policy)
        return Move(
            *policy_move(
                self.board,
                self.known,
                self.sets[side][0],
                self.sets[1 - side][0],
                self._count(),
                self.scratch.sets,
                STEP_POINTS[HEADQUARTERS[side, number]],
                self.quiet,
                self.steps - self.quiet,
                bits,
                tables.gain,
                tables.place,
                np.uint64((6 * side + 3 * number + self.told[side]) * 1024),
                tables.limits,
            )
        )

    def _search(self, judge: Judge, state: np.uint64) -> tuple[Move, np.uint64]:
        side, scratch = self.side, self.scratch
        own, mobile, engineers = self.sets[side]
        tables = _search_tables(judge.search)
        origin, target, state = by_name(
            search_move,
            board=self.board,
            own=own,
            mobile=mobile,
            engineers=engineers,
            enemy=self.sets[1 - side][0],
            side=side,
            left=self.steps - self.quiet,
            steps=self.steps,
            depth=judge.depth,
            worlds=judge.worlds,
            slots=scratch.slots,
            where=self.where,
            may=self.may,
            world=scratch.worlds[side],
            worths=tables.worths,
            **limits_of(tables),
            state=state,
            world_board=scratch.world_board,
            root_moves=scratch.root_moves,
            sums=scratch.sums,
            stack=scratch.stack,
            nodes=scratch.nodes,
        )
        return Move(origin, target), np.uint64(state)


def follow(
    layouts: tuple[Layout, Layout], seed: int, judge: Judge, second_judge: Judge | None = None
) -> Iterator[tuple[Follower, Move]]:
    """A simulated game as it unfolds: before each ply the follower and the move that comes."""
    follower = Follower(layouts)
    for move in play_game(*layouts, seed, judge, second_judge)[0]:
        yield follower, move
        follower.play(move)


def by_name(kernel: Any, **arguments: Any) -> Any:
    """Call a kernel with many arguments by their names, which compiled functions do not take."""
    return kernel(*(arguments[name] for name in signature(kernel.py_func).parameters))


def limits_of(tables: SearchTables) -> dict[str, Any]:
    """The single numbers among a searching player's tables, by the names that the kernels use."""
    names = ("clip", "margin", "quiet_most", "wariness")
    return dict(zip(names, tables.limits, strict=True))


def first_state(seed: int) -> np.uint64:
    """The generator's state at the start of a game."""
    return np.uint64(random_state(np.uint64(seed)))


def _words(numbers: tuple[int, ...]) -> list[np.uint64]:
    """Sets as the kernels take them; they give them back as Python's own integers."""
    return [np.uint64(number) for number in numbers]
