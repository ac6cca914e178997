"""Who meets whom: round robins, and groups drawn by lot."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

Player = TypeVar("Player")

GROUP_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

# Draws of groups of which the one that separates schools best is taken.
_DRAWS = 200


def round_robin(players: Sequence[Player]) -> list[list[tuple[Player, Player]]]:
    """Rounds in which everybody meets everybody once, and nobody plays twice in a round.

    With an odd number of players one of them has a rest in each round. The first of a pair moves
    first in its first game, which is as even as can be over all rounds.

    >>> round_robin("ABCD")
    [[('A', 'D'), ('B', 'C')], [('D', 'C'), ('A', 'B')], [('B', 'D'), ('C', 'A')]]
    """
    places: list[Player | None] = [*players]
    if len(places) % 2:
        places.append(None)
    # Everybody but the last moves on by one place after each round.
    circle, last = places[:-1], places[-1]
    half = len(places) // 2
    rounds = []
    for number in range(len(circle)):
        row = [circle[(number * half + i) % len(circle)] for i in range(len(circle))]
        pairs = [(row[0], last) if number % 2 == 0 else (last, row[0])]
        pairs += [(row[i], row[-i]) for i in range(1, half)]
        rounds.append([(one, two) for one, two in pairs if one is not None and two is not None])
    return rounds


def group_sizes(players: int, groups: int) -> list[int]:
    """How many players each group has: the first ones have one more if need be.

    >>> group_sizes(8, 3)
    [3, 3, 2]
    """
    return [players // groups + (group < players % groups) for group in range(groups)]


def draw_groups(
    players: Sequence[str],
    groups: int,
    rng: np.random.Generator,
    *,
    placed: Mapping[str, int] | None = None,
    schools: Mapping[str, str] | None = None,
) -> list[list[str]]:
    """Draw groups by lot, each in the order of the players.

    Args:
        players: everybody.
        groups: how many.
        rng: draws the lots.
        placed: players whose groups are given, by numbers from 0; there must be room.
        schools: of players; those of one school are kept apart as far as a few draws can.
    """
    placed, schools = placed or {}, schools or {}
    others = [player for player in players if player not in placed]
    room = group_sizes(len(players), groups)
    for group in placed.values():
        room[group] -= 1
    seats = np.repeat(np.arange(groups), room)
    best: list[list[str]] = []
    fewest: int | None = None
    for _ in range(_DRAWS if schools else 1):
        drawn = {**placed, **dict(zip(others, map(int, rng.permutation(seats)), strict=True))}
        found = [[p for p in players if drawn[p] == group] for group in range(groups)]
        clashes = sum(_clashes([schools[p] for p in group if p in schools]) for group in found)
        if fewest is None or clashes < fewest:
            best, fewest = found, clashes
        if clashes == 0:
            break
    return best


def _clashes(schools: Sequence[str]) -> int:
    """How often a school is there once more."""
    return len(schools) - len(set(schools))
