from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from junqi.board import parse_point
from junqi.errors import ProtocolError
from junqi.pieces import ATTACKER_WINS, BOTH_REMOVED, DEFENDER_WINS, NO_CONTACT
from junqi.protocol import (
    ABNORMAL,
    LOST,
    WON,
    Array,
    BestMove,
    Command,
    End,
    Go,
    Info,
    Name,
    Reply,
    Result,
    Start,
    decode_line,
    format_command,
    format_reply,
    parse_command,
    parse_reply,
    salvage_command,
)
from junqi.rules import Move, parse_move

SAMPLE = "abccddeeffggghhhiiijjkklj"
A1, A3 = parse_point("A1"), parse_point("A3")

# The example of protocol 1.0, and its other examples.
REFEREE_LINES: list[tuple[str, Command]] = [
    ("INFO 1.0", Info("1.0")),
    ("START 1 1800 31", Start(False, 1800, 31)),
    ("START 0 1800 31", Start(True, 1800, 31)),
    ("GO 0000 0 00", Go(None)),
    ("GO F4G4 1 00", Go(parse_move("F4G4"), ATTACKER_WINS, None)),
    ("GO F0G0 0 00", Go(parse_move("F0G0"), DEFENDER_WINS, None)),
    ("GO F4G4 2 A3", Go(parse_move("F4G4"), BOTH_REMOVED, A3)),
    ("GO F3F4 3 A3", Go(parse_move("F3F4"), NO_CONTACT, A3)),
    ("RESULT 0 00", Result(DEFENDER_WINS, None)),
    ("RESULT 1 A1", Result(ATTACKER_WINS, A1)),
    ("RESULT 2 A1", Result(BOTH_REMOVED, A1)),
    ("RESULT 3 A1", Result(NO_CONTACT, A1)),
    ("END 0", End(LOST)),
    ("END 1", End(WON)),
    ("END 2", End(ABNORMAL)),
]
PLAYER_LINES: list[tuple[str, Reply]] = [
    ("NAME HarbinUniversityOfScienceAndTechnology", Name("HarbinUniversityOfScienceAndTechnology")),
    ("NAME 参赛选手姓名", Name("参赛选手姓名")),
    (f"ARRAY {SAMPLE}", Array(SAMPLE)),
    ("BESTMOVE G0F0", BestMove(parse_move("G0F0"))),
]


@pytest.mark.parametrize(("line", "command"), REFEREE_LINES)
def test_the_referees_lines_are_read_and_written(line: str, command: Command) -> None:
    assert parse_command(line) == command
    assert format_command(command) == line


@pytest.mark.parametrize(("line", "reply"), PLAYER_LINES)
def test_the_players_lines_are_read_and_written(line: str, reply: Reply) -> None:
    assert parse_reply(line) == reply
    assert format_reply(reply) == line


moves = st.builds(Move, st.integers(0, 59), st.integers(0, 59))
flags = st.none() | st.integers(0, 59)
results = st.integers(0, 3)
commands = st.one_of(
    st.builds(Start, st.booleans(), st.integers(1, 10**6).map(float), st.integers(1, 10**6)),
    st.builds(Go, moves, results, flags),
    st.builds(Go, st.none(), st.just(NO_CONTACT), flags),
    st.builds(Result, results, flags),
    st.builds(End, st.integers(0, 2)),
)


@given(commands)
def test_any_command_round_trips(command: Command) -> None:
    assert parse_command(format_command(command)) == command


@given(moves)
def test_any_move_round_trips(move: Move) -> None:
    assert parse_reply(format_reply(BestMove(move))) == BestMove(move)


# What real platforms do


def test_commands_are_told_apart_by_their_first_letter() -> None:
    assert parse_command("INFORMATION 1.0") == Info("1.0")
    assert parse_command("info") == Info("1.0")
    assert parse_command("Result 3 00") == Result(NO_CONTACT)


@pytest.mark.parametrize(
    "line",
    [
        "RESULT 2 A1\n",
        "RESULT 2 A1\r\n",
        "RESULT\t2\tA1",
        "  RESULT   2  \t A1  ",
        "RESULT 2 a1",
        "\ufeffRESULT 2 A1",
        "RESULT 2 A1 and more",
    ],
)
def test_white_space_and_case_do_not_matter(line: str) -> None:
    assert parse_command(line) == Result(BOTH_REMOVED, A1)
    assert parse_command(line.encode()) == Result(BOTH_REMOVED, A1)


@pytest.mark.parametrize("line", ["", "\n", "\r\n", "  \t ", "\0"])
def test_blank_lines_say_nothing(line: str) -> None:
    assert parse_command(line) is None
    assert parse_reply(line) is None


def test_moves_may_come_in_small_letters() -> None:
    assert parse_command("go f4g4 3 00") == Go(parse_move("F4G4"), NO_CONTACT)
    assert parse_reply("bestmove g0f0") == BestMove(parse_move("G0F0"))


