"""Tournaments as users write them down: a TOML file, every word of which is checked."""

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from junqi.errors import JunqiError
from junqi.pairings import GROUP_LETTERS, group_sizes
from junqi.player import GREETINGS, GameSettings
from junqi.players import check_player
from junqi.rules import STEPS_LOSERS, Rules
from junqi.textfile import decode_text

ROUND_ROBIN = "double-round-robin"
GROUPS = "groups"
FORMS = (ROUND_ROBIN, GROUPS)

# The fields of the game's settings that keys of the file fill.
_RULES_FIELDS = {name: name for name in ("steps", "steps_loser", "flag_first", "time")}
_GAME_FIELDS = {
    "movetime": "movetime",
    "patience": "patience",
    "greeting": "greeting",
    "last_result": "sends_last_result",
    "last_go": "sends_last_go",
    "end": "sends_end",
}

EXAMPLE = """\
# A tournament: play it with `junqi tournament FILE`, and again the same to go on after a stop.
# Paths are taken from the folder of this file.

event = "My cup"                # stands in the records
form = "double-round-robin"     # everybody twice against everybody; or "groups", then a final
# groups = 2                    # how many groups are drawn by lot, or
# group_size = 4                # how many players a group has at most
# advance = 2                   # how many of each group play the final
seed = 1                        # of the lots and of the players
concurrency = 1                 # games at a time
# records = "cup.junqi"         # all games; without it, the name of this file with .junqi
# log = "talk"                  # a folder for what is said to and by programs

[game]
time = 1800                     # seconds of each player for a whole game
blitz_time = 600                # the same in games that part players with the same points
# movetime = 30                 # seconds for each move at most
patience = 10                   # seconds for a name, a layout, and beyond the time of a move
steps = 31                      # plies without contact that end a game
steps_loser = "mover"           # who then loses: "mover" or "next"
flag_first = true               # a last mobile piece that takes the flag wins
greeting = "INFO"               # or "INFORMATION"
last_result = true              # whether the last RESULT, the last GO and END are sent
last_go = false
end = true

[[players]]
name = "Careful"
player = "policy"               # random, policy, search:DxW, engine, engine:OPTIONS,
                                # or the command line of a program

[[players]]
name = "Lucky"
player = "random"
# group = "A"                   # not drawn by lot, as for seeded players
# school = "Some university"    # kept apart from others of it in the draw, if possible

[[players]]
name = "Deep"
player = "search:2x3"
"""


class InvalidTournament(JunqiError, ValueError):
    """A file by which no tournament can be played, or records of another tournament."""

    is_usage = True


@dataclass(frozen=True)
class Entrant:
    """A player of a tournament."""

    name: str
    player: str
    """The name of a built-in player, or a command line."""
    group: str | None = None
    """The letter of its group, if that is not drawn by lot."""
    school: str | None = None


