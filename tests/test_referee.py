"""The referee: what players are told, clocks, ends, and faults that lose or do not."""

import shlex
import sys
from dataclasses import replace

import pytest

from junqi import referee
from junqi.layout import layout_problems
from junqi.pieces import BLACK, NOBODY, RED
from junqi.player import Answer, Fault, GameSettings, Player, PlayerFault, ViewPlayer
from junqi.players import make_player
from junqi.process_player import LAYOUT_VARIABLE, SEED_VARIABLE, ProcessPlayer
from junqi.protocol import End, Go, Result, Start, format_command
from junqi.record import format_ply, format_record, parse_record
from junqi.referee import GameBrokenOff, GameResult, play_game
from junqi.replay import check_record
from junqi.rules import Move, Outcome, Reason, Rules, parse_move

# A game in which both flags are told at once, and one of them is taken later.
RED_LAYOUT = "eiddhfbagchkkiigjefgjljhc"
BLACK_LAYOUT = "icdgakbdckgffehejhiijljhg"
PLIES = [
    *("G2F2=", "F0G0+", "I0H1", "G0G1+", "K2J3", "G1G3+", "H0E0-", "G3G4+"),
    *("H4G4=@A3@L1", "E0J0=", "K0E0", "F4K1+", "I4E4=", "K1L1+"),
]
MOVES = [ply[:4] for ply in PLIES]


class Scripted(Player):
    """Plays given moves, and remembers every line it was told."""

    def __init__(
        self, layout: str, moves: list[Move], seconds: float | list[float] = 0.25, name: str = "x"
    ) -> None:
        super().__init__()
        self.layout = layout
        self.moves = iter(moves)
        self.seconds = iter(seconds if isinstance(seconds, list) else [seconds] * 1000)
        self.lines: list[str] = []
        self.limits: list[float] = []
        self._name = name

    def name(self) -> str:
        return self._name

    def start(self, start: Start, rules: Rules) -> str:
        self.lines.append(format_command(start))
        return self.layout

    def move(self, go: Go, seconds: float) -> Answer:
        self.lines.append(format_command(go))
        self.limits.append(seconds)
        return Answer(next(self.moves), next(self.seconds))

    def told(self, result: Result) -> None:
        self.lines.append(format_command(result))

    def shown(self, go: Go) -> None:
        self.lines.append("last " + format_command(go))

    def end(self, end: End) -> None:
        self.lines.append(format_command(end))

    def close(self) -> None:
        pass

    def kill(self) -> None:
        pass


def scripted(
    moves: list[str] = MOVES, red_seconds: float | list[float] = 0.25, black_seconds: float = 0.5
) -> tuple[Scripted, Scripted]:
    """Two players that play moves given as red sees them."""
    played = [parse_move(move) for move in moves]
    black = [move.rotated() for move in played[1::2]]
    return (
        Scripted(RED_LAYOUT, played[::2], red_seconds, "North"),
        Scripted(BLACK_LAYOUT, black, black_seconds, "South"),
    )


def faults_of(result: GameResult, side: int) -> list[Fault]:
    return [note.fault for note in result.faults[side]]


# A game in order


def test_a_game_is_written_down_as_it_was_played() -> None:
    result = play_game(*scripted())
    record = result.record
    assert [format_ply(replace(ply, seconds=None)) for ply in record.plies] == PLIES
    assert result.outcome == record.outcome == Outcome(BLACK, Reason.FLAG)
    assert (record.red, record.black) == ("North", "South")
    assert (record.red_layout, record.black_layout) == (RED_LAYOUT, BLACK_LAYOUT)
    assert (record.red_clock, record.black_clock) == (7 * 0.25, 7 * 0.5)
    assert result.seconds == ((0.25,) * 7, (0.5,) * 7)
    assert result.faults == ((), ())
    check_record(record)
    assert parse_record(format_record(record)) == record


