"""The kernels against rules.py, which is the authority: the heart of the suite.

`scripts/check_kernels.py` does the same on as many positions as are asked for.
"""

import itertools
import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from check_kernels import JUDGES, SETTINGS, Disagreement, Game, check_game, games
from hypothesis import given, settings
from hypothesis import strategies as st

from junqi import kernel_rules, rules
from junqi.board import NEIGHBOURS, POINTS, RAIL_RAYS
from junqi.diagram import parse_diagram
from junqi.kernels import bits
from junqi.kernels.batch import first_illegal
from junqi.kernels.game import game, new_scratch
from junqi.kernels.moves import MOST_MOVES, allowed_targets, any_move, list_moves
from junqi.kernels.playout import (
    count_moves,
    pick_move,
    place,
    random_game,
    settings_of,
    settle,
)
from junqi.kernels.tables import AFTER, BOARD, GONE, STAYS
from junqi.layout import layout_problems, parse_layout, random_layouts
from junqi.pieces import (
    ATTACKER_WINS,
    BLACK,
    BOTH_REMOVED,
    EMPTY,
    ENGINEER,
    FLAG,
    HIDDEN,
    KINDS,
    LETTER_OF_PIECE,
    NO_CONTACT,
    NOBODY,
    RED,
    contact,
)
from junqi.rules import Move, Outcome, Position, Reason, Rules, has_legal_move, legal_moves
from junqi.simulate import _players, game_seeds, parse_judge, play_game, play_games

DATA = Path(__file__).parent / "data"
PAIRS = list(itertools.product(JUDGES, JUDGES))
Words = list[np.uint64]


def words_of(position: Position) -> Words:
    return list(kernel_rules.words_of(position))


def empty_of(words: Words) -> np.uint64:
    return BOARD & ~(words[0] | words[3])


def made(position: Position, move: Move) -> Position:
    """The position after a move, by the rules."""
    return rules.settle(position, move, rules.contact_of(position, move))


# Legal moves


def test_the_moves_of_400_positions_are_those_of_the_rules() -> None:
    for item in json.loads((DATA / "positions.json").read_text()):
        position = parse_diagram(item["board"], RED if item["side"] == "bottom" else BLACK)
        assert kernel_rules.legal_moves(position) == legal_moves(position)


men = st.tuples(st.sampled_from([RED, BLACK]), st.integers(ENGINEER, HIDDEN))
# Few pieces or many, of any kind and anywhere: also boards that no game leads to.
boards = st.one_of(
    st.dictionaries(st.integers(0, POINTS - 1), men),
    st.lists(men | st.none(), min_size=POINTS, max_size=POINTS).map(
        lambda line: {point: man for point, man in enumerate(line) if man}
    ),
)


def position_of(board: dict[int, tuple[int, int]], side: int) -> Position:
    placed: dict[int, dict[int, int]] = {RED: {}, BLACK: {}}
    for point, (owner, piece) in board.items():
        placed[owner][point] = piece
    return Position.from_pieces(placed, side)


@settings(max_examples=200)
@given(boards, st.sampled_from([RED, BLACK]))
def test_the_moves_of_any_board_are_those_of_the_rules(
    board: dict[int, tuple[int, int]], side: int
) -> None:
    position = position_of(board, side)
    moves = legal_moves(position)
    assert kernel_rules.legal_moves(position) == moves
    words = words_of(position)
    empty = empty_of(words)
    allowed = np.uint64(allowed_targets(words[3], empty))
    assert any_move(words[1], words[2], allowed, empty) == bool(moves)
    assert has_legal_move(position, side) == bool(moves)


def three_engineers(rng: random.Random) -> dict[int, tuple[int, int]]:
    """A random board on which no side has more engineers than the rules give it."""
    board = {}
    left = {RED: 3, BLACK: 3}
    for point in rng.sample(range(POINTS), rng.randrange(POINTS)):
        side, piece = rng.choice([RED, BLACK]), rng.randint(ENGINEER, FLAG)
        if piece == ENGINEER:
            left[side] -= 1
            if left[side] < 0:
                continue
        board[point] = (side, piece)
    return board


def test_every_move_has_one_number() -> None:
    """What random players draw from: the moves in sets, and the move with a number."""
    rng = random.Random(1)
    sets = np.zeros(32, np.uint64)
    for _ in range(300):
        position = position_of(three_engineers(rng), rng.choice([RED, BLACK]))
        words = words_of(position)
        empty = empty_of(words)
        allowed = np.uint64(allowed_targets(words[3], empty))
        total = int(count_moves(words[1], words[2], allowed, empty, sets))
        numbered = [tuple(pick_move(np.uint64(lot), words[0], sets)) for lot in range(total)]
        assert sorted(numbered) == legal_moves(position)


