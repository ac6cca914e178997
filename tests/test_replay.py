"""Records on the board: checked by the rules, seen by one side, made from play."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from junqi.board import IS_HEADQUARTERS, POINTS, parse_point, seen_from
from junqi.errors import IllegalMove, InvalidLayout, InvalidRecord
from junqi.layout import format_layout, random_layouts
from junqi.pieces import (
    ATTACKER_WINS,
    BLACK,
    BOTH_REMOVED,
    DEFENDER_WINS,
    FLAG,
    HIDDEN,
    NO_CONTACT,
    NOBODY,
    RED,
    Side,
    other,
)
from junqi.record import (
    Ply,
    Record,
    format_record,
    open_records,
    parse_record,
    record_from_json,
    record_to_json,
)
from junqi.replay import (
    check_record,
    first_fault,
    play_ply,
    possible_ends,
    record_game,
    record_views,
    replay,
    start_position,
)
from junqi.rules import Move, Outcome, Position, Reason, Rules, parse_move

[EXAMPLE] = open_records(Path(__file__).parents[1] / "docs" / "example.junqi")
RED_LAYOUT, BLACK_LAYOUT = (format_layout(layout) for layout in random_layouts(2, seed=0))
HIDDEN_SIDES = [(), (RED,), (BLACK,), (RED, BLACK)]

games = st.integers(0, 2**32)
rule_sets = st.builds(
    Rules, st.integers(4, 31), st.sampled_from(["mover", "next"]), st.booleans(), st.just(60.0)
)


def random_game(seed: int, rules: Rules | None = None) -> Record:
    """The record of a game of random moves, half of them contacts, that seeks headquarters."""
    red, black = (format_layout(layout) for layout in random_layouts(2, seed))
    rng = random.Random(seed)

    def choose(position: Position, legal: list[Move]) -> Move:
        contacts = [move for move in legal if position.owners[move.target] != NOBODY]
        in_headquarters = [move for move in contacts if IS_HEADQUARTERS[move.target]]
        return rng.choice(in_headquarters or (contacts if rng.random() < 0.5 else []) or legal)

    return record_game(red, black, choose, rules)


def hide(record: Record, *sides: Side) -> Record:
    """The record without the layouts of these sides."""
    return replace(
        record,
        red_layout=None if RED in sides else record.red_layout,
        black_layout=None if BLACK in sides else record.black_layout,
    )


def error_of(record: Record) -> str:
    with pytest.raises(InvalidRecord) as caught:
        check_record(record)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def with_ply(record: Record, number: int, **changes: object) -> Record:
    """The record with one ply changed, counted from 1."""
    plies = list(record.plies)
    plies[number - 1] = replace(plies[number - 1], **changes)  # type: ignore[arg-type]
    return replace(record, plies=tuple(plies))


def moves(text: str) -> tuple[Ply, ...]:
    """Plies from the text of a record's moves."""
    return parse_record(f'[Result "*"]\n{text} *').plies


# Records of whole games


@settings(max_examples=40, deadline=None)
@given(seed=games, rules=rule_sets)
def test_the_record_of_any_game_replays_to_the_same_end(seed: int, rules: Rules) -> None:
    record = random_game(seed, rules)
    *_, end = replay(record)
    for read in (
        parse_record(format_record(record)),
        record_from_json(json.loads(json.dumps(record_to_json(record)))),
    ):
        assert read == record
        *_, position = replay(read)
        assert position == end
        assert read.outcome == record.outcome


@settings(max_examples=20, deadline=None)
@given(seed=games, rules=rule_sets)
def test_the_record_of_any_game_is_right_whatever_is_unknown(seed: int, rules: Rules) -> None:
    record = random_game(seed, rules)
    truth = list(replay(record))
    for sides in HIDDEN_SIDES:
        shown = list(replay(hide(record, *sides)))
        assert [p.owners for p in shown] == [p.owners for p in truth]
        for mine, true in zip(shown, truth, strict=True):
            for point in range(POINTS):
                told = true.told_flag(true.owners[point]) == point
                is_hidden = true.owners[point] in sides and not told
                assert mine.pieces[point] == (HIDDEN if is_hidden else true.pieces[point])


