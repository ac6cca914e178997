"""The engine's side of the protocol: sessions in this process."""

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from junqi.board import parse_point, seen_from
from junqi.clock import PauseWatch
from junqi.engine import Engine, EngineOptions
from junqi.errors import IllegalMove
from junqi.layout import layout_problems, parse_layout
from junqi.loop import Session
from junqi.pieces import BLACK, NOBODY, RED, Side, other
from junqi.protocol import (
    Array,
    BestMove,
    End,
    Go,
    Result,
    Start,
    format_command,
    parse_reply,
)
from junqi.random_player import RandomPlayer
from junqi.rules import Move, Position, Rules, check_move, legal_moves, outcome, parse_move, play
from junqi.view import View

FIRST_MOVE = "GO 0000 0 00"


@dataclass
class Notes:
    """What a session found odd."""

    texts: list[str] = field(default_factory=list)

    def __call__(self, text: str) -> None:
        self.texts.append(text)


@pytest.fixture
def notes() -> Notes:
    return Notes()


def random_session(seed: int, **options: Any) -> Session:
    return Session(RandomPlayer(seed), "Dice", seed=seed, **options)


def engine_session(seed: int, **options: Any) -> Session:
    """The engine, with nothing but its rules of thumb."""
    engine = Engine(EngineOptions(seed=seed), options.get("note", print), load=None)
    return Session(engine, "Junqi", seed=seed, **options)


@pytest.fixture
def session(notes: Notes) -> Session:
    return engine_session(1, note=notes)


def move_of(line: str | None) -> Move:
    assert line is not None
    reply = parse_reply(line)
    assert isinstance(reply, BestMove)
    return reply.move


def layout_of(line: str | None) -> str:
    assert line is not None
    reply = parse_reply(line)
    assert isinstance(reply, Array)
    return reply.layout


def result_of(session: Session) -> str:
    """A RESULT that can be true of the move that waits for one."""
    assert session.view is not None
    assert session.pending is not None
    is_contact = session.view.position.owners[session.pending.target] != NOBODY
    return "RESULT 2 00" if is_contact else "RESULT 3 00"


def turned(move: Move, side: Side) -> Move:
    return move if side == RED else move.rotated()


Send = Callable[[Session, str], str | None]


def send_once(session: Session, line: str) -> str | None:
    return session.handle(line)


def play_game(sessions: list[Session], send: Send = send_once, ends: bool = True) -> Position:
    """An honest game between two sessions; every reply of theirs must be legal."""
    layouts = []
    for side in (RED, BLACK):
        layouts.append(layout_of(send(sessions[side], format_command(Start(side == RED)))))
        assert layout_problems(layouts[-1]) == []
    position = Position.from_layouts(*(parse_layout(layout) for layout in layouts))
    go = Go()
    while outcome(position, Rules()) is None:
        side = position.to_move
        reply = send(sessions[side], format_command(go))
        if reply is None:
            break
        move = turned(move_of(reply), side)
        check_move(position, move)
        position, result = play(position, move)
        flags = [position.told_flag(owner) for owner in (RED, BLACK)]
        told = {
            seat: None if (flag := flags[other(seat)]) is None else seen_from(flag, seat)
            for seat in (RED, BLACK)
        }
        send(sessions[side], format_command(Result(result, told[side])))
        go = Go(turned(move, other(side)), result, told[other(side)])
    if ends:
        for session in sessions:
            send(session, format_command(End(1)))
    return position


# A game in order


def test_the_three_replies(session: Session) -> None:
    assert session.handle("INFO 1.0") == "NAME Junqi"
    assert layout_problems(layout_of(session.handle("START 0 1800 31"))) == []
    view = session.view
    assert view is not None
    assert move_of(session.handle(FIRST_MOVE)) in view.legal_moves()
    assert session.handle("RESULT 3 00") is None
    assert session.handle("END 1") is None


def test_the_settings_of_start_are_those_of_the_view(session: Session) -> None:
    session.handle("START 1 600 20")
    assert session.view is not None
    assert session.view.side == BLACK
    assert session.view.rules == Rules(steps=20, time=600)


def test_games_between_two_sessions_are_played_by_the_rules(notes: Notes) -> None:
    sessions = [random_session(2, note=notes), random_session(3, note=notes)]
    for game in range(12):
        play_game(sessions, ends=game % 2 == 0)
    assert notes.texts == []


def test_a_session_follows_the_game_exactly() -> None:
    sessions = [random_session(4), random_session(5)]
    position = play_game(sessions, ends=False)
    side = other(position.to_move)  # the other one was not told of the last ply
    view = sessions[side].view
    assert view is not None
    true = position if side == RED else position.rotated()
    assert view.position.owners == true.owners
    assert view.quiet_plies == true.quiet_plies


