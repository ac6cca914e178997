"""Set Junqi up and show it at work: makes the environment first if need be, then runs COMMANDS."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import _environment as environment

BOOK_VARIABLE = "JUNQI_BOOK"
LAYOUT = "abccddeeffggghhhiiijjkklj"

# What is shown, in this order: the reason, and the command as typed in the project's folder.
COMMANDS = [
    (
        "The version",
        "junqi --version",
    ),
    (
        "Three random layouts, the same for everybody with this seed",
        "junqi layout random --count 3 --seed 1",
    ),
    (
        "A layout as a board",
        "junqi layout show cigdcegkefkfaibgidjhhhjlj",
    ),
    (
        "How many games of three plies there are between two equal layouts",
        f"junqi rules perft --bottom {LAYOUT} --top {LAYOUT} --depth 3",
    ),
    (
        "A recorded game after 40 plies, as red knew it",
        "junqi replay docs/example.junqi --ply 40 --seat red",
    ),
    (
        "Which of two layouts is better, in 20,000 simulated games (the first time compiles)",
        f"junqi layout duel cigdcegkefkfaibgidjhhhjlj {LAYOUT} --games 20000 --seed 1",
    ),
    (
        "A book of layouts, here in a folder that is removed at the end",
        "junqi book init",
    ),
    (
        "What the book holds",
        "junqi book stats",
    ),
    (
        "The engine with the book's layouts and opening moves against itself without the book",
        'junqi match --first "junqi engine --movetime 0.1" '
        '--second "junqi engine --movetime 0.1 --no-book" --games 2 --seed 1',
    ),
    (
        "A minute's search for layouts that nobody has a counter to, into the book",
        "junqi layout evolve --minutes 1 --seed 1",
    ),
    (
        "Three layouts as the engine would draw them, each mirrored by a coin flip",
        "junqi book sample --seed 1 --count 3",
    ),
]

WHAT_NEXT = """\
What next:
  {junqi} --help
      all commands
  python3 scripts/test.py
      runs the tests
  README.md, docs/rules.md, docs/book.md
      what Junqi can do, the rules it plays by, and the book"""


def main(arguments: list[str]) -> int:
    """Run the commands until one fails, and return the exit code of the last."""
    shown = "\n".join(f"  {command}" for _, command in COMMANDS)
    parser = argparse.ArgumentParser(
        description="Set Junqi up in .venv (or the folder JUNQI_VENV), then show it at work.",
        epilog=f"Runs these commands, and stops at the first that fails:\n{shown}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--verbose", action="store_true", help="show all that pip says")
    options = parser.parse_args(arguments)

    venv = environment.ensure(verbose=options.verbose)
    with tempfile.TemporaryDirectory() as folder, another_environment(venv, folder):
        code = show(venv)
    if code == 0:
        print(WHAT_NEXT.format(junqi=environment.tool(venv, "junqi")))
    return code


@contextmanager
def another_environment(venv: Path, folder: str) -> Iterator[None]:
    """Have the commands use a book of their own, and find each other as in an active .venv.

    The user's own book is none of our business.
    """
    before = dict(os.environ)
    programs = str(environment.tool(venv.resolve(), "junqi").parent)
    os.environ[BOOK_VARIABLE] = os.path.join(folder, "book.db")
    os.environ["PATH"] = os.pathsep.join([programs, os.environ.get("PATH", "")])
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def show(venv: Path) -> int:
    """Run the commands, and return the exit code of the last."""
    for reason, command in COMMANDS:
        print(f"# {reason}\n$ {command}", flush=True)
        name, *rest = shlex.split(command)
        code = environment.call([environment.tool(venv, name), *rest])
        if code != 0:
            print(f"quickstart stopped: exit code {code} from `{command}`", file=sys.stderr)
            return code
        print()
    return 0


if __name__ == "__main__":
    environment.run_script(main)
