"""What the engine thinks of a game: the chance to win along it, and the moves at one ply.

Both are asked of what one side knew, never of the true position. The work is fixed, so the same
game gives the same numbers; the chances are worked out by one thread, game after game.
"""

import queue
import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import Any

from junqi.analyse import Analysis
from junqi.engine import Thinking
from junqi.pieces import Side
from junqi.view import View
from junqi.web.answers import Refused
from junqi.web.events import Feed
from junqi.web.room import Setup
from junqi.web.viewer_game import ShownGame

# Worlds for each thought: of the curve, where many are needed, and of one ply that is looked at.
CURVE_WORLDS = 64
CLOSE_WORLDS = 1000
# So many curves are kept.
MOST_CURVES = 64
# The search is told how long it may take, but has a fixed amount of work instead.
_NO_LIMIT = 3600.0


class Mind:
    """One search with a fixed amount of work; thinks one thought at a time."""

    def __init__(self, setup: Setup, worlds: int) -> None:
        self._setup = setup
        self._options = replace(setup.options, threads=1, effort=worlds, movetime=None)
        self._lock = threading.Lock()
        self._search: Thinking | None = None

    def think(self, view: View) -> Analysis:
        """Think about a view at the own turn. The first time takes a second, or a minute or two.

        Raises:
            Refused: if there is no search.
        """
        with self._lock:
            if self._search is None:
                if self._setup.load is None:
                    raise Refused("junqi web was started without the engine's search")
                self._search = self._setup.load(self._options, self._setup.note, 0)
            return Analysis(view, self._search.think(view, _NO_LIMIT, _NO_LIMIT))


@dataclass
class Curve:
    """The chance to win of one side at its turns, as far as it is worked out."""

    game: ShownGame
    side: Side
    feed: Feed
    values: list[tuple[int, float]] = field(default_factory=list)
    """Plies and chances."""
    state: str = "idle"
    """``idle``, ``waiting``, ``running``, ``done`` or ``failed``."""
    problem: str = ""

    def publish(self) -> None:
        """Tell the pages."""
        self.feed.publish(self.as_json())

    def as_json(self) -> dict[str, Any]:
        """What the pages are told."""
        total = len(self.game.decisions(self.side))
        return {
            "state": self.state,
            "total": total,
            "values": [[ply, round(value, 3)] for ply, value in self.values],
            "problem": self.problem,
        }


class Curves:
    """Works curves out, one after the other."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._mind = Mind(setup, CURVE_WORLDS)
        self._lock = threading.Lock()
        self._curves: OrderedDict[tuple[Any, Side], Curve] = OrderedDict()
        self._queue: queue.SimpleQueue[Curve | None] = queue.SimpleQueue()
        self._worker: threading.Thread | None = None
        self._is_over = False
        setup.closing.callback(self._close)

    def curve(self, key: Any, game: ShownGame, side: Side) -> Curve:
        """The curve of a side, begun or not.

        Args:
            key: names the game.

        Raises:
            InvalidRecord: if the layout of the side is unknown.
        """
        game.views(side)
        with self._lock:
            known = self._curves.get((key, side))
            # A file may have been written anew.
            if known is None or known.game.record != game.record:
                curve = Curve(game, side, self._setup.feeds.new())
                self._curves[key, side] = curve
                curve.publish()
            self._curves.move_to_end((key, side))
            while len(self._curves) > MOST_CURVES:
                _, old = self._curves.popitem(last=False)
                old.state = "idle"
            return self._curves[key, side]

    def start(self, curve: Curve) -> None:
        """Have a curve worked out, from where it was left."""
        with self._lock:
            if curve.state in ("waiting", "running", "done") or self._is_over:
                return
            curve.state, curve.problem = "waiting", ""
            if self._worker is None:
                self._worker = threading.Thread(
                    target=self._work, name="viewer estimates", daemon=True
                )
                self._worker.start()
        curve.publish()
        self._queue.put(curve)

    def stop(self, curve: Curve) -> None:
        """Leave a curve as it is for now."""
        with self._lock:
            if curve.state in ("waiting", "running"):
                curve.state = "idle"
        curve.publish()

    def _work(self) -> None:
        while (curve := self._queue.get()) is not None and not self._is_over:
            try:
                self._draw(curve)
            except Exception as error:
                # Whatever the search runs into: the page is told, and the next curve is drawn.
                curve.state, curve.problem = "failed", str(error) or type(error).__name__
                curve.publish()

    def _draw(self, curve: Curve) -> None:
        with self._lock:
            if curve.state != "waiting":
                return
            curve.state = "running"
        known = {ply for ply, _ in curve.values}
        for ply in curve.game.decisions(curve.side):
            if curve.state != "running" or self._is_over:
                return
            if ply not in known:
                found = self._mind.think(curve.game.view(curve.side, ply))
                curve.values.append((ply, found.thought.value))
                curve.publish()
        with self._lock:
            if curve.state == "running":
                curve.state = "done"
        curve.publish()

    def _close(self) -> None:
        self._is_over = True
        self._queue.put(None)
        if self._worker is not None:
            self._worker.join(2.0)
