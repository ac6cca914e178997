"""Games in which the engine's own search plays: the judge `think:N`.

Some hundred times slower than `search:3x3`, and the one whose opinion of a layout counts in the
end: he is who will play it.
"""

from junqi.judge_player import JudgePlayer
from junqi.layout import Layout, format_layout
from junqi.pieces import Side
from junqi.player import Decider
from junqi.rules import Move, Outcome, Rules
from junqi.simulate import THINK, Judge
from junqi.thinker import Thinker
from junqi.view import View
from junqi.view_game import play_views


class ThoughtfulPlayer:
    """The engine's search in a few worlds, as a player; a `player.Decider` with a given layout."""

    def __init__(self, worlds: int, seed: int) -> None:
        self._thinker = Thinker(1, seed, effort=worlds)

    def layout(self, is_first: bool, rules: Rules) -> str:
        """Never asked: layouts are given."""
        raise NotImplementedError

    def move(self, view: View, seconds_left: float) -> Move:
        """The move that the search likes best."""
        return Move(*self._thinker.think(view, seconds_left, seconds_left).move)


def decider_of(judge: Judge, seed: int) -> Decider:
    """A judge as a player of real games."""
    if judge.kind == THINK:
        return ThoughtfulPlayer(judge.worlds, seed)
    return JudgePlayer(judge, seed)


def play_thought_game(
    first: Layout, second: Layout, seed: int, judges: tuple[Judge, Judge], rules: Rules
) -> tuple[list[Move], Outcome]:
    """One game between two judges, each of whom sees his view alone."""
    deciders = [decider_of(judge, 2 * seed + side) for side, judge in enumerate(judges)]

    def choose(mover: Side, view: View) -> Move:
        return deciders[mover].move(view, rules.time)

    moves, end = play_views((format_layout(first), format_layout(second)), choose, rules)
    assert end is not None  # it is never broken off
    return moves, end
