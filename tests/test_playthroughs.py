"""Whole games as transcripts of what was played and what each player then saw.

``python tests/test_playthroughs.py``, or ``JUNQI_UPDATE_SNAPSHOTS=1 pytest
tests/test_playthroughs.py``, writes them anew; look at what changed before keeping it.
"""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from junqi.board import ROW_NAMES
from junqi.diagram import format_diagram
from junqi.layout import format_layout, random_layouts
from junqi.pieces import BLACK, FLAG, NOBODY, RED, SIDE_NAMES
from junqi.record import Record, format_ply
from junqi.replay import record_game, record_views
from junqi.rules import Move, Position, Rules
from junqi.tags import format_rules

FOLDER = Path(__file__).parent / "playthroughs"

# Seeds that give short games with much to see in them.
GAMES = {
    "flag": (2321, Rules()),
    "steps": (788, Rules(steps=6, steps_loser="next")),
}


def play(seed: int, rules: Rules) -> Record:
    """A game of random moves, half of them contacts, in which a flag in reach is taken."""
    red, black = (format_layout(layout) for layout in random_layouts(2, seed))
    rng = random.Random(seed)

    def choose(position: Position, legal: list[Move]) -> Move:
        flags = [move for move in legal if position.pieces[move.target] == FLAG]
        contacts = [move for move in legal if position.owners[move.target] != NOBODY]
        return rng.choice(flags or (contacts if rng.random() < 0.5 else []) or legal)

    return record_game(red, black, choose, rules)


def transcript(name: str) -> Iterator[str]:
    """The lines of a playthrough: each ply, and both players' boards after it."""
    seed, rules = GAMES[name]
    record = play(seed, rules)
    yield f"seed {seed}, {format_rules(rules)}"
    yield f"red   {record.red_layout}"
    yield f"black {record.black_layout}"
    views = zip(record_views(record, RED), record_views(record, BLACK), strict=True)
    for number, (red, black) in enumerate(views):
        ply = record.plies[number - 1] if number else None
        yield ""
        mover = SIDE_NAMES[RED if number % 2 else BLACK]
        yield f"ply {number}: {mover} {format_ply(ply)}" if ply else "start"
        boards = format_diagram(red.position), format_diagram(black.position)
        for row, left, right in zip(ROW_NAMES, *boards, strict=True):
            yield f"  {row} {left}   {row} {right}"
    assert record.outcome is not None
    yield ""
    yield f"{record.result} by {record.outcome.reason.text}"


def text_of(name: str) -> str:
    return "\n".join(transcript(name)) + "\n"


@pytest.mark.parametrize("name", GAMES)
def test_the_game_is_played_and_seen_as_before(name: str) -> None:
    if os.environ.get("JUNQI_UPDATE_SNAPSHOTS"):
        write(name)
    assert text_of(name) == (FOLDER / f"{name}.txt").read_text("utf-8")


def test_no_playthrough_is_left_over() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(GAMES)


def write(name: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.txt").write_text(text_of(name), "utf-8", newline="\n")


if __name__ == "__main__":
    for name in GAMES:
        write(name)
