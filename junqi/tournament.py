"""A tournament: who meets whom, the games, the places and the ratings, from a file of records.

A tournament is one course of events in which each part depends on the results before it. It is
gone through from its beginning every time: games that the records hold are taken from there, the
others are played and written down in order. So a tournament that was stopped goes on as if it had
not been, and its tables come from the records alone.
"""

import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from junqi.match import GamePlan, play_in_order
from junqi.match_stats import Elo
from junqi.match_tally import PLAYER_TAGS, ROUND_TAG, PlayerTally
from junqi.pairings import GROUP_LETTERS, draw_groups, round_robin
from junqi.pieces import BLACK, NOBODY, RED
from junqi.ratings import rate_players
from junqi.record import Record, record_to_json
from junqi.record_log import RecordLog
from junqi.standings import Game, Ranking, Step, rank
from junqi.tags import format_rules
from junqi.tournament_file import GROUPS, InvalidTournament, TournamentSettings

STAGE_TAG = "Stage"
SETTINGS_TAG = "Tournament"
"""In the first record: the settings that all games depend on."""

EVERYBODY = "round robin"
FINAL = "final"

_GROUP_STREAM, _LOT_STREAM, _GAME_STREAM = range(3)


@dataclass(frozen=True)
class Fixture:
    """A game that is to be played."""

    stage: str
    """Like ``group A`` or ``final, blitz``."""
    round: int
    """Nobody plays more than one opponent in a round."""
    red: str
    black: str
    is_blitz: bool = False


@dataclass(frozen=True)
class Table:
    """A group, a final, or a round robin of everybody."""

    stage: str
    games: tuple[Game, ...]
    """Without those that part players with the same points."""
    ranking: Ranking


@dataclass(frozen=True)
class Report:
    """What a tournament has come to."""

    games: int
    """All of them, play-offs too."""
    tables: tuple[Table, ...]
    """The last one decides."""
    players: dict[str, PlayerTally]
    ratings: dict[str, Elo]
    """From all games."""


Told = Callable[[int, int, Record | None], None]


def play_tournament(
    settings: TournamentSettings,
    *,
    log: RecordLog | None = None,
    told: Told = lambda played, known, record: None,
) -> Report:
    """Play a tournament, or what its records leave to be played.

    Args:
        settings: what is played.
        log: where records are written, game by game; its games are not played again.
        told: is called with the games that have been played, those that are known to come with
            them, and the record of the last one if it was played now.

    Raises:
        InvalidTournament: if the log is of another tournament.
    """
    office = _Office(settings, log, told)
    names = [entrant.name for entrant in settings.entrants]
    tables = []
    if settings.form == GROUPS:
        groups = drawn_groups(settings)
        games = office.play(_group_fixtures(groups))
        for stage, players in groups.items():
            own = tuple(game for game in games if game.red in players)
            tables.append(office.settle(stage, players, own, settings.advance))
        names = [
            table.ranking.order[place] for place in range(settings.advance) for table in tables
        ]
    stage = FINAL if tables else EVERYBODY
    tables.append(office.settle(stage, names, tuple(office.play(_fixtures(stage, names)))))
    return office.report(tables)


def drawn_groups(settings: TournamentSettings) -> dict[str, list[str]]:
    """The players of each group, by its stage."""
    entrants = settings.entrants
    drawn = draw_groups(
        [entrant.name for entrant in entrants],
        settings.groups,
        np.random.default_rng([settings.seed, _GROUP_STREAM]),
        placed={e.name: GROUP_LETTERS.index(e.group) for e in entrants if e.group},
        schools={e.name: e.school for e in entrants if e.school},
    )
    return {f"group {letter}": group for letter, group in zip(GROUP_LETTERS, drawn, strict=False)}


