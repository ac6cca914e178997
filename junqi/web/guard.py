"""Who may ask: this machine, or whoever has the token; never a page of another site.

A page of another site can send requests to 127.0.0.1, and by DNS rebinding even have its own name
point there. So the name in ``Host`` must be one of ours or an address in numbers, and ``Origin``,
where a browser sends it, must be the same. Beyond this machine a random token is needed: it stands
in the address that is opened first, and is then kept in a cookie that no script can read.
"""

import ipaddress
import secrets
from collections.abc import Collection
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from junqi.web.words import language_of, translate

TOKEN = "token"

# Scripts, styles and pictures from here only; nothing inline, no frames, no other hosts.
CONTENT_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


def new_token() -> str:
    """A random token."""
    return secrets.token_urlsafe(24)


class Guard:
    """Lets only those through who may ask, and adds the headers that protect the pages."""

    def __init__(
        self, app: ASGIApp, *, names: Collection[str] = (), token: str | None = None
    ) -> None:
        """Stand before an application.

        Args:
            app: what is guarded.
            names: host names by which this machine may be called, besides addresses in numbers.
            token: what has to be known; None for nothing.
        """
        self._app = app
        self._names = {"localhost", *(name.lower() for name in names)}
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        request = Request(scope)
        refusal = self._refusal(request)
        if refusal is None and self._token is not None:
            refusal = self._ask_token(request, self._token)
        await (refusal or self._app)(scope, receive, send_guarded)

    def _refusal(self, request: Request) -> Response | None:
        """Why a request is not answered, if it is not."""
        host = request.headers.get("host", "")
        if not self._is_ours(host):
            return _refused(request, 421, f"expected a Host of this machine, got {host!r}")
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return _refused(request, 403, f"expected a request of our own page, got {origin!r}")
        site = request.headers.get("sec-fetch-site", "none")
        is_navigation = request.headers.get("sec-fetch-mode") == "navigate"
        if site in ("cross-site", "same-site") and not (is_navigation and request.method == "GET"):
            return _refused(request, 403, f"expected a request of our own page, got a {site} one")
        return None

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
            urlsplit(f"//{host}").port  # noqa: B018 - raises if it is no number
        except ValueError:
            return False
        if name in self._names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def _ask_token(self, request: Request, token: str) -> Response | None:
        """None if the token is known; else a redirect that keeps it, or a refusal."""
        # Cookies are the same for all ports of a host: each server needs a name of its own.
        cookie = f"junqi-token-{request.url.port or 80}"
        if _is_same(request.cookies.get(cookie, ""), token):
            return None
        if not _is_same(request.query_params.get(TOKEN, ""), token):
            text = "expected the token: open the whole address that junqi web printed"
            return _refused(request, 401, text)
        query = [(key, value) for key, value in parse_qsl(request.url.query) if key != TOKEN]
        path = request.url.path + (f"?{urlencode(query)}" if query else "")
        response = RedirectResponse(path, status_code=303)
        response.set_cookie(cookie, token, httponly=True, samesite="strict")
        return response


def _is_same(given: str, token: str) -> bool:
    return secrets.compare_digest(given.encode(), token.encode())


def _refused(request: Request, status: int, text: str) -> JSONResponse:
    return JSONResponse({"error": translate(text, language_of(request))}, status)
