"""The engine's search on positions with open pieces, further ahead than `search` in the same time.

Negamax with alpha-beta like there, counting by the same `worth`, and beside that

- a table of the positions met in a world, by a key that moves change (Zobrist's): for their values,
  and for the move to try first;
- the null move: who stands well enough after passing would not be worse off for a real move;
- at the end, a piece that takes another may be taken back, and a flag that can be taken next is
  seen.

In 10 worlds of 5 games seven plies took 49 ms a world instead of 95 without these, five plies about
the same. Late quiet moves one ply less deep made it 26 ms, and three choices of ten other ones.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from junqi.kernels.bits import U0, U1, first
from junqi.kernels.jit import njit
from junqi.kernels.knowledge import HEADQUARTERS, flag_number
from junqi.kernels.moves import (
    MOST_MOVES,
    allowed_targets,
    engineer_targets,
    list_moves,
    move_sets,
    origin_of,
)
from junqi.kernels.playout import U16, settle
from junqi.kernels.search import (
    ENEMY,
    ENEMY_ENGINEERS,
    ENEMY_MOBILE,
    ENGINEERS,
    MOBILE,
    OWN,
    WIN,
    move_gain,
    next_best,
    order_moves,
)
from junqi.kernels.tables import BOARD, GONE, RAIL, STAYS, STEP_POINTS
from junqi.kernels.value import MOST_LEFT, PRESSING, is_pressed
from junqi.pieces import EMPTY, FLAG

# Plies, and so frames; the last one is scratch.
DEEPEST = 16
# Entries of the table, a power of two: small enough to stay near the core.
ENTRIES = 1 << 14
# What the value of an entry is.
EXACT, AT_LEAST, AT_MOST = range(3)
# Passing is tried with so many plies left or more.
PASS_FROM = 4
# Sort keys of the table's move and of killers, quiet moves that were too good elsewhere; those are
# tried before poor contacts and after good ones.
TABLE_KEY = 4 * WIN
KILLER_KEY = 900

# Places in a frame: the six sets of `search` and the key, and the numbers of an open node.
KEY = 6
WORDS = 7
(
    DEPTH,
    SCORE,
    LEFT,
    ALPHA,
    BETA,
    BEST,
    INDEX,
    COUNT,
    ATTACKER,
    DEFENDER,
    LOWEST,
    CHOICE,
    IS_PASSING,
    HAS_PASSED,
    IS_KNOWN,
) = range(15)
NUMBERS = 15

_U64 = np.uint64(64)
_U1024 = np.uint64(1024)
_ENTRY = np.uint64(ENTRIES - 1)
# Places in an entry's second word: 16 bits for the value, then depth, bound and move.
_VALUE_BITS = np.uint64(0xFFFF)
_VALUE_SHIFT = 1 << 15
_DEPTH_AT, _BOUND_AT, _MOVE_AT = np.uint64(16), np.uint64(24), np.uint64(26)
_DEPTH_BITS, _BOUND_BITS = np.uint64(0xFF), np.uint64(3)

# A random word for each side, kind and point, one for whose turn it is, and one for who is pressed.
_TURN, _PRESSED = np.uint64(2048), np.uint64(2049)
_KEYS = np.random.default_rng(1).integers(0, 1 << 64, 2050, np.uint64)


class Habits(NamedTuple):
    """What the search does beyond plain alpha-beta."""

    is_wary: bool
    """Whether it sees at its end who could take a flag next."""
    takes_back: bool
    """Whether it sees there that a piece can be taken back."""
    remembers: bool
    """Whether it keeps a table of positions."""
    passes: bool
    """Whether it tries to pass."""


class DeepStack(NamedTuple):
    """The open nodes, one frame a ply, and what is remembered."""

    words: NDArray[np.uint64]
    numbers: NDArray[np.int64]
    moves: NDArray[np.uint8]
    keys: NDArray[np.int64]
    killers: NDArray[np.int64]
    """Two a ply: origin times 64 plus target."""
    table: NDArray[np.uint64]
    """The key of a position, and what was found out about it."""


def new_deep_stack() -> DeepStack:
    """Fresh memory for one thread."""
    return DeepStack(
        words=np.zeros((DEEPEST, WORDS), np.uint64),
        numbers=np.zeros((DEEPEST, NUMBERS), np.int64),
        moves=np.zeros((DEEPEST, 2, MOST_MOVES), np.uint8),
        keys=np.zeros((DEEPEST, MOST_MOVES), np.int64),
        killers=np.zeros((DEEPEST, 2), np.int64),
        table=np.zeros((ENTRIES, 2), np.uint64),
    )


@njit
def near_flag(board, side):
    """The points next to a side's flag."""
    return STEP_POINTS[HEADQUARTERS[side, flag_number(board, side)]]


