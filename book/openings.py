"""Keys of opening moves: what a player knows at an own turn, as one short word that can be read.

A book keeps its opening moves by own layout and key. Everything is told in own coordinates and for
the canonical one of the layout's two mirror images, so that both colours and both sides of the
board meet in one row. A layout has one flag off the middle and is never its own mirror image, so
there is only one way to fold a view.

Keys come in three levels. An *exact* key tells all that is certain and forgets the rest of the
history: the order of the plies, the times, roundabout ways. A *near* key (``~``) and a *wide* key
(``~~``) stand for a whole class of views: of the enemy's pieces they tell only those that an own
piece can meet soon. docs/openings.md says what exactly each of them holds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from book.errors import BookError
from book.letters import canonical_letters
from junqi.board import Point, mirror_point, parse_point, point_name, row_of
from junqi.deduce import ENEMY_STARTS, TURN, facts_of
from junqi.errors import IllegalMove
from junqi.layout import FRONT_ROW, LAYOUT_POINTS, parse_layout
from junqi.pieces import (
    ATTACKER_WINS,
    BLACK,
    BOTH_REMOVED,
    DEFENDER_WINS,
    FLAG,
    HIDDEN,
    LETTER_OF_PIECE,
    PLATOON,
    RED,
    Contact,
    Piece,
    Side,
)
from junqi.rules import Move, Position, can_leave, check_move, targets
from junqi.view import View

START = "start"
"""The exact key of a game in which nothing has happened yet."""

EXACT, NEAR, WIDE = range(3)
"""The levels, the one that tells most first."""
LEVEL_NAMES = ("exact", "near", "wide")
_PREFIXES = ("", "~", "~~")

# Quiet plies left until the game ends are told from here on down: what the search looks ahead, and
# a little more. Before that the limit changes nobody's move.
QUIET_TOLD = 12

_OWN_PIECES = len(LAYOUT_POINTS)
_SIGNS: dict[Contact, str] = {ATTACKER_WINS: "+", DEFENDER_WINS: "-", BOTH_REMOVED: "="}
_GONE, _ENGINEER, _UNMOVED, _MOVED = "x", "i", "u", "m"


@dataclass(frozen=True)
class Spot:
    """An own turn as the book sees it."""

    view: View
    layout: str
    """The own layout, canonical."""
    is_mirrored: bool
    """Whether left and right are exchanged between the view and the book."""

    def move(self, move: Move) -> Move:
        """A move of the view as the book calls it, and back again."""
        return move.mirrored() if self.is_mirrored else move

    @cached_property
    def keys(self) -> tuple[str, str, str]:
        """The exact, the near and the wide key."""
        near, own = self._near_enemies(), self._own()
        limits = list(self._limits())
        enemies = ([token for token, _ in near], [place for _, place in near if place])
        exact = ",".join(sorted({*self._exact(), *limits})) or START
        classes = [",".join(sorted([*own, *told, *limits])) for told in enemies]
        return exact, f"{_PREFIXES[NEAR]}{classes[0]}", f"{_PREFIXES[WIDE]}{classes[1]}"

    def _name(self, point: Point) -> str:
        return point_name(mirror_point(point) if self.is_mirrored else point)

    def _exact(self) -> Iterator[str]:
        view = self.view
        met: set[Point] = set()
        for told in view.contacts:
            if told.defender is not None:
                met |= {told.attacker, told.defender}
                sign = _SIGNS[told.result]
                yield f"{self._name(told.attacker)}{sign}{self._name(told.defender)}"
        for man in view.men:
            if man.point is None:
                if man.start not in met:  # a message was believed that could not be
                    yield f"{self._name(man.start)}{_GONE}"
            elif man.has_moved:
                yield f"{self._name(man.start)}{self._name(man.point)}"
        for fact in facts_of(view):
            if fact.trust == TURN:
                yield f"{self._name(ENEMY_STARTS[fact.slot])}{_ENGINEER}"

    def _own(self) -> list[str]:
        """Where the own pieces are that are not where they started."""
        tokens = []
        for man in self.view.men[:_OWN_PIECES]:
            if man.point is None:
                tokens.append(f"{self._name(man.start)}{_GONE}")
            elif man.point != man.start:
                tokens.append(f"{self._name(man.start)}{self._name(man.point)}")
        return tokens

    def _near_enemies(self) -> list[tuple[str, str]]:
        """What near and wide keys tell of each enemy piece; nothing for the wide one is ''."""
        near, beaten = near_enemies(self.view), _beaten(self.view)
        tokens = []
        for man in self.view.men[_OWN_PIECES:]:
            if man.point is None or man.point not in near:
                continue
            name, letter = self._name(man.point), beaten.get(man.start, "")
            if man.has_moved or letter:
                is_wide = letter or row_of(man.point) >= FRONT_ROW
                mark = _MOVED if man.has_moved else _UNMOVED
                tokens.append((f"{name}{mark}{letter}", name if is_wide else ""))
        return tokens

    def _limits(self) -> Iterator[str]:
        """The enemy's flag if it was told, and the quiet plies that are left if they are few."""
        if self.view.enemy_flag is not None:
            yield f"@{self._name(self.view.enemy_flag)}"
        left = self.view.rules.steps - self.view.quiet_plies
        if left <= QUIET_TOLD:
            yield f"q{left}"


