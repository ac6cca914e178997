"""How fast this machine plays, and a signature of how we play.

Every figure comes from fixed seeds. The signature is a checksum over the games and searches that
were run: it changes when behaviour changes, and only then.
"""

import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import Any, TypeAlias

import numpy as np

from junqi.errors import JunqiError
from junqi.kernels.bench import sample_worlds, search_positions
from junqi.kernels.game import new_scratch
from junqi.kernels.search import QUIET_MOST
from junqi.layout import parse_layout
from junqi.players import make_player
from junqi.referee import play_game as play_refereed
from junqi.rules import Rules
from junqi.simulate import Judge, Results, game_seeds, parse_judge, play_games, warm_up
from junqi.weights import SearchWeights, search_tables

# The two sample layouts of the contest's protocol document.
FIRST = "abccddeeffggghhhiiijjkklj"
SECOND = "cbacddeeffggghhhiiijjkklj"

SEED = 1
SEARCH_DEPTH = 5
# What is run once for the signature: small, so that the same runs serve --quick.
SIGNATURE_GAMES = {"random": 2000, "policy": 4000, "search:3x3": 40}
SIGNATURE_POSITIONS = 20
# What is run in each round of a race: some tenths of a second.
RACE_GAMES = 40_000
RACE_POSITIONS = 400

Figures: TypeAlias = dict[str, Any]
Note: TypeAlias = Callable[[str], None]


def bench(is_quick: bool, yardstick: str | None, note: Note) -> Figures:
    """Measure everything; `note` is told what is going on."""
    scale = 1 if is_quick else 5
    if yardstick:
        _check_program(yardstick)
    note("loading the kernels")
    warm_up(*(parse_judge(name) for name in SIGNATURE_GAMES))
    search_positions(*_search_arguments(1))
    sample_worlds(1, SEED)
    figures: Figures = {"signature": signature()}
    cores = os.cpu_count() or 1
    figures["threads"] = cores
    for name, games in (("random", 40_000), ("policy", 40_000), ("search:3x3", 60)):
        note(f"{name} games")
        figures[name] = _rates(parse_judge(name), games * scale, cores)
    note("search")
    figures["search_depth"] = SEARCH_DEPTH
    figures["search_nodes_per_second"] = _search_speed(40 * scale)
    figures["search_nodes_per_second_all"] = _search_speed(40 * scale, cores)
    figures["search_seconds_per_position"] = _timed(search_positions, *_search_arguments(40)) / 40
    note("world samples")
    worlds = 200_000 * scale
    figures["worlds_per_second"] = worlds / _timed(sample_worlds, worlds, SEED)
    everywhere = _timed(_on_threads, cores, lambda: sample_worlds(worlds, SEED))
    figures["worlds_per_second_all"] = cores * worlds / everywhere
    note("referee")
    figures["referee_ms_per_move"] = _referee_ms("random", 5 * scale)
    program = f"{shlex.quote(sys.executable)} -m junqi player random"
    figures["referee_ms_per_move_programs"] = _referee_ms(program, 2 * scale)
    figures["memory_mb"] = _memory_mb()
    note("start from the cache")
    figures["start_seconds"] = _start_seconds(dict(os.environ))
    if not is_quick:
        note("compile everything anew")
        with tempfile.TemporaryDirectory() as folder:
            figures["compile_seconds"] = _start_seconds({**os.environ, "NUMBA_CACHE_DIR": folder})
    if yardstick:
        figures["yardstick"] = race(yardstick, 3 if is_quick else 7, note)
    return figures


def signature() -> str:
    """Eight hex digits that stand for how the players play."""
    digest = 0
    for name, games in SIGNATURE_GAMES.items():
        for array in _play(parse_judge(name), games, threads=1):
            digest = zlib.crc32(array.tobytes(), digest)
    scratch = new_scratch()
    total = search_positions(*_search_arguments(SIGNATURE_POSITIONS, scratch))
    numbers = np.array([total, scratch.nodes[0], sample_worlds(1000, SEED)], dtype="<i8")
    return f"{zlib.crc32(numbers.tobytes(), digest):08x}"


def race(yardstick: str, rounds: int, note: Note) -> Figures:
    """Run the yardstick program and ourselves in turn, one thread each; medians of the ratios.

    Raises:
        JunqiError: if the program cannot be run or does not answer as a yardstick does.
    """
    contests: dict[str, tuple[Callable[[], float], list[str], str]] = {
        "random": (
            lambda: _games_speed(parse_judge("random"), RACE_GAMES),
            ["random-playouts", FIRST, SECOND, str(RACE_GAMES), str(SEED), "1"],
            "games/s",
        ),
        "policy": (
            lambda: _games_speed(parse_judge("policy"), RACE_GAMES),
            ["policy-playouts", FIRST, SECOND, str(RACE_GAMES), str(SEED), "1"],
            "games/s",
        ),
        "search": (
            lambda: _search_speed(RACE_POSITIONS),
            ["search", FIRST, SECOND, str(SEARCH_DEPTH), str(SEED), str(RACE_POSITIONS)],
            "nodes/s",
        ),
    }
    figures: Figures = {}
    for name, (ours, arguments, key) in contests.items():
        note(f"race of {name}")
        ratios = [ours() / _yardstick_speed([yardstick, *arguments], key) for _ in range(rounds)]
        figures[name] = {
            "ratio": statistics.median(ratios),
            "lowest": min(ratios),
            "highest": max(ratios),
        }
    return figures


