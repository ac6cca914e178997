"""Games on the workers of a Dask cluster: of this machine, or of as many as there are.

A large call is cut into chunks that carry all that their games need. So a worker that dies costs
its chunks alone: the scheduler gives them to others. A small call takes less time here than on its
way there and back, and is played here.
"""

import hashlib
import logging
import re
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

import junqi
from junqi import __version__
from junqi.errors import JunqiError
from junqi.games import play_games, warm_up
from junqi.kernels.jit import source_digest
from junqi.layout import Layout
from junqi.simulate import Judge, Results, Seeds, games_at_once
from layout_search.workers import Workers

# Lengths of work, in what a thread plays before it looks up (`games_at_once`: some 20 ms).
# A chunk of the largest size takes one or two seconds, and so much is lost with a worker.
LARGEST_CHUNK = 64
# A chunk and its results are 10 to 20 ms on their way, and keep the scheduler busy for 1 ms.
SMALLEST_CHUNK = 1
# Below this, two threads here were as fast as two workers.
SMALLEST_CALL = 4

CONNECT_SECONDS = 5
# How long a call waits when all workers are gone: they may come back.
PATIENCE_SECONDS = 60


class InvalidCluster(JunqiError, ValueError):
    """A text that names no cluster."""

    is_usage = True


class ClusterFailed(JunqiError, RuntimeError):
    """A cluster that is not there, or that cannot play."""


class OtherVersion(ClusterFailed):
    """A worker whose games would be other games."""


def _fingerprint() -> str:
    """The version, and a digest of all sources that decide how a game goes."""
    digest = hashlib.sha256(source_digest().encode())
    folder = Path(str(junqi.__file__)).parent
    for file in sorted([*folder.glob("*.py"), *(folder / "data").iterdir()]):
        digest.update(file.read_bytes())
    return f"{__version__} ({digest.hexdigest()[:8]})"


# Made when the sources are read: files that are replaced later do not change a running worker.
FINGERPRINT = _fingerprint()