@settings(max_examples=20, deadline=None)
@given(seed=games, rules=rule_sets, side=st.sampled_from([RED, BLACK]))
def test_views_hold_exactly_what_was_told(seed: int, rules: Rules, side: Side) -> None:
    record = random_game(seed, rules)
    views = list(record_views(record, side))
    for view, position in zip(views, replay(record), strict=True):
        told = position.told_flag(other(side))
        for point in range(POINTS):
            owner = position.owners[point]
            shown = owner in (side, NOBODY) or point == told
            seen = seen_from(point, side)
            assert view.position.owners[seen] == owner
            assert view.position.pieces[seen] == (position.pieces[point] if shown else HIDDEN)
        assert view.position.to_move == position.to_move
        assert view.quiet_plies == position.quiet_plies
        if told is not None:
            assert view.enemy_flag == seen_from(told, side)
        else:
            assert view.enemy_flag is None or position.find(other(side), FLAG) is None
    for told_ply, ply in zip(views[-1].plies, record.plies, strict=True):
        assert told_ply.result == ply.result
        assert told_ply.move == (ply.move if side == RED else ply.move.rotated())
    # The view does not come from the enemy's layout.
    assert list(record_views(hide(record, other(side)), side)) == views


def test_views_know_the_clocks_and_repeat_a_told_flag() -> None:
    *_, red = record_views(EXAMPLE, RED)
    *_, black = record_views(EXAMPLE, BLACK)
    assert red.own_seconds == pytest.approx(EXAMPLE.red_clock)
    assert black.enemy_seconds == pytest.approx(EXAMPLE.red_clock)
    assert red.own_seconds == black.enemy_seconds
    told = [number for number, ply in enumerate(red.plies, 1) if ply.flag is not None]
    assert told == list(range(7, 74))
    assert red.enemy_flag == parse_point("A1")
    assert black.enemy_flag == seen_from(parse_point("L3"), BLACK)


def test_views_need_the_layout_of_their_side() -> None:
    with pytest.raises(InvalidRecord, match="the view of black needs its layout"):
        next(record_views(hide(EXAMPLE, BLACK), BLACK))
    with pytest.raises(InvalidRecord, match="layout of red: not a legal layout: 'abc'"):
        next(record_views(replace(EXAMPLE, red_layout="abc"), RED))


def test_views_name_the_ply_that_cannot_be() -> None:
    wrong = with_ply(EXAMPLE, 2, move=parse_move("F0C0"))
    with pytest.raises(InvalidRecord, match="ply 2, as red sees it: F0C0: no piece of black could"):
        list(record_views(wrong, RED))
    with pytest.raises(InvalidRecord, match="ply 2, as black sees it: G4J4: "):
        list(record_views(wrong, BLACK))


# What is wrong is named


@pytest.mark.parametrize("number", range(1, 74))
def test_a_wrong_result_is_named_with_its_ply(number: int) -> None:
    for result in (NO_CONTACT, ATTACKER_WINS, DEFENDER_WINS, BOTH_REMOVED):
        if result != EXAMPLE.plies[number - 1].result:
            message = error_of(with_ply(EXAMPLE, number, result=result))
            assert message.startswith(f"ply {number} (")
            assert ": expected " in message


@pytest.mark.parametrize(
    ("number", "changes", "message"),
    [
        (1, {"result": DEFENDER_WINS}, "ply 1 (red G2F2-): expected + (the target is gone), got -"),
        (1, {"move": parse_move("G2G3")}, "ply 1 (red G2G3+): G2G3: G3 holds a piece of the same"),
        (1, {"move": parse_move("L3K3")}, "a piece in a headquarters never moves"),
        (2, {"move": parse_move("G0F0")}, "ply 2 (black G0F0+): G0F0: black has no piece on G0"),
        (7, {"flags": ()}, "ply 7 (red I4H4=): expected the flag on A1 told, got no flag"),
        (7, {"flags": (3,)}, "expected the flag on A1 told, got the flag on A3"),
        (
            7,
            {"flags": (1, 58)},
            "expected the flag on A1 told, got the flag on A1 and the flag on L3",
        ),
        (9, {"flags": (1,)}, "ply 9 (red I3I4+@A1): expected no flag told, got the flag on A1"),
    ],
)
def test_a_wrong_ply_is_named(number: int, changes: dict[str, object], message: str) -> None:
    assert message in error_of(with_ply(EXAMPLE, number, **changes))


def test_positions_before_the_wrong_ply_are_still_shown() -> None:
    positions = replay(with_ply(EXAMPLE, 20, result=BOTH_REMOVED))
    assert [next(positions) for _ in range(20)] == list(replay(EXAMPLE))[:20]
    with pytest.raises(InvalidRecord, match="ply 20 "):
        next(positions)


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (None, "after ply 73: expected 1-0 by flag, got no end (*)"),
        (Outcome(BLACK, Reason.FLAG), "after ply 73: expected 1-0 by flag, got 0-1 by flag"),
        (Outcome(RED, Reason.NO_MOVES), "expected 1-0 by flag, got 1-0 by no-moves"),
        (Outcome(RED, Reason.TIME), "expected 1-0 by flag, got 1-0 by time"),
    ],
)
def test_a_wrong_end_is_named(outcome: Outcome | None, message: str) -> None:
    for hidden in HIDDEN_SIDES:
        assert message in error_of(replace(hide(EXAMPLE, *hidden), outcome=outcome))


