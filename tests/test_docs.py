"""README and docs claim only what is so: their sessions run, their files exist."""

import re
import shlex
from pathlib import Path

import pytest

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
