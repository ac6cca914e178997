"""A call in a thread of its own, whose caller does not wait for ever."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class JobFailed(RuntimeError):
    """The call raised something, or could not be made; what it was is the cause."""


class Job(Generic[Value]):
    """A call under way, or done."""

    def __init__(self, call: Callable[[], Value]) -> None:
        """Start the call."""
        self._call = call
        self._done = threading.Event()
        self._error: BaseException | None = None
        try:
            # A daemon: what hangs must not keep the process alive.
            threading.Thread(target=self._run, daemon=True).start()
        except RuntimeError as error:  # no memory for another thread
            self._error = error
            self._done.set()

    def wait(self, seconds: float | None) -> bool:
        """Whether it is done within so long; None waits for ever."""
        return self._done.wait(None if seconds is None else max(seconds, 0.0))

    def value(self, seconds: float) -> Value:
        """What the call returned.

        Raises:
            TimeoutError: if it is not done within so long.
            JobFailed: if the call raised anything.
        """
        if not self.wait(seconds):
            raise TimeoutError(f"not done after {max(seconds, 0.0):.2f} s")
        if self._error is not None:
            error = self._error
            raise JobFailed(f"{type(error).__name__}: {error}") from error
        return self._value

    def _run(self) -> None:
        try:
            self._value = self._call()
        except BaseException as error:
            self._error = error
        self._done.set()
