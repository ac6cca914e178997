"""What is wrong with a book, found by looking at every row.

The tables forbid most of it themselves. But a book lives for years among other tools, and some of
them rebuild a table without its rules.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from itertools import groupby
from operator import itemgetter

from book.errors import BookError
from book.game_table import record_digest
from book.letters import canonical_letters
from book.schema import MIGRATION_SET, MIGRATIONS_TABLE, migrate, newest_version, read_version
from junqi.board import IS_HEADQUARTERS, IS_RAIL, NEIGHBOURS
from junqi.errors import IllegalMove, InvalidLayout, InvalidRecord
from junqi.pieces import RED
from junqi.record import parse_record
from junqi.rules import can_leave, check_move, parse_move
from junqi.view import View

# Conditions that no row may meet, and what is then wrong with it.
_RULES = (
    ("layouts", "NOT (weight >= 0 AND weight < 1e300)", "its weight is {weight}"),
    ("layouts", "role NOT IN ('own', 'opponent', 'both')", "its role is {role!r}"),
    (
        "layouts",
        "origin NOT IN ('evolved', 'human', 'imported', 'seen')",
        "its origin is {origin!r}",
    ),
    ("layouts", "moves NOT IN ('both', 'first', 'second')", "its moves are {moves!r}"),
    ("layouts", "enabled NOT IN (0, 1)", "enabled is {enabled}"),
    ("evidence", "NOT wins + draws + losses = games", "{wins} + {draws} + {losses} is not {games}"),
    ("evidence", "NOT games > 0", "it has {games} games"),
    (
        "evidence",
        "NOT abs(score - (wins + 0.5 * draws) / games) < 1e-9",
        "its score is {score}, not that of {wins} + {draws} / 2 of {games} games",
    ),
    ("evidence", "NOT error >= 0", "its error is {error}"),
    ("payoffs", "NOT wins + draws + losses = games", "{wins} + {draws} + {losses} is not {games}"),
    ("payoffs", "NOT games > 0", "it has {games} games"),
    (
        "payoffs",
        "NOT abs(score - (wins + 0.5 * draws) / games) < 1e-9",
        "its score is {score}, not that of {wins} + {draws} / 2 of {games} games",
    ),
    ("payoffs", "NOT error >= 0", "its error is {error}"),
    (
        "payoffs",
        "(SELECT layout FROM layouts WHERE id = layout_id) >= "
        "(SELECT layout FROM layouts WHERE id = opponent_id)",
        "the layout must come before the opponent in the alphabet",
    ),
    ("openings", "NOT (weight >= 0 AND weight < 1e300)", "its weight is {weight}"),
    ("openings", "NOT score BETWEEN 0 AND 1", "its score is {score}"),
    ("openings", "NOT error >= 0", "its error is {error}"),
    ("openings", "NOT (visits >= 0 AND ply >= 0)", "it has {visits} visits at ply {ply}"),
    ("openings", "key = '' OR instr(key, ' ') > 0", "its key is {key!r}, not one word"),
    ("runs", "key = '' OR instr(key, ' ') > 0", "its key is {key!r}, not one word"),
    ("runs", "NOT json_valid(settings)", "its settings are not JSON"),
    ("layout_tags", "tag = '' OR instr(tag, ',') OR instr(tag, ' ')", "the tag {tag!r}"),
)


def faults(connection: sqlite3.Connection) -> Iterator[str]:
    """Everything that is wrong with a book, one text each."""
    damage = list(_damage(connection))
    yield from damage
    if damage:
        return  # what stands in a damaged file says nothing
    missing = list(_missing(connection))
    yield from missing
    if any(what.startswith("table") for what in missing):
        return
    yield from _orphans(connection)
    for table, condition, fault in _RULES:
        yield from _breaches(connection, table, condition, fault)
    yield from _bad_layouts(connection)
    yield from _bad_openings(connection)
    yield from _bad_keys(connection)
    yield from _bad_games(connection)


def impossible_move(letters: str, ply: int, text: str) -> str | None:
    """Why nobody who set up so can make this move after so many plies; None if somebody can.

    The first move of a game is a matter of the rules. After one move of the enemy the own pieces
    are still where they started. Later they may stand anywhere, and only what no piece could do
    is certain.
    """
    if (reason := _never(text)) is not None:
        return reason
    if ply > 1:
        return None
    move = parse_move(text)
    position = View.start(RED, letters).position
    if ply == 1:
        is_own = position.owners[move.origin] == RED
        can_go = is_own and can_leave(position, move.origin)
        return None if can_go else f"{text}: no own piece can leave"
    try:
        check_move(position, move)
    except IllegalMove as error:
        return str(error)
    return None


@cache
def _never(text: str) -> str | None:
    try:
        origin, target = parse_move(text)
    except IllegalMove as error:
        return str(error)
    if origin == target:
        return f"{text}: it leads nowhere"
    if IS_HEADQUARTERS[origin]:
        return f"{text}: a piece in a headquarters never moves"
    if target not in NEIGHBOURS[origin] and not (IS_RAIL[origin] and IS_RAIL[target]):
        return f"{text}: no road or rail leads there"
    return None


def _damage(connection: sqlite3.Connection) -> Iterator[str]:
    for (text,) in connection.execute("PRAGMA integrity_check"):
        if text != "ok":
            yield f"damaged: {text}"


def _missing(connection: sqlite3.Connection) -> Iterator[str]:
    version = read_version(connection)
    if version != newest_version():
        yield f"schema version {version}, expected {newest_version()}: junqi book migrate"
        return
    steps = f"SELECT count(*) FROM {MIGRATIONS_TABLE} WHERE migration_set = ?"
    if (count := connection.execute(steps, [MIGRATION_SET]).fetchone()[0]) != version:
        yield f"schema version {version}, but {count} migrations in {MIGRATIONS_TABLE}"
    here = _parts(connection)
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.execute("BEGIN")
        migrate(fresh)
        expected = _parts(fresh)
    for (kind, name), sql in sorted(expected.items(), reverse=True):
        if (kind, name) not in here:
            yield f"{kind} {name} is missing"
        elif kind == "table" and "STRICT" not in here[kind, name].rsplit(")", 1)[-1].upper():
            yield f"table {name} was rebuilt without its rules: export the book and import it anew"
        elif kind != "table" and here[kind, name] != sql:
            yield f"{kind} {name} is not the one of schema version {version}"


def _parts(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    rows = connection.execute(
        "SELECT type, name, sql FROM sqlite_master "
        "WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'"
    )
    return {(kind, name): re.sub(r"\s+", " ", sql) for kind, name, sql in rows}


def _orphans(connection: sqlite3.Connection) -> Iterator[str]:
    for table, id, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        row = "a row" if id is None else f"row {id}"
        yield f"{table}: {row} refers to a row of {parent} that is not there"


def _breaches(
    connection: sqlite3.Connection, table: str, condition: str, fault: str
) -> Iterator[str]:
    cursor = connection.execute(f"SELECT * FROM {table} WHERE {condition}")
    names = [column[0] for column in cursor.description]
    for row in cursor:
        values = dict(zip(names, row, strict=True))
        yield f"{table}: row {values['id']}: {fault.format(**values)}"


def _bad_layouts(connection: sqlite3.Connection) -> Iterator[str]:
    for id, letters in connection.execute("SELECT id, layout FROM layouts"):
        try:
            canonical = canonical_letters(letters)
        except InvalidLayout as error:
            yield f"layouts: row {id}: {error}"
            continue
        if letters != canonical:
            yield f"layouts: row {id}: {letters} is not canonical, its mirror image {canonical} is"


def _bad_openings(connection: sqlite3.Connection) -> Iterator[str]:
    # A move is the same question wherever it stands again: mostly a few hundred of them.
    rows = connection.execute(
        "SELECT min(o.id), count(*), l.layout, min(o.ply, 2) AS early, o.move "
        "FROM openings AS o JOIN layouts AS l ON l.id = o.layout_id "
        "GROUP BY o.move, early, iif(early < 2, o.layout_id, 0)"
    )
    for id, count, letters, ply, move in rows:
        try:
            reason = impossible_move(letters, ply, move)
        except InvalidLayout:
            continue  # told already
        if reason is not None:
            more = f" and {count - 1} more" if count > 1 else ""
            yield f"openings: row {id}{more}: impossible move: {reason}"


def _bad_keys(connection: sqlite3.Connection) -> Iterator[str]:
    """Keys that tell what cannot be, and moves that cannot be made where the key says."""
    # Not above: an engine that opens a book in a hurry does not check it.
    from book.openings import read_key, why_not

    rows = connection.execute(
        "SELECT l.layout, o.key, o.id, o.ply, o.move FROM openings AS o "
        "JOIN layouts AS l ON l.id = o.layout_id ORDER BY o.layout_id, o.key"
    )
    for (letters, key), group in groupby(rows, key=itemgetter(0, 1)):
        moves = [row[2:] for row in group]
        try:
            board = read_key(letters, key)
        except InvalidLayout:
            continue  # told already
        except BookError as error:
            yield f"openings: row {moves[0][0]}: {error}"
            continue
        if board is None:
            continue  # somebody else's keys
        for id, ply, move in moves:
            if impossible_move(letters, ply, move) is not None:
                continue  # told already
            if (reason := why_not(board, parse_move(move))) is not None:
                yield f"openings: row {id}: impossible move: {move} at {key}: {reason}"


def _bad_games(connection: sqlite3.Connection) -> Iterator[str]:
    for id, digest, text in connection.execute("SELECT id, digest, record FROM games"):
        try:
            parse_record(text)
        except InvalidRecord as error:
            yield f"games: row {id}: {error}"
        if record_digest(text) != digest:
            yield f"games: row {id}: the record was changed, and its digest was not"