def test_no_position_has_more_moves_than_there_is_room_for() -> None:
    # 22 pieces that can move, none of which reaches more points than on an empty board.
    reach = [
        len({*NEIGHBOURS[p], *(q for ray in RAIL_RAYS[p] for q in ray)}) for p in range(POINTS)
    ]
    engineers = 3 * (POINTS - 1)
    others = sorted(reach)[-19:]
    assert engineers + sum(others) <= MOST_MOVES


# Making moves


def test_contacts_are_those_of_the_rules() -> None:
    everything = ~np.uint64(0)
    for attacker in (kind.piece for kind in KINDS):
        for defender in range(EMPTY, FLAG + 1):
            result = contact(attacker, defender)
            index = attacker * 16 + defender
            stays = result in (ATTACKER_WINS, NO_CONTACT)
            after = attacker if stays else EMPTY if result == BOTH_REMOVED else defender
            assert AFTER[index] == after
            assert STAYS[index] == (everything if stays else 0)
            assert GONE[index] == (everything if stays or result == BOTH_REMOVED else 0)


@settings(max_examples=60)
@given(boards, st.sampled_from([RED, BLACK]))
def test_a_move_changes_the_board_as_the_rules_do(
    board: dict[int, tuple[int, int]], side: int
) -> None:
    known = {point: (owner, min(piece, FLAG)) for point, (owner, piece) in board.items()}
    position = position_of(known, side)
    for move in legal_moves(position):
        squares = kernel_rules.board_of(position)
        origin, target = (np.uint64(point) for point in move)
        after = settle(squares, origin, target, *words_of(position))
        then = replace(made(position, move), to_move=side)
        assert squares[:POINTS].tolist() == list(then.pieces)
        assert list(after) == [int(word) for word in words_of(then)]


def test_a_layout_is_placed_as_the_rules_do() -> None:
    for number, layouts in enumerate(random_layouts(40, 1).reshape(20, 2, 25)):
        position = Position.from_layouts(*layouts, to_move=number % 2)
        board = np.zeros(64, np.uint8)
        sides = [place(layout, side, board) for side, layout in enumerate(layouts)]
        assert board[:POINTS].tolist() == list(position.pieces)
        expected = [int(word) for word in words_of(replace(position, to_move=RED))]
        assert [*sides[RED], *sides[BLACK]] == expected


# Counting sequences


def read_perft(name: str) -> tuple[Position, dict[int, int]]:
    lines = (DATA / name).read_text().splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    fields = dict(words)
    bottom, top = parse_layout(fields.pop("bottom")), parse_layout(fields.pop("top"))
    return Position.from_layouts(bottom, top), {int(k): int(v) for k, v in fields.items()}


@pytest.mark.parametrize("name", ["sample.perft", "uneven.perft"])
def test_sequences_are_counted_as_in_the_tables(name: str) -> None:
    position, counts = read_perft(name)
    assert counts
    for depth, count in counts.items():
        assert kernel_rules.perft(position, depth) == count
    assert kernel_rules.perft(position, 0) == 1


def test_33_million_sequences_of_five_plies_are_counted() -> None:
    position, _ = read_perft("sample.perft")
    assert kernel_rules.perft(position, 5) == 33_782_358


@pytest.mark.parametrize("seed", range(6))
def test_sequences_of_late_positions_are_counted_as_by_the_rules(seed: int) -> None:
    """Where flags can be taken and sides can run out of moves."""
    red, black = random_layouts(2, seed)
    moves, _ = play_game(red, black, seed, parse_judge("policy"))
    position = Position.from_layouts(red, black)
    for move in moves[:-1]:
        position = made(position, move)
    for depth in (1, 2, 3):
        assert kernel_rules.perft(position, depth) == rules.perft(position, depth)
    assert list(kernel_rules.perft_divide(position, 2)) == list(rules.perft_divide(position, 2))


# Whole games


@pytest.mark.parametrize(("judge", "second_judge"), PAIRS, ids=lambda name: name)
def test_whole_games_agree_ply_by_ply(judge: str, second_judge: str) -> None:
    for seed, setting in enumerate(SETTINGS):
        first, second = random_layouts(2, seed)
        check_game(Game(first, second, seed, judge, second_judge, setting))


