"""The weakest player: a random legal layout, then random legal moves. It starts at once."""

import random

from junqi.layout import format_layout, random_layouts
from junqi.rules import Move, Rules
from junqi.view import View


class RandomPlayer:
    """A `player.Decider` without a thought."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random = random.Random(seed)

    def layout(self, is_first: bool, rules: Rules) -> str:
        """A random layout, the same for the same seed."""
        return format_layout(random_layouts(1, self._seed)[0])

    def move(self, view: View, seconds_left: float) -> Move:
        """Any legal move."""
        return self._random.choice(view.legal_moves())
