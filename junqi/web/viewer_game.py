"""One game as a seat sees it: boards, plies and beliefs, with nothing in them that it is not told.

Seats are ``red`` and ``black``, who are shown what the player there was told, and ``all``, which
sees everything from red's place. Whatever is made for a player's seat is made from its `View`.
"""

from functools import cached_property
from typing import Any

from junqi.analyse import Analysis
from junqi.belief_table import describe_belief
from junqi.board import Point, parse_point, point_name, rotate_point, seen_from
from junqi.errors import InvalidRecord
from junqi.pieces import BLACK, KIND_OF, KINDS, PIECES_A_SIDE, RED, SIDE_NAMES, Side, other
from junqi.record import Record
from junqi.render import view_on_board
from junqi.render_svg import render_svg
from junqi.replay import possible_ends, record_views, replay
from junqi.rules import Move, Position, format_move
from junqi.view import View
from junqi.web.answers import NotThere, Refused
from junqi.web.words import Language

ALL = "all"
SIDE_OF_NAME: dict[str, Side] = {SIDE_NAMES[side]: side for side in (RED, BLACK)}
SEATS = (*SIDE_OF_NAME, ALL)


class ShownGame:
    """A game that follows the rules, to be looked at."""

    def __init__(self, record: Record) -> None:
        """Replay the game.

        Raises:
            InvalidRecord: naming the first ply that cannot be.
        """
        self.record = record
        self.positions: list[Position] = list(replay(record))
        self._views: dict[Side, list[View]] = {}
        self._decisions: dict[Side, list[int]] = {}

    @property
    def plies(self) -> int:
        """How many plies it has."""
        return len(self.record.plies)

    @cached_property
    def sides(self) -> list[Side]:
        """The sides whose layouts are known: only they have a view."""
        return [side for side in (RED, BLACK) if self._has_view(side)]

    def _has_view(self, side: Side) -> bool:
        try:
            next(record_views(self.record, side))
        except InvalidRecord:
            return False
        return True

    @cached_property
    def _is_over(self) -> bool:
        return None not in possible_ends(self.record)

    def views(self, side: Side) -> list[View]:
        """What a side knew before each ply and after the last.

        Raises:
            InvalidRecord: if its layout is unknown.
        """
        if side not in self._views:
            self._views[side] = list(record_views(self.record, side))
        return self._views[side]

    def view(self, side: Side, ply: int) -> View:
        """What a side knew after so many plies."""
        return self.views(side)[self._checked(ply)]

    def _checked(self, ply: int) -> int:
        if not 0 <= ply <= self.plies:
            raise NotThere(f"expected a ply from 0 to {self.plies}, got {ply}")
        return ply

    def decisions(self, side: Side) -> list[int]:
        """The plies after which a side had something to decide."""
        if side not in self._decisions:
            last = self.plies - self._is_over
            self._decisions[side] = [
                ply
                for ply, view in enumerate(self.views(side))
                if ply <= last and view.is_own_turn and view.legal_moves()
            ]
        return self._decisions[side]

    def facts(self, seat: str) -> dict[str, Any]:
        """Who played, how it ended, and the plies as the seat calls them.

        Raises:
            InvalidRecord: if the layout of the player in the seat is unknown.
        """
        if seat != ALL:
            self.views(SIDE_OF_NAME[seat])
        record, ended = self.record, self.record.outcome
        is_all = seat == ALL
        return {
            "seat": seat,
            "seats": [SIDE_NAMES[side] for side in self.sides] + [ALL],
            "red": record.red,
            "black": record.black,
            "event": record.event,
            "date": record.date,
            "result": record.result,
            "winner": SIDE_NAMES[ended.winner] if ended else None,
            "reason": ended.reason.text if ended else None,
            "steps": record.rules.steps,
            "plies": [
                {
                    "side": SIDE_NAMES[self.positions[number].to_move],
                    "move": format_move(_seen_move(ply.move, seat)),
                    "result": ply.result,
                    "flags": [point_name(_seen(flag, seat)) for flag in ply.flags],
                    "seconds": ply.seconds,
                    # A comment may tell what a player did not know.
                    "comment": ply.comment if is_all else "",
                }
                for number, ply in enumerate(record.plies)
            ],
        }

    def board(self, seat: str, ply: int, language: Language) -> dict[str, Any]:
        """The board after so many plies, drawn for a seat."""
        position, last = self._position(seat, self._checked(ply))
        return {
            "ply": ply,
            "board": render_svg(
                position,
                seat=_bottom(seat),
                names="chinese" if language == "zh" else "english",
                highlight=last,
                has_style=False,
            ),
            "to_move": SIDE_NAMES[position.to_move],
            "quiet": position.quiet_plies,
            "lost": {
                name: PIECES_A_SIDE - len(position.points_of(side))
                for name, side in SIDE_OF_NAME.items()
            },
        }

    def _position(self, seat: str, ply: int) -> tuple[Position, Move | None]:
        """What is to be drawn, on red's board."""
        if seat != ALL:
            return view_on_board(self.view(SIDE_OF_NAME[seat], ply))
        return self.positions[ply], self.record.plies[ply - 1].move if ply else None

    def belief(self, side: Side, seat: str, ply: int, language: Language) -> dict[str, Any]:
        """What a side believed of the enemy's pieces that are left; points as a seat calls them."""
        found = describe_belief(self.view(side, ply))
        return {
            "enemy": SIDE_NAMES[other(side)],
            "kinds": [
                {"letter": kind.letter, "name": kind.chinese if language == "zh" else kind.english}
                for kind in KINDS
            ],
            "pieces": [
                {
                    "point": _own_point(piece["point"], side, seat),
                    "start": _own_point(piece["start"], side, seat),
                    "has_moved": piece["has_moved"],
                    "chances": [round(piece["kinds"].get(kind.english, 0.0), 4) for kind in KINDS],
                }
                for piece in found["pieces"]
                if piece["point"] is not None
            ],
        }

    def to_decide(self, seat: str, ply: int) -> View:
        """The view of the side to move, if the seat may see what it thinks.

        Raises:
            Refused: if it is not that seat's turn, or nothing is to be decided.
            InvalidRecord: if the layout of the side to move is unknown.
        """
        side = self.positions[self._checked(ply)].to_move
        if seat not in (ALL, SIDE_NAMES[side]):
            raise Refused(f"expected a ply at which {seat} is to move, got {ply}")
        if ply not in self.decisions(side):
            raise Refused(f"expected a ply before the end of the game, got {ply}")
        return self.view(side, ply)

    def candidates(
        self, found: Analysis, seat: str, top: int, language: Language
    ) -> dict[str, Any]:
        """What the search thinks of the moves, with points as a seat calls them."""
        view = found.view
        ply = len(view.plies)
        played = self.record.plies[ply].move if ply < self.plies else None
        rows = []
        for number, candidate in enumerate(found.thought.candidates):
            move = candidate.move if view.side == RED else candidate.move.rotated()
            if number >= top and move != played:
                continue
            kind = KIND_OF[view.position.pieces[candidate.move.origin]]
            rows.append(
                {
                    "rank": number + 1,
                    "move": format_move(_seen_move(move, seat)),
                    "piece": kind.chinese if language == "zh" else kind.english,
                    "win": candidate.value,
                    "error": candidate.error,
                    "worlds": candidate.worlds,
                    "is_played": move == played,
                }
            )
        return {"ply": ply, "side": SIDE_NAMES[view.side], "candidates": rows}


def _bottom(seat: str) -> Side:
    return SIDE_OF_NAME.get(seat, RED)


def _seen(point: Point, seat: str) -> Point:
    """A point of red's board as a seat calls it."""
    return seen_from(point, _bottom(seat))


def _seen_move(move: Move, seat: str) -> Move:
    return Move(_seen(move.origin, seat), _seen(move.target, seat))


def _own_point(name: str, side: Side, seat: str) -> str:
    """A point as a player calls it, as a seat calls it."""
    point = parse_point(name)
    return name if side == _bottom(seat) else point_name(rotate_point(point))
