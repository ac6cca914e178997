"""Compare the kernels with rules.py on the positions of simulated games.

The kernels play games by all judges and by all settings of the rules. Each is replayed by rules.py:
at every position both list the same legal moves, the move played is one of them, the game goes on
exactly while the rules say so, and both name the same winner and reason. At the first difference
the game is printed and the exit code is 1:

    python scripts/check_kernels.py --positions 1000000
"""

import argparse
import itertools
import sys
import time
from typing import Iterator, NamedTuple

from junqi import kernel_rules
from junqi.layout import Layout, format_layout, random_layouts
from junqi.rules import Position, Rules, contact_of, format_move, legal_moves, outcome, settle
from junqi.simulate import parse_judge, play_game, play_games

JUDGES = ("random", "policy", "search:2x2")
# Long and short games, and both readings of what the rule book leaves open.
SETTINGS = tuple(
    Rules(steps=steps, steps_loser=loser, flag_first=flag_first)
    for steps, loser, flag_first in itertools.product((31, 5), ("mover", "next"), (True, False))
)


class Disagreement(Exception):
    """The kernels and the rules differ."""


class Game(NamedTuple):
    """All that decides a simulated game."""

    first: Layout
    second: Layout
    seed: int
    judge: str
    second_judge: str
    rules: Rules

    def __str__(self) -> str:
        return (
            f"{format_layout(self.first)} {self.judge} against {format_layout(self.second)} "
            f"{self.second_judge}, seed {self.seed}, {self.rules}"
        )


def check_game(game: Game) -> int:
    """Compare one game; returns the number of its positions.

    Raises:
        Disagreement: with the game, the ply and what differs.
    """
    first_judge, second_judge = parse_judge(game.judge), parse_judge(game.second_judge)
    moves, end = play_game(
        game.first, game.second, game.seed, first_judge, second_judge, game.rules
    )
    position = Position.from_layouts(game.first, game.second)
    for ply, move in enumerate([*moves, None]):
        legal = legal_moves(position)
        by_kernels = kernel_rules.legal_moves(position)
        told = outcome(position, game.rules)
        if by_kernels != legal:
            odd = ", ".join(format_move(m) for m in sorted({*legal} ^ {*by_kernels}))
            raise Disagreement(f"{game}: ply {ply}: {odd} is a move for one only")
        if move is None:
            if told != end:
                raise Disagreement(f"{game}: ends by {told}, for the kernels by {end}")
            break
        if told is not None:
            raise Disagreement(f"{game}: ply {ply}: goes on after {told}")
        if move not in legal:
            raise Disagreement(f"{game}: ply {ply}: {format_move(move)} is not legal")
        position = settle(position, move, contact_of(position, move))
    batch = play_games(
        game.first, game.second, [game.seed], first_judge, second_judge, rules=game.rules, threads=1
    )
    if [int(array[0]) for array in batch] != [*end, len(moves)]:
        raise Disagreement(f"{game}: another game when played among many")
    return len(moves) + 1


def games(seed: int) -> Iterator[Game]:
    """Games without end on random layouts, by all pairs of judges and all settings in turn."""
    pairs = itertools.product(JUDGES, JUDGES)
    kinds = itertools.cycle(itertools.product(SETTINGS, pairs))
    for number, (rules, (judge, second_judge)) in enumerate(kinds):
        first, second = random_layouts(2, seed + number)
        yield Game(first, second, seed + number, judge, second_judge, rules)


def main() -> int:
    """Read the options and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--positions", type=int, default=1_000_000, help="at least so many")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    begin = told = time.monotonic()
    positions = 0
    for number, game in enumerate(games(options.seed), start=1):
        try:
            positions += check_game(game)
        except Disagreement as difference:
            print(difference)
            return 1
        now = time.monotonic()
        if positions >= options.positions:
            print(
                f"the kernels and the rules agree on {positions:,} positions of {number:,} games "
                f"(seed {options.seed}, {now - begin:.0f} s)"
            )
            return 0
        if now - told > 5:
            told = now
            print(f"{positions:,} positions, {number:,} games", file=sys.stderr, flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
