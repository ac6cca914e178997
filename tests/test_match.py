"""Matches: pairs, counts, records that do not depend on the concurrency, going on after a stop."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from junqi.layout import format_layout, random_layouts
from junqi.match import InvalidMatch, MatchSettings, is_over, plan_game, play_match
from junqi.match_stats import Sprt
from junqi.match_tally import Tally
from junqi.pieces import BLACK, NOBODY, RED
from junqi.player import GameSettings
from junqi.record import Ply, Record, open_records
from junqi.record_log import RecordLog
from junqi.replay import check_record
from junqi.rules import Move, Outcome, Reason, Rules
from junqi.simulate import UnknownJudge

LAYOUTS = tuple(format_layout(layout) for layout in random_layouts(3, 5))
PYTHON = shlex.quote(sys.executable)
RANDOM_PROGRAM = f"{PYTHON} -m junqi player random"


def settings_of(games: int = 6, **changes: object) -> MatchSettings:
    return MatchSettings("policy", "random", games, 1, **changes)  # type: ignore[arg-type]


def untimed(path: Path) -> str:
    """The text of records without clocks."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r' \(\S+\)|\[(?:Date|RedClock|BlackClock) ".*"\]\n', "", text)
    return re.sub(r" +", " ", text)


def record_match(path: Path, settings: MatchSettings, concurrency: int = 1) -> Tally:
    with RecordLog(path, is_resumed=path.exists()) as log:
        return play_match(settings, log=log, concurrency=concurrency)


# Plans


def test_both_games_of_a_pair_have_the_same_seeds_and_layouts() -> None:
    settings = settings_of(layouts=LAYOUTS)
    plans = [plan_game(settings, number) for number in range(1, 7)]
    for one, two in zip(plans[::2], plans[1::2], strict=True):
        assert one.seed == two.seed
        assert one.players == two.players[::-1] == ("policy", "random")
        assert one.player_seeds == two.player_seeds[::-1]
        # The layouts stay where they are: each player plays each of them.
        assert one.layouts == two.layouts
    assert len({plan.seed for plan in plans}) == 3
    seeds = [seed for plan in plans for seed in plan.player_seeds]
    assert len(set(seeds)) == 6
    assert len({plan.layouts for plan in plans}) > 1


def test_a_game_depends_on_the_seed_of_the_match_and_its_pair_only() -> None:
    assert plan_game(settings_of(6), 3) == plan_game(settings_of(100), 3)
    assert plan_game(settings_of(), 1).seed != plan_game(replace(settings_of(), seed=2), 1).seed


@pytest.mark.parametrize("games", [0, 3])
def test_a_match_has_whole_pairs(games: int) -> None:
    with pytest.raises(InvalidMatch, match="expected an even number of games"):
        settings_of(games)


# Counting


def game(number: int, winner: int, plies: int = 3, **extra: str) -> Record:
    red, black = ("A", "B") if number % 2 else ("B", "A")
    moves = tuple(Ply(Move(30, 25), seconds=0.25 * (n % 2 + 1)) for n in range(plies))
    clocks = sum(p.seconds or 0 for p in moves[::2]), sum(p.seconds or 0 for p in moves[1::2])
    return Record(
        moves,
        Outcome(winner, Reason.FLAG),
        red=red,
        black=black,
        red_clock=clocks[0],
        black_clock=clocks[1],
        extra={"Round": str(number), **extra},
    )


def test_a_tally_counts_from_the_first_player() -> None:
    tally = Tally()
    winners = [RED, BLACK, BLACK, RED, NOBODY, NOBODY, RED, NOBODY, RED]
    for number, winner in enumerate(winners, 1):
        tally.add(game(number, winner))
    # Won both; lost both; half each; one and a half; one more game without its second.
    assert (tally.wins, tally.draws, tally.losses) == (4, 3, 2)
    assert tally.pairs == [1, 0, 1, 1, 1]
    assert tally.games == 9
    assert tally.score == pytest.approx(5.5 / 9)
    assert tally.reasons == {Reason.FLAG: 9}
    assert tally.plies == 27
    assert [player.name for player in tally.players] == ["A", "B"]
    assert tally.players[0].moves + tally.players[1].moves == 27
    # Red thinks for a quarter of a second, twice a game; black for half a second, once.
    assert tally.players[0].moves == 5 * 2 + 4
    assert tally.players[0].seconds == pytest.approx(5 * 0.5 + 4 * 0.5)
    assert tally.players[0].slowest == 0.5


