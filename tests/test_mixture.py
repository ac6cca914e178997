"""The mixture is the solution of a matrix game."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layout_search.mixture import exploitability, prune, solve, solve_uncertain


def test_rock_paper_scissors_is_mixed_as_theory_has_it() -> None:
    # a loses 0.3 to b, b loses 0.2 to c, c loses 0.4 to a: shares in proportion 2 : 4 : 3.
    payoff = np.array([[0, -0.3, 0.4], [0.3, 0, -0.2], [-0.4, 0.2, 0]])
    assert solve(payoff) == pytest.approx(np.array([2, 4, 3]) / 9, abs=1e-3)


def test_a_layout_that_beats_all_is_played_always() -> None:
    payoff = np.array([[0, 0.1, 0.2], [-0.1, 0, 0.3], [-0.2, -0.3, 0]])
    assert solve(payoff) == pytest.approx([1, 0, 0], abs=1e-3)


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_no_row_beats_the_solution(seed, size) -> None:
    lots = np.random.default_rng(seed).normal(0, 0.1, (size, size))
    payoff = lots - lots.T
    shares = solve(payoff)
    assert shares.sum() == pytest.approx(1)
    assert (shares >= 0).all()
    assert exploitability(payoff, shares) < 1e-3


def test_a_bonus_moves_the_mixture_to_the_greedy_choice() -> None:
    payoff = np.array([[0, -0.3, 0.4], [0.3, 0, -0.2], [-0.4, 0.2, 0]])
    bonus = np.array([0.5, 0.0, 0.0])
    assert solve(0 * payoff, bonus) == pytest.approx([1, 0, 0], abs=1e-3)
    assert solve(payoff, bonus)[0] > solve(payoff)[0]


def test_pruning_leaves_out_what_is_hardly_played() -> None:
    assert prune(np.array([0.6, 0.395, 0.005])) == pytest.approx([0.603, 0.397, 0], abs=1e-3)
    assert prune(np.full(200, 0.005)).sum() == pytest.approx(1)


@pytest.mark.parametrize("payoff", [np.zeros((2, 3)), np.zeros((0, 0)), np.ones((2, 2))])
def test_what_is_no_payoff_matrix_is_refused(payoff) -> None:
    with pytest.raises(ValueError, match="expected"):
        solve(payoff)


def test_uncertain_payoffs_are_mixed_more_than_certain_ones() -> None:
    payoff = np.array([[0, 0.02, 0.02], [-0.02, 0, 0.01], [-0.02, -0.01, 0]])
    nothing = np.zeros(3)
    certain = solve_uncertain(payoff, np.zeros((3, 3)), nothing, nothing, (1,))
    assert certain == pytest.approx(solve(payoff))
    unsure = solve_uncertain(payoff, np.full((3, 3), 0.1), nothing, nothing, (1,))
    assert unsure.sum() == pytest.approx(1)
    assert 0.3 < unsure[0] < 0.9
    again = solve_uncertain(payoff, np.full((3, 3), 0.1), nothing, nothing, (1,))
    assert np.array_equal(unsure, again)
