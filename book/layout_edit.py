"""Layouts written into a book: added, changed and removed."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

from book.base import clean_text
from book.errors import BookError
from book.layout_query import IN_MIXTURE, LayoutQueries
from book.letters import canonical_letters
from book.log import now
from book.rows import MOVES, ORIGINS, ROLES, Moves, NewLayout, Origin, Role

# When a layout comes from two places, the one that tells more stays.
_ORIGIN_RANK: dict[str, int] = {"seen": 0, "imported": 1, "evolved": 2, "human": 3}
_TAG = re.compile(r"[^\s,\"]+")


@dataclass(frozen=True)
class Added:
    """What came of adding layouts."""

    ids: list[int]
    """Of all of them, in the order given."""
    added: int
    """So many are new to the book."""
    merged: int
    """So many were known already."""


class LayoutEdits(LayoutQueries):
    """What changes a book's layouts."""

    def add_layouts(self, layouts: Iterable[NewLayout], *, replace: bool = False) -> Added:
        """Add layouts in canonical form; one that the book knows already is brought up to date.

        For a known layout, what is said replaces what was there, with these exceptions: tags are
        added, an own layout that is an opponent too becomes both, and the origin stays that of
        the better source (human, evolved, imported, seen).

        Args:
            replace: make a known layout exactly what is said, with no exceptions.

        Raises:
            InvalidLayout: naming the first that is not legal.
            BookError: if something else about one cannot be, or the run is not in the book.
        """
        ids: list[int] = []
        added = 0
        with self.change("add layouts"):
            for layout in layouts:
                id, is_new = self._add_layout(layout, replace)
                ids.append(id)
                added += is_new
        return Added(ids, added, len(ids) - added)

    def remove_layouts(self, ids: Iterable[int]) -> int:
        """Remove layouts with their tags, evidence, payoffs and openings; how many were there."""
        with self.change("remove layouts"):
            return self._run_with_ids("DELETE FROM layouts WHERE id IN {ids}", ids)

    def set_enabled(self, ids: Iterable[int], enabled: bool) -> int:
        """Let the engine draw layouts, or not; how many of them there are."""
        return self._set_column("enabled", ids, int(enabled))

    def set_weight(self, ids: Iterable[int], weight: float) -> int:
        """Set the weight in the mixture of each of these layouts."""
        return self._set_column("weight", ids, check_weight(weight))

    def set_role(self, ids: Iterable[int], role: Role) -> int:
        """Say whether layouts are own ones, opponents' or both."""
        return self._set_column("role", ids, check_word(role, ROLES, "role"))

    def set_moves(self, ids: Iterable[int], moves: Moves) -> int:
        """Restrict layouts to moving first or second, or to neither."""
        return self._set_column("moves", ids, check_word(moves, MOVES, "moves"))

    def set_origin(self, ids: Iterable[int], origin: Origin) -> int:
        """Say where layouts come from."""
        return self._set_column("origin", ids, check_word(origin, ORIGINS, "origin"))

    def set_name(self, id: int, name: str) -> int:
        """Name a layout; an empty name takes it away."""
        return self._set_column("name", [id], check_name(name))

    def set_note(self, ids: Iterable[int], text: str, *, append: bool = False) -> int:
        """Write the notes of layouts anew, or add a line to them."""
        if not append:
            return self._set_column("notes", ids, clean_text(text))
        with self.change("note layouts"):
            return self._run_with_ids(
                "UPDATE layouts SET notes = notes || iif(notes = '', '', char(10)) || ? "
                "WHERE id IN {ids}",
                ids,
                [clean_text(text)],
            )

    def add_tags(self, ids: Iterable[int], tags: Sequence[str]) -> int:
        """Give layouts tags; how many were new."""
        words = [check_tag(tag) for tag in tags]
        with self.change("tag layouts"):
            return sum(self._add_tag(id, tag) for id in ids for tag in words)

    def remove_tags(self, ids: Iterable[int], tags: Sequence[str]) -> int:
        """Take tags from layouts; how many there were."""
        every = list(ids)
        with self.change("untag layouts"):
            return sum(
                self._run_with_ids(
                    "DELETE FROM layout_tags WHERE tag = ? AND layout_id IN {ids}", every, [tag]
                )
                for tag in tags
            )

    def normalize_weights(self) -> int:
        """Let the weights of the mixture sum up to 1."""
        total = self._value(f"SELECT total(weight) FROM layouts AS l WHERE {IN_MIXTURE}")
        if not total:
            return 0
        with self.change("normalize weights"):
            return self._run(
                f"UPDATE layouts AS l SET weight = weight / ? WHERE {IN_MIXTURE}", [total]
            )

    def _set_column(self, column: str, ids: Iterable[int], value: object) -> int:
        with self.change(f"set {column} of layouts"):
            # Those that have the value already are not changed, and not told as changed.
            return self._run_with_ids(
                f"UPDATE layouts SET {column} = ? WHERE id IN {{ids}}", ids, [value]
            )

    def _add_layout(self, new: NewLayout, replace: bool) -> tuple[int, bool]:
        letters = canonical_letters(new.layout)
        values: dict[str, object] = {
            "name": None if new.name is None else check_name(new.name),
            "origin": None if new.origin is None else check_word(new.origin, ORIGINS, "origin"),
            "role": None if new.role is None else check_word(new.role, ROLES, "role"),
            "weight": None if new.weight is None else check_weight(new.weight),
            "moves": None if new.moves is None else check_word(new.moves, MOVES, "moves"),
            "enabled": None if new.enabled is None else int(new.enabled),
            "notes": None if new.notes is None else clean_text(new.notes),
            "created": new.created,
            "run_id": self.run_id(new.run),
        }
        tags = sorted({check_tag(tag) for tag in new.tags})
        sql = "SELECT id, origin, role, run_id FROM layouts WHERE layout = ?"
        known = self._rows(sql, [letters])
        if not known:
            values["created"] = values["created"] or now()
            id = self._insert_layout(letters, values)
        else:
            id, origin, role, run_id = known[0]
            if not replace:
                values |= {
                    "origin": _better_origin(origin, new.origin),
                    "role": join_roles(role, new.role),
                    "created": None,
                    "run_id": run_id or values["run_id"],
                }
            given = {k: v for k, v in values.items() if v is not None}
            if replace:
                given["run_id"] = values["run_id"]
            self._update_layout(id, given)
            if replace:
                marks = ", ".join("?" * len(tags))
                self._run(
                    f"DELETE FROM layout_tags WHERE layout_id = ? AND tag NOT IN ({marks})",
                    [id, *tags],
                )
        for tag in tags:
            self._add_tag(id, tag)
        return id, not known

    def _insert_layout(self, letters: str, values: dict[str, object]) -> int:
        given = {"layout": letters} | {k: v for k, v in values.items() if v is not None}
        names, marks = ", ".join(given), ", ".join("?" * len(given))
        sql = f"INSERT INTO layouts ({names}) VALUES ({marks}) RETURNING id"
        return int(self._value(sql, list(given.values())))

    def _update_layout(self, id: int, given: dict[str, object]) -> None:
        if given:
            settings = ", ".join(f"{name} = ?" for name in given)
            self._run(f"UPDATE layouts SET {settings} WHERE id = ?", [*given.values(), id])

    def _add_tag(self, layout_id: int, tag: str) -> int:
        return self._run(
            "INSERT INTO layout_tags (layout_id, tag) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [layout_id, tag],
        )

    def run_id(self, key: str | None) -> int | None:
        """The id of a run.

        Raises:
            BookError: if the book does not hold it.
        """
        if key is None:
            return None
        id = self._value("SELECT id FROM runs WHERE key = ?", [key])
        if id is None:
            raise BookError(f"expected a run of this book, got {key!r}")
        return int(id)


