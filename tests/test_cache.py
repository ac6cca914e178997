"""Compiled kernels are kept between runs, and never outlive the sources they were made of."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from junqi.kernels import jit

PACKAGE = Path(jit.__file__).parents[1]

# An engineer meets a mine, by a compiled function; prints what stands there then, and whether
# machine code came from the cache.
MEETING = """
import numpy as np
from junqi import __file__ as package
from junqi.kernels.playout import settle
from junqi.pieces import ENGINEER, MINE
board = np.zeros(64, np.uint8)
board[[20, 21]] = ENGINEER, MINE
one = np.uint64(1)
words = [one << np.uint64(20)] * 3 + [one << np.uint64(21), np.uint64(0), np.uint64(0)]
settle(board, np.uint64(20), np.uint64(21), *words)
print(package, {ENGINEER: "engineer", MINE: "mine", 0: "empty"}[int(board[21])],
      "cached" if settle.stats.cache_hits else "compiled")
"""


class Copy:
    """A copy of the package with a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "junqi"
        self.cache = folder / "cache"
        ignored = shutil.ignore_patterns("__pycache__", "cli")
        shutil.copytree(PACKAGE, self.package, ignore=ignored)

    def run(self, code: str = MEETING, cache: Path | None = None) -> list[str]:
        """What a new process prints, without the place of the package."""
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache or self.cache)}
        ran = subprocess.run(
            [sys.executable, "-c", code],
            cwd=self.package.parent,  # from where Python then imports
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert ran.returncode == 0, ran.stderr
        package, *words = ran.stdout.split()
        assert Path(package).parent.samefile(self.package)
        return words

    def edit(self, name: str, old: str, new: str) -> None:
        file = self.package / name
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1
        file.write_text(text.replace(old, new), encoding="utf-8")

    def machine_code(self) -> list[Path]:
        """Everything that numba has left behind next to the sources."""
        return [*self.package.rglob("*.nbi"), *self.package.rglob("*.nbc")]


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_an_edit_to_a_rule_is_never_answered_from_the_cache(copy: Copy) -> None:
    # Neither edit is in the file of the compiled function, which is all that numba looks at.
    assert copy.run() == ["engineer", "compiled"]
    assert copy.run() == ["engineer", "cached"]
    digs = "return ATTACKER_WINS if attacker == ENGINEER else DEFENDER_WINS"
    copy.edit("pieces.py", digs, "return BOTH_REMOVED")
    assert copy.run() == ["empty", "compiled"]
    copy.edit(
        "kernels/tables.py", "after[index], gone[index] = EMPTY", "after[index], gone[index] = 11"
    )
    assert copy.run() == ["mine", "compiled"]
    # Going back to what was there before goes back to its machine code.
    copy.edit(
        "kernels/tables.py", "after[index], gone[index] = 11", "after[index], gone[index] = EMPTY"
    )
    copy.edit("pieces.py", "return BOTH_REMOVED\n    return", f"{digs}\n    return")
    assert copy.run() == ["engineer", "cached"]
    assert copy.machine_code() == []


def test_machine_code_is_kept_in_the_cache_folder_only(copy: Copy) -> None:
    copy.run()
    (folder,) = copy.cache.iterdir()
    assert folder.name == f"kernels-{jit.source_digest(copy.package)}"
    assert list(folder.rglob("*.nbi"))
    assert copy.machine_code() == []


def test_where_no_folder_can_be_made_there_is_play_without_a_cache(copy: Copy) -> None:
    file = copy.package.parent / "file"
    file.touch()
    assert copy.run(cache=file) == ["engineer", "compiled"]
    assert copy.machine_code() == []


def test_where_nothing_can_be_written_there_is_play_without_a_cache(copy: Copy) -> None:
    """Numba by itself would turn to folders that are not named by the digest."""
    folder = copy.cache / f"kernels-{jit.source_digest(copy.package)}"
    folder.mkdir(parents=True)
    # As root one may write anywhere, so the system's refusal is played.
    refusal = f"""
import tempfile
allowed = tempfile.TemporaryFile
def refuse(*args, **options):
    if str(options.get("dir", "")).startswith({str(copy.cache)!r}):
        raise PermissionError(13, "Permission denied")
    return allowed(*args, **options)
tempfile.TemporaryFile = refuse
"""
    for _ in range(2):
        assert copy.run(refusal + MEETING) == ["engineer", "compiled"]
    assert list(folder.iterdir()) == []
    assert copy.machine_code() == []


# The digest


def test_the_digest_depends_on_every_source_of_a_kernel(copy: Copy) -> None:
    digest = jit.source_digest(copy.package)
    assert digest == jit.source_digest(PACKAGE)
    files = [*copy.package.glob("kernels/*.py")]
    files += [copy.package / name for name in jit.OUTSIDE_SOURCES]
    assert len(files) > 15
    seen = {digest}
    for file in files:
        before = file.read_bytes()
        file.write_bytes(before + b"\n# another line\n")
        seen.add(jit.source_digest(copy.package))
        file.write_bytes(before)
    assert len(seen) == len(files) + 1
    (copy.package / "kernels" / "more.py").touch()
    assert jit.source_digest(copy.package) not in seen


def test_the_digest_does_not_depend_on_what_no_kernel_is_made_of(copy: Copy) -> None:
    digest = jit.source_digest(copy.package)
    for name in ("weights.py", "simulate.py", "duel.py"):
        (copy.package / name).write_text("# nothing")
    assert jit.source_digest(copy.package) == digest


def imported_by(file: Path) -> set[Path]:
    """The files of our own that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            path = PACKAGE.parent.joinpath(*name.split("."))
            if name.startswith("junqi.") and path.with_suffix(".py").exists():
                found.add(path.with_suffix(".py"))
    return found


def test_all_that_the_kernels_import_is_in_the_digest() -> None:
    kernels = set((PACKAGE / "kernels").glob("*.py"))
    known, new = set(), kernels
    while new:
        known |= new
        new = {file for source in new for file in imported_by(source)} - known
    outside = {file.relative_to(PACKAGE).as_posix() for file in known - kernels}
    assert outside == set(jit.OUTSIDE_SOURCES)


# The folder


def make_folders(base: Path, count: int) -> list[Path]:
    """Cache folders of other versions, the oldest first."""
    folders = [base / f"kernels-{number:016x}" for number in range(count)]
    for age, folder in enumerate(folders):
        (folder / "kernels_x").mkdir(parents=True)
        (folder / "kernels_x" / "code.nbi").touch()
        os.utime(folder, (1000 + age, 1000 + age))
    return folders


def test_folders_of_old_versions_are_dropped(tmp_path: Path) -> None:
    folders = make_folders(tmp_path, 7)
    (tmp_path / "kernels-notes.txt").touch()
    (tmp_path / "something-else").mkdir()
    new = tmp_path / "kernels-new"
    assert jit._prepare(new)
    kept = {new.name, "kernels-notes.txt", "something-else"}
    kept |= {folder.name for folder in folders[-jit.KEPT_FOLDERS :]}
    assert {path.name for path in tmp_path.iterdir()} == kept


def test_nothing_is_dropped_while_the_version_stays_the_same(tmp_path: Path) -> None:
    folders = make_folders(tmp_path, 7)
    assert jit._prepare(folders[0])
    assert all(folder.is_dir() for folder in folders)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not jit._prepare(tmp_path / "file" / "kernels-new")


def test_the_cache_is_the_users_or_where_numba_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"kernels-{jit.source_digest()}"
    monkeypatch.setenv("NUMBA_CACHE_DIR", "somewhere")
    assert jit.cache_folder() == Path("somewhere") / name
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert jit.cache_folder().name == name
    assert "junqi" in str(jit.cache_folder().parent).lower()


def test_other_users_of_numba_keep_their_own_cache() -> None:
    from numba import config

    @jit.njit
    def one():
        return 1

    assert one() == 1
    assert str(jit._FOLDER) != config.CACHE_DIR
