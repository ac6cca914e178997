"""The lines of files of records, and where the next record begins after one that is broken."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from junqi.errors import InvalidRecord
from junqi.tags import TAGS, TORN_LINE, WINNER_OF_RESULT, name_of_tag

MOVE_NUMBER = re.compile(r"([0-9]{1,9})\.\s*")

# Our writer's order of the tags; those that are not ours come last.
_ORDER = {name: place for place, name in enumerate(TAGS)}


class Lines:
    """Lines without their ends, and where the reader stands."""

    def __init__(self, lines: Iterable[str | bytes]) -> None:
        self._lines = iter(lines)
        self._waiting: list[str | bytes] = []
        self.number = 0
        self.column = 0
        self.record: list[str] = []
        """The lines read since `begin_record`."""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._waiting.pop() if self._waiting else next(self._lines)
        self.number += 1
        self.column = 0
        self.record.append("")
        if isinstance(line, bytes):
            try:
                line = line.decode("utf-8")
            except UnicodeDecodeError as error:
                byte = f"0x{error.object[error.start]:02x}"
                raise InvalidRecord(f"expected text in UTF-8, got the byte {byte}") from None
        # A byte order mark opens a file, and each part of files that were put together.
        line = line.removeprefix("\ufeff").rstrip()
        self.record[-1] = line
        return line

    def begin_record(self) -> str:
        """The next line that is not blank; an empty one if there is none."""
        self.record.clear()
        for line in self:
            if line:
                return line
            self.record.clear()
        return ""

    def put_back(self, line: str) -> None:
        """Let the line read last, or what is to be read of it again, be the next."""
        self.record.pop()
        self._waiting.append(line)
        self.number -= 1

    @property
    def is_over(self) -> bool:
        """Whether no line is left."""
        if not self._waiting:
            self._waiting += islice(self._lines, 1)
        return not self._waiting

    @property
    def place(self) -> str:
        """The place to name in an error."""
        return f"line {self.number}" + (f", column {self.column}" if self.column else "")


def skip_broken(lines: Lines) -> None:
    """Go on to where the next record seems to begin, after one that cannot be read.

    After moves that is any tag. Among tags it is one that our writer puts before the last: the
    broken record was cut there. It may even stand behind the rest of a line that was cut.
    """
    if lines.record and (torn := TORN_LINE.fullmatch(lines.record[-1].lstrip())):
        lines.put_back(torn[1])
        return
    for _ in range(_lines_of_next(lines.record)):
        lines.put_back(lines.record[-1])
    last = next((name for name in map(name_of_tag, reversed(lines.record)) if name), None)
    is_in_moves = any(map(_is_moves, lines.record))
    while not lines.is_over:
        try:
            line = next(lines)
        except InvalidRecord:
            continue  # no text at all
        name = name_of_tag(line)
        if line.lstrip().startswith("{") or (name and (is_in_moves or _is_before(name, last))):
            lines.put_back(line)
            return
        last = name or last
        is_in_moves |= _is_moves(line)


def _lines_of_next(record: list[str]) -> int:
    """How many of the lines that were read belong to the next record, as far as its tags tell."""
    if any(map(_is_moves, record[:-1])) and name_of_tag(record[-1]):
        return 1
    names = [name_of_tag(line) for line in record]
    first = len(names)
    while first and (first == len(names) or _is_before(names[first - 1], names[first])):
        first -= 1
    begun, following = names[:first], names[first:]
    is_repeated = any(name in begun for name in following if name)
    # The same tag twice in a row is a slip, and no second record.
    return len(following) if is_repeated and begun[-1] != following[0] else 0


def _is_moves(line: str) -> bool:
    text = line.lstrip()
    return text in WINNER_OF_RESULT or text[:1] == "{" or MOVE_NUMBER.match(text) is not None


def _is_before(name: str | None, other: str | None) -> bool:
    """Whether a tag stands before another in what our writer writes."""
    last = len(_ORDER)
    return other is None or _ORDER.get(name or "", last) < _ORDER.get(other, last)