def test_the_same_seed_plays_the_same_game() -> None:
    ends = [play_game([random_session(8), random_session(9)]) for _ in range(2)]
    assert ends[0] == ends[1]
    assert play_game([random_session(8), random_session(10)]) != ends[0]


def test_the_view_counts_the_seconds_of_both_sides() -> None:
    times = iter(range(0, 1000, 1))
    session = random_session(1, now=lambda: float(next(times)))
    session.handle("START 0 1800 31")
    session.handle(FIRST_MOVE)
    session.handle("RESULT 3 00")
    assert session.view is not None
    assert session.view.own_seconds > 0
    assert session.view.enemy_seconds == 0


# What platforms do


def test_garbage_is_noted_and_gets_no_reply(session: Session, notes: Notes) -> None:
    assert session.handle("HELLO there") is None
    assert session.handle("START x y z") is None
    assert session.handle(b"\xff\xfe\x00\x01") is None
    assert len(notes.texts) == 3
    assert "expected INFO, START, GO, RESULT or END, got 'HELLO there'" in notes.texts[0]


def test_blank_lines_are_not_even_noted(session: Session, notes: Notes) -> None:
    assert session.handle("\r\n") is None
    assert notes.texts == []


def test_a_line_sent_twice_gets_one_reply(session: Session, notes: Notes) -> None:
    for line in ("INFO 1.0", "START 0 1800 31", FIRST_MOVE):
        assert session.handle(line + "\r\n") is not None
        assert session.handle(line + "\r\n") is None
    result = result_of(session)
    session.handle(result)
    session.handle(result)
    assert session.view is not None
    assert len(session.view.plies) == 1
    assert len(notes.texts) == 4


def test_games_in_which_every_line_comes_twice_are_played_by_the_rules() -> None:
    def send_twice(session: Session, line: str) -> str | None:
        reply = session.handle(line)
        assert session.handle(line) is None
        return reply

    for seed in range(4):
        play_game([random_session(seed), random_session(seed + 100)], send_twice)


def test_games_with_garbage_between_the_lines_are_played_by_the_rules() -> None:
    def send_with_garbage(session: Session, line: str) -> str | None:
        assert session.handle("Debug: 42") is None
        assert session.handle("") is None
        return session.handle(line.replace(" ", " \t ") + "\r\n")

    for seed in range(4):
        play_game([random_session(seed), random_session(seed + 100)], send_with_garbage)


@pytest.mark.parametrize("line", ["START 1 0 31", "START 0 1800s 31", "start 1 1800 -"])
def test_a_start_with_unreadable_numbers_still_gets_a_layout(
    session: Session, notes: Notes, line: str
) -> None:
    assert layout_problems(layout_of(session.handle(line))) == []
    assert notes.texts[0].startswith("read as Start(")
    assert session.handle("GO F0E1 3 00") is not None


def test_a_move_with_an_unreadable_flag_is_taken_in(session: Session) -> None:
    session.handle("START 1 1800 31")
    assert session.handle("GO F0E1 3 ??") is not None
    assert session.view is not None
    assert session.view.man_at(parse_point("E1")) is not None
    move = session.pending
    session.handle(result_of(session).replace("00", "??"))
    assert session.view.plies[-1].move == move


def test_a_move_with_an_unreadable_result_is_taken_in_with_care(session: Session) -> None:
    session.handle("START 1 1800 31")
    assert session.handle("GO F0G0 ? 00") is not None
    assert session.view is not None
    attacked = parse_point("G0")
    assert session.view.position.owners[attacked] == session.view.enemy
    # Our own piece may still stand there.
    assert session.doubtful == {attacked}


@pytest.mark.parametrize("chatter", ["Illegal move", "Error", "Ended normally?", "Exit"])
def test_chatter_in_the_middle_of_a_game_is_no_command(session: Session, chatter: str) -> None:
    session.handle("START 1 1800 31")
    assert session.handle(chatter) is None
    assert session.handle("GO F0E1 3 00") is not None


def test_a_go_sent_again_after_other_lines_gets_no_second_move(session: Session) -> None:
    session.handle("START 1 1800 31")
    assert session.handle("GO F0E1 3 00") is not None
    assert session.handle("chatter") is None
    assert session.handle("GO F0E1 3 00") is None


def test_the_same_start_again_is_another_game_if_it_comes_later() -> None:
    # A game may end before its first move, with no END, and the next one begins like it.
    time = 0.0
    session = engine_session(1, now=lambda: time)
    assert session.handle("START 0 1800 31") is not None
    assert session.handle("START 0 1800 31") is None
    time += 5.0
    assert session.handle("START 0 1800 31") is not None
    assert session.handle("START 0 1800 31") is None


