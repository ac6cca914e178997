"""Simulated players at the board: the kernels' own knowledge, and nothing that is hidden."""

from collections.abc import Iterator

import numpy as np
import pytest
from following import Follower

from junqi.board import seen_from
from junqi.judge_player import ENEMY, JudgePlayer, Knowledge
from junqi.kernels.worlds import GONE_POINT
from junqi.layout import Layout, format_layout, layout_problems, random_layouts
from junqi.pieces import BLACK, FLAG, NO_CONTACT, RED, Side, other
from junqi.players import DECIDERS, UnknownPlayer, make_decider
from junqi.replay import play_ply
from junqi.rules import Move, Position, Rules, parse_move
from junqi.simulate import UnknownJudge, parse_judge, play_game
from junqi.view import View

POLICY, SEARCH = parse_judge("policy"), parse_judge("search:2x2")
SIDES = (RED, BLACK)


def layouts_of(seed: int) -> tuple[Layout, Layout]:
    red, black = random_layouts(2, seed)
    return red, black


def views_of(layouts: tuple[Layout, Layout], moves: list[Move]) -> Iterator[dict[Side, View]]:
    """What both sides know before each ply, told as a referee tells it."""
    position = Position.from_layouts(*layouts)
    views = {side: View.start(side, format_layout(layouts[side])) for side in SIDES}
    flags: dict[Side, int | None] = dict.fromkeys(SIDES)
    for move in moves:
        yield dict(views)
        ply, position = play_ply(position, move)
        if position.find(RED, FLAG) is None or position.find(BLACK, FLAG) is None:
            return
        for side in SIDES:
            flags[side] = flags[side] or position.told_flag(side)
        for side in SIDES:
            told = move if side == RED else move.rotated()
            flag = flags[other(side)]
            seen = None if flag is None else seen_from(flag, side)
            views[side] = views[side].after(told, ply.result, seen)


@pytest.mark.parametrize("judge", [POLICY, SEARCH], ids=str)
def test_a_view_tells_what_the_kernels_know(judge) -> None:
    flags = 0
    for seed in range(8):
        layouts = layouts_of(seed)
        moves, _ = play_game(*layouts, seed, judge)
        follower = Follower(layouts)
        knowledge = {
            side: Knowledge(View.start(side, format_layout(layouts[side]))) for side in SIDES
        }
        for move, views in zip(moves, views_of(layouts, moves), strict=False):
            for side in SIDES:
                ours = knowledge[side]
                ours.follow(views[side])
                enemy = other(side)
                # Slots and points are in own coordinates; both are turned for black.
                where = [int(point) for point in follower.where[enemy]]
                seen = [p if p == GONE_POINT else seen_from(p, side) for p in where]
                assert ours.scratch.where[ENEMY].tolist() == seen
                assert ours.scratch.may[ENEMY].tolist() == follower.may[enemy].tolist()
                for point in where:
                    if point != GONE_POINT:
                        known = ours.scratch.known[seen_from(point, side)]
                        assert known == follower.known[point]
                assert bool(ours.flag_told) == bool(follower.told[side])
                flags += bool(ours.flag_told)
            follower.play(move)
    assert flags > 20


@pytest.mark.parametrize("name", ["random", "policy", "search:2x2"])
def test_a_player_sees_nothing_hidden(name) -> None:
    """Two games with the same messages to one side get the same moves from it."""
    rng = np.random.default_rng(3)
    looked_at = 0
    for seed in range(30):
        red, black = layouts_of(100 + seed)
        moves, _ = play_game(red, black, seed, POLICY)
        views = [view[RED] for view in views_of((red, black), moves)]
        other_black = exchanged(black, rng)
        try:
            others = [view[RED] for view in views_of((red, other_black), moves)]
        except ValueError:
            continue  # a piece of the other kind could not move so
        same = 0
        while same < min(len(views), len(others)) and views[same] == others[same]:
            same += 1
        players = [make_decider(name, 5) for _ in range(2)]
        for ply in range(0, same, 2):
            looked_at += 1
            assert players[0].move(views[ply], 1.0) == players[1].move(others[ply], 1.0)
    assert looked_at > 100


def exchanged(layout: Layout, rng: np.random.Generator) -> Layout:
    """A legal layout that differs from another by two pieces."""
    while True:
        changed = layout.copy()
        a, b = rng.integers(len(layout), size=2)
        changed[a], changed[b] = changed[b], changed[a]
        if not layout_problems(format_layout(changed)) and (changed != layout).any():
            return changed


def test_a_view_of_another_game_is_read_from_its_beginning() -> None:
    layouts = layouts_of(1)
    moves, _ = play_game(*layouts, 1, POLICY)
    views = [view[RED] for view in views_of(layouts, moves)]
    player = JudgePlayer(POLICY, 1)
    player.move(views[20], 1.0)
    kept = player._knowledge
    player.move(views[22], 1.0)
    assert player._knowledge is kept
    player.move(views[4], 1.0)
    assert player._knowledge is not kept
    fresh = Knowledge(views[4])
    assert player._knowledge is not None
    assert (player._knowledge.scratch.known == fresh.scratch.known).all()


def test_a_game_without_plies_is_not_the_beginning_of_one_with_another_layout() -> None:
    first, second = layouts_of(1)
    views = [
        view[RED] for view in views_of((first, second), play_game(first, second, 1, POLICY)[0])
    ]
    empty = Knowledge(View.start(RED, format_layout(second)))
    assert not empty.is_before(views[4])
    assert Knowledge(views[0]).is_before(views[4])


@pytest.mark.parametrize("name", ["random", "policy", "search:2x2"])
def test_layouts_and_moves_are_legal_and_come_from_the_seed(name) -> None:
    layouts = [make_decider(name, seed).layout(True, Rules()) for seed in (1, 1, 2)]
    assert layouts[0] == layouts[1] != layouts[2]
    assert not layout_problems(layouts[0])
    view = View.start(BLACK, layouts[0])
    view = view.after(parse_move("F1E1"), NO_CONTACT)
    moves = [make_decider(name, seed).move(view, 1.0) for seed in (1, 1)]
    assert moves[0] == moves[1]
    assert moves[0] in view.legal_moves()


def test_wrong_names_of_built_in_players_are_told() -> None:
    assert set(DECIDERS) >= {"random", "policy", "search"}
    with pytest.raises(UnknownPlayer, match="expected random, got 'random:3'"):
        make_decider("random:3", 1)
    with pytest.raises(UnknownJudge, match="expected random, policy, search:DxW"):
        make_decider("search:deep", 1)
