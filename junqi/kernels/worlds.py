"""What a searching player can conclude of each enemy piece, and worlds drawn from it.

A side's 25 pieces are its slots, in the order of a layout's letters; a slot keeps its number when
the piece moves and after it is gone. `may` is ``uint16[2, 25]``: bit k of a slot is set while the
*other* side cannot exclude that the piece is of kind k. `where` is ``uint8[2, 25]``: the point of
each slot, or `GONE_POINT`. A world is an assignment of kinds to the enemy's 25 slots, the right
number of each kind, every kind allowed by `may`: never the truth itself, only drawn from what the
player knows.
"""

import numpy as np

from junqi.kernels.bits import U0, U1, advance, scramble
from junqi.kernels.jit import njit
from junqi.kernels.moves import allowed_targets, move_sets
from junqi.kernels.tables import NOT_HEADQUARTERS, START_POINTS, STEP_POINTS
from junqi.layout import ALLOWED, LAYOUT_POINTS
from junqi.pieces import (
    ATTACKER_WINS,
    BOMB,
    BOTH_REMOVED,
    DEFENDER_WINS,
    EMPTY,
    ENGINEER,
    FLAG,
    KINDS,
    MARSHAL,
    MINE,
    contact,
)

GONE_POINT = np.uint8(64)
# Exchanges tried between one world and the next.
MIXING = 80
SLOTS = len(LAYOUT_POINTS)

_U_SLOTS = np.uint64(SLOTS)
_S21 = np.uint64(21)
_S42 = np.uint64(42)
_S43 = np.uint64(43)

_MOVERS = np.uint16(sum(1 << k.piece for k in KINDS if k.piece not in (MINE, FLAG)))
_ONLY_ENGINEER = np.uint16(1 << ENGINEER)
_ONLY_FLAG = np.uint16(1 << FLAG)
_ONLY_MARSHAL = np.uint16(1 << MARSHAL)
_NOT_FLAG = np.uint16(0xFFFF & ~(1 << FLAG))
_NOT_MARSHAL = np.uint16(0xFFFF & ~(1 << MARSHAL))


def _may_at_start() -> np.ndarray:
    table = np.zeros(SLOTS, dtype=np.uint16)
    for slot, point in enumerate(LAYOUT_POINTS):
        for kind in KINDS:
            if kind.piece not in ALLOWED or point in ALLOWED[kind.piece]:
                table[slot] |= np.uint16(1 << kind.piece)
    return table


def _consistent() -> tuple[np.ndarray, np.ndarray]:
    """At [own kind, result] the kinds the other piece may have: of a defender, of an attacker."""
    of_defender = np.zeros((16, 4), dtype=np.uint16)
    of_attacker = np.zeros((16, 4), dtype=np.uint16)
    for attacker in (*range(ENGINEER, MARSHAL + 1), BOMB):
        for defender in range(ENGINEER, FLAG + 1):
            result = contact(attacker, defender)
            of_defender[attacker, result] |= np.uint16(1 << defender)
            of_attacker[defender, result] |= np.uint16(1 << attacker)
    return of_defender, of_attacker


MAY_AT_START = _may_at_start()
OF_DEFENDER, OF_ATTACKER = _consistent()
# What a world is made of; `mend_world` makes a first one of it.
ALL_KINDS = np.array([k.piece for k in KINDS for _ in range(k.count)], dtype=np.uint8)


@njit
def start_tracking(slots_out, where_out, may_out):
    """Fill the arrays for the start of a game; `slots_out` is ``uint8[64]``, slot by point."""
    for side in range(2):
        for slot in range(SLOTS):
            point = START_POINTS[side, slot]
            slots_out[point] = slot
            where_out[side, slot] = point
            may_out[side, slot] = MAY_AT_START[slot]


@njit
def track(board, slots, where, may, origin, target, side, own, enemy):
    """Update for a side's move, about to be made on the board, that does not end the game."""
    attacker = board[origin]
    defender = board[target]
    slot = slots[origin]
    may[side, slot] &= _MOVERS
    if attacker == ENGINEER and not (STEP_POINTS[origin] >> target) & U1:
        empty = ~(own | enemy)
        allowed = allowed_targets(enemy, empty)
        e, s, _, _, w, n, _, _ = move_sets(U1 << origin, U0, allowed, empty)
        if not ((e | s | w | n) >> target) & U1:
            may[side, slot] = _ONLY_ENGINEER
    if defender == EMPTY:
        where[side, slot] = target
        slots[target] = slot
        return
    other_slot = slots[target]
    if attacker == BOMB or defender == BOMB or attacker == defender:
        result = BOTH_REMOVED
    elif defender == MINE:
        result = ATTACKER_WINS if attacker == ENGINEER else DEFENDER_WINS
    else:
        result = ATTACKER_WINS if attacker > defender else DEFENDER_WINS
    may[1 - side, other_slot] &= OF_DEFENDER[attacker, result] & _NOT_FLAG
    may[side, slot] &= OF_ATTACKER[defender, result]
    if result != DEFENDER_WINS:
        where[1 - side, other_slot] = GONE_POINT
        _bury(board, where, may, 1 - side, other_slot, defender)
    if result == ATTACKER_WINS:
        where[side, slot] = target
        slots[target] = slot
    else:
        where[side, slot] = GONE_POINT
        _bury(board, where, may, side, slot, attacker)


