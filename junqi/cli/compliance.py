"""``junqi compliance``: whether an engine can live with real platforms."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from junqi.cli.common import (
    JsonOption,
    SeedOption,
    UnexpectedValue,
    add_command,
    note,
    plain,
    print_json,
    seed_or_new,
)
from junqi.cli.match import seconds_option

if TYPE_CHECKING:
    from junqi.compliance import Checked

app = typer.Typer()


@add_command(
    app,
    "junqi compliance junqi-engine --seed 1",
    "junqi compliance 'python3 my_engine.py' --time 60",
    "junqi compliance ./engine --only stuck --only flag-told --transcript",
)
def compliance(
    command: Annotated[
        str, typer.Argument(metavar="CMD", help="The engine's command line, in quotes.")
    ],
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="CHECK", help="Make this check only; may be repeated."),
    ] = None,
    seed: SeedOption = None,
    time: Annotated[
        float, seconds_option("--time", "The time of START where no other is tried.")
    ] = 20.0,
    patience: Annotated[
        float, seconds_option("--patience", "How long to wait for any answer.")
    ] = 20.0,
    grace: Annotated[
        float, seconds_option("--grace", "How long to wait for its end after its input has ended.")
    ] = 3.0,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop at the first fault.")
    ] = False,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="Show the talk of each fault on stderr.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Put an engine through the protocol, with every oddity of real platforms.

    Every layout and move is checked by the rules, and so is that nothing else is said, that
    answers come in time, and that the engine ends by itself. Each check prints one line: ok, or
    FAULT with what was expected and what came, or skipped if the engine's play did not lead to
    what was to be tried. The exit code is 1 after a fault.
    """
    from junqi.compliance import Settings
    from junqi.compliance_checks import CHECKS, run_checks

    for name in only or []:
        if name not in CHECKS:
            raise UnexpectedValue(f"one of {', '.join(CHECKS)}", name)
    names = [name for name in CHECKS if not only or name in only]
    settings = Settings(command, seed_or_new(seed), time, patience, grace)
    width = max(map(len, names))
    done = []
    for checked in run_checks(settings, names):
        done.append(checked)
        if not json:
            print(f"{checked.status:7}  {checked.name:{width}}  {_text(checked)}", flush=True)
        if checked.failure is not None:
            if transcript:
                _show_talk(checked)
            if fail_fast:
                break
    if json:
        print_json([_data(checked) for checked in done])
    faults = sum(checked.failure is not None for checked in done)
    note(f"{len(done)} checks, {faults or 'no'} fault{'' if faults == 1 else 's'}")
    if faults:
        raise typer.Exit(1)


def _text(checked: "Checked") -> str:
    if checked.failure is not None:
        return plain(str(checked.failure))
    skipped = f" ({checked.not_reached})" if checked.not_reached else ""
    return checked.what + skipped


def _data(checked: "Checked") -> dict[str, Any]:
    failure = checked.failure
    return {
        "check": checked.name,
        "what": checked.what,
        "status": checked.status,
        "expected": failure.expected if failure else None,
        "got": failure.got if failure else checked.not_reached or None,
    }


def _show_talk(checked: "Checked") -> None:
    """The last talk of a check, in which the fault happened."""
    note(f"--- {checked.name}")
    for line in checked.transcripts[-1] if checked.transcripts else []:
        note(plain(str(line)))
