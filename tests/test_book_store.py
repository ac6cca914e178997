"""A book in Python: layouts, evidence, openings and games, changes and undo, checks and copies."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from book_samples import A_MIRRORED, ILLEGAL, LETTERS, RUN, A, B, C, make_book
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from book.check import impossible_move
from book.errors import BookError
from book.layers import Layers
from book.letters import canonical_letters, is_legal, mirror_letters
from book.log import UNDO_DEPTH
from book.rows import Counts, Evidence, NewLayout, Opening, Payoff, Run
from book.store import SORTS, Book, Filter, game_from_record, new_run_key
from book.transfer import export_lines
from junqi.errors import InvalidLayout, JunqiError
from junqi.layout import (
    canonical_layout,
    format_layout,
    layout_problems,
    mirror_layout,
    parse_layout,
    random_layouts,
)
from junqi.pieces import BLACK, RED
from junqi.record import Record, open_records

D = "cibhfeidckgakhgfjgdejljhi"


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book.open(make_book(tmp_path / "book.db")) as book:
        yield book


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Book]:
    with Book.create(tmp_path / "empty.db") as book:
        yield book


def text_of(book: Book) -> str:
    return "".join(export_lines(book))


def some_layouts(count: int, seed: int = 1) -> list[str]:
    return [canonical_letters(format_layout(row)) for row in random_layouts(count, seed)]


def letters_of(book: Book, filter: Filter | None = None, sort: str = "id") -> list[str]:
    return [row.layout for row in book.layouts(filter, sort)]


# Letters


@given(st.integers(0, 10**6), st.integers(0, 24), st.integers(0, 24))
def test_letters_are_judged_as_layouts_are(seed: int, i: int, j: int) -> None:
    layout = random_layouts(1, seed)[0]
    letters = format_layout(layout)
    assert mirror_letters(letters) == format_layout(mirror_layout(layout))
    assert canonical_letters(letters) == format_layout(canonical_layout(layout))
    layout[[i, j]] = layout[[j, i]]
    exchanged = format_layout(layout)
    assert is_legal(exchanged) == (not layout_problems(exchanged))


@pytest.mark.parametrize("text", ["", "abc", A.upper(), A + "a", A[:-1] + "?", "军" * 25])
def test_what_is_no_layout_is_not_legal(text: str) -> None:
    assert not is_legal(text)
    with pytest.raises(InvalidLayout):
        canonical_letters(text)


# Layouts


def test_a_layout_is_kept_in_canonical_form(empty: Book) -> None:
    added = empty.add_layouts([NewLayout(A_MIRRORED)])
    assert (added.ids, added.added, added.merged) == ([1], 1, 0)
    row = empty.find_layout(A)
    assert row.layout == A
    assert (row.origin, row.role, row.weight, row.moves) == ("imported", "both", 0, "both")
    assert (row.enabled, row.name, row.notes, row.tags, row.run) == (True, "", "", (), None)
    assert row.created.endswith("Z")
    assert (row.games, row.score, row.error) == (0, None, None)


def test_a_known_layout_is_brought_up_to_date(book: Book) -> None:
    new = NewLayout(A_MIRRORED, "human", "own", weight=2, tags=("new", "mine"), name="Rampart")
    added = book.add_layouts([new])
    assert (added.ids, added.added, added.merged) == ([1], 0, 1)
    row = book.find_layout(A)
    assert (row.origin, row.role, row.weight, row.name) == ("human", "both", 2, "Rampart")
    assert row.tags == ("mine", "new", "old")
    assert row.run == RUN


def test_what_is_not_said_stays(book: Book) -> None:
    before = book.find_layout(A)
    with book.change("again") as change:
        book.add_layouts([NewLayout(A)])
    assert not change
    assert change.summary == "nothing changed"
    assert book.find_layout(A) == before


def test_own_and_opponent_together_are_both(empty: Book) -> None:
    empty.add_layouts([NewLayout(A, role="own"), NewLayout(A, role="opponent")])
    assert empty.find_layout(A).role == "both"


def test_the_better_origin_stays(book: Book) -> None:
    book.add_layouts([NewLayout(B, "seen"), NewLayout(A, "imported")])
    assert book.find_layout(B).origin == "human"
    assert book.find_layout(A).origin == "evolved"


def test_a_layout_can_be_replaced_as_a_whole(book: Book) -> None:
    whole = NewLayout(A, "seen", "own", 1, "first", False, "", "", ("x",), "2026-01-01T00:00:00Z")
    book.add_layouts([whole], replace=True)
    row = book.find_layout(A)
    assert (row.origin, row.role, row.tags, row.run, row.name) == ("seen", "own", ("x",), None, "")


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (NewLayout(ILLEGAL), "flag"),
        (NewLayout(A, weight=-1), "expected a weight of 0 or more, got -1"),
        (NewLayout(A, weight=float("nan")), "expected a weight of 0 or more"),
        (NewLayout(A, weight=float("inf")), "expected a weight of 0 or more"),
        (NewLayout(A, origin="found"), "expected origin to be one of evolved"),  # type: ignore[arg-type]
        (NewLayout(A, role="enemy"), "expected role to be one of own"),  # type: ignore[arg-type]
        (NewLayout(A, moves="third"), "expected moves to be one of both"),  # type: ignore[arg-type]
        (NewLayout(A, tags=("a b",)), "expected a tag to be one word"),
        (NewLayout(A, tags=("a,b",)), "expected a tag to be one word"),
        (NewLayout(A, tags=("",)), "expected a tag to be one word"),
        (NewLayout(A, name="a\nb"), "expected a name on one line"),
        (NewLayout(A, notes="a\0b"), "expected text, got binary"),
        (NewLayout(A, notes="\ud800"), "expected text in UTF-8"),
        (NewLayout(A, run="no-such-run"), "expected a run of this book, got 'no-such-run'"),
    ],
)
def test_what_cannot_be_added_changes_nothing(book: Book, new: NewLayout, message: str) -> None:
    before = text_of(book)
    with pytest.raises(JunqiError, match=message):
        book.add_layouts([NewLayout(D), new])
    assert text_of(book) == before
    assert len(book.changes()) == 1


@pytest.mark.parametrize("word", ["1", "#1", A, A_MIRRORED, "Wall"])
def test_a_layout_is_found_by_what_users_call_it(book: Book, word: str) -> None:
    assert book.find_layout(word).layout == A
    assert book.holds(word)


@pytest.mark.parametrize("word", ["99", "#99", D, "wall", "", "#", "tag:mine", "9" * 30])
def test_what_nobody_is_called_is_told(book: Book, word: str) -> None:
    assert not book.holds(word)
    with pytest.raises(BookError, match="no layout"):
        book.find_layout(word)


def test_a_name_that_two_have_is_told(book: Book) -> None:
    book.set_name(2, "Wall")
    with pytest.raises(BookError, match="2 layouts are called 'Wall': #1, #2"):
        book.find_layout("Wall")


def test_several_layouts_are_found_each_once(book: Book) -> None:
    assert [row.id for row in book.find_layouts(["2", "tag:mine", "Wall"])] == [2, 1, 3]
    assert [row.id for row in book.find_layouts(["all"])] == [1, 2, 3]
    with pytest.raises(BookError, match="no layout has the tag 'none'"):
        book.find_layouts(["tag:none"])


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        (Filter(), [A, B, C]),
        (Filter(origin=("human",)), [B, C]),
        (Filter(origin=("human", "evolved")), [A, B, C]),
        (Filter(origin=("seen",)), []),
        (Filter(role="own"), [A, B]),
        (Filter(role="opponent"), [A, B, C]),
        (Filter(role="both"), [A, B]),
        (Filter(tags=("mine",)), [A, C]),
        (Filter(tags=("mine", "old")), [A]),
        (Filter(min_score=0.5), [A]),
        (Filter(max_score=0.5), [B]),
        (Filter(min_score=0.4, max_score=0.65), [A, B]),
        (Filter(min_score=0.1, judge="search:3x3"), []),
        (Filter(min_score=0.1, opponents="random:10"), [A, B]),
        (Filter(enabled=False), []),
        (Filter(in_mixture=True), [A, B]),
        (Filter(in_mixture=False), [C]),
        (Filter(moves="first"), [A, B, C]),
        (Filter(moves="both"), [A, B, C]),
        (Filter(name="al"), [A]),
        (Filter(name="左"), [C]),
        (Filter(run=RUN), [A]),
        (Filter(run="none"), []),
        (Filter(origin=("human",), role="own", enabled=True), [B]),
    ],
)
def test_layouts_are_filtered(book: Book, filter: Filter, expected: list[str]) -> None:
    assert letters_of(book, filter) == expected
    assert book.count_layouts(filter) == len(expected)
    assert sorted(letters_of(book, filter, "score")) == sorted(expected)


def test_layouts_without_evidence_come_last(book: Book) -> None:
    for descending, expected in ((False, [B, A, C]), (True, [A, B, C])):
        rows = book.layouts(sort="score", descending=descending)
        assert [row.layout for row in rows] == expected


@pytest.mark.parametrize("sort", SORTS)
def test_every_order_is_total_and_pages_fit_together(empty: Book, sort: str) -> None:
    letters = some_layouts(25)
    empty.add_layouts(NewLayout(row, weight=n % 3) for n, row in enumerate(letters))
    empty.add_evidence(
        Evidence(row, "x", "policy", 2, n % 3, 0, 2 - n % 3, 0.1) for n, row in enumerate(letters)
    )
    for descending in (False, True):
        whole = empty.layouts(sort=sort, descending=descending)
        values = [getattr(row, sort) for row in whole]
        assert values == sorted(values, reverse=descending)
        pages = [
            row
            for offset in range(0, 30, 7)
            for row in empty.layouts(sort=sort, descending=descending, limit=7, offset=offset)
        ]
        assert pages == whole


def test_an_unknown_order_is_a_mistake(book: Book) -> None:
    with pytest.raises(ValueError, match="expected a sort order of id"):
        book.layouts(sort="luck")


def test_scores_are_pooled_from_fresh_evidence_only(book: Book) -> None:
    book.add_evidence(
        [
            Evidence(A, "random:10", "policy", 300, 150, 0, 150, 0.02, seed=8),
            Evidence(A, "random:10", "policy", 100, 100, 0, 0, 0.02, seed=9, kind="selection"),
            Evidence(A, "human", "search:3x3", 100, 0, 0, 100, 0.02, seed=9),
        ]
    )
    row = book.layouts(Filter(judge="policy"))[0]
    assert row.games == 400
    assert row.score == pytest.approx((65 + 150) / 400)
    assert row.error == pytest.approx(np.hypot(0.05 * 100, 0.02 * 300) / 400)
    assert book.find_layout(A).games == 500
    pooled = {(row.kind, row.judge, row.opponents): row.games for row in book.pooled(A_MIRRORED)}
    assert pooled == {
        ("fresh", "policy", "random:10"): 400,
        ("selection", "policy", "random:10"): 100,
        ("fresh", "search:3x3", "human"): 100,
    }


def test_layouts_are_changed(book: Book) -> None:
    with book.change("many things") as change:
        book.set_enabled([1], False)
        book.set_weight([1, 2], 3)
        book.set_role([3], "own")
        book.set_moves([2], "second")
        book.set_origin([3], "seen")
        book.set_name(2, "第二")
        book.set_note([1, 2], "one")
        book.set_note([1], "two", append=True)
        book.add_tags([1, 2], ["mine", "both"])
        book.remove_tags([1, 3], ["mine", "not-there"])
    first, second, third = book.layouts()
    assert (first.enabled, first.weight, first.notes, first.tags) == (
        False,
        3,
        "one\ntwo",
        ("both", "old"),
    )
    assert (second.moves, second.name, second.tags) == ("second", "第二", ("both", "mine"))
    assert (third.role, third.origin, third.tags) == ("own", "seen", ())
    assert change.counts == {"layouts": Counts(changed=3), "layout_tags": Counts(3, 0, 2)}
    assert change.summary == "3 layouts changed, 3 tags added, 2 tags removed"


def test_many_ids_are_no_matter(empty: Book) -> None:
    ids = empty.add_layouts(NewLayout(row) for row in some_layouts(1_200)).ids
    assert empty.set_weight(ids, 1) == 1_200
    assert len(empty.mixture()) == 1_200
    assert empty.remove_layouts(ids) == 1_200
    assert empty.count_layouts() == 0


def test_weights_are_normalized(book: Book) -> None:
    book.set_weight([1], 3)
    book.set_weight([2], 1)
    book.set_weight([3], 5)  # not in the mixture: an opponent
    book.normalize_weights()
    assert [row.weight for row in book.layouts()] == [0.75, 0.25, 5]
    book.set_enabled([1, 2], False)
    assert book.normalize_weights() == 0


# The mixture


def test_draws_come_from_the_mixture_by_weight(book: Book) -> None:
    draws = book.sample(1, 4_000)
    counts = Counter(draw.entry for draw in draws)
    assert set(counts) == {A, B}
    # Four standard errors.
    assert counts[A] == pytest.approx(3_000, abs=4 * (4_000 * 0.75 * 0.25) ** 0.5)
    mirrored = sum(draw.is_mirrored for draw in draws)
    assert mirrored == pytest.approx(2_000, abs=4 * (4_000 * 0.25) ** 0.5)
    for draw in draws[:20]:
        assert draw.layout == (mirror_letters(draw.entry) if draw.is_mirrored else draw.entry)
        assert draw.name == ("Wall" if draw.entry == A else "")


def test_draws_are_reproducible(book: Book, tmp_path: Path) -> None:
    assert book.sample(7, 50)[:10] == book.sample(7, 10)
    assert book.sample(7, 50) != book.sample(8, 50)
    # A book with the same mixture and other ids.
    with Book.create(tmp_path / "other.db") as other:
        other.add_layouts([NewLayout(row) for row in some_layouts(5)])
        other.add_layouts([NewLayout(B, weight=0.25), NewLayout(A, weight=0.75, name="Wall")])
        assert other.sample(7, 50) == book.sample(7, 50)


def test_the_draws_of_a_seed_never_change(book: Book) -> None:
    # If this fails, engines draw otherwise than before from the same seed.
    assert [(draw.entry, draw.is_mirrored) for draw in book.sample(1, 4)] == [
        (A, False),
        (B, True),
        (A, True),
        (A, False),
    ]


def test_a_restricted_layout_is_drawn_in_its_turn_only(book: Book) -> None:
    book.set_moves([1], "first")
    assert {draw.entry for draw in book.sample(1, 100, "second")} == {B}
    assert {draw.entry for draw in book.sample(1, 100, "first")} == {A, B}
    assert {draw.entry for draw in book.sample(1, 100)} == {A, B}
    assert [row.layout for row in book.mixture("second")] == [B]


def test_who_is_disabled_or_an_opponent_is_not_drawn(book: Book) -> None:
    book.set_weight([3], 100)
    book.set_enabled([1], False)
    assert {draw.entry for draw in book.sample(1, 100)} == {B}
    book.set_weight([2], 0)
    with pytest.raises(BookError, match="no enabled own layout has a weight above 0"):
        book.sample(1)
    with pytest.raises(BookError, match="no enabled own layout that may move first"):
        book.sample(1, turn="first")


# Runs, evidence and payoffs


def test_a_run_is_kept_with_its_settings(book: Book) -> None:
    key = new_run_key("grow")
    run = Run(key, "junqi book grow", {"b": [1, 2.5], "a": "军"}, seed=2**62, machine="lab")
    id = book.add_run(run)
    known = book.run(key)
    assert replace(known, id=None, started=None) == run
    assert known.id == id
    book.update_run(key, status="done", seconds=1.5, games=10)
    assert (book.run(key).status, book.run(key).seconds, book.run(key).id) == ("done", 1.5, id)
    assert [run.key for run in book.runs()] == [RUN, key]
    assert book.remove_runs([RUN]) == 1
    assert book.find_layout(A).run is None


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (Run("a b", ""), "expected the key of a run to be one word"),
        (Run("", ""), "expected the key of a run to be one word"),
        (Run("x", "", seed=2**63), r"expected a seed from 0 to 2\*\*63 - 1"),
        (Run("x", "", seed=-1), r"expected a seed from 0"),
        (Run("x", "", status="lost"), "expected status to be one of"),  # type: ignore[arg-type]
    ],
)
def test_a_run_that_cannot_be_is_told(book: Book, run: Run, message: str) -> None:
    with pytest.raises(BookError, match=message):
        book.add_run(run)
    with pytest.raises(BookError, match="no run 'x'"):
        book.run("x")
    with pytest.raises(ValueError, match="expected fields of a run, got luck"):
        book.update_run(RUN, luck=1)


def test_evidence_is_kept_as_it_was_found(book: Book) -> None:
    given = Evidence(C, "human", "search:3x3", 7, 3, 1, 3, 0.123456789012345678, 5, "attack",
                     "0.1.0", "junqi layout attack", RUN, "2026-11-16T00:00:00Z")  # fmt: skip
    assert book.add_evidence([given]) == 1
    (found,) = book.evidence(C)
    assert replace(found, id=None) == given
    assert found.score == 3.5 / 7
    assert book.evidence(kind="attack") == [found]
    assert book.evidence(judge="policy", kind="fresh") == book.evidence()[:2]
    assert book.remove_evidence([found.id or 0]) == 1
    assert book.evidence(C) == []


def test_the_same_experiment_counts_once(book: Book) -> None:
    evidence = Evidence(A, "human", "policy", 10, 5, 0, 5, 0.1, seed=1)
    assert book.add_evidence([evidence, replace(evidence, created="2020-01-01T00:00:00Z")]) == 1
    unseeded = replace(evidence, seed=None)
    assert book.add_evidence([unseeded, unseeded]) == 1
    assert book.known_evidence(evidence) == (5, 0, 5)
    assert book.known_evidence(replace(evidence, games=8, wins=4, losses=4)) is None
    with pytest.raises(
        BookError, match="5 won, 0 drawn, 5 lost here, 6 won, 0 drawn, 4 lost there"
    ):
        book.add_evidence([replace(evidence, wins=6, losses=4)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layout": D}, "expected a layout of this book"),
        ({"layout": ILLEGAL}, "not a legal layout"),
        ({"wins": 6}, r"expected wins, draws and losses to be 10 games together, got 6 \+ 0 \+ 5"),
        ({"wins": -1, "losses": 11}, "expected wins, draws and losses"),
        ({"games": 0, "wins": 0, "losses": 0}, "expected wins, draws and losses"),
        ({"error": -0.1}, "expected an error of 0 or more"),
        ({"error": float("nan")}, "expected an error of 0 or more"),
        ({"seed": -1}, "expected a seed from 0"),
        ({"kind": "rumour"}, "expected kind to be one of fresh"),
        ({"run": "none"}, "expected a run of this book"),
    ],
)
def test_evidence_that_cannot_be_is_told(
    book: Book, change: dict[str, object], message: str
) -> None:
    evidence = Evidence(A, "human", "policy", 10, 5, 0, 5, 0.1, seed=1)
    with pytest.raises(JunqiError, match=message):
        book.add_evidence([replace(evidence, **change)])  # type: ignore[arg-type]
    assert len(book.evidence()) == 2


def test_a_payoff_is_kept_once_for_both(book: Book) -> None:
    payoff = Payoff(C, A, "policy", 10, 7, 2, 1, 0.1, seed=5)
    assert book.add_payoffs([payoff]) == 1
    assert book.add_payoffs([payoff.turned(), payoff]) == 0
    (told,) = book.payoffs(C, A)
    assert (told.layout, told.wins, told.draws, told.losses) == (C, 7, 2, 1)
    (turned,) = book.payoffs(A, C)
    assert (turned.layout, turned.wins, turned.losses) == (A, 1, 7)
    assert told.score + turned.score == 1
    assert book.known_payoff(payoff) == (7, 2, 1)
    assert book.known_payoff(payoff.turned()) == (1, 2, 7)
    assert len(book.payoffs()) == len(book.payoffs(A)) == 2
    assert book.payoffs(judge="none") == []
    with pytest.raises(BookError, match=r"payoff of .* 1 won, 2 drawn, 7 lost here"):
        book.add_payoffs([replace(payoff, wins=8, losses=0)])
    with pytest.raises(BookError, match="expected two layouts"):
        book.add_payoffs([replace(payoff, opponent=C)])


def test_the_payoff_matrix_is_antisymmetric(book: Book) -> None:
    book.add_payoffs(
        [
            Payoff(B, A, "policy", 30, 30, 0, 0, 0.1, seed=5),
            Payoff(A, B, "search:3x3", 10, 10, 0, 0, 0.1, seed=5),
        ]
    )
    scores, games = book.payoff_matrix([A_MIRRORED, B, C], "policy")
    assert games.tolist() == [[0, 40, 0], [40, 0, 0], [0, 0, 0]]
    assert scores[0, 1] == pytest.approx(6.5 / 40)
    assert scores[0, 1] + scores[1, 0] == 1
    assert np.diag(scores).tolist() == [0.5] * 3
    assert np.isnan(scores[2, :2]).all()


# Openings


def test_candidates_are_looked_up_heaviest_first(book: Book) -> None:
    book.add_openings(
        [
            Opening(A, "start", "G4F4", visits=9, weight=0.75),
            Opening(A, "start", "G1F1", visits=99, weight=0.75),
            Opening(A, "other", "G1F1", weight=5),
        ]
    )
    moves = [(row.move, row.weight) for row in book.lookup(A, "start")]
    assert moves == [("G1F1", 0.75), ("G0F0", 0.75), ("G4F4", 0.75)]
    assert book.lookup(A, "nowhere") == book.lookup(B, "start") == book.lookup(D, "start") == []


def test_an_opening_is_kept_as_it_was_found(book: Book) -> None:
    given = Opening(C, "g/军", "G0F0", 3, 12, 0.1 + 0.2, 0.01, 0.7, False, "a\nb", "x y", RUN)
    book.add_openings([given])
    found = book.opening(C, "g/军", "G0F0")
    assert found is not None
    assert replace(found, id=None) == given
    assert book.openings(C) == [found]
    assert book.lookup(C, "g/军") == []


def test_the_same_move_is_replaced(book: Book) -> None:
    before = book.opening(A, "start", "G0F0")
    with book.change("better") as change:
        book.add_openings([Opening(A, "start", "G0F0", visits=100, score=0.6)])
    after = book.opening(A, "start", "G0F0")
    assert before is not None
    assert after is not None
    assert (after.id, after.visits, after.score, after.error) == (before.id, 100, 0.6, None)
    assert change.summary == "1 opening move changed"


def test_openings_are_listed_and_changed(book: Book) -> None:
    assert [row.move for row in book.openings()] == ["G0F0", "G2F2"]
    assert [row.move for row in book.openings(enabled=False)] == ["G2F2"]
    assert book.openings(max_ply=-1) == []
    assert [row.move for row in book.openings(A_MIRRORED, limit=1, offset=1)] == ["G2F2"]
    ids = [row.id or 0 for row in book.openings()]
    book.set_openings(ids, weight=0.5, enabled=True, notes="try")
    assert {(row.weight, row.enabled, row.notes) for row in book.openings()} == {(0.5, True, "try")}
    with pytest.raises(ValueError, match="expected ply"):
        book.set_openings(ids, luck=1)
    with pytest.raises(BookError, match="expected a score from 0 to 1"):
        book.set_openings(ids, score=2.0)
    assert book.remove_openings(ids) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layout": D}, "expected a layout of this book"),
        ({"key": ""}, "expected the key of an opening to be one word"),
        ({"key": "a b"}, "expected the key of an opening to be one word"),
        ({"move": "G0"}, "expected a move like G0F0, got 'G0'"),
        ({"move": "G0Z9"}, "expected a move like G0F0"),
        ({"move": "G0G0"}, "expected a move to another point"),
        ({"ply": -1}, "expected ply and visits of 0 or more"),
        ({"visits": 2**63}, "expected a number of visits from 0"),
        ({"score": 1.01}, "expected a score from 0 to 1"),
        ({"score": float("nan")}, "expected a score from 0 to 1"),
        ({"error": -1.0}, "expected an error of 0 or more"),
        ({"weight": -1.0}, "expected a weight of 0 or more"),
        ({"run": "none"}, "expected a run of this book"),
    ],
)
def test_an_opening_that_cannot_be_is_told(
    book: Book, change: dict[str, object], message: str
) -> None:
    good = Opening(B, "start", "G0F0")
    with pytest.raises(BookError, match=message):
        book.add_openings([good, replace(good, **change)])  # type: ignore[arg-type]
    assert len(book.openings()) == 2


# Games


@pytest.fixture(scope="module")
def record() -> Record:
    path = Path(__file__).parents[1] / "docs" / "example.junqi"
    return next(open_records(path))


def test_a_game_is_kept_with_what_was_seen(book: Book, record: Record) -> None:
    assert record.red_layout
    assert record.black_layout
    book.add_layouts([NewLayout(record.red_layout, "seen")])
    game = game_from_record(record, RED, "cup")
    assert game.layout == canonical_letters(record.red_layout)
    assert game.seen == record.black_layout
    assert (game.side, game.opponent, game.result) == ("red", record.black, record.result)
    assert book.add_games([game, game]) == 1
    (found,) = book.games(record.red_layout)
    assert replace(found, id=None, created=None) == game
    assert book.games(A) == []
    assert book.remove_games([found.id or 0]) == 1


def test_of_an_unknown_layout_only_a_told_flag_is_seen(record: Record) -> None:
    hidden = replace(record, black_layout=None)
    seen = game_from_record(hidden, RED).seen
    flags = [flag for ply in record.plies for flag in ply.flags]
    assert len(seen) == 25
    assert set(seen) <= {"?", "l"}
    assert seen.count("l") == sum(flag < 30 for flag in flags)
    other = game_from_record(hidden, BLACK)
    assert other.layout is None
    assert other.seen == record.red_layout
    assert game_from_record(record).seen == ""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"record": ""}, "expected a game record"),
        ({"side": "green"}, "expected side to be one of red, black"),
        ({"result": "2-0"}, "expected result to be one of"),
        ({"seen": "abc"}, "expected 25 letters"),
        ({"layout": D}, "expected a layout of this book"),
    ],
)
def test_a_game_that_cannot_be_is_told(
    book: Book, record: Record, change: dict[str, object], message: str
) -> None:
    game = replace(game_from_record(record), **change)  # type: ignore[arg-type]
    with pytest.raises(JunqiError, match=message):
        book.add_games([game])


# Changes


def test_a_change_is_one_entry_in_the_log(book: Book) -> None:
    with book.change("junqi book tidy") as change:
        book.set_weight([1], 2)
        book.set_name(1, "Two")
        book.add_layouts([NewLayout(D)])
    entry, first = book.changes()
    assert (entry.what, entry.summary) == ("junqi book tidy", "1 layout added, 1 layout changed")
    assert entry.id == change.id == 2
    assert first.what == "make a sample"
    assert book.changes(limit=1) == [entry]


def test_methods_outside_a_change_make_their_own(book: Book) -> None:
    book.set_weight([1], 2)
    book.set_enabled([1], False)
    assert [entry.summary for entry in book.changes()[:2]] == ["1 layout changed"] * 2


def test_what_changes_nothing_is_not_in_the_log(book: Book) -> None:
    with book.change("nothing") as change:
        book.set_weight([1], 2)
        book.set_weight([1], 0.75)
        book.add_layouts([NewLayout(D)])
        book.remove_layouts([4])
    assert change.summary == "nothing changed"
    assert len(book.changes()) == 1


def test_an_error_takes_the_whole_change_back(book: Book) -> None:
    before = text_of(book)

    def fail(error: BaseException) -> None:
        with book.change("bad"):
            book.remove_layouts([1, 2])
            raise error

    for error in (BookError("no"), KeyboardInterrupt(), sqlite3.OperationalError("no")):
        with pytest.raises((BookError, KeyboardInterrupt)):
            fail(error)
        assert text_of(book) == before
    assert text_of(book) == before
    book.set_weight([1], 2)  # the next one works


def test_a_dry_run_tells_and_leaves_all_as_it_was(book: Book) -> None:
    before = text_of(book)
    with book.change("dry", dry_run=True) as change:
        book.remove_layouts([1])
        assert book.count_layouts() == 2
    assert change.summary == (
        "1 layout removed, 2 tags removed, 1 score removed, 1 payoff removed, "
        "2 opening moves removed"
    )
    assert text_of(book) == before
    assert book.undo(dry_run=True).summary.startswith("1 run removed, 3 layouts removed")
    assert text_of(book) == before
    assert len(book.changes()) == 1


def test_undo_goes_back_step_by_step_and_redo_forward(book: Book) -> None:
    states = [text_of(book)]
    book.set_weight([1], 0.1 + 0.2)
    states.append(text_of(book))
    book.remove_layouts([1])
    states.append(text_of(book))
    book.add_layouts([NewLayout(A), NewLayout(D, tags=("x",))])
    states.append(text_of(book))
    for state in (states[2], states[1], states[0]):
        book.undo()
        assert text_of(book) == state
    for state in states[1:]:
        book.redo()
        assert text_of(book) == state
    with pytest.raises(BookError, match="nothing to redo"):
        book.redo()
    book.undo()
    book.undo()
    assert text_of(book) == states[1]
    book.set_note([2], "another way")
    with pytest.raises(BookError, match="nothing to redo"):
        book.redo()
    book.undo()
    assert text_of(book) == states[1]
    assert list(book.check()) == []


def test_undo_brings_back_the_same_rows(book: Book) -> None:
    def rows() -> dict[str, list[object]]:
        return {
            table: book.connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()
            for table in ("layouts", "layout_tags", "evidence", "payoffs", "openings", "runs")
        }

    before = rows()
    with book.change("all gone"):
        book.remove_layouts([1, 2, 3])
        book.remove_runs([RUN])
    result = book.undo()
    assert result.undone.what == "all gone"
    assert rows() == before


def test_undo_is_told_in_the_log(book: Book) -> None:
    book.set_weight([1], 2)
    book.undo()
    undo, change, _ = book.changes()
    assert (undo.what, undo.undoes, undo.is_undone) == ("undo: set weight of layouts", 2, False)
    assert change.is_undone
    result = book.redo()
    assert result.undone.id == change.id
    redo, undo, change, _ = book.changes()
    assert (redo.what, undo.is_undone, change.is_undone) == (
        "redo: set weight of layouts",
        True,
        False,
    )


def test_an_empty_book_has_nothing_to_undo(empty: Book) -> None:
    with pytest.raises(BookError, match="nothing to undo"):
        empty.undo()
    with pytest.raises(BookError, match="nothing to redo"):
        empty.redo()
    assert empty.changes() == []


def test_undo_does_not_overwrite_what_another_program_did(book: Book) -> None:
    book.set_weight([1], 2)
    with closing(sqlite3.connect(book.path, isolation_level=None)) as other:
        other.execute("UPDATE layouts SET name = 'by hand' WHERE id = 1")
    with pytest.raises(BookError, match="row 1 of layouts was changed since"):
        book.undo()
    assert book.find_layout("by hand").weight == 2
    book.undo(force=True)
    assert book.find_layout("Wall").weight == 0.75
    book.redo()
    assert book.find_layout("by hand").weight == 2


def test_undo_reaches_back_so_far_and_no_further(book: Book) -> None:
    for weight in range(1, UNDO_DEPTH + 2):
        book.set_weight([1], weight)
    for _ in range(UNDO_DEPTH):
        book.undo()
    assert book.find_layout(A).weight == 1
    with pytest.raises(BookError, match="what was before is kept only"):
        book.undo()
    for _ in range(UNDO_DEPTH):
        book.redo()
    assert book.find_layout(A).weight == UNDO_DEPTH + 1


def test_an_added_row_costs_nothing_in_the_log(book: Book) -> None:
    book.add_openings(Opening(A, f"k{n}", "G0F0") for n in range(1_000))
    change = book.changes(limit=1)[0]
    rows = book.connection.execute(
        "SELECT first_id, last_id, before FROM change_rows WHERE change_id = ?", [change.id]
    ).fetchall()
    assert rows == [(3, 1_002, None)]


def test_the_log_keeps_rows_as_json(book: Book) -> None:
    book.set_weight([1], 0.1)
    (before, after) = book.connection.execute(
        "SELECT before, after FROM change_rows WHERE change_id = 2"
    ).fetchone()
    assert json.loads(before)["weight"] == 0.75
    assert json.loads(after)["weight"] == 0.1
    assert json.loads(after)["layout"] == A


def test_a_reader_cannot_change(book: Book) -> None:
    with Book.open(book.path, read_only=True) as reader:
        for change in (lambda: reader.set_weight([1], 2), reader.undo, reader.redo):
            with pytest.raises(BookError, match="opened for reading only"):
                change()
        with pytest.raises(sqlite3.OperationalError):
            reader.connection.execute("DELETE FROM layouts")


class Curating(RuleBasedStateMachine):
    """Any row of changes, undone and done again, gives every state again exactly."""

    letters = Bundle("letters")

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.book = Book.create(Path(self.folder.name) / "book.db")
        self.past = [text_of(self.book)]
        self.future: list[str] = []
        self.changes = 0

    def done(self) -> None:
        changes = len(self.book.changes())
        if changes > self.changes:
            self.past.append(text_of(self.book))
            self.future.clear()
        self.changes = changes

    def ids(self, seed: int) -> list[int]:
        return [row.id for row in self.book.layouts() if (row.id * 7 + seed) % 3]

    @rule(
        target=letters, seed=st.integers(0, 20), weight=st.floats(0, 1e9), tag=st.sampled_from("ab")
    )
    def add(self, seed: int, weight: float, tag: str) -> str:
        letters = some_layouts(1, seed)[0]
        self.book.add_layouts([NewLayout(letters, weight=weight, tags=(tag,))])
        self.done()
        return letters

    @rule(first=letters, second=letters, wins=st.integers(0, 10), move=st.sampled_from(["G0F0"]))
    def know(self, first: str, second: str, wins: int, move: str) -> None:
        if not (self.book.holds(first) and self.book.holds(second)) or first == second:
            return
        with self.book.change("know"):
            results = (10, wins, 0, 10 - wins)
            if not self.book.evidence(first):
                self.book.add_evidence([Evidence(first, "x", "policy", *results, 0.1)])
            if not self.book.payoffs(first, second):
                self.book.add_payoffs([Payoff(first, second, "policy", *results, 0.1)])
            self.book.add_openings([Opening(first, "k", move, visits=wins)])
        self.done()

    @rule(seed=st.integers(0, 5), weight=st.floats(0, 1))
    def edit(self, seed: int, weight: float) -> None:
        with self.book.change("edit"):
            self.book.set_weight(self.ids(seed), weight)
            self.book.remove_tags(self.ids(seed + 1), ["a"])
            self.book.add_tags(self.ids(seed + 2), ["c"])
        self.done()

    @rule(seed=st.integers(0, 5))
    def remove(self, seed: int) -> None:
        with self.book.change("remove"):
            ids = self.ids(seed)
            rows = self.book.layouts_by_id(ids[:1])
            self.book.remove_layouts(ids)
            self.book.add_layouts([NewLayout(row.layout) for row in rows])
        self.done()

    @rule()
    def undo(self) -> None:
        if len(self.past) > 1:
            self.book.undo()
            self.changes += 1
            self.future.append(self.past.pop())
            assert text_of(self.book) == self.past[-1]

    @rule()
    def redo(self) -> None:
        if self.future:
            self.book.redo()
            self.changes += 1
            self.past.append(self.future.pop())
            assert text_of(self.book) == self.past[-1]

    @invariant()
    def the_book_is_sound(self) -> None:
        assert self.book.connection.execute("PRAGMA foreign_key_check").fetchall() == []

    def teardown(self) -> None:
        self.book.close()
        self.folder.cleanup()


TestCurating = Curating.TestCase


# The whole book


def test_stats_count_everything(book: Book) -> None:
    stats = book.stats()
    assert (stats.layouts, stats.enabled, stats.in_mixture, stats.total_weight) == (3, 3, 2, 1.0)
    assert stats.by_origin == {"human": 2, "evolved": 1}
    assert stats.by_role == {"both": 2, "opponent": 1}
    assert stats.tags == {"mine": 2, "old": 1}
    assert (stats.evidence, stats.evidence_games, stats.by_judge) == (2, 200, {"policy": 200})
    assert (stats.payoffs, stats.payoff_games, stats.runs) == (1, 10, 1)
    assert (stats.openings, stats.opening_positions, stats.opening_layouts) == (2, 1, 1)
    assert (stats.games, stats.changes, stats.schema_version) == (0, 1, 1)
    assert stats.last_change == book.changes()[0].made
    assert stats.bytes > 4096


def test_an_empty_book_has_stats_too(empty: Book) -> None:
    stats = empty.stats()
    assert (stats.layouts, stats.enabled, stats.openings, stats.last_change) == (0, 0, 0, None)
    assert stats.total_weight == 0.0


def test_a_sound_book_has_no_faults(book: Book, record: Record) -> None:
    book.add_games([game_from_record(record)])
    assert list(book.check()) == []


def spoil(book: Book, *statements: str) -> list[str]:
    """What is found after another tool has done this, rules of the tables or not."""
    with closing(sqlite3.connect(book.path, isolation_level=None)) as other:
        other.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            other.execute(statement)
    with Book.open(book.path, read_only=True) as reader:
        return list(reader.check())


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE layouts SET layout = 'dccbaeedggffhhgjiiihjlkkj' WHERE id = 1", "not canonical"),
        ("UPDATE layouts SET layout = 'abccddeeffggghhhiiijjkkjl' WHERE id = 1", "not a legal"),
        ("UPDATE layouts SET weight = -1 WHERE id = 1", "weight"),
        ("UPDATE layouts SET role = 'x' WHERE id = 1", "role"),
        ("UPDATE layouts SET origin = 'x' WHERE id = 1", "origin"),
        ("UPDATE layouts SET moves = 'x' WHERE id = 1", "moves"),
        ("UPDATE layouts SET enabled = 7 WHERE id = 1", "enabled"),
        ("UPDATE layouts SET run_id = 99", "refers to a row of runs that is not there"),
        ("DELETE FROM layouts WHERE id = 1", "evidence: row 1 refers to a row of layouts"),
        ("UPDATE evidence SET wins = 90 WHERE id = 1", "90 + 10 + 30 is not 100"),
        (
            "UPDATE evidence SET score = 0.9 WHERE id = 1",
            "its score is 0.9, not that of 60 + 10 / 2",
        ),
        ("UPDATE payoffs SET wins = 0", "is not 10"),
        (
            "UPDATE payoffs SET layout_id = opponent_id, opponent_id = layout_id",
            "must come before the opponent",
        ),
        ("UPDATE openings SET move = 'A0A0' WHERE id = 1", "it leads nowhere"),
        ("UPDATE openings SET move = 'XXXX' WHERE id = 1", "expected a move like G0F0"),
        ("UPDATE openings SET move = 'L1K1' WHERE id = 1", "a piece in a headquarters never moves"),
        ("UPDATE openings SET move = 'G0E3' WHERE id = 1", "impossible move"),
        ("UPDATE openings SET move = 'K1K2' WHERE id = 1", "impossible move"),
        ("UPDATE openings SET key = 'a b' WHERE id = 1", "not one word"),
        ("UPDATE openings SET score = 7 WHERE id = 1", "its score is 7"),
        ("UPDATE runs SET settings = '{'", "not JSON"),
        ("UPDATE layout_tags SET tag = 'a,b' WHERE id = 1", "the tag 'a,b'"),
        ("INSERT INTO games (digest, record) VALUES ('x', 'no record')", "games: row 1"),
        ("DROP INDEX evidence_once", "index evidence_once is missing"),
        ("DROP VIEW mixture", "view mixture is missing"),
        ("DROP TABLE payoffs", "table payoffs is missing"),
        ("PRAGMA user_version = 0", "schema version 0, expected 1"),
        ("DELETE FROM _sqlite_migrations", "but 0 migrations"),
    ],
)
def test_every_fault_is_found_and_named(book: Book, statement: str, fault: str) -> None:
    if "user_version" in statement:
        with pytest.raises(BookError, match="not a book of Junqi"):
            spoil(book, statement)
        return
    faults = spoil(book, statement)
    assert any(fault in text for text in faults), faults


def test_a_table_rebuilt_without_its_rules_is_told(book: Book) -> None:
    faults = spoil(
        book,
        "CREATE TABLE other AS SELECT * FROM layout_tags",
        "DROP TABLE layout_tags",
        "ALTER TABLE other RENAME TO layout_tags",
    )
    assert (
        "table layout_tags was rebuilt without its rules: export the book and import it anew"
        in (faults)
    )


def test_a_changed_record_is_told(book: Book, record: Record) -> None:
    book.add_games([game_from_record(record)])
    faults = spoil(book, "UPDATE games SET record = record || char(10)")
    assert faults == ["games: row 1: the record was changed, and its digest was not"]


@pytest.mark.parametrize(
    ("ply", "move", "reason"),
    [
        (0, "G0F0", None),
        (0, "G0G1", "same side"),
        (0, "H0F0", "no free road or rail"),
        (0, "G0B0", "no free road or rail"),
        (0, "F0G0", "has no piece"),
        (1, "G0B0", None),  # the enemy may have opened the line
        (1, "H0G0", None),  # or taken the piece there
        (1, "H1G1", "no own piece can leave"),
        (1, "K0J0", None),
        (1, "L0K0", "no own piece can leave"),  # a mine
        (1, "B0D0", "no own piece can leave"),
        (8, "B0A0", None),
        (8, "A1A0", "headquarters"),
        (8, "B0F3", None),  # an engineer may turn
        (8, "B1C3", "no road or rail"),
    ],
)
def test_a_move_is_impossible_only_if_that_is_certain(
    ply: int, move: str, reason: str | None
) -> None:
    found = impossible_move(A, ply, move)
    assert found is None if reason is None else reason in str(found)


def test_a_backup_is_a_whole_book_in_one_file(book: Book, tmp_path: Path) -> None:
    copy = book.backup(tmp_path / "copy.db")
    with closing(sqlite3.connect(copy)) as plain:
        assert plain.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    with Book.open(copy, read_only=True) as other:
        assert text_of(other) == text_of(book)
        assert list(other.check()) == []
    assert {file.name for file in tmp_path.iterdir()} <= {
        "book.db",
        "book.db-wal",
        "book.db-shm",
        "copy.db",
    }


def test_a_backup_overwrites_only_when_told(book: Book, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("mine")
    with pytest.raises(BookError, match="is there already; --force overwrites it"):
        book.backup(target)
    assert target.read_text() == "mine"
    book.backup(target, overwrite=True)
    with pytest.raises(BookError, match="expected another file than the book itself"):
        book.backup(book.path, overwrite=True)
    with pytest.raises(BookError, match="cannot be"):
        book.backup(tmp_path / "no" / "such" / "folder.db")


def test_a_backup_made_by_a_reader_in_the_middle_of_a_change(book: Book, tmp_path: Path) -> None:
    with Book.open(book.path, read_only=True) as reader, book.change("half"):
        book.remove_layouts([1])
        reader.backup(tmp_path / "copy.db")
    with Book.open(tmp_path / "copy.db") as copy:
        assert copy.count_layouts() == 3


# Layers


@pytest.fixture
def two(book: Book, tmp_path: Path) -> list[Path]:
    """The sample, under a book that knows one layout of it otherwise, and another one."""
    path = tmp_path / "top.db"
    with Book.create(path) as top:
        top.add_layouts([NewLayout(A, weight=0, name="Mine"), NewLayout(D, role="own")])
        top.add_openings([Opening(D, "start", "G0F0"), Opening(A, "later", "G4F4")])
    return [path, book.path]


def test_of_layered_books_the_first_that_answers_wins(two: list[Path]) -> None:
    with Layers(two) as layers:
        assert layers.find_layout(A).name == "Mine"
        assert layers.find_layout(B).weight == 0.25
        assert [row.move for row in layers.lookup(A, "later")] == ["G4F4"]
        assert [row.move for row in layers.lookup(A, "start")] == ["G0F0"]
        assert layers.lookup(A, "nowhere") == []
        assert [row.layout for row in layers.layouts()] == [A, D, B, C]
        assert [row.layout for row in layers.layouts(sort="layout")] == sorted([A, B, C, D])
        assert [row.layout for row in layers.layouts(sort="score", limit=2)] == [B, A]
        with pytest.raises(BookError, match="no layout 'nobody'"):
            layers.find_layout("nobody")


def test_the_mixture_is_that_of_the_first_book_that_has_one(two: list[Path], book: Book) -> None:
    with Layers(two) as layers:
        assert [row.layout for row in layers.mixture()] == [A, B]
        assert layers.sample(3, 20) == book.sample(3, 20)
    with Book.open(two[0]) as top:
        top.set_weight([2], 1)
        top.set_moves([2], "first")
    with Layers(two) as layers:
        assert {draw.entry for draw in layers.sample(3, 20, "first")} == {D}
        assert layers.sample(3, 20, "second") == book.sample(3, 20, "second")
        assert [row.layout for row in layers.mixture("first")] == [D]


def test_layers_need_books(two: list[Path], tmp_path: Path) -> None:
    with pytest.raises(BookError, match="expected at least one book"):
        Layers([])
    with pytest.raises(BookError, match="no such book"):
        Layers([*two, tmp_path / "none.db"])


def test_letters_of_the_samples_are_canonical() -> None:
    for letters in (*LETTERS, D):
        assert canonical_letters(letters) == letters
        parse_layout(letters)