def test_a_tally_counts_faults_where_they_belong() -> None:
    tally = Tally()
    tally.add(game(1, BLACK, RedFaults="other-line crash"))
    tally.add(game(2, RED, RedFaults="late-name", BlackFaults="crash"))
    assert tally.players[0].faults == {"other-line": 1, "crash": 2}
    assert tally.players[1].faults == {"late-name": 1}


def test_a_thought_that_lost_the_game_counts() -> None:
    tally = Tally()
    tally.add(replace(game(1, BLACK), red_clock=0.5 + 7.0, outcome=Outcome(BLACK, Reason.TIME)))
    assert tally.players[0].slowest == pytest.approx(7.0)
    assert tally.players[0].moves == 3


def test_a_match_is_over_when_its_test_is_decided() -> None:
    tally = Tally(wins=30, pairs=[0, 0, 0, 0, 15])
    assert is_over(settings_of(100, sprt=Sprt(0, 100)), tally)
    assert not is_over(settings_of(100, sprt=Sprt(0, 5)), tally)
    assert not is_over(settings_of(100), tally)
    assert is_over(settings_of(30), tally)


# Matches in this process


def test_a_match_is_played_and_written_down(tmp_path: Path) -> None:
    path = tmp_path / "games.junqi"
    tally = record_match(path, settings_of(6))
    records = list(open_records(path))
    assert len(records) == tally.games == 6
    assert sum(tally.pairs) == 3
    for number, record in enumerate(records, 1):
        check_record(record)
        assert record.extra["Round"] == str(number)
        assert record.extra["RedPlayer"] == record.red == ("policy" if number % 2 else "random")
    assert records[0].red_layout == records[1].black_layout
    assert tally.players[0].faults == tally.players[1].faults == {}


def test_records_do_not_depend_on_the_concurrency(tmp_path: Path) -> None:
    texts = []
    for concurrency in (1, 2, 5):
        path = tmp_path / f"{concurrency}.junqi"
        record_match(path, settings_of(10, layouts=LAYOUTS), concurrency)
        texts.append(untimed(path))
    assert texts[0] == texts[1] == texts[2]
    record_match(tmp_path / "other.junqi", replace(settings_of(10), seed=2))
    assert untimed(tmp_path / "other.junqi") != texts[0]


def test_a_sequential_test_stops_at_the_same_game_whatever_the_concurrency(tmp_path: Path) -> None:
    settings = MatchSettings("policy", "random", 100, 1, sprt=Sprt(0, 300))
    texts = []
    for concurrency in (1, 3):
        path = tmp_path / f"{concurrency}.junqi"
        tally = record_match(path, settings, concurrency)
        assert 4 <= tally.games < 60
        texts.append(untimed(path))
    assert texts[0] == texts[1]
    again = record_match(path, settings)
    assert again.games == tally.games, "a decided match does not go on"


def test_forced_layouts_are_played_from_both_sides(tmp_path: Path) -> None:
    path = tmp_path / "games.junqi"
    record_match(path, settings_of(4, layouts=LAYOUTS))
    records = list(open_records(path))
    for one, two in zip(records[::2], records[1::2], strict=True):
        assert (one.red_layout, one.black_layout) == (two.red_layout, two.black_layout)
        assert {one.red_layout, one.black_layout} <= set(LAYOUTS)


