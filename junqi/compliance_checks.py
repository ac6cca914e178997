"""The checks of `junqi compliance`: one small function each, in a table.

The docstring of a check tells what the engine has to do.
"""

import os
import shlex
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator

from junqi.compliance import Checked, Failure, Game, NotReached, Settings, Talk, Trial
from junqi.engine_process import split_command
from junqi.hunter import (
    Wanted,
    hunting_move,
    loses_the_marshal,
    spares_only_the_flag,
)
from junqi.pieces import ATTACKER_WINS
from junqi.protocol import ABNORMAL, LOST, WON, End, Go, format_command
from junqi.rules import Reason

# Moves of the engine that show whether it has understood something.
A_FEW = 4
# Seconds within which an engine that is about to say something unasked has said it.
A_MOMENT = 0.2
# Games played to bring something about.
ATTEMPTS = 8
# No game ends by so many quiet plies.
NO_LIMIT = 10_000
# A flag behind mines: the enemy of an engine that is to be stuck must not lose before.
SAFE_LAYOUT = "cbacddkeeffgggkhjhhijljii"
# A game is given up in which nothing has come about after so many moves.
LONG = 150

# What no engine has to understand, and none may stumble over. No GO and no START is among them:
# it would be fair to answer it.
STRANGE_LINES = (
    "HELLO",
    "# a remark",
    "QUIT? 1 2 3",
    "RESULT",
    "RESULT 9 Z9",
    "裁判：请选手准备",
    "裁判：请选手准备".encode("gbk").decode("utf-8", errors="surrogateescape"),
    "x" * 500,
)

Check = Callable[[Trial], None]
CHECKS: dict[str, Check] = {}


def _check(function: Check) -> Check:
    CHECKS[function.__name__.replace("_", "-")] = function
    return function


def run_checks(settings: Settings, names: Iterable[str] = CHECKS) -> Iterator[Checked]:
    """Make checks one after the other; each says what came of it.

    Raises:
        CannotStart: if the command line starts no program.
    """
    for name in names:
        check, trial = CHECKS[name], Trial(settings, name)
        failure, not_reached = None, ""
        try:
            check(trial)
        except Failure as error:
            failure = error
        except NotReached as error:
            not_reached = str(error)
        yield Checked(name, what_of(check), failure, not_reached, trial.transcripts)


def what_of(check: Check) -> str:
    """What a check is about."""
    return (check.__doc__ or "").strip().rstrip(".")


def _play_a_few(talk: Talk, is_first: bool = True) -> Game:
    game = Game(talk, is_first=is_first)
    game.play(A_FEW)
    return game


# The protocol as it is written


@_check
def greeting(trial: Trial) -> None:
    """Answers INFO with NAME, in UTF-8 or GBK, and says nothing else."""
    with trial.engine() as talk:
        name = talk.greet()
        if "\ufffd" in name:
            raise Failure("a name in UTF-8 or GBK", repr(name))
        talk.stay_silent("after NAME", A_MOMENT)


@_check
def layouts(trial: Trial) -> None:
    """Answers every START with a legal layout."""
    with trial.engine() as talk:
        talk.greet()
        for number in range(6):
            Game(talk, is_first=number % 2 == 0)
            talk.tell(End(ABNORMAL))


@_check
def whole_game_first(trial: Trial) -> None:
    """Plays a whole game as first player: legal, in time, nothing but replies."""
    _whole_game(trial, is_first=True)


@_check
def whole_game_second(trial: Trial) -> None:
    """Plays a whole game as second player."""
    _whole_game(trial, is_first=False)


def _whole_game(trial: Trial, is_first: bool) -> None:
    with trial.engine() as talk:
        talk.greet()
        game = Game(talk, is_first=is_first)
        game.play()
        ended = game.end()
        talk.tell(End(WON if ended and ended.winner == game.side else LOST))
        talk.stay_silent("after END", A_MOMENT)


@_check
def unasked(trial: Trial) -> None:
    """Says nothing between ARRAY and GO, and between RESULT and GO."""
    with trial.engine() as talk:
        talk.greet()
        game = Game(talk)
        talk.stay_silent("after ARRAY", A_MOMENT)
        for _ in range(2):
            game.play(1)
            talk.stay_silent("after RESULT", A_MOMENT)


@_check
def games_in_one_process(trial: Trial) -> None:
    """Plays several games in one process, as first and second player in turn."""
    with trial.engine() as talk:
        talk.greet()
        for number in range(4):
            _play_a_few(talk, is_first=number % 2 == 0)
            talk.tell(End(number % 3))


