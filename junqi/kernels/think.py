"""What a move is worth in a world: a few plies played out by the policy, and a look ahead.

The engine draws many worlds and asks here what each of its moves is worth in each of them, as a
chance to win from 0 to 1. Two judgements are blended:

- A tree of what was seen to follow the move is walked down (`tree`), the policy goes on from there
  for both sides, each by what it knows of the other, and what is reached then is valued. Nobody
  uses what he cannot know, so no plan is counted that needs it.
- A search with open pieces looks a few plies ahead. It sees threats that the others walk into.

In these kernels the own side is side 0, at the bottom.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from junqi.kernels.bits import U0, advance, random_state, scramble
from junqi.kernels.deep import (
    ALPHA,
    BETA,
    DEEPEST,
    DEPTH,
    KEY,
    LEFT,
    SCORE,
    DeepStack,
    Habits,
    deepen,
    key_after,
    new_deep_stack,
    ply_gain,
)
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
    ENEMY,
    ENEMY_ENGINEERS,
    ENEMY_MOBILE,
    ENGINEERS,
    MOBILE,
    OWN,
    WIN,
)
from junqi.kernels.tables import BOARD, STEP_POINTS
from junqi.kernels.tree import (
    LONGEST_PATH,
    best_child,
    child_of,
    count_visit,
    key_of,
    move_of,
    outcome_of,
)
from junqi.kernels.value import (
    COUNTS,
    WORTHS,
    Net,
    chance_of,
    net_value,
    read_position,
    worths_here,
)
from junqi.kernels.worlds import put_world
from junqi.pieces import EMPTY, FLAG, MARSHAL

# No chance that has yet to come true is larger: a flag that can be taken is taken.
ALMOST_CERTAIN = 0.9999

# A look of so many plies or more is begun with a shallower one.
FORESEEN_FROM = 5

# Places in `Desk.nodes`.
NODES, WORLDS, IS_STOPPED = range(3)

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
    """What positions are worth, and what the search counts around them."""
    horizon: int
    """Plies that the policy plays after the tree, before the position is valued."""
    widen: float
    """A node with n visits has up to this times the root of n children; 0 for no tree."""
    explore: float
    """See `tree.best_child`."""
    habits: Habits
    """Of the search."""
    trust: float
    """The weight of the search, from 0 to 1."""
    scale: float
    """The score that makes a chance of 0.73 to win."""


class Desk(NamedTuple):
    """Memory for one thread."""

    board: NDArray[np.uint8]
    known: NDArray[np.uint8]
    sets: NDArray[np.uint64]
    places: NDArray[np.int64]
    counts: NDArray[np.float32]
    path: NDArray[np.int64]
    stack: DeepStack
    nodes: NDArray[np.int64]
    """Moves valued and worlds looked at so far, and whether to stop, which others may write."""
    slopes: NDArray[np.float32]
    worth: NDArray[np.int32]


def new_desk() -> Desk:
    """Fresh memory for one thread."""
    return Desk(
        board=np.zeros(64, np.uint8),
        known=np.zeros(64, np.uint8),
        sets=np.zeros(32, np.uint64),
        places=np.zeros(64, np.int64),
        counts=np.zeros(COUNTS, np.float32),
        path=np.zeros(LONGEST_PATH, np.int64),
        stack=new_deep_stack(),
        nodes=np.zeros(3, np.int64),
        slopes=np.zeros(COUNTS, np.float32),
        worth=np.zeros(WORTHS, np.int32),
    )


class Worlds(NamedTuple):
    """Worlds laid out on boards, one a row."""

    boards: NDArray[np.uint8]
    """``uint8[n, 64]``."""
    known: NDArray[np.uint8]
    """``uint8[n, 64]``, see `knowledge`."""
    words: NDArray[np.uint64]
    """``uint64[n, 2]``: what of the enemy can move, and his engineers among it."""


def new_worlds(count: int) -> Worlds:
    """Room for so many."""
    return Worlds(
        np.empty((count, 64), np.uint8),
        np.empty((count, 64), np.uint8),
        np.empty((count, 2), np.uint64),
    )


@njit
def _told(known, side, number):
    """Which of the side's headquarters the enemy was told to hold its flag: 1 or 2, or 0."""
    is_told = (known[HEADQUARTERS[side, number]] & _LOW) == IS_FLAG
    return number + 1 if is_told else 0


