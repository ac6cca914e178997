"""``junqi book grow`` and ``junqi book openings``, as a user runs them."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from book_samples import A, B, make_book

from book.rows import Opening, Run
from book.store import Book
from junqi.pieces import RED
from junqi.record import Record, format_record
from junqi.replay import record_game
from junqi.rules import Outcome, Reason, parse_move

GROW = ("--worlds", "4", "--plies", "4", "--opponents", "policy", "--nodes", "6", "--loss", "5%")
RUN = Run(
    "grow-20261116-030126-9f2c",
    "junqi book grow --minutes 15",
    {"worlds": 100, "plies": 20, "loss": 0.01, "opponents": ["policy"], "layouts": [A]},
    seed=7,
    status="done",
    notes="32 thoughts",
    version="0.1.0",
)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A book with opening moves, which is the one that commands use."""
    made = make_book(tmp_path / "book.db")
    with Book.open(made) as book, book.change("openings"):
        book.remove_openings([row.id for row in book.openings() if row.id])
        book.add_run(RUN)
        grown = {"source": "think:100x1", "run": RUN.key}
        book.add_openings(
            [
                Opening(A, "start", "G1H1", 0, 105, 0.6, 0.002, 0.7, **grown),
                Opening(A, "start", "G3H3", 0, 100, 0.599, 0.003, 0.3, **grown),
                Opening(A, "start", "J0J1", 0, 100, 0.57, 0.03, 0.0, **grown),
                Opening(A, "~~G1H1", "J0J1", 2, 300, 0.55, 0.006, 1.0, **grown),
                Opening(A, "F1E1,G1H1,G3H3", "J0J1", 4, 90, 0.5, 0.02, 1.0, **grown),
                Opening(B, "~~", "G1H1", 1, 50, 0.4, 0.004, 1.0, notes="mine", **grown),
            ]
        )
    monkeypatch.setenv("JUNQI_BOOK", str(made))
    return made


def rows(path: Path) -> dict[int, Opening]:
    with Book.open(path, read_only=True) as book:
        return {row.id: row for row in book.openings() if row.id}


def ids(path: Path, **fields: object) -> list[int]:
    return [
        id
        for id, row in rows(path).items()
        if all(getattr(row, name) == value for name, value in fields.items())
    ]


def game(first: str = "G1H1") -> Record:
    lots, begin = Random(1), [parse_move(first)]
    record = record_game(A, B, lambda _, moves: begin.pop() if begin else lots.choice(moves))
    return replace(record, outcome=Outcome(RED, Reason.FLAG))


# Growing


def test_grow_finds_moves_and_says_what_it_did(cli, path: Path) -> None:
    before = len(rows(path))
    ran = cli("book", "grow", *GROW, "--seed", "1", "--threads", "1")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("answered: own move 1 ")
    assert f"{path}: 6 thoughts about " in ran.err
    assert len(rows(path)) > before
    log = json.loads(cli("book", "log", "--json").out)
    assert "junqi book grow --worlds 4" in log[0]["what"]


def test_grow_as_a_dry_run_and_as_json(cli, path: Path) -> None:
    before = rows(path)
    ran = cli("book", "grow", *GROW, "--dry-run", "--json", "--layouts", "Wall")
    told = json.loads(ran.out)
    assert told["thoughts"] == 6
    assert set(told["coverage"]) == {"1", "2"}
    assert f"seed {told['seed']}" in ran.err
    assert rows(path) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--minutes", "1", "--nodes", "1"], "expected --minutes or --nodes, got both"),
        (["--minutes", "0"], "expected minutes above 0 for --minutes, got '0'"),
        (["--opponents", ","], "expected opponents, got none"),
        (["--worlds", "1"], "expected an integer of at least 2 for --worlds"),
    ],
)
def test_wrong_usage_of_grow(cli, path: Path, words: list[str], message: str) -> None:
    ran = cli("book", "grow", *words)
    assert ran.code == 2
    assert message in ran.err


def test_grow_needs_layouts_and_opponents_that_there_are(cli, path: Path) -> None:
    ran = cli("book", "grow", "--layouts", "nobody", "--nodes", "1")
    assert ran.code == 1
    ran = cli("book", "grow", "--opponents", "nobody", "--nodes", "1", "--seed", "1")
    assert ran.code == 1
    assert "expected random, policy, search:DxW" in ran.err
    cli("book", "weight", "0", "all")
    ran = cli("book", "grow", "--nodes", "1", "--seed", "1")
    assert ran.code == 1
    assert "expected layouts in the mixture" in ran.err


