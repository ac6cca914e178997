"""The command as a whole: help, errors in one line, exit codes, completion, documentation."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import make_cli_docs
import pytest
import typer

import junqi.cli
from junqi import __version__
from junqi.cli import app, run

ROOT = Path(__file__).parents[1]
SAMPLE = "abccddeeffggghhhiiijjkklj"
PROGRAM = "import sys; from junqi.cli import main; main()"
# What no help should have to wait for.
HEAVY = {
    *("numpy", "numba", "rich", "deap", "scipy"),
    *("sqlite3", "sqlite_utils", "platformdirs", "datasette"),
}

Cli = Callable[..., Any]


def all_commands(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    command = command or typer.main.get_command(app)
    yield path
    for name, child in getattr(command, "commands", {}).items():
        yield from all_commands(child, (*path, name))


COMMANDS = list(all_commands())
command_ids = [" ".join(("junqi", *path)) for path in COMMANDS]


def junqi_process(*args: str, code: str = PROGRAM, **options: Any) -> subprocess.Popen[str]:
    env = {**os.environ, **options.pop("env", {})}
    return subprocess.Popen(
        [sys.executable, "-c", code, *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=env,
        **options,
    )


def one_line(text: str) -> str:
    """The one line of an error message; no traceback, nothing else."""
    assert text.endswith("\n")
    assert text.count("\n") == 1, text
    assert "Traceback" not in text
    return text.rstrip("\n")


# Help


def test_the_version_is_printed(cli: Cli) -> None:
    ran = cli("--version")
    assert (ran.code, ran.out, ran.err) == (0, f"junqi {__version__}\n", "")


@pytest.mark.parametrize("path", COMMANDS, ids=command_ids)
def test_every_command_has_help_with_an_example(cli: Cli, path: tuple[str, ...]) -> None:
    ran = cli(*path, "--help")
    assert ran.code == 0
    assert ran.err == ""
    usage, sentence, *rest = ran.out.split("\n\n")
    assert usage.startswith(" ".join(("Usage: junqi", *path)))
    assert sentence.strip()[0].isupper()
    assert sentence.endswith(".")
    examples = next(part for part in rest if part.strip().startswith("Example"))
    assert any(line.strip().startswith("junqi ") for line in examples.splitlines())


@pytest.mark.parametrize("path", COMMANDS, ids=command_ids)
def test_every_command_is_documented(path: tuple[str, ...]) -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert f"## `{' '.join(('junqi', *path))}`" in page


def test_the_documentation_is_current() -> None:
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    if f"typer=={typer.__version__}\n" not in pinned:
        pytest.skip("another version of typer writes its help in another way")
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == make_cli_docs.page(), "run scripts/make_cli_docs.py"


def test_options_have_help(cli: Cli) -> None:
    def check(command: Any) -> None:
        for parameter in command.params:
            assert parameter.help, f"{command.name} {parameter.name}"
        for child in getattr(command, "commands", {}).values():
            check(child)

    check(typer.main.get_command(app))


@pytest.mark.parametrize("args", [[], ["layout"], ["rules"], ["book"], ["records"]])
def test_a_group_without_a_command_prints_its_help(cli: Cli, args: list[str]) -> None:
    ran = cli(*args)
    assert ran.code == 0
    assert ran.out.startswith("Usage: junqi")
    assert ran.out == cli(*args, "--help").out


@pytest.mark.parametrize(
    "args",
    [
        ["--help"],
        ["--version"],
        ["layout", "--help"],
        ["replay", "-h"],
        ["book", "-h"],
        ["book", "evaluate", "-h"],
    ],
)
def test_help_waits_for_nothing_heavy(args: list[str]) -> None:
    code = (
        "import sys; from junqi.cli import run; code = run(sys.argv[1:]);"
        f"print(*sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    process = junqi_process(*args, code=code)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out
    assert err.strip() == ""


# Errors


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("layout random --count x",
         "junqi layout random: expected an integer for --count, got 'x'"
         " (see junqi layout random --help)"),
        ("layout random --count 0",
         "junqi layout random: expected an integer of at least 1 for --count, got '0'"
         " (see junqi layout random --help)"),
        ("layout random --count",
         "junqi layout random: option '--count' requires an argument"
         " (see junqi layout random --help)"),
        ("layout random --foo",
         "junqi layout random: no such option: --foo (see junqi layout random --help)"),
        ("layout random extra",
         "junqi layout random: got unexpected extra argument(s) (extra)"
         " (see junqi layout random --help)"),
        ("layout show x --names greek",
         "junqi layout show: expected one of auto, chinese, english, letters for --names,"
         " got 'greek' (see junqi layout show --help)"),
        ("layout chek",
         "junqi layout: no such command 'chek'. Did you mean 'check'? (see junqi layout --help)"),
        ("rules moves",
         "junqi rules moves: expected FILE, got nothing (see junqi rules moves --help)"),
        ("rules perft --depth 3",
         "junqi rules perft: expected --bottom and --top, or --board"
         " (see junqi rules perft --help)"),
        ("rules perft",
         "junqi rules perft: expected --depth, got nothing (see junqi rules perft --help)"),
        ("--foo", "junqi: no such option: --foo (see junqi --help)"),
        ("foo", "junqi: no such command 'foo' (see junqi --help)"),
    ],
)  # fmt: skip
def test_wrong_usage_is_told_in_one_line(cli: Cli, args: str, message: str) -> None:
    ran = cli(*args.split())
    assert ran.code == 2
    assert ran.out == ""
    assert one_line(ran.err) == message


def test_a_file_that_is_not_there_is_told_in_one_line(cli: Cli, tmp_path: Path) -> None:
    missing = tmp_path / "missing.txt"
    for args in (["layout", "check", missing], ["rules", "moves", missing], ["replay", missing]):
        ran = cli(*args)
        assert ran.code == 1
        assert (
            one_line(ran.err).lower()
            == f"junqi: error: {missing}: no such file or directory".lower()
        )


def test_an_error_message_does_nothing_to_the_terminal(cli: Cli) -> None:
    ran = cli("replay", "no\x1b[2J\nfile")
    assert one_line(ran.err).lower() == "junqi: error: no\\x1b[2j file: no such file or directory"


def test_a_folder_is_not_a_file(cli: Cli, tmp_path: Path) -> None:
    for args in (["layout", "check", tmp_path], ["rules", "moves", tmp_path], ["replay", tmp_path]):
        ran = cli(*args)
        assert ran.code == 1
        assert one_line(ran.err).startswith(f"junqi: error: {tmp_path}: ")


def test_a_bug_is_told_in_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> int:
        raise ZeroDivisionError("by\nnothing")

    monkeypatch.setattr("junqi.layout.count_layouts", broken)
    monkeypatch.delenv("JUNQI_DEBUG", raising=False)
    ran = cli("layout", "count")
    assert ran.code == 1
    assert one_line(ran.err) == (
        "junqi: error: a bug in junqi, please report it: ZeroDivisionError: by nothing"
        " (JUNQI_DEBUG=1 shows where)"
    )
    monkeypatch.setenv("JUNQI_DEBUG", "1")
    ran = cli("layout", "count")
    assert ran.code == 1
    assert "Traceback" in ran.err


def test_ctrl_c_ends_quietly(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("junqi.layout.count_layouts", interrupted)
    ran = cli("layout", "count")
    assert (ran.code, ran.out, ran.err) == (130, "", "")


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
def test_ctrl_c_ends_a_process_quietly() -> None:
    args = ["rules", "perft", "--bottom", SAMPLE, "--top", SAMPLE, "--depth", "9"]
    process = junqi_process(*args)
    assert process.stdout is not None
    assert process.stdout.readline() == "1 34\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == ""


@pytest.mark.skipif(os.name == "nt", reason="pipes break otherwise on Windows")
def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    process = junqi_process("layout", "random", "--count", "30000", "--seed", "1")
    assert process.stdout is not None
    assert len(process.stdout.readline()) == 26
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=60) == 1


def test_letters_that_the_terminal_does_not_have_are_no_error() -> None:
    process = junqi_process("layout", "show", SAMPLE, "--names", "chinese",
                            env={"PYTHONIOENCODING": "ascii"})  # fmt: skip
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "\\u53f8" in out
    assert err == ""


def test_python_m_junqi_is_the_same_command() -> None:
    code = "import runpy, sys; sys.argv[0] = 'x'; runpy.run_module('junqi', run_name='__main__')"
    process = junqi_process("--version", code=code)
    assert process.communicate(timeout=60)[0] == f"junqi {__version__}\n"


def test_main_exits_with_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["junqi", "--version"])
    with pytest.raises(SystemExit) as caught:
        junqi.cli.main()
    assert caught.value.code == 0


# Completion and colours


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("junqi lay", ["layout"]),
        ("junqi layout c", ["check", "canonical", "count"]),
        ("junqi layout show --names c", ["chinese"]),
        ("junqi replay --seat ", ["red", "black", "all"]),
        ("junqi book ta", ["tag"]),
        ("junqi book list --role o", ["own", "opponent"]),
    ],
)
def test_the_shell_completes_commands_and_choices(words: str, expected: list[str]) -> None:
    env = {
        "_JUNQI_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    process = junqi_process(env=env)
    assert process.communicate(timeout=60)[0].split() == expected


def test_the_script_for_completion_can_be_shown() -> None:
    process = junqi_process("--show-completion", "bash",
                            env={"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"})  # fmt: skip
    assert "_JUNQI_COMPLETE=complete_bash" in process.communicate(timeout=60)[0]


class Terminal:
    """Standard output that says it is a terminal."""

    encoding = "utf-8"

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def isatty(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@pytest.mark.parametrize(
    ("env", "is_colored"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
    ],
)
def test_colours_are_for_terminals_and_not_for_those_who_say_no(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    env: dict[str, str],
    is_colored: bool,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    run(["layout", "show", SAMPLE])
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdout", Terminal(sys.stdout))
    run(["layout", "show", SAMPLE])
    assert ("\x1b" in capsys.readouterr().out) == is_colored
