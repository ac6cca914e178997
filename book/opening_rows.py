"""How rows of opening moves come about: from thoughts about views, and from results of games.

A position of the book is the rows of one layout and key. Every thought about a view that has the
key adds to them:

- `score` is the mean chance to win over everything tried: each world of a thought and each
  simulated game counts as one visit, a game that was really played as `GAME_VISITS`.
- `error` is the root mean square of what the move fell short of the best one of each view, the
  noise of the thoughts included. So for the best move of an exact key it is the standard error
  of the difference to the next one, and for a class of views it tells how well one move serves
  all of them.
- `weight` falls with the distance to the best score, by a factor of e for each `TEMPERATURE`, of
  first own moves for each `FIRST_TEMPERATURE`.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from book.openings import EXACT, level_of
from book.rows import Opening

# Kept are moves that fall short by no more than this, or than two standard errors, a few of them.
WITHIN = 0.03
MOST_KEPT = 3
# A candidate with less than this share of the weight is kept, and not played.
LEAST_WEIGHT = 0.25
# For every move that is played beside the best the book has to know as many positions again, so
# weights fall off steeply, but for the first own move: there games part, so that nobody can play
# one that he has won once more.
TEMPERATURE = 0.001
FIRST_TEMPERATURE = 0.004
# So much is the move of the wider class preferred, or else the one that the search would play: of
# moves that are as good, the same everywhere lets the lines of the book meet again.
HABIT = 0.003
# What a move found in one view of a class is thought to fall short in another one, before that has
# been seen: the root mean square over pairs of views was 0.007 up to the sixth own move.
CLASS_SPREAD = 0.007
GAME_VISITS = 4

THINK, GAME, HAND = "think", "game", "hand"
_SOURCE = re.compile(rf"{THINK}:(\d+)x(\d+)")
_DIGITS = 6


@dataclass(frozen=True)
class Judged:
    """What a thought found out about one move, as the book calls it."""

    move: str
    value: float
    error: float
    """Of the difference to the move with the best value; not used of that one."""
    worlds: int


def thoughts_in(row: Opening) -> int:
    """How many thoughts a row comes from; 0 if from none."""
    match = _SOURCE.search(row.source)
    return int(match[2]) if match else 0


def is_by_hand(row: Opening) -> bool:
    """Whether a person has said what the row is worth: growing then leaves its position alone."""
    return HAND in row.source.split() or not (thoughts_in(row) or row.source == GAME)


def absorb(
    rows: Sequence[Opening],
    place: Opening,
    judged: Sequence[Judged],
    worlds: int,
    habit: str | None = None,
) -> list[Opening]:
    """The rows of a position after one more thought.

    Args:
        rows: those it has.
        place: a row with the layout, key, ply and run of new ones.
        judged: all moves of the view, first the one that the search would play.
        worlds: what the thought was given, for the row's source.
        habit: the move of the wider class, preferred among moves that are as good; if there is
            none, the one that the search would play is.
    """
    losses = _losses(judged)
    found = {j.move: j for j in judged}
    squares = {move: loss**2 + error**2 for move, (loss, error) in losses.items()}
    before = max(map(thoughts_in, rows), default=0)
    kept = []
    for row in rows:
        if row.move in found:
            row = _with_thought(row, found[row.move], squares[row.move], worlds, place.run)
        kept.append(row)
    known = {row.move for row in rows}
    for j in judged:
        loss, error = losses[j.move]
        if loss <= max(WITHIN, 2 * error) and j.move not in known and len(kept) < MOST_KEPT:
            kept.append(_new_row(place, j, squares[j.move], worlds, before, rows))
    return weighed(kept, habit or judged[0].move)


def _losses(judged: Sequence[Judged]) -> dict[str, tuple[float, float]]:
    """What each move falls short of the best value, and the standard error of that."""
    ranked = sorted(judged, key=lambda j: -j.value)
    best = ranked[0]
    losses = {j.move: (best.value - j.value, j.error) for j in judged}
    # Of the best value its own error is told. It is as sure of its place as the next one.
    losses[best.move] = (0.0, ranked[1].error if len(ranked) > 1 else 0.0)
    return losses


def _with_thought(
    row: Opening, judged: Judged, square: float, worlds: int, run: str | None
) -> Opening:
    count = thoughts_in(row)
    score = judged.value if row.score is None else row.score
    error = row.error or 0.0
    total = row.visits + judged.worlds
    return replace(
        row,
        visits=total,
        score=_round((score * row.visits + judged.value * judged.worlds) / total),
        error=_round(math.sqrt((error**2 * count + square) / (count + 1))),
        source=f"{THINK}:{worlds}x{count + 1}",
        run=run,
    )


def _new_row(
    place: Opening,
    judged: Judged,
    square: float,
    worlds: int,
    before: int,
    rows: Sequence[Opening],
) -> Opening:
    """A move that the position does not have yet.

    Thoughts before did not keep it, so there it is taken to have been as far behind as that needs.
    """
    prior = 0.0 if level_of(place.key) == EXACT else CLASS_SPREAD**2
    missed = max((row.score for row in rows if row.score is not None), default=0.0) - WITHIN
    visits = before * judged.worlds
    score = (missed * visits + judged.value * judged.worlds) / (visits + judged.worlds)
    return replace(
        place,
        move=judged.move,
        visits=judged.worlds,
        score=_round(min(max(score, 0.0), 1.0)),
        error=_round(math.sqrt((prior + before * WITHIN**2 + square) / (before + 1))),
        source=f"{THINK}:{worlds}x{before + 1}",
    )


def with_result(rows: Iterable[Opening], move: str, result: float) -> list[Opening]:
    """The rows of a position after a simulated game through one of their moves.

    A game tells how good the position is. Which of two near-equal moves is the better one it would
    tell only together with thousands of others, so all scores move alike.
    """
    rows = list(rows)
    played = next(row for row in rows if row.move == move)
    if played.score is None:
        return rows
    shift = (result - played.score) / (played.visits + 1)
    return [
        replace(
            row,
            score=None if row.score is None else _round(min(max(row.score + shift, 0.0), 1.0)),
            visits=row.visits + (row.move == move),
        )
        for row in rows
    ]


def with_game(rows: Iterable[Opening], move: str, result: float) -> list[Opening]:
    """The rows of a position after a real game: the move that was played answers for it."""
    changed = []
    for row in rows:
        if row.move == move:
            total = row.visits + GAME_VISITS
            score = result if row.score is None else row.score
            score = _round((score * row.visits + result * GAME_VISITS) / total)
            error = (
                _round(0.5 * math.sqrt(GAME_VISITS / total)) if row.source == GAME else row.error
            )
            row = replace(row, score=score, visits=total, error=error)
        changed.append(row)
    return weighed(changed)


def weighed(rows: Sequence[Opening], habit: str | None = None) -> list[Opening]:
    """The rows, heaviest first, with weights by their scores; as they are if one is by hand."""
    if any(map(is_by_hand, rows)):
        return list(rows)
    is_first = all(row.ply < 2 for row in rows)
    habit, temperature = (None, FIRST_TEMPERATURE) if is_first else (habit, TEMPERATURE)
    # What was only seen in games cannot be compared with what was thought about.
    has_thoughts = any(map(thoughts_in, rows))
    scores = [
        None
        if row.score is None or (has_thoughts and not thoughts_in(row))
        else row.score + (HABIT if row.move == habit else 0.0)
        for row in rows
    ]
    best = max(
        (s for s, row in zip(scores, rows, strict=True) if s is not None and row.enabled),
        default=None,
    )
    if best is None:
        return list(rows)
    raw = [0.0 if s is None else math.exp(min(s - best, 0.0) / temperature) for s in scores]
    total = sum(w for w, row in zip(raw, rows, strict=True) if row.enabled)
    shares = [w / total for w in raw]
    changed = [
        replace(row, weight=round(share, 4) if share >= LEAST_WEIGHT else 0.0)
        if row.enabled
        else row
        for row, share in zip(rows, shares, strict=True)
    ]
    return sorted(changed, key=lambda row: (-row.weight, -(row.score or 0.0), row.move))


def _round(value: float) -> float:
    return round(value, _DIGITS)
