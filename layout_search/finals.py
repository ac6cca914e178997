"""The last word: a stronger judge looks at the best of the archive again, and the mixture is his.

A strong judge has time for few games: too few to know each payoff between two layouts, enough to
know how much better or worse a layout is than the fast judge thought. So his payoff between two
finalists is taken to be a part of the fast judge's, plus what he thinks more of the one, minus what
he thinks more of the other, fitted to his games (`blend`). Scores come from new seeds; those by
which finalists were chosen are not used again.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from junqi.layout import Layout
from junqi.simulate import parse_judge, warm_up
from layout_search.archive import Archive
from layout_search.evolve import Run, expected_scores, mixture_of, panel_of
from layout_search.fitness import score
from layout_search.mixture import prune
from layout_search.workers import ALL_CORES, Workers

Vector = NDArray[np.float64]

# Pairs in one call: some seconds of a strong judge's games, so that progress can be told.
PAIRS_AT_ONCE = 64
# Of each two that meet: both colours, against the layout and its mirror image.
MEETING = 4
# What is expected before the strong judge's first game, with standard deviations: the part of the
# fast judge's payoff that holds, and how far he differs about a layout.
HOLDING, HOLDING_ERROR = 0.6, 0.3
DIFFERENCE_ERROR = 0.07
# Of one game's score.
GAME_VARIANCE = 0.25
_FINALS_STREAM = 100


@dataclass(eq=False)
class Finals:
    """What the strong judge found."""

    layouts: Layout
    """The finalists, ``int8[n, 25]``."""
    members: list[int]
    """Their numbers in the archive."""
    strong: Archive
    """Their games under the strong judge alone."""
    payoff: NDArray[np.float64]
    """The blend that the mixture was solved on."""
    panel_scores: Vector
    """Against people's and random layouts, by the strong judge."""
    shares: Vector
    games: int


def hold_finals(
    run: Run,
    workers: Workers = ALL_CORES,
    report: Callable[[int], None] = lambda games: None,
) -> Finals:
    """Judge the best of the archive again and solve for the final mixture.

    `report` is told of games as they are finished.
    """
    settings = run.settings
    judge = parse_judge(settings.finals)
    warm_up(judge)
    members = choose_finalists(run)
    strong = Archive()
    for member in members:
        strong.add(run.archive.layouts[member])
    games = settings.final_games()
    seed = (settings.seed, _FINALS_STREAM)
    pairs = draw_pairs(run.shares[members], games // MEETING, seed)
    for number, chunk in enumerate(_unlike_chunks(pairs)):
        report(strong.play(chunk, MEETING, (*seed, number), judge, workers))
    panel = panel_of(run, seed)
    layouts = run.archive.layouts[members]
    panel_scores = []
    for layout in layouts:
        panel_scores.append(score(layout[None], panel, games, (*seed, 0), judge, workers)[0])
        report(games)
    fast = run.archive.payoff()[np.ix_(members, members)]
    payoff = blend(fast, strong)
    scores = np.array(panel_scores)
    # Nobody is to have a counter among all that is known: under either judge.
    counters = np.concatenate([run.archive.payoff()[members], payoff], axis=1)
    shares = prune(mixture_of(counters, scores, settings))
    played = MEETING * len(pairs) + games * len(members)
    return Finals(layouts, members, strong, payoff, scores, shares, played)


def draw_pairs(shares: Vector, meetings: int, seed: tuple[int, ...]) -> list[tuple[int, int]]:
    """Opponents for each finalist: all equally often at first, then as the mixture plays them."""
    size = len(shares)
    if size < 2:
        return []
    random = np.random.default_rng(seed)
    chances = 0.5 / size + 0.5 * shares / max(shares.sum(), 1e-9)
    pairs = []
    for one in range(size):
        others = np.where(np.arange(size) == one, 0.0, chances)
        drawn = random.choice(size, meetings, p=others / others.sum())
        pairs += [(max(one, other), min(one, other)) for other in drawn.tolist()]
    return pairs


def _unlike_chunks(pairs: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """The pairs in chunks without doubles, which would play the same games twice."""
    times = Counter(pairs)
    for time in range(max(times.values(), default=0)):
        left = sorted(pair for pair, often in times.items() if often > time)
        for number in range(0, len(left), PAIRS_AT_ONCE):
            yield left[number : number + PAIRS_AT_ONCE]


def blend(fast: NDArray[np.float64], strong: Archive) -> NDArray[np.float64]:
    """The strong judge's payoffs, as far as his games and the fast judge's payoffs tell them.

    Least squares with what is expected beforehand, for the part of the fast payoffs that holds and
    one difference a layout.
    """
    size = len(fast)
    met = strong.games + strong.games.T
    rows, columns = np.nonzero(np.triu(met, 1))
    games = met[rows, columns]
    design = np.zeros((len(rows), size + 1))
    numbers = np.arange(len(rows))
    design[numbers, rows], design[numbers, columns] = 1.0, -1.0
    design[:, size] = fast[rows, columns]
    expected = np.zeros(size + 1)
    expected[size] = HOLDING
    certainty = np.full(size + 1, DIFFERENCE_ERROR**-2)
    certainty[size] = HOLDING_ERROR**-2
    weights = games / GAME_VARIANCE
    left = design.T @ (weights[:, None] * design) + np.diag(certainty)
    right = design.T @ (weights * strong.payoff()[rows, columns]) + certainty * expected
    found = np.linalg.solve(left, right)
    differences = found[:size]
    return found[size] * fast + differences[:, None] - differences[None, :]


def planned_games(run: Run) -> int:
    """How many games the finals of a run take."""
    finalists = len(choose_finalists(run))
    games = run.settings.final_games()
    return finalists * games + (finalists * (games // MEETING) * MEETING if finalists > 1 else 0)


def choose_finalists(run: Run) -> list[int]:
    """Those that carry the mixture, and the best against the panel, half and half.

    How good they are against the panel the strong judge has said, as far as he was asked.
    """
    wanted = min(run.settings.finalists, len(run.archive))
    by_share = np.argsort(-run.shares, kind="stable").tolist()
    by_panel = np.argsort(-expected_scores(run), kind="stable").tolist()
    in_turn = (member for pair in zip(by_share, by_panel, strict=True) for member in pair)
    return sorted(list(dict.fromkeys(in_turn))[:wanted])
