"""What there is to tell of a finished run: kept with the run, and read again for its report."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from junqi.errors import JunqiError
from junqi.layout import LAYOUT_POINTS, Layout, format_layout, mirror_layout, parse_layout
from junqi.pieces import KINDS, RED
from junqi.render import LAYOUT_ROWS, cells_of
from junqi.stats import Score
from layout_search.archive import Archive
from layout_search.finals import choose_finalists, finals_of
from layout_search.mixture import prune
from layout_search.run import RoundReport, Run
from layout_search.transfer import Transfer, compare_payoffs, compare_scores

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

# Raised when what a run keeps gets another form.
FORM = 1
# Digits of a share, as the book's weights have them.
SHARE_DIGITS = 4
# Rounds before and after one that its smoothed score is the mean of.
SMOOTHING = 4
# A layout's score by fewer games is not worth telling on its own.
LEAST_TOLD = 20
# Of the last rounds, to tell where the score of counters has come to.
LAST_ROUNDS = 5


class NoReport(JunqiError, ValueError):
    """A run that kept nothing to tell, or in a form that is not understood."""


@dataclass(frozen=True, eq=False)
class Judged:
    """The finalists as one judge sees them."""

    judge: str
    payoff: Matrix
    """``float64[n, n]``, what row scores against column above one half; antisymmetric."""
    games: Matrix
    """``float64[n, n]``, symmetric."""
    panel_scores: Vector
    """Against people's and random layouts."""
    panel_games: float


@dataclass(frozen=True)
class Scored:
    """A fresh score, of a layout or of the mixture."""

    layout: str
    """25 letters, or nothing for the mixture."""
    opponents: str
    judge: str
    games: int
    score: Score
    command: str = ""
    """What gives it again."""

    def to_json(self) -> dict[str, Any]:
        """All figures by name."""
        low, high = self.score.interval
        return {
            "layout": self.layout or None,
            "opponents": self.opponents,
            "judge": self.judge,
            "games": self.games,
            "score": self.score.mean,
            "error": self.score.error,
            "interval": [low, high],
        }