@njit
def _bury(board, where, may, side, slot, piece):
    """What a loss tells: a marshal's death shows the flag, any other that it was no marshal."""
    if piece != MARSHAL:
        may[side, slot] &= _NOT_MARSHAL
        return
    may[side, slot] = _ONLY_MARSHAL
    for other_slot in range(SLOTS):
        point = where[side, other_slot]
        is_flag = point != GONE_POINT and board[point] == FLAG
        if is_flag:
            may[side, other_slot] = _ONLY_FLAG
        else:
            may[side, other_slot] &= _NOT_FLAG


@njit
def mend_world(may, world):
    """Change an assignment as little as needed for `may`, one side's ``uint16[25]``, to allow it.

    Returns False if no assignment is allowed, which truthful messages never lead to.
    """
    for slot in range(SLOTS):
        if not (may[slot] >> world[slot]) & 1 and not _mend_slot(may, world, slot):
            return False
    return True


@njit
def _mend_slot(may, world, start):
    """Give a slot whose kind is not allowed another one.

    It takes the kind of a second slot, which takes that of a third, and so on to one that can
    take what was left over: a shortest such chain, found breadth first.
    """
    takers = np.full(SLOTS, -1, dtype=np.int64)
    queue = np.empty(SLOTS, dtype=np.int64)
    kind = world[start]
    takers[start] = start
    queue[0] = start
    head, tail = 0, 1
    while head < tail:
        slot = queue[head]
        head += 1
        for giver in range(SLOTS):
            if takers[giver] >= 0 or not (may[slot] >> world[giver]) & 1:
                continue
            takers[giver] = slot
            # One that is wrong itself may as well be left with the kind that is over.
            if (may[giver] >> kind) & 1 or not (may[giver] >> world[giver]) & 1:
                _rotate(world, takers, giver, start)
                return True
            queue[tail] = giver
            tail += 1
    return False


@njit
def _rotate(world, takers, end, start):
    """Pass the kinds along a chain: each taker has its giver's, the end has the start's."""
    incoming = world[start]
    slot = end
    while True:
        outgoing = world[slot]
        world[slot] = incoming
        if slot == start:
            return
        incoming = outgoing
        slot = takers[slot]


@njit
def mix_world(may, world, tries, state):
    """Draw another allowed assignment by exchanging kinds between random slots.

    Two slots exchange their kinds; where that is not allowed, three may pass them round. (Pieces
    gone together with a bomb often leave nothing else to try: with exchanges of two alone, in one
    of a hundred late positions part of the worlds could not be reached.) A change and its reverse
    are equally likely, so in the long run all allowed assignments are. Returns the generator's
    state.
    """
    for _ in range(tries):
        state = advance(state)
        bits = scramble(state)
        a = _lot(bits)
        b = _lot(bits << _S21)
        kind_a = world[a]
        kind_b = world[b]
        if not (may[a] >> kind_b) & 1:
            continue
        if (may[b] >> kind_a) & 1:
            world[a] = kind_b
            world[b] = kind_a
            continue
        c = _lot(bits << _S42)
        kind_c = world[c]
        if (may[b] >> kind_c) & 1 and (may[c] >> kind_a) & 1:
            world[a] = kind_b
            world[b] = kind_c
            world[c] = kind_a
    return state


@njit
def _lot(bits):
    """A slot by the upper 21 of 64 random bits."""
    return ((bits >> _S43) * _U_SLOTS) >> _S21


@njit
def put_world(world, where, side, board_out):
    """Set a side's pieces on a board to those of a world; returns which can move, and engineers."""
    mobile = U0
    engineers = U0
    for slot in range(SLOTS):
        point = where[side, slot]
        if point == GONE_POINT:
            continue
        kind = world[slot]
        board_out[point] = kind
        bit = U1 << np.uint64(point)
        if kind != MINE and kind != FLAG:
            mobile |= bit
        if kind == ENGINEER:
            engineers |= bit
    return mobile & NOT_HEADQUARTERS, engineers & NOT_HEADQUARTERS
