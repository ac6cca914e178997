"""Rows of a book as lines of text, and back."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

from book.dump import Row
from book.errors import BookError
from book.game_table import record_digest
from book.rows import BookLayout, Evidence, Game, NewLayout, Opening, Payoff, Run
from book.words import Value, format_line, parse_line

T = TypeVar("T", int, float)
NewRow = Run | NewLayout | Evidence | Payoff | Opening | Game

# How many words each line has before its pairs, its first included.
WORDS = {"run": 2, "layout": 2, "evidence": 2, "payoff": 3, "opening": 4, "game": 2}


def format_row(row: Row) -> str:
    """Write a row as a line, without its end."""
    return format_line(*_FORMATS[type(row)](row))


def parse_row(line: str) -> NewRow:
    """Read a row from its line; whether it can be, the book sees when it is added.

    Raises:
        JunqiError: if it is not a line of the format.
    """
    section = line.split(maxsplit=1)[0]
    if section not in WORDS:
        raise BookError(f"expected a line of {', '.join(WORDS)}, got {section[:40]!r}")
    words, values = parse_line(line, WORDS[section])
    return _PARSERS[section](words, _Values(values))


class _Values:
    """The pairs of a line, read by name and type; each must be known and used."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def text(self, name: str, default: str = "") -> str:
        return self._texts.pop(name, default)

    def maybe(self, name: str) -> str | None:
        return self._texts.pop(name, None)

    def integer(self, name: str, default: int | None = None) -> int:
        return self._parsed(name, default, int, "a whole number")

    def number(self, name: str, default: float | None = None) -> float:
        return self._parsed(name, default, float, "a number")

    def _parsed(self, name: str, default: T | None, parse: Callable[[str], T], what: str) -> T:
        text = self._texts.pop(name, None)
        if text is None:
            if default is None:
                raise BookError(f"expected {name}=..., got none")
            return default
        try:
            return parse(text)
        except ValueError:
            raise BookError(f"expected {name} to be {what}, got {text!r}") from None

    def maybe_integer(self, name: str) -> int | None:
        return self.integer(name) if name in self._texts else None

    def maybe_number(self, name: str) -> float | None:
        return self.number(name) if name in self._texts else None

    def is_yes(self, name: str, default: bool) -> bool:
        text = self._texts.pop(name, None)
        if text is None:
            return default
        if text not in ("yes", "no"):
            raise BookError(f"expected {name} to be yes or no, got {text!r}")
        return text == "yes"

    def end(self) -> None:
        """See that nothing is left."""
        if self._texts:
            raise BookError(f"expected nothing named {next(iter(self._texts))!r} here")


_Line = tuple[list[str], dict[str, Value | None]]


def _format_run(row: Run) -> _Line:
    return ["run", row.key], {
        "command": row.command,
        "settings": json.dumps(row.settings, ensure_ascii=False, sort_keys=True),
        "seed": row.seed,
        "started": row.started,
        "seconds": row.seconds,
        "games": row.games,
        "machine": row.machine or None,
        "version": row.version or None,
        "status": row.status,
        "notes": row.notes or None,
    }


def _parse_run(words: list[str], values: _Values) -> Run:
    settings = values.text("settings", "{}")
    try:
        read = json.loads(settings)
    except ValueError:
        read = None
    if not isinstance(read, dict):
        raise BookError(f"expected settings to be an object in JSON, got {settings[:60]!r}")
    status: Any = values.text("status", "done")
    row = Run(
        key=words[1],
        command=values.text("command"),
        settings=read,
        seed=values.maybe_integer("seed"),
        started=values.maybe("started"),
        seconds=values.maybe_number("seconds"),
        games=values.maybe_integer("games"),
        machine=values.text("machine"),
        version=values.text("version"),
        status=status,
        notes=values.text("notes"),
    )
    values.end()
    return row


def _format_layout(row: BookLayout) -> _Line:
    return ["layout", row.layout], {
        "origin": row.origin,
        "role": row.role,
        "weight": row.weight,
        "moves": None if row.moves == "both" else row.moves,
        "enabled": None if row.enabled else False,
        "name": row.name or None,
        "tags": ",".join(row.tags) or None,
        "notes": row.notes or None,
        "created": row.created,
        "run": row.run,
    }


def _parse_layout(words: list[str], values: _Values) -> NewLayout:
    origin: Any = values.text("origin", "imported")
    role: Any = values.text("role", "both")
    moves: Any = values.text("moves", "both")
    tags = values.text("tags")
    row = NewLayout(
        layout=words[1],
        origin=origin,
        role=role,
        weight=values.number("weight", 0.0),
        moves=moves,
        enabled=values.is_yes("enabled", True),
        name=values.text("name"),
        notes=values.text("notes"),
        tags=tuple(tags.split(",")) if tags else (),
        created=values.maybe("created"),
        run=values.maybe("run"),
    )
    values.end()
    return row


