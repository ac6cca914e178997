"""Pages: the frame around a room's own HTML, with the words of one language filled in."""

import hashlib
import json
import re
from functools import cache
from html import escape
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from junqi.render_svg import STYLE
from junqi.web.words import LANGUAGES, language_of, words_of

THEMES = ("dark", "light", "contrast")
THEME_COOKIE = "junqi-theme"

# The style of boards is that of the pictures; themes in frame.css change its colours.
BOARD_STYLE = "board.css"

MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}

_PLACE = re.compile(r"\{\{([a-z_]+)\}\}")


@cache
def static_files() -> dict[str, bytes]:
    """The files that pages use, by name."""
    folder = files("junqi.web") / "static"
    found = {file.name: file.read_bytes() for file in folder.iterdir() if _suffix(file.name)}
    return found | {BOARD_STYLE: STYLE.encode()}


@cache
def static_path() -> str:
    """Where they are found; another path with every change, so that browsers may keep them."""
    digest = hashlib.sha256()
    for name, data in sorted(static_files().items()):
        digest.update(f"{name} {len(data)} ".encode() + data)
    return f"/static/{digest.hexdigest()[:16]}"


def static_file(request: Request) -> Response:
    """One of the files, to be kept for ever if it was asked for by the present path."""
    name = request.path_params["name"]
    data = static_files().get(name)
    if data is None:
        return Response(status_code=404)
    is_present = request.url.path.startswith(static_path())
    keep = "public, max-age=31536000, immutable" if is_present else "no-store"
    return Response(data, headers={"Cache-Control": keep}, media_type=MEDIA_TYPES[_suffix(name)])


def room_page(room: str, rooms: list[str], request: Request) -> HTMLResponse:
    """The page of a room, in the language and the theme that the browser wants."""
    language = language_of(request)
    words = words_of(room)[language]
    theme = request.cookies.get(THEME_COOKIE, "")
    theme = theme if theme in THEMES else THEMES[0]
    links = "".join(
        f'<a href="/{name}"{" aria-current=page" if name == room else ""}>'
        f"{escape(words[f'room_{name}'])}</a>"
        for name in rooms
    )
    data = json.dumps({"language": language, "words": words}, ensure_ascii=False)
    parts = {
        "language": language,
        "theme": theme,
        "static": static_path(),
        "room": room,
        "room_title": escape(words[f"room_{room}"]),
        "room_style": _style_link(room),
        "links": links,
        "languages": _options({name: words[f"language_{name}"] for name in LANGUAGES}, language),
        "themes": _options({name: words[f"theme_{name}"] for name in THEMES}, theme),
        "page": fill(_html(room), _escaped_words(words)),
        # Within a script nothing may look like its end.
        "data": data.replace("<", "\\u003c"),
    }
    return HTMLResponse(fill(_html("frame"), _escaped_words(words) | parts))


def fill(html: str, values: dict[str, str]) -> str:
    """Put values into the places ``{{name}}`` of a text, in one pass.

    Raises:
        KeyError: if there is no value for a place.
    """
    return _PLACE.sub(lambda match: values[match[1]], html)


def _escaped_words(words: dict[str, str]) -> dict[str, str]:
    return {key: escape(text) for key, text in words.items()}


def _options(texts: dict[str, str], chosen: str) -> str:
    return "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{escape(text)}</option>'
        for value, text in texts.items()
    )


def _style_link(room: str) -> str:
    name = f"{room}.css"
    if name not in static_files():
        return ""
    return f'<link rel="stylesheet" href="{static_path()}/{name}">'


@cache
def _html(name: str) -> str:
    return (files("junqi.web") / "pages" / f"{name}.html").read_text(encoding="utf-8")


def _suffix(name: str) -> str:
    suffix = name.rpartition(".")[2]
    return suffix if suffix in MEDIA_TYPES else ""
