"""Nothing that decides a move sees what its player could not know."""

import random
from collections.abc import Iterator

import numpy as np
import pytest
from following import Follower, first_state, follow

from junqi.board import IS_HEADQUARTERS, POINTS
from junqi.kernels.knowledge import (
    HAS_MOVED,
    IS_ENGINEER,
    IS_FLAG,
    MAY_BE_FLAG,
    MAY_BE_MINE,
    NO_BOMB,
    STRONGER_THAN,
)
from junqi.kernels.worlds import (
    ALL_KINDS,
    GONE_POINT,
    MIXING,
    SLOTS,
    mend_world,
    mix_world,
    put_world,
)
from junqi.layout import Layout, format_layout, layout_problems, random_layouts
from junqi.pieces import (
    ATTACKER_WINS,
    BOMB,
    BOTH_REMOVED,
    EMPTY,
    ENGINEER,
    FLAG,
    MARSHAL,
    MINE,
    NO_CONTACT,
    NOBODY,
    contact,
)
from junqi.rules import Move, Position, play
from junqi.simulate import parse_judge

RANDOM, POLICY, SEARCH = (parse_judge(name) for name in ("random", "policy", "search:2x2"))
JUDGES = [RANDOM, POLICY, SEARCH]
SIDES = (0, 1)


def layouts_of(seed: int) -> tuple[Layout, Layout]:
    red, black = random_layouts(2, seed)
    return red, black


def states(judge, seeds: range, every: int = 1) -> Iterator[Follower]:
    """Situations before a ply of games by a judge."""
    for seed in seeds:
        for ply, (follower, _) in enumerate(follow(layouts_of(seed), seed, judge)):
            if ply % every == 0:
                yield follower


def points_of(follower: Follower, side: int) -> list[int]:
    return [int(point) for point in follower.where[side] if point != GONE_POINT]


# The follower of these tests is the game


@pytest.mark.parametrize("judge", JUDGES, ids=str)
@pytest.mark.parametrize("second_judge", JUDGES, ids=str)
def test_the_follower_plays_the_same_games(judge, second_judge) -> None:
    layouts = layouts_of(3)
    follower = Follower(layouts)
    state = first_state(3)
    if SEARCH in (judge, second_judge):
        state = follower.start_worlds(state)
    played = [move for _, move in follow(layouts, 3, judge, second_judge)]
    for move in played:
        choice, state = follower.choose((judge, second_judge)[follower.side], state)
        assert choice == move
        follower.play(move)


@pytest.mark.parametrize("judge", JUDGES, ids=str)
def test_a_followed_game_is_the_game_of_the_rules(judge) -> None:
    layouts = layouts_of(4)
    position = Position.from_layouts(*layouts)
    for follower, move in follow(layouts, 4, judge):
        assert follower.board[:POINTS].tolist() == list(position.pieces)
        for side in SIDES:
            assert sorted(points_of(follower, side)) == position.points_of(side)
        position, _ = play(position, move)


# A choice does not depend on what is hidden


def vandalise(follower: Follower, rng: random.Random) -> None:
    """Change everything that the side to move is not told, in any way at all."""
    side, board = follower.side, follower.board
    for point in points_of(follower, 1 - side):
        board[point] = rng.randint(ENGINEER, FLAG)
    for point in points_of(follower, side):
        follower.known[point] = rng.randrange(256)
    follower.may[side] = [rng.randrange(1 << 13) for _ in range(SLOTS)]
    follower.scratch.worlds[1 - side] = [rng.randint(ENGINEER, FLAG) for _ in range(SLOTS)]


def snapshot(follower: Follower) -> list[np.ndarray]:
    scratch = follower.scratch
    return [array.copy() for array in (scratch.board, scratch.known, scratch.may, scratch.worlds)]


