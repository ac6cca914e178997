"""``junqi records``: many games in a file, some of them broken, some known to one side only."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from junqi.layout import format_layout, random_layouts
from junqi.pieces import BLACK, RED
from junqi.record import Found, Record, format_record, open_records, record_to_json, scan_records
from junqi.record_stats import RecordStats, Whose
from junqi.replay import record_game
from junqi.rules import Move, Outcome, Reason

Cli = Callable[..., Any]


def a_game(seed: int, **changes: Any) -> Record:
    rng = Random(seed)
    red, black = (format_layout(layout) for layout in random_layouts(2, seed))
    record = record_game(red, black, lambda _, moves: rng.choice(moves))
    return replace(record, **{"red": "North", "black": "南方", "date": "2024-05-01"} | changes)


ONE = a_game(1, event="Cup")
TWO = a_game(2, red="South", black="North", date="2024.06.01")
# As black has it: red's layout is unknown, and so is what red was told.
ONE_SIDED = replace(
    a_game(3, event="Cup"),
    red_layout=None,
    plies=tuple(replace(p, flags=tuple(f for f in p.flags if f < 30)) for p in a_game(3).plies),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "games.junqi"
    path.write_text("".join(map(format_record, (ONE, TWO, ONE_SIDED))), encoding="utf-8")
    return path


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Three games; the second is torn and the first tag of the third stands behind its rest."""
    path = tmp_path / "broken.junqi"
    torn = format_record(TWO)[:900].rstrip()
    path.write_text(format_record(ONE) + torn + format_record(ONE_SIDED), encoding="utf-8")
    return path


# Broken games do not hide the others


def found_in(text: str | bytes) -> list[Record | None]:
    found = list(scan_records(text.splitlines(keepends=True)))
    assert [each.game for each in found] == list(range(1, len(found) + 1))
    assert all((each.record is None) == bool(each.fault) for each in found)
    return [each.record for each in found]


def test_a_game_cut_anywhere_does_not_hide_the_next() -> None:
    text, rest = format_record(TWO), format_record(ONE)
    end = len(text.rstrip())
    for cut in [*range(1, 400), *range(400, end, 17)]:
        for between in ("", "\n", "\n\n"):
            found = found_in(text[:cut] + between + rest)
            assert found[-1] == ONE, (cut, between)
            assert len(found) == 2
            assert found[0] is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('[Seed "1"]', '[Seed "x"]'),
        ("  2. ", "  7. "),
        ('[Red "South"]', '[Red "South"]\n[Red "South"]'),
        ('[Red "South"]', "[Red South]"),
        ('[Red "South"]', "garbage"),
        ("[Reason", "[Nothing"),
    ],
)
def test_a_game_with_a_fault_is_one_broken_game(old: str, new: str) -> None:
    text = format_record(replace(TWO, seed=1))
    assert old in text
    one = format_record(ONE)
    found = found_in(one + text.replace(old, new, 1) + one)
    assert found[0] == found[-1] == ONE
    assert found[1:-1] == [None]


def test_bytes_that_are_no_text_and_json_that_is_cut_are_one_broken_game() -> None:
    one = format_record(ONE).encode()
    line = json.dumps(record_to_json(ONE)).encode() + b"\n"
    assert found_in(one + format_record(ONE).encode("gbk") + one) == [ONE, None, ONE]
    assert found_in(line + line[:50] + b"\n" + line + one) == [ONE, None, ONE, ONE]
    assert found_in(one + b"\xff\xfe\n" + one) == [ONE, None, ONE]


def test_the_place_of_a_broken_game_is_told() -> None:
    one = format_record(ONE)
    lines = one.count("\n")
    first, second, third = scan_records((one + "garbage\n\n" + one).split("\n"))
    assert (first.line, second.line, third.line) == (1, lines + 1, lines + 3)
    assert second == Found(2, lines + 1, None, second.fault)
    assert second.fault.startswith(f"line {lines + 1}: expected a tag like")


@pytest.mark.parametrize(
    "command", [("list",), ("stats",), ("export",), ("filter",), ("list", "--json")]
)
def test_commands_report_what_is_broken_and_go_on(
    cli: Cli, broken: Path, command: tuple[str, ...]
) -> None:
    ran = cli("records", *command, broken)
    assert ran.code == 1
    assert ran.err.startswith(f"{broken}: game 2, line ")
    assert ran.err.count("\n") == 1
    games = ran.out.count("Cup") if command != ("stats",) else int(ran.out.split()[0])
    assert games == 2


