"""The tables of a book, as numbered migrations.

A step never changes once a book has been made with it: what comes later is a new step. The steps
are a set of sqlite-utils' migrations: the table ``_sqlite_migrations`` tells which of them a file
has been through, and SQLite's own ``PRAGMA user_version`` how many.
"""

import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sqlite_utils import Database, Migrations

Step: TypeAlias = "Callable[[Database], None]"

# What SQLite's `PRAGMA application_id` says of a book: "JQBK" in ASCII.
APPLICATION_ID = 0x4A51424B
MIGRATION_SET = "junqi_book"
MIGRATIONS_TABLE = "_sqlite_migrations"

# The tables with the user's data, parents before children. Each has an integer key `id` that is
# never used again, not even after its row was removed: the change log relies on it.
TABLES = (
    "runs",
    "layouts",
    "layout_tags",
    "evidence",
    "payoffs",
    "openings",
    "games",
)

VERSION_1 = (
    """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE CHECK (key <> ''),
    command TEXT NOT NULL,
    settings TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(settings)),
    seed INTEGER CHECK (seed >= 0),
    started TEXT NOT NULL,
    seconds REAL CHECK (seconds >= 0),
    games INTEGER CHECK (games >= 0),
    machine TEXT NOT NULL DEFAULT '',
    version TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'running'
        CHECK (status IN ('running', 'done', 'interrupted', 'failed')),
    notes TEXT NOT NULL DEFAULT ''
) STRICT
""",
    """
CREATE TABLE layouts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    layout TEXT NOT NULL UNIQUE CHECK (length(layout) = 25 AND layout NOT GLOB '*[^a-l]*'),
    name TEXT NOT NULL DEFAULT '',
    origin TEXT NOT NULL DEFAULT 'imported'
        CHECK (origin IN ('evolved', 'human', 'imported', 'seen')),
    role TEXT NOT NULL DEFAULT 'both' CHECK (role IN ('own', 'opponent', 'both')),
    weight REAL NOT NULL DEFAULT 0 CHECK (weight >= 0 AND weight < 1e300),
    moves TEXT NOT NULL DEFAULT 'both' CHECK (moves IN ('both', 'first', 'second')),
    enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
    notes TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    run_id INTEGER REFERENCES runs (id) ON DELETE SET NULL
) STRICT
""",
    # The mixture is a small part of a large table.
    """
CREATE INDEX layouts_in_mixture ON layouts (layout)
    WHERE enabled = 1 AND weight > 0 AND role <> 'opponent'
""",
    "CREATE INDEX layouts_by_name ON layouts (name) WHERE name <> ''",
    """
CREATE TABLE layout_tags (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    layout_id INTEGER NOT NULL REFERENCES layouts (id) ON DELETE CASCADE,
    tag TEXT NOT NULL CHECK (tag <> ''),
    UNIQUE (layout_id, tag)
) STRICT
""",
    "CREATE INDEX layout_tags_by_tag ON layout_tags (tag, layout_id)",
    """
CREATE TABLE evidence (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    layout_id INTEGER NOT NULL REFERENCES layouts (id) ON DELETE CASCADE,
    kind TEXT NOT NULL DEFAULT 'fresh' CHECK (kind IN ('fresh', 'selection', 'attack')),
    opponents TEXT NOT NULL,
    judge TEXT NOT NULL,
    seed INTEGER CHECK (seed >= 0),
    games INTEGER NOT NULL CHECK (games > 0),
    wins INTEGER NOT NULL CHECK (wins >= 0),
    draws INTEGER NOT NULL CHECK (draws >= 0),
    losses INTEGER NOT NULL CHECK (losses >= 0),
    score REAL NOT NULL,
    error REAL NOT NULL CHECK (error >= 0 AND error < 1e300),
    version TEXT NOT NULL DEFAULT '',
    command TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    run_id INTEGER REFERENCES runs (id) ON DELETE SET NULL,
    CHECK (wins + draws + losses = games),
    CHECK (abs(score - (wins + 0.5 * draws) / games) < 1e-9)
) STRICT
""",
    # The same games counted twice would look like more evidence.
    """
CREATE UNIQUE INDEX evidence_once ON evidence
    (layout_id, kind, judge, opponents, coalesce(seed, -1), games, version, command)
""",
    """
CREATE TABLE payoffs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    layout_id INTEGER NOT NULL REFERENCES layouts (id) ON DELETE CASCADE,
    opponent_id INTEGER NOT NULL REFERENCES layouts (id) ON DELETE CASCADE,
    judge TEXT NOT NULL,
    seed INTEGER CHECK (seed >= 0),
    games INTEGER NOT NULL CHECK (games > 0),
    wins INTEGER NOT NULL CHECK (wins >= 0),
    draws INTEGER NOT NULL CHECK (draws >= 0),
    losses INTEGER NOT NULL CHECK (losses >= 0),
    score REAL NOT NULL,
    error REAL NOT NULL CHECK (error >= 0 AND error < 1e300),
    version TEXT NOT NULL DEFAULT '',
    command TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    run_id INTEGER REFERENCES runs (id) ON DELETE SET NULL,
    CHECK (layout_id <> opponent_id),
    CHECK (wins + draws + losses = games),
    CHECK (abs(score - (wins + 0.5 * draws) / games) < 1e-9)
) STRICT
""",
    """
CREATE UNIQUE INDEX payoffs_once ON payoffs
    (layout_id, opponent_id, judge, coalesce(seed, -1), games, version, command)
""",
    "CREATE INDEX payoffs_by_opponent ON payoffs (opponent_id)",
    """
CREATE TABLE openings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    layout_id INTEGER NOT NULL REFERENCES layouts (id) ON DELETE CASCADE,
    key TEXT NOT NULL CHECK (key <> ''),
    move TEXT NOT NULL CHECK (move GLOB '[A-L][0-4][A-L][0-4]'),
    ply INTEGER NOT NULL DEFAULT 0 CHECK (ply >= 0),
    visits INTEGER NOT NULL DEFAULT 0 CHECK (visits >= 0),
    score REAL CHECK (score BETWEEN 0 AND 1),
    error REAL CHECK (error >= 0 AND error < 1e300),
    weight REAL NOT NULL DEFAULT 1 CHECK (weight >= 0 AND weight < 1e300),
    enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
    notes TEXT NOT NULL DEFAULT '',
    source TEXT NOT NULL DEFAULT '',
    run_id INTEGER REFERENCES runs (id) ON DELETE SET NULL,
    UNIQUE (layout_id, key, move)
) STRICT
""",
    """
CREATE TABLE games (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest TEXT NOT NULL UNIQUE CHECK (digest <> ''),
    played TEXT NOT NULL DEFAULT '',
    side TEXT CHECK (side IN ('red', 'black')),
    opponent TEXT NOT NULL DEFAULT '',
    result TEXT NOT NULL DEFAULT '*' CHECK (result IN ('1-0', '0-1', '1/2-1/2', '*')),
    reason TEXT NOT NULL DEFAULT '',
    plies INTEGER NOT NULL DEFAULT 0 CHECK (plies >= 0),
    layout_id INTEGER REFERENCES layouts (id) ON DELETE SET NULL,
    seen TEXT NOT NULL DEFAULT '' CHECK (seen = '' OR length(seen) = 25),
    source TEXT NOT NULL DEFAULT '',
    notes TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    record TEXT NOT NULL
) STRICT
""",
    "CREATE INDEX games_by_layout ON games (layout_id)",
    """
CREATE TABLE changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    made TEXT NOT NULL,
    what TEXT NOT NULL,
    summary TEXT NOT NULL,
    version TEXT NOT NULL,
    undoes INTEGER REFERENCES changes (id)
) STRICT
""",
    # What undo needs. A row that was changed or removed is kept as JSON; rows that were added are
    # told by their first and last id.
    """
CREATE TABLE change_rows (
    change_id INTEGER NOT NULL REFERENCES changes (id) ON DELETE CASCADE,
    table_name TEXT NOT NULL,
    first_id INTEGER NOT NULL,
    last_id INTEGER NOT NULL,
    before TEXT,
    after TEXT,
    PRIMARY KEY (change_id, table_name, first_id)
) STRICT, WITHOUT ROWID
""",
    """
CREATE VIEW mixture AS
    SELECT id, layout, name, weight,
        weight / sum(weight) OVER () AS share,
        moves, origin, notes
    FROM layouts
    WHERE enabled = 1 AND weight > 0 AND role <> 'opponent'
    ORDER BY weight DESC, layout
""",
    # Each score counts by its games, and so does its error.
    """
CREATE VIEW layout_scores AS
    SELECT layouts.id AS layout_id, layouts.layout, layouts.name, evidence.kind, evidence.judge,
        evidence.opponents, count(*) AS scores, sum(evidence.games) AS games,
        sum(wins) AS wins, sum(draws) AS draws, sum(losses) AS losses,
        (sum(wins) + 0.5 * sum(draws)) / sum(evidence.games) AS score,
        sqrt(sum(error * error * evidence.games * evidence.games)) / sum(evidence.games) AS error
    FROM evidence JOIN layouts ON layouts.id = evidence.layout_id
    GROUP BY evidence.layout_id, evidence.kind, evidence.judge, evidence.opponents
""",
    # Both ways round, though each pair is kept once.
    """
CREATE VIEW payoff_matrix AS
    WITH told (layout_id, opponent_id, judge, games, points, variance) AS (
        SELECT layout_id, opponent_id, judge, games, wins + 0.5 * draws,
            error * error * games * games
        FROM payoffs
        UNION ALL
        SELECT opponent_id, layout_id, judge, games, losses + 0.5 * draws,
            error * error * games * games
        FROM payoffs
    )
    SELECT a.layout AS layout, b.layout AS opponent, judge, sum(games) AS games,
        sum(points) / sum(games) AS score, sqrt(sum(variance)) / sum(games) AS error
    FROM told JOIN layouts AS a ON a.id = layout_id JOIN layouts AS b ON b.id = opponent_id
    GROUP BY layout_id, opponent_id, judge
""",
    """
CREATE VIEW opening_moves AS
    SELECT openings.id, layouts.layout, openings.ply, openings.key, openings.move,
        openings.visits, openings.score, openings.error, openings.weight, openings.enabled,
        openings.source, openings.notes, runs.key AS run
    FROM openings JOIN layouts ON layouts.id = openings.layout_id
        LEFT JOIN runs ON runs.id = openings.run_id
""",
    """
CREATE VIEW recent_changes AS
    SELECT id, made, what, summary, undoes
    FROM changes ORDER BY id DESC LIMIT 100
""",
)


