"""README and docs claim only what is so: their sessions run, their files exist."""

import re
import shlex
from pathlib import Path

import pytest
from book_samples import make_book

from book.store import Book
from junqi.compliance_checks import CHECKS, what_of

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def sessions() -> list[tuple[str, str]]:
    """Each command of a console block with the output shown for it."""
    found = []
    for page in PAGES:
        for block in blocks(page, "console"):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                found.append((command, output))
    return found


@pytest.mark.parametrize(("command", "output"), sessions(), ids=lambda text: text[:60])
def test_a_session_prints_what_the_page_shows(command, output, cli) -> None:
    program, *arguments = shlex.split(command)
    assert program == "junqi"
    run = cli(*arguments)
    pattern = re.escape(output).replace(re.escape("...\n"), "(?s:.*)")
    assert re.fullmatch(pattern, run.out), run.out


def test_the_python_example_of_the_readme_runs(capsys) -> None:
    (example,) = blocks(ROOT / "README.md", "python")
    exec(compile(example, "README.md", "exec"), {})
    assert re.fullmatch(r"\d+% against random layouts\n", capsys.readouterr().out)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)|src=\"([^\"]+)\"", page.read_text(encoding="utf-8")):
        target = link[0] or link[1]
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize(
    "query", blocks(ROOT / "docs" / "book.md", "sql"), ids=lambda sql: sql[:60]
)
def test_a_query_of_the_books_page_finds_something(query, tmp_path) -> None:
    with Book.open(make_book(tmp_path / "sample.db"), read_only=True) as book:
        assert book.connection.execute(query).fetchall()


def test_the_books_page_names_every_table_column_and_view(tmp_path) -> None:
    page = (ROOT / "docs" / "book.md").read_text(encoding="utf-8")
    with Book.open(make_book(tmp_path / "sample.db"), read_only=True) as book:
        query = book.connection.execute
        names = [name for (name,) in query("SELECT name FROM sqlite_master WHERE type <> 'index'")]
        for name in names:
            if not name.startswith(("sqlite_", "_")):
                assert f"`{name}`" in page
        for table in ("layouts", "evidence", "openings", "runs"):
            for (column,) in query(f"SELECT name FROM pragma_table_info('{table}')"):
                assert f"`{column}`" in page, (table, column)


def test_the_protocols_page_lists_every_check() -> None:
    page = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", page, flags=re.MULTILINE))
    told = {name: what_of(check) for name, check in CHECKS.items()}
    assert rows == {name: what[0].lower() + what[1:] for name, what in told.items()}
