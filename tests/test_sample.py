"""Worlds are drawn exactly by their weights; all worlds of small cases are the oracle."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_worlds import all_worlds, may_of

from junqi.belief import Belief
from junqi.deduce import FLAG_SLOTS, SLOTS
from junqi.layout import format_layout, layout_problems, parse_layout
from junqi.pieces import (
    BOMB,
    BRIGADE,
    COMPANY,
    DIVISION,
    ENGINEER,
    FLAG,
    GENERAL,
    MARSHAL,
    MINE,
    PLATOON,
    RED,
    REGIMENT,
)
from junqi.view import View
from junqi.worlds import WorldSampler, sample_worlds

LAYOUT = "abccddeeffggghhhiiijjkklj"
TRUTH = parse_layout(LAYOUT).tolist()

Kinds = set[int]

# What some slots may be besides what they are.
CASES: dict[str, dict[int, Kinds]] = {
    "one world": {},
    "two exchange": {0: {GENERAL}, 1: {MARSHAL}},
    "some officers": {slot: {MARSHAL, GENERAL, DIVISION} for slot in range(4)},
    # No two of them can exchange their kinds.
    "three pass round": {4: {BOMB}, 21: {REGIMENT}, 6: {BRIGADE}},
    "four pass round": {0: {GENERAL}, 1: {DIVISION}, 2: {REGIMENT}, 6: {MARSHAL}},
    "two separate rings": {
        **{0: {GENERAL}, 1: {MARSHAL}},
        **{6: {BOMB}, 22: {ENGINEER}, 16: {COMPANY}, 10: {REGIMENT}},
    },
    "the flag in either headquarters": {21: {FLAG}, 23: {BOMB}},
    "the flag and mines round it": {
        **{21: {FLAG, MINE}, 23: {BOMB, MINE}},
        **{20: {BOMB, PLATOON}, 24: {BOMB, PLATOON}, 15: {MINE, BOMB}},
    },
}


def slots_of(loose: dict[int, Kinds]) -> list[Kinds]:
    return [loose.get(slot, set()) | {kind} for slot, kind in enumerate(TRUTH)]


def random_weights(seed: int) -> np.ndarray:
    """Weights that differ by a factor of up to 10."""
    return 10 ** np.random.default_rng(seed).random((2, SLOTS, 16))


def shares_of(slots: list[Kinds], weights: np.ndarray) -> dict[tuple[int, ...], float]:
    """The probability of every world, by trying them all."""
    found = {}
    for world in all_worlds(slots):
        side = FLAG_SLOTS.index(world.index(FLAG))
        found[world] = float(np.prod(weights[side, np.arange(SLOTS), world]))
    total = sum(found.values())
    return {world: weight / total for world, weight in found.items()}


@pytest.mark.parametrize("case", CASES)
def test_worlds_come_as_often_as_their_weights_say(case: str) -> None:
    slots = slots_of(CASES[case])
    weights = random_weights(len(slots))
    shares = shares_of(slots, weights)
    draws = 40_000
    worlds = sample_worlds(may_of(slots), weights, draws, seed=5)
    drawn = Counter(map(tuple, worlds.tolist()))
    assert set(drawn) == set(shares)
    chi_square = sum(
        (drawn[world] - draws * share) ** 2 / (draws * share) for world, share in shares.items()
    )
    free = len(shares) - 1
    assert chi_square < free + 5 * np.sqrt(2 * free) + 5


@settings(max_examples=60)
@given(st.randoms(use_true_random=False))
def test_marginals_are_those_of_all_worlds(random) -> None:
    loose = {
        slot: set(random.sample(sorted(set(TRUTH) - {FLAG}), random.randint(1, 3)))
        for slot in random.sample([s for s in range(SLOTS) if s not in FLAG_SLOTS], 5)
    }
    if random.random() < 0.5:
        loose |= {21: {FLAG}, 23: {BOMB, random.choice(TRUTH)}}
    slots = slots_of(loose)
    weights = random_weights(random.randrange(1000))
    expected = np.zeros((SLOTS, 16))
    for world, share in shares_of(slots, weights).items():
        expected[np.arange(SLOTS), world] += share
    found = WorldSampler(may_of(slots), weights)
    np.testing.assert_allclose(found.marginals(), expected, atol=1e-9)
    assert found.share == pytest.approx(expected[FLAG_SLOTS[0], FLAG])


def test_what_a_mask_allows_is_drawn_however_little_it_weighs() -> None:
    slots = slots_of({0: {GENERAL}, 1: {MARSHAL}})
    weights = np.ones((2, SLOTS, 16))
    weights[:, 0, MARSHAL] = weights[:, 1, GENERAL] = 0.0
    worlds = sample_worlds(may_of(slots), weights, 1000, seed=1)
    assert (worlds[:, 0] == GENERAL).all()
    weights[:, :, :] = 0.0
    worlds = sample_worlds(may_of(slots), weights, 1000, seed=1)
    assert 400 < (worlds[:, 0] == GENERAL).sum() < 600


def test_first_worlds_of_a_game_are_legal_and_differ() -> None:
    belief = Belief.of(View.start(RED, LAYOUT))
    worlds = sample_worlds(belief.masks, belief.weights, 2000, seed=3)
    assert worlds.dtype == np.int8
    assert all(layout_problems(format_layout(world)) == [] for world in worlds)
    assert len(np.unique(worlds, axis=0)) == 2000
    assert 900 < (worlds[:, FLAG_SLOTS[0]] == FLAG).sum() < 1100


def test_a_seed_gives_the_same_worlds_and_a_longer_draw_begins_with_them() -> None:
    belief = Belief.of(View.start(RED, LAYOUT))
    sampler = WorldSampler(belief.masks, belief.weights)
    few, many = sampler.draw(5, 7), sampler.draw(50, 7)
    np.testing.assert_array_equal(few, many[:5])
    np.testing.assert_array_equal(few, sample_worlds(belief.masks, belief.weights, 5, 7))
    assert not np.array_equal(few, sampler.draw(5, 8))


def test_what_cannot_be_drawn_from_is_refused() -> None:
    masks, weights = may_of(slots_of({})), np.ones((2, SLOTS, 16))
    with pytest.raises(ValueError, match=r"masks of shape \(25,\), got \(24,\)"):
        sample_worlds(masks[1:], weights, 1, 0)
    with pytest.raises(ValueError, match=r"weights of shape \(2, 25, 16\), got \(25, 16\)"):
        sample_worlds(masks, weights[0], 1, 0)
    for slots in (
        [*slots_of({})[:-1], {MARSHAL}],  # two marshals
        [*slots_of({})[:-1], set()],
        [{MARSHAL, GENERAL}] * 3 + slots_of({})[3:],
        [*slots_of({})[:23], {MINE}, {MINE}],  # no flag
    ):
        with pytest.raises(ValueError, match="expected masks that allow a world"):
            sample_worlds(may_of(slots), weights, 1, 0)
