"""A player of this process as a program that speaks the contest protocol.

It is made for referees that keep to the protocol, and for tests; `junqi.loop` is made for
platforms that do not.
"""

from collections.abc import Iterable
from typing import BinaryIO

from junqi.player import Player
from junqi.protocol import (
    Array,
    BestMove,
    Command,
    End,
    Go,
    Info,
    Name,
    Reply,
    Result,
    Start,
    format_reply,
    parse_command,
)
from junqi.rules import Rules


class PlayerSession:
    """Any number of games of one player."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._left = 0.0
        """Seconds that remain of the game's time."""

    def answer(self, command: Command) -> Reply | None:
        """Take in a line of the referee and say what to reply, if anything.

        Raises:
            JunqiError: if what the line tells cannot be.
        """
        match command:
            case Info():
                return Name(self._player.name())
            case Start(_, seconds, steps):
                self._left = seconds
                return Array(self._player.start(command, Rules(steps=steps, time=seconds)))
            case Go():
                move, seconds = self._player.move(command, self._left)
                self._left -= seconds
                return BestMove(move)
            case Result():
                self._player.told(command)
            case End():
                self._player.end(command)
        return None


def serve_player(player: Player, lines: Iterable[bytes], replies: BinaryIO) -> None:
    """Answer the lines of a referee until they end.

    Raises:
        JunqiError: if a line is none of the protocol's, or what it tells cannot be.
    """
    session = PlayerSession(player)
    for line in lines:
        command = parse_command(line)
        reply = None if command is None else session.answer(command)
        if reply is not None:
            replies.write(format_reply(reply).encode() + b"\n")
            replies.flush()
