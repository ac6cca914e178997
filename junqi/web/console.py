"""The contest console: the operator enters the opponent's moves, and reads ours aloud.

Whatever a page is sent is made from the own `View`: what the opponent's pieces are is not known
here, and so it can be in no answer.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.routing import BaseRoute

from junqi.board import parse_point, point_name
from junqi.engine import Engine
from junqi.errors import JunqiError
from junqi.layout import parse_layout
from junqi.pieces import BLACK, HIDDEN, NO_CONTACT, NOBODY, RED, SIDE_NAMES, Side
from junqi.program import Shelf
from junqi.render import Names, view_on_board
from junqi.render_svg import render_layout_svg, render_svg
from junqi.rules import STEPS_LOSERS, Outcome, Position, Rules, format_move, legal_moves, parse_move
from junqi.view import View
from junqi.web.answers import Answer, Ask, Download, NotThere, Refused, get, post
from junqi.web.console_desk import Desk, Stale
from junqi.web.console_game import (
    REASON_OF_TEXT,
    UNFINISHED,
    Game,
    Question,
    Terms,
    covered,
    end_to_json,
    question_of,
)
from junqi.web.console_log import GameLog, game_keys, is_key, new_key, read_game
from junqi.web.room import Room, Setup
from junqi.web.words import Language, translate

# How often the clock of a game is written down, in seconds: so much may be lost by a crash.
TICK = 5.0
LONGEST_TIME = 100 * 3600
MOST_STEPS = 10_000
MOST_PLIES = 100_000


def routes(setup: Setup) -> list[BaseRoute]:
    """What the page of the console can ask for."""
    hall = Hall(setup)
    setup.closing.callback(hall.close)

    def action(name: str, do: Callable[[Desk, Ask], Question | None]) -> BaseRoute:
        """A route that does something to a game, and answers with its new state."""

        def answer(ask: Ask) -> Answer:
            desk = hall.desk(ask.path["key"])
            try:
                question = do(desk, ask)
            except Stale as error:
                raise Refused(str(error), 409, state=state_of(desk, ask)) from None
            asked = {} if question is None else {"asked": _question(question, desk, ask)}
            return {"state": state_of(desk, ask), **asked}

        return post(f"/games/{{key}}/{name}", answer)

    return [
        get("/games", lambda ask: hall.listed(ask.language)),
        post("/games", hall.create),
        post("/layout", hall.layout),
        get("/games/{key}", lambda ask: state_of(hall.desk(ask.path["key"]), ask)),
        get("/games/{key}/feed", lambda ask: hall.desk(ask.path["key"]).feed),
        get("/games/{key}/record", lambda ask: _record(hall.desk(ask.path["key"]))),
        action("resume", lambda desk, ask: desk.resume()),
        action("pause", lambda desk, ask: desk.pause()),
        action("now", lambda desk, ask: desk.move_now()),
        action("move", _enter_move),
        action("retract", lambda desk, ask: desk.retract(_version(ask))),
        action("undo", lambda desk, ask: desk.undo(_version(ask), _plies(ask))),
        action("redo", lambda desk, ask: desk.redo(_version(ask), _plies(ask))),
        action("clock", _set_clocks),
        action("end", _end_game),
    ]


ROOM = Room("console", routes)


class Hall:
    """All games of the folder; those that are asked for are opened."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._folder = setup.games
        self._desks: dict[str, Desk] = {}
        self._lock = threading.Lock()
        self._listed: dict[str, tuple[tuple[int, int], dict[str, Any]]] = {}
        self._notes: list[str] = []
        self._shelf = Shelf(setup.options.book, self._note) if setup.options.use_book else None
        draw = self._shelf.draw if self._shelf else None
        self._layouts = Engine(setup.options, self._note, layouts=draw, load=None)
        self._ending = threading.Event()
        threading.Thread(target=self._tick, name="console clocks", daemon=True).start()

    def desk(self, key: str) -> Desk:
        """An open game.

        Raises:
            NotThere: if there is no such game.
            BrokenGame: if its file cannot be read.
        """
        with self._lock:
            if key not in self._desks:
                if not is_key(key):
                    raise NotThere(f"expected the key of a game, got {key[:40]!r}")
                try:
                    log = GameLog(self._folder, key)
                except FileNotFoundError:
                    raise NotThere(f"there is no game {key}") from None
                self._desks[key] = Desk(self._setup, self._shelf, key, log)
            return self._desks[key]

    def create(self, ask: Ask) -> Answer:
        """Begin a game; without a layout the engine draws one."""
        ask.only(*_TERMS)
        is_first = ask.flag("first")
        rules = Rules(
            steps=ask.whole("steps", 1, MOST_STEPS, Rules.steps),
            steps_loser=ask.choice("steps_loser", STEPS_LOSERS, Rules.steps_loser),
            time=ask.number("time", 1, LONGEST_TIME, Rules.time),
        )
        movetime = ask.number("movetime", 0, LONGEST_TIME, 0) or None
        layout = ask.text("layout", "").lower() or self._layouts.layout(is_first, rules)
        terms = Terms(
            RED if is_first else BLACK,
            layout,
            own=ask.text("own", ""),
            enemy=ask.text("enemy", ""),
            event=ask.text("event", ""),
            date=time.strftime("%Y-%m-%d"),
            rules=rules,
            is_turned=ask.flag("turned", False),
            movetime=movetime,
        )
        key = new_key()
        GameLog.create(self._folder, key, terms).close()
        return {"key": key}

    def layout(self, ask: Ask) -> Answer:
        """A layout with its picture: the one that was typed in, or one drawn from the book.

        If no book can be read, the notes say why, and it is one that we always have.
        """
        ask.only("layout", "first")
        is_first = ask.flag("first")
        text = ask.text("layout", "").lower() or self._layouts.layout(is_first, Rules())
        side = RED if is_first else BLACK
        board = render_layout_svg(
            parse_layout(text), side=side, names=_names(ask.language), has_style=False
        )
        notes, self._notes = self._notes, []
        return {
            "layout": text,
            "board": board,
            "notes": [translate(n, ask.language) for n in notes],
        }

    def _note(self, text: str) -> None:
        """Tell of a book that cannot be read, here and to whoever draws a layout next."""
        self._setup.note(text)
        self._notes.append(text)

    def listed(self, language: Language) -> list[dict[str, Any]]:
        """All games, the newest first; one whose file is broken is listed with what is wrong."""
        return [self._summary(key, language) for key in game_keys(self._folder)]

    def _summary(self, key: str, language: Language) -> dict[str, Any]:
        path = self._folder / f"{key}.game"
        try:
            found = path.stat()
            stamp = (found.st_mtime_ns, found.st_size)
            known = self._listed.get(key)
            if known is None or known[0] != stamp:
                known = self._listed[key] = (stamp, _summary_of(read_game(self._folder, key)))
            return {"key": key, **known[1]}
        except (JunqiError, OSError) as error:
            return {"key": key, "error": translate(str(error), language)}

    def close(self) -> None:
        """Pause and close all games."""
        self._ending.set()
        with self._lock:
            for desk in self._desks.values():
                desk.close()
            self._desks.clear()

    def _tick(self) -> None:
        while not self._ending.wait(TICK):
            with self._lock:
                desks = list(self._desks.values())
            for desk in desks:
                desk.tick()


