"""The engine's search: what it counts, how deep it looks, and that it sees what is plain."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from junqi.agenda import FIRST_WORLDS
from junqi.alarm import Alarm
from junqi.board import mirror_point, parse_point, rotate_point
from junqi.kernel_rules import board_of, words_of
from junqi.kernels.bits import U0
from junqi.kernels.knowledge import KNOWN_AT_START, STRONGER_THAN
from junqi.kernels.moves import allowed_targets
from junqi.kernels.playout import count_moves
from junqi.kernels.tables import BOARD
from junqi.kernels.think import lay_out, look_ahead, new_worlds
from junqi.kernels.tree import (
    best_child,
    can_go,
    child_of,
    count_visit,
    grown,
    key_of,
    move_of,
    new_tree,
)
from junqi.kernels.value import (
    COUNTS,
    HIDDEN_UNITS,
    PLACES,
    PRESS,
    PRESSING,
    RAIDS,
    WORTHS,
    Net,
    net_value,
    raid_distance,
    read_position,
    without_press,
    worths_here,
)
from junqi.layout import format_layout, mirror_layout, random_layouts
from junqi.learned import learned_net
from junqi.pieces import BLACK, BOMB, ENGINEER, FLAG, MARSHAL, PLATOON, RED
from junqi.race import Candidate
from junqi.rules import Move, Position, Rules, legal_moves, outcome, play
from junqi.thinker import Thinker, ThinkWeights
from junqi.view import View

At = Callable[..., Position]


def views_of_games(seed: int, games: int) -> Iterator[View]:
    """The views of the side to move in random games."""
    random, rules = Random(seed), Rules()
    for number in range(games):
        first, second = random_layouts(2, seed + number)
        position = Position.from_layouts(first, second)
        flags = {side: position.find(side, FLAG) for side in (RED, BLACK)}
        views = [
            View.start(RED, format_layout(first)),
            View.start(BLACK, format_layout(second)),
        ]
        while outcome(position, rules) is None:
            side = position.to_move
            yield views[side]
            move = random.choice(legal_moves(position))
            position, result = play(position, move)
            if outcome(position, rules) is not None:
                break
            for viewer in (RED, BLACK):
                told = flags[1 - viewer] if position.find(1 - viewer, MARSHAL) is None else None
                if viewer == BLACK and told is not None:
                    told = rotate_point(told)
                seen = move if viewer == RED else move.rotated()
                views[viewer] = views[viewer].after(seen, result, told)


@cache
def thinker(threads: int = 1, effort: int = 48) -> Thinker:
    return Thinker(threads, seed=5, effort=effort)


@cache
def some_views() -> tuple[View, ...]:
    return tuple(views_of_games(3, 2))[::40]


def test_the_same_seed_gives_the_same_thought_for_any_number_of_threads() -> None:
    for view in some_views():
        one, two = thinker(1).think(view, 1, 1), thinker(2).think(view, 1, 1)
        assert one.candidates == two.candidates
        assert one.move == two.move


def test_every_legal_move_is_a_candidate_and_the_best_is_played() -> None:
    for view in some_views():
        thought = thinker().think(view, 1, 1)
        assert sorted(c.move for c in thought.candidates) == sorted(view.legal_moves())
        assert thought.move == thought.candidates[0].move
        assert all(0 <= c.value <= 1 for c in thought.candidates)
        assert 0 < thought.worlds <= 48


def test_a_flag_that_can_be_taken_is_taken() -> None:
    found = 0
    for view in views_of_games(11, 150):
        takes = [move for move in view.legal_moves() if move.target == view.enemy_flag]
        if takes:
            thought = thinker(effort=4).think(view, 1, 1)
            assert thought.move in takes
            assert thought.value == 1.0
            found += 1
    assert found >= 3


def test_the_last_quiet_ply_is_not_made_while_there_is_a_contact() -> None:
    found = 0
    for view in views_of_games(21, 30):
        if view.quiet_plies == view.rules.steps - 1:
            contacts = [m for m in view.legal_moves() if view.position.pieces[m.target]]
            if contacts:
                assert thinker(effort=4).think(view, 1, 1).move in contacts
                found += 1
    assert found >= 3


def test_no_legal_move_is_an_error() -> None:
    view = some_views()[0]
    nothing = {RED: {}, BLACK: {1: FLAG}}
    stuck = View(view.side, view.layout, view.rules, Position.from_pieces(nothing), view.men)
    with pytest.raises(ValueError, match="legal move"):
        thinker().think(stuck, 1, 1)


def test_what_the_enemy_knows_of_own_pieces_depends_on_the_world() -> None:
    for view in some_views():
        root = thinker()._root(view)
        worlds = new_worlds(2)
        kinds = np.repeat(np.array([[2], [5]], np.int8), 25, axis=1)
        lay_out(root, kinds, worlds)
        for world, kind in zip(worlds.known, (2, 5), strict=True):
            for point, _slot in root.beaten:
                assert world[point] & STRONGER_THAN in (kind, 14)


def sets_of(position: Position) -> tuple[np.uint64, np.uint64, np.uint64, np.ndarray]:
    """Own and mobile pieces of the side to move, the number of its moves, and their sets."""
    own, mobile, engineers, enemy, _, _ = words_of(position)
    empty = BOARD & ~(own | enemy)
    sets = np.zeros(32, np.uint64)
    total = count_moves(mobile, engineers, allowed_targets(enemy, empty), empty, sets)
    return own, mobile, total, sets


def test_a_move_of_the_tree_is_possible_where_the_rules_allow_it() -> None:
    for view in some_views():
        position = view.position
        own, mobile, total, sets = sets_of(position)
        legal = set(view.legal_moves())
        for origin in range(60):
            if not int(mobile) >> origin & 1:
                continue
            for target in range(60):
                found = can_go(np.uint64(origin), np.uint64(target), own, total, sets)
                assert found == (Move(origin, target) in legal)


def test_a_tree_follows_the_best_child_that_the_world_allows() -> None:
    position = Position.from_layouts(*random_layouts(2, 1))
    own, mobile, total, sets = sets_of(position)
    board = board_of(position)
    moves = [move for move in legal_moves(position) if not board[move.target]][:3]
    tree = new_tree(16)
    tree.visits[0] = 30
    for move, chance in zip(moves, (0.2, 0.6, 0.4), strict=True):
        key = key_of(np.uint64(move.origin), np.uint64(move.target), 0)
        child = child_of(tree, 0, key)
        assert child == child_of(tree, 0, key)
        count_visit(tree, np.full(10, child), 10, chance)
    for side, expected in ((0, moves[1]), (1, moves[0])):
        child, count = best_child(tree, 0, side, board, own, mobile, total, sets, 0.01)
        assert Move(*map(int, move_of(tree.keys[child]))) == expected
        assert count == 3
    # The other two are taken to come to a contact, which they do not.
    tree.keys[4] |= 1
    tree.keys[5] |= 1
    child, count = best_child(tree, 0, 1, board, own, mobile, total, sets, 0.01)
    assert (child, count) == (6, 1)
    # A seldom tried child is given the benefit of the doubt.
    tree.visits[6], tree.totals[6] = 1, 0.4
    assert best_child(tree, 0, 0, board, own, mobile, total, sets, 1.0)[0] == 6


def test_a_full_tree_takes_nothing_more_in_and_grows_when_asked() -> None:
    tree = new_tree(6)
    keys = [key_of(np.uint64(number), U0, 0) for number in range(3)]
    found = [child_of(tree, 0, key) for key in keys]
    assert found == [4, 5, 0]
    larger = grown(tree, 7)
    assert grown(larger, 7) is larger
    assert [child_of(larger, 0, key) for key in keys] == [4, 5, 6]


def test_a_thought_can_be_stopped() -> None:
    thinking = Thinker(1, seed=1)
    with ThreadPoolExecutor(1) as pool:
        thought = pool.submit(thinking.think, some_views()[0], 60.0, 60.0)
        while not thought.done():
            thinking.stop()
        assert thought.result().seconds < 50


def test_a_thought_ends_in_time_though_the_look_ahead_would_not() -> None:
    # Seven plies in all worlds at once would take seconds.
    weights = ThinkWeights(depth=7, deepest=7)
    thinking = Thinker(2, seed=1, weights=weights)
    view = some_views()[0]
    whole = thinking.think(view, 1e-6, 1e-6)
    assert whole.worlds == FIRST_WORLDS  # without any world there would be no thought
    short = thinking.think(view, whole.seconds + 0.2, whole.seconds + 0.2)
    assert short.seconds < whole.seconds + 0.2 + whole.seconds / 2
    # What was broken off leaves nothing behind.
    assert thinking.think(view, 1e-6, 1e-6).candidates == whole.candidates


def test_an_alarm_rings_once_and_not_after_it_was_cancelled() -> None:
    rung: list[str] = []
    early = Alarm(time.monotonic(), lambda: rung.append("early"))
    late = Alarm(time.monotonic() + 60, lambda: rung.append("late"))
    off = Alarm(time.monotonic(), lambda: rung.append("off"))
    off.cancel()
    for alarm in (early, late, off):
        alarm.start()
    while not rung:
        time.sleep(0.001)
    for alarm in (early, late, off):
        alarm.cancel()
    assert rung == ["early"]


def test_each_part_of_the_search_can_be_left_out() -> None:
    def found(**changes: float) -> list[tuple[Candidate, ...]]:
        thinking = Thinker(1, 1, effort=12, weights=replace(ThinkWeights(), **changes))
        return [thinking.think(view, 1.0, 1.0).candidates for view in some_views()]

    usual = found()
    for name, value in {"belief": 0.0, "takes_back": False, "is_wary": False, "trust": 0.0}.items():
        assert found(**{name: value}) != usual, name
    # What only saves time changes nothing in a look of three plies.
    assert found(remembers=False) == found(passes=False) == usual
    thinking = Thinker(1, 1, effort=40, weights=ThinkWeights(races=False))
    everyone = thinking.think(some_views()[1], 1.0, 1.0).candidates
    assert {candidate.worlds for candidate in everyone} == {40}


def test_the_look_ahead_goes_deeper_after_enough_worlds(monkeypatch) -> None:
    view = View.start(RED, format_layout(random_layouts(1, 3)[0]))
    depths: list[int] = []

    def note_depth(root, judgement, depth, *rest) -> bool:
        depths.append(depth)
        return look_ahead(root, judgement, depth, *rest)

    weights = ThinkWeights(enough=16)
    alone, together = (Thinker(threads, 1, effort=40, weights=weights) for threads in (1, 2))
    expected = together.think(view, 1.0, 1.0).candidates
    monkeypatch.setattr("junqi.thinker.look_ahead", note_depth)
    assert alone.think(view, 1.0, 1.0).candidates == expected
    assert depths == [3, 3, 5]  # 16 worlds and 24 more, then some of them again


def test_deeper_looks_are_into_worlds_that_were_looked_at_before(monkeypatch) -> None:
    looks: dict[int, list[bytes]] = {3: [], 5: []}

    def note_worlds(root, judgement, depth, worlds, *rest) -> bool:
        looks[depth] += [board.tobytes() for board in worlds.boards]
        return look_ahead(root, judgement, depth, worlds, *rest)

    view = View.start(RED, format_layout(random_layouts(1, 3)[0]))
    thinking = Thinker(1, 1, effort=64)
    monkeypatch.setattr("junqi.thinker.look_ahead", note_worlds)
    thinking.think(view, 1.0, 1.0)
    assert len(looks[3]) == 64
    assert looks[5] == looks[3][:8]


def value(position: Position) -> float:
    words = words_of(position)
    places, counts = np.zeros(64, np.int64), np.zeros(COUNTS, np.float32)
    found = read_position(
        board_of(position),
        KNOWN_AT_START.copy(),
        words[0],
        words[3],
        position.to_move,
        position.quiet_plies,
        31,
        places,
        counts,
    )
    return float(net_value(learned_net(), places, found, counts))


@pytest.mark.parametrize(
    ("pieces", "moves"),
    [
        ("lL1 EK1 LA1", 1),
        ("lL1 EJ1 LA1", 2),
        ("lL1 EG0 LA1", 3),  # down the rail to K0, K1 or L0, the flag
        ("lL1 gK1 EJ1 LA1", 2),  # what it beats is in nobody's way
        ("lL1 dK1 EJ1 LA1", 3),  # round what it does not: K0, L0
        ("lL1 jK1 gL0 gL2 IJ1 LA1", 2),  # an engineer digs mines
        ("lL1 jK1 jL0 jL2 EJ1 LA1", 5),
        ("lL1 JK1 LA1", 5),  # a mine goes nowhere
        ("lL1 EL3 LA1", 5),  # nor does what is in a headquarters
    ],
)
def test_the_way_to_a_flag_is_counted_in_moves(at: At, pieces: str, moves: int) -> None:
    position = at(pieces)
    own, _, _, enemy, _, _ = words_of(position)
    flag = position.find(RED, FLAG)
    assert flag is not None
    found = raid_distance(board_of(position), enemy, own, np.uint64(flag))
    assert found == moves


def test_a_position_is_worth_the_same_turned_round_and_mirrored() -> None:
    for first, second in random_layouts(12, 4).reshape(-1, 2, 25):
        position = Position.from_layouts(first, second)
        expected = value(position)
        turned = Position.from_layouts(second, first, to_move=BLACK)
        assert value(turned) == pytest.approx(expected, abs=1e-4)
        mirrored = Position.from_layouts(mirror_layout(first), mirror_layout(second))
        assert value(mirrored) == pytest.approx(expected, abs=1e-4)


def read(position: Position, net: Net) -> tuple[float, NDArray[np.int32]]:
    """The net's odds for red to move, and what pieces are worth around the position."""
    board, words = board_of(position), words_of(position)
    places, counts = np.zeros(64, np.int64), np.zeros(COUNTS, np.float32)
    found = read_position(board, KNOWN_AT_START, words[0], words[3], RED, 0, 31, places, counts)
    odds = float(net_value(net, places, found, counts))
    worth, slopes = np.zeros(WORTHS, np.int32), np.zeros(COUNTS, np.float32)
    worths_here(net, board, found, counts, 31, 1e5, slopes, worth)
    return odds, worth[:PRESSING].reshape(2, 16, 64)


