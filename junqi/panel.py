"""Panels: the opponents against which layouts are scored, and how often each of them is met.

A panel has one form whatever it was made from: its layouts in canonical mirror form, no two alike,
in the order of their letters. So its text, and with it its digest, says exactly who the opponents
were, and the same seed draws the same ones again.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from junqi.errors import InvalidLayout, JunqiError
from junqi.layout import (
    Layout,
    canonical_layout,
    format_layout,
    mirror_layout,
    parse_layout,
    parse_layouts,
    random_layouts,
)

# Of the hexadecimal digits: enough to tell the panels of one book apart.
DIGEST_LENGTH = 10

# Seeds of the games, of the draw and of random opponents must not be the same ones.
_DRAW_STREAM = 1
_RANDOM_STREAM = 2


class InvalidPanel(JunqiError, ValueError):
    """Opponents that cannot be met, or a text that is not a panel."""


@dataclass(frozen=True, eq=False)
class Panel:
    """Opponents and how often each is met; made by `make_panel`."""

    name: str
    """What the user calls it."""
    texts: tuple[str, ...]
    """The layouts in canonical form, ascending."""
    weights: tuple[float, ...]
    """How often each is met, relative to the others."""

    @property
    def digest(self) -> str:
        """A short name that is the same for the same opponents and weights only."""
        return sha256(format_panel(self).encode()).hexdigest()[:DIGEST_LENGTH]

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True)
class Draw:
    """Opponents of one run: one for each pair of games."""

    indices: NDArray[np.int64]
    """Which layout of the panel, ``int64[n]``."""
    layouts: Layout
    """That layout or its mirror image, ``int8[n, 25]``."""


def make_panel(
    name: str, texts: Iterable[str], weights: Iterable[float] | None = None, *, where: str = ""
) -> Panel:
    """A panel of these layouts, all met equally often if there are no weights.

    A layout and its mirror image are one opponent; the weights of equal ones are added. Those
    with weight 0 are left out.

    Raises:
        InvalidPanel: if nobody is left, or a weight is not a number of at least 0.
        InvalidLayout: if one of them is not a legal layout.
    """
    texts = list(texts)
    shares = [1.0] * len(texts) if weights is None else list(weights)
    total: dict[str, float] = {}
    for text, share in zip(texts, shares, strict=True):
        if not (math.isfinite(share) and share >= 0):
            raise InvalidPanel(f"expected a weight of at least 0 for {text}, got {share}")
        own = format_layout(canonical_layout(parse_layout(text)))
        total[own] = total.get(own, 0.0) + share
    met = {text: share for text, share in sorted(total.items()) if share > 0}
    if not met:
        raise InvalidPanel(f"expected opponents in the panel {name}, got none{where}")
    return Panel(name, tuple(met), tuple(met.values()))


def random_panel(count: int, seed: int) -> Panel:
    """So many random legal layouts, the same for the same seed."""
    own_seed = np.random.SeedSequence([seed, _RANDOM_STREAM]).generate_state(1, np.uint64)[0]
    layouts = random_layouts(count, int(own_seed))
    return make_panel(f"random:{count}", map(format_layout, layouts))


def draw_opponents(panel: Panel, pairs: int, seed: int) -> Draw:
    """An opponent for each pair of games, each mirrored by a coin flip.

    Each is met as often as its weight says, to within one pair: drawing by lot would only add
    noise.
    """
    random = np.random.default_rng(np.random.SeedSequence([seed, _DRAW_STREAM]))
    return draw_rows(parse_layouts(panel.texts), np.array(panel.weights), pairs, random)


def draw_rows(
    layouts: Layout, weights: NDArray[np.float64], pairs: int, random: np.random.Generator
) -> Draw:
    """`draw_opponents` for layouts ``int8[n, 25]`` and their weights ``float64[n]``."""
    edges = np.cumsum(weights)
    places = (random.random() + np.arange(pairs)) / pairs * edges[-1]
    indices = np.minimum(np.searchsorted(edges, places, side="right"), len(layouts) - 1)
    chosen = layouts[indices]
    is_mirrored = random.random(pairs) < 0.5
    return Draw(indices, np.where(is_mirrored[:, None], mirror_layout(chosen), chosen))


def format_panel(panel: Panel) -> str:
    """Write a panel, one opponent and its weight a line.

    >>> print(format_panel(make_panel("mine", ["abccddeeffggghhhiiijjkklj"])), end="")
    abccddeeffggghhhiiijjkklj 1.0
    """
    pairs = zip(panel.texts, panel.weights, strict=True)
    return "".join(f"{text} {weight!r}\n" for text, weight in pairs)


def parse_panel(name: str, text: str) -> Panel:
    """Undo `format_panel`.

    Raises:
        InvalidPanel: if a line is not a layout and its weight, or nobody is named.
    """
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            layout, weight = line.split()
            parse_layout(layout)
            rows.append((layout, float(weight)))
        except (InvalidLayout, ValueError):
            raise InvalidPanel(
                f"{name}: line {number}: expected a layout and its weight, got {line!r}"
            ) from None
    return make_panel(name, [row[0] for row in rows], [row[1] for row in rows])
