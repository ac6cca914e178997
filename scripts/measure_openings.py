"""Measure what the opening moves of a book are worth.

    python scripts/measure_openings.py coverage --book mine.db --games 200 --options movetime=0.05
    python scripts/measure_openings.py worth --book mine.db --games 400 --options movetime=0.05
    python scripts/measure_openings.py lookup --book mine.db

`coverage` lets the engine with the book play opponents and says which share of the n-th own moves
the book answered, how long that took, and whether the values of stored moves foretell the results.
Opponents that took no part in growing have other layouts (a file, or random ones), other seeds and
other players. `worth` lets the engine with the book play the same engine without opening moves; a
pair of games has the same two layouts of the book's mixture, with the players exchanged. `lookup`
says how long the engine waits for the book. How fast a book of a million rows is: bench_book.py.
"""

import argparse
import os
import random
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from statistics import mean, median

import numpy as np

from book.advice import Advice
from book.default import human_layouts
from book.letters import mirror_letters
from book.openings import LEVEL_NAMES
from book.store import Book
from junqi.engine import Decision, Engine, EngineOptions, parse_options
from junqi.layout import format_layout, random_layouts
from junqi.layout_file import gather_layouts
from junqi.pieces import RED
from junqi.player import ViewPlayer
from junqi.players import make_decider
from junqi.program import Shelf, StoredMoves
from junqi.referee import play_game
from junqi.rules import Move
from junqi.stats import score_of_pairs
from junqi.view import View

TOLD = (1, 2, 3, 4, 6, 8, 10)
BINS = 8


@dataclass(frozen=True)
class Plan:
    """One game."""

    book: str
    options: str
    seed: int
    red: str
    """Layouts."""
    black: str
    players: tuple[str, str]
    """``book``, ``plain`` (the same engine without opening moves) or a player's name."""


@dataclass
class Told:
    """What one player of a game did."""

    score: float
    sources: list[str]
    """Of each move: ``book``, ``search`` and so on."""
    seconds: list[float]
    advice: list[tuple[int, float | None]]
    """Level and stored value of the moves from the book."""


class Watched:
    """An engine that tells where its moves come from."""

    def __init__(self, plan: Plan, has_book: bool) -> None:
        options = replace(parse_options(plan.options), seed=plan.seed)
        self.told = Told(0.0, [], [], [])
        stored = StoredMoves(Shelf((plan.book,), print), options) if has_book else None
        self._engine = Engine(options, print, opening=stored, watch=self._watch)
        self._stored = stored
        self._engine.load()

    def layout(self, is_first: bool, rules: object) -> str:
        """Never asked: layouts are given."""
        raise NotImplementedError

    def move(self, view: View, seconds_left: float) -> Move:
        """The engine's move."""
        return self._engine.move(view, seconds_left)

    def _watch(self, view: View, decision: Decision) -> None:
        self.told.sources.append(decision.source)
        self.told.seconds.append(decision.seconds)
        if decision.source == "book" and self._stored is not None and self._stored.last:
            advice: Advice = self._stored.last
            self.told.advice.append((advice.level, advice.row.score))


def play(plan: Plan) -> list[Told | None]:
    """Play a game; what each player did, None for one that is not watched."""
    deciders = [
        Watched(plan, name == "book")
        if name in ("book", "plain")
        else make_decider(name, plan.seed + 1)
        for name in plan.players
    ]
    red, black = (
        ViewPlayer(decider, name, layout=layout)
        for decider, name, layout in zip(
            deciders, plan.players, (plan.red, plan.black), strict=True
        )
    )
    winner = play_game(red, black).outcome.winner
    told: list[Told | None] = []
    for side, decider in enumerate(deciders):
        if isinstance(decider, Watched):
            decider.told.score = 0.5 if winner < 0 else float(winner == side)
            told.append(decider.told)
        else:
            told.append(None)
    return told


def own_layouts(options: argparse.Namespace) -> Callable[[random.Random], str]:
    """Draws layouts from the book's mixture, each mirrored by a coin flip."""
    with Book.open(options.book, read_only=True) as book:
        rows = book.mixture()
    letters, weights = [row.layout for row in rows], [row.weight for row in rows]

    def draw(lots: random.Random) -> str:
        layout = lots.choices(letters, weights)[0]
        return mirror_letters(layout) if lots.random() < 0.5 else layout

    return draw


def enemy_layouts(word: str, seed: int) -> list[str]:
    """People's layouts, random ones, or those of a file."""
    if word == "human":
        return human_layouts()
    if word.startswith("random:"):
        return [format_layout(row) for row in random_layouts(int(word[7:]), seed)]
    return [layout.text for layout in gather_layouts([word])]