_TERMS = (
    *("own", "enemy", "event", "first", "time", "steps"),
    *("steps_loser", "layout", "turned", "movetime"),
)


def state_of(desk: Desk, ask: Ask) -> dict[str, Any]:
    """All that the page shows of a game.

    With ``cover=1`` behind the address the own pieces are covered too, for a screen that the
    opponent can see.
    """
    is_covered = _is_covered(ask)
    with desk.locked():
        game, terms, view = desk.game, desk.terms, desk.game.view
        announced = game.announced
        question = None if announced is None else question_of(view, announced.move)
        clock_side = game.clock_side
        return {
            "key": desk.key,
            "version": game.version,
            "serial": desk.serial,
            "own": terms.own,
            "enemy": terms.enemy,
            "event": terms.event,
            "side": SIDE_NAMES[terms.side],
            "turned": terms.is_turned,
            "to_move": SIDE_NAMES[view.position.to_move],
            "is_own_turn": view.is_own_turn,
            "is_running": game.is_running,
            "is_thinking": desk.is_thinking,
            "is_loading": desk.is_loading,
            "was_interrupted": game.was_interrupted,
            "board": _board(game, _names(ask.language), is_covered),
            "moves": {} if is_covered and view.is_own_turn else _moves(game),
            "announced": None if announced is None else format_move(announced.move),
            "question": None if question is None else _question(question, desk, ask),
            "plies": [_ply(game, number) for number in range(len(game.entries))],
            "undone": len(game.undone),
            "quiet": view.quiet_plies,
            "steps": terms.rules.steps,
            "enemy_flag": None if view.enemy_flag is None else point_name(view.enemy_flag),
            "own_flag": _own_flag(view),
            "clocks": {
                "time": terms.rules.time,
                "own": round(desk.used(terms.side), 3),
                "enemy": round(desk.used(view.enemy), 3),
                "running": None if clock_side is None else _whose(clock_side, terms),
            },
            "is_over": game.is_over,
            "end": None if game.end is None else _end(game.end, terms),
            "trouble": translate(desk.trouble, ask.language),
        }


