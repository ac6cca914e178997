"""Growing a book: reproducible, resumable, in nobody's way; and learning from games."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from book_samples import A, B, make_book

from book import grow as grow_module
from book import grow_run
from book.errors import BookError
from book.grow import GrowSettings, Growth
from book.grow_games import Opponents, Pairing, draw_enemy_layout, play_out
from book.grow_run import GrowRun, enemy_layouts
from book.learn import Learner, game_digest, learned_digests
from book.letters import canonical_letters, mirror_letters
from book.opening_rows import thoughts_in
from book.openings import EXACT, level_of, read_key, why_not
from book.rows import BookLayout, Opening
from book.store import Book
from junqi.judge_player import JudgePlayer
from junqi.pieces import BLACK, NOBODY, RED
from junqi.race import Candidate, Thought
from junqi.record import Record
from junqi.replay import record_game
from junqi.rules import Move, Outcome, Position, Reason, parse_move
from junqi.simulate import parse_judge
from junqi.view import View

QUICK = GrowSettings(seed=1, worlds=8, plies=6, opponents=("policy",), loss=0.05, nodes=40)


class QuickThinker:
    """Thinks nothing of importance, in no time, and the same of the same view."""

    def __init__(self, threads: int, seed: int, *, effort: int) -> None:
        self._seed = seed
        self._effort = effort

    def think(self, view: View, seconds: float, hard: float) -> Thought:
        told = [(ply.move, ply.result) for ply in view.plies]
        found = []
        for move in view.legal_moves():
            taste = Random(f"{self._seed} {view.layout} {move}").uniform(0.4, 0.6)
            mood = Random(f"{self._seed} {told} {move}").uniform(0.0, 0.01)
            found.append(Candidate(move, taste + mood, 0.004, self._effort))
        found.sort(key=lambda candidate: -candidate.value)
        return Thought(found[0].move, found[0].value, tuple(found), self._effort, 0.0)


@pytest.fixture(autouse=True)
def _in_a_hurry(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grow_module, "GAMES_A_ROUND", 8)
    monkeypatch.setattr(grow_module, "THOUGHTS_A_ROUND", 8)
    if "real" not in request.node.name:
        monkeypatch.setattr(grow_module, "Thinker", QuickThinker)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book.open(make_book(tmp_path / "book.db")) as made:
        yield made


def rows_of(book: Book) -> list[Opening]:
    return [replace(row, id=None, run=None) for row in book.openings()]


def grow(book: Book, **changes) -> GrowRun:
    run = GrowRun(book, book.mixture(), replace(QUICK, **changes))
    run.grow()
    return run


def grown(**changes) -> Growth:
    layout = BookLayout(1, A, "", "human", "both", 1.0, "both", True, "", "", None)
    growth = Growth(replace(QUICK, **changes), [layout], [B], "run")
    growth.grow()
    return growth


# Games


def test_a_game_is_played_for_as_long_as_the_own_side_knows_moves() -> None:
    policy = parse_judge("policy")
    pairing = Pairing(A, BLACK, B, JudgePlayer(policy, 1), policy)
    seen: list[View] = []

    def decide(view: View):
        seen.append(view)
        return view.legal_moves()[0] if len(seen) < 3 else None

    assert play_out(pairing, decide, False, 1) is None
    assert [len(view.plies) for view in seen] == [1, 3, 5]
    assert all(view.side == BLACK and view.layout == A for view in seen)
    seen.clear()
    assert play_out(pairing, decide, True, 1) in (0.0, 0.5, 1.0)
    assert len(seen) == 3


def test_enemy_layouts_are_the_books_and_random_ones() -> None:
    lots = Random(1)
    drawn = [draw_enemy_layout([A], lots) for _ in range(200)]
    known = sum(canonical_letters(letters) == A for letters in drawn)
    assert 130 < known < 190
    assert {A, mirror_letters(A)} < set(drawn)


@pytest.mark.parametrize("word", ["", "nobody", "think", "think:0", "think:x", "search:0x0"])
def test_unknown_opponents_are_an_error(word: str) -> None:
    with pytest.raises(BookError, match=r"expected (random, policy, search:DxW|1 to|a depth)"):
        Opponents([word], 1)


# Growth


def test_the_real_search_grows_the_same_for_any_number_of_threads() -> None:
    one, two = grown(nodes=12), grown(nodes=12, threads=3)
    assert one.places == two.places
    assert len(one.places) > 4


def test_growth_is_the_same_for_any_number_of_threads() -> None:
    one, two = grown(), grown(threads=3)
    assert one.places == two.places
    assert one.games == two.games
    assert one.thoughts == 40
    assert grown(seed=2).places != one.places


def test_growth_finds_possible_moves_and_lets_results_flow_back() -> None:
    growth = grown(nodes=64)
    assert (A, "start") in growth.places
    for (layout, key), rows in growth.places.items():
        board = read_key(layout, key)
        assert board is not None
        assert all(why_not(board, parse_move(row.move)) is None for row in rows)
        assert all(row.ply < QUICK.plies for row in rows)
    first = growth.places[A, "start"]
    assert max(row.visits for row in first) > QUICK.worlds  # games were counted
    assert sum(row.weight for row in first) == pytest.approx(1, abs=0.2)


def test_coverage_grows() -> None:
    early, late = grown(nodes=8).coverage(), grown(nodes=64).coverage()
    assert list(late) == [1, 2, 3]
    assert late[1] > early[1]
    assert late[1] >= late[2] >= late[3]
    assert late[1] > 0.6


def test_a_class_is_thought_about_in_several_views_before_a_narrower_key() -> None:
    growth = grown(nodes=80, loss=0.0001)
    for (_layout, key), rows in growth.places.items():
        if level_of(key) == EXACT and key != "start":
            assert max(map(thoughts_in, rows)) == 1
    wide = [rows for (_, key), rows in growth.places.items() if key == "~~"]
    assert max(map(thoughts_in, wide[0])) >= 2
    assert any(level_of(key) == EXACT for _, key in growth.places if key != "start")


def test_a_layout_for_one_turn_is_grown_for_that_turn() -> None:
    layout = BookLayout(1, A, "", "human", "both", 0.0, "second", True, "", "", None)
    growth = Growth(replace(QUICK, nodes=10), [layout], [B], "run")
    growth.grow()
    assert all(row.ply % 2 for rows in growth.places.values() for row in rows)


def test_growth_ends_when_nothing_is_left() -> None:
    growth = grown(plies=1, nodes=1000)
    assert list(growth.places) == [(A, "start")]


# In a book


def test_a_run_is_kept_with_its_settings(book: Book) -> None:
    run = grow(book)
    row = book.run(run.growth.run)
    assert (row.status, row.seed, row.games) == ("done", 1, run.growth.games)
    assert row.settings["worlds"] == 8
    assert row.settings["layouts"] == [A, B]
    assert {o.run for o in book.openings() if o.source.startswith("think")} == {row.key}
    assert list(book.check()) == []


def test_what_was_there_is_kept_and_positions_by_hand_stay_as_they_are(book: Book) -> None:
    before = book.lookup(A, "start", disabled=True)
    grow(book)
    assert book.lookup(A, "start", disabled=True) == before
    assert len(book.openings(A)) > len(before)


def test_growing_goes_on_where_it_was(book: Book) -> None:
    first = grow(book)
    known = {(row.layout, row.key): thoughts_in(row) for row in book.openings()}
    second = grow(book)
    assert second.growth.first_game == first.growth.games
    later = {(row.layout, row.key): thoughts_in(row) for row in book.openings()}
    assert known.keys() < later.keys()
    assert all(later[place] >= thoughts for place, thoughts in known.items())


def test_two_books_grown_alike_are_equal(tmp_path: Path) -> None:
    found = []
    for number, threads in enumerate((1, 2)):
        with Book.open(make_book(tmp_path / f"{number}.db")) as book:
            grow(book, threads=threads)
            grow(book, threads=threads)
            found.append(rows_of(book))
    assert found[0] == found[1]


def test_a_dry_run_writes_nothing(book: Book) -> None:
    before, changes = rows_of(book), len(book.changes())
    run = GrowRun(book, book.mixture(), QUICK, dry_run=True)
    assert run.grow().positions > 0
    assert rows_of(book) == before
    assert len(book.changes()) == changes
    assert all(not row.key.startswith("grow") for row in book.runs())


def test_ctrl_c_keeps_what_was_found(book: Book) -> None:
    run = GrowRun(book, book.mixture(), replace(QUICK, nodes=1000))

    def stop(growth: Growth) -> None:
        if growth.thoughts >= 64:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.grow(stop)
    assert book.run(run.growth.run).status == "interrupted"
    kept = {(row.layout, row.key) for row in book.openings()}
    assert set(run.growth.places) == kept


def test_what_a_person_changes_meanwhile_stays(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grow_run, "SAVE_SECONDS", 0.0)
    run = GrowRun(book, book.mixture(), replace(QUICK, nodes=96))
    changed: list[int] = []

    def meddle(growth: Growth) -> None:
        rows = [row for row in book.openings(A) if row.key == "~~" and row.id is not None]
        if rows and not changed:
            changed.extend([rows[0].id])  # type: ignore[list-item]
            book.set_openings(changed, enabled=False, notes="mine")

    run.grow(meddle)
    (row,) = book.openings_by_id(changed)
    assert (row.enabled, row.notes) == (False, "mine")


def test_a_reader_is_never_blocked(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grow_run, "SAVE_SECONDS", 0.0)
    counts: list[int] = []
    with Book.open(book.path, read_only=True, wait=0.0) as reader:

        def read(growth: Growth) -> None:
            # In the middle of the writer's work, and with a transaction of its own open.
            reader.lookup(A, "~~")
            counts.append(len(reader.openings()))

        connection = reader.connection
        connection.execute("BEGIN")
        fixed = connection.execute("SELECT count(*) FROM openings").fetchone()[0]
        run = GrowRun(book, book.mixture(), replace(QUICK, nodes=64))
        run.grow(lambda growth: None)
        assert connection.execute("SELECT count(*) FROM openings").fetchone()[0] == fixed
        connection.execute("COMMIT")
        GrowRun(book, book.mixture(), replace(QUICK, nodes=64)).grow(read)
        read(run.growth)
    assert counts[-1] > fixed
    assert counts == sorted(counts)


def test_a_locked_book_is_written_later(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grow_run, "SAVE_SECONDS", 0.0)
    notes: list[str] = []
    has_locked: list[bool] = []
    run = GrowRun(book, book.mixture(), replace(QUICK, nodes=96), note=notes.append)
    book.connection.execute("PRAGMA busy_timeout = 1")
    with Book.open(book.path) as other:

        def lock(growth: Growth) -> None:
            if not has_locked:
                has_locked.append(True)
                other.connection.execute("BEGIN IMMEDIATE")
            elif other.connection.in_transaction:
                other.connection.execute("ROLLBACK")

        run.grow(lock)
    assert len(notes) == 1
    assert "is locked" in notes[0]
    assert {(row.layout, row.key) for row in book.openings()} == set(run.growth.places)


PROGRAM = """
import sys
from book import grow as grow_module
from book import grow_run
from junqi.cli import run
grow_run.SAVE_SECONDS = 0.2
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_stopped_process_leaves_a_whole_book(tmp_path: Path, sent: int, code: int) -> None:
    path = make_book(tmp_path / "book.db")
    command = ["book", "grow", "--book", str(path), "--minutes", "5", "--seed", "1"]
    more = ["--worlds", "8", "--opponents", "policy", "--threads", "1", "--loss", "0.05"]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command, *more],
        stderr=subprocess.PIPE,
        env={**os.environ, "JUNQI_BOOK": str(path)},
    ) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with Book.open(path, read_only=True) as book:
                if len(book.openings()) > 50:
                    break
            time.sleep(0.1)
        process.send_signal(sent)
        _, told = process.communicate(timeout=60)
    assert process.returncode == code
    if sent == signal.SIGINT:
        assert b"run it again to go on" in told
    with Book.open(path) as book:
        assert len(book.openings()) > 50
        assert list(book.check()) == []
        (run,) = [row for row in book.runs() if row.key.startswith("grow")]
        assert run.status == ("interrupted" if sent == signal.SIGINT else "running")
        before = len(book.openings())
        grow(book)
        assert len(book.openings()) > before


