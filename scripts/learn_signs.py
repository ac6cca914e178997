"""Learn what the behaviour of pieces tells of their kinds: junqi/data/signs.json.

Simulated players play each other with people's layouts, evolved ones and ones drawn from the prior.
For each sign of `junqi.behaviour` the games tell how likely each kind is to give it. What that is
worth is judged on other games: the mean loss, -log of the probability believed of the true kind,
over the enemy's pieces that stand and are not yet certain.

    python scripts/learn_signs.py --book evolved.db
    python scripts/learn_signs.py --book evolved.db --judge-only --judged 400 --seed 3
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from learn_prior import evolved_layouts
from numpy.typing import NDArray

from book.default import human_layouts
from junqi.behaviour import ATTACKED, CHANCES, FLED, signs_of
from junqi.belief import Belief, Tables, learned
from junqi.board import ROW_NAMES, row_of, seen_from
from junqi.deduce import SLOT_OF_START, SLOTS
from junqi.layout import LAYOUT_POINTS, Layout, format_layout, mirror_layout, parse_layouts
from junqi.pieces import ATTACKER_WINS, BLACK, BOTH_REMOVED, DEFENDER_WINS, FLAG, KINDS, MINE, RED
from junqi.rules import Position, play
from junqi.simulate import parse_judge, play_game
from junqi.view import View
from junqi.worlds import WorldSampler

OUT = Path(__file__).parents[1] / "junqi" / "data" / "signs.json"
EVENTS = (*ATTACKED, FLED)
ROWS = "GHIJKL"
JUDGES = (("search:3x3", "search:3x3"), ("search:3x3", "policy"), ("policy", "search:3x3"))
# Pieces that would have to behave like the mean of all kinds, to keep rare kinds from extremes.
PSEUDO_PIECES = 4.0
PSEUDO_EVENTS = 4.0
LEAST_HAZARD = 0.001
# What a piece did counts against a kind by so much at most: others may lead with other pieces than
# our players do. It costs 0.001 nats a piece in our players' own games. That a piece stayed is not
# bounded: after many chances it is a mine.
MOST_TOLD = 1.5
# Plies at which beliefs are judged.
JUDGED_PLIES = (10, 40, 70, 140)
CODES = [kind.piece for kind in KINDS]

Table = NDArray[np.float64]


def pool_of(books: list[str], seed: int) -> Layout:
    """Layouts to play with: people's, evolved ones, and as many drawn from the prior."""
    known = np.concatenate([parse_layouts(human_layouts()), evolved_layouts(books)])
    start = Belief.of(View.start(RED, format_layout(known[0])), tables=learned())
    drawn = WorldSampler(start.masks, start.weights).draw(len(known), seed)
    return np.concatenate([known, drawn])


def games(pool: Layout, count: int, seed: int) -> Iterator[tuple[list[View], Layout]]:
    """Simulated games: for either side all its views, and the layout it faced."""
    random = np.random.default_rng(seed)
    for number in range(count):
        pair = [pool[random.integers(len(pool))] for _ in range(2)]
        pair = [mirror_layout(layout) if random.random() < 0.5 else layout for layout in pair]
        own, other = (parse_judge(name) for name in JUDGES[number % len(JUDGES)])
        moves, _ = play_game(pair[0], pair[1], seed * 1_000_000 + number, own, other)
        for side in (RED, BLACK):
            position = Position.from_layouts(*pair)
            views = [View.start(side, format_layout(pair[side]))]
            for move in moves:
                position, result = play(position, move)
                flag = position.told_flag(1 - side)
                views.append(
                    views[-1].after(
                        move if side == RED else move.rotated(),
                        result,
                        None if flag is None else seen_from(flag, side),
                    )
                )
            yield views, pair[1 - side]


class Counts:
    """What was counted in games, by sign and kind."""

    def __init__(self) -> None:
        self.signs: dict[str, Table] = defaultdict(lambda: np.zeros(16))
        self.turns = np.zeros(16)
        """Enemy plies that pieces have lived through since they first moved."""

    def add(self, view: View, truth: Layout) -> None:
        """Count one finished game."""
        for signs, kind in zip(signs_of(view), truth.tolist(), strict=True):
            for sign in signs:
                self.signs[sign][kind] += 1
        np.add.at(self.turns, truth, _turns(view))

    def learn(self) -> dict[str, Table]:
        """For each sign the logarithm of how likely it is for each kind, at most 0."""
        found: dict[str, Table] = {}
        for row in ROWS:
            found |= self._learn_row(row)
        for sign in EVENTS:
            found[sign] = self._learn_event(sign)
        for sign, table in found.items():
            table -= table[CODES].max()
            if " stayed " not in sign:
                np.maximum(table, -MOST_TOLD, out=table)
        return found

    def _learn_row(self, row: str) -> dict[str, Table]:
        """Staying and leaving, by the chances there were: a life table for each kind."""
        stayed = np.array([self.signs[f"{row} stayed {c}"] for c in CHANCES])
        left = np.array([self.signs[f"{row} left {c}"] for c in CHANCES])
        reached = np.cumsum((stayed + left)[::-1], axis=0)[::-1]
        # Those whose story ends within a class had half of its chances.
        at_risk = reached - stayed / 2
        movers = [kind for kind in CODES if kind not in (MINE, FLAG)]
        mean = left[:, movers].sum(axis=1) / np.maximum(at_risk[:, movers].sum(axis=1), 1.0)
        hazard = (left + PSEUDO_PIECES * mean[:, None]) / (at_risk + PSEUDO_PIECES)
        hazard = np.clip(hazard, LEAST_HAZARD, 1 - LEAST_HAZARD)
        hazard[:, [MINE, FLAG]] = 0.0
        alive = np.cumprod(np.vstack([np.ones(16), 1 - hazard]), axis=0)[:-1]
        tables = {}
        for index, chances in enumerate(CHANCES):
            tables[f"{row} stayed {chances}"] = np.log(alive[index] * (1 - hazard[index] / 2))
            gone = alive[index] * hazard[index]
            # Of no weight for pieces that cannot leave: they are ruled out anyway.
            tables[f"{row} left {chances}"] = np.log(np.where(gone > 0, gone, gone[movers].min()))
        return tables

    def _learn_event(self, sign: str) -> Table:
        """How often each kind does it, a turn."""
        events = self.signs[sign]
        movers = [kind for kind in CODES if kind not in (MINE, FLAG)]
        mean = events[movers].sum() / self.turns[movers].sum()
        rate = (events + PSEUDO_EVENTS) / (self.turns + PSEUDO_EVENTS / mean)
        rate[[MINE, FLAG]] = rate[movers].min()
        return np.log(rate)


