"""A layout as an individual: made, mutated and mated, and legal at every moment.

Every change is an exchange of two pieces that may both stand where they come to stand. So counts
are kept and the rules obeyed with nothing to repair. All randomness comes from the generator that
is handed in.
"""

from itertools import pairwise
from random import Random
from typing import TypeAlias

import numpy as np
from deap import base

from junqi.board import COLUMNS, mirror_point, row_of
from junqi.layout import ALLOWED, LAYOUT_POINTS, Layout
from junqi.pieces import KINDS

SLOTS = range(len(LAYOUT_POINTS))
Genes: TypeAlias = list[int]

# By kind and slot: whether the rules let it start there.
MAY_STAND = {
    kind.piece: tuple(p in ALLOWED.get(kind.piece, LAYOUT_POINTS) for p in LAYOUT_POINTS)
    for kind in KINDS
}
MIRROR = tuple(LAYOUT_POINTS.index(mirror_point(p)) for p in LAYOUT_POINTS)
ROWS = tuple(
    tuple(s for s in SLOTS if row_of(LAYOUT_POINTS[s]) == row)
    for row in sorted({row_of(p) for p in LAYOUT_POINTS})
)
BACK_SLOTS = (*ROWS[-2], *ROWS[-1])
# Regions that a child takes whole from one parent: rows that belong together, and wings.
REGIONS = (
    *ROWS,
    (*ROWS[0], *ROWS[1]),
    (*ROWS[1], *ROWS[2], *ROWS[3]),
    BACK_SLOTS,
    tuple(s for s in SLOTS if LAYOUT_POINTS[s] % COLUMNS <= 1),
    tuple(s for s in SLOTS if LAYOUT_POINTS[s] % COLUMNS >= COLUMNS - 2),
    tuple(s for s in SLOTS if LAYOUT_POINTS[s] % COLUMNS == COLUMNS // 2),
)


class Fitness(base.Fitness):  # type: ignore[misc]
    """One number, the larger the better."""

    weights = (1.0,)


class Individual(list[int]):
    """The 25 pieces of a layout, with a score that games add to."""

    def __init__(self, genes: Genes | Layout) -> None:
        super().__init__(genes.tolist() if isinstance(genes, np.ndarray) else genes)
        self.fitness = Fitness()
        self.points = 0.0
        """Of all games so far: 1 for a win, a half for a draw."""
        self.games = 0
        self.bonus = 0.0
        """What it is worth beside its score."""


def exchange(genes: Genes, a: int, b: int) -> bool:
    """Exchange the pieces of two slots if the rules allow it."""
    if a == b or not (MAY_STAND[genes[a]][b] and MAY_STAND[genes[b]][a]):
        return False
    genes[a], genes[b] = genes[b], genes[a]
    return True


def exchange_pieces(genes: Genes, random: Random) -> None:
    """Exchange one, two or three pairs of different pieces."""
    for _ in range(random.choice((1, 1, 2, 3))):
        for _ in range(50):
            a, b = random.sample(SLOTS, 2)
            if genes[a] != genes[b] and exchange(genes, a, b):
                break


def exchange_rows(genes: Genes, random: Random) -> None:
    """Exchange two rows slot by slot, where the rules allow it."""
    one, two = random.sample(ROWS, 2)
    for a, b in zip(one, two, strict=False):
        exchange(genes, a, b)


def exchange_wings(genes: Genes, random: Random) -> None:
    """Mirror one or more rows."""
    for row in random.sample(ROWS, random.randint(1, 3)):
        mirror_slots(genes, row)


def move_flag(genes: Genes, random: Random) -> None:
    """Put the flag into the other headquarters, and with it what stands around it."""
    mirror_slots(genes, BACK_SLOTS)


def mirror_slots(genes: Genes, slots: tuple[int, ...]) -> None:
    """Exchange left and right in some rows."""
    for slot in slots:
        if slot < MIRROR[slot]:
            exchange(genes, slot, MIRROR[slot])


def rotate_group(genes: Genes, random: Random) -> None:
    """Pass the pieces of a few slots around."""
    slots = random.sample(SLOTS, random.randint(3, 5))
    for a, b in pairwise(slots):
        exchange(genes, a, b)


MUTATIONS = (exchange_pieces, exchange_rows, exchange_wings, move_flag, rotate_group)
# How often each is used: most steps are small ones.
MUTATION_SHARES = (70, 6, 8, 6, 10)


def mutate(genes: Genes, random: Random) -> None:
    """Change an individual a little."""
    (change,) = random.choices(MUTATIONS, MUTATION_SHARES)
    change(genes, random)


def mate(genes: Genes, other: Genes, random: Random) -> Individual:
    """A child of two: one's layout, with a region as the other has it as far as that goes."""
    child = Individual(genes)
    region = random.choice(REGIONS)
    placed = set()
    for slot in region:
        wanted = other[slot]
        if child[slot] != wanted:
            free = [s for s in SLOTS if s not in placed and child[s] == wanted]
            random.shuffle(free)
            # Rather from outside the region: inside, the piece may be where it belongs.
            free.sort(key=lambda s: s in region)
            next((s for s in free if exchange(child, slot, s)), None)
        placed.add(slot)
    return child


def to_array(individuals: list[Individual]) -> Layout:
    """Individuals as layouts, ``int8[n, 25]``."""
    return np.array(individuals, dtype=np.int8).reshape(len(individuals), len(SLOTS))
