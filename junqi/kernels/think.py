"""What a move is worth in a world: a few plies played out by the policy, and a look ahead.

The engine draws many worlds and asks here what each of its moves is worth in each of them, as a
chance to win from 0 to 1. Two judgements are blended:

- The policy goes on for some plies for both sides, each by what it knows of the other, and what is
  reached then is valued. Nobody uses what he cannot know, so no plan is counted that needs it.
- A search with open pieces looks a few plies ahead. It sees threats that the policy walks into.

In these kernels the own side is side 0, at the bottom.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from junqi.kernels.bits import U0, advance, random_state, scramble
from junqi.kernels.jit import njit
from junqi.kernels.knowledge import (
    HEADQUARTERS,
    IS_ENGINEER,
    IS_FLAG,
    STRONGER_THAN,
    flag_number,
    learn,
    tell_flag,
)
from junqi.kernels.moves import allowed_targets
from junqi.kernels.playout import U_FLAG, count_moves, settle, without_move
from junqi.kernels.policy import policy_move
from junqi.kernels.search import (
    ALPHA,
    BETA,
    DEEPEST,
    ENEMY,
    ENEMY_ENGINEERS,
    ENEMY_MOBILE,
    ENGINEERS,
    LEFT,
    MOBILE,
    OWN,
    SCORE,
    WIN,
    Stack,
    move_gain,
    new_stack,
    score_board,
    search,
)
from junqi.kernels.tables import BOARD, STEP_POINTS
from junqi.kernels.value import COUNTS, Net, chance_of, net_value, read_position
from junqi.kernels.worlds import put_world
from junqi.pieces import EMPTY, FLAG, MARSHAL

_S1024 = np.uint64(1024)
_LOW = np.uint8(STRONGER_THAN)
_HIGH = np.uint8(0xFF & ~STRONGER_THAN)


class Root(NamedTuple):
    """The position that is thought about, as the player knows it."""

    board: NDArray[np.uint8]
    """``uint8[64]``, the own pieces."""
    known: NDArray[np.uint8]
    """``uint8[64]``, see `knowledge`; of the own pieces without the ranks they have beaten."""
    words: NDArray[np.uint64]
    """``uint64[4]``: own, own mobile, own engineers, enemy."""
    where: NDArray[np.uint8]
    """``uint8[2, 25]``, see `worlds`; the enemy's slots are in the second row."""
    beaten: NDArray[np.uint8]
    """``uint8[n, 2]``: point of an own piece, enemy slot that it has beaten."""
    quiet: int
    steps: int


class Judgement(NamedTuple):
    """The weights of the two judgements, and how far they go."""

    gain: NDArray[np.int32]
    """With `place` and `limits` the `weights.PolicyTables` of both sides."""
    place: NDArray[np.int32]
    limits: NDArray[np.int32]
    net: Net
    """What positions are worth that the policy has reached."""
    worths: NDArray[np.int32]
    """``int32[2, 2, 2048]``, what the search counts; see `weights.SearchTables`."""
    quiet_most: int
    horizon: int
    """Plies that the policy plays."""
    depth: int
    """Plies of the search, the move itself among them; 0 for none."""
    trust: float
    """The weight of the search, from 0 to 1."""
    scale: float
    """The score that makes a chance of 0.73 to win."""
    margin: int
    """How much worse than the best of a world a move is told apart by the search."""


class Desk(NamedTuple):
    """Memory for one thread."""

    board: NDArray[np.uint8]
    known: NDArray[np.uint8]
    world_board: NDArray[np.uint8]
    world_known: NDArray[np.uint8]
    sets: NDArray[np.uint64]
    places: NDArray[np.int64]
    counts: NDArray[np.float32]
    stack: Stack
    nodes: NDArray[np.int64]


def new_desk() -> Desk:
    """Fresh memory for one thread."""
    return Desk(
        board=np.zeros(64, np.uint8),
        known=np.zeros(64, np.uint8),
        world_board=np.zeros(64, np.uint8),
        world_known=np.zeros(64, np.uint8),
        sets=np.zeros(32, np.uint64),
        places=np.zeros(64, np.int64),
        counts=np.zeros(COUNTS, np.float32),
        stack=new_stack(),
        nodes=np.zeros(16, np.int64),
    )


@njit
def _told(known, side, number):
    """Which of the side's headquarters the enemy was told to hold its flag: 1 or 2, or 0."""
    is_told = (known[HEADQUARTERS[side, number]] & _LOW) == IS_FLAG
    return number + 1 if is_told else 0