@njit
def lay_out(root, kinds, worlds_out):
    """Lay worlds out: the boards, and what each side knows on them.

    Args:
        kinds: ``int8[n, 25]``, of the enemy's slots.
    """
    for number in range(kinds.shape[0]):
        board, known = worlds_out.boards[number], worlds_out.known[number]
        board[:] = root.board
        known[:] = root.known
        mobile, engineers = put_world(kinds[number], root.where, 1, board)
        worlds_out.words[number, 0], worlds_out.words[number, 1] = mobile, engineers
        for index in range(root.beaten.shape[0]):
            point = root.beaten[index, 0]
            kind = np.uint8(kinds[number, root.beaten[index, 1]])
            bound = known[point] & _LOW
            if bound != IS_ENGINEER and kind <= MARSHAL and kind > bound:
                known[point] = (known[point] & _HIGH) | kind


@njit
def _at_once(root, defender):
    """The chance after a move that ends the game, -1 after any other."""
    if defender == FLAG:
        return 1.0
    if defender == EMPTY and root.quiet + 1 >= root.steps:
        return 0.0
    return -1.0


@njit
def look_ahead(root, judgement, depth, worlds, moves, desk, chances_out):
    """What the search with open pieces says of each move in each world.

    Args:
        depth: plies of the search, the move itself among them.
        worlds: a `Worlds`.
        moves: ``uint8[m, 2]``, origin and target.
        chances_out: ``float32[n, m]``.

    Returns whether it came to the end, and was not stopped.
    """
    own, mobile, engineers, enemy = root.words[0], root.words[1], root.words[2], root.words[3]
    board, worth = desk.board, desk.worth
    words, numbers = desk.stack.words[0], desk.stack.numbers[0]
    # Two plies less first: the table, if there is one, then tells what to try first.
    is_foreseen = judgement.habits.remembers and depth >= FORESEEN_FROM
    shallowest = depth - 3 if is_foreseen else depth - 1
    for number in range(chances_out.shape[0]):
        world = worlds.boards[number]
        pieces = read_position(
            world,
            worlds.known[number],
            own,
            enemy,
            0,
            root.quiet,
            root.steps,
            desk.places,
            desk.counts,
        )
        odds = net_value(judgement.net, desk.places, pieces, desk.counts)
        score = np.int64(judgement.scale * odds)
        quiet_most = worths_here(
            judgement.net,
            world,
            pieces,
            desk.counts,
            root.steps,
            judgement.scale,
            desk.slopes,
            worth,
        )
        # Keys of their own for each world: what the table says of others is not true here.
        desk.nodes[WORLDS] += 1
        salt = scramble(np.uint64(desk.nodes[WORLDS]))
        desk.stack.killers[:] = 0
        for index in range(moves.shape[0]):
            if desk.nodes[IS_STOPPED]:
                return False
            origin, target = np.uint64(moves[index, 0]), np.uint64(moves[index, 1])
            chance = _at_once(root, world[target])
            if chance >= 0.0:
                chances_out[number, index] = chance
                continue
            board[:] = world
            gain = ply_gain(board, origin, target, 0, root.steps - root.quiet, worth)
            words[KEY] = key_after(salt, board, origin, target, 0)
            o, m, g, eo, em, eg = settle(
                board,
                origin,
                target,
                own,
                mobile,
                engineers,
                enemy,
                worlds.words[number, 0],
                worlds.words[number, 1],
            )
            words[OWN], words[MOBILE], words[ENGINEERS] = eo, em, eg
            words[ENEMY], words[ENEMY_MOBILE], words[ENEMY_ENGINEERS] = o, m, g
            numbers[SCORE] = -(score + gain)
            numbers[LEFT] = root.steps - (root.quiet + 1 if world[target] == EMPTY else 0)
            numbers[ALPHA] = -WIN - DEEPEST
            numbers[BETA] = WIN + DEEPEST
            found = 0
            for replies in range(shallowest, depth, 2):
                numbers[DEPTH] = replies
                found = -deepen(
                    1,
                    board,
                    worth,
                    quiet_most,
                    root.steps,
                    judgement.habits,
                    desk.stack,
                    desk.nodes,
                )
            chance = chance_of(found / judgement.scale)
            chances_out[number, index] = min(chance, ALMOST_CERTAIN)
    return True


