"""Learn where people put their pieces: the prior of the engine's belief, junqi/data/places.json.

A layout's probability is proportional to a product of weights, one for each slot and its kind,
given the headquarters that holds the flag. The weights are those for which slots have each kind as
often as in the layouts given, smoothed: mixed with evolved layouts, officers spread over ranks next
to theirs, slots over their row, and all of it mixed with random legal layouts. How much of each is
chosen by the log-likelihood of layouts by other authors: each group of people's layouts is judged
by weights that were learned without it.

    python scripts/learn_prior.py --book evolved.db --choose     what each amount of smoothing gives
    python scripts/learn_prior.py --book evolved.db              learn, judge and write

Evolved layouts come from books like those that ``junqi layout evolve --book evolved.db`` fills.
"""

import argparse
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from book.default import default_text
from book.lines import parse_row
from book.rows import NewLayout
from book.store import Book
from junqi.board import row_of
from junqi.deduce import AT_START, FLAG_SLOTS, SLOTS
from junqi.kernels.sample import expect
from junqi.layout import LAYOUT_POINTS, Layout, mirror_layout, parse_layout
from junqi.pieces import FLAG, KINDS, MARSHAL, PLATOON
from junqi.worlds import plan_worlds

Table = NDArray[np.float64]

OUT = Path(__file__).parents[1] / "junqi" / "data" / "places.json"
# The fit ends when no share is further from its goal than this.
CLOSE = 1e-3
MOST_ROUNDS = 60


@dataclass(frozen=True)
class Smoothing:
    """How layouts become the shares that the weights are fitted to; all from 0 to 1."""

    evolved: float = 0.2
    """Share of evolved layouts among those learned from."""
    ranks: float = 0.7
    """Share of an officer that is spread over its own rank and those next to it."""
    rows: float = 0.3
    """Share of a slot that is spread over its row, but for the headquarters."""
    random: float = 0.3
    """Share of random legal layouts in the end."""


CHOICES = {
    "evolved": (0.0, 0.1, 0.2, 0.3, 0.4),
    "ranks": (0.0, 0.3, 0.5, 0.7, 0.9),
    "rows": (0.0, 0.15, 0.3, 0.45),
    "random": (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7),
}


def fold(letters: str) -> Layout:
    """The layout or its mirror image, whichever has the flag in the first headquarters."""
    layout = parse_layout(letters)
    return layout if layout[FLAG_SLOTS[0]] == FLAG else mirror_layout(layout)


def human_groups() -> dict[str, Layout]:
    """People's layouts by the author that their tag names."""
    groups: dict[str, list[Layout]] = {}
    for line in default_text().splitlines():
        row = parse_row(line) if line.startswith("layout ") else None
        if isinstance(row, NewLayout) and row.origin == "human":
            groups.setdefault(row.tags[0], []).append(fold(row.layout))
    return {name: np.array(layouts) for name, layouts in sorted(groups.items())}


def evolved_layouts(books: list[str]) -> Layout:
    """The evolved layouts of some books."""
    found = set()
    for path in books:
        with Book.open(path, read_only=True) as book:
            found |= {row.layout for row in book.layouts() if row.origin == "evolved"}
    return np.array([fold(letters) for letters in sorted(found)], np.int8).reshape(-1, SLOTS)


def shares(layouts: Layout) -> Table:
    """How often each slot has each kind, ``float64[25, 16]``."""
    return np.stack([(layouts == kind).mean(axis=0) for kind in range(16)], axis=1)


def model(weights: Table) -> tuple[Table, float]:
    """The shares of layouts by these weights, and the logarithm of their total weight."""
    allowed = (np.array(AT_START)[:, None] >> np.arange(16)) & 1 > 0
    plan, total = plan_worlds(allowed, weights, 0)
    found = np.empty_like(plan.levels)
    expect(plan.levels, plan.counts, plan.strides, plan.rest, found)
    table = np.zeros((SLOTS, 16))
    table[FLAG_SLOTS[0], FLAG] = 1.0
    table[plan.slots[:, None], plan.kinds] = found
    return table, float(np.log(total))


def fit(goal: Table) -> Table:
    """Weights by which slots have each kind as often as in the goal, by iterative scaling."""
    weights = np.where(goal > 0, goal, 1.0)
    for _ in range(MOST_ROUNDS):
        found, _ = model(weights)
        if np.abs(found - goal).max() < CLOSE:
            break
        is_there = (goal > 0) & (found > 0)
        ratio = np.divide(goal, found, out=np.ones_like(goal), where=is_there)
        weights = weights * ratio**0.9
        weights /= weights.max(axis=1, keepdims=True)
    return weights


