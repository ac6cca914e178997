"""``junqi engine`` and ``junqi analyse``."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from junqi.engine_options import OPTIONS, variable_of
from junqi.program import HELP
from junqi.rules import Move
from junqi.view import View

ROOT = Path(__file__).parents[1]
EXAMPLE = str(ROOT / "docs" / "example.junqi")
SAMPLE = "abccddeeffggghhhiiijjkklj"
GAME = b"INFO 1.0\nSTART 0 1800 31\nGO 0000 0 00\n"
PROGRAM = """
import sys
import junqi.program
from junqi.cli import main
junqi.program.make_warm = lambda *args: sys.exit("no search")
main()
"""

Cli = Callable[..., Any]


def engine(*args: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, "engine", *args],
        input=GAME,
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "JUNQI_BOOK": "no", **env},
    )


def test_options_are_used_and_go_over_the_environment(tmp_path: Path) -> None:
    log = tmp_path / "game.log"
    ran = engine(
        *("--layout", SAMPLE, "--name", "甲队", "--encoding", "gbk", "--seed", "0"),
        *("--log", str(log), "--movetime", "0.01", "--no-book"),
        JUNQI_NAME="Other",
        JUNQI_LAYOUT="cbacddeeffggghhhiiijjkklj",
    )
    name, array, move = ran.stdout.splitlines()
    assert name.decode("gbk") == "NAME 甲队"
    assert array == f"ARRAY {SAMPLE}".encode()
    assert move.startswith(b"BESTMOVE ")
    assert ran.returncode == 0
    assert f"> ARRAY {SAMPLE}" in log.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--movetime", "0"), "expected a number of seconds above 0 for movetime, got '0'"),
        (("--time-fraction", "x"), "expected a number above 0, at most 1 for time-fraction"),
        (("--layout", "abc"), "layout: not a legal layout: 'abc'"),
        (("--encoding", "latin-1"), "expected one of utf-8, gbk"),
        (("--threads", "0"), "expected an integer of at least 1"),
        (("--effort", "0"), "expected an integer of at least 1"),
        (("--opening-loss", "2"), "expected a number from 0 to 1 for opening-loss, got '2'"),
        (("--book", "x.db", "--no-book"), "expected --book or --no-book, got both"),
    ],
)
def test_wrong_options_are_wrong_usage(cli: Cli, args: tuple[str, ...], message: str) -> None:
    ran = cli("engine", *args)
    assert ran.code == 2
    assert message in ran.err
    assert ran.out == ""


@pytest.mark.parametrize("where", ["junqi engine --help", "docs/engine.md", "junqi-engine --help"])
def test_every_option_can_be_found(cli: Cli, where: str) -> None:
    if where == "junqi engine --help":
        text, names = cli("engine", "--help").out, [f"--{key}" for key in OPTIONS]
    else:
        text = (ROOT / where).read_text("utf-8") if "/" in where else HELP
        names = [variable_of(key) for key in OPTIONS]
    assert [name for name in names if name not in text] == []


# Analysis


@dataclass(frozen=True)
class Idea:
    """What the search thinks of a move."""

    move: Move
    value: float
    error: float = 0.025
    worlds: int = 1234


@dataclass(frozen=True)
class Thought:
    candidates: list[Idea]


class Search:
    """Thinks that the moves get worse in their order."""

    def think(self, view: View, seconds: float, hard: float) -> Thought:
        assert seconds == hard == 0.5
        return Thought([Idea(move, 1 / (i + 2)) for i, move in enumerate(view.legal_moves())])


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("junqi.analyse.load_thinker", lambda *args: Search())


@pytest.mark.usefixtures("search")
def test_an_analysis_shows_board_candidates_and_beliefs(cli: Cli) -> None:
    ran = cli("analyse", EXAMPLE, "--ply", 41, "--time", 0.5, "--top", 3, "--seed", 1)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("black to move after ply 41\n")
    lines = ran.out.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("#  move"))
    assert [line.split()[0] for line in lines[head + 1 : head + 4]] == ["1", "2", "3"]
    assert lines[head + 1].endswith("50.0 %    2.5   1,234")
    assert lines[head + 4] == ""
    assert "piece  now" in ran.out


@pytest.mark.usefixtures("search")
def test_an_analysis_as_json(cli: Cli) -> None:
    ran = cli("analyse", EXAMPLE, "--ply", 40, "--time", 0.5, "--top", 2, "--json", "--seed", 1)
    data = json.loads(ran.out)
    assert data["side"] == "red"
    assert data["ply"] == 40
    assert len(data["candidates"]) == 2
    assert set(data["candidates"][0]) == {"move", "piece", "win", "error", "worlds"}
    assert len(data["belief"]["pieces"]) == 25
    assert ran.err == ""


@pytest.mark.usefixtures("search")
def test_a_record_of_one_side_is_enough(cli: Cli) -> None:
    text = Path(EXAMPLE).read_text(encoding="utf-8")
    blind = "\n".join(line for line in text.splitlines() if not line.startswith("[BlackLayout"))
    args = ("--ply", 40, "--time", 0.5, "--json", "--seed", 1)
    assert cli("analyse", "-", *args, stdin=blind).out == cli("analyse", EXAMPLE, *args).out
    other = cli("analyse", "-", "--ply", 41, "--time", 0.5, "--seed", 1, stdin=blind)
    assert other.code == 1
    assert "the view of black needs its layout" in other.err


@pytest.mark.usefixtures("search")
def test_a_view_comes_from_the_log_of_a_player(cli: Cli) -> None:
    log = f"""
INFO 1.0
NAME Junqi
START 1 1800 31
ARRAY {SAMPLE}
GO F0E1 3 00
BESTMOVE G2F2
RESULT 2 00
GO E1F0 3 00
BESTMOVE G1H1
"""
    record = cli("record", "import", "-", stdin=log).out
    ran = cli("analyse", "-", "--time", 0.5, "--seed", 1, "--json", stdin=record)
    assert ran.code == 0, ran.err
    data = json.loads(ran.out)
    # The enemy is to move, whose layout is unknown: the last own turn is thought about.
    assert (data["side"], data["ply"]) == ("black", 3)
    gone = [piece for piece in data["belief"]["pieces"] if piece["point"] is None]
    assert [piece["start"] for piece in gone] == ["F2"]


@pytest.mark.parametrize("ply", [(), ("--ply", 1000)])
def test_a_ply_where_nothing_is_to_be_decided_is_an_error(cli: Cli, ply: tuple[object]) -> None:
    ran = cli("analyse", EXAMPLE, *ply, "--seed", 1)
    assert ran.code == 1
    assert "expected a ply" in ran.err


def test_a_time_that_is_none_is_wrong_usage(cli: Cli) -> None:
    ran = cli("analyse", EXAMPLE, "--time", "0")
    assert ran.code == 2
    assert "expected a number of seconds above 0 for --time, got '0'" in ran.err
