"""Learn the value of positions from simulated games: junqi/data/value.npz.

    python scripts/learn_value.py play games.npz --games 20000 --seed 1
    python scripts/learn_value.py fit games.npz more.npz
    python scripts/learn_value.py play own.npz --games 2500 --judge think:8 --seed 2
    python scripts/learn_value.py press own.npz

`play` lets a judge play itself on people's layouts, ones drawn from the prior and random ones, and
keeps positions with the results of their games. `fit` learns from all games but a tenth and tells
the mean loss on that tenth, -log of the chance given to what happened: of the net, of what the
search counts without it, and of always saying one half. `press` learns no more than what it means
to have to make the next contact, and leaves the rest of the net as it is: simulated players hardly
know how to use that, the engine does. The net learned anew from the engine's games as a whole had a
smaller loss there, and played no better.
"""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from book.default import human_layouts
from junqi.belief import Belief
from junqi.games import play_thought_game
from junqi.kernels.knowledge import KNOWN_AT_START, flag_number, learn, tell_flag
from junqi.kernels.playout import place, settle
from junqi.kernels.search import score_board
from junqi.kernels.value import (
    COUNTS,
    HIDDEN_UNITS,
    PLACES,
    PRESS,
    Net,
    net_value,
    read_position,
    shares_of,
    without_press,
)
from junqi.layout import Layout, format_layout, mirror_layout, parse_layouts, random_layouts
from junqi.learned import learned_net
from junqi.pieces import EMPTY, RED
from junqi.rules import Rules
from junqi.simulate import THINK, game_seeds, parse_judge, play_game
from junqi.view import View
from junqi.weights import SearchWeights, search_tables
from junqi.worlds import WorldSampler

OUT = Path(__file__).parents[1] / "junqi" / "data" / "value.npz"
STEPS = 31
# Of all positions of a game so many in a hundred are kept.
KEPT = 50
# How often a game begins from a layout of people, one drawn from the prior, a random one.
SHARES = (0.4, 0.45, 0.15)
EPOCHS = 6
# Step sizes of the gradient descent (AdaGrad), and what holds numbers near 0.
RATE_OF_PLACES, RATE_OF_NET = 0.03, 0.01
DECAY = 1e-5
# What keeps a number from being learned: as if its slopes so far had been enormous.
SETTLED = 1e14
# Every so many games is for judging what was learned.
HELD_OUT = 10

Data = dict[str, NDArray[Any]]


@njit(nogil=True)
def replay(
    first: Any, second: Any, moves: Any, seed: int, boards: Any, knowns: Any, sets: Any, infos: Any
) -> int:
    """Write positions of a game down; returns how many.

    Args:
        sets: ``uint64[n, 2]``, the points of the side to move and of the other.
        infos: ``int16[n, 2]``, the side to move, and the quiet plies.
    """
    board = np.zeros(64, np.uint8)
    known = KNOWN_AT_START.copy()
    own, mobile, engineers = place(first, 0, board)
    enemy, enemy_mobile, enemy_engineers = place(second, 1, board)
    np.random.seed(seed)
    quiet = 0
    found = 0
    for ply in range(moves.shape[0]):
        side = ply & 1
        if np.random.randint(0, 100) < KEPT:
            boards[found] = board
            knowns[found] = known
            sets[found, 0], sets[found, 1] = own, enemy
            infos[found, 0], infos[found, 1] = side, quiet
            found += 1
        origin, target = np.uint64(moves[ply, 0]), np.uint64(moves[ply, 1])
        defender = board[target]
        own_marshal, enemy_marshal = learn(board, known, origin, target, own, enemy)
        own, mobile, engineers, enemy, enemy_mobile, enemy_engineers = settle(
            board, origin, target, own, mobile, engineers, enemy, enemy_mobile, enemy_engineers
        )
        if own_marshal:
            tell_flag(board, known, side)
        if enemy_marshal:
            tell_flag(board, known, 1 - side)
        quiet = quiet + 1 if defender == EMPTY else 0
        own, enemy = enemy, own
        mobile, enemy_mobile = enemy_mobile, mobile
        engineers, enemy_engineers = enemy_engineers, engineers
    return found


def draw_layouts(count: int, seed: int) -> Layout:
    """Layouts to begin from, in the shares above, mirrored by a coin flip."""
    random = np.random.default_rng(seed)
    people = parse_layouts(human_layouts())
    start = Belief.of(View.start(RED, format_layout(people[0])))
    drawn = WorldSampler(start.masks, start.weights).draw(count, seed)
    groups = [people[random.integers(len(people), size=count)], drawn, random_layouts(count, seed)]
    layouts = np.stack(groups)[random.choice(3, count, p=SHARES), np.arange(count)]
    return np.where(random.random((count, 1)) < 0.5, layouts, mirror_layout(layouts))


