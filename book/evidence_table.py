"""What is known of layouts: runs, scores, and payoffs between pairs, each kept once."""

import json
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from book.base import clean_integer, clean_text, is_word
from book.errors import BookError
from book.layout_edit import LayoutEdits, check_word
from book.letters import canonical_letters
from book.log import now
from book.rows import EVIDENCE_KINDS, RUN_STATUSES, Evidence, Payoff, PooledScore, Run

_RUN_COLUMNS = (
    "key", "command", "settings", "seed", "started", "seconds", "games", "machine", "version",
    "status", "notes",
)  # fmt: skip
_SELECT_RUNS = f"SELECT id, {', '.join(_RUN_COLUMNS)} FROM runs"

_RESULT_COLUMNS = "games, wins, draws, losses, score, error"

# What makes two rows the same experiment: it would come out the same to the bit.
_EVIDENCE_IDENTITY = (
    "layout_id = ? AND kind = ? AND judge = ? AND opponents = ? AND seed IS ? AND games = ? "
    "AND version = ? AND command = ?"
)
_PAYOFF_IDENTITY = (
    "layout_id = ? AND opponent_id = ? AND judge = ? AND seed IS ? AND games = ? "
    "AND version = ? AND command = ?"
)


class EvidenceTables(LayoutEdits):
    """A book's runs, evidence and payoffs."""

    def add_run(self, run: Run) -> int:
        """Add a run, or bring the one with the same key up to date; its id."""
        values = _run_values(run)
        names, marks = ", ".join(_RUN_COLUMNS), ", ".join("?" * len(_RUN_COLUMNS))
        settings = ", ".join(f"{name} = excluded.{name}" for name in _RUN_COLUMNS[1:])
        with self.change(f"add run {run.key}"):
            return int(
                self._value(
                    f"INSERT INTO runs ({names}) VALUES ({marks}) "
                    f"ON CONFLICT (key) DO UPDATE SET {settings} RETURNING id",
                    values,
                )
            )

    def update_run(self, key: str, **fields: Any) -> None:
        """Change some fields of a run, like ``status="done", seconds=12.5``.

        Raises:
            BookError: if the book does not hold it.
        """
        known = vars(self.run(key))
        if unknown := set(fields) - set(_RUN_COLUMNS[1:]):
            raise ValueError(f"expected fields of a run, got {', '.join(sorted(unknown))}")
        self.add_run(Run(**{**known, **fields}))

    def run(self, key: str) -> Run:
        """A run by its key.

        Raises:
            BookError: if the book does not hold it.
        """
        rows = self._rows(f"{_SELECT_RUNS} WHERE key = ?", [key])
        if not rows:
            raise BookError(f"{self.path}: no run {key!r}")
        return _run(rows[0])

    def runs(self) -> list[Run]:
        """All runs, oldest first."""
        return [_run(row) for row in self._rows(f"{_SELECT_RUNS} ORDER BY started, key")]

    def remove_runs(self, keys: Iterable[str]) -> int:
        """Remove runs; what they found stays."""
        with self.change("remove runs"):
            return sum(self._run("DELETE FROM runs WHERE key = ?", [key]) for key in keys)

    def add_evidence(self, evidence: Iterable[Evidence]) -> int:
        """Add scores; how many were new.

        The same experiment is kept only once: its games do not count twice.

        Raises:
            BookError: if the book does not hold a layout, if the numbers do not add up, or if the
                same experiment is there with another result.
        """
        added = 0
        with self.change("add evidence"):
            for row in evidence:
                identity = self._evidence_identity(row)
                known = self._known_result("evidence", _EVIDENCE_IDENTITY, identity)
                if known is not None:
                    if known != _result(row):
                        raise BookError(evidence_conflict(row, known))
                    continue
                self._run(
                    "INSERT INTO evidence (layout_id, kind, judge, opponents, seed, version, "
                    f"command, {_RESULT_COLUMNS}, created, run_id) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        *identity[:5],
                        *identity[6:],
                        row.games,
                        *_result(row),
                        row.score,
                        row.error,
                        row.created or now(),
                        self.run_id(row.run),
                    ],
                )
                added += 1
        return added

    def known_evidence(self, row: Evidence) -> tuple[int, int, int] | None:
        """Wins, draws and losses of the same experiment, if the book has it."""
        return self._known_result("evidence", _EVIDENCE_IDENTITY, self._evidence_identity(row))

    def evidence(
        self, layout: str | None = None, *, kind: str | None = None, judge: str | None = None
    ) -> list[Evidence]:
        """Scores, oldest first, of one layout or of all."""
        conditions = ["1"]
        values: list[object] = []
        if layout is not None:
            conditions.append("e.layout_id = ?")
            values.append(self.layout_id(layout))
        for column, value in (("kind", kind), ("judge", judge)):
            if value is not None:
                conditions.append(f"e.{column} = ?")
                values.append(value)
        rows = self._rows(
            "SELECT l.layout, e.opponents, e.judge, e.games, e.wins, e.draws, e.losses, e.error, "
            "e.seed, e.kind, e.version, e.command, runs.key, e.created, e.id "
            "FROM evidence AS e JOIN layouts AS l ON l.id = e.layout_id "
            f"LEFT JOIN runs ON runs.id = e.run_id WHERE {' AND '.join(conditions)} ORDER BY e.id",
            values,
        )
        return [Evidence(*row) for row in rows]

    def remove_evidence(self, ids: Iterable[int]) -> int:
        """Remove scores; how many there were."""
        with self.change("remove evidence"):
            return self._run_with_ids("DELETE FROM evidence WHERE id IN {ids}", ids)

    def pooled(self, layout: str | None = None) -> list[PooledScore]:
        """Scores pooled by layout, kind, judge and opponents; most games first."""
        where, values = "1", []
        if layout is not None:
            where, values = "layout_id = ?", [self.layout_id(layout)]
        rows = self._rows(
            "SELECT layout, opponents, judge, kind, scores, games, wins, draws, losses, score, "
            f"error FROM layout_scores WHERE {where} ORDER BY games DESC, layout, judge, opponents",
            values,
        )
        return [PooledScore(*row) for row in rows]

    def add_payoffs(self, payoffs: Iterable[Payoff]) -> int:
        """Add results of pairs, told from either side; how many were new.

        Raises:
            BookError: if the book does not hold a layout, if the numbers do not add up, or if the
                same experiment is there with another result.
        """
        added = 0
        with self.change("add payoffs"):
            for row in payoffs:
                row = ordered(row)
                identity = self._payoff_identity(row)
                known = self._known_result("payoffs", _PAYOFF_IDENTITY, identity)
                if known is not None:
                    if known != _result(row):
                        raise BookError(payoff_conflict(row, known))
                    continue
                self._run(
                    "INSERT INTO payoffs (layout_id, opponent_id, judge, seed, version, command, "
                    f"{_RESULT_COLUMNS}, created, run_id) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        *identity[:4],
                        *identity[5:],
                        row.games,
                        *_result(row),
                        row.score,
                        row.error,
                        row.created or now(),
                        self.run_id(row.run),
                    ],
                )
                added += 1
        return added

    def known_payoff(self, row: Payoff) -> tuple[int, int, int] | None:
        """Wins, draws and losses of the same experiment, told as the row tells it."""
        known = self._known_result("payoffs", _PAYOFF_IDENTITY, self._payoff_identity(ordered(row)))
        return known if known is None or ordered(row) is row else (known[2], known[1], known[0])

    def payoffs(
        self,
        layout: str | None = None,
        opponent: str | None = None,
        *,
        judge: str | None = None,
    ) -> list[Payoff]:
        """Results of pairs, oldest first; told from the side of `layout` if one is named."""
        conditions = ["1"]
        values: list[object] = []
        for letters in (layout, opponent):
            if letters is not None:
                conditions.append("(p.layout_id = ? OR p.opponent_id = ?)")
                values += [self.layout_id(letters)] * 2
        if judge is not None:
            conditions.append("p.judge = ?")
            values.append(judge)
        rows = self._rows(
            "SELECT a.layout, b.layout, p.judge, p.games, p.wins, p.draws, p.losses, p.error, "
            "p.seed, p.version, p.command, runs.key, p.created, p.id "
            "FROM payoffs AS p JOIN layouts AS a ON a.id = p.layout_id "
            "JOIN layouts AS b ON b.id = p.opponent_id "
            f"LEFT JOIN runs ON runs.id = p.run_id WHERE {' AND '.join(conditions)} ORDER BY p.id",
            values,
        )
        found = [Payoff(*row) for row in rows]
        if layout is None:
            return found
        teller = canonical_letters(layout)
        return [row if row.layout == teller else row.turned() for row in found]

    def payoff_matrix(
        self, layouts: Sequence[str], judge: str
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Pooled scores of each layout against each other, and the games they rest on.

        Row against column; the two scores of a pair sum up to 1, a layout against itself has
        0.5, and nan is what was never played.
        """
        index = {canonical_letters(letters): n for n, letters in enumerate(layouts)}
        points = np.zeros((len(layouts), len(layouts)))
        games = np.zeros((len(layouts), len(layouts)), np.int64)
        for row in self.payoffs(judge=judge):
            a, b = index.get(row.layout), index.get(row.opponent)
            if a is not None and b is not None:
                games[a, b] += row.games
                games[b, a] += row.games
                points[a, b] += row.wins + row.draws / 2
                points[b, a] += row.losses + row.draws / 2
        scores = np.full_like(points, np.nan)
        np.divide(points, games, out=scores, where=games > 0)
        np.fill_diagonal(scores, 0.5)
        return scores, games

    def _evidence_identity(self, row: Evidence) -> list[Any]:
        check_result(row)
        return [
            self.layout_id(row.layout),
            check_word(row.kind, EVIDENCE_KINDS, "kind"),
            clean_text(row.judge),
            clean_text(row.opponents),
            clean_integer(row.seed, "seed"),
            row.games,
            clean_text(row.version),
            clean_text(row.command),
        ]

    def _payoff_identity(self, row: Payoff) -> list[Any]:
        check_result(row)
        ids = [self.layout_id(row.layout), self.layout_id(row.opponent)]
        if ids[0] == ids[1]:
            raise BookError(f"expected two layouts in a payoff, got {row.layout!r} twice")
        return [
            *ids,
            clean_text(row.judge),
            clean_integer(row.seed, "seed"),
            row.games,
            clean_text(row.version),
            clean_text(row.command),
        ]

    def _known_result(
        self, table: str, condition: str, identity: list[Any]
    ) -> tuple[int, int, int] | None:
        rows = self._rows(f"SELECT wins, draws, losses FROM {table} WHERE {condition}", identity)
        return rows[0] if rows else None


def new_run_key(job: str) -> str:
    """A key that no other run has, like ``evolve-20261116-030126-9f2c``."""
    time = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return f"{job}-{time}-{os.urandom(2).hex()}"


def ordered(row: Payoff) -> Payoff:
    """A payoff as the book keeps it: told by the layout that comes first in the alphabet."""
    return row.turned() if canonical_letters(row.opponent) < canonical_letters(row.layout) else row


def check_result(row: Evidence | Payoff) -> None:
    """See that the numbers of a score add up.

    Raises:
        BookError: if they do not.
    """
    counts = (row.wins, row.draws, row.losses)
    if row.games < 1 or min(counts) < 0 or sum(counts) != row.games:
        raise BookError(
            f"expected wins, draws and losses to be {row.games} games together, "
            f"got {row.wins} + {row.draws} + {row.losses}"
        )
    if not 0 <= row.error < 1e300:
        raise BookError(f"expected an error of 0 or more, got {row.error}")
    clean_integer(row.games, "number of games")


def evidence_conflict(row: Evidence, known: tuple[int, int, int]) -> str:
    """What is wrong when the same experiment has two results."""
    return (
        f"evidence of {row.layout} against {row.opponents} by {row.judge}, seed {row.seed}, "
        f"{row.games} games: {_wdl(known)} here, {_wdl(_result(row))} there"
    )


def payoff_conflict(row: Payoff, known: tuple[int, int, int]) -> str:
    """What is wrong when the same games of a pair have two results."""
    return (
        f"payoff of {row.layout} against {row.opponent} by {row.judge}, seed {row.seed}, "
        f"{row.games} games: {_wdl(known)} here, {_wdl(_result(row))} there"
    )


def _result(row: Evidence | Payoff) -> tuple[int, int, int]:
    return row.wins, row.draws, row.losses


def _wdl(result: tuple[int, int, int]) -> str:
    return "{} won, {} drawn, {} lost".format(*result)


def _run(row: tuple[Any, ...]) -> Run:
    id, key, command, settings, *rest = row
    values = dict(zip(_RUN_COLUMNS[3:], rest, strict=True))
    return Run(key=key, command=command, settings=json.loads(settings), id=id, **values)


def _run_values(run: Run) -> list[Any]:
    if not is_word(run.key):
        raise BookError(f"expected the key of a run to be one word, got {run.key!r}")
    return [
        run.key,
        clean_text(run.command),
        json.dumps(run.settings, ensure_ascii=False, sort_keys=True),
        clean_integer(run.seed, "seed"),
        run.started or now(),
        run.seconds,
        clean_integer(run.games, "number of games"),
        clean_text(run.machine),
        clean_text(run.version),
        check_word(run.status, RUN_STATUSES, "status"),
        clean_text(run.notes),
    ]
