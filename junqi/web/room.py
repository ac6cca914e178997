"""What a room is, and what it is given by the frame."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from starlette.routing import BaseRoute

from junqi.engine import Load
from junqi.engine_options import EngineOptions
from junqi.web.engines import load_search
from junqi.web.events import Feeds


@dataclass(frozen=True)
class Setup:
    """What the server was started with; the same for all rooms."""

    games: Path
    """The folder in which games are kept."""
    options: EngineOptions = field(default_factory=EngineOptions)
    """How the engine plays, and the books to use."""
    note: Callable[[str], None] = lambda text: None
    """Told what whoever started the server should know."""
    load: Load | None = load_search
    """Makes the engine's search; None plays by the rules of thumb alone."""
    feeds: Feeds = field(default_factory=Feeds)
    """Makes the streams of live updates."""
    closing: ExitStack = field(default_factory=ExitStack)
    """What is to be done when the server ends."""


@dataclass(frozen=True)
class Room:
    """One page with what stands behind it.

    The page is ``pages/<name>.html``, its script ``static/<name>.js``, its words
    ``words/<name>.json``; ``static/<name>.css`` is used if it is there.
    """

    name: str
    """In addresses and in the names of files."""
    routes: Callable[[Setup], Sequence[BaseRoute]]
    """What the page can ask for, below ``/api/<name>``; made of the functions in `answers`."""
