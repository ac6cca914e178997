"""What has been seen to follow a move: a tree of plies, shared by all worlds in which it is tried.

A node is a ply together with what everybody saw of it. The own side chooses among moves, whatever
is hidden; only then it sees what a contact came to, and goes on by that. The enemy, who knows his
pieces, chooses among moves with what they come to. So neither side's choice rests on what it cannot
know, but for the enemy's, who is taken to guess right. Worlds in which a ply is not possible pass
over it.

A node's children are a linked list, its numbers stand in arrays. Nodes 0 to 3 are the four things
that can come of the root move itself (see `outcome_of`); 0 is also "none", since no list holds it.
"""

from math import log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from junqi.board import POINTS
from junqi.kernels.bits import U1
from junqi.kernels.jit import njit
from junqi.kernels.moves import origin_of
from junqi.kernels.playout import U3, U8, U16
from junqi.kernels.tables import BEHIND, DIRECTIONS, GONE, STAYS
from junqi.pieces import EMPTY

OUTCOMES = 4
# The longest path, in nodes. A ply adds two at most: a move, and what it came to.
LONGEST_PATH = 64


class Tree(NamedTuple):
    """Plies after one root move."""

    keys: NDArray[np.int32]
    """Origin, target and outcome of the ply; see `key_of`."""
    first: NDArray[np.int32]
    """The first child, or 0."""
    next: NDArray[np.int32]
    """The next child of the same parent, or 0."""
    visits: NDArray[np.int32]
    totals: NDArray[np.float64]
    """Sum of the chances of side 0 that the visits found."""
    used: NDArray[np.int64]
    """``int64[1]``, how many nodes there are."""


def new_tree(size: int) -> Tree:
    """A tree with nothing but its roots, and room for so many nodes."""
    keys, first, next_ones, visits = np.zeros((4, size), np.int32)
    return Tree(keys, first, next_ones, visits, np.zeros(size), np.array([OUTCOMES]))


def grown(tree: Tree, size: int) -> Tree:
    """The same tree with room for so many nodes at least."""
    if size <= len(tree.keys):
        return tree
    more = max(size, 2 * len(tree.keys)) - len(tree.keys)
    return Tree(
        np.pad(tree.keys, (0, more)),
        np.pad(tree.first, (0, more)),
        np.pad(tree.next, (0, more)),
        np.pad(tree.visits, (0, more)),
        np.pad(tree.totals, (0, more)),
        tree.used,
    )


def _directions() -> NDArray[np.int8]:
    """At [origin * 64 + target] the direction of a straight move, -1 where there is none."""
    table = np.full((64, 64), -1, np.int8)
    for direction in range(len(DIRECTIONS)):
        for target in range(POINTS):
            behind = int(BEHIND[direction * 64 + target])
            for origin in range(POINTS):
                if behind >> origin & 1:
                    table[origin, target] = direction
    return table.ravel()


_DIRECTION = _directions()
_U64 = np.uint64(64)


@njit
def can_go(origin, target, own, total, sets):
    """Whether a move is among the `total` of `count_moves`."""
    direction = _DIRECTION[origin * _U64 + target]
    is_straight = direction >= 0 and (sets[direction] >> target) & U1
    if is_straight and origin_of(np.uint64(direction), target, own) == origin:
        return True
    number = U8
    while sets[number + U16] < total:
        if sets[number + U3] == origin and (sets[number] >> target) & U1:
            return True
        number += U1
    return False


@njit
def outcome_of(board, origin, target):
    """What a move comes to: 0 no contact; 1 the attacker goes, 2 both go, 3 the defender goes."""
    if board[target] == EMPTY:
        return 0
    meeting = np.uint64(board[origin]) * U16 + np.uint64(board[target])
    return 1 + (1 if GONE[meeting] else 0) + (1 if STAYS[meeting] else 0)


@njit
def key_of(origin, target, outcome):
    """A ply as one number; moves that are chosen whatever they come to have outcome 0."""
    return np.int64(origin) << 8 | np.int64(target) << 2 | outcome


@njit
def move_of(key):
    """Origin and target of a key."""
    return np.uint64((key >> 8) & 63), np.uint64((key >> 2) & 63)


@njit
def child_of(tree, node, key):
    """The child with a key, added if it is new; 0 if there is no room for it."""
    child = tree.first[node]
    while child:
        if tree.keys[child] == key:
            return child
        child = tree.next[child]
    child = tree.used[0]
    if child >= tree.keys.shape[0]:
        return 0
    tree.used[0] = child + 1
    tree.keys[child] = key
    tree.next[child] = tree.first[node]
    tree.first[node] = child
    return child


@njit
def best_child(tree, node, side, board, own, mobile, total, sets, explore):
    """The child to follow in this world, 0 if there is none, and how many could be followed.

    The best mean of the side to move wins, those seldom tried being given the benefit of the doubt
    (upper confidence bounds).

    Args:
        board: the world's; with `own`, `mobile`, and the `total` and `sets` of `count_moves`.
        explore: the weight of the doubt.
    """
    best = -1.0
    chosen = 0
    count = 0
    doubt = explore * sqrt(log(tree.visits[node] + 1.0))
    child = tree.first[node]
    while child:
        origin, target = move_of(tree.keys[child])
        is_possible = (mobile >> origin) & U1 and can_go(origin, target, own, total, sets)
        if is_possible and side == 1:
            is_possible = (tree.keys[child] & 3) == outcome_of(board, origin, target)
        if is_possible:
            count += 1
            mean = tree.totals[child] / tree.visits[child]
            value = (mean if side == 0 else 1.0 - mean) + doubt / sqrt(tree.visits[child])
            if value > best:
                best = value
                chosen = child
        child = tree.next[child]
    return chosen, count


@njit
def count_visit(tree, path, length, value):
    """Add what a visit found to the nodes of its path."""
    for index in range(length):
        tree.visits[path[index]] += 1
        tree.totals[path[index]] += value