def spread_ranks() -> Table:
    """At [a, b] the share of kind a that becomes kind b, numbers of each kind unchanged.

    Each officer but the engineers changes with those of its own rank and, less, with others.
    """
    pieces = np.array([k.piece for k in KINDS for _ in range(k.count)])
    pieces = pieces[(pieces >= PLATOON) & (pieces <= MARSHAL)]
    likeness = np.exp(-np.abs(pieces[:, None] - pieces).astype(float))
    for _ in range(200):  # until rows and columns sum to 1
        scale = 1 / np.sqrt(likeness.sum(axis=1))
        likeness = likeness * scale[:, None] * scale
    table = np.eye(16)
    for a in range(PLATOON, MARSHAL + 1):
        for b in range(PLATOON, MARSHAL + 1):
            table[a, b] = likeness[pieces == a][:, pieces == b].sum(axis=1).mean()
    return table


def spread_rows() -> Table:
    """At [a, b] the share of slot b in the mean of slot a's row."""
    rows = np.array([row_of(p) if s not in FLAG_SLOTS else -s for s, p in enumerate(LAYOUT_POINTS)])
    is_same = (rows[:, None] == rows).astype(float)
    return is_same / is_same.sum(axis=1, keepdims=True)


def goal_of(human: Layout, evolved: Layout, smoothing: Smoothing) -> Table:
    """The shares to be fitted. Each step keeps the number of each kind, so that they can be."""
    goal = shares(human)
    if len(evolved):
        goal = (1 - smoothing.evolved) * goal + smoothing.evolved * shares(evolved)
    goal = (1 - smoothing.ranks) * goal + smoothing.ranks * goal @ spread_ranks()
    goal = (1 - smoothing.rows) * goal + smoothing.rows * spread_rows() @ goal
    uniform, _ = model(np.ones((SLOTS, 16)))
    return (1 - smoothing.random) * goal + smoothing.random * uniform


def log_likelihoods(weights: Table, layouts: Layout) -> NDArray[np.float64]:
    """Of each layout, given its flag's headquarters, in nats."""
    _, log_total = model(weights)
    return np.log(weights[np.arange(SLOTS), layouts]).sum(axis=1) - log_total


def held_out(
    groups: dict[str, Layout], evolved: Layout, smoothing: Smoothing
) -> dict[str, NDArray[np.float64]]:
    """The log-likelihoods of each group's layouts by weights learned from the others."""
    found = {}
    for name, layouts in groups.items():
        others = np.concatenate([rest for other, rest in groups.items() if other != name])
        found[name] = log_likelihoods(fit(goal_of(others, evolved, smoothing)), layouts)
    return found


def mean_of(found: dict[str, NDArray[np.float64]]) -> float:
    """The mean over all layouts."""
    return float(np.concatenate(list(found.values())).mean())


def choose(groups: dict[str, Layout], evolved: Layout) -> None:
    """Print what each amount of smoothing gives, the others as they are."""
    for name, values in CHOICES.items():
        for value in values:
            smoothing = replace(Smoothing(), **{name: value})
            print(f"{name} {value}: {mean_of(held_out(groups, evolved, smoothing)):.2f}")


def learn(groups: dict[str, Layout], evolved: Layout) -> None:
    """Judge the smoothing, then learn from everything and write."""
    found = held_out(groups, evolved, Smoothing())
    uniform = log_likelihoods(np.ones((SLOTS, 16)), groups[min(groups)])[0]
    print(f"random legal layouts: {uniform:.2f} nats a layout")
    print(f"learned, authors held out: {mean_of(found):.2f}")
    for name, values in found.items():
        print(f"  {name}: {values.mean():.2f} ({len(values)} layouts)")
    weights = fit(goal_of(np.concatenate(list(groups.values())), evolved, Smoothing()))
    rows = {
        kind.letter: [float(f"{weight:.3g}") for weight in weights[:, kind.piece]] for kind in KINDS
    }
    kinds = ",\n".join(f'"{letter}": {json.dumps(row)}' for letter, row in rows.items())
    OUT.write_text(f"{{\n{kinds}\n}}\n", encoding="utf-8")
    print(f"{OUT}: from {sum(map(len, groups.values()))} + {len(evolved)} layouts")
    print(asdict(Smoothing()))


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--book", action="append", default=[], help="with evolved layouts")
    parser.add_argument("--choose", action="store_true", help="compare amounts of smoothing")
    options = parser.parse_args()
    groups, evolved = human_groups(), evolved_layouts(options.book)
    (choose if options.choose else learn)(groups, evolved)


if __name__ == "__main__":
    main()
