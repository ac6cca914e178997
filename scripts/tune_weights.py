"""Tune the weights of a simulated player by measured matches (SPSA).

Each step plays the weights moved a little one way against the weights moved the other way, same
layouts, same seeds, colours swapped, and follows the winner. The players meet on random layouts
and on their mirror images. Every step is written to a JSON Lines file, from which a stopped run
goes on. Nothing is changed in the program: copy the printed weights into junqi/weights.py after
they have won a match on layouts that were not used here:

    python scripts/tune_weights.py policy --steps 300 --log policy.jsonl
    python scripts/tune_weights.py search:3x3 --steps 200 --games 200 --log search.jsonl
    python scripts/tune_weights.py search:3x3 --log search.jsonl --verify 2000
"""

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from measure_judges import play_groups
from numpy.typing import NDArray

from junqi.kernels.game import POLICY
from junqi.layout import random_layouts
from junqi.simulate import Judge, parse_judge
from junqi.weights import PolicyWeights, SearchWeights

# Layouts of a tuning run, and of the match that verifies it: never the same.
TUNING_LAYOUTS = 1
VERIFYING_LAYOUTS = 2
Vector = NDArray[np.float64]

# Not tuned: settings that trade strength for speed, and the unit of all the others.
FIXED = {"candidates", "flag"}


def flatten(weights: PolicyWeights | SearchWeights) -> tuple[list[str], Vector]:
    """Names and values of all tuned weights; a tuple's items are named like ``officers.3``."""
    names, values = [], []
    for name, value in asdict(weights).items():
        if name in FIXED:
            continue
        items = value if isinstance(value, tuple | list) else [value]
        for index, item in enumerate(items):
            names.append(f"{name}.{index}" if isinstance(value, tuple | list) else name)
            values.append(float(item))
    return names, np.array(values)


def unflatten(weights: Any, names: list[str], values: Vector) -> Any:
    """The weights with these values, rounded."""
    changes: dict[str, Any] = {}
    for name, value in zip(names, values, strict=True):
        field, _, index = name.partition(".")
        if index:
            items = changes.setdefault(field, list(getattr(weights, field)))
            items[int(index)] = round(value)
        else:
            changes[field] = round(value)
    tuples = {name: tuple(value) for name, value in changes.items() if isinstance(value, list)}
    return replace(weights, **changes | tuples)


def with_weights(judge: Judge, weights: Any) -> Judge:
    """The judge with other weights of its own kind."""
    if judge.kind == POLICY:
        return replace(judge, policy=weights)
    return replace(judge, search=weights)


def match(a: Judge, b: Judge, games: int, seed: int, layouts_seed: int) -> float:
    """Score of a against b on random layouts."""
    groups = max(1, games // 4)
    layouts = random_layouts(2 * groups, 1_000_000 * layouts_seed + seed)
    return float(play_groups(a, b, layouts[::2], layouts[1::2], seed).mean())


def tune(judge: Judge, options: argparse.Namespace) -> None:
    """Run SPSA and write each step to the log."""
    start = judge.policy if judge.kind == POLICY else judge.search
    names, values = flatten(start)
    scale = np.maximum(2.0, np.abs(values) * options.scale)
    center = values.copy()
    log = Path(options.log)
    done = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    if done:
        center = np.array([done[-1]["weights"][name] for name in names])
    with log.open("a", encoding="utf-8") as file:
        for step in range(len(done), options.steps):
            signs = np.random.default_rng([options.seed, step]).choice([-1.0, 1.0], len(names))
            shift = scale * signs / (1 + step) ** 0.101
            plus, minus = (
                with_weights(judge, unflatten(start, names, center + way * shift))
                for way in (1, -1)
            )
            score = match(plus, minus, options.games, options.seed + step, TUNING_LAYOUTS)
            rate = options.rate / (1 + step / 20) ** 0.602
            center = center + rate * (score - 0.5) * scale * signs
            row = dict(zip(names, np.round(center, 2).tolist(), strict=True))
            file.write(json.dumps({"step": step, "score": score, "weights": row}) + "\n")
            file.flush()
            print(f"step {step + 1}/{options.steps} score {score:.3f}", file=sys.stderr)
    print(unflatten(start, names, center))


def verify(judge: Judge, options: argparse.Namespace) -> None:
    """Play the tuned weights against those in the program, on layouts of their own."""
    start = judge.policy if judge.kind == POLICY else judge.search
    last = json.loads(Path(options.log).read_text().splitlines()[-1])["weights"]
    names, _ = flatten(start)
    tuned = unflatten(start, names, np.array([last[name] for name in names]))
    challenger = with_weights(judge, tuned)
    score = match(challenger, judge, options.verify, options.seed, VERIFYING_LAYOUTS)
    error = 1.96 * 0.5 / options.verify**0.5
    print(tuned)
    print(f"tuned against present: {100 * score:.1f} +- {100 * error:.1f} % of {options.verify}")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("judge", help="policy or search:DxW")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--games", type=int, default=400, help="in each step")
    parser.add_argument("--scale", type=float, default=0.15, help="first step, as a share")
    parser.add_argument("--rate", type=float, default=4.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", required=True, help="JSON Lines file; a run goes on from it")
    parser.add_argument("--verify", type=int, metavar="GAMES", help="play the result instead")
    options = parser.parse_args()
    judge = parse_judge(options.judge)
    if options.verify:
        verify(judge, options)
    else:
        tune(judge, options)


if __name__ == "__main__":
    main()
