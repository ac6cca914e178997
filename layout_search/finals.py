"""A stronger judge looks at the best of the archive again, before the last rounds.

His new games against people's and random layouts join those of the search, and the mixture is
solved once more, as after a round: safe from counters under the fast judge, who has met thousands
of them, and, by the greed, good in the strong judge's eyes. The more he says the further that moves
the mixture, to where no round has looked for counters yet. So rounds follow that do.

Solving it against counters under the strong judge too was tried: he has time for few games, so
these counters are mostly foreseen ones, and the mixture lost more to those that the fast judge
really found (66 % instead of 60 %). His games between finalists tell whether the judges agree, and
who beats whom (`blend`).
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from junqi.simulate import parse_judge
from layout_search.archive import Archive
from layout_search.fitness import score
from layout_search.foresight import GAME_VARIANCE
from layout_search.rounds import expected_scores, panel_of, solve_anew
from layout_search.run import FinalGames, Run
from layout_search.workers import ALL_CORES, Workers

Vector = NDArray[np.float64]
FinalsReport = Callable[[int, int], None]

# Pairs in one call: some seconds of a strong judge's games, so that progress can be told.
PAIRS_AT_ONCE = 64
# Of each two that meet: both colours, against the layout and its mirror image.
MEETING = 4
# What is expected of the strong judge's payoffs before the finals, with standard deviations: the
# part of the fast judge's that holds, and the part of a layout's score against the panel.
HOLDING, HOLDING_ERROR = 0.6, 0.2
RATING, RATING_ERROR = 0.8, 0.05
_FINALS_STREAM = 100


@dataclass(frozen=True, eq=False)
class Finals:
    """What the finals tell at the end of a run."""

    final: FinalGames
    payoff: NDArray[np.float64]
    """The strong judge's payoffs between the finalists, as far as all games tell."""
    expected: Vector
    """Their scores against people's and random layouts, as far as all his games tell, those of the
    search too, and what they foretell."""


def hold_finals(
    run: Run,
    workers: Workers = ALL_CORES,
    report: FinalsReport = lambda games, planned: None,
) -> None:
    """Judge the best of the archive again, and solve for the mixture with what was seen.

    `report` is told of games as they are finished, and of how many there will be.
    """
    settings = run.settings
    begin = time.monotonic()
    judge = parse_judge(settings.finals)
    members = choose_finalists(run)
    strong = Archive()
    for member in members:
        strong.add(run.archive.layouts[member])
    games = settings.final_games()
    planned = _games_of(len(members), games)
    seed = (settings.seed, _FINALS_STREAM, len(run.rounds))
    pairs = draw_pairs(run.shares[members], games // MEETING, seed)
    for number, chunk in enumerate(_unlike_chunks(pairs)):
        report(strong.play(chunk, MEETING, (*seed, number), judge, workers), planned)
    panel = panel_of(run, seed)
    panel_scores: list[float] = []
    for layout in strong.layouts:
        panel_scores.append(score(layout[None], panel, games, (*seed, 0), judge, workers)[0])
        report(games, planned)
    scores = np.array(panel_scores)
    run.strong_points[members] += games * scores
    run.strong_games[members] += games
    solve_anew(run)
    seconds = time.monotonic() - begin
    run.games += planned
    run.strong_played += planned
    run.strong_seconds += seconds
    run.final = FinalGames(members, strong, scores, planned, seconds, len(run.rounds))


def finals_of(run: Run) -> Finals | None:
    """What the finals of a run tell now; None if it had none."""
    if run.final is None:
        return None
    members, expected = run.final.members, expected_scores(run)
    payoff = blend(run.archive.payoff(), expected, run.final.strong, members)
    return Finals(run.final, payoff[np.ix_(members, members)], expected[members])


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
    for often in range(max(times.values(), default=0)):
        left = sorted(pair for pair, count in times.items() if count > often)
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
    finalists = min(run.settings.finalists, len(run.archive))
    return _games_of(finalists, run.settings.final_games())


def _games_of(finalists: int, games: int) -> int:
    """Of the finals, if each finalist plays so many against the others, and against the panel."""
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
