"""The twelve kinds of piece and the two sides: codes, letters, counts, names and contact.

Officers are numbered by rank, so that the stronger of two is the larger number.
"""

from dataclasses import dataclass
from typing import TypeAlias

Piece: TypeAlias = int
Side: TypeAlias = int
Contact: TypeAlias = int

# No piece stands here. It is a code of its own, so that a table can be indexed by it.
EMPTY: Piece = 0
ENGINEER: Piece = 1
PLATOON: Piece = 2
COMPANY: Piece = 3
BATTALION: Piece = 4
REGIMENT: Piece = 5
BRIGADE: Piece = 6
DIVISION: Piece = 7
GENERAL: Piece = 8
MARSHAL: Piece = 9
BOMB: Piece = 10
MINE: Piece = 11
FLAG: Piece = 12
# A piece whose kind the onlooker has not been told. It never takes part in `contact`.
HIDDEN: Piece = 13

# The side that moves first sits at the bottom of the board, rows G to L.
RED: Side = 0
BLACK: Side = 1
# The owner of an empty point, and the winner of a draw.
NOBODY: Side = -1

SIDE_NAMES = {RED: "red", BLACK: "black", NOBODY: "nobody"}

# Results of a move, told from the mover's side. The numbers are the protocol's.
DEFENDER_WINS: Contact = 0
ATTACKER_WINS: Contact = 1
BOTH_REMOVED: Contact = 2
NO_CONTACT: Contact = 3


@dataclass(frozen=True)
class Kind:
    """What there is to know about one kind of piece."""

    piece: Piece
    letter: str
    count: int
    english: str
    chinese: str


# In the order of the protocol's letters.
KINDS = (
    Kind(MARSHAL, "a", 1, "marshal", "司令"),
    Kind(GENERAL, "b", 1, "general", "军长"),
    Kind(DIVISION, "c", 2, "division", "师长"),
    Kind(BRIGADE, "d", 2, "brigade", "旅长"),
    Kind(REGIMENT, "e", 2, "regiment", "团长"),
    Kind(BATTALION, "f", 2, "battalion", "营长"),
    Kind(COMPANY, "g", 3, "company", "连长"),
    Kind(PLATOON, "h", 3, "platoon", "排长"),
    Kind(ENGINEER, "i", 3, "engineer", "工兵"),
    Kind(MINE, "j", 3, "mine", "地雷"),
    Kind(BOMB, "k", 2, "bomb", "炸弹"),
    Kind(FLAG, "l", 1, "flag", "军旗"),
)

KIND_OF = {kind.piece: kind for kind in KINDS}
PIECE_OF_LETTER = {kind.letter: kind.piece for kind in KINDS}
LETTER_OF_PIECE = {kind.piece: kind.letter for kind in KINDS}
PIECES_A_SIDE = sum(kind.count for kind in KINDS)


def other(side: Side) -> Side:
    """The side that faces this one."""
    return 1 - side


def piece_name(piece: Piece) -> str:
    """A kind by its name and letter, as error messages call it.

    >>> piece_name(BOMB)
    'bomb (k)'
    """
    kind = KIND_OF[piece]
    return f"{kind.english} ({kind.letter})"


def contact(attacker: Piece, defender: Piece) -> Contact:
    """What comes of an attacker meeting a defender, told from the attacker's side."""
    if defender == EMPTY:
        return NO_CONTACT
    if BOMB in (attacker, defender) or attacker == defender:
        return BOTH_REMOVED
    if defender == FLAG:
        return ATTACKER_WINS
    if defender == MINE:
        return ATTACKER_WINS if attacker == ENGINEER else DEFENDER_WINS
    return ATTACKER_WINS if attacker > defender else DEFENDER_WINS