def test_each_player_is_told_its_own_coordinates_and_the_flags_ever_after() -> None:
    red, black = scripted()
    play_game(red, black, GameSettings(rules=Rules(time=600, steps=20)))
    assert red.lines == [
        "START 0 600 20",
        "GO 0000 0 00",
        "RESULT 2 00",
        "GO F0G0 1 00",
        "RESULT 3 00",
        "GO G0G1 1 00",
        "RESULT 3 00",
        "GO G1G3 1 00",
        "RESULT 0 00",
        "GO G3G4 1 00",
        "RESULT 2 A3",
        "GO E0J0 2 A3",
        "RESULT 3 A3",
        "GO F4K1 1 A3",
        "RESULT 2 A3",
        "END 0",
    ]
    # The board is turned for black; red's flag on L1 is A3 there, also when it is taken.
    assert black.lines == [
        "START 1 600 20",
        "GO F2G2 2 00",
        "RESULT 1 00",
        "GO D4E3 3 00",
        "RESULT 1 00",
        "GO B2C1 3 00",
        "RESULT 1 00",
        "GO E4H4 0 00",
        "RESULT 1 00",
        "GO E0F0 2 A3",
        "RESULT 2 A3",
        "GO B4H4 3 A3",
        "RESULT 1 A3",
        "GO D0H0 2 A3",
        "RESULT 1 A3",
        "END 1",
    ]


def test_what_is_sent_at_the_end_is_a_setting() -> None:
    red, black = scripted()
    play_game(
        red,
        black,
        GameSettings(sends_last_result=False, sends_last_go=True, sends_end=False),
    )
    assert red.lines[-1] == "last GO K1L1 1 A3"
    assert black.lines[-1] == "GO D0H0 2 A3"


