"""What the scripts learn that the engine's belief is made of."""

import learn_prior
import learn_signs
import numpy as np
import pytest

from junqi.belief import learned
from junqi.deduce import AT_START, FLAG_SLOTS, SLOTS
from junqi.layout import parse_layout, random_layouts
from junqi.pieces import FLAG, KINDS, MINE

COUNTS = np.zeros(16)
for _kind in KINDS:
    COUNTS[_kind.piece] = _kind.count


def test_layouts_are_folded_so_that_the_flag_is_in_the_first_headquarters() -> None:
    left, right = "abccddeeffggghhhiiijjlkkj", "abccddeeffggghhhiiijjkklj"
    assert (learn_prior.fold(left) == parse_layout(left)).all()
    assert learn_prior.fold(right)[FLAG_SLOTS[0]] == FLAG


def test_smoothing_keeps_the_number_of_each_kind() -> None:
    human = np.concatenate(list(learn_prior.human_groups().values()))
    goal = learn_prior.goal_of(human, human[:3], learn_prior.Smoothing())
    np.testing.assert_allclose(goal.sum(axis=0), COUNTS, atol=1e-6)
    np.testing.assert_allclose(goal.sum(axis=1), 1, atol=1e-6)
    is_allowed = (np.array(AT_START)[:, None] >> np.arange(16)) & 1 > 0
    is_allowed[:, FLAG] = False
    is_allowed[FLAG_SLOTS[0]] = False
    is_allowed[FLAG_SLOTS[0], FLAG] = True
    assert ((goal > 0) == is_allowed).all()


def test_fitted_weights_give_the_shares_they_were_fitted_to() -> None:
    human = np.concatenate(list(learn_prior.human_groups().values()))
    goal = learn_prior.goal_of(human, human[:0], learn_prior.Smoothing())
    found, _ = learn_prior.model(learn_prior.fit(goal))
    assert np.abs(found - goal).max() < learn_prior.CLOSE


def test_likelihoods_of_equal_weights_are_those_of_counting() -> None:
    layouts = learn_prior.human_groups()["team-a"]
    found = learn_prior.log_likelihoods(np.ones((SLOTS, 16)), layouts)
    # Half of all legal layouts have their flag on one side.
    assert found == pytest.approx(np.full(len(layouts), -np.log(709_596_419_051_520_000 / 2)))


def test_the_prior_knows_unseen_authors_better_than_chance() -> None:
    groups = learn_prior.human_groups()
    found = learn_prior.held_out(groups, groups["team-a"][:0], learn_prior.Smoothing())
    assert set(found) == {"generator", "hobby", "sample-2012", "team-a", "team-b"}
    assert learn_prior.mean_of(found) > -39.0  # chance is -40.4


def test_the_learned_prior_puts_mines_next_to_the_flag() -> None:
    shares, _ = learn_prior.model(learned().places[0])
    beside, far = FLAG_SLOTS[0] - 5, FLAG_SLOTS[1] - 5  # in front of either headquarters
    assert shares[beside, MINE] > 1.5 * shares[far, MINE]


def test_signs_are_learned_from_games() -> None:
    counts = learn_signs.Counts()
    pool = random_layouts(6, 3)
    for views, truth in learn_signs.games(pool, 6, seed=3):
        counts.add(views[-1], truth)
    signs = counts.learn()
    assert set(signs) == set(learned().signs)
    for sign, table in signs.items():
        assert np.isfinite(table).all(), sign
        assert table[learn_signs.CODES].max() == pytest.approx(0)
    stayed = signs["K stayed 25"]
    assert stayed[MINE] == max(stayed[learn_signs.CODES])
    assert (counts.turns[[MINE, FLAG]] == 0).all()
    assert (counts.turns >= 0).all()


def test_beliefs_are_judged_by_the_truth() -> None:
    losses = learn_signs.Losses(learn_signs.variants_of(learned()))
    for views, truth in learn_signs.games(random_layouts(2, 4), 1, seed=4):
        losses.add(views, truth)
    uniform, all_signs = (losses.losses[name, 10] for name in ("uniform", "prior, all signs"))
    assert len(uniform) == len(all_signs) > 20
    assert np.mean(uniform) == pytest.approx(2.0, abs=0.4)