def test_a_match_goes_on_where_its_records_end(tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.junqi", tmp_path / "part.junqi"
    settings = settings_of(8)
    expected = record_match(whole, settings, 2)
    data = whole.read_bytes()
    for cut in (0, 100, len(data) // 3, len(data) // 2, len(data) - 1, len(data)):
        part.write_bytes(data[:cut])
        tally = record_match(part, settings, 2)
        assert untimed(part) == untimed(whole)
        assert (tally.wins, tally.pairs) == (expected.wins, expected.pairs)


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 2},
        {"first": "random"},
        {"game": GameSettings(rules=Rules(steps=20))},
    ],
)
def test_a_match_does_not_go_on_with_the_records_of_another(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    path = tmp_path / "games.junqi"
    record_match(path, settings_of(2))
    with pytest.raises(InvalidMatch, match="of another match: expected"):
        record_match(path, replace(settings_of(4), **changes))  # type: ignore[arg-type]


def test_a_wrong_name_is_told_before_the_first_game() -> None:
    with pytest.raises(UnknownJudge):
        play_match(MatchSettings("policy", "search:99x99", 2, 1))


@pytest.mark.slow
def test_a_player_against_itself_scores_a_half() -> None:
    tally = play_match(MatchSettings("policy", "policy", 400, 3), concurrency=2)
    assert tally.elo is not None
    assert tally.elo.low <= 0 <= tally.elo.high
    assert tally.pairs[1] + tally.pairs[2] + tally.pairs[3] > 0
    assert 0 < tally.pairs[0] < 200


# Programs


def test_a_program_plays_like_the_player_it_runs(tmp_path: Path) -> None:
    """The protocol carries everything: moves are those of the same player in this process."""
    for name, second in (("here", "random"), ("there", RANDOM_PROGRAM)):
        settings = MatchSettings("policy", second, 2, 4, layouts=LAYOUTS)
        record_match(tmp_path / name, settings, concurrency=2)
    here, there = (list(open_records(tmp_path / name)) for name in ("here", "there"))
    for one, two in zip(here, there, strict=True):
        assert [ply.move for ply in one.plies] == [ply.move for ply in two.plies]
        assert one.red_layout == two.red_layout
        assert "RedFaults" not in two.extra
        assert "BlackFaults" not in two.extra


CRASHING = f"""{PYTHON} -c "
import sys
for line in sys.stdin:
    if line[0] == 'I': print('NAME crasher', flush=True)
    if line[0] == 'S': print('ARRAY abccddeeffggghhhiiijjkklj', flush=True)
    if line[0] == 'G': print('ouch', file=sys.stderr); sys.exit(3)
" """


@pytest.mark.skipif(os.name == "nt", reason="quotes are others on Windows")
def test_a_fault_costs_its_game_and_the_match_goes_on(tmp_path: Path) -> None:
    path, talk = tmp_path / "games.junqi", tmp_path / "talk"
    settings = MatchSettings("random", CRASHING, 4, 1)
    with RecordLog(path, is_resumed=False) as log:
        tally = play_match(settings, log=log, transcripts=talk, concurrency=2)
    assert (tally.wins, tally.losses) == (4, 0)
    assert tally.reasons == {Reason.CRASH: 4}
    assert tally.players[0].faults == {}
    assert tally.players[1].faults == {"crash": 4}
    record = next(open_records(path))
    assert record.extra["BlackFaults"] == "crash"
    assert record.extra["Fault"] == "the program ended with exit code 3"
    logs = sorted(talk.iterdir())
    assert [log.name for log in logs] == [
        "game-000001-black.log",
        "game-000002-red.log",
        "game-000003-black.log",
        "game-000004-red.log",
    ]
    text = logs[0].read_text(encoding="utf-8")
    assert "> INFO 1.0" in text
    assert "< NAME crasher" in text
    assert text.rstrip().endswith("ouch")


@pytest.mark.skipif(os.name == "nt", reason="quotes are others on Windows")
def test_programs_can_be_kept_for_several_games(tmp_path: Path) -> None:
    counting = tmp_path / "engine.py"
    started = tmp_path / "started"
    counting.write_text(
        "import sys, runpy\n"
        f"open({str(started)!r}, 'a').write('x')\n"
        "sys.argv = ['junqi', 'player', 'random']\n"
        "runpy.run_module('junqi', run_name='__main__')\n"
    )
    command = f"{PYTHON} {shlex.quote(str(counting))}"
    play_match(MatchSettings("random", command, 6, 1, keeps_programs=True), concurrency=1)
    assert started.read_text() == "x"
    play_match(MatchSettings("random", command, 2, 1), concurrency=1)
    assert started.read_text() == "xxx"
    with pytest.raises(InvalidMatch, match="expected no layouts"):
        MatchSettings("random", command, 2, 1, keeps_programs=True, layouts=LAYOUTS)


# The command


def run_junqi(*args: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "junqi", *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        **options,  # type: ignore[call-overload]
    )


def test_the_command_prints_a_table_and_json(tmp_path: Path, cli) -> None:
    path = tmp_path / "games.junqi"
    players = ("match", "--first", "policy", "--second", "random", "--games", "4", "--seed", "1")
    table = cli(*players, "--records", str(path), "--sprt", "0", "400")
    assert table.code == 0, table.err
    assert "games   4 of 4: 4 won, 0 drawn, 0 lost by the first player" in table.out
    assert "pairs   0 with 0, 0 with ½, 0 with 1, 0 with 1½, 2 with 2 points" in table.out
    assert "sprt    Elo 0 against 400: undecided" in table.out
    assert "faults: none" in table.out
    again = cli(*players, "--records", str(path), "--resume", "--json")
    figures = json.loads(again.out)
    assert figures["games"] == figures["wins"] == 4
    assert figures["pairs"] == [0, 0, 0, 0, 2]
    assert figures["elo"] is None
    assert figures["elo_low"] is not None
    assert figures["second"]["faults"] == {}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--games", "3"], "expected an even number for --games, got 3"),
        (["--resume"], "expected --records and --seed with --resume"),
        (["--sprt", "5", "5"], "expected ELO0 below ELO1"),
        (["--time", "0"], "expected seconds above 0 for --time, got '0'"),
        (["--first", "search:x"], "expected random, policy, search:DxW"),
        (["--first", "no-such-program --fast"], "expected the command line of a program, got"),
        (["--greeting", "HELLO"], "expected one of INFO, INFORMATION"),
    ],
)
def test_wrong_usage_is_told(options: list[str], text: str, cli) -> None:
    ran = cli("match", "--first", "random", "--second", "random", "--seed", "1", *options)
    assert ran.code == 2
    assert text in ran.err
    assert ran.out == ""