@njit
def key_after(key, board, origin, target, side):
    """The key after a move that is about to be made. Where keys begin does not matter."""
    attacker = np.uint64(board[origin])
    defender = np.uint64(board[target])
    base = np.uint64(side) * _U1024
    row = base + attacker * _U64
    meeting = attacker * U16 + defender
    key ^= _KEYS[row + origin] ^ _KEYS[_TURN]
    if defender == U0 or STAYS[meeting]:
        key ^= _KEYS[row + target]
    if defender != U0 and GONE[meeting]:
        key ^= _KEYS[(_U1024 - base) + defender * _U64 + target]
    return key


@njit
def ply_gain(board, origin, target, side, left, worth):
    """What a move adds to the mover's score, the flag apart: see `worths_here`.

    Args:
        left: quiet plies that remain, this one included.
    """
    gain = move_gain(board, origin, target, side, worth)
    if board[target] != EMPTY and left < MOST_LEFT:
        gain += worth[PRESSING + left]
    return gain


@njit
def save_flag(
    board,
    own,
    mobile,
    engineers,
    enemy,
    attackers,
    side,
    score,
    left,
    worth,
    origins,
    targets,
    nodes,
):
    """What `last_reply` says where enemy pieces, the attackers, could take the own flag next.

    An attacker stands next to the flag, so nothing can be put between: it must go, and be the only
    one. Or else the enemy's flag is taken first.

    Args:
        origins, targets: scratch for moves.
    """
    empty = BOARD & ~(own | enemy)
    count = np.int64(list_moves(own, mobile, engineers, enemy, empty, origins, targets))
    nodes[0] += count
    is_one = attackers & (attackers - U1) == U0
    best = -WIN
    for index in range(count):
        origin, target = np.uint64(origins[index]), np.uint64(targets[index])
        if board[target] == FLAG:
            return WIN
        meeting = np.uint64(board[origin]) * U16 + np.uint64(board[target])
        if is_one and (attackers >> target) & U1 and GONE[meeting]:
            best = max(best, score + ply_gain(board, origin, target, side, left, worth))
    return best


@njit
def taken_back(board, empty, enemy_mobile, origin, target, side, worth):
    """What the enemy gains at most by taking the piece that is about to take one of his."""
    attacker = np.uint64(board[origin])
    if not STAYS[attacker * U16 + np.uint64(board[target])]:
        return 0
    # His pieces come from where it could go from there; engineers on their bent ways apart.
    others = enemy_mobile & ~(U1 << target)
    e, s, se, sw, w, n, nw, ne = move_sets(U1 << target, U0, others, empty | (U1 << origin))
    takers = e | s | se | sw | w | n | nw | ne
    base = np.uint64(side) * _U1024
    price = worth[base + attacker * _U64 + target]
    gain = 0
    while takers:
        point = first(takers)
        takers &= takers - U1
        kind = np.uint64(board[point])
        meeting = kind * U16 + attacker
        if GONE[meeting]:
            lost = 0
            if not STAYS[meeting]:
                lost = worth[(_U1024 - base) + kind * _U64 + point]
            gain = max(gain, price - lost)
    return gain


