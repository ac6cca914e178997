"""The last word: a stronger judge looks at the best of the archive again, and the mixture is his.

A strong judge has time for few games, so each payoff is a blend: what he saw, and, as if it were
so many games more, what the fast judge saw in thousands. What is left of the error is drawn many
times, and the mean of the mixtures is taken, so that luck is not played always. Scores come from
new seeds; those by which finalists were chosen are not used again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from junqi.layout import Layout
from junqi.simulate import parse_judge, warm_up
from layout_search.archive import Archive
from layout_search.evolve import Run, panel_of
from layout_search.fitness import score
from layout_search.mixture import prune, solve_uncertain

Vector = NDArray[np.float64]

# The fast judge's payoff counts as so many games of the strong one.
TRUST_IN_FAST = 20
# Pairs in one call: some seconds of a strong judge's games, so that progress can be told.
PAIRS_AT_ONCE = 8
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
    threads: int | None = None,
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
    pairs = list(combinations(range(len(members)), 2))
    games, panel_games = settings.final_games(), 4 * settings.final_games()
    seed = (settings.seed, _FINALS_STREAM)
    for number in range(0, len(pairs), PAIRS_AT_ONCE):
        chunk = pairs[number : number + PAIRS_AT_ONCE]
        report(strong.play(chunk, games, (*seed, number), judge, threads))
    panel = panel_of(run, seed)
    layouts = run.archive.layouts[members]
    panel_scores = []
    for layout in layouts:
        panel_scores.append(score(layout[None], panel, panel_games, (*seed, 0), judge, threads)[0])
        report(panel_games)
    fast = run.archive.payoff()[np.ix_(members, members)]
    met = np.maximum(strong.games, strong.games.T)
    payoff = (met * strong.payoff() + TRUST_IN_FAST * fast) / (met + TRUST_IN_FAST)
    greed, scores = settings.greed, np.array(panel_scores)
    shares = solve_uncertain(
        (1 - greed) * payoff,
        (1 - greed) * 0.5 / np.sqrt(met + TRUST_IN_FAST),
        greed * (scores - 0.5),
        np.full(len(members), greed * 0.5 / np.sqrt(panel_games)),
        (*seed, 1),
    )
    shares = prune(shares)
    done = planned_games(run)
    return Finals(layouts, members, strong, payoff, scores, shares, done)


def planned_games(run: Run) -> int:
    """How many games the finals of a run take."""
    finalists = len(choose_finalists(run))
    games = run.settings.final_games()
    return games * finalists * (finalists - 1) // 2 + 4 * games * finalists


def choose_finalists(run: Run) -> list[int]:
    """Those that carry the mixture, and the best against the panel, half and half."""
    wanted = min(run.settings.finalists, len(run.archive))
    by_share = np.argsort(-run.shares, kind="stable").tolist()
    by_panel = np.argsort(-run.panel_scores, kind="stable").tolist()
    in_turn = (member for pair in zip(by_share, by_panel, strict=True) for member in pair)
    return sorted(list(dict.fromkeys(in_turn))[:wanted])