def version_1(db: "Database") -> None:
    """The tables and views of the first books."""
    for statement in VERSION_1:
        db.execute(statement)


STEPS: tuple[Step, ...] = (version_1,)


def newest_version() -> int:
    """The schema version that new books have."""
    return len(STEPS)


def read_version(connection: sqlite3.Connection) -> int:
    """The schema version of a file, 0 if it is not a book.

    A copy made with ``.dump`` has lost what the pragmas said, but not the list of migrations.
    """
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if application == APPLICATION_ID:
        return version
    tables = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
    if not connection.execute(tables, [MIGRATIONS_TABLE]).fetchone()[0]:
        return 0
    steps = f"SELECT count(*) FROM {MIGRATIONS_TABLE} WHERE migration_set = ?"
    count: int = connection.execute(steps, [MIGRATION_SET]).fetchone()[0]
    return count


def migrate(connection: sqlite3.Connection) -> None:
    """Take a file through the steps that it lacks, inside the transaction that is open."""
    from sqlite_utils import Database

    db = Database(connection, recursive_triggers=False, execute_plugins=False)
    if not db[MIGRATIONS_TABLE].exists():
        columns = {"id": int, "migration_set": str, "name": str, "applied_at": str}
        db.table(MIGRATIONS_TABLE).create(columns, pk="id", strict=True)
        db.table(MIGRATIONS_TABLE).create_index(["migration_set", "name"], unique=True)
    is_older = read_version(connection) > 0
    _migrations().apply(db)
    if is_older:
        # Rows as they were before do not fit any more; the backup has them.
        db.execute("DELETE FROM change_rows")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {newest_version()}")


def _migrations() -> "Migrations":
    from sqlite_utils import Migrations

    migrations = Migrations(MIGRATION_SET)
    for step in STEPS:
        migrations()(step)
    return migrations
