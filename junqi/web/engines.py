"""Engines for pages: like that of the program, with the kernels compiled by another process."""

from collections.abc import Callable

from junqi.engine import Thinking, load_thinker
from junqi.engine_options import EngineOptions
from junqi.program import make_warm


def load_search(options: EngineOptions, note: Callable[[str], None], seed: int) -> Thinking:
    """Make the search; where the kernels have to be compiled first, that takes a minute or two."""
    make_warm(note)
    return load_thinker(options, note, seed)