def test_opponents_have_the_books_layouts_and_peoples(book: Book) -> None:
    layouts = enemy_layouts(book)
    assert {A, B} < set(layouts)
    book.set_role([1], "own")
    assert A not in enemy_layouts(book) or A in human()


def human() -> list[str]:
    from book.default import human_layouts

    return human_layouts()


# Learning


def game(seed: int = 1, first: str = "G1H1") -> Record:
    """A game between two layouts of the book that red begins with a certain move."""
    lots = Random(seed)

    begin = [parse_move(first)]

    def choose(position: Position, moves: list[Move]) -> Move:
        return begin.pop() if begin else lots.choice(moves)

    record = record_game(A, B, choose)
    return replace(record, outcome=Outcome(RED, Reason.FLAG))


@pytest.fixture
def taught(book: Book) -> Book:
    book.remove_openings([row.id for row in book.openings() if row.id])
    book.add_openings(
        [
            Opening(A, "start", move, 0, 100, score, 0.002, 0.5, source="think:100x1")
            for move, score in (("G1H1", 0.5), ("G3H3", 0.5))
        ]
    )
    return book


def test_a_won_game_makes_its_moves_heavier_once(taught: Book) -> None:
    learned = Learner(taught).learn([("game 1", game())])
    assert (learned.games, learned.moves, learned.known) == (2, 1, 0)
    one, other = taught.lookup(A, "start")
    assert (one.move, other.move) == ("G1H1", "G3H3")
    assert one.weight > 0.8
    assert one.visits == 104
    assert taught.changes(1)[0].what == "learn game 1 as black, 1-0"
    again = Learner(taught).learn([("game 1", game())])
    assert (again.games, again.known, again.moves) == (0, 2, 0)
    assert taught.lookup(A, "start") == [one, other]


