"""What a thought does next, by time and by effort."""

import numpy as np
import pytest

from junqi import agenda as agendas
from junqi.agenda import DEARER, ENOUGH, FIRST_WORLDS, MORE_WORLDS, WORTH_WHILE, Agenda, Step
from junqi.race import FEWEST, Race
from junqi.rules import Move

MOVES = [Move(1, 2), Move(3, 4), Move(5, 6)]


class Clock:
    """Stands where it is put."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(agendas, "time", clock)
    return clock


def run(
    agenda: Agenda, clock: Clock | None = None, cost: float = 0.0, noise: float = 0.1
) -> list[Step]:
    """All steps, if a world costs so much at the lowest level, and moves differ by noise alone."""
    race, steps = Race(MOVES, doubt=1.0), []
    random = np.random.default_rng(1)
    while (step := agenda.next(race)) is not None:
        steps.append(step)
        values = 0.5 + noise * random.normal(size=(step.worlds, len(race.moves)))
        race.add(values.astype(np.float32), step.level)
        seconds = step.worlds * cost * DEARER**step.level
        if clock is not None:
            clock.now += seconds
        agenda.took(step, seconds)
    return steps


def worlds(steps: list[Step], level: int) -> int:
    return sum(step.worlds for step in steps if step.level == level)


def test_an_effort_is_a_number_of_worlds_and_a_part_of_them_again_deeper() -> None:
    assert run(Agenda(3, 1, 0.0, 8, 64)) == [Step(0, 8)]
    steps = run(Agenda(3, 2, 0.0, 200, 64))
    assert steps[0] == Step(0, FIRST_WORLDS)
    assert (worlds(steps, 0), worlds(steps, 1), worlds(steps, 2)) == (200, 25, 0)
    assert worlds(run(Agenda(1, 2, 0.0, 200, 64)), 1) == 0


@pytest.mark.parametrize("limit", [0.02, 0.1, 0.3, 1.0, 5.0])
def test_a_time_is_used_and_not_overrun(limit: float, clock: Clock) -> None:
    steps = run(Agenda(3, 1, limit, None, 64), clock, cost=0.0002)
    assert 0.7 * limit < clock.now - 100 < 1.3 * limit
    assert all(step.worlds <= MORE_WORLDS for step in steps)


def test_more_time_goes_deeper(clock: Clock) -> None:
    levels = [
        max(step.level for step in run(Agenda(3, 1, limit, None, 64), clock, cost=0.0002))
        for limit in (0.02, 0.1, 2.0)
    ]
    assert levels == [0, 1, 2]
    steps = run(Agenda(5, 1, 3600.0, None, 64), clock, cost=0.0002)
    assert max(step.level for step in steps) > 2


def test_a_level_is_begun_after_enough_worlds_and_never_has_more_than_the_one_below(
    clock: Clock,
) -> None:
    counts = [0, 0, 0]
    for step in run(Agenda(3, 1, 3.0, None, 64), clock, cost=0.0002):
        if step.level and not counts[step.level]:
            assert counts[step.level - 1] >= ENOUGH[step.level - 1]
        counts[step.level] += step.worlds
        assert counts == sorted(counts, reverse=True)
    assert counts[2] >= WORTH_WHILE


def test_a_level_gets_worlds_enough_even_if_the_first_ones_agree(clock: Clock) -> None:
    agenda, race, counts = Agenda(2, 1, 5.0, None, 64), Race(MOVES, doubt=1.0), [0, 0]
    random = np.random.default_rng(1)
    while counts[1] < FEWEST and (step := agenda.next(race)) is not None:
        shape = (step.worlds, len(race.moves))
        values = 0.1 * random.normal(size=shape) if step.level == 0 else np.zeros(shape)
        race.add(values.astype(np.float32), step.level)
        seconds = step.worlds * 0.0002 * DEARER**step.level
        clock.now += seconds
        agenda.took(step, seconds)
        counts[step.level] += step.worlds
    assert counts[1] == FEWEST
    assert clock.now < 100.2


def test_nothing_more_is_done_where_it_is_clear(clock: Clock) -> None:
    # After the first worlds all moves are known, at any depth.
    steps = run(Agenda(2, 1, 5.0, None, 64), clock, cost=0.0002, noise=1e-6)
    assert worlds(steps, 1) >= FEWEST  # two or three would not tell how much they vary
    assert clock.now < 100.1
    race = Race(MOVES[:1])
    agenda = Agenda(3, 1, 5.0, None, 64)
    step = agenda.next(race)
    assert step is not None
    race.add(np.full((step.worlds, 1), 0.5, np.float32))
    assert agenda.next(race) is None