@njit
def last_reply(
    board,
    own,
    mobile,
    engineers,
    enemy,
    enemy_mobile,
    side,
    alpha,
    beta,
    score,
    left,
    worth,
    quiet_most,
    habits,
    scratch,
    nodes,
):
    """The best value that one ply reaches, or the first found that is at least beta.

    Like `search.best_reply`, and with a thought of what comes next.

    Args:
        scratch: ``uint8[2, MOST_MOVES]``.
    """
    if habits.is_wary:
        attackers = enemy_mobile & near_flag(board, side)
        if attackers:
            return save_flag(
                board,
                own,
                mobile,
                engineers,
                enemy,
                attackers,
                side,
                score,
                left,
                worth,
                scratch[0],
                scratch[1],
                nodes,
            )
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
            value = score + ply_gain(board, origin, target, side, left, worth)
            if habits.takes_back and value > best and (enemy >> target) & U1:
                value -= taken_back(board, empty, enemy_mobile, origin, target, side, worth)
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
            value = score + ply_gain(board, origin, target, side, left, worth)
            if value > best:
                best = value
    nodes[0] += count
    return best


@njit
def _table_key(ply, stack):
    """The key of a frame's position, with who is pressed."""
    key = stack.words[ply, KEY]
    return key ^ _KEYS[_PRESSED] if is_pressed(stack.numbers[ply, LEFT]) else key


@njit
def _look_up(ply, stack):
    """Fill a frame from the table if that tells enough; returns the move to try first, or 0."""
    numbers, table = stack.numbers, stack.table
    key = _table_key(ply, stack)
    at = key & _ENTRY
    if table[at, 0] != key:
        return 0
    entry = table[at, 1]
    value = np.int64(entry & _VALUE_BITS) - _VALUE_SHIFT
    bound = np.int64((entry >> _BOUND_AT) & _BOUND_BITS)
    is_enough = np.int64((entry >> _DEPTH_AT) & _DEPTH_BITS) >= numbers[ply, DEPTH] and (
        bound == EXACT
        or (bound == AT_LEAST and value >= numbers[ply, BETA])
        or (bound == AT_MOST and value <= numbers[ply, ALPHA])
    )
    if is_enough:
        numbers[ply, BEST] = value
        numbers[ply, IS_KNOWN] = 1
    return np.int64(entry >> _MOVE_AT)


@njit
def _keep(ply, stack):
    """Write the outcome of a frame into the table; what was there before is gone."""
    numbers, table = stack.numbers, stack.table
    best = numbers[ply, BEST]
    bound = EXACT
    if best >= numbers[ply, BETA]:
        bound = AT_LEAST
    elif best <= numbers[ply, LOWEST]:
        bound = AT_MOST
    key = _table_key(ply, stack)
    at = key & _ENTRY
    table[at, 0] = key
    table[at, 1] = (
        np.uint64(best + _VALUE_SHIFT)
        | (np.uint64(numbers[ply, DEPTH]) << _DEPTH_AT)
        | (np.uint64(bound) << _BOUND_AT)
        | (np.uint64(numbers[ply, CHOICE]) << _MOVE_AT)
    )


@njit
def _open(ply, board, side, worth, stack):
    """List and order the moves of the position in a frame."""
    words, numbers, moves, keys = stack.words, stack.numbers, stack.moves, stack.keys
    own, enemy = words[ply, OWN], words[ply, ENEMY]
    empty = BOARD & ~(own | enemy)
    origins, targets = moves[ply, 0], moves[ply, 1]
    count = np.int64(
        list_moves(own, words[ply, MOBILE], words[ply, ENGINEERS], enemy, empty, origins, targets)
    )
    order_moves(board, count, side, worth, origins, targets, keys[ply])
    choice = numbers[ply, CHOICE]
    one, two = stack.killers[ply, 0], stack.killers[ply, 1]
    if choice or one:
        for index in range(count):
            move = np.int64(origins[index]) * 64 + np.int64(targets[index])
            if move == choice:
                keys[ply, index] = TABLE_KEY
            elif (move == one or move == two) and board[targets[index]] == EMPTY:
                keys[ply, index] = KILLER_KEY
    numbers[ply, COUNT] = count
    numbers[ply, INDEX] = 0
    numbers[ply, BEST] = -WIN - numbers[ply, DEPTH]
    numbers[ply, CHOICE] = 0


