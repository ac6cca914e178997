"""What the page of the book asks, checked: which layouts to show, and what to do to them.

Whatever cannot be is refused.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from book.layout_query import SORTS, Filter
from book.rows import ORIGINS, ROLES
from book.store import Book
from junqi.web.answers import Ask, Refused

MOST_IDS = 500
LONGEST_NOTE = 4000
MOST_WEIGHT = 1e6

STATES: dict[str, dict[str, Any]] = {
    "": {},
    "mixture": {"in_mixture": True},
    "enabled": {"enabled": True},
    "disabled": {"enabled": False},
}

Do: TypeAlias = Callable[[Book, list[int]], object]
ACTIONS = ("enable", "disable", "weight", "tag", "untag", "note", "name")


def filter_of(ask: Ask) -> Filter:
    """What the page wants to see."""
    query = ask.query
    state = query.get("state", "")
    if state not in STATES:
        raise Refused(f"state: expected one of {', '.join(STATES)}, got {state[:40]!r}")
    words: dict[str, Any] = {}
    for name, choices in (("origin", ORIGINS), ("role", ROLES)):
        word = query.get(name, "")
        if word and word not in choices:
            raise Refused(f"{name}: expected one of {', '.join(choices)}, got {word[:40]!r}")
        if word:
            words[name] = (word,) if name == "origin" else word
    tags = tuple(query.get("tags", "").replace(",", " ").split())
    return Filter(
        tags=tags,
        min_score=_score(query.get("min_score", ""), "min_score"),
        max_score=_score(query.get("max_score", ""), "max_score"),
        name=query.get("name", "").strip() or None,
        judge=query.get("judge", "") or None,
        **words,
        **STATES[state],
    )


def sort_of(ask: Ask) -> str:
    """By what the page wants the layouts sorted."""
    sort = ask.query.get("sort", "weight")
    if sort not in SORTS:
        raise Refused(f"sort: expected one of {', '.join(SORTS)}, got {sort[:40]!r}")
    return sort


def page_of(ask: Ask) -> int:
    """Which page is asked for, from 0 on."""
    text = ask.query.get("page", "0")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Refused(f"page: expected a whole number, got {text[:40]!r}")
    return int(text)


def ids_of(ask: Ask) -> list[int]:
    """The numbers of the layouts that are to be changed."""
    ids = ask.data.get("ids")
    is_list = isinstance(ids, list) and all(type(id) is int and 0 < id < 2**62 for id in ids)
    if not is_list or not 0 < len(ids or []) <= MOST_IDS:
        raise Refused(f"ids: expected 1 to {MOST_IDS} numbers of layouts")
    return list(ids or [])


def action_of(ask: Ask) -> tuple[str, Do]:
    """What is to be done to layouts, in words for the log and as a function."""
    action = ask.choice("action", ACTIONS)
    if action in ("enable", "disable"):
        return action, lambda book, ids: book.set_enabled(ids, action == "enable")
    if action == "weight":
        weight = ask.number("value", 0, MOST_WEIGHT)
        return f"weight {weight:g}", lambda book, ids: book.set_weight(ids, weight)
    if action == "note":
        note = ask.data.get("value")
        if not isinstance(note, str) or len(note) > LONGEST_NOTE:
            raise Refused(f"value: expected a note of at most {LONGEST_NOTE} letters")
        return "note", lambda book, ids: book.set_note(ids, note.strip())
    word = ask.text("value")
    if action == "tag":
        return f"tag {word}", lambda book, ids: book.add_tags(ids, [word])
    if action == "untag":
        return f"untag {word}", lambda book, ids: book.remove_tags(ids, [word])
    if len(ids_of(ask)) > 1:
        raise Refused("expected one layout to name, got more")
    return f"name {word!r}", lambda book, ids: book.set_name(ids[0], word)


def _score(text: str, name: str) -> float | None:
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise Refused(f"{name}: expected a score from 0 to 1, got {text[:40]!r}")
    return value
