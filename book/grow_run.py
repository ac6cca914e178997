"""Growing in a book: what it begins with, and how what is found gets into it.

Everything found since the last time is written in one short transaction every few seconds, so a
reader never waits and a run that is killed loses no more than that. The next run goes on with what
the book has. What a person changed in the book meanwhile stays as the person wants it.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from book.default import human_layouts
from book.errors import BookFileError
from book.grow import GrowSettings, Growth
from book.opening_rows import is_by_hand
from book.rows import BookLayout, Opening, Run
from book.store import Book, Filter, new_run_key
from junqi import __version__

SAVE_SECONDS = 10.0
KIND = "grow"


@dataclass(frozen=True)
class Grown:
    """What came of a run."""

    run: str
    thoughts: int
    games: int
    positions: int
    """With rows that the run has changed."""
    coverage: dict[int, float]
    """Share of the last simulated games in which the n-th own move was answered."""
    seconds: float


class GrowRun:
    """One run of growing."""

    def __init__(
        self,
        book: Book,
        layouts: list[BookLayout],
        settings: GrowSettings,
        *,
        command: str = "",
        machine: str = "",
        dry_run: bool = False,
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Read what the book has; a run begins in its table.

        Args:
            book: open for writing.
            layouts: the own ones, rows of the book.
            settings: how to grow.
            command: what the user typed.
            machine: where it runs, in words.
            dry_run: find moves, and write nothing.
            note: told what did not go as it should.
        """
        self._book = book
        self._command = command
        self._dry_run = dry_run
        self._note = note
        self._begin = self._saved = time.monotonic()
        self._touched: set[tuple[str, str]] = set()
        first_game = sum(run.games or 0 for run in book.runs() if run.key.startswith(f"{KIND}-"))
        self.growth = Growth(
            settings, layouts, enemy_layouts(book), new_run_key(KIND), first_game=first_game
        )
        for row in layouts:
            self.growth.load(book.openings(row.layout))
        self._run = Run(
            key=self.growth.run,
            command=command,
            settings=_settings(settings, layouts, first_game),
            seed=settings.seed,
            seconds=0.0,
            games=0,
            machine=machine,
            version=__version__,
        )

    def grow(self, tell: Callable[[Growth], None] = lambda growth: None) -> Grown:
        """Grow; what was found is in the book when this ends, however it ends."""
        self._write("running")

        def after_round(growth: Growth) -> None:
            tell(growth)
            if not self._dry_run and time.monotonic() - self._saved > SAVE_SECONDS:
                self._try_to_save()

        try:
            self.growth.grow(after_round)
        except KeyboardInterrupt:
            self._write("interrupted")
            raise
        except BaseException:
            self._write("failed")
            raise
        self._write("done")
        growth = self.growth
        return Grown(
            growth.run,
            growth.thoughts,
            growth.games,
            len(self._touched),
            growth.coverage(),
            time.monotonic() - self._begin,
        )

    def _try_to_save(self) -> None:
        try:
            self._write("running")
        except BookFileError as error:  # locked: there is a next time
            self._note(f"not saved yet: {error}")
            self._saved = time.monotonic()

    def _write(self, status: Any) -> None:
        """Write what was found since the last time, in one transaction."""
        growth, book = self.growth, self._book
        run = replace(
            self._run,
            seconds=time.monotonic() - self._begin,
            games=growth.games,
            status=status,
            notes=f"{growth.thoughts} thoughts",
        )
        places = sorted(growth.changed)
        with book.change(self._command or KIND, dry_run=self._dry_run):
            book.add_run(run)
            self._run = replace(self._run, started=book.run(run.key).started)
            book.add_openings(row for place in places for row in self._rows(place))
        growth.changed.clear()
        self._touched.update(places)
        self._saved = time.monotonic()

    def _rows(self, place: tuple[str, str]) -> list[Opening]:
        """The rows of a position to be written; what a person has changed is taken over."""
        mine = self.growth.places[place]
        there = {row.move: row for row in self._book.lookup(*place, disabled=True)}
        if any(map(is_by_hand, there.values())):
            self.growth.places[place] = list(there.values())
            return []
        merged = [
            replace(row, enabled=there[row.move].enabled, notes=there[row.move].notes)
            if row.move in there
            else row
            for row in mine
        ]
        self.growth.places[place] = merged
        return merged


def enemy_layouts(book: Book) -> list[str]:
    """Layouts that opponents are simulated with: those of the book, and people's."""
    rows = book.layouts(Filter(enabled=True))
    return sorted({row.layout for row in rows if row.role != "own"} | set(human_layouts()))


def _settings(settings: GrowSettings, layouts: list[BookLayout], first_game: int) -> dict[str, Any]:
    values = asdict(settings) | {"first_game": first_game}
    values.pop("threads")  # nothing depends on them
    values.pop("seed")  # a run has a column for it
    return {name: value for name, value in values.items() if value is not None} | {
        "layouts": [row.layout for row in layouts]
    }
