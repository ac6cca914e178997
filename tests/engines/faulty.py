"""Engines with one fault each: ``python faulty.py NAME``.

Those whose fault is a move play honestly until their third.
"""

import os
import sys
import time

from base import CAMPS, Engine, run

FAULT_AT = 2
"""Moves made before the fault."""
FOR_EVER = 1000.0


class AtMove(Engine):
    """Honest until the third move."""

    def answer_go(self) -> None:
        if self.moves_made == FAULT_AT:
            self.moves_made += 1
            self.fail()
        else:
            super().answer_go()

    def fail(self) -> None:
        self.say(f"BESTMOVE {self.wrong_move()}")

    def wrong_move(self) -> str:
        raise NotImplementedError

    def any_own(self) -> str:
        """The origin of a move that could be made."""
        return self.legal_moves()[0][:2]


# Illegal moves


class EnemyPiece(AtMove):
    def wrong_move(self) -> str:
        return sorted(self.enemy)[0] + self.any_own()


class EmptyPoint(AtMove):
    def wrong_move(self) -> str:
        taken = self.enemy | set(self.own or {})
        camp = next(camp for camp in sorted(CAMPS) if camp not in taken)
        return camp + self.any_own()


class Blocked(AtMove):
    def wrong_move(self) -> str:
        return self.any_own() + sorted(self.enemy)[0]  # far away, in row A


class OwnPiece(AtMove):
    def wrong_move(self) -> str:
        return self.any_own() + "L1"


class CampAttack(Engine):
    """As soon as an enemy stands in a camp, whenever that is."""

    def move(self) -> str | None:
        held = sorted(self.enemy & CAMPS)
        moves = self.legal_moves()
        return moves[0][:2] + held[0] if held and moves else super().move()


class MineMoves(AtMove):
    def wrong_move(self) -> str:
        return "K4K3"  # a mine, and its own neighbour


class HeadquartersMove(AtMove):
    def wrong_move(self) -> str:
        return "L1K1"


class OffBoard(AtMove):
    def wrong_move(self) -> str:
        return "M0N0"


class SmallLetters(AtMove):
    def wrong_move(self) -> str:
        move = self.legal_moves()[0]
        self.pending = move
        return move.lower()


class NoMove(AtMove):
    def fail(self) -> None:
        self.say("BESTMOVE")


class Garbage(AtMove):
    def fail(self) -> None:
        self.say("I think I will resign")


class NotText(AtMove):
    def fail(self) -> None:
        self.write(b"\xff\xfe\x80\x81\n")


# Wrong layouts


class WrongLayout(Engine):
    letters = ""

    def layout(self) -> str:
        return self.letters


class WrongCounts(WrongLayout):
    letters = "aaccddeeffggghhhiiijjkklj"


class FlagOutside(WrongLayout):
    letters = "abccddeeffggghhhiiijjkkjl"


class MineInFront(WrongLayout):
    letters = "jbccddeeffggghhhiiijakklj"


class BombInFront(WrongLayout):
    letters = "kbccddeeffggghhhiiijjaklj"


class ShortLayout(WrongLayout):
    letters = "abccddeeffggghhhiiijjkkl"


class CapitalLayout(WrongLayout):
    letters = "ABCCDDEEFFGGGHHHIIIJJKKLJ"


class NoLayout(Engine):
    def answer_start(self) -> None:
        self.say("ARRAY")


# Conduct


class CrashAtStart(Engine):
    def answer_start(self) -> None:
        sys.exit(3)


class CrashAtMove(AtMove):
    def fail(self) -> None:
        sys.exit(3)


class Hang(AtMove):
    def fail(self) -> None:
        time.sleep(FOR_EVER)


class HangAtInfo(Engine):
    def answer_info(self) -> None:
        time.sleep(FOR_EVER)


class Slow(AtMove):
    """Thinks longer than it may, and answers all the same."""

    def fail(self) -> None:
        time.sleep(self.seconds + 0.2)
        super(AtMove, self).answer_go()


class Flood(AtMove):
    def fail(self) -> None:
        while True:
            self.write(b"info depth 1\n" * 1000)


class FloodWithoutLines(AtMove):
    def fail(self) -> None:
        while True:
            self.write(b"x" * 10_000)


class HalfLine(AtMove):
    def fail(self) -> None:
        self.write(b"BESTMOVE " + self.legal_moves()[0].encode())
        time.sleep(FOR_EVER)


class ClosedOutput(AtMove):
    def fail(self) -> None:
        os.close(1)
        time.sleep(FOR_EVER)


class OutOfTurn(Engine):
    """Sends its next move as soon as it knows what came of the last."""

    def after_result(self) -> None:
        moves = self.legal_moves()
        if moves:
            self.say(f"BESTMOVE {moves[0]}")


# What a patient platform bears, or never notices


class Talkative(Engine):
    def answer_go(self) -> None:
        self.say("thinking...")
        super().answer_go()


class NameWithoutWord(Engine):
    def answer_info(self) -> None:
        self.say(self.name)


class AnswersTwice(Engine):
    """Does not notice a line that is sent twice."""

    def handle(self, line: bytes) -> None:
        self.last = ""
        super().handle(line)


class IgnoresEof(Engine):
    def at_eof(self) -> None:
        time.sleep(FOR_EVER)


class OneGameOnly(Engine):
    """Stays in the game that it has begun."""

    def handle(self, line: bytes) -> None:
        if not (line.startswith(b"START") and self.own is not None):
            super().handle(line)


class EndsAtEnd(Engine):
    def after_end(self) -> None:
        sys.exit(0)


class NeedsInfo(Engine):
    """Knows the greeting of the protocol's text only."""

    def handle(self, line: bytes) -> None:
        if not line.startswith(b"INFORMATION"):
            super().handle(line)


class NeedsLineFeed(Engine):
    """Takes the carriage return for a part of the last word."""

    def handle(self, line: bytes) -> None:
        if not line.endswith(b"\r\n"):
            super().handle(line)


class OneSpace(Engine):
    def handle(self, line: bytes) -> None:
        if b"\t" not in line and b"  " not in line:
            super().handle(line)


class DiesOfBlankLines(Engine):
    def handle(self, line: bytes) -> None:
        if not line.strip():
            sys.exit(1)
        super().handle(line)


class DiesOfOtherLetters(Engine):
    def handle(self, line: bytes) -> None:
        line.decode("ascii")
        super().handle(line)


class UsualSettings(Engine):
    """Knows games of half an hour only."""

    def answer_start(self) -> None:
        if self.seconds in (1000.0, 3600.0):
            sys.exit(1)
        super().answer_start()


class NeedsFolder(Engine):
    """Looks for a file of its own in the folder it is started in."""

    def answer_start(self) -> None:
        if os.path.exists("pyproject.toml"):
            super().answer_start()


def word(name: str) -> str:
    """A name like ``CrashAtStart`` as ``crash-at-start``."""
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")


ENGINES = {
    word(kind.__name__): kind
    for kind in list(globals().values())
    if isinstance(kind, type)
    and issubclass(kind, Engine)
    and kind not in (Engine, AtMove, WrongLayout)
}

if __name__ == "__main__":
    run(ENGINES[sys.argv[1]]())
