"""Set Junqi up and show it at work: makes the environment first if need be, then runs COMMANDS."""

from __future__ import annotations

import argparse
import shlex
import sys

import _environment as environment

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
]

WHAT_NEXT = """\
What next:
  {junqi} --help
      all commands
  python3 scripts/test.py
      runs the tests
  README.md, docs/rules.md
      what Junqi can do, and the rules it plays by"""


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
    for reason, command in COMMANDS:
        print(f"# {reason}\n$ {command}", flush=True)
        name, *rest = shlex.split(command)
        code = environment.call([environment.tool(venv, name), *rest])
        if code != 0:
            print(f"quickstart stopped: exit code {code} from `{command}`", file=sys.stderr)
            return code
        print()
    print(WHAT_NEXT.format(junqi=environment.tool(venv, "junqi")))
    return 0


if __name__ == "__main__":
    environment.run_script(main)
