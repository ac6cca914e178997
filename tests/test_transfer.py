"""Do two judges agree? Correlations with the noise removed."""

import numpy as np
import pytest

from layout_search.transfer import compare_payoffs, compare_scores

MANY_GAMES = 1e9


def two_judges(correlation: float, count: int, spread: float, seed: int = 1):
    random = np.random.default_rng(seed)
    first, other = random.normal(size=(2, count))
    second = correlation * first + np.sqrt(1 - correlation**2) * other
    return 0.5 + spread * first, 0.5 + spread * second


def played(scores, games, seed):
    return np.random.default_rng(seed).binomial(games, np.clip(scores, 0, 1)) / games


def antisymmetric(lower):
    lower = np.tril(lower, -1)
    return lower - lower.T


def test_without_noise_nothing_is_corrected() -> None:
    fast, strong = two_judges(0.7, 50, 0.05)
    found = compare_scores(fast, strong, MANY_GAMES, MANY_GAMES)
    assert found.seen == pytest.approx(np.corrcoef(fast, strong)[0, 1])
    assert found.correlation == pytest.approx(found.seen)
    assert found.interval[0] < found.correlation < found.interval[1]


def test_what_noise_takes_is_given_back() -> None:
    fast, strong = two_judges(0.8, 400, 0.05)
    true = np.corrcoef(fast, strong)[0, 1]
    found = compare_scores(played(fast, 400, 2), played(strong, 100, 3), 400, 100)
    assert found.seen < true - 0.15
    assert found.correlation == pytest.approx(true, abs=0.12)
    assert found.interval[0] < true < found.interval[1]
    assert found.fast_reliability == pytest.approx(0.0025 / (0.0025 + 0.25 / 400), abs=0.08)


def test_payoffs_do_not_depend_on_who_comes_first() -> None:
    random = np.random.default_rng(4)
    fast = antisymmetric(0.1 * random.normal(size=(12, 12)))
    strong = fast + antisymmetric(0.05 * random.normal(size=(12, 12)))
    games = np.full((12, 12), 400.0)
    found = compare_payoffs(fast, strong, games, games)
    turned = random.permutation(12)
    own = np.ix_(turned, turned)
    again = compare_payoffs(fast[own], strong[own], games, games)
    assert found.scores == 66
    assert again.correlation == pytest.approx(found.correlation)
    assert 0.7 < found.correlation <= 1


def test_pairs_that_never_met_are_left_out() -> None:
    fast = antisymmetric(0.1 * np.random.default_rng(5).normal(size=(6, 6)))
    games = np.full((6, 6), 1e6)
    games[5, :] = games[:, 5] = 0
    found = compare_payoffs(fast, fast, games, np.full((6, 6), 1e6))
    assert found.scores == 10
    assert found.correlation == pytest.approx(1, abs=1e-3)


def test_scores_that_are_all_noise_allow_no_conclusion() -> None:
    fast, strong = two_judges(0.5, 16, 0.001)
    found = compare_scores(played(fast, 50, 1), played(strong, 50, 2), 20, 20)
    assert found.correlation is None
    assert found.interval is None
    assert "too noisy" in str(found)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_too_few_layouts_are_not_compared(count) -> None:
    none = np.full(count, 0.5)
    assert compare_scores(none, none, 10, 10) is None
    square = np.zeros((count, count))
    assert compare_payoffs(square, square, square, square) is None


def test_equal_scores_allow_no_conclusion() -> None:
    same = np.full(8, 0.5)
    assert compare_scores(same, same, 100, 100).correlation is None