# Looking


def test_list_is_a_table_csv_or_json(cli, path: Path) -> None:
    table = cli("book", "openings", "list").out.splitlines()
    headings = ["id", "move", "weight", "score", "visits", "source", "ply", "level", "key"]
    assert table[0].split() == [*headings, "layout"]
    assert len(table) == 7
    data = json.loads(cli("book", "openings", "list", "--json").out)
    assert data[0]["move"] == "G1H1"
    found = list(csv.DictReader(io.StringIO(cli("book", "openings", "list", "--csv").out)))
    assert [int(row["id"]) for row in found] == [row["id"] for row in data]
    assert cli("book", "openings", "list", "--csv", "--json").code == 2


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["--layout", "Wall"], 5),
        (["--layout", B, "--max-ply", "0"], 0),
        (["--key", "start"], 3),
        (["--level", "wide"], 2),
        (["--level", "near"], 0),
        (["--min-visits", "100"], 4),
        (["--max-error", "1%"], 4),
        (["--disabled"], 0),
        (["--limit", "2"], 2),
    ],
)
def test_list_filters(cli, path: Path, words: list[str], count: int) -> None:
    assert len(json.loads(cli("book", "openings", "list", "--json", *words).out)) == count


def test_show_draws_the_board_of_the_key(cli, path: Path) -> None:
    (row,) = ids(path, key="F1E1,G1H1,G3H3")
    ran = cli("book", "openings", "show", row, "--names", "letters")
    assert ran.code == 0
    assert "enemy piece from F1 on E1" in ran.out
    assert "own piece from G3 on H3" in ran.out
    drawn = ran.out.splitlines()
    line = next(line for line in drawn if line.startswith("H"))
    assert "^b" in line  # the general has moved there
    told = json.loads(cli("book", "openings", "show", row, "--json").out)
    assert told[0]["level"] == "exact"
    assert [move["move"] for move in told[0]["moves"]] == ["J0J1"]


def test_show_says_which_row_is_not_there(cli, path: Path) -> None:
    ran = cli("book", "openings", "show", "999")
    assert ran.code == 1
    assert "expected the number of an opening row, got 999" in ran.err
    ran = cli("book", "openings", "show", "Wall")
    assert ran.code == 2
    assert "show: expected the number of a row, got 'Wall' (see" in ran.err


def test_tree_prints_the_main_lines(cli, path: Path) -> None:
    out = cli("book", "openings", "tree", "Wall").out.splitlines()
    assert out[0] == "start"
    assert out[1].split()[:2] == ["G1H1", "70%"]
    assert out[2] == "    ~~G1H1"
    assert "J0J1" in out[3]
    told = json.loads(cli("book", "openings", "tree", "Wall", "--json").out)
    assert [(row["depth"], row["move"]) for row in told[:3]] == [
        (0, "G1H1"),
        (1, "J0J1"),
        (0, "G3H3"),
    ]
    ran = cli("book", "openings", "tree", "Wall", "--turn", "second")
    assert (ran.out, ran.code) == ("", 0)
    assert "junqi book grow finds some" in ran.err


def test_why_tells_the_run_and_how_to_get_it_again(cli, path: Path) -> None:
    (row,) = ids(path, key="~~G1H1")
    out = cli("book", "openings", "why", row).out
    assert "1 thought in up to 100 worlds each" in out
    assert "junqi book grow --minutes 15" in out
    again = (
        "junqi book grow --nodes 32 --seed 7 --worlds 100 --plies 20 --loss 0.01 "
        f"--opponents policy --layouts {A}"
    )
    assert again in out
    told = json.loads(cli("book", "openings", "why", row, "--json").out)
    assert told[0]["again"] == again
    assert told[0]["run"]["seed"] == 7


def test_the_command_that_why_tells_finds_the_same_again(cli, path: Path, tmp_path: Path) -> None:
    other = make_book(tmp_path / "other.db")
    first = make_book(tmp_path / "first.db")
    cli("book", "grow", *GROW, "--seed", "3", "--book", first, "--layouts", "Wall")
    row = next(id for id, row in rows(first).items() if row.source.startswith("think"))
    told = json.loads(cli("book", "openings", "why", row, "--book", first, "--json").out)
    cli(*told[0]["again"].split()[1:], "--book", other)
    same = [
        [replace(row, run=None, id=None) for row in rows(book).values()] for book in (first, other)
    ]
    assert same[0] == same[1]


# Curating


