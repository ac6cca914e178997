"""How much worse the moves are that the engine's search chooses in little time.

    python scripts/measure_choices.py "seconds=0.1" "seconds=0.3" "seconds=1" --positions 300
    python scripts/measure_choices.py "seconds=0.3" "seconds=0.3 passes=0"

Players are written as in `measure_thinker.py`. Each chooses a move in the same positions, one of
each of many games of `search:3x3` with people's layouts. Then a longer thought looks at the chosen
moves alone, and tells what each falls short of the best of them, in chances to win. That takes a
small part of the time of a match, but what it shows is agreement with our own search: only a match
tells strength.
"""

import argparse
import copy
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from measure_thinker import cores, weights_of

from book.default import human_layouts
from junqi.board import seen_from
from junqi.layout import format_layout, mirror_layout, parse_layouts
from junqi.pieces import BLACK, RED
from junqi.rules import Move, Position, play
from junqi.simulate import parse_judge, play_game
from junqi.thinker import Thinker, ThinkWeights
from junqi.view import View

# Positions that are as good as decided tell nothing; which are is seen in so many worlds.
LEAST_CHANCE, MOST_CHANCE = 0.05, 0.95
WORLDS = 64


@dataclass(frozen=True)
class Task:
    """One position, and who chooses in it."""

    players: tuple[str, ...]
    seconds: float
    seed: int


def views(seed: int) -> Iterator[View]:
    """Own turns, one of each game."""
    random = np.random.default_rng(seed)
    people = parse_layouts(human_layouts())
    judge = parse_judge("search:3x3")
    while True:
        pair = [people[random.integers(len(people))] for _ in range(2)]
        pair = [mirror_layout(layout) if random.random() < 0.5 else layout for layout in pair]
        moves, _ = play_game(pair[0], pair[1], int(random.integers(1 << 40)), judge)
        ply = int(random.integers(len(moves)))
        side = (RED, BLACK)[ply % 2]
        position, view = Position.from_layouts(*pair), View.start(side, format_layout(pair[side]))
        for move in moves[:ply]:
            position, result = play(position, move)
            flag = position.told_flag(1 - side)
            told = None if flag is None else seen_from(flag, side)
            view = view.after(move if side == RED else move.rotated(), result, told)
        yield view


def open_view(seed: int) -> View:
    """The first that leaves a choice and is not decided."""
    thinker = Thinker(1, seed, effort=WORLDS)
    for view in views(seed):
        chance = thinker.think(view, 1.0, 1.0).value
        if len(view.legal_moves()) > 1 and LEAST_CHANCE < chance < MOST_CHANCE:
            return view
    raise AssertionError("there is always another game")


def among(view: View, moves: list[Move]) -> View:
    """The same view as if no moves but these were legal."""
    narrowed = copy.copy(view)
    object.__setattr__(narrowed, "legal_moves", lambda: moves)
    return narrowed


def choose(text: str, seed: int, view: View) -> Move:
    """What a player chooses."""
    values = dict(word.split("=") for word in text.split())
    seconds = float(values.pop("seconds", 0.1))
    return Thinker(1, seed, weights=weights_of(values)).think(view, seconds, seconds).move


def shortfalls(task: Task) -> list[float]:
    """What each player's choice falls short of the best of all."""
    view = open_view(task.seed)
    choices = [choose(text, task.seed, view) for text in task.players]
    found = sorted(set(choices))
    if len(found) == 1:
        return [0.0] * len(choices)
    judge = Thinker(1, task.seed + 1, weights=ThinkWeights(races=False))
    thought = judge.think(among(view, found), task.seconds, task.seconds)
    values = {candidate.move: candidate.value for candidate in thought.candidates}
    return [max(values.values()) - values[choice] for choice in choices]


def main() -> None:
    """Let the players of the command line choose."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("players", nargs="+")
    parser.add_argument("--positions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=6.0, help="of the longer thought")
    options = parser.parse_args()
    seeds = np.random.default_rng(options.seed).integers(1 << 40, size=options.positions)
    tasks = [Task(tuple(options.players), options.seconds, seed) for seed in seeds.tolist()]
    rows = []
    with ProcessPoolExecutor(cores()) as pool:
        for row in pool.map(shortfalls, tasks):
            rows.append(row)
            print(f"\r{len(rows)} of {len(tasks)} positions", end="", file=sys.stderr)
    print(file=sys.stderr)
    table = 100 * np.array(rows)
    for number, text in enumerate(options.players):
        print(f"{text}: {told(table[:, number])} % short", end="")
        best = 100 * (table[:, number] == 0).mean()
        less = table[:, 0] - table[:, number]
        print(f", the best in {best:.0f} %, less than the first by {told(less)} %")


def told(values: np.ndarray) -> str:
    """A mean with its 95 % interval."""
    return f"{values.mean():.2f} ± {1.96 * values.std(ddof=1) / len(values) ** 0.5:.2f}"


if __name__ == "__main__":
    main()
