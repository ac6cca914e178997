"""Time is shared out so that it never runs out."""

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from junqi.clock import MARGIN, MARGIN_MOVES, MARGIN_SHARE, Budget, Clock, PauseWatch

times = st.floats(0.01, 1e5)
clocks = st.builds(
    Clock, movetime=st.none() | st.floats(0.001, 1000), time_fraction=st.floats(0, 1)
)


def lag_allowed(total: float) -> float:
    return min(MARGIN, MARGIN_SHARE * total / MARGIN_MOVES)


@given(times, clocks, st.lists(st.tuples(st.floats(0, 10), st.floats(0, 1)), min_size=1))
def test_time_never_runs_out(
    total: float, clock: Clock, pattern: list[tuple[float, float]]
) -> None:
    # Every move goes out at its deadline, and is late by a part of what may be.
    left = total
    for move in range(MARGIN_MOVES):
        criticality, lateness = pattern[move % len(pattern)]
        budget = clock.plan(total, left, move, criticality)
        left -= budget.deadline + lateness * lag_allowed(total)
        assert left >= -1e-9 * total


@given(times, clocks)
def test_not_even_if_every_move_is_as_late_as_it_may_be(total: float, clock: Clock) -> None:
    left = total
    for move in range(MARGIN_MOVES):
        left -= clock.plan(total, left, move, 10.0).deadline + lag_allowed(total)
    assert left >= -1e-9 * total


@given(times, st.floats(-10, 1e5), st.integers(0, 2000), clocks, st.floats(0, 100))
def test_a_budget_is_in_order(
    total: float, left: float, moves: int, clock: Clock, overrun: float
) -> None:
    soft, hard, deadline = clock.plan(total, left, moves, 1.0, overrun)
    assert 0 <= soft <= hard <= deadline
    assert deadline <= max(left, 0) / 4


@pytest.mark.parametrize("total", [600.0, 1000.0, 1800.0, 3600.0])
def test_most_of_the_time_of_a_contest_is_used_in_a_usual_game(total: float) -> None:
    left = total
    for move in range(100):
        if move == 41:
            assert 0.3 * total < left < 0.6 * total
        left -= Clock().plan(total, left, move).soft
    assert 0.1 * total < left < 0.25 * total


def test_a_very_long_game_still_has_time_to_think() -> None:
    left = 600.0
    for move in range(300):
        left -= Clock().plan(600, left, move).soft + 0.01
    assert Clock().plan(600, left, 300).soft > 0.05


def test_the_time_of_a_move_is_kept_while_the_clock_allows_it() -> None:
    clock = Clock(movetime=0.1)
    soft, hard, deadline = clock.plan(1800, 1800, 0)
    assert soft == hard == pytest.approx(0.085)
    assert deadline > hard
    assert clock.plan(1800, 400, 100).soft == soft
    assert Clock(movetime=5).plan(1800, 1800, 0).soft == pytest.approx(4.95)
    # A search that is late is not waited for longer than the move may take.
    assert clock.plan(1800, 1800, 0).deadline == pytest.approx(0.185)
    assert Clock(movetime=5).plan(1800, 1800, 0).deadline == pytest.approx(5.45)
    assert clock.plan(1800, 13, 150).soft < soft


def test_nothing_is_left_to_think_when_the_time_is_over() -> None:
    assert Clock().plan(1800, 0, 50) == Budget(0, 0, 0)
    assert Clock().plan(1800, -5, 50) == Budget(0, 0, 0)


def test_a_critical_move_gets_more_and_an_idle_one_less() -> None:
    usual, critical, idle = (Clock().plan(1800, 1500, 10, c).soft for c in (1.0, 2.0, 0.5))
    assert idle == pytest.approx(usual / 2)
    assert critical == pytest.approx(2 * usual)


def test_less_is_planned_by_whoever_was_late_before() -> None:
    punctual, late = (Clock().plan(60, 50, 10, overrun=o).soft for o in (0.0, 5.0))
    assert 0 < late < punctual


def test_the_kept_part_is_not_shared_out() -> None:
    careful, usual = (Clock(time_fraction=f).plan(1800, 1800, 0).soft for f in (0.5, 0.9))
    assert careful < 0.7 * usual


class Hands:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def test_a_pause_is_seen_by_the_next_question() -> None:
    hands = Hands()
    watch = PauseWatch(hands)
    for _ in range(20):
        hands.time += PauseWatch.TICK
        watch.tick()
    assert watch.take() == 0
    hands.time += 7.0
    assert watch.take() == pytest.approx(7.0, abs=0.1)
    assert watch.take() == 0


def test_a_pause_that_was_seen_before_the_question_is_remembered() -> None:
    hands = Hands()
    watch = PauseWatch(hands)
    hands.time += 3.0
    watch.tick()
    hands.time += PauseWatch.TICK
    watch.tick()
    assert watch.take() == pytest.approx(3.0, abs=0.1)


def test_the_watching_thread_ticks() -> None:
    ticked = threading.Event()
    calls = 0

    def now() -> float:
        nonlocal calls
        calls += 1
        if calls > 2:
            ticked.set()
        return time.monotonic()

    PauseWatch(now).start()
    assert ticked.wait(10)