@dataclass(frozen=True, eq=False)
class Report:
    """All that a report tells."""

    rounds: list[RoundReport]
    mixture: dict[str, float]
    """The share of each layout, the largest first."""
    greediest: str
    """The finalist of which the best score against the panel is to be expected."""
    finalists: list[str]
    """Those of the mixture first."""
    fast: Judged
    strong: Judged | None
    """None if there were no finals."""
    payoff: Matrix
    """``float64[n, n]``, by the judge of the finals as far as all games tell, if there were any."""
    evidence: list[Scored] = field(default_factory=list)
    """Of single layouts, in fresh games."""
    attacks: list[Scored] = field(default_factory=list)
    """Counters that attacks have found to the mixture."""

    def mixture_scores(self) -> list[Scored]:
        """What the mixture scores against each panel that all of its layouts have met."""
        met = dict.fromkeys((row.opponents, row.judge) for row in self.evidence)
        return [scored for pair in met if (scored := self._mixture_score(*pair)) is not None]

    def _mixture_score(self, opponents: str, judge: str) -> Scored | None:
        rows = {
            row.layout: row
            for row in self.evidence
            if (row.opponents, row.judge) == (opponents, judge) and row.layout in self.mixture
        }
        if set(rows) != set(self.mixture):
            return None
        # The layouts play with different seeds, so that their errors are independent.
        parts = [(self.mixture[layout], row.score) for layout, row in rows.items()]
        total = sum(share for share, _ in parts)
        mean = sum(share * score.mean for share, score in parts) / total
        error = sum((share * score.error) ** 2 for share, score in parts) ** 0.5 / total
        games = sum(row.games for row in rows.values())
        return Scored("", opponents, judge, games, Score(mean, error))

    def last_counter(self) -> float:
        """What the best responses of the last rounds scored on average."""
        last = [report.counter for report in self.rounds[-LAST_ROUNDS:]]
        return sum(last) / len(last)

    def panel_transfer(self) -> Transfer | None:
        """How well the fast judge foretold the scores against people's and random layouts."""
        if self.strong is None:
            return None
        scores = self.fast.panel_scores, self.strong.panel_scores
        return compare_scores(*scores, self.fast.panel_games, self.strong.panel_games)

    def payoff_transfer(self) -> Transfer | None:
        """How well the fast judge foretold who beats whom among the finalists."""
        if self.strong is None:
            return None
        payoffs = self.fast.payoff, self.strong.payoff
        return compare_payoffs(*payoffs, self.fast.games, self.strong.games)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data."""
        panel, payoff = self.panel_transfer(), self.payoff_transfer()
        return {
            "mixture": [{"layout": k, "share": share} for k, share in self.mixture.items()],
            "greediest": self.greediest,
            "last_counter": self.last_counter(),
            "evidence": [row.to_json() for row in self.mixture_scores() + self.evidence],
            "attacks": [row.to_json() for row in self.attacks],
            "rounds": [vars(report) for report in self.rounds],
            "finalists": self.finalists,
            "payoff": _rounded(self.payoff),
            "judges": [_told(judged) for judged in (self.fast, self.strong) if judged is not None],
            "transfer": {
                "panel": None if panel is None else panel.to_json(),
                "payoffs": None if payoff is None else payoff.to_json(),
            },
        }


def final_mixture(run: Run) -> dict[str, float]:
    """The layouts that carry the mixture and their shares, the heaviest first."""
    shares = prune(run.shares)
    texts = map(format_layout, run.archive.layouts)
    rounded = [round(float(share), SHARE_DIGITS) for share in shares]
    return _heaviest_first({k: share for k, share in zip(texts, rounded, strict=True) if share > 0})


def report_of(run: Run) -> Report:
    """What a run that has just ended can tell, all but the fresh evidence."""
    mixture = final_mixture(run)
    finals = finals_of(run)
    members = choose_finalists(run) if finals is None else finals.final.members
    texts = [format_layout(run.archive.layouts[member]) for member in members]
    # As in the mixture; those without a share stay in the order in which they were found.
    place = {layout: number for number, layout in enumerate(mixture)}
    order = sorted(range(len(members)), key=lambda i: place.get(texts[i], len(place)))
    chosen = np.array(members)[order]
    fast = Judged(
        run.settings.judge,
        run.archive.payoff()[np.ix_(chosen, chosen)],
        _both_ways(run.archive)[np.ix_(chosen, chosen)],
        run.panel_scores[chosen],
        run.settings.support_games,
    )
    strong = None
    if finals is not None:
        own = np.ix_(order, order)
        final = finals.final
        met = _both_ways(final.strong)
        panel_games = (final.games - met.sum() / 2) / len(members)
        seen = final.strong.payoff()[own]
        scores = final.panel_scores[order]
        strong = Judged(run.settings.finals, seen, met[own], scores, panel_games)
    # The best of many noisy scores is a lucky one; what is expected of a layout is less so.
    best = int(np.argmax(fast.panel_scores if finals is None else finals.expected[order]))
    finalists = [texts[i] for i in order]
    payoff = fast.payoff if finals is None else finals.payoff[np.ix_(order, order)]
    return Report(run.rounds, mixture, finalists[best], finalists, fast, strong, payoff)


def to_store(report: Report) -> dict[str, Any]:
    """What is kept with a run: all but the fresh scores, which a book has by their commands.

    The fast judge's payoffs and the panel scores must not be kept as evidence, because finalists
    and mixture were chosen by them: as results they would be too high.
    """
    strong = report.strong
    return {
        "form": FORM,
        "rounds": [list(vars(row).values()) for row in report.rounds],
        "mixture": report.mixture,
        "greediest": report.greediest,
        "finalists": report.finalists,
        "fast": _told(report.fast),
        "strong": None if strong is None else _told(strong),
        "payoff": _rounded(report.payoff),
        "evidence": [row.command for row in report.evidence],
    }


def from_store(
    stored: Mapping[str, Any], evidence: Iterable[Scored] = (), attacks: Iterable[Scored] = ()
) -> Report:
    """Undo `to_store`.

    Args:
        evidence: all that the book has; those of this run are chosen.
        attacks: those on this mixture.

    Raises:
        NoReport: if it is not what `to_store` makes.
    """
    if stored.get("form") != FORM:
        raise NoReport(f"expected a run with a report of form {FORM}, got {stored.get('form')!r}")
    try:
        return Report(
            [RoundReport(*row) for row in stored["rounds"]],
            _heaviest_first(stored["mixture"]),
            stored["greediest"],
            list(stored["finalists"]),
            _judged(stored["fast"]),
            None if stored["strong"] is None else _judged(stored["strong"]),
            np.array(stored["payoff"], dtype=np.float64),
            [row for row in evidence if row.command in stored["evidence"]],
            list(attacks),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise NoReport(f"expected a run with a report: {error!r}") from None


def standing(mixture: Mapping[str, float]) -> dict[str, list[list[float | None]]]:
    """How often each kind stands at each point, by letter, as rows G to L; None in camps.

    A layout is played mirrored as often as not.
    """
    cells = cells_of(RED, LAYOUT_ROWS)
    total = sum(mixture.values())
    boards = {kind.letter: np.full((len(LAYOUT_ROWS), 5), np.nan) for kind in KINDS}
    for board in boards.values():
        for point in LAYOUT_POINTS:
            board[cells[point]] = 0.0
    for text, share in mixture.items():
        straight: Layout = parse_layout(text)
        for image in (straight, mirror_layout(straight)):
            for point, letter in zip(LAYOUT_POINTS, format_layout(image), strict=True):
                boards[letter][cells[point]] += share / total / 2
    return {
        letter: [[None if np.isnan(x) else float(x) for x in row] for row in board]
        for letter, board in boards.items()
    }


def _heaviest_first(mixture: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(mixture.items(), key=lambda item: (-item[1], item[0])))


def _both_ways(archive: Archive) -> Matrix:
    return archive.games + archive.games.T


def _told(judged: Judged) -> dict[str, Any]:
    return {
        "judge": judged.judge,
        "payoff": _rounded(judged.payoff),
        "games": judged.games.astype(int).tolist(),
        "panel_scores": _rounded(judged.panel_scores),
        "panel_games": int(judged.panel_games),
    }


def _rounded(values: NDArray[np.float64]) -> list[Any]:
    kept: list[Any] = values.round(5).tolist()
    return kept


def _judged(stored: Mapping[str, Any]) -> Judged:
    size = len(stored["panel_scores"])
    payoff, games = (
        np.array(stored[name], dtype=np.float64).reshape(size, size) for name in ("payoff", "games")
    )
    scores = np.array(stored["panel_scores"], dtype=np.float64)
    return Judged(stored["judge"], payoff, games, scores, stored["panel_games"])
