"""An engine run as a program of its own: lines to it, lines from it, and nothing left behind.

Engines under test do everything that programs can do wrong. So no call here waits beyond its
deadline, whatever the program does; what it floods us with is kept in bounded memory; and closing
it ends all the programs it has started too.
"""

import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Self

from junqi.errors import JunqiError
from junqi.protocol import decode_line

# No line of the protocol is a tenth as long; the rest of a longer one is dropped.
LONGEST_LINE = 1024
# Lines that wait to be read. An engine that has written more has to wait until they are.
MOST_WAITING = 1000
# The last lines of both directions that are kept: those of several long games.
MOST_TRANSCRIPT = 10_000
# The end of what the engine wrote to stderr.
MOST_STDERR = 1 << 16

# An engine is given so long to end by itself once its input has ended.
GRACE = 1.0
# After the end of its output, a program that ends has ended within this time.
_LAST_BREATH = 0.5

_IS_WINDOWS = os.name == "nt"
_CHUNK = 1 << 16


class CannotStart(JunqiError, ValueError):
    """A command line that starts no program."""

    is_usage = True


class EngineEnded(Exception):
    """The engine takes no more lines, or has closed its output."""

    def __init__(self, text: str, exit_code: int | None) -> None:
        super().__init__(text)
        self.exit_code = exit_code
        """How the program ended, negative for a signal; None if it still runs."""


@dataclass(frozen=True)
class EngineLine:
    """A line that an engine wrote, without its line end."""

    data: bytes
    received: float
    """When it came, by `time.monotonic`."""
    is_whole: bool = True
    """False if its end was cut off: by us for its length, or by the end of the output."""
    has_return: bool = False
    """Whether it ended with a carriage return, as lines do on Windows."""

    @property
    def text(self) -> str:
        """The line in letters."""
        return decode_line(self.data)


@dataclass(frozen=True)
class TranscriptLine:
    """A line of the talk with an engine."""

    seconds: float
    """Since the program was started."""
    is_sent: bool
    """Whether it went to the engine or came from it."""
    text: str

    def __str__(self) -> str:
        return f"{self.seconds:10.4f} {'>' if self.is_sent else '<'} {self.text}"


