"""Live updates: server-sent events, of which a listener that is slow gets only the latest."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Any

from starlette.responses import StreamingResponse

# A comment is sent after so many seconds of silence, so that a connection that broke is noticed.
HEARTBEAT = 15.0
# A browser whose connection broke tries again after so many milliseconds.
RETRY = 1000


class Feed:
    """The state of one thing, told to whoever listens. Any thread may publish."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: set[_Listener] = set()
        self._latest: str | None = None
        self._is_closed = False

    def publish(self, data: dict[str, Any]) -> None:
        """Tell all listeners, and those to come, of the new state."""
        text = json.dumps(data, ensure_ascii=False)
        with self._lock:
            self._latest = text
            for listener in self._listeners:
                listener.tell(text)

    def close(self) -> None:
        """End the streams of all listeners, now and from now on."""
        with self._lock:
            self._is_closed = True
            for listener in self._listeners:
                listener.tell(None)

    async def stream(self) -> AsyncIterator[str]:
        """The states from now on, as lines of ``text/event-stream``; begins with the present one.

        States that come faster than they are read are passed over, but never the last.
        """
        listener = _Listener()
        with self._lock:
            self._listeners.add(listener)
            if self._latest is not None:
                listener.tell(self._latest)
            if self._is_closed:
                listener.tell(None)
        try:
            yield f"retry: {RETRY}\n\n"
            while True:
                try:
                    text = await asyncio.wait_for(listener.next(), HEARTBEAT)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if text is None:
                    return
                yield f"data: {text}\n\n"
        finally:
            with self._lock:
                self._listeners.discard(listener)

    def response(self) -> StreamingResponse:
        """The answer to a browser that listens."""
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self.stream(), headers=headers, media_type="text/event-stream")


class Feeds:
    """All feeds of a server, to be closed with it: an open stream would hold it up."""

    def __init__(self) -> None:
        self._feeds: list[Feed] = []
        self._lock = threading.Lock()

    def new(self) -> Feed:
        """One more feed."""
        feed = Feed()
        with self._lock:
            self._feeds.append(feed)
        return feed

    def close(self) -> None:
        """Close all of them."""
        with self._lock:
            for feed in self._feeds:
                feed.close()


class _Listener:
    """One browser that listens: holds the latest state that it has not been sent."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._text: str | None = None
        self._is_over = False

    def tell(self, text: str | None) -> None:
        """Hand over a state, None for the end; from any thread."""
        self._loop.call_soon_threadsafe(self._take, text)

    def _take(self, text: str | None) -> None:
        if text is None:
            self._is_over = True
        else:
            self._text = text
        self._news.set()

    async def next(self) -> str | None:
        """The latest state, once there is one; None at the end."""
        await self._news.wait()
        if self._text is not None:
            text, self._text = self._text, None
            if not self._is_over:
                self._news.clear()
            return text
        return None