def test_undone_learning_can_be_done_again(taught: Book) -> None:
    before = taught.lookup(A, "start")
    Learner(taught, sides=(RED,)).learn([("game 1", game())])
    assert len(learned_digests(taught)) == 1
    taught.undo()
    assert taught.lookup(A, "start") == before
    assert not learned_digests(taught)
    assert Learner(taught, sides=(RED,)).learn([("game 1", game())]).moves == 1


def test_a_game_is_known_again_whatever_its_times_and_names() -> None:
    record = game()
    timed = replace(
        record, red="North", plies=tuple(replace(ply, seconds=2.0) for ply in record.plies)
    )
    assert game_digest(timed, RED) == game_digest(record, RED)
    assert game_digest(record, BLACK) != game_digest(record, RED)
    assert game_digest(game(2), RED) != game_digest(record, RED)


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": None},
        {"outcome": Outcome(RED, Reason.TIME)},
        {"outcome": Outcome(RED, Reason.CRASH)},
        {"red_layout": None},
        {"red_layout": "aibheeiggikcdghdkcjffhjlj"},
    ],
)
def test_games_that_teach_nothing_are_left_out(taught: Book, change: dict) -> None:
    before = taught.openings()
    learned = Learner(taught, sides=(RED,)).learn([("game 1", replace(game(), **change))])
    assert (learned.games, learned.left_out) == (0, 1)
    assert taught.openings() == before