@pytest.mark.parametrize(
    ("line", "start"),
    [
        ("START 0 1 1", Start(True, 1, 1)),
        ("START 0 0600 08", Start(True, 600, 8)),
        ("START 1 99999 100", Start(False, 99999, 100)),
        ("START 1 0.5 31", Start(False, 0.5, 31)),
        ("START 1", Start(False, 1800, 31)),
    ],
)
def test_any_positive_numbers_are_taken_from_start(line: str, start: Start) -> None:
    assert parse_command(line) == start


def test_a_missing_flag_is_an_unknown_flag() -> None:
    assert parse_command("GO F4G4 3") == Go(parse_move("F4G4"), NO_CONTACT)
    assert parse_command("RESULT 3") == Result(NO_CONTACT)
    assert parse_command("GO 0000") == Go(None)
    assert parse_command("END") == End(ABNORMAL)


@pytest.mark.parametrize("encoding", ["utf-8", "gbk"])
def test_names_come_in_utf_8_or_gbk(encoding: str) -> None:
    assert parse_reply("NAME 军棋队\r\n".encode(encoding)) == Name("军棋队")


def test_bytes_of_no_encoding_are_still_a_line() -> None:
    assert decode_line(b"\xff\xff\xff") == "\ufffd\ufffd\ufffd"


def test_a_name_may_have_spaces_but_no_line_ends() -> None:
    assert parse_reply("NAME  two  words ") == Name("two  words")
    assert format_reply(Name("two\nlines")) == "NAME two lines"
    assert parse_reply("NAME") == Name("")


def test_a_layout_is_not_judged_here() -> None:
    assert parse_reply("ARRAY abc") == Array("abc")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("HELLO", "expected INFO, START, GO, RESULT or END, got 'HELLO'"),
        ("NAME x", "expected INFO, START, GO, RESULT or END, got 'NAME x'"),
        ("START", "expected START first time steps, got 'START'"),
        ("START 2 1800 31", "expected a START with first 0, 1, got '2' in 'START 2 1800 31'"),
        ("START 0 -5 31", "expected a positive number for time, got '-5'"),
        ("START 0 nan 31", "expected a positive number for time, got 'nan'"),
        ("START 0 inf 31", "expected a positive number for time, got 'inf'"),
        ("START 0 1800 0", "expected a positive number for steps, got '0'"),
        ("START 0 1800 x", "expected a positive number for steps, got 'x'"),
        ("GO", "expected GO move result flag, got 'GO'"),
        ("GO F4G4", "expected GO move result flag, got 'GO F4G4'"),
        ("GO F4G5 3 00", "expected a move like G0F0, got 'F4G5'"),
        ("GO F4G4 4 00", "expected a result of 0, 1, 2, 3, got '4'"),
        ("GO F4G4 3 A9", "expected a flag's place like A1, or 00, got 'A9'"),
        ("RESULT", "expected RESULT result flag, got 'RESULT'"),
        ("RESULT x 00", "expected a result of 0, 1, 2, 3, got 'x'"),
        ("END 7", "expected an END of 0, 1, 2, got '7'"),
        ("ERROR: bad move", "expected an END of 0, 1, 2, got 'bad'"),
        ("Error", "expected INFO, START, GO, RESULT or END, got 'Error'"),
        ("Illegal move", "expected INFO, START, GO, RESULT or END, got 'Illegal move'"),
    ],
)
def test_what_the_referee_cannot_say_is_quoted(line: str, message: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        parse_command(line)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("GO", "expected NAME, ARRAY or BESTMOVE, got 'GO'"),
        ("ARRAY", "expected ARRAY layout, got 'ARRAY'"),
        ("BESTMOVE", "expected BESTMOVE move, got 'BESTMOVE'"),
        ("BESTMOVE G0", "expected a move like G0F0, got 'G0'"),
        ("BESTMOVE G0 F0", "expected a move like G0F0, got 'G0'"),
    ],
)
def test_what_the_player_cannot_say_is_quoted(line: str, message: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        parse_reply(line)
    assert message in str(caught.value)


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_line_is_a_command_or_an_error_of_ours(line: bytes | str) -> None:
    for parse in (parse_command, parse_reply):
        with suppress(ProtocolError):
            parse(line)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("START 1 0 31", Start(False, 1800, 31)),
        ("START 0 1200s 25", Start(True, 1800, 25)),
        ("START 1 1000 many", Start(False, 1000, 31)),
        ("start 0", Start(True, 1800, 31)),
        ("START x 1800 31", None),
        ("START", None),
        ("GO F4G4 3 A9", Go(Move(29, 34), NO_CONTACT)),
        ("GO F4G4 1 ??", Go(Move(29, 34), 1)),
        ("GO F4G4", Go(Move(29, 34), NO_CONTACT)),
        ("GO F4G4 x", Go(Move(29, 34), NO_CONTACT)),
        ("RESULT 2 A9", Result(2)),
        ("RESULT x", None),
        ("GO F4G9 3 00", None),
        ("GO", None),
        ("END 7", None),
        ("Starting soon", None),
        ("Good luck", None),
        ("", None),
    ],
)
def test_what_a_damaged_line_still_tells(line: str, command: Command | None) -> None:
    assert salvage_command(line) == command


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_line_can_be_looked_through(line: bytes | str) -> None:
    salvage_command(line)
