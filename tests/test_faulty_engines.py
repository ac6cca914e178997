"""Engines with a planted fault: the referee blames the right one for the right reason, and
`junqi compliance` finds each, but nothing wrong with an honest one.

Most of the time here is spent waiting for engines that hang, so many are tried at once.
"""

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest

from junqi.compliance import Checked, Settings
from junqi.compliance_checks import CHECKS, run_checks
from junqi.match import MatchSettings, play_match
from junqi.pieces import BLACK, RED, Side, other
from junqi.player import Fault, GameSettings, ViewPlayer
from junqi.process_player import ProcessPlayer
from junqi.random_player import RandomPlayer
from junqi.record import Record
from junqi.referee import GameResult, play_game
from junqi.replay import check_record
from junqi.rules import Reason, Rules
from junqi.transcript import import_games

ENGINES = Path(__file__).parent / "engines"
T = TypeVar("T")

# What the referee finds, and what it says about it; None for what is borne or never comes up.
FAULTS: dict[str, tuple[Fault | None, str]] = {
    "enemy-piece": (Fault.ILLEGAL_MOVE, "has no piece on"),
    "empty-point": (Fault.ILLEGAL_MOVE, "it is empty"),
    "blocked": (Fault.ILLEGAL_MOVE, "no free road or rail leads there"),
    "own-piece": (Fault.ILLEGAL_MOVE, "holds a piece of the same side"),
    "camp-attack": (Fault.ILLEGAL_MOVE, "a piece in a camp cannot be attacked"),
    "mine-moves": (Fault.ILLEGAL_MOVE, "a mine (j) never moves"),
    "headquarters-move": (Fault.ILLEGAL_MOVE, "in a headquarters never moves"),
    "off-board": (Fault.GARBAGE_MOVE, "M0N0"),
    "no-move": (Fault.GARBAGE_MOVE, "BESTMOVE"),
    "garbage": (Fault.GARBAGE_MOVE, "I think I will resign"),
    "not-text": (Fault.GARBAGE_MOVE, "BESTMOVE after"),
    "wrong-counts": (Fault.ILLEGAL_LAYOUT, "2 x marshal"),
    "flag-outside": (Fault.ILLEGAL_LAYOUT, "must stand in a headquarters"),
    "mine-in-front": (Fault.ILLEGAL_LAYOUT, "must stand in the last two rows"),
    "bomb-in-front": (Fault.ILLEGAL_LAYOUT, "must not stand in the front row"),
    "short-layout": (Fault.ILLEGAL_LAYOUT, "expected 25 letters, got 24"),
    "capital-layout": (Fault.ILLEGAL_LAYOUT, "expected small letters"),
    "no-layout": (Fault.GARBAGE_LAYOUT, "ARRAY"),
    "crash-at-start": (Fault.CRASH, "exit code 3"),
    "crash-at-move": (Fault.CRASH, "exit code 3"),
    "hang": (Fault.NO_ANSWER, "got nothing"),
    "slow": (Fault.TIME, "expected a move within"),
    "flood": (Fault.FLOOD, "info depth 1"),
    "flood-without-lines": (Fault.NO_ANSWER, "half a line"),
    "half-line": (Fault.NO_ANSWER, "half a line: 'BESTMOVE"),
    "closed-output": (Fault.CLOSED_OUTPUT, "closed its output"),
    "out-of-turn": (Fault.OUT_OF_TURN, "BESTMOVE"),
    "hang-at-info": (Fault.NO_ANSWER, "ARRAY after"),
    "small-letters": (None, ""),
    "talkative": (None, "thinking..."),
    "name-without-word": (None, "Honest"),
    "answers-twice": (None, ""),
    "ignores-eof": (None, ""),
    "one-game-only": (None, ""),
    "ends-at-end": (None, ""),
    "needs-info": (None, ""),
    "needs-line-feed": (None, ""),
    "one-space": (None, ""),
    "dies-of-blank-lines": (None, ""),
    "dies-of-other-letters": (None, ""),
    "usual-settings": (None, ""),
    "needs-folder": (None, ""),
}

