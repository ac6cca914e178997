"""Layouts read from a book: listed, found by what a user calls them, drawn from the mixture."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import Any

from book.base import BookFile
from book.errors import BookError
from book.letters import canonical_letters, is_legal, mirror_letters
from book.rows import BookLayout, Draw, Moves, Origin, Role, Turn

# What a list can be sorted by, and the SQL for it.
SORTS = {
    "id": "l.id",
    "layout": "l.layout",
    "name": "l.name",
    "origin": "l.origin",
    "role": "l.role",
    "weight": "l.weight",
    "created": "l.created",
    "games": "s.games",
    "score": "s.score",
    "error": "s.error",
}
_SORTS_BY_EVIDENCE = ("games", "score", "error")

IN_MIXTURE = "l.enabled = 1 AND l.weight > 0 AND l.role <> 'opponent'"

_POOLED = """
    SELECT layout_id, sum(games) AS games, (sum(wins) + 0.5 * sum(draws)) / sum(games) AS score,
        sqrt(sum(error * error * games * games)) / sum(games) AS error
    FROM evidence WHERE {where} GROUP BY layout_id
"""


@dataclass(frozen=True)
class Filter:
    """Which layouts to list; what is not said lets all pass."""

    origin: tuple[Origin, ...] = ()
    """Any of these."""
    role: Role | None = None
    """``own`` and ``opponent`` include those that play both."""
    tags: tuple[str, ...] = ()
    """All of these."""
    min_score: float | None = None
    max_score: float | None = None
    enabled: bool | None = None
    in_mixture: bool | None = None
    moves: Moves | None = None
    """``first`` and ``second`` include those that may do both."""
    name: str | None = None
    """A part of the name."""
    run: str | None = None
    judge: str | None = None
    """Scores are pooled from fresh evidence of this judge; of all judges if not said."""
    opponents: str | None = None
    """Scores are pooled from fresh evidence against these."""


class LayoutQueries(BookFile):
    """What a book tells about its layouts."""

    def layouts(
        self,
        filter: Filter | None = None,
        sort: str = "id",
        *,
        descending: bool = False,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[BookLayout]:
        """The layouts that pass a filter, with their scores and tags.

        Layouts without evidence come last when sorted by it.

        Args:
            sort: one of `SORTS`.
            limit: at most so many, for paging.
            offset: leave out so many first.

        Raises:
            ValueError: if there is no such order.
        """
        if sort not in SORTS:
            raise ValueError(f"expected a sort order of {', '.join(SORTS)}, got {sort!r}")
        filter = filter or Filter()
        conditions, values = _conditions(filter)
        evidence, evidence_values = _evidence_conditions(filter)
        by_score = _needs_scores(filter, sort)
        order = f"{SORTS[sort]} {'DESC' if descending else 'ASC'} NULLS LAST, l.id"
        # Scores and tags only of the page, unless the page itself is chosen by scores.
        scores = _POOLED.format(
            where=evidence if by_score else f"{evidence} AND layout_id IN (SELECT id FROM page)"
        )
        scores_cte = f"scores AS MATERIALIZED ({scores})"
        page_cte = f"""
            page AS MATERIALIZED (
                SELECT l.id FROM layouts AS l
                {"LEFT JOIN scores AS s ON s.layout_id = l.id" if by_score else ""}
                WHERE {conditions} ORDER BY {order} LIMIT ? OFFSET ?
            )
        """
        paging = [-1 if limit is None else limit, offset]
        if by_score:
            ctes = f"{scores_cte}, {page_cte}"
            parameters = [*evidence_values, *values, *paging]
        else:
            ctes = f"{page_cte}, {scores_cte}"
            parameters = [*values, *paging, *evidence_values]
        sql = f"""
            WITH {ctes},
            tags AS MATERIALIZED (
                SELECT layout_id, group_concat(tag) AS tags FROM layout_tags
                WHERE layout_id IN (SELECT id FROM page) GROUP BY layout_id
            )
            SELECT l.id, l.layout, l.name, l.origin, l.role, l.weight, l.moves, l.enabled, l.notes,
                l.created, runs.key, tags.tags, coalesce(s.games, 0), s.score, s.error
            FROM page JOIN layouts AS l ON l.id = page.id
                LEFT JOIN runs ON runs.id = l.run_id
                LEFT JOIN scores AS s ON s.layout_id = l.id
                LEFT JOIN tags ON tags.layout_id = l.id
            ORDER BY {order}
        """
        return [_layout(row) for row in self._rows(sql, parameters)]

    def count_layouts(self, filter: Filter | None = None) -> int:
        """How many layouts pass a filter."""
        filter = filter or Filter()
        conditions, values = _conditions(filter)
        if not _needs_scores(filter):
            sql = f"SELECT count(*) FROM layouts AS l WHERE {conditions}"
            return int(self._value(sql, values))
        evidence, evidence_values = _evidence_conditions(filter)
        sql = f"""
            WITH scores AS MATERIALIZED ({_POOLED.format(where=evidence)})
            SELECT count(*) FROM layouts AS l LEFT JOIN scores AS s ON s.layout_id = l.id
            WHERE {conditions}
        """
        return int(self._value(sql, [*evidence_values, *values]))

    def find_layout(self, word: str) -> BookLayout:
        """The layout that a user means: by its id like ``17`` or ``#17``, its letters or its name.

        Raises:
            BookError: if there is none, or more than one of that name.
        """
        if not (ids := self._ids_of(word)):
            raise BookError(
                f"{self.path}: no layout {word!r}; expected an id, 25 letters or a name"
            )
        if len(ids) > 1:
            listed = ", ".join(f"#{id}" for id in ids[:10])
            raise BookError(f"{self.path}: {len(ids)} layouts are called {word!r}: {listed}")
        return self.layouts_by_id(ids)[0]

    def holds(self, word: str) -> bool:
        """Whether the book has a layout that a user can mean by this word."""
        return bool(self._ids_of(word))

    def find_layouts(self, words: Iterable[str]) -> list[BookLayout]:
        """The layouts that a user means, each once: ``tag:NAME`` and ``all`` are several.

        Raises:
            BookError: if a word means none, or is a name that several have.
        """
        found: dict[int, BookLayout] = {}
        for word in words:
            if word == "all":
                layouts = self.layouts()
            elif word.startswith("tag:"):
                layouts = self.layouts(Filter(tags=(word.removeprefix("tag:"),)))
                if not layouts:
                    raise BookError(f"{self.path}: no layout has the tag {word[4:]!r}")
            else:
                layouts = [self.find_layout(word)]
            found |= {layout.id: layout for layout in layouts}
        return list(found.values())

    def layouts_by_id(self, ids: Iterable[int]) -> list[BookLayout]:
        """The layouts with these ids, in this order; those that are not there are left out."""
        found: list[BookLayout] = []
        for id in ids:
            found += self._layout_by_id(id)
        return found

    def layout_id(self, letters: str) -> int:
        """The id of a layout, of either mirror image.

        Raises:
            BookError: if the book does not hold it.
            InvalidLayout: if it is not a legal one.
        """
        canonical = canonical_letters(letters)
        id = self._value("SELECT id FROM layouts WHERE layout = ?", [canonical])
        if id is None:
            raise BookError(f"{self.path}: expected a layout of this book, got {letters!r}")
        return int(id)

    def mixture(self, turn: Turn | None = None) -> list[BookLayout]:
        """The layouts that the engine draws from, the heaviest first.

        Args:
            turn: only those that may move first, or second.
        """
        return self.layouts(Filter(in_mixture=True, moves=turn), "weight", descending=True)

    def sample(self, seed: int, count: int = 1, turn: Turn | None = None) -> list[Draw]:
        """Draw layouts from the mixture by weight, each mirrored by a coin flip.

        The same seed gives the same draws from every book with the same mixture; a longer list
        begins with the shorter one.

        Raises:
            BookError: if no layout can be drawn.
        """
        sql = f"""
            SELECT l.layout, l.weight, l.name FROM layouts AS l
            WHERE {IN_MIXTURE} AND l.moves IN ('both', ?) ORDER BY l.layout
        """
        if turn is None:
            sql = sql.replace("l.moves IN ('both', ?)", "? IS NULL")
        rows = self._rows(sql, [turn])
        if not rows:
            who = f" that may move {turn}" if turn else ""
            raise BookError(f"{self.path}: no enabled own layout{who} has a weight above 0")
        bounds = list(accumulate(weight for _, weight, _ in rows))
        rng = Random(seed)
        draws = []
        for _ in range(count):
            index = min(bisect_right(bounds, rng.random() * bounds[-1]), len(rows) - 1)
            letters, _, name = rows[index]
            is_mirrored = rng.random() < 0.5
            played = mirror_letters(letters) if is_mirrored else letters
            draws.append(Draw(played, letters, is_mirrored, name))
        return draws

    def _layout_by_id(self, id: int) -> list[BookLayout]:
        sql = f"""
            SELECT l.id, l.layout, l.name, l.origin, l.role, l.weight, l.moves, l.enabled, l.notes,
                l.created, runs.key,
                (SELECT group_concat(tag) FROM layout_tags WHERE layout_id = l.id),
                coalesce(s.games, 0), s.score, s.error
            FROM layouts AS l LEFT JOIN runs ON runs.id = l.run_id
                LEFT JOIN ({_POOLED.format(where="kind = 'fresh' AND layout_id = ?")}) AS s
            WHERE l.id = ?
        """
        return [_layout(row) for row in self._rows(sql, [id, id])]

    def _ids_of(self, word: str) -> list[int]:
        number = word.removeprefix("#")
        if number.isascii() and number.isdigit() and len(number) < 19:
            sql, value = "SELECT id FROM layouts WHERE id = ?", int(number)
            return [id for (id,) in self._rows(sql, [value])]
        if is_legal(word):
            sql = "SELECT id FROM layouts WHERE layout = ?"
            return [id for (id,) in self._rows(sql, [canonical_letters(word)])]
        sql = "SELECT id FROM layouts WHERE name = ? AND name <> '' ORDER BY id"
        return [id for (id,) in self._rows(sql, [word])]


def _layout(row: tuple[Any, ...]) -> BookLayout:
    id, letters, name, origin, role, weight, moves, enabled, notes, created, run, tags, *rest = row
    in_order = tuple(sorted(tags.split(","))) if tags else ()
    return BookLayout(
        id, letters, name, origin, role, weight, moves, bool(enabled), notes, created, run,
        in_order, *rest,
    )  # fmt: skip


def _needs_scores(filter: Filter, sort: str = "id") -> bool:
    has_range = filter.min_score is not None or filter.max_score is not None
    return has_range or sort in _SORTS_BY_EVIDENCE


def _evidence_conditions(filter: Filter) -> tuple[str, list[Any]]:
    conditions, values = ["kind = 'fresh'"], []
    for column, value in (("judge", filter.judge), ("opponents", filter.opponents)):
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(value)
    return " AND ".join(conditions), values


def _conditions(filter: Filter) -> tuple[str, list[Any]]:
    """SQL for what a layout must be, and its values."""
    conditions: list[str] = ["1"]
    values: list[Any] = []

    def need(condition: str, *more: Any) -> None:
        conditions.append(condition)
        values.extend(more)

    if filter.origin:
        need(f"l.origin IN ({', '.join('?' * len(filter.origin))})", *filter.origin)
    if filter.role is not None:
        need("l.role = 'both'") if filter.role == "both" else need(
            "l.role IN ('both', ?)", filter.role
        )
    for tag in filter.tags:
        need("l.id IN (SELECT layout_id FROM layout_tags WHERE tag = ?)", tag)
    if filter.min_score is not None:
        need("s.score >= ?", filter.min_score)
    if filter.max_score is not None:
        need("s.score <= ?", filter.max_score)
    if filter.enabled is not None:
        need("l.enabled = ?", int(filter.enabled))
    if filter.in_mixture is not None:
        need(IN_MIXTURE if filter.in_mixture else f"NOT ({IN_MIXTURE})")
    if filter.moves is not None:
        need("l.moves = 'both'") if filter.moves == "both" else need(
            "l.moves IN ('both', ?)", filter.moves
        )
    if filter.name is not None:
        need("instr(lower(l.name), lower(?)) > 0", filter.name)
    if filter.run is not None:
        need("l.run_id = (SELECT id FROM runs WHERE key = ?)", filter.run)
    return " AND ".join(conditions), values
