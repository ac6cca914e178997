"""The one `njit` that all kernels use, and the cache its machine code is kept in.

Numba's own cache looks only at the file that holds a function: after an edit to a table or a
helper in another file it would go on serving the old code. So the cache folder is named by a
digest of every source that a kernel is made of, and any edit opens a new folder.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import config
from platformdirs import user_cache_path

_KERNELS = Path(__file__).parent
# What the kernels import from outside their folder; a test keeps this list complete.
OUTSIDE_SOURCES = ("errors.py", "pieces.py", "board.py", "layout.py", "rules.py")
# Folders of other versions that are kept, so that two checkouts can live side by side.
KEPT_FOLDERS = 4

F = TypeVar("F", bound=Callable[..., Any])


def source_digest(package: Path = _KERNELS.parent) -> str:
    """A short digest of every source file that decides what a kernel does."""
    files = sorted((package / "kernels").glob("*.py"))
    files += [package / name for name in OUTSIDE_SOURCES]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where compiled kernels are kept: below ``NUMBA_CACHE_DIR``, or the user's cache folder."""
    base = os.environ.get("NUMBA_CACHE_DIR") or user_cache_path("junqi")
    return Path(base) / f"kernels-{source_digest()}"


def _prepare(folder: Path) -> None:
    """Make the cache folder and drop the folders of versions long gone."""
    if folder.is_dir():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = [p for p in folder.parent.glob("kernels-*") if p != folder and p.is_dir()]
        others.sort(key=lambda p: p.stat().st_mtime, reverse=True)
        for old in others[KEPT_FOLDERS:]:
            shutil.rmtree(old, ignore_errors=True)
    except OSError:
        pass  # a read-only disk: numba then compiles anew in each process


_FOLDER = cache_folder()
_prepare(_FOLDER)


def njit(function: F) -> F:
    """Compile a kernel: cached, without the GIL, without exceptions for arithmetic."""
    saved = config.CACHE_DIR
    config.CACHE_DIR = str(_FOLDER)
    try:
        compiled = numba.njit(cache=_FOLDER.is_dir(), nogil=True, error_model="numpy")(function)
    finally:
        config.CACHE_DIR = saved
    return compiled
