"""``junqi records``: files of any number of games: looked through, checked, counted, imported."""

import json as json_module
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from junqi.cli.common import (
    CsvOption,
    JsonOption,
    UnexpectedValue,
    add_command,
    note,
    number_option,
    plain,
    print_csv,
    print_json,
    print_table,
    progress_bar,
    wrong_usage,
)
from junqi.errors import JunqiError

if TYPE_CHECKING:
    from junqi.record import Found, Record
    from junqi.record_stats import RecordStats

app = typer.Typer(
    help="""Files of game records: list, pick, check, count, and make them of protocol logs.

    A file holds any number of games, as text or as JSON Lines. A game that cannot be read is
    reported with its line, the others are worked on all the same, and the exit code is 1. A
    record that knows only one layout is as good as any other. junqi replay shows the boards.

    \b
    Example:
      junqi records stats docs/example.junqi
    """,
)

FilesArgument = Annotated[
    list[str], typer.Argument(metavar="FILE", help="Files of game records, or - for stdin.")
]

_COLUMNS = ("game", "line", "result", "reason", "plies", "layouts", "date", "red", "black", "event")
_OPENINGS_SHOWN = 10
_MAPS_ABREAST = 3


class Files:
    """The games of files, one at a time; those that cannot be read are told of and counted."""

    def __init__(
        self, paths: list[str], advance: Callable[[int], None] = lambda read: None
    ) -> None:
        self.paths = paths
        self.broken = 0
        self._advance = advance

    def found(self) -> "Iterator[tuple[str, Found]]":
        """Every game with its file, in order or not."""
        from junqi.record import scan_file

        for path in self.paths:
            for found in scan_file(path, self._advance):
                yield path, found

    def records(self) -> "Iterator[Record]":
        """The games that can be read."""
        for path, found in self.found():
            if found.record is not None:
                yield found.record
            else:
                self.tell(path, found)

    def tell(self, path: str, found: "Found") -> None:
        """Tell of a game that cannot be read."""
        from junqi.textfile import source_name

        self.broken += 1
        note(f"{source_name(path)}: game {found.game}, {plain(found.fault)}")

    def finish(self) -> None:
        """End with exit code 1 if a game could not be read."""
        if self.broken:
            raise typer.Exit(1)


@add_command(app, "junqi records list docs/example.junqi", name="list")
def list_(files: FilesArgument, json: JsonOption = False, csv: CsvOption = False) -> None:
    """List games, one a line: who played, how it ended, and whose layouts are known."""
    source = Files(files)
    rows = (_row(path, found) for path, found in source.found() if _is_sound(source, path, found))
    if json:
        print_json(rows)
    elif csv:
        columns = ("file", *_COLUMNS)
        print_csv(columns, ([row[column] for column in columns] for row in rows))
    else:
        _print_rows(rows)
    source.finish()


