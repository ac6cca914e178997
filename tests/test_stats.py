"""Scores with their errors: that the errors are what they claim to be."""

import numpy as np
import pytest

from junqi.stats import Score, score_of_pairs


def test_the_mean_is_that_of_the_pairs() -> None:
    assert score_of_pairs([1.0, 0.5, 0.0, 0.75]).mean == 0.5625


def test_the_interval_is_two_errors_to_each_side_within_0_and_1() -> None:
    assert Score(0.5, 0.1).interval == pytest.approx((0.304, 0.696), abs=1e-4)
    assert Score(0.95, 0.1).interval[1] == 1.0
    assert Score(0.05, 0.1).interval[0] == 0.0


def test_a_score_is_written_in_per_cent() -> None:
    assert str(Score(0.534, 0.01)) == "53.4 ± 2.0 %"


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_pairs_that_are_all_alike_prove_nothing_for_certain(value: float) -> None:
    few, many = score_of_pairs([value] * 4), score_of_pairs([value] * 400)
    assert few.mean == many.mean == value
    assert few.error > 0.1
    assert 0 < many.error < 0.01


def test_the_error_shrinks_as_the_root_of_the_pairs() -> None:
    rng = np.random.default_rng(1)
    pairs = rng.choice([0.0, 0.5, 1.0], 40_000)
    ratio = score_of_pairs(pairs[:400]).error / score_of_pairs(pairs).error
    assert ratio == pytest.approx(10, rel=0.1)


def test_with_many_pairs_the_error_is_the_plain_standard_error() -> None:
    pairs = np.random.default_rng(2).random(10_000)
    plain = pairs.std() / np.sqrt(len(pairs))
    assert score_of_pairs(pairs).error == pytest.approx(plain, rel=1e-3)


@pytest.mark.parametrize("pairs", [[], [[0.5, 0.5]], 0.5])
def test_no_pairs_have_no_score(pairs: object) -> None:
    with pytest.raises(ValueError, match="expected the scores of at least one pair, got shape"):
        score_of_pairs(pairs)


def simulated_pairs(
    rng: np.random.Generator, strength: float, luck: float, shape: tuple[int, int]
) -> np.ndarray:
    """Scores of pairs; luck is the share of pairs whose two games end alike for one layout."""
    first = rng.random(shape) < strength
    second = np.where(rng.random(shape) < luck, first, rng.random(shape) < strength)
    return (first.astype(float) + second) / 2


@pytest.mark.parametrize("luck", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("strength", [0.5, 0.7, 0.9, 0.97])
@pytest.mark.parametrize("pairs", [20, 100, 500])
def test_the_interval_holds_the_truth_in_95_of_100_cases(
    pairs: int, strength: float, luck: float
) -> None:
    """However the two games of a pair depend on each other."""
    rng = np.random.default_rng([pairs, int(100 * strength), int(10 * luck)])
    held = 0
    runs = 1500
    for row in simulated_pairs(rng, strength, luck, (runs, pairs)):
        low, high = score_of_pairs(row).interval
        held += low <= strength <= high
    # Few pairs of lopsided games are where a normal interval is at its worst.
    assert held / runs > {20: 0.86, 100: 0.92, 500: 0.935}[pairs]
    if pairs == 500 and strength < 0.9:
        assert abs(held / runs - 0.95) < 0.02


def test_pairs_that_cancel_are_known_better_than_single_games() -> None:
    """Swapped colours take the advantage of moving first out of the error."""
    rng = np.random.default_rng(3)
    pairs = np.where(rng.random(1000) < 0.9, 0.5, rng.choice([0.0, 1.0], 1000))
    assert score_of_pairs(pairs).error < 0.5 / np.sqrt(2 * len(pairs))
