"""Logs of the contest protocol → game records.

A log is whatever a player or a platform wrote while lines of the protocol went to and fro: with or
without times, arrows and names before them, in UTF-8 or GBK, of one player or of both, of one game
or of many. A message is known by its form, wherever in a line it stands; everything else is left
alone. What one player was told makes a record in which the other layout is unknown.
"""

import codecs
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace

from junqi.board import Point, seen_from
from junqi.errors import ProtocolError
from junqi.pieces import BLACK, EMPTY, NO_CONTACT, RED, Contact, Side, other
from junqi.protocol import (
    Array,
    BestMove,
    Command,
    End,
    Go,
    Name,
    Reply,
    Result,
    Start,
    decode_line,
    parse_command,
    parse_reply,
)
from junqi.record import Record
from junqi.rules import Move, Rules, format_move
from junqi.textfile import STDIN
from junqi.transcript_game import LoggedGame, LoggedPlayer, last_position, record_of

_POINT = "[A-L][0-4]"
_COMMANDS = (
    r"INFO(?:RMATION)?[ \t]+[0-9]+(?:\.[0-9]+)?(?![\w.])"
    r"|START[ \t]+[01][ \t]+[0-9.]+[ \t]+[0-9]+"
    rf"|GO[ \t]+(?:0000|{_POINT}{_POINT})[ \t]+[0-3](?:[ \t]+(?:00|{_POINT}))?(?!\w)"
    rf"|RESULT[ \t]+[0-3](?:[ \t]+(?:00|{_POINT}))?(?![\w-])"
    # The bare word is a message only at the end of a line.
    r"|(?-i:END)(?:[ \t]+[012](?![\w.])|(?=(?:\\[nr]|['\"])*$))"
)
_REPLIES = r"(?-i:NAME)[ \t]+\S[^\t]*|(?-i:ARRAY)[ \t]+[^\s'\"\\]+|BESTMOVE[ \t]+[^\s'\"\\]+"
_MESSAGE = re.compile(rf"(?<![\w.])(?:(?P<command>{_COMMANDS})|(?P<reply>{_REPLIES}))", re.I)

_TIME_OF_DAY = re.compile(r"(?<!\d)(\d{1,2}):(\d{2}):(\d{2}(?:[.,]\d+)?)")
_SECONDS = re.compile(r"\s*\[?(\d+\.\d+)\b")
_DATE = re.compile(r"(?<!\d)(\d{4})[-/.](\d{2})[-/.](\d{2})(?!\d)")
_WORD = re.compile(r"[^\W\d_]\w*")
_DAY = 24 * 3600.0


@dataclass(frozen=True)
class Imported:
    """A game found in a log."""

    line: int
    """Where it begins."""
    record: Record
    notes: tuple[str, ...] = ()
    """What is odd about it, with the lines."""


@dataclass(frozen=True)
class Message:
    """A line of the protocol, found in a log."""

    line: int
    words: frozenset[str]
    """The words that stand before it."""
    time: float | None
    """In seconds, counted from anywhere."""
    date: str
    content: Command | Reply | str
    """A text is a BESTMOVE that names no move."""


def find_messages(lines: Iterable[str | bytes]) -> Iterator[Message]:
    """The messages of a log, in order.

    >>> [found.content for found in find_messages(["12:00:01 recv: RESULT 3 00"])]
    [Result(result=3, flag=None)]
    """
    for number, line in enumerate(lines, start=1):
        text = decode_line(line) if isinstance(line, bytes) else line
        text = text.rstrip()
        if (match := _MESSAGE.search(text)) is None:
            continue
        before = text[: match.start()]
        date = _DATE.search(before)
        content: Command | Reply | str | None
        try:
            content = parse_command(match[0]) if match["command"] else parse_reply(match[0])
        except ProtocolError:
            content = match[0]
        if content is not None:
            yield Message(
                number,
                frozenset(word.lower() for word in _WORD.findall(before)),
                _time(before),
                "-".join(date.groups()) if date else "",
                content,
            )


