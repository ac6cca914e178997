"""Where games run: the same results from threads and from the workers of a Dask cluster."""

import json
import math
import os
import re
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from junqi.layout import random_layouts
from junqi.panel import random_panel
from junqi.rate import rate
from junqi.simulate import Results, game_seeds, games_at_once, parse_judge, play_games
from layout_search import attack
from layout_search import cluster as library
from layout_search.cluster import (
    FINGERPRINT,
    LARGEST_CHUNK,
    Cluster,
    ClusterFailed,
    InvalidCluster,
    OtherVersion,
    chunk_games,
)
from layout_search.evolve import search
from layout_search.run import start
from layout_search.settings import Settings
from layout_search.workers import ALL_CORES, Threads, Workers, open_workers

LAYOUT = "cigdcegkefkfaibgidjhhhjlj"
POLICY = parse_judge("policy")
FIRST, SECOND = random_layouts(20_000, 1), random_layouts(20_000, 2)
SEEDS = game_seeds(3, 20_000)
SMALL = Settings(
    rounds=2,
    population=12,
    generations=2,
    games=16,
    pair_games=16,
    support_games=16,
    test_games=64,
    finals="none",
)


def play(workers: Workers, games: int = len(SEEDS)) -> Results:
    return workers.play(FIRST[:games], SECOND[:games], SEEDS[:games], POLICY)


def assert_same(one: Results, two: Results) -> None:
    for a, b in zip(one, two, strict=True):
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    pytest.importorskip("distributed", reason="needs pip install 'junqi[cluster]'")
    with Cluster("local:2") as workers:
        yield workers