def coverage(options: argparse.Namespace) -> None:
    """The share of the n-th own moves answered, and whether values foretell results."""
    draw, enemies = own_layouts(options), enemy_layouts(options.layouts, options.seed)
    players = options.players.split(",")
    plans = []
    for number in range(options.games):
        lots = random.Random(f"coverage {options.seed} {number}")
        own, enemy = draw(lots), lots.choice(enemies)
        pair = ("book", players[number // 2 % len(players)])
        seed = lots.getrandbits(40)
        plans.append(
            Plan(options.book, options.options, seed, own, enemy, pair)
            if number % 2 == 0
            else Plan(options.book, options.options, seed, enemy, own, (pair[1], pair[0]))
        )
    with ProcessPoolExecutor(options.workers) as pool:
        games = [told for game in pool.map(play, plans) for told in game if told is not None]
    print(f"games      {len(games)}, score {100 * mean(told.score for told in games):.1f} %")
    for n in TOLD:
        reached = [told for told in games if len(told.sources) >= n]
        answered = sum(told.sources[n - 1] == "book" for told in reached)
        print(
            f"own move {n:2} {100 * answered / max(len(reached), 1):5.1f} % of {len(reached)} games"
        )
    levels = [level for told in games for level, _ in told.advice]
    print("by key     " + ", ".join(f"{n} {levels.count(i)}" for i, n in enumerate(LEVEL_NAMES)))
    stored = [s for t in games for s, by in zip(t.seconds, t.sources, strict=True) if by == "book"]
    if stored:
        print(
            f"stored     {1e3 * median(stored):.2f} ms a move, at most {1e3 * max(stored):.1f} ms"
        )
    pairs = [(value, told.score) for told in games for _, value in told.advice if value is not None]
    print_calibration(pairs)


def print_calibration(pairs: list[tuple[float, float]]) -> None:
    """Stored values against results."""
    if len(pairs) < 2 * BINS:
        return
    values, results = np.array(pairs).T
    print(f"stored values and results: correlation {np.corrcoef(values, results)[0, 1]:.2f}")
    print("   value  result  moves")
    for part in np.array_split(np.argsort(values, kind="stable"), BINS):
        print(f"  {values[part].mean():6.3f}  {results[part].mean():6.3f}  {len(part)}")


def worth(options: argparse.Namespace) -> None:
    """The engine with opening moves against the same one without."""
    draw = own_layouts(options)
    plans = []
    for number in range(options.games // 2):
        lots = random.Random(f"worth {options.seed} {number}")
        red, black, seed = draw(lots), draw(lots), lots.getrandbits(40)
        for players in (("book", "plain"), ("plain", "book")):
            plans.append(Plan(options.book, options.options, seed, red, black, players))
    with ProcessPoolExecutor(options.workers) as pool:
        games = list(pool.map(play, plans))
    book = [game[plan.players.index("book")] for plan, game in zip(plans, games, strict=True)]
    plain = [game[plan.players.index("plain")] for plan, game in zip(plans, games, strict=True)]
    scores = np.array([told.score for told in book if told]).reshape(-1, 2)
    print(f"with opening moves {score_of_pairs(scores.mean(axis=1))} in {len(games)} games")
    for name, side in (("with", book), ("without", plain)):
        early = mean(sum(told.seconds[:10]) for told in side if told)
        whole = mean(sum(told.seconds) for told in side if told)
        print(f"{name:<8} {early:.2f} s for the first ten own moves, {whole:.2f} s for a game")
    moves = [source for told in book if told for source in told.sources[:10]]
    print(f"of the first ten own moves {100 * moves.count('book') / len(moves):.0f} % were stored")


def lookup(options: argparse.Namespace) -> None:
    """How long the engine waits for the book, found or not."""
    draw, lots = own_layouts(options), random.Random(options.seed)
    stored = StoredMoves(Shelf((options.book,), print), EngineOptions(seed=1))
    times = []
    for _ in range(options.games):
        view = View.start(RED, draw(lots))
        begin = time.perf_counter()
        stored(view)
        times.append(time.perf_counter() - begin)
    late = sorted(times[1:])[-len(times) // 100 or -1]
    show = [f"{1e3 * value:.2f} ms" for value in (times[0], median(times), late)]
    print(f"first {show[0]}, median {show[1]}, 99 % {show[2]}")


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description="What opening moves are worth.")
    parser.add_argument("what", choices=("coverage", "worth", "lookup"))
    parser.add_argument("--book", required=True)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--options", default="movetime=0.05,threads=1", help="Of the engine.")
    parser.add_argument("--players", default="search:3x9,policy,search:4x3", help="Opponents.")
    parser.add_argument("--layouts", default="human", help="Of opponents: human, random:N, FILE.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    {"coverage": coverage, "worth": worth, "lookup": lookup}[options.what](options)


if __name__ == "__main__":
    main()