def test_thousands_of_positions_agree() -> None:
    positions = 0
    for one in games(seed=100):
        positions += check_game(one)
        if positions > 6000:
            return


def test_a_disagreement_is_told_with_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    one = next(games(seed=1))
    monkeypatch.setattr(kernel_rules, "legal_moves", lambda position: legal_moves(position)[1:])
    with pytest.raises(Disagreement, match=r"seed 1, Rules.*: ply 0: .* is a move for one only"):
        check_game(one)


@pytest.mark.parametrize(
    "setting", [Rules(steps=2), Rules(steps=2, steps_loser="next"), Rules(steps=1)], ids=str
)
@pytest.mark.parametrize("judge", JUDGES)
def test_games_of_very_few_steps_agree(judge: str, setting: Rules) -> None:
    for seed in range(4):
        first, second = random_layouts(2, seed)
        check_game(Game(first, second, seed, judge, judge, setting))


@pytest.mark.parametrize("loser", ["mover", "next"])
def test_by_steps_the_right_side_loses(loser: str) -> None:
    first, second = random_layouts(2, 1)
    setting = Rules(steps=5, steps_loser=loser)
    results = play_games(first, second, game_seeds(1, 300), parse_judge("random"), rules=setting)
    by_steps = results.reasons == Reason.STEPS
    assert by_steps.sum() > 200
    last_mover = (results.plies[by_steps] - 1) % 2
    assert (results.winners[by_steps] == (1 - last_mover if loser == "mover" else last_mover)).all()


# The taken flag, when somebody cannot move any more


@pytest.mark.parametrize(
    ("judge", "count"), [("random", 12_000), ("policy", 1000), ("search:2x2", 300)]
)
def test_games_in_which_it_matters_whether_the_flag_counts_first_agree(
    judge: str, count: int
) -> None:
    firsts, seconds = random_layouts(count, 7), random_layouts(count, 8)
    seeds = game_seeds(1, count)
    readings = [Rules(flag_first=True), Rules(flag_first=False)]
    first_true, first_false = (
        play_games(firsts, seconds, seeds, parse_judge(judge), rules=reading)
        for reading in readings
    )
    differ = np.flatnonzero(
        (first_true.winners != first_false.winners) | (first_true.reasons != first_false.reasons)
    )
    assert len(differ) > 2
    kinds = Counter()
    for index in differ[:15].tolist():
        pair = firsts[index], seconds[index]
        for reading in readings:
            check_game(Game(*pair, int(seeds[index]), judge, judge, reading))
        kinds[int(first_true.winners[index]), int(first_false.winners[index])] += 1
    # The taker cannot move and loses; or the other cannot either.
    assert kinds[0, 1] + kinds[1, 0] > 1
    same = np.setdiff1d(np.arange(count), differ)
    assert (first_true.plies == first_false.plies).all()
    assert (first_true.reasons[same] == first_false.reasons[same]).all()
    assert (first_true.reasons[differ] == Reason.FLAG).all()
    assert (first_false.reasons[differ] == Reason.NO_MOVES).all()


def test_a_game_can_be_drawn() -> None:
    """Both sides without a move: the rules agree."""
    count = 20_000
    firsts, seconds, seeds = random_layouts(count, 9), random_layouts(count, 10), range(count)
    results = play_games(firsts, seconds, seeds, parse_judge("random"))
    drawn = np.flatnonzero(results.winners == NOBODY)
    assert len(drawn) > 3
    assert (results.reasons[drawn] == Reason.NO_MOVES).all()
    for index in drawn[:10].tolist():
        check_game(Game(firsts[index], seconds[index], index, "random", "random", Rules()))


# The fast way of random games


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_random_games_are_the_same_either_way(setting: Rules) -> None:
    scratch = new_scratch()
    players = _players(parse_judge("random"), parse_judge("random"))
    moves = np.zeros((2000, 2), np.uint8)
    for seed in range(150):
        first, second = random_layouts(2, seed)
        arguments = (first, second, np.uint64(seed), settings_of(setting))
        fast = random_game(*arguments, scratch.board, scratch.sets)
        end_of_fast = scratch.board.copy()
        assert game(*arguments, players, scratch, moves) == fast
        assert (scratch.board == end_of_fast).all()


