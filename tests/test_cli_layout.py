import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from junqi.layout import format_layout, layout_problems, random_layouts

SAMPLE = "abccddeeffggghhhiiijjkklj"
MIRRORED = "dccbaeedggffhhgjiiihjlkkj"

Cli = Callable[..., Any]


# check


def test_a_legal_layout_is_ok(cli: Cli) -> None:
    ran = cli("layout", "check", SAMPLE)
    assert (ran.code, ran.out, ran.err) == (0, f"{SAMPLE}: ok\n", "")


@pytest.mark.parametrize(
    ("layout", "reason"),
    [
        ("aaccddeeffggghhhiiijjkklj", "2 x marshal (a): expected 1; 0 x general (b): expected 1"),
        (SAMPLE[:-1], "expected 25 letters, got 24"),
        (SAMPLE.upper(), "expected small letters"),
        ("司令军长师长", "unknown piece '司' at G0"),
        ("军" * 25, "unknown piece '军' at G0"),
    ],
)
def test_what_is_wrong_with_a_layout_is_said_in_one_line(
    cli: Cli, layout: str, reason: str
) -> None:
    ran = cli("layout", "check", layout)
    assert ran.code == 1
    assert ran.out.count("\n") == 1
    assert reason in ran.out
    for command in ("show", "mirror", "canonical"):
        ran = cli("layout", command, layout)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.count("\n") == 1
        assert ran.err.startswith("junqi: error: not a legal layout")
        assert reason in ran.err


def test_layouts_of_a_file_are_named_with_their_lines(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "layouts.tsv"
    file.write_bytes(
        b"\xef\xbb\xbflayout\torigin\r\n# good\r\n\r\n"
        + f"{SAMPLE}\tteam A\r\n{SAMPLE[1:]},short\r\n  {MIRRORED}  \r\n".encode()
    )
    ran = cli("layout", "check", file)
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0] == f"{file}:4: {SAMPLE}: ok"
    assert lines[1].startswith(f"{file}:5: {SAMPLE[1:]}: expected 25 letters, got 24")
    assert lines[2] == f"{file}:6: {MIRRORED}: ok"
    assert cli("layout", "check", "--file", file).out == ran.out


def test_arguments_files_and_stdin_go_together(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "one"
    file.write_text(SAMPLE)
    ran = cli("layout", "check", SAMPLE, "-", "--file", file, "--file", file, stdin=MIRRORED)
    assert ran.out.splitlines() == [
        f"{SAMPLE}: ok",
        f"standard input:1: {MIRRORED}: ok",
        f"{file}:1: {SAMPLE}: ok",
        f"{file}:1: {SAMPLE}: ok",
    ]


def test_layouts_are_read_from_a_pipe(cli: Cli) -> None:
    made = cli("layout", "random", "--count", 20, "--seed", 1).out
    ran = cli("layout", "check", stdin=made)
    assert ran.code == 0
    assert ran.out.count(": ok\n") == 20


def test_json_has_all_that_is_known(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "layouts.txt"
    file.write_text(f"# one\n{SAMPLE[1:]}\n")
    ran = cli("layout", "check", SAMPLE, file, "--json")
    assert ran.code == 1
    assert json.loads(ran.out) == [
        {"layout": SAMPLE, "source": None, "line": None, "legal": True, "problems": []},
        {
            "layout": SAMPLE[1:],
            "source": str(file),
            "line": 2,
            "legal": False,
            "problems": layout_problems(SAMPLE[1:]),
        },
    ]


def test_a_terminal_with_no_layout_is_wrong_usage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from junqi.cli import run

    class Keyboard:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Keyboard())
    assert run(["layout", "check"]) == 2
    assert capsys.readouterr().err == (
        "junqi layout check: expected a layout, a file or - for standard input"
        " (see junqi layout check --help)\n"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected one layout a line, got none"),
        (b"# nothing\n\n", "expected one layout a line, got none"),
        (b"\x89PNG\r\n\x1a\n\x00\x01", "expected text in UTF-8, got the byte 0x89 at offset 0"),
        (b"abc\x00def", "expected text in UTF-8, got binary data"),
        ("军棋".encode("gbk"), "expected text in UTF-8, got the byte 0xbe at offset 0"),
    ],
)
@pytest.mark.parametrize("command", ["check", "show", "mirror", "canonical"])
def test_files_that_are_no_layouts_are_told_in_one_line(
    cli: Cli, tmp_path: Path, command: str, content: bytes, message: str
) -> None:
    file = tmp_path / "file.txt"
    file.write_bytes(content)
    for args, name in (([file], str(file)), (["-"], "standard input")):
        ran = cli("layout", command, *args, stdin=content)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == f"junqi: error: {name}: {message}\n"


