"""What games that were really played teach the opening moves of a book.

The result of a game goes to every stored move that the own side played, whatever key has it, and
their positions are weighed anew. No game counts twice: the runs of learning keep the digests of
theirs. A game that ended by a crash, the clock or an illegal move says nothing about its opening.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from book.letters import is_legal
from book.opening_rows import GAME, with_game
from book.openings import EXACT, spot_of
from book.rows import Opening, Run
from book.store import Book, new_run_key
from junqi import __version__
from junqi.errors import InvalidRecord
from junqi.pieces import BLACK, NOBODY, RED, SIDE_NAMES, Side
from junqi.record import Record, format_record
from junqi.replay import record_views
from junqi.rules import Reason, format_move

KIND = "learn"
_TAUGHT_BY = (Reason.FLAG, Reason.NO_MOVES, Reason.STEPS)


@dataclass
class Learned:
    """What came of learning."""

    run: str = ""
    games: int = 0
    """Sides of games that taught something, or at least were looked at."""
    known: int = 0
    """That had been learned before."""
    left_out: int = 0
    """Without a result, with another end, or without an own layout of the book."""
    moves: int = 0
    """Rows that were changed."""
    added: int = 0


class Learner:
    """Feeds games to a book."""

    def __init__(
        self,
        book: Book,
        *,
        sides: tuple[Side, ...] = (RED, BLACK),
        plies: int = 20,
        adds: bool = False,
        command: str = "",
        machine: str = "",
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Prepare.

        Args:
            book: open for writing.
            sides: whose moves are looked at; only where that side's layout is one of the book.
            plies: so far into a game.
            adds: whether moves that the book does not have become rows.
            command: what the user typed, for the log.
            machine: where it runs, in words.
            note: told why a game was left out.
        """
        self._book = book
        self._sides = sides
        self._plies = plies
        self._adds = adds
        self._note = note
        self._run = Run(
            new_run_key(KIND),
            command,
            {"plies": plies, "adds": adds, "learned": []},
            machine=machine,
            version=__version__,
            status="done",
        )
        self._digests = learned_digests(book)
        self.learned = Learned(self._run.key)

    def learn(self, records: Iterable[tuple[str, Record]]) -> Learned:
        """Take in games, each a change of its own in the book's log.

        Args:
            records: each with its name, for the log.
        """
        for name, record in records:
            for side in self._sides:
                self._learn_side(name, record, side)
        return self.learned

    def _learn_side(self, name: str, record: Record, side: Side) -> None:
        layout, end = record.layout_of(side), record.outcome
        if layout is None or not is_legal(layout) or not self._book.holds(layout):
            self.learned.left_out += 1
            return
        if end is None or end.reason not in _TAUGHT_BY:
            self._note(f"{name}: left out: {end.reason.text if end else 'not finished'}")
            self.learned.left_out += 1
            return
        digest = game_digest(record, side)
        if digest in self._digests:
            self.learned.known += 1
            return
        result = 0.5 if end.winner == NOBODY else float(end.winner == side)
        try:
            played = list(self._played(record, side))
        except InvalidRecord as error:
            self._note(f"{name}: left out: {error}")
            self.learned.left_out += 1
            return
        done = [*self._run.settings["learned"], digest]
        run = replace(self._run, settings=self._run.settings | {"learned": done}, games=len(done))
        with self._book.change(f"learn {name} as {SIDE_NAMES[side]}, {record.result}"):
            self._book.add_run(run)
            for layout_key, ply, move in played:
                self._teach(layout_key, ply, move, result)
        self._run = replace(run, started=self._book.run(run.key).started)
        self._digests.add(digest)
        self.learned.games += 1

    def _played(
        self, record: Record, side: Side
    ) -> Iterable[tuple[tuple[str, str, str], int, str]]:
        """The own turns of a game: layout, exact key and class keys, ply and move."""
        views = record_views(record, side)
        for ply, (view, told) in enumerate(zip(views, record.plies, strict=False)):
            if ply >= self._plies:
                return
            if not view.is_own_turn:
                continue
            spot = spot_of(view)
            move = told.move if side == RED else told.move.rotated()
            for key in spot.keys:
                kind = GAME if key == spot.keys[EXACT] else ""
                yield (spot.layout, key, kind), ply, format_move(spot.move(move))

    def _teach(self, place: tuple[str, str, str], ply: int, move: str, result: float) -> None:
        layout, key, kind = place
        rows = self._book.lookup(layout, key, disabled=True)
        if any(row.move == move for row in rows):
            self.learned.moves += 1
        elif self._adds and kind == GAME:
            # Its error is that of a few games: growing looks at it, an engine does not take it yet.
            rows.append(Opening(layout, key, move, ply, source=GAME, run=self._run.key))
            self.learned.added += 1
        else:
            return
        self._book.add_openings(with_game(rows, move, result))


def game_digest(record: Record, side: Side) -> str:
    """What tells a game from others, seen by one side: layouts, moves and result, no times."""
    plies = tuple(replace(ply, seconds=None, comment="") for ply in record.plies)
    bare = Record(plies, record.outcome, record.red_layout, record.black_layout, rules=record.rules)
    text = f"{SIDE_NAMES[side]} {format_record(bare)}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def learned_digests(book: Book) -> set[str]:
    """The games that a book has learned from."""
    rows = book.connection.execute(
        "SELECT settings FROM runs WHERE json_type(settings, '$.learned') = 'array'"
    )
    return {digest for (settings,) in rows for digest in json.loads(settings)["learned"]}
