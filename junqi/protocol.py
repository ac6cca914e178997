"""Lines of the contest protocol ↔ objects, both ways, with no reading or writing.

The referee says INFO, START, GO, RESULT and END; the player answers NAME, ARRAY and BESTMOVE. All
points are in the coordinates of the player who receives or sends the line. Real platforms differ
from the text of the protocol, so a line is read generously: a command is known by its first
letter, fields may be separated by any white space, moves may be in small letters.
"""

from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import TypeAlias

from junqi.board import Point, parse_point, point_name
from junqi.errors import IllegalMove, InvalidBoard, ProtocolError
from junqi.pieces import NO_CONTACT, Contact
from junqi.rules import Move, Rules, format_move, parse_move

VERSION = "1.0"

# The move of the GO that asks the first player for the first move.
NO_MOVE = "0000"
# The flag's place while the marshal is alive and it has not been told.
NO_FLAG = "00"

# What END tells: this player lost, won, or the game came to no proper end.
LOST = 0
WON = 1
ABNORMAL = 2


@dataclass(frozen=True)
class Info:
    """The referee names the protocol and asks for the player's name."""

    version: str = VERSION


@dataclass(frozen=True)
class Start:
    """The referee opens a game and asks for a layout."""

    is_first: bool
    """Whether this player moves first."""
    seconds: float = Rules.time
    """For all moves of the game."""
    steps: int = Rules.steps


@dataclass(frozen=True)
class Go:
    """The referee tells the enemy's move and asks for one."""

    move: Move | None = None
    """None when the first player is asked for the first move."""
    result: Contact = NO_CONTACT
    flag: Point | None = None
    """The enemy flag's place, once told."""


@dataclass(frozen=True)
class Result:
    """The referee tells what came of the player's own move."""

    result: Contact
    flag: Point | None = None
    """The enemy flag's place, once told."""


@dataclass(frozen=True)
class End:
    """The referee closes the game."""

    win: int = ABNORMAL
    """`LOST`, `WON` or `ABNORMAL`."""


@dataclass(frozen=True)
class Name:
    """The player's name."""

    name: str


@dataclass(frozen=True)
class Array:
    """The player's layout, not checked here: judging it is the referee's business."""

    layout: str


@dataclass(frozen=True)
class BestMove:
    """The player's move."""

    move: Move


Command: TypeAlias = Info | Start | Go | Result | End
Reply: TypeAlias = Name | Array | BestMove


