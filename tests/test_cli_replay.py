import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from junqi.cli.replay import HELP, KEYS_LINE, Seat, Show, Stepper, pick_game, wrapped
from junqi.diagram import parse_diagram
from junqi.errors import InvalidRecord
from junqi.layout import format_layout, random_layouts
from junqi.pieces import BLACK, HIDDEN, RED
from junqi.record import Record, format_record
from junqi.render import display_width
from junqi.replay import record_game

Cli = Callable[..., Any]


def a_game(seed: int = 1) -> Record:
    """A random game in which a flag is told, with names, times and a comment."""
    rng = Random(seed)
    while True:
        red, black = (format_layout(x) for x in random_layouts(2, rng.getrandbits(40)))
        record = record_game(red, black, lambda _, moves: rng.choice(moves))
        if any(ply.flags for ply in record.plies) and len(record.plies) > 40:
            break
    plies = [replace(ply, seconds=0.5) for ply in record.plies]
    plies[2] = replace(plies[2], comment="the marshal!")
    return replace(
        record, plies=tuple(plies), red="红队", black="Bo\x1b[2Jb", event="Cup", date="2024.05.01"
    )


GAME = a_game()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "game.junqi"
    path.write_text(format_record(GAME), encoding="utf-8")
    return path


def boards(text: str) -> int:
    return len(re.findall(r"^ply \d+ of", text, flags=re.M))


# Printing


def test_every_board_is_printed_in_order(cli: Cli, file: Path) -> None:
    ran = cli("replay", file)
    assert (ran.code, ran.err) == (0, "")
    numbers = [int(n) for n in re.findall(r"^ply (\d+) of", ran.out, flags=re.M)]
    assert numbers == list(range(len(GAME.plies) + 1))
    assert cli("replay", file, "--all").out == ran.out


def test_a_record_is_read_from_stdin(cli: Cli, file: Path) -> None:
    assert cli("replay", "-", stdin=format_record(GAME)).out == cli("replay", file).out


def test_the_heading_tells_who_played_and_how_it_ended(cli: Cli, file: Path) -> None:
    assert GAME.outcome is not None
    first, second, *_ = cli("replay", file, "--ply", 0).out.splitlines()
    assert re.fullmatch(r"红队 - Bo\?\[2Jb: (red wins|black wins|a draw) \([a-z-]+\)", first)
    assert second == "Cup, 2024.05.01"


def test_one_board_is_printed_with_its_ply(cli: Cli, file: Path) -> None:
    out = cli("replay", file, "--ply", 3).out
    assert boards(out) == 1
    assert re.search(r"^ply 3 of \d+: red [A-L]\d[A-L]\d, [a-z ]+, 0.5 s$", out, flags=re.M)
    assert "used: red 1.0 s, black 0.5 s of 1800 s" in out
    assert "the marshal!" in out


def test_a_seat_shows_only_what_its_player_was_told(cli: Cli, file: Path) -> None:
    out = cli("replay", file, "--ply", 3, "--seat", "red", "--names", "letters").out
    assert "v#" in out
    assert not re.search(r"v[a-k]", out)
    assert "the marshal!" not in out
    flags = next(n for n, ply in enumerate(GAME.plies, 1) if ply.flags)
    for seat in ("red", "black"):
        out = cli("replay", file, "--ply", flags, "--seat", seat, "--names", "letters").out
        assert "flag is on" in out
        assert not re.search(r"v[a-k]", out)


def test_black_sees_black_at_the_bottom_and_moves_in_its_own_coordinates(
    cli: Cli, file: Path
) -> None:
    red = cli("replay", file, "--ply", 2, "--seat", "red").out
    black = cli("replay", file, "--ply", 2, "--seat", "black").out
    pattern = r"black ([A-L]\d[A-L]\d)"
    assert re.findall(pattern, red)[0] != re.findall(pattern, black)[0]


def test_json_has_the_boards_as_data(cli: Cli, file: Path) -> None:
    frames = json.loads(cli("replay", file, "--json", "--seat", "red").out)
    assert len(frames) == len(GAME.plies) + 1
    assert frames[0]["ply"] == 0
    assert frames[1]["result"] == GAME.plies[0].result
    assert [frame["side"] for frame in frames[:3]] == ["bottom", "top", "bottom"]
    position = parse_diagram(frames[0]["board"])
    assert {position.pieces[p] for p in position.points_of(BLACK)} == {HIDDEN}


