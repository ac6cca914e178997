"""Alpha-beta search on fully known positions, and its use on sampled worlds.

Values are told from the side to move, in the unit of `weights.py`. The score of a position is
carried along: `worth` is ``int32[2 * 16 * 64]``, at [side, kind, point] what a piece there is worth
to its side. Moves of the last ply are valued without being made.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from junqi.kernels.bits import U0, U1, advance, first, scramble
from junqi.kernels.jit import njit
from junqi.kernels.knowledge import flag_number
from junqi.kernels.moves import (
    MOST_MOVES,
    allowed_targets,
    engineer_targets,
    list_moves,
    move_sets,
    origin_of,
)
from junqi.kernels.playout import U16, settle
from junqi.kernels.tables import BOARD, GONE, RAIL, STAYS
from junqi.kernels.worlds import MIXING, SLOTS, mend_world, mix_world, put_world
from junqi.pieces import BOMB, EMPTY, ENGINEER, FLAG, KIND_OF, MINE

# Taking the flag. A win that is further away is worth a little less.
WIN = 20_000
DEEPEST = 16
# Added to the sort key of a contact that gains something.
GOOD = 1000

# Places of the numbers in `weights.SearchTables.limits`.
CLIP, MARGIN, QUIET_MOST, WARINESS = range(4)

# Places in a frame of the stack: six sets, and the numbers of an open node.
OWN, MOBILE, ENGINEERS, ENEMY, ENEMY_MOBILE, ENEMY_ENGINEERS = range(6)
SCORE, LEFT, ALPHA, BETA, BEST, INDEX, COUNT, ATTACKER, DEFENDER, SORTING = range(10)


class Stack(NamedTuple):
    """The open nodes of a search, one frame for each remaining depth."""

    words: NDArray[np.uint64]
    numbers: NDArray[np.int64]
    moves: NDArray[np.uint8]
    keys: NDArray[np.int64]


def new_stack() -> Stack:
    """Fresh memory for one thread."""
    return Stack(
        words=np.zeros((DEEPEST, 6), np.uint64),
        numbers=np.zeros((DEEPEST, 10), np.int64),
        moves=np.zeros((DEEPEST, 2, MOST_MOVES), np.uint8),
        keys=np.zeros((DEEPEST, MOST_MOVES), np.int64),
    )


MINES = KIND_OF[MINE].count

_U64 = np.uint64(64)
_U1024 = np.uint64(1024)


@njit
def move_gain(board, origin, target, side, worth):
    """What a move adds to the mover's score; the flag apart."""
    attacker = np.uint64(board[origin])
    defender = np.uint64(board[target])
    base = np.uint64(side) * _U1024
    row = base + attacker * _U64
    gain = -worth[row + origin]
    meeting = attacker * U16 + defender
    if defender == U0:
        return gain + worth[row + target]
    if STAYS[meeting]:
        gain += worth[row + target]
    if GONE[meeting]:
        gain += worth[(_U1024 - base) + defender * _U64 + target]
    return gain


@njit
def best_reply(
    board, own, mobile, engineers, enemy, side, alpha, beta, score, left, worth, quiet_most, nodes
):
    """The best value that one ply reaches, or the first found that is at least beta.

    Args:
        left: quiet plies that remain, this one included, before the mover of one loses.
        quiet_most: no quiet move gains more; where that cannot reach alpha none is looked at.
        nodes: ``int64[1]``, counts the moves valued.
    """
    empty = BOARD & ~(own | enemy)
    allowed = allowed_targets(enemy, empty)
    best = -WIN
    wanted = allowed
    if left <= 1:
        wanted = enemy
    elif score + quiet_most <= alpha:
        wanted = enemy
        best = score + quiet_most
    count = 0
    direction = U0
    sets = move_sets(mobile, engineers, allowed, empty)
    e, s, se, sw, w, n, nw, ne = sets
    if (e | s | se | sw | w | n | nw | ne) & wanted:
        for targets in sets:
            targets &= wanted
            while targets:
                target = first(targets)
                targets &= targets - U1
                count += 1
                if board[target] == FLAG:
                    nodes[0] += count
                    return WIN
                origin = origin_of(direction, target, own)
                value = score + move_gain(board, origin, target, side, worth)
                if value > best:
                    best = value
            if best >= beta:
                nodes[0] += count
                return best
            direction += U1
    on_rail = engineers & RAIL
    while on_rail:
        origin = first(on_rail)
        on_rail &= on_rail - U1
        targets = engineer_targets(origin, allowed, empty) & wanted
        while targets:
            target = first(targets)
            targets &= targets - U1
            count += 1
            if board[target] == FLAG:
                nodes[0] += count
                return WIN
            value = score + move_gain(board, origin, target, side, worth)
            if value > best:
                best = value
    nodes[0] += count
    return best


