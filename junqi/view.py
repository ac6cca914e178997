"""What one side has been told, and nothing else.

A `View` is built from the events that the protocol tells a player: the own layout, then one
message a ply with the move, its result and perhaps the enemy flag's place. All points are in the
player's own coordinates: the own side sits at the bottom, whether it is red or black. A view is
never changed; each event makes a new one, so that taking a ply back is going back to an old view.
"""

from dataclasses import dataclass, replace

from junqi.board import (
    HEADQUARTERS_POINTS,
    IS_HEADQUARTERS,
    Point,
    column_of,
    point_name,
    rotate_point,
    row_of,
)
from junqi.errors import ImpossibleEvent
from junqi.layout import LAYOUT_POINTS, parse_layout
from junqi.pieces import (
    ATTACKER_WINS,
    BLACK,
    BOTH_REMOVED,
    DEFENDER_WINS,
    FLAG,
    HIDDEN,
    MARSHAL,
    MINE,
    NO_CONTACT,
    NOBODY,
    RED,
    SIDE_NAMES,
    Contact,
    Piece,
    Side,
    other,
)
from junqi.rules import (
    Move,
    Position,
    Rules,
    check_move,
    format_move,
    legal_moves,
    settle,
    targets,
)

# In own coordinates the enemy always sits at the top.
ENEMY_HEADQUARTERS = HEADQUARTERS_POINTS[BLACK]


@dataclass(frozen=True)
class Man:
    """One piece on its way through the game, told apart from its like by where it started."""

    side: Side
    start: Point
    point: Point | None
    """Where it stands now; None once it is gone."""
    piece: Piece
    """Its kind; `HIDDEN` for the enemy's, but for a flag whose place was told."""
    has_moved: bool = False


@dataclass(frozen=True)
class Told:
    """One ply as the player was told of it."""

    mover: Side
    move: Move
    result: Contact
    attacker: Point
    """Where the piece that moved had started."""
    defender: Point | None
    """Where the piece it met had started; None without contact."""
    flag: Point | None
    """The enemy flag's place, if this message told it."""
    seconds: float
    """How long the mover thought."""