def decode_line(data: bytes) -> str:
    """A line as text: UTF-8, else GBK, else with marks in the place of what is neither."""
    for encoding in ("utf-8-sig", "gbk"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", errors="replace")


def parse_command(line: str | bytes) -> Command | None:
    """Read a line of the referee; None for a blank one.

    Raises:
        ProtocolError: if it is none of the five commands.

    >>> parse_command("RESULT 3 00")
    Result(result=3, flag=None)
    """
    text, fields = _fields(line)
    if not fields:
        return None
    word, rest = fields[0].upper(), fields[1:]
    match word[0]:
        # Chatter of a platform may begin with the same letters: "Illegal move", "Error".
        case "I" if not rest or rest[0].lower().lstrip("v")[:1].isdigit():
            return Info(rest[0] if rest else VERSION)
        case "S":
            return _parse_start(text, rest)
        case "G":
            return _parse_go(text, rest)
        case "R":
            _need(text, rest, 1, "RESULT result flag")
            return Result(_parse_result(text, rest[0]), _parse_flag(text, rest[1:2]))
        case "E" if rest:
            return End(_parse_choice(text, rest[0], "012", "an END of"))
        case "E" if word.startswith("END"):
            return End()
    raise ProtocolError(f"expected INFO, START, GO, RESULT or END, got {text!r}")


def salvage_command(line: str | bytes) -> Command | None:
    """What a line that `parse_command` does not take still tells; None if that is too little.

    A question waits for its answer even if a number in it cannot be read. What is unreadable of
    START is as usual, the flag's place is unknown, and the result of the enemy's move is that
    nothing is left on its target but the mover.

    >>> salvage_command("START 1 0 31")
    Start(is_first=False, seconds=1800.0, steps=31)
    """
    text, fields = _fields(line)
    word, rest = (fields[0].upper(), fields[1:]) if fields else ("", [])
    with suppress(ProtocolError):
        if word == "START" and rest:
            return _salvage_start(text, rest)
        if word == "GO" and rest:
            result = NO_CONTACT
            with suppress(ProtocolError, IndexError):
                result = _parse_result(text, rest[1])
            return Go(_parse_move(text, rest[0]), result)
        if word == "RESULT" and rest:
            return Result(_parse_result(text, rest[0]))
    return None


def parse_reply(line: str | bytes) -> Reply | None:
    """Read a line of the player; None for a blank one.

    Raises:
        ProtocolError: if it is none of the three replies.

    >>> parse_reply("BESTMOVE G0F0")
    BestMove(move=Move(origin=30, target=25))
    """
    text, fields = _fields(line)
    if not fields:
        return None
    rest = text.split(maxsplit=1)[1:]
    match fields[0][0].upper():
        case "N":
            return Name(rest[0] if rest else "")
        case "A":
            _need(text, rest, 1, "ARRAY layout")
            return Array(rest[0])
        case "B":
            _need(text, rest, 1, "BESTMOVE move")
            return BestMove(_parse_move(text, fields[1]))
    raise ProtocolError(f"expected NAME, ARRAY or BESTMOVE, got {text!r}")


def format_command(command: Command) -> str:
    """Write a line of the referee, without its line end."""
    match command:
        case Info(version):
            return f"INFO {version}"
        case Start(is_first, seconds, steps):
            return f"START {0 if is_first else 1} {seconds:.15g} {steps}"
        case Go(move, result, flag):
            if move is None:
                return f"GO {NO_MOVE} 0 {_format_flag(flag)}"
            return f"GO {format_move(move)} {result} {_format_flag(flag)}"
        case Result(result, flag):
            return f"RESULT {result} {_format_flag(flag)}"
        case End(win):
            return f"END {win}"


def format_reply(reply: Reply) -> str:
    """Write a line of the player, without its line end."""
    match reply:
        case Name(name):
            return f"NAME {' '.join(name.split())}".rstrip()
        case Array(layout):
            return f"ARRAY {layout}"
        case BestMove(move):
            return f"BESTMOVE {format_move(move)}"


def _fields(line: str | bytes) -> tuple[str, list[str]]:
    """A line without its ends, and its fields."""
    text = decode_line(line) if isinstance(line, bytes) else line
    text = text.strip().strip("\ufeff\0").strip()
    return text, text.split()


def _need(text: str, fields: list[str], count: int, form: str) -> None:
    """Raise unless a line has enough fields; more than enough do no harm."""
    if len(fields) < count:
        raise ProtocolError(f"expected {form}, got {text!r}")


def _parse_start(text: str, fields: list[str]) -> Start:
    _need(text, fields, 1, "START first time steps")
    first = _parse_choice(text, fields[0], "01", "a START with first")
    seconds = _parse_positive(text, fields[1], "time") if len(fields) > 1 else Rules.time
    steps = _parse_positive(text, fields[2], "steps") if len(fields) > 2 else Rules.steps
    return Start(first == 0, seconds, max(1, int(steps)))


def _salvage_start(text: str, fields: list[str]) -> Start:
    first = _parse_choice(text, fields[0], "01", "a START with first")
    numbers: dict[str, float] = {}
    for name, field in zip(("time", "steps"), fields[1:], strict=False):
        with suppress(ProtocolError):
            numbers[name] = _parse_positive(text, field, name)
    steps = max(1, int(numbers.get("steps", Rules.steps)))
    return Start(first == 0, numbers.get("time", Rules.time), steps)


def _parse_go(text: str, fields: list[str]) -> Go:
    _need(text, fields, 1, "GO move result flag")
    if fields[0] == NO_MOVE:
        return Go(None, NO_CONTACT, _parse_flag(text, fields[2:3]))
    _need(text, fields, 2, "GO move result flag")
    move = _parse_move(text, fields[0])
    return Go(move, _parse_result(text, fields[1]), _parse_flag(text, fields[2:3]))


def _parse_choice(text: str, field: str, choices: str, what: str) -> int:
    if len(field) != 1 or field not in choices:
        raise ProtocolError(f"expected {what} {', '.join(choices)}, got {field!r} in {text!r}")
    return int(field)


def _parse_result(text: str, field: str) -> Contact:
    return _parse_choice(text, field, "0123", "a result of")


def _parse_positive(text: str, field: str, what: str) -> float:
    try:
        number = float(field)
    except ValueError:
        number = 0.0
    if not (isfinite(number) and number > 0):
        raise ProtocolError(f"expected a positive number for {what}, got {field!r} in {text!r}")
    return number


def _parse_move(text: str, field: str) -> Move:
    try:
        return parse_move(field.upper())
    except IllegalMove:
        raise ProtocolError(f"expected a move like G0F0, got {field!r} in {text!r}") from None


def _parse_flag(text: str, fields: list[str]) -> Point | None:
    """The flag's place from the field that may tell it, or be missing."""
    if not fields or fields[0] == NO_FLAG:
        return None
    try:
        return parse_point(fields[0].upper())
    except InvalidBoard:
        raise ProtocolError(
            f"expected a flag's place like A1, or 00, got {fields[0]!r} in {text!r}"
        ) from None


def _format_flag(flag: Point | None) -> str:
    return NO_FLAG if flag is None else point_name(flag)