def test_a_picture_of_a_ply_is_written(cli: Cli, file: Path, tmp_path: Path) -> None:
    picture = tmp_path / "ply.svg"
    ran = cli("replay", file, "--ply", 5, "--svg", picture)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    text = picture.read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "after ply 5" in text


def test_one_of_many_games_is_picked(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "games.junqi"
    games = [replace(GAME, event=f"game {n}") for n in (1, 2, 3)]
    file.write_text("".join(map(format_record, games)), encoding="utf-8")
    assert "game 2" in cli("replay", file, "--game", 2, "--ply", 0).out
    ran = cli("replay", file, "--ply", 0)
    assert "game 1" in ran.out
    assert ran.err == "this is the first of several games: --game N picks another\n"
    ran = cli("replay", file, "--game", 9)
    assert ran.code == 1
    assert ran.err == f"junqi: error: {file}: expected a game from 1 to 3, got 9\n"


def test_a_game_with_an_unknown_layout_is_shown_from_the_other_seat(
    cli: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "half.junqi"
    file.write_text(format_record(replace(GAME, black_layout=None)), encoding="utf-8")
    for seat in ("red", "all"):
        assert cli("replay", file, "--seat", seat).code == 0
    ran = cli("replay", file, "--seat", "black")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"junqi: error: {file}: game 1: ")
    assert ran.err.count("\n") == 1


# Bad input


@pytest.mark.parametrize("part", [0.1, 0.35, 0.5, 0.9, 0.98])
def test_a_record_cut_in_the_middle_is_told_in_one_line(
    cli: Cli, tmp_path: Path, part: float
) -> None:
    text = format_record(GAME)
    file = tmp_path / "cut.junqi"
    file.write_text(text[: int(len(text) * part)], encoding="utf-8")
    ran = cli("replay", file)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"junqi: error: {file}: game 1, line ")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n\0", b"hello\n", b"{}\n", b"[1]\n"])
def test_what_is_no_record_is_told_in_one_line(cli: Cli, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    ran = cli("replay", file)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"junqi: error: {file}: ")
    assert ran.err.count("\n") == 1


def test_a_game_against_the_rules_is_told_in_one_line(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "wrong.junqi"
    plies = (GAME.plies[0], *GAME.plies[2:])
    file.write_text(format_record(replace(GAME, plies=plies)), encoding="utf-8")
    ran = cli("replay", file)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"junqi: error: {file}: game 1: ply ")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["--ply", 9999], 1, "expected a ply from 0 to"),
        (["--ply", -1], 2, "expected an integer of at least 0 for --ply, got '-1'"),
        (["--svg", "x.svg"], 2, "expected --ply with --svg"),
        (["--ply", 1, "--all"], 2, "expected --all or --ply, got both"),
        (["--seat", "green"], 2, "expected one of red, black, all for --seat, got 'green'"),
        (["--game", "0"], 2, "expected an integer of at least 1 for --game, got '0'"),
    ],
)
def test_what_cannot_be_shown_is_told_in_one_line(
    cli: Cli, file: Path, args: list[object], code: int, message: str
) -> None:
    ran = cli("replay", file, *args)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1


# Stepping


@pytest.fixture
def stepper() -> Stepper:
    return Stepper(Show(GAME, "english"))


LAST = len(GAME.plies)


@pytest.mark.parametrize(
    ("keys", "ply"),
    [
        ([" "], 1),
        (["n", "\x1b[C", "\xe0M"], 3),
        (["n", "n", "b"], 1),
        (["n", "n", "\x1b[D"], 1),
        (["b"], 0),
        (["\x1b[F"], LAST),
        (["\x1b[F", "n"], LAST),
        (["\x1b[F", "\x1b[H"], 0),
        (["\x1b[B"], 10),
        (["\x1b[B", "\x1b[A"], 0),
        (["g", "1", "2", "\r"], 12),
        (["g", "1", "2", "\x7f", "\n"], 1),
        (["g", "9", "9", "9", "9", "\r"], LAST),
        (["n", "g", "\r"], 1),
        (["n", "g", "5", "x", "n"], 2),
        (["n", "~", "\x1b[Z"], 1),
    ],
)
def test_keys_step_through_a_game(stepper: Stepper, keys: list[str], ply: int) -> None:
    for key in keys:
        stepper.press(key)
    assert stepper.ply == ply
    assert not stepper.is_done
    assert f"ply {ply} of {LAST}" in stepper.screen(120, color=False)