def test_a_game_played_again_has_as_many_moves_as_plies() -> None:
    for name in JUDGES:
        first, second = random_layouts(2, 11)
        moves, end = play_game(first, second, 12, parse_judge(name))
        winners, reasons, plies = play_games(first, second, [12], parse_judge(name))
        assert plies.tolist() == [len(moves)]
        assert end == Outcome(int(winners[0]), Reason(int(reasons[0])))


def test_the_rules_agree_that_a_game_is_over_only_at_its_end() -> None:
    first, second = random_layouts(2, 13)
    moves, end = play_game(first, second, 14, parse_judge("policy"))
    position = Position.from_layouts(first, second)
    for move in moves:
        assert rules.outcome(position, Rules()) is None
        position = made(position, move)
    assert rules.outcome(position, Rules()) == end


# Bits and random numbers


words = st.integers(1, 2**64 - 1)


@given(words)
def test_points_of_a_set_are_found(word: int) -> None:
    points = [point for point in range(64) if word >> point & 1]
    for n, point in enumerate(points):
        assert bits.nth_by_loop(np.uint64(word), np.uint64(n)) == point
        assert bits.nth(np.uint64(word), np.uint64(n)) == point
    assert bits.last(np.uint64(word)) == points[-1]


@pytest.mark.skipif(not bits.HAS_DEPOSIT, reason="the processor has no instruction for it")
def test_both_ways_to_the_nth_point_lead_there() -> None:
    rng = random.Random(2)
    assert bits.nth is bits.nth_by_deposit
    for _ in range(2000):
        word = rng.getrandbits(64) & rng.getrandbits(64) | 1 << rng.randrange(64)
        n = rng.randrange(word.bit_count())
        arguments = (np.uint64(word), np.uint64(n))
        assert bits.nth_by_deposit(*arguments) == bits.nth_by_loop(*arguments)


def splitmix64(state: int) -> int:
    """The generator's output by its published definition."""
    mask = 2**64 - 1
    z = state & mask
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
    return z ^ (z >> 31)


@given(st.integers(0, 2**64 - 1))
def test_random_numbers_are_splitmix64(state: int) -> None:
    following = (state + 0x9E3779B97F4A7C15) % 2**64
    assert bits.advance(np.uint64(state)) == following
    assert bits.scramble(np.uint64(following)) == splitmix64(following)


@given(st.integers(0, 2**64 - 1), st.integers(1, 500))
def test_a_random_number_is_below_its_bound(word: int, bound: int) -> None:
    assert bits.below(np.uint64(word), np.uint64(bound)) == (word >> 32) * bound >> 32 < bound


def test_random_moves_are_uniform() -> None:
    """The first move of random games: each of the legal ones as often as the others."""
    first, second = random_layouts(2, 15)
    moves = Counter(
        play_game(first, second, seed, parse_judge("random"), rules=Rules(steps=1))[0][0]
        for seed in range(6000)
    )
    legal = legal_moves(Position.from_layouts(first, second))
    assert set(moves) == set(legal)
    expected = 6000 / len(legal)
    chi_square = sum((count - expected) ** 2 / expected for count in moves.values())
    assert chi_square < len(legal) + 5 * np.sqrt(2 * len(legal))


# Layouts


def test_legal_layouts_are_told_from_others() -> None:
    rng = random.Random(3)
    rows = random_layouts(300, 16)
    assert first_illegal(rows) == -1
    illegal = 0
    for row in rows:
        if rng.random() < 0.5:
            i, j = rng.sample(range(25), 2)
            row[[i, j]] = row[[j, i]]
        else:
            row[rng.randrange(25)] = rng.randint(ENGINEER, FLAG)
        text = "".join(LETTER_OF_PIECE[piece] for piece in row.tolist())
        is_illegal = bool(layout_problems(text))
        assert (first_illegal(row[None]) == 0) == is_illegal, text
        illegal += is_illegal
    assert 100 < illegal < 290
    assert first_illegal(np.zeros((1, 25), np.int8)) == 0
    assert first_illegal(np.full((1, 25), HIDDEN, np.int8)) == 0


def test_list_moves_writes_no_more_than_it_counts() -> None:
    position = Position.from_layouts(*random_layouts(2, 17))
    words = words_of(position)
    origins, targets = np.full(MOST_MOVES, 99, np.uint8), np.full(MOST_MOVES, 99, np.uint8)
    count = int(list_moves(*words[:4], empty_of(words), origins, targets))
    assert count == len(legal_moves(position))
    assert (origins[count:] == 99).all()
    assert (targets[count:] == 99).all()