class EngineProcess:
    """A running engine; a context manager that closes it."""

    def __init__(
        self,
        command: str,
        *,
        environment: Mapping[str, str] | None = None,
        folder: str | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start a program.

        Args:
            command: its command line; no shell is involved.
            environment: what is added to our own environment.
            folder: its working directory.
            now: the clock, in seconds.

        Raises:
            CannotStart: if there is no such program.
        """
        self.command = command
        self._now = now
        self._started = now()
        try:
            self._process = _start(command, environment or {}, folder)
        except (OSError, ValueError) as error:
            raise CannotStart(_no_program(command, str(error))) from None
        self._changed = threading.Condition()
        self._lines: deque[EngineLine] = deque()
        self._half_line = b""
        self._is_output_over = False
        self._is_closing = False
        self._is_closed = False
        self._transcript: deque[TranscriptLine] = deque(maxlen=MOST_TRANSCRIPT)
        self._stderr = b""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        # Daemons: a program that slipped out of its group may hold the pipes open for ever.
        self._readers = [
            threading.Thread(target=read, args=(pipe,), daemon=True)
            for read, pipe in (
                (self._read_stdout, self._process.stdout),
                (self._read_stderr, self._process.stderr),
            )
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How the program ended, negative for a signal; None while it runs."""
        return self._process.poll()

    @property
    def stderr(self) -> str:
        """The last that the program wrote to stderr."""
        return self._stderr.decode("utf-8", errors="replace")

    @property
    def half_line(self) -> str:
        """What has come of a line whose end has not."""
        return decode_line(self._half_line)

    @property
    def transcript(self) -> list[TranscriptLine]:
        """The last lines sent and received; those received that nobody has read are not in it."""
        return list(self._transcript)

    def send(self, line: str, end: str = "\n") -> float:
        """Send a line; returns the time just before, for the answer may come at once.

        Raises:
            EngineEnded: if the program takes no more, because it has ended or never reads.
        """
        self._note(True, line)
        assert self._process.stdin is not None
        data = (line + end).encode(errors="surrogateescape")
        sent = self._now()
        try:
            # A line is shorter than what a pipe takes as a whole or not at all.
            if self._process.stdin.write(data) != len(data):
                raise EngineEnded(f"cannot send {line!r}: it does not read its input", None)
        except (OSError, ValueError):
            raise self._ended("has closed its input") from None
        return sent

    def read(self, deadline: float) -> EngineLine | None:
        """The next line, or None if none comes before the deadline; at once if one is waiting.

        Args:
            deadline: by `time.monotonic`; one that is over asks what has come already.

        Raises:
            EngineEnded: if the output has ended and all its lines have been read.
        """
        with self._changed:
            while not self._lines and not self._is_output_over:
                left = deadline - self._now()
                if left <= 0:
                    return None
                self._changed.wait(min(left, threading.TIMEOUT_MAX))
            line = self._lines.popleft() if self._lines else None
            self._changed.notify_all()
        if line is None:
            raise self._ended("has closed its output")
        self._note(False, line.text)
        return line

    def end_input(self) -> None:
        """Close the program's input, which tells it that nothing more will come."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def kill(self) -> None:
        """End the program, and all it has started, at once."""
        _kill_group(self._process)

    def close(self, grace: float = GRACE) -> None:
        """End the program: its input first, and by force if that does not do.

        Args:
            grace: seconds it is given to end by itself.
        """
        if self._is_closed:
            return  # its number may be that of another program by now
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self.end_input()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(grace)
        # Also when it has ended: what it has started may be running still.
        self.kill()
        self._process.wait()
        self._is_closed = True
        for reader in self._readers:
            reader.join(_LAST_BREATH)
        for reader, pipe in zip(
            self._readers, (self._process.stdout, self._process.stderr), strict=True
        ):
            if pipe is not None and not reader.is_alive():
                pipe.close()

    def _note(self, is_sent: bool, text: str) -> None:
        seconds = self._now() - self._started
        self._transcript.append(TranscriptLine(seconds, is_sent, text))

    def _ended(self, words_if_running: str) -> EngineEnded:
        """The error for a program that has gone, or has at least closed one of its ends."""
        try:
            code = self._process.wait(_LAST_BREATH)
        except subprocess.TimeoutExpired:
            return EngineEnded(f"the program {words_if_running}", None)
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return EngineEnded(f"the program ended {how}", code)

    def _read_stdout(self, pipe: IO[bytes]) -> None:
        rest = b""
        is_cut = False
        while chunk := _read(pipe):
            *lines, rest = (rest + chunk).split(b"\n")
            received = self._now()
            for data in lines:
                whole = not is_cut and len(data) <= LONGEST_LINE
                is_cut = False
                has_return = data.endswith(b"\r")
                data = data[:LONGEST_LINE].rstrip(b"\r")
                self._put(EngineLine(data, received, whole, has_return))
            if len(rest) > LONGEST_LINE:
                rest, is_cut = rest[:LONGEST_LINE], True
            self._half_line = rest
        if rest:
            self._put(EngineLine(rest, self._now(), is_whole=False))
        with self._changed:
            self._is_output_over = True
            self._changed.notify_all()

    def _put(self, line: EngineLine) -> None:
        """Hand a line to whoever reads; waits while nobody does."""
        with self._changed:
            while len(self._lines) >= MOST_WAITING and not self._is_closing:
                self._changed.wait()
            if not self._is_closing:
                self._lines.append(line)
                self._changed.notify_all()

    def _read_stderr(self, pipe: IO[bytes]) -> None:
        while chunk := _read(pipe):
            self._stderr = (self._stderr + chunk)[-MOST_STDERR:]


def split_command(command: str) -> list[str] | str:
    """A command line as the system wants it; Windows takes it as it is.

    Raises:
        ValueError: if it is empty, or a quote is not closed.
    """
    if not command.strip():
        raise ValueError("it is empty")
    return command if _IS_WINDOWS else shlex.split(command)


def check_command(command: str) -> None:
    """Raise if a command line names no program that there is, as far as that can be seen.

    Raises:
        CannotStart: if there is no such program.
    """
    try:
        words = split_command(command)
    except ValueError as error:
        raise CannotStart(_no_program(command, str(error))) from None
    if isinstance(words, list) and shutil.which(words[0]) is None:
        raise CannotStart(_no_program(command, f"there is no {words[0]!r}"))


def _no_program(command: str, why: str) -> str:
    return f"expected the command line of a program, got {command!r}: {why}"


def _start(
    command: str, environment: Mapping[str, str], folder: str | None
) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        split_command(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=folder,
        env={**os.environ, **environment},
        # A group of its own can be ended as a whole, and Ctrl-C in a terminal is left to us.
        start_new_session=not _IS_WINDOWS,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    if not _IS_WINDOWS:
        # A program that never reads would stop us once the pipe is full.
        assert process.stdin is not None
        os.set_blocking(process.stdin.fileno(), False)
    return process


def _read(pipe: IO[bytes]) -> bytes:
    """What has come, as soon as something has; nothing at the end."""
    try:
        return os.read(pipe.fileno(), _CHUNK)
    except (OSError, ValueError):
        return b""


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    if _IS_WINDOWS:
        tree = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
        subprocess.run(tree, capture_output=True, check=False)
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