def _play(judge: Judge, games: int, threads: int) -> Iterator[np.ndarray[Any, Any]]:
    """The result arrays of games between the sample layouts, colours swapped in pairs."""
    first, second = parse_layout(FIRST), parse_layout(SECOND)
    seeds = game_seeds(SEED, games // 2)
    for pair in ((first, second), (second, first)):
        yield from play_games(*pair, seeds, judge, threads=threads)


def _rates(judge: Judge, games: int, cores: int) -> Figures:
    figures: Figures = {}
    for name, threads in (("one", 1), ("all", cores)):
        begin = time.perf_counter()
        results = list(_play(judge, games, threads))
        seconds = time.perf_counter() - begin
        plies = sum(int(Results(*results[i : i + 3]).plies.sum()) for i in (0, 3))
        figures[name] = {"games_per_second": games / seconds, "plies_per_second": plies / seconds}
    figures["scaling"] = figures["all"]["games_per_second"] / figures["one"]["games_per_second"]
    return figures


def _games_speed(judge: Judge, games: int) -> float:
    return games / _timed(lambda: list(_play(judge, games, 1)))


def _search_arguments(positions: int, scratch: Any = None) -> tuple[Any, ...]:
    tables = search_tables(SearchWeights())
    return (
        parse_layout(FIRST),
        parse_layout(SECOND),
        SEARCH_DEPTH,
        SEED,
        positions,
        Rules().steps,
        tables.worths,
        int(tables.limits[QUIET_MOST]),
        scratch or new_scratch(),
    )


def _search_speed(positions: int, threads: int = 1) -> float:
    """Nodes a second of all threads together: every move made or valued is a node."""

    def search() -> int:
        scratch = new_scratch()
        search_positions(*_search_arguments(positions, scratch))
        return int(scratch.nodes[0])

    begin = time.perf_counter()
    nodes = sum(_on_threads(threads, search))
    return nodes / (time.perf_counter() - begin)


def _on_threads(threads: int, work: Callable[[], Any]) -> list[Any]:
    """Do the same work on several threads at once."""
    with ThreadPoolExecutor(threads) as pool:
        return [future.result() for future in [pool.submit(work) for _ in range(threads)]]


def _referee_ms(player: str, games: int) -> float:
    """Milliseconds a move of games between two players, who think for hardly any of it.

    Start-up is not in it: there is a game before the first that counts.
    """
    red, black = make_player(player, SEED), make_player(player, SEED + 1)
    with closing(red), closing(black):
        play_refereed(red, black)
        begin = time.perf_counter()
        plies = sum(len(play_refereed(red, black).record.plies) for _ in range(games))
        return 1000 * (time.perf_counter() - begin) / plies


def _timed(function: Callable[..., Any], *arguments: Any) -> float:
    begin = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - begin


def _start_seconds(environment: dict[str, str]) -> float:
    """From the start of a new process to its first finished games."""
    code = "from junqi.bench import first_games; first_games()"
    return _timed(lambda: subprocess.run([sys.executable, "-c", code], env=environment, check=True))


def first_games() -> None:
    """What a new process does before it is ready: one game by each judge."""
    warm_up(*(parse_judge(name) for name in SIGNATURE_GAMES))


def _memory_mb() -> float | None:
    """The most memory this process has used, in MB; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _check_program(path: str) -> None:
    """Rather now than after minutes."""
    if not os.path.isfile(path):
        raise JunqiError(f"{path}: no such file")
    if not os.access(path, os.X_OK):
        raise JunqiError(f"{path}: expected a program that can be run")


def _yardstick_speed(command: list[str], key: str) -> float:
    try:
        run = subprocess.run(command, capture_output=True, check=True, timeout=600)
    except OSError as error:
        raise JunqiError(f"{command[0]}: {error.strerror or error}") from None
    except subprocess.SubprocessError as error:
        raise JunqiError(f"{command[0]}: expected a yardstick program: {error}") from None
    line = run.stdout.decode(errors="replace")
    for field in line.split():
        name, _, value = field.partition("=")
        if name == key:
            with suppress(ValueError):
                if (speed := float(value)) > 0:
                    return speed
    raise JunqiError(f"{command[0]}: expected a line with {key}=, got {line[:80]!r}")
