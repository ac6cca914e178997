"""What a run leaves for its report, and the page made of it."""

import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from junqi.layout import parse_layouts
from junqi.pieces import KINDS
from junqi.stats import Score
from layout_search.evolve import search
from layout_search.finals import finals_of
from layout_search.report import (
    NoReport,
    Scored,
    from_store,
    report_of,
    standing,
    to_store,
)
from layout_search.report_page import render_page
from layout_search.run import start
from layout_search.settings import Settings

PEOPLE = parse_layouts(["cigdcegkefkfaibgidjhhhjlj", "hcgcgkikgfdfdabejiiejljhh"])
SMALL = Settings(
    rounds=5,
    population=12,
    generations=2,
    games=16,
    pair_games=16,
    support_games=16,
    test_games=64,
    finals="search:1x1",
    finalists=5,
    finalist_games=8,
)
VOID = {"meta", "input", "br", "link"}


@pytest.fixture(scope="module")
def run():
    run = start(SMALL, PEOPLE)
    search(run)
    return run


@pytest.fixture(scope="module")
def finals(run):
    return finals_of(run)


def stored_and_read(report, evidence=(), attacks=()):
    kept = json.loads(json.dumps(to_store(report), sort_keys=True))
    return from_store(kept, evidence, attacks)


def test_a_report_survives_being_kept(run, finals) -> None:
    report = report_of(run)
    kept = stored_and_read(report)
    assert (kept.mixture, kept.finalists) == (report.mixture, report.finalists)
    assert (kept.rounds, kept.greediest) == (report.rounds, report.greediest)
    assert np.allclose(kept.payoff, report.payoff, atol=1e-5)
    assert np.array_equal(kept.strong.games, report.strong.games)
    assert stored_and_read(kept).to_json() == kept.to_json()


def test_finalists_begin_with_the_mixture_and_payoffs_follow_them(run, finals) -> None:
    report = report_of(run)
    playing = [layout for layout in report.mixture if layout in report.finalists]
    assert playing
    assert report.finalists[: len(playing)] == playing
    shares = list(report.mixture.values())
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1, abs=0.001)
    assert np.allclose(report.strong.payoff, -report.strong.payoff.T)
    members = finals.final.members
    first = next(i for i, m in enumerate(members) if _text(run, m) == report.finalists[0])
    second = next(i for i, m in enumerate(members) if _text(run, m) == report.finalists[1])
    assert report.strong.payoff[0, 1] == finals.final.strong.payoff()[first, second]
    assert report.fast.payoff[0, 1] == run.archive.payoff()[members[first], members[second]]
    assert report.strong.panel_games == SMALL.finalist_games


def _text(run, member: int) -> str:
    from junqi.layout import format_layout

    return format_layout(run.archive.layouts[member])


def test_a_run_without_finals_has_a_report_of_the_fast_judge(run) -> None:
    report = report_of(replace(run, final=None))
    assert report.strong is None
    assert report.payoff_transfer() is None
    assert stored_and_read(report).strong is None
    assert "foretell" not in page_of(report)


def test_the_mixture_scores_as_its_parts_do_with_a_smaller_error(run, finals) -> None:
    report = report_of(run)
    one, two = list(report.mixture)[:1] * 2
    report = replace(report, mixture={one: 0.75, "x": 0.25}, evidence=[
        Scored(one, "human", "policy", 100, Score(0.8, 0.04)),
        Scored("x", "human", "policy", 60, Score(0.4, 0.04)),
        Scored(two, "random:100", "policy", 60, Score(0.9, 0.04)),
    ])  # fmt: skip
    (score,) = report.mixture_scores()
    assert (score.opponents, score.games, score.layout) == ("human", 160, "")
    assert score.score.mean == pytest.approx(0.7)
    assert score.score.error == pytest.approx(0.04 * np.hypot(0.75, 0.25))


def test_what_is_not_a_kept_report_is_refused() -> None:
    with pytest.raises(NoReport, match="form 1, got None"):
        from_store({})
    with pytest.raises(NoReport, match="expected a run with a report"):
        from_store({"form": 1})


def test_every_kind_stands_as_often_as_there_are_pieces_and_both_ways_round() -> None:
    boards = standing({"cigdcegkefkfaibgidjhhhjlj": 0.25, "hcgcgkikgfdfdabejiiejljhh": 0.75})
    for kind in KINDS:
        board = boards[kind.letter]
        assert sum(x or 0 for row in board for x in row) == pytest.approx(kind.count)
        assert all(row == row[::-1] for row in board)
    assert boards["l"][5][1] == 0.5
    assert [row.count(None) for row in boards["l"]] == [0, 2, 1, 2, 0, 0]


class Balance(HTMLParser):
    """Sees that every element is closed where it was opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.references += [v for k, v in attrs if k in ("src", "href") and not v.startswith("#")]

    def handle_startendtag(self, tag, attrs) -> None:
        self.references += [v for k, v in attrs if k in ("src", "href") and not v.startswith("#")]

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag


def page_of(report, **facts: str) -> str:
    return render_page(report, title="A & B", facts=facts, settings={"judge": "policy"}, style="")


def test_the_page_is_whole_and_needs_nothing_else(run, finals) -> None:
    report = report_of(run)
    scores = [
        Scored(layout, "human@0123456789", "search:1x1", 20, Score(0.6, 0.1), "junqi <again>")
        for layout in report.mixture
    ]
    attack = Scored("hcgcgkikgfdfdabejiiejljhh", "book@x", "policy", 20, Score(0.55, 0.01))
    report = stored_and_read(replace(report, evidence=scores), scores, [attack])
    page = page_of(report, command="junqi layout <script>")
    balance = Balance()
    balance.feed(page)
    assert balance.open == []
    assert balance.references == []
    assert "<script" not in page
    assert "junqi layout &lt;script&gt;" in page
    assert "junqi &lt;again&gt;" in page
    assert page.count('class="ch"') == 1 + 2 + len(KINDS) + 2 + 2
    assert "55.0 % <small>± 2.0" in page
    for layout in report.mixture:
        assert layout in page