def restore(follower: Follower, arrays: list[np.ndarray]) -> None:
    scratch = follower.scratch
    for array, saved in zip(
        (scratch.board, scratch.known, scratch.may, scratch.worlds), arrays, strict=True
    ):
        array[:] = saved


@pytest.mark.parametrize("player", JUDGES, ids=str)
@pytest.mark.parametrize("judge", JUDGES, ids=str)
def test_a_choice_does_not_depend_on_what_is_hidden(player, judge) -> None:
    rng = random.Random(1)
    looked_at = 0
    for follower in states(judge, range(10, 20), every=4):
        follower.start_worlds(first_state(looked_at))
        before = snapshot(follower)
        state = np.uint64(rng.getrandbits(64))
        choice = follower.choose(player, state)
        for _ in range(3):
            restore(follower, before)
            vandalise(follower, rng)
            assert follower.choose(player, state) == choice
        restore(follower, before)
        looked_at += 1
    assert looked_at > 60


def test_a_choice_does_depend_on_what_is_known() -> None:
    """The counterpart: the test above would see it if a player looked at these things."""
    differences = {"policy": 0, "search": 0}
    rng = random.Random(2)
    for follower in states(POLICY, range(20, 24), every=3):
        follower.start_worlds(first_state(1))
        before = snapshot(follower)
        state = np.uint64(rng.getrandbits(64))
        side = follower.side
        choices = [follower.choose(player, state)[0] for player in (POLICY, SEARCH)]
        restore(follower, before)
        for point in points_of(follower, 1 - side):
            follower.known[point] = IS_FLAG
        differences["policy"] += follower.choose(POLICY, state)[0] != choices[0]
        restore(follower, before)
        follower.may[1 - side] = [1 << kind for kind in follower.truth(1 - side)]
        differences["search"] += follower.choose(SEARCH, state)[0] != choices[1]
        restore(follower, before)
    assert min(differences.values()) > 5, differences


def test_a_searching_player_changes_nothing_but_its_own_memory() -> None:
    for follower in states(SEARCH, range(30, 32), every=5):
        follower.start_worlds(first_state(1))
        others = follower.scratch.worlds[1 - follower.side].copy()
        before = [a.copy() for a in (follower.board, follower.known, follower.may, follower.where)]
        follower.choose(SEARCH, np.uint64(5))
        after = (follower.board, follower.known, follower.may, follower.where)
        assert all((a == b).all() for a, b in zip(before, after, strict=True))
        assert (follower.scratch.worlds[1 - follower.side] == others).all()


# Knowledge is made of public messages


def messages(layouts: tuple[Layout, Layout], moves: list[Move]) -> list[object] | None:
    """What both sides are told of these moves; None if one of them is not legal."""
    position = Position.from_layouts(*layouts)
    told = []
    for move in moves:
        if position.owners[move.origin] == NOBODY:
            return None
        try:
            position, result = play(position, move)
        except ValueError:
            return None
        told.append((move, result, position.told_flag(0), position.told_flag(1)))
    return told


def knowledge_of(layouts: tuple[Layout, Layout], moves: list[Move], side: int) -> list[object]:
    """What a side knows after each of these moves, of the other."""
    follower = Follower(layouts)
    known = []
    for move in moves:
        follower.play(move)
        if follower.is_over:
            break
        points = points_of(follower, 1 - side)
        known.append(
            (
                {point: int(follower.known[point]) for point in points},
                follower.may[1 - side].tolist(),
                follower.where.tolist(),
                follower.told[side],
            )
        )
    return known


