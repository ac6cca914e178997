import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from junqi import duel as library
from junqi.layout import parse_layout
from junqi.simulate import parse_judge

A = "abccddeeffggghhhiiijjkklj"
B = "cbacddeeffggghhhiiijjkklj"
ILLEGAL = "lbccddeeffggghhhiiijjkkaj"

Cli = Callable[..., Any]


def duel(cli: Cli, *args: object) -> dict[str, Any]:
    ran = cli("layout", "duel", *args, "--json")
    assert (ran.code, ran.err) == (0, ""), ran.err
    return json.loads(ran.out)


def test_the_json_has_everything_there_is_to_know(cli: Cli) -> None:
    data = duel(cli, A, B, "--games", 40, "--seed", 3)
    assert list(data) == [
        "a", "b", "judge_a", "judge_b", "seed", "games", "wins", "draws", "losses", "score",
        "error", "low", "high", "score_moving_first", "score_moving_second", "reasons", "plies",
        "seconds",
    ]  # fmt: skip
    assert (data["a"], data["b"], data["seed"], data["games"]) == (A, B, 3, 40)
    assert (data["judge_a"], data["judge_b"]) == ("policy", "policy")
    assert data["wins"] + data["draws"] + data["losses"] == 40
    assert data["score"] == pytest.approx((data["wins"] + data["draws"] / 2) / 40)
    assert data["low"] < data["score"] < data["high"]
    assert data["score"] == pytest.approx(
        (data["score_moving_first"] + data["score_moving_second"]) / 2
    )
    assert set(data["reasons"]) == {"flag", "no-moves", "steps"}
    assert sum(data["reasons"].values()) == 40
    assert data["plies"] > 400
    assert 0 < data["seconds"] < 10


def test_the_command_plays_what_the_library_plays(cli: Cli) -> None:
    data = duel(cli, A, B, "--games", 40, "--seed", 3, "--judge", "random")
    result = library.duel(parse_layout(A), parse_layout(B), 40, 3, parse_judge("random"))
    assert (data["wins"], data["plies"]) == (result.wins, result.plies)
    assert (data["score"], data["error"]) == (result.score.mean, result.score.error)


def test_the_same_command_gives_the_same_games_on_any_threads(cli: Cli) -> None:
    args = [A, B, "--games", 60, "--seed", 4]
    results = [duel(cli, *args), *(duel(cli, *args, "--threads", n) for n in (1, 2, 3))]
    for data in results:
        del data["seconds"]
    assert results == [results[0]] * 4


@pytest.mark.parametrize("judge", ["random", "policy", "search:2x2"])
def test_a_layout_against_itself_scores_half(cli: Cli, judge: str) -> None:
    data = duel(cli, A, A, "--games", 20, "--seed", 1, "--judge", judge)
    assert data["score"] == 0.5
    assert data["wins"] == data["losses"]
    assert data["judge_a"] == data["judge_b"] == judge


def test_each_layout_may_have_its_own_judge(cli: Cli) -> None:
    args = [A, A, "--games", 100, "--seed", 1]
    data = duel(cli, *args, "--judge", "random", "--judge-a", "policy")
    assert (data["judge_a"], data["judge_b"]) == ("policy", "random")
    assert data["score"] > 0.7
    turned = duel(cli, *args, "--judge-a", "random", "--judge-b", "policy")
    assert turned["score"] == pytest.approx(1 - data["score"])


def test_the_result_is_printed_for_people(cli: Cli) -> None:
    ran = cli("layout", "duel", A, B, "--games", 20, "--seed", 1, "--judge-b", "random")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "A", "B", "score", "games", "colour", "ends", "plies",
    ]  # fmt: skip
    assert lines[0] == f"A       {A}  policy"
    assert lines[1] == f"B       {B}  random"
    assert "% for A (95 % interval " in lines[2]
    assert lines[3].startswith("games   20: ")
    assert lines[5].count(" by ") == 3


def test_a_seed_that_was_not_given_is_told(cli: Cli) -> None:
    ran = cli("layout", "duel", A, B, "--games", 2, "--json")
    assert ran.code == 0
    assert ran.err == f"seed {json.loads(ran.out)['seed']}\n"


def test_a_layout_may_be_in_a_file(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text(f"# the best so far\n{B}  no doubt\n")
    from_file = duel(cli, A, file, "--games", 10, "--seed", 1)
    as_text = duel(cli, A, B, "--games", 10, "--seed", 1)
    assert from_file["b"] == B
    assert from_file["plies"] == as_text["plies"]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ([A, B, "--games", 7], 2, "expected an even number for --games, got 7"),
        ([A, B, "--games", 0], 2, "expected an integer of at least 2 for --games, got '0'"),
        ([A, B, "--threads", 0], 2, "expected an integer of at least 1 for --threads, got '0'"),
        ([A, B, "--seed", -1], 2, "expected an integer of at least 0 for --seed, got '-1'"),
        ([A], 2, "expected B, got nothing"),
        ([A, B, "--judge", "best"], 2,
         "expected random, policy, search:DxW (depth x worlds, like search:3x3) or think:N (the"
         " engine's search in N worlds), got 'best'"),
        ([A, B, "--judge-a", "search:99x1"], 2,
         "expected a depth from 1 to 15 and 1 to 1000 worlds, got 'search:99x1'"),
        ([A, B, "--judge-b", ""], 2, "expected random, policy, search:DxW"),
        ([A, ILLEGAL], 1, f"not a legal layout: '{ILLEGAL}': flag (l) at G0: must stand in"),
        (["abc", B], 1, "not a legal layout: 'abc': expected 25 letters, got 3"),
        ([A, "missing.txt"], 1, "missing.txt: no such file or directory"),
    ],
)  # fmt: skip
def test_what_cannot_be_played_is_told_in_one_line(
    cli: Cli, args: list[object], code: int, message: str
) -> None:
    ran = cli("layout", "duel", "--seed", 1, *args)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.count("\n") == 1
    assert message in ran.err


def test_a_file_with_two_layouts_is_told_in_one_line(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "two.txt"
    file.write_text(f"{A}\n{B}\n")
    ran = cli("layout", "duel", file, A, "--seed", 1)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"junqi: error: {file}: expected one layout, got 2\n"


def test_an_illegal_layout_in_a_file_is_told_with_its_line(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text(f"\n{ILLEGAL}\n")
    ran = cli("layout", "duel", A, file, "--seed", 1)
    assert ran.code == 1
    assert ran.err.startswith(f"junqi: error: {file}:2: not a legal layout: ")


def test_ctrl_c_ends_a_duel_quietly(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_args: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("junqi.duel.play_games", interrupted)
    ran = cli("layout", "duel", A, B, "--seed", 1)
    assert (ran.code, ran.out, ran.err) == (130, "", "")
