"""Measure where games run: one thread, two threads and two local Dask workers on the same games.

    python scripts/measure_workers.py
    python scripts/measure_workers.py --judge search:3x3 --games 200
    python scripts/measure_workers.py --number 4 --repeat 5

The best of a few interleaved repeats counts, and all must have the same results. The machine
should do nothing else.
"""

import argparse
import time

from junqi.layout import random_layouts
from junqi.simulate import Results, game_seeds, parse_judge, warm_up
from layout_search.cluster import Cluster
from layout_search.workers import Threads, Workers


def measure(options: argparse.Namespace) -> None:
    """Play the same games in all ways and print how long they take."""
    judge = parse_judge(options.judge)
    warm_up(judge)
    first, second = (random_layouts(options.games, seed) for seed in (1, 2))
    seeds = game_seeds(3, options.games)
    with Cluster(f"local:{options.number}") as cluster:
        ways: dict[str, Workers] = {
            "1 thread": Threads(1),
            f"{options.number} threads": Threads(options.number),
            f"{options.number} local Dask workers": cluster,
        }
        best = dict.fromkeys(ways, float("inf"))
        results: list[Results] = []
        for _ in range(options.repeat):
            for name, workers in ways.items():
                begin = time.perf_counter()
                results.append(workers.play(first, second, seeds, judge))
                best[name] = min(best[name], time.perf_counter() - begin)
    for name, seconds in best.items():
        rate, ratio = options.games / seconds, best["1 thread"] / seconds
        print(f"{name:22} {rate:>11,.0f} games/s  {ratio:.2f} times one thread")
    is_same = len({b"".join(array.tobytes() for array in result) for result in results}) == 1
    print("the same results" if is_same else "DIFFERENT RESULTS")


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--judge", default="policy")
    parser.add_argument("--games", type=int, default=400_000)
    parser.add_argument("--number", type=int, default=2, help="of threads and of workers")
    parser.add_argument("--repeat", type=int, default=3)
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
