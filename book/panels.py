"""Who the opponents are: the words by which users name a panel, and panels kept in a book.

A panel taken from a book or a file changes with it. So whoever scores layouts keeps the opponents
in the settings of the run, and calls them by name and digest, like ``human@3f2a9c1b70``: in this
book that word means the same opponents for ever.
"""

import json
import re
from typing import Any

from book.default import human_layouts
from book.errors import BookError
from book.store import Book, Filter
from junqi.layout import layout_problems
from junqi.layout_file import gather_layouts
from junqi.panel import DIGEST_LENGTH, Panel, make_panel, random_panel
from junqi.pieces import PIECES_A_SIDE
from junqi.textfile import source_name

PANEL_FORMS = "book, book:TAG, human, random:N, a file or 25 letters"
MOST_RANDOM = 1_000_000

_KEPT = re.compile(rf"(.+)@([0-9a-f]{{{DIGEST_LENGTH}}})", re.DOTALL)


def find_panel(book: Book, word: str, seed: int) -> Panel:
    """The opponents that a user means.

    Args:
        book: where ``book``, ``book:TAG`` and kept panels are looked up.
        word: ``book`` for the mixture by its weights, ``book:TAG`` for the enabled layouts with a
            tag, ``human`` for people's layouts as they come with the program, ``random:N`` for
            random ones made from the seed, a kept panel like ``human@3f2a9c1b70``, a file, ``-``
            or 25 letters.
        seed: of random opponents.

    Raises:
        JunqiError: if nobody is meant.
        OSError: if a file cannot be read.
    """
    if match := _KEPT.fullmatch(word):
        return _kept_panel(book, word, match[1], match[2], seed)
    kind, _, detail = word.partition(":")
    if word == "book":
        rows = book.mixture()
        where = f" in the mixture of {book.path}: see junqi book weight"
        return make_panel(word, [r.layout for r in rows], [r.weight for r in rows], where=where)
    if kind == "book":
        rows = book.layouts(Filter(tags=(detail,), enabled=True))
        where = f": no enabled layout in {book.path} has the tag {detail!r}"
        return make_panel(word, [row.layout for row in rows], where=where)
    if word == "human":
        return make_panel(word, human_layouts())
    if kind == "random":
        if not re.fullmatch(r"[1-9][0-9]{0,6}", detail) or int(detail) > MOST_RANDOM:
            raise BookError(f"expected random:N with N from 1 to {MOST_RANDOM:,}, got {word!r}")
        return random_panel(int(detail), seed)
    if not layout_problems(word):
        (text,) = make_panel(word, [word]).texts
        return make_panel(text, [text])
    try:
        found = gather_layouts([word])
    except FileNotFoundError:
        raise BookError(f"expected {PANEL_FORMS}, got {word!r}, which is no file") from None
    if found[0].source is None and len(word) != PIECES_A_SIDE:
        raise BookError(f"expected {PANEL_FORMS}, got {word!r}")
    for layout in found:
        layout.parse()  # tells the line, and what is wrong
    return make_panel(source_name(word), [layout.text for layout in found])


def panel_word(panel: Panel) -> str:
    """What evidence calls these opponents; `find_panel` finds them by it, given the same seed."""
    is_told_by_name = panel.name.startswith("random:") or panel.texts == (panel.name,)
    return panel.name if is_told_by_name else f"{panel.name}@{panel.digest}"


def panel_settings(panel: Panel) -> dict[str, Any]:
    """What a run keeps in its settings, so that `find_panel` finds the opponents again."""
    settings: dict[str, Any] = {"panel": panel_word(panel)}
    if panel_word(panel) != panel.name:
        settings["opponents"] = dict(zip(panel.texts, panel.weights, strict=True))
    return settings


def _kept_panel(book: Book, word: str, name: str, digest: str, seed: int) -> Panel:
    """A panel that a run of the book has kept, or that its name still means."""
    row = book.connection.execute(
        "SELECT settings FROM runs WHERE json_extract(settings, '$.panel') = ?"
        " AND json_type(settings, '$.opponents') = 'object' LIMIT 1",
        [word],
    ).fetchone()
    if row is not None:
        opponents = json.loads(row[0])["opponents"]
        return make_panel(name, opponents, opponents.values())
    panel = find_panel(book, name, seed)
    if panel.digest != digest:
        raise BookError(
            f"expected the opponents {word}, got {panel_word(panel)}: no run in {book.path} has"
            " kept the others"
        )
    return panel