def test_a_weight_by_hand_is_marked(cli, path: Path) -> None:
    (row,) = ids(path, move="G3H3")
    assert cli("book", "openings", "edit", row, "--weight", "2", "--note", "mine").code == 0
    changed = rows(path)[row]
    assert (changed.weight, changed.notes, changed.source) == (2.0, "mine", "think:100x1 hand")
    cli("book", "openings", "edit", row, "--weight", "1")
    assert rows(path)[row].source == "think:100x1 hand"
    assert "weight set by hand" in cli("book", "openings", "why", row).out
    assert cli("book", "openings", "edit", row).code == 2
    cli("book", "undo")
    assert rows(path)[row].weight == 2.0


def test_rows_are_disabled_and_enabled(cli, path: Path) -> None:
    listed = cli("book", "openings", "list", "--key", "start").out
    ran = cli("book", "openings", "disable", "-", "--dry-run", stdin=listed)
    assert "3 opening moves changed (dry run" in ran.err
    assert not ids(path, enabled=False)
    cli("book", "openings", "disable", "-", stdin=listed)
    assert ids(path, enabled=False) == ids(path, key="start")
    (row,) = ids(path, move="G3H3")
    cli("book", "openings", "enable", f"#{row}")
    assert rows(path)[row].enabled


def test_prune_removes_what_is_named_and_nothing_with_a_note(cli, path: Path) -> None:
    told = json.loads(
        cli(
            "book", "openings", "prune", "--unused", "--min-visits", "95", "--dry-run", "--json"
        ).out
    )
    assert told["rows"] == 6
    assert sorted(told["removed"]) == sorted(
        ids(path, weight=0.0) + ids(path, key="F1E1,G1H1,G3H3")
    )
    assert len(rows(path)) == 6
    assert cli("book", "openings", "prune", "--max-ply", "1", stdin="n\n").code == 1
    assert len(rows(path)) == 6
    cli("book", "openings", "prune", "--max-ply", "1", "--max-error", "2.5%", "--yes")
    assert {row.key for row in rows(path).values()} == {"start", "~~"}
    cli("book", "openings", "prune", "--run", RUN.key, "--yes")
    assert [row.notes for row in rows(path).values()] == ["mine"]
    assert cli("book", "openings", "prune").code == 2


def test_learn_changes_weights_once(cli, path: Path, tmp_path: Path) -> None:
    file = tmp_path / "games.junqi"
    file.write_text(format_record(game("G3H3")), encoding="utf-8")
    ran = cli("book", "openings", "learn", file, "--side", "red", "--dry-run")
    assert "1 game learned, 0 known already, 0 left out; 1 move changed" in ran.err
    (row,) = ids(path, move="G3H3")
    assert rows(path)[row].visits == 100
    told = json.loads(cli("book", "openings", "learn", file, "--side", "red", "--json").out)
    assert (told["games"], told["moves"]) == (1, 1)
    assert rows(path)[row].weight > 0.9
    told = json.loads(cli("book", "openings", "learn", file, "--side", "red", "--json").out)
    assert (told["games"], told["known"]) == (0, 1)
    log = json.loads(cli("book", "log", "--json").out)
    assert log[0]["what"].startswith("learn ")


def test_learn_tells_of_games_that_cannot_be_read(cli, path: Path, tmp_path: Path) -> None:
    file = tmp_path / "games.junqi"
    text = format_record(game())
    file.write_text(text.replace("1. G1H1", "1. X9H1") + "\n" + text, encoding="utf-8")
    ran = cli("book", "openings", "learn", file, "--json")
    assert ran.code == 1
    told = json.loads(ran.out)
    assert told["games"] == 2
    assert len(told["faults"]) == 1


# Checking


def test_check_looks_into_the_keys(cli, path: Path) -> None:
    assert cli("book", "check").code == 0
    with Book.open(path) as book:
        book.add_openings(
            [
                Opening(A, "~~G1H1", "G1G0", 2),
                Opening(A, "F1E1,G1H1", "G0E0", 2),
                Opening(A, "G0F1,G1F1", "J0J1", 4),
                Opening(A, "another", "J0J1", 4),
            ]
        )
    ran = cli("book", "check", "--json")
    faults = json.loads(ran.out)["faults"]
    assert ran.code == 1
    assert len(faults) == 3
    assert any("no own piece can leave G1" in fault for fault in faults)
    assert any("no free road or rail leads there" in fault for fault in faults)
    assert any("expected one piece a point" in fault for fault in faults)


def test_groups_show_their_help(cli) -> None:
    ran = cli("book", "openings")
    assert ran.code == 0
    assert "tree" in ran.out
