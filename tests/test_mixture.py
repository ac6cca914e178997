"""The mixture is the solution of a matrix game."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layout_search.mixture import COLUMN_SPREAD, exploitability, prune, solve, temper


def test_rock_paper_scissors_is_mixed_as_theory_has_it() -> None:
    # a loses 0.3 to b, b loses 0.2 to c, c loses 0.4 to a: shares in proportion 2 : 4 : 3.
    payoff = np.array([[0, -0.3, 0.4], [0.3, 0, -0.2], [-0.4, 0.2, 0]])
    assert solve(payoff).rows == pytest.approx(np.array([2, 4, 3]) / 9, abs=1e-3)


def test_a_layout_that_beats_all_is_played_always() -> None:
    payoff = np.array([[0, 0.1, 0.2], [-0.1, 0, 0.3], [-0.2, -0.3, 0]])
    assert solve(payoff).rows == pytest.approx([1, 0, 0], abs=1e-3)


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_no_row_beats_the_solution(seed, size) -> None:
    lots = np.random.default_rng(seed).normal(0, 0.1, (size, size))
    payoff = lots - lots.T
    shares = solve(payoff).rows
    assert shares.sum() == pytest.approx(1)
    assert (shares >= 0).all()
    assert exploitability(payoff, shares) < 1e-3


def test_a_bonus_moves_the_mixture_to_the_greedy_choice() -> None:
    payoff = np.array([[0, -0.3, 0.4], [0.3, 0, -0.2], [-0.4, 0.2, 0]])
    bonus = np.array([0.5, 0.0, 0.0])
    assert solve(0 * payoff, bonus).rows == pytest.approx([1, 0, 0], abs=1e-3)
    assert solve(payoff, bonus).rows[0] > solve(payoff).rows[0]


def test_pruning_leaves_out_what_is_hardly_played() -> None:
    assert prune(np.array([0.6, 0.398, 0.002])) == pytest.approx([0.601, 0.399, 0], abs=1e-3)
    assert prune(np.full(1000, 0.001)).sum() == pytest.approx(1)


def test_pruning_takes_away_a_tenth_of_all_games_at_most() -> None:
    shares = np.append(0.5, np.full(1000, 0.0005))
    kept = prune(shares)
    assert 0.9 <= shares[kept > 0].sum() < 0.901
    assert kept[0] == kept.max()


@pytest.mark.parametrize("payoff", [np.zeros((0, 3)), np.zeros((0, 0)), np.ones(2)])
def test_what_is_no_payoff_matrix_is_refused(payoff) -> None:
    with pytest.raises(ValueError, match="expected"):
        solve(payoff)


def test_a_tempered_mixture_is_the_logit_equilibrium() -> None:
    random = np.random.default_rng(1)
    payoff = np.triu(random.normal(size=(20, 20)) / 10, 1)
    payoff -= payoff.T
    rows, columns = temper(payoff, spread=0.02)
    for shares, gains, spread in (
        (rows, payoff @ columns, 0.02),
        (columns, -rows @ payoff, 0.02 * COLUMN_SPREAD),
    ):
        powers = np.exp(gains / spread)
        assert shares == pytest.approx(powers / powers.sum(), abs=2e-3)


def test_the_more_spread_the_more_layouts_and_the_more_a_known_counter_gains() -> None:
    random = np.random.default_rng(2)
    payoff = np.triu(random.normal(size=(40, 40)) / 10, 1)
    payoff -= payoff.T
    mixtures = [temper(payoff, spread=spread).rows for spread in (0.01, 0.03, 0.1)]
    layouts = [1 / (mixture**2).sum() for mixture in mixtures]
    losses = [exploitability(payoff, mixture) for mixture in mixtures]
    assert layouts == sorted(layouts)
    assert layouts[2] > 1.5 * layouts[0]
    assert losses == sorted(losses)


def test_a_bonus_draws_a_tempered_mixture_to_its_layouts() -> None:
    payoff = np.array([[0, 0.1, -0.1], [-0.1, 0, 0.1], [0.1, -0.1, 0]])
    plain = temper(payoff).rows
    assert plain == pytest.approx([1 / 3] * 3, abs=1e-3)
    assert temper(payoff, np.array([0.05, 0, 0])).rows[0] > 0.36


def test_counters_that_are_no_rows_are_answered_too() -> None:
    payoff = np.array([[0.1, -0.1, -0.3], [-0.1, 0.1, 0.3]])
    for shares, _ in (solve(payoff), temper(payoff, spread=0.001)):
        assert shares == pytest.approx([0.5, 0.5], abs=0.02)
