"""Worlds drawn exactly by their probabilities: kinds for a side's slots, weighted slot by slot.

The slots are filled one after the other. All that matters of the slots filled so far is how many of
each kind they took: a state, written as a number whose digits are those counts, the digit of kind k
worth ``strides[k]``. From the full state backwards, a table is filled with the total weight of all
ways to fill the slots that are left. With it every draw is exact, independent of the last one and
without retries, however tight the position: each slot takes a kind in proportion to the weight of
all worlds that follow. At the start of a game there are 248,832 states; what is known leaves fewer.

Throughout, `levels` is ``float64[levels, kinds]``, the weight of each kind in each slot to be
filled (0 if it is impossible), `counts` is ``int64[kinds]``, how many there are of each, as many as
slots in all, and `strides` is ``int64[kinds]``, the product of ``counts + 1`` over earlier kinds.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from junqi.kernels.bits import advance, scramble
from junqi.kernels.jit import njit

_S11 = np.uint64(11)
_UNIT = 1.0 / (1 << 53)


class Plan(NamedTuple):
    """All that draws worlds with the flag in one headquarters."""

    world: NDArray[np.int8]
    """``int8[25]``: the kinds of the slots that have no choice; the others are written over."""
    slots: NDArray[np.int64]
    """``int64[levels]``: the slots with a choice, in the order they are filled."""
    kinds: NDArray[np.int8]
    """``int8[kinds]``: the kinds they choose from."""
    levels: NDArray[np.float64]
    counts: NDArray[np.int64]
    strides: NDArray[np.int64]
    rest: NDArray[np.float64]
    """``float64[states]``, by `weigh_rest`."""


@njit
def weigh_rest(levels, counts, strides, rest_out):
    """Fill `rest_out`, ``float64[states]``: the weight of all ways to go on from each state.

    The first number is the weight of all worlds, 0 if there is none.
    """
    kinds = len(counts)
    digits = counts.copy()
    level = len(levels)
    state = len(rest_out) - 1
    rest_out[state] = 1.0
    while state > 0:
        state -= 1
        kind = 0
        while digits[kind] == 0:
            digits[kind] = counts[kind]
            level += counts[kind]
            kind += 1
        digits[kind] -= 1
        level -= 1
        total = 0.0
        for kind in range(kinds):
            if digits[kind] < counts[kind]:
                total += levels[level, kind] * rest_out[state + strides[kind]]
        rest_out[state] = total


@njit
def draw_worlds(first, second, share, generator, worlds_out):
    """Fill `worlds_out`, ``int8[n, 25]``, each world by the first `Plan` with chance `share`."""
    for index in range(len(worlds_out)):
        generator = advance(generator)
        if _lot(generator) < share:
            generator = _draw(first, generator, worlds_out[index])
        else:
            generator = _draw(second, generator, worlds_out[index])


@njit
def _draw(plan, generator, world_out):
    """Draw a world; returns the generator's state."""
    world_out[:] = plan.world
    left = plan.counts.copy()
    state = 0
    for level in range(len(plan.slots)):
        generator = advance(generator)
        lot = _lot(generator) * plan.rest[state]
        chosen = -1
        for kind in range(len(left)):
            if left[kind] > 0:
                weight = plan.levels[level, kind] * plan.rest[state + plan.strides[kind]]
                if weight > 0.0:
                    chosen = kind  # the last one even if rounding leaves a bit of the lot
                    lot -= weight
                    if lot < 0.0:
                        break
        left[chosen] -= 1
        state += plan.strides[chosen]
        world_out[plan.slots[level]] = plan.kinds[chosen]
    return generator


@njit
def _lot(generator):
    """A number from 0 to 1, without 1."""
    return np.float64(scramble(generator) >> _S11) * _UNIT


@njit
def expect(levels, counts, strides, rest, shares_out):
    """Fill `shares_out`, ``float64[slots, kinds]``: how likely each slot is of each kind.

    `rest` is what `weigh_rest` made, and there is a world.
    """
    kinds = len(counts)
    reached = np.zeros(len(rest))
    reached[0] = 1.0 / rest[0]
    shares_out[:] = 0.0
    digits = np.zeros(kinds, np.int64)
    level = 0
    for state in range(len(rest) - 1):
        if reached[state] > 0.0:
            for kind in range(kinds):
                if digits[kind] < counts[kind]:
                    weight = reached[state] * levels[level, kind]
                    reached[state + strides[kind]] += weight
                    shares_out[level, kind] += weight * rest[state + strides[kind]]
        kind = 0
        while digits[kind] == counts[kind]:
            digits[kind] = 0
            level -= counts[kind]
            kind += 1
        digits[kind] += 1
        level += 1
