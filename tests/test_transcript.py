"""Logs of the protocol become records: one player's or a platform's, tidy or not."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from junqi.board import parse_point, seen_from
from junqi.layout import format_layout, random_layouts
from junqi.pieces import ATTACKER_WINS, BLACK, FLAG, NO_CONTACT, NOBODY, RED, Side, other
from junqi.protocol import ABNORMAL, LOST, WON, BestMove, End, Go, Result, Start, format_command
from junqi.record import Ply, Record
from junqi.replay import check_record, record_game
from junqi.rules import (
    Move,
    Outcome,
    Position,
    Reason,
    Rules,
    contact_of,
    format_move,
    parse_move,
)
from junqi.transcript import Imported, find_messages, import_games
from junqi.transcript_game import NOT_TOLD

Line = tuple[Side, str]


def a_game(seed: int, steps: int = 31) -> Record:
    rng = Random(seed)
    red, black = (format_layout(layout) for layout in random_layouts(2, seed))
    record = record_game(red, black, lambda _, moves: rng.choice(moves), Rules(steps=steps))
    return replace(record, red="北方", black="South")


def platform(record: Record, names: bool = True) -> list[Line]:
    """What a platform says and hears: each line with the player it is to or from."""
    lines: list[Line] = []
    sides = (RED, BLACK)
    if names:
        lines += [
            (s, text)
            for s in sides
            for text in ("INFO 1.0", f"NAME {(record.red, record.black)[s]}")
        ]
    for side in sides:
        start = Start(side == RED, record.rules.time, record.rules.steps)
        lines += [(side, format_command(start)), (side, f"ARRAY {record.layout_of(side)}")]
    flags: dict[Side, int] = {}
    go = Go()
    for number, ply in enumerate(record.plies):
        mover, waiting = (RED, BLACK) if number % 2 == 0 else (BLACK, RED)
        for flag in ply.flags:
            flags[BLACK if flag < 30 else RED] = flag
        told = {
            side: seen_from(flags[other(side)], side) if other(side) in flags else None
            for side in sides
        }
        move = ply.move if mover == RED else ply.move.rotated()
        lines.append((mover, format_command(go)))
        lines.append((mover, f"BESTMOVE {format_move(move)}"))
        lines.append((mover, format_command(Result(ply.result, told[mover]))))
        go = Go(move.rotated(), ply.result, told[waiting])
    assert record.outcome is not None
    for side in sides:
        lines.append((side, format_command(End(end_of(record.outcome, side)))))
    return lines


def end_of(outcome: Outcome, side: Side) -> int:
    """A draw has no number of its own."""
    return ABNORMAL if outcome.winner == NOBODY else WON if outcome.winner == side else LOST


def of_player(lines: list[Line], side: Side) -> list[str]:
    return [text for who, text in lines if who == side]


def only(lines: list[str] | list[bytes]) -> Imported:
    (game,) = import_games(lines)
    return game


def seen_by(record: Record, side: Side) -> Record:
    """The record as one player would have it."""
    hidden = {"black_layout": None, "black": ""} if side == RED else {"red_layout": None, "red": ""}
    return replace(record, **hidden)


GAME = a_game(3)
LONG = a_game(4)
DRAWN = a_game(716, steps=40)


@settings(max_examples=12)
@given(st.integers(0, 10_000))
def test_a_platforms_log_gives_the_record_back(seed: int) -> None:
    record = a_game(seed, steps=40)
    lines = platform(record)
    assert only([text for _, text in lines]) == Imported(5, record)
    labelled = [f"{('red', 'black')[side]}> {text}" for side, text in lines]
    assert only(labelled).record == record


@settings(max_examples=12)
@given(st.integers(0, 10_000), st.sampled_from([RED, BLACK]))
def test_a_players_log_gives_what_that_player_knows(seed: int, side: Side) -> None:
    record = a_game(seed)
    found = only(of_player(platform(record), side))
    check_record(found.record)
    assert not found.notes
    assert found.record.layout_of(side) == record.layout_of(side)
    assert found.record.layout_of(other(side)) is None
    # The move that took the flag, or left black without moves, is red's: black is not told of it.
    told = record.plies[: len(found.record.plies)]
    assert [(p.move, p.result) for p in found.record.plies] == [(p.move, p.result) for p in told]
    assert len(told) >= len(record.plies) - 1
    if record.outcome != Outcome(NOBODY, Reason.NO_MOVES):
        # That the enemy has no move left either is nothing that a player can know.
        assert found.record.result == record.result


def test_a_drawn_game_is_drawn_in_its_log_too() -> None:
    assert DRAWN.outcome is not None
    assert DRAWN.outcome.winner == NOBODY
    assert only([text for _, text in platform(DRAWN)]) == Imported(5, DRAWN)


PREFIXES: dict[str, Callable[[int, Line], str]] = {
    "arrows": lambda n, line: f"{'<' if line[1][0] in 'NAB' else '>'} {line[1]}",
    "words": lambda n, line: f"{'sent' if line[1][0] in 'NAB' else 'recv'}: {line[1]}",
    "times": lambda n, line: f"[2024-05-01 12:00:{n % 60:02}.250] {line[1]}",
    "levels": lambda n, line: f"12:00:01,5 [INFO] protocol: {line[1]}",
    "ends": lambda n, line: f"{line[1]}\r\n",
    "remarks": lambda n, line: f"{line[1]}\t\t裁判告知选手",
    "spaces": lambda n, line: line[1].replace(" ", "\t ", 1) + "  ",
    "quotes": lambda n, line: f"got {line[1] + chr(10)!r}",
    "twice": lambda n, line: f"{line[1]}\n\n{line[1]}" if line[1][0] in "IGR" else line[1],
    "noise": lambda n, line: f"thinking about the END of the game, GO on\n{line[1]}\nstart 5",
}


@pytest.mark.parametrize("name", PREFIXES)
@pytest.mark.parametrize("side", [RED, BLACK])
def test_what_stands_around_the_commands_is_borne(name: str, side: Side) -> None:
    lines = platform(GAME)
    texts = [PREFIXES[name](n, line) for n, line in enumerate(lines) if line[0] == side]
    plain = only(of_player(lines, side)).record
    found = only("\n".join(texts).split("\n")).record
    assert [(p.move, p.result) for p in found.plies] == [(p.move, p.result) for p in plain.plies]
    assert (found.outcome, found.red, found.black) == (plain.outcome, plain.red, plain.black)


@pytest.mark.parametrize("encoding", ["utf-8", "gbk", "utf-8-sig"])
def test_utf8_and_gbk_are_read(encoding: str) -> None:
    lines = [text.encode(encoding) for text in of_player(platform(GAME), RED)]
    assert only(lines).record.red == "北方"


@pytest.mark.parametrize("players", [("north", "south"), ("红方", "黑方"), ("P1", "P2")])
def test_words_before_the_lines_tell_two_players_apart(players: tuple[str, str]) -> None:
    # Both are sent START before either answers, and END comes to black first.
    lines = platform(GAME)
    starts = [line for line in lines if line[1].startswith("START")]
    arrays = [line for line in lines if line[1].startswith("ARRAY")]
    rest = [line for line in lines if line[1][:5] not in ("START", "ARRAY")]
    mixed = rest[:4] + starts[::-1] + arrays + rest[4:-2] + rest[:-3:-1]
    assert only([f"[{players[side]}] {text}" for side, text in mixed]).record == GAME


def test_several_games_in_one_log() -> None:
    games = [a_game(seed) for seed in (5, 6, 7)]
    lines = platform(games[0]) + platform(games[1], names=False) + platform(games[2], names=False)
    assert [found.record for found in import_games([text for _, text in lines])] == games
    one = [
        text
        for n, game in enumerate(games)
        for text in of_player(platform(game, names=n == 0), (RED, BLACK, RED)[n])
    ]
    found = [game.record for game in import_games(one)]
    assert [record.red_layout is None for record in found] == [False, True, False]
    assert [record.result for record in found] == [game.result for game in games]
    assert [record.red or record.black for record in found] == ["北方"] * 3


def test_games_follow_each_other_without_end() -> None:
    lines = [text for text in of_player(platform(LONG), RED) if not text.startswith("END")]
    first, second = import_games(lines[:-3] + lines)
    assert first.record.outcome is None
    assert second.record.plies[-1] == LONG.plies[len(second.record.plies) - 1]


@pytest.mark.parametrize("side", [RED, BLACK])
def test_a_log_cut_anywhere_is_a_record_without_an_end(side: Side) -> None:
    lines = of_player(platform(LONG), side)
    for cut in range(4, len(lines) - 4, 7):
        record = only(lines[:cut]).record
        check_record(record)
        assert record.outcome is None
        assert record.result == "*"


def test_a_cut_log_of_a_platform_ends_as_the_position_says() -> None:
    lines = [text for _, text in platform(LONG)]
    ends = sum(text.startswith("END") for text in lines)
    assert only(lines[:-ends]).record == LONG
    without_result = only(lines[: -ends - 1]).record
    assert without_result.outcome == LONG.outcome
    assert without_result.plies[-1].comment == NOT_TOLD


def opening(*lines: str, is_first: bool = True) -> list[str]:
    layout = "abccddeeffggghhhiiijjkklj"
    return [f"START {0 if is_first else 1} 1800 31", f"ARRAY {layout}", *lines]


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        (["GO 0000 0 00", "BESTMOVE G0G1", "END 0"], Outcome(BLACK, Reason.ILLEGAL_MOVE)),
        (["GO 0000 0 00", "BESTMOVE resign"], Outcome(BLACK, Reason.ILLEGAL_MOVE)),
        (["GO 0000 0 00", "END 0"], Outcome(BLACK, Reason.UNKNOWN)),
        (["GO 0000 0 00", "BESTMOVE G0F0", "END 0"], Outcome(BLACK, Reason.UNKNOWN)),
        (["GO 0000 0 00", "BESTMOVE H0H1", "RESULT 3 00", "END 1"], Outcome(RED, Reason.UNKNOWN)),
        (["GO 0000 0 00", "BESTMOVE H0H1", "RESULT 3 00", "END 2"], None),
        (["END 2"], None),
    ],
)
def test_the_end_is_what_was_told_and_what_can_be_known(
    lines: list[str], outcome: Outcome | None
) -> None:
    record = only(opening(*lines)).record
    check_record(record)
    assert record.outcome == outcome


def test_an_illegal_layout_loses() -> None:
    record = only(["START 1 900 20", "ARRAY aaaaa", "END 0"]).record
    check_record(record)
    assert record.outcome == Outcome(RED, Reason.ILLEGAL_LAYOUT)
    assert record.rules == Rules(steps=20, time=900)


def test_times_before_the_lines_become_seconds() -> None:
    record = only(
        opening(
            "23:59:59.5 < GO 0000 0 00",
            "00:00:01.75 > BESTMOVE H0H1",
            "00:00:01.80 < RESULT 3 00",
            "00:00:09.00 < GO E0E1 3 00",
            "00:00:10.00 > BESTMOVE H1H0",
            "00:00:10.00 < RESULT 3 00",
        )
    ).record
    assert [ply.seconds for ply in record.plies] == [2.25, None, 1.0]
    assert (record.red_clock, record.black_clock) == (3.25, None)


def test_a_flag_taken_over_the_protocol_without_a_result() -> None:
    """The last RESULT may be missing: a move into a headquarters that won took the flag."""

    def choose(position: Position, moves: list[Move]) -> Move:
        takes = [move for move in moves if position.pieces[move.target] == FLAG]
        return max(takes or moves, key=lambda move: (rank(position, move), format_move(move)))

    def rank(position: Position, move: Move) -> int:
        return contact_of(position, move) == ATTACKER_WINS and position.to_move == RED

    red, black = (format_layout(layout) for layout in random_layouts(2, 1))
    record = record_game(red, black, choose)
    assert record.outcome == Outcome(RED, Reason.FLAG)
    lines = of_player(platform(record), RED)
    assert lines[-2].startswith("RESULT")
    found = only(lines[:-2] + lines[-1:]).record
    assert found.outcome == record.outcome
    assert found.plies[-1] == replace(record.plies[-1], comment=NOT_TOLD, flags=())


def test_a_missing_result_cuts_the_record_unless_the_point_was_empty() -> None:
    begin = ["GO 0000 0 00", "BESTMOVE H0H1", "GO E0E1 3 00", "BESTMOVE G0F0"]
    found = only(opening(*begin, "RESULT 1 00"))
    assert [ply.result for ply in found.record.plies] == [3, 3, 1]
    found = only(opening(*begin, "GO E1E0 3 00", "BESTMOVE H1H0", "RESULT 3 00", "END 0"))
    assert len(found.record.plies) == 2
    assert found.record.outcome == Outcome(BLACK, Reason.UNKNOWN)
    assert "no RESULT for G0F0 is told" in found.notes[0]
    check_record(found.record)


def test_a_game_that_broke_rules_is_kept_and_noted() -> None:
    found = only(opening("GO 0000 0 00", "BESTMOVE G0A0", "RESULT 1 00", "END 1"))
    assert found.record.plies == (Ply(parse_move("G0A0"), 1),)
    assert "not by the rules: ply 1" in found.notes[0]


def test_who_is_asked_to_begin_is_red_whatever_start_said() -> None:
    found = only(opening("GO 0000 0 00", "BESTMOVE H0H1", "RESULT 3 00", is_first=False))
    assert found.record.red_layout is not None
    assert found.record.black_layout is None
    assert found.record.plies == (Ply(parse_move("H0H1"), NO_CONTACT),)


def test_two_games_of_one_player_are_not_two_players_of_one_game() -> None:
    lines = opening() + of_player(platform(GAME), BLACK)[2:]
    first, second = import_games(lines)
    assert first.record.red_layout is not None
    assert first.record.plies == ()
    assert second.record.black_layout == GAME.black_layout
    lines = opening(is_first=False) + of_player(platform(LONG), RED)[2:]
    first, second = import_games(lines)
    assert first.record.black_layout is not None
    assert second.record.red_layout == LONG.red_layout
    assert len(second.record.plies) >= len(LONG.plies) - 1


def test_a_log_without_games_gives_none() -> None:
    assert not list(import_games([]))
    assert not list(import_games(["INFO 1.0", "NAME x", "GO 0000 0 00", "nothing", "END 2"]))
    assert not list(import_games(["START 0 1800 31"]))


def test_messages_are_told_from_other_text() -> None:
    assert not list(find_messages(["INFO: loading", "GO on", "the END.", "RESULT 1-0", "start"]))
    (message,) = find_messages(["x BESTMOVE g0f0"])
    assert message.content == BestMove(parse_move("G0F0"))
    (message,) = find_messages(["GO F4G4 2 A3"])
    assert message.content == Go(parse_move("F4G4"), 2, parse_point("A3"))