def test_a_broken_game_is_told(taught: Book) -> None:
    notes: list[str] = []
    record = game()
    broken = replace(record, plies=(record.plies[1], *record.plies[1:]))
    assert Learner(taught, sides=(RED,), note=notes.append).learn([("x", broken)]).left_out == 1
    assert notes[0].startswith("x: left out: ply 1")


def test_new_moves_are_kept_if_wished_but_not_trusted(taught: Book) -> None:
    learner = Learner(taught, sides=(RED,), plies=1, adds=True)
    assert learner.learn([("game 1", game(first="G2F2"))]).added == 1
    rows = {row.move: row for row in taught.lookup(A, "start")}
    assert (rows["G2F2"].score, rows["G2F2"].source) == (1.0, "game")
    assert rows["G2F2"].error == 0.5
    assert rows["G2F2"].weight == 0
    assert rows["G1H1"].weight == pytest.approx(0.5)


def test_a_draw_counts_half(taught: Book) -> None:
    drawn = replace(game(), outcome=Outcome(NOBODY, Reason.NO_MOVES))
    Learner(taught, sides=(RED,)).learn([("game 1", drawn)])
    assert {row.score for row in taught.lookup(A, "start")} == {0.5}
    with closing(taught.connection.execute("SELECT settings FROM runs")) as rows:
        assert any("learned" in json.loads(settings) for (settings,) in rows)