@njit
def order_moves(board, count, side, worth, origins, targets, keys_out):
    """Sort keys: larger is tried first. The flag, then gains by contact, then quiet moves."""
    for index in range(count):
        origin = np.uint64(origins[index])
        target = np.uint64(targets[index])
        defender = board[target]
        gain = move_gain(board, origin, target, side, worth)
        if defender == FLAG:
            gain = WIN
        elif defender != EMPTY and gain > 0:
            gain += GOOD
        keys_out[index] = gain


@njit
def next_best(index, count, origins, targets, keys):
    """Bring the move with the largest key among the rest to a place in the list."""
    best = index
    for other in range(index + 1, count):
        if keys[other] > keys[best]:
            best = other
    if best != index:
        origins[index], origins[best] = origins[best], origins[index]
        targets[index], targets[best] = targets[best], targets[index]
        keys[index], keys[best] = keys[best], keys[index]


@njit
def _open(depth, board, side, worth, words, numbers, moves, keys):
    """List and order the moves of the position in a frame."""
    own, mobile, engineers = words[depth, OWN], words[depth, MOBILE], words[depth, ENGINEERS]
    enemy = words[depth, ENEMY]
    empty = BOARD & ~(own | enemy)
    origins, targets = moves[depth, 0], moves[depth, 1]
    count = np.int64(list_moves(own, mobile, engineers, enemy, empty, origins, targets))
    order_moves(board, count, side, worth, origins, targets, keys[depth])
    numbers[depth, COUNT] = count
    numbers[depth, INDEX] = 0
    numbers[depth, SORTING] = 1
    numbers[depth, BEST] = -WIN - depth