@pytest.mark.parametrize("reason", [Reason.FLAG, Reason.NO_MOVES, Reason.STEPS])
@pytest.mark.parametrize("hidden", HIDDEN_SIDES)
def test_a_game_does_not_end_too_early(reason: Reason, hidden: tuple[Side, ...]) -> None:
    early = replace(hide(EXAMPLE, *hidden), plies=EXAMPLE.plies[:20], outcome=Outcome(RED, reason))
    assert error_of(early) == f"after ply 20: expected no end (*), got 1-0 by {reason.text}"


def test_a_game_may_end_anywhere_by_conduct_or_without_a_result() -> None:
    for reason in Reason:
        if reason not in (Reason.FLAG, Reason.NO_MOVES, Reason.STEPS, Reason.ILLEGAL_LAYOUT):
            check_record(replace(EXAMPLE, plies=EXAMPLE.plies[:9], outcome=Outcome(BLACK, reason)))
    check_record(replace(EXAMPLE, plies=EXAMPLE.plies[:9], outcome=None))
    check_record(Record())


@pytest.mark.parametrize("hidden", HIDDEN_SIDES)
def test_a_game_does_not_go_on_after_its_end(hidden: tuple[Side, ...]) -> None:
    record = next(
        game
        for game in map(random_game, range(100))
        if game.outcome and game.outcome.reason == Reason.STEPS
    )
    shorter = replace(hide(record, *hidden), rules=Rules(steps=30))
    message = error_of(shorter)
    assert message.startswith(f"ply {len(record.plies)} (")
    assert message.endswith("by steps")
    assert "the game was over before this ply" in message
    on = replace(hide(EXAMPLE, *hidden), plies=(*EXAMPLE.plies, Ply(parse_move("E3F3"))))
    assert "ply 74 (black E3F3): the game was over before this ply: 1-0 by flag" in error_of(on)


def test_layouts_have_to_be_legal() -> None:
    assert error_of(replace(EXAMPLE, black_layout="abc")).startswith(
        "layout of black: not a legal layout: 'abc': expected 25 letters, got 3"
    )


def test_a_game_can_be_lost_by_an_illegal_layout() -> None:
    lost = Record((), Outcome(BLACK, Reason.ILLEGAL_LAYOUT), "a b c", BLACK_LAYOUT)
    check_record(lost)
    assert parse_record(format_record(lost)) == lost
    check_record(replace(lost, red_layout=None, black_layout=None))
    assert "layout of red: expected one that is not legal" in error_of(
        replace(lost, red_layout=RED_LAYOUT)
    )
    assert "ply 1 (red G0F0): the game was over before this ply: an illegal layout" in error_of(
        replace(lost, plies=(Ply(parse_move("G0F0")),))
    )


# What can be said of hidden pieces


def test_unknown_layouts_start_hidden() -> None:
    position = start_position(Record(red_layout=RED_LAYOUT))
    assert {position.pieces[p] for p in position.points_of(BLACK)} == {HIDDEN}
    assert HIDDEN not in {position.pieces[p] for p in position.points_of(RED)}
    assert position.owners == start_position(Record()).owners


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1. G0F0", "ply 1 (red G0F0): expected - (the mover is gone) or + (the target is gone)"),
        ("1. G0H1+", "ply 1 (red G0H1+): expected no mark (no contact), got +"),
        ("1. G0E0", "ply 1 (red G0E0): G0E0: no free road or rail leads there"),
        ("1. L1K1", "ply 1 (red L1K1): L1K1: a piece in a headquarters never moves again"),
        ("1. G0H1@L1", "the flag on L1 is told though red lost no piece"),
        ("1. G0F0-@L0", "the flag of red cannot stand on L0"),
        ("1. G0F0+@A1", "ply 1 (red G0F0+@A1): expected - (the mover is gone) or = (both"),
        ("1. G0F0=@L1 F4G4=@L3", "ply 2 (black F4G4=@L3): the flag on L3 was told before"),
    ],
)
def test_a_record_without_layouts_is_held_to_what_is_certain(text: str, message: str) -> None:
    assert message in error_of(Record(moves(text)))


def test_known_pieces_decide_what_hidden_ones_can_do() -> None:
    # From G0 an engineer, the marshal, an engineer; the flag on L1.
    record = Record(red_layout="iaihcfcihkebhgkdjgdejljgf")

    def played(text: str) -> Record:
        return replace(record, plies=moves("1. G0F0- F0G0 2. G2F2- " + text))

    # Only a bomb or the other marshal removes a marshal, and goes with it.
    check_record(played("G0G1-"))
    check_record(played("G0G1=@L1"))
    check_record(played("G0G1=@A1@L1"))
    assert "expected - (the mover is gone) or = (both are gone), got +" in error_of(played("G0G1+"))
    assert "expected the flag on L1 told, got no flag" in error_of(played("G0G1="))
    assert "expected the flag on L1 told, got the flag on L3" in error_of(played("G0G1=@L3"))


