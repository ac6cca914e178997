"""Which opening move of a book is played at an own turn, if any.

A row's error tells how far its move may fall short of the best one. A row is good enough if that is
no more than the loss that is put up with; one without an error was written by hand, and is
believed. Of the keys of the turn, exact, near and wide, the one with the surest move that is good
enough answers, the exact one before others that are as sure. Among its moves a lot is drawn by
their weights.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from random import Random

from book.openings import Spot, level_of
from book.rows import Opening
from junqi.rules import Move, parse_move

MOST_LOSS = 0.01
"""The loss of winning chances that is put up with for the time that a stored move saves."""

# The noise of a search: in so many worlds the difference of two moves is off by this over the root
# of their number. Measured at the first ten own moves of people's layouts.
_NOISE = 0.065
# Worlds that one thread looks at in a second, and the most that a search ever looks at.
_WORLDS_A_SECOND = 10_000
_MOST_WORLDS = 20_000

Lookup = Callable[[str, str], Sequence[Opening]]


@dataclass(frozen=True)
class Advice:
    """A stored move for the turn at hand."""

    move: Move
    """As the view calls it."""
    row: Opening

    @property
    def level(self) -> int:
        """How much the key tells, like `openings.EXACT`."""
        return level_of(self.row.key)


def advise(
    spot: Spot, lookup: Lookup, legal: Collection[Move], most_loss: float, lots: Random
) -> Advice | None:
    """A stored move that is legal and good enough; None if there is none.

    Args:
        spot: the turn.
        lookup: gives the rows of a layout and key, the disabled ones too: a move that is disabled
            where more is known is not played because a wider key has it as well.
        legal: the moves that can be made.
        most_loss: see `loss_limit`.
        lots: the lot among several moves is drawn from it.
    """
    barred: set[str] = set()
    best: list[Advice] = []
    for key in spot.keys:
        rows = lookup(spot.layout, key)
        barred |= {row.move for row in rows if not row.enabled}
        found = [
            Advice(move, row)
            for row in rows
            if row.move not in barred
            and row.weight > 0
            and (row.error is None or row.error <= most_loss)
            and (move := spot.move(parse_move(row.move))) in legal
        ]
        if found and (not best or _error(found) < _error(best)):
            best = found
    if not best:
        return None
    best.sort(key=lambda advice: advice.row.move)
    return lots.choices(best, [advice.row.weight for advice in best])[0]


def _error(found: list[Advice]) -> float:
    """The error of the surest move."""
    return min(advice.row.error or 0.0 for advice in found)


def loss_limit(most_loss: float, worlds: float) -> float:
    """The loss up to which a stored move is taken instead of a search.

    Args:
        most_loss: what is put up with in any case.
        worlds: in how many of them the search would try each move. A short search errs itself,
            and what errs less is better than it.
    """
    return max(most_loss, _NOISE / max(worlds, 1.0) ** 0.5)


def worlds_in(seconds: float, threads: int) -> float:
    """About how many worlds a search looks at in so long."""
    return min(seconds * threads * _WORLDS_A_SECOND, _MOST_WORLDS)
