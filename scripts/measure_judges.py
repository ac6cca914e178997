"""Measure the judges: who beats whom, and how reliably the policy ranks layouts.

    python scripts/measure_judges.py match policy random --groups 2000
    python scripts/measure_judges.py match search:3x3 policy --groups 300
    python scripts/measure_judges.py match search:3x9 search:3x3 --groups 300
    python scripts/measure_judges.py match search:3x3 policy --groups 300 --layouts people.tsv
    python scripts/measure_judges.py reliability policy --layouts 40 --games 300

A group is two layouts that play each other in four games with one seed: each judge has each layout
once moving first and once moving second. The error is that of the groups.
"""

import argparse
import time

import numpy as np
from numpy.typing import NDArray

from junqi.layout import Layout, parse_layouts, random_layouts
from junqi.layout_file import read_layout_file
from junqi.simulate import Judge, game_seeds, parse_judge, play_games
from junqi.stats import score_of_pairs


def play_groups(a: Judge, b: Judge, one: Layout, two: Layout, seed: int) -> NDArray[np.float64]:
    """The score of judge a in each group; rows of the two arrays of layouts are a group."""
    seeds = game_seeds(seed, len(one))
    scores = []
    for mine, theirs in ((one, two), (two, one)):
        scores.append(play_games(mine, theirs, seeds, a, b).scores_of_first())
        scores.append(1 - play_games(theirs, mine, seeds, b, a).scores_of_first())
    return np.mean(scores, axis=0)


def match(options: argparse.Namespace) -> None:
    """Let two judges play with the same layouts."""
    a, b = parse_judge(options.a), parse_judge(options.b)
    if options.layouts is None:
        layouts = random_layouts(2 * options.groups, options.seed)
    else:
        texts = [found.text for found in read_layout_file(options.layouts)]
        order = np.random.default_rng(options.seed).integers(len(texts), size=2 * options.groups)
        layouts = parse_layouts(texts)[order]
    begin = time.perf_counter()
    groups = play_groups(a, b, layouts[::2], layouts[1::2], options.seed)
    seconds = time.perf_counter() - begin
    print(
        f"{a} against {b}: {score_of_pairs(groups)} of {4 * len(groups):,} games, {seconds:.0f} s"
    )


def reliability(options: argparse.Namespace) -> None:
    """How well scores agree with scores of other games against other opponents."""
    judge = parse_judge(options.judge)
    layouts = random_layouts(options.count, options.seed)
    halves = []
    for half in range(2):
        # Other opponents and other seeds in each half.
        opponents = random_layouts(options.games // 2, options.seed + 1 + half)
        seeds = game_seeds(options.seed + half, len(opponents))
        scores = [
            np.concatenate(
                [
                    play_games(layout, opponents, seeds, judge).scores_of_first(),
                    1 - play_games(opponents, layout, seeds, judge).scores_of_first(),
                ]
            ).mean()
            for layout in layouts
        ]
        halves.append(scores)
    correlation = float(np.corrcoef(halves)[0, 1])
    spread = 100 * float(np.std(np.mean(halves, axis=0)))
    print(
        f"{judge}: two scores of {options.games} games each correlate {correlation:.3f} over "
        f"{options.count} random layouts, whose scores spread by {spread:.1f} points"
    )


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("match", help="two judges with the same layouts")
    command.add_argument("a")
    command.add_argument("b")
    command.add_argument("--groups", type=int, default=300)
    command.add_argument("--layouts", metavar="FILE", help="random ones if missing")
    command.add_argument("--seed", type=int, default=1)
    command.set_defaults(run=match)
    command = commands.add_parser("reliability", help="how well scores are repeated")
    command.add_argument("judge")
    command.add_argument("--layouts", dest="count", type=int, default=40)
    command.add_argument("--games", type=int, default=300)
    command.add_argument("--seed", type=int, default=1)
    command.set_defaults(run=reliability)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
