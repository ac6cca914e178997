"""Layouts from files, one a line, and from whatever mixture of letters and files a user names.

The first field of a line is the layout; what follows after white space or a comma is a remark.
Blank lines, lines that begin with ``#`` and a header line that begins with ``layout`` are skipped.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from junqi.errors import InvalidLayout
from junqi.layout import Layout, layout_problems, parse_layout
from junqi.textfile import STDIN, read_text, source_name

HEADER = "layout"


@dataclass(frozen=True)
class FoundLayout:
    """A text that should be a layout, and where it was found."""

    text: str
    source: str | None = None
    """The file; None if the text itself was given."""
    line: int | None = None

    @property
    def where(self) -> str:
        """Where it was found, like ``good.txt:3: ``; nothing if the text itself was given."""
        return f"{self.source}:{self.line}: " if self.source is not None else ""

    @property
    def problems(self) -> list[str]:
        """Every reason why it is not a legal layout."""
        return layout_problems(self.text)

    def parse(self) -> Layout:
        """The layout.

        Raises:
            InvalidLayout: with the place and every reason, if it is not a legal one.
        """
        try:
            return parse_layout(self.text)
        except InvalidLayout as error:
            raise InvalidLayout(f"{self.where}{error}") from None


def read_layout_file(path: str) -> list[FoundLayout]:
    """The layouts of a file, or of standard input for ``-``, legal or not.

    Raises:
        InvalidLayout: if there is none in it.
        JunqiError: if it is not a text file.
        OSError: if it cannot be read.
    """
    name = source_name(path)
    found = find_layouts(read_text(path), name)
    if not found:
        raise InvalidLayout(f"{name}: expected one layout a line, got none")
    return found


def find_layouts(text: str, source: str) -> list[FoundLayout]:
    """The layouts of a text, legal or not.

    >>> find_layouts("abc, short", "my.txt")
    [FoundLayout(text='abc', source='my.txt', line=1)]
    """
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        field = re.split(r"[\s,]", line.strip(), maxsplit=1)[0]
        if field and not field.startswith("#") and field.lower() != HEADER:
            found.append(FoundLayout(field, source, number))
    return found


def gather_layouts(words: Iterable[str], files: Iterable[str] = ()) -> list[FoundLayout]:
    """The layouts that a user named, legal or not, in the order of naming.

    Args:
        words: each is a layout's letters, the name of a file, or ``-`` for standard input.
        files: names of more files.

    Raises:
        InvalidLayout: if a file has no layout in it.
        JunqiError: if a file is not a text file.
        OSError: if a file cannot be read.
    """
    found: list[FoundLayout] = []
    for word in words:
        found += read_layout_file(word) if _is_file_name(word) else [FoundLayout(word)]
    for path in files:
        found += read_layout_file(path)
    return found


def gather_one(word: str) -> FoundLayout:
    """The one layout that a user named, by its letters or by a file that holds no other.

    Raises:
        InvalidLayout: if there is not exactly one.
        JunqiError: if a file is not a text file.
        OSError: if a file cannot be read.
    """
    found = gather_layouts([word])
    if len(found) != 1:
        raise InvalidLayout(f"{source_name(word)}: expected one layout, got {len(found)}")
    return found[0]


def _is_file_name(word: str) -> bool:
    """Whether a user who says this means a file; one that is not there should be missed."""
    if word == STDIN:
        return True
    if not layout_problems(word):
        return False
    has_file_letters = any(letter in word for letter in "./\\")
    return has_file_letters or os.path.exists(word)