def test_records_are_not_overwritten_by_the_command(tmp_path: Path, cli) -> None:
    path = tmp_path / "games.junqi"
    path.write_text("precious")
    ran = cli("match", "--first", "random", "--second", "random", "--records", str(path))
    assert ran.code == 2
    assert path.read_text() == "precious"


def test_the_player_command_says_what_it_expects(cli) -> None:
    ran = cli("player", "chess")
    assert ran.code == 2
    assert "expected random, policy, search:DxW" in ran.err


@pytest.mark.skipif(os.name == "nt", reason="signals are a thing of POSIX")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_match_that_was_ended_goes_on_and_ends_the_same(tmp_path: Path, end: int) -> None:
    whole, part = tmp_path / "whole.junqi", tmp_path / "part.junqi"
    program = f"{PYTHON} -m junqi player random" if end == signal.SIGINT else "random"
    settings = MatchSettings("random", program, 12 if program == "random" else 4, 7)
    arguments = ["match", "--first", "random", "--second", program, "--seed", "7"]
    arguments += ["--games", str(settings.games), "--concurrency", "2", "--records", str(part)]
    with subprocess.Popen(
        [sys.executable, "-m", "junqi", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        deadline = time.monotonic() + 60
        while not part.exists() or part.stat().st_size < 2000:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(end)
        code = process.wait(timeout=60)
    assert code == (-signal.SIGKILL if end == signal.SIGKILL else 130)
    played = part.read_bytes().count(b"[Round ")
    assert 1 <= played < settings.games, "the match was over before it was ended"
    ran = run_junqi(*arguments, "--resume")
    assert ran.returncode == 0, ran.stderr
    record_match(whole, settings)
    assert untimed(part) == untimed(whole)