@njit
def search(depth, side, board, worth, quiet_most, steps, stack, nodes):
    """Negamax with alpha-beta, the value of the position in the stack's frame `depth`.

    The caller fills that frame: the six sets, and SCORE, LEFT, ALPHA and BETA among the numbers.
    A frame belongs to a remaining depth; frames below it are overwritten, the board is not. (A
    stack of our own, since numba cannot load a function that calls itself from its cache.)
    """
    words, numbers, moves, keys = stack.words, stack.numbers, stack.moves, stack.keys
    if depth <= 1:
        return best_reply(
            board,
            words[1, OWN],
            words[1, MOBILE],
            words[1, ENGINEERS],
            words[1, ENEMY],
            side,
            numbers[1, ALPHA],
            numbers[1, BETA],
            numbers[1, SCORE],
            numbers[1, LEFT],
            worth,
            quiet_most,
            nodes,
        )
    top = depth
    _open(depth, board, side, worth, words, numbers, moves, keys)
    while True:
        index = numbers[depth, INDEX]
        best = numbers[depth, BEST]
        if index == numbers[depth, COUNT] or best >= numbers[depth, BETA]:
            if depth == top:
                return best
            depth += 1
            side = 1 - side
            _close(depth, -best, board, numbers, moves)
            continue
        if numbers[depth, SORTING]:
            next_best(index, numbers[depth, COUNT], moves[depth, 0], moves[depth, 1], keys[depth])
            # Once the good contacts are through, the rest comes as it is listed.
            numbers[depth, SORTING] = keys[depth, index] >= GOOD
        origin = np.uint64(moves[depth, 0, index])
        target = np.uint64(moves[depth, 1, index])
        defender = board[target]
        left = numbers[depth, LEFT]
        nodes[0] += 1
        if defender == FLAG:
            numbers[depth, BEST] = WIN + depth
            numbers[depth, INDEX] = numbers[depth, COUNT]
            continue
        if defender == EMPTY and left <= 1:
            numbers[depth, INDEX] = index + 1
            continue
        child = depth - 1
        score = -(numbers[depth, SCORE] + move_gain(board, origin, target, side, worth))
        numbers[depth, ATTACKER] = board[origin]
        numbers[depth, DEFENDER] = defender
        own, mobile, engineers, enemy, enemy_mobile, enemy_engineers = settle(
            board,
            origin,
            target,
            words[depth, OWN],
            words[depth, MOBILE],
            words[depth, ENGINEERS],
            words[depth, ENEMY],
            words[depth, ENEMY_MOBILE],
            words[depth, ENEMY_ENGINEERS],
        )
        alpha = -numbers[depth, BETA]
        beta = -max(numbers[depth, ALPHA], best)
        left = left - 1 if defender == EMPTY else steps
        if child == 1:
            value = best_reply(
                board,
                enemy,
                enemy_mobile,
                enemy_engineers,
                own,
                1 - side,
                alpha,
                beta,
                score,
                left,
                worth,
                quiet_most,
                nodes,
            )
            _close(depth, -value, board, numbers, moves)
            continue
        words[child, OWN] = enemy
        words[child, MOBILE] = enemy_mobile
        words[child, ENGINEERS] = enemy_engineers
        words[child, ENEMY] = own
        words[child, ENEMY_MOBILE] = mobile
        words[child, ENEMY_ENGINEERS] = engineers
        numbers[child, SCORE] = score
        numbers[child, LEFT] = left
        numbers[child, ALPHA] = alpha
        numbers[child, BETA] = beta
        depth = child
        side = 1 - side
        _open(depth, board, side, worth, words, numbers, moves, keys)


@njit
def _close(depth, value, board, numbers, moves):
    """Take a frame's current move back and count its value."""
    index = numbers[depth, INDEX]
    board[moves[depth, 0, index]] = numbers[depth, ATTACKER]
    board[moves[depth, 1, index]] = numbers[depth, DEFENDER]
    if value > numbers[depth, BEST]:
        numbers[depth, BEST] = value
    numbers[depth, INDEX] = index + 1


@njit
def score_board(board, own, enemy, side, worth):
    """The score of a position for a side, from scratch."""
    score = 0
    base = np.uint64(side) * _U1024
    while own:
        point = first(own)
        own &= own - U1
        score += worth[base + np.uint64(board[point]) * _U64 + point]
    while enemy:
        point = first(enemy)
        enemy &= enemy - U1
        score -= worth[(_U1024 - base) + np.uint64(board[point]) * _U64 + point]
    return score


@njit
def _put_pieces(board, own, world, where, side, board_out):
    """A board of the own pieces and the enemy's of a world; returns what of the enemy can move."""
    board_out[:] = EMPTY
    while own:
        point = first(own)
        own &= own - U1
        board_out[point] = board[point]
    return put_world(world, where, 1 - side, board_out)


@njit
def mine_risk(board, origin, target, side, slots, may, worth):
    """What an attacker stands to lose if a piece that may be a mine is one."""
    attacker = board[origin]
    if attacker == ENGINEER or attacker == BOMB or not (may[1 - side, slots[target]] >> MINE) & 1:
        return np.int64(0)
    candidates = 0
    for slot in range(SLOTS):
        candidates += (may[1 - side, slot] >> MINE) & 1
    value = worth[np.uint64(side) * _U1024 + np.uint64(attacker) * _U64 + np.uint64(origin)]
    return np.int64(value) * MINES // candidates


