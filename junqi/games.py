"""Games by any judge: by the kernels, or by the engine's own search, the judge `think:N`.

The latter is some thirty times slower than `search:3x3`, and the one whose opinion of a layout
counts in the end: he is who will play it.
"""

from functools import partial

from numpy.typing import ArrayLike

from junqi import simulate
from junqi.layout import Layout, format_layout
from junqi.pieces import Side
from junqi.rules import Move, Outcome, Rules
from junqi.simulate import THINK, Judge, Progress, Results
from junqi.view import View
from junqi.view_game import Moves, play_views


class ThoughtfulPlayer:
    """The engine's search in a few worlds, as a player."""

    def __init__(self, worlds: int, seed: int) -> None:
        # Loaded only where it plays: most games are simulated ones.
        from junqi.thinker import Thinker

        self._thinker = Thinker(1, seed, effort=worlds)

    def move(self, view: View, seconds_left: float) -> Move:
        """The move that the search likes best."""
        return Move(*self._thinker.think(view, seconds_left, seconds_left).move)


def decider_of(judge: Judge, seed: int) -> Moves:
    """A judge as a player of real games."""
    if judge.kind == THINK:
        return ThoughtfulPlayer(judge.worlds, seed)
    from junqi.judge_player import JudgePlayer

    return JudgePlayer(judge, seed)


def play_thought_game(
    judges: tuple[Judge, Judge], rules: Rules, first: Layout, second: Layout, seed: int
) -> tuple[list[Move], Outcome]:
    """One game between two judges, each of whom sees his view alone."""
    deciders = [decider_of(judge, 2 * seed + side) for side, judge in enumerate(judges)]

    def choose(mover: Side, view: View) -> Move:
        return deciders[mover].move(view, rules.time)

    moves, end = play_views((format_layout(first), format_layout(second)), choose, rules)
    assert end is not None  # it is never broken off
    return moves, end


def play_games(
    first: ArrayLike,
    second: ArrayLike,
    seeds: ArrayLike,
    judge: Judge,
    second_judge: Judge | None = None,
    *,
    rules: Rules | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Results:
    """Play one game for each seed, as `simulate.play_games` does, by any judges."""
    judges = (judge, second_judge or judge)
    if THINK not in (one.kind for one in judges):
        return simulate.play_games(
            first, second, seeds, *judges, rules=rules, threads=threads, progress=progress
        )
    play_one = partial(play_thought_game, judges, rules or Rules())
    return simulate.play_with(play_one, first, second, seeds, threads=threads, progress=progress)


def warm_up(*judges: Judge) -> None:
    """Compile or load what these judges need, so that what follows runs at full speed."""
    for judge in judges or (simulate.parse_judge("policy"),):
        if judge.kind == THINK:
            decider_of(judge, 0)
        else:
            simulate.warm_up(judge)
