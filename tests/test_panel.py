import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from junqi.errors import InvalidLayout
from junqi.layout import canonical_layout, format_layout, mirror_layout, parse_layout
from junqi.panel import (
    InvalidPanel,
    draw_opponents,
    format_panel,
    make_panel,
    parse_panel,
    random_panel,
)

A = "abccddeeffggghhhiiijjkklj"
A_MIRRORED = "dccbaeedggffhhgjiiihjlkkj"
B = "cigdcegkefkfaibgidjhhhjlj"
C = "cbacddeeffggghhhiiijjkklj"


def test_a_layout_and_its_mirror_image_are_one_opponent() -> None:
    panel = make_panel("mine", [A, A_MIRRORED, B], [1, 2, 4])
    assert panel.texts == (A, format_layout(canonical_layout(parse_layout(B))))
    assert panel.weights == (3, 4)


def test_the_order_of_naming_does_not_matter() -> None:
    panels = [make_panel("x", [A, B, C], [1, 2, 3]), make_panel("y", [C, B, A], [3, 2, 1])]
    assert panels[0].digest == panels[1].digest
    assert panels[0].digest != make_panel("x", [A, B, C], [1, 2, 4]).digest


def test_who_has_no_weight_is_not_met() -> None:
    assert make_panel("mine", [A, B], [1, 0]).texts == (A,)
    with pytest.raises(InvalidPanel, match="expected opponents in the panel mine, got none"):
        make_panel("mine", [A], [0])


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_a_weight_is_a_number_of_at_least_0(weight: float) -> None:
    with pytest.raises(InvalidPanel, match="expected a weight of at least 0"):
        make_panel("mine", [A], [weight])


def test_an_illegal_layout_is_no_opponent() -> None:
    with pytest.raises(InvalidLayout, match="expected 25 letters"):
        make_panel("mine", ["abc"])


@given(st.lists(st.floats(1e-6, 1e6), min_size=3, max_size=3))
def test_a_panel_is_written_and_read_again(weights: list[float]) -> None:
    panel = make_panel("mine", [A, B, C], weights)
    again = parse_panel("mine", format_panel(panel))
    assert (again.texts, again.weights, again.digest) == (panel.texts, panel.weights, panel.digest)


@pytest.mark.parametrize("line", ["abc 1.0", A, f"{A} x", f"{A} 1 2"])
def test_a_line_that_is_no_opponent_is_named(line: str) -> None:
    with pytest.raises(InvalidPanel, match="stored: line 2: expected a layout and its weight"):
        parse_panel("stored", f"{B} 1.0\n{line}\n")


def test_random_opponents_are_the_same_for_the_same_seed() -> None:
    assert len(random_panel(50, 1)) == 50
    assert random_panel(50, 1).digest == random_panel(50, 1).digest
    assert random_panel(50, 1).digest != random_panel(50, 2).digest


def test_each_opponent_is_met_as_often_as_its_weight_says() -> None:
    panel = make_panel("mine", [A, B, C], [1, 2, 5])
    draw = draw_opponents(panel, 800, seed=3)
    by_text = dict(zip(panel.texts, np.bincount(draw.indices).tolist(), strict=True))
    expected = dict(zip(panel.texts, [100 * weight for weight in panel.weights], strict=True))
    assert all(abs(by_text[text] - expected[text]) <= 1 for text in panel.texts)


def test_opponents_are_mirrored_by_a_coin_flip() -> None:
    panel = make_panel("mine", [A])
    draw = draw_opponents(panel, 1000, seed=3)
    own = parse_layout(A)
    is_plain = (draw.layouts == own).all(axis=1)
    is_mirrored = (draw.layouts == mirror_layout(own)).all(axis=1)
    assert (is_plain ^ is_mirrored).all()
    assert 450 < is_mirrored.sum() < 550
    assert (draw_opponents(panel, 1000, seed=3).layouts == draw.layouts).all()
    assert (draw_opponents(panel, 1000, seed=4).layouts != draw.layouts).any()
