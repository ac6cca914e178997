from collections import Counter
from functools import partial

import numpy as np
import pytest

from junqi.layout import Layout, canonical_layout, format_layout, parse_layouts, random_layouts
from junqi.panel import Panel, draw_opponents, make_panel, random_panel
from junqi.pieces import RED
from junqi.rate import rate, rate_mixture
from junqi.simulate import Judge, Results, Seeds, game_seeds, parse_judge, play_game, play_games

A = "abccddeeffggghhhiiijjkklj"
B = "cigdcegkefkfaibgidjhhhjlj"
POLICY = parse_judge("policy")


def test_a_rating_is_what_the_games_say_one_by_one() -> None:
    panel = make_panel("mine", [A, B], [1, 3])
    layouts = random_layouts(2, 5)
    ratings = rate(layouts, panel, 40, 7, POLICY)
    draw = draw_opponents(panel, 20, 7)
    for layout, rating in zip(layouts, ratings, strict=True):
        met = np.zeros((2, 3), int)
        for seed, index, enemy in zip(game_seeds(7, 20), draw.indices, draw.layouts, strict=True):
            for is_first in (True, False):
                sides = (layout, enemy) if is_first else (enemy, layout)
                _, outcome = play_game(*sides, int(seed), POLICY)
                has_won = (outcome.winner == RED) == is_first
                met[index, 1 if outcome.winner < 0 else 0 if has_won else 2] += 1
        assert rating.met.tolist() == met.tolist()
        assert [rating.wins, rating.draws, rating.losses] == met.sum(axis=0).tolist()
        assert rating.games == 40
        assert rating.score.mean == pytest.approx((rating.wins + rating.draws / 2) / 40)
        moving = (rating.score_moving_first + rating.score_moving_second) / 2
        assert rating.score.mean == pytest.approx(moving)


def test_a_score_does_not_depend_on_what_else_is_rated(monkeypatch: pytest.MonkeyPatch) -> None:
    panel = random_panel(10, 1)
    layouts = random_layouts(5, 2)
    together = rate(layouts, panel, 20, 3, POLICY)
    alone = [
        rate([layout], panel, 20, 3, POLICY, play=partial(play_games, threads=1))[0]
        for layout in layouts
    ]
    monkeypatch.setattr("junqi.rate._GAMES_AT_ONCE", 40)
    in_parts = rate(layouts, panel, 20, 3, POLICY)
    for ratings in (alone, in_parts):
        assert [r.met.tolist() for r in ratings] == [r.met.tolist() for r in together]
        assert [r.score for r in ratings] == [r.score for r in together]


def test_progress_counts_every_game() -> None:
    told: list[int] = []
    rate(random_layouts(3, 2), random_panel(4, 1), 50, 3, POLICY, progress=told.append)
    assert sum(told) == 150


def test_a_layout_against_itself_is_even() -> None:
    panel = make_panel("mine", [A])
    (rating,) = rate(parse_layouts([A]), panel, 4000, 1, POLICY)
    low, high = rating.score.interval
    assert low < 0.5 < high


def test_games_come_in_pairs() -> None:
    for games in (0, 3):
        with pytest.raises(ValueError, match="expected an even number of games"):
            rate(random_layouts(1, 1), random_panel(4, 1), games, 3, POLICY)


def test_a_mixture_plays_its_layouts_by_their_weights_and_each_against_everybody() -> None:
    mixture, panel = make_panel("mine", [A, B], [1, 3]), random_panel(3, 1)
    met: list[tuple[Layout, Layout]] = []

    def play(first: Layout, second: Layout, seeds: Seeds, judge: Judge, *, progress) -> Results:
        met.append((first, second))
        return play_games(first, second, seeds, judge, progress=progress)

    rating = rate_mixture(mixture, panel, 240, 5, POLICY, play=play)
    ((first, second),) = met
    own, enemy = first[:120], second[:120]
    assert (first[120:] == enemy).all()
    assert (second[120:] == own).all()
    who = Counter(
        (_number(one, mixture), _number(two, panel)) for one, two in zip(own, enemy, strict=True)
    )
    assert len(who) == 6
    shares = [sum(who[one, two] for two in range(3)) for one in range(2)]
    assert shares == [30, 90]
    assert rating.games == 240
    assert rating.met.sum() == 240


def _number(layout: Layout, panel: Panel) -> int:
    """Which layout of a panel this is, or the mirror image of."""
    return panel.texts.index(format_layout(canonical_layout(layout)))
