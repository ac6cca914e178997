"""The tables of a book: their rules, their indices, and books of every schema version."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from book_samples import A, B, make_book

from book import schema
from book.errors import BookError
from book.migrate import migrate_file
from book.opening_table import _LOOKUP
from book.store import Book
from book.transfer import export_lines

if TYPE_CHECKING:
    from sqlite_utils import Database

FIXTURES = Path(__file__).parent / "data" / "books"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_book(tmp_path / "book.db")


@pytest.fixture
def sql(path: Path) -> Iterator[sqlite3.Connection]:
    """The book as plain SQLite sees it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        yield connection


def test_every_table_is_strict(sql: sqlite3.Connection) -> None:
    rows = sql.execute(
        "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
        "AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    ).fetchall()
    assert {name for name, _ in rows} >= set(schema.TABLES)
    assert [name for name, strict in rows if not strict] == []


def test_the_schema_version_is_read_with_plain_sqlite(sql: sqlite3.Connection) -> None:
    assert sql.execute("PRAGMA user_version").fetchone() == (schema.newest_version(),)
    assert sql.execute("PRAGMA application_id").fetchone() == (0x4A51424B,)
    steps = sql.execute("SELECT migration_set, name FROM _sqlite_migrations").fetchall()
    assert steps == [("junqi_book", f"version_{n}") for n in range(1, len(steps) + 1)]
    assert len(steps) == schema.newest_version()


def test_a_book_is_in_wal_mode(sql: sqlite3.Connection) -> None:
    assert sql.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE layouts SET weight = -1",
        "UPDATE layouts SET weight = 9e999",
        "UPDATE layouts SET weight = 'heavy'",
        "UPDATE layouts SET origin = 'found'",
        "UPDATE layouts SET role = 'enemy'",
        "UPDATE layouts SET moves = 'third'",
        "UPDATE layouts SET enabled = 2",
        "UPDATE layouts SET enabled = 'yes'",
        "UPDATE layouts SET layout = substr(layout, 1, 24)",
        "UPDATE layouts SET layout = upper(layout)",
        f"INSERT INTO layouts (layout) VALUES ('{A}')",
        "UPDATE layouts SET name = NULL",
        "UPDATE layout_tags SET tag = ''",
        "INSERT INTO layout_tags (layout_id, tag) VALUES (1, 'mine')",
        "UPDATE evidence SET wins = wins + 1",
        "UPDATE evidence SET score = 0.9",
        "UPDATE evidence SET games = 0, wins = 0, draws = 0, losses = 0",
        "UPDATE evidence SET error = -0.1",
        "UPDATE evidence SET kind = 'rumour'",
        "UPDATE evidence SET seed = -1",
        "UPDATE evidence SET layout_id = 1, seed = NULL",
        "UPDATE payoffs SET opponent_id = layout_id",
        "UPDATE payoffs SET losses = losses + 1",
        "UPDATE openings SET move = 'G0M0'",
        "UPDATE openings SET move = 'G0F05'",
        "UPDATE openings SET score = 1.5",
        "UPDATE openings SET visits = -1",
        "UPDATE openings SET move = 'G0F0'",
        "UPDATE runs SET settings = '{'",
        "UPDATE runs SET status = 'lost'",
        "UPDATE runs SET key = ''",
        "INSERT INTO games (digest, record, result) VALUES ('x', '', '2-0')",
        "INSERT INTO games (digest, record, seen) VALUES ('x', '', 'abc')",
    ],
)
def test_the_tables_refuse_what_cannot_be(sql: sqlite3.Connection, statement: str) -> None:
    sql.execute("UPDATE evidence SET version = '', command = ''")
    with pytest.raises(sqlite3.IntegrityError):
        sql.execute(statement)


