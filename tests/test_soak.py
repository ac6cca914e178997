"""Bad and random lines for as long as there is patience: always alive, always legal.

`test_loop.py` does the same to the rules of thumb. Here the search is asked as well, which has to
make something of games that cannot have happened. ``JUNQI_SOAK=10000`` makes so many examples.
"""

import os
import subprocess
import sys
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from junqi.board import POINTS, point_name
from junqi.engine import Engine, EngineOptions
from junqi.layout import layout_problems
from junqi.loop import Session
from junqi.pieces import RED
from junqi.protocol import Array, BestMove, Name, Reply, parse_reply
from junqi.rules import format_move, legal_moves
from junqi.view import View

EXAMPLES = int(os.environ.get("JUNQI_SOAK", "40"))

points = st.integers(0, POINTS - 1).map(point_name)
flags = st.sampled_from(["00", "00", "00", "A1", "A3", "L1", "E1"])
results = st.sampled_from("3330012")
nonsense = st.one_of(
    st.sampled_from(["INFO 1.0", "GO 0000 0 00", "GO", "RESULT", "RESULT 1 00", "X", "Error"]),
    st.builds("GO {}{} {} {}".format, points, points, results, flags),
    st.builds("RESULT {} {}".format, results, flags),
    st.text(max_size=20),
    st.binary(max_size=20),
)
# A move of the enemy by its number among those that look possible, with a result and a flag, and
# whether a RESULT of our own move comes before it.
enemy_moves = st.tuples(st.integers(0, 200), results, flags, st.booleans())


@cache
def searching_engine() -> tuple[Engine, list[str]]:
    """An engine with its search, and its notes."""
    notes: list[str] = []
    engine = Engine(EngineOptions(seed=1, effort=2, threads=1), notes.append)
    engine.load()
    return engine, notes


def check(session: Session, line: str | bytes) -> None:
    """Whatever is replied is legal as far as the session has been told."""
    reply = session.handle(line)
    if reply is not None:
        parsed = parse_reply(reply)
        if isinstance(parsed, Array):
            assert layout_problems(parsed.layout) == []
        elif isinstance(parsed, BestMove):
            assert session.view is not None
            assert parsed.move in legal_moves(session.view.position, session.view.side)


@settings(max_examples=EXAMPLES)
@given(
    st.integers(0, 1),
    st.sampled_from([31, 10, 2, 1]),
    st.lists(nonsense | enemy_moves, max_size=60),
)
def test_the_search_makes_something_of_games_that_cannot_have_happened(
    first: int, limit: int, told: list[str | bytes | tuple[int, str, str, bool]]
) -> None:
    engine, notes = searching_engine()
    notes.clear()
    session = Session(engine, "Junqi", seed=1, note=notes.append)
    check(session, f"START {first} 1800 {limit}")
    for step in told:
        if not isinstance(step, tuple):
            check(session, step)
            continue
        number, result, flag, has_result = step
        if has_result:
            check(session, f"RESULT {result} {flag}")
        assert session.view is not None
        if moves := legal_moves(session.view.position, session.view.enemy):
            move = format_move(moves[number % len(moves)])
            check(session, f"GO {move} {result} {flag}")
    # A search that gave up once a message had contradicted another left the rest of the game to
    # the rules of thumb.
    assert [text for text in notes if text.startswith(("bug", "the search", "no move"))] == []


@settings(max_examples=max(EXAMPLES // 10, 1))
@given(st.lists(nonsense, min_size=50, max_size=200))
def test_a_process_lives_through_nonsense_and_plays_the_next_game(
    lines: list[str | bytes],
) -> None:
    data = [line.encode() if isinstance(line, str) else line for line in lines]
    last = [b"START 0 1800 31", b"GO 0000 0 00"]
    ran = subprocess.run(
        [sys.executable, "-m", "junqi.program"],
        input=b"\n".join([b"START 1 1800 31", *data, b"START 1 60 31", *last]),
        capture_output=True,
        timeout=120,
        check=True,
        env={**os.environ, "JUNQI_BOOK": "no", "JUNQI_MOVETIME": "0.01"},
    )
    replies = [parsed(line) for line in ran.stdout.splitlines()]
    array, move = replies[-2:]
    assert isinstance(array, Array)
    assert isinstance(move, BestMove)
    assert move.move in View.start(RED, array.layout).legal_moves()


def parsed(line: bytes) -> Reply:
    """A reply in its exact form."""
    reply = parse_reply(line)
    assert isinstance(reply, Array | BestMove | Name)
    assert line.split(b" ")[0] in (b"NAME", b"ARRAY", b"BESTMOVE")
    return reply
