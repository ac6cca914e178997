"""The Python face of the kernels: what it checks, and that nothing but the game decides a game."""

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from junqi import simulate
from junqi.errors import JunqiError
from junqi.kernels.bits import random_state
from junqi.layout import parse_layout, random_layouts
from junqi.pieces import ENGINEER, FLAG
from junqi.rules import Reason, Rules
from junqi.simulate import (
    JUDGE_FORMS,
    MOST_WORLDS,
    Judge,
    Results,
    UnknownJudge,
    game_seeds,
    parse_judge,
    play_game,
    play_games,
    warm_up,
)
from junqi.weights import PolicyWeights, SearchWeights

SAMPLE = parse_layout("abccddeeffggghhhiiijjkklj")
RANDOM, POLICY, SEARCH = (parse_judge(name) for name in ("random", "policy", "search:2x2"))
JUDGES = [RANDOM, POLICY, SEARCH]


def some_games(judge: Judge, count: int = 60, **options: Any) -> Results:
    firsts, seconds = random_layouts(count, 1), random_layouts(count, 2)
    return play_games(firsts, seconds, game_seeds(3, count), judge, **options)


def assert_same(one: Results, two: Results) -> None:
    for a, b in zip(one, two, strict=True):
        assert a.dtype == b.dtype
        assert (a == b).all()


# The same games in any way


@pytest.mark.parametrize("judge", JUDGES, ids=str)
def test_any_number_of_threads_plays_the_same_games(judge: Judge) -> None:
    expected = some_games(judge, threads=1)
    for threads in (2, 3, 7, None):
        assert_same(some_games(judge, threads=threads), expected)


@pytest.mark.parametrize("judge", JUDGES, ids=str)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_any_chunks_play_the_same_games(
    monkeypatch: pytest.MonkeyPatch, judge: Judge, size: int
) -> None:
    expected = some_games(judge)
    monkeypatch.setattr(simulate, "games_at_once", lambda *_judges: size)
    monkeypatch.setattr(simulate, "_LAST_CHUNK", 1)
    for threads in (1, 2):
        assert_same(some_games(judge, threads=threads), expected)


@pytest.mark.parametrize(
    ("name", "value"), [("_POLICY_CHUNK", 5), ("_SEARCH_CHUNK_WORK", 70), ("_LAST_CHUNK", 0.5)]
)
def test_the_sizes_of_chunks_do_not_matter(
    monkeypatch: pytest.MonkeyPatch, name: str, value: float
) -> None:
    for judge in JUDGES:
        expected = some_games(judge)
        monkeypatch.setattr(simulate, name, value)
        assert_same(some_games(judge), expected)
        monkeypatch.undo()


@pytest.mark.parametrize("judge", JUDGES, ids=str)
def test_the_order_of_games_does_not_matter(judge: Judge) -> None:
    count = 40
    order = np.random.default_rng(1).permutation(count)
    firsts, seconds = random_layouts(count, 1), random_layouts(count, 2)
    seeds = game_seeds(3, count)
    straight = play_games(firsts, seconds, seeds, judge)
    mixed = play_games(firsts[order], seconds[order], seeds[order], judge)
    assert_same(Results(*(array[order] for array in straight)), mixed)


@pytest.mark.parametrize("judge", JUDGES, ids=str)
def test_a_game_does_not_depend_on_what_was_played_before(judge: Judge) -> None:
    count = 20
    together = some_games(judge, count)
    firsts, seconds = random_layouts(count, 1), random_layouts(count, 2)
    for index, seed in enumerate(game_seeds(3, count)):
        alone = play_games(firsts[index], seconds[index], [seed], judge)
        assert [int(array[0]) for array in alone] == [int(array[index]) for array in together]


@pytest.mark.parametrize("judge", JUDGES, ids=str)
def test_a_game_is_played_again_move_by_move(judge: Judge) -> None:
    first, second = random_layouts(2, 5)
    many = play_games(first, second, range(8), judge, SEARCH)
    for seed in range(8):
        moves, end = play_game(first, second, seed, judge, SEARCH)
        assert len(moves) == many.plies[seed]
        assert (end.winner, end.reason) == (many.winners[seed], many.reasons[seed])


