"""A small engine that plays by the protocol, to be broken in one place by others.

It imports nothing of ours, so that it starts at once and shares no mistake with what it tests. It
moves one step at a time: whoever can move at all can do that.
"""

import os
import random
import sys

ROWS, COLUMNS = "ABCDEFGHIJKL", "01234"
POINTS = [row + column for row in ROWS for column in COLUMNS]
CAMPS = {"C1", "C3", "D2", "E1", "E3", "H1", "H3", "I2", "J1", "J3"}
HEADQUARTERS = {"A1", "A3", "L1", "L3"}
CUT = {("F1", "G1"), ("F3", "G3"), ("G1", "F1"), ("G3", "F3")}
HALF = [point for point in POINTS[30:] if point not in CAMPS]

LAYOUT = "abccddeeffggghhhiiijjkklj"


def turned(point: str) -> str:
    """The point as the enemy calls it."""
    return POINTS[59 - POINTS.index(point)]


def are_linked(a: str, b: str) -> bool:
    down = abs(ROWS.index(a[0]) - ROWS.index(b[0]))
    across = abs(int(a[1]) - int(b[1]))
    is_diagonal = down == across == 1 and (a in CAMPS or b in CAMPS)
    return (down + across == 1 or is_diagonal) and (a, b) not in CUT


class Engine:
    """An honest engine: never wrong, never good."""

    name = "Honest"

    def __init__(self) -> None:
        self.random = random.Random(int(os.environ.get("JUNQI_SEED") or "1"))
        self.own: dict[str, str] | None = None
        """The own pieces by their points; None between games."""
        self.enemy: set[str] = set()
        self.pending: str | None = None
        self.moves_made = 0
        self.seconds = 0.0
        self.last = ""

    # What others change

    def layout(self) -> str:
        return LAYOUT

    def move(self) -> str | None:
        """A legal move; None without one."""
        moves = self.legal_moves()
        return self.random.choice(moves) if moves else None

    def answer_info(self) -> None:
        self.say(f"NAME {self.name}")

    def answer_start(self) -> None:
        self.say(f"ARRAY {self.layout()}")

    def answer_go(self) -> None:
        move = self.move()
        if move is not None:
            self.pending = move
            self.moves_made += 1
            self.say(f"BESTMOVE {move}")

    def after_result(self) -> None:
        pass

    def after_end(self) -> None:
        pass

    def at_eof(self) -> None:
        pass

    # What all share

    def legal_moves(self) -> list[str]:
        own = self.own or {}
        return [
            origin + target
            for origin, letter in sorted(own.items())
            if letter not in "jl" and origin not in HEADQUARTERS
            for target in POINTS
            if are_linked(origin, target)
            and target not in own
            and not (target in self.enemy and target in CAMPS)
        ]

    def say(self, text: str) -> None:
        self.write(text.encode() + b"\n")

    def write(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def settle(self, move: str, result: str, is_own: bool) -> None:
        """Follow a ply with its result, told from the mover."""
        origin, target = move[:2], move[2:]
        assert self.own is not None
        letter = self.own.pop(origin, "?")
        self.enemy.discard(origin)
        if result == "2" or (result == "1" and is_own):
            self.enemy.discard(target)
        if result == "2" or (result == "1" and not is_own):
            self.own.pop(target, None)
        if result in "13" and is_own:
            self.own[target] = letter
        elif result in "13":
            self.enemy.add(target)

    def handle(self, line: bytes) -> None:
        fields = line.decode("utf-8", errors="replace").split()
        text = " ".join(fields)
        if not fields or text == self.last:
            return
        self.last = text
        word = fields[0][0]
        if fields[0].startswith("INFO"):
            self.answer_info()
        elif fields[0] == "START":
            self.seconds = float(fields[2])
            self.own = dict(zip(HALF, LAYOUT, strict=True))
            self.enemy = {turned(point) for point in HALF}
            self.pending = None
            self.moves_made = 0
            self.answer_start()
        elif word == "E":
            self.own = self.pending = None
            self.after_end()
        elif self.own is not None and fields[0] == "RESULT" and self.pending:
            move, self.pending = self.pending, None
            self.settle(move, fields[1], is_own=True)
            self.after_result()
        elif self.own is not None and fields[0] == "GO":
            if fields[1] != "0000":
                self.settle(fields[1], fields[2], is_own=False)
            self.answer_go()


def run(engine: Engine) -> None:
    for line in iter(sys.stdin.buffer.readline, b""):
        engine.handle(line)
    engine.at_eof()
