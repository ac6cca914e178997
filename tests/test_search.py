"""The search's values and choices, compared with plain minimax by the rules."""

from collections.abc import Callable

import numpy as np
import pytest
from following import by_name
from open_positions import (
    LIMITS,
    STEPS,
    TABLES,
    board_of,
    midgame,
    score,
    sets_of,
    small_position,
    told,
    worth_of,
)

from junqi.board import rotate_point
from junqi.kernels.moves import MOST_MOVES
from junqi.kernels.search import (
    ALPHA,
    BETA,
    DEEPEST,
    LEFT,
    SCORE,
    WIN,
    best_reply,
    move_gain,
    new_stack,
    score_board,
    search,
    search_move,
)
from junqi.kernels.worlds import ALL_KINDS, GONE_POINT, SLOTS
from junqi.pieces import (
    BLACK,
    EMPTY,
    FLAG,
    NO_CONTACT,
    RED,
    other,
)
from junqi.rules import (
    Move,
    Position,
    contact_of,
    format_move,
    legal_moves,
    play,
    settle,
)

At = Callable[..., Position]

NO_LIMIT = 10 * WIN
# The most that chance adds to the sum of a move's values, to decide between equals.
LUCK = 3


def search_value(
    position: Position,
    depth: int,
    window: tuple[int, int] = (-WIN - DEEPEST, WIN + DEEPEST),
) -> int:
    """The kernels' value of a position with everything known."""
    stack, board, worth = new_stack(), board_of(position), worth_of(position)
    side = position.to_move
    own, enemy = sets_of(position, side), sets_of(position, other(side))
    stack.words[depth] = [*own, *enemy]
    numbers = stack.numbers[depth]
    numbers[SCORE] = score_board(board, own[0], enemy[0], side, worth)
    numbers[LEFT] = STEPS - position.quiet_plies
    numbers[ALPHA], numbers[BETA] = window
    nodes = np.zeros(1, np.int64)
    value = search(depth, side, board, worth, LIMITS["quiet_most"], STEPS, stack, nodes)
    assert (board == board_of(position)).all()
    return int(value)


def minimax(position: Position, depth: int, worth: np.ndarray) -> int:
    """The same value, by trying everything."""
    if depth == 0:
        return score(position, worth)
    best = -WIN - depth
    for move in legal_moves(position):
        best = max(best, move_value(position, move, depth, worth))
    return best


def move_value(position: Position, move: Move, depth: int, worth: np.ndarray) -> int:
    result = contact_of(position, move)
    if position.pieces[move.target] == FLAG:
        return WIN + depth
    if result == NO_CONTACT and position.quiet_plies + 1 >= STEPS:
        return -WIN - depth
    return -minimax(settle(position, move, result), depth - 1, worth)


def choice(position: Position, depth: int, seed: int = 1, worlds: int = 1) -> Move:
    """The move of a searching player that knows every piece."""
    side = position.to_move
    own, enemy = sets_of(position, side), sets_of(position, other(side))
    enemies = [(point, position.pieces[point]) for point in position.points_of(other(side))]
    gone = ALL_KINDS.tolist()
    for _, piece in enemies:
        gone.remove(piece)
    kinds = [piece for _, piece in enemies] + gone
    slots = np.zeros(64, np.uint8)
    where = np.full((2, SLOTS), GONE_POINT, np.uint8)
    for slot, (point, _) in enumerate(enemies):
        slots[point], where[other(side), slot] = slot, point
    origin, target, _ = by_name(
        search_move,
        board=board_of(position),
        own=own[0],
        mobile=own[1],
        engineers=own[2],
        enemy=enemy[0],
        side=side,
        left=STEPS - position.quiet_plies,
        steps=STEPS,
        depth=depth,
        worlds=worlds,
        slots=slots,
        where=where,
        may=np.array([[1 << kind for kind in kinds]] * 2, np.uint16),
        world=np.array(kinds, np.uint8),
        worths=TABLES.worths,
        **LIMITS | {"clip": NO_LIMIT, "margin": NO_LIMIT, "wariness": 0},
        state=np.uint64(seed),
        world_board=np.zeros(64, np.uint8),
        root_moves=np.zeros((2, MOST_MOVES), np.uint8),
        sums=np.zeros(MOST_MOVES, np.int64),
        stack=new_stack(),
        nodes=np.zeros(1, np.int64),
    )
    return Move(origin, target)