@njit
def _close(ply, value, board, stack):
    """Take a frame's current move back and count its value."""
    numbers, moves, killers = stack.numbers, stack.moves, stack.killers
    index = numbers[ply, INDEX]
    origin, target = moves[ply, 0, index], moves[ply, 1, index]
    board[origin] = numbers[ply, ATTACKER]
    board[target] = numbers[ply, DEFENDER]
    if value > numbers[ply, BEST]:
        move = np.int64(origin) * 64 + np.int64(target)
        numbers[ply, BEST] = value
        numbers[ply, CHOICE] = move
        is_too_good = value >= numbers[ply, BETA] and numbers[ply, DEFENDER] == EMPTY
        if is_too_good and killers[ply, 0] != move:
            killers[ply, 1] = killers[ply, 0]
            killers[ply, 0] = move
    numbers[ply, INDEX] = index + 1


@njit
def deepen(side, board, worth, quiet_most, steps, habits, stack, nodes):
    """The value of the position in the stack's frame 0, for the side to move.

    The caller fills that frame: the six sets and the key, and DEPTH, SCORE, LEFT, ALPHA and BETA
    among the numbers. (A stack of our own, since numba cannot load a function that calls itself
    from its cache.)

    Args:
        worth, quiet_most, nodes: as for `search.search`.
        habits: a `Habits`.
    """
    words, numbers, moves, keys = stack.words, stack.numbers, stack.moves, stack.keys
    scratch = moves[DEEPEST - 1]
    if numbers[0, DEPTH] <= 1:
        return last_reply(
            board,
            words[0, OWN],
            words[0, MOBILE],
            words[0, ENGINEERS],
            words[0, ENEMY],
            words[0, ENEMY_MOBILE],
            side,
            numbers[0, ALPHA],
            numbers[0, BETA],
            numbers[0, SCORE],
            numbers[0, LEFT],
            worth,
            quiet_most,
            habits,
            scratch,
            nodes,
        )
    ply = 0
    is_new = True
    numbers[0, HAS_PASSED] = 0
    while True:
        depth = numbers[ply, DEPTH]
        # Near the limit of quiet plies a position is worth what its past makes it.
        is_timeless = numbers[ply, LEFT] > depth + 1
        if is_new:
            is_new = False
            numbers[ply, LOWEST] = numbers[ply, ALPHA]
            numbers[ply, IS_KNOWN] = 0
            numbers[ply, IS_PASSING] = 0
            numbers[ply, CHOICE] = 0
            if habits.remembers and is_timeless:
                numbers[ply, CHOICE] = _look_up(ply, stack)
            beta = numbers[ply, BETA]
            if not numbers[ply, IS_KNOWN]:
                if (
                    habits.passes
                    and depth >= PASS_FROM
                    and not numbers[ply, HAS_PASSED]
                    and numbers[ply, SCORE] >= beta
                    and beta < WIN
                    and is_timeless
                ):
                    numbers[ply, IS_PASSING] = 1
                    child = ply + 1
                    words[child, OWN] = words[ply, ENEMY]
                    words[child, MOBILE] = words[ply, ENEMY_MOBILE]
                    words[child, ENGINEERS] = words[ply, ENEMY_ENGINEERS]
                    words[child, ENEMY] = words[ply, OWN]
                    words[child, ENEMY_MOBILE] = words[ply, MOBILE]
                    words[child, ENEMY_ENGINEERS] = words[ply, ENGINEERS]
                    words[child, KEY] = words[ply, KEY] ^ _KEYS[_TURN]
                    numbers[child, DEPTH] = depth - 2
                    numbers[child, SCORE] = -numbers[ply, SCORE]
                    numbers[child, LEFT] = numbers[ply, LEFT] - 1
                    numbers[child, ALPHA] = -beta
                    numbers[child, BETA] = 1 - beta
                    numbers[child, HAS_PASSED] = 1
                    ply, side, is_new = child, 1 - side, True
                    continue
                _open(ply, board, side, worth, stack)
        index, best = numbers[ply, INDEX], numbers[ply, BEST]
        alpha, beta = numbers[ply, ALPHA], numbers[ply, BETA]
        is_known = numbers[ply, IS_KNOWN]
        if is_known or index == numbers[ply, COUNT] or best >= beta:
            if habits.remembers and not is_known and is_timeless:
                _keep(ply, stack)
            if ply == 0:
                return best
            ply -= 1
            side = 1 - side
            if not numbers[ply, IS_PASSING]:
                _close(ply, -best, board, stack)
                continue
            numbers[ply, IS_PASSING] = 0
            if -best >= numbers[ply, BETA]:
                numbers[ply, BEST] = -best
                numbers[ply, INDEX] = numbers[ply, COUNT] = 0
            else:
                _open(ply, board, side, worth, stack)
            continue
        # Once the good contacts and the killers are through, the rest comes as it is listed.
        if index == 0 or keys[ply, index - 1] >= KILLER_KEY:
            next_best(index, numbers[ply, COUNT], moves[ply, 0], moves[ply, 1], keys[ply])
        origin = np.uint64(moves[ply, 0, index])
        target = np.uint64(moves[ply, 1, index])
        defender = board[target]
        left = numbers[ply, LEFT]
        nodes[0] += 1
        if defender == FLAG:
            numbers[ply, BEST] = WIN + depth
            numbers[ply, INDEX] = numbers[ply, COUNT]
            continue
        if defender == EMPTY and left <= 1:
            numbers[ply, INDEX] = index + 1
            continue
        score = -(numbers[ply, SCORE] + ply_gain(board, origin, target, side, left, worth))
        lower = max(alpha, best)
        is_poor = depth == 2 and -score <= lower and left > 2
        if is_poor and not (near_flag(board, 1 - side) >> target) & U1:
            # No threat to the flag, and the last reply gives nothing away: it comes to no more.
            numbers[ply, BEST] = max(best, -score)
            numbers[ply, INDEX] = index + 1
            continue
        numbers[ply, ATTACKER] = board[origin]
        numbers[ply, DEFENDER] = defender
        key = U0
        if habits.remembers and depth > 2:
            key = key_after(words[ply, KEY], board, origin, target, side)
        own, mobile, engineers, enemy, enemy_mobile, enemy_engineers = settle(
            board,
            origin,
            target,
            words[ply, OWN],
            words[ply, MOBILE],
            words[ply, ENGINEERS],
            words[ply, ENEMY],
            words[ply, ENEMY_MOBILE],
            words[ply, ENEMY_ENGINEERS],
        )
        left = left - 1 if defender == EMPTY else steps
        if depth == 2:
            value = last_reply(
                board,
                enemy,
                enemy_mobile,
                enemy_engineers,
                own,
                mobile,
                1 - side,
                -beta,
                -lower,
                score,
                left,
                worth,
                quiet_most,
                habits,
                scratch,
                nodes,
            )
            _close(ply, -value, board, stack)
            continue
        child = ply + 1
        words[child, OWN] = enemy
        words[child, MOBILE] = enemy_mobile
        words[child, ENGINEERS] = enemy_engineers
        words[child, ENEMY] = own
        words[child, ENEMY_MOBILE] = mobile
        words[child, ENEMY_ENGINEERS] = engineers
        words[child, KEY] = key
        numbers[child, DEPTH] = depth - 1
        numbers[child, SCORE] = score
        numbers[child, LEFT] = left
        numbers[child, ALPHA] = -beta
        numbers[child, BETA] = -lower
        numbers[child, HAS_PASSED] = 0
        ply, side, is_new = child, 1 - side, True
