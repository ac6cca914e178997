"""Players by the words that users name them by: the built-in ones, and any command line."""

from collections.abc import Callable
from dataclasses import replace

from junqi.engine_process import check_command
from junqi.errors import JunqiError
from junqi.player import Decider, GameSettings, Player, ViewPlayer
from junqi.process_player import ProcessPlayer
from junqi.random_player import RandomPlayer

BUILT_IN_FORMS = (
    "random, policy, search:DxW (depth x worlds, like search:3x9), "
    "engine or engine:OPTIONS (like engine:movetime=0.1,threads=1)"
)


class UnknownPlayer(JunqiError, ValueError):
    """A text that begins like the name of a built-in player and names none."""

    is_usage = True


def _make_judge(text: str, seed: int) -> Decider:
    # Compiled code is loaded only where a player needs it.
    from junqi.judge_player import JudgePlayer
    from junqi.simulate import parse_judge

    return JudgePlayer(parse_judge(text), seed)


def _make_random(text: str, seed: int) -> Decider:
    if text != "random":
        raise UnknownPlayer(f"expected random, got {text!r}")
    return RandomPlayer(seed)


def _make_engine(text: str, seed: int) -> Decider:
    from junqi.engine import Engine, parse_options

    options = parse_options(text.partition(":")[2])
    if options.book:
        raise UnknownPlayer(
            f"expected a player without a book, got {text!r}: the program `junqi engine` has one"
        )
    engine = Engine(options if options.seed is not None else replace(options, seed=seed))
    engine.load()
    return engine


# What makes the decisions of a built-in player, by the word before the colon of its name.
DECIDERS: dict[str, Callable[[str, int], Decider]] = {
    "random": _make_random,
    "policy": _make_judge,
    "search": _make_judge,
    "engine": _make_engine,
}


def is_built_in(text: str) -> bool:
    """Whether a text names a built-in player; else it is a command line."""
    return text.partition(":")[0] in DECIDERS


def make_decider(text: str, seed: int) -> Decider:
    """The decisions of a built-in player.

    Raises:
        JunqiError: if there is none of this name, or it cannot be as the text wants it.
    """
    return DECIDERS[text.partition(":")[0]](text, seed)


def make_player(
    text: str, seed: int, settings: GameSettings | None = None, layout: str | None = None
) -> Player:
    """A player, to be closed after use.

    Args:
        text: the name of a built-in player, or the command line of a program.
        seed: of the player's random choices.
        settings: what a program is told, and how long it is waited for.
        layout: the layout it is to play.

    Raises:
        JunqiError: if a built-in player cannot be as the text wants it.
    """
    if is_built_in(text):
        return ViewPlayer(make_decider(text, seed), text, layout=layout)
    return ProcessPlayer(text, settings or GameSettings(), seed=seed, layout=layout)


def check_player(text: str) -> None:
    """Raise if there is no such player, before games are lost by it.

    Raises:
        JunqiError: with what is wrong.
    """
    if is_built_in(text):
        make_decider(text, 0)
    else:
        check_command(text)
