"""Measure variants of the engine's search against each other and against the simulated players.

    python scripts/measure_thinker.py "depth=3 horizon=16" search:3x9 --pairs 50 --seconds 0.05
    python scripts/measure_thinker.py "trust=0" "" --pairs 50 --worlds 48
    python scripts/measure_thinker.py "worlds=512" "worlds=64" --pairs 50
    python scripts/measure_thinker.py "" search:3x9 --ours mine.txt --theirs theirs.txt
    python scripts/measure_thinker.py "" "trust=0.5" --worlds 16 --pairs 2000 --sprt 0 30
    python scripts/measure_thinker.py "" "presses=0" --worlds 16 --pairs 500 --pieces 22

A player is a simulated one by its name, or changes to `thinker.ThinkWeights` (nothing for the
search as it is), with `worlds=N` or `seconds=T` for a budget of its own, and `by_hand=1` to count
by the simulated search's weights instead of what was learned. Pairs of games swap the colours on
the same two layouts of people, drawn at random, and the layouts too; with --ours the first player
keeps to layouts of that file. With --pieces a game begins late: `search:3x3` plays it until no more
pieces than that are left.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from book.default import human_layouts
from junqi.board import POINTS
from junqi.deduce import SLOTS
from junqi.judge_player import JudgePlayer
from junqi.kernels.value import KIND_COUNT, Net
from junqi.layout import format_layout as letters
from junqi.layout import mirror_layout, parse_layout
from junqi.learned import learned_net
from junqi.match_stats import Sprt
from junqi.pieces import NOBODY, RED
from junqi.player import Decider, ViewPlayer
from junqi.referee import play_game
from junqi.rules import Move, Position, Reason, Rules, play
from junqi.simulate import parse_judge
from junqi.simulate import play_game as simulate_game
from junqi.stats import score_of_pairs
from junqi.thinker import SCALE, Thinker, ThinkWeights
from junqi.view import View
from junqi.weights import SearchWeights, search_tables


@dataclass(frozen=True)
class Plan:
    """One pair of games."""

    players: tuple[str, str]
    layouts: tuple[str, str]
    seed: int
    seconds: float
    worlds: int | None
    keeps_layout: bool
    pieces: int


class Led:
    """A player who takes over from a game that others have begun; a `player.Decider`."""

    def __init__(self, decider: Decider, begun: list[Move]) -> None:
        self._decider = decider
        self._begun = begun

    def layout(self, is_first: bool, rules: Rules) -> str:
        """What the player himself would say."""
        return self._decider.layout(is_first, rules)

    def move(self, view: View, seconds_left: float) -> Move:
        """The move of the game that was begun, then the player's own."""
        ply = len(view.plies)
        if ply >= len(self._begun):
            return self._decider.move(view, seconds_left)
        move = self._begun[ply]
        return move if view.side == RED else move.rotated()


def begun_game(layouts: Sequence[str], seed: int, pieces: int) -> list[Move]:
    """The plies of a simulated game until so many pieces are left, or all but its last."""
    first, second = (parse_layout(text) for text in layouts)
    moves, _ = simulate_game(first, second, seed, parse_judge("search:3x3"))
    position = Position.from_layouts(first, second)
    for ply, move in enumerate(moves):
        if POINTS - position.owners.count(NOBODY) <= pieces:
            return moves[:ply]
        position, _ = play(position, move)
    return moves[:-1]


def weights_of(changes: dict[str, str]) -> ThinkWeights:
    """The search's weights, changed."""
    known = ThinkWeights()
    return replace(known, **{n: type(getattr(known, n))(float(v)) for n, v in changes.items()})


class Thinking:
    """The search as a player; a `player.Decider`."""

    def __init__(self, changes: str, plan: Plan) -> None:
        values = dict(word.split("=") for word in changes.split())
        self._seconds = float(values.pop("seconds", plan.seconds))
        worlds = int(values.pop("worlds", plan.worlds or 0)) or None
        is_by_hand = bool(int(values.pop("by_hand", 0)))
        self._thinker = Thinker(1, plan.seed, effort=worlds, weights=weights_of(values))
        if is_by_hand:
            self._thinker._judgement = self._thinker._judgement._replace(net=net_by_hand())

    def layout(self, is_first: bool, rules: Rules) -> str:
        """Never asked: layouts are given."""
        raise NotImplementedError

    def move(self, view: View, seconds_left: float) -> Move:
        """What the search thinks best."""
        return self._thinker.think(view, self._seconds, self._seconds).move


