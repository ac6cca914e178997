"""The simulated players that think as players of real games: they decide from a `View` alone.

The kernels keep what a player knows of the enemy's pieces in numbers (`known`, `may`), made of
moves and results, and take these from a board on which everything is true. Here nobody knows the
enemy's pieces, so in each message a kind that agrees with it stands in for the enemy's piece.
What the kernels conclude is the same for the true kind, which the tests hold them to.
"""

from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from junqi.board import POINTS, Point
from junqi.kernel_rules import board_of, words_of
from junqi.kernels.bits import advance, random_state, scramble
from junqi.kernels.game import FIRST_MIXING, SEARCH, new_scratch
from junqi.kernels.knowledge import HEADQUARTERS, KNOWN_AT_START, flag_number, learn, tell_flag
from junqi.kernels.moves import allowed_targets
from junqi.kernels.playout import count_moves
from junqi.kernels.policy import policy_move
from junqi.kernels.search import CLIP, MARGIN, QUIET_MOST, WARINESS, search_move
from junqi.kernels.tables import BOARD, STEP_POINTS
from junqi.kernels.worlds import ALL_KINDS, mend_world, mix_world, start_tracking, track
from junqi.layout import LAYOUT_POINTS, format_layout, parse_layout, random_layouts
from junqi.pieces import (
    ATTACKER_WINS,
    BOMB,
    BOTH_REMOVED,
    DEFENDER_WINS,
    EMPTY,
    ENGINEER,
    FLAG,
    MARSHAL,
    MINE,
    NO_CONTACT,
    NOBODY,
    RED,
    Piece,
    contact,
)
from junqi.rules import Move, Rules, targets
from junqi.simulate import Judge, policy_tables_of, search_tables_of
from junqi.view import Told, View

# In own coordinates the own side is always the kernels' side 0, which sits at the bottom.
OWN, ENEMY = 0, 1

# What may stand in for a piece of the enemy; the first that agrees with the message does. An
# engineer is asked first, for the kernels then see by themselves whether it had to be one. A
# marshal comes last: its death is told, so where it is not told somebody else has gone.
_ATTACKERS = (*range(ENGINEER, MARSHAL), BOMB, MARSHAL)
_DEFENDERS = (*range(ENGINEER, MARSHAL), BOMB, MINE, MARSHAL)


class Knowledge:
    """What a view tells of the enemy's pieces, as the kernels keep it."""

    def __init__(self, view: View) -> None:
        self.scratch = new_scratch()
        self.plies: tuple[Told, ...] = ()
        """The messages that have been taken in."""
        self.flag_told = 0
        """1 or 2 for the headquarters in which the enemy's flag is known to be, or 0."""
        self._layout = view.layout
        self._kinds = dict(zip(LAYOUT_POINTS, parse_layout(view.layout).tolist(), strict=True))
        self._board = np.zeros(64, np.uint8)
        self._occupied = [_word(LAYOUT_POINTS), _word(POINTS - 1 - p for p in LAYOUT_POINTS)]
        self._flag: Point | None = None
        self.scratch.known[:] = KNOWN_AT_START
        start_tracking(self.scratch.slots, self.scratch.where, self.scratch.may)
        self.follow(view)

    def is_before(self, view: View) -> bool:
        """Whether a view is of the same game, at the same ply or later."""
        taken = len(self.plies)
        # Before its first ply a game is told by its layout alone.
        return (
            view.layout == self._layout
            and taken <= len(view.plies)
            and (taken == 0 or self.plies[-1] is view.plies[taken - 1])
        )

    def follow(self, view: View) -> None:
        """Take in the messages that are new in a view."""
        for told in view.plies[len(self.plies) :]:
            self._take_in(told, OWN if told.mover == view.side else ENEMY)
        self.plies = view.plies

    def _take_in(self, told: Told, side: int) -> None:
        scratch, board = self.scratch, self._board
        origin, target = np.uint64(told.move.origin), np.uint64(told.move.target)
        is_flag_new = told.flag is not None and self._flag is None
        if told.flag is not None:
            self._flag = told.flag
            board[told.flag] = FLAG
        start = told.attacker if side == OWN else told.defender
        # A message that was believed against the rules may let a side meet its own piece.
        own_kind = EMPTY if start is None else self._kinds.get(start, EMPTY)
        other_kind = _stand_in(told, side, own_kind, is_flag_new)
        board[origin] = own_kind if side == OWN else other_kind
        board[target] = other_kind if side == OWN else own_kind
        mover, waiting = (np.uint64(self._occupied[s]) for s in (side, 1 - side))
        track(
            board,
            scratch.slots,
            scratch.where,
            scratch.may,
            origin,
            target,
            side,
            mover,
            waiting,
        )
        learn(board, scratch.known, origin, target, mover, waiting)
        board[origin] = board[target] = EMPTY
        if is_flag_new:
            assert told.flag is not None
            board[told.flag] = FLAG
            self.flag_told = int(tell_flag(board, scratch.known, ENEMY))
        self._settle(told, side)

    def _settle(self, told: Told, side: int) -> None:
        """Where the pieces of both sides stand after a message."""
        left, reached = 1 << told.move.origin, 1 << told.move.target
        self._occupied[side] &= ~left
        if told.result in (ATTACKER_WINS, BOTH_REMOVED):
            self._occupied[1 - side] &= ~reached
        if told.result in (ATTACKER_WINS, NO_CONTACT):
            self._occupied[side] |= reached


