from functools import partial

import numpy as np
import pytest

from junqi.layout import parse_layouts, random_layouts
from junqi.panel import draw_opponents, make_panel, random_panel
from junqi.pieces import RED
from junqi.rate import rate
from junqi.simulate import game_seeds, parse_judge, play_game, play_games

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