@pytest.mark.parametrize("judge", JUDGES, ids=str)
@pytest.mark.parametrize("side", SIDES)
def test_equal_messages_give_equal_knowledge(judge, side: int) -> None:
    """Other enemy layouts are tried that would have led to the same messages, move for move."""
    rng = random.Random(side)
    others = 0
    for seed in range(40, 52):
        layouts = layouts_of(seed)
        moves = [move for _, move in follow(layouts, seed, judge)][:60]
        told = messages(layouts, moves)
        expected = knowledge_of(layouts, moves, side)
        enemy = layouts[1 - side]
        for _ in range(40):
            a, b = rng.sample(range(SLOTS), 2)
            changed = enemy.copy()
            changed[[a, b]] = enemy[[b, a]]
            if enemy[a] == enemy[b] or layout_problems(format_layout(changed)):
                continue
            pair = (layouts[side], changed) if side == 0 else (changed, layouts[side])
            if messages(pair, moves) != told:
                continue
            enemy = changed  # from here on to layouts further and further from the truth
            others += 1
            assert knowledge_of(pair, moves, side) == expected
    assert others > 60


# What is known is true


@pytest.mark.parametrize("judge", JUDGES, ids=str)
@pytest.mark.parametrize("second_judge", JUDGES, ids=str)
def test_what_may_be_always_contains_the_truth(judge, second_judge) -> None:
    for seed in range(50, 58):
        for follower, _ in follow(layouts_of(seed), seed, judge, second_judge):
            for side in SIDES:
                for slot, kind in enumerate(follower.truth(side)):
                    assert follower.may[side, slot] >> kind & 1, (seed, side, slot)


@pytest.mark.parametrize("judge", JUDGES, ids=str)
@pytest.mark.parametrize("second_judge", JUDGES, ids=str)
def test_what_is_known_of_a_piece_is_true(judge, second_judge) -> None:
    for seed in range(60, 66):
        has_moved: set[int] = set()
        for follower, move in follow(layouts_of(seed), seed, judge, second_judge):
            for point in points_of(follower, 0) + points_of(follower, 1):
                known, kind = int(follower.known[point]), int(follower.board[point])
                bound = known & STRONGER_THAN
                assert bool(known & HAS_MOVED) == (point in has_moved)
                assert (bound != IS_FLAG) or kind == FLAG
                assert (bound != IS_ENGINEER) or kind == ENGINEER
                assert bound > MARSHAL or kind > bound
                assert kind != BOMB or not known & NO_BOMB
                assert kind != MINE or known & MAY_BE_MINE
                assert kind != FLAG or known & MAY_BE_FLAG or bound == IS_FLAG
                assert not known & MAY_BE_FLAG or IS_HEADQUARTERS[point]
            result = contact(follower.board[move.origin], follower.board[move.target])
            has_moved.discard(move.origin)
            if result in (ATTACKER_WINS, NO_CONTACT):
                has_moved.add(move.target)
            elif result == BOTH_REMOVED:
                has_moved.discard(move.target)


# Worlds are drawn from what is known


@pytest.mark.parametrize("judge", JUDGES, ids=str)
def test_worlds_are_legal_layouts_that_agree_with_what_is_known(judge) -> None:
    """Also the first of a game, which is made from the last of another."""
    drawn = 0
    state = first_state(7)
    worlds = np.array([ALL_KINDS, ALL_KINDS])
    for follower in states(judge, range(70, 80), every=3):
        for side in SIDES:
            may, world = follower.may[side], worlds[side]
            assert mend_world(may, world)
            for _ in range(3):
                state = np.uint64(mix_world(may, world, MIXING, state))
                assert layout_problems(format_layout(world)) == []
                assert all(may[slot] >> kind & 1 for slot, kind in enumerate(world.tolist()))
            drawn += 1
    assert drawn > 100


def test_a_world_is_put_where_the_pieces_stand() -> None:
    for follower in states(POLICY, range(80, 82), every=10):
        for side in SIDES:
            world = np.array(follower.truth(side), np.uint8)
            board = np.zeros(64, np.uint8)
            sets = put_world(world, follower.where, side, board)
            assert list(sets) == [int(word) for word in follower.sets[side][1:]]
            for point in range(POINTS):
                is_own = point in points_of(follower, side)
                assert board[point] == (follower.board[point] if is_own else EMPTY)