def test_what_refers_to_nothing_is_refused(sql: sqlite3.Connection) -> None:
    for statement in (
        "INSERT INTO layout_tags (layout_id, tag) VALUES (99, 'x')",
        "UPDATE layouts SET run_id = 99",
        "UPDATE payoffs SET opponent_id = 99",
        "UPDATE openings SET layout_id = 99",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            sql.execute(statement)


def test_what_belongs_to_a_layout_goes_with_it(sql: sqlite3.Connection) -> None:
    sql.execute("DELETE FROM layouts WHERE layout = ?", [A])
    for table in ("layout_tags", "evidence", "openings"):
        rows = f"SELECT count(*) FROM {table} WHERE layout_id = 1"
        assert sql.execute(rows).fetchone() == (0,)
    assert sql.execute("SELECT count(*) FROM payoffs").fetchone() == (0,)
    assert sql.execute("SELECT count(*) FROM evidence").fetchone() == (1,)


def test_a_run_may_go_and_what_it_found_stays(sql: sqlite3.Connection) -> None:
    sql.execute("DELETE FROM runs")
    assert sql.execute("SELECT run_id FROM layouts WHERE layout = ?", [A]).fetchone() == (None,)


def test_an_id_is_never_used_again(sql: sqlite3.Connection) -> None:
    sql.execute("DELETE FROM layouts WHERE id = 3")
    sql.execute("INSERT INTO layouts (layout) VALUES ('fhbicdieagkcghkedgjfihjlj')")
    assert sql.execute("SELECT max(id) FROM layouts").fetchone() == (4,)


def test_the_views_are_for_people(sql: sqlite3.Connection) -> None:
    mixture = sql.execute("SELECT layout, weight, share FROM mixture").fetchall()
    assert mixture == [(A, 0.75, 0.75), (B, 0.25, 0.25)]
    scores = sql.execute(
        "SELECT layout, games, score, round(error, 9) FROM layout_scores"
    ).fetchall()
    assert scores == [(A, 100, 0.65, 0.05), (B, 100, 0.4, 0.05)]
    payoffs = sql.execute("SELECT layout, opponent, games, score FROM payoff_matrix").fetchall()
    assert payoffs == [(A, B, 10, 0.65), (B, A, 10, 0.35)]
    moves = sql.execute("SELECT layout, key, move, enabled FROM opening_moves").fetchall()
    assert moves == [(A, "start", "G0F0", 1), (A, "start", "G2F2", 0)]
    changes = sql.execute("SELECT what FROM recent_changes").fetchall()
    assert changes == [("make a sample",)]


def test_a_lookup_needs_only_indices(sql: sqlite3.Connection) -> None:
    plan = [row[3] for row in sql.execute(f"EXPLAIN QUERY PLAN {_LOOKUP}", ["", "", 1])]
    assert not any(step.startswith("SCAN") for step in plan), plan
    assert any("layout_id=? AND key=?" in step for step in plan), plan


def test_the_mixture_is_found_by_its_own_index(sql: sqlite3.Connection) -> None:
    plan = [row[3] for row in sql.execute("EXPLAIN QUERY PLAN SELECT * FROM mixture")]
    assert any("layouts_in_mixture" in step for step in plan), plan


# Books of every schema version


def restore(version: int, path: Path) -> Path:
    """Make a book from the fixture of a schema version."""
    text = (FIXTURES / f"version_{version}.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(text)
    return path


def test_there_is_a_fixture_of_each_version() -> None:
    versions = [f"version_{n}.sql" for n in range(1, schema.newest_version() + 1)]
    assert sorted(file.name for file in FIXTURES.glob("*.sql")) == versions


@pytest.mark.parametrize("version", range(1, schema.newest_version() + 1))
def test_a_book_of_each_version_opens_with_all_it_holds(version: int, tmp_path: Path) -> None:
    path = restore(version, tmp_path / "old.db")
    expected = (FIXTURES / f"version_{version}.txt").read_text(encoding="utf-8")
    with Book.open(path) as book:
        assert book.schema_version == schema.newest_version()
        assert list(book.check()) == []
        assert "".join(export_lines(book)) == expected
    is_older = version < schema.newest_version()
    assert (tmp_path / f"old.db.v{version}-backup").exists() == is_older


def test_a_book_that_lost_its_pragmas_is_still_one(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 0")
        connection.execute("PRAGMA user_version = 0")
    with Book.open(path, read_only=True) as book:
        assert book.schema_version == schema.newest_version()


def next_version(db: "Database") -> None:
    """A schema that may come one day: a table is rebuilt, and a column renamed."""
    db.execute("ALTER TABLE runs RENAME COLUMN notes TO remarks")
    db.execute("CREATE TABLE new_tags (id INTEGER PRIMARY KEY, layout_id INTEGER, tag TEXT) STRICT")
    db.execute("INSERT INTO new_tags SELECT * FROM layout_tags")
    db.execute("DROP TABLE layout_tags")
    db.execute("ALTER TABLE new_tags RENAME TO layout_tags")
    db.table("games").add_column("place", str)


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> int:
    """Be a program with one more schema version than there is."""
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, next_version))
    return schema.newest_version()


def columns(path: Path, table: str) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def test_an_older_book_is_migrated_with_a_backup(path: Path, newer: int) -> None:
    report = migrate_file(path)
    assert (report.old, report.new) == (newer - 1, newer)
    assert report.backup == path.with_name(f"book.db.v{newer - 1}-backup")
    assert "remarks" in columns(path, "runs")
    assert "place" in columns(path, "games")
    with closing(sqlite3.connect(path)) as connection:
        assert schema.read_version(connection) == newer
        assert connection.execute("SELECT count(*) FROM layouts").fetchone() == (3,)
        assert connection.execute("SELECT count(*) FROM layout_tags").fetchone() == (3,)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    with closing(sqlite3.connect(report.backup)) as connection:
        assert schema.read_version(connection) == newer - 1
        assert connection.execute("SELECT count(*) FROM layouts").fetchone() == (3,)
    assert "notes" in columns(report.backup, "runs")
    assert migrate_file(path).backup is None


def test_opening_an_older_book_migrates_it(path: Path, newer: int) -> None:
    Book.open(path).close()
    assert path.with_name(f"book.db.v{newer - 1}-backup").exists()
    with closing(sqlite3.connect(path)) as connection:
        assert schema.read_version(connection) == newer


def test_a_reader_does_not_migrate(path: Path, newer: int) -> None:
    for options in ({"read_only": True}, {"upgrade": False}):
        with pytest.raises(BookError, match=r"older schema version .*junqi book migrate"):
            Book.open(path, **options)
    assert migrate_file(path, dry_run=True).old == newer - 1
    assert [file.name for file in path.parent.iterdir() if "backup" in file.name] == []


def test_a_backup_takes_the_place_of_no_other(path: Path, newer: int) -> None:
    taken = path.with_name(f"book.db.v{newer - 1}-backup")
    taken.write_text("mine")
    report = migrate_file(path)
    assert report.backup == path.with_name(f"book.db.v{newer - 1}-backup-2")
    assert taken.read_text() == "mine"


def test_a_migration_that_fails_changes_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(db: "Database") -> None:
        db.execute("DROP TABLE evidence")
        db.execute("nonsense")

    before = path.read_bytes()
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, next_version, broken))
    with pytest.raises(BookError, match="nonsense"):
        migrate_file(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    with Book.open(path) as book:
        assert list(book.check()) == []


def test_a_migration_that_would_lose_rows_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        schema, "STEPS", (*schema.STEPS, lambda db: db.execute("DELETE FROM layouts"))
    )
    with pytest.raises(BookError, match="would be lost"):
        migrate_file(path)
    monkeypatch.undo()
    with Book.open(path) as book:
        assert book.count_layouts() == 3


def test_after_a_migration_nothing_can_be_undone_but_the_log_stays(path: Path, newer: int) -> None:
    migrate_file(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM change_rows").fetchone() == (0,)
        assert connection.execute("SELECT what FROM changes").fetchall() == [("make a sample",)]


def test_a_book_of_a_newer_version_is_left_alone(
    path: Path, newer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate_file(path)
    monkeypatch.undo()
    for read_only in (True, False):
        with pytest.raises(BookError, match=f"version {newer - 1} or older, got {newer}"):
            Book.open(path, read_only)
