"""Keys of opening moves, the rows they have, and which of them an engine plays."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from book_samples import A, make_book
from hypothesis import given, settings
from hypothesis import strategies as st

from book.advice import MOST_LOSS, advise, loss_limit, worlds_in
from book.errors import BookError
from book.letters import canonical_letters, mirror_letters
from book.opening_rows import (
    CLASS_SPREAD,
    GAME_VISITS,
    LEAST_WEIGHT,
    Judged,
    absorb,
    is_by_hand,
    thoughts_in,
    weighed,
    with_game,
    with_result,
)
from book.opening_tree import tree
from book.openings import (
    EXACT,
    NEAR,
    QUIET_TOLD,
    START,
    WIDE,
    describe_key,
    level_of,
    read_key,
    spot_of,
    why_not,
)
from book.rows import Opening
from book.store import Book
from junqi.board import mirror_point
from junqi.engine_options import EngineOptions
from junqi.layout import format_layout, random_layouts
from junqi.pieces import BLACK, EMPTY, HIDDEN, NOBODY, RED, Side
from junqi.program import Shelf, StoredMoves
from junqi.record import Record
from junqi.replay import play_ply, record_views
from junqi.rules import (
    Move,
    Position,
    Rules,
    format_move,
    legal_moves,
    outcome,
    parse_move,
)
from junqi.view import View

PLIES = 24


def random_game(seed: int) -> Record:
    """The beginning of a game of random moves that prefer contacts."""
    lots = Random(seed)
    red, black = random_layouts(2, seed)
    position, plies = Position.from_layouts(red, black), []
    while len(plies) < PLIES and outcome(position, Rules()) is None:
        moves = legal_moves(position)
        hits = [move for move in moves if position.owners[move.target] != NOBODY]
        chosen = lots.choice(hits if hits and lots.random() < 0.4 else moves)
        ply, position = play_ply(position, chosen)
        plies.append(ply)
    return Record(tuple(plies), None, format_layout(red), format_layout(black))


def own_turns(record: Record, side: Side) -> Iterator[View]:
    return (view for view in record_views(record, side) if view.is_own_turn)


def told(view: View, *moves: str, **options) -> View:
    """A view after quiet moves, or moves with a result like ``G0F0+``."""
    results = {"-": 0, "+": 1, "=": 2}
    for text in moves:
        view = view.after(parse_move(text[:4]), results.get(text[4:5], 3), **options)
    return view


def start(side: Side = RED, **rules) -> View:
    return View.start(side, A, Rules(**rules))


def keys(view: View) -> tuple[str, str, str]:
    return spot_of(view).keys


# Keys


def test_a_new_game_has_the_first_key() -> None:
    assert keys(start()) == (START, "~", "~~")


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_mirror_images_share_keys_and_their_moves_are_mirrored(seed: int) -> None:
    game = random_game(seed)
    assert game.red_layout is not None
    assert game.black_layout is not None
    mirrored = replace(
        game,
        red_layout=mirror_letters(game.red_layout),
        black_layout=mirror_letters(game.black_layout),
        plies=tuple(
            replace(ply, move=ply.move.mirrored(), flags=tuple(map(mirror_point, ply.flags)))
            for ply in game.plies
        ),
    )
    for side in (RED, BLACK):
        for view, image in zip(own_turns(game, side), own_turns(mirrored, side), strict=True):
            spot, other = spot_of(view), spot_of(image)
            assert (spot.layout, spot.keys) == (other.layout, other.keys)
            assert spot.is_mirrored != other.is_mirrored
            for move in view.legal_moves():
                assert spot.move(move) == other.move(move.mirrored())
                assert spot.move(spot.move(move)) == move


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_hidden_pieces_of_the_enemy_change_nothing(seed: int, lots: Random) -> None:
    game = random_game(seed)
    assert game.black_layout is not None
    last = list(record_views(game, BLACK))[-1]
    met = {told.attacker for told in last.plies} | {told.defender for told in last.plies}
    quiet = [i for i, man in enumerate(last.men[:25]) if man.start not in met]
    letters = list(game.black_layout)
    for _ in range(20):
        i, j = lots.choices(quiet, k=2)
        letters[i], letters[j] = letters[j], letters[i]
        if format_legal("".join(letters)):
            break
        letters[i], letters[j] = letters[j], letters[i]
    other = replace(game, black_layout="".join(letters))
    for view, same in zip(own_turns(game, RED), own_turns(other, RED), strict=True):
        assert keys(view) == keys(same)


def format_legal(letters: str) -> bool:
    try:
        return bool(canonical_letters(letters))
    except ValueError:
        return False


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_a_key_tells_the_whole_board(seed: int) -> None:
    game = random_game(seed)
    for side in (RED, BLACK):
        for view in own_turns(game, side):
            spot, position = spot_of(view), view.position
            if spot.is_mirrored:
                position = position.mirrored()
            own = {p: position.pieces[p] for p in range(60) if position.owners[p] == view.side}
            enemy = {p for p in range(60) if position.owners[p] == view.enemy}
            for level, key in enumerate(spot.keys):
                board = read_key(spot.layout, key)
                assert board is not None
                assert (board.level, level_of(key)) == (level, level)
                assert board.own == own
                assert board.enemies == enemy if level == EXACT else board.enemies <= enemy
                legal = {spot.move(move) for move in view.legal_moves()}
                assert all(why_not(board, move) is None for move in legal)
                assert describe_key(key)
            exact = read_key(spot.layout, spot.keys[EXACT])
            assert exact is not None
            some = [Move(p, q) for p in list(own)[::3] for q in range(0, 60, 5) if p != q]
            assert {m for m in some if why_not(exact, m) is None} == legal & set(some)


def test_the_order_of_the_plies_does_not_matter() -> None:
    one = told(start(), "J0J1", "F1E1", "G1H1", "F3E3")
    other = told(start(), "G1H1", "F3E3", "J0J1", "F1E1")
    assert one.plies != other.plies
    assert keys(one) == keys(other)


def test_times_do_not_matter() -> None:
    slow = told(start(), "J0J1", "F1E1", seconds=60.0)
    assert keys(slow) == keys(told(start(), "J0J1", "F1E1"))


def test_roundabout_ways_and_colours_meet() -> None:
    # Red takes two moves for what black does in one.
    red = told(start(), "I1I2", "F1E1", "I2H1", "E1F1")
    black = told(start(BLACK), "F1E1", "I1H1", "E1F1")
    assert keys(red) == keys(black)


def test_a_piece_that_came_back_is_not_one_that_never_moved() -> None:
    here_again = told(start(), "G1H1", "F1E1", "H1G1", "E1F1")
    assert keys(here_again)[EXACT] == "F1F1,G1G1"
    assert keys(here_again)[NEAR:] == ("~", "~~")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["G0F0+", "F1E1"], ["G0F0-", "F1E1"]),  # what came of a contact
        (["G0F0=", "F1E1"], ["G0F0-", "F1E1"]),
        (["G0F0+", "F1E1"], ["G2F2+", "F1E1"]),  # whom one has met
        (["J0J1", "F1E1"], ["J2J1", "F1E1"]),  # which own piece stands there
        (["J0J1", "F1E1"], ["J0J1", "F3E3"]),  # which of the enemy's has moved
        (["J0J1", "E0E1"], ["J0J1", "F1E1"]),  # who of the enemy stands there
    ],
)
def test_what_matters_is_told_apart(one: list[str], other: list[str]) -> None:
    assert keys(told(start(), *one))[EXACT] != keys(told(start(), *other))[EXACT]


def test_a_turn_on_rail_tells_an_engineer() -> None:
    own = ("J0J1", "J4J3", "I1H1", "H1I2", "G1H1")
    straight = ("E0E1", "E1D2", "F0E1", "F1F0", "F0E0")
    steps = told(start(), *(move for pair in zip(own, straight, strict=True) for move in pair))
    own, around = ("J0J1", "J4J3", "I1I2", "G1H1"), ("E0E1", "E1D2", "F0E1", "F1E0")
    turns = told(start(), *(move for pair in zip(own, around, strict=True) for move in pair))
    assert steps.position.pieces == turns.position.pieces
    apart = set(keys(turns)[EXACT].split(",")) ^ set(keys(steps)[EXACT].split(","))
    assert apart == {"F1i"}


def test_a_flag_that_was_told_is_in_all_keys() -> None:
    view = start().after(parse_move("G0F0"), 1, flag=1).after(parse_move("F1E1"), 3, flag=1)
    assert all("@A1" in key.lstrip("~").split(",") for key in keys(view))
    mirrored = View.start(RED, mirror_letters(A)).after(parse_move("G4F4"), 1, flag=3)
    assert keys(mirrored.after(parse_move("F3E3"), 3, flag=3)) == keys(view)


def test_quiet_plies_are_told_only_when_few_are_left() -> None:
    moves = ("J0J1", "F1E1", "G1H1", "F3E3")
    far = [keys(told(start(steps=steps), *moves)) for steps in (31, QUIET_TOLD + 5)]
    assert far[0] == far[1]
    near = [keys(told(start(steps=steps), *moves)) for steps in (QUIET_TOLD + 4, QUIET_TOLD + 3)]
    assert len({*near, far[0]}) == 3
    assert near[0][WIDE].endswith(f",q{QUIET_TOLD}")


def test_a_class_leaves_out_what_the_enemy_does_far_away() -> None:
    one, other = (told(start(), "J0J1", move) for move in ("C2C1", "D1D2"))
    assert keys(one)[EXACT] != keys(other)[EXACT]
    assert keys(one)[NEAR:] == keys(other)[NEAR:] == ("~J0J1", "~~J0J1")


def test_a_near_key_tells_who_has_moved_within_reach_and_a_wide_one_who_has_come_over() -> None:
    reach = told(start(), "J0J1", "F0E1", "G1H1", "E1F0")
    assert keys(reach)[NEAR:] == ("~F0m,G1H1,J0J1", "~~G1H1,J0J1")
    come = told(start(), "J0J1", "F0G0+")
    assert keys(come)[NEAR:] == ("~G0ma,G0x,J0J1", "~~G0,G0x,J0J1")


@pytest.mark.parametrize("key", ["", "k7", "3f2a9c", "Start", "G0F0;F1E1", "~k7"])
def test_other_keys_are_left_alone(key: str) -> None:
    assert read_key(A, key) is None
    assert describe_key(key) == [key] or not key


@pytest.mark.parametrize(
    "key", ["G0F0,G1F0", "G0H0", "G0+F0,G1+F0", "H1F0", "F0m", "~G0F0,F0m", "G0x,G0F0"]
)
def test_a_key_that_cannot_be_is_an_error(key: str) -> None:
    with pytest.raises(BookError, match="expected"):
        read_key(A, key)


# Rows

PLACE = Opening(A, "G2H3", "", ply=2, run=None)
CLASS = replace(PLACE, key="~~G2H3")
FOUND = [
    Judged("G1H1", 0.60, 0.02, 100),
    Judged("G3H3", 0.599, 0.003, 100),
    Judged("J0J1", 0.58, 0.004, 100),
    Judged("G0F0", 0.50, 0.004, 100),
]


def test_a_thought_becomes_rows_with_the_near_equal_moves() -> None:
    rows = absorb([], PLACE, FOUND, 100)
    assert [row.move for row in rows] == ["G1H1", "G3H3", "J0J1"]
    assert [row.score for row in rows] == [0.60, 0.599, 0.58]
    assert rows[0].error == pytest.approx(0.003)  # that of the difference to the next one
    assert rows[1].error == pytest.approx((0.001**2 + 0.003**2) ** 0.5, abs=1e-6)
    assert rows[0].weight > 0.9
    assert [row.weight for row in rows[1:]] == [0, 0]
    assert all(row.source == "think:100x1" and row.visits == 100 for row in rows)


def test_a_class_of_views_is_surer_when_more_of_them_agree() -> None:
    rows = absorb([], CLASS, FOUND, 100)
    assert rows[0].error == pytest.approx((CLASS_SPREAD**2 + 0.003**2) ** 0.5, abs=1e-6)
    again = absorb(rows, CLASS, FOUND, 100)
    assert again[0].error is not None
    assert again[0].error < rows[0].error
    assert thoughts_in(again[0]) == 2
    assert again[0].visits == 200


def test_a_class_whose_views_want_other_moves_is_unsure() -> None:
    rows = absorb([], CLASS, FOUND, 100)
    others = [Judged("J0J1", 0.7, 0.02, 100), Judged("G1H1", 0.6, 0.003, 100)]
    for _ in range(3):
        rows = absorb(rows, CLASS, others, 100)
    found = {row.move: row for row in rows}
    assert found["G1H1"].error is not None
    assert found["G1H1"].error > 0.08
    assert rows[0].move == "J0J1"


def test_the_move_that_the_search_would_play_is_preferred_among_equals() -> None:
    rows = absorb([], PLACE, [FOUND[1], FOUND[0], *FOUND[2:]], 100)
    assert [(row.move, row.score) for row in rows[:2]] == [("G3H3", 0.599), ("G1H1", 0.6)]
    assert rows[1].error == 0.003  # not that of its value
    assert rows[0].weight > 0.8


def test_first_moves_are_drawn_from_several() -> None:
    rows = absorb([], replace(PLACE, key=START, ply=0), FOUND, 100)
    assert rows[0].weight > rows[1].weight > LEAST_WEIGHT
    assert rows[2].weight == 0


def test_the_habit_decides_between_moves_that_are_as_good() -> None:
    rows = absorb([], PLACE, FOUND, 100, habit="G3H3")
    assert rows[0].move == "G3H3"
    assert absorb([], PLACE, FOUND, 100, habit="J0J1")[0].move == "G1H1"


def test_a_simulated_game_moves_all_scores_alike() -> None:
    rows = absorb([], PLACE, FOUND, 100)
    after = with_result(rows, "G3H3", 0.0)
    shifts = {round(a.score - b.score, 6) for a, b in zip(after, rows, strict=True)}  # type: ignore[operator]
    assert shifts == {round(-0.599 / 101, 6)}
    assert [row.visits for row in after] == [100, 101, 100]
    assert [row.weight for row in after] == [row.weight for row in rows]


def test_a_real_game_changes_the_weight_of_its_move() -> None:
    rows = absorb([], PLACE, FOUND, 100)
    after = {row.move: row for row in with_game(rows, "G1H1", 0.0)}
    assert after["G1H1"].visits == 100 + GAME_VISITS
    assert after["G1H1"].weight < LEAST_WEIGHT < after["G3H3"].weight
    assert after["G3H3"].score == 0.599


def test_weights_by_hand_stay() -> None:
    rows = absorb([], PLACE, FOUND, 100)
    rows[2] = replace(rows[2], weight=3.0, source=f"{rows[2].source} hand")
    assert is_by_hand(rows[2])
    assert not is_by_hand(rows[0])
    assert weighed(rows) == rows
    assert is_by_hand(Opening(A, START, "G0F0", source="my own"))


def test_disabled_rows_take_no_weight_from_others() -> None:
    rows = absorb([], PLACE, FOUND, 100)
    rows[0] = replace(rows[0], enabled=False, weight=0.5)
    after = {row.move: row for row in weighed(rows)}
    assert after["G1H1"].weight == 0.5
    assert after["G3H3"].weight > 0.99


# Advice


def rows_of(*rows: Opening):
    def lookup(layout: str, key: str) -> list[Opening]:
        return [row for row in rows if (row.layout, row.key) == (layout, key)]

    return lookup


def row(move: str, key: str = START, **fields) -> Opening:
    return Opening(A, key, move, **{"error": 0.001, "weight": 1.0, **fields})


def answer(view: View, *rows: Opening, loss: float = MOST_LOSS, seed: int = 0) -> str | None:
    found = advise(spot_of(view), rows_of(*rows), view.legal_moves(), loss, Random(seed))
    return None if found is None else format_move(found.move)


def test_a_stored_move_is_given_in_the_coordinates_of_the_view() -> None:
    assert answer(start(), row("G0F0")) == "G0F0"
    assert answer(View.start(BLACK, mirror_letters(A)), row("G0F0")) == "G4F4"


@pytest.mark.parametrize(
    "bad",
    [
        row("G0F0", error=0.02),
        row("G0F0", weight=0.0),
        row("G0F0", enabled=False),
        row("H0F0"),  # not legal
        row("G0F0", key="~~G1H1"),
        replace(row("G0F0"), layout=mirror_letters(A)),
    ],
)
def test_what_is_unsure_unwanted_or_impossible_is_not_played(bad: Opening) -> None:
    assert answer(start(), bad) is None
    assert answer(start(), bad, row("G2F2", key="~~")) == "G2F2"


def test_a_row_by_hand_needs_no_error() -> None:
    assert answer(start(), row("G0F0", error=None)) == "G0F0"


def test_the_surest_key_answers_the_exact_one_first() -> None:
    assert answer(start(), row("G0F0"), row("G2F2", key="~~")) == "G0F0"
    assert answer(start(), row("G0F0", error=0.005), row("G2F2", key="~~")) == "G2F2"


def test_a_move_disabled_in_a_position_is_not_played_by_a_wider_key() -> None:
    off = row("G0F0", enabled=False)
    assert answer(start(), off, row("G0F0", key="~~")) is None
    assert answer(start(), off, row("G0F0", key="~~"), row("G2F2", key="~~")) == "G2F2"


def test_near_equal_moves_are_drawn_by_weight_and_again_by_the_same_seed() -> None:
    two = (row("G0F0", weight=3.0), row("G2F2", weight=1.0))
    drawn = [answer(start(), *two, seed=seed) for seed in range(200)]
    assert drawn == [answer(start(), *two[::-1], seed=seed) for seed in range(200)]
    assert 120 < drawn.count("G0F0") < 180


def test_a_short_search_is_beaten_by_less_evidence() -> None:
    assert loss_limit(0.01, 20_000) == 0.01
    assert loss_limit(0.01, 9) > loss_limit(0.01, 25) > 0.01
    assert worlds_in(0.01, 2) < worlds_in(1.0, 1) <= worlds_in(100.0, 8) == worlds_in(1e9, 1)


# The engine's look-up


@pytest.fixture
def book(tmp_path) -> Iterator[Book]:
    with Book.open(make_book(tmp_path / "book.db")) as made:
        yield made


def stored(book: Book, note=print, **options) -> StoredMoves:
    names = (str(book.path),)
    return StoredMoves(Shelf(names, note), EngineOptions(**{"seed": 1, **options}))


def test_the_engine_finds_a_move_of_either_mirror_image(book: Book) -> None:
    book.add_openings([row("G0F0", key="J0J1", ply=2)])
    view = told(View.start(RED, mirror_letters(A)), "J4J3", "F1E1")
    assert stored(book)(view) is None  # another position
    view = told(View.start(RED, mirror_letters(A)), "J4J3")
    view = replace(view, position=replace(view.position, to_move=RED))
    assert stored(book)(view) == parse_move("G4F4")


def test_the_engine_takes_a_move_only_if_it_is_good_enough(book: Book) -> None:
    assert stored(book)(start()) is None  # its error is 2 %
    assert stored(book, opening_loss=0.02)(start()) == parse_move("G0F0")
    # A search in 4 worlds errs more than that.
    assert stored(book, effort=4)(start()) == parse_move("G0F0")
    assert stored(book, effort=1000)(start()) is None


def test_games_of_one_engine_draw_other_lots(book: Book) -> None:
    book.add_openings([row(move, weight=1.0) for move in ("G0F0", "G2F2")])
    games = [[engine(start()) for _ in range(20)] for engine in (stored(book), stored(book))]
    assert games[0] == games[1]
    assert len(set(games[0])) == 2


def test_a_book_that_cannot_be_read_is_noted_once(tmp_path, book: Book) -> None:
    notes: list[str] = []
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no book")
    shelf = Shelf((str(broken), str(book.path)), notes.append)
    moves = StoredMoves(shelf, EngineOptions(seed=1, opening_loss=0.02))
    assert moves(start()) == moves(start()) == parse_move("G0F0")
    assert len(notes) == 1
    assert "broken.db" in notes[0]


def test_a_book_that_breaks_later_is_noted_and_the_search_goes_on(book: Book) -> None:
    notes: list[str] = []
    moves = stored(book, notes.append, opening_loss=0.02)
    assert moves(start()) is not None
    book.connection.execute("DROP VIEW opening_moves")
    book.connection.execute("DROP TABLE openings")
    assert moves(start()) is None
    assert len(notes) == 1


# The tree


def test_the_tree_follows_the_own_pieces() -> None:
    rows = [
        row("G1H1"),
        row("J0J1", key="~~G1H1", ply=2, visits=5),
        row("J0J1", key="~~G0,G0x,G1H1", ply=2, visits=9),
        row("J4J3", key="~~G3H3", ply=2),
        row("J2J3", key="~~G1H1,J0J1", ply=4),
        row("J2J3", key="other", ply=4),
    ]
    lines = list(tree(A, rows, 0, 3, 2))
    assert [(line.depth, line.branch.key) for line in lines] == [
        (0, START),
        (1, "~~G0,G0x,G1H1"),
        (1, "~~G1H1"),
        (2, "~~G1H1,J0J1"),
    ]
    assert [line.depth for line in tree(A, rows, 0, 1, 2)] == [0]
    assert list(tree(A, rows, 1, 3, 2)) == []


def test_hidden_and_empty_points_are_what_the_tests_think() -> None:
    assert read_key(A, START).position.pieces[5] == HIDDEN  # type: ignore[union-attr]
    assert read_key(A, "~~").position.pieces[5] == EMPTY  # type: ignore[union-attr]
