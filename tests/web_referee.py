"""The other side of a console game: a referee who knows both layouts, and an opponent by a seed."""

import random
from typing import Any

from junqi.board import point_name, seen_from
from junqi.layout import format_layout, parse_layout, random_layouts
from junqi.pieces import NO_CONTACT, RED, Side, other
from junqi.record import Ply
from junqi.replay import play_ply
from junqi.rules import (
    Move,
    Outcome,
    Position,
    Rules,
    format_move,
    legal_moves,
    outcome,
    parse_move,
)


class Referee:
    """What is true of a game, told as the console's operator hears it."""

    def __init__(self, side: Side, layout: str, seed: int, rules: Rules | None = None) -> None:
        self.side = side
        self.rules = rules or Rules()
        self.enemy_layout = format_layout(random_layouts(1, seed)[0])
        own, enemy = parse_layout(layout), parse_layout(self.enemy_layout)
        red, black = (own, enemy) if side == RED else (enemy, own)
        self.positions = [Position.from_layouts(red, black)]
        self.plies: list[Ply] = []
        self._rng = random.Random(seed)

    @property
    def position(self) -> Position:
        return self.positions[-1]

    @property
    def is_own_turn(self) -> bool:
        return self.position.to_move == self.side

    @property
    def end(self) -> Outcome | None:
        return outcome(self.position, self.rules)

    def enemy_move(self) -> str:
        """The opponent's next move, as the operator calls it; contacts are liked."""
        moves = legal_moves(self.position)
        contacts = [move for move in moves if self.position.owners[move.target] == self.side]
        return format_move(self._seen(self._rng.choice(contacts or moves)))

    def play(self, text: str) -> dict[str, Any]:
        """Make a move of whoever is to move; what the operator has to enter of it."""
        ply, after = play_ply(self.position, self._seen(parse_move(text)))
        self.positions.append(after)
        self.plies.append(ply)
        flags = [flag for flag in ply.flags if flag == after.told_flag(other(self.side))]
        entered: dict[str, Any] = {"move": text}
        if ply.result != NO_CONTACT:
            flag = point_name(seen_from(flags[0], self.side)) if flags else ""
            is_taken = self.end is not None and self.end.reason.text == "flag"
            entered |= {"result": ply.result, "flag": flag}
            if is_taken and self.end is not None and self.end.winner == self.side:
                entered["taken"] = True
        return entered

    def undo(self, plies: int) -> None:
        """Take plies back."""
        del self.positions[-plies:], self.plies[-plies:]

    def _seen(self, move: Move) -> Move:
        """A move of red's board as the operator calls it, and back."""
        return move if self.side == RED else move.rotated()
