"""The command ``junqi``: its groups, and how errors are told. Nothing heavy is imported here."""

import errno
import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer
import typer.core

from junqi import __version__
from junqi.cli import (
    analyse,
    attack,
    bench,
    book,
    book_curate,
    book_evaluate,
    book_grow,
    book_openings,
    book_transfer,
    compliance,
    duel,
    engine,
    evolve,
    layout,
    match,
    player,
    records,
    replay,
    report,
    rules,
    tournament,
    web,
)
from junqi.cli.common import UnexpectedValue
from junqi.errors import JunqiError

PROGRAM = "junqi"

DONE = 0
FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130

# Typer brings its own copy of click in newer versions, and uses click itself in older ones.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
_AnyClickError: type[Exception] = typer.BadParameter.__mro__[2]

# Other words for groups, which are listed under their proper ones only.
OTHER_NAMES = {"record": "records"}


class _Groups(typer.core.TyperGroup):
    """The groups by their names, and by the other words for them."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The group or command that is meant."""
        return super().get_command(ctx, OTHER_NAMES.get(cmd_name, cmd_name))


app = typer.Typer(
    cls=_Groups,
    help="""Everything for two-player Junqi (Luzhanqi): layouts, the book, rules and game records.

    \b
    Examples:
      junqi layout random --count 5
      junqi layout show abccddeeffggghhhiiijjkklj
      junqi book stats
    """,
    # Help as plain text: it comes in half the time, and can be pasted anywhere.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        print(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    _help_without_command(context)


def _help_without_command(context: typer.Context) -> None:
    """What a group does if no command is named."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def _add_group(group: typer.Typer, name: str) -> None:
    group.callback()(_help_without_command)
    app.add_typer(group, name=name, invoke_without_command=True)


_add_group(layout.app, "layout")
_add_group(rules.app, "rules")
_add_group(book.app, "book")
_add_group(records.app, "records")
duel.add_to(layout.app)
evolve.add_to(layout.app)
attack.add_to(layout.app)
report.add_to(layout.app)
for part in (book_curate, book_evaluate, book_grow, book_transfer):
    book.app.add_typer(part.app)
book_openings.app.callback()(_help_without_command)
book.app.add_typer(book_openings.app, name="openings", invoke_without_command=True)
app.add_typer(replay.app)
app.add_typer(analyse.app)
app.add_typer(engine.app)
app.add_typer(match.app)
app.add_typer(tournament.app)
app.add_typer(compliance.app)
app.add_typer(player.app)
app.add_typer(web.app)
app.add_typer(bench.app)


def main() -> None:
    """The console entry."""
    sys.exit(run(sys.argv[1:]))


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit code. Errors become one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        # Letters that a terminal does not have are no reason to fail.
        with suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        command = typer.main.get_command(app)
        code = command.main(
            list(args),
            prog_name=PROGRAM,
            standalone_mode=False,
            obj=shlex.join([PROGRAM, *args]),  # what a command may write into a log
        )
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except SystemExit as exit:  # shell completion, and a reader that went away
        return exit.code if isinstance(exit.code, int) else FAILED
    except _UsageError as error:
        _tell(_usage_line(error, args))
        return WRONG_USAGE
    except (JunqiError, _AnyClickError) as error:
        _tell(f"{PROGRAM}: error: {error}")
        return WRONG_USAGE if getattr(error, "is_usage", False) else FAILED
    except OSError as error:
        if error.errno == errno.EPIPE:
            _forget_stdout()  # whoever read our output has seen enough
        else:
            _tell(f"{PROGRAM}: error: {_os_error_text(error)}")
    except Exception as error:
        if os.environ.get("JUNQI_DEBUG"):
            traceback.print_exc()
        name = type(error).__name__
        _tell(
            f"{PROGRAM}: error: a bug in junqi, please report it: {name}: {error}"
            " (JUNQI_DEBUG=1 shows where)"
        )
    return FAILED


def _tell(text: str) -> None:
    """One line on stderr, without what could do something to the terminal."""
    line = " ".join(text.split())
    plain = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line)
    with suppress(OSError):
        print(plain, file=sys.stderr)


def _os_error_text(error: OSError) -> str:
    what = (error.strerror or type(error).__name__).lower()
    return what if error.filename is None else f"{os.fsdecode(error.filename)}: {what}"


def _usage_line(error: Any, args: Sequence[str]) -> str:
    """A usage error in one line: where, what was expected, and where to read more."""
    path = error.ctx.command_path if error.ctx else _command_path(args)
    parameter = getattr(error, "param", None)
    name = _parameter_name(parameter) if parameter is not None else ""
    if isinstance(error, UnexpectedValue):
        place = f" for {name}" if name else ""
        text = f"expected {error.expected}{place}, got {error.got!r}"
    elif type(error).__name__ == "MissingParameter":
        text = f"expected {name}, got nothing"
    elif type(error) is typer.BadParameter and parameter is None:
        text = error.message
    else:
        text = error.format_message().rstrip(".")
        text = text[:1].lower() + text[1:]
    return f"{path}: {text} (see {path} --help)"


def _command_path(args: Sequence[str]) -> str:
    """The command that a command line begins with."""
    command: Any = typer.main.get_command(app)
    path = [PROGRAM]
    for word in args:
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
        path.append(word)
    return " ".join(path)


def _parameter_name(parameter: Any) -> str:
    """A parameter as the user types it."""
    if parameter.param_type_name == "option":
        return max(parameter.opts, key=len)
    return parameter.metavar or parameter.name.upper()


def _forget_stdout() -> None:
    """Let nothing more be written to a closed pipe when Python ends."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