def test_an_empty_file_is_an_error(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.write_text("\n")
    for command in ("list", "check", "stats", "export", "filter", "show"):
        ran = cli("records", command, path)
        assert ran.code == 1
        assert ran.err == f"junqi: error: {path}: expected a game record, the file is empty\n"


# List, show, filter, export


def test_list_has_a_line_for_each_game(cli: Cli, file: Path) -> None:
    ran = cli("records", "list", file)
    assert ran.code == 0
    name, heading, *rows = ran.out.splitlines()
    assert name == str(file)
    assert heading.split()[:4] == ["game", "line", "result", "reason"]
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert "North - 南方, Cup" in rows[0]
    assert [row.split()[5] for row in rows] == ["both", "both", "black"]


def test_list_as_json_and_csv_says_the_same(cli: Cli, file: Path) -> None:
    rows = json.loads(cli("records", "list", file, "--json").out)
    assert [row["plies"] for row in rows] == [len(r.plies) for r in (ONE, TWO, ONE_SIDED)]
    lines = cli("records", "list", file, "--csv").out.splitlines()
    assert lines[0].split(",") == list(rows[0])
    assert lines[1].split(",") == ["" if v is None else str(v) for v in rows[0].values()]


def test_show_prints_one_game_even_behind_a_broken_one(cli: Cli, file: Path, broken: Path) -> None:
    assert cli("records", "show", file, "--game", 2).out == format_record(TWO)
    assert json.loads(cli("records", "show", file, "--json").out) == record_to_json(ONE)
    assert cli("records", "show", broken, "--game", 3).out == format_record(ONE_SIDED)
    ran = cli("records", "show", broken, "--game", 2)
    assert ran.code == 1
    assert f"{broken}: game 2, line " in ran.err
    assert "expected a game from 1 to 3, got 4" in cli("records", "show", file, "--game", 4).err


WON, LOST = (TWO.red, TWO.black) if TWO.result == "1-0" else (TWO.black, TWO.red)


@pytest.mark.parametrize(
    ("options", "games"),
    [
        ([], [ONE, TWO, ONE_SIDED]),
        (["--player", "north"], [ONE, TWO, ONE_SIDED]),
        (["--player", "南"], [ONE, ONE_SIDED]),
        (["--event", "cup"], [ONE, ONE_SIDED]),
        (["--since", "2024-05-02"], [TWO]),
        (["--until", "2024/05/01"], [ONE, ONE_SIDED]),
        (["--result", TWO.result, "--player", "South"], [TWO]),
        (["--reason", "aborted"], []),
        (["--layout", str(ONE.red_layout)[:9]], [ONE]),
        (["--won-by", WON, "--lost-by", LOST, "--player", "south"], [TWO]),
        (["--won-by", LOST, "--player", "south"], []),
        (["--min-plies", str(len(ONE.plies)), "--max-plies", str(len(ONE.plies))], [ONE]),
        (["--valid"], [ONE, TWO, ONE_SIDED]),
        (["--limit", "2"], [ONE, TWO]),
    ],
)
def test_filter_prints_the_games_asked_for(
    cli: Cli, file: Path, options: list[str], games: list[Record]
) -> None:
    ran = cli("records", "filter", file, *options)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "".join(map(format_record, games))


def test_filter_finds_an_opening(cli: Cli, file: Path) -> None:
    opening = " ".join(
        json.loads(cli("records", "stats", file, "--json").out)["openings"][0:1][0]["moves"].split()
    )
    ran = cli("records", "filter", file, "--opening", opening.lower())
    assert ran.out in [format_record(r) for r in (ONE, TWO, ONE_SIDED)]


def test_filter_refuses_words_that_are_none(cli: Cli, file: Path) -> None:
    assert cli("records", "filter", file, "--reason", "tired").code == 2
    assert cli("records", "filter", file, "--result", "2-0").code == 2


def test_export_and_filter_undo_each_other(cli: Cli, file: Path, tmp_path: Path) -> None:
    exported = cli("records", "export", file).out
    assert [json.loads(line) for line in exported.splitlines()] == [
        record_to_json(r) for r in (ONE, TWO, ONE_SIDED)
    ]
    path = tmp_path / "games.jsonl"
    path.write_text(exported)
    assert list(open_records(path)) == [ONE, TWO, ONE_SIDED]
    assert cli("records", "filter", path).out == file.read_text(encoding="utf-8")


# Check


def test_check_passes_games_by_the_rules(cli: Cli, file: Path) -> None:
    ran = cli("records", "check", file)
    assert (ran.code, ran.out, ran.err) == (0, "", "3 games, none wrong\n")
    assert cli("records", "check", file, "--json").out == "[]\n"


def test_check_names_the_first_wrong_ply_of_each_game(cli: Cli, tmp_path: Path) -> None:
    plies = list(ONE.plies)
    plies[6] = replace(plies[6], move=Move(0, 59))
    wrong = replace(ONE, plies=tuple(plies))
    end = replace(TWO, outcome=Outcome(RED if TWO.result == "0-1" else BLACK, Reason.FLAG))
    path = tmp_path / "wrong.junqi"
    games = [format_record(r) for r in (ONE, wrong, end)]
    path.write_text(games[0] + games[1] + "garbage\n" + games[2] + games[0], encoding="utf-8")
    ran = cli("records", "check", path)
    assert ran.code == 1
    lines = ran.out.splitlines()
    begins = games[0].count("\n") + 1
    assert lines[0].startswith(f"{path}: game 2, line {begins}: ply 7 (red A0L4")
    assert f"{path}: game 3, line " in lines[1]
    assert "expected a tag like" in lines[1]
    assert f"after ply {len(TWO.plies)}: expected " in lines[2]
    assert ran.err == "5 games, 3 wrong\n"
    found = json.loads(cli("records", "check", path, "--json").out)
    assert [(f["game"], f["ply"]) for f in found] == [(2, 7), (3, None), (4, len(TWO.plies))]


# Stats


def test_stats_count_what_the_games_tell(cli: Cli, file: Path) -> None:
    data = json.loads(cli("records", "stats", file, "--json").out)
    games = (ONE, TWO, ONE_SIDED)
    lengths = sorted(len(r.plies) for r in games)
    assert data["games"] == 3
    assert sum(data["results"].values()) == sum(data["reasons"].values()) == 3
    assert data["plies"]["median"] == lengths[1]
    assert (data["plies"]["least"], data["plies"]["most"]) == (lengths[0], lengths[2])
    assert sum(opening["games"] for opening in data["openings"]) == 3
    assert (data["layouts"], data["hidden_layouts"], data["sides"]) == (5, 1, 6)
    assert sum(data["kinds"]["marshal"].values()) == 5
    assert sum(data["kinds"]["mine"].values()) == 15
    assert set(data["kinds"]["flag"]) <= {"L1", "L3"}
    assert not set(data["moved"]) & {"L1", "L3"}
    assert max(data["moved"].values()) <= 6


def test_stats_of_a_player_and_of_the_others(cli: Cli, file: Path) -> None:
    of = json.loads(cli("records", "stats", file, "--of", "North", "--json").out)
    against = json.loads(cli("records", "stats", file, "--against", "North", "--json").out)
    assert (of["games"], of["layouts"], of["hidden_layouts"]) == (3, 2, 1)
    assert (against["games"], against["layouts"], against["hidden_layouts"]) == (3, 3, 0)
    assert of["score"] + against["score"] == pytest.approx(1)
    assert cli("records", "stats", file, "--of", "a", "--against", "b").code == 2
    ran = cli("records", "stats", file, "--of", "nobody")
    assert ran.code == 1
    assert "expected a game of 'nobody'" in ran.err


def test_stats_for_reading_draw_a_map_of_each_kind(cli: Cli, file: Path) -> None:
    text = cli("records", "stats", file).out
    assert text.startswith("3 games: ")
    assert "layouts: 5 known, 1 unknown" in text
    assert text.count("\nG ") == 5  # rows of maps
    flag = text[text.index("flag (l)") :].splitlines()
    assert flag[2] == "H    -   .   -   .   -"


def test_the_flag_of_an_unknown_layout_is_counted_where_it_was_found() -> None:
    told = next(
        r for r in map(a_game, range(1, 50)) if any(f > 30 for p in r.plies for f in p.flags)
    )
    (flag,) = {f for ply in told.plies for f in ply.flags if f > 30}
    stats = RecordStats(Whose(of="North"))
    stats.add(replace(told, red_layout=None))
    assert stats.hidden_flags == {flag: 1}
    assert stats.layouts == 0


# Import


def test_record_import_makes_records_of_logs(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "platform.log"
    log.write_bytes(
        "INFO 1.0\r\nNAME 红队\r\nSTART 0 1800 31\r\nARRAY abccddeeffggghhhiiijjkklj\r\n"
        "GO 0000 0 00\r\nBESTMOVE H0H1\r\nRESULT 3 00\r\n".encode("gbk")
    )
    ran = cli("record", "import", log, "--event", "Cup")
    assert (ran.code, ran.err) == (0, "")
    assert '[Red "红队"]' in ran.out
    assert '[BlackLayout "?"]' in ran.out
    assert ran.out.endswith("  1. H0H1\n*\n\n")
    assert cli("records", "import", log, "--event", "Cup").out == ran.out
    assert cli("records", "check", "-", stdin=ran.out).code == 0
    data = json.loads(cli("record", "import", log, "--json").out)
    assert data["plies"] == [{"move": "H0H1", "result": 3}]


def test_a_log_of_windows_in_utf16_is_read(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "win.log"
    log.write_text("START 1 900 20\nARRAY abccddeeffggghhhiiijjkklj\n", encoding="utf-16")
    assert "steps=20" in cli("record", "import", log).out


def test_a_log_without_games_is_an_error(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "nothing.log"
    log.write_text("hello\n")
    ran = cli("record", "import", log)
    assert ran.code == 1
    assert ran.err == f"junqi: error: {log}: expected START, ARRAY and GO lines, got none\n"