def play(games: int, seed: int, judge: str) -> Data:
    """Positions of so many games, with 1 where the side to move won."""
    layouts = draw_layouts(2 * games, seed)
    seeds = game_seeds(seed, games)
    player = parse_judge(judge)
    play_one = partial(play_thought_game, (player, player), Rules())
    if player.kind != THINK:
        play_one = partial(play_game, judge=player)

    def one(number: int) -> tuple[NDArray[Any], ...]:
        first, second = layouts[2 * number], layouts[2 * number + 1]
        moves, outcome = play_one(first, second, seed=int(seeds[number]))
        count = len(moves)
        boards, knowns = np.zeros((count, 64), np.uint8), np.zeros((count, 64), np.uint8)
        sets, infos = np.zeros((count, 2), np.uint64), np.zeros((count, 2), np.int16)
        pairs = np.array(moves, np.uint8).reshape(-1, 2)
        found = replay(first, second, pairs, number, boards, knowns, sets, infos)
        kept = tuple(array[:found] for array in (boards, knowns, sets, infos))
        won = np.where(kept[3][:, 0] == outcome.winner, 1.0, 0.0)
        results = np.full(found, 0.5) if outcome.winner < 0 else won
        return *kept, results.astype(np.float32), np.full(found, number, np.int32)

    rows = []
    with ThreadPoolExecutor() as pool:
        for row in pool.map(one, range(games)):
            rows.append(row)
            if len(rows) % 1000 == 0:
                print(f"{len(rows):,} games", file=sys.stderr)
    names = ("boards", "knowns", "sets", "infos", "results", "games")
    columns = zip(*rows, strict=True)
    return {name: np.concatenate(column) for name, column in zip(names, columns, strict=True)}


@njit(nogil=True)
def descend(
    net: Any,
    grads: Any,
    boards: Any,
    knowns: Any,
    sets: Any,
    infos: Any,
    results: Any,
    order: Any,
    rates: Any,
    decay: Any,
) -> float:
    """One pass of gradient descent over positions in an order; returns the mean loss before."""
    places = np.zeros(64, np.int64)
    counts = np.zeros(COUNTS, np.float32)
    inside = np.zeros(HIDDEN_UNITS, np.float32)
    loss = 0.0
    tiny = np.float32(1e-6)
    for row in order:
        found = read_position(
            boards[row],
            knowns[row],
            sets[row, 0],
            sets[row, 1],
            infos[row, 0],
            infos[row, 1],
            STEPS,
            places,
            counts,
        )
        full, bare = shares_of(found)
        odds = np.float32(0.0)
        for index in range(found):
            odds += full * net.places[0, places[index]] + bare * net.places[1, places[index]]
        for unit in range(HIDDEN_UNITS):
            inside[unit] = net.shifts[unit]
            for count in range(COUNTS):
                inside[unit] += counts[count] * net.inner[count, unit]
            if inside[unit] > 0:
                odds += inside[unit] * net.outer[unit]
        chance = 1.0 / (1.0 + np.exp(-odds))
        result = results[row]
        loss -= result * np.log(chance + 1e-9) + (1 - result) * np.log(1 - chance + 1e-9)
        slope = np.float32(chance - result)
        for index in range(found):
            place = places[index]
            for end, share in ((0, full), (1, bare)):
                step = share * slope + decay * 100 * net.places[end, place]
                grads.places[end, place] += step * step
                net.places[end, place] -= rates[0] * step / np.sqrt(grads.places[end, place] + tiny)
        for unit in range(HIDDEN_UNITS):
            if inside[unit] <= 0:
                continue
            step = slope * inside[unit]
            back = slope * net.outer[unit]
            grads.outer[unit] += step * step
            net.outer[unit] -= rates[1] * step / np.sqrt(grads.outer[unit] + tiny)
            grads.shifts[unit] += back * back
            net.shifts[unit] -= rates[1] * back / np.sqrt(grads.shifts[unit] + tiny)
            for count in range(COUNTS):
                if counts[count] != 0:
                    step = back * counts[count] + decay * net.inner[count, unit]
                    grads.inner[count, unit] += step * step
                    net.inner[count, unit] -= (
                        rates[1] * step / np.sqrt(grads.inner[count, unit] + tiny)
                    )
    return loss / len(order)


