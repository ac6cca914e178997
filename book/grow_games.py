"""The simulated games of growing: an opponent of some kind leads us where opponents lead.

The own side sees a `View` only and is asked through a function, and so is the opponent. The truth
stays in here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from book.errors import BookError
from book.letters import mirror_letters
from junqi.board import seen_from
from junqi.judge_player import JudgePlayer
from junqi.layout import format_layout, parse_layout, random_layouts
from junqi.pieces import BLACK, NOBODY, RED, Side, other
from junqi.rules import Move, Position, Rules, contact_of, outcome, settle
from junqi.simulate import Judge, UnknownJudge, parse_judge
from junqi.thinker import Thinker
from junqi.view import View

OPPONENT_FORMS = "policy, search:DxW or think:N (the engine's search in N worlds)"
DEFAULT_OPPONENTS = ("policy", "policy", "search:2x3", "search:3x3", "search:3x9", "think:8")
# So many of ten opponents have a random layout, for what nobody would think of.
RANDOM_LAYOUTS = 2


class Moves(Protocol):
    """Who decides, from a view alone."""

    def move(self, view: View, seconds_left: float) -> Move:
        """A legal move."""


class ThoughtfulPlayer:
    """The engine's search in a few worlds, as a player."""

    def __init__(self, worlds: int, seed: int) -> None:
        self._thinker = Thinker(1, seed, effort=worlds)

    def move(self, view: View, seconds_left: float) -> Move:
        """The move that the search likes best."""
        return Move(*self._thinker.think(view, seconds_left, seconds_left).move)


class Opponents:
    """Makes opponents by the words that users name them by."""

    def __init__(self, words: Sequence[str], seed: int) -> None:
        """Check the words, and make what several games can share.

        Raises:
            BookError: if a word names nobody.
        """
        self._words = tuple(words)
        self._shared: dict[str, ThoughtfulPlayer] = {}
        for word in words:
            kind, _, worlds = word.partition(":")
            if kind == "think" and worlds.isdecimal() and int(worlds) > 0:
                self._shared[word] = ThoughtfulPlayer(int(worlds), seed)
                continue
            try:
                parse_judge(word)
            except UnknownJudge:
                raise BookError(f"expected {OPPONENT_FORMS}, got {word!r}") from None

    def draw(self, lots: Random) -> Moves:
        """The opponent of one game."""
        word = lots.choice(self._words)
        seed = lots.getrandbits(62)
        return self._shared.get(word) or JudgePlayer(parse_judge(word), seed)


@dataclass(frozen=True)
class Pairing:
    """Who plays in a simulated game, and how it is set up."""

    layout: str
    side: Side
    enemy_layout: str
    enemy: Moves
    rest: Judge
    """Who plays both sides once the own one has left its book."""


def draw_enemy_layout(layouts: Sequence[str], lots: Random) -> str:
    """An opponent's layout: one of these, or at times a random one, mirrored by a coin flip."""
    if not layouts or lots.randrange(10) < RANDOM_LAYOUTS:
        letters = format_layout(random_layouts(1, lots.getrandbits(62))[0])
    else:
        letters = lots.choice(layouts)
    return mirror_letters(letters) if lots.random() < 0.5 else letters


def play_out(
    pairing: Pairing, decide: Callable[[View], Move | None], is_finished: bool, seed: int
) -> float | None:
    """Play a game for as long as the own side knows a move, and perhaps to its end.

    Args:
        pairing: who plays.
        decide: the own move in a view, None if there is none.
        is_finished: whether quick players bring the game to its end from there.
        seed: of the quick players.

    Returns:
        1 for a win of the own side, 0.5 for a draw, 0 for a loss; None if it was not finished.
    """
    rules, side = Rules(), pairing.side
    layouts = {side: pairing.layout, other(side): pairing.enemy_layout}
    position = Position.from_layouts(parse_layout(layouts[RED]), parse_layout(layouts[BLACK]))
    views = {seat: View.start(seat, layouts[seat], rules) for seat in (RED, BLACK)}
    rest: dict[Side, Moves] | None = None
    end = None
    while end is None:
        mover = position.to_move
        chosen = None
        if rest is None:
            enemy = pairing.enemy
            own_turn = mover == side
            chosen = decide(views[side]) if own_turn else enemy.move(views[mover], rules.time)
            if chosen is None and not is_finished:
                return None
        if chosen is None:
            rest = rest or {seat: JudgePlayer(pairing.rest, seed + seat) for seat in (RED, BLACK)}
            chosen = rest[mover].move(views[mover], rules.time)
        move = chosen if mover == RED else chosen.rotated()
        result = contact_of(position, move)
        position = settle(position, move, result)
        end = outcome(position, rules)
        if end is None:
            for seat, view in views.items():
                flag = position.told_flag(other(seat))
                told = None if flag is None else seen_from(flag, seat)
                views[seat] = view.after(move if seat == RED else move.rotated(), result, told)
    return 0.5 if end.winner == NOBODY else float(end.winner == side)