# The check that finds each; where none is named, a whole game does.
FOUND_BY = {
    **dict.fromkeys(
        [name for name, (fault, _) in FAULTS.items() if fault and "LAYOUT" in fault.name],
        "layouts",
    ),
    "crash-at-start": "layouts",
    "hang-at-info": "greeting",
    "name-without-word": "greeting",
    "out-of-turn": "unasked",
    "answers-twice": "repeated-lines",
    "ignores-eof": "input-ends-after-end",
    "one-game-only": "start-without-end",
    "ends-at-end": "end-in-the-middle",
    "needs-info": "information",
    "needs-line-feed": "carriage-returns",
    "one-space": "tabs-and-spaces",
    "dies-of-blank-lines": "blank-lines",
    "dies-of-other-letters": "strange-lines",
    "usual-settings": "times-and-steps",
    "needs-folder": "other-folder",
}

# The patience covers the start of a program on a busy machine.
GAME = GameSettings(Rules(time=60.0), patience=4.0)
# For those that hang, or think too long.
SHORT_GAME = GameSettings(Rules(time=2.0, steps=100), patience=4.0)


def command(*words: str) -> str:
    return shlex.join([sys.executable, "-S", *words])


def faulty(name: str) -> str:
    return command(str(ENGINES / "faulty.py"), name)


HONEST = command(str(ENGINES / "honest.py"))


def at_once(function: Callable[[str], T], names: Iterable[str]) -> dict[str, T]:
    names = list(names)
    with ThreadPoolExecutor(12) as pool:
        return dict(zip(names, pool.map(function, names), strict=True))


