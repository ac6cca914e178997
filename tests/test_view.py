"""A view holds what its player was told: all of it, and nothing else."""

import random
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from junqi.board import parse_point, point_name, rotate_point, seen_from
from junqi.errors import IllegalMove, ImpossibleEvent, InvalidLayout
from junqi.layout import (
    LAYOUT_POINTS,
    format_layout,
    layout_problems,
    parse_layout,
    place_layout,
    random_layouts,
)
from junqi.pieces import (
    ATTACKER_WINS,
    BLACK,
    BOTH_REMOVED,
    DEFENDER_WINS,
    FLAG,
    HIDDEN,
    KINDS,
    NO_CONTACT,
    NOBODY,
    RED,
    Side,
    other,
)
from junqi.rules import Move, Position, Rules, legal_moves, outcome, parse_move, play
from junqi.view import View

SAMPLE = "abccddeeffggghhhiiijjkklj"
SIDES = (RED, BLACK)


@dataclass(frozen=True)
class Message:
    """What the referee tells of a ply, on red's board, with the flags told by then."""

    move: Move
    result: int
    flags: tuple[int | None, int | None]


def play_moves(layouts: tuple[str, str], moves: list[Move]) -> list[Message]:
    """The messages of a game with these moves, as far as they are legal."""
    position = Position.from_layouts(*(parse_layout(layout) for layout in layouts))
    messages = []
    for move in moves:
        position, result = play(position, move)
        messages.append(Message(move, result, (position.told_flag(RED), position.told_flag(BLACK))))
    return messages


def random_game(seed: int, most_plies: int = 200) -> tuple[tuple[str, str], list[Message]]:
    rng = random.Random(seed)
    red, black = (format_layout(layout) for layout in random_layouts(2, rng.getrandbits(40)))
    position = Position.from_layouts(parse_layout(red), parse_layout(black))
    moves = []
    while outcome(position, Rules()) is None and len(moves) < most_plies:
        moves.append(rng.choice(legal_moves(position)))
        position, _ = play(position, moves[-1])
    return (red, black), play_moves((red, black), moves)


def told(view: View, message: Message) -> View:
    """The view after a message, in the coordinates of its player."""
    side = view.side
    move = message.move if side == RED else message.move.rotated()
    flag = message.flags[other(side)]
    return view.after(move, message.result, None if flag is None else seen_from(flag, side))


def views_of(side: Side, layout: str, messages: list[Message]) -> list[View]:
    views = [View.start(side, layout)]
    for message in messages:
        views.append(told(views[-1], message))
    return views


games = st.integers(0, 2**40).map(random_game)
sides = st.sampled_from(SIDES)


# A view follows the truth


@settings(max_examples=40)
@given(games, sides)
def test_a_view_tracks_the_true_position(
    game: tuple[tuple[str, str], list[Message]], side: Side
) -> None:
    layouts, messages = game
    true = Position.from_layouts(*(parse_layout(layout) for layout in layouts))
    starts = {p: (owner, p) for p, owner in enumerate(true.owners) if owner != NOBODY}
    views = views_of(side, layouts[side], messages)
    for number, view in enumerate(views):
        if number:
            move, result = messages[number - 1].move, messages[number - 1].result
            true, _ = play(true, move)
            mover = starts.pop(move.origin)
            if result != DEFENDER_WINS:
                starts.pop(move.target, None)
            if result in (ATTACKER_WINS, NO_CONTACT):
                starts[move.target] = mover
        turned = true if side == RED else true.rotated()
        assert view.position.owners == turned.owners
        assert view.position.to_move == true.to_move
        assert view.quiet_plies == true.quiet_plies
        assert len(view.plies) == number
        for point in turned.points_of(side):
            assert view.position.pieces[point] == turned.pieces[point]
        standing = {man.point: man for man in view.men if man.point is not None}
        assert {
            seen_from(p, side): (owner, seen_from(start, side))
            for p, (owner, start) in starts.items()
        } == {point: (man.side, man.start) for point, man in standing.items()}
        for point, man in standing.items():
            assert view.position.pieces[point] == man.piece
            if not man.has_moved:
                assert man.point == man.start
        if true.find(other(side), FLAG) is not None:  # else the game ended with it
            flag = true.told_flag(other(side))
            assert view.enemy_flag == (None if flag is None else seen_from(flag, side))
        if view.is_own_turn:
            own = [m if side == RED else m.rotated() for m in legal_moves(true)]
            assert view.legal_moves() == sorted(own)


