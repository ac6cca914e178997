r"""Lines of the text format: words and ``name=value`` pairs, quoted where need be.

    opening abccddeeffggghhhiiijjkklj start G0F0 visits=12 source="search:5x24 60s"

A text that is not one plain word stands in double quotes. In them a backslash makes the next
letter a plain one, but for ``\n``, ``\r``, ``\t`` and ``\u{1f}``, a letter by its number.
"""

import re
from collections.abc import Mapping

from book.errors import BookError

_BARE = re.compile(r'[^\s"\\]+')
_WORD = re.compile(r'(?:([a-z_]+)=)?(?:"((?:[^"\\]|\\.)*)"|([^\s"]*))(?:\s+|$)')
_ESCAPED = re.compile(r"\\(?:u\{([0-9a-f]{1,6})\}|(.))")
_NAMED = {"\n": "n", "\r": "r", "\t": "t"}
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}

Value = str | int | float | bool


def format_line(words: list[str], values: Mapping[str, Value | None]) -> str:
    r"""Write a line; a value that is None is left out.

    >>> format_line(["layout", "abc"], {"weight": 0.25, "name": 'a "b"', "run": None})
    'layout abc weight=0.25 name="a \\"b\\""'
    """
    parts = [_format_text(word) for word in words]
    parts += [f"{name}={_format(value)}" for name, value in values.items() if value is not None]
    return " ".join(parts)


def parse_line(line: str, words: int) -> tuple[list[str], dict[str, str]]:
    """Read a line with so many words before its pairs.

    Raises:
        BookError: if it is not such a line.
    """
    if '"' not in line:
        parts = line.split()
        pairs = [part.partition("=") for part in parts[words:]]
        values = {name: value for name, mark, value in pairs if mark and name.islower()}
        if len(parts) >= words and len(values) == len(pairs):
            return parts[:words], values
    return _parse_slowly(line, words)


def _parse_slowly(line: str, words: int) -> tuple[list[str], dict[str, str]]:
    """Read a line with quotes, or say what is wrong with one."""
    found: list[str] = []
    values: dict[str, str] = {}
    at = 0
    while at < len(line):
        match = _WORD.match(line, at)
        if not match or match.end() == at:
            raise BookError(f"expected a word or a quoted text, got {line[at : at + 40]!r}")
        name, quoted, bare = match.groups()
        text = _unescape(quoted) if quoted is not None else bare
        if len(found) < words:
            # A plain word may look like a pair.
            found.append(text if name is None else f"{name}={text}")
        elif name is None:
            raise BookError(f"expected name=value, got {match[0].strip()[:40]!r}")
        elif name in values:
            raise BookError(f"expected {name} once, got it twice")
        else:
            values[name] = text
        at = match.end()
    if len(found) < words:
        raise BookError(f"expected {words} words, got {len(found)}: {line[:60]!r}")
    return found, values


def _format(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value) if isinstance(value, int) else _format_text(value)


def _format_text(text: str) -> str:
    if _BARE.fullmatch(text) and text.isprintable():
        return text
    return f'"{"".join(map(_escape, text))}"'


def _escape(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    if letter in _NAMED:
        return f"\\{_NAMED[letter]}"
    return letter if letter.isprintable() else f"\\u{{{ord(letter):x}}}"


def _unescape(text: str) -> str:
    return _ESCAPED.sub(_letter, text) if "\\" in text else text


def _letter(match: re.Match[str]) -> str:
    if match[1] is None:
        return _LETTERS.get(match[2], match[2])
    number = int(match[1], 16)
    if number > 0x10FFFF or 0xD800 <= number < 0xE000:
        raise BookError(f"expected the number of a letter, got {match[0]!r}")
    return chr(number)
