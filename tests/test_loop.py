"""The engine's side of the protocol: sessions in this process, and a few real ones."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from junqi import __version__
from junqi.board import parse_point, seen_from
from junqi.layout import layout_problems, parse_layout
from junqi.loop import NOTES, Session, main
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


@pytest.fixture
def session(notes: Notes) -> Session:
    return Session(seed=1, note=notes)


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
    sessions = [Session(seed=2, note=notes), Session(seed=3, note=notes)]
    for game in range(12):
        play_game(sessions, ends=game % 2 == 0)
    assert notes.texts == []


def test_a_session_follows_the_game_exactly() -> None:
    sessions = [Session(seed=4), Session(seed=5)]
    position = play_game(sessions, ends=False)
    side = other(position.to_move)  # the other one was not told of the last ply
    view = sessions[side].view
    assert view is not None
    true = position if side == RED else position.rotated()
    assert view.position.owners == true.owners
    assert view.quiet_plies == true.quiet_plies


def test_the_same_seed_plays_the_same_game() -> None:
    ends = [play_game([Session(seed=8), Session(seed=9)]) for _ in range(2)]
    assert ends[0] == ends[1]
    assert play_game([Session(seed=8), Session(seed=10)]) != ends[0]


def test_the_view_counts_the_seconds_of_both_sides() -> None:
    times = iter(range(0, 1000, 1))
    session = Session(seed=1, now=lambda: float(next(times)))
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
    session.handle("RESULT 3 00")
    session.handle("RESULT 3 00")
    assert session.view is not None
    assert len(session.view.plies) == 1
    assert len(notes.texts) == 4


def test_games_in_which_every_line_comes_twice_are_played_by_the_rules() -> None:
    def send_twice(session: Session, line: str) -> str | None:
        reply = session.handle(line)
        assert session.handle(line) is None
        return reply

    for seed in range(4):
        play_game([Session(seed=seed), Session(seed=seed + 100)], send_twice)


def test_games_with_garbage_between_the_lines_are_played_by_the_rules() -> None:
    def send_with_garbage(session: Session, line: str) -> str | None:
        assert session.handle("Debug: 42") is None
        assert session.handle("") is None
        return session.handle(line.replace(" ", " \t ") + "\r\n")

    for seed in range(4):
        play_game([Session(seed=seed), Session(seed=seed + 100)], send_with_garbage)


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


def test_games_with_missing_results_are_played_by_the_rules() -> None:
    # After a contact whose result never came, nothing is done that could be illegal, as long as
    # there is something else to do. In these games there always is.
    for seed in range(25):
        rng = random.Random(seed)

        def send_most(session: Session, line: str, rng: random.Random = rng) -> str | None:
            if line.startswith("RESULT") and rng.random() < 0.3:
                return None
            return session.handle(line)

        play_game([Session(seed=seed), Session(seed=seed + 100)], send_most)


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


@settings(max_examples=150)
@given(st.lists(lines, max_size=40), st.integers(0, 1000))
def test_whatever_comes_a_session_lives_and_answers_legally(
    given_lines: list[str | bytes], seed: int
) -> None:
    notes = Notes()
    session = Session(seed=seed, note=notes)
    for line in given_lines:
        reply = session.handle(line)
        if reply is None:
            continue
        parsed = parse_reply(reply)
        if isinstance(parsed, Array):
            assert layout_problems(parsed.layout) == []
        elif isinstance(parsed, BestMove):
            assert session.view is not None
            assert parsed.move in legal_moves(session.view.position, session.view.side)
    assert not [text for text in notes.texts if text.startswith("bug")]


# Real processes


def run_engine(
    text: bytes, *args: str, code: str = "", **env: str
) -> subprocess.CompletedProcess[bytes]:
    program = code or "import sys; from junqi.loop import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", program, *args],
        input=text,
        capture_output=True,
        timeout=30,
        check=False,
        env={**os.environ, **env},
    )


def test_a_process_answers_and_ends_with_its_input() -> None:
    ran = run_engine(b"INFORMATION 1.0\r\n\r\nSTART 0 1800 31\r\nGO 0000 0 00\r\n", JUNQI_SEED="1")
    replies = ran.stdout.decode().split("\n")
    assert [reply.split(" ")[0] for reply in replies] == ["NAME", "ARRAY", "BESTMOVE", ""]
    assert ran.returncode == 0
    assert ran.stderr == b""
    again = run_engine(b"INFO 1.0\nSTART 0 1800 31\nGO 0000 0 00", JUNQI_SEED="1")
    assert again.stdout == ran.stdout


def test_replies_come_at_once() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "junqi.loop"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"INFO 1.0\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"NAME Junqi\n"
        before = time.monotonic()
        process.stdin.write(b"START 0 1800 31\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"ARRAY ")
        assert time.monotonic() - before < 1
        process.stdin.close()
        assert process.wait(timeout=10) == 0


def test_nothing_but_replies_is_written_to_stdout() -> None:
    noisy = """
import os, sys
from junqi import loop

def handle(self, line, old=loop.Session.handle):
    print("noise")
    sys.stdout.flush()
    os.write(1, b"deeper noise\\n")
    os.system("echo noise of another program")
    return old(self, line)

loop.Session.handle = handle
sys.exit(loop.main())
"""
    ran = run_engine(b"INFO 1.0\n", code=noisy)
    assert ran.stdout == b"NAME Junqi\n"
    assert ran.stderr.count(b"noise") == 3


def test_notes_go_to_stderr_but_not_without_end() -> None:
    ran = run_engine(b"HELLO\n" * 1 + b"".join(b"X%d\n" % n for n in range(2 * NOTES)))
    assert ran.stdout == b""
    lines = ran.stderr.decode().splitlines()
    assert len(lines) == NOTES
    assert all(line.startswith("junqi-engine: ") for line in lines)


@pytest.mark.skipif(os.name == "nt", reason="file descriptors are not closed so on Windows")
def test_a_closed_stderr_does_no_harm() -> None:
    # The notes once went to the replies, whose descriptor had become that of stderr.
    closed = "import os; os.close(2); import sys; from junqi.loop import main; sys.exit(main())"
    assert run_engine(b"HELLO\nINFO 1.0\n", code=closed).stdout == b"NAME Junqi\n"


def test_a_seed_that_is_no_number_is_noted() -> None:
    ran = run_engine(b"INFO 1.0\n", JUNQI_SEED="x")
    assert ran.stdout == b"NAME Junqi\n"
    assert b"expected an integer in JUNQI_SEED, got 'x'" in ran.stderr


def test_unknown_arguments_are_noted_and_harmless() -> None:
    ran = run_engine(b"INFO 1.0\n", "--foo")
    assert ran.stdout == b"NAME Junqi\n"
    assert b"ignored arguments: --foo" in ran.stderr


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"junqi-engine {__version__}\n"
    assert main(["--help"]) == 0
    assert "Usage: junqi-engine" in capsys.readouterr().out