@settings(max_examples=20)
@given(games, sides)
def test_every_ply_is_kept_as_it_was_told(
    game: tuple[tuple[str, str], list[Message]], side: Side
) -> None:
    layouts, messages = game
    view = views_of(side, layouts[side], messages)[-1]
    assert [ply.result for ply in view.plies] == [message.result for message in messages]
    assert [ply.mover for ply in view.plies] == [n % 2 for n in range(len(messages))]
    assert len(view.contacts) == sum(message.result != NO_CONTACT for message in messages)
    for ply in view.contacts:
        assert ply.defender is not None
    moved = {ply.attacker for ply in view.plies}
    assert {man.start for man in view.men if man.has_moved} == moved


# A view holds nothing else


@settings(max_examples=40)
@given(games, sides)
def test_the_kinds_of_the_enemy_are_hidden_but_for_a_told_flag(
    game: tuple[tuple[str, str], list[Message]], side: Side
) -> None:
    layouts, messages = game
    for view in views_of(side, layouts[side], messages):
        for man in view.men:
            if man.side == other(side):
                is_told_flag = view.enemy_flag is not None and man.start == view.enemy_flag
                assert man.piece == (FLAG if is_told_flag else HIDDEN)
        for point in view.position.points_of(other(side)):
            assert view.position.pieces[point] in (HIDDEN, FLAG)


def other_enemy(
    layouts: tuple[str, str], messages: list[Message], side: Side, rng: random.Random
) -> tuple[str, str] | None:
    """Layouts with other enemy pieces that make for exactly the same messages to a side."""
    moves = [message.move for message in messages]
    for _ in range(30):
        letters = list(layouts[other(side)])
        for _ in range(rng.randrange(1, 4)):
            a, b = rng.sample(range(25), 2)
            letters[a], letters[b] = letters[b], letters[a]
        changed = "".join(letters)
        if changed == layouts[other(side)] or layout_problems(changed):
            continue
        pair = (layouts[0], changed) if side == RED else (changed, layouts[1])
        try:
            again = play_moves(pair, moves)
        except IllegalMove:
            continue
        hears = [(m.move, m.result, m.flags[other(side)]) for m in messages]
        if [(m.move, m.result, m.flags[other(side)]) for m in again] == hears:
            return pair
    return None


@settings(max_examples=60)
@given(st.integers(0, 2**40), st.integers(0, 60), sides, st.randoms(use_true_random=False))
def test_a_view_does_not_change_with_what_the_enemy_hides(
    seed: int, plies: int, side: Side, rng: random.Random
) -> None:
    layouts, messages = random_game(seed, plies)
    changed = other_enemy(layouts, messages, side, rng)
    if changed is not None:
        again = play_moves(changed, [message.move for message in messages])
        assert views_of(side, changed[side], again) == views_of(side, layouts[side], messages)


def test_other_enemies_are_nearly_always_found() -> None:
    # Otherwise the test above would show nothing.
    found = 0
    for seed in range(40):
        rng = random.Random(seed)
        layouts, messages = random_game(seed, rng.randrange(60))
        found += other_enemy(layouts, messages, seed % 2, rng) is not None
    assert found >= 30


def test_a_view_has_no_way_to_a_true_position() -> None:
    view = View.start(BLACK, SAMPLE)
    enemy = place_layout(parse_layout(SAMPLE), BLACK)  # red, as black sees it
    assert {view.position.pieces[p] for p in enemy} == {HIDDEN}
    own_letters = {kind.letter for kind in KINDS}
    assert set(view.layout) == own_letters


