"""Every knob of the search for layouts, in one place."""

import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from junqi.errors import JunqiError
from junqi.simulate import THINK, parse_judge


class InvalidSettings(JunqiError, ValueError):
    """Settings that no search could be run by."""

    is_usage = True


# Of a layout at a time by the judge of the finals, while the search goes on.
STRONG_GAMES = 48
# The last survivors of a best response that are tested with games of their own.
TESTED = 8
# Games of the finals for each minute of the run: by `search:3x3`, some seconds on two cores.
FINAL_GAMES_A_MINUTE = 500
# Against people's and as many against random layouts in the end, for each minute of the run.
FRESH_GAMES_A_MINUTE = 75
# All of these are by `search:3x3`. The engine's own games, `think:N`, take much longer: so many
# times fewer of them.
THINKING_COSTS = 12


@dataclass(frozen=True)
class Settings:
    """How layouts are searched for."""

    seed: int = 1
    minutes: float = 10.0
    """Of all of it: rounds end when the rest is needed for finals and evidence, which are sized by
    it."""
    rounds: int | None = None
    """Exactly so many rounds instead, however long they take."""
    margin: float = 0.0
    """The search also ends when several counters in a row scored no more than this above one
    half."""
    judge: str = "policy"
    """Who plays the games of the search."""
    finals: str = "search:3x3"
    """Who plays the games that decide about the mixture in the end; ``none`` for no finals."""
    greed: float = 0.4
    """From 0, a mixture without counters, to 1, the best score against people's and random
    layouts."""

    spread: float = 0.015
    """What the mixture may lose to a known counter for being spread over more layouts, which makes
    unknown counters harder to find; 0 for the plain solution."""

    counters: int = 5
    """Counters to the mixture that a round looks for."""
    population: int = 64
    """Layouts of a generation."""
    generations: int = 20
    """Generations of each best response."""
    games: int = 16
    """Of each newborn layout; a quarter of them then plays four times as many more."""
    against_people: float = 0.625
    """Share of people's layouts among everybody."""
    against_random: float = 0.375
    pair_games: int = 60
    """Of a new layout against each of the archive."""
    support_games: int = 240
    """Of a new layout against each that carries the mixture or threatens it, and against everybody:
    people's and random layouts."""
    test_games: int = 2000
    """With new seeds, of the best of the last generation."""

    strong_games: int | None = None
    """At a time, of a layout by the judge of the finals, against people's and random layouts; made
    of the judge if missing."""
    finalists: int = 40
    """Layouts of the archive that the finals judge again."""
    finalist_games: int | None = None
    """Of each finalist against the others, and as many against people's and random layouts; made of
    the minutes if missing."""
    evidence_games: int | None = None
    """With new seeds, of the final mixture against people's and as many against random layouts;
    made of the minutes if missing."""

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        for name in (
            "population",
            "generations",
            "games",
            "pair_games",
            "finalists",
        ):
            if getattr(self, name) < 2:
                raise InvalidSettings(f"expected {name} of at least 2, got {getattr(self, name)}")
        if self.rounds is not None and self.rounds < 1:
            raise InvalidSettings(f"expected at least 1 round, got {self.rounds}")
        if not self.minutes > 0:
            raise InvalidSettings(f"expected more than 0 minutes, got {self.minutes}")
        for name in ("strong_games", "evidence_games"):
            games = getattr(self, name)
            if games is not None and games < 2:
                raise InvalidSettings(f"expected {name} above 1, got {games}")
        if not 0 <= self.greed <= 1:
            raise InvalidSettings(f"expected greed from 0 to 1, got {self.greed}")
        if not 0 <= self.margin <= 0.5:
            raise InvalidSettings(f"expected a margin from 0 to 0.5, got {self.margin}")
        if not 0 <= self.spread <= 1:
            raise InvalidSettings(f"expected spread from 0 to 1, got {self.spread}")
        if self.counters < 1:
            raise InvalidSettings(f"expected at least 1 of counters, got {self.counters}")
        shares = self.against_people, self.against_random
        if min(shares) < 0:
            raise InvalidSettings(f"expected shares of games of at least 0, got {shares}")
        parse_judge(self.judge)
        if self.finals != "none":
            parse_judge(self.finals)

    def _costs(self) -> int:
        """How many times fewer games its judge plays than `search:3x3` would."""
        return THINKING_COSTS if parse_judge(self.finals).kind == THINK else 1

    def asked_games(self) -> int:
        """At a time, of a layout by the judge of the finals."""
        return self.strong_games or STRONG_GAMES // self._costs()

    def final_games(self) -> int:
        """Of each finalist against the others, and as many against people's and random layouts."""
        if self.finalist_games is not None:
            return self.finalist_games
        games = FINAL_GAMES_A_MINUTE * self.minutes / self._costs()
        return max(4, 4 * round(games / self.finalists / 8))

    def fresh_games(self) -> float:
        """Of the final mixture against people's and random layouts together."""
        if self.evidence_games is not None:
            return 2 * self.evidence_games
        costs = 1 if self.finals == "none" else self._costs()
        return 2 * FRESH_GAMES_A_MINUTE * self.minutes / costs

    def respond_games(self) -> int:
        """How many games one best response takes, at most."""
        survivors = max(2, self.population // 4)
        race = self.games * (self.population + 4 * (self.population // 4 + survivors))
        return self.generations * race + TESTED * self.test_games

    def to_json(self) -> dict[str, Any]:
        """All settings by name, as runs keep them."""
        return asdict(self)


def read_settings(path: Path, **changes: Any) -> Settings:
    """Settings from a TOML file; what is given by name replaces what the file says.

    Raises:
        InvalidSettings: if the file is not TOML, or names a setting that there is not.
        OSError: if it cannot be read.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"{path}: expected TOML: {error}") from None
    known = {field.name for field in fields(Settings)}
    if unknown := sorted(set(found) - known):
        names = ", ".join(sorted(known))
        raise InvalidSettings(f"{path}: unknown setting {unknown[0]!r}; there are {names}")
    try:
        return Settings(**{**found, **changes})
    except TypeError as error:
        raise InvalidSettings(f"{path}: {error}") from None
