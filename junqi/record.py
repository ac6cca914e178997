"""Game records: text that a person can read and a program can parse, and the same as JSON Lines.

The format is told in ``docs/records.md``. A `Record` is only what was written down; `junqi.replay`
puts it on a board and checks it by the rules. All points are red's, who sits at the bottom.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import chain
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

_MOVE_NUMBER = re.compile(r"([0-9]{1,9})\.\s*")
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


def read_records(lines: Iterable[str]) -> Iterator[Record]:
    """Read records one after the other, as text or as JSON Lines, holding one at a time.

    Args:
        lines: lines of any number of records, with or without their line ends.

    Raises:
        InvalidRecord: with the number of the game in the file, and the line that is wrong.
    """
    numbered = _Lines(lines)
    game = 0
    for line in numbered:
        if not line:
            continue
        game += 1
        read = _read_json if line.lstrip().startswith("{") else _read_text
        try:
            record = read(line, numbered)
        except InvalidRecord as error:
            message = f"game {game}, {numbered.place}: {error}"
            if next(iter(numbered), None) is None:
                message += "; the text ends here: is the record cut?"
            raise InvalidRecord(message) from None
        yield record


def open_records(path: str | Path) -> Iterator[Record]:
    """Read the records of a file, ``-`` for standard input.

    Raises:
        InvalidRecord: naming the file, if it is empty or holds something else than records.
        OSError: if it cannot be read.
    """
    name = source_name(str(path))
    line = games = 0

    def decoded(file: Iterable[bytes]) -> Iterator[str]:
        nonlocal line
        for raw in file:
            line += 1
            yield raw.decode("utf-8")

    try:
        with nullcontext(sys.stdin.buffer) if path == STDIN else open(path, "rb") as file:
            for record in read_records(decoded(file)):
                games += 1
                yield record
    except UnicodeDecodeError as error:
        byte = f"0x{error.object[error.start]:02x}"
        raise InvalidRecord(
            f"{name}: line {line}: expected text in UTF-8, got the byte {byte}"
        ) from None
    except InvalidRecord as error:
        raise InvalidRecord(f"{name}: {error}") from None
    if not games:
        raise InvalidRecord(f"{name}: expected a game record, the file is empty")


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


class _Lines:
    """Lines without their ends, and where the reader stands."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.number = 0
        self.column = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.number += 1
            self.column = 0
            # A byte order mark opens a file, and each part of files that were put together.
            yield line.removeprefix("\ufeff").rstrip()

    @property
    def place(self) -> str:
        """The place to name in an error."""
        return f"line {self.number}" + (f", column {self.column}" if self.column else "")


def _read_text(first: str, lines: _Lines) -> Record:
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


def _read_moves(line: str, plies: list[Ply], lines: _Lines) -> str | None:
    """Add the plies of a line to those before; the result if the line ends with one."""
    column = len(line) - len(line.lstrip())
    while column < len(line):
        lines.column = column + 1
        if line[column:] in WINNER_OF_RESULT:
            return line[column:]
        if len(plies) % 2 == 0:
            match = _MOVE_NUMBER.match(line, column)
            if not match or int(match[1]) != len(plies) // 2 + 1:
                raise InvalidRecord(f"expected {_next(plies)}, got {quote(line[column:])}")
            column = match.end()
            lines.column = column + 1
        if not (match := _PLY.match(line, column)):
            expected = "G0F0+@A1 (0.12) {comment}"
            raise InvalidRecord(f"expected a ply like {expected}, got {quote(line[column:])}")
        move, mark, flags, seconds, comment = match.groups()
        plies.append(
            Ply(
                parse_move(move),
                CONTACT_OF_MARK[mark],
                tuple(parse_point(name) for name in flags.split("@")[1:]),
                None if seconds is None else read_seconds(seconds),
                unescape(comment) if comment else "",
            )
        )
        column = match.end()
    return None


def _next(plies: list[Ply]) -> str:
    """What must come after these plies."""
    move = "a ply of black" if len(plies) % 2 else f"move {len(plies) // 2 + 1}."
    return f"{move} or the result ({' '.join(WINNER_OF_RESULT)})"


def _read_json(line: str, lines: _Lines) -> Record:
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