@_check
def times_and_steps(trial: Trial) -> None:
    """Takes other times and steps in START."""
    with trial.engine() as talk:
        talk.greet()
        # The first move of a long game may be thought about for long: its layout is enough.
        for seconds, steps in ((1000, 10), (3600, 31), (1800, 99)):
            Game(talk, seconds=seconds, steps=steps)
            talk.tell(End(ABNORMAL))
        for seconds, steps in ((60, 5), (30, 99)):
            Game(talk, seconds=seconds, steps=steps).play(1)
            talk.tell(End(ABNORMAL))


@_check
def little_time(trial: Trial) -> None:
    """Plays a whole game within a quarter of the usual time here."""
    with trial.engine() as talk:
        talk.greet()
        Game(talk, seconds=max(1.0, trial.settings.seconds / 4)).play()


# How platforms write


@_check
def information(trial: Trial) -> None:
    """Answers the greeting INFORMATION 1.0 as well."""
    with trial.engine() as talk:
        talk.greet("INFORMATION 1.0")
        _play_a_few(talk)


@_check
def carriage_returns(trial: Trial) -> None:
    """Takes lines that end with a carriage return and a line feed."""
    _dressed(trial, lambda line: f"{line}\r\n")


@_check
def tabs_and_spaces(trial: Trial) -> None:
    """Takes tabs, more than one space, and spaces at the end."""
    _dressed(trial, lambda line: line.replace(" ", "\t", 1).replace(" ", "   ") + "  \n")


@_check
def blank_lines(trial: Trial) -> None:
    """Takes blank lines anywhere."""
    _dressed(trial, lambda line: f"\n\r\n{line}\n\n")


@_check
def repeated_lines(trial: Trial) -> None:
    """Answers a line that is sent twice once."""
    _dressed(trial, lambda line: f"{line}\n{line}\n", pause=A_MOMENT)


@_check
def strange_lines(trial: Trial) -> None:
    """Bears lines that are none of the protocol's, in UTF-8 and GBK, and says nothing to them."""
    with trial.engine() as talk:
        for line in STRANGE_LINES:
            talk.send(line)
        talk.greet()
        game = Game(talk)
        for line in STRANGE_LINES:
            game.play(1)
            talk.send(line)
            talk.stay_silent(f"after {line[:20]!r}", A_MOMENT / 3)
        game.play(1)


@_check
def lines_at_once(trial: Trial) -> None:
    """Answers lines that come all at once, each with its reply."""
    with trial.engine() as talk:
        lines = {"NAME": "INFO 1.0", "ARRAY": f"START 0 {trial.settings.seconds:g} 31"}
        lines["BESTMOVE"] = format_command(Go())
        sent = talk.send("\n".join(lines.values()))
        for word, line in lines.items():
            talk.answer(line, word, sent)


def _dressed(trial: Trial, dress: Callable[[str], str], pause: float = 0.0) -> None:
    """A few moves as first and as second player, with lines sent in some other dress."""
    for is_first in (True, False):
        with trial.engine() as talk:
            talk.dress = dress
            talk.greet()
            talk.stay_silent("after NAME", pause)
            game = Game(talk, is_first=is_first)
            talk.stay_silent("after ARRAY", pause)
            for _ in range(A_FEW):
                game.play(1)
                talk.stay_silent("after RESULT", pause)


# How games end


@_check
def end_before_the_first_move(trial: Trial) -> None:
    """Bears END before the first move, and plays the next game."""
    with trial.engine() as talk:
        talk.greet()
        for is_first in (True, False):
            Game(talk, is_first=is_first)
            talk.tell(End(ABNORMAL))
            talk.stay_silent("after END", A_MOMENT)
        _play_a_few(talk)


@_check
def end_in_the_middle(trial: Trial) -> None:
    """Bears END in the middle of a game, twice, and plays the next one."""
    with trial.engine() as talk:
        talk.greet()
        for is_first in (True, False):
            _play_a_few(talk, is_first=is_first)
            talk.tell(End(ABNORMAL))
            talk.tell(End(ABNORMAL))
            talk.stay_silent("after END", A_MOMENT)
        _play_a_few(talk)


@_check
def end_while_thinking(trial: Trial) -> None:
    """Bears END right after GO, whether it still answers or not, and plays the next game."""
    with trial.engine() as talk:
        talk.greet()
        for is_first in (True, False):
            game = _play_a_few(talk, is_first)
            game.enemy_move()
            talk.tell(game.go)
            talk.tell(End(LOST))
            talk.is_move_borne = True
            game = Game(talk)
            talk.is_move_borne = False
            game.play(A_FEW)


@_check
def start_without_end(trial: Trial) -> None:
    """Begins a new game when START comes without END."""
    with trial.engine() as talk:
        talk.greet()
        for is_first in (True, False, False, True):
            _play_a_few(talk, is_first=is_first)