def _enter_move(desk: Desk, ask: Ask) -> Question | None:
    ask.only("version", "move", "result", "flag", "taken")
    flag = ask.text("flag", "")
    return desk.enter(
        _version(ask),
        parse_move(ask.text("move").upper()),
        ask.whole("result", 0, 3, NO_CONTACT),
        parse_point(flag.upper()) if flag else None,
        ask.flag("taken", False),
        "flag" in ask.data,
    )


def _set_clocks(desk: Desk, ask: Ask) -> None:
    ask.only("version", "own", "enemy")
    own, enemy = (ask.number(name, 0, LONGEST_TIME) for name in ("own", "enemy"))
    desk.set_clocks(_version(ask), own, enemy)


def _end_game(desk: Desk, ask: Ask) -> None:
    ask.only("version", "winner", "reason")
    winner = ask.choice("winner", ("own", "enemy", "nobody", UNFINISHED))
    if winner == UNFINISHED:
        desk.end(_version(ask), None)
        return
    reason = REASON_OF_TEXT[ask.choice("reason", tuple(REASON_OF_TEXT))]
    sides = {
        "own": desk.terms.side,
        "enemy": desk.game.view.enemy,
        "nobody": NOBODY,
    }
    desk.end(_version(ask), Outcome(sides[winner], reason))


def _is_covered(ask: Ask) -> bool:
    return ask.query.get("cover") == "1"


def _question(question: Question, desk: Desk, ask: Ask) -> dict[str, Any]:
    """A question for the page."""
    return (covered(question, desk.game.view) if _is_covered(ask) else question).to_json()


def _version(ask: Ask) -> int:
    return ask.whole("version", 0, MOST_PLIES * 100)


def _plies(ask: Ask) -> int:
    return ask.whole("plies", 1, MOST_PLIES, 1)


def _record(desk: Desk) -> Download:
    return Download(f"{desk.key}.junqi", desk.record_text())


def _names(language: Language) -> Names:
    return "chinese" if language == "zh" else "english"


def _board(game: Game, names: Names, is_covered: bool) -> str:
    view = game.view
    position, last = view_on_board(view)
    if is_covered:
        position = _covered(position, view.side)
    return render_svg(position, seat=view.side, names=names, highlight=last, has_style=False)


def _covered(position: Position, side: Side) -> Position:
    pieces = (
        HIDDEN if owner == side else piece
        for piece, owner in zip(position.pieces, position.owners, strict=True)
    )
    return replace(position, pieces=tuple(pieces))


def _moves(game: Game) -> dict[str, list[str]]:
    """The legal moves of the side to move; a hidden piece may be an engineer."""
    found: dict[str, list[str]] = {}
    if not game.is_over:
        for origin, target in legal_moves(game.view.position):
            found.setdefault(point_name(origin), []).append(point_name(target))
    return found


def _own_flag(view: View) -> str | None:
    """Where our flag is, once it has to be told."""
    flag = view.position.told_flag(view.side)
    return None if flag is None else point_name(flag)


def _ply(game: Game, number: int) -> dict[str, Any]:
    entry = game.entries[number]
    before, after = game.views[number : number + 2]
    return {
        "own": (RED if number % 2 == 0 else BLACK) == game.terms.side,
        "move": format_move(entry.move),
        "result": entry.result,
        "flag": None if entry.flag is None else point_name(entry.flag),
        "taken": entry.is_taken,
        "shows_own_flag": after.is_own_flag_told and not before.is_own_flag_told,
        "seconds": entry.seconds,
    }


def _whose(side: Side, terms: Terms) -> str:
    return "own" if side == terms.side else "enemy"


def _end(end: Outcome, terms: Terms) -> dict[str, str]:
    told = end_to_json(end)
    is_draw = end.winner not in (RED, BLACK)
    return {**told, "whose": "nobody" if is_draw else _whose(end.winner, terms)}


def _summary_of(game: Game) -> dict[str, Any]:
    terms = game.terms
    return {
        "own": terms.own,
        "enemy": terms.enemy,
        "event": terms.event,
        "date": terms.date,
        "side": SIDE_NAMES[terms.side],
        "time": terms.rules.time,
        "steps": terms.rules.steps,
        "steps_loser": terms.rules.steps_loser,
        "turned": terms.is_turned,
        "movetime": terms.movetime,
        "plies": len(game.entries),
        "is_over": game.is_over,
        "end": None if game.end is None else _end(game.end, terms),
    }
