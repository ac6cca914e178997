"""Single keys from the terminal, without waiting for the end of a line."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ESCAPE = b"\x1b"
# A terminal sends the rest of a special key at once; a person who pressed Escape does not.
_PAUSE = 0.05


if sys.platform == "win32":
    import msvcrt

    @contextmanager
    def open_keys() -> Iterator[Callable[[], str]]:
        """Give a function that waits for a key and returns what it sends."""

        def read() -> str:
            key = msvcrt.getwch()
            if key == "\x03":
                raise KeyboardInterrupt
            return key + msvcrt.getwch() if key in "\0\xe0" else key

        yield read

else:
    import select
    import termios
    import tty

    @contextmanager
    def open_keys() -> Iterator[Callable[[], str]]:
        """Give a function that waits for a key and returns what it sends.

        The terminal stays as it is set here between keys, so that none is lost or shown while
        the screen is drawn.

        Raises:
            EOFError: by the function, if no more keys will come.
        """
        is_stdin = sys.stdin is not None and sys.stdin.isatty()
        terminal = sys.stdin.fileno() if is_stdin else os.open("/dev/tty", os.O_RDONLY)
        before = termios.tcgetattr(terminal)
        try:
            tty.setcbreak(terminal, termios.TCSADRAIN)
            yield lambda: _read_key(terminal)
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)
            if not is_stdin:
                os.close(terminal)

    def _read_key(terminal: int) -> str:
        key = os.read(terminal, 1)
        if not key:
            raise EOFError
        while not _is_whole(key) and select.select([terminal], [], [], _PAUSE)[0]:
            key += os.read(terminal, 1)
        return key.decode("utf-8", errors="replace")


def _is_whole(key: bytes) -> bool:
    r"""Whether these bytes are all that a key sends.

    >>> [_is_whole(key) for key in (b"n", b"\x1b", b"\x1b[", b"\x1b[C", b"\x1b[1~", b"\x1bOC")]
    [True, False, False, True, True, True]
    """
    if key.startswith(ESCAPE):
        body = key[1:]
        if body[:1] == b"[":
            return len(body) > 1 and 0x40 <= body[-1] <= 0x7E
        return len(body) > 1 if body[:1] == b"O" else bool(body)
    first = key[0]
    wanted = 1 if first < 0xC0 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    return len(key) >= wanted