@add_command(
    app,
    "junqi records show docs/example.junqi",
    "junqi records show games.junqi --game 17 --json",
)
def show(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file of game records, or - for stdin.")
    ],
    game: Annotated[
        int | None,
        number_option("--game", minimum=1, help="Which game of the file; else the first."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Print one game as it is written down; junqi replay shows its boards."""
    from junqi.cli.replay import pick_game
    from junqi.record import format_record, record_to_json

    record = pick_game(file, game)
    if json:
        print_json(record_to_json(record))
    else:
        print(format_record(record), end="")


@add_command(
    app,
    "junqi records filter games.junqi --lost-by North --min-plies 40 > lost.junqi",
    "junqi records filter games.junqi --reason flag | junqi records stats -",
    name="filter",
)
def filter_(
    files: FilesArgument,
    player: Annotated[
        str | None, typer.Option("--player", metavar="NAME", help="Part of a player's name.")
    ] = None,
    won_by: Annotated[
        str | None, typer.Option("--won-by", metavar="NAME", help="Part of the winner's name.")
    ] = None,
    lost_by: Annotated[
        str | None, typer.Option("--lost-by", metavar="NAME", help="Part of the loser's name.")
    ] = None,
    event: Annotated[
        str | None, typer.Option("--event", metavar="TEXT", help="Part of the event.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="DATE", help="Played on this day or later.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="DATE", help="Played on this day or before.")
    ] = None,
    result: Annotated[
        str | None, typer.Option("--result", metavar="RESULT", help="1-0, 0-1, 1/2-1/2 or *.")
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="REASON", help="Like flag, steps or time.")
    ] = None,
    layout: Annotated[
        str | None,
        typer.Option("--layout", metavar="LETTERS", help="How a known layout begins."),
    ] = None,
    opening: Annotated[
        str | None,
        typer.Option("--opening", metavar="MOVES", help='How the game begins, like "G0F0 F4G4".'),
    ] = None,
    min_plies: Annotated[
        int | None, number_option("--min-plies", minimum=0, help="At least so long.")
    ] = None,
    max_plies: Annotated[
        int | None, number_option("--max-plies", minimum=0, help="At most so long.")
    ] = None,
    valid: Annotated[
        bool, typer.Option("--valid", help="Only games that follow the rules, see check.")
    ] = False,
    limit: Annotated[
        int | None, number_option("--limit", minimum=1, help="No more games than this.")
    ] = None,
) -> None:
    """Print the games for which everything that is asked for is so, as records.

    A day that is not known is neither before nor after another.
    """
    from junqi.record import format_record
    from junqi.record_filter import RecordFilter
    from junqi.rules import Reason, parse_move
    from junqi.tags import WINNER_OF_RESULT

    _check_word(result, WINNER_OF_RESULT)
    _check_word(reason, [known.text for known in Reason])
    asked = RecordFilter(
        player=player,
        winner=won_by,
        loser=lost_by,
        event=event,
        since=since,
        until=until,
        result=result,
        reason=reason,
        layout=layout,
        opening=tuple(map(parse_move, (opening or "").upper().split())),
        min_plies=min_plies,
        max_plies=max_plies,
        is_valid=valid,
    )
    source = Files(files)
    for record in islice(filter(asked.matches, source.records()), limit):
        print(format_record(record), end="")
    source.finish()


@add_command(app, "junqi records check docs/example.junqi")
def check(files: FilesArgument, json: JsonOption = False) -> None:
    """Replay every game by the rules, and name the first ply of each that cannot be.

    Of a layout that is unknown, only what no layout could explain is a fault. The exit code is 1
    if any game is wrong.
    """
    from junqi.replay import first_fault

    games = wrong = 0

    def faults(source: Files) -> Iterator[dict[str, Any]]:
        nonlocal games, wrong
        for path, found in source.found():
            games += 1
            fault = (None, found.fault) if found.record is None else first_fault(found.record)
            if fault is not None:
                wrong += 1
                place = {"file": path, "game": found.game, "line": found.line}
                yield {**place, "ply": fault[0], "fault": fault[1]}

    with progress_bar("checking", _size(files)) as advance:
        source = Files(files, advance)
        if json:
            print_json(faults(source))
        else:
            for fault in faults(source):
                # What cannot be read names its line itself.
                line = "" if fault["ply"] is None else f"line {fault['line']}: "
                where = f"{fault['file']}: game {fault['game']}, {line}"
                print(where + plain(fault["fault"]), flush=True)
    note(f"{_counted(games, 'game')}, {wrong or 'none'} wrong")
    if wrong:
        raise typer.Exit(1)


@add_command(
    app,
    "junqi records stats docs/example.junqi",
    "junqi records stats games.junqi --against North --json",
)
def stats(
    context: typer.Context,
    files: FilesArgument,
    of: Annotated[
        str | None,
        typer.Option("--of", metavar="NAME", help="Only games and layouts of this player."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="NAME", help="Of whoever plays against this player."),
    ] = None,
    plies: Annotated[
        int, number_option("--opening", minimum=1, help="How many plies make an opening.")
    ] = 2,
    json: JsonOption = False,
) -> None:
    """Tell what games have in common: lengths, ends, openings, and where pieces start.

    The maps show in how many of 100 layouts a kind of piece starts on a point, as its own player
    sees the board. A layout that is unknown counts for what the game tells of it: where its flag
    turned out to be, and which of its pieces moved.
    """
    from junqi.record_stats import RecordStats, Whose

    if of is not None and against is not None:
        raise wrong_usage(context, "expected --of or --against, got both")
    found = RecordStats(Whose(of, against), plies)
    source = Files(files)
    for record in source.records():
        found.add(record)
    if not found.games:
        name = of if of is not None else against
        raise JunqiError(f"expected a game of {name!r}, got none" if name else "no game is left")
    if json:
        print_json(found.to_json())
    else:
        _print_stats(found)
    source.finish()


@add_command(app, "junqi records export games.junqi > games.jsonl")
def export(files: FilesArgument) -> None:
    """Print games as JSON Lines: one object a line, as docs/records.md tells."""
    from junqi.record import record_to_json

    source = Files(files)
    for record in source.records():
        print(json_module.dumps(record_to_json(record)))
    source.finish()


@add_command(
    app,
    "junqi record import platform.log > games.junqi",
    "junqi record import *.log --event Cup --json > games.jsonl",
    name="import",
)
def import_(
    files: Annotated[
        list[str], typer.Argument(metavar="LOG", help="Logs of the protocol, or - for stdin.")
    ],
    event: Annotated[
        str, typer.Option("--event", metavar="TEXT", help="Write this event into the records.")
    ] = "",
    date: Annotated[
        str, typer.Option("--date", metavar="DATE", help="The day, if the log does not tell it.")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Print JSON Lines.")] = False,
) -> None:
    """Make records of logs of the contest's protocol, of one player or of both.

    Lines of the protocol are found whatever stands before them, like times, arrows or names of
    the players; other lines are left alone. UTF-8 and GBK are read. A game whose end is not in
    the log is a record without one.
    """
    from dataclasses import replace

    from junqi.record import format_record, record_to_json
    from junqi.textfile import source_name
    from junqi.transcript import import_games, read_log

    for path in files:
        games = 0
        for games, found in enumerate(import_games(read_log(path)), start=1):
            for text in found.notes:
                note(f"{source_name(path)}: game {games}, line {found.line}: {plain(text)}")
            record = replace(found.record, event=event, date=found.record.date or date)
            if json:
                print(json_module.dumps(record_to_json(record)))
            else:
                print(format_record(record), end="")
        if not games:
            raise JunqiError(f"{source_name(path)}: expected START, ARRAY and GO lines, got none")


def _is_sound(source: Files, path: str, found: "Found") -> bool:
    if found.record is None:
        source.tell(path, found)
    return found.record is not None


def _row(path: str, found: "Found") -> dict[str, Any]:
    from junqi.pieces import BLACK, RED, SIDE_NAMES

    record = found.record
    assert record is not None
    known = [SIDE_NAMES[side] for side in (RED, BLACK) if record.layout_of(side) is not None]
    return {
        "file": path,
        "game": found.game,
        "line": found.line,
        "result": record.result,
        "reason": record.outcome.reason.text if record.outcome else None,
        "plies": len(record.plies),
        "layouts": "both" if len(known) == 2 else known[0] if known else "none",
        "date": record.date,
        "red": record.red,
        "black": record.black,
        "event": record.event,
    }


def _print_rows(rows: Iterable[dict[str, Any]]) -> None:
    """A table whose rows are printed as they come."""
    form = "{:>6} {:>8}  {:7} {:14} {:>5}  {:7} {:10}  {}"
    before = None
    for row in rows:
        if row["file"] != before:
            if before is not None:
                print()
            before = row["file"]
            print(plain(row["file"]))
            print(form.format(*_COLUMNS[:7], "players, event"))
        players = f"{row['red'] or 'red'} - {row['black'] or 'black'}"
        names = ", ".join(filter(None, (players, row["event"])))
        first = ("" if row[name] is None else plain(str(row[name])) for name in _COLUMNS[:7])
        print(form.format(*first, plain(names)))


def _check_word(word: str | None, words: Iterable[str]) -> None:
    if word is not None and word not in words:
        raise UnexpectedValue(f"one of {', '.join(words)}", word)


def _size(paths: list[str]) -> int:
    return sum(os.path.getsize(path) for path in paths if os.path.isfile(path))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def _print_stats(found: "RecordStats") -> None:
    from junqi.pieces import KINDS
    from junqi.record_stats import heat_lines
    from junqi.tags import WINNER_OF_RESULT

    results = ", ".join(f"{found.results[result]} x {result}" for result in WINNER_OF_RESULT)
    print(f"{_counted(found.games, 'game')}: {results}")
    print(
        f"plies: mean {found.mean_plies:.1f}, median {found.plies_at(0.5)},"
        f" from {min(found.lengths)} to {max(found.lengths)}"
    )
    if found.timed_plies:
        mean = found.seconds / found.timed_plies
        print(f"seconds a ply: mean {mean:.3f}, most {found.longest:.3f}")
    if found.whose.of is not None or found.whose.against is not None:
        print(f"score of the players looked at: {_percent(found.score)}")
    print()
    print_table(
        ("end", "games", "share"),
        [(name, str(n), _percent(n / found.games)) for name, n in found.reasons.most_common()],
        right="games share",
    )
    print()
    print_table(
        ("opening", "games", "share", "red-score"),
        [
            (moves, str(n), _percent(n / found.games), _percent(found.red_score(moves)))
            for moves, n in found.openings.most_common(_OPENINGS_SHOWN)
        ],
        right="games share red-score",
    )
    print()
    told = ", ".join(f"{point} {games}" for point, games in found.to_json()["hidden_flags"].items())
    print(
        f"layouts: {found.layouts} known, {found.hidden} unknown"
        + (f" (flags found: {told})" if told else "")
    )
    maps = [("moves at all", found.moved, found.sides)]
    if found.layouts:
        maps += [
            (f"{kind.english} ({kind.letter})", found.kinds[kind.letter], found.layouts)
            for kind in KINDS
        ]
    for first in range(0, len(maps), _MAPS_ABREAST):
        print()
        blocks = [heat_lines(*each) for each in maps[first : first + _MAPS_ABREAST]]
        for parts in zip(*blocks, strict=True):
            print("    ".join(parts).rstrip())