def net_of(places: float = 0.0, inner: float = 0.0) -> Net:
    """A net of random numbers so large, whose units are all at work, so that it is a sum.

    How far raids are away is not counted along, so it counts nothing here.
    """
    random = np.random.default_rng(5)
    numbers = inner * random.normal(size=(COUNTS, HIDDEN_UNITS))
    numbers[RAIDS:] = 0.0
    return Net(
        (places * random.normal(size=(2, PLACES))).astype(np.float32),
        numbers.astype(np.float32),
        np.full(HIDDEN_UNITS, 50.0, np.float32),
        random.normal(size=HIDDEN_UNITS).astype(np.float32),
    )


@pytest.mark.parametrize("net", [net_of(places=1.0), net_of(places=1.0, inner=0.1)])
def test_the_look_ahead_counts_a_quiet_move_as_the_net_does(at: At, net: Net) -> None:
    before, worth = read(at("lL1 jL0 aH2 iK3 KE1 DC2 LA3"), net)
    for side, kind, origin, target, after in [
        (RED, MARSHAL, "H2", "G2", "lL1 jL0 aG2 iK3 KE1 DC2 LA3"),
        (RED, ENGINEER, "K3", "K1", "lL1 jL0 aH2 iK1 KE1 DC2 LA3"),  # in front of the own flag
        (BLACK, BOMB, "E1", "E0", "lL1 jL0 aH2 iK3 KE0 DC2 LA3"),
    ]:
        now, _ = read(at(after), net)
        gain = int(worth[side, kind, parse_point(target)]) - int(
            worth[side, kind, parse_point(origin)]
        )
        sign = 1 if side == RED else -1
        assert sign * gain / 1e5 == pytest.approx(now - before, abs=1e-3)


