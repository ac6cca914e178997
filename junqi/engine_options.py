"""The engine's options: one list for the command line, the environment, engine.toml and matches."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, TypeVar

from junqi.errors import InvalidLayout, JunqiError

# In the place of a book: none.
NO_BOOK = "no"
ENCODINGS = ("utf-8", "gbk")

Number = TypeVar("Number", int, float)


class InvalidOption(JunqiError, ValueError):
    """An option of the engine that there is not, or with a value that it cannot have."""

    is_usage = True


@dataclass(frozen=True)
class EngineOptions:
    """How the engine plays, and how it shows itself."""

    name: str = "Junqi"
    """What NAME says."""
    encoding: str = "utf-8"
    """Of the name: ``utf-8`` or ``gbk``."""
    book: tuple[str, ...] = ()
    """The books to use, the most trusted first; the default one if none is named."""
    use_book: bool = True
    layout: str | None = None
    """Always this layout, 25 letters; drawn from the book if None."""
    movetime: float | None = None
    """Seconds for each move; None shares out the time of the game."""
    time_fraction: float = 0.9
    """The part of the game's time that is shared out."""
    threads: int | None = None
    """All cores if None."""
    seed: int | None = None
    """Of layouts and moves; None for other ones every time."""
    effort: int | None = None
    """A fixed amount of work for each move instead of a time: the same moves on every machine."""
    opening_loss: float | None = None
    """The loss of winning chances up to which a stored opening move saves the search; as the book
    has it if None."""
    log: str | None = None
    """A file that lines and notes are added to."""

    def with_option(self, key: str, value: object) -> "EngineOptions":
        """These options but for one.

        Args:
            key: its name as on the command line, like ``time-fraction``.
            value: as text, or as a TOML file has it.

        Raises:
            InvalidOption: if there is no such option, or it cannot have this value.
        """
        if key not in _PARSERS:
            raise InvalidOption(f"expected an option of {', '.join(_PARSERS)}, got {key!r}")
        try:
            fields = _PARSERS[key](value)
        except InvalidOption as error:
            raise InvalidOption(f"{error} for {key}, got {value!r}") from None
        except InvalidLayout as error:
            raise InvalidOption(f"{key}: {error}") from None
        return replace(self, **fields)

    def with_options(self, values: Mapping[str, object]) -> "EngineOptions":
        """These options but for some, as `with_option` takes them."""
        options = self
        for key, value in values.items():
            options = options.with_option(key, value)
        return options


def parse_options(text: str) -> EngineOptions:
    """Read options in one word; nothing for the default ones.

    Raises:
        InvalidOption: if there is no such option, or it cannot have this value.

    >>> parse_options("movetime=0.1,threads=1,book=no").movetime
    0.1
    """
    options = EngineOptions()
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise InvalidOption(f"expected OPTION=VALUE, several with commas between, got {part!r}")
        options = options.with_option(key.strip(), value.strip())
    return options


def with_environment(
    options: EngineOptions, environment: Mapping[str, str], note: Callable[[str], None]
) -> EngineOptions:
    """These options but for those that ``JUNQI_...`` sets; what cannot be is noted and left out.

    The variable of ``time-fraction`` is ``JUNQI_TIME_FRACTION``, and so on.
    """
    for key in _PARSERS:
        name = variable_of(key)
        if value := environment.get(name, ""):
            options = with_noted(options, key, value, name, note)
    return options


def variable_of(key: str) -> str:
    """The variable of the environment that sets an option."""
    return f"JUNQI_{key.upper().replace('-', '_')}"


def with_noted(
    options: EngineOptions, key: str, value: object, source: str, note: Callable[[str], None]
) -> EngineOptions:
    """These options but for one, unless that cannot be: then it is noted."""
    try:
        return options.with_option(key, value)
    except InvalidOption as error:
        note(f"{source}: {error}")
        return options


def _text(name: str) -> Callable[[object], dict[str, Any]]:
    def parse(value: object) -> dict[str, Any]:
        if not isinstance(value, str) or not value.strip():
            raise InvalidOption("expected a text")
        return {name: value}

    return parse


def _choice(name: str, choices: tuple[str, ...]) -> Callable[[object], dict[str, Any]]:
    def parse(value: object) -> dict[str, Any]:
        if str(value).lower() not in choices:
            raise InvalidOption(f"expected one of {', '.join(choices)}")
        return {name: str(value).lower()}

    return parse


def _number(
    name: str, kind: Callable[[str], Number], what: str, is_fine: Callable[[Number], bool]
) -> Callable[[object], dict[str, Any]]:
    def parse(value: object) -> dict[str, Any]:
        try:
            number = kind(str(value))
        except ValueError:
            raise InvalidOption(f"expected {what}") from None
        if not is_fine(number):
            raise InvalidOption(f"expected {what}")
        return {name: number}

    return parse


def _layout(value: object) -> dict[str, Any]:
    from junqi.layout import parse_layout  # heavy, and rarely needed before the first reply

    parse_layout(str(value))
    return {"layout": str(value)}


def _book(value: object) -> dict[str, Any]:
    """Books as a list, or as a text with the separator of ``PATH`` between them."""
    words = value if isinstance(value, list | tuple) else str(value).split(os.pathsep)
    paths = tuple(str(word) for word in words if word)
    if paths == (NO_BOOK,) or value is False:
        return {"book": (), "use_book": False}
    return {"book": paths, "use_book": True}


_PARSERS: dict[str, Callable[[object], dict[str, Any]]] = {
    "book": _book,
    "layout": _layout,
    "name": _text("name"),
    "movetime": _number(
        "movetime", float, "a number of seconds above 0", lambda n: isfinite(n) and n > 0
    ),
    "time-fraction": _number(
        "time_fraction", float, "a number above 0, at most 1", lambda n: 0 < n <= 1
    ),
    "threads": _number("threads", int, "an integer of at least 1", lambda n: n >= 1),
    "seed": _number("seed", int, "an integer of at least 0", lambda n: n >= 0),
    "effort": _number("effort", int, "an integer of at least 1", lambda n: n >= 1),
    "opening-loss": _number("opening_loss", float, "a number from 0 to 1", lambda n: 0 <= n <= 1),
    "log": _text("log"),
    "encoding": _choice("encoding", ENCODINGS),
}

OPTIONS = tuple(_PARSERS)
"""The names of all options."""
