"""The rules, bullet by bullet, and what holds for any position."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from junqi.board import IS_RAIL, POINTS, parse_point, point_name
from junqi.errors import IllegalMove
from junqi.layout import parse_layout, random_layouts
from junqi.pieces import (
    ATTACKER_WINS,
    BLACK,
    BOTH_REMOVED,
    DEFENDER_WINS,
    ENGINEER,
    FLAG,
    HIDDEN,
    MARSHAL,
    MINE,
    NO_CONTACT,
    NOBODY,
    RED,
    other,
)
from junqi.rules import (
    Move,
    Outcome,
    Position,
    Reason,
    Rules,
    check_move,
    contact_of,
    format_move,
    has_legal_move,
    legal_moves,
    outcome,
    parse_move,
    perft,
    perft_divide,
    play,
    settle,
    targets,
)

DATA = Path(__file__).parent / "data"
At = Callable[..., Position]


def reached(position: Position, name: str) -> str:
    return " ".join(point_name(p) for p in sorted(targets(position, parse_point(name))))


def random_position(seed: int, most_plies: int = 150) -> Position:
    """A position of a random game, its length random too; the game may be over in it."""
    rng = random.Random(seed)
    red, black = random_layouts(2, rng.getrandbits(40))
    position = Position.from_layouts(red, black)
    for _ in range(rng.randrange(most_plies)):
        if outcome(position, Rules()) is not None:
            break
        position, _ = play(position, rng.choice(legal_moves(position)))
    return position


positions = st.integers(0, 2**40).map(random_position)


# Moving


def test_on_road_a_piece_makes_one_step(at: At) -> None:
    assert reached(at("aI3"), "I3") == "H3 I2 I4 J3"


def test_from_a_camp_all_eight_directions_are_open(at: At) -> None:
    assert reached(at("aI2"), "I2") == "H1 H2 H3 I1 I3 J1 J2 J3"


def test_a_camp_is_entered_on_the_diagonal(at: At) -> None:
    assert "H1" in reached(at("aG0"), "G0").split()


def test_on_rail_a_piece_goes_straight_as_far_as_it_likes(at: At) -> None:
    assert reached(at("hK0"), "K0") == "B0 C0 D0 E0 F0 G0 H0 I0 J0 J1 K1 K2 K3 K4 L0"


def test_columns_0_and_4_run_through_the_middle_of_the_board(at: At) -> None:
    assert {"B4", "K4"} <= set(reached(at("aE4"), "E4").split())


def test_only_one_step_leads_over_the_middle_at_f2(at: At) -> None:
    points = set(reached(at("aF2"), "F2").split())
    assert "G2" in points
    assert not points & {"H2", "G1", "G3"}


def test_an_officer_does_not_turn_on_rail(at: At) -> None:
    points = set(reached(at("aF1"), "F1").split())
    assert points == {"E1", "F0", "F2", "F3", "F4"}


def test_the_engineer_turns_corners_on_rail(at: At) -> None:
    points = set(reached(at("iF1"), "F1").split())
    rail = {point_name(p) for p in range(POINTS) if IS_RAIL[p]}
    assert points == rail - {"F1"} | {"E1"}


def test_the_engineer_takes_an_enemy_behind_a_corner(at: At) -> None:
    assert "B2" in reached(at("iK2 JB2"), "K2").split()


def test_the_engineer_does_not_jump(at: At) -> None:
    # The way is open along column 0 only as far as C0, and around through column 4.
    position = at("iK0 AE0 AE4 AF2 AF1 AF3")
    points = set(reached(position, "K0").split())
    assert {"E0", "E4", "F2"} <= points
    assert not points & {"D0", "B0", "D4"}


def test_the_engineer_needs_rail_on_its_point(at: At) -> None:
    assert reached(at("iI2"), "I2") == "H1 H2 H3 I1 I3 J1 J2 J3"


def test_the_engineer_off_rail_makes_one_step_onto_it(at: At) -> None:
    assert "K3" not in reached(at("iL2"), "L2").split()


def test_own_pieces_stop_a_piece_on_rail(at: At) -> None:
    assert reached(at("aK0 bK2 bI0"), "K0") == "J0 J1 K1 L0"


def test_an_enemy_on_rail_can_be_met_but_not_passed(at: At) -> None:
    assert reached(at("aK0 BK2 BI0"), "K0") == "I0 J0 J1 K1 K2 L0"


def test_mountains_cut_f1_from_g1_and_f3_from_g3(at: At) -> None:
    for name, across in (("G1", "F1"), ("G3", "F3"), ("F1", "G1")):
        assert across not in reached(at(f"a{name}"), name).split()
    assert "F1" not in reached(at("iG1 AG0 AG2"), "G1").split()


def test_flags_and_mines_never_move(at: At) -> None:
    assert reached(at("lL1"), "L1") == ""
    assert reached(at("lK1"), "K1") == ""
    assert reached(at("jK1"), "K1") == ""


def test_a_bomb_moves_like_an_officer(at: At) -> None:
    assert reached(at("kF1"), "F1") == reached(at("aF1"), "F1")


@pytest.mark.parametrize("headquarters", ["L1", "L3", "A1", "A3"])
@pytest.mark.parametrize("letter", "aik")
def test_a_piece_in_any_headquarters_never_moves_again(
    at: At, headquarters: str, letter: str
) -> None:
    assert reached(at(f"{letter}{headquarters}"), headquarters) == ""


@pytest.mark.parametrize(("name", "headquarters"), [("K1", "L1"), ("B3", "A3"), ("L2", "L3")])
def test_an_empty_headquarters_may_be_entered_own_or_enemy(
    at: At, name: str, headquarters: str
) -> None:
    assert headquarters in reached(at(f"a{name}"), name).split()


def test_a_piece_in_a_camp_cannot_be_attacked(at: At) -> None:
    assert "H1" not in reached(at("aG1 BH1"), "G1").split()
    assert "H1" not in reached(at("iG1 BH1"), "G1").split()


def test_a_piece_in_a_camp_attacks_out_of_it(at: At) -> None:
    assert "G1" in reached(at("aH1 BG1"), "H1").split()


def test_a_piece_in_a_headquarters_can_be_attacked(at: At) -> None:
    assert "A1" in reached(at("aB1 BA1"), "B1").split()


def test_nobody_moves_onto_an_own_piece(at: At) -> None:
    assert reached(at("aL0 bK0 jL1"), "L0") == ""


def test_hidden_pieces_move_as_if_they_were_engineers() -> None:
    position = Position.from_pieces({RED: {parse_point("K0"): HIDDEN}, BLACK: {}})
    seen = Position.from_pieces({RED: {parse_point("K0"): ENGINEER}, BLACK: {}})
    assert reached(position, "K0") == reached(seen, "K0")


def test_moves_of_the_side_that_waits_can_be_asked_for(at: At) -> None:
    position = at("aL0 BA0 lL1 LA1", RED)
    assert {m.origin for m in legal_moves(position)} == {parse_point("L0")}
    assert {m.origin for m in legal_moves(position, BLACK)} == {parse_point("A0")}


# What is wrong with a move


@pytest.mark.parametrize(
    ("text", "move", "message"),
    [
        ("aG0", "G1G2", "G1G2: red has no piece on G1, it is empty"),
        ("aG0 BG1", "G1G2", "G1G2: red has no piece on G1, black stands there"),
        ("aL1", "L1K1", "L1K1: a piece in a headquarters never moves again"),
        ("lL1", "L1K1", "L1K1: a piece in a headquarters never moves again"),
        ("jK1", "K1K2", "K1K2: a mine (j) never moves"),
        ("aG0 bG1", "G0G1", "G0G1: G1 holds a piece of the same side"),
        ("aG1 BH1", "G1H1", "G1H1: a piece in a camp cannot be attacked"),
        ("aG1", "G1F1", "G1F1: no free road or rail leads there"),
        ("aG0 BG1", "G0G2", "G0G2: no free road or rail leads there"),
        ("aI1", "I1I1", "I1I1: I1 holds a piece of the same side"),
    ],
)
def test_an_illegal_move_is_told_by_the_rule_that_forbids_it(
    at: At, text: str, move: str, message: str
) -> None:
    with pytest.raises(IllegalMove) as caught:
        play(at(text), parse_move(move))
    assert str(caught.value) == message


@settings(max_examples=30)
@given(positions)
def test_check_move_lets_pass_exactly_the_legal_moves(position: Position) -> None:
    legal = set(legal_moves(position))
    for origin in range(60):
        for target in range(60):
            move = Move(origin, target)
            try:
                check_move(position, move)
            except IllegalMove:
                assert move not in legal
            else:
                assert move in legal


@pytest.mark.parametrize("text", ["", "G0", "G0F", "G0F0F0", "g0f0", "G5F0", "0000", "G0 F0"])
def test_what_is_not_a_move_is_quoted(text: str) -> None:
    with pytest.raises(IllegalMove, match="expected a move like G0F0, got"):
        parse_move(text)


@given(st.builds(Move, st.integers(0, 59), st.integers(0, 59)))
def test_moves_round_trip(move: Move) -> None:
    assert parse_move(format_move(move)) == move
    assert move.rotated().rotated() == move.mirrored().mirrored() == move


# Contact


@pytest.mark.parametrize(
    ("text", "result", "left"),
    [
        ("aG0", NO_CONTACT, "a"),
        ("aG0 BF0", ATTACKER_WINS, "a"),
        ("bG0 AF0", DEFENDER_WINS, "A"),
        ("aG0 AF0", BOTH_REMOVED, ""),
        ("kG0 AF0", BOTH_REMOVED, ""),
        ("aG0 KF0", BOTH_REMOVED, ""),
    ],
)
def test_what_is_left_after_a_contact(at: At, text: str, result: int, left: str) -> None:
    position, told = play(at(text), parse_move("G0F0"))
    assert told == result
    expected = at(f"{left}F0") if left else at("")
    assert (position.pieces, position.owners) == (expected.pieces, expected.owners)
    assert position.to_move == BLACK


def test_a_mine_stays_where_it_killed(at: At) -> None:
    position, result = play(at("aC1 JB1"), parse_move("C1B1"))
    assert result == DEFENDER_WINS
    assert position.pieces[parse_point("B1")] == MINE


def test_the_engineer_removes_a_mine_and_stands_there(at: At) -> None:
    position, result = play(at("iC1 JB1"), parse_move("C1B1"))
    assert result == ATTACKER_WINS
    assert position.pieces[parse_point("B1")] == ENGINEER


def test_quiet_plies_count_plies_of_both_sides_and_start_anew_at_a_contact(at: At) -> None:
    position = at("aG0 BE0 lL1 LA1")
    for quiet, move in enumerate(["G0G1", "E0D0", "G1G0"], start=1):
        position, _ = play(position, parse_move(move))
        assert position.quiet_plies == quiet
    position, _ = play(position, parse_move("D0G0"))
    assert position.quiet_plies == 0


@pytest.mark.parametrize("killer", ["K", "A"])
def test_the_flag_is_told_when_the_marshal_is_gone_however_it_went(at: At, killer: str) -> None:
    position = at(f"aG0 lL3 {killer}F0 LA1 AE4")
    assert position.told_flag(RED) is None
    after, _ = play(position, parse_move("G0F0"))
    assert after.told_flag(RED) == parse_point("L3")
    assert after.told_flag(BLACK) is None


def test_the_flag_is_told_when_the_marshal_runs_on_a_mine(at: At) -> None:
    after, _ = play(at("aC1 lL3 JB1 LA1 AE4"), parse_move("C1B1"))
    assert after.told_flag(RED) == parse_point("L3")


# The end


def test_a_game_goes_on_while_both_can_move_and_have_a_flag(at: At) -> None:
    assert outcome(at("aG0 lL1 AF0 LA1"), Rules()) is None


@pytest.mark.parametrize("letter", "aik")
def test_taking_or_bombing_the_flag_wins_at_once(at: At, letter: str) -> None:
    position, _ = play(at(f"{letter}B1 bG0 lL1 AF0 LA1"), parse_move("B1A1"))
    assert outcome(position, Rules()) == Outcome(RED, Reason.FLAG)


@pytest.mark.parametrize(
    ("flag_first", "expected"),
    [(True, Outcome(RED, Reason.FLAG)), (False, Outcome(BLACK, Reason.NO_MOVES))],
)
def test_the_flag_taken_with_the_last_mobile_piece(
    at: At, flag_first: bool, expected: Outcome
) -> None:
    position, _ = play(at("aB1 lL1 AF0 LA1"), parse_move("B1A1"))
    assert not has_legal_move(position, RED)
    assert outcome(position, Rules(flag_first=flag_first)) == expected


@pytest.mark.parametrize(
    ("flag_first", "expected"),
    [(True, Outcome(RED, Reason.FLAG)), (False, Outcome(NOBODY, Reason.NO_MOVES))],
)
def test_the_flag_taken_when_nobody_can_move_after(
    at: At, flag_first: bool, expected: Outcome
) -> None:
    position, _ = play(at("kB1 lL1 JB0 LA1"), parse_move("B1A1"))
    assert outcome(position, Rules(flag_first=flag_first)) == expected


def test_the_flag_taken_when_only_the_loser_cannot_move(at: At) -> None:
    position, _ = play(at("aB1 bG0 lL1 JB0 LA1"), parse_move("B1A1"))
    assert outcome(position, Rules()) == Outcome(RED, Reason.FLAG)
    assert outcome(position, Rules(flag_first=False)) == Outcome(RED, Reason.NO_MOVES)


@pytest.mark.parametrize("to_move", [RED, BLACK])
def test_the_side_to_move_without_a_legal_move_loses(at: At, to_move: int) -> None:
    letters = "jK0 lL1 AF0 LA1" if to_move == RED else "aG0 lL1 JB0 LA1"
    assert outcome(at(letters, to_move), Rules()) == Outcome(other(to_move), Reason.NO_MOVES)


def test_a_side_that_cannot_move_but_need_not_has_not_lost(at: At) -> None:
    assert outcome(at("jK0 lL1 AF0 LA1", BLACK), Rules()) is None


@pytest.mark.parametrize("to_move", [RED, BLACK])
def test_it_is_a_draw_when_neither_side_can_move(at: At, to_move: int) -> None:
    assert outcome(at("jK0 lL1 LA1", to_move), Rules()) == Outcome(NOBODY, Reason.NO_MOVES)


def test_pieces_locked_in_by_their_own_side_cannot_move(at: At) -> None:
    assert not has_legal_move(at("aL0 jK0 lL1 AF0 LA1"), RED)


@pytest.mark.parametrize(("reading", "winner"), [("mover", RED), ("next", BLACK)])
def test_31_quiet_plies_end_the_game_by_both_readings(at: At, reading: str, winner: int) -> None:
    # Red is to move, so black made the last quiet ply.
    rules = Rules(steps_loser=reading)
    assert outcome(at("aG0 lL1 AF1 LA1", RED, 30), rules) is None
    assert outcome(at("aG0 lL1 AF1 LA1", RED, 31), rules) == Outcome(winner, Reason.STEPS)


def test_steps_are_a_setting(at: At) -> None:
    assert outcome(at("aG0 lL1 AF1 LA1", RED, 10), Rules(steps=10)) is not None
    assert outcome(at("aG0 lL1 AF1 LA1", RED, 31), Rules(steps=40)) is None


def test_no_legal_move_is_judged_before_the_steps(at: At) -> None:
    position = at("jK0 lL1 AF1 LA1", RED, 31)
    assert outcome(position, Rules(steps_loser="mover")) == Outcome(BLACK, Reason.NO_MOVES)


def test_the_flag_is_judged_before_the_steps(at: At) -> None:
    assert outcome(at("aG0 lL1 AF1", RED, 31), Rules()) == Outcome(RED, Reason.FLAG)


def test_a_contact_on_the_31st_ply_ends_the_danger(at: At) -> None:
    position, _ = play(at("aG0 bG4 lL1 BF0 CF4 LA1", RED, 30), parse_move("G0F0"))
    assert outcome(position, Rules()) is None


def test_a_player_who_has_just_made_a_contact_is_safe(at: At) -> None:
    position, _ = play(at("aG0 bK4 lL1 BF0 CB4 LA1"), parse_move("G0F0"))
    for ply in range(31):
        assert outcome(position, Rules()) is None
        position, _ = play(position, parse_move(("B4C4", "K4J4", "C4B4", "J4K4")[ply % 4]))
    assert outcome(position, Rules()) == Outcome(RED, Reason.STEPS)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "expected steps of at least 1, got 0"),
        ({"steps_loser": "both"}, "expected steps_loser 'mover' or 'next', got 'both'"),
        ({"time": 0}, "expected a time above 0 seconds, got 0"),
        ({"time": float("nan")}, "expected a time above 0 seconds, got nan"),
    ],
)
def test_settings_by_which_no_game_can_be_played_are_refused(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Rules(**settings)  # type: ignore[arg-type]


def test_reasons_have_texts_for_records() -> None:
    assert [reason.text for reason in (Reason.FLAG, Reason.NO_MOVES)] == ["flag", "no-moves"]
    assert len({reason.text for reason in Reason}) == len(Reason)


# What holds for any position


@given(positions)
def test_moves_of_the_turned_board_are_the_turned_moves(position: Position) -> None:
    turned = position.rotated()
    for side in (RED, BLACK):
        expected = {move.rotated() for move in legal_moves(position, side)}
        assert set(legal_moves(turned, side)) == expected
    assert turned.rotated() == position


@given(positions)
def test_moves_of_the_mirrored_board_are_the_mirrored_moves(position: Position) -> None:
    mirrored = position.mirrored()
    for side in (RED, BLACK):
        expected = {move.mirrored() for move in legal_moves(position, side)}
        assert set(legal_moves(mirrored, side)) == expected
    assert mirrored.mirrored() == position


@given(positions, st.randoms(use_true_random=False))
def test_playing_commutes_with_turning_and_mirroring(
    position: Position, rng: random.Random
) -> None:
    moves = legal_moves(position)
    if not moves:
        return
    move = rng.choice(moves)
    after, result = play(position, move)
    assert play(position.rotated(), move.rotated()) == (after.rotated(), result)
    assert play(position.mirrored(), move.mirrored()) == (after.mirrored(), result)
    assert outcome(after.rotated(), Rules()) == outcome(after, Rules())
    assert outcome(after.mirrored(), Rules()) == outcome(after, Rules())


@given(positions)
def test_moves_come_in_order_and_once(position: Position) -> None:
    moves = legal_moves(position)
    assert moves == sorted(set(moves))
    names = [format_move(move) for move in moves]
    assert names == sorted(names)
    assert has_legal_move(position, position.to_move) == bool(moves)


@given(positions, st.randoms(use_true_random=False))
def test_a_ply_moves_one_piece_and_touches_only_two_points(
    position: Position, rng: random.Random
) -> None:
    moves = legal_moves(position)
    if not moves:
        return
    move = rng.choice(moves)
    after, result = play(position, move)
    changed = {p for p in range(60) if position.owners[p] != after.owners[p]}
    assert changed <= set(move)
    before_count = sum(owner != NOBODY for owner in position.owners)
    lost = {NO_CONTACT: 0, ATTACKER_WINS: 1, DEFENDER_WINS: 1, BOTH_REMOVED: 2}[result]
    assert sum(owner != NOBODY for owner in after.owners) == before_count - lost
    assert contact_of(position, move) == result
    assert settle(position, move, result) == after


@given(positions)
def test_legal_moves_do_not_depend_on_what_the_enemy_hides(position: Position) -> None:
    enemy = other(position.to_move)
    hidden = tuple(
        HIDDEN if owner == enemy else piece
        for piece, owner in zip(position.pieces, position.owners, strict=True)
    )
    seen = Position(hidden, position.owners, position.to_move, position.quiet_plies)
    assert legal_moves(seen) == legal_moves(position)


@settings(max_examples=25)
@given(st.integers(0, 2**40))
def test_every_random_game_ends(seed: int) -> None:
    rng = random.Random(seed)
    red, black = random_layouts(2, seed)
    position, plies = Position.from_layouts(red, black), 0
    while (end := outcome(position, Rules())) is None:
        position, _ = play(position, rng.choice(legal_moves(position)))
        plies += 1
    assert plies < 50 * 31
    assert end.reason in (Reason.FLAG, Reason.NO_MOVES, Reason.STEPS)


def test_a_new_game_has_25_pieces_a_side_and_red_to_move() -> None:
    layout = parse_layout("abccddeeffggghhhiiijjkklj")
    position = Position.from_layouts(layout, layout)
    assert len(position.points_of(RED)) == len(position.points_of(BLACK)) == 25
    assert position.to_move == RED
    assert position.find(RED, MARSHAL) == parse_point("G0")
    assert position.find(BLACK, FLAG) == parse_point("A1")
    assert position.rotated().pieces == position.pieces


# Counts of move sequences


def perft_rows() -> list[tuple[str, str, str, int, int]]:
    rows = []
    for file in sorted(DATA.glob("*.perft")):
        words = [line.split() for line in file.read_text().splitlines() if line[0] != "#"]
        layouts = dict(pair for pair in words if pair[0].isalpha())
        for depth, count in (pair for pair in words if pair[0].isdigit()):
            rows.append((file.stem, layouts["bottom"], layouts["top"], int(depth), int(count)))
    return rows


@pytest.mark.parametrize(
    ("bottom", "top", "depth", "count"),
    [row[1:] for row in perft_rows()],
    ids=[f"{row[0]}-{row[3]}" for row in perft_rows()],
)
def test_counts_of_move_sequences(bottom: str, top: str, depth: int, count: int) -> None:
    position = Position.from_layouts(parse_layout(bottom), parse_layout(top))
    assert perft(position, depth) == count


def test_both_perft_tables_are_there() -> None:
    assert len(perft_rows()) == 7


def test_division_adds_up(at: At) -> None:
    position = at("aB1 bG0 lL1 AF0 LA1")
    assert sum(count for _, count in perft_divide(position, 3)) == perft(position, 3)
    assert [move for move, _ in perft_divide(position, 2)] == legal_moves(position)


def test_a_ply_that_takes_the_flag_counts_only_at_its_own_depth(at: At) -> None:
    position = at("aB1 lL1 AF0 LA1")
    moves = dict(perft_divide(position, 2))
    assert moves[parse_move("B1A1")] == 0
    assert dict(perft_divide(position, 1))[parse_move("B1A1")] == 1
    assert perft(position, 0) == 1


def test_sequences_with_the_top_side_first_mirror_those_with_the_bottom_first() -> None:
    red, black = random_layouts(2, seed=9)
    top_first = Position.from_layouts(red, black, BLACK)
    bottom_first = Position.from_layouts(black, red, RED)
    assert perft(top_first, 2) == perft(bottom_first, 2)