def test_go_before_start_gets_no_reply(session: Session, notes: Notes) -> None:
    assert session.handle(FIRST_MOVE) is None
    assert session.handle("RESULT 3 00") is None
    assert notes.texts == ["ignored: GO before START", "ignored: RESULT without a move"]


def test_go_after_end_gets_no_reply(session: Session) -> None:
    session.handle("START 0 1800 31")
    session.handle("END 0")
    assert session.handle(FIRST_MOVE) is None


def test_a_new_start_begins_a_new_game_whatever_became_of_the_last(session: Session) -> None:
    session.handle("START 0 1800 31")
    session.handle(FIRST_MOVE)
    first = session.view
    layout_of(session.handle("START 1 1800 31"))
    assert session.view is not None
    assert session.view != first
    assert session.view.plies == ()
    assert session.pending is None
    assert session.handle("GO F0G0 0 00") is not None


def test_a_first_move_is_made_even_by_the_second_player(session: Session) -> None:
    session.handle("START 1 1800 31")
    assert session.handle(FIRST_MOVE) is not None


def test_an_enemy_move_is_taken_even_if_we_are_first(session: Session, notes: Notes) -> None:
    session.handle("START 0 1800 31")
    assert session.handle("GO E0E1 3 00") is not None
    assert notes.texts == ["believed, though impossible: E0E1: out of turn"]


@pytest.mark.parametrize(
    ("line", "owner_of_target"),
    [
        ("GO F0G0 1 00", BLACK),
        ("GO F0G0 3 00", BLACK),
        ("GO H2F4 3 A1", BLACK),
        ("GO F0G0 2 B0", NOBODY),
    ],
)
def test_an_impossible_message_is_believed(
    session: Session, line: str, owner_of_target: Side
) -> None:
    session.handle("START 0 1800 31")
    session.handle(FIRST_MOVE)
    session.handle("RESULT 3 00")
    assert session.handle(line) is not None
    assert session.view is not None
    assert session.view.position.owners[parse_move(line.split()[1]).target] == owner_of_target


def test_a_result_that_cannot_be_is_believed(session: Session, notes: Notes) -> None:
    session.handle("START 0 1800 31")
    move = move_of(session.handle(FIRST_MOVE))
    assert session.view is not None
    is_contact = session.view.position.owners[move.target] != NOBODY
    session.handle("RESULT 3 00" if is_contact else "RESULT 2 00")
    assert "believed, though impossible" in notes.texts[-1]
    assert session.handle("GO F0E1 3 00") is not None


def test_a_told_flag_is_remembered(session: Session) -> None:
    session.handle("START 1 1800 31")
    session.handle("GO F0G0 2 A3")
    assert session.view is not None
    assert session.view.enemy_flag == parse_point("A3")


def test_a_flag_where_none_can_be_leaves_no_doubt_about_the_move(
    session: Session, notes: Notes
) -> None:
    # A platform that tells it in the enemy's coordinates says so in every line.
    session.handle("START 1 1800 31")
    session.handle("GO F0G0 0 L1")
    assert notes.texts == ["no place of a flag: L1"]
    assert session.doubtful == set()
    assert session.view is not None
    assert session.view.enemy_flag is None


def test_games_with_missing_results_are_played_by_the_rules() -> None:
    # After a contact whose result never came, nothing is done that could be illegal, as long as
    # there is something else to do. In these games there always is.
    for seed in range(25):
        rng = random.Random(seed)

        def send_most(session: Session, line: str, rng: random.Random = rng) -> str | None:
            if line.startswith("RESULT") and rng.random() < 0.3:
                return None
            return session.handle(line)

        play_game([random_session(seed), random_session(seed + 100)], send_most)


def test_no_move_is_sent_when_none_is_to_be_seen(session: Session, notes: Notes) -> None:
    session.handle("START 0 1800 31")
    assert session.view is not None
    for man in session.view.men[:20]:
        if man.point is not None:
            session.view = session.view.forced(BLACK, Move(parse_point("F0"), man.point), 2)
    while moves := session.view.legal_moves():
        session.view = session.view.forced(BLACK, Move(parse_point("F0"), moves[0].origin), 2)
    assert session.handle(FIRST_MOVE) is None
    assert notes.texts == ["no legal move to be seen"]