# The score


@pytest.mark.parametrize("seed", range(20))
def test_a_move_changes_the_score_by_its_gain(seed: int) -> None:
    position = midgame(seed)
    worth, side = worth_of(position), position.to_move
    board = board_of(position)
    before = score(position, worth)
    own, enemy = sets_of(position, side)[0], sets_of(position, other(side))[0]
    assert score_board(board, own, enemy, side, worth) == before
    for move in legal_moves(position):
        after = settle(position, move, contact_of(position, move))
        if position.pieces[move.target] == FLAG:
            continue
        gain = move_gain(board, np.uint64(move.origin), np.uint64(move.target), side, worth)
        assert before + gain == -score(after, worth), format_move(move)


def test_no_quiet_move_gains_more_than_the_search_believes() -> None:
    for worths in TABLES.worths.reshape(4, 2, 16, 64):
        for seed in range(10):
            position = midgame(seed)
            table = worths[position.to_move]
            for origin, target in legal_moves(position):
                if position.pieces[target] == EMPTY:
                    piece = position.pieces[origin]
                    gain = table[piece, target] - table[piece, origin]
                    assert gain <= LIMITS["quiet_most"]


# Values


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_value_is_that_of_plain_minimax(depth: int) -> None:
    values = set()
    for seed in range(30 if depth == 3 else 80):
        position = small_position(seed, most=3 if depth == 3 else 8)
        value = told(minimax(position, depth, worth_of(position)))
        assert told(search_value(position, depth)) == value, seed
        values.add(value)
    assert {"won", "lost"} < values


def test_the_value_four_plies_deep_is_that_of_plain_minimax() -> None:
    for seed in range(6):
        position = small_position(seed, most=2)
        value = minimax(position, 4, worth_of(position))
        assert told(search_value(position, 4)) == told(value), seed


@pytest.mark.parametrize("seed", range(6))
def test_the_value_of_a_whole_board_is_that_of_plain_minimax(seed: int) -> None:
    position = midgame(seed)
    value = minimax(position, 2, worth_of(position))
    assert told(search_value(position, 2)) == told(value)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_outside_a_window_the_value_is_a_bound(depth: int) -> None:
    for seed in range(30):
        position = small_position(seed, most=3)
        value = search_value(position, depth)
        for window in ((value, value + 1), (value - 1, value), (value + 40, value + 90)):
            low, high = window
            found = search_value(position, depth, window)
            if value <= low:
                assert value <= found <= low
            elif value >= high:
                assert high <= found <= value
            else:
                assert found == value


@pytest.mark.parametrize("depth", range(1, 5))
def test_red_and_black_are_judged_alike(depth: int) -> None:
    for seed in range(20):
        position = small_position(seed)
        turned = Position(
            position.pieces[::-1],
            tuple(1 - owner if owner >= 0 else owner for owner in position.owners[::-1]),
            other(position.to_move),
            position.quiet_plies,
        )
        assert turned.points_of(RED) == sorted(rotate_point(p) for p in position.points_of(BLACK))
        assert search_value(turned, depth) == search_value(position, depth)


def test_a_search_leaves_the_board_as_it_found_it() -> None:
    for seed in range(10):
        position = midgame(seed)
        for depth in range(1, 5):
            search_value(position, depth)  # compares the board


def test_a_side_without_moves_has_lost(at: At) -> None:
    position = at("lL1 jK1 LA1 AD2")
    for depth in range(1, 6):
        assert told(search_value(position, depth)) == "lost"


def test_the_last_ply_is_valued_without_being_made(at: At) -> None:
    position = at("aG0 lL1 EF0 LA1")
    board, worth = board_of(position), worth_of(position)
    nodes = np.zeros(1, np.int64)
    value = by_name(
        best_reply,
        board=board,
        **dict(zip(("own", "mobile", "engineers"), sets_of(position, RED), strict=True)),
        enemy=sets_of(position, BLACK)[0],
        side=RED,
        alpha=-WIN,
        beta=WIN,
        score=100,
        left=STEPS,
        worth=worth,
        quiet_most=LIMITS["quiet_most"],
        nodes=nodes,
    )
    assert value == 100 + minimax(position, 1, worth) - score(position, worth)
    assert nodes[0] == len(legal_moves(position))
    assert (board == board_of(position)).all()