def test_an_argument_with_a_line_end_stays_one_line(cli: Cli) -> None:
    assert cli("layout", "check", "a\nb").out.count("\n") == 1


# show


def test_a_layout_is_drawn(cli: Cli) -> None:
    ran = cli("layout", "show", SAMPLE, "--names", "letters")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()[1::2]] == list("GHIJKL")
    assert "司令" in cli("layout", "show", SAMPLE, "--names", "chinese").out
    assert "Mar" in cli("layout", "show", SAMPLE, "--names", "english").out


def test_the_environment_says_what_is_written_on_pieces(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUNQI_NAMES", "chinese")
    assert "司令" in cli("layout", "show", SAMPLE).out
    monkeypatch.setenv("JUNQI_NAMES", "greek")
    ran = cli("layout", "show", SAMPLE)
    assert ran.code == 1
    assert ran.err.startswith("junqi: error: expected JUNQI_NAMES to be")


def test_several_layouts_are_drawn_with_a_line_between(cli: Cli) -> None:
    one = cli("layout", "show", SAMPLE).out
    assert cli("layout", "show", SAMPLE, SAMPLE).out == f"{one}\n{one}"


def test_a_layout_is_drawn_as_a_picture(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "layout.svg"
    ran = cli("layout", "show", SAMPLE, "--svg", file)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert file.read_text(encoding="utf-8").startswith("<svg")


def test_one_picture_shows_one_layout(cli: Cli, tmp_path: Path) -> None:
    ran = cli("layout", "show", SAMPLE, SAMPLE, "--svg", tmp_path / "x.svg")
    assert ran.code == 2
    assert "expected one layout for --svg, got 2" in ran.err


def test_a_picture_that_cannot_be_written_is_told_in_one_line(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "no" / "x.svg"
    ran = cli("layout", "show", SAMPLE, "--svg", file)
    assert ran.code == 1
    assert ran.err == f"junqi: error: {file}: no such file or directory\n"


# random


def test_random_layouts_come_from_their_seed(cli: Cli) -> None:
    ran = cli("layout", "random", "--count", 3, "--seed", 5)
    assert ran.err == ""
    assert ran.out.splitlines() == [format_layout(x) for x in random_layouts(3, seed=5)]
    ran = cli("layout", "random", "--count", 3, "--seed", 5, "--json")
    assert json.loads(ran.out)["seed"] == 5
    assert len(json.loads(ran.out)["layouts"]) == 3


def test_a_seed_that_we_picked_is_told(cli: Cli) -> None:
    ran = cli("layout", "random")
    word, seed = ran.err.split()
    assert word == "seed"
    assert cli("layout", "random", "--seed", seed).out == ran.out


# mirror, canonical, count


def test_a_layout_is_mirrored(cli: Cli) -> None:
    assert cli("layout", "mirror", SAMPLE, MIRRORED).out == f"{MIRRORED}\n{SAMPLE}\n"
    ran = cli("layout", "mirror", SAMPLE, "--json")
    assert json.loads(ran.out) == [{"layout": SAMPLE, "mirror": MIRRORED}]


def test_a_layout_and_its_mirror_image_have_one_canonical_form(cli: Cli) -> None:
    assert cli("layout", "canonical", stdin=f"{SAMPLE}\n{MIRRORED}\n").out == f"{SAMPLE}\n" * 2
    ran = cli("layout", "canonical", MIRRORED, "--json")
    assert json.loads(ran.out) == [{"layout": MIRRORED, "canonical": SAMPLE}]


def test_an_illegal_layout_in_a_file_is_named_with_its_line(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "layouts.txt"
    file.write_text(f"{SAMPLE}\nabc\n")
    ran = cli("layout", "mirror", file)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"junqi: error: {file}:2: not a legal layout: 'abc': ")


def test_legal_layouts_are_counted(cli: Cli) -> None:
    assert cli("layout", "count").out == "709,596,419,051,520,000\n"
    assert json.loads(cli("layout", "count", "--json").out) == {"count": 709596419051520000}
