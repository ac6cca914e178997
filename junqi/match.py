"""A match: many games between two players, in pairs with the colours swapped.

A game depends on the seed of the match and its own number alone, and games are written down in
the order of their numbers. So the records are the same whatever the number of games at a time,
and a match that was stopped goes on as if it had not been.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

import numpy as np

from junqi.errors import JunqiError
from junqi.match_stats import Sprt
from junqi.match_tally import (
    FAULT_TAG,
    FAULT_TAGS,
    PLAYER_TAGS,
    ROUND_TAG,
    Tally,
    side_of_first,
)
from junqi.pieces import BLACK, SIDE_NAMES, Side
from junqi.player import GameSettings, Player
from junqi.players import check_player, make_player
from junqi.process_player import ProcessPlayer
from junqi.record import Record
from junqi.record_log import RecordLog
from junqi.referee import SIDES, GameResult, play_game
from junqi.replay import ENDS_BY_RULES
from junqi.tags import format_rules

EVENT = "junqi match"

_LAYOUT_STREAM = 1


class InvalidMatch(JunqiError, ValueError):
    """Settings by which no match can be played, or records of another match."""

    is_usage = True


@dataclass(frozen=True)
class MatchSettings:
    """Everything that decides how a match goes."""

    first: str
    """The name of a built-in player, or a command line."""
    second: str
    games: int
    seed: int
    game: GameSettings = field(default_factory=GameSettings)
    layouts: tuple[str, ...] = ()
    """Layouts that are drawn from for each pair of games; none if players choose their own."""
    keeps_programs: bool = False
    """Play one game after the other in one process. Then what a program plays may depend on the
    games before."""
    sprt: Sprt | None = None
    """Ends the match as soon as it is decided."""

    def __post_init__(self) -> None:
        """Refuse settings that contradict each other."""
        if self.games < 2 or self.games % 2:
            raise InvalidMatch(f"expected an even number of games, at least 2, got {self.games}")
        if self.keeps_programs and self.layouts:
            raise InvalidMatch("layouts are told to a program when it starts: expected no layouts")


@dataclass(frozen=True)
class GamePlan:
    """One game of a match; both games of a pair have the same seed and layouts."""

    number: int
    players: tuple[str, str]
    """Red and black."""
    seed: int
    """Of the pair; those of the players come from it."""
    player_seeds: tuple[int, int]
    layouts: tuple[str, str] | None
    """Red's and black's: so each player plays each of them once."""
    game: GameSettings


def plan_game(settings: MatchSettings, number: int) -> GamePlan:
    """The game with a number, from 1."""
    pair = (number - 1) // 2
    seed = int(np.random.SeedSequence([settings.seed, pair]).generate_state(1, np.uint64)[0] >> 1)
    of_first, of_second = (
        int(state >> 1) for state in np.random.SeedSequence(seed).generate_state(2, np.uint64)
    )
    layouts = None
    if settings.layouts:
        stream = np.random.SeedSequence([settings.seed, pair, _LAYOUT_STREAM])
        red, black = np.random.default_rng(stream).integers(len(settings.layouts), size=2)
        layouts = settings.layouts[red], settings.layouts[black]
    players, seeds = (settings.first, settings.second), (of_first, of_second)
    if side_of_first(number) == BLACK:
        players, seeds = players[::-1], seeds[::-1]
    return GamePlan(number, players, seed, seeds, layouts, settings.game)


def play_match(
    settings: MatchSettings,
    *,
    concurrency: int = 1,
    log: RecordLog | None = None,
    transcripts: Path | None = None,
    told: Callable[[Tally, Record | None], None] = lambda tally, record: None,
) -> Tally:
    """Play a match, or what a log of records leaves to be played of it.

    Args:
        settings: what is played.
        concurrency: games at a time.
        log: where records are written, game by game; its games are not played again.
        transcripts: a folder for what was said to and by programs.
        told: called with the count so far, at first and after each game in order.

    Raises:
        InvalidMatch: if the log is of another match.
        JunqiError: if a player cannot be.
    """
    for text in {settings.first, settings.second}:
        check_player(text)
    tally = Tally()
    for old in log.records if log else []:
        _check_belongs(settings, tally.games + 1, old)
        tally.add(old)
    told(tally, None)

    def take(record: Record) -> bool:
        if log:
            log.append(record)
        tally.add(record)
        told(tally, record)
        return not is_over(settings, tally)

    if not is_over(settings, tally):
        play_in_order(
            (plan_game(settings, n) for n in range(tally.games + 1, settings.games + 1)),
            take,
            concurrency=concurrency,
            transcripts=transcripts,
            keeps_programs=settings.keeps_programs,
        )
    return tally


def play_in_order(
    plans: Iterable[GamePlan],
    take: Callable[[Record], bool],
    *,
    concurrency: int = 1,
    transcripts: Path | None = None,
    keeps_programs: bool = False,
) -> None:
    """Play games, several at a time, and hand over their records in the order of the plans.

    Args:
        plans: the games.
        take: is given each record, and says whether to go on.
        concurrency: games at a time.
        transcripts: a folder for what was said to and by programs.
        keeps_programs: whether a program plays one game after the other.
    """
    if transcripts is not None:
        transcripts.mkdir(parents=True, exist_ok=True)
    table = _Table(transcripts, keeps_programs)
    waiting = iter(plans)
    begun: deque[Future[Record]] = deque()
    with ThreadPoolExecutor(concurrency) as pool:
        try:
            while True:
                while begun and begun[0].done():
                    if not take(begun.popleft().result()):
                        return
                running = [game for game in begun if not game.done()]
                while len(running) < concurrency and (plan := next(waiting, None)):
                    begun.append(pool.submit(table.play, plan))
                    running.append(begun[-1])
                if not begun:
                    return
                wait(running, return_when=FIRST_COMPLETED)
        finally:
            table.stop()


def is_over(settings: MatchSettings, tally: Tally) -> bool:
    """Whether all games have been played, or the sequential test has been decided."""
    if tally.games >= settings.games:
        return True
    return settings.sprt is not None and settings.sprt.decision(tally.pairs) is not None


class _Table:
    """Where games are played, several at a time, each on its own thread."""

    def __init__(self, transcripts: Path | None, keeps_programs: bool) -> None:
        self._transcripts = transcripts
        self._keeps_programs = keeps_programs
        self._is_stopping = threading.Event()
        self._lock = threading.Lock()
        self._playing: set[Player] = set()
        self._idle: tuple[list[Player], list[Player]] = ([], [])
        """Programs kept for the next game: the first player's and the second's."""

    def play(self, plan: GamePlan) -> Record:
        """Play one game."""
        players: list[Player] = []
        result = None
        try:
            for side in SIDES:
                players.append(self._seat(plan, side))
            red, black = players
            result = play_game(red, black, plan.game, self._is_stopping.is_set)
        finally:
            is_fine = result is not None and result.outcome.reason in ENDS_BY_RULES
            for side, player in enumerate(players):
                self._leave(plan, side, player, is_fine)
        return _record_of(plan, result)

    def stop(self) -> None:
        """Break off the games that are being played, and leave nothing running."""
        with self._lock:
            self._is_stopping.set()
            playing = list(self._playing)
            idle = [player for players in self._idle for player in players]
        for player in playing:
            player.kill()
        for player in idle:
            player.close()

    def _seat(self, plan: GamePlan, side: Side) -> Player:
        with self._lock:
            idle = self._idle[_place(plan, side)]
            player = idle.pop() if idle else None
        if player is None:
            player = make_player(
                plan.players[side],
                plan.player_seeds[side],
                plan.game,
                plan.layouts[side] if plan.layouts else None,
            )
        with self._lock:
            self._playing.add(player)
        return player

    def _leave(self, plan: GamePlan, side: Side, player: Player, is_fine: bool) -> None:
        is_kept = self._keeps_programs and is_fine and isinstance(player, ProcessPlayer)
        if not is_kept:
            player.close()
        if self._transcripts and isinstance(player, ProcessPlayer):
            path = self._transcripts / f"game-{plan.number:06}-{SIDE_NAMES[side]}.log"
            path.write_text(player.report(), encoding="utf-8", newline="\n")
        with self._lock:
            self._playing.discard(player)
            if is_kept:
                self._idle[_place(plan, side)].append(player)
            is_stopping = self._is_stopping.is_set()
        if is_stopping:
            player.close()


def _place(plan: GamePlan, side: Side) -> int:
    """0 for the first player of the match, 1 for the second."""
    return 0 if side == side_of_first(plan.number) else 1


def _record_of(plan: GamePlan, result: GameResult) -> Record:
    """The record of a game with the tags of a match."""
    extra = {ROUND_TAG: str(plan.number)}
    for side in SIDES:
        extra[PLAYER_TAGS[side]] = plan.players[side]
    for side in SIDES:
        faults = result.faults[side]
        if faults:
            extra[FAULT_TAGS[side]] = " ".join(note.fault.word for note in faults)
        for note in faults:
            if not note.fault.is_harmless:
                extra[FAULT_TAG] = note.text
    return replace(result.record, event=EVENT, date=str(date.today()), seed=plan.seed, extra=extra)


def _check_belongs(settings: MatchSettings, number: int, record: Record) -> None:
    """Raise unless a record is that of a game of this match.

    Raises:
        InvalidMatch: naming what is different.
    """
    plan = plan_game(settings, number)
    wanted = {
        ROUND_TAG: str(number),
        **{PLAYER_TAGS[side]: plan.players[side] for side in SIDES},
        "Seed": str(plan.seed),
        "Rules": format_rules(settings.game.rules),
    }
    got = {**record.extra, "Seed": str(record.seed), "Rules": format_rules(record.rules)}
    for tag, value in wanted.items():
        if got.get(tag) != value:
            raise InvalidMatch(
                f"game {number} of the records is of another match: expected {tag} {value!r}, "
                f"got {got.get(tag)!r}"
            )
    if record.outcome is None:
        raise InvalidMatch(f"game {number} of the records was not played to its end")