def net_by_hand() -> Net:
    """What the simulated search counts, as a net: a number for each piece and place."""
    worths = search_tables(SearchWeights()).worths
    places = np.zeros((2, 2, KIND_COUNT, POINTS), np.float32)
    for crossed, owner in product(range(2), range(2)):
        sign = 1 if owner == 0 else -1
        worth = worths[0, crossed].reshape(2, 16, 64)[owner, 1 : KIND_COUNT + 1, :POINTS]
        places[crossed, owner] = sign * worth / SCALE
    learned = learned_net()
    return Net(
        np.stack([places.ravel()] * 2),
        *(np.zeros_like(part) for part in (learned.inner, learned.shifts, learned.outer)),
    )


def player(text: str, plan: Plan, layout: str, begun: list[Move]) -> ViewPlayer:
    """A player with a layout, who takes over from a game that was begun."""
    is_thinking = not text or "=" in text
    decider: Decider = (
        Thinking(text, plan) if is_thinking else JudgePlayer(parse_judge(text), plan.seed)
    )
    return ViewPlayer(Led(decider, begun), text, layout=layout)


def play_pair(plan: Plan) -> list[tuple[float, Reason, float]]:
    """Score of the first player, reason and mean seconds of his moves, for both games."""
    rows = []
    for first in (0, 1):
        swaps = 0 if plan.keeps_layout else first
        of_red = plan.layouts if not plan.keeps_layout or first == 0 else plan.layouts[::-1]
        begun = begun_game(of_red, plan.seed, plan.pieces)
        seats = [player(plan.players[i], plan, plan.layouts[i ^ swaps], begun) for i in (0, 1)]
        red, black = (seats[0], seats[1]) if first == 0 else (seats[1], seats[0])
        result = play_game(red, black)
        winner = result.outcome.winner
        score = 0.5 if winner < 0 else float(winner == first)
        thought = result.seconds[first]
        rows.append((score, result.outcome.reason, sum(thought) / max(1, len(thought))))
    return rows


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main() -> None:
    """Play the match that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--worlds", type=int, help="for each move, instead of seconds")
    parser.add_argument(
        "--sprt", type=float, nargs=2, metavar="ELO", help="stop when one of two is decided for"
    )
    parser.add_argument("--pieces", type=int, default=2 * SLOTS, help="at the beginning, at most")
    parser.add_argument("--ours", type=Path, help="layouts of the first player, one a line")
    parser.add_argument("--theirs", type=Path, help="layouts of the second player, or of both")
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    theirs = options.theirs.read_text().split() if options.theirs else human_layouts()
    ours = options.ours.read_text().split() if options.ours else theirs

    def draw(layouts: Sequence[str]) -> str:
        layout = layouts[int(random.integers(len(layouts)))]
        return letters(mirror_layout(parse_layout(layout))) if random.random() < 0.5 else layout

    plans = [
        Plan(
            (options.first, options.second),
            (draw(ours), draw(theirs)),
            1_000_000 * options.seed + number,
            options.seconds,
            options.worlds,
            options.ours is not None,
            options.pieces,
        )
        for number in range(options.pairs)
    ]
    test = Sprt(*options.sprt) if options.sprt else None
    counts = [0] * 5
    pairs = []
    with ProcessPoolExecutor(cores()) as pool:
        for pair in pool.map(play_pair, plans):
            pairs.append(pair)
            counts[int(2 * sum(game[0] for game in pair))] += 1
            print(f"\r{len(pairs)} of {len(plans)} pairs {counts}", end="", file=sys.stderr)
            if test is not None and test.decision(counts) is not None:
                pool.shutdown(cancel_futures=True)
                break
    print(file=sys.stderr)
    games = [game for pair in pairs for game in pair]
    score = score_of_pairs(np.array([[game[0] for game in pair] for pair in pairs]).mean(axis=1))
    low, high = score.interval
    print(f"{100 * score.mean:.1f} % ({100 * low:.1f} to {100 * high:.1f}), {len(games)} games")
    if test is not None:
        told = {"elo1": "accepted", "elo0": "refused", None: "not decided"}
        ratio = f"log-likelihood ratio {test.ratio(counts):.2f}"
        print(
            f"{test.elo1:g} Elo rather than {test.elo0:g}: {told[test.decision(counts)]}, {ratio}"
        )
    print(f"{1000 * np.mean([game[2] for game in games]):.1f} ms a move of the first player")
    for name, value in (("won", 1.0), ("lost", 0.0)):
        ends = Counter(game[1].text for game in games if game[0] == value)
        print(name, ", ".join(f"{count} by {reason}" for reason, count in ends.most_common()))


if __name__ == "__main__":
    main()