def test_a_game_longer_than_expected_is_told_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = random_layouts(2, 5)
    expected = play_game(first, second, 1, POLICY)
    monkeypatch.setattr(simulate, "_PLIES_AT_FIRST", 3)
    assert play_game(first, second, 1, POLICY) == expected
    assert len(expected[0]) > 3


def test_one_layout_serves_all_games() -> None:
    seeds = game_seeds(1, 30)
    one = play_games(SAMPLE, SAMPLE, seeds, POLICY)
    many = play_games(np.tile(SAMPLE, (30, 1)), SAMPLE, seeds, POLICY)
    assert_same(one, many)


def test_layouts_may_be_lists_or_any_integers_and_are_not_changed() -> None:
    rows = random_layouts(6, 1)
    rows.flags.writeable = False
    expected = play_games(rows, rows[::-1], range(6), POLICY)
    for kind in (np.int64, np.uint8, np.int16):
        assert_same(play_games(rows.astype(kind), rows[::-1], range(6), POLICY), expected)
    assert_same(play_games(rows.tolist(), rows[::-1].tolist(), list(range(6)), POLICY), expected)
    assert (rows == random_layouts(6, 1)).all()


def test_no_games_are_no_problem() -> None:
    told: list[int] = []
    results = play_games(SAMPLE, SAMPLE, [], POLICY, progress=told.append)
    assert [len(array) for array in results] == [0, 0, 0]
    assert told == []


# Seeds


def test_neighbouring_seeds_give_unrelated_states() -> None:
    states = np.array([random_state(np.uint64(seed)) for seed in range(4000)], np.uint64)
    assert len(set(states.tolist())) == 4000
    changed = states[1:] ^ states[:-1]
    bits = [bin(word).count("1") for word in changed.tolist()]
    assert abs(np.mean(bits) - 32) < 0.4
    # The streams are parts of one cycle: none begins a few steps into another.
    steps = (states[1:] - states[:-1]) * np.uint64(pow(0x9E3779B97F4A7C15, -1, 2**64))
    assert min(steps.min(), (~steps).min()) > 10**9


@pytest.mark.parametrize("judge", [RANDOM, POLICY], ids=str)
def test_games_of_neighbouring_seeds_are_independent(judge: Judge) -> None:
    count = 20_000
    results = play_games(SAMPLE, SAMPLE, np.arange(count), judge)
    for values in (results.scores_of_first(), results.plies.astype(float)):
        for distance in (1, 2, 10_000):
            related = np.corrcoef(values[:-distance], values[distance:])[0, 1]
            assert abs(related) < 4.5 / np.sqrt(count - distance)


def test_runs_do_not_share_games() -> None:
    seeds = np.concatenate([game_seeds(seed, 1000) for seed in range(200)])
    assert len(np.unique(seeds)) == len(seeds)
    assert seeds.dtype == np.uint64


def test_a_longer_run_begins_with_the_shorter() -> None:
    assert (game_seeds(7, 100)[:10] == game_seeds(7, 10)).all()


def test_seeds_may_be_as_large_as_64_bits_allow() -> None:
    seeds = np.array([0, 2**63, 2**64 - 1], np.uint64)
    results = play_games(SAMPLE, SAMPLE, seeds, POLICY)
    for index, seed in enumerate(seeds.tolist()):
        assert len(play_game(SAMPLE, SAMPLE, seed, POLICY)[0]) == results.plies[index]


# Results


def test_results_have_the_promised_types() -> None:
    results = some_games(POLICY)
    assert [array.dtype for array in results] == [np.int8, np.int8, np.int32]
    assert set(results.winners.tolist()) <= {-1, 0, 1}
    assert set(results.reasons.tolist()) <= {Reason.FLAG, Reason.NO_MOVES, Reason.STEPS}
    assert results.plies.min() > 0


