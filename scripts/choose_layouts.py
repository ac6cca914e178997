"""Choose layouts for a book that the engine plays from, by games of the engine itself.

    python scripts/choose_layouts.py games.json --candidates some.txt --panel train.txt --minutes 40

The engine plays two games a second, so each of them has to tell much. In every round the candidates
that are expected to do best, with some credit for what is not known of them, play a few games
against the panel; what one piece on one point is worth is learned from all games together
(`foresight.py`), and layouts that this makes expect more of are bred from the best and become
candidates. All games are kept in the file, and the same command goes on. In the end it prints the
best that are unlike each other. Their scores there chose them: rate them anew.
"""

import argparse
import json
import time
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from book.letters import canonical_letters
from junqi.games import play_games
from junqi.layout import (
    Layout,
    format_layout,
    mirror_layout,
    parse_layout,
    parse_layouts,
)
from junqi.panel import make_panel
from junqi.rate import rate
from junqi.simulate import parse_judge
from junqi.textfile import write_whole
from layout_search.foresight import REST_ERROR, Foresight, learn
from layout_search.genome import Individual, mate, mutate, to_array

Vector = NDArray[np.float64]

# Layouts that play in a round, and the games of each.
ASKED = 4
GAMES = 8
# Bred for each round, and kept of them.
BRED = 400
KEPT = 4
PARENTS = 24
# What is expected of a layout is taken for so many standard deviations higher while it has played
# little, as if it had these games from the others of its kind.
CREDIT = 1.0
PRIOR_GAMES = 24
# Two layouts that share more pieces in their places are alike.
ALIKE = 18


def foresee(layouts: Layout, points: Vector, games: Vector) -> tuple[Foresight, Vector]:
    """What was learned, and the score that is to be expected of each layout."""
    known = games > 0
    foresight = learn(layouts[known], points[known] / games[known], games[known])
    expected = foresight.predict(layouts)
    expected[known] = foresight.learned
    return foresight, expected


def claims_of(expected: Vector, games: Vector) -> Vector:
    """How much each layout deserves to play: what is expected, and what is not known of it."""
    unknown = np.sqrt(PRIOR_GAMES / (PRIOR_GAMES + games))
    return expected + CREDIT * REST_ERROR * unknown


def breed(parents: Layout, foresight: Foresight, random: Random) -> list[str]:
    """Children of the best of whom most is expected."""
    children = []
    for _ in range(BRED):
        one, two = (Individual(parents[random.randrange(len(parents))]) for _ in range(2))
        child = mate(one, two, random=random) if random.random() < 0.5 else one
        for _ in range(random.randrange(1, 4)):
            mutate(child, random=random)
        children.append(child)
    layouts = to_array(children)
    best = np.argsort(-foresight.predict(layouts), kind="stable")[:KEPT]
    return [canonical_letters(format_layout(layout)) for layout in layouts[best]]


def unlike(order: list[str], wanted: int) -> list[str]:
    """The first of a list, without what is much like one before it."""
    found: list[str] = []
    for text in order:
        images = parse_layout(text), mirror_layout(parse_layout(text))
        others = [parse_layout(other) for other in found]
        if all((image == other).sum() <= ALIKE for image in images for other in others):
            found.append(text)
        if len(found) == wanted:
            break
    return found


def main() -> None:
    """Play rounds until the time is over, and print the best."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="where all games are kept")
    parser.add_argument("--candidates", type=Path, nargs="+", default=[])
    parser.add_argument("--panel", type=Path, required=True)
    parser.add_argument("--judge", default="think:8")
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--wanted", type=int, default=6)
    options = parser.parse_args()
    state: dict[str, list[float]] = (
        json.loads(options.file.read_text()) if options.file.exists() else {}
    )
    for path in options.candidates:
        for text in path.read_text().split():
            state.setdefault(canonical_letters(text), [0.0, 0.0])
    if not state:
        parser.error("expected --candidates, or a file with games, got neither")
    panel = make_panel("panel", options.panel.read_text().split())
    play = partial(play_games, threads=options.threads)
    judge = parse_judge(options.judge)
    end = time.monotonic() + 60 * options.minutes
    while time.monotonic() < end:
        number = int(sum(games for _, games in state.values()))
        random = Random(f"{options.seed} {number}")
        texts = list(state)
        points, games = np.array(list(state.values())).T
        layouts = parse_layouts(texts)
        if (games > 0).sum() <= len(texts) / 2:
            asked = np.flatnonzero(games == 0)[:ASKED]
        else:
            foresight, expected = foresee(layouts, points, games)
            asked = np.argsort(-claims_of(expected, games), kind="stable")[:ASKED]
            parents = layouts[np.argsort(-expected, kind="stable")[:PARENTS]]
            for text in breed(parents, foresight, random):
                state.setdefault(text, [0.0, 0.0])
        ratings = rate(layouts[asked], panel, GAMES, options.seed + number, judge, play=play)
        for index, rating in zip(asked, ratings, strict=True):
            row = state[texts[index]]
            row[0] += rating.games * rating.score.mean
            row[1] += rating.games
        write_whole(options.file, json.dumps(state))
    texts = [text for text, (_, games) in state.items() if games > 0]
    points, games = np.array([state[text] for text in texts]).T
    _, expected = foresee(parse_layouts(texts), points, games)
    order = np.argsort(-expected, kind="stable")
    print(f"{games.sum():.0f} games, {len(texts)} layouts")
    for text in unlike([texts[i] for i in order], options.wanted):
        at = texts.index(text)
        print(f"{text}  expected {100 * expected[at]:.1f} %, {games[at]:.0f} games")


if __name__ == "__main__":
    main()