@njit
def play_out(
    board,
    known,
    own,
    mobile,
    engineers,
    enemy,
    enemy_mobile,
    enemy_engineers,
    side,
    quiet,
    steps,
    judgement,
    state,
    sets,
    places,
    counts,
):
    """The chance of side 0 after some plies of the policy; `side` is to move, the sets are his."""
    number = flag_number(board, side)
    enemy_number = flag_number(board, 1 - side)
    near_flag = STEP_POINTS[HEADQUARTERS[side, number]]
    enemy_near_flag = STEP_POINTS[HEADQUARTERS[1 - side, enemy_number]]
    told = _told(known, 1 - side, enemy_number)
    enemy_told = _told(known, side, number)
    at = np.uint64(side * 6 + number * 3 + told) * _S1024
    enemy_at = np.uint64((1 - side) * 6 + enemy_number * 3 + enemy_told) * _S1024
    for _ in range(judgement.horizon):
        empty = BOARD & ~(own | enemy)
        allowed = allowed_targets(enemy, empty)
        total = count_moves(mobile, engineers, allowed, empty, sets)
        if total == U0:
            winner, _ = without_move(own, empty, enemy_mobile, enemy_engineers, side)
            return 0.5 if winner < 0 else 1.0 - winner
        if quiet >= steps:
            return 1.0 * side
        state = advance(state)
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
            scramble(state),
            judgement.gain,
            judgement.place,
            at,
            judgement.limits,
        )
        defender = np.uint64(board[target])
        if defender == U_FLAG:
            return 1.0 - side
        own_marshal, enemy_marshal = learn(board, known, origin, target, own, enemy)
        own, mobile, engineers, enemy, enemy_mobile, enemy_engineers = settle(
            board, origin, target, own, mobile, engineers, enemy, enemy_mobile, enemy_engineers
        )
        if own_marshal:
            enemy_at += np.uint64(tell_flag(board, known, side)) * _S1024
        if enemy_marshal:
            at += np.uint64(tell_flag(board, known, 1 - side)) * _S1024
        quiet = quiet + 1 if defender == U0 else 0
        own, enemy = enemy, own
        mobile, enemy_mobile = enemy_mobile, mobile
        engineers, enemy_engineers = enemy_engineers, engineers
        near_flag, enemy_near_flag = enemy_near_flag, near_flag
        at, enemy_at = enemy_at, at
        side = 1 - side
    found = read_position(board, known, own, enemy, side, quiet, steps, places, counts)
    chance = chance_of(net_value(judgement.net, places, found, counts))
    return chance if side == 0 else 1.0 - chance


@njit
def set_up(root, world, board_out, known_out):
    """Lay a world out: the board, and what each side knows in it; returns the enemy's sets."""
    board_out[:] = root.board
    known_out[:] = root.known
    mobile, engineers = put_world(world, root.where, 1, board_out)
    for index in range(root.beaten.shape[0]):
        point = root.beaten[index, 0]
        kind = np.uint8(world[root.beaten[index, 1]])
        bound = known_out[point] & _LOW
        if bound != IS_ENGINEER and kind <= MARSHAL and kind > bound:
            known_out[point] = (known_out[point] & _HIGH) | kind
    return mobile, engineers


@njit
def think(root, judgement, worlds, moves, seed, desk, values_out):
    """What each move is worth in each world, into ``float32[worlds, moves]``.

    Args:
        worlds: ``int8[n, 25]``, kinds of the enemy's slots.
        moves: ``uint8[m, 2]``, origin and target.
        seed: of the policy's choices; the same for all moves in a world, so that they can be
            compared.
    """
    own, mobile, engineers, enemy = root.words[0], root.words[1], root.words[2], root.words[3]
    board, known = desk.board, desk.known
    for number in range(worlds.shape[0]):
        state = random_state(np.uint64(seed) + np.uint64(number))
        enemy_mobile, enemy_engineers = set_up(
            root, worlds[number], desk.world_board, desk.world_known
        )
        worth = judgement.worths[flag_number(desk.world_board, 0), flag_number(desk.world_board, 1)]
        score = score_board(desk.world_board, own, enemy, 0, worth)
        best = -WIN
        for index in range(moves.shape[0]):
            origin, target = np.uint64(moves[index, 0]), np.uint64(moves[index, 1])
            defender = desk.world_board[target]
            if defender == FLAG:
                values_out[number, index] = 1.0
                best = WIN
                continue
            if defender == EMPTY and root.quiet + 1 >= root.steps:
                values_out[number, index] = 0.0
                continue
            board[:] = desk.world_board
            known[:] = desk.world_known
            gain = move_gain(board, origin, target, 0, worth)
            own_marshal, enemy_marshal = learn(board, known, origin, target, own, enemy)
            o, m, g, eo, em, eg = settle(
                board, origin, target, own, mobile, engineers, enemy, enemy_mobile, enemy_engineers
            )
            if own_marshal:
                tell_flag(board, known, 0)
            if enemy_marshal:
                tell_flag(board, known, 1)
            quiet = root.quiet + 1 if defender == EMPTY else 0
            value = 0.0
            if judgement.depth > 1 and judgement.trust > 0.0:
                words = desk.stack.words[judgement.depth - 1]
                numbers = desk.stack.numbers[judgement.depth - 1]
                words[OWN], words[MOBILE], words[ENGINEERS] = eo, em, eg
                words[ENEMY], words[ENEMY_MOBILE], words[ENEMY_ENGINEERS] = o, m, g
                numbers[SCORE] = -(score + gain)
                numbers[LEFT] = root.steps - quiet
                numbers[ALPHA] = -WIN - DEEPEST
                numbers[BETA] = judgement.margin - best
                found = -search(
                    judgement.depth - 1,
                    1,
                    board,
                    worth,
                    judgement.quiet_most,
                    root.steps,
                    desk.stack,
                    desk.nodes,
                )
                best = max(best, found)
                found = max(found, best - judgement.margin)
                value = judgement.trust * chance_of(found / judgement.scale)
            if judgement.trust < 1.0:
                chance = play_out(
                    board,
                    known,
                    eo,
                    em,
                    eg,
                    o,
                    m,
                    g,
                    1,
                    quiet,
                    root.steps,
                    judgement,
                    state,
                    desk.sets,
                    desk.places,
                    desk.counts,
                )
                value += (1.0 - judgement.trust) * chance
            values_out[number, index] = value