def test_scores_are_those_of_the_side_that_moves_first() -> None:
    winners = np.array([0, 1, -1], np.int8)
    results = Results(winners, np.ones(3, np.int8), np.ones(3, np.int32))
    assert results.scores_of_first().tolist() == [1.0, 0.0, 0.5]


def test_the_second_judge_plays_the_second_layouts() -> None:
    seeds = game_seeds(1, 400)
    score = play_games(SAMPLE, SAMPLE, seeds, POLICY, RANDOM).scores_of_first().mean()
    assert score > 0.75
    score = play_games(SAMPLE, SAMPLE, seeds, RANDOM, POLICY).scores_of_first().mean()
    assert score < 0.25


def test_weights_of_a_judge_are_its_own() -> None:
    timid = Judge(POLICY.kind, policy=PolicyWeights(boldness=5000, patience=1000))
    seeds = game_seeds(1, 200)
    results = play_games(SAMPLE, SAMPLE, seeds, timid)
    assert (results.reasons == Reason.STEPS).mean() > (
        play_games(SAMPLE, SAMPLE, seeds, POLICY).reasons == Reason.STEPS
    ).mean()
    blind = Judge(SEARCH.kind, 2, 2, search=SearchWeights(officers=(1,) * 9, bomb=1, mine=1))
    score = play_games(SAMPLE, SAMPLE, seeds[:60], SEARCH, blind).scores_of_first().mean()
    assert score > 0.5


def test_rules_reach_the_games() -> None:
    short = play_games(SAMPLE, SAMPLE, range(50), RANDOM, rules=Rules(steps=2))
    assert short.plies.mean() < 20
    assert (short.reasons == Reason.STEPS).mean() > 0.9


# What cannot be played is told in words


