"""The engine's search: its habits, each compared with doing without."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from open_positions import (
    LIMITS,
    STEPS,
    board_of,
    midgame,
    score,
    sets_of,
    small_position,
    told,
    worth_of,
)

from junqi.kernels.deep import (
    ALPHA,
    BETA,
    DEEPEST,
    DEPTH,
    KEY,
    LEFT,
    SCORE,
    DeepStack,
    Habits,
    deepen,
    key_after,
    new_deep_stack,
    taken_back,
)
from junqi.kernels.search import WIN
from junqi.kernels.tables import BOARD
from junqi.kernels.value import MOST_LEFT, is_pressed
from junqi.pieces import BLACK, FLAG, RED, other
from junqi.rules import Position, contact_of, legal_moves, parse_move, settle

At = Callable[..., Position]

PLAIN = Habits(is_wary=False, takes_back=False, remembers=False, passes=False)
WARY = PLAIN._replace(is_wary=True)


def deep_value(
    position: Position,
    depth: int,
    habits: Habits,
    window: tuple[int, int] = (-WIN - DEEPEST, WIN + DEEPEST),
    stack: DeepStack | None = None,
    nodes: np.ndarray | None = None,
    pressing: Sequence[int] = (0,) * MOST_LEFT,
) -> int:
    """The value of a position with everything known."""
    stack = stack or new_deep_stack()
    board, side = board_of(position), position.to_move
    worth = np.append(worth_of(position), pressing).astype(np.int32)
    stack.words[0, :KEY] = [*sets_of(position, side), *sets_of(position, other(side))]
    stack.words[0, KEY] = np.uint64(hash(position) & (1 << 64) - 1)
    numbers = stack.numbers[0]
    numbers[DEPTH], numbers[SCORE] = depth, score(position, worth)
    numbers[LEFT] = STEPS - position.quiet_plies
    numbers[ALPHA], numbers[BETA] = window
    nodes = np.zeros(1, np.int64) if nodes is None else nodes
    value = deepen(side, board, worth, LIMITS["quiet_most"], STEPS, habits, stack, nodes)
    assert (board == board_of(position)).all()
    return int(value)


def some_positions() -> Iterator[Position]:
    for seed in range(12):
        yield midgame(seed)
    for seed in range(20):
        yield small_position(seed)


# The last ply


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ("lL1 aJ1 EK1 LA1 GA4", "even"),  # the attacker can be taken
        ("lL1 kJ1 EK1 LA1 GA4", "even"),  # or blown up
        ("lL1 fJ1 EK1 LA1 GA4", "lost"),  # not by a weaker piece
        ("lL1 aG0 EK1 LA1 GA4", "lost"),  # nor from afar
        ("lL1 aJ1 EK1 FL0 LA1 GA4", "lost"),  # and one of two is not enough
        ("lL1 fJ1 aB1 EK1 LA1 GA4", "won"),  # unless the enemy's flag falls first
        ("lL1 fG0 EJ1 LA1 GA4", "even"),  # nobody is next to the flag yet
        ("lL1 fJ0 JK1 LA1 GA4", "even"),  # a mine takes nothing
    ],
)
def test_a_wary_search_sees_who_takes_the_flag_next(at: At, pieces: str, expected: str) -> None:
    position = at(pieces)
    for depth, habits in ((1, WARY), (2, PLAIN)):  # the latter sees it by making the ply
        found = told(deep_value(position, depth, habits))
        assert (found if isinstance(found, str) else "even") == expected


@pytest.mark.parametrize(
    ("pieces", "is_lost"),
    [
        ("lL1 cG0 EF0 LA1 BE0", True),  # by a stronger piece behind it
        ("lL1 cG0 EF0 LA1 BB0", True),  # along the rail
        ("lL1 cG0 EF0 LA1 DE0", False),  # not by a weaker one
        ("lL1 cG0 EF0 LA1 BG4", False),  # nor round the corner of a rail
        ("lL1 cG0 EF0 LA1 JE0", False),  # a mine does not move
        ("lL1 eG0 EF0 LA1 BE0", False),  # both are gone already
    ],
)
def test_a_piece_that_takes_another_may_be_taken_back(at: At, pieces: str, is_lost: bool) -> None:
    position = at(pieces)
    board, worth, move = board_of(position), worth_of(position), parse_move("G0F0")
    own, enemy = sets_of(position, RED), sets_of(position, BLACK)
    empty = BOARD & ~(own[0] | enemy[0])
    origin, target = np.uint64(move.origin), np.uint64(move.target)
    gain = taken_back(board, empty, enemy[1], origin, target, RED, worth)
    price = worth.reshape(2, 16, 64)[RED, position.pieces[move.origin], move.target]
    assert gain == (price if is_lost else 0)


def test_a_bomb_that_takes_back_is_paid_for(at: At) -> None:
    position = at("lL1 aG0 EF0 LA1 KE0")
    worth, move = worth_of(position), parse_move("G0F0")
    own, enemy = sets_of(position, RED), sets_of(position, BLACK)
    origin, target = np.uint64(move.origin), np.uint64(move.target)
    empty = BOARD & ~(own[0] | enemy[0])
    gain = taken_back(board_of(position), empty, enemy[1], origin, target, RED, worth)
    by_kind = worth.reshape(2, 16, 64)
    bomb = position.pieces[parse_move("E0F0").origin]
    marshal = by_kind[RED, position.pieces[move.origin], move.target]
    assert gain == marshal - by_kind[BLACK, bomb, parse_move("E0F0").origin]


def test_a_poisoned_piece_is_left_alone(at: At) -> None:
    position = at("lL1 cG0 GF0 LA1 BE0")
    takes_back = WARY._replace(takes_back=True)
    assert deep_value(position, 1, WARY) > deep_value(position, 1, takes_back)
    assert deep_value(position, 3, takes_back) <= deep_value(position, 1, WARY)


def test_what_is_not_answered_is_too_poor_to_matter() -> None:
    exact = [told(deep_value(midgame(seed), 3, WARY)) for seed in range(40)]
    for seed, value in enumerate(exact):
        # From a window around the value the same comes out as from the widest one.
        if isinstance(value, int):
            found = deep_value(midgame(seed), 3, WARY, (value - 1, value + 1))
            assert abs(found - value) <= 5, seed


# What is remembered


def test_keys_tell_positions_apart_and_know_them_again() -> None:
    keys: dict[int, tuple[object, ...]] = {}

    def follow(position: Position, key: np.uint64, plies: int) -> None:
        what = (position.pieces, position.owners, position.to_move)
        assert keys.setdefault(int(key), what) == what
        assert sum(1 for other in keys.values() if other == what) == 1
        if plies == 0:
            return
        for move in legal_moves(position)[:6]:
            if position.pieces[move.target] == FLAG:
                continue
            origin, target = np.uint64(move.origin), np.uint64(move.target)
            side = position.to_move
            after = np.uint64(key_after(key, board_of(position), origin, target, side))
            follow(settle(position, move, contact_of(position, move)), after, plies - 1)

    follow(small_position(3), np.uint64(5), 4)
    keys.clear()
    follow(midgame(1), np.uint64(5), 3)


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_the_table_changes_no_value(depth: int) -> None:
    remembers = WARY._replace(remembers=True)
    fewer = 0
    for position in some_positions():
        plain, short = np.zeros(1, np.int64), np.zeros(1, np.int64)
        value = deep_value(position, depth, WARY, nodes=plain)
        assert told(deep_value(position, depth, remembers, nodes=short)) == told(value)
        fewer += int(short[0] < plain[0])
    assert depth == 2 or fewer > 5


def test_a_position_met_again_is_known() -> None:
    remembers, stack = WARY._replace(remembers=True), new_deep_stack()
    position = midgame(2)
    value = deep_value(position, 4, remembers, stack=stack)
    nodes = np.zeros(1, np.int64)
    assert deep_value(position, 4, remembers, stack=stack, nodes=nodes) == value
    assert nodes[0] == 0
    # A deeper look is not answered by what a shallower one found.
    deep_value(position, 5, remembers, stack=stack, nodes=nodes)
    assert nodes[0] > 0


def test_near_the_limit_of_quiet_plies_nothing_is_remembered() -> None:
    remembers, stack = WARY._replace(remembers=True), new_deep_stack()
    position = midgame(2)
    late = Position(position.pieces, position.owners, position.to_move, STEPS - 2)
    deep_value(late, 3, remembers, stack=stack)
    keys = stack.table[:, 0]
    nodes = np.zeros(1, np.int64)
    deep_value(late, 3, remembers, stack=stack, nodes=nodes)
    assert nodes[0] > 0
    assert np.uint64(hash(late) & (1 << 64) - 1) not in keys


# Passing


def test_passing_saves_work_and_hardly_changes_a_value() -> None:
    passes = WARY._replace(passes=True)
    works, same = np.zeros((2, 1), np.int64), []
    for seed in range(12):
        position = midgame(seed)
        value = deep_value(position, 5, WARY, nodes=works[0])
        # From a window below the value, where the mover stands better than needed.
        low = (value - 60, value - 59)
        plain = deep_value(position, 5, WARY, low, nodes=works[0])
        found = deep_value(position, 5, passes, low, nodes=works[1])
        same.append((plain >= low[1]) == (found >= low[1]))
    assert works[1] < works[0]
    assert np.mean(same) > 0.9


def test_who_must_not_pass_does_not(at: At) -> None:
    # Red stands far better, but the flag is lost if he passes.
    position = at("lL1 aK0 bG0 cG1 EK1 LA1 GA4")
    passes = WARY._replace(passes=True)
    for depth in (4, 5):
        assert told(deep_value(position, depth, passes)) == told(deep_value(position, depth, WARY))


def test_a_search_that_begins_with_a_shallower_one_takes_less_work() -> None:
    remembers = WARY._replace(remembers=True)
    works = np.zeros((2, 1), np.int64)
    for seed in range(6):
        position, stack = midgame(seed), new_deep_stack()
        value = deep_value(position, 6, remembers, nodes=works[0])
        deep_value(position, 4, remembers, stack=stack, nodes=works[1])
        assert told(deep_value(position, 6, remembers, stack=stack, nodes=works[1])) == told(value)
    assert works[1] < works[0]


def test_a_contact_is_worth_what_it_changes_of_who_is_pressed(at: At) -> None:
    position = replace(at("lL1 hG0 GF0 LA3"), quiet_plies=7)
    pressing = [0] * MOST_LEFT
    pressing[STEPS - 7] = 1000  # rather lose a platoon than wait
    plain, pressed = (
        deep_value(position, 1, PLAIN, pressing=p) for p in ((0,) * MOST_LEFT, pressing)
    )
    losing = settle(position, parse_move("G0F0"), contact_of(position, parse_move("G0F0")))
    assert pressed == 1000 - score(losing, worth_of(position)) > plain


def test_who_is_pressed_makes_the_last_quiet_ply() -> None:
    for left in range(1, 40):
        mover = 0
        for _ in range(left - 1):
            mover = 1 - mover
        assert is_pressed(left) == (mover == 0)
