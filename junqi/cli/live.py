"""A long search while it runs: a line on a terminal that is kept up to date, events in a file."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from layout_search.run import RoundReport, Run

Log = Callable[..., None]


@contextmanager
def event_log(path: Path | None) -> Iterator[Log]:
    """A function that adds an event and its figures to a file, if one is named, a line of JSON."""
    with nullcontext() if path is None else path.open("a", encoding="utf-8") as file:

        def log(event: str, **figures: Any) -> None:
            if file is not None:
                print(json.dumps({"event": event, **figures}), file=file, flush=True)

        yield log


class Watch:
    """Is told of generations, rounds and finals, and tells whoever watches."""

    def __init__(self, run: "Run", log: Log, show: Callable[[str], None]) -> None:
        self._run = run
        self._log = log
        self._show = show
        self._begin: float | None = None
        """When the run would have begun without its pauses; None while it warms up."""
        self._games = run.games
        """Of the run so far, told after each generation."""
        self._final_games = 0

    def generation(self, generation: int, best: float, games: int) -> None:
        """A generation of the present round has played."""
        self._games += games
        number = len(self._run.rounds) + 1
        figures = {"round": number, "generation": generation + 1, "best": best, "games": games}
        self._log("generation", **figures)
        self._tell(number, f"generation {generation + 1} at {100 * best:.1f} %")

    def round(self, report: "RoundReport") -> None:
        """A round has ended."""
        self._games = report.games
        self._log("round", **vars(report))
        self._tell(report.number, "done")

    def finals(self, games: int, planned: int) -> None:
        """Some more games of the finals have been played."""
        self._final_games += games
        self._games += games
        self._log("finals", games=self._final_games, planned=planned)
        judge = self._run.settings.finals
        stage = f"finals by {judge}: {self._final_games:,} of {planned:,} games"
        self._tell(len(self._run.rounds), stage)

    def _tell(self, number: int, stage: str) -> None:
        run = self._run
        if self._begin is None:
            self._begin = time.monotonic() - run.seconds
        seconds = time.monotonic() - self._begin
        parts = [f"round {number}{_of(run.settings.rounds)}", stage]
        if run.rounds:
            last = run.rounds[-1]
            parts += [
                f"last counter {100 * last.counter:.1f} %",
                f"mixture of {last.mixture} in {last.archive} layouts",
                f"{self._games / max(seconds, 1e-3):,.0f} games/s",
            ]
        left = self._seconds_left(seconds)
        if left is not None:
            parts.append(f"{clock(left)} left")
        self._show(", ".join(parts))

    def _seconds_left(self, seconds: float) -> float | None:
        """Of the whole run; with a number of rounds, of these, at the pace so far."""
        run = self._run
        if run.settings.rounds is None:
            return max(0.0, 60 * run.settings.minutes - seconds)
        if not run.rounds:
            return None
        return (run.settings.rounds - len(run.rounds)) * run.seconds / len(run.rounds)


@contextmanager
def watching(run: "Run", log: Log) -> Iterator[Watch]:
    """What a search reports to; quiet unless stderr is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield Watch(run, log, lambda line: None)
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("warming up") as status:
        yield Watch(run, log, lambda line: status.update(Text(line)))


def clock(seconds: float) -> str:
    """A time as it is read on a clock.

    >>> clock(59.6), clock(3725)
    ('1:00', '1:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _of(rounds: int | None) -> str:
    return "" if rounds is None else f" of {rounds}"