def changed(index: int, piece: int) -> np.ndarray:
    layout = SAMPLE.astype(np.int64)
    layout[index] = piece
    return layout


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: play_games(SAMPLE[:24], SAMPLE, [1], POLICY),
         r"expected the first layouts to be of shape \(25,\) or \(1, 25\), got \(24,\)"),
        (lambda: play_games(SAMPLE, random_layouts(3, 1), [1, 2], POLICY),
         r"expected the second layouts to be of shape \(25,\) or \(2, 25\), got \(3, 25\)"),
        (lambda: play_games(SAMPLE, SAMPLE, [[1, 2]], POLICY),
         r"expected seeds of shape \(n,\), got \(1, 2\)"),
        (lambda: play_games(SAMPLE, SAMPLE, 1, POLICY),
         r"expected seeds of shape \(n,\), got \(\)"),
        (lambda: play_games(SAMPLE, SAMPLE, [0.5], POLICY),
         "expected seeds to be integers, got float64"),
        (lambda: play_games(SAMPLE, SAMPLE, [3, -1], POLICY),
         "expected seeds of at least 0, got -1"),
        (lambda: play_games(SAMPLE.astype(float), SAMPLE, [1], POLICY),
         "expected the first layouts to be integers, got float64"),
        (lambda: play_games(SAMPLE, "abccddeeffggghhhiiijjkklj", [1], POLICY),
         r"expected the second layouts to be of shape \(25,\) or \(1, 25\), got \(\)"),
        (lambda: play_games(SAMPLE, changed(0, 0), [1], POLICY),
         r"expected the second layouts to be legal, got \[0, 8, 7, .*\] in row 0"),
        (lambda: play_games(np.stack([SAMPLE, changed(24, FLAG)]), SAMPLE, [1, 2], POLICY),
         r"expected the first layouts to be legal, got \[9, 8, .*\] in row 1"),
        (lambda: play_games(changed(0, 9 + 256), SAMPLE, [1], POLICY), "to be legal, got .265, 8"),
        (lambda: play_games(changed(0, -1), SAMPLE, [1], POLICY), "to be legal, got .-1, 8"),
        (lambda: play_games([ENGINEER] * 25, SAMPLE, [1], RANDOM), "to be legal"),
        (lambda: play_games(SAMPLE, SAMPLE[::-1], [1], POLICY), "to be legal"),
        (lambda: play_games(SAMPLE, SAMPLE, [1], POLICY, threads=0),
         "expected at least 1 thread, got 0"),
        (lambda: play_game(SAMPLE[:3], SAMPLE, 1, POLICY), "expected the first layouts to be of"),
        (lambda: play_game(SAMPLE, SAMPLE, -4, POLICY), "expected seeds of at least 0, got -4"),
    ],
)  # fmt: skip
def test_what_cannot_be_played_is_told_in_words(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


# Judges


@pytest.mark.parametrize("text", ["random", "policy", "search:1x1", "search:15x1000", "think:8"])
def test_a_judge_is_read_and_written_the_same(text: str) -> None:
    assert str(parse_judge(text)) == text


def test_a_search_has_depth_and_worlds() -> None:
    judge = parse_judge("search:4x12")
    assert (judge.depth, judge.worlds) == (4, 12)


@pytest.mark.parametrize(
    "text", ["", "Random", "policy ", "search", "search:", "search:3", "search:3x", "search:x3",
             "search:3X3", "search:-1x3", "search:3x3x3", "search: 3x3", "minimax", "search:٣x3"],
)  # fmt: skip
def test_what_names_no_judge_is_told_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(UnknownJudge) as caught:
        parse_judge(text)
    assert str(caught.value) == f"expected {JUDGE_FORMS}, got {text!r}"
    assert isinstance(caught.value, JunqiError)


def test_the_kernels_refuse_what_they_do_not_know() -> None:
    with pytest.raises(ValueError, match="expected judges of simulated games, got think:2"):
        play_games(SAMPLE, SAMPLE, [1], parse_judge("think:2"))


@pytest.mark.parametrize("text", ["think:0", "think:1001"])
def test_the_engine_as_a_judge_has_its_limits(text: str) -> None:
    with pytest.raises(UnknownJudge, match=f"expected 1 to {MOST_WORLDS} worlds, got '{text}'"):
        parse_judge(text)


@pytest.mark.parametrize("text", ["search:0x3", "search:3x0", "search:16x3", "search:3x1001"])
def test_a_search_has_its_limits(text: str) -> None:
    with pytest.raises(UnknownJudge) as caught:
        parse_judge(text)
    assert str(caught.value) == (
        f"expected a depth from 1 to 15 and 1 to {MOST_WORLDS} worlds, got {text!r}"
    )


# Progress and interruption


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("judge", JUDGES, ids=str)
def test_progress_adds_up_to_all_games(judge: Judge, threads: int) -> None:
    told: list[int] = []
    some_games(judge, 50, threads=threads, progress=told.append)
    assert sum(told) == 50
    assert min(told) > 0
    assert len(told) > 1


def test_progress_is_told_in_the_callers_thread() -> None:
    tellers = set()
    some_games(POLICY, 50, threads=2, progress=lambda _: tellers.add(threading.current_thread()))
    assert tellers == {threading.current_thread()}


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_ctrl_c_stops_soon(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    played = []

    def counted(*arguments: Any) -> None:
        played.append(len(arguments[0]))
        time.sleep(0.01)  # so that the caller has its turn

    def interrupt(_games: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(simulate, "play_batch", counted)
    monkeypatch.setattr(simulate, "_POLICY_CHUNK", 10)
    with pytest.raises(KeyboardInterrupt):
        some_games(RANDOM, 5000, threads=threads, progress=interrupt)
    assert len(played) < 100, "of 500 chunks"


def test_an_error_in_a_thread_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(simulate, "play_batch", broken)
    for threads in (1, 2):
        with pytest.raises(ZeroDivisionError):
            some_games(RANDOM, threads=threads)


def test_warming_up_needs_no_judge() -> None:
    warm_up()
    warm_up(RANDOM, SEARCH)
