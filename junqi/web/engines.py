"""Engines for pages: like that of the program, with the kernels compiled by another process."""

import atexit
from collections.abc import Callable
from contextlib import suppress
from subprocess import Popen

from junqi.engine import Thinking, load_thinker
from junqi.engine_options import EngineOptions
from junqi.program import make_warm


def load_search(options: EngineOptions, note: Callable[[str], None], seed: int) -> Thinking:
    """Make the search; where the kernels have to be compiled first, that takes a minute or two."""

    def end_with_us(process: "Popen[bytes]") -> None:
        atexit.register(_kill, process)

    make_warm(note, end_with_us)
    return load_thinker(options, note, seed)


def _kill(process: "Popen[bytes]") -> None:
    with suppress(OSError):
        process.kill()