def schedule(settings: TournamentSettings) -> list[Fixture]:
    """All games but play-offs; the players of a final are called by their places, like ``A1``."""
    if settings.form != GROUPS:
        return _fixtures(EVERYBODY, [entrant.name for entrant in settings.entrants])
    letters = GROUP_LETTERS[: settings.groups]
    finalists = [f"{letter}{place + 1}" for place in range(settings.advance) for letter in letters]
    return _group_fixtures(drawn_groups(settings)) + _fixtures(FINAL, finalists)


def _fixtures(stage: str, players: Sequence[str], is_blitz: bool = False) -> list[Fixture]:
    """A double round robin: both games of two players come one after the other."""
    return [
        Fixture(stage, number, *colours, is_blitz)
        for number, pairs in enumerate(round_robin(players), 1)
        for one, two in pairs
        for colours in ((one, two), (two, one))
    ]


def _group_fixtures(groups: dict[str, list[str]]) -> list[Fixture]:
    """The games of all groups, round by round."""
    fixtures = [game for stage, players in groups.items() for game in _fixtures(stage, players)]
    return sorted(fixtures, key=lambda fixture: fixture.round)


class _Office:
    """Has games played, or finds them in the records, and keeps count."""

    def __init__(self, settings: TournamentSettings, log: RecordLog | None, told: Told) -> None:
        self._settings = settings
        self._log = log
        self._told = told
        self._old = deque(log.records if log else [])
        self._played = 0
        self._commands = {entrant.name: entrant.player for entrant in settings.entrants}
        self._tallies = {name: PlayerTally(name) for name in self._commands}
        names = list(self._commands)
        self._index = {name: number for number, name in enumerate(names)}
        self._wins = np.zeros((len(names), len(names)))
        if self._old:
            self._check_settings(self._old[0])

    def play(self, fixtures: Sequence[Fixture]) -> list[Game]:
        """The results of games, in order."""
        first = self._played
        known = first + len(fixtures)
        games: list[Game] = []
        while self._old and len(games) < len(fixtures):
            record = self._old.popleft()
            self._check(fixtures[len(games)], record)
            games.append(self._count(record))
        self._told(self._played, known, None)

        def take(record: Record) -> bool:
            record = self._tagged(fixtures[len(games)], record)
            if self._log:
                self._log.append(record)
            games.append(self._count(record))
            self._told(self._played, known, record)
            return len(games) < len(fixtures)

        if len(games) < len(fixtures):
            play_in_order(
                [
                    self._plan(fixture, first + number)
                    for number, fixture in enumerate(fixtures, 1)
                    if number > len(games)
                ],
                take,
                concurrency=self._settings.concurrency,
                transcripts=self._settings.log,
            )
        return games

    def settle(
        self,
        stage: str,
        players: Sequence[str],
        games: tuple[Game, ...],
        advance: int | None = None,
    ) -> Table:
        """Find the places of a group or final.

        Args:
            stage: its name.
            players: in it.
            games: between them.
            advance: how many go on; then only who does is decided by further games.
        """
        ranking = rank(
            players,
            games,
            partial(self._play_off, stage),
            self._draw_lots,
            lambda before, level: advance is None or before < advance < before + level,
        )
        return Table(stage, games, ranking)

    def report(self, tables: Sequence[Table]) -> Report:
        """What has come of it all.

        Raises:
            InvalidTournament: if the records go on.
        """
        if self._old:
            raise InvalidTournament(
                f"{self._settings.records}: expected {self._played} games, "
                f"got {self._played + len(self._old)}"
            )
        ratings = dict(zip(self._commands, rate_players(self._wins), strict=True))
        return Report(self._played, tuple(tables), self._tallies, ratings)

    def _play_off(self, stage: str, step: Step, level: Sequence[str]) -> list[Game]:
        stage = f"{stage}, {step.value}"
        if step is Step.BLITZ:
            return self.play(_fixtures(stage, level, is_blitz=True))
        fixtures = []
        rng = self._lots()
        for number, pairs in enumerate(round_robin(level), 1):
            for pair in pairs:
                one, two = pair if rng.integers(2) else pair[::-1]
                fixtures.append(Fixture(stage, number, one, two, is_blitz=True))
        return self.play(fixtures)

    def _draw_lots(self, level: Sequence[str]) -> list[str]:
        return [level[index] for index in self._lots().permutation(len(level))]

    def _lots(self) -> np.random.Generator:
        """Lots that depend on the seed and on how many games have been played."""
        return np.random.default_rng([self._settings.seed, _LOT_STREAM, self._played])

    def _plan(self, fixture: Fixture, number: int) -> GamePlan:
        seed, red, black = self._seeds(number)
        return GamePlan(
            number,
            (self._commands[fixture.red], self._commands[fixture.black]),
            seed,
            (red, black),
            None,
            self._settings.blitz if fixture.is_blitz else self._settings.game,
        )

    def _seeds(self, number: int) -> list[int]:
        """The seeds of a game, of red and of black."""
        stream = np.random.SeedSequence([self._settings.seed, _GAME_STREAM, number])
        return [int(state >> 1) for state in stream.generate_state(3, np.uint64)]

    def _tagged(self, fixture: Fixture, record: Record) -> Record:
        """A record of the match with the names and tags of the tournament."""
        tags = {ROUND_TAG: record.extra[ROUND_TAG], STAGE_TAG: fixture.stage}
        if self._played == 0:
            tags[SETTINGS_TAG] = json.dumps(self._settings.deciding(), ensure_ascii=False)
        return replace(
            record,
            event=self._settings.event,
            red=fixture.red,
            black=fixture.black,
            extra=tags | record.extra,
        )

    def _count(self, record: Record) -> Game:
        assert record.outcome is not None
        self._played += 1
        for side in (RED, BLACK):
            self._tallies[record.name_of(side)].add(record, side)
        winner = record.outcome.winner
        red, black = self._index[record.red], self._index[record.black]
        self._wins[red, black] += 0.5 if winner == NOBODY else winner == RED
        self._wins[black, red] += 0.5 if winner == NOBODY else winner == BLACK
        return Game(record.red, record.black, winner)

    def _check_settings(self, record: Record) -> None:
        """Raise if the first record is that of a tournament with other settings."""
        file = self._settings.records
        try:
            old = json.loads(record.extra.get(SETTINGS_TAG, ""))
        except ValueError:
            raise InvalidTournament(
                f"{file}: expected the games of a tournament, "
                f"got others: its first has no tag {SETTINGS_TAG}"
            ) from None
        new = json.loads(json.dumps(self._settings.deciding()))
        for key in [*old, *new]:
            if old.get(key) != new.get(key):
                raise InvalidTournament(
                    f"{file} has games of this tournament with other settings: "
                    f"expected {key} {old.get(key)!r}, got {new.get(key)!r}; "
                    "name another file of records to begin anew"
                )

    def _check(self, fixture: Fixture, record: Record) -> None:
        """Raise if a record is not that of the next game."""
        number = self._played + 1
        plan = self._plan(fixture, number)
        wanted = {
            ROUND_TAG: str(number),
            STAGE_TAG: fixture.stage,
            "Red": fixture.red,
            "Black": fixture.black,
            PLAYER_TAGS[RED]: plan.players[RED],
            PLAYER_TAGS[BLACK]: plan.players[BLACK],
            "Seed": plan.seed,
            "Rules": format_rules(plan.game.rules),
        }
        got = record_to_json(record)
        for tag, value in wanted.items():
            if got.get(tag) != value:
                raise InvalidTournament(
                    f"{self._settings.records}: game {number} is of another tournament: "
                    f"expected {tag} {value!r}, got {got.get(tag)!r}"
                )
        if record.outcome is None:
            raise InvalidTournament(
                f"{self._settings.records}: game {number} was not played to its end"
            )
