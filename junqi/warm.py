"""The search made ready: its kernels compiled before they are needed, and loaded from the cache.

Compiling takes far longer than a platform waits for a reply, and slows down whatever else the
process does. So the engine lets another process do it, and loads the result when it is there.
"""

import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path


def warm_up() -> float:
    """Compile what the search needs, or load it from the cache; the seconds that it took."""
    from junqi.thinker import Thinker, eventful_view

    begin = time.monotonic()
    # Two threads, as some kernels are used only by several.
    Thinker(2, 0, lambda text: None, effort=1).think(eventful_view(), 0.1, 1.0)
    if can_keep():
        # What was compiled is of use without the mark too.
        with suppress(OSError):
            _mark().touch()
    return time.monotonic() - begin


def is_warm() -> bool:
    """Whether all of it has been compiled on this machine, by these versions."""
    return can_keep() and _mark().exists()


def can_keep() -> bool:
    """Whether what is compiled can be kept for other processes."""
    from junqi.kernels.jit import IS_CACHED

    return IS_CACHED


def warm_up_elsewhere() -> None:
    """Have another process fill the cache, and wait for it. It ends with this process.

    Raises:
        RuntimeError: if it failed.
        OSError: if it cannot be started.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "junqi.warm"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        # Its input is left open: however this process ends, that closes it.
        if code := process.wait():
            raise RuntimeError(f"the process that compiles the kernels ended with {code}")


def _end_with_input() -> None:
    """End this process when whoever started it is gone."""
    sys.stdin.buffer.read()
    os._exit(1)


def _mark() -> Path:
    """The file that says that the cache is whole; it lies in the folder of these sources."""
    import numba
    from llvmlite.binding import get_host_cpu_name

    from junqi.kernels.jit import cache_folder

    versions = (sys.implementation.cache_tag, numba.__version__, get_host_cpu_name())
    return cache_folder() / f"warm-{'-'.join(str(version) for version in versions)}"


if __name__ == "__main__":
    threading.Thread(target=_end_with_input, daemon=True).start()
    warm_up()
