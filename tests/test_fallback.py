"""The rules of thumb: what they see, what they never do."""

import random
from dataclasses import replace

import pytest
from test_loop import engine_session, play_game, random_session

from junqi.board import parse_point
from junqi.fallback import _Thumb, fallback_move
from junqi.pieces import BLACK, DEFENDER_WINS, NO_CONTACT, RED
from junqi.rules import Move, Rules, format_move, outcome, parse_move
from junqi.view import View

LAYOUT = "abccddeeffggghhhiiijjkklj"  # the flag is on L3, a bomb before it on K3


def played(view: View, seed: int = 0) -> str:
    move = fallback_move(view, random.Random(seed))
    assert move in view.legal_moves()
    return format_move(move)


def told(view: View, *plies: str) -> View:
    """The view after plies like ``F0G0-``, believed though they may be impossible."""
    for ply in plies:
        result = {"-": 0, "+": 1, "=": 2}.get(ply[-1], NO_CONTACT)
        move = parse_move(ply[:4])
        mover = view.side if view.position.owners[move.origin] == view.side else view.enemy
        view = view.forced(mover, move, result)
    return replace(view, position=replace(view.position, to_move=view.side))


def test_the_told_flag_is_taken() -> None:
    view = told(View.start(RED, LAYOUT), "G0B1")
    view = view.forced(BLACK, parse_move("F0E1"), NO_CONTACT, parse_point("A1"))
    assert played(view) == "B1A1"


def test_a_raider_before_the_flag_is_taken_whatever_it_is() -> None:
    view = told(View.start(RED, LAYOUT), "F0K3+")
    assert played(view).endswith("K3")


def test_the_piece_before_the_flag_stays_at_home() -> None:
    view = told(View.start(RED, LAYOUT), "F2J2+", "J2H2+")
    assert all(not played(view, seed).startswith("K3") for seed in range(20))


def test_a_contact_that_is_lost_for_certain_is_not_made() -> None:
    # A piece on F0 has beaten the marshal: nothing but a mine does that and stays.
    view = View.start(RED, LAYOUT)
    view = told(view, "G0B0-", "F0E1")
    assert view.position.pieces[parse_point("G0")] == 0
    view = told(view, "G1C0")
    assert played(view) != "C0B0"


@pytest.mark.parametrize("loser", ["mover", "next"])
def test_the_last_quiet_ply_is_left_to_the_enemy(loser: str) -> None:
    view = View.start(RED, LAYOUT, Rules(steps=10, steps_loser=loser))
    quiet = 9 if loser == "mover" else 8
    late = replace(view, position=replace(view.position, quiet_plies=quiet))
    target = fallback_move(late, random.Random(0)).target
    assert late.position.owners[target] == BLACK


def test_of_equals_the_one_is_played_that_is_safe_under_both_readings_of_the_limit() -> None:
    view = View.start(RED, LAYOUT, Rules(steps=10))
    for quiet, is_unsafe in ((7, False), (8, True), (9, True)):
        late = replace(view, position=replace(view.position, quiet_plies=quiet))
        assert (_Thumb.of(late)._quiet_ply() < 0) == is_unsafe


def test_only_the_moves_that_may_be_chosen_are() -> None:
    view = View.start(RED, LAYOUT)
    for move in view.legal_moves():
        assert fallback_move(view, random.Random(0), [move]) == move


def test_nothing_to_choose_from_is_an_error() -> None:
    with pytest.raises(ValueError, match="empty"):
        fallback_move(View.start(RED, LAYOUT), random.Random(0), [])


def test_messages_that_contradict_each_other_do_no_harm() -> None:
    view = View.start(RED, LAYOUT)
    for number, start in enumerate(("A0", "B1", "F2", "A1", "A3", "B0")):
        point = parse_point(start)
        view = view.forced(BLACK, Move(point, 30 + number), DEFENDER_WINS)
        view = view.forced(RED, Move(33, point), number % 3)
    played(replace(view, position=replace(view.position, to_move=RED)))


def test_it_beats_a_random_player() -> None:
    wins = 0
    for seed in range(10):
        sessions = [engine_session(seed), random_session(seed)]
        position = play_game(sessions if seed % 2 == 0 else sessions[::-1], ends=False)
        end = outcome(position, Rules())
        wins += end is not None and end.winner == seed % 2
    assert wins >= 9
