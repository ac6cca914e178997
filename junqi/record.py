"""Game records: text that a person can read and a program can parse, and the same as JSON Lines.

The format is told in ``docs/records.md``. A `Record` is only what was written down; `junqi.replay`
puts it on a board and checks it by the rules. All points are red's, who sits at the bottom.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, count
from pathlib import Path
from typing import Any

from junqi.board import Point, parse_point, point_name
from junqi.errors import InvalidRecord, JunqiError
from junqi.pieces import (
    ATTACKER_WINS,
    BOTH_REMOVED,
    DEFENDER_WINS,
    NO_CONTACT,
    RED,
    Contact,
    Side,
)
from junqi.record_lines import MOVE_NUMBER, Lines, skip_broken
from junqi.rules import Move, Outcome, Rules, format_move, parse_move
from junqi.tags import (
    IN_BRACES,
    LAYOUT_TAGS,
    NUMBER_TAGS,
    RESULT_OF_WINNER,
    TAG_NAME,
    TAGS,
    UNKNOWN_LAYOUT,
    WINNER_OF_RESULT,
    escape,
    format_number,
    format_rules,
    format_tag,
    parse_tag,
    quote,
    read_seconds,
    read_tag,
    unescape,
)
from junqi.textfile import STDIN, source_name

# What stands behind a move for its result, told from the mover.
MARK_OF_CONTACT = {NO_CONTACT: "", ATTACKER_WINS: "+", DEFENDER_WINS: "-", BOTH_REMOVED: "="}
CONTACT_OF_MARK = {mark: result for result, mark in MARK_OF_CONTACT.items()}

# Red's ply in a line is at least so wide, so that black's plies mostly stand below each other.
RED_WIDTH = 16

_PLY = re.compile(
    r"([A-L][0-4][A-L][0-4])([-+=]?)((?:@[A-L][0-4])*)"
    r"(?:\s+\(([^)\s]*)\))?"
    rf"(?:\s+\{{{IN_BRACES}\}})?"
    r"(?:\s+|$)"
)


@dataclass(frozen=True)
class Ply:
    """One half move as it is written down."""

    move: Move
    result: Contact = NO_CONTACT
    flags: tuple[Point, ...] = ()
    """The flags whose places this ply made known, in order of their points."""
    seconds: float | None = None
    """How long the mover thought."""
    comment: str = ""


@dataclass(frozen=True)
class Record:
    """One game as it is written down; what is not known is empty or None."""

    plies: tuple[Ply, ...] = ()
    outcome: Outcome | None = None
    """None for a game that was not played to an end."""
    red_layout: str | None = None
    """25 letters in the player's own coordinates; None if unknown."""
    black_layout: str | None = None
    rules: Rules = field(default_factory=Rules)
    red: str = ""
    """Names of the players."""
    black: str = ""
    event: str = ""
    date: str = ""
    seed: int | None = None
    red_clock: float | None = None
    """Seconds used by each side in the whole game."""
    black_clock: float | None = None
    extra: dict[str, str] = field(default_factory=dict)
    """Tags that are not ours, in order."""

    def __post_init__(self) -> None:
        """Refuse tags that could not be written."""
        for name in self.extra:
            if name in TAGS or not TAG_NAME.fullmatch(name):
                raise InvalidRecord(f"expected a new tag name like Round, got {quote(name)}")

    @property
    def result(self) -> str:
        """The result as it is written, like ``1-0``."""
        return RESULT_OF_WINNER[self.outcome.winner if self.outcome else None]

    def layout_of(self, side: Side) -> str | None:
        """The layout of a side."""
        return self.red_layout if side == RED else self.black_layout

    def name_of(self, side: Side) -> str:
        """The player of a side."""
        return self.red if side == RED else self.black


def format_record(record: Record) -> str:
    """Write a record as text that ends with a blank line, ready for the next record."""
    lines = []
    for name, value in _values(record).items():
        if value is None and name in LAYOUT_TAGS:
            value = UNKNOWN_LAYOUT
        if value is not None and value != "":
            lines.append(
                format_tag(name, value if isinstance(value, str) else format_number(value))
            )
    lines.append("")
    for index in range(0, len(record.plies), 2):
        red, *black = (format_ply(ply) for ply in record.plies[index : index + 2])
        lines.append(f"{index // 2 + 1:3}. " + (f"{red:{RED_WIDTH}}  {black[0]}" if black else red))
    return "\n".join([*lines, record.result, "", ""])


def format_ply(ply: Ply) -> str:
    """Write a ply like ``G0F0=@A1 (0.12) {comment}``."""
    text = format_move(ply.move) + MARK_OF_CONTACT[ply.result]
    text += "".join(f"@{point_name(flag)}" for flag in ply.flags)
    if ply.seconds is not None:
        text += f" ({format_number(ply.seconds)})"
    if ply.comment:
        text += f" {{{escape(ply.comment, closing='}')}}}"
    return text


