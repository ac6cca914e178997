"""The engine around the search: a legal move in time, whatever book and search do."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from junqi.board import parse_point, seen_from
from junqi.engine import (
    LAYOUTS_AT_HAND,
    MOST_SEARCHES,
    Decision,
    Engine,
    EngineOptions,
    InvalidOption,
    criticality,
    parse_options,
)
from junqi.layout import format_layout, layout_problems, mirror_layout, parse_layout
from junqi.pieces import BLACK, BOTH_REMOVED, NO_CONTACT, RED, other
from junqi.rules import Move, Position, Rules, legal_moves, outcome, parse_move, play
from junqi.view import View

LAYOUT = LAYOUTS_AT_HAND[0]


@dataclass(frozen=True)
class Idea:
    """What a search of the tests thinks."""

    move: Move
    value: float = 0.25
    candidates: tuple["Idea", ...] = ()


Think = Callable[[View, float, float], Idea]


class Search:
    """A search that does what a test wants."""

    def __init__(self, think: Think) -> None:
        self.think = think


def last_move(view: View, seconds: float, hard: float) -> Idea:
    return Idea(view.legal_moves()[-1])


def engine_with(think: Think, notes: list[str] | None = None, **options: str) -> Engine:
    note = (lambda text: None) if notes is None else notes.append
    chosen = EngineOptions(seed=1, movetime=0.02).with_options(options)
    return Engine(chosen, note, load=lambda *args: Search(think))


@pytest.fixture
def view() -> View:
    return View.start(RED, LAYOUT)


def notes_of(think: Think, view: View) -> tuple[Decision, list[str]]:
    notes: list[str] = []
    decision = engine_with(think, notes).decide(view, 1800.0)
    assert decision.move in view.legal_moves()
    return decision, notes


# Where moves come from


def test_the_search_is_asked_and_believed(view: View) -> None:
    decision, notes = notes_of(last_move, view)
    assert (decision.move, decision.source) == (view.legal_moves()[-1], "search")
    assert decision.thought == Idea(decision.move)
    assert notes == []
    assert "by search in" in str(decision)


def test_the_search_is_told_how_long_to_think(view: View) -> None:
    told = []

    def think(view: View, seconds: float, hard: float) -> Idea:
        told.append((seconds, hard))
        return last_move(view, seconds, hard)

    engine_with(think, movetime="0.5").move(view, 1800)
    assert 0.3 < told[0][0] <= told[0][1] < 0.5


def test_the_only_move_is_made_without_thinking(at: Callable[..., Position]) -> None:
    start = View.start(RED, LAYOUT)
    view = View(start.side, start.layout, start.rules, at("lL1 gA0 jB0 LA1"), start.men)
    assert len(view.legal_moves()) == 1
    decision, _ = notes_of(last_move, view)
    assert decision.source == "only"


def test_a_view_without_moves_is_an_error(at: Callable[..., Position]) -> None:
    start = View.start(RED, LAYOUT)
    stuck = View(start.side, start.layout, start.rules, at("lL1 LA1"), start.men)
    with pytest.raises(ValueError, match="expected a view with a legal move"):
        Engine(load=None).move(stuck, 1800)


def test_the_book_goes_before_the_search(view: View) -> None:
    known = view.legal_moves()[3]
    engine = Engine(opening=lambda view: known, load=lambda *args: Search(last_move))
    decision = engine.decide(view, 1800)
    assert (decision.move, decision.source) == (known, "book")


@pytest.mark.parametrize("answer", [None, Move(0, 59), OSError("gone")])
def test_a_book_that_knows_nothing_or_nonsense_is_passed_over(
    answer: Move | Exception | None, view: View
) -> None:
    def opening(view: View) -> Move | None:
        if isinstance(answer, Exception):
            raise answer
        return answer

    notes: list[str] = []
    options = EngineOptions(movetime=0.02)
    engine = Engine(options, notes.append, opening=opening, load=lambda *args: Search(last_move))
    assert engine.decide(view, 1800).source == "search"
    assert len(notes) == (answer is not None)


@pytest.mark.parametrize(
    ("loser", "left", "contact", "expected"),
    [
        ("mover", 2, 0.599, "contact"),
        ("mover", 2, 0.59, "quiet"),
        ("mover", 3, 0.599, "quiet"),
        ("mover", 1, 0.599, "quiet"),  # the search sees to that itself
        ("next", 2, 0.1, "contact"),
        ("next", 1, 0.9, "quiet"),
        ("next", 3, 0.599, "quiet"),
    ],
)
def test_near_the_limit_of_quiet_plies_a_free_contact_is_safe_under_both_readings(
    loser: str, left: int, contact: float, expected: str
) -> None:
    start = View.start(RED, LAYOUT, Rules(steps_loser=loser))
    view = replace(start, position=replace(start.position, quiet_plies=start.rules.steps - left))
    quiet, takes = Move(*parse_move("G1H1")), Move(*parse_move("G0F0"))
    assert {quiet, takes} <= set(view.legal_moves())
    candidates = (Idea(quiet, 0.6), Idea(takes, contact))
    # With one quiet ply left under the other reading the search may want the contact.
    wants = takes if (loser, left) == ("next", 1) else quiet
    best = Idea(wants, max(0.6, contact), candidates)
    decision, _ = notes_of(lambda *args: best, view)
    assert decision.move == (takes if expected == "contact" else quiet)
    assert decision.source == "search"


def test_where_there_is_no_contact_near_the_limit_the_search_is_believed(view: View) -> None:
    late = replace(view, position=replace(view.position, quiet_plies=view.rules.steps - 2))
    decision, notes = notes_of(lambda *args: Idea(parse_move("G1H1")), late)
    assert (decision.move, notes) == (parse_move("G1H1"), [])


def test_decisions_can_be_watched(view: View) -> None:
    seen = []
    engine = Engine(load=None, watch=lambda view, decision: seen.append((view, decision)))
    assert engine.decide(view, 1800) == seen[0][1]
    assert seen[0][0] is view


# Searches that fail


def raising(error: BaseException) -> Think:
    def think(view: View, seconds: float, hard: float) -> Idea:
        raise error

    return think


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("kernel"), SystemExit(1), KeyboardInterrupt()]
)
def test_a_search_that_raises_does_not_cost_the_game(error: BaseException, view: View) -> None:
    decision, notes = notes_of(raising(error), view)
    assert decision.source == "thumb"
    assert notes == [f"the search failed: {type(error).__name__}: {error}"]


@pytest.mark.parametrize(
    "move", [Move(0, 0), Move(59, 0), parse_move("L1K1"), None, "G0F0", Move(-1, 70)]
)
def test_an_illegal_move_of_the_search_is_not_made(move: Move, view: View) -> None:
    decision, notes = notes_of(lambda *args: Idea(move), view)
    assert decision.source == "thumb"
    assert "the search's move is not legal" in notes[0]


def test_a_thought_that_is_none_at_all_is_no_harm(view: View) -> None:
    decision, _ = notes_of(lambda *args: "nonsense", view)  # type: ignore[arg-type,return-value]
    assert decision.source == "thumb"


def test_a_search_that_hangs_is_not_waited_for_and_replaced(
    view: View, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("junqi.engine.HANGING_SECONDS", 0.01)
    forever = threading.Event()
    made = []

    def load(*args: object) -> Search:
        made.append(len(made))
        return Search(hang if len(made) == 1 else last_move)

    def hang(view: View, seconds: float, hard: float) -> Idea:
        forever.wait()
        raise AssertionError

    notes: list[str] = []
    engine = Engine(EngineOptions(movetime=0.02), notes.append, load=load)
    sources = [engine.decide(view, 1800).source for _ in range(4)]
    forever.set()
    assert sources[:2] == ["thumb", "thumb"]
    assert sources[-1] == "search"
    assert len(made) == 2
    assert "the search is late" in notes[0]
    assert notes[1] == "the search hangs: another one is made"


def test_searches_that_always_hang_are_not_made_without_end(
    view: View, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("junqi.engine.HANGING_SECONDS", 0.001)
    forever = threading.Event()
    made = []

    def load(*args: object) -> Search:
        made.append(1)
        return Search(
            lambda *args: Idea(parse_move("L1K1")) if forever.wait() else Idea(Move(0, 0))
        )

    engine = Engine(EngineOptions(movetime=0.01), load=load)
    for _ in range(10):
        assert engine.decide(view, 1800).source == "thumb"
    forever.set()
    assert len(made) == MOST_SEARCHES


def test_a_search_that_is_only_late_is_not_replaced(view: View) -> None:
    forever = threading.Event()
    made = []

    def load(*args: object) -> Search:
        made.append(1)
        return Search(lambda *args: Idea(Move(0, int(forever.wait()))))

    engine = Engine(EngineOptions(movetime=0.01), load=load)
    for _ in range(5):
        assert engine.decide(view, 1800).source == "thumb"
    forever.set()
    assert len(made) == 1


def test_a_search_that_was_late_once_is_used_again(view: View) -> None:
    slow = threading.Event()

    def think(view: View, seconds: float, hard: float) -> Idea:
        if not slow.is_set():
            slow.wait()
        return last_move(view, seconds, hard)

    engine = engine_with(think, movetime="0.3")
    assert engine.decide(view, 1800.0).source == "thumb"
    slow.set()
    assert engine.decide(view, 1800.0).source == "search"


def test_a_search_that_cannot_be_made_is_noted_once(view: View) -> None:
    def load(*args: object) -> Search:
        raise ImportError("numba does not work here")

    notes: list[str] = []
    engine = Engine(EngineOptions(movetime=0.02), notes.append, load=load)
    assert [engine.decide(view, 1800).source for _ in range(3)] == ["thumb"] * 3
    assert notes == ["there is no search: ImportError: numba does not work here"]


def test_moves_go_out_while_the_search_is_still_being_loaded(view: View) -> None:
    compiled = threading.Event()

    def load(*args: object) -> Search:
        compiled.wait()
        return Search(last_move)

    engine = Engine(EngineOptions(movetime=0.02), load=load)
    engine.start_loading()
    assert engine.decide(view, 1800).source == "thumb"
    compiled.set()
    engine.load()
    assert engine.decide(view, 1800).source == "search"


def test_a_layout_waits_a_little_for_the_search_but_not_without_end(view: View) -> None:
    compiled = threading.Event()

    def load(*args: object) -> Search:
        compiled.wait()
        return Search(last_move)

    engine = Engine(EngineOptions(movetime=0.02), load=load)
    engine.start_loading()
    threading.Timer(0.2, compiled.set).start()
    engine.layout(True, Rules())
    assert engine.decide(view, 1800).source == "search"
    compiled.clear()
    engine = Engine(EngineOptions(movetime=0.02), load=load)
    engine.start_loading()
    assert layout_problems(engine.layout(True, Rules())) == []
    assert engine.decide(view, 1800).source == "thumb"
    compiled.set()


def test_nobody_thinks_when_the_time_is_over(view: View) -> None:
    engine = engine_with(raising(AssertionError("must not be asked")))
    assert engine.decide(view, 0.0).source == "thumb"
    assert engine.decide(view, -3.0).source == "thumb"


def test_even_broken_rules_of_thumb_leave_a_legal_move(
    view: View, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> Move:
        raise ZeroDivisionError

    monkeypatch.setattr("junqi.engine.fallback_move", broken)
    notes: list[str] = []
    decision = Engine(EngineOptions(), notes.append, load=None).decide(view, 1800)
    assert decision.move in view.legal_moves()
    assert decision.source == "any"
    assert "the rules of thumb failed" in notes[0]


def test_whatever_the_search_does_the_game_is_played_by_the_rules_and_in_time() -> None:
    """One search that does everything wrong, at random, in one game after the other."""
    rng = random.Random(5)

    def think(view: View, seconds: float, hard: float) -> Idea:
        match rng.randrange(5):
            case 0:
                raise MemoryError
            case 1:
                return Idea(Move(rng.randrange(60), rng.randrange(60)))
            case 2:
                time.sleep(2 * hard)
        return Idea(rng.choice(view.legal_moves()))

    engines = [engine_with(think, movetime="0.001") for _ in range(2)]
    for _ in range(3):
        play_game(engines, Rules(time=5.0))


# Layouts


def test_the_layouts_at_hand_are_legal() -> None:
    assert [layout_problems(layout) for layout in LAYOUTS_AT_HAND] == [[]] * len(LAYOUTS_AT_HAND)


def test_without_a_book_a_layout_at_hand_is_drawn_by_the_seed_and_mirrored() -> None:
    engines = [Engine(EngineOptions(seed=3), load=None) for _ in range(2)]
    drawn = [[engine.layout(True, Rules()) for _ in range(40)] for engine in engines]
    assert drawn[0] == drawn[1]
    mirrored = [format_layout(mirror_layout(parse_layout(text))) for text in LAYOUTS_AT_HAND]
    assert set(drawn[0]) == {*LAYOUTS_AT_HAND, *mirrored}


def test_the_layout_that_was_asked_for_is_played() -> None:
    engine = Engine(parse_options(f"layout={LAYOUT}"), layouts=lambda *args: "abc", load=None)
    assert engine.layout(False, Rules()) == LAYOUT


@pytest.mark.parametrize("broken", ["abc", OSError("no disk"), None])
def test_a_book_without_a_sound_layout_does_not_cost_the_game(
    broken: str | Exception | None,
) -> None:
    def layouts(seed: int, is_first: bool) -> str:
        if isinstance(broken, Exception):
            raise broken
        return broken  # type: ignore[return-value]

    notes: list[str] = []
    layout = Engine(EngineOptions(), notes.append, layouts=layouts, load=None).layout(True, Rules())
    assert layout_problems(layout) == []
    assert len(notes) == 1


def test_a_book_that_hangs_is_not_waited_for() -> None:
    forever = threading.Event()
    notes: list[str] = []
    engine = Engine(
        EngineOptions(),
        notes.append,
        layouts=lambda *args: str(forever.wait()),
        opening=lambda view: forever.wait() and None,
        load=None,
    )
    layout = engine.layout(True, Rules())
    assert layout_problems(layout) == []
    assert engine.decide(View.start(RED, layout), 1800).source == "thumb"
    forever.set()
    assert len(notes) == 2


# Options


def test_options_in_one_word() -> None:
    options = parse_options("movetime=0.1,threads=1,book=no,seed=7,time-fraction=0.5,effort=100")
    assert options == EngineOptions(
        movetime=0.1, threads=1, use_book=False, seed=7, time_fraction=0.5, effort=100
    )
    assert parse_options("") == EngineOptions()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("movetime", "expected OPTION=VALUE, several with commas between, got 'movetime'"),
        ("speed=3", "expected an option of book, layout, .*, got 'speed'"),
        ("movetime=0", "expected a number of seconds above 0 for movetime, got '0'"),
        ("movetime=inf", "expected a number of seconds above 0 for movetime, got 'inf'"),
        ("threads=x", "expected an integer of at least 1 for threads, got 'x'"),
        ("time-fraction=1.5", "expected a number above 0, at most 1 for time-fraction"),
        ("encoding=latin-1", "expected one of utf-8, gbk for encoding, got 'latin-1'"),
        ("layout=abc", "layout: not a legal layout: 'abc'"),
        ("name= ", "expected a text for name"),
    ],
)
def test_options_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        parse_options(text)


# What a decision depends on


def play_game(engines: list[Engine], rules: Rules) -> tuple[list[Move], Position]:
    """A game between two engines that checks every move, and how it went."""
    layouts = [engine.layout(side == RED, rules) for side, engine in enumerate(engines)]
    position = Position.from_layouts(*(parse_layout(layout) for layout in layouts))
    views = [View.start(side, layouts[side], rules) for side in (RED, BLACK)]
    left = [rules.time, rules.time]
    moves = []
    while outcome(position, rules) is None:
        side = position.to_move
        begin = time.monotonic()
        move = engines[side].move(views[side], left[side])
        left[side] -= time.monotonic() - begin
        assert left[side] > 0
        move = move if side == RED else move.rotated()
        moves.append(move)
        position, result = play(position, move)  # raises if it is not legal
        for seat in (RED, BLACK):
            told = position.told_flag(other(seat))
            flag = None if told is None else seen_from(told, seat)
            seen = move if seat == RED else move.rotated()
            views[seat] = views[seat].after(seen, result, flag)
    return moves, position


def compare_under_hidden_changes(make: Callable[[int], Engine], seed: int, most: int) -> int:
    """Let two engines play red in two games that differ in what black hides, and compare them.

    Black makes the same moves in both, until red is told different things. Returns the number of
    red's moves that were compared.
    """
    rng = random.Random(seed)
    engines = [make(seed) for _ in range(2)]
    layout = {engine.layout(True, Rules()) for engine in engines}.pop()
    hidden = LAYOUTS_AT_HAND[seed % len(LAYOUTS_AT_HAND)]
    positions = [
        Position.from_layouts(parse_layout(layout), parse_layout(truth))
        for truth in (hidden, shuffled_ranks(hidden, rng))
    ]
    views = [View.start(RED, layout) for _ in positions]
    compared = 0
    while compared < most and all(outcome(position, Rules()) is None for position in positions):
        if views[0].is_own_turn:
            chosen = [engine.move(v, 1800) for engine, v in zip(engines, views, strict=True)]
            assert chosen[0] == chosen[1]
            compared += 1
            move = chosen[0]
        else:
            both = set(legal_moves(positions[0])) & set(legal_moves(positions[1]))
            if not both:
                break
            move = rng.choice(sorted(both))
        played = [play(position, move) for position in positions]
        positions = [position for position, _ in played]
        told = [(result, position.told_flag(BLACK)) for position, result in played]
        if told[0] != told[1]:
            break
        views = [v.after(move, *message) for v, message in zip(views, told, strict=True)]
    return compared


def test_what_is_hidden_decides_nothing() -> None:
    compared = sum(
        compare_under_hidden_changes(lambda s: Engine(EngineOptions(seed=s), load=None), seed, 99)
        for seed in range(6)
    )
    assert compared > 30


def test_what_is_hidden_decides_nothing_in_the_search() -> None:
    pytest.importorskip("junqi.thinker")

    def make(seed: int) -> Engine:
        return Engine(EngineOptions(seed=seed, effort=8, threads=1))

    compared = sum(compare_under_hidden_changes(make, seed, 6) for seed in range(3))
    assert compared > 6


def shuffled_ranks(layout: str, rng: random.Random) -> str:
    """The layout with two kinds exchanged that there are equally many of."""
    one, two = rng.choice(["cd", "de", "ef", "gh", "hi"])
    return layout.translate(str.maketrans(one + two, two + one))


def test_the_same_seed_plays_the_same_game() -> None:
    games = [
        play_game([Engine(EngineOptions(seed=s), load=None) for s in (1, 2)], Rules())
        for _ in range(2)
    ]
    assert games[0] == games[1]


def test_more_is_at_stake_near_the_own_flag(view: View) -> None:
    calm = criticality(view, [])
    assert calm < criticality(view, [parse_move("G0F0")])
    flag = next(man.point for man in view.men if man.piece == 12)
    assert flag is not None
    door = flag - 5
    raided = view.forced(BLACK, Move(parse_point("F0"), door), NO_CONTACT)
    assert criticality(raided, []) == 2.0
    assert view.after(parse_move("G0F0"), BOTH_REMOVED).contacts