def _turns(view: View) -> list[int]:
    """Enemy plies that each slot lived through from its first move; 0 if it never moved."""
    turns = 0
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    for told in view.plies:
        is_enemy = told.mover == view.enemy
        turns += is_enemy
        if is_enemy:
            begins.setdefault(SLOT_OF_START[told.attacker], turns - 1)
        losses = (DEFENDER_WINS, BOTH_REMOVED) if is_enemy else (ATTACKER_WINS, BOTH_REMOVED)
        start = told.attacker if is_enemy else told.defender
        if told.result in losses and start in SLOT_OF_START:
            ends[SLOT_OF_START[start]] = turns
    return [ends.get(slot, turns) - begins[slot] if slot in begins else 0 for slot in range(SLOTS)]


class Losses:
    """The loss of several beliefs, by ply, and how often row K and L pieces were mines."""

    def __init__(self, variants: dict[str, Tables]) -> None:
        self.variants = variants
        self.losses: dict[tuple[str, int], list[float]] = defaultdict(list)
        self.mines: dict[tuple[str, str, int], list[float]] = defaultdict(list)

    def add(self, views: list[View], truth: Layout) -> None:
        """Judge the beliefs in one game."""
        for ply in JUDGED_PLIES:
            if ply >= len(views) - 1:
                break
            for name, tables in self.variants.items():
                self._judge(name, ply, Belief.of(views[ply], tables=tables), views[ply], truth)

    def _judge(self, name: str, ply: int, found: Belief, view: View, truth: Layout) -> None:
        shares = WorldSampler(found.masks, found.weights).marginals()
        for slot, kind in enumerate(truth.tolist()):
            mask = int(found.masks[slot])
            if found.slots[slot] < 0 or not mask & (mask - 1):
                continue
            self.losses[name, ply].append(-np.log(max(shares[slot, kind], 1e-12)))
            row = ROW_NAMES[row_of(LAYOUT_POINTS[slot])]
            if row in "KL" and not view.men[SLOTS + slot].has_moved:
                self.mines[name, row, ply].append(shares[slot, MINE])
                if name == next(iter(self.variants)):
                    self.mines["truth", row, ply].append(float(kind == MINE))

    def show(self) -> None:
        """Print a table."""
        print("mean loss in nats".ljust(28) + "".join(f"ply {p:<6}" for p in JUDGED_PLIES))
        for name in self.variants:
            cells = [np.mean(self.losses[name, p] or [np.nan]) for p in JUDGED_PLIES]
            print(name.ljust(28) + "".join(f"{cell:<10.4f}" for cell in cells))
        for row in "KL":
            print(f"share of mines among unmoved, row {row}")
            for name in ("truth", *self.variants):
                cells = [np.mean(self.mines[name, row, p] or [np.nan]) for p in JUDGED_PLIES]
                print("  " + name.ljust(26) + "".join(f"{cell:<10.3f}" for cell in cells))


def variants_of(tables: Tables) -> dict[str, Tables]:
    """Beliefs to compare: with and without parts, and with the signs trusted more or less."""

    def without(*left_out: str) -> Tables:
        kept = {sign: row for sign, row in tables.signs.items() if sign not in left_out}
        return replace(tables, signs=kept)

    stays = [sign for sign in tables.signs if sign not in EVENTS]
    variants = {
        "uniform": Tables.uniform(),
        "prior": replace(tables, signs={}),
        "prior, all signs": tables,
        "without stayed and left": without(*stays),
    }
    variants |= {f"without {event}": without(event) for event in EVENTS}
    return variants | {f"trust {trust}": replace(tables, trust=trust) for trust in (0.4, 0.8, 1.0)}


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--book", action="append", default=[], help="with evolved layouts")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--judged", type=int, default=200, help="games that judge")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--judge-only", action="store_true", help="judge the tables there are")
    options = parser.parse_args()
    pool = pool_of(options.book, options.seed)
    tables = learned()
    if not options.judge_only:
        counts = Counts()
        for views, truth in games(pool, options.games, options.seed):
            counts.add(views[-1], truth)
        tables = replace(tables, signs=counts.learn())
        rows = [
            f"{json.dumps(sign)}: {json.dumps([round(v, 2) + 0.0 for v in row[CODES].tolist()])}"
            for sign, row in tables.signs.items()
        ]
        OUT.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    losses = Losses(variants_of(tables))
    for views, truth in games(pool, options.judged, options.seed + 1):
        losses.add(views, truth)
    losses.show()


if __name__ == "__main__":
    main()
