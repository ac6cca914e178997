"""The viewer: records of games, looked at ply by ply from either seat or with everything shown.

The record stays here. A page asks for what one seat sees, and whatever it is sent for a player's
seat is made from what that player was told; to see everything is another question.
"""

import threading
from collections import OrderedDict
from typing import Any

from starlette.routing import BaseRoute

from junqi.pieces import RED, SIDE_NAMES, Side
from junqi.web.answers import Answer, Ask, Refused, get, post, upload
from junqi.web.books import reading
from junqi.web.room import Room, Setup
from junqi.web.viewer_files import BOOK, OPENED, Library
from junqi.web.viewer_game import ALL, SEATS, SIDE_OF_NAME, ShownGame
from junqi.web.viewer_thoughts import CLOSE_WORLDS, CURVE_WORLDS, Curves, Mind

# Games of the book on one page, and candidate moves that are shown.
PAGE = 50
TOP = 8
# So many replayed games are kept.
MOST_SHOWN = 8
_MOST_PLIES = 1_000_000


def routes(setup: Setup) -> list[BaseRoute]:
    """What the page of the viewer can ask for."""
    hall = Hall(setup)
    game = "/files/{kind}/{name}/{number:int}"
    return [
        get("/files", lambda ask: hall.library.files()),
        upload("/files", hall.keep),
        get("/book", hall.book_games),
        get("/files/{kind}/{name}", hall.games),
        get(game, hall.facts),
        get(f"{game}/board", hall.board),
        get(f"{game}/belief", hall.belief),
        post(f"{game}/candidates", hall.candidates),
        post(f"{game}/estimate", hall.estimate),
        get(f"{game}/estimate", hall.curve_feed),
    ]


ROOM = Room("viewer", routes)


class Hall:
    """The games that are being looked at."""

    def __init__(self, setup: Setup) -> None:
        self.library = Library(setup)
        self._setup = setup
        self._curves = Curves(setup)
        self._mind = Mind(setup, CLOSE_WORLDS)
        self._lock = threading.Lock()
        self._shown: OrderedDict[tuple[str, str, int], ShownGame] = OrderedDict()

    def keep(self, ask: Ask) -> Answer:
        """Keep a file that a user opens."""
        return {"kind": OPENED, "name": self.library.keep(ask.file)}

    def book_games(self, ask: Ask) -> Answer:
        """A page of the book's games, the newest last as the book has them."""
        offset = _number(ask, "offset")
        with reading(self._setup) as book:
            games = book.games(limit=PAGE + 1, offset=offset)
            name = book.path.name
        return {
            "book": name,
            "games": [
                {
                    "kind": BOOK,
                    "name": str(game.id),
                    "side": game.side,
                    "played": game.played,
                    "opponent": game.opponent,
                    "result": game.result,
                    "reason": game.reason,
                    "plies": game.plies,
                    "source": game.source,
                }
                for game in games[:PAGE]
            ],
            "next": offset + PAGE if len(games) > PAGE else None,
        }

    def games(self, ask: Ask) -> Answer:
        """The games of a file; of a broken one, what is wrong with it."""
        return [
            {
                "number": found.game,
                "red": found.record.red,
                "black": found.record.black,
                "date": found.record.date,
                "event": found.record.event,
                "result": found.record.result,
                "plies": len(found.record.plies),
            }
            if found.record
            else {"number": found.game, "fault": found.fault}
            for found in self.library.games(ask.path["kind"], ask.path["name"])
        ]

    def facts(self, ask: Ask) -> Answer:
        """Who played and what was played, for a seat; without one, for the first that there is."""
        game = self._game(ask)
        first = SIDE_NAMES[game.sides[0]] if game.sides else ALL
        facts = game.facts(_seat(ask.query.get("seat", first)))
        return {**facts, "worlds": [CURVE_WORLDS, CLOSE_WORLDS]}

    def board(self, ask: Ask) -> Answer:
        """The board after so many plies, as a seat sees it."""
        seat = _seat(ask.query.get("seat"))
        return self._game(ask).board(seat, _number(ask, "ply"), ask.language)

    def belief(self, ask: Ask) -> Answer:
        """What a side believed of the other's pieces after so many plies."""
        seat = _seat(ask.query.get("seat"))
        side = _side(ask.query.get("side"), seat)
        return self._game(ask).belief(side, seat, _number(ask, "ply"), ask.language)

    def candidates(self, ask: Ask) -> Answer:
        """What the engine would play at a ply, knowing what the side to move knew."""
        ask.only("seat", "ply")
        seat = ask.choice("seat", SEATS)
        game = self._game(ask)
        view = game.to_decide(seat, ask.whole("ply", 0, _MOST_PLIES))
        return game.candidates(self._mind.think(view), seat, TOP, ask.language)

    def estimate(self, ask: Ask) -> Answer:
        """Begin or stop to work out a side's chances along the game."""
        ask.only("seat", "side", "go")
        side = _side(ask.text("side"), ask.choice("seat", SEATS))
        curve = self._curves.curve(_key(ask), self._game(ask), side)
        (self._curves.start if ask.flag("go") else self._curves.stop)(curve)
        return curve.as_json()

    def curve_feed(self, ask: Ask) -> Answer:
        """A side's chances along the game, as they are worked out."""
        side = _side(ask.query.get("side"), _seat(ask.query.get("seat")))
        return self._curves.curve(_key(ask), self._game(ask), side).feed

    def _game(self, ask: Ask) -> ShownGame:
        """The game that is asked for.

        Raises:
            InvalidRecord: if it is broken, or against the rules.
            NotThere: if there is no such game.
        """
        key = _key(ask)
        record = self.library.record(*key)
        with self._lock:
            known = self._shown.get(key)
        # A file may have been written anew.
        game = known if known is not None and known.record == record else ShownGame(record)
        with self._lock:
            self._shown[key] = game
            self._shown.move_to_end(key)
            while len(self._shown) > MOST_SHOWN:
                self._shown.popitem(last=False)
        return game


def _key(ask: Ask) -> tuple[str, str, int]:
    number: Any = ask.path["number"]
    return ask.path["kind"], ask.path["name"], number


def _seat(text: str | None) -> str:
    if text not in SEATS:
        raise Refused(f"seat: expected one of {', '.join(SEATS)}, got {str(text)[:40]!r}")
    return text


def _side(text: str | None, seat: str) -> Side:
    """Whose thoughts are asked for: from a player's seat only the own ones can be."""
    if text not in SIDE_OF_NAME or seat not in (ALL, text):
        expected = " or ".join(SIDE_OF_NAME) if seat == ALL else seat
        raise Refused(f"side: expected {expected} from this seat, got {str(text)[:40]!r}")
    return SIDE_OF_NAME.get(text, RED)


def _number(ask: Ask, name: str) -> int:
    text = ask.query.get(name, "0")
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise Refused(f"{name}: expected a whole number, got {text[:40]!r}")
    return int(text)
