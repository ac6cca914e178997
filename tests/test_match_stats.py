"""Elo, its interval and the sequential test: published values, closed forms, simulation."""

import math

import numpy as np
import pytest

from junqi.match_stats import (
    PAIR_SCORES,
    InvalidTest,
    Sprt,
    elo_of_counts,
    elo_of_score,
    score_of_counts,
    score_of_elo,
)

# Chances of the five scores of a pair, with a mean score of 0.5.
EVEN = np.array([0.1, 0.2, 0.4, 0.2, 0.1])


@pytest.mark.parametrize(
    ("score", "elo"),
    [(0.5, 0.0), (0.75, 190.848), (0.64, 99.950), (10 / 11, 400.0), (1 / 11, -400.0)],
)
def test_known_scores_and_elos(score: float, elo: float) -> None:
    assert elo_of_score(score) == pytest.approx(elo, abs=1e-3)
    assert score_of_elo(elo) == pytest.approx(score, abs=1e-5)


def test_elo_and_score_undo_each_other() -> None:
    for elo in (-700.0, -3.5, 0.0, 12.0, 250.0):
        assert elo_of_score(score_of_elo(elo)) == pytest.approx(elo)


def test_a_sweep_is_an_infinite_difference_with_a_finite_lower_end() -> None:
    assert elo_of_score(1.0) == math.inf
    assert elo_of_score(0.0) == -math.inf
    elo = elo_of_counts([0, 0, 0, 0, 20])
    assert elo.mean == math.inf
    assert elo.high == math.inf
    assert 0 < elo.low < 1000
    few = elo_of_counts([0, 0, 0, 0, 4])
    assert few.low < elo.low


def test_pairs_that_are_all_even_do_not_claim_certainty() -> None:
    elo = elo_of_counts([0, 0, 10, 0, 0])
    assert elo.mean == 0
    assert elo.low < -20
    assert elo.high > 20


def test_the_error_is_that_of_the_pairs() -> None:
    score = score_of_counts([10, 0, 0, 0, 10])
    assert score.mean == 0.5
    # Each pair is 0 or 1: the standard error of a coin, over 20 throws.
    assert score.error == pytest.approx(0.5 / math.sqrt(20))


def test_the_interval_is_that_of_the_mean_read_as_elo() -> None:
    counts = [10, 20, 40, 25, 15]
    score = score_of_counts(counts)
    elo = elo_of_counts(counts)
    assert elo.low == pytest.approx(elo_of_score(score.mean - 1.959964 * score.error))
    assert elo.high == pytest.approx(elo_of_score(score.mean + 1.959964 * score.error))


@pytest.mark.parametrize("counts", [[0, 0, 0, 0, 0], [1, 2, 3]])
def test_counts_of_nothing_are_refused(counts: list[int]) -> None:
    with pytest.raises(ValueError, match="expected the counts of five scores"):
        score_of_counts(counts)


# Published by the testing framework of a chess engine, with its bounds in logistic Elo:
# https://github.com/official-stockfish/Stockfish/pull/2971, 2950, 3098, 2493 and 3232
@pytest.mark.parametrize(
    ("elo0", "elo1", "counts", "ratio"),
    [
        (-0.5, 1.5, (17, 253, 1042, 337, 39), 2.96),
        (0.25, 1.75, (11, 407, 3238, 513, 11), 2.93),
        (-0.5, 1.5, (133, 1751, 5094, 1849, 165), 2.94),
        (0.25, 1.25, (53, 2220, 21459, 2445, 47), 2.97),
        (-1.0, 3.0, (424, 2948, 5832, 3045, 460), 2.94),
        (-0.25, 1.25, (85, 1800, 8241, 1930, 100), 2.94),
    ],
)
def test_published_log_likelihood_ratios(
    elo0: float, elo1: float, counts: tuple[int, ...], ratio: float
) -> None:
    assert Sprt(elo0, elo1).ratio(counts) == pytest.approx(ratio, abs=0.005)


