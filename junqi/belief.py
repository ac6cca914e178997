"""What one side believes of the enemy's pieces: what each can be, and how likely.

`deduce` says what is possible. Among that, a world (a kind for each of the enemy's 25 slots) is as
likely as the product of its slots' weights: how people place their pieces, times what the piece's
behaviour tells.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from junqi.behaviour import signs_of
from junqi.board import mirror_point
from junqi.deduce import FLAG_SLOTS, SLOTS, Log, deduce
from junqi.layout import LAYOUT_POINTS
from junqi.pieces import FLAG, KINDS, PIECE_OF_LETTER
from junqi.view import View

# How far the signs are believed. The games they were learned from were played by our own simulated
# players, and the signs of one piece are not independent of each other.
SIGN_TRUST = 0.6

_MIRROR = [LAYOUT_POINTS.index(mirror_point(p)) for p in LAYOUT_POINTS]
_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, eq=False)
class Tables:
    """What was learned of layouts and games, by `scripts/learn_prior.py` and `learn_signs.py`."""

    places: NDArray[np.float64]
    """``float64[2, 25, 16]``: weights by the flag's headquarters, slot and kind."""
    signs: dict[str, NDArray[np.float64]]
    """``float64[16]`` for each sign: the logarithm of how likely it is for each kind."""
    trust: float = SIGN_TRUST
    """How far the signs are believed, from 0 to 1."""

    @classmethod
    def uniform(cls) -> "Tables":
        """Every possible world is equally likely."""
        return cls(_by_headquarters(np.ones((SLOTS, 16))), {})


@cache
def learned() -> Tables:
    """The tables that come with the package."""
    places = np.zeros((SLOTS, 16))
    for letter, column in json.loads((_DATA / "places.json").read_text("utf-8")).items():
        places[:, PIECE_OF_LETTER[letter]] = column
    signs = {}
    for sign, row in json.loads((_DATA / "signs.json").read_text("utf-8")).items():
        signs[sign] = np.zeros(16)
        signs[sign][[kind.piece for kind in KINDS]] = row
    return Tables(_by_headquarters(places), signs)


def _by_headquarters(first: NDArray[np.float64]) -> NDArray[np.float64]:
    """Both tables, given the one for a flag in the first headquarters."""
    tables = np.stack([first, first[_MIRROR]])
    for side in range(2):
        flag, other = FLAG_SLOTS[side], FLAG_SLOTS[1 - side]
        tables[side, flag] = 0.0
        tables[side, flag, FLAG] = 1.0
        tables[side, other, FLAG] = 0.0
    return tables


@dataclass(frozen=True, eq=False)
class Belief:
    """What one side believes of the enemy's 25 slots, in the order of a layout's letters."""

    masks: NDArray[np.uint16]
    """``uint16[25]``: bit k is set if the slot has kind k in some possible world."""
    weights: NDArray[np.float64]
    """``float64[2, 25, 16]`` by the flag's headquarters (0 for L1 of the enemy, 1 for L3), slot
    and kind; 0 where masked."""
    slots: NDArray[np.int8]
    """``int8[25]``: the point where each slot stands now, in own coordinates; -1 if it is gone."""

    @classmethod
    def of(cls, view: View, log: Log | None = None, tables: Tables | None = None) -> "Belief":
        """Believe what a view tells.

        Never raises: messages that contradict others are left out, and told to `log`.

        Args:
            view: what the player was told.
            log: is called with a line for each message that was not believed.
            tables: what is likely; what was learned if None.
        """
        tables = tables or learned()
        masks = np.array(deduce(view, log), np.uint16)
        weights = tables.places * ((masks[:, None] >> np.arange(16)) & 1)
        if tables.signs:
            weights *= np.exp(tables.trust * _telling(view, tables))
        points = [-1 if man.point is None else man.point for man in view.men[SLOTS:]]
        return cls(masks, weights, np.array(points, np.int8))


def _telling(view: View, tables: Tables) -> NDArray[np.float64]:
    """What the signs of each slot say, ``float64[25, 16]``: the logarithm of their likelihood."""
    table = np.zeros((SLOTS, 16))
    for slot, signs in enumerate(signs_of(view)):
        for sign in signs:
            if sign in tables.signs:
                table[slot] += tables.signs[sign]
    return table