def _format_result(row: Evidence | Payoff) -> dict[str, Value | None]:
    return {
        "seed": row.seed,
        "games": row.games,
        "wins": row.wins,
        "draws": row.draws,
        "losses": row.losses,
        "error": row.error,
        "version": row.version or None,
        "command": row.command or None,
        "created": row.created,
        "run": row.run,
    }


def _parse_result(values: _Values) -> dict[str, Any]:
    return {
        "seed": values.maybe_integer("seed"),
        "games": values.integer("games"),
        "wins": values.integer("wins"),
        "draws": values.integer("draws"),
        "losses": values.integer("losses"),
        "error": values.number("error"),
        "version": values.text("version"),
        "command": values.text("command"),
        "created": values.maybe("created"),
        "run": values.maybe("run"),
    }


def _format_evidence(row: Evidence) -> _Line:
    kind = None if row.kind == "fresh" else row.kind
    who: dict[str, Value | None] = {"kind": kind, "judge": row.judge, "opponents": row.opponents}
    return ["evidence", row.layout], who | _format_result(row)


def _parse_evidence(words: list[str], values: _Values) -> Evidence:
    kind: Any = values.text("kind", "fresh")
    row = Evidence(
        layout=words[1],
        kind=kind,
        judge=values.text("judge"),
        opponents=values.text("opponents"),
        **_parse_result(values),
    )
    values.end()
    return row


def _format_payoff(row: Payoff) -> _Line:
    return ["payoff", row.layout, row.opponent], {"judge": row.judge} | _format_result(row)


def _parse_payoff(words: list[str], values: _Values) -> Payoff:
    row = Payoff(
        layout=words[1],
        opponent=words[2],
        judge=values.text("judge"),
        **_parse_result(values),
    )
    values.end()
    return row


def _format_opening(row: Opening) -> _Line:
    return ["opening", row.layout, row.key, row.move], {
        "ply": row.ply,
        "visits": row.visits,
        "score": row.score,
        "error": row.error,
        "weight": row.weight,
        "enabled": None if row.enabled else False,
        "notes": row.notes or None,
        "source": row.source or None,
        "run": row.run,
    }


def _parse_opening(words: list[str], values: _Values) -> Opening:
    _, letters, key, move = words
    row = Opening(
        letters,
        key,
        move,
        values.integer("ply", 0),
        values.integer("visits", 0),
        values.maybe_number("score"),
        values.maybe_number("error"),
        values.number("weight", 1.0),
        values.is_yes("enabled", True),
        values.text("notes"),
        values.text("source"),
        values.maybe("run"),
    )
    values.end()
    return row


def _format_game(row: Game) -> _Line:
    return ["game", record_digest(row.record)], {
        "played": row.played or None,
        "side": row.side,
        "opponent": row.opponent or None,
        "result": row.result,
        "reason": row.reason or None,
        "plies": row.plies,
        "layout": row.layout,
        "seen": row.seen or None,
        "source": row.source or None,
        "notes": row.notes or None,
        "created": row.created,
        "record": row.record,
    }


def _parse_game(words: list[str], values: _Values) -> Game:
    side: Any = values.maybe("side")
    row = Game(
        record=values.text("record"),
        side=side,
        layout=values.maybe("layout"),
        seen=values.text("seen"),
        played=values.text("played"),
        opponent=values.text("opponent"),
        result=values.text("result", "*"),
        reason=values.text("reason"),
        plies=values.integer("plies", 0),
        source=values.text("source"),
        notes=values.text("notes"),
        created=values.maybe("created"),
    )
    values.end()
    if words[1] != record_digest(row.record):
        raise BookError(f"expected the digest {record_digest(row.record)}, got {words[1][:40]!r}")
    return row


_FORMATS: dict[type[Row], Callable[[Any], _Line]] = {
    Run: _format_run,
    BookLayout: _format_layout,
    Evidence: _format_evidence,
    Payoff: _format_payoff,
    Opening: _format_opening,
    Game: _format_game,
}
_PARSERS: dict[str, Callable[[list[str], _Values], NewRow]] = {
    "run": _parse_run,
    "layout": _parse_layout,
    "evidence": _parse_evidence,
    "payoff": _parse_payoff,
    "opening": _parse_opening,
    "game": _parse_game,
}
