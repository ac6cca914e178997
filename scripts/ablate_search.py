"""Measure what the parts of the search for layouts are worth: a run without one of them.

    python scripts/ablate_search.py --opponents train.txt --unseen test.txt --rounds 32
    python scripts/ablate_search.py --opponents train.txt --unseen test.txt --without racing

Without `mixture` the search is plain co-evolution: every round breeds against the last layouts of
the archive, all alike, and those are the result. Without `people` it meets random layouts alone.
Without `racing` every newborn layout plays the same number of games, as many together. Without
`finals` no strong judge is asked at all. The best single layout is the one with the best score
against everybody, by the strongest judge asked. Scores are of fresh games; the attack's too.
Rounds are counted, not minutes, so that what else the machine does makes no difference.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from junqi.layout import Layout, format_layout, parse_layouts, random_layouts
from junqi.panel import Panel, make_panel
from junqi.rate import rate_mixture
from junqi.simulate import Judge, parse_judge
from layout_search import respond, rounds
from layout_search.attack import attack
from layout_search.evolve import search
from layout_search.fitness import Opponents, mix_opponents
from layout_search.genome import Individual
from layout_search.mixture import Solution, prune
from layout_search.run import Run, start
from layout_search.settings import Settings
from layout_search.workers import Threads, Workers

PARTS = ("nothing", "mixture", "people", "racing", "finals")
# Layouts that plain co-evolution breeds against.
LAST = 20
STRANGERS = 200
# By which finals are sized.
MINUTES = 3.0
_FRESH = 900


def last_alike(run: Run, expected: np.ndarray) -> Solution:
    """The last layouts of the archive, all alike: what a search without a mixture knows."""
    shares = np.zeros(len(run.archive))
    shares[-LAST:] = 1.0
    return Solution(shares / shares.sum(), shares / shares.sum())


def equal_games(
    newborn: list[Individual],
    living: list[Individual],
    opponents: Opponents,
    settings: Settings,
    seed: tuple[int, ...],
    judge: Judge,
    workers: Workers,
) -> int:
    """`respond._race` without a second chance for the better quarter: it is spread over all."""
    respond._play(newborn, opponents, 2 * settings.games, (*seed, 0), judge, workers)
    if living:
        respond._play(living, opponents, 4 * settings.games, (*seed, 1), judge, workers)
    return settings.games * (2 * len(newborn) + 4 * len(living))


def found_by(options: argparse.Namespace, workers: Workers) -> tuple[Opponents, Layout]:
    """The mixture that a run finds, and its best single layout."""
    settings = Settings(seed=options.seed, rounds=options.rounds, minutes=MINUTES)
    people = parse_layouts(options.opponents.read_text().split())
    if options.without == "mixture":
        rounds.solution_of = last_alike
    if options.without == "racing":
        respond._race = equal_games
    if options.without == "finals":
        settings = replace(settings, finals="none")
    run = start(settings, people[:0] if options.without == "people" else people)
    search(run, workers)
    shares, expected = prune(run.shares), rounds.expected_scores(run)
    best = run.archive.layouts[int(np.argmax(expected))]
    print(f"{len(run.rounds)} rounds, {run.games:,} games, {int((shares > 0).sum())} layouts")
    return mix_opponents([(1.0, run.archive.layouts, shares)]), best


def panel_of(opponents: Opponents) -> Panel:
    """The same layouts and shares, as they are rated."""
    texts = map(format_layout, opponents.layouts)
    return make_panel("", texts, opponents.shares.tolist())


def fresh_score(own: Opponents, others: Opponents, games: int, seed: int, workers: Workers) -> str:
    """What a mixture scores against others by `search:3x3`, as text."""
    judge = parse_judge("search:3x3")
    play = workers.play_and_tell
    score = rate_mixture(panel_of(own), panel_of(others), games, seed + _FRESH, judge, play=play)
    low, high = score.score.interval
    return f"{100 * score.score.mean:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def main() -> None:
    """Run, and print the scores."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--without", choices=PARTS, default="nothing")
    parser.add_argument("--opponents", type=Path, required=True, help="layouts that it meets")
    parser.add_argument("--unseen", type=Path, required=True, help="layouts that it does not meet")
    parser.add_argument("--rounds", type=int, default=32)
    parser.add_argument("--attempts", type=int, default=60, help="of the attack")
    parser.add_argument("--games", type=int, default=600, help="for each score")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    workers = Threads(options.threads)
    mixture, best = found_by(options, workers)
    single = mix_opponents([(1.0, best[None], None)])
    unseen = mix_opponents([(1.0, parse_layouts(options.unseen.read_text().split()), None)])
    strangers = mix_opponents([(1.0, random_layouts(STRANGERS, _FRESH), None)])
    print(f"without {options.without}, seed {options.seed}")
    for name, own, others in (
        (f"the best single one, {format_layout(best)}, against unseen", single, unseen),
        ("the mixture against unseen", mixture, unseen),
        ("the mixture against random", mixture, strangers),
    ):
        print(f"{name}: {fresh_score(own, others, options.games, options.seed, workers)}")
    counter = attack(
        mixture,
        mixture.layouts,
        minutes=0.0,
        attempts=options.attempts,
        seed=options.seed + _FRESH,
        judge="policy",
        workers=workers,
    )
    print(f"best counter: {100 * counter.score.mean:.1f} %, {counter.attempts} attempts")


if __name__ == "__main__":
    main()