@_check
def last_result_missing(trial: Trial) -> None:
    """Bears a last move without its RESULT: END or START comes next."""
    with trial.engine() as talk:
        talk.greet()
        for command in (End(WON), End(LOST), None):
            game = _play_a_few(talk, is_first=command is not None)
            game.enemy_move()
            if game.end() is None:
                game.ask_move()
            if command is not None:
                talk.tell(command)
                talk.stay_silent("after END", A_MOMENT)
        _play_a_few(talk)


@_check
def hidden_flag_taken(trial: Trial) -> None:
    """Bears RESULT 1 00 as the last of a game: the flag was taken, its place never told."""
    with trial.engine() as talk:
        talk.greet()
        for ending in (End(WON), None):
            game = Game(talk, steps=NO_LIMIT)
            _ask_until_it_beats(game)
            game.tell_result()
            if ending is not None:
                talk.tell(ending)
                talk.stay_silent("after END", A_MOMENT)
        _play_a_few(talk)


def _ask_until_it_beats(game: Game) -> None:
    """Play up to a move of the engine that beats a piece, and leave its result untold."""
    while game.moves < LONG and game.end() is None:
        game.enemy_move()
        if game.end() is not None:
            break
        game.ask_move()
        if game.result == ATTACKER_WINS and game.flag is None:
            return
        game.tell_result()
    raise NotReached("the engine beat no piece")


@_check
def flag_told(trial: Trial) -> None:
    """Plays on after the enemy's flag was told, with its place in every line."""
    for _ in range(ATTEMPTS):
        with trial.engine() as talk:
            talk.greet()
            game = _hunted(talk, loses_the_marshal)
            game.play(LONG, until=lambda game=game: game.flag is not None)  # type: ignore[misc]
            if game.flag is not None and game.end() is None:
                game.play(A_FEW)
                return
    raise NotReached("the enemy's marshal was never lost")


@_check
def stuck(trial: Trial) -> None:
    """Sends no illegal move when it is asked for one and has none."""
    for _ in range(ATTEMPTS):
        with trial.engine() as talk:
            talk.greet()
            game = _hunted(talk, spares_only_the_flag)
            game.play(LONG)
            ended = game.end()
            is_stuck = ended is not None and ended.reason == Reason.NO_MOVES
            if is_stuck and game.position.to_move == game.side:
                talk.tell(game.go)
                talk.stay_silent("of an engine that has no move", A_MOMENT)
                talk.tell(End(LOST))
                _play_a_few(talk)
                return
    raise NotReached("the engine always had a move")


def _hunted(talk: Talk, wanted: Wanted) -> Game:
    """A game against an enemy that sees everything, and wants something else than the flag."""
    game = Game(talk, steps=NO_LIMIT, enemy_layout=SAFE_LAYOUT)
    game.choose = lambda position: hunting_move(position, wanted, talk.rng)
    return game


# How processes begin and end


@_check
def other_folder(trial: Trial) -> None:
    """Plays when it is started in another folder."""
    with tempfile.TemporaryDirectory() as folder:
        command = _from_anywhere(trial.settings.command)
        with trial.engine(folder, command) as talk:
            talk.greet()
            _play_a_few(talk)


def _from_anywhere(command: str) -> str:
    """A command line with the files it names as they are called from every folder."""
    words = split_command(command)
    if isinstance(words, str):
        return command
    return shlex.join(os.path.abspath(word) if os.path.exists(word) else word for word in words)


@_check
def input_ends_at_once(trial: Trial) -> None:
    """Ends when its input ends before anything has come."""
    with trial.engine() as talk:
        talk.end_input()


@_check
def input_ends_in_the_game(trial: Trial) -> None:
    """Ends when its input ends in the middle of a game."""
    for moves in (0, A_FEW):
        with trial.engine() as talk:
            talk.greet()
            Game(talk).play(moves)
            talk.end_input()


@_check
def input_ends_while_thinking(trial: Trial) -> None:
    """Ends when its input ends while it is to move."""
    with trial.engine() as talk:
        talk.greet()
        game = _play_a_few(talk)
        game.enemy_move()
        talk.tell(game.go)
        talk.engine.end_input()
        deadline = time.monotonic() + trial.settings.seconds
        while talk.engine.exit_code is None and time.monotonic() < deadline:
            time.sleep(0.02)
        talk.end_input()


@_check
def input_ends_after_end(trial: Trial) -> None:
    """Ends when its input ends after END."""
    with trial.engine() as talk:
        talk.greet()
        _play_a_few(talk)
        talk.tell(End(LOST))
        talk.end_input()
