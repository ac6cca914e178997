"""A simulated game between any two players, each choosing by what it may know."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from junqi.kernels.bits import U0, advance, below, random_state, scramble
from junqi.kernels.jit import njit
from junqi.kernels.knowledge import (
    HEADQUARTERS,
    KNOWN_AT_START,
    flag_number,
    learn,
    tell_flag,
)
from junqi.kernels.moves import MOST_MOVES, allowed_targets
from junqi.kernels.playout import (
    STEPS,
    U_FLAG,
    after_flag,
    by_steps,
    count_moves,
    pick_move,
    place,
    settle,
    without_move,
)
from junqi.kernels.policy import policy_move
from junqi.kernels.search import (
    CLIP,
    MARGIN,
    QUIET_MOST,
    WARINESS,
    Stack,
    new_stack,
    search_move,
)
from junqi.kernels.tables import BOARD, STEP_POINTS
from junqi.kernels.worlds import ALL_KINDS, SLOTS, mend_world, mix_world, start_tracking, track

RANDOM = 0
POLICY = 1
SEARCH = 2

# Exchanges that make the first world of a game a random one.
FIRST_MIXING = 400


class Players(NamedTuple):
    """Two players, the first of which moves first."""

    kinds: NDArray[np.int64]
    """``int64[2]``: `RANDOM`, `POLICY` or `SEARCH`."""
    depths: NDArray[np.int64]
    """``int64[2]``: plies a searching player looks ahead."""
    worlds: NDArray[np.int64]
    """``int64[2]``: worlds it samples for each move."""
    gains: NDArray[np.int32]
    """``int32[2, ...]``, with `places` and `limits` each player's `weights.PolicyTables`."""
    places: NDArray[np.int32]
    limits: NDArray[np.int32]
    worths: NDArray[np.int32]
    """``int32[2, ...]``, with `search_limits` each player's `weights.SearchTables`."""
    search_limits: NDArray[np.int32]


class Scratch(NamedTuple):
    """Memory that a game works in; one for each thread."""

    board: NDArray[np.uint8]
    known: NDArray[np.uint8]
    sets: NDArray[np.uint64]
    slots: NDArray[np.uint8]
    where: NDArray[np.uint8]
    may: NDArray[np.uint16]
    worlds: NDArray[np.uint8]
    world_board: NDArray[np.uint8]
    root_moves: NDArray[np.uint8]
    sums: NDArray[np.int64]
    stack: Stack
    nodes: NDArray[np.int64]


def new_scratch() -> Scratch:
    """Fresh memory for one thread."""
    return Scratch(
        board=np.zeros(64, np.uint8),
        known=np.zeros(64, np.uint8),
        sets=np.zeros(32, np.uint64),
        slots=np.zeros(64, np.uint8),
        where=np.zeros((2, SLOTS), np.uint8),
        may=np.zeros((2, SLOTS), np.uint16),
        worlds=np.zeros((2, SLOTS), np.uint8),
        world_board=np.zeros(64, np.uint8),
        root_moves=np.zeros((2, MOST_MOVES), np.uint8),
        sums=np.zeros(MOST_MOVES, np.int64),
        stack=new_stack(),
        # The first is used; the rest keeps the next thread's memory off this cache line.
        nodes=np.zeros(16, np.int64),
    )


@njit
def game(first_layout, second_layout, seed, settings, players, scratch, moves_out):
    """Play one game; returns winner, reason and plies.

    `moves_out` is ``uint8[n, 2]``: origin and target of the first n plies are written there.
    """
    board, known, sets = scratch.board, scratch.known, scratch.sets
    board[:] = 0
    known[:] = KNOWN_AT_START
    own, mobile, engineers = place(first_layout, 0, board)
    enemy, enemy_mobile, enemy_engineers = place(second_layout, 1, board)
    number = flag_number(board, 0)
    enemy_number = flag_number(board, 1)
    near_flag = STEP_POINTS[HEADQUARTERS[0, number]]
    enemy_near_flag = STEP_POINTS[HEADQUARTERS[1, enemy_number]]
    # Where each side's situation begins in its table of places; see `weights.PolicyTables`.
    at = np.uint64((number * 3) * 1024)
    enemy_at = np.uint64((6 + enemy_number * 3) * 1024)
    steps = settings[STEPS]
    state = random_state(seed)
    is_tracked = players.kinds[0] == SEARCH or players.kinds[1] == SEARCH
    if is_tracked:
        start_tracking(scratch.slots, scratch.where, scratch.may)
        for side in range(2):
            scratch.worlds[side] = ALL_KINDS
            mend_world(scratch.may[1 - side], scratch.worlds[side])
            state = mix_world(scratch.may[1 - side], scratch.worlds[side], FIRST_MIXING, state)
    quiet = 0
    plies = 0
    while True:
        side = plies & 1
        empty = BOARD & ~(own | enemy)
        allowed = allowed_targets(enemy, empty)
        total = count_moves(mobile, engineers, allowed, empty, sets)
        if total == U0:
            winner, reason = without_move(own, empty, enemy_mobile, enemy_engineers, side)
            return winner, reason, plies
        if quiet >= steps:
            winner, reason = by_steps(side, settings)
            return winner, reason, plies
        state = advance(state)
        bits = scramble(state)
        if players.kinds[side] == POLICY:
            origin, target = policy_move(
                board,
                known,
                own,
                enemy,
                total,
                sets,
                near_flag,
                quiet,
                steps - quiet,
                bits,
                players.gains[side],
                players.places[side],
                at,
                players.limits[side],
            )
        elif players.kinds[side] == RANDOM:
            origin, target = pick_move(below(bits, total), own, sets)
        else:
            origin, target, state = search_move(
                board,
                own,
                mobile,
                engineers,
                enemy,
                side,
                steps - quiet,
                steps,
                players.depths[side],
                players.worlds[side],
                scratch.slots,
                scratch.where,
                scratch.may,
                scratch.worlds[side],
                players.worths[side],
                players.search_limits[side, CLIP],
                players.search_limits[side, MARGIN],
                players.search_limits[side, QUIET_MOST],
                players.search_limits[side, WARINESS],
                state,
                scratch.world_board,
                scratch.root_moves,
                scratch.sums,
                scratch.stack,
                scratch.nodes,
            )
        if plies < moves_out.shape[0]:
            moves_out[plies, 0] = origin
            moves_out[plies, 1] = target
        defender = np.uint64(board[target])
        if is_tracked and defender != U_FLAG:
            track(
                board, scratch.slots, scratch.where, scratch.may, origin, target, side, own, enemy
            )
        own_marshal, enemy_marshal = learn(board, known, origin, target, own, enemy)
        own, mobile, engineers, enemy, enemy_mobile, enemy_engineers = settle(
            board, origin, target, own, mobile, engineers, enemy, enemy_mobile, enemy_engineers
        )
        plies += 1
        if defender == U_FLAG:
            winner, reason = after_flag(
                own, mobile, engineers, enemy, enemy_mobile, enemy_engineers, side, settings
            )
            return winner, reason, plies
        if own_marshal:
            enemy_at += np.uint64(tell_flag(board, known, side) * 1024)
        if enemy_marshal:
            at += np.uint64(tell_flag(board, known, 1 - side) * 1024)
        quiet = quiet + 1 if defender == U0 else 0
        own, enemy = enemy, own
        mobile, enemy_mobile = enemy_mobile, mobile
        engineers, enemy_engineers = enemy_engineers, engineers
        near_flag, enemy_near_flag = enemy_near_flag, near_flag
        at, enemy_at = enemy_at, at