def test_a_draw_is_told_as_no_proper_end(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Outcome(NOBODY, Reason.NO_MOVES)
    monkeypatch.setattr(
        referee, "outcome", lambda position, rules: drawn if position.to_move == BLACK else None
    )
    red, black = scripted()
    result = play_game(red, black)
    assert result.outcome == drawn
    assert red.lines[-1] == black.lines[-1] == "END 2"


@pytest.mark.parametrize(("loser", "winner"), [("mover", RED), ("next", BLACK)])
def test_the_steps_end_a_game(loser: str, winner: int) -> None:
    result = play_game(
        *scripted(["I0H1", "D4E3", "H1I0", "E3D4"]),
        GameSettings(rules=Rules(steps=4, steps_loser=loser)),
    )
    assert result.outcome == Outcome(winner, Reason.STEPS)
    check_record(result.record)


def test_games_of_built_in_players_are_played_by_the_rules() -> None:
    for seed in range(4):
        red, black = make_player("policy", seed), make_player("random", seed + 50)
        result = play_game(red, black)
        assert result.faults == ((), ())
        assert result.outcome.reason in (Reason.FLAG, Reason.NO_MOVES, Reason.STEPS)
        check_record(result.record)


def test_a_forced_layout_is_played() -> None:
    player = make_player("random", 1, layout=RED_LAYOUT)
    result = play_game(player, make_player("random", 2))
    assert result.record.red_layout == RED_LAYOUT


# Clocks


def test_the_time_that_is_left_is_told_and_kept() -> None:
    red, black = scripted(red_seconds=[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0])
    play_game(red, black, GameSettings(rules=Rules(time=10)))
    assert red.limits == [10, 9, 7, 4, 4, 4, 4]
    assert black.limits[:3] == [10, 9.5, 9]


def test_more_than_the_time_loses() -> None:
    red, black = scripted(red_seconds=[4.0, 6.0, 0.5, 0.0, 0.0, 0.0, 0.0])
    result = play_game(red, black, GameSettings(rules=Rules(time=10)))
    assert result.outcome == Outcome(BLACK, Reason.TIME)
    assert faults_of(result, RED) == [Fault.TIME]
    assert len(result.record.plies) == 4
    assert result.record.red_clock == 10.5
    assert red.lines[-1] == "END 0"
    check_record(result.record)


def test_the_time_itself_does_not_lose() -> None:
    red, black = scripted(red_seconds=[4.0, 6.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    result = play_game(red, black, GameSettings(rules=Rules(time=10)))
    assert result.outcome.reason == Reason.FLAG


def test_more_than_the_time_for_a_move_loses() -> None:
    red, black = scripted(red_seconds=[0.9, 1.1, 0.0, 0.0, 0.0, 0.0, 0.0])
    result = play_game(red, black, GameSettings(movetime=1.0))
    assert result.outcome == Outcome(BLACK, Reason.TIME)
    assert red.limits == [1.0, 1.0]
    assert "expected a move within 1.000 s, got it after 1.100 s" in result.faults[RED][0].text


def test_players_of_this_process_are_timed_by_their_clock() -> None:
    class Slow:
        def layout(self, is_first: bool, rules: Rules) -> str:
            return RED_LAYOUT

        def move(self, view: object, seconds_left: float) -> Move:
            clock[0] += 2.0
            return parse_move("I0H1")

    clock = [0.0]
    slow = ViewPlayer(Slow(), "slow", now=lambda: clock[0])
    result = play_game(slow, make_player("random", 1), GameSettings(rules=Rules(time=1)))
    assert result.outcome == Outcome(BLACK, Reason.TIME)
    assert result.seconds[RED] == (2.0,)


# Faults of players


@pytest.mark.parametrize(
    ("move", "text"),
    [
        ("H1G1", "H1G1: red has no piece on H1, it is empty"),
        ("F0G0", "F0G0: red has no piece on F0, black stands there"),
        ("L1K1", "L1K1: a piece in a headquarters never moves again"),
        ("G0G1", "G0G1: G1 holds a piece of the same side"),
        ("G0E0", "G0E0: no free road or rail leads there"),
    ],
)
def test_an_illegal_move_loses(move: str, text: str) -> None:
    result = play_game(*scripted([move]))
    assert result.outcome == Outcome(BLACK, Reason.ILLEGAL_MOVE)
    assert faults_of(result, RED) == [Fault.ILLEGAL_MOVE]
    assert text in result.faults[RED][0].text
    assert result.record.plies == ()
    check_record(result.record)


def test_an_illegal_move_of_black_is_blacks() -> None:
    result = play_game(*scripted(["G2F2", "L0K0"]))
    assert result.outcome == Outcome(RED, Reason.ILLEGAL_MOVE)
    assert result.faults[BLACK][0].ply == 1
    assert result.faults[RED] == ()


@pytest.mark.parametrize("side", [RED, BLACK])
@pytest.mark.parametrize("layout", ["", "abc", "lbccddeeffggghhhiiijjkkaj", RED_LAYOUT.upper()])
def test_an_illegal_layout_loses(side: int, layout: str) -> None:
    players = scripted()
    players[side].layout = layout
    result = play_game(*players)
    assert result.outcome == Outcome(1 - side, Reason.ILLEGAL_LAYOUT)
    assert faults_of(result, side) == [Fault.ILLEGAL_LAYOUT]
    check_record(result.record)
    assert parse_record(format_record(result.record)).outcome == result.outcome


def test_a_bug_of_a_player_in_this_process_is_a_crash() -> None:
    red, black = scripted(["G2F2", "F0G0"])  # then nothing more comes
    result = play_game(red, black)
    assert result.outcome == Outcome(BLACK, Reason.CRASH)
    assert faults_of(result, RED) == [Fault.CRASH]
    assert result.faults[RED][0].ply == 2
    check_record(result.record)


def test_a_stopped_game_has_no_result() -> None:
    calls = iter([False] * 5 + [True] * 100)
    with pytest.raises(GameBrokenOff):
        play_game(*scripted(), is_stopped=lambda: next(calls))


def test_faults_have_a_reason_or_are_harmless() -> None:
    for fault in Fault:
        assert fault.is_harmless == (fault.reason is None)
    assert len({fault.word for fault in Fault}) == len(Fault)


@pytest.mark.parametrize("settings", [{"greeting": "HELLO"}, {"movetime": 0.0}, {"patience": -1.0}])
def test_settings_that_cannot_be_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="expected"):
        GameSettings(**settings)  # type: ignore[arg-type]


# Programs

SAMPLE = "abccddeeffggghhhiiijjkklj"
ENGINE = """
import os, sys, time
def say(text, end="\\n"):
    os.write(1, (text + end).encode())
def name(): say("NAME tester")
def layout(): say("ARRAY abccddeeffggghhhiiijjkklj")
def move(ply): say("BESTMOVE G0F0")
{changes}
ply = 0
for line in sys.stdin:
    word = line.split()[0]
    if word.startswith("INF"): name()
    elif word == "START": layout()
    elif word == "GO":
        ply += 1
        move(ply)
"""


def program(changes: str = "") -> str:
    """A small engine that makes one move, and then an illegal one."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(ENGINE.format(changes=changes))}"


def play_program(changes: str = "", layout: str | None = None, **settings: object) -> GameResult:
    """A game of a program, red, against a built-in player."""
    options: dict[str, object] = {"patience": 20.0, **settings}
    game = GameSettings(**options)  # type: ignore[arg-type]
    engine = ProcessPlayer(program(changes), game, seed=7, layout=layout)
    try:
        return play_game(engine, make_player("random", 3), game)
    finally:
        engine.close()


def test_a_program_plays() -> None:
    result = play_program()
    assert result.record.red == "tester"
    assert result.record.red_layout == SAMPLE
    assert len(result.record.plies) == 2
    assert faults_of(result, RED) == [Fault.ILLEGAL_MOVE]
    check_record(result.record)


@pytest.mark.parametrize(
    ("changes", "fault", "reason"),
    [
        ("def move(ply): sys.exit(3)", Fault.CRASH, Reason.CRASH),
        ("def layout(): sys.exit(3)", Fault.CRASH, Reason.CRASH),
        ("def name(): sys.exit(3)", Fault.CRASH, Reason.CRASH),
        ("def move(ply): os.close(1); time.sleep(60)", Fault.CLOSED_OUTPUT, Reason.CRASH),
        ("def move(ply): say('BESTMOVE Z9')", Fault.GARBAGE_MOVE, Reason.ILLEGAL_MOVE),
        ("def move(ply): say('BESTMOVE')", Fault.GARBAGE_MOVE, Reason.ILLEGAL_MOVE),
        ("def layout(): say('ARRAY')", Fault.GARBAGE_LAYOUT, Reason.ILLEGAL_LAYOUT),
        ("def layout(): say('ARRAY abc')", Fault.ILLEGAL_LAYOUT, Reason.ILLEGAL_LAYOUT),
        ("def layout(): say('BESTMOVE G0F0')", Fault.OUT_OF_TURN, Reason.ILLEGAL_MOVE),
        (
            "def layout(): say('ARRAY abccddeeffggghhhiiijjkklj\\nBESTMOVE G0F0')",
            Fault.OUT_OF_TURN,
            Reason.ILLEGAL_MOVE,
        ),
        ("def move(ply):\n  while True: say('noise')", Fault.FLOOD, Reason.NO_ANSWER),
    ],
)
def test_a_fault_of_a_program_loses_with_its_reason(
    changes: str, fault: Fault, reason: Reason
) -> None:
    result = play_program(changes)
    assert faults_of(result, RED)[-1] == fault
    assert result.outcome == Outcome(BLACK, reason)
    assert result.faults[BLACK] == ()
    check_record(result.record)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ("def move(ply): pass", Fault.NO_ANSWER),
        ("def move(ply): say('BESTMOVE G0', end='')", Fault.NO_ANSWER),
        ("def move(ply): say('thinking')", Fault.GARBAGE_MOVE),
        ("def layout(): pass", Fault.NO_ANSWER),
        ("def layout(): say('abccddeeffggghhhiiijjkklj')", Fault.GARBAGE_LAYOUT),
    ],
)
def test_a_program_that_does_not_answer_loses(changes: str, fault: Fault) -> None:
    result = play_program(changes, patience=0.6, movetime=0.1)
    assert faults_of(result, RED)[-1] == fault
    assert result.outcome.winner == BLACK


def test_a_late_move_is_lost_by_time_not_by_silence() -> None:
    result = play_program("def move(ply): time.sleep(0.3); say('BESTMOVE G0F0')", movetime=0.1)
    assert faults_of(result, RED) == [Fault.TIME]
    assert result.seconds[RED][0] >= 0.3


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ("def move(ply): say('info: depth 3\\n\\nBESTMOVE G0F0')", Fault.OTHER_LINE),
        ("def move(ply): say('BESTMOVE G0F0', end='\\r\\n')", Fault.CARRIAGE_RETURN),
        ("def name(): say('tester')", Fault.NAME_WITHOUT_WORD),
        ("def name(): os.write(1, 'NAME 军棋\\n'.encode('gbk'))", Fault.NOT_UTF8),
        ("def name(): say('NAME')", Fault.NO_NAME),
        (
            "def name(): pass\ndef layout(): say('NAME x\\nARRAY abccddeeffggghhhiiijjkklj')",
            Fault.LATE_NAME,
        ),
    ],
)
def test_what_is_harmless_is_borne_and_noted(changes: str, fault: Fault) -> None:
    patience = 0.6 if fault in (Fault.NO_NAME, Fault.LATE_NAME) else 20.0
    result = play_program(changes, patience=patience)
    assert fault in faults_of(result, RED)
    assert len(result.record.plies) == 2, "the game went on to the second move"


def test_names_are_read_in_any_of_their_forms() -> None:
    assert play_program("def name(): say('My Engine')").record.red == "My Engine"
    chinese = "def name(): os.write(1, 'NAME 军棋\\n'.encode('gbk'))"
    assert play_program(chinese).record.red == "军棋"
    banner = play_program("def name(): say('version 3\\nNAME proper')")
    assert banner.record.red == "proper"
    assert Fault.OTHER_LINE in faults_of(banner, RED)


def test_the_greeting_is_a_setting() -> None:
    heard = "def name(): say('NAME ' + word)"
    assert play_program(heard).record.red == "INFO"
    assert play_program(heard, greeting="INFORMATION").record.red == "INFORMATION"


def test_seed_and_layout_are_in_the_environment_of_a_program() -> None:
    told = f"def name(): say('NAME ' + os.environ['{SEED_VARIABLE}'])"
    assert play_program(told).record.red == "7"
    takes = f"def layout(): say('ARRAY ' + os.environ['{LAYOUT_VARIABLE}'])"
    result = play_program(takes, layout=RED_LAYOUT)
    assert result.record.red_layout == RED_LAYOUT
    assert Fault.LAYOUT_NOT_TAKEN not in faults_of(result, RED)
    assert Fault.LAYOUT_NOT_TAKEN in faults_of(play_program("", layout=RED_LAYOUT), RED)


def test_a_command_that_starts_nothing_loses() -> None:
    result = play_game(make_player("no-such-program", 1), make_player("random", 1))
    assert faults_of(result, RED) == [Fault.CANNOT_START]
    assert result.outcome == Outcome(BLACK, Reason.CRASH)
    assert result.record.red == "no-such-program"


def test_several_games_in_one_process() -> None:
    settings = GameSettings(sends_last_go=True)
    engine = ProcessPlayer(program(), settings, seed=1)
    try:
        for _ in range(3):
            result = play_game(engine, make_player("random", 3), settings)
            assert len(result.record.plies) == 2
    finally:
        engine.close()
    told = [line.text for line in engine.transcript if line.is_sent]
    assert [line.split()[0] for line in told].count("INFO") == 1
    assert [line.split()[0] for line in told].count("START") == 3


def test_a_fault_says_what_was_expected_and_what_came() -> None:
    result = play_program("def move(ply): say('BESTMOVE Z9')")
    assert result.faults[RED][-1].text == "expected a move like G0F0, got 'Z9' in 'BESTMOVE Z9'"
    with pytest.raises(PlayerFault, match="expected the command line"):
        make_player("no-such-program", 1).name()


def test_the_sample_layout_is_legal() -> None:
    assert not layout_problems(SAMPLE)
