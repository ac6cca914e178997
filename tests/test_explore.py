"""The book in Datasette itself, and by the command that starts it."""

import asyncio
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from book_samples import A, B, make_book

pytest.importorskip("datasette", reason="Datasette is not installed: it comes with junqi[explore]")

from book import datasette_plugin
from book.explore import ABOUT_TABLES, HIDDEN_TABLES, QUERIES, make_datasette
from book.store import Book

Cli = Callable[..., Any]
PROGRAM = "from junqi.cli import main; main()"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_book(tmp_path / "sample.db")


def get(path: Path, *addresses: str, names: Any = "english") -> list[Any]:
    """What Datasette answers."""

    async def ask() -> list[Any]:
        datasette = make_datasette([path], names)
        await datasette.invoke_startup()
        try:
            return [await datasette.client.get(address) for address in addresses]
        finally:
            for database in datasette.databases.values():
                database.close()
            datasette.executor.shutdown()

    return asyncio.run(ask())


def test_a_layout_is_drawn_as_a_board(path: Path) -> None:
    (page,) = get(path, "/sample/layouts")
    assert page.status_code == 200
    assert page.text.count("<svg") == 3
    assert f'aria-label="layout {A}"' in page.text
    assert ">Mar<" in page.text
    assert "/-/junqi-book.css" in page.text


def test_pieces_have_the_names_that_were_asked_for(path: Path) -> None:
    (page,) = get(path, "/sample/layouts", names="chinese")
    assert ">司令<" in page.text


def test_other_cells_stay_as_they_are(path: Path) -> None:
    runs, other = get(path, "/sample/runs", "/sample?sql=select+upper(layout)+from+layouts")
    assert "<svg" not in runs.text
    assert "junqi layout evolve --seed 1" in runs.text
    assert "<svg" not in other.text
    assert A.upper() in other.text


@pytest.mark.parametrize("table", [*ABOUT_TABLES, *HIDDEN_TABLES])
def test_every_table_and_view_can_be_looked_at(path: Path, table: str) -> None:
    page, data = get(path, f"/sample/{table}", f"/sample/{table}.json?_shape=array")
    assert page.status_code == data.status_code == 200
    assert isinstance(data.json(), list)
    if table in ABOUT_TABLES:
        assert ABOUT_TABLES[table] in page.text


def test_no_table_is_without_a_word_about_it(path: Path) -> None:
    with Book.open(path, read_only=True) as book:
        rows = book.connection.execute("SELECT name FROM sqlite_master WHERE type <> 'index'")
        names = {name for (name,) in rows if not name.startswith("sqlite_")}
    assert names == {*ABOUT_TABLES, *HIDDEN_TABLES}


@pytest.mark.parametrize("name", list(QUERIES))
def test_the_ready_made_queries_run(path: Path, name: str) -> None:
    page, data = get(path, f"/sample/{name}?tag=mine", f"/sample/{name}.json?tag=mine&_shape=array")
    assert page.status_code == 200
    assert "<svg" in page.text
    assert A in [row["layout"] for row in data.json()]


def test_the_best_layout_comes_first(path: Path) -> None:
    (data,) = get(path, "/sample/best_layouts.json?_shape=array")
    assert [(row["layout"], row["score"]) for row in data.json()] == [(A, 65.0), (B, 40.0)]


def test_the_style_of_the_boards_is_served(path: Path) -> None:
    (style,) = get(path, "/-/junqi-book.css")
    assert style.status_code == 200
    assert style.headers["content-type"].startswith("text/css")
    assert ".jq-paper" in style.text


def test_nothing_can_be_changed(path: Path) -> None:
    async def change() -> None:
        datasette = make_datasette([path])
        await datasette.invoke_startup()
        database = datasette.get_database("sample")
        try:
            await database.execute("DELETE FROM layouts")
        finally:
            database.close()
            datasette.executor.shutdown()

    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        asyncio.run(change())


def test_the_square_root_is_there_where_sqlite_has_none() -> None:
    class Bare:
        """A connection of an SQLite without mathematical functions."""

        def __init__(self) -> None:
            self.made: list[str] = []

        def execute(self, sql: str) -> None:
            raise sqlite3.OperationalError("no such function: sqrt")

        def create_function(self, name: str, *_: object, **__: object) -> None:
            self.made.append(name)

    bare: Any = Bare()
    datasette_plugin.prepare_connection(bare)
    assert bare.made == ["sqrt"]


def test_a_book_on_a_read_only_medium_is_shown(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Whoever runs the tests may be allowed to write everywhere.
    connect = sqlite3.connect

    def connect_without_locks(address: str, *args: Any, **options: Any) -> sqlite3.Connection:
        if "mode=ro" in str(address):
            raise sqlite3.OperationalError("unable to open database file")
        return connect(address, *args, **options)

    monkeypatch.setattr("sqlite3.connect", connect_without_locks)
    (page,) = get(path, "/sample/layouts")
    assert page.status_code == 200
    assert page.text.count("<svg") == 3


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
def test_the_command_serves_until_ctrl_c(path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "book", "explore", "--book", str(path), "--port", "0",
         "--no-browser"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        told = re.match(r"(http://127\.0\.0\.1:\d+/) ", process.stderr.readline())
        assert told
        with urlopen(f"{told[1]}sample/layouts", timeout=60) as answer:
            assert answer.read().decode().count("<svg") == 3
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "Traceback" not in err
    finally:
        process.kill()
        process.communicate()


def test_a_port_that_is_taken_is_told_in_one_line(cli: Cli, path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = cli("book", "explore", "--book", path, "--port", port, "--no-browser")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"junqi: error: port {port} cannot be used (")
    assert ran.err.endswith("--port 0 takes any free one\n")
    ran = cli("book", "explore", "--book", path, "--port", 99999, "--no-browser")
    assert ran.code == 1
    assert ran.err == "junqi: error: expected a port from 0 to 65535, got 99999\n"


def test_a_browser_is_opened_if_wanted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from book import explore

    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(explore.uvicorn.Server, "run", lambda self, sockets: None)
    told: list[str] = []
    explore.serve([path], port=0, open_browser=True, tell=told.append)
    assert told == [f"{opened[0]} (Ctrl-C ends it)"]


def test_without_datasette_the_command_says_what_to_install(
    cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "datasette"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "book.explore", raising=False)
    monkeypatch.setitem(sys.modules, "datasette", None)
    monkeypatch.setitem(sys.modules, "datasette.app", None)
    ran = cli("book", "explore", "--book", path)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        "junqi: error: expected Datasette, which is not installed: pip install 'junqi[explore]',"
        " or pip install datasette\n"
    )


def test_datasette_itself_draws_boards_too(path: Path) -> None:
    if not any(e.value == "book.datasette_plugin" for e in entry_points(group="datasette")):
        pytest.skip("junqi was installed before it told Datasette of its plugin: install it again")
    ran = subprocess.run(
        [sys.executable, "-m", "datasette", str(path), "--get", "/sample/layouts"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert ran.stdout.count("<svg") == 3
