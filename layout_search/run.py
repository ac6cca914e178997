"""A search on its way: all of its state, and how that is kept in a file.

The state after a round is all there is: rounds draw their random numbers from the run's seed and
their own number, so that a run that was stopped and resumed ends like one that was not.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from junqi import __version__
from junqi.errors import JunqiError
from junqi.layout import Layout, format_layout, parse_layouts
from junqi.textfile import write_whole
from layout_search.archive import Archive
from layout_search.settings import Settings

Vector = NDArray[np.float64]


class CannotResume(JunqiError, RuntimeError):
    """A checkpoint that does not fit."""


@dataclass(frozen=True)
class RoundReport:
    """What a round brought."""

    number: int
    counter: float
    """What the best response scored against the mixture before, in games of its own."""
    archive: int
    mixture: int
    """Layouts that carry the mixture now."""
    games: int
    """Of the run so far."""
    seconds: float


@dataclass(frozen=True, eq=False)
class FinalGames:
    """What the judge of the finals saw of the finalists, in games of the finals alone."""

    members: list[int]
    """The finalists' numbers in the archive."""
    strong: Archive
    """The finalists, and their games against each other."""
    panel_scores: Vector
    """Of each against people's and random layouts."""
    games: int
    seconds: float
    rounds: int
    """How many there were before."""


@dataclass(eq=False)
class Run:
    """A search on its way."""

    settings: Settings
    people: Layout
    archive: Archive = field(default_factory=Archive)
    panel_scores: Vector = field(default_factory=lambda: np.zeros(0))
    """Of each layout of the archive against people's and random layouts."""
    strong_points: Vector = field(default_factory=lambda: np.zeros(0))
    """Of each layout against people's and random layouts by the judge of the finals."""
    strong_games: Vector = field(default_factory=lambda: np.zeros(0))
    """How many games that were; none for layouts that hardly carried the mixture."""
    shares: Vector = field(default_factory=lambda: np.zeros(0))
    """How often the mixture plays each layout."""
    threats: Vector = field(default_factory=lambda: np.zeros(0))
    """How often an opponent who knows the mixture would play each."""
    rounds: list[RoundReport] = field(default_factory=list)
    games: int = 0
    seconds: float = 0.0
    strong_seconds: float = 0.0
    """Of those, in games by the judge of the finals."""
    strong_played: int = 0
    """How many these were."""
    final: FinalGames | None = None
    """None while there were no finals."""
    key: str = ""
    """What a book calls the run, also after it was stopped and resumed."""


def start(settings: Settings, people: Layout, key: str = "") -> Run:
    """A new search; `people` are layouts made by people, ``int8[n, 25]``, or none."""
    return Run(settings, people, key=key)


def save(run: Run, path: Path) -> None:
    """Write a checkpoint: the old one stays until the new one is whole."""
    state: dict[str, Any] = {
        "version": __version__,
        "key": run.key,
        "settings": run.settings.to_json(),
        "people": [format_layout(layout) for layout in run.people],
        "archive": _archive_to_json(run.archive),
        "panel_scores": run.panel_scores.tolist(),
        "strong_points": run.strong_points.tolist(),
        "strong_games": run.strong_games.tolist(),
        "shares": run.shares.tolist(),
        "threats": run.threats.tolist(),
        "rounds": [vars(report) for report in run.rounds],
        "all_games": run.games,
        "seconds": run.seconds,
        "strong_seconds": run.strong_seconds,
        "strong_played": run.strong_played,
        "final": None if run.final is None else _final_to_json(run.final),
    }
    write_whole(path, json.dumps(state))


def load(path: Path) -> Run:
    """Read a checkpoint.

    Raises:
        CannotResume: if it is none, or one of another version of the program.
    """
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        version = state["version"]
        if version != __version__:
            raise CannotResume(f"{path}: made by version {version}, this is {__version__}")
        return _run_of(state)
    except FileNotFoundError:
        raise CannotResume(f"{path}: no checkpoint to resume from") from None
    except KeyError as error:
        raise CannotResume(f"{path}: expected a checkpoint, got one without {error}") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise CannotResume(f"{path}: expected a checkpoint: {error}") from None


def _run_of(state: dict[str, Any]) -> Run:
    vectors = ("panel_scores", "strong_points", "strong_games", "shares", "threats")
    return Run(
        settings=Settings(**state["settings"]),
        people=parse_layouts(state["people"]),
        archive=_archive_of(state["archive"]),
        **{name: np.array(state[name], dtype=np.float64) for name in vectors},
        rounds=[RoundReport(**row) for row in state["rounds"]],
        games=state["all_games"],
        seconds=state["seconds"],
        strong_seconds=state["strong_seconds"],
        strong_played=state["strong_played"],
        final=None if state["final"] is None else _final_of(state["final"]),
        key=state["key"],
    )


def _archive_to_json(archive: Archive) -> dict[str, Any]:
    return {
        "layouts": [format_layout(layout) for layout in archive.layouts],
        "points": archive.points.tolist(),
        "games": archive.games.tolist(),
        "draws": archive.draws.tolist(),
    }


def _archive_of(state: dict[str, Any]) -> Archive:
    layouts = parse_layouts(state["layouts"])
    points, games, draws = (
        np.array(state[name], dtype=np.float64).reshape(len(layouts), len(layouts))
        for name in ("points", "games", "draws")
    )
    return Archive(layouts, points, games, draws)


def _final_to_json(final: FinalGames) -> dict[str, Any]:
    strong, scores = _archive_to_json(final.strong), final.panel_scores.tolist()
    return vars(final) | {"strong": strong, "panel_scores": scores}


def _final_of(state: dict[str, Any]) -> FinalGames:
    strong, scores = _archive_of(state["strong"]), np.array(state["panel_scores"], np.float64)
    return FinalGames(**state | {"strong": strong, "panel_scores": scores})
