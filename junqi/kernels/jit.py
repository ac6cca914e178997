"""The one `njit` that all kernels use, and the cache its machine code is kept in.

Numba's own cache looks only at the file that holds a function: after an edit to a table or a
helper in another file it would go on serving the old code. So the cache folder is named by a
digest of every source that a kernel is made of, and any edit opens a new folder.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
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


def _prepare(folder: Path) -> bool:
    """Make the cache folder if need be; whether compiled kernels can be kept there.

    Where they cannot, nothing is cached: numba by itself would turn to other folders, which are
    not named by the digest.
    """
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            _prune(folder)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _prune(folder: Path) -> None:
    """Drop the folders of versions long gone that lie next to a new one."""
    with suppress(OSError):
        others = [p for p in folder.parent.glob("kernels-*") if p != folder and p.is_dir()]
        others.sort(key=lambda p: p.stat().st_mtime, reverse=True)
        for old in others[KEPT_FOLDERS:]:
            shutil.rmtree(old, ignore_errors=True)


_FOLDER = cache_folder()
IS_CACHED = _prepare(_FOLDER)


def njit(function: F) -> F:
    """Compile a kernel: cached, without the GIL, without exceptions for arithmetic."""
    saved = config.CACHE_DIR
    config.CACHE_DIR = str(_FOLDER)
    try:
        compiled = numba.njit(cache=IS_CACHED, nogil=True, error_model="numpy")(function)
    finally:
        config.CACHE_DIR = saved
    return compiled
