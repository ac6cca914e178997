"""Write docs/cli.md: every command's help, as the command itself prints it.

Run it with the project's own Python after changing a command::

    .venv/bin/python scripts/make_cli_docs.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Iterator

import typer

from junqi.cli import PROGRAM, app

PAGE = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
WIDTH = 88

HEAD = """\
# The command line

<!-- Written by scripts/make_cli_docs.py from the commands' own --help. Do not edit it here. -->

Data goes to standard output, everything else to standard error. The exit code is 0 if all went
well, 1 if something failed, 2 for wrong usage and 130 after Ctrl-C. Colours are used on a terminal
only, and not if `NO_COLOR` is set. `junqi --install-completion` teaches your shell to complete
commands and options; `JUNQI_NAMES=chinese` (or `english`, `letters`) says what is written on
pieces when `--names` does not. `JUNQI_BOOK` names the book, or several, that commands use without
`--book`. With `JUNQI_DEBUG=1` an unexpected error shows its traceback.

Platforms start the engine as a program of its own, `junqi-engine`, which takes its options from
`engine.toml` and the environment: see `junqi-engine --help`.
"""


def commands(command: Any, name: str, parent: Any = None) -> Iterator[tuple[str, str]]:
    """Each command with its help, groups before what is in them."""
    options = {**command.context_settings, "terminal_width": WIDTH}
    context = command.context_class(command, info_name=name, parent=parent, **options)
    yield context.command_path, command.get_help(context)
    for child_name, child in getattr(command, "commands", {}).items():
        yield from commands(child, child_name, context)


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for path, text in commands(typer.main.get_command(app), PROGRAM):
        lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
        parts.append(f"## `{path}`\n\n```text\n{lines}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    print(f"wrote {PAGE}")