def test_a_bug_does_not_cost_the_game(
    session: Session, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.handle("START 1 1800 31")

    def broken(*args: object) -> View:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(View, "after", broken)
    assert session.handle("GO F0E1 3 00") is not None
    assert "bug: ZeroDivisionError: oh" in notes.texts[0]


lines = st.one_of(
    st.sampled_from(
        ["INFO 1.0", "START 0 1800 31", "START 1 60 5", FIRST_MOVE, "END 1", "", "RESULT", "GO"]
    ),
    st.builds(
        format_command,
        st.one_of(
            st.builds(
                Go,
                st.builds(Move, st.integers(0, 59), st.integers(0, 59)),
                st.integers(0, 3),
                st.none() | st.integers(0, 59),
            ),
            st.builds(Result, st.integers(0, 3), st.none() | st.integers(0, 59)),
        ),
    ),
    st.text(max_size=20),
    st.binary(max_size=20),
)


def mutated(line: str, place: int, letter: str) -> str:
    """A line with one letter changed, put in or left out."""
    place %= len(line) + 1
    return line[:place] + letter + line[place + (place % 2) :]


def check_reply(session: Session, reply: str | None) -> None:
    """Whatever is replied is legal as far as the session has been told."""
    if reply is None:
        return
    parsed = parse_reply(reply)
    if isinstance(parsed, Array):
        assert layout_problems(parsed.layout) == []
    elif isinstance(parsed, BestMove):
        assert session.view is not None
        assert parsed.move in legal_moves(session.view.position, session.view.side)


@settings(max_examples=100)
@given(st.lists(lines, max_size=40), st.integers(0, 1000))
def test_whatever_comes_a_session_lives_and_answers_legally(
    given_lines: list[str | bytes], seed: int
) -> None:
    notes = Notes()
    for session in (random_session(seed, note=notes), engine_session(seed, note=notes)):
        for line in given_lines:
            check_reply(session, session.handle(line))
    assert not [text for text in notes.texts if text.startswith("bug")]


@settings(max_examples=30)
@given(
    st.integers(0, 1000),
    st.lists(
        st.tuples(st.integers(0, 150), st.integers(0, 15), st.sampled_from("0123ABGL 9x")),
        max_size=6,
    ),
)
def test_mutated_lines_of_a_real_game_do_no_harm(
    seed: int, changes: list[tuple[int, int, str]]
) -> None:
    """Every GO that is asked in a game gets a legal move, whatever was garbled before it."""
    notes = Notes()
    partner, session = random_session(seed), engine_session(seed, note=notes)
    sent = 0

    def send(receiver: Session, line: str) -> str | None:
        nonlocal sent
        if receiver is not session:
            return receiver.handle(line)
        for when, place, letter in changes:
            if when == sent and not line.startswith("START"):
                line = mutated(line, place, letter)
        sent += 1
        asks = line.startswith("GO ") and session.view is not None
        reply = session.handle(line)
        check_reply(session, reply)
        if asks and reply is None:
            assert session.view is None or not session.view.legal_moves()
        return reply

    with suppress(IllegalMove):  # a session that was told nonsense may play it
        play_game([session, partner], send)
    assert not [text for text in notes.texts if text.startswith("bug")]


# Deciders that fail


class Broken:
    """Does everything wrong."""

    def layout(self, is_first: bool, rules: Rules) -> str:
        return "abc"

    def move(self, view: View, seconds_left: float) -> Move:
        raise MemoryError


class Cheat(Broken):
    """Moves where it must not, and has no layout at all."""

    def layout(self, is_first: bool, rules: Rules) -> str:
        raise OSError("no disk")

    def move(self, view: View, seconds_left: float) -> Move:
        return Move(0, 0)


@pytest.mark.parametrize("decider", [Broken(), Cheat()])
def test_a_decider_that_fails_does_not_cost_the_game(decider: Broken, notes: Notes) -> None:
    session = Session(decider, "Broken", seed=1, note=notes)
    for _ in range(3):
        play_game([session, random_session(2)])
    assert notes.texts[0].startswith(("not a legal layout", "no layout: OSError: no disk"))


def test_the_time_left_is_what_the_clock_and_the_pauses_leave() -> None:
    time = 0.0
    lefts = []

    class Slow(RandomPlayer):
        def move(self, view: View, seconds_left: float) -> Move:
            nonlocal time
            lefts.append(seconds_left)
            time += 7.0
            return super().move(view, seconds_left)

    watch = PauseWatch(lambda: time)
    session = Session(Slow(1), "Slow", now=lambda: time, watch=watch)
    session.handle("START 0 100 31")
    session.handle(FIRST_MOVE)
    session.handle(result_of(session))
    time += 20.0  # the process was stopped
    session.handle("GO F0E1 3 00")
    assert lefts[0] == 100
    assert lefts[1] == pytest.approx(100 - 7 - 20, abs=0.1)
    assert session.used == pytest.approx(7 + 20 + 7, abs=0.1)