def import_games(lines: Iterable[str | bytes]) -> Iterator[Imported]:
    """The games of a log, in order."""
    messages = list(find_messages(lines))
    players = _player_words(messages)
    log = _Log(is_labelled=bool(players))
    for message in messages:
        label = next((n for n, words in enumerate(players) if words & message.words), None)
        if not players or label is not None:
            yield from log.take(message, label)
    yield from log.finish()


def read_log(path: str) -> Iterator[str | bytes]:
    """The lines of a log, or of standard input for ``-``.

    Raises:
        OSError: if it cannot be read.
    """
    with nullcontext(sys.stdin.buffer) if path == STDIN else open(path, "rb") as file:
        begin = file.readline()
        if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            # What Windows makes of the output of a program that is sent to a file.
            yield from (begin + file.read()).decode("utf-16", errors="replace").splitlines()
        else:
            yield begin
            yield from file


def _time(text: str) -> float | None:
    if match := _TIME_OF_DAY.search(text):
        hours, minutes, seconds = match.groups()
        return 3600 * int(hours) + 60 * int(minutes) + float(seconds.replace(",", "."))
    match = _SECONDS.match(text)
    return float(match[1]) if match else None


def _player_words(messages: list[Message]) -> list[frozenset[str]]:
    """The words by which the log tells two players apart; none if it does not.

    They stand before lines of the one only, and both are sent START.
    """
    starts = {message.words for message in messages if isinstance(message.content, Start)}
    if len(starts) != 2:
        return []
    one, two = starts
    return [one - two, two - one] if one - two and two - one else []


