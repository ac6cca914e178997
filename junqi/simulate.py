"""Simulated games: the Python face of the kernels. Checks, allocates, splits over threads."""

import math
import os
import re
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from queue import SimpleQueue
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from junqi.errors import JunqiError
from junqi.kernels.batch import first_illegal, play_batch
from junqi.kernels.game import POLICY, RANDOM, SEARCH, Players, Scratch, game, new_scratch
from junqi.kernels.playout import settings_of
from junqi.kernels.search import DEEPEST
from junqi.layout import Layout, random_layouts
from junqi.pieces import EMPTY, HIDDEN, PIECES_A_SIDE
from junqi.rules import Move, Outcome, Reason, Rules
from junqi.weights import (
    PolicyWeights,
    SearchWeights,
    policy_tables,
    search_tables,
)

Seeds: TypeAlias = NDArray[np.uint64]
Progress: TypeAlias = Callable[[int], None]
# One game of two layouts by a seed: its moves, and how it ended.
PlayOne: TypeAlias = Callable[[Layout, Layout, int], tuple[list[Move], Outcome]]

MOST_WORLDS = 1000
JUDGE_FORMS = (
    "random, policy, search:DxW (depth x worlds, like search:3x3)"
    " or think:N (the engine's search in N worlds)"
)
# A kind of judge that the kernels of simulated games do not know; see `games.py`.
THINK = 3

# Games that a thread plays before it looks up: a chunk lasts some tens of milliseconds.
_POLICY_CHUNK = 2048
_SEARCH_CHUNK_WORK = 4000
# Room for the moves of most games; a longer one is played once more.
_PLIES_AT_FIRST = 512
# Chunks get smaller towards the end, down to this part, so that no thread waits long for another.
_LAST_CHUNK = 1 / 128

# Making the tables takes longer than many a game.
policy_tables_of = lru_cache(maxsize=32)(policy_tables)
search_tables_of = lru_cache(maxsize=32)(search_tables)


class UnknownJudge(JunqiError, ValueError):
    """A text that names no judge."""

    is_usage = True


@dataclass(frozen=True)
class Judge:
    """A simulated player by which layouts are judged."""

    kind: int
    depth: int = 0
    worlds: int = 0
    policy: PolicyWeights = field(default_factory=PolicyWeights)
    search: SearchWeights = field(default_factory=SearchWeights)

    def __str__(self) -> str:
        if self.kind == THINK:
            return f"think:{self.worlds}"
        return {RANDOM: "random", POLICY: "policy"}.get(
            self.kind, f"search:{self.depth}x{self.worlds}"
        )

    @property
    def is_slow(self) -> bool:
        """Whether a game takes many times as long as the policy's."""
        return self.kind in (SEARCH, THINK)


class Results(NamedTuple):
    """How n games ended."""

    winners: NDArray[np.int8]
    """0 the side that moved first, 1 the other, -1 nobody."""
    reasons: NDArray[np.int8]
    """A `rules.Reason` each."""
    plies: NDArray[np.int32]

    def scores_of_first(self) -> NDArray[np.float64]:
        """1 for a win of the side that moved first, 0.5 for a draw, 0 for a loss."""
        return np.choose(self.winners + 1, [0.5, 1.0, 0.0])


def parse_judge(text: str) -> Judge:
    """Read a judge's name.

    Raises:
        UnknownJudge: if it names none.

    >>> str(parse_judge("search:3x9"))
    'search:3x9'
    """
    if text == "random":
        return Judge(RANDOM)
    if text == "policy":
        return Judge(POLICY)
    if match := re.fullmatch(r"search:([0-9]{1,4})x([0-9]{1,4})", text):
        depth, worlds = int(match[1]), int(match[2])
        if 1 <= depth < DEEPEST and 1 <= worlds <= MOST_WORLDS:
            return Judge(SEARCH, depth, worlds)
        raise UnknownJudge(
            f"expected a depth from 1 to {DEEPEST - 1} and 1 to {MOST_WORLDS} worlds, got {text!r}"
        )
    if match := re.fullmatch(r"think:([0-9]{1,4})", text):
        if 1 <= int(match[1]) <= MOST_WORLDS:
            return Judge(THINK, worlds=int(match[1]))
        raise UnknownJudge(f"expected 1 to {MOST_WORLDS} worlds, got {text!r}")
    raise UnknownJudge(f"expected {JUDGE_FORMS}, got {text!r}")


