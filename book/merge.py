"""Several books into one: evidence is pooled, and what they tell differently is named."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from book.dump import Row, dump
from book.errors import BookError
from book.evidence_table import evidence_conflict, payoff_conflict
from book.layout_edit import join_roles
from book.rows import BookLayout, Evidence, Game, NewLayout, Opening, Payoff, Run
from book.store import Book

_ROWS_AT_ONCE = 10_000


@dataclass
class MergeReport:
    """What came of merging."""

    rows: int = 0
    """So many rows of other books were gone through; what they changed tells the change."""
    conflicts: list[str] = field(default_factory=list)
    """What the books tell differently, and what was kept."""


def merge(book: Book, paths: Sequence[str | Path]) -> MergeReport:
    """Take over what other books hold.

    What is new is added. Of a layout that both have, tags are joined, roles too, and empty names
    and notes are filled. Experiments that both have count once. Of an opening move that both have,
    the row with more visits stays. In all else the word of this book stays, and the conflict is
    named. Merging the same book again changes nothing.

    Raises:
        BookError: if a book cannot be opened; nothing is merged then.
    """
    report = MergeReport()
    with book.change(f"merge {' '.join(str(path) for path in paths)}"):
        for path in paths:
            with Book.open(path, read_only=True) as other:
                if other.path.resolve() == book.path.resolve():
                    raise BookError(f"{path}: expected another book, got this one")
                conflicts = _merge_rows(book, dump(other), report)
                report.conflicts += [f"{path}: {conflict}" for conflict in conflicts]
    return report


def _merge_rows(book: Book, rows: Iterable[Row], report: MergeReport) -> Iterator[str]:
    for kind, group in groupby(rows, key=type):
        while part := list(islice(group, _ROWS_AT_ONCE)):
            report.rows += len(part)
            yield from _MERGES[kind](book, part)


def _merge_runs(book: Book, rows: list[Run]) -> Iterator[str]:
    known = {run.key: run for run in book.runs()}
    for row in rows:
        mine = known.get(row.key)
        if mine is None:
            book.add_run(replace(row, id=None))
        elif replace(mine, id=None) != replace(row, id=None):
            yield f"run {row.key}: told differently; kept ours"


def _merge_layouts(book: Book, rows: list[BookLayout]) -> Iterator[str]:
    for row in rows:
        new = NewLayout(
            row.layout, row.origin, row.role, row.weight, row.moves, row.enabled, row.name,
            row.notes, row.tags, row.created, row.run,
        )  # fmt: skip
        if book.holds(row.layout):
            mine = book.find_layout(row.layout)
            ours: dict[str, Any] = {}
            for name in ("weight", "moves", "enabled", "name", "notes"):
                here, there = getattr(mine, name), getattr(row, name)
                if there in (here, ""):
                    ours[name] = None
                elif here != "":
                    ours[name] = None
                    told = f"{name} {here!r} here, {there!r} there; kept {here!r}"
                    yield f"layout {row.layout}: {told}"
            new = replace(new, role=join_roles(mine.role, row.role), **ours)
        book.add_layouts([new])


def _merge_evidence(book: Book, rows: list[Evidence]) -> Iterator[str]:
    for row in rows:
        known = book.known_evidence(row)
        if known is None:
            book.add_evidence([row])
        elif known != (row.wins, row.draws, row.losses):
            yield f"{evidence_conflict(row, known)}; kept ours"


def _merge_payoffs(book: Book, rows: list[Payoff]) -> Iterator[str]:
    for row in rows:
        known = book.known_payoff(row)
        if known is None:
            book.add_payoffs([row])
        elif known != (row.wins, row.draws, row.losses):
            yield f"{payoff_conflict(row, known)}; kept ours"


def _merge_openings(book: Book, rows: list[Opening]) -> Iterator[str]:
    taken = []
    for row in rows:
        mine = book.opening(row.layout, row.key, row.move)
        if mine is None:
            taken.append(row)
            continue
        where = f"opening {row.layout} {row.key} {row.move}"
        if mine.enabled != row.enabled:
            yield f"{where}: enabled {mine.enabled} here, {row.enabled} there; kept {mine.enabled}"
        if row.visits > mine.visits:
            taken.append(replace(row, enabled=mine.enabled, notes=mine.notes or row.notes))
        elif row.visits == mine.visits and row.score != mine.score:
            yield f"{where}: score {mine.score} here, {row.score} there; kept {mine.score}"
    book.add_openings(taken)


def _merge_games(book: Book, rows: list[Game]) -> Iterator[str]:
    book.add_games(rows)
    yield from ()


_MERGES: dict[type[Row], Any] = {
    Run: _merge_runs,
    BookLayout: _merge_layouts,
    Evidence: _merge_evidence,
    Payoff: _merge_payoffs,
    Opening: _merge_openings,
    Game: _merge_games,
}