def parse_record(text: str) -> Record:
    """Read the one record in a text.

    Raises:
        InvalidRecord: with the line that is wrong.
    """
    records = read_records(text.split("\n"))
    first = next(records, None)
    if first is None:
        raise InvalidRecord("expected a game record, got an empty text")
    if next(records, None) is not None:
        raise InvalidRecord("expected one game record, got more; read_records reads them all")
    return first


@dataclass(frozen=True)
class Found:
    """A game of a file, in order or not."""

    game: int
    """Its number in the file."""
    line: int
    """Where it begins."""
    record: Record | None
    """None if it cannot be read."""
    fault: str = ""
    """Why it cannot be read, with the line and the column."""


def scan_records(lines: Iterable[str | bytes]) -> Iterator[Found]:
    """Find all games, one after the other; one that is torn or broken does not hide the others.

    What cannot be read reaches up to the next line that can begin a record.

    Args:
        lines: lines of any number of records, with or without their line ends.
    """
    numbered = Lines(lines)
    for game in count(1):
        begins = numbered.number + 1
        try:
            if not (first := numbered.begin_record()):
                return
            begins = numbered.number
            read = _read_json if first.lstrip().startswith("{") else _read_text
            found = Found(game, begins, read(first, numbered))
        except InvalidRecord as error:
            fault = f"{numbered.place}: {error}"
            if numbered.is_over:
                fault += "; the text ends here: is the record cut?"
            skip_broken(numbered)
            found = Found(game, begins, None, fault)
        yield found


def read_records(lines: Iterable[str | bytes]) -> Iterator[Record]:
    """Read records one after the other, as text or as JSON Lines, holding one at a time.

    Args:
        lines: lines of any number of records, with or without their line ends.

    Raises:
        InvalidRecord: with the number of the game in the file, and the line that is wrong.
    """
    for found in scan_records(lines):
        if found.record is None:
            raise InvalidRecord(f"game {found.game}, {found.fault}")
        yield found.record


def scan_file(
    path: str | Path, advance: Callable[[int], None] = lambda read: None
) -> Iterator[Found]:
    """Find all games of a file, ``-`` for standard input, holding one at a time.

    Args:
        path: the file.
        advance: told of the bytes that have been read.

    Raises:
        InvalidRecord: if the file is empty.
        OSError: if it cannot be read.
    """

    def lines(file: Iterable[bytes]) -> Iterator[bytes]:
        for line in file:
            advance(len(line))
            yield line

    games = 0
    with nullcontext(sys.stdin.buffer) if path == STDIN else open(path, "rb") as file:
        for found in scan_records(lines(file)):
            games += 1
            yield found
    if not games:
        name = source_name(str(path))
        raise InvalidRecord(f"{name}: expected a game record, the file is empty")


def open_records(path: str | Path) -> Iterator[Record]:
    """Read the records of a file, ``-`` for standard input.

    Raises:
        InvalidRecord: naming the file, if it is empty or holds something else than records.
        OSError: if it cannot be read.
    """
    for found in scan_file(path):
        if found.record is None:
            name = source_name(str(path))
            raise InvalidRecord(f"{name}: game {found.game}, {found.fault}")
        yield found.record


def record_to_json(record: Record) -> dict[str, Any]:
    """A record as an object for `json.dumps`: the tags by their names, and ``plies``."""
    return {**_values(record), "plies": [_ply_to_json(ply) for ply in record.plies]}


def record_from_json(data: object) -> Record:
    """Undo `record_to_json`.

    Raises:
        InvalidRecord: naming the tag or the ply that is wrong.
    """
    if not isinstance(data, dict):
        raise InvalidRecord(f"expected an object with tags and plies, got {quote(data)}")
    fields: dict[str, Any] = {}
    for name, value in data.items():
        if name == "plies" or value is None:
            continue
        if name in NUMBER_TAGS and type(value) in (int, float):
            value = format_number(value)
        if not isinstance(value, str):
            raise InvalidRecord(f"{name}: expected a text, got {quote(value)}")
        read_tag(fields, name, value)
    plies = data.get("plies")
    if not isinstance(plies, list):
        raise InvalidRecord(f"expected a list of plies, got {quote(plies)}")
    if "winner" not in fields:
        raise InvalidRecord("expected a Result, got none")
    return _make_record(fields, [_ply_from_json(n, ply) for n, ply in enumerate(plies, 1)])


def _values(record: Record) -> dict[str, str | float | None]:
    """What each tag of a record says, ours and then the others."""
    fields = {
        **vars(record),
        "rules": format_rules(record.rules),
        "winner": record.result,
        "reason": record.outcome.reason.text if record.outcome else None,
    }
    return {name: fields[key] for name, (key, _) in TAGS.items()} | record.extra


