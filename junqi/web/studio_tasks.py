"""What the studio computes of a layout: its scores, who beats it, and which swaps would change it.

Games are played in parts, and the page is told after each. The seed makes everything: the same
layout gets the same scores as long as a server runs, and two layouts meet the same opponents with
the same seeds, so that they compare better than their intervals say.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from junqi.board import point_name
from junqi.games import play_games, warm_up
from junqi.layout import LAYOUT_POINTS, Layout, format_layout, parse_layout, parse_layouts
from junqi.panel import Panel
from junqi.pieces import RED
from junqi.record import Record, format_record
from junqi.replay import record_game
from junqi.rules import Move, Position
from junqi.simulate import (
    Judge,
    Results,
    Seeds,
    game_seeds,
    parse_judge,
    play_game,
)
from junqi.stats import NORMAL_95, Score, score_of_pairs
from junqi.web.studio_bench import Look, Task, Tell
from junqi.web.studio_check import good_swaps, swap_letters, to_layout
from layout_search.fitness import Opponents, draw, play_colours, play_pairs
from layout_search.workers import Workers

FAST, STRONG = "policy", "search:3x3"

# Pairs of games between two messages, and pairs in all, by whether the judge is a slow one. The
# error bars end at about 0.6 % and 3 % on each side.
PART = {False: 500, True: 6}
PAIRS = {False: 12_000, True: 480}
# Of a counter by the stronger judge.
SECOND_OPINION = 96
# Games tried for one that the counter wins.
SAMPLES = 20

# Rounds of the race of swaps: pairs of games of each, and how many of the best and as many of the
# worst go on to it. Every round is told by its own games alone, so that no swap stays on top by the
# luck that brought it there.
RACE = ((100, None), (500, 24), (2500, 10))
# Swaps that play in one call, so that the page hears of them.
SWAPS_AT_ONCE = 32

_SCORE, _ATTACK, _OPINION, _SAMPLE, _SWAPS = range(300, 305)


@dataclass(frozen=True)
class StoppableThreads(Workers):
    """Threads that play games as long as they are wanted."""

    number: int
    look: Look

    def play(self, first: Layout, second: Layout, seeds: Seeds, judge: Judge) -> Results:
        """Play one game for each seed."""
        self.look()
        return play_games(
            first,
            second,
            seeds,
            judge,
            threads=self.number,
            progress=lambda _games: self.look(),
        )


def score_task(
    letters: str, panels: Mapping[str, Panel], judge_name: str, seed: int, threads: int
) -> Task:
    """Score a layout against several panels at once, until the error bars are short."""

    def task(tell: Tell, look: Look) -> None:
        workers = StoppableThreads(threads, look)
        judge = parse_judge(judge_name)
        is_slow = judge.is_slow
        warm_up(judge)
        layout = parse_layout(letters)
        tallies = {
            name: _tally(layout, _opponents(panel), (seed, _SCORE, place), judge, workers)
            for place, (name, panel) in enumerate(panels.items())
        }
        rows: dict[str, dict[str, Any]] = {}
        for _ in range(-(-PAIRS[is_slow] // PART[is_slow])):
            for name, tally in tallies.items():
                rows[name] = next(tally)
                tell(rows=rows)

    return task


def counter_task(
    letters: str, hints: Sequence[str], seconds: float, seed: int, threads: int
) -> Task:
    """Search for the layout that beats this one most, and play a game to show how.

    Args:
        hints: layouts that some of the searches begin from.
        seconds: after which no more searches are begun.
    """

    def task(tell: Tell, look: Look) -> None:
        workers = StoppableThreads(threads, look)
        # Needed by nothing else of the page.
        from layout_search.attack import attack

        target = parse_layout(letters)
        opponents = Opponents(target[None], np.ones(1))
        found = attack(
            opponents,
            parse_layouts([letters, *hints]),
            minutes=seconds / 60,
            seed=seed,
            judge=FAST,
            workers=workers,
            report=lambda attempts, best: tell(attempts=attempts, best=best),
        )
        scores = {FAST: _told(found.score) | {"games": found.games}}
        counter = format_layout(found.layout)
        tell(counter=counter, scores=scores, attempts=found.attempts, games=found.all_games)
        record = _sample(found.layout, target, seed, look)
        tell(plies=len(record.plies), is_won=_is_won(record), record=format_record(record))
        judge = parse_judge(STRONG)
        tally = _tally(found.layout, opponents, (seed, _OPINION), judge, workers)
        for _ in range(SECOND_OPINION // PART[True]):
            scores[STRONG] = next(tally)
            tell(scores=scores)

    return task


def swaps_task(letters: str, panel: Panel, seed: int, threads: int) -> Task:
    """Race all single swaps of a layout: which gain most, and which cost most?"""

    def task(tell: Tell, look: Look) -> None:
        workers = StoppableThreads(threads, look)
        judge = parse_judge(FAST)
        warm_up(judge)
        opponents = _opponents(panel)
        racing = good_swaps(letters)
        for number, (pairs, survivors) in enumerate(RACE):
            name = (seed, _SWAPS, number)
            enemies = draw(opponents, pairs, name)
            if survivors is not None and len(racing) > 2 * survivors:
                racing = racing[:survivors] + racing[-survivors:]

            def play(layouts: Layout, enemies: Layout = enemies, name: Any = name) -> Any:
                own = np.repeat(layouts, len(enemies), axis=0)
                met = np.tile(enemies, (len(layouts), 1))
                scores = play_pairs(own, met, len(enemies), name, judge, workers)
                return scores.reshape(len(layouts), len(enemies))

            base = play(to_layout(letters)[None])[0]
            rows: list[dict[str, Any]] = []
            for start in range(0, len(racing), SWAPS_AT_ONCE):
                part = racing[start : start + SWAPS_AT_ONCE]
                changed = np.stack([to_layout(swap_letters(letters, *swap)) for swap in part])
                gains = play(changed) - base
                rows += [_swap_row(letters, s, g) for s, g in zip(part, gains, strict=True)]
                tell(round=number + 1, rounds=len(RACE), done=len(rows), swaps=len(racing))
            rows.sort(key=lambda row: -row["gain"])
            racing = [row.pop("swap") for row in rows]
            tell(rows=rows, games=2 * pairs, base=_told(score_of_pairs(base)))

    return task


def _opponents(panel: Panel) -> Opponents:
    weights = np.array(panel.weights)
    return Opponents(parse_layouts(panel.texts), weights / weights.sum())


def _tally(
    layout: Layout,
    opponents: Opponents,
    seed: tuple[int, ...],
    judge: Judge,
    workers: Workers,
) -> Iterator[dict[str, Any]]:
    """The score of a layout after each part of its games, without end."""
    parts: list[NDArray[np.float64]] = []
    pairs = PART[judge.is_slow]
    own = np.repeat(layout[None], pairs, axis=0)
    while True:
        name = (*seed, len(parts))
        enemies = draw(opponents, pairs, name)
        parts.append(play_colours(own, enemies, pairs, name, judge, workers))
        scores = np.concatenate(parts, axis=1)
        first, second = scores.mean(axis=1).tolist()
        told = _told(score_of_pairs(scores.mean(axis=0)))
        yield told | {"games": scores.size, "first": first, "second": second}


def _told(score: Score) -> dict[str, Any]:
    low, high = score.interval
    return {"score": score.mean, "low": low, "high": high}


def _swap_row(letters: str, swap: tuple[int, int], gains: NDArray[np.float64]) -> dict[str, Any]:
    """One swap: what it changes, from the same games with and without it."""
    mean = float(gains.mean())
    reach = NORMAL_95 * float(gains.std()) / len(gains) ** 0.5
    return {
        "swap": swap,
        "points": [point_name(LAYOUT_POINTS[index]) for index in swap],
        "letters": swap_letters(letters, *swap),
        "gain": mean,
        "low": mean - reach,
        "high": mean + reach,
    }


def _sample(counter: Layout, target: Layout, seed: int, look: Look) -> Record:
    """A game of the stronger judge between the two: one that the counter wins, if it can."""
    judge = parse_judge(STRONG)
    number = int(np.random.SeedSequence((seed, _SAMPLE)).generate_state(1)[0])
    for game_seed in game_seeds(number, SAMPLES).tolist():
        look()
        moves = iter(play_game(counter, target, game_seed, judge)[0])

        def next_move(_position: Position, _legal: list[Move], moves: Any = moves) -> Move:
            move: Move = next(moves)
            return move

        played = record_game(format_layout(counter), format_layout(target), next_move)
        record = replace(
            played, red="counter", black="layout", event=f"a sample by {STRONG}", seed=game_seed
        )
        if _is_won(record):
            break
    return record


def _is_won(record: Record) -> bool:
    return record.outcome is not None and record.outcome.winner == RED
