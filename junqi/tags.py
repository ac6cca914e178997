"""The tags of a game record: their names, and how each value is read and written.

Every reader takes the text of a value and raises `InvalidRecord` with what was expected.
"""

import re
from collections.abc import Callable
from math import isfinite
from typing import Any

from junqi.errors import InvalidRecord
from junqi.pieces import BLACK, NOBODY, RED
from junqi.rules import Reason, Rules

# How a game ended, and who won; None is a game that was not played to an end.
WINNER_OF_RESULT = {"1-0": RED, "0-1": BLACK, "1/2-1/2": NOBODY, "*": None}
RESULT_OF_WINNER = {winner: text for text, winner in WINNER_OF_RESULT.items()}

UNKNOWN_LAYOUT = "?"

TAG_NAME = re.compile(r"[A-Z][A-Za-z0-9_]*")
# What `escape` makes of a text in quotes, and of one in braces.
IN_QUOTES = r'((?:[^"\\]|\\[\\nr"}])*)'
IN_BRACES = r'((?:[^}\\]|\\[\\nr"}])*)'

_TAG = re.compile(rf'\[({TAG_NAME.pattern})\s+"{IN_QUOTES}"\]')
# A line that was cut, with the first tag of the next record behind it.
TORN_LINE = re.compile(rf"\S.*?({_TAG.pattern})")
_TAG_BEGIN = re.compile(rf"\s*\[({TAG_NAME.pattern})\s")
_INTEGER = re.compile(r"-?[0-9]{1,40}")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?")


def quote(value: object) -> str:
    """A value for an error message, not longer than one wants to read."""
    text = repr(value[:60] if isinstance(value, str) else value)
    return text if len(text) <= 60 else text[:57] + "..."


def escape(text: str, closing: str) -> str:
    """Write a text so that it stays on one line and does not hold the mark that closes it."""
    text = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return text.replace(closing, "\\" + closing)


def unescape(text: str) -> str:
    """Undo `escape`."""
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "r": "\r"}.get(match[1], match[1]), text)


def format_tag(name: str, value: str) -> str:
    """Write a tag as a line, like ``[Event "Cup"]``."""
    quoted = escape(value, closing='"')
    return f'[{name} "{quoted}"]'


def parse_tag(line: str) -> tuple[str, str]:
    """Read the name and the value of a tag from its line."""
    if not (match := _TAG.fullmatch(line)):
        raise InvalidRecord(f'expected a tag like [Event "Cup"], got {quote(line)}')
    return match[1], unescape(match[2])


def name_of_tag(line: str) -> str | None:
    """The name of the tag that a line holds or begins; None if it holds something else."""
    match = _TAG_BEGIN.match(line)
    return match[1] if match else None


def format_number(number: float) -> str:
    """The shortest text that reads as this number again."""
    return str(number).removesuffix(".0")


def read_integer(text: str) -> int:
    """Read a whole number."""
    if not _INTEGER.fullmatch(text):
        raise InvalidRecord(f"expected a whole number, got {quote(text)}")
    return int(text)


def read_seconds(text: str) -> float:
    """Read a time that has passed."""
    if not _NUMBER.fullmatch(text) or not isfinite(seconds := float(text)):
        raise InvalidRecord(f"expected seconds like 0.12, got {quote(text)}")
    return seconds


def read_time(text: str) -> float:
    """Read a time that is allowed, perhaps without limit."""
    return float(text) if text == "inf" else read_seconds(text)


def read_layout(text: str) -> str | None:
    """Read a layout, which need not be a legal one: it may be why the game was lost."""
    return None if text in ("", UNKNOWN_LAYOUT) else text


def one_of(meanings: dict[str, Any]) -> Callable[[str], Any]:
    """A reader of one of these texts."""

    def read(text: str) -> Any:
        if text not in meanings:
            raise InvalidRecord(f"expected one of {' '.join(meanings)}, got {quote(text)}")
        return meanings[text]

    return read


def format_rules(rules: Rules) -> str:
    """Write the settings of a game in one line.

    >>> format_rules(Rules())
    'steps=31 steps_loser=mover flag_first=yes time=1800'
    """
    return (
        f"steps={rules.steps} steps_loser={rules.steps_loser} "
        f"flag_first={'yes' if rules.flag_first else 'no'} time={format_number(rules.time)}"
    )


SETTINGS: dict[str, Callable[[str], object]] = {
    "steps": read_integer,
    "steps_loser": str,
    "flag_first": one_of({"yes": True, "no": False}),
    "time": read_time,
}


def parse_rules(text: str) -> Rules:
    """Read the settings of a game; those that are left out are as usual.

    Raises:
        InvalidRecord: naming the setting that is wrong.
    """
    settings: dict[str, Any] = {}
    for word in text.split():
        name, _, value = word.partition("=")
        if name not in SETTINGS or name in settings or not value:
            raise InvalidRecord(f"expected rules like {format_rules(Rules())}, got {quote(word)}")
        settings[name] = SETTINGS[name](value)
    try:
        return Rules(**settings)
    except ValueError as error:
        raise InvalidRecord(str(error)) from None


# Our tags in the order of writing: the field of a record that each fills, and the reader of its
# value. Winner and reason together are a record's outcome.
TAGS: dict[str, tuple[str, Callable[[str], object]]] = {
    "Event": ("event", str),
    "Date": ("date", str),
    "Red": ("red", str),
    "Black": ("black", str),
    "Rules": ("rules", parse_rules),
    "Seed": ("seed", read_integer),
    "RedLayout": ("red_layout", read_layout),
    "BlackLayout": ("black_layout", read_layout),
    "RedClock": ("red_clock", read_seconds),
    "BlackClock": ("black_clock", read_seconds),
    "Result": ("winner", one_of(WINNER_OF_RESULT)),
    "Reason": ("reason", one_of({reason.text: reason for reason in Reason})),
}
LAYOUT_TAGS = ("RedLayout", "BlackLayout")
NUMBER_TAGS = ("Seed", "RedClock", "BlackClock")


def read_tag(fields: dict[str, Any], name: str, value: str) -> None:
    """Read a tag into the field that it fills; a tag that is not ours keeps its own name.

    Raises:
        InvalidRecord: naming the tag that is wrong.
    """
    if not TAG_NAME.fullmatch(name):
        raise InvalidRecord(f"expected the name of a tag like Event, got {quote(name)}")
    key, read = TAGS.get(name, (name, str))
    if key in fields:
        raise InvalidRecord(f"tag {name} came a second time: is the record before it cut?")
    try:
        fields[key] = read(value)
    except InvalidRecord as error:
        raise InvalidRecord(f"{name}: {error}") from None
