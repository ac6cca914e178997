"""What each side knows of the other's pieces, in one byte a piece.

Beside the board goes an array ``uint8[64]`` called `known`: for the piece on a point, what its
owner's enemy knows of it. It is made of public moves and results only, each side adding what it
knows of its own piece in a contact.
"""

import numpy as np

from junqi.board import HEADQUARTERS_POINTS, IS_HEADQUARTERS, POINTS, row_of
from junqi.kernels.bits import U0, U1
from junqi.kernels.jit import njit
from junqi.kernels.moves import allowed_targets, move_sets
from junqi.kernels.tables import STEP_POINTS
from junqi.layout import FRONT_ROW, LAYOUT_POINTS, MINE_ROWS
from junqi.pieces import BLACK, BOMB, EMPTY, ENGINEER, FLAG, MARSHAL, MINE, RED

# The bits of that byte.
STRONGER_THAN = 0x0F  # it has beaten this rank; or one of the two codes that follow
IS_ENGINEER = 14  # it has dug a mine, or turned on rail
IS_FLAG = 15  # its place has been told
HAS_MOVED = 0x10
NO_BOMB = 0x20  # it started in the front row, or has survived a contact
MAY_BE_MINE = 0x40  # it stands where it started, in the last two rows
MAY_BE_FLAG = 0x80  # it stands where it started, in a headquarters

_STRONGER_THAN = np.uint8(STRONGER_THAN)
_NOT_STRONGER = np.uint8(0xFF & ~STRONGER_THAN)
_NOT_FLAG = np.uint8(0xFF & ~MAY_BE_FLAG)
_NOT_MINE = np.uint8(0xFF & ~MAY_BE_MINE)


def _known_at_start() -> np.ndarray:
    table = np.zeros(64, dtype=np.uint8)
    for p in LAYOUT_POINTS:
        known = NO_BOMB if row_of(p) == FRONT_ROW else 0
        known |= MAY_BE_MINE if row_of(p) in MINE_ROWS else 0
        known |= MAY_BE_FLAG if IS_HEADQUARTERS[p] else 0
        table[p] = table[POINTS - 1 - p] = known
    return table


KNOWN_AT_START = _known_at_start()
# At [side, 0 or 1]: the headquarters of each side, as the tables number them.
HEADQUARTERS = np.array([HEADQUARTERS_POINTS[RED], HEADQUARTERS_POINTS[BLACK]], dtype=np.uint64)


@njit
def learn(board, known, origin, target, own, enemy):
    """Update `known` for a move that is about to be made on the board.

    Returns whether the mover's and whether the enemy's marshal is lost by it.
    """
    attacker = board[origin]
    defender = board[target]
    of_mover = (known[origin] & np.uint8(STRONGER_THAN | NO_BOMB)) | np.uint8(HAS_MOVED)
    if attacker == ENGINEER and not (STEP_POINTS[origin] >> target) & U1:
        empty = ~(own | enemy)
        allowed = allowed_targets(enemy, empty)
        e, s, _, _, w, n, _, _ = move_sets(U1 << origin, U0, allowed, empty)
        if not ((e | s | w | n) >> target) & U1:
            of_mover = (of_mover & _NOT_STRONGER) | np.uint8(IS_ENGINEER)
    known[origin] = 0
    if defender == EMPTY:
        known[target] = of_mover
        return False, False
    if attacker == BOMB or defender == BOMB or attacker == defender:
        known[target] = 0
        return attacker == MARSHAL, defender == MARSHAL
    if defender == MINE:
        if attacker == ENGINEER:
            known[target] = np.uint8(HAS_MOVED | NO_BOMB | IS_ENGINEER)
            return False, False
    elif attacker > defender or defender == FLAG:
        bound = of_mover & _STRONGER_THAN
        if defender <= MARSHAL and defender > bound:
            of_mover = (of_mover & _NOT_STRONGER) | np.uint8(defender)
        known[target] = of_mover | np.uint8(NO_BOMB)
        return False, defender == MARSHAL
    of_target = (known[target] & _NOT_FLAG) | np.uint8(NO_BOMB)
    if attacker == ENGINEER:
        of_target &= _NOT_MINE  # it would have dug one
    if attacker > (of_target & _STRONGER_THAN):
        of_target = (of_target & _NOT_STRONGER) | np.uint8(attacker)
    known[target] = of_target
    return attacker == MARSHAL, False


@njit
def tell_flag(board, known, side):
    """Make the flag of a side known; returns 1 or 2 for the headquarters it is in."""
    told = 0
    for number in range(2):
        point = HEADQUARTERS[side, number]
        if board[point] == FLAG:
            known[point] = np.uint8(IS_FLAG)
            told = number + 1
        else:
            known[point] &= _NOT_FLAG
    return told


@njit
def flag_number(board, side):
    """Which of its two headquarters a side's flag is in, 0 or 1."""
    return 0 if board[HEADQUARTERS[side, 0]] == FLAG else 1