# Starting


def test_both_players_see_themselves_at_the_bottom() -> None:
    for side in SIDES:
        view = View.start(side, SAMPLE)
        own = {man.point for man in view.men if man.side == side}
        assert own == set(LAYOUT_POINTS)
        assert view.position.points_of(other(side)) == sorted(map(rotate_point, LAYOUT_POINTS))


def test_men_are_listed_in_the_order_of_a_layouts_letters() -> None:
    view = View.start(RED, SAMPLE)
    assert [man.start for man in view.men[:25]] == list(LAYOUT_POINTS)
    assert [man.piece for man in view.men[:25]] == parse_layout(SAMPLE).tolist()
    assert [man.start for man in view.men[25:]] == [rotate_point(p) for p in LAYOUT_POINTS]


def test_red_moves_first() -> None:
    assert View.start(RED, SAMPLE).is_own_turn
    assert not View.start(BLACK, SAMPLE).is_own_turn
    assert View.start(RED, SAMPLE).enemy == BLACK


def test_a_view_needs_a_legal_layout() -> None:
    with pytest.raises(InvalidLayout):
        View.start(RED, SAMPLE[::-1])


def test_a_view_is_never_changed() -> None:
    before = View.start(RED, SAMPLE)
    after = before.after(parse_move("G0F0"), ATTACKER_WINS)
    assert before == View.start(RED, SAMPLE)
    assert after != before


# What a message says


def test_clocks_add_up_for_each_side() -> None:
    view = View.start(RED, SAMPLE).after(parse_move("G0F0"), ATTACKER_WINS, seconds=1.5)
    view = view.after(parse_move("E0F0"), BOTH_REMOVED, seconds=2.0)
    view = view.after(parse_move("G1G0"), NO_CONTACT, seconds=0.25)
    assert (view.own_seconds, view.enemy_seconds) == (1.75, 2.0)


def test_a_contact_names_where_both_pieces_started() -> None:
    view = View.start(RED, SAMPLE).after(parse_move("G0F0"), ATTACKER_WINS)
    (ply,) = view.contacts
    assert (point_name(ply.attacker), point_name(ply.defender or 0)) == ("G0", "F0")
    view = view.after(parse_move("E0F0"), DEFENDER_WINS)
    assert point_name(view.contacts[1].defender or 0) == "G0"
    assert view.man_at(parse_point("F0")) == view.men[0]
    assert view.man_at(parse_point("E0")) is None


def test_the_enemy_flag_is_known_once_told() -> None:
    view = View.start(RED, SAMPLE).after(parse_move("G0F0"), ATTACKER_WINS, parse_point("A3"))
    assert view.enemy_flag == parse_point("A3")
    assert view.position.pieces[parse_point("A3")] == FLAG
    view = view.after(parse_move("E0F0"), DEFENDER_WINS)
    assert view.enemy_flag == parse_point("A3")


def test_the_enemy_knows_the_own_flag_when_the_own_marshal_is_gone() -> None:
    view = View.start(RED, SAMPLE)
    assert not view.is_own_flag_told
    assert view.after(parse_move("G0F0"), BOTH_REMOVED).is_own_flag_told


@pytest.mark.parametrize(
    ("move", "result", "flag", "message"),
    [
        ("G0F0", NO_CONTACT, None, "G0F0: expected result 0, 1 or 2 of a contact, got 3"),
        ("G0H1", ATTACKER_WINS, None, "G0H1: expected result 3 without a contact, got 1"),
        ("G0F0", ATTACKER_WINS, "A0", "A0: expected the enemy flag in a headquarters that is held"),
        ("G0F0", ATTACKER_WINS, "L1", "L1: expected the enemy flag in a headquarters that is held"),
    ],
)
def test_a_message_that_cannot_be_true_is_refused(
    move: str, result: int, flag: str | None, message: str
) -> None:
    place = None if flag is None else parse_point(flag)
    with pytest.raises(ImpossibleEvent) as caught:
        View.start(RED, SAMPLE).after(parse_move(move), result, place)
    assert str(caught.value) == message


