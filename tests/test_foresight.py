"""What the strong judge will say: learned from sums over pieces and places."""

import numpy as np
import pytest

from junqi.layout import mirror_layout, random_layouts
from junqi.pieces import MARSHAL
from layout_search.foresight import learn

MARSHAL_IN_FRONT = slice(0, 5)


def truth(layouts):
    """A judge who wants the marshal in the front row."""
    return 0.4 + 0.2 * (layouts[:, MARSHAL_IN_FRONT] == MARSHAL).any(axis=1)


def test_what_a_judge_wants_is_foreseen_for_layouts_he_has_not_seen() -> None:
    seen, unseen = random_layouts(300, 1), random_layouts(300, 2)
    noise = np.random.default_rng(3).normal(size=300) * 0.5 / np.sqrt(48)
    foresight = learn(seen, truth(seen) + noise, np.full(len(seen), 48.0))
    assert np.corrcoef(foresight.predict(unseen), truth(unseen))[0, 1] > 0.4


def test_luck_is_taken_out_of_what_was_seen() -> None:
    seen = random_layouts(200, 1)
    noise = np.random.default_rng(3).normal(size=200) * 0.5 / np.sqrt(16)
    foresight = learn(seen, truth(seen) + noise, np.full(len(seen), 16.0))
    assert np.abs(foresight.learned - truth(seen)).mean() < 0.6 * np.abs(noise).mean()


def test_a_layout_and_its_mirror_image_are_foreseen_alike() -> None:
    seen = random_layouts(50, 1)
    foresight = learn(seen, truth(seen), np.full(len(seen), 48.0))
    images = mirror_layout(seen)
    assert foresight.predict(images) == pytest.approx(foresight.predict(seen))
