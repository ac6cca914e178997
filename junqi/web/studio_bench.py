"""Long computations of a page: one at a time, in a thread, told of by a feed, easily stopped."""

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from junqi.errors import JunqiError
from junqi.web.events import Feed

# Seconds that a server that ends waits for a computation that was told to end.
PATIENCE = 2.0


class Stopped(Exception):
    """The computation is not wanted any more."""


class Tell(Protocol):
    """Takes what is new of a computation, by name; raises `Stopped`."""

    def __call__(self, **news: Any) -> None:
        """Publish it, together with what was told before."""


# Raises `Stopped` when a computation is not wanted any more; to be called every few milliseconds.
Look: TypeAlias = Callable[[], None]
Task: TypeAlias = Callable[[Tell, Look], None]


@dataclass(eq=False)
class _Run:
    """One computation."""

    state: dict[str, Any]
    """All that has been told of it."""
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def look(self) -> None:
        if self.stop.is_set():
            raise Stopped


class Bench:
    """Where one page computes; a new computation takes the place of the one before."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self._lock = threading.Lock()
        self._run: _Run | None = None
        self._number = 0
        feed.publish({"run": 0, "is_running": False})

    @property
    def state(self) -> dict[str, Any]:
        """What has been told of the last computation."""
        with self._lock:
            return {} if self._run is None else dict(self._run.state)

    def start(self, task: Task, say: Callable[[str], str] = str, **about: Any) -> int:
        """Start a computation, which ends the one before; its number.

        Args:
            task: what to do; it tells how far it is.
            say: what a message of an error is in the language of the page.
            about: what the page should know of it from the beginning.
        """
        with self._lock:
            before = self._run
            if before is not None:
                before.stop.set()
            self._number += 1
            run = _Run({"run": self._number, "is_running": True, **about})
            # A daemon: a compiler that is at work must not keep the process alive.
            run.thread = threading.Thread(
                target=self._work, args=(run, before, task, say), daemon=True
            )
            self._run = run
            self.feed.publish(run.state)
            run.thread.start()
            return self._number

    def stop(self) -> None:
        """End the computation; what it has told so far stays."""
        with self._lock:
            if self._run is not None:
                self._run.stop.set()

    def close(self) -> None:
        """End the computation, and wait for its thread a little."""
        self.stop()
        with self._lock:
            thread = None if self._run is None else self._run.thread
        if thread is not None:
            thread.join(PATIENCE)

    def _work(self, run: _Run, before: _Run | None, task: Task, say: Callable[[str], str]) -> None:
        if before is not None and before.thread is not None:
            before.thread.join()

        def tell(**news: Any) -> None:
            run.look()
            self._publish(run, news)

        end: dict[str, Any] = {"is_running": False}
        try:
            run.look()
            task(tell, run.look)
        except Stopped:
            end["is_stopped"] = True
        except JunqiError as error:
            end["error"] = say(str(error))
        except Exception as error:
            traceback.print_exception(error)
            end["error"] = say(f"a bug in junqi, please report it: {type(error).__name__}: {error}")
        self._publish(run, end)

    def _publish(self, run: _Run, news: dict[str, Any]) -> None:
        """Tell the page, unless it has asked for something else since."""
        with self._lock:
            run.state.update(news)
            if run is self._run:
                self.feed.publish(run.state)
