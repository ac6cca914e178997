"""One game between two players, by a referee who alone knows the truth.

Each player is told what the contest protocol tells, in its own coordinates. Whatever a player
does, the game comes to an end, and the end has a reason.
"""

from collections.abc import Callable
from dataclasses import dataclass

from junqi.board import HEADQUARTERS_POINTS, Point, seen_from
from junqi.errors import IllegalMove
from junqi.layout import layout_problems, parse_layout
from junqi.pieces import BLACK, NOBODY, RED, Side, other
from junqi.player import Fault, FaultNote, GameSettings, Player, PlayerFault
from junqi.protocol import ABNORMAL, LOST, WON, End, Go, Result, Start
from junqi.record import Ply, Record
from junqi.replay import ENDS_BY_RULES, play_ply
from junqi.rules import Move, Outcome, Position, outcome

SIDES = (RED, BLACK)

# Clocks are written down to the microsecond.
_DIGITS = 6


@dataclass(frozen=True)
class GameResult:
    """How a game went; all pairs are red's and black's."""

    record: Record
    outcome: Outcome
    faults: tuple[tuple[FaultNote, ...], tuple[FaultNote, ...]]
    """What each player did wrong, harmless or not, in order."""
    seconds: tuple[tuple[float, ...], tuple[float, ...]]
    """How long each player thought about each move."""


class GameBrokenOff(Exception):
    """The game was stopped from outside; it has no result."""


def play_game(
    red: Player,
    black: Player,
    settings: GameSettings | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> GameResult:
    """Play a game to its end.

    Args:
        red: moves first.
        black: moves second.
        settings: how the game is played.
        is_stopped: whether the game is to be broken off. It is asked before a fault is believed,
            too: players that are being closed do not lose.

    Raises:
        GameBrokenOff: if the game was stopped.
    """
    game = _Game((red, black), settings or GameSettings(), is_stopped)
    ended = game.play()
    game.tell_end(ended)
    return game.result(ended)


class _Game:
    """A game on its way."""

    def __init__(
        self,
        players: tuple[Player, Player],
        settings: GameSettings,
        is_stopped: Callable[[], bool],
    ) -> None:
        self.players = players
        self.settings = settings
        self.rules = settings.rules
        self.is_stopped = is_stopped
        self.layouts: dict[Side, str] = {}
        self.plies: list[Ply] = []
        self.seconds: tuple[list[float], list[float]] = ([], [])
        self.faults: tuple[list[FaultNote], list[FaultNote]] = ([], [])
        self.flags: dict[Side, Point] = {}
        """The flags whose places have been told; they stay told when the flag is gone."""
        self.go = Go()
        """What the next player is asked with."""

    def play(self) -> Outcome:
        """From the names to the end."""
        for side in SIDES:
            ended = self._ask(side, self._take_layout)
            if ended is not None:
                return ended
        red, black = (parse_layout(self.layouts[side]) for side in SIDES)
        self.position = Position.from_layouts(red, black)
        while ended is None:
            ended = self._ask(self.position.to_move, self._take_move)
        return ended

    def tell_end(self, ended: Outcome) -> None:
        """Tell both players of the end, as far as the settings say so."""
        if ended.reason in ENDS_BY_RULES and self.settings.sends_last_go:
            self._ask(self.position.to_move, lambda side: self.players[side].shown(self.go))
        if self.settings.sends_end:
            for side in SIDES:
                self._ask(side, lambda side: self.players[side].end(End(_win(ended, side))))

    def result(self, ended: Outcome) -> GameResult:
        """What is left of the game."""
        red, black = (tuple(seconds) for seconds in self.seconds)
        record = Record(
            tuple(self.plies),
            ended,
            red_layout=self.layouts.get(RED),
            black_layout=self.layouts.get(BLACK),
            rules=self.rules,
            red=self.players[RED].name(),
            black=self.players[BLACK].name(),
            red_clock=round(sum(red), _DIGITS),
            black_clock=round(sum(black), _DIGITS),
        )
        return GameResult(
            record, ended, (tuple(self.faults[RED]), tuple(self.faults[BLACK])), (red, black)
        )

    def _ask(self, side: Side, ask: Callable[[Side], Outcome | None]) -> Outcome | None:
        """Have something of a player; the end of the game, if that is one."""
        fault: Fault | None = None
        ended, text = None, ""
        try:
            ended = ask(side)
        except PlayerFault as error:
            fault, text = error.fault, str(error)
        except Exception as error:  # a player of this process has a bug
            fault, text = Fault.CRASH, f"{type(error).__name__}: {error}"
        if self.is_stopped():
            raise GameBrokenOff
        self._take_notes(side)
        if fault is None:
            return ended
        self.faults[side].append(FaultNote(fault, len(self.plies), text))
        assert fault.reason is not None
        return Outcome(other(side), fault.reason)

    def _take_notes(self, side: Side) -> None:
        """Take over what a player did wrong without harm, the first of each kind."""
        if oddities := self.players[side].oddities:
            known = {note.fault for note in self.faults[side]}
            self.faults[side].extend(
                FaultNote(fault, len(self.plies), text)
                for fault, text in oddities.items()
                if fault not in known
            )
            oddities.clear()

    def _take_layout(self, side: Side) -> None:
        player = self.players[side]
        player.name()
        layout = player.start(Start(side == RED, self.rules.time, self.rules.steps), self.rules)
        self.layouts[side] = layout
        if problems := layout_problems(layout):
            raise PlayerFault(Fault.ILLEGAL_LAYOUT, f"{layout!r}: {'; '.join(problems)}")

    def _take_move(self, side: Side) -> Outcome | None:
        limit = self.settings.seconds_for_move(self.rules.time - sum(self.seconds[side]))
        move, seconds = self.players[side].move(self.go, limit)
        self.seconds[side].append(seconds)
        if seconds > limit:
            raise PlayerFault(
                Fault.TIME, f"expected a move within {limit:.3f} s, got it after {seconds:.3f} s"
            )
        move = _turned(move, side)
        try:
            ply, self.position = play_ply(self.position, move, round(seconds, _DIGITS))
        except IllegalMove as error:
            raise PlayerFault(Fault.ILLEGAL_MOVE, f"{error} (as red sees the board)") from None
        self.plies.append(ply)
        for flag in ply.flags:
            self.flags[RED if flag in HEADQUARTERS_POINTS[RED] else BLACK] = flag
        ended = outcome(self.position, self.rules)
        if ended is None or self.settings.sends_last_result:
            self.players[side].told(Result(ply.result, self._flag_for(side)))
        self.go = Go(_turned(move, other(side)), ply.result, self._flag_for(other(side)))
        return ended

    def _flag_for(self, side: Side) -> Point | None:
        """The enemy flag's place, as a player is told it."""
        flag = self.flags.get(other(side))
        return None if flag is None else seen_from(flag, side)


def _win(ended: Outcome, side: Side) -> int:
    """What END tells a side; a draw has no number of its own."""
    return ABNORMAL if ended.winner == NOBODY else WON if ended.winner == side else LOST


def _turned(move: Move, side: Side) -> Move:
    """A move of red's board as the player on a side calls it, and back again."""
    return move if side == RED else move.rotated()
