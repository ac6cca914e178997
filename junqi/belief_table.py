"""A belief as a person wants to see it: how likely each piece is of each kind, and the reverse."""

from typing import Any

from junqi.belief import Belief
from junqi.board import point_name
from junqi.deduce import ENEMY_STARTS, SLOTS
from junqi.pieces import KINDS
from junqi.view import View
from junqi.worlds import WorldSampler

# Pieces that a line of the second table names.
MOST_NAMED = 6


def describe_belief(view: View) -> dict[str, Any]:
    """What the player of a view believes, in words and numbers that JSON can hold.

    ``pieces`` lists the enemy's 25, by the point where each started, with the probability of every
    kind it can be; ``kinds`` has for every kind the expected number of it on each of these points,
    the likeliest first. All points are in the player's own coordinates.
    """
    found = Belief.of(view)
    shares = WorldSampler(found.masks, found.weights).marginals()
    men = view.men[SLOTS:]
    pieces = [
        {
            "start": point_name(man.start),
            "point": None if man.point is None else point_name(man.point),
            "has_moved": man.has_moved,
            "kinds": {
                kind.english: float(shares[slot, kind.piece])
                for kind in KINDS
                if found.masks[slot] >> kind.piece & 1
            },
        }
        for slot, man in enumerate(men)
    ]
    kinds = {}
    for kind in KINDS:
        slots = [slot for slot in range(SLOTS) if found.masks[slot] >> kind.piece & 1]
        slots.sort(key=lambda slot: -shares[slot, kind.piece])
        kinds[kind.english] = {
            point_name(ENEMY_STARTS[slot]): float(shares[slot, kind.piece]) for slot in slots
        }
    return {"pieces": pieces, "kinds": kinds}


def format_belief(view: View) -> str:
    """What the player of a view believes, as two tables: piece by kind, and kind by piece.

    Numbers are percentages, and a point stands for what is impossible. Pieces are named by where
    they started.
    """
    belief = describe_belief(view)
    lines = ["piece  now   " + " ".join(f"{kind.english[:4]:>4}" for kind in KINDS)]
    for piece in belief["pieces"]:
        now = "gone" if piece["point"] is None else piece["point"]
        mark = "*" if piece["has_moved"] else " "
        cells = [_percent(piece["kinds"].get(kind.english)) for kind in KINDS]
        lines.append(f"{piece['start']:<5}  {now:<4}{mark} " + " ".join(cells))
    lines += ["(* has moved)", ""]
    for kind in KINDS:
        found = belief["kinds"][kind.english]
        named = [f"{start} {_percent(share).strip()} %" for start, share in found.items()]
        more = f", {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        title = f"{kind.count} {kind.english}"
        lines.append(f"{title:<12} {', '.join(named[:MOST_NAMED])}{more}")
    return "\n".join(lines) + "\n"


def _percent(share: float | None) -> str:
    if share is None:
        return "   ."
    if 0 < share < 0.005:
        return "  <1"
    return f"{100 * share:4.0f}"