@njit
def search_move(
    board,
    own,
    mobile,
    engineers,
    enemy,
    side,
    left,
    steps,
    depth,
    worlds,
    slots,
    where,
    may,
    world,
    worths,
    clip,
    margin,
    quiet_most,
    wariness,
    state,
    world_board,
    root_moves,
    sums,
    stack,
    nodes,
):
    """Choose a move by the mean value over sampled worlds.

    Of the enemy only the points (`enemy`, `where`) and what may be concluded (`may`) are read; the
    kinds on `board` are copied for the own side alone.

    Args:
        world: ``uint8[25]``, the last world drawn; kept between calls.
        worths: ``int32[2, 2, 2048]``, `worth` by the headquarters of side 0's and side 1's flag.
        wariness: in per cent, how much the chance that a target is a mine counts beyond what the
            worlds show. Of many attacks, the one that met no mine in a few worlds is a lucky one.
        clip: no world counts more than this.
        margin: a move this much worse than the best in a world counts no worse there.
        world_board, root_moves, sums, stack: scratch; see `game.Scratch`.

    Returns origin, target and the generator's state.
    """
    origins = root_moves[0]
    targets = root_moves[1]
    empty = BOARD & ~(own | enemy)
    count = np.int64(list_moves(own, mobile, engineers, enemy, empty, origins, targets))
    mend_world(may[1 - side], world)
    for index in range(count):
        state = advance(state)
        sums[index] = np.int64(scramble(state) >> np.uint64(62))  # chance decides between equals
        if wariness > 0 and (enemy >> np.uint64(targets[index])) & U1:
            risk = mine_risk(board, origins[index], targets[index], side, slots, may, worths[0, 0])
            sums[index] -= worlds * (wariness * risk // 100)
    for _ in range(worlds):
        state = mix_world(may[1 - side], world, MIXING, state)
        enemy_mobile, enemy_engineers = _put_pieces(board, own, world, where, side, world_board)
        worth = worths[flag_number(world_board, 0), flag_number(world_board, 1)]
        score = score_board(world_board, own, enemy, side, worth)
        best = -WIN
        for index in range(count):
            next_best(index, count, origins, targets, sums)
            origin = np.uint64(origins[index])
            target = np.uint64(targets[index])
            attacker = world_board[origin]
            defender = world_board[target]
            nodes[0] += 1
            if defender == FLAG:
                value = WIN
            elif defender == EMPTY and left <= 1:
                value = -WIN
            else:
                gain = move_gain(world_board, origin, target, side, worth)
                o, m, g, eo, em, eg = settle(
                    world_board,
                    origin,
                    target,
                    own,
                    mobile,
                    engineers,
                    enemy,
                    enemy_mobile,
                    enemy_engineers,
                )
                value = score + gain
                if depth > 1:
                    words, numbers = stack.words[depth - 1], stack.numbers[depth - 1]
                    words[OWN], words[MOBILE], words[ENGINEERS] = eo, em, eg
                    words[ENEMY], words[ENEMY_MOBILE], words[ENEMY_ENGINEERS] = o, m, g
                    numbers[SCORE] = -value
                    numbers[LEFT] = left - 1 if defender == EMPTY else steps
                    numbers[ALPHA] = -WIN - DEEPEST
                    numbers[BETA] = margin - best
                    value = -search(
                        depth - 1,
                        1 - side,
                        world_board,
                        worth,
                        quiet_most,
                        steps,
                        stack,
                        nodes,
                    )
                world_board[origin] = attacker
                world_board[target] = defender
            if value > best:
                best = value
            value = max(value, best - margin)
            sums[index] += max(-clip, min(clip, value))
    next_best(0, count, origins, targets, sums)
    return np.uint64(origins[0]), np.uint64(targets[0]), state