def spot_of(view: View) -> Spot:
    """An own turn, folded as the book does it."""
    layout = canonical_letters(view.layout)
    return Spot(view, layout, layout != view.layout)


def level_of(key: str) -> int:
    """The level that a key belongs to."""
    return WIDE if key.startswith("~~") else NEAR if key.startswith("~") else EXACT


def near_enemies(view: View) -> set[Point]:
    """Where the enemy's pieces stand that can meet an own piece in this ply or the next one.

    Those on the own half belong to them. The enemy is taken to move as officers do: if everybody
    might be an engineer, everybody might be anywhere.
    """
    position = view.position
    own, enemy = (position.points_of(side) for side in (view.side, view.enemy))
    near = {point for point in enemy if row_of(point) >= FRONT_ROW}
    for origin in own:
        near |= {p for p in targets(position, origin) if position.owners[p] == view.enemy}
    pieces = tuple(PLATOON if piece == HIDDEN else piece for piece in position.pieces)
    seen = Position(pieces, position.owners)
    for point in enemy:
        if point not in near and any(position.owners[p] == view.side for p in targets(seen, point)):
            near.add(point)
    return near


def _beaten(view: View) -> dict[Point, str]:
    """For each enemy piece that has beaten own ones, by its start, the letter of the strongest."""
    own = {man.start: man.piece for man in view.men[:_OWN_PIECES]}
    best: dict[Point, str] = {}
    for told in view.contacts:
        is_own = told.mover == view.side
        if told.defender is None or told.result != (DEFENDER_WINS if is_own else ATTACKER_WINS):
            continue
        winner, loser = (told.defender, told.attacker) if is_own else (told.attacker, told.defender)
        if loser in own:
            letter = LETTER_OF_PIECE[own[loser]]
            best[winner] = min(best.get(winner, letter), letter)
    return best


_TOKEN = re.compile(
    r"(?P<origin>[A-L][0-4])(?P<place>[A-L][0-4])"
    r"|(?P<attacker>[A-L][0-4])(?P<sign>[-+=])(?P<defender>[A-L][0-4])"
    r"|(?P<gone>[A-L][0-4])x|(?P<engineer>[A-F][0-4])i"
    r"|(?P<enemy>[A-L][0-4])(?:[um][a-l]?)?|@(?P<flag>A[13])|q(?P<left>[0-9]+)"
)


@dataclass(frozen=True)
class Board:
    """A key read back: the board as far as the key tells it, in the book's coordinates."""

    level: int
    own: dict[Point, Piece]
    """The own pieces by point."""
    starts: dict[Point, Point]
    """Where the own pieces stand, by where they started."""
    enemies: frozenset[Point]
    """Where enemies are known to stand: all of them if the key is exact."""
    flag: Point | None = None
    left: int | None = None
    """Quiet plies until the end of the game, if they are few."""

    @property
    def position(self) -> Position:
        """The same to draw and to move on; the own side is red and to move."""
        enemies = dict.fromkeys(self.enemies, HIDDEN)
        if self.flag in enemies:
            enemies[self.flag] = FLAG
        return Position.from_pieces({RED: self.own, BLACK: enemies})


