"""The rooms of the project: a file imports only from those above it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Lowest first, as in docs/design.md. A file imports only from rooms above it in this list; files
# of one room may import each other.
ROOMS = """
    errors
    textfile
    pieces
    board
    layout layout_file
    rules
    hunter
    diagram
    view view_game
    history deduce behaviour belief
    tags record_lines record replay
    record_filter record_stats
    render render_svg render_sheet
    kernels
    kernel_rules weights learned
    worlds belief_table
    stats match_stats ratings
    simulate
    judge_player
    clock job alarm engine_options fallback
    race agenda
    thinker
    games
    duel panel rate
    warm
    engine
    analyse
    protocol
    transcript_game transcript
    player random_player
    engine_process
    process_player
    compliance compliance_checks
    players serve
    streams loop
    program
    referee
    record_log match_tally
    match
    pairings standings tournament_file tournament crosstable
    bench
    web
    cli
    __main__
"""
LEVEL = {
    room: level for level, line in enumerate(ROOMS.strip().split("\n")) for room in line.split()
}
JOINS_PACKAGES = {"program", "cli", "web", "__main__"}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imports(file: Path) -> Iterator[str]:
    """Full names of what a file imports, inside functions too."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: write the full name of what you import"
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


def room_of(file: Path) -> str:
    return file.relative_to(ROOT / "junqi").parts[0].removesuffix(".py")


def rooms_of(name: str) -> set[str]:
    parts = name.split(".")
    return {parts[1]} & set(LEVEL) if parts[0] == "junqi" and len(parts) > 1 else set()


def test_every_file_has_its_room() -> None:
    rooms = {room_of(file) for file in modules("junqi")} - {"__init__"}
    assert rooms <= set(LEVEL), "name the new room in its place"


@pytest.mark.parametrize("file", modules("junqi"), ids=lambda file: str(file.relative_to(ROOT)))
def test_a_file_imports_only_from_rooms_above_it(file: Path) -> None:
    room = room_of(file)
    if room == "__init__":
        assert not [name for name in imports(file) if name.startswith("junqi.")]
        return
    for name in imports(file):
        for imported in rooms_of(name):
            assert LEVEL[imported] <= LEVEL[room], f"{room} imports {name}"


def test_the_game_knows_neither_the_search_nor_the_book() -> None:
    for file in modules("junqi"):
        if room_of(file) not in JOINS_PACKAGES:
            packages = {name.split(".")[0] for name in imports(file)}
            assert not packages & {"layout_search", "book"}, file


def test_the_search_and_the_book_do_not_know_each_other() -> None:
    for package, stranger in (("layout_search", "book"), ("book", "layout_search")):
        for file in modules(package):
            packages = {name.split(".")[0] for name in imports(file)}
            assert stranger not in packages, file


def test_the_search_and_the_book_do_not_import_commands() -> None:
    for file in modules("layout_search") + modules("book"):
        assert not any(rooms_of(name) & JOINS_PACKAGES for name in imports(file)), file
