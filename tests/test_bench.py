"""`junqi bench`: the signature, the figures, and the race against another program."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from junqi import bench
from junqi.errors import JunqiError
from junqi.kernels.bench import sample_worlds
from junqi.simulate import Judge, parse_judge
from junqi.weights import PolicyWeights, SearchWeights

Cli = Callable[..., Any]

FIGURES = {
    "signature", "threads", "random", "policy", "search:3x3", "search_depth",
    "search_nodes_per_second", "search_nodes_per_second_all", "search_seconds_per_position",
    "worlds_per_second", "worlds_per_second_all", "memory_mb",
    "referee_ms_per_move", "referee_ms_per_move_programs", "start_seconds",
}  # fmt: skip

needs_shebang = pytest.mark.skipif(
    sys.platform == "win32", reason="scripts are not programs on Windows"
)


@pytest.fixture
def few_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signature of a few games."""
    monkeypatch.setattr(bench, "SIGNATURE_GAMES", {"random": 200, "policy": 200, "search:3x3": 2})
    monkeypatch.setattr(bench, "SIGNATURE_POSITIONS", 2)


@pytest.fixture
def quick(few_games: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No run takes longer than a moment."""
    rates, arguments = bench._rates, bench._search_arguments
    monkeypatch.setattr(bench, "_rates", lambda judge, _games, cores: rates(judge, 4, cores))
    monkeypatch.setattr(
        bench, "_search_arguments", lambda _positions, scratch=None: arguments(1, scratch)
    )
    monkeypatch.setattr(bench, "sample_worlds", lambda _count, seed: sample_worlds(10, seed))
    monkeypatch.setattr(bench, "_start_seconds", lambda _environment: 1.25)


# The signature


def test_the_signature_is_eight_digits_and_always_the_same(few_games: None) -> None:
    signature = bench.signature()
    assert re.fullmatch(r"[0-9a-f]{8}", signature)
    assert bench.signature() == signature


def with_weights(monkeypatch: pytest.MonkeyPatch, **weights: Any) -> str:
    def parse(name: str) -> Judge:
        return replace(parse_judge(name), **weights)

    with monkeypatch.context() as patch:
        patch.setattr(bench, "parse_judge", parse)
        return bench.signature()


def test_the_signature_changes_with_a_weight(
    few_games: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    signature = bench.signature()
    assert with_weights(monkeypatch, policy=PolicyWeights()) == signature
    policy, search = PolicyWeights(), SearchWeights()
    seen = {
        signature,
        with_weights(monkeypatch, policy=replace(policy, camp=policy.camp + 40)),
        with_weights(monkeypatch, policy=replace(policy, boldness=policy.boldness + 60)),
        with_weights(monkeypatch, search=replace(search, camp=search.camp + 40)),
    }
    assert len(seen) == 4


def test_the_signature_changes_with_what_a_search_finds(
    few_games: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    signature = bench.signature()
    changed = replace(SearchWeights(), camp=SearchWeights().camp + 10)
    monkeypatch.setattr(bench, "SearchWeights", lambda: changed)
    assert bench.signature() != signature


@pytest.mark.parametrize("name", ["random", "policy", "search:3x3"])
def test_every_judge_is_in_the_signature(
    few_games: None, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    signature = bench.signature()
    fewer = {**bench.SIGNATURE_GAMES, name: bench.SIGNATURE_GAMES[name] - 2}
    monkeypatch.setattr(bench, "SIGNATURE_GAMES", fewer)
    assert bench.signature() != signature


# The figures


def test_quick_figures_are_complete(quick: None) -> None:
    told: list[str] = []
    figures = bench.bench(True, None, told.append)
    assert set(figures) == FIGURES
    for name in ("random", "policy", "search:3x3"):
        rates = figures[name]
        assert set(rates) == {"one", "all", "scaling"}
        assert rates["one"]["plies_per_second"] > rates["one"]["games_per_second"] > 0
        one, everything = (rates[key]["games_per_second"] for key in ("one", "all"))
        assert rates["scaling"] == pytest.approx(everything / one)
    assert figures["search_nodes_per_second"] > 1000
    assert figures["search_nodes_per_second_all"] > 1000
    assert figures["worlds_per_second_all"] > 1000
    assert figures["memory_mb"] is None or figures["memory_mb"] > 10
    assert told[0] == "loading the kernels"


def test_all_figures_have_the_time_to_compile_too(quick: None) -> None:
    assert set(bench.bench(False, None, lambda _text: None)) == FIGURES | {"compile_seconds"}


def test_the_figures_are_printed_for_people_and_as_json(quick: None, cli: Cli) -> None:
    ran = cli("bench", "--quick", "--json")
    assert ran.code == 0
    figures = json.loads(ran.out)
    assert set(figures) == FIGURES
    assert "random games\n" in ran.err
    ran = cli("bench")
    assert ran.code == 0
    for word in (figures["signature"], "policy", "search:3x3", "nodes", "worlds", "1.25 s"):
        assert word in ran.out
    assert "everything anew" in ran.out
    assert "yardstick" not in ran.out


@pytest.mark.slow
def test_a_real_quick_run(cli: Cli) -> None:
    ran = cli("bench", "--quick", "--json")
    assert ran.code == 0
    figures = json.loads(ran.out)
    assert figures["signature"] == bench.signature()
    assert figures["start_seconds"] < 30


def test_a_new_process_gets_ready_with_a_game_by_each_judge() -> None:
    bench.first_games()


# The race


def program(path: Path, body: str) -> str:
    """A program in Python that is run by its name."""
    path.write_text(f"#!{sys.executable}\nimport sys\n{body}\n")
    path.chmod(0o755)
    return str(path)


YARDSTICK = """
speed = {"random-playouts": "games/s=250", "policy-playouts": "games/s=1000",
         "search": "nodes/s=2e3"}[sys.argv[1]]
with open(sys.argv[0] + ".log", "a") as log:
    print(*sys.argv[1:], file=log)
print("command=" + sys.argv[1], "seconds=0.5", speed, "plies/s=7")
"""


@pytest.fixture
def our_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_games_speed", lambda _judge, _games: 500.0)
    monkeypatch.setattr(bench, "_search_speed", lambda _positions, _threads=1: 3000.0)


@needs_shebang
def test_a_race_gives_the_ratios_of_speeds(our_speed: None, tmp_path: Path) -> None:
    yardstick = program(tmp_path / "yardstick", YARDSTICK)
    figures = bench.race(yardstick, 2, lambda _text: None)
    for name, ratio in (("random", 2.0), ("policy", 0.5), ("search", 1.5)):
        assert figures[name] == {"ratio": ratio, "lowest": ratio, "highest": ratio}
    calls = Path(yardstick + ".log").read_text().splitlines()
    assert calls == [
        *[f"random-playouts {bench.FIRST} {bench.SECOND} {bench.RACE_GAMES} 1 1"] * 2,
        *[f"policy-playouts {bench.FIRST} {bench.SECOND} {bench.RACE_GAMES} 1 1"] * 2,
        *[f"search {bench.FIRST} {bench.SECOND} 5 1 {bench.RACE_POSITIONS}"] * 2,
    ]


@needs_shebang
def test_a_race_is_run_by_the_command(
    quick: None, our_speed: None, cli: Cli, tmp_path: Path
) -> None:
    yardstick = program(tmp_path / "yardstick", YARDSTICK)
    ran = cli("bench", "--quick", "--yardstick", yardstick, "--json")
    assert ran.code == 0
    assert set(json.loads(ran.out)) == FIGURES | {"yardstick"}
    assert json.loads(ran.out)["yardstick"]["policy"]["ratio"] == 0.5
    ran = cli("bench", "--quick", "--yardstick", yardstick)
    assert "to the yardstick            2.00 x    random (2.00 to 2.00)" in ran.out


@needs_shebang
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("print('hello')", r"expected a line with games/s=, got 'hello\\n'"),
        ("print('games/s=fast')", r"expected a line with games/s=, got 'games/s=fast\\n'"),
        ("print('games/s=0')", "expected a line with games/s=, got"),
        ("print('games/s=nan')", "expected a line with games/s=, got"),
        ("sys.stdout.buffer.write(bytes(range(128, 256)))", "expected a line with games/s=, got"),
        ("", "expected a line with games/s=, got ''"),
        ("sys.exit(3)", "expected a yardstick program: Command .* exit status 3"),
    ],
)
def test_a_program_that_is_no_yardstick_is_told(
    our_speed: None, tmp_path: Path, body: str, message: str
) -> None:
    yardstick = program(tmp_path / "babble", body)
    with pytest.raises(JunqiError, match=message) as caught:
        bench.race(yardstick, 1, lambda _text: None)
    assert str(caught.value).startswith(f"{yardstick}: ")


def test_a_yardstick_that_is_not_there_is_told_in_one_line(
    quick: None, our_speed: None, cli: Cli, tmp_path: Path
) -> None:
    missing = tmp_path / "missing"
    ran = cli("bench", "--quick", "--yardstick", missing)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"junqi: error: {missing}: no such file\n"
    missing.write_text("no program", encoding="utf-8")
    ran = cli("bench", "--quick", "--yardstick", missing)
    assert ran.err == f"junqi: error: {missing}: expected a program that can be run\n"


@needs_shebang
def test_a_file_that_cannot_be_run_is_told(our_speed: None, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no program")
    with pytest.raises(JunqiError, match="Permission denied"):
        bench.race(str(file), 1, lambda _text: None)