class Cluster(Workers):
    """The workers of a Dask scheduler; to be closed after use.

    Args:
        address: ``HOST:PORT`` of a scheduler, or ``local:N`` to start N workers on this machine.

    Raises:
        InvalidCluster: if the address is neither.
        ClusterFailed: if Dask is not installed, nobody answers, or a worker has other software.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._parts: list[Any] = []  # what to close, the last first
        started_here = _parse(address)
        try:
            import distributed
        except ImportError:
            raise ClusterFailed(
                "expected Dask, which is not installed: pip install 'junqi[cluster]',"
                " or pip install distributed"
            ) from None
        # What goes wrong is told by the errors raised here.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        try:
            if started_here:
                warm_up()  # workers then find the kernels compiled
                self._parts.append(_start_workers(started_here))
            where = self._parts[0] if started_here else address
            self._client = distributed.Client(where, timeout=CONNECT_SECONDS)
            self._parts.append(self._client)
            self._check_workers()
        except OSError as error:
            self.close()
            raise ClusterFailed(
                f"expected a Dask scheduler at {address}: {error}; start one with `dask scheduler`"
            ) from None
        except BaseException:
            self.close()
            raise

    def play(self, first: Layout, second: Layout, seeds: Seeds, judge: Judge) -> Results:
        """Play one game for each seed."""
        unit = games_at_once(judge)
        if len(seeds) < SMALLEST_CALL * unit:
            return play_games(first, second, seeds, judge)
        with self._failures_told():
            size = chunk_games(len(seeds), unit, self._slots())
            chunks = [slice(start, start + size) for start in range(0, len(seeds), size)]
            futures = [
                self._client.submit(
                    _play_chunk, FINGERPRINT, first[c], second[c], seeds[c], judge, pure=False
                )
                for c in chunks
            ]
            parts = self._gather(futures)
        return Results(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def close(self) -> None:
        """Let go of the cluster; workers that were started here end."""
        while self._parts:
            with suppress(OSError):
                self._parts.pop().close()

    def _slots(self) -> int:
        """Threads of all workers there are now: some may have come or gone."""
        return max(1, sum(self._client.nthreads().values()))

    def _check_workers(self) -> None:
        """Refuse workers that would play other games, and let the others load the kernels."""
        self._expect_workers()
        found = self._client.run(_prepare, FINGERPRINT, on_error="return")
        for worker, fingerprint in found.items():
            if fingerprint != FINGERPRINT:
                raise OtherVersion(_other_version(worker, fingerprint, FINGERPRINT))

    def _gather(self, futures: list[Any]) -> list[Results]:
        from distributed import wait

        waiting = {future: number for number, future in enumerate(futures)}
        found: dict[int, Results] = {}
        while waiting:
            try:
                done = wait(list(waiting), PATIENCE_SECONDS, "FIRST_COMPLETED").done
            except TimeoutError:
                self._expect_workers()
                continue
            # Fetched at once: what stays on a worker is lost with it.
            for future, results in zip(done, self._client.gather(list(done)), strict=True):
                found[waiting.pop(future)] = results
                future.release()
        return [found[number] for number in range(len(futures))]

    @contextmanager
    def _failures_told(self) -> Iterator[None]:
        from distributed import KilledWorker

        try:
            yield
        # A worker that came later and has other software may not know the function at all.
        except (KilledWorker, CancelledError, OSError, ImportError, AttributeError) as error:
            is_there = self._client.status == "running"
            why = str(error) if is_there else "its scheduler is gone"
            raise ClusterFailed(f"the cluster at {self.address} failed: {why}") from error

    def _expect_workers(self) -> None:
        if not self._client.nthreads():
            raise ClusterFailed(
                f"expected workers at {self.address}, got none:"
                f" start some with `dask worker {self.address} --nthreads 1`"
            )


def chunk_games(games: int, unit: int, slots: int) -> int:
    """How many games go into a chunk: every slot gets one, or equally many that are not too large.

    Args:
        unit: `games_at_once` of the judge.
        slots: chunks that can be played at the same time.

    >>> chunk_games(100_000, 2048, 2), chunk_games(400_000, 2048, 2)
    (50000, 100000)
    """
    chunks_a_slot = -(-games // (slots * LARGEST_CHUNK * unit))
    return max(-(-games // (slots * chunks_a_slot)), SMALLEST_CHUNK * unit)


def _parse(address: str) -> int:
    """How many workers to start here; 0 for a scheduler elsewhere."""
    if match := re.fullmatch(r"local:([1-9][0-9]{0,3})", address):
        return int(match[1])
    if not re.fullmatch(r"([a-z]+://)?[^\s/]+:[0-9]{1,5}", address) or address.startswith("local:"):
        raise InvalidCluster(
            f"expected HOST:PORT of a Dask scheduler, or local:N for N workers here,"
            f" got {address!r}"
        )
    return 0


def _start_workers(number: int) -> Any:
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=number,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",  # any port: the usual one may be taken
        memory_limit=None,  # workers hold one chunk, whatever else the machine has in its memory
        silence_logs=logging.ERROR,
    )


# What follows runs on the workers.


def _prepare(expected: str) -> str:
    """Load the kernels if the software is the one expected; returns the one it is."""
    if expected == FINGERPRINT:
        warm_up()
    return FINGERPRINT


def _play_chunk(
    expected: str, first: Layout, second: Layout, seeds: Seeds, judge: Judge
) -> Results:
    if expected != FINGERPRINT:  # of a worker that came after the others were asked
        from distributed import get_worker

        raise OtherVersion(_other_version(get_worker().address, FINGERPRINT, expected))
    return play_games(first, second, seeds, judge, threads=1)


def _other_version(worker: str, found: object, expected: str) -> str:
    return (
        f"expected junqi {expected} on {worker}, got {found}:"
        " install the same version on all machines, and start the workers again"
    )
