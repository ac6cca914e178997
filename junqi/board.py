"""The 60 points of the board, drawn once as text; the road and rail tables come from the drawing.

A point is a number, row by row from the top left, as red sees the board::

          0   1   2   3   4
    A     0   1   2   3   4
    B     5   6   7   8   9
    ...
    L    55  56  57  58  59

Black sees the same board turned by 180 degrees: point p is 59 - p to the other side.
"""

from typing import TypeAlias

from junqi.errors import InvalidBoard
from junqi.pieces import BLACK, RED, Side

Point: TypeAlias = int

ROWS = 12
COLUMNS = 5
POINTS = ROWS * COLUMNS
ROW_NAMES = "ABCDEFGHIJKL"
COLUMN_NAMES = "01234"

STATION = "s"
CAMP = "C"
HEADQUARTERS = "H"

# Points: s station, C camp, H headquarters. Links between neighbours: = and # rail, - and |
# road, \ and / the diagonal roads of the camps. Nothing links F1 with G1 or F3 with G3.
DRAWING = r"""
    s-H-s-H-s
    | | | | |
    s=s=s=s=s
    #\|/|\|/#
    s-C-s-C-s
    #/|\|/|\#
    s-s-C-s-s
    #\|/|\|/#
    s-C-s-C-s
    #/|\|/|\#
    s=s=s=s=s
    #   #   #
    s=s=s=s=s
    #\|/|\|/#
    s-C-s-C-s
    #/|\|/|\#
    s-s-C-s-s
    #\|/|\|/#
    s-C-s-C-s
    #/|\|/|\#
    s=s=s=s=s
    | | | | |
    s-H-s-H-s
"""

_LINES = [line[4:] for line in DRAWING.strip("\n").splitlines()]


def point_at(row: int, column: int) -> Point:
    """The point in a row (0 for A) and a column."""
    return row * COLUMNS + column


def row_of(point: Point) -> int:
    """The row of a point, 0 for A."""
    return point // COLUMNS


def column_of(point: Point) -> int:
    """The column of a point."""
    return point % COLUMNS


def point_name(point: Point) -> str:
    """Name of a point, like ``G0``."""
    return ROW_NAMES[row_of(point)] + COLUMN_NAMES[column_of(point)]


def parse_point(name: str) -> Point:
    """The point with this name.

    Raises:
        InvalidBoard: if there is no such point.
    """
    if len(name) != 2 or name[0] not in ROW_NAMES or name[1] not in COLUMN_NAMES:
        raise InvalidBoard(f"expected a point from A0 to L4, got {name!r}")
    return point_at(ROW_NAMES.index(name[0]), COLUMN_NAMES.index(name[1]))


def rotate_point(point: Point) -> Point:
    """The point as the player on the other side calls it."""
    return POINTS - 1 - point


def mirror_point(point: Point) -> Point:
    """The point with left and right exchanged."""
    return point_at(row_of(point), COLUMNS - 1 - column_of(point))


def seen_from(point: Point, seat: Side) -> Point:
    """A point of red's board as the player in this seat calls it, and back again."""
    return point if seat == RED else rotate_point(point)


# The mark under each point of the drawing.
PLACE = tuple(_LINES[2 * row_of(p)][2 * column_of(p)] for p in range(POINTS))

CAMPS = tuple(p for p in range(POINTS) if PLACE[p] == CAMP)
HEADQUARTERS_POINTS = {
    BLACK: tuple(p for p in range(POINTS // 2) if PLACE[p] == HEADQUARTERS),
    RED: tuple(p for p in range(POINTS // 2, POINTS) if PLACE[p] == HEADQUARTERS),
}

IS_CAMP = tuple(place == CAMP for place in PLACE)
IS_HEADQUARTERS = tuple(place == HEADQUARTERS for place in PLACE)


def _read_links() -> tuple[list[tuple[Point, Point]], list[tuple[Point, Point]]]:
    """Road links and rail links of the drawing, each pair once, smaller point first."""
    road: list[tuple[Point, Point]] = []
    rail: list[tuple[Point, Point]] = []

    def link(mark: str, a: Point, b: Point) -> None:
        (rail if mark in "=#" else road).append((a, b))

    for row in range(ROWS):
        for column in range(COLUMNS):
            here = point_at(row, column)
            if column + 1 < COLUMNS and (mark := _LINES[2 * row][2 * column + 1]) in "-=":
                link(mark, here, here + 1)
            if row + 1 == ROWS:
                continue
            below = _LINES[2 * row + 1]
            if (mark := below[2 * column]) in "|#":
                link(mark, here, here + COLUMNS)
            if column + 1 < COLUMNS and (mark := below[2 * column + 1]) in "\\/":
                if mark == "\\":
                    link(mark, here, here + COLUMNS + 1)
                else:
                    link(mark, here + 1, here + COLUMNS)
    return sorted(road), sorted(rail)


ROAD_LINKS, RAIL_LINKS = _read_links()


def _neighbours(links: list[tuple[Point, Point]]) -> tuple[tuple[Point, ...], ...]:
    """For each point the points its links lead to, in order."""
    table: list[list[Point]] = [[] for _ in range(POINTS)]
    for a, b in links:
        table[a].append(b)
        table[b].append(a)
    return tuple(tuple(sorted(points)) for points in table)


# One step along any link, and one step along a rail.
NEIGHBOURS = _neighbours(ROAD_LINKS + RAIL_LINKS)
RAIL_NEIGHBOURS = _neighbours(RAIL_LINKS)
IS_RAIL = tuple(bool(points) for points in RAIL_NEIGHBOURS)


def _rail_rays() -> tuple[tuple[tuple[Point, ...], ...], ...]:
    """For each point the straight rail lines that leave it, each listed outwards."""
    table = []
    for start in range(POINTS):
        rays = []
        for first in RAIL_NEIGHBOURS[start]:
            step = first - start
            ray = [first]
            while ray[-1] + step in RAIL_NEIGHBOURS[ray[-1]]:
                ray.append(ray[-1] + step)
            rays.append(tuple(ray))
        table.append(tuple(rays))
    return tuple(table)


RAIL_RAYS = _rail_rays()

# Where an officer gets with one move over an empty board.
REACHED = tuple(
    tuple(sorted({*NEIGHBOURS[p], *(q for ray in RAIL_RAYS[p] for q in ray)}))
    for p in range(POINTS)
)


def distances(goals: tuple[Point, ...], links: tuple[tuple[Point, ...], ...]) -> list[int]:
    """Links from each point to the nearest of some goals.

    Args:
        goals: at least one point.
        links: `NEIGHBOURS` to count steps, `REACHED` to count moves.
    """
    distance = dict.fromkeys(goals, 0)
    frontier = list(goals)
    while frontier:
        point = frontier.pop(0)
        for linked in links[point]:
            if linked not in distance:
                distance[linked] = distance[point] + 1
                frontier.append(linked)
    return [distance[p] for p in range(POINTS)]