def running_engines() -> list[str]:
    """The engines among the children of this process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[:2]
            line = (folder / "cmdline").read_text()
        except OSError:
            continue  # it has ended meanwhile
        if int(parent) == os.getpid() and state != "Z" and str(ENGINES) in line:
            found.append(line)
    return found


def seat_of(name: str) -> Side:
    return list(FAULTS).index(name) % 2


def play_against_random(name: str) -> GameResult:
    settings = SHORT_GAME if FAULTS[name][0] else GAME
    engine = ProcessPlayer(faulty(name), settings, seed=1)
    players = [engine, ViewPlayer(RandomPlayer(1), "random")]
    if seat_of(name) == BLACK:
        players.reverse()
    try:
        return play_game(*players, settings)
    finally:
        engine.close()


def test_every_faulty_engine_is_in_the_tables() -> None:
    sys.path.insert(0, str(ENGINES))
    try:
        import faulty as module
    finally:
        sys.path.remove(str(ENGINES))
    assert set(module.ENGINES) == set(FAULTS)
    assert set(FOUND_BY) <= set(FAULTS)
    assert set(FOUND_BY.values()) <= set(CHECKS)


def test_the_referee_blames_the_right_engine_for_the_right_reason() -> None:
    results = at_once(play_against_random, FAULTS)
    for name, (fault, text) in FAULTS.items():
        result, seat = results[name], seat_of(name)
        assert not result.faults[other(seat)], name
        losing = [note for note in result.faults[seat] if not note.fault.is_harmless]
        assert [note.fault for note in losing] == ([fault] if fault else []), (name, losing)
        if text:
            assert any(text in note.text for note in result.faults[seat]), (name, result.faults)
        if fault is not None:
            assert result.outcome.winner == other(seat), name
            assert result.outcome.reason == fault.reason, name
        check_record(result.record)  # whatever happened, the game can be read and counts
        assert result.record.outcome == result.outcome
    assert not running_engines()


def test_the_talk_with_a_program_becomes_the_record_of_its_game() -> None:
    for seat in (RED, BLACK):
        engine = ProcessPlayer(HONEST, GAME, seed=1)
        players = [engine, ViewPlayer(RandomPlayer(1), "random")]
        try:
            result = play_game(*(players if seat == RED else players[::-1]), GAME)
            (found,) = import_games(str(line) for line in engine.transcript)
        finally:
            engine.close()
        assert not found.notes
        check_record(found.record)
        told = [(ply.move, ply.result) for ply in found.record.plies]
        plies = [(ply.move, ply.result) for ply in result.record.plies]
        assert told == plies[: len(told)]
        assert len(told) >= len(plies) - 1  # the enemy's last move is not told
        assert found.record.result == result.record.result
        assert found.record.layout_of(seat) == result.record.layout_of(seat)


def test_a_match_goes_on_after_faults() -> None:
    for name, reason in (("crash-at-move", Reason.CRASH), ("wrong-counts", Reason.ILLEGAL_LAYOUT)):
        records: list[Record] = []
        settings = MatchSettings(faulty(name), HONEST, games=4, seed=1, game=GAME)
        tally = play_match(
            settings,
            concurrency=2,
            told=lambda _, record, records=records: records.append(record) if record else None,
        )
        assert tally.games == len(records) == 4
        assert [record.outcome.reason for record in records if record.outcome] == [reason] * 4
        winners = [record.outcome.winner for record in records if record.outcome]
        assert winners == [BLACK, RED, BLACK, RED]
    assert not running_engines()


# Compliance


def check(engine: str, name: str, seconds: float = 4.0) -> Checked:
    """Make one check; within so many seconds an engine on a busy machine is not too slow."""
    settings = Settings(engine, seed=1, seconds=seconds, patience=seconds)
    (checked,) = run_checks(settings, [name])
    return checked


def test_every_faulty_engine_is_found_out() -> None:
    found = at_once(
        lambda name: check(faulty(name), FOUND_BY.get(name, "whole-game-first")), FAULTS
    )
    assert {name for name, checked in found.items() if checked.status != "FAULT"} == set()
    assert not running_engines()


def test_nothing_is_wrong_with_an_honest_engine() -> None:
    found = at_once(lambda name: check(HONEST, name, seconds=60.0), CHECKS)
    assert {
        name: str(checked.failure or checked.not_reached)
        for name, checked in found.items()
        if checked.status != "ok"
    } == {}
    assert not running_engines()


@pytest.mark.slow
def test_nothing_is_wrong_with_our_engine() -> None:
    engine = shlex.join([sys.executable, "-c", "from junqi.program import main; main()"])
    settings = Settings(engine, seed=1, seconds=20.0, patience=30.0)
    failures = {c.name: str(c.failure) for c in run_checks(settings) if c.failure}
    assert failures == {}


def test_the_command_prints_a_list_and_fails_after_a_fault(cli: Callable[..., Any]) -> None:
    options = ["--seed", "1", "--only", "layouts", "--only", "greeting"]
    ran = cli("compliance", HONEST, *options)
    assert ran.code == 0
    assert [line.split()[:2] for line in ran.out.splitlines()] == [
        ["ok", "greeting"],
        ["ok", "layouts"],
    ]
    assert ran.err == "2 checks, no faults\n"
    ran = cli("compliance", faulty("short-layout"), *options)
    assert ran.code == 1
    assert ran.err == "2 checks, 1 fault\n"
    fault = ran.out.splitlines()[1]
    assert fault.startswith("FAULT    layouts   expected a legal layout, got ")
    assert "expected 25 letters, got 24" in fault


def test_the_command_prints_json_and_the_talk(cli: Callable[..., Any]) -> None:
    options = ["--seed", "1", "--json", "--fail-fast", "--transcript"]
    ran = cli("compliance", faulty("flag-outside"), *options)
    assert ran.code == 1
    ok, fault = json.loads(ran.out)
    assert (ok["check"], ok["status"], ok["expected"]) == ("greeting", "ok", None)
    assert (fault["check"], fault["status"]) == ("layouts", "FAULT")
    assert fault["expected"] == "a legal layout"
    assert "> START 0 20 31" in ran.err
    assert "< ARRAY " in ran.err


def test_what_cannot_be_tried_is_told(cli: Callable[..., Any]) -> None:
    assert cli("compliance", HONEST, "--only", "everything").code == 2
    ran = cli("compliance", "no-such-program-anywhere", "--seed", "1")
    assert ran.code == 2
    assert ran.err.startswith("junqi: error: expected the command line of a program, got 'no-such")