def test_an_illegal_own_move_is_refused() -> None:
    with pytest.raises(IllegalMove, match="L1K1"):
        View.start(RED, SAMPLE).after(parse_move("L1K1"), NO_CONTACT)


@pytest.mark.parametrize(
    ("move", "message"),
    [
        ("E1E2", "E1E2: red has no piece on E1"),
        ("A1B1", "A1B1: no piece of red could move so"),
        ("F0H0", "F0H0: no piece of red could move so"),
    ],
)
def test_an_impossible_enemy_move_is_refused(move: str, message: str) -> None:
    with pytest.raises(ImpossibleEvent) as caught:
        View.start(BLACK, SAMPLE).after(parse_move(move), ATTACKER_WINS)
    assert str(caught.value) == message


def test_a_flag_does_not_move() -> None:
    view = View.start(RED, SAMPLE).after(parse_move("G0F0"), ATTACKER_WINS, parse_point("A3"))
    with pytest.raises(ImpossibleEvent, match="the enemy flag was on A3, now on A1"):
        view.after(parse_move("E0F0"), DEFENDER_WINS, parse_point("A1"))


# Believing what cannot be


@settings(max_examples=30)
@given(games, sides)
def test_forcing_a_possible_message_is_the_same_as_following_it(
    game: tuple[tuple[str, str], list[Message]], side: Side
) -> None:
    layouts, messages = game
    for view in views_of(side, layouts[side], messages)[:-1]:
        message = messages[len(view.plies)]
        move = message.move if side == RED else message.move.rotated()
        flag = message.flags[other(side)]
        place = None if flag is None else seen_from(flag, side)
        mover = view.position.to_move
        assert view.forced(mover, move, message.result, place, 1.0) == view.after(
            move, message.result, place, 1.0
        )


points = st.integers(0, 59)
events = st.tuples(sides, st.builds(Move, points, points), st.integers(0, 3), st.none() | points)


@given(sides, st.lists(events, max_size=30))
def test_any_messages_can_be_believed(side: Side, told_events: list[object]) -> None:
    view = View.start(side, SAMPLE)
    for mover, move, result, flag in told_events:  # type: ignore[misc]
        if move.origin == move.target:
            continue
        view = view.forced(mover, move, result, flag)
        standing = [man.point for man in view.men if man.point is not None]
        assert len(standing) == len(set(standing))
        assert view.position.owners[move.origin] == NOBODY
        if result in (ATTACKER_WINS, NO_CONTACT):
            assert view.position.owners[move.target] == mover
        elif result == BOTH_REMOVED:
            assert view.position.owners[move.target] == NOBODY
        assert view.position.to_move == other(mover)
        view.legal_moves()


def test_a_piece_that_must_be_there_is_one_thought_to_be_gone() -> None:
    view = View.start(RED, SAMPLE).after(parse_move("G0F0"), ATTACKER_WINS)
    forced = view.forced(BLACK, parse_move("H2H3"), NO_CONTACT)
    man = forced.man_at(parse_point("H3"))
    assert man is not None
    assert point_name(man.start) == "F0"
    assert forced.man_at(parse_point("H2")) is None  # the own piece gave way


def test_a_new_place_of_the_flag_is_believed() -> None:
    view = View.start(RED, SAMPLE).after(parse_move("G0F0"), ATTACKER_WINS, parse_point("A3"))
    forced = view.forced(BLACK, parse_move("E0F0"), DEFENDER_WINS, parse_point("A1"))
    assert forced.enemy_flag == parse_point("A1")
    assert forced.position.pieces[parse_point("A3")] == HIDDEN
    assert replace(forced, enemy_flag=None) != forced