class _Log:
    """Makes games of messages."""

    def __init__(self, is_labelled: bool) -> None:
        self.is_labelled = is_labelled
        self.names: dict[int | None, list[str]] = {}
        self.game: LoggedGame | None = None
        self.before: Message | None = None

    def take(self, message: Message, label: int | None) -> Iterator[Imported]:
        """Take the next message; gives the game that is over with it."""
        before, self.before = self.before, message
        content = message.content
        is_same = before is not None and before.content == content and before.words == message.words
        if isinstance(content, Name):
            self.names.setdefault(label, []).append(_one_name(content.name))
        elif isinstance(content, Start):
            # Platforms do send a line twice.
            if not is_same:
                yield from self._start(message, content, label)
        elif (game := self.game) is not None:
            if isinstance(content, Go) and self._is_alone(game, content):
                yield from self._set_apart(game)
            self._follow(self.game or game, message, label)

    def finish(self) -> Iterator[Imported]:
        """The last game."""
        game, self.game = self.game, None
        if game is not None and (game.layouts or game.plies):
            yield Imported(game.line, record_of(game), tuple(game.notes))

    def _start(self, message: Message, start: Start, label: int | None) -> Iterator[Imported]:
        side = RED if start.is_first else BLACK
        player = LoggedPlayer(side, label=label)
        game = self.game
        is_second = (
            game is not None
            and len(game.players) == 1
            and game.players[0].side != side
            and (label is None or game.players[0].label != label)
            and not game.plies
            and not game.ends
        )
        if game is not None and is_second:
            game.players.append(player)
        else:
            yield from self.finish()
            rules = Rules(steps=start.steps, time=start.seconds)
            game = self.game = LoggedGame(message.line, rules, message.date, [player])
        for place, known in enumerate(reversed(game.players)):
            names = self.names.get(known.label, [])
            nth = 1 if self.is_labelled else place + 1
            known.name = names[-nth] if len(names) >= nth else ""

    def _is_alone(self, game: LoggedGame, go: Go) -> bool:
        """Whether what seemed to be the START of a second player was that of a next game."""
        if self.is_labelled or len(game.players) < 2 or game.pending or len(game.plies) > 1:
            return False
        if not game.plies:
            return go.move is not None
        return go.move is not None and go.move.rotated() != game.plies[0].move

    def _set_apart(self, game: LoggedGame) -> Iterator[Imported]:
        """Close the game that has only its first player; the second one's goes on."""
        first, second = game.players
        own = {first.side: game.layouts.pop(first.side)} if first.side in game.layouts else {}
        self.game = replace(game, players=[first], layouts=own, plies=[])
        yield from self.finish()
        self.game = replace(game, players=[second])

    def _follow(self, game: LoggedGame, message: Message, label: int | None) -> None:
        """Take in what is said within a game."""
        match message.content:
            case Array(layout):
                for player in game.players:
                    if player.side not in game.layouts and label in (None, player.label):
                        game.layouts[player.side] = layout
                        break
            case Go():
                self._go(game, message, message.content, label)
            case BestMove(move):
                self._bestmove(game, message, move, label)
            case str():
                self._bestmove(game, message, None, label)
            case Result(result, flag):
                self._result(game, message, result, flag, label)
            case End(win):
                told = next((p for p in game.players if p.side not in game.ends), None)
                if label is not None:
                    told = next((p for p in game.players if p.label == label), None)
                if told is not None:
                    game.ends[told.side] = win

    def _who(self, game: LoggedGame, label: int | None, else_side: Side) -> LoggedPlayer | None:
        """The player that a message is from or to."""
        if label is not None:
            return next((player for player in game.players if player.label == label), None)
        return game.players[0] if len(game.players) == 1 else game.player(else_side)

    def _go(self, game: LoggedGame, message: Message, go: Go, label: int | None) -> None:
        if go.move is None:
            if len(game.players) == 1 and not game.plies and game.players[0].side == BLACK:
                # Whoever is asked for the first move is red, whatever START said.
                game.notes.append(f"line {message.line}: the second player is asked to begin")
                game.players[0].side = RED
                game.layouts = dict(zip((RED,), game.layouts.values(), strict=False))
            if (who := self._who(game, label, RED)) is not None:
                who.asked = message.time
            return
        who = self._who(game, label, other(game.mover) if game.pending else game.mover)
        if who is None or game.is_torn:
            return
        who.asked = message.time
        move = go.move if who.side == RED else go.move.rotated()
        flag = None if go.flag is None else seen_from(go.flag, who.side)
        if game.mover != who.side:  # news, and not what the mover was told before
            _, seconds = game.pending or (None, None)
            game.add(move, go.result, seconds, flag)
        elif game.plies and game.plies[-1].move == move:
            if game.plies[-1].result != go.result:
                game.notes.append(f"line {message.line}: GO and RESULT differ, RESULT is kept")
        else:
            self._guess(game, message, move, go.result, flag)

    def _guess(
        self, game: LoggedGame, message: Message, move: Move, result: Contact, flag: Point | None
    ) -> None:
        """Go on after a move whose RESULT is missing, if there can be no doubt about it."""
        own, seconds = game.pending or (None, None)
        position = last_position(game)
        if own is not None and position is not None and position.pieces[own.target] == EMPTY:
            game.add(own, NO_CONTACT, seconds, None)
            game.add(move, result, None, flag)
            return
        what = f"RESULT for {format_move(own)}" if own else "move of the player"
        game.notes.append(f"line {message.line}: no {what} is told, the game is cut here")
        game.is_torn = True
        game.pending = None

    def _bestmove(
        self, game: LoggedGame, message: Message, move: Move | None, label: int | None
    ) -> None:
        who = self._who(game, label, game.mover)
        if who is None or game.is_torn:
            return
        if who.side != game.mover:
            game.notes.append(f"line {message.line}: a move out of turn is left out")
            return
        seconds = None
        if who.asked is not None and message.time is not None:
            seconds = round((message.time - who.asked) % _DAY, 3)
        if move is not None and who.side == BLACK:
            move = move.rotated()
        game.pending = (move, seconds)

    def _result(
        self,
        game: LoggedGame,
        message: Message,
        result: Contact,
        flag: Point | None,
        label: int | None,
    ) -> None:
        if game.is_torn or game.pending is None:
            return
        move, seconds = game.pending
        who = self._who(game, label, game.mover)
        if move is None or who is None or who.side != game.mover:
            return
        game.add(move, result, seconds, None if flag is None else seen_from(flag, who.side))


def _one_name(text: str) -> str:
    """A name without a remark behind it."""
    return re.split(r" {2,}|['\"\\]", text.strip())[0]