@pytest.mark.parametrize("key", ["q", "\x1b", "\x04"])
def test_keys_quit(stepper: Stepper, key: str) -> None:
    stepper.press(key)
    assert stepper.is_done


def test_the_seat_changes_in_turn(stepper: Stepper) -> None:
    seats = []
    for _ in range(4):
        seats.append(stepper.show.seat)
        stepper.press("s")
    assert seats == [Seat.ALL, Seat.RED, Seat.BLACK, Seat.ALL]


def test_a_seat_of_which_nothing_is_known_is_left_out() -> None:
    stepper = Stepper(Show(replace(GAME, black_layout=None), "english"))
    seats = []
    for _ in range(3):
        seats.append(stepper.show.seat)
        stepper.press("s")
    assert seats == [Seat.ALL, Seat.RED, Seat.ALL]


def test_help_is_shown_until_the_next_key(stepper: Stepper) -> None:
    stepper.press("?")
    assert HELP.splitlines()[0] in stepper.screen(80, color=False)
    stepper.press("n")
    assert HELP.splitlines()[0] not in stepper.screen(80, color=False)
    assert KEYS_LINE in stepper.screen(80, color=False)


@pytest.mark.parametrize("names", ["english", "chinese", "letters"])
def test_a_screen_fits_24_lines_of_80_columns(names: str) -> None:
    stepper = Stepper(Show(GAME, names))
    for key in ("n", "n", "n", "s", "?", "\x1b[F"):
        stepper.press(key)
        lines = stepper.screen(80, color=False).split("\n")
        assert len(lines) <= 24
        assert max(map(display_width, lines)) <= 80


def test_a_narrow_screen_has_the_texts_above_the_board(stepper: Stepper) -> None:
    assert stepper.screen(60, color=False).startswith("red: 红队\nblack: Bo?[2Jb\n")


def test_texts_are_wrapped_by_their_width_on_the_terminal() -> None:
    assert wrapped("red: a name of words", 9) == ["red: a", "name of", "words"]
    assert wrapped("军棋军棋", 5) == ["军棋", "军棋"]
    assert wrapped("", 5) == [""]


def test_seats_are_shown_only_of_a_game_by_the_rules() -> None:
    wrong = replace(GAME, plies=(GAME.plies[0], *GAME.plies[2:]))
    with pytest.raises(InvalidRecord):
        Show(wrong, "english", Seat.RED)


def test_a_game_is_picked_from_the_example_of_the_documentation() -> None:
    example = Path(__file__).parents[1] / "docs" / "example.junqi"
    show = Show(pick_game(str(example), 1), "english")
    assert show.frames[0].position.to_move == RED
    assert len(show.frames) == show.plies + 1


@pytest.mark.skipif(os.name == "nt", reason="there are no such terminals on Windows")
def test_a_real_terminal_is_stepped_through_in_place(file: Path) -> None:
    import pty
    import select

    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        program = "from junqi.cli import main; main()"
        os.execv(sys.executable, [sys.executable, "-c", program, "replay", str(file)])

    def read_to_end_of_screen() -> str:
        seen = ""
        while "\nL  " not in seen.replace("\x1b[1;97;41m", "").replace("\x1b[1;97;44m", ""):
            ready, _, _ = select.select([terminal], [], [], 30)
            assert ready, f"expected a whole board, got {seen!r}"
            seen += os.read(terminal, 65536).decode("utf-8", errors="replace")
        assert "\x1b[H\x1b[2J" in seen
        return seen

    try:
        assert f"ply 0 of {LAST}" in read_to_end_of_screen()
        os.write(terminal, b" ")
        assert f"ply 1 of {LAST}" in read_to_end_of_screen()
        os.write(terminal, b"s")
        assert "seat: red" in read_to_end_of_screen()
        os.write(terminal, b"q")
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0
    finally:
        os.close(terminal)
