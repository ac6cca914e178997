"""Where games run: on threads of this machine, or on workers of a Dask cluster.

A game depends on its layouts, its seed, the judge and the rules alone, so that it does not matter
who plays it: results are the same for one thread, many threads, and any number of workers.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

from junqi.games import play_games
from junqi.layout import Layout
from junqi.simulate import Judge, Progress, Results, Seeds


class Workers(ABC):
    """Who plays the games of a search; closed at the end of a ``with``."""

    @abstractmethod
    def play(self, first: Layout, second: Layout, seeds: Seeds, judge: Judge) -> Results:
        """Play one game for each seed between rows of two arrays, as `play_games` does."""

    def play_and_tell(
        self, first: Layout, second: Layout, seeds: Seeds, judge: Judge, *, progress: Progress
    ) -> Results:
        """The same; `progress` is called with the number of games finished since the last call."""
        results = self.play(first, second, seeds, judge)
        progress(len(seeds))
        return results

    def close(self) -> None:
        """Let go of what the workers need; there may be nothing."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


@dataclass(frozen=True)
class Threads(Workers):
    """Threads of this process."""

    number: int | None = None
    """All cores if None."""

    def play(self, first: Layout, second: Layout, seeds: Seeds, judge: Judge) -> Results:
        """Play one game for each seed."""
        return play_games(first, second, seeds, judge, threads=self.number)

    def play_and_tell(
        self, first: Layout, second: Layout, seeds: Seeds, judge: Judge, *, progress: Progress
    ) -> Results:
        """The same, and tell while games go on."""
        return play_games(first, second, seeds, judge, threads=self.number, progress=progress)


ALL_CORES = Threads()


def open_workers(threads: int | None = None, cluster: str | None = None) -> Workers:
    """So many threads, or the workers of the cluster with this address.

    Raises:
        InvalidCluster: if it is the address of none.
        ClusterFailed: if the cluster is not there, or cannot play.
    """
    if cluster is None:
        return Threads(threads)
    from layout_search.cluster import Cluster

    return Cluster(cluster)
