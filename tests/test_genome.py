"""Individuals are legal at every moment, and everything comes from the generator handed in."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from junqi.layout import format_layout, layout_problems, mirror_layout, random_layouts
from layout_search.genome import MUTATIONS, Individual, mate, move_flag, mutate, to_array

seeds = st.integers(0, 2**32)


def text_of(genes: list[int]) -> str:
    return format_layout(np.array(genes, np.int8))


@given(seeds, st.sampled_from(MUTATIONS))
def test_every_mutation_keeps_a_layout_legal(seed, mutation) -> None:
    genes = Individual(random_layouts(1, seed)[0])
    mutation(genes, Random(seed))
    assert layout_problems(text_of(genes)) == []


@given(seeds)
def test_a_child_is_legal_and_made_of_both(seed) -> None:
    one, two = (Individual(layout) for layout in random_layouts(2, seed))
    child = mate(one, two, Random(seed))
    assert layout_problems(text_of(child)) == []
    assert text_of(one) == text_of(random_layouts(2, seed)[0]), "parents stay as they are"


def test_a_child_takes_over_a_region_of_the_other_parent() -> None:
    one, two = (Individual(layout) for layout in random_layouts(2, 5))
    children = [mate(one, two, Random(seed)) for seed in range(40)]
    before = sum(a == b for a, b in zip(one, two, strict=True))
    likeness = [sum(a == b for a, b in zip(child, two, strict=True)) for child in children]
    assert min(likeness) >= before - 5
    assert np.mean(likeness) > before + 2


def test_mutation_changes_most_layouts_a_little() -> None:
    random = Random(1)
    changed = []
    for layout in random_layouts(300, 3):
        genes = Individual(layout)
        mutate(genes, random)
        changed.append(sum(a != b for a, b in zip(genes, layout, strict=True)))
    assert np.mean(np.array(changed) > 0) > 0.95
    assert 2 <= np.median(changed) <= 6


def test_moving_the_flag_takes_its_surroundings_along() -> None:
    layout = random_layouts(1, 8)[0]
    genes = Individual(layout)
    move_flag(genes, Random(0))
    assert to_array([genes])[0, -10:].tolist() == mirror_layout(layout)[-10:].tolist()
    assert genes[:-10] == layout[:-10].tolist()


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_generator_gives_the_same_changes(seed) -> None:
    results = []
    for _ in range(2):
        random = Random(seed)
        genes = Individual(random_layouts(1, 4)[0])
        for _ in range(20):
            mutate(genes, random)
        results.append(text_of(genes))
    assert results[0] == results[1]