# Choices


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_choice_is_a_best_move_of_plain_minimax(depth: int) -> None:
    for seed in range(40):
        position = small_position(seed, most=3 if depth == 3 else 6)
        moves = legal_moves(position)
        if not moves:
            continue
        worth = worth_of(position)
        values = {move: told(move_value(position, move, depth, worth)) for move in moves}
        found = choice(position, depth, seed)
        if "won" in values.values():
            assert values[found] == "won", seed
        elif found_values := [value for value in values.values() if value != "lost"]:
            # Chance decides between moves that are all but equal.
            assert values[found] >= max(found_values) - LUCK, seed


@pytest.mark.parametrize("depth", range(1, 6))
def test_a_flag_in_reach_is_taken(at: At, depth: int) -> None:
    position = at("hB1 aF2 lL1 LA1 GK1 HF1")
    for seed in range(5):
        assert format_move(choice(position, depth, seed)) == "B1A1"


@pytest.mark.parametrize("depth", range(2, 6))
def test_a_flag_under_attack_is_defended(at: At, depth: int) -> None:
    # Black's platoon takes the flag next; the company next to it is worth less than the general.
    position = at("gK0 aF0 lL1 HK1 BE0 LA1")
    assert format_move(choice(position, depth)) == "K0K1"


@pytest.mark.parametrize("depth", range(1, 5))
def test_the_last_quiet_ply_is_not_played(at: At, depth: int) -> None:
    men = "hG0 cK4 lL1 AF0 LA1 CB0"
    assert format_move(choice(at(men, RED, STEPS - 1), depth)) == "G0F0"
    assert format_move(choice(at(men, RED, STEPS - 2), depth)) != "G0F0"


def test_that_a_side_runs_out_of_quiet_plies_is_seen(at: At) -> None:
    # Neither side can make contact if the other does not want it.
    men = "aK4 lL1 HB0 LA1"
    for depth in (1, 2, 3, 4, DEEPEST - 1):
        assert told(search_value(at(men, RED, STEPS - 1), depth)) == "lost"
    for depth in (2, 3, 4):
        assert told(search_value(at(men, RED, STEPS - 2), depth)) == "won"
    for depth in (3, 4):
        assert told(search_value(at(men, RED, STEPS - 3), depth)) == "lost"


def test_a_raid_on_the_flag_is_seen_three_plies_ahead(at: At) -> None:
    position = at("cB0 lL1 eK1 LA1 HE4 GF4")
    assert told(search_value(position, 3)) == "won"
    assert told(search_value(position, 2)) not in ("won", "lost")
    after, _ = play(position, choice(position, 3))
    for reply in legal_moves(after):
        then, _ = play(after, reply)
        assert then.pieces[choice(then, 1).target] == FLAG


def test_a_longer_raid_is_seen_five_plies_ahead(at: At) -> None:
    position = at("cF0 lL1 eK1 LA1 HG3")
    assert told(search_value(position, 5)) == "won"
    assert told(search_value(position, 4)) not in ("won", "lost")


def test_a_raid_into_mines_is_not_won(at: At) -> None:
    position = at("cB0 lL1 eK1 LA1 JA0 AB1 GF4")
    assert told(search_value(position, 3)) not in ("won", "lost")


def test_a_nearer_win_is_worth_more(at: At) -> None:
    position = at("hB1 aF2 lL1 LA1 GK1 HF1")
    assert search_value(position, 4) > search_value(position, 3) > search_value(position, 2) >= WIN


@pytest.mark.parametrize("worlds", [1, 2, 7])
def test_with_everything_known_more_worlds_choose_the_same(worlds: int) -> None:
    for seed in range(10):
        position = small_position(seed)
        if len(legal_moves(position)) == 1:
            continue
        worth = worth_of(position)
        one, many = choice(position, 2, seed), choice(position, 2, seed + 1, worlds)
        values = [move_value(position, move, 2, worth) for move in (one, many)]
        assert told(values[0]) == told(values[1]) or abs(values[0] - values[1]) <= LUCK