@njit
def play_on(root, judgement, worlds, origin, target, seed, tree, desk, chances_out):
    """What comes of one move in each world by the tree and the policy.

    Args:
        seed: of the policy's choices; the same for all moves in a world, so that they can be
            compared.
        tree: what has been seen to follow the move; it grows.
        chances_out: ``float32[n]``.
    """
    own, mobile, engineers, enemy = root.words[0], root.words[1], root.words[2], root.words[3]
    board, known = desk.board, desk.known
    for number in range(chances_out.shape[0]):
        board[:] = worlds.boards[number]
        known[:] = worlds.known[number]
        defender = board[target]
        chance = _at_once(root, defender)
        if chance < 0.0:
            outcome = outcome_of(board, origin, target)
            own_marshal, enemy_marshal = learn(board, known, origin, target, own, enemy)
            o, m, g, eo, em, eg = settle(
                board,
                origin,
                target,
                own,
                mobile,
                engineers,
                enemy,
                worlds.words[number, 0],
                worlds.words[number, 1],
            )
            if own_marshal:
                tell_flag(board, known, 0)
            if enemy_marshal:
                tell_flag(board, known, 1)
            chance = _play_out(
                board,
                known,
                eo,
                em,
                eg,
                o,
                m,
                g,
                1,
                root.quiet + 1 if defender == EMPTY else 0,
                root.steps,
                judgement,
                random_state(np.uint64(seed) + np.uint64(number)),
                tree,
                outcome,
                desk,
            )
            chance = min(chance, ALMOST_CERTAIN)
        chances_out[number] = chance


@njit
def _play_out(
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
    tree,
    node,
    desk,
):
    """The chance of side 0 some plies later; `side` is to move, the sets are his."""
    number = flag_number(board, side)
    enemy_number = flag_number(board, 1 - side)
    near_flag = STEP_POINTS[HEADQUARTERS[side, number]]
    enemy_near_flag = STEP_POINTS[HEADQUARTERS[1 - side, enemy_number]]
    told = _told(known, 1 - side, enemy_number)
    enemy_told = _told(known, side, number)
    at = np.uint64(side * 6 + number * 3 + told) * _S1024
    enemy_at = np.uint64((1 - side) * 6 + enemy_number * 3 + enemy_told) * _S1024
    sets, path = desk.sets, desk.path
    path[0] = node
    length = 1
    is_inside = judgement.widen > 0.0
    left = judgement.horizon
    chance = -1.0
    origin = target = U0
    while True:
        empty = BOARD & ~(own | enemy)
        allowed = allowed_targets(enemy, empty)
        total = count_moves(mobile, engineers, allowed, empty, sets)
        if total == U0:
            winner, _ = without_move(own, empty, enemy_mobile, enemy_engineers, side)
            chance = 0.5 if winner < 0 else 1.0 - winner
            break
        if quiet >= steps:
            chance = 1.0 * side
            break
        if is_inside and (tree.visits[node] == 0 or length + 2 > LONGEST_PATH):
            is_inside = False
        if not is_inside and left == 0:
            break
        chosen = 0
        wants_more = True
        if is_inside:
            chosen, count = best_child(
                tree, node, side, board, own, mobile, total, sets, judgement.explore
            )
            wants_more = chosen == 0 or count < judgement.widen * sqrt(tree.visits[node])
        if wants_more:
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
            if is_inside:
                seen = 0 if side == 0 else outcome_of(board, origin, target)
                child = child_of(tree, node, key_of(origin, target, seen))
                if chosen == 0 or tree.visits[child] == 0:
                    chosen = child
        if chosen:
            origin, target = move_of(tree.keys[chosen])
        defender = np.uint64(board[target])
        if is_inside:
            node = chosen
            path[length] = node
            length += 1
            if side == 0 and defender != U0 and node:
                node = child_of(tree, node, key_of(U0, U0, outcome_of(board, origin, target)))
                path[length] = node
                length += 1
            if node == 0:  # the tree is full
                is_inside = False
                while path[length - 1] == 0 and length > 1:
                    length -= 1
        else:
            left -= 1
        if defender == U_FLAG:
            chance = 1.0 - side
            break
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
    if chance < 0.0:
        found = read_position(
            board, known, own, enemy, side, quiet, steps, desk.places, desk.counts
        )
        chance = chance_of(net_value(judgement.net, desk.places, found, desk.counts))
        if side == 1:
            chance = 1.0 - chance
    count_visit(tree, path, length, chance)
    return chance