def read_key(layout: str, key: str) -> Board | None:
    """What a key tells; None if it is not written as our keys are.

    Args:
        layout: the own layout, canonical.

    Raises:
        BookError: if it is written so, and tells what cannot be.
    """
    level = level_of(key)
    text = key.removeprefix(_PREFIXES[level])
    tokens = [_TOKEN.fullmatch(token) for token in filter(None, text.split(","))]
    if key == START:
        tokens = []
    elif None in tokens or not (tokens or level):
        return None
    own = {point: point for point in LAYOUT_POINTS}
    enemy = {point: point for point in ENEMY_STARTS} if level == EXACT else {}
    told, flag, left = set[Point](), None, None
    for token in tokens:
        assert token is not None
        named = {name: value for name, value in token.groupdict().items() if value is not None}
        points = {n: parse_point(p) for n, p in named.items() if n not in ("sign", "left")}
        if "left" in named:
            left = int(named["left"])
        elif "flag" in named:
            flag = points["flag"]
        elif "enemy" in named and level != EXACT:
            told.add(points["enemy"])
        elif "origin" in named:
            _side_of(points["origin"], own, enemy, key)[points["origin"]] = points["place"]
        else:
            for gone in _gone(named, points, key):
                _side_of(gone, own, enemy, key).pop(gone, None)
    kinds = dict(zip(LAYOUT_POINTS, parse_layout(layout).tolist(), strict=True))
    placed = {point: kinds[start] for start, point in own.items()}
    enemies = frozenset(enemy.values()) | told
    if len(placed) < len(own) or len(enemies) < len(enemy) or enemies & set(placed):
        raise BookError(f"expected one piece a point, got more of them in the key {key!r}")
    return Board(level, placed, own, enemies, flag, left)


def _gone(named: dict[str, str], points: dict[str, Point], key: str) -> list[Point]:
    """Who has left the board by a token."""
    if "gone" in named:
        return [points["gone"]]
    if "sign" in named:
        roles = {"+": ["defender"], "-": ["attacker"], "=": ["attacker", "defender"]}
        return [points[role] for role in roles[named["sign"]]]
    if "engineer" in named:
        return []
    raise BookError(f"expected an exact key to tell where pieces started, got {key!r}")


def _side_of(
    start: Point, own: dict[Point, Point], enemy: dict[Point, Point], key: str
) -> dict[Point, Point]:
    for men in (own, enemy):
        if start in men:
            return men
    known: Side = RED if row_of(start) >= FRONT_ROW else BLACK
    whose = "own" if known == RED else "enemy"
    raise BookError(f"expected one {whose} piece from {point_name(start)}, got the key {key!r}")


def why_not(board: Board, move: Move) -> str | None:
    """Why a move cannot be made on the board of a key; None if it can, as far as the key tells."""
    position = board.position
    if board.level == EXACT:
        try:
            check_move(position, move)
        except IllegalMove as error:
            return str(error)
        return None
    if move.origin not in board.own or not can_leave(position, move.origin):
        return f"no own piece can leave {point_name(move.origin)}"
    if move.target in board.own:
        return f"{point_name(move.target)} holds a piece of the same side"
    return None


def describe_key(key: str) -> list[str]:
    """A key in words, one thing a line; the key itself if it is not written as our keys are."""
    level = level_of(key)
    text = "" if key == START else key.removeprefix(_PREFIXES[level])
    lines = []
    for token in filter(None, text.split(",")):
        match = _TOKEN.fullmatch(token)
        if match is None:
            return [key]
        lines.append(_describe_token(match, token))
    if level != EXACT:
        return [*lines, "other enemy pieces: anywhere they cannot meet an own one soon"]
    return lines or ["nothing has happened yet"]


def _describe_token(match: re.Match[str], token: str) -> str:
    named = match.groupdict()
    whose = "own" if token[0] in "GHIJKL" else "enemy"
    if named["origin"]:
        return f"{whose} piece from {named['origin']} on {named['place']}"
    if named["sign"]:
        what = {"+": "beat", "-": "lost to", "=": "went together with"}[named["sign"]]
        return f"{whose} piece from {named['attacker']} {what} the one from {named['defender']}"
    if named["gone"]:
        return f"{whose} piece from {named['gone']} is gone"
    if named["engineer"]:
        return f"enemy piece from {named['engineer']} is an engineer"
    if named["flag"]:
        return f"enemy flag on {named['flag']}"
    if named["left"]:
        return f"{named['left']} quiet plies left"
    moved = {_MOVED: ", moved", _UNMOVED: ", never moved"}.get(token[2:3], "")
    beaten = f", has beaten own {token[3]}" if len(token) > 3 else ""
    return f"enemy piece on {named['enemy']}{moved}{beaten}"
