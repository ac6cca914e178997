"""The table of a group or final: everybody against everybody, in the order of the places."""

from dataclasses import dataclass

from junqi.pieces import NOBODY
from junqi.standings import WIN_POINTS, Game, count_points
from junqi.tournament import Table


@dataclass(frozen=True)
class Row:
    """A player in a crosstable."""

    place: int
    """From 1; players that share a place have the same."""
    name: str
    points: int
    wins: int
    draws: int
    losses: int
    against: dict[str, tuple[int, ...]]
    """The points against each opponent: as red, then as black."""


def crosstable(table: Table) -> list[Row]:
    """The rows of a table, the best first."""
    order = table.ranking.order
    points = count_points(order, table.games)
    rows = []
    for shared in table.ranking.places:
        place = order.index(shared[0]) + 1
        for name in shared:
            own = [game for game in table.games if name in (game.red, game.black)]
            draws = sum(game.winner == NOBODY for game in own)
            wins = sum(_points_of(name, game) == WIN_POINTS for game in own)
            against = {
                other: tuple(
                    _points_of(name, game)
                    for game in sorted(own, key=lambda game: game.red != name)
                    if other in (game.red, game.black)
                )
                for other in order
                if other != name
            }
            losses = len(own) - wins - draws
            rows.append(Row(place, name, points[name], wins, draws, losses, against))
    return rows


def crosstable_cells(table: Table) -> tuple[list[str], list[list[str]]]:
    """The headings and the lines of a table for reading; opponents are called by their lines."""
    rows = crosstable(table)
    headings = ["place", "player", "points", "won", "drawn", "lost"]
    headings += [str(number) for number in range(1, len(rows) + 1)]
    lines = []
    for row in rows:
        cells = [str(n) for n in (row.points, row.wins, row.draws, row.losses)]
        cells += [
            " ".join(map(str, row.against[other.name])) if other is not row else "-"
            for other in rows
        ]
        lines.append([str(row.place), row.name, *cells])
    return headings, lines


def _points_of(name: str, game: Game) -> int:
    red, black = game.points
    return red if name == game.red else black
