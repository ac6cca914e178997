"""The words of the pages in Chinese and in English, and which of the two a browser wants.

``words/<room>.json`` has an object for each language, from short keys to texts; those of the frame
are in ``words/frame.json``. Errors are raised in English wherever they arise; ``words/errors.json``
lists how they are said in Chinese, and what is not listed stays English.
"""

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias, get_args

from starlette.requests import HTTPConnection

Language: TypeAlias = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
LANGUAGE_COOKIE = "junqi-language"


def language_of(request: HTTPConnection) -> Language:
    """The language that was chosen, or the first of ours that the browser asks for."""
    wishes = [request.cookies.get(LANGUAGE_COOKIE, "")]
    for part in request.headers.get("accept-language", "").split(","):
        wishes.append(part.partition(";")[0].strip()[:2].lower())
    for wish in wishes:
        for language in LANGUAGES:
            if wish == language:
                return language
    return "en"


@cache
def words_of(room: str) -> dict[Language, dict[str, str]]:
    """The words of a room by language and key, with those of the frame."""
    frame, own = _read("frame"), _read(room)
    return {language: frame[language] | own[language] for language in LANGUAGES}


@cache
def _error_patterns() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(english), chinese) for english, chinese in _read("errors")]


def translate(error: str, language: Language) -> str:
    """An error message in another language, as far as we have words for it."""
    if language == "zh":
        for pattern, chinese in _error_patterns():
            if match := pattern.fullmatch(error):
                return match.expand(chinese)
    return error


def _read(name: str) -> Any:
    text = (files("junqi.web") / "words" / f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text)