@dataclass(frozen=True)
class TournamentSettings:
    """A tournament as it is to be played."""

    entrants: tuple[Entrant, ...]
    records: Path
    form: str = ROUND_ROBIN
    groups: int = 0
    """How many; 0 if everybody meets everybody."""
    advance: int = 0
    """How many of each group play the final."""
    seed: int = 1
    event: str = "junqi tournament"
    game: GameSettings = field(default_factory=GameSettings)
    blitz_time: float = 600.0
    concurrency: int = 1
    log: Path | None = None

    def __post_init__(self) -> None:
        """Refuse what does not go together."""
        names = [entrant.name for entrant in self.entrants]
        if len(names) < 2:
            raise InvalidTournament(f"expected at least 2 players, got {len(names)}")
        if twice := {name for name in names if names.count(name) > 1}:
            raise InvalidTournament(f"expected different names, got {min(twice)!r} twice")
        if self.form == GROUPS:
            self._check_groups()
        elif any(entrant.group for entrant in self.entrants):
            raise InvalidTournament(f'expected form = "{GROUPS}" with a group of a player')

    def _check_groups(self) -> None:
        if not 2 <= self.groups <= min(len(GROUP_LETTERS), len(self.entrants) // 2):
            raise InvalidTournament(
                f"expected 2 to {len(GROUP_LETTERS)} groups of at least 2 players, "
                f"got {self.groups} for {len(self.entrants)} players"
            )
        sizes = group_sizes(len(self.entrants), self.groups)
        if not 1 <= self.advance < max(sizes) or self.advance > min(sizes):
            raise InvalidTournament(
                f"expected advance of at least 1 and below the {max(sizes)} players of a group, "
                f"got {self.advance}"
            )
        for letter, size in zip(GROUP_LETTERS, sizes, strict=False):
            placed = sum(entrant.group == letter for entrant in self.entrants)
            if placed > size:
                raise InvalidTournament(
                    f"expected at most {size} players in group {letter}, got {placed}"
                )
        for entrant in self.entrants:
            if entrant.group is not None and entrant.group not in GROUP_LETTERS[: self.groups]:
                raise InvalidTournament(
                    f"player {entrant.name!r}: expected a group of "
                    f"{', '.join(GROUP_LETTERS[: self.groups])}, got {entrant.group!r}"
                )

    @property
    def blitz(self) -> GameSettings:
        """How games are played that part players with the same points."""
        return replace(self.game, rules=replace(self.game.rules, time=self.blitz_time))

    def deciding(self) -> dict[str, Any]:
        """What the games depend on, for JSON: all of it must be the same to go on."""
        return {
            "event": self.event,
            "form": self.form,
            "groups": self.groups,
            "advance": self.advance,
            "seed": self.seed,
            "blitz_time": self.blitz_time,
            **{key: getattr(self.game.rules, name) for key, name in _RULES_FIELDS.items()},
            **{key: getattr(self.game, name) for key, name in _GAME_FIELDS.items()},
            **{f"player {n}": vars(entrant) for n, entrant in enumerate(self.entrants, 1)},
        }


class _Kind(NamedTuple):
    """What a value may be."""

    expected: str
    is_right: Callable[[Any], bool]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(minimum: int) -> _Kind:
    return _Kind(
        f"an integer of at least {minimum}",
        lambda value: _is_number(value) and isinstance(value, int) and value >= minimum,
    )


def _one_of(*words: str) -> _Kind:
    return _Kind(f"one of {', '.join(words)}", lambda value: value in words)


_TEXT = _Kind(
    "a text in one line",
    lambda value: isinstance(value, str) and bool(value.strip()) and value.isprintable(),
)
_SECONDS = _Kind("seconds above 0", lambda value: _is_number(value) and 0 < float(value) < math.inf)
_YES_OR_NO = _Kind("true or false", lambda value: isinstance(value, bool))
_TABLE = _Kind("a table", lambda value: isinstance(value, dict))
_TABLES = _Kind(
    "tables [[players]] with name and player",
    lambda value: isinstance(value, list) and all(isinstance(item, dict) for item in value),
)

_KEYS = {
    "event": _TEXT,
    "form": _one_of(*FORMS),
    "groups": _whole(2),
    "group_size": _whole(2),
    "advance": _whole(1),
    "seed": _whole(0),
    "concurrency": _whole(1),
    "records": _TEXT,
    "log": _TEXT,
    "game": _TABLE,
    "players": _TABLES,
}
_GAME_KEYS = {
    "time": _SECONDS,
    "blitz_time": _SECONDS,
    "movetime": _SECONDS,
    "patience": _SECONDS,
    "steps": _whole(1),
    "steps_loser": _one_of(*STEPS_LOSERS),
    "flag_first": _YES_OR_NO,
    "greeting": _one_of(*GREETINGS),
    "last_result": _YES_OR_NO,
    "last_go": _YES_OR_NO,
    "end": _YES_OR_NO,
}
_PLAYER_KEYS = {"name": _TEXT, "player": _TEXT, "group": _TEXT, "school": _TEXT}


def read_tournament(path: Path) -> TournamentSettings:
    """Read a tournament from its file, and check that there are its players.

    Raises:
        InvalidTournament: saying what was expected and what came.
        OSError: if the file cannot be read.
    """
    text = decode_text(path.read_bytes(), str(path))
    try:
        return parse_tournament(text, path)
    except JunqiError as error:
        raise InvalidTournament(f"{path}: {error}") from None


def parse_tournament(text: str, path: Path) -> TournamentSettings:
    """Read a tournament from the text of a file.

    Raises:
        JunqiError: saying what was expected and what came.
    """
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidTournament(f"expected TOML: {error}") from None
    found = _checked(found, _KEYS, "")
    game = _checked(found.get("game", {}), _GAME_KEYS, "game: ")
    entrants = tuple(
        _entrant(number, table) for number, table in enumerate(found.get("players", []), 1)
    )
    fields: dict[str, Any] = {
        key: found[key] for key in ("event", "form", "seed", "concurrency") if key in found
    }
    if "blitz_time" in game:
        fields["blitz_time"] = game["blitz_time"]
    return TournamentSettings(
        entrants,
        path.parent / found["records"] if "records" in found else path.with_suffix(".junqi"),
        game=GameSettings(rules=Rules(**_named(game, _RULES_FIELDS)), **_named(game, _GAME_FIELDS)),
        log=path.parent / found["log"] if "log" in found else None,
        **fields,
        **_group_fields(found, len(entrants)),
    )


def _checked(table: Mapping[str, Any], kinds: Mapping[str, _Kind], where: str) -> dict[str, Any]:
    """The table, if all its keys are known and their values are of the right kind."""
    for key, value in table.items():
        if key not in kinds:
            raise InvalidTournament(f"{where}expected one of {', '.join(kinds)}, got {key!r}")
        expected, is_right = kinds[key]
        if not is_right(value):
            raise InvalidTournament(f"{where}expected {expected} for {key}, got {value!r}")
    return {key: float(value) if kinds[key] is _SECONDS else value for key, value in table.items()}


def _named(table: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {field: table[key] for key, field in names.items() if key in table}


def _entrant(number: int, table: Mapping[str, Any]) -> Entrant:
    where = f"player {table.get('name', number)!r}: "
    found = _checked(table, _PLAYER_KEYS, where)
    for key in ("name", "player"):
        if key not in found:
            raise InvalidTournament(f"{where}expected a {key}, got none")
    try:
        check_player(found["player"])
    except JunqiError as error:
        raise InvalidTournament(f"{where}{error}") from None
    return Entrant(**found)


def _group_fields(found: Mapping[str, Any], players: int) -> dict[str, Any]:
    """How many groups there are, and how many of each advance."""
    given = [key for key in ("groups", "group_size", "advance") if key in found]
    if found.get("form", ROUND_ROBIN) != GROUPS:
        if given:
            raise InvalidTournament(f'expected form = "{GROUPS}" with {given[0]}')
        return {}
    if "advance" not in given or len(given) != 2:
        raise InvalidTournament(
            f'expected advance and either groups or group_size with form = "{GROUPS}", '
            f"got {', '.join(given) or 'none of them'}"
        )
    groups = found["groups"] if "groups" in found else -(-players // found["group_size"])
    return {"groups": groups, "advance": found["advance"]}
