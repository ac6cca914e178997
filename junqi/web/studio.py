"""The layout studio: a layout taken apart, put together, scored, attacked and saved into the book.

The page holds the letters and what can be undone; whether they are legal is said here. What takes
long runs on the `Bench` of the page's session.
"""

import os
import re
import secrets
import threading
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.routing import BaseRoute

from junqi.board import point_name
from junqi.errors import InvalidLayout
from junqi.layout import LAYOUT_POINTS, format_layout, parse_layout, random_layouts
from junqi.panel import InvalidPanel, Panel, make_panel, random_panel
from junqi.pieces import KINDS
from junqi.render import Names
from junqi.render_svg import render_layout_svg
from junqi.web.answers import LONGEST_TEXT, Answer, Ask, Download, NotThere, Refused, get, post
from junqi.web.books import reading, writing
from junqi.web.events import Feed
from junqi.web.room import Room, Setup
from junqi.web.studio_bench import Bench, Task
from junqi.web.studio_check import check_set, good_swaps, judge_letters, to_layout
from junqi.web.words import Language, translate

if TYPE_CHECKING:
    from book.rows import BookLayout

# The quick one first. What plays their games is heavy, and imported when it is needed.
JUDGES = ("policy", "search:3x3")
OPPONENTS = ("book", "human", "random")
RANDOM_OPPONENTS = 1000
# Tabs whose computations are remembered; the one that was longest silent has to go first.
SESSIONS = 16
# Layouts of the book to begin from.
MOST_LISTED = 300
ATTACK_SECONDS = 10
MOST_ATTACK_SECONDS = 600
MOST_TAGS = 20
# Layouts of the book that searches for a counter may begin from.
HINTS = 40

_SESSION = re.compile(r"[0-9a-z]{8,40}")


def routes(setup: Setup) -> list[BaseRoute]:
    """What the page of the studio can ask for."""
    studio = Studio(setup)
    setup.closing.callback(studio.close)
    return [
        post("/check", studio.check),
        post("/random", studio.random),
        get("/book", studio.book),
        get("/standing", studio.standing),
        post("/save", studio.save),
        post("/unsave", studio.unsave),
        post("/score", studio.score),
        post("/attack", studio.attack),
        post("/swaps", studio.swaps),
        post("/stop", studio.stop),
        get("/feed", studio.feed),
        get("/record", studio.record),
    ]


ROOM = Room("studio", routes)