def test_the_look_ahead_counts_a_lost_piece_as_the_net_does(at: At) -> None:
    net = net_of(inner=0.1)
    before, worth = read(at("lL1 aH2 iJ4 KE1 DC2 LA3"), net)
    after, _ = read(at("lL1 aH2 iJ4 DC2 LA3"), net)
    assert worth[BLACK, BOMB, parse_point("E1")] / 1e5 == pytest.approx(after - before, abs=1e-3)


def test_what_the_look_ahead_counts_is_the_same_for_both_wings() -> None:
    first, second = random_layouts(2, 9)
    _, worth = read(Position.from_layouts(first, second), learned_net())
    _, other_wing = read(
        Position.from_layouts(mirror_layout(first), mirror_layout(second)), learned_net()
    )
    mirrored = [mirror_point(p) for p in range(60)]
    assert np.abs(worth[:, :, :60] - other_wing[:, :, mirrored]).max() <= 1


def test_stronger_pieces_are_worth_more() -> None:
    _, worth = read(Position.from_layouts(*random_layouts(2, 9)), learned_net())
    for side in (RED, BLACK):
        assert worth[side, MARSHAL, :60].mean() > worth[side, PLATOON, :60].mean() > 0


def test_a_contact_leaves_the_enemy_pressed_as_the_net_counts_it(at: At) -> None:
    position = at("lL1 jL0 aH2 iK3 KE1 DC2 LA3")
    random, scale = np.random.default_rng(6), 1e5
    net = net_of()
    net.inner[PRESS:] = 0.1 * random.normal(size=(COUNTS - PRESS, HIDDEN_UNITS))
    board, words = board_of(position), words_of(position)

    def read_at(quiet: int) -> tuple[float, NDArray[np.int32]]:
        places, counts = np.zeros(64, np.int64), np.zeros(COUNTS, np.float32)
        found = read_position(
            board, KNOWN_AT_START, words[0], words[3], RED, quiet, 31, places, counts
        )
        odds = float(net_value(net, places, found, counts))
        worth = np.zeros(WORTHS, np.int32)
        slopes = np.zeros(COUNTS, np.float32)
        worths_here(net, board, found, counts, 31, scale, slopes, worth)
        return odds, worth[PRESSING:]

    neutral = float(sum(np.maximum(net.shifts, 0) * net.outer))
    fresh, bonus = read_at(0)
    for quiet in (3, 8, 25, 30):
        # Red is to move after the contact too, but it is the enemy who is pressed: turned round.
        here, _ = read_at(quiet)
        assert bonus[31 - quiet] == pytest.approx(-scale * (fresh + here - 2 * neutral), abs=60)
    assert not bonus[32:].any()


def test_steps_beyond_the_table_are_played() -> None:
    rules = Rules(steps=200)
    view = View.start(RED, format_layout(random_layouts(1, 3)[0]), rules)
    assert thinker(effort=4).think(view, 1, 1).move in view.legal_moves()


def test_without_pressing_nothing_is_counted_of_it() -> None:
    net = without_press(learned_net())
    assert not net.inner[PRESS:].any()
    assert learned_net().inner[PRESS:].any()
