"""``junqi web`` with a search that thinks until it is stopped, to see what happens meanwhile."""

import sys
import threading
from pathlib import Path
from types import SimpleNamespace

from junqi.view import View
from junqi.web.room import Setup
from junqi.web.server import serve


class SlowSearch:
    """Finds the first legal move, once it is stopped."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def think(self, view: View, seconds: float, hard: float) -> SimpleNamespace:
        self._stopped.wait(hard)
        return SimpleNamespace(move=view.legal_moves()[0], value=0.5, candidates=())

    def stop(self) -> None:
        self._stopped.set()


if __name__ == "__main__":
    setup = Setup(
        Path(sys.argv[1]),
        note=lambda text: print(text, file=sys.stderr, flush=True),
        load=lambda options, note, seed: SlowSearch(),
    )
    serve(setup, port=0, opens_browser=False)
