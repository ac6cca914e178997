"""The server: one process, one port, and the browser opened on it."""

import errno
import socket
import webbrowser
from types import FrameType

import uvicorn

from junqi.errors import JunqiError
from junqi.web.app import make_app
from junqi.web.guard import TOKEN, new_token
from junqi.web.room import Setup

LOCAL = "127.0.0.1"
FIRST_PORT = 8425
# Unless a port is named, the first free one of so many is taken.
PORTS = 20


class CannotListen(JunqiError):
    """The address or the port cannot be used."""

    is_usage = True


def serve(
    setup: Setup, *, host: str = LOCAL, port: int | None = None, opens_browser: bool = True
) -> None:
    """Answer browsers until the process is interrupted.

    Args:
        setup: what the rooms are given; the address to open is noted.
        host: where to listen. Beyond this machine a token is needed.
        port: the first free one from `FIRST_PORT` on if None, any free one if 0.
        opens_browser: whether to open the page in the user's browser.

    Raises:
        CannotListen: if the address or the port cannot be used.
    """
    listener = _listen(host, port)
    is_local = host in (LOCAL, "localhost", "::1")
    token = None if is_local else new_token()
    names = {host, socket.gethostname(), f"{socket.gethostname()}.local"}
    app = make_app(setup, names=names, token=token)
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2)
    address = _address(host, listener.getsockname()[1], token)
    setup.note(f"{address}  (Ctrl-C ends the server)")
    if opens_browser:
        webbrowser.open(address)
    _Server(config, setup).run(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that ends its streams when it is asked to end, instead of waiting for them."""

    def __init__(self, config: uvicorn.Config, setup: Setup) -> None:
        super().__init__(config)
        self._setup = setup

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end."""
        self._setup.feeds.close()
        super().handle_exit(sig, frame)


def _listen(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ports = range(FIRST_PORT, FIRST_PORT + PORTS) if port is None else [port]
    for number in ports:
        try:
            return socket.create_server((host, number), family=family)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and number != ports[-1]:
                continue
            what = (error.strerror or str(error)).lower()
            raise CannotListen(f"{host}:{number}: cannot listen there: {what}") from None
    raise AssertionError("there is at least one port to try")


def _address(host: str, port: int, token: str | None) -> str:
    name = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{port}/" + (f"?{TOKEN}={token}" if token else "")