def test_the_bounds_are_those_of_wald() -> None:
    low, high = Sprt(0, 10).bounds
    assert high == pytest.approx(math.log(19))
    assert low == pytest.approx(-math.log(19))
    low, high = Sprt(0, 10, alpha=0.1, beta=0.02).bounds
    assert high == pytest.approx(math.log(9.8))
    assert low == pytest.approx(math.log(0.02 / 0.9))


def test_pairs_of_two_scores_give_the_ratio_of_a_coin() -> None:
    # With whole pairs won or lost only, the likelihood is that of a coin with the score's chance.
    won, lost = 60, 40
    test = Sprt(0, 50)
    s0, s1 = score_of_elo(0), score_of_elo(50)
    exact = won * math.log(s1 / s0) + lost * math.log((1 - s1) / (1 - s0))
    assert test.ratio([lost, 0, 0, 0, won]) == pytest.approx(exact, abs=0.01)


def test_the_ratio_is_near_its_normal_approximation_for_close_hypotheses() -> None:
    counts = [1000, 2000, 4000, 2100, 1050]
    score = score_of_counts(counts)
    s0, s1 = score_of_elo(0), score_of_elo(4)
    approximation = (s1 - s0) * (2 * score.mean - s0 - s1) / (2 * score.error**2)
    assert Sprt(0, 4).ratio(counts) == pytest.approx(approximation, rel=0.01)


def test_turning_the_players_round_turns_the_ratio_round() -> None:
    counts = [5, 17, 30, 25, 9]
    assert Sprt(-8, 3).ratio(counts) == pytest.approx(-Sprt(-3, 8).ratio(counts[::-1]))


def test_nothing_is_decided_before_the_first_pair() -> None:
    assert Sprt(0, 10).ratio([0] * 5) == 0
    assert Sprt(0, 10).decision([0] * 5) is None


def test_clear_matches_are_decided() -> None:
    assert Sprt(0, 50).decision([0, 0, 5, 10, 40]) == "elo1"
    assert Sprt(0, 50).decision([40, 10, 5, 0, 0]) == "elo0"


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ((5, 5), "expected ELO0 below ELO1, got 5 and 5"),
        ((math.nan, 5), "expected ELO0 below ELO1"),
        ((0, 5, 0.6), "expected alpha between 0 and 0.5, got 0.6"),
        ((0, 5, 0.05, 0.0), "expected beta between 0 and 0.5, got 0.0"),
    ],
)
def test_tests_that_make_no_sense_are_refused(settings: tuple[float, ...], text: str) -> None:
    with pytest.raises(InvalidTest, match=text):
        Sprt(*settings)


def chances_with(elo: float) -> np.ndarray:
    """`EVEN`, tilted to the mean score of a difference in Elo."""
    low, high = -10.0, 10.0
    for _ in range(60):
        tilt = (low + high) / 2
        chances = EVEN * np.exp(tilt * PAIR_SCORES)
        chances /= chances.sum()
        if chances @ PAIR_SCORES < score_of_elo(elo):
            low = tilt
        else:
            high = tilt
    return chances


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(1)
    draws = rng.multinomial(200, chances_with(30), size=1000)
    held = sum(elo.low <= 30 <= elo.high for elo in map(elo_of_counts, draws.tolist()))
    # 95 % of 1000, within four standard errors.
    assert 922 <= held <= 978


@pytest.mark.parametrize(("elo", "wrong"), [(0.0, "elo1"), (120.0, "elo0")])
def test_the_sequential_test_errs_as_rarely_as_it_says(elo: float, wrong: str) -> None:
    rng = np.random.default_rng(2)
    test = Sprt(0, 120)
    errors = matches = 0
    for _ in range(250):
        counts = np.zeros(5, int)
        decision = None
        while decision is None:
            counts += four_pairs(rng, elo)
            decision = test.decision(counts.tolist())
        matches += 1
        errors += decision == wrong
    # 5 % of 250 is 12.5; four standard errors are 14.
    assert errors <= 26
    assert matches == 250


_CHANCES = {elo: chances_with(elo) for elo in (0.0, 120.0)}


def four_pairs(rng: np.random.Generator, elo: float) -> np.ndarray:
    """Four more pairs."""
    return rng.multinomial(4, _CHANCES[elo])
