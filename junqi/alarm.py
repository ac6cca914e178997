"""An alarm: a function that is called at a moment, unless what it guards has ended before."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Self


class Alarm:
    """Calls a function at a moment, from a thread of its own; not after the end of a ``with``."""

    def __init__(self, moment: float, ring: Callable[[], None]) -> None:
        """Set it, for a moment by `time.monotonic`."""
        self._moment = moment
        self._ring = ring
        self._lock = threading.Lock()
        self._is_off = False
        self._timer: threading.Timer | None = None

    def start(self) -> None:
        """Wait from now on. Where there is no memory for a thread it does not ring."""
        self._timer = threading.Timer(max(self._moment - time.monotonic(), 0.0), self._end)
        self._timer.daemon = True
        with suppress(RuntimeError):
            self._timer.start()

    def cancel(self) -> None:
        """After this it does not ring."""
        with self._lock:
            self._is_off = True
        if self._timer is not None:
            self._timer.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.cancel()

    def _end(self) -> None:
        with self._lock:
            if not self._is_off:
                self._ring()
