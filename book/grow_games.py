"""The simulated games of growing: an opponent of some kind leads us where opponents lead.

The own side sees a `View` only and is asked through a function, and so is the opponent. The truth
stays in here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from book.errors import BookError
from book.letters import mirror_letters
from junqi.games import decider_of
from junqi.judge_player import JudgePlayer
from junqi.layout import format_layout, random_layouts
from junqi.pieces import BLACK, NOBODY, RED, Side, other
from junqi.rules import Move, Rules
from junqi.simulate import THINK, Judge, UnknownJudge, parse_judge
from junqi.view import View
from junqi.view_game import Moves, play_views

DEFAULT_OPPONENTS = ("policy", "policy", "search:2x3", "search:3x3", "search:3x9", "think:8")
# So many of ten opponents have a random layout, for what nobody would think of.
RANDOM_LAYOUTS = 2


class Opponents:
    """Makes opponents by the words that users name them by."""

    def __init__(self, words: Sequence[str], seed: int) -> None:
        """Check the words, and make what several games can share.

        Raises:
            BookError: if a word names nobody.
        """
        try:
            self._judges = [parse_judge(word) for word in words]
        except UnknownJudge as error:
            raise BookError(str(error)) from None
        # The search takes a while to make, and does not remember games.
        self._shared: dict[Judge, Moves] = {
            judge: decider_of(judge, seed) for judge in self._judges if judge.kind == THINK
        }

    def draw(self, lots: Random) -> Moves:
        """The opponent of one game."""
        judge = lots.choice(self._judges)
        seed = lots.getrandbits(62)
        return self._shared.get(judge) or decider_of(judge, seed)


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
    rest: dict[Side, Moves] = {}

    def choose(mover: Side, view: View) -> Move | None:
        if not rest:
            chosen = decide(view) if mover == side else pairing.enemy.move(view, rules.time)
            if chosen is not None or not is_finished:
                return chosen
            rest.update({seat: JudgePlayer(pairing.rest, seed + seat) for seat in (RED, BLACK)})
        return rest[mover].move(view, rules.time)

    end = play_views((layouts[RED], layouts[BLACK]), choose, rules)[1]
    if end is None:
        return None
    return 0.5 if end.winner == NOBODY else float(end.winner == side)
