"""``junqi replay``: step through a game record in the terminal, or print it board by board."""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any

import typer

from junqi.cli.common import (
    JsonOption,
    NamesChoice,
    NamesOption,
    add_command,
    choice_option,
    is_terminal,
    names_for,
    note,
    number_option,
    plain,
    print_json,
    use_color,
    write_file,
    wrong_usage,
)
from junqi.errors import InvalidRecord

if TYPE_CHECKING:
    from junqi.record import Ply, Record
    from junqi.rules import Move, Position

app = typer.Typer()

HELP = """\
space n right   next ply
b left          back
down up         ten plies
home end        first, last
g               go to a ply
s               other seat
?               these keys
q               quit"""
KEYS_LINE = "space next, b back, ? keys"

# What a key sends: Unix terminals send escape sequences, Windows a prefix and a letter.
_KEYS = {
    "next": (" ", "n", "\x1b[C", "\x1bOC", "\xe0M", "\0M"),
    "back": ("b", "p", "\x1b[D", "\x1bOD", "\xe0K", "\0K"),
    "ten on": ("\x1b[B", "\x1bOB", "\x1b[6~", "\xe0P", "\0P", "\xe0Q", "\0Q"),
    "ten back": ("\x1b[A", "\x1bOA", "\x1b[5~", "\xe0H", "\0H", "\xe0I", "\0I"),
    "first": ("\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~", "\xe0G", "\0G"),
    "last": ("\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~", "\xe0O", "\0O"),
    "go": ("g",),
    "seat": ("s",),
    "help": ("?", "h"),
    "quit": ("q", "Q", "\x1b", "\x04"),
}
ACTION_OF_KEY = {key: action for action, keys in _KEYS.items() for key in keys}

_CLEAR = "\x1b[H\x1b[2J"
_PANEL_GAP = 3
_PANEL_WIDTH = 26


class Seat(StrEnum):
    """From where a game is looked at."""

    RED = "red"
    BLACK = "black"
    ALL = "all"


@dataclass(frozen=True)
class Frame:
    """A board to be drawn: what the onlooker sees after some ply."""

    ply: int
    """How many plies have been played."""
    position: "Position"
    last: "Move | None"
    """The last move, on red's board."""