class JudgePlayer:
    """A simulated player at the board; a `player.Decider`."""

    def __init__(self, judge: Judge, seed: int) -> None:
        self.judge = judge
        self._seed = seed
        self._state = np.uint64(random_state(np.uint64(seed)))
        self._knowledge: Knowledge | None = None
        self._world = ALL_KINDS.copy()

    def layout(self, is_first: bool, rules: Rules) -> str:
        """A random layout, the same for the same seed."""
        _warm_up(self.judge)
        return format_layout(random_layouts(1, self._seed)[0])

    def move(self, view: View, seconds_left: float) -> Move:
        """Choose by what the view tells."""
        knowledge = self._followed(view)
        board = board_of(view.position)
        own, mobile, engineers, enemy, _, _ = words_of(view.position)
        left = view.rules.steps - view.quiet_plies
        if self.judge.kind == SEARCH:
            return self._search(knowledge, board, own, mobile, engineers, enemy, left, view.rules)
        self._state = np.uint64(advance(self._state))
        bits = np.uint64(scramble(self._state))
        sets = knowledge.scratch.sets
        empty = BOARD & ~(own | enemy)
        allowed = np.uint64(allowed_targets(enemy, empty))
        total = np.uint64(count_moves(mobile, engineers, allowed, empty, sets))
        number = flag_number(board, OWN)
        tables = policy_tables_of(self.judge.policy)
        return Move(
            *policy_move(
                board,
                knowledge.scratch.known,
                own,
                enemy,
                total,
                sets,
                STEP_POINTS[HEADQUARTERS[OWN, number]],
                view.quiet_plies,
                left,
                bits,
                tables.gain,
                tables.place,
                np.uint64((3 * number + knowledge.flag_told) * 1024),
                tables.limits,
            )
        )

    def _followed(self, view: View) -> Knowledge:
        """What the view tells; of a new game from its beginning."""
        if self._knowledge is None or not self._knowledge.is_before(view):
            self._knowledge = Knowledge(view)
            may = self._knowledge.scratch.may[ENEMY]
            self._world[:] = ALL_KINDS
            mend_world(may, self._world)
            self._state = np.uint64(mix_world(may, self._world, FIRST_MIXING, self._state))
        else:
            self._knowledge.follow(view)
        return self._knowledge

    def _search(
        self,
        knowledge: Knowledge,
        board: NDArray[np.uint8],
        own: np.uint64,
        mobile: np.uint64,
        engineers: np.uint64,
        enemy: np.uint64,
        left: int,
        rules: Rules,
    ) -> Move:
        scratch = knowledge.scratch
        tables = search_tables_of(self.judge.search)
        origin, target, state = search_move(
            board,
            own,
            mobile,
            engineers,
            enemy,
            OWN,
            left,
            rules.steps,
            self.judge.depth,
            self.judge.worlds,
            scratch.slots,
            scratch.where,
            scratch.may,
            self._world,
            tables.worths,
            tables.limits[CLIP],
            tables.limits[MARGIN],
            tables.limits[QUIET_MOST],
            tables.limits[WARINESS],
            self._state,
            scratch.world_board,
            scratch.root_moves,
            scratch.sums,
            scratch.stack,
            scratch.nodes,
        )
        self._state = np.uint64(state)
        return Move(origin, target)


def _stand_in(told: Told, side: int, own_kind: Piece, is_flag_new: bool) -> Piece:
    """A kind of the enemy's piece in a message that agrees with all of it."""
    if side == OWN and told.result == NO_CONTACT:
        return EMPTY
    is_gone = told.result in (BOTH_REMOVED, ATTACKER_WINS if side == OWN else DEFENDER_WINS)
    if is_flag_new and is_gone:
        return MARSHAL
    if side == OWN:
        kinds = (k for k in _DEFENDERS if contact(own_kind, k) == told.result)
    else:
        kinds = (k for k in _ATTACKERS if contact(k, own_kind) == told.result)
    return next(kinds, ENGINEER)


def _word(points: Iterable[Point]) -> int:
    return sum(1 << point for point in points)


@cache
def _warm_up(judge: Judge) -> None:
    """Compile or load the kernels before a clock runs."""
    view = View.start(RED, format_layout(random_layouts(1, 0)[0]))
    player = JudgePlayer(judge, 0)
    for _ in range(2):
        move = player.move(view, 1.0)
        is_contact = view.position.owners[move.target] != NOBODY
        view = view.after(move, BOTH_REMOVED if is_contact else NO_CONTACT)
        reply = next(
            Move(origin, target)
            for origin in view.position.points_of(view.enemy)
            for target in targets(view.position, origin)
            if view.position.owners[target] == NOBODY
        )
        view = view.after(reply, NO_CONTACT)
    tell_flag(board_of(view.position), KNOWN_AT_START.copy(), ENEMY)