def game_seeds(seed: int, games: int) -> Seeds:
    """Seeds for so many games from the seed of a run; runs do not share games."""
    start = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    return start + np.arange(games, dtype=np.uint64)


def play_games(
    first: ArrayLike,
    second: ArrayLike,
    seeds: ArrayLike,
    judge: Judge,
    second_judge: Judge | None = None,
    *,
    rules: Rules | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Results:
    """Play one game for each seed.

    A game depends on its two layouts, its seed, the judges and the rules alone: not on the
    threads, nor on what else is played.

    Args:
        first: the layouts that move first, ``int8[n, 25]``, or one for all games.
        second: the layouts that move second, likewise.
        seeds: ``uint64[n]``.
        judge: the player of the first layouts.
        second_judge: the player of the second, if it is another one.
        threads: all cores if None.
        progress: called now and then with the number of games finished since the last call.

    Raises:
        ValueError: if the arrays do not fit each other, or hold what no game can start from.
    """
    seeds = _seed_row(seeds)
    firsts = _layout_rows(first, len(seeds), "first")
    seconds = _layout_rows(second, len(seeds), "second")
    judges = (judge, second_judge or judge)
    results = _room_for(len(seeds))

    settings, players = settings_of(rules or Rules()), _players(*judges)

    def play(chunk: slice, scratch: Scratch) -> int:
        play_batch(
            firsts[chunk],
            seconds[chunk],
            seeds[chunk],
            settings,
            players,
            scratch,
            *(array[chunk] for array in results),
        )
        return chunk.stop - chunk.start

    _run(play, len(seeds), games_at_once(*judges), threads, progress)
    return results


def play_with(
    play_one: PlayOne,
    first: ArrayLike,
    second: ArrayLike,
    seeds: ArrayLike,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Results:
    """Play one game for each seed, as `play_games` does, by a function and not by the kernels.

    Raises:
        ValueError: as `play_games`.
    """
    seeds = _seed_row(seeds)
    firsts = _layout_rows(first, len(seeds), "first")
    seconds = _layout_rows(second, len(seeds), "second")
    results = _room_for(len(seeds))

    def play(chunk: slice, _scratch: Scratch) -> int:
        for row in range(chunk.start, chunk.stop):
            moves, end = play_one(firsts[row], seconds[row], int(seeds[row]))
            results.winners[row], results.reasons[row] = end.winner, end.reason
            results.plies[row] = len(moves)
        return chunk.stop - chunk.start

    _run(play, len(seeds), 1, threads, progress)
    return results


def _room_for(games: int) -> Results:
    return Results(np.empty(games, np.int8), np.empty(games, np.int8), np.empty(games, np.int32))


def games_at_once(*judges: Judge) -> int:
    """Games that a thread plays before it looks up: they take some tens of milliseconds."""
    if THINK in (judge.kind for judge in judges):
        return 1
    work = max(int(30 ** (judge.depth - 1.0) * judge.worlds) for judge in judges)
    return _POLICY_CHUNK if work < 1 else max(1, _SEARCH_CHUNK_WORK // work)


def play_game(
    first: Layout,
    second: Layout,
    seed: int,
    judge: Judge,
    second_judge: Judge | None = None,
    rules: Rules | None = None,
) -> tuple[list[Move], Outcome]:
    """One game of `play_games`, move by move, in the coordinates of the side that moves first."""
    first_row, second_row = _layout_rows(first, 1, "first")[0], _layout_rows(second, 1, "second")[0]
    (game_seed,) = _seed_row([seed])
    players = _players(judge, second_judge or judge)
    settings = settings_of(rules or Rules())
    moves = np.zeros((_PLIES_AT_FIRST, 2), np.uint8)
    while True:
        winner, reason, plies = game(
            first_row,
            second_row,
            game_seed,
            settings,
            players,
            new_scratch(),
            moves,
        )
        if plies <= len(moves):
            pairs = moves[:plies].tolist()
            return [Move(origin, target) for origin, target in pairs], Outcome(
                winner, Reason(reason)
            )
        moves = np.zeros((plies, 2), np.uint8)


def warm_up(*judges: Judge) -> None:
    """Compile or load what these judges need, so that what follows runs at full speed."""
    layout = random_layouts(1, 0)[0]
    for judge in judges or (Judge(POLICY),):
        play_games(layout, layout, [0], judge, threads=1)


def _run(
    play: Callable[[slice, Scratch], int],
    games: int,
    at_once: int,
    threads: int | None,
    progress: Progress | None,
) -> None:
    """Play the games in chunks, each thread in memory of its own; stops soon after Ctrl-C."""
    if threads is not None and threads < 1:
        raise ValueError(f"expected at least 1 thread, got {threads}")
    threads = threads or os.cpu_count() or 1
    chunks = _chunks(games, at_once, threads)
    threads = min(threads, len(chunks))
    report = progress or (lambda _games: None)
    if threads <= 1:
        scratch = new_scratch()
        for chunk in chunks:
            report(play(chunk, scratch))
        return
    waiting = iter(chunks)
    played: SimpleQueue[int] = SimpleQueue()

    def work() -> None:
        scratch = new_scratch()
        try:
            # Each thread fetches its next chunk itself, and need not wait for the caller.
            for chunk in waiting:
                played.put(play(chunk, scratch))
        finally:
            stop()
            played.put(0)

    def stop() -> None:
        deque(waiting, maxlen=0)  # nothing is left to be fetched

    with ThreadPoolExecutor(threads) as pool:
        running = [pool.submit(work) for _ in range(threads)]
        try:
            for _ in running:
                while games := played.get():
                    report(games)
        finally:
            stop()
        for thread in running:
            thread.result()


def _chunks(games: int, largest: int, threads: int) -> list[slice]:
    """All games in parts; the results do not depend on them."""
    smallest = math.ceil(largest * _LAST_CHUNK)
    chunks = []
    start = 0
    while start < games:
        size = min(largest, max(smallest, (games - start) // (2 * threads)))
        chunks.append(slice(start, min(start + size, games)))
        start += size
    return chunks


def _players(first: Judge, second: Judge) -> Players:
    pair = (first, second)
    if THINK in (first.kind, second.kind):
        raise ValueError(f"expected judges of simulated games, got {first} and {second}")
    policies = [policy_tables_of(judge.policy) for judge in pair]
    searches = [search_tables_of(judge.search) for judge in pair]
    return Players(
        kinds=np.array([judge.kind for judge in pair], np.int64),
        depths=np.array([judge.depth for judge in pair], np.int64),
        worlds=np.array([judge.worlds for judge in pair], np.int64),
        gains=np.stack([tables.gain for tables in policies]),
        places=np.stack([tables.place for tables in policies]),
        limits=np.stack([tables.limits for tables in policies]),
        worths=np.stack([tables.worths for tables in searches]),
        search_limits=np.stack([tables.limits for tables in searches]),
    )


def _seed_row(seeds: ArrayLike) -> Seeds:
    given = np.asarray(seeds)
    if given.ndim != 1:
        raise ValueError(f"expected seeds of shape (n,), got {given.shape}")
    if given.size and given.dtype.kind not in "iu":
        raise ValueError(f"expected seeds to be integers, got {given.dtype}")
    if given.size and given.min() < 0:
        raise ValueError(f"expected seeds of at least 0, got {given.min()}")
    return given.astype(np.uint64)


def _layout_rows(layouts: ArrayLike, games: int, name: str) -> NDArray[np.int8]:
    """The layouts as one row a game."""
    rows = np.asarray(layouts)
    if rows.shape not in ((PIECES_A_SIDE,), (games, PIECES_A_SIDE)):
        raise ValueError(
            f"expected the {name} layouts to be of shape ({PIECES_A_SIDE},) or "
            f"({games}, {PIECES_A_SIDE}), got {rows.shape}"
        )
    if rows.dtype.kind not in "iu":
        raise ValueError(f"expected the {name} layouts to be integers, got {rows.dtype}")
    # A copy: for arrays that may not be written to numba would compile everything again.
    own = np.array(np.clip(rows, EMPTY, HIDDEN).reshape(-1, PIECES_A_SIDE), np.int8, order="C")
    index = first_illegal(own)
    if index >= 0:
        got = rows.reshape(own.shape)[index].tolist()
        raise ValueError(f"expected the {name} layouts to be legal, got {got} in row {index}")
    return own if rows.ndim == 2 else np.repeat(own, games, axis=0)