@add_command(
    app,
    "junqi replay docs/example.junqi",
    "junqi replay docs/example.junqi --seat red --ply 40",
    "junqi replay docs/example.junqi --ply 40 --svg ply40.svg",
)
def replay(
    context: typer.Context,
    record: Annotated[
        str, typer.Argument(metavar="RECORD", help="A file of game records, or - for stdin.")
    ],
    game: Annotated[
        int | None,
        number_option("--game", minimum=1, help="Which game of the file; else the first."),
    ] = None,
    seat: Annotated[
        Seat, choice_option(Seat, "--seat", help="Show what this player was told, or everything.")
    ] = Seat.ALL,
    ply: Annotated[
        int | None, number_option("--ply", minimum=0, help="Print only the board after this ply.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Print every board.")] = False,
    names: NamesOption = NamesChoice.AUTO,
    svg: Annotated[
        str | None,
        typer.Option("--svg", metavar="FILE", help="With --ply, write a picture to this file."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Step through a game record in the terminal.

    Keys: space or right for the next ply, b or left for the one before, g to go to a ply, s for
    the other seat, ? for help, q to quit. Without a terminal, or with --all, every board is
    printed in order.
    """
    if svg is not None and ply is None:
        raise wrong_usage(context, "expected --ply with --svg")
    if every and ply is not None:
        raise wrong_usage(context, "expected --all or --ply, got both")
    picked = pick_game(record, game)
    try:
        show = Show(picked, names_for(names), seat)
    except InvalidRecord as error:
        raise InvalidRecord(f"{record}: game {game or 1}: {error}") from None
    if ply is not None and ply > show.plies:
        raise InvalidRecord(f"expected a ply from 0 to {show.plies} for --ply, got {ply}")
    chosen = show.frames if ply is None else [show.frames[ply]]
    if svg is not None:
        write_file(svg, show.svg(chosen[0]))
    elif json:
        print_json([show.json(frame) for frame in chosen])
    elif ply is None and not every and _can_step(record):
        step_through(show)
    else:
        print("\n".join(show.title()))
        for frame in chosen:
            print()
            print("\n".join(show.lines(frame)))
            print(show.board(frame, use_color()))


def pick_game(path: str, game: int | None) -> "Record":
    """One game of a file, the first if none is named.

    Raises:
        InvalidRecord: if there is no such game, or it cannot be read.
    """
    from junqi.record import scan_file
    from junqi.textfile import source_name

    number = game or 1
    games = scan_file(path)
    last = 0
    for found in games:
        last = found.game
        if last == number:
            if found.record is None:
                raise InvalidRecord(f"{source_name(path)}: game {number}, {found.fault}")
            if game is None and next(games, None) is not None:
                note("this is the first of several games: --game N picks another")
            return found.record
    raise InvalidRecord(f"{source_name(path)}: expected a game from 1 to {last}, got {number}")


class Show:
    """A game on its board, from a seat that can be changed."""

    def __init__(self, record: "Record", names: Any, seat: Seat = Seat.ALL) -> None:
        """Replay the game.

        Raises:
            InvalidRecord: if it does not follow the rules, or the seat's layout is unknown.
        """
        self.record = record
        self.names = names
        self._frames: dict[Seat, list[Frame]] = {}
        # Even what one seat sees is shown only of a game that can have been played.
        self._frames[Seat.ALL] = list(_frames(record, Seat.ALL))
        self.seat = seat
        self.take(seat)

    def take(self, seat: Seat) -> None:
        """Look from a seat.

        Raises:
            InvalidRecord: if its layout is unknown.
        """
        if seat not in self._frames:
            self._frames[seat] = list(_frames(self.record, seat))
        self.seat = seat

    @property
    def frames(self) -> list[Frame]:
        """The boards before the first ply and after each ply."""
        return self._frames[self.seat]

    @property
    def plies(self) -> int:
        """How many plies the game has."""
        return len(self.record.plies)

    @property
    def side(self) -> int:
        """The side that sits at the bottom."""
        from junqi.pieces import BLACK, RED

        return BLACK if self.seat == Seat.BLACK else RED

    def board(self, frame: Frame, color: bool) -> str:
        """The board as text."""
        from junqi.render import render_text

        return render_text(
            frame.position, seat=self.side, names=self.names, color=color, highlight=frame.last
        )

    def svg(self, frame: Frame) -> str:
        """The board as a picture."""
        from junqi.render_svg import render_svg

        title = f"{self.title()[0]}, after ply {frame.ply}"
        return render_svg(
            frame.position, seat=self.side, names=self.names, highlight=frame.last, title=title
        )

    def json(self, frame: Frame) -> dict[str, Any]:
        """The board as data, in the form of ``junqi rules moves``, on red's board."""
        from junqi.diagram import SEATS, format_diagram
        from junqi.rules import format_move

        data: dict[str, Any] = {"ply": frame.ply}
        if frame.ply:
            ply = self.record.plies[frame.ply - 1]
            data |= {
                "move": format_move(ply.move),
                "result": ply.result,
                "seconds": ply.seconds,
            }
        data["board"] = format_diagram(frame.position)
        data["side"] = next(s for s, side in SEATS.items() if side == frame.position.to_move)
        return data

    def title(self) -> list[str]:
        """Who played whom, and how it ended."""
        record = self.record
        names = f"{plain(record.red) or 'red'} - {plain(record.black) or 'black'}"
        lines = [f"{names}: {_result_text(record)}"]
        if record.event or record.date:
            lines.append(", ".join(plain(text) for text in (record.event, record.date) if text))
        return lines

    def panel(self, frame: Frame) -> list[str]:
        """The same for a narrow column."""
        record = self.record
        played = ", ".join(plain(text) for text in (record.event, record.date) if text)
        return [
            f"red: {plain(record.red) or '?'}",
            f"black: {plain(record.black) or '?'}",
            *([played] if played else []),
            _result_text(record),
            "",
            *self.lines(frame),
            "",
            f"seat: {self.seat.value}",
            "",
        ]

    def lines(self, frame: Frame) -> list[str]:
        """The last ply, its result and the clocks."""
        head = f"ply {frame.ply} of {self.plies}"
        if frame.ply == 0:
            return [head]
        ply = self.record.plies[frame.ply - 1]
        lines = [f"{head}: {self._ply_text(frame.ply, ply)}"]
        if flags := self._flags_text(ply):
            lines.append(flags)
        if clocks := self._clocks_text(frame.ply):
            lines.append(clocks)
        if ply.comment and self.seat == Seat.ALL:  # a comment may tell what a player did not know
            lines.append(plain(ply.comment))
        return lines

    def _ply_text(self, number: int, ply: "Ply") -> str:
        """The ply as the player in the seat calls it."""
        from junqi.pieces import ATTACKER_WINS, BOTH_REMOVED, DEFENDER_WINS, NO_CONTACT, RED
        from junqi.rules import format_move

        result = {
            NO_CONTACT: "no contact",
            ATTACKER_WINS: "takes",
            DEFENDER_WINS: "is lost",
            BOTH_REMOVED: "both are gone",
        }[ply.result]
        move = ply.move if self.side == RED else ply.move.rotated()
        seconds = "" if ply.seconds is None else f", {ply.seconds:g} s"
        return f"{_mover(number)} {format_move(move)}, {result}{seconds}"

    def _flags_text(self, ply: "Ply") -> str:
        """The flags that were told with a ply."""
        from junqi.board import POINTS, point_name, seen_from

        texts = []
        for flag in ply.flags:
            owner = Seat.BLACK if flag < POINTS // 2 else Seat.RED
            texts.append(f"{owner.value}'s flag is on {point_name(seen_from(flag, self.side))}")
        return ", ".join(texts)

    def _clocks_text(self, plies: int) -> str:
        """The time that each side has used."""
        played = self.record.plies[:plies]
        if all(ply.seconds is None for ply in played):
            return ""
        red, black = (sum(ply.seconds or 0.0 for ply in played[start::2]) for start in (0, 1))
        return f"used: red {red:.1f} s, black {black:.1f} s of {self.record.rules.time:g} s"


class Stepper:
    """A show at some ply, and what the keys do to it."""

    def __init__(self, show: Show) -> None:
        self.show = show
        self.ply = 0
        self.is_done = False
        self.message = KEYS_LINE
        self.typed: str | None = None
        """The digits of a ply to go to, while they are typed."""

    def press(self, key: str) -> None:
        """Do what a key asks for."""
        if self.typed is not None:
            self._type(key)
            return
        self.message = KEYS_LINE
        match ACTION_OF_KEY.get(key):
            case "next":
                self.go(self.ply + 1)
            case "back":
                self.go(self.ply - 1)
            case "ten on":
                self.go(self.ply + 10)
            case "ten back":
                self.go(self.ply - 10)
            case "first":
                self.go(0)
            case "last":
                self.go(self.show.plies)
            case "go":
                self.typed = ""
                self.message = "go to ply: "
            case "seat":
                self._next_seat()
            case "help":
                self.message = HELP
            case "quit":
                self.is_done = True

    def go(self, ply: int) -> None:
        """Go to a ply, or as near to it as the game has one."""
        self.ply = min(max(ply, 0), self.show.plies)

    def _type(self, key: str) -> None:
        """Take a digit of the ply to go to, or the end of the digits."""
        assert self.typed is not None
        if key in ("\r", "\n"):
            if self.typed:
                self.go(int(self.typed))
            self.typed, self.message = None, KEYS_LINE
        elif key.isdecimal() and key.isascii():
            self.typed = (self.typed + key)[:6]
        elif key in ("\x7f", "\b"):
            self.typed = self.typed[:-1]
        else:
            self.typed, self.message = None, KEYS_LINE
        if self.typed is not None:
            self.message = f"go to ply: {self.typed}"

    def _next_seat(self) -> None:
        """Change to the next seat from which something can be seen."""
        order = list(Seat)
        place = order.index(self.show.seat)
        for seat in order[place + 1 :] + order[:place]:
            try:
                self.show.take(seat)
                return
            except InvalidRecord:
                self.message = f"the layout of {seat.value} is unknown"

    def screen(self, columns: int, color: bool) -> str:
        """The board with all that is known about it at its right, or above it if need be."""
        from junqi.render import display_width

        frame = self.show.frames[self.ply]
        width = display_width(self.show.board(frame, color=False).split("\n")[0])
        drawn = self.show.board(frame, color).split("\n")
        room = columns - width - _PANEL_GAP - 1
        if room < _PANEL_WIDTH:
            above = [text for text in self.show.panel(frame) if text]
            return "\n".join([*above, *drawn, self.message.replace("\n", "; ")])
        panel = [line for text in self.show.panel(frame) for line in wrapped(text, room)]
        panel += self.message.split("\n")
        gap = " " * _PANEL_GAP
        rows = zip_longest(drawn, panel, fillvalue=None)
        return "\n".join(
            f"{a if a is not None else ' ' * width}{gap}{b or ''}".rstrip() for a, b in rows
        )


def step_through(show: Show) -> None:
    """Let the user step through a game, with one screen that is drawn anew after each key."""
    from junqi.cli.keys import open_keys

    stepper = Stepper(show)
    try:
        with open_keys() as next_key:
            while not stepper.is_done:
                columns = shutil.get_terminal_size().columns
                print(_CLEAR + stepper.screen(columns, use_color()), end="", flush=True)
                stepper.press(next_key())
    except EOFError:
        pass  # no more keys will come
    finally:
        print()


def _frames(record: "Record", seat: Seat) -> Iterator[Frame]:
    from junqi.pieces import BLACK, RED
    from junqi.render import view_on_board
    from junqi.replay import record_views
    from junqi.replay import replay as positions_of

    if seat == Seat.ALL:
        for number, position in enumerate(positions_of(record)):
            last = record.plies[number - 1].move if number else None
            yield Frame(number, position, last)
    else:
        side = RED if seat == Seat.RED else BLACK
        for number, view in enumerate(record_views(record, side)):
            yield Frame(number, *view_on_board(view))


def _can_step(path: str) -> bool:
    """Whether there is a terminal to draw on and keys to be pressed."""
    has_keys = sys.stdin is not None and sys.stdin.isatty()
    return is_terminal() and (has_keys or path == "-")


def _result_text(record: "Record") -> str:
    from junqi.pieces import NOBODY, SIDE_NAMES

    if record.outcome is None:
        return "unfinished"
    winner, reason = record.outcome
    told = "a draw" if winner == NOBODY else f"{SIDE_NAMES[winner]} wins"
    return f"{told} ({reason.text})"


def _mover(number: int) -> str:
    return "red" if number % 2 else "black"


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines that take at most so many columns of a terminal.

    >>> wrapped("军棋 for two", 8)
    ['军棋 for', 'two']
    """
    from junqi.render import display_width

    lines = [""]
    for word in text.split(" "):
        if lines[-1] and display_width(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            if display_width(lines[-1] + letter) > width:
                lines.append("")
            lines[-1] += letter
    return lines