@dataclass(frozen=True)
class View:
    """All that one side knows of a game."""

    side: Side
    layout: str
    rules: Rules
    position: Position
    """The board as the player sees it: own pieces, and hidden ones of the enemy."""
    men: tuple[Man, ...]
    """The own 25 pieces, then the enemy's 25, each in the order of a layout's letters."""
    plies: tuple[Told, ...] = ()
    enemy_flag: Point | None = None
    own_seconds: float = 0.0
    """Time used so far, by each side."""
    enemy_seconds: float = 0.0

    @classmethod
    def start(cls, side: Side, layout: str, rules: Rules | None = None) -> "View":
        """The view before the first ply.

        Raises:
            InvalidLayout: if the own layout is not legal.
        """
        pieces = parse_layout(layout).tolist()
        own = [Man(side, p, p, piece) for p, piece in zip(LAYOUT_POINTS, pieces, strict=True)]
        starts = [rotate_point(p) for p in LAYOUT_POINTS]
        enemy = [Man(other(side), p, p, HIDDEN) for p in starts]
        placed = {
            side: {man.start: man.piece for man in own},
            other(side): dict.fromkeys(starts, HIDDEN),
        }
        position = Position.from_pieces(placed, to_move=RED)
        return cls(side, layout, rules or Rules(), position, (*own, *enemy))

    @property
    def enemy(self) -> Side:
        """The other side."""
        return other(self.side)

    @property
    def is_own_turn(self) -> bool:
        """Whether this player is to move."""
        return self.position.to_move == self.side

    @property
    def quiet_plies(self) -> int:
        """Plies of both sides since the last contact."""
        return self.position.quiet_plies

    @property
    def is_own_flag_told(self) -> bool:
        """Whether the enemy knows the own flag, the own marshal being gone."""
        return self.position.find(self.side, MARSHAL) is None

    @property
    def contacts(self) -> tuple[Told, ...]:
        """The plies in which two pieces met."""
        return tuple(told for told in self.plies if told.result != NO_CONTACT)

    def man_at(self, point: Point) -> Man | None:
        """The piece that stands on a point."""
        return next((man for man in self.men if man.point == point), None)

    def legal_moves(self) -> list[Move]:
        """The own legal moves, whether or not it is the own turn."""
        return legal_moves(self.position, self.side)

    def after(
        self, move: Move, result: Contact, flag: Point | None = None, seconds: float = 0.0
    ) -> "View":
        """The view after the next ply, by whichever side is to move.

        Args:
            move: the move in own coordinates.
            result: the result code, told from the mover.
            flag: the enemy flag's place in own coordinates, if the message names it.
            seconds: how long the mover thought.

        Raises:
            IllegalMove: if the own move is not legal.
            ImpossibleEvent: if the message cannot be true in this view.
        """
        mover = self.position.to_move
        self._check(move, result, flag)
        starts = {man.point: man.start for man in self.men}
        position = settle(self.position, move, result)
        men = [self._moved(man, move, result) for man in self.men]
        if flag is not None and self.enemy_flag is None:
            men = [replace(m, piece=FLAG) if self._started(m, flag) else m for m in men]
            if position.owners[flag] == self.enemy:
                pieces = (*position.pieces[:flag], FLAG, *position.pieces[flag + 1 :])
                position = replace(position, pieces=pieces)
        told = Told(
            mover, move, result, starts[move.origin], starts.get(move.target), flag, seconds
        )
        return self._with(told, position, men, self.enemy_flag if flag is None else flag)

    def forced(
        self,
        mover: Side,
        move: Move,
        result: Contact,
        flag: Point | None = None,
        seconds: float = 0.0,
    ) -> "View":
        """The view after a ply that `after` may call impossible: the message is believed.

        What contradicts the message gives way, everything else is kept. A piece that the
        message needs and the view does not have is one thought to be gone, or else the nearest
        one that can have moved. Of a message that is possible this makes the same as `after`.
        """
        men = list(self.men)
        attacker = self._stand_in(men, mover, move.origin)
        _remove(men, move.origin, besides=attacker)
        others = [i for i, man in enumerate(men) if man.point == move.target and i != attacker]
        if result == DEFENDER_WINS and not others and mover == self.side:
            others = [self._stand_in(men, self.enemy, move.target)]
            men[others[0]] = replace(men[others[0]], point=move.target, has_moved=True)
        if result != DEFENDER_WINS:
            _remove(men, move.target, besides=attacker)
        survives = result in (ATTACKER_WINS, NO_CONTACT)
        point = move.target if survives else None
        men[attacker] = replace(men[attacker], point=point, has_moved=True)
        if flag in ENEMY_HEADQUARTERS:
            men = [
                replace(man, piece=FLAG if man.start == flag else HIDDEN)
                if man.side == self.enemy
                else man
                for man in men
            ]
        placed: dict[Side, dict[Point, Piece]] = {RED: {}, BLACK: {}}
        for man in men:
            if man.point is not None:
                placed[man.side][man.point] = man.piece
        quiet = self.quiet_plies + 1 if result == NO_CONTACT else 0
        defender = men[others[0]].start if others and result != NO_CONTACT else None
        told = Told(mover, move, result, men[attacker].start, defender, flag, seconds)
        position = Position.from_pieces(placed, other(mover), quiet)
        return self._with(
            told, position, men, flag if flag in ENEMY_HEADQUARTERS else self.enemy_flag
        )

    def _with(
        self, told: Told, position: Position, men: list[Man], enemy_flag: Point | None
    ) -> "View":
        """The view after a ply, of which everything is known."""
        is_own = told.mover == self.side
        return replace(
            self,
            position=position,
            men=tuple(men),
            plies=(*self.plies, told),
            enemy_flag=enemy_flag,
            own_seconds=self.own_seconds + (told.seconds if is_own else 0.0),
            enemy_seconds=self.enemy_seconds + (0.0 if is_own else told.seconds),
        )

    def _stand_in(self, men: list[Man], side: Side, point: Point) -> int:
        """Index of the man of a side on a point, or of the one that must be taken for it."""

        def rank(index: int) -> tuple[bool, bool, bool, int]:
            man = men[index]
            if man.point is None:
                return (True, False, False, 0)
            rows = abs(row_of(man.point) - row_of(point))
            columns = abs(column_of(man.point) - column_of(point))
            is_fixed = man.piece in (FLAG, MINE) or IS_HEADQUARTERS[man.point]
            return (man.point != point, True, is_fixed, rows + columns)

        return min((i for i, man in enumerate(men) if man.side == side), key=rank)

    def _started(self, man: Man, point: Point) -> bool:
        """Whether this is the enemy piece that started on a point."""
        return man.side == self.enemy and man.start == point

    def _moved(self, man: Man, move: Move, result: Contact) -> Man:
        """What a ply makes of one piece."""
        if man.point == move.origin:
            survives = result in (ATTACKER_WINS, NO_CONTACT)
            return replace(man, point=move.target if survives else None, has_moved=True)
        if man.point == move.target and result in (ATTACKER_WINS, BOTH_REMOVED):
            return replace(man, point=None)
        return man

    def _check(self, move: Move, result: Contact, flag: Point | None) -> None:
        """Raise unless a message can be true."""
        name, mover = format_move(move), self.position.to_move
        if mover == self.side:
            check_move(self.position, move)
        elif self.position.owners[move.origin] != mover:
            raise ImpossibleEvent(
                f"{name}: {SIDE_NAMES[mover]} has no piece on {point_name(move.origin)}"
            )
        elif move.target not in targets(self.position, move.origin):
            raise ImpossibleEvent(f"{name}: no piece of {SIDE_NAMES[mover]} could move so")
        is_contact = self.position.owners[move.target] != NOBODY
        if is_contact and result not in (DEFENDER_WINS, ATTACKER_WINS, BOTH_REMOVED):
            raise ImpossibleEvent(f"{name}: expected result 0, 1 or 2 of a contact, got {result}")
        if not is_contact and result != NO_CONTACT:
            raise ImpossibleEvent(f"{name}: expected result 3 without a contact, got {result}")
        if flag is not None:
            self._check_flag(flag)

    def _check_flag(self, flag: Point) -> None:
        """Raise unless the enemy flag can be where a message has it."""
        if self.enemy_flag is None:
            can_be = {m.start for m in self.men if m.side == self.enemy and m.point == m.start}
            if flag not in ENEMY_HEADQUARTERS or flag not in can_be:
                raise ImpossibleEvent(
                    f"{point_name(flag)}: expected the enemy flag in a headquarters that is held"
                )
        elif flag != self.enemy_flag:
            raise ImpossibleEvent(
                f"the enemy flag was on {point_name(self.enemy_flag)}, now on {point_name(flag)}"
            )


def _remove(men: list[Man], point: Point, besides: int) -> None:
    """Take whatever else stands on a point off the board."""
    for index, man in enumerate(men):
        if man.point == point and index != besides:
            men[index] = replace(man, point=None)