def test_a_hidden_flag_may_be_in_either_headquarters_until_one_is_met() -> None:
    record = hide(random_game(107), BLACK)
    assert record.outcome == Outcome(RED, Reason.FLAG)
    assert len(record.plies) == 21
    # Red's marshal has beaten what stood on A1. Whether that was the flag, only the end says.
    check_record(record)
    check_record(replace(record, outcome=None))
    beaten = with_ply(record, 21, result=DEFENDER_WINS, flags=(parse_point("L3"),))
    check_record(replace(beaten, outcome=None))
    assert "after ply 21: expected no end (*), got 1-0 by flag" in error_of(beaten)
    assert "got 0-1 by flag" in error_of(replace(record, outcome=Outcome(BLACK, Reason.FLAG)))


def test_a_hidden_flag_is_in_the_other_headquarters_once_one_was_met() -> None:
    record = hide(random_game(1725), BLACK)
    assert [(n, ply.result) for n, ply in enumerate(record.plies, 1) if is_in_top(ply)] == [
        (23, DEFENDER_WINS),
        (31, ATTACKER_WINS),
    ]
    check_record(record)
    assert "expected 1-0 by flag, got no end (*)" in error_of(replace(record, outcome=None))
    assert "ply 31 (red A2A1-): expected + (the target is gone), got -" in error_of(
        with_ply(record, 31, result=DEFENDER_WINS)
    )


def is_in_top(ply: Ply) -> bool:
    return IS_HEADQUARTERS[ply.move.target] and ply.move.target < POINTS // 2


# Records from play


def test_a_game_is_played_to_its_end_by_the_rules() -> None:
    record = record_game(RED_LAYOUT, BLACK_LAYOUT, lambda _, legal: legal[0], Rules(steps=5))
    assert record.outcome is not None
    assert record.rules.steps == 5
    check_record(record)


def test_a_game_needs_legal_layouts_and_moves() -> None:
    with pytest.raises(InvalidLayout):
        record_game("abc", BLACK_LAYOUT, lambda _, legal: legal[0])
    with pytest.raises(IllegalMove, match="L1K1: a piece in a headquarters never moves again"):
        record_game(RED_LAYOUT, BLACK_LAYOUT, lambda *_: parse_move("L1K1"))


def test_a_played_ply_holds_its_result_told_flags_and_time() -> None:
    position = list(replay(EXAMPLE))[6]
    ply, after = play_ply(position, parse_move("I4H4"), 0.02)
    assert ply == EXAMPLE.plies[6]
    assert ply.flags == (parse_point("A1"),)
    assert after == list(replay(EXAMPLE))[7]


def test_an_unknown_reason_stands_where_any_end_could() -> None:
    assert EXAMPLE.outcome is not None
    winner = EXAMPLE.outcome.winner
    # Cut anywhere, either side may have won for a reason that nobody was told.
    for side in (RED, BLACK):
        cut = replace(EXAMPLE, plies=EXAMPLE.plies[:20], outcome=Outcome(side, Reason.UNKNOWN))
        check_record(cut)
        assert parse_record(format_record(cut)) == cut
    # After an end by the rules, only whoever won by them.
    check_record(replace(EXAMPLE, outcome=Outcome(winner, Reason.UNKNOWN)))
    with pytest.raises(InvalidRecord, match="expected 1-0 by flag, got 0-1 by unknown"):
        check_record(replace(EXAMPLE, outcome=Outcome(1 - winner, Reason.UNKNOWN)))


def test_possible_ends_do_not_look_at_what_the_record_says() -> None:
    assert possible_ends(EXAMPLE) == {EXAMPLE.outcome}
    assert possible_ends(replace(EXAMPLE, outcome=None)) == {EXAMPLE.outcome}
    assert possible_ends(replace(EXAMPLE, plies=EXAMPLE.plies[:-1])) == {None}
    # A hidden piece in a headquarters was taken: it may have been the flag.
    hidden = replace(EXAMPLE, black_layout=None)
    assert EXAMPLE.outcome in possible_ends(hidden)


def test_the_first_fault_is_the_number_of_its_ply() -> None:
    assert first_fault(EXAMPLE) is None
    plies = list(EXAMPLE.plies)
    plies[4] = replace(plies[4], move=Move(0, 59))
    number, text = first_fault(replace(EXAMPLE, plies=tuple(plies))) or (0, "")
    assert number == 5
    assert text.startswith("ply 5 (red A0L4")
    assert first_fault(replace(EXAMPLE, red_layout="abc")) is not None