def check_word(word: str, words: Sequence[str], what: str) -> str:
    """One of a few words.

    Raises:
        BookError: if it is another one.
    """
    if word not in words:
        raise BookError(f"expected {what} to be one of {', '.join(words)}, got {word!r}")
    return word


def check_weight(weight: float) -> float:
    """A weight in a mixture.

    Raises:
        BookError: if it is negative or not a number.
    """
    if not isfinite(weight) or weight < 0:
        raise BookError(f"expected a weight of 0 or more, got {weight}")
    return float(weight)


def check_tag(tag: str) -> str:
    """One word without commas and quotes, so that lists of tags can be read.

    Raises:
        BookError: if it is something else.
    """
    if not _TAG.fullmatch(clean_text(tag)):
        raise BookError(f"expected a tag to be one word without commas and quotes, got {tag!r}")
    return tag


def check_name(name: str) -> str:
    """A name that fits on a line.

    Raises:
        BookError: if it does not.
    """
    if not clean_text(name).isprintable():
        raise BookError(f"expected a name on one line, got {name!r}")
    return name


def join_roles(role: Role, other: Role | None) -> Role:
    """The role of a layout that plays both of these."""
    return role if other in (None, role) else "both"


def _better_origin(origin: Origin, other: Origin | None) -> Origin:
    if other is None:
        return origin
    return max(origin, other, key=_ORIGIN_RANK.__getitem__)
