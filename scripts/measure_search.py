"""Measure which part of the raw speed of simulated games reaches the search for layouts.

    python scripts/measure_search.py
    python scripts/measure_search.py --rounds 40 --threads 2

Rounds without finals are timed, and then one large call of games between the layouts that they
found, because games between evolved layouts are not as long as those of `junqi bench`. Times are of
the CPU, so that other programs on the machine do less harm.
"""

import argparse
import time

import numpy as np

from junqi.layout import Layout, random_layouts
from junqi.simulate import Judge, Results, Seeds, game_seeds, parse_judge, warm_up
from layout_search.evolve import search
from layout_search.run import start
from layout_search.settings import Settings
from layout_search.workers import Threads, Workers

RAW_GAMES = 200_000


class Counting(Workers):
    """Threads, and how many games they have played."""

    def __init__(self, threads: int) -> None:
        self.games = 0
        self._threads = Threads(threads)

    def play(self, first: Layout, second: Layout, seeds: Seeds, judge: Judge) -> Results:
        """Play one game for each seed."""
        self.games += len(seeds)
        return self._threads.play(first, second, seeds, judge)


def measure(options: argparse.Namespace) -> None:
    """Run rounds, then games alone, and print the speed of both."""
    settings = Settings(rounds=options.rounds, finals="none")
    judge, workers = parse_judge(settings.judge), Counting(options.threads)
    warm_up(judge)
    run = start(settings, random_layouts(0, 1))
    begin = time.process_time()
    search(run, workers)
    played = workers.games
    searching = played / (time.process_time() - begin)
    random = np.random.default_rng(1)
    first, second = (random.choice(run.archive.layouts, RAW_GAMES) for _ in range(2))
    begin = time.process_time()
    workers.play(first, second, game_seeds(1, RAW_GAMES), judge)
    raw = RAW_GAMES / (time.process_time() - begin)
    print(
        f"search {searching:>9,.0f} games/s of CPU: {len(run.rounds)} rounds, {run.games:,} games"
    )
    print(f"games  {raw:>9,.0f} games/s of CPU between the {len(run.archive)} layouts found")
    print(f"share  {searching / raw:>9.0%}")


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
