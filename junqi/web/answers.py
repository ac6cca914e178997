"""Routes made of plain functions: what was asked, checked, goes in; JSON or an error comes out.

The functions of a room are ordinary ones that may take their time and touch the disk: they are run
in threads. They raise `JunqiError` for what the user can mend, and `Refused` to choose the status.
"""

import json
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, TypeAlias

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from junqi.errors import JunqiError
from junqi.web.events import Feed
from junqi.web.words import Language, language_of, translate

# Bytes of what a page sends as JSON, and of a file that a user opens.
LONGEST_JSON = 64 * 1024
LONGEST_UPLOAD = 8 * 1024 * 1024
# Letters of a text that a user types.
LONGEST_TEXT = 200


class Refused(JunqiError):
    """What was asked cannot be done; the answer has this status, and may carry more."""

    def __init__(self, text: str, status: int = 400, **more: Any) -> None:
        super().__init__(text)
        self.status = status
        self.more = more


class NotThere(Refused):
    """What was asked for does not exist."""

    def __init__(self, text: str) -> None:
        super().__init__(text, 404)


@dataclass(frozen=True)
class Ask:
    """What a page asks."""

    path: Mapping[str, str]
    """What stood in the address in the place of ``{name}``."""
    query: Mapping[str, str]
    """What stood behind ``?`` in the address."""
    language: Language
    data: Mapping[str, Any] = field(default_factory=dict)
    """What was posted as JSON; read it with the methods below."""
    file: bytes = b""
    """What was uploaded."""

    def only(self, *names: str) -> None:
        """Refuse whatever else was posted."""
        for name in self.data:
            if name not in names:
                raise Refused(f"expected only {', '.join(names) or 'nothing'}, got {name!r}")

    def text(self, name: str, default: str | None = None, longest: int = LONGEST_TEXT) -> str:
        """A text of one line, without white space around it."""
        value = self._value(name, default)
        if not isinstance(value, str) or len(value) > longest:
            raise _expected(name, f"a text of at most {longest} letters", value)
        value = value.strip()
        if not value.isprintable():
            raise _expected(name, "a text of one line", value)
        return value

    def choice(self, name: str, choices: tuple[str, ...], default: str | None = None) -> str:
        """One of a few words."""
        value = self._value(name, default)
        if value not in choices:
            raise _expected(name, f"one of {', '.join(choices)}", value)
        return str(value)

    def whole(self, name: str, least: int, most: int, default: int | None = None) -> int:
        """A whole number."""
        value = self._value(name, default)
        if type(value) is not int or not least <= value <= most:
            raise _expected(name, f"a whole number from {least} to {most}", value)
        return value

    def number(self, name: str, least: float, most: float, default: float | None = None) -> float:
        """A number."""
        value = self._value(name, default)
        is_number = type(value) in (int, float) and isfinite(value)
        if not is_number or not least <= value <= most:
            raise _expected(name, f"a number from {least:g} to {most:g}", value)
        return float(value)

    def flag(self, name: str, default: bool | None = None) -> bool:
        """True or false."""
        value = self._value(name, default)
        if not isinstance(value, bool):
            raise _expected(name, "true or false", value)
        return value

    def _value(self, name: str, default: Any) -> Any:
        value = self.data.get(name)
        if value is None:
            value = default
        if value is None:
            raise Refused(f"expected {name}, got nothing")
        return value


@dataclass(frozen=True)
class Download:
    """A file for the user to keep."""

    name: str
    text: str
    media_type: str = "text/plain"


Answer: TypeAlias = dict[str, Any] | list[Any] | Download | Feed
Function: TypeAlias = Callable[[Ask], Answer]
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


def get(path: str, function: Function) -> Route:
    """A route that only looks. It may return JSON, a `Download`, or a `Feed` to listen to."""

    async def endpoint(request: Request) -> Response:
        return await _answer(request, function, _ask(request))

    return Route(path, _safe(endpoint), methods=["GET"])


def post(path: str, function: Function) -> Route:
    """A route that does something, told in a JSON object."""

    async def endpoint(request: Request) -> Response:
        _check_type(request, "application/json")
        body = await _body(request, LONGEST_JSON)
        try:
            data = json.loads(body or b"{}")
        except (ValueError, RecursionError):
            raise Refused("expected JSON, got something else") from None
        if not isinstance(data, dict):
            raise Refused("expected a JSON object, got another value")
        return await _answer(request, function, _ask(request, data=data))

    return Route(path, _safe(endpoint), methods=["POST"])


def upload(path: str, function: Function, limit: int = LONGEST_UPLOAD) -> Route:
    """A route that takes a file, as the whole body of type ``application/octet-stream``."""

    async def endpoint(request: Request) -> Response:
        _check_type(request, "application/octet-stream")
        body = await _body(request, limit)
        return await _answer(request, function, _ask(request, file=body))

    return Route(path, _safe(endpoint), methods=["POST"])


async def error_answer(request: Request, error: Exception) -> Response:
    """Any error as JSON that says what was expected; never a stack trace."""
    status, headers = 500, None
    more: dict[str, Any] = {}
    if isinstance(error, HTTPException):
        status, headers = error.status_code, error.headers
        what = {404: "there is nothing at this address", 405: "this address does not take that"}
        text = what.get(status, error.detail)
    elif isinstance(error, JunqiError):
        text, status = str(error), 400
        if isinstance(error, Refused):
            status, more = error.status, error.more
    elif isinstance(error, OSError):
        what_failed = (error.strerror or str(error) or type(error).__name__).lower()
        text = f"{error.filename}: {what_failed}" if error.filename else what_failed
    else:
        traceback.print_exception(error)
        text = f"a bug in junqi, please report it: {type(error).__name__}: {error}"
    text = translate(text, language_of(request))
    return JSONResponse({"error": text, **more}, status, headers)


def _safe(endpoint: Endpoint) -> Endpoint:
    """An endpoint whose errors are answers."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Exception as error:
            return await error_answer(request, error)

    return answer


def _expected(name: str, what: str, value: object) -> Refused:
    shown = repr(value)
    return Refused(f"{name}: expected {what}, got {shown[:60]}{'…' if len(shown) > 60 else ''}")


def _ask(request: Request, data: Mapping[str, Any] | None = None, file: bytes = b"") -> Ask:
    language = language_of(request)
    return Ask(request.path_params, request.query_params, language, data or {}, file)


def _check_type(request: Request, expected: str) -> None:
    got = request.headers.get("content-type", "").partition(";")[0].strip()
    if got != expected:
        raise Refused(f"expected Content-Type {expected}, got {got!r}", 415)


async def _body(request: Request, limit: int) -> bytes:
    """The body, unless it is too long: then it is not even read."""
    refused = Refused(f"expected at most {limit // 1024} KiB, got more", 413)
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or int(length) > limit:
        raise refused
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > limit:
                raise refused
    except ClientDisconnect:
        raise Refused("the connection was closed before all had come") from None
    return bytes(body)


async def _answer(request: Request, function: Function, ask: Ask) -> Response:
    answer = await run_in_threadpool(function, ask)
    if isinstance(answer, Feed):
        return answer.response()
    if isinstance(answer, Download):
        headers = {"Content-Disposition": f'attachment; filename="{answer.name}"'}
        return Response(answer.text, headers=headers, media_type=answer.media_type)
    return JSONResponse(answer)
