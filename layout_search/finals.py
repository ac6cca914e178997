"""The last word: a stronger judge looks at the best of the archive again, and the mixture is his.

A strong judge has time for few games: too few to know each payoff between two layouts, enough to
know how good a layout is in his eyes. So his payoff between two layouts is taken to be a part of
the fast judge's, plus how good he thinks the one, minus how good he thinks the other, fitted to the
games of the finalists (`blend`). The mixture is solved over the whole archive, against all counters
in it under both judges. Scores of finalists come from new seeds.

The solution has half a say, the mixture that the search ended with the other half. After 150 rounds
an attack scored 66 % against the finals' mixture alone, 60 % against the search's and 61 % against
both together, which scored 70, 75 and 72 +- 3 % against people's layouts that none had met.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from junqi.layout import Layout
from junqi.simulate import parse_judge, warm_up
from layout_search.archive import Archive
from layout_search.evolve import HOLDING, RATING, Run, expected_scores, mixture_of, panel_of
from layout_search.fitness import score
from layout_search.foresight import GAME_VARIANCE
from layout_search.mixture import prune
from layout_search.workers import ALL_CORES, Workers

Vector = NDArray[np.float64]

# Pairs in one call: some seconds of a strong judge's games, so that progress can be told.
PAIRS_AT_ONCE = 64
# Of each two that meet: both colours, against the layout and its mirror image.
MEETING = 4
# Standard deviations of what is expected before the finals: of the part of the fast judge's payoff
# that holds, and of how good a layout is.
HOLDING_ERROR = 0.2
RATING_ERROR = 0.05
# What was foreseen of a finalist's score against the panel counts as so many games.
FORESEEN_GAMES = 64
# The weight of the finals' own mixture in the final one.
SAY = 0.5
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
    """The strong judge's payoffs between them, as far as all games tell."""
    panel_scores: Vector
    """Against people's and random layouts, by the strong judge."""
    shares: Vector
    """Of all layouts of the archive, in the final mixture."""
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
    panel_scores: list[float] = []
    for layout in layouts:
        panel_scores.append(score(layout[None], panel, games, (*seed, 0), judge, workers)[0])
        report(games)
    scores = np.array(panel_scores)
    expected = expected_scores(run).copy()
    seen = games * scores + FORESEEN_GAMES * expected[members]
    expected[members] = seen / (games + FORESEEN_GAMES)
    fast = run.archive.payoff()
    payoff = blend(fast, expected, strong, members)
    solved = mixture_of(np.concatenate([fast, payoff], axis=1), expected, settings)
    shares = prune(SAY * solved + (1 - SAY) * run.shares)
    played = MEETING * len(pairs) + games * len(members)
    among = payoff[np.ix_(members, members)]
    return Finals(layouts, members, strong, among, scores, shares, played)


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


def blend(
    fast: NDArray[np.float64], expected: Vector, strong: Archive, members: list[int]
) -> NDArray[np.float64]:
    """The strong judge's payoffs between all layouts, as far as all games tell.

    Least squares with what is expected beforehand, for the part of the fast payoffs that holds and
    for how good each layout is.

    Args:
        fast: ``float64[n, n]``, the fast judge's payoffs.
        expected: ``float64[n]``, scores against the panel.
        strong: games between the finalists.
        members: the numbers of the finalists among all layouts.
    """
    size = len(fast)
    met = strong.games + strong.games.T
    rows, columns = np.nonzero(np.triu(met, 1))
    first, second = np.array(members)[rows], np.array(members)[columns]
    design = np.zeros((len(rows), size + 1))
    numbers = np.arange(len(rows))
    design[numbers, first], design[numbers, second] = 1.0, -1.0
    design[:, size] = fast[first, second]
    before = np.append(RATING * (expected - expected.mean()), HOLDING)
    certainty = np.append(np.full(size, RATING_ERROR**-2), HOLDING_ERROR**-2)
    weights = met[rows, columns] / GAME_VARIANCE
    left = design.T @ (weights[:, None] * design) + np.diag(certainty)
    right = design.T @ (weights * strong.payoff()[rows, columns]) + certainty * before
    found = np.linalg.solve(left, right)
    ratings = found[:size]
    return found[size] * fast + ratings[:, None] - ratings[None, :]


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
