"""``junqi rules``: ask the rules, for checking other programs and ourselves."""

import json as json_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from junqi.cli.common import (
    SAMPLE,
    Engine,
    EngineOption,
    JsonOption,
    add_command,
    number_option,
    print_json,
    wrong_usage,
)
from junqi.errors import InvalidBoard, JunqiError

if TYPE_CHECKING:
    from junqi.rules import Position

app = typer.Typer(
    help=f"""Ask the rules: legal moves, and counts of move sequences.

    \b
    Example:
      junqi rules perft --bottom {SAMPLE} --top {SAMPLE} --depth 3
    """,
)


@add_command(app, "junqi rules moves tests/data/positions.json")
def moves(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file of JSON, or - for standard input.")
    ],
    engine: EngineOption = Engine.RULES,
) -> None:
    """Fill in the legal moves of each position of a list.

    The list is JSON, [{"board": [12 strings of 5 letters], "side": "bottom" or "top"}, ...].
    Capitals are the top side's pieces, small letters the bottom's, x and X pieces of an unknown
    kind, and . is an empty point. The same list is printed with "moves", in the coordinates of
    the printed board for both sides.
    """
    from junqi.rules import format_move
    from junqi.textfile import source_name

    items, name = _read_json(file, "a list of positions"), source_name(file)
    if not isinstance(items, list):
        raise InvalidBoard(f"{name}: expected a list of positions, got {_what(items)}")
    legal_moves = _answers_of(engine).legal_moves
    answers = []
    for number, item in enumerate(items, start=1):
        position = _position(item, f"{name}: item {number}")
        found = sorted(format_move(move) for move in legal_moves(position))
        answers.append({**item, "moves": found})
    print_json(answers)


@add_command(
    app,
    f"junqi rules perft --bottom {SAMPLE} --top {SAMPLE} --depth 3",
    "junqi rules perft --board position.json --depth 2 --divide",
)
def perft(
    context: typer.Context,
    depth: Annotated[int, number_option("--depth", minimum=1, help="How many plies.")],
    bottom: Annotated[
        str | None,
        typer.Option("--bottom", metavar="LAYOUT", help="The layout of the side at the bottom."),
    ] = None,
    top: Annotated[
        str | None,
        typer.Option("--top", metavar="LAYOUT", help="The other one, as its own player sees it."),
    ] = None,
    board: Annotated[
        str | None,
        typer.Option(
            "--board",
            metavar="FILE",
            help='Instead of layouts, JSON: {"board": [12 strings], "side": "bottom" or "top"}.',
        ),
    ] = None,
    top_first: Annotated[
        bool, typer.Option("--top-first", help="Let the side at the top move first.")
    ] = False,
    divide: Annotated[bool, typer.Option("--divide", help="Count for each first move.")] = False,
    json: JsonOption = False,
    engine: EngineOption = Engine.RULES,
) -> None:
    """Count the sequences of 1 to N plies, everything known.

    A ply that takes the flag ends its sequence and counts only at its own depth; the no-contact
    limit plays no part.
    """
    if board is None:
        if bottom is None or top is None:
            raise wrong_usage(context, "expected --bottom and --top, or --board")
        position = _start(bottom, top, top_first)
    elif bottom is None and top is None and not top_first:
        position = _board(board)
    else:
        raise wrong_usage(context, "expected --board without --bottom, --top and --top-first")
    if divide:
        _print_divide(position, depth, engine, json)
    else:
        _print_perft(position, depth, engine, json)


def _answers_of(engine: Engine) -> Any:
    """The module whose functions answer: `rules`, or its fast twin with the same ones."""
    from junqi import rules

    if engine == Engine.RULES:
        return rules
    from junqi import kernel_rules

    return kernel_rules


def _print_perft(position: "Position", depth: int, engine: Engine, json: bool) -> None:
    count_sequences = _answers_of(engine).perft
    rows = []
    for plies in range(1, depth + 1):
        sequences = count_sequences(position, plies)
        rows.append({"depth": plies, "count": sequences})
        if not json:
            print(plies, sequences, flush=True)  # the next row may take minutes
    if json:
        print_json(rows)


def _print_divide(position: "Position", depth: int, engine: Engine, json: bool) -> None:
    from junqi.rules import format_move

    counts: dict[str, int] = {}
    for move, sequences in _answers_of(engine).perft_divide(position, depth):
        counts[format_move(move)] = sequences
        if not json:
            print(format_move(move), sequences, flush=True)
    total = sum(counts.values())
    if json:
        print_json({"depth": depth, "moves": counts, "total": total})
    else:
        print("total", total)


def _start(bottom: str, top: str, top_first: bool) -> "Position":
    """The start of a game between two layouts."""
    from junqi.layout import parse_layout
    from junqi.pieces import BLACK, RED
    from junqi.rules import Position

    to_move = BLACK if top_first else RED
    return Position.from_layouts(parse_layout(bottom), parse_layout(top), to_move)


def _board(file: str) -> "Position":
    """The one position of a file."""
    from junqi.textfile import source_name

    item, name = _read_json(file, "a position"), source_name(file)
    if isinstance(item, list):
        if len(item) != 1:
            raise InvalidBoard(f"{name}: expected one position, got a list of {len(item)}")
        item = item[0]
    return _position(item, name)


def _position(item: Any, where: str) -> "Position":
    """The position that an object of JSON describes."""
    from junqi.diagram import SEATS, parse_diagram

    form = 'an object with "board" and "side"'
    if not isinstance(item, dict):
        raise InvalidBoard(f"{where}: expected {form}, got {_what(item)}")
    for key in ("board", "side"):
        if key not in item:
            raise InvalidBoard(f'{where}: expected {form}, got no "{key}"')
    board, side = item["board"], item["side"]
    if not isinstance(board, list):
        raise InvalidBoard(f'{where}: expected a list of rows for "board", got {_what(board)}')
    if not isinstance(side, str) or side not in SEATS:
        raise InvalidBoard(f'{where}: expected "bottom" or "top" for "side", got {_what(side)}')
    try:
        return parse_diagram(board, SEATS[side])
    except InvalidBoard as error:
        raise InvalidBoard(f"{where}: {error}") from None


def _read_json(file: str, expected: str) -> Any:
    from junqi.textfile import read_text, source_name

    text, name = read_text(file), source_name(file)
    if not text.strip():
        raise JunqiError(f"{name}: expected JSON with {expected}, got nothing")
    try:
        return json_module.loads(text)
    except json_module.JSONDecodeError as error:
        raise JunqiError(
            f"{name}:{error.lineno}:{error.colno}: expected JSON with {expected}: {error.msg}"
        ) from None
    except (RecursionError, ValueError) as error:
        raise JunqiError(f"{name}: expected JSON with {expected}: {error}") from None


def _what(value: Any) -> str:
    """A value as an error message shows it."""
    text = json_module.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
