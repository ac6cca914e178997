"""Worlds: full assignments of kinds to the enemy's 25 slots, drawn from what a player believes."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from junqi.deduce import FLAG_SLOTS, SLOTS
from junqi.kernels.bits import random_state
from junqi.kernels.sample import Plan, draw_worlds, expect, weigh_rest
from junqi.pieces import FLAG, KINDS

Masks: TypeAlias = NDArray[np.uint16]
Weights: TypeAlias = NDArray[np.float64]
Worlds: TypeAlias = NDArray[np.int8]

# What a kind that a mask allows weighs at least, compared with the heaviest: no possible world is
# left out, and the product over all slots stays far from the smallest number there is.
LEAST_WEIGHT = 1e-9

_KINDS = 16


def sample_worlds(masks: Masks, weights: Weights, count: int, seed: int) -> Worlds:
    """Draw worlds, ``int8[count, 25]``, independent of each other, the same for the same seed.

    To draw several times from one belief, keep a `WorldSampler`: what this prepares takes longer
    than drawing thousands of worlds.

    Raises:
        ValueError: if a shape is wrong, or no world is allowed.
    """
    return WorldSampler(masks, weights).draw(count, seed)


class WorldSampler:
    """Draws worlds by their probabilities.

    A world's probability is proportional to the product of the weights of its slots' kinds, in
    the table of the headquarters that holds its flag, among the worlds that the masks allow and
    that have the right number of each kind.
    """

    def __init__(self, masks: Masks, weights: Weights) -> None:
        """Prepare to draw.

        Args:
            masks: ``uint16[25]``, the kinds each slot may have.
            weights: ``float64[2, 25, 16]``; see `belief.Belief`.

        Raises:
            ValueError: if a shape is wrong, or no world is allowed.
        """
        if masks.shape != (SLOTS,):
            raise ValueError(f"expected masks of shape ({SLOTS},), got {masks.shape}")
        if weights.shape != (2, SLOTS, _KINDS):
            raise ValueError(f"expected weights of shape (2, {SLOTS}, 16), got {weights.shape}")
        is_allowed = (masks[:, None] >> np.arange(_KINDS)) & 1 > 0
        heaviest = np.where(is_allowed, weights, 0.0).max(axis=(0, 2))[:, None]
        relative = np.maximum(weights / np.where(heaviest > 0, heaviest, 1.0), LEAST_WEIGHT)
        made = [plan_worlds(is_allowed, relative[side], side) for side in range(2)]
        totals = [total for _, total in made]
        if not sum(totals) > 0:
            raise ValueError(f"expected masks that allow a world, got {masks.tolist()}")
        self.share = totals[0] / sum(totals)
        """The probability that the flag is in the headquarters of the first table."""
        self._plans = [plan for plan, _ in made]

    def draw(self, count: int, seed: int) -> Worlds:
        """Draw worlds, ``int8[count, 25]``; a longer draw begins with the shorter one."""
        worlds = np.empty((count, SLOTS), np.int8)
        generator = np.uint64(random_state(np.uint64(seed & (1 << 64) - 1)))
        first, second = self._plans
        draw_worlds(first, second, self.share, generator, worlds)
        return worlds

    def marginals(self) -> NDArray[np.float64]:
        """How likely each slot is of each kind, exactly: ``float64[25, 16]``."""
        table = np.zeros((SLOTS, _KINDS))
        for plan, share in zip(self._plans, (self.share, 1 - self.share), strict=True):
            if share > 0:
                own = np.zeros((SLOTS, _KINDS))
                own[np.arange(SLOTS), plan.world] = 1.0
                shares = np.empty_like(plan.levels)
                expect(plan.levels, plan.counts, plan.strides, plan.rest, shares)
                own[plan.slots] = 0.0
                own[plan.slots[:, None], plan.kinds] = shares
                table += share * own
        return table


def plan_worlds(is_allowed: NDArray[np.bool_], weights: Weights, side: int) -> tuple[Plan, float]:
    """What draws worlds with the flag on one side, and their total weight."""
    allowed = is_allowed.copy()
    allowed[:, FLAG] = False
    allowed[FLAG_SLOTS[side]] = False
    allowed[FLAG_SLOTS[side], FLAG] = is_allowed[FLAG_SLOTS[side], FLAG]
    left = np.zeros(_KINDS, np.int64)
    for kind in KINDS:
        left[kind.piece] = kind.count
    choices = allowed.sum(axis=1)
    world = allowed.argmax(axis=1)
    fixed = choices == 1
    np.subtract.at(left, world[fixed], 1)
    total = float(weights[fixed, world[fixed]].prod()) if left.min() >= 0 and choices.all() else 0.0
    kinds = np.flatnonzero(left > 0)
    slots = np.flatnonzero(~fixed)
    counts = left[kinds]
    if total == 0.0:
        slots, kinds, counts = slots[:0], kinds[:0], counts[:0]
    plan = Plan(
        world.astype(np.int8),
        slots,
        kinds.astype(np.int8),
        # The same order in memory whatever was chosen: another one would be compiled for anew.
        np.ascontiguousarray(np.where(allowed, weights, 0.0)[slots][:, kinds]),
        counts,
        np.cumprod(np.append(1, counts + 1))[:-1],
        np.empty(int(np.prod(counts + 1)), np.float64),
    )
    weigh_rest(plan.levels, plan.counts, plan.strides, plan.rest)
    return plan, total * float(plan.rest[0])
