"""Several books on top of each other: the first that answers wins."""

from collections.abc import Sequence
from contextlib import ExitStack
from operator import attrgetter
from pathlib import Path

from book.errors import BookError
from book.layout_query import Filter
from book.rows import BookLayout, Draw, Opening, Turn
from book.store import Book


class Layers:
    """Books opened for reading, the most trusted first; a context manager that closes them."""

    def __init__(self, paths: Sequence[str | Path], *, wait: float = 5.0) -> None:
        if not paths:
            raise BookError("expected at least one book")
        with ExitStack() as stack:
            self.books = [
                stack.enter_context(Book.open(path, read_only=True, wait=wait)) for path in paths
            ]
            self._stack = stack.pop_all()

    def close(self) -> None:
        """Let go of the files."""
        self._stack.close()

    def __enter__(self) -> "Layers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def lookup(self, layout: str, key: str, *, disabled: bool = False) -> list[Opening]:
        """The candidate moves of the first book that has some, as `Book.lookup` gives them."""
        for book in self.books:
            if found := book.lookup(layout, key, disabled=disabled):
                return found
        return []

    def mixture(self, turn: Turn | None = None) -> list[BookLayout]:
        """The mixture of the first book that has one."""
        for book in self.books:
            if found := book.mixture(turn):
                return found
        return []

    def sample(self, seed: int, count: int = 1, turn: Turn | None = None) -> list[Draw]:
        """Draws from the first book that has a mixture, as `Book.sample` gives them.

        Raises:
            BookError: if none has one.
        """
        for book in self.books[:-1]:
            if book.count_layouts(Filter(in_mixture=True, moves=turn)):
                return book.sample(seed, count, turn)
        return self.books[-1].sample(seed, count, turn)

    def find_layout(self, word: str) -> BookLayout:
        """The layout that a user means, from the first book that knows it.

        Raises:
            BookError: if none does.
        """
        for book in self.books[:-1]:
            if book.holds(word):
                return book.find_layout(word)
        return self.books[-1].find_layout(word)

    def layouts(
        self,
        filter: Filter | None = None,
        sort: str = "id",
        *,
        descending: bool = False,
        limit: int | None = None,
    ) -> list[BookLayout]:
        """The layouts of all books, each as the first book that holds it tells of it.

        The filter is asked of that book: a layout that is disabled there is not found enabled in
        a later one. Sorted by id, the books stand one after the other.
        """
        if len(self.books) == 1:
            return self.books[0].layouts(filter, sort, descending=descending, limit=limit)
        found: list[BookLayout] = []
        for number, book in enumerate(self.books):
            found += [
                layout
                for layout in book.layouts(filter, sort, descending=descending)
                if not any(earlier.holds(layout.layout) for earlier in self.books[:number])
            ]
        if sort != "id":
            known = [layout for layout in found if getattr(layout, sort) is not None]
            unknown = [layout for layout in found if getattr(layout, sort) is None]
            known.sort(key=attrgetter(sort), reverse=descending)
            found = known + unknown
        return found[:limit]