@pytest.fixture
def nobody() -> str:
    """An address where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def test_threads_play_what_the_simulator_plays() -> None:
    expected = play_games(FIRST[:500], SECOND[:500], SEEDS[:500], POLICY)
    for workers in (ALL_CORES, Threads(1), open_workers(2)):
        assert_same(play(workers, 500), expected)


def test_chunks_last_seconds_but_leave_no_worker_idle() -> None:
    unit = games_at_once(POLICY)
    assert chunk_games(1000 * unit, unit, 4) == 1000 / 16 * unit <= LARGEST_CHUNK * unit
    # Three and a bit of the largest, shared by two, would let one of them wait.
    assert chunk_games(math.ceil(3.05 * LARGEST_CHUNK) * unit, unit, 2) == 49 * unit
    assert chunk_games(10 * unit, unit, 4) == math.ceil(10 * unit / 4)
    assert chunk_games(10 * unit, unit, 1000) == unit
    assert chunk_games(100, games_at_once(parse_judge("search:3x3")), 40) == 3


def test_a_cluster_plays_the_same_games(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = play(Threads(1))
    monkeypatch.setattr(library, "play_games", None)  # not played here
    assert_same(play(cluster), expected)
    monkeypatch.setattr(library, "LARGEST_CHUNK", 1)
    assert_same(play(cluster), expected)


def test_small_calls_stay_here(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_client", None)
    assert_same(play(cluster, 500), play(Threads(1), 500))


def test_a_search_on_a_cluster_ends_like_one_on_threads(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "SMALLEST_CALL", 0)
    runs = []
    for workers in (Threads(1), cluster):
        runs.append(start(SMALL, FIRST[:2]))
        search(runs[-1], workers)
    one, two = runs
    assert np.array_equal(one.archive.layouts, two.archive.layouts)
    assert np.array_equal(one.archive.points, two.archive.points)
    assert np.array_equal(one.shares, two.shares)


def test_layouts_are_rated_alike_on_threads_and_on_a_cluster(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "SMALLEST_CALL", 0)
    told: list[tuple[int, int, int, int]] = []
    for workers in (Threads(1), cluster):
        done: list[int] = []
        (rating,) = rate(
            FIRST[:1],
            random_panel(4, 1),
            200,
            3,
            POLICY,
            play=workers.play_and_tell,
            progress=done.append,
        )
        told.append((rating.wins, rating.draws, rating.losses, sum(done)))
    assert told[0] == told[1]
    assert told[0][3] == 200


def test_a_worker_killed_in_the_middle_costs_its_chunk_only(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = str(tmp_path)

    def deadly(expected: str, first: Any, second: Any, seeds: Any, judge: Any) -> Any:
        begun = sorted(os.listdir(folder))
        open(os.path.join(folder, f"{int(seeds[0])} {time.time_ns()}"), "x").close()
        if len(begun) == 3 and not any(name.startswith("killed") for name in begun):
            open(os.path.join(folder, "killed"), "x").close()
            os._exit(1)
        return play_games(first, second, seeds, judge, threads=1)

    monkeypatch.setattr(library, "_play_chunk", deadly)
    monkeypatch.setattr(library, "LARGEST_CHUNK", 1)
    assert_same(play(cluster), play(Threads(1)))
    names = os.listdir(folder)
    assert "killed" in names
    chunks = math.ceil(len(SEEDS) / games_at_once(POLICY))
    # The chunk in hand, and at most one that was done but not yet fetched.
    assert chunks + 1 <= len(names) - 1 <= chunks + 2


def test_a_worker_of_another_version_is_refused(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "FINGERPRINT", "9.9 (other)")
    said = (
        re.escape("expected junqi 9.9 (other) on tcp://127.0.0.1:") + ".*" + re.escape(FINGERPRINT)
    )
    with pytest.raises(OtherVersion, match=said):
        play(cluster)  # a worker that came late
    with pytest.raises(OtherVersion, match=said):
        Cluster(scheduler_of(cluster))


def scheduler_of(cluster: Cluster) -> str:
    return cast(str, cluster._client.scheduler.address)


def test_a_scheduler_without_workers_is_refused() -> None:
    distributed = pytest.importorskip("distributed", reason="needs pip install 'junqi[cluster]'")
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        pytest.raises(ClusterFailed, match=r"expected workers at .*, got none: start some with"),
    ):
        Cluster(empty.scheduler_address)


def test_illegal_layouts_are_refused_as_on_threads(cluster: Cluster) -> None:
    wrong = FIRST.copy()
    wrong[-1] = 1
    with pytest.raises(ValueError, match="expected the first layouts to be legal"):
        cluster.play(wrong, SECOND, SEEDS, POLICY)


@pytest.mark.parametrize("address", ["", "lab", "local:0", "local:x", "local:", "a b:1", "lab:x"])
def test_an_address_of_nothing_is_wrong_usage(address: str) -> None:
    with pytest.raises(InvalidCluster, match="expected HOST:PORT"):
        open_workers(cluster=address)


def test_a_cluster_that_is_not_there_is_told_soon(
    cli: Any, nobody: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="needs pip install 'junqi[cluster]'")
    monkeypatch.setattr(library, "CONNECT_SECONDS", 0.2)
    ran = cli("layout", "attack", LAYOUT, "--seed", 1, "--cluster", nobody)
    assert ran.code == 1
    assert f"expected a Dask scheduler at {nobody}" in ran.err
    assert "dask scheduler" in ran.err
    assert ran.err.count("\n") == 1


def test_without_dask_the_message_says_what_to_install(
    cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    ran = cli("layout", "evolve", "--seed", 1, "--cluster", "local:2")
    assert ran.code == 1
    assert "pip install 'junqi[cluster]'" in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("command", ["evolve", "attack"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--cluster", "lab"), "expected HOST:PORT"),
        (("--cluster", "local:2", "--threads", 1), "expected --threads or --cluster, got both"),
    ],
)
def test_wrong_wishes_get_one_line(
    cli: Any, command: str, options: tuple[object, ...], said: str
) -> None:
    ran = cli("layout", command, "--seed", 1, *options)
    assert ran.code == 2
    assert said in ran.err


def test_an_attack_on_a_cluster_finds_what_threads_find(
    cli: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attack, "FAST", SMALL)  # the certificate's games go to the cluster
    arguments = ("layout", "attack", LAYOUT, "--attempts", 1, "--seed", 1, "--json")
    here = json.loads(cli(*arguments, "--threads", 1).out)
    there = json.loads(cli(*arguments, "--cluster", scheduler_of(cluster)).out)
    assert here.pop("seconds") > 0
    assert there.pop("seconds") > 0
    assert here == there