def _make_record(fields: dict[str, Any], plies: list[Ply]) -> Record:
    """The record with these plies and the fields that `read_tag` filled."""
    winner, reason = fields.pop("winner"), fields.pop("reason", None)
    if (winner is None) != (reason is None):
        wanted = "no Reason" if winner is None else "a Reason"
        came = "none" if reason is None else reason.text
        raise InvalidRecord(f"expected {wanted} with {RESULT_OF_WINNER[winner]}, got {came}")
    ended = None if reason is None else Outcome(winner, reason)
    extra = {name: fields.pop(name) for name in list(fields) if TAG_NAME.fullmatch(name)}
    return Record(tuple(plies), ended, extra=extra, **fields)


def _read_text(first: str, lines: Lines) -> Record:
    """Read a record to its end; its first line has been taken from the lines already."""
    fields: dict[str, Any] = {}
    plies: list[Ply] = []
    in_moves = False
    for line in chain([first], lines):
        if not line:
            continue
        is_tag = line.lstrip().startswith("[")
        if is_tag and in_moves:
            raise InvalidRecord(
                f"expected {_next(plies)}, got a new record: is this one cut? {quote(line)}"
            )
        if is_tag or not fields:
            read_tag(fields, *parse_tag(line.lstrip()))
            continue
        in_moves = True
        if result := _read_moves(line, plies, lines):
            winner = WINNER_OF_RESULT[result]
            if (told := fields.setdefault("winner", winner)) != winner:
                raise InvalidRecord(
                    f"expected {RESULT_OF_WINNER[told]} as in the tag Result, got {result}"
                )
            return _make_record(fields, plies)
    raise InvalidRecord(f"expected {_next(plies)}, got nothing more")


def _read_moves(line: str, plies: list[Ply], lines: Lines) -> str | None:
    """Add the plies of a line to those before; the result if the line ends with one."""
    column = len(line) - len(line.lstrip())
    while column < len(line):
        lines.column = column + 1
        if line[column:] in WINNER_OF_RESULT:
            return line[column:]
        if len(plies) % 2 == 0:
            match = MOVE_NUMBER.match(line, column)
            if not match or int(match[1]) != len(plies) // 2 + 1:
                raise InvalidRecord(f"expected {_next(plies)}, got {quote(line[column:])}")
            column = match.end()
            lines.column = column + 1
        if not (match := _PLY.match(line, column)):
            expected = "G0F0+@A1 (0.12) {comment}"
            raise InvalidRecord(f"expected a ply like {expected}, got {quote(line[column:])}")
        plies.append(_make_ply(*match.groups()))
        column = match.end()
    return None


# Most plies of a large file are like one before.
@lru_cache(maxsize=20_000)
def _make_ply(
    move: str, mark: str, flags: str, seconds: str | None = None, comment: str | None = None
) -> Ply:
    return Ply(
        parse_move(move),
        CONTACT_OF_MARK[mark],
        tuple(parse_point(name) for name in flags.split("@")[1:]),
        None if seconds is None else read_seconds(seconds),
        unescape(comment) if comment else "",
    )


def _next(plies: list[Ply]) -> str:
    """What must come after these plies."""
    move = "a ply of black" if len(plies) % 2 else f"move {len(plies) // 2 + 1}."
    return f"{move} or the result ({' '.join(WINNER_OF_RESULT)})"


def _read_json(line: str, lines: Lines) -> Record:
    """Read a record from one line of JSON."""
    try:
        return record_from_json(json.loads(line))
    except InvalidRecord:
        raise
    except json.JSONDecodeError as error:
        lines.column = error.colno
        raise InvalidRecord(f"expected JSON ({error.msg}), got {quote(line)}") from None
    except (RecursionError, ValueError) as error:  # nested too deep, or a number too long
        raise InvalidRecord(f"expected a record in JSON ({error}), got {quote(line)}") from None


def _ply_to_json(ply: Ply) -> dict[str, Any]:
    data: dict[str, Any] = {"move": format_move(ply.move), "result": ply.result}
    if ply.flags:
        data["flags"] = [point_name(flag) for flag in ply.flags]
    if ply.seconds is not None:
        data["seconds"] = ply.seconds
    if ply.comment:
        data["comment"] = ply.comment
    return data


def _ply_from_json(number: int, data: object) -> Ply:
    try:
        if not isinstance(data, dict):
            raise InvalidRecord(f"expected an object, got {quote(data)}")
        result, flags = data.get("result"), data.get("flags", [])
        seconds, comment = data.get("seconds"), data.get("comment", "")
        if type(result) is not int or result not in MARK_OF_CONTACT:
            raise InvalidRecord(f"expected result 0, 1, 2 or 3, got {quote(result)}")
        if not isinstance(flags, list) or not isinstance(comment, str):
            raise InvalidRecord(f"expected a list of flags and a comment, got {quote(data)}")
        return Ply(
            parse_move(str(data.get("move"))),
            result,
            tuple(parse_point(str(flag)) for flag in flags),
            None if seconds is None else read_seconds(str(seconds)),
            comment,
        )
    except JunqiError as error:
        raise InvalidRecord(f"ply {number}: {error}") from None
