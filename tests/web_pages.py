"""What the tests of the pages share: the application, a real server, and a real browser."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from junqi.engine import Load
from junqi.engine_options import EngineOptions
from junqi.web.app import make_app
from junqi.web.engines import load_search
from junqi.web.room import Setup

BASE = "http://127.0.0.1:8425"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
NO_CHROMIUM = "no chromium on this machine: apt-get install chromium"
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# A browser waits so long for what should come at once.
PATIENCE = 15_000

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)


@contextmanager
def client(
    folder: Path,
    *,
    movetime: float | None = 0.05,
    load: Load | None = load_search,
    **guard: Any,
) -> Iterator[Any]:
    """The application on a folder of games, asked without a server."""
    setup = Setup(folder, EngineOptions(movetime=movetime, threads=1, seed=7), load=load)
    with TestClient(make_app(setup, **guard), base_url=BASE) as asked:
        yield asked


class Server:
    """``junqi web`` as a process; `address` is where its pages are."""

    def __init__(self, command: list[str]) -> None:
        environment = os.environ | {"JUNQI_SEED": "7", "JUNQI_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, *command], stderr=subprocess.PIPE, text=True, env=environment
        )
        self.address = self._wait()
        self.port = int(self.address.rstrip("/").rpartition(":")[2])

    def _wait(self) -> str:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if match := re.search(r"http://\S+", line):
                return match[0]
        raise AssertionError("the server ended before it told its address")

    def kill(self) -> None:
        """End it as a crash would."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """End it as Ctrl-C would; the exit code."""
        return self._end(signal.SIGINT)

    def _end(self, number: int) -> int:
        self.process.send_signal(number)
        code = self.process.wait(20)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


@contextmanager
def server(games: Path, *options: str, port: int = 0) -> Iterator[Server]:
    """A server that is killed at the end, if it still runs."""
    command = ["-m", "junqi", "web", "--no-browser", "--port", str(port)]
    with _running([*command, "--games", str(games), *options]) as running:
        yield running


@contextmanager
def slow_server(games: Path) -> Iterator[Server]:
    """A server whose engine thinks until it is stopped."""
    script = Path(__file__).with_name("slow_web_server.py")
    with _running([str(script), str(games)]) as running:
        yield running


@contextmanager
def _running(command: list[str]) -> Iterator[Server]:
    running = Server(command)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.kill()


@contextmanager
def browser(folder: Path, *, width: int = 1280, height: int = 720, **context: Any) -> Iterator[Any]:
    """A fresh chromium, as a context of playwright; an error of a script fails the test."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch_persistent_context(
            str(folder / "browser"),
            executable_path=CHROMIUM,
            headless=True,
            args=FLAGS,
            viewport={"width": width, "height": height},
            locale=context.pop("locale", "zh-CN"),
            **context,
        )
        opened.set_default_timeout(PATIENCE)
        errors: list[str] = []
        opened.on("weberror", lambda error: errors.append(str(error.error)))
        try:
            yield opened
            assert not errors, errors
        except BaseException:
            for number, page in enumerate(opened.pages):
                page.screenshot(path=folder / f"failed-{number}.png")
            raise
        finally:
            opened.close()


def eventually(condition: Any, seconds: float = 15.0) -> Any:
    """What a condition comes to once it is true."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.02)
    return value
