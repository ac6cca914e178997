"""A view looked at closely: what the search thinks of each move, what is believed of the enemy."""

from dataclasses import dataclass
from typing import Any

from junqi.belief_table import describe_belief
from junqi.engine import EngineOptions, Thought, load_thinker
from junqi.errors import InvalidRecord
from junqi.pieces import KIND_OF, SIDE_NAMES
from junqi.record import Record
from junqi.replay import possible_ends, record_views, replay
from junqi.rules import format_move
from junqi.view import View


@dataclass(frozen=True)
class Analysis:
    """A view, and what is thought of it."""

    view: View
    thought: Thought

    def as_json(self, top: int | None = None) -> dict[str, Any]:
        """All of it, with so many candidates, in the coordinates of the player."""
        view = self.view
        return {
            "side": SIDE_NAMES[view.side],
            "ply": len(view.plies),
            "quiet_plies": view.quiet_plies,
            "candidates": [
                {
                    "move": format_move(candidate.move),
                    "piece": KIND_OF[view.position.pieces[candidate.move.origin]].english,
                    "win": candidate.value,
                    "error": candidate.error,
                    "worlds": candidate.worlds,
                }
                for candidate in self.thought.candidates[:top]
            ],
            "belief": describe_belief(view),
        }


def view_at(record: Record, ply: int | None = None) -> View:
    """What the side to move knew after so many plies of a game.

    By default that is after all of them, or one before if only the other side's layout is known.

    Raises:
        InvalidRecord: if there is no such ply, nothing is to be decided there, or the layout of
            the side to move is unknown.
    """
    if ply is not None and ply > len(record.plies):
        raise InvalidRecord(f"expected a ply from 0 to {len(record.plies)}, got {ply}")
    movers = [position.to_move for position in replay(record)]
    if ply is None:
        ply = len(record.plies)
        if ply and record.layout_of(movers[ply]) is None:
            ply -= 1
    side = movers[ply]
    view = list(record_views(record, side))[ply]
    is_over = ply == len(record.plies) and None not in possible_ends(record)
    if is_over or not view.legal_moves():
        raise InvalidRecord(f"expected a ply before the end of the game, got {ply}")
    return view


def analyse(view: View, seconds: float, options: EngineOptions, seed: int) -> Analysis:
    """Think about a view for so long."""
    thinker = load_thinker(options, lambda text: None, seed)
    return Analysis(view, thinker.think(view, seconds, seconds))