@njit(nogil=True)
def values_of(
    net: Any,
    boards: Any,
    knowns: Any,
    sets: Any,
    infos: Any,
    worths: Any,
    odds_out: Any,
    scores_out: Any,
) -> None:
    """What the net and the search's count say of positions."""
    places = np.zeros(64, np.int64)
    counts = np.zeros(COUNTS, np.float32)
    for row in range(len(boards)):
        side = infos[row, 0]
        board = boards[row]
        found = read_position(
            board,
            knowns[row],
            sets[row, 0],
            sets[row, 1],
            side,
            infos[row, 1],
            STEPS,
            places,
            counts,
        )
        odds_out[row] = net_value(net, places, found, counts)
        worth = worths[flag_number(board, 0), flag_number(board, 1)]
        scores_out[row] = score_board(board, sets[row, 0], sets[row, 1], side, worth)


def empty_net() -> Net:
    """All numbers 0."""
    return Net(
        np.zeros((2, PLACES), np.float32),
        np.zeros((COUNTS, HIDDEN_UNITS), np.float32),
        np.zeros(HIDDEN_UNITS, np.float32),
        np.zeros(HIDDEN_UNITS, np.float32),
    )


def fit(data: Data, epochs: int, seed: int) -> Net:
    """Learn a net, telling of its loss after every pass."""
    random = np.random.default_rng(seed)
    net, grads = empty_net(), empty_net()
    net.inner[:] = random.normal(size=net.inner.shape) * 0.1
    net.outer[:] = random.normal(size=HIDDEN_UNITS) * 0.1
    return descend_all(net, grads, data, [1.0] * (epochs - 2) + [0.3] * 2, random)


def fit_press(data: Data, net: Net, epochs: int, seed: int) -> Net:
    """Learn who is pressed anew, and nothing else."""
    grads = empty_net()
    for part in grads:
        part[:] = SETTLED
    grads.inner[PRESS:] = 0.0
    rates = [3.0] * (epochs - 2) + [0.6] * 2
    return descend_all(without_press(net), grads, data, rates, np.random.default_rng(seed))


def descend_all(
    net: Net, grads: Net, data: Data, rates: list[float], random: np.random.Generator
) -> Net:
    """One pass for each rate, telling of the loss after it."""
    is_held_out = data["games"] % HELD_OUT == 0
    held_out = {name: array[is_held_out] for name, array in data.items()}
    rows = np.flatnonzero(~is_held_out)
    worths = search_tables(SearchWeights()).worths
    results = held_out["results"].astype(np.float64)
    print(f"{len(rows):,} positions to learn from, {len(results):,} to judge by")
    for epoch, rate in enumerate(rates):
        sizes = np.array([rate * RATE_OF_PLACES, rate * RATE_OF_NET], np.float32)
        keys = ("boards", "knowns", "sets", "infos", "results")
        loss = descend(
            net, grads, *(data[k] for k in keys), random.permutation(rows), sizes, np.float32(DECAY)
        )
        odds, scores = np.zeros(len(results), np.float32), np.zeros(len(results), np.float32)
        values_of(net, *(held_out[k] for k in keys[:4]), worths, odds, scores)
        print(f"pass {epoch + 1}: {loss:.4f} while learning, {mean_loss(odds, results):.4f} after")
    best = min((mean_loss(scores / scale, results), scale) for scale in range(60, 400, 10))
    print(f"the search's count: {best[0]:.4f} at a scale of {best[1]}; one half: 0.6931")
    return net


def mean_loss(odds: NDArray[Any], results: NDArray[np.float64]) -> float:
    """The mean of -log of the chance given to what happened."""
    odds = odds.astype(np.float64)
    return float((np.logaddexp(0, odds) - results * odds).mean())


def main() -> None:
    """Play or fit, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    playing = commands.add_parser("play")
    playing.add_argument("out", type=Path)
    playing.add_argument("--games", type=int, default=20_000)
    playing.add_argument("--seed", type=int, default=1)
    playing.add_argument("--judge", default="search:3x3")
    fitting = commands.add_parser("fit")
    pressing = commands.add_parser("press")
    for learning in (fitting, pressing):
        learning.add_argument("data", type=Path, nargs="+")
        learning.add_argument("--out", type=Path, default=OUT)
        learning.add_argument("--epochs", type=int, default=EPOCHS)
        learning.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.command == "play":
        positions: dict[str, Any] = play(options.games, options.seed, options.judge)
        np.savez_compressed(options.out, **positions)
        return
    files = [dict(np.load(path)) for path in options.data]
    data = {name: np.concatenate([file[name] for file in files]) for name in files[0]}
    if options.command == "press":
        net = fit_press(data, learned_net(), options.epochs, options.seed)
    else:
        net = fit(data, options.epochs, options.seed)
    np.savez_compressed(options.out, **net._asdict())


if __name__ == "__main__":
    main()
