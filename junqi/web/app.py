"""The application: the rooms with their pages and routes, behind the guard."""

import contextlib
from collections.abc import AsyncIterator, Callable, Collection

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from junqi.web import book, console, studio, viewer
from junqi.web.answers import error_answer
from junqi.web.guard import Guard
from junqi.web.page import room_page, static_file
from junqi.web.room import Room, Setup

# In the order of the links on every page; the first is the start page.
ROOMS: tuple[Room, ...] = (console.ROOM, viewer.ROOM, studio.ROOM, book.ROOM)


def make_app(setup: Setup, *, names: Collection[str] = (), token: str | None = None) -> Starlette:
    """The whole application.

    Args:
        setup: what the rooms are given; it is closed when the application ends.
        names: host names by which this machine may be called.
        token: what has to be known, see `Guard`; None for nothing.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        with setup.closing:
            yield
            setup.feeds.close()

    routes: list[BaseRoute] = [
        Route("/", lambda _request: RedirectResponse(f"/{ROOMS[0].name}")),
        Route("/favicon.ico", lambda _request: Response(status_code=204)),
        Route("/static/{digest}/{name}", static_file),
    ]
    for room in ROOMS:
        routes.append(Route(f"/{room.name}", _page(room.name)))
        routes.append(Mount(f"/api/{room.name}", routes=list(room.routes(setup))))
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guard, names=names, token=token)],
        exception_handlers={HTTPException: error_answer, Exception: error_answer},
    )


def _page(name: str) -> Callable[[Request], HTMLResponse]:
    rooms = [room.name for room in ROOMS]
    return lambda request: room_page(name, rooms, request)
