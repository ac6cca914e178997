"""Points, places and ties, by the contest's rules.

A game won counts 2 points, a draw 1. Players that are level are parted by the games among
themselves; if these do not part them, by a pair of blitz games each against each; then by single
games with the colours drawn by lot; and by lot in the end.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from junqi.pieces import NOBODY, RED, Side

WIN_POINTS = 2
DRAW_POINTS = 1


class Step(Enum):
    """How players that are level are parted, one step after the other."""

    DIRECT = "direct result"
    BLITZ = "blitz"
    SINGLE = "single game"
    LOT = "lot"


class Game(NamedTuple):
    """One finished game, as far as it counts."""

    red: str
    black: str
    winner: Side
    """`NOBODY` for a draw."""

    @property
    def points(self) -> tuple[int, int]:
        """Red's and black's."""
        if self.winner == NOBODY:
            return DRAW_POINTS, DRAW_POINTS
        return (WIN_POINTS, 0) if self.winner == RED else (0, WIN_POINTS)


class TieBreak(NamedTuple):
    """A step that was taken among players that were level."""

    step: Step
    points: dict[str, int]
    """Of each player in the games of the step, the best first; none of a lot."""
    order: tuple[str, ...]
    """The players; if it was a lot, in the order that it gave."""

    def __str__(self) -> str:
        if self.step is Step.LOT:
            return f"{self.step.value}: {' before '.join(self.order)}"
        return f"{self.step.value}: {', '.join(f'{name} {n}' for name, n in self.points.items())}"


@dataclass(frozen=True)
class Ranking:
    """Who came where."""

    places: tuple[tuple[str, ...], ...]
    """The best first; players that share a place stand together."""
    ties: tuple[TieBreak, ...]
    """What was done about players that were level, in order."""

    @property
    def order(self) -> list[str]:
        """All players, the best first."""
        return [player for place in self.places for player in place]


def count_points(players: Sequence[str], games: Sequence[Game]) -> dict[str, int]:
    """The points of these players in the games among them, the best first."""
    points = dict.fromkeys(players, 0)
    for game in games:
        if game.red in points and game.black in points:
            red, black = game.points
            points[game.red] += red
            points[game.black] += black
    return dict(sorted(points.items(), key=lambda item: -item[1]))


def rank(
    players: Sequence[str],
    games: Sequence[Game],
    play_off: Callable[[Step, Sequence[str]], Sequence[Game]],
    draw_lots: Callable[[Sequence[str]], Sequence[str]],
    matters: Callable[[int, int], bool] = lambda before, level: True,
) -> Ranking:
    """Find the places of players, having games played where only these can decide.

    Args:
        players: everybody, in the order in which players stand that share a place.
        games: all games that count.
        play_off: plays the blitz or single games among players.
        draw_lots: puts players in an order.
        matters: whether more games are to part so many players that are level, with so many
            before them; else they share their place.
    """
    ties: list[TieBreak] = []
    places: list[tuple[str, ...]] = []

    def part(level: Sequence[str], step: Step) -> None:
        """Add the places of players that are level."""
        before = sum(map(len, places))
        if len(level) == 1 or (step is not Step.DIRECT and not matters(before, len(level))):
            places.append(tuple(level))
        elif step is Step.LOT:
            order = tuple(draw_lots(level))
            ties.append(TieBreak(step, {}, order))
            places.extend((player,) for player in order)
        else:
            among = games if step is Step.DIRECT else play_off(step, level)
            points = count_points(level, among)
            ties.append(TieBreak(step, points, tuple(level)))
            parts = _split(points)
            # A smaller number of players has fewer games among themselves: these may part them.
            is_again = step is Step.DIRECT and len(parts) > 1
            for smaller in parts:
                part(smaller, step if is_again else _NEXT[step])

    for level in _split(count_points(players, games)):
        part(level, Step.DIRECT)
    return Ranking(tuple(places), tuple(ties))


_NEXT = dict(zip(list(Step), list(Step)[1:], strict=False))


def _split(points: Mapping[str, int]) -> list[list[str]]:
    """Players with the same points together, the best first."""
    return [
        [player for player, n in points.items() if n == number]
        for number in sorted(set(points.values()), reverse=True)
    ]