class Studio:
    """The state of the room: who computes what."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._benches: OrderedDict[str, Bench] = OrderedDict()
        self._lock = threading.Lock()
        given = setup.options.seed
        self._seed = secrets.randbelow(2**32) if given is None else given
        self._threads = setup.options.threads or max(1, (os.cpu_count() or 2) - 1)

    def close(self) -> None:
        """End all computations."""
        with self._lock:
            benches = list(self._benches.values())
        for bench in benches:
            bench.stop()
        for bench in benches:
            bench.close()

    def check(self, ask: Ask) -> Answer:
        """What the rules say of letters, and how they look on the board."""
        ask.only("letters")
        letters = _letters(ask)
        verdict = judge_letters(letters)
        targets: dict[str, list[str]] = {point_name(point): [] for point in LAYOUT_POINTS}
        for a, b in good_swaps(letters):
            one, two = point_name(LAYOUT_POINTS[a]), point_name(LAYOUT_POINTS[b])
            targets[one].append(two)
            targets[two].append(one)
        from book.letters import mirror_letters

        return {
            "letters": letters,
            "mirror": mirror_letters(letters),
            "problems": [translate(text, ask.language) for text in verdict.problems],
            "points": verdict.points,
            "targets": targets,
            "svg": render_layout_svg(
                to_layout(letters), names=_names(ask.language), title=letters, has_style=False
            ),
            "known": None if verdict.problems else self._known(letters),
        }

    def random(self, ask: Ask) -> Answer:
        """A random legal layout."""
        ask.only()
        return {"letters": format_layout(random_layouts(1, secrets.randbelow(2**63))[0])}

    def book(self, ask: Ask) -> Answer:
        """Layouts to begin from, those of the mixture first."""
        with reading(self._setup) as book:
            rows = book.layouts(sort="weight", descending=True, limit=MOST_LISTED)
            return {"path": str(book.path), "layouts": [_listed(row) for row in rows]}

    def standing(self, ask: Ask) -> Answer:
        """How often the mixture has each kind at each point."""
        from layout_search.report import standing

        panel = self._panel("book")
        shares = standing(dict(zip(panel.texts, panel.weights, strict=True)))
        return {
            "layouts": len(panel),
            "kinds": [
                {
                    "letter": kind.letter,
                    "name": kind.chinese if ask.language == "zh" else kind.english,
                    "shares": shares[kind.letter],
                }
                for kind in KINDS
            ],
        }

    def save(self, ask: Ask) -> Answer:
        """Keep a layout in the book, with one entry in its change log."""
        from book.rows import NewLayout

        ask.only("letters", "name", "tags")
        letters = _legal(ask)
        name, tags = ask.text("name", ""), ask.text("tags", "").replace("，", ",")
        words = [word for word in re.split(r"[\s,]+", tags) if word][:MOST_TAGS]
        with writing(self._setup) as book:
            is_known = book.holds(letters)
            new = NewLayout(
                letters,
                # What the book knows of a layout's origin is better than our guess.
                origin=None if is_known else "human",
                name=name or None,
                tags=tuple(words),
            )
            with book.change(f"save {name or letters} from the studio") as change:
                added = book.add_layouts([new])
            return {
                "id": added.ids[0],
                "is_new": not is_known,
                "change": change.id if change else None,
                "book": str(book.path),
            }

    def unsave(self, ask: Ask) -> Answer:
        """Take back a change of `save`, if it is the last one of the book."""
        ask.only("change")
        wanted = ask.whole("change", 1, 2**62)
        with writing(self._setup) as book:
            last = book.changes(1)
            if not last or last[0].id != wanted:
                raise Refused("the book was changed since: take it back there", 409)
            return {"undone": book.undo().undone.what}

    def score(self, ask: Ask) -> Answer:
        """Score a layout while the page looks on."""
        from junqi.web.studio_tasks import score_task

        ask.only("session", "letters", "opponents", "judge")
        letters = _legal(ask)
        which = ask.choice("opponents", ("all", *OPPONENTS), "all")
        judge = ask.choice("judge", JUDGES, JUDGES[0])
        panels = self._panels(which)
        task = score_task(letters, panels, judge, self._seed, self._threads)
        return self._start(
            ask, "score", letters, task, judge=judge, opponents=list(panels), rows={}
        )

    def attack(self, ask: Ask) -> Answer:
        """Look for who beats a layout."""
        from junqi.web.studio_tasks import counter_task

        ask.only("session", "letters", "seconds")
        letters = _legal(ask)
        seconds = ask.number("seconds", 0.01, MOST_ATTACK_SECONDS, ATTACK_SECONDS)
        try:
            hints = self._panel("book").texts[:HINTS]
        except InvalidPanel:
            hints = ()
        task = counter_task(letters, hints, seconds, self._seed, self._threads)
        return self._start(ask, "attack", letters, task, seconds=seconds)

    def swaps(self, ask: Ask) -> Answer:
        """Race the single swaps of a layout."""
        from junqi.web.studio_tasks import swaps_task

        ask.only("session", "letters", "opponents")
        letters = _legal(ask)
        which = ask.choice("opponents", OPPONENTS, "book")
        task = swaps_task(letters, self._panel(which), self._seed, self._threads)
        return self._start(ask, "swaps", letters, task, opponents=which, rows=[])

    def stop(self, ask: Ask) -> Answer:
        """End the session's computation."""
        ask.only("session")
        self._bench(ask.text("session")).stop()
        return {}

    def feed(self, ask: Ask) -> Feed:
        """The session's computation, as it goes on."""
        return self._bench(ask.query.get("session", "")).feed

    def record(self, ask: Ask) -> Download:
        """The sample game of the last attack of a session, as a file."""
        record = self._bench(ask.query.get("session", "")).state.get("record")
        if record is None:
            raise NotThere("there is no sample game: look for a counter first")
        return Download("counter.junqi", record)

    def _bench(self, session: str) -> Bench:
        if not _SESSION.fullmatch(session):
            raise Refused("expected a session of 8 to 40 small letters and digits")
        dropped = None
        with self._lock:
            bench = self._benches.get(session)
            if bench is None:
                bench = Bench(self._setup.feeds.new())
                self._benches[session] = bench
            self._benches.move_to_end(session)
            if len(self._benches) > SESSIONS:
                dropped = self._benches.popitem(last=False)[1]
        if dropped is not None:
            dropped.stop()
            # A page that still listens asks again, and gets a new one.
            dropped.feed.close()
        return bench

    def _start(self, ask: Ask, kind: str, letters: str, task: Task, **about: Any) -> Answer:
        bench = self._bench(ask.text("session"))
        say = partial(translate, language=ask.language)
        return {"run": bench.start(task, say, kind=kind, letters=letters, **about)}

    def _known(self, letters: str) -> dict[str, Any] | None:
        """What the book has of a layout; nothing too if there is no book."""
        from book.errors import BookError

        try:
            with reading(self._setup) as book:
                return _listed(book.find_layout(letters)) if book.holds(letters) else None
        except BookError:
            return None

    def _panels(self, which: str) -> dict[str, Panel]:
        """The opponents that were chosen; among all of them an empty mixture may be missing."""
        if which != "all":
            return {which: self._panel(which)}
        found = {}
        for name in OPPONENTS:
            try:
                found[name] = self._panel(name)
            except InvalidPanel:
                continue
        return found

    def _panel(self, name: str) -> Panel:
        from book.default import human_layouts
        from book.panels import find_panel

        if name == "human":
            return make_panel(name, human_layouts())
        if name == "random":
            return random_panel(RANDOM_OPPONENTS, self._seed)
        with reading(self._setup) as book:
            return find_panel(book, name, self._seed)


def _letters(ask: Ask) -> str:
    """A whole set of pieces, in whatever lines it was pasted.

    Raises:
        Refused: with every reason, if it is something else.
    """
    text = ask.data.get("letters")
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise Refused("expected 25 letters")
    letters = "".join(text.split())
    try:
        check_set(letters)
    except InvalidLayout as error:
        said = [translate(part, ask.language) for part in str(error).split("; ")]
        raise Refused(("；" if ask.language == "zh" else "; ").join(said)) from None
    return letters


def _legal(ask: Ask) -> str:
    """A legal layout."""
    letters = _letters(ask)
    parse_layout(letters)
    return letters


def _listed(row: "BookLayout") -> dict[str, Any]:
    return {
        "id": row.id,
        "letters": row.layout,
        "name": row.name,
        "weight": row.weight if row.in_mixture else 0.0,
        "origin": row.origin,
        "tags": list(row.tags),
    }


def _names(language: Language) -> Names:
    return "chinese" if language == "zh" else "english"
