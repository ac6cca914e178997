"""The program ``junqi-engine``: options from everywhere, the book, the engine and the loop joined.

A platform starts it with no arguments, in any folder. The first reply comes before anything heavy
is imported; then the book is opened and the search loaded, in the background.
"""

import os
import secrets
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from book.default import book_paths
from junqi import __version__
from junqi.engine_options import NO_BOOK, EngineOptions, with_environment, with_noted
from junqi.streams import Log, Notes, take_stdout

if TYPE_CHECKING:
    from book.advice import Advice
    from book.layers import Layers
    from book.rows import Turn
    from junqi.engine import Thinking
    from junqi.rules import Move
    from junqi.view import View

SETTINGS_FILE = "engine.toml"

# Seconds for which nothing else is loaded while the book is being opened.
BOOK_FIRST = 1.0

HELP = """\
Usage: junqi-engine [--version] [--help]

Plays 军棋 by the contest protocol 1.0 on standard input and output. It takes no other arguments:
options are read from engine.toml beside the book or in your configuration folder, and from the
environment, which has the last word: JUNQI_BOOK, JUNQI_LAYOUT, JUNQI_NAME, JUNQI_MOVETIME,
JUNQI_TIME_FRACTION, JUNQI_THREADS, JUNQI_SEED, JUNQI_EFFORT, JUNQI_OPENING_LOSS, JUNQI_LOG,
JUNQI_ENCODING.
`junqi engine --help` explains them; `junqi engine --warm-up` makes a machine ready.

Example, one line each way:
  printf 'INFO 1.0\\nSTART 0 1800 31\\nGO 0000 0 00\\n' | junqi-engine
"""


def main(args: list[str] | None = None) -> int:
    """Run the engine on standard input and output; the console entry ``junqi-engine``."""
    args = sys.argv[1:] if args is None else args
    if "--version" in args:
        print(f"junqi-engine {__version__}")
        return 0
    if "--help" in args or "-h" in args:
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
        print(HELP, end="")
        return 0
    note = Notes()
    try:
        replies = take_stdout()
    except OSError as error:
        note(f"standard output cannot be written: {error.strerror}")
        return 1
    if args:
        note(f"ignored arguments: {' '.join(args)}")
    run(gather_options(os.environ, note), note, replies)


def run(options: EngineOptions, note: Notes, replies: BinaryIO) -> NoReturn:
    """Play by the protocol until the input ends, and end the process."""
    code = _answer_all(options, note, replies)
    # Not the ordinary way: that would wait for whatever still thinks or compiles.
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


def _answer_all(options: EngineOptions, note: Notes, replies: BinaryIO) -> int:
    """Answer the lines of standard input; the exit code of the process."""
    if options.log is not None:
        note.log = Log(options.log, note)
    if sys.stdin is None:
        note("standard input is closed")
        return 0
    try:
        first = sys.stdin.buffer.readline()
        is_answered = _greet(first, options, note, replies)
        return _play(first, is_answered, options, note, replies) if first else 0
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0  # nobody reads our replies any more


def _greet(line: bytes, options: EngineOptions, note: Notes, replies: BinaryIO) -> bool:
    """Tell the name, if that is what the first line asks for, before anything is loaded."""
    if line.lstrip()[:1].upper() != b"I":
        return False
    reply = f"NAME {' '.join(options.name.split())}"
    replies.write(reply.encode(options.encoding, errors="replace") + b"\n")
    replies.flush()
    if note.log is not None:
        note.log(f"< {line.decode('utf-8', errors='replace').strip()}")
        note.log(f"> {reply}")
    return True


def _play(
    first: bytes, is_answered: bool, options: EngineOptions, note: Notes, replies: BinaryIO
) -> int:
    """Answer the lines after the first, and the first if that has not been done."""
    from junqi.clock import PauseWatch
    from junqi.engine import Engine, load_thinker
    from junqi.job import Job
    from junqi.loop import Session, serve

    shelf = Shelf(options.book, note) if options.use_book else None
    opening = Job(shelf.open) if shelf else None

    def load(options: EngineOptions, note: Callable[[str], None], seed: int) -> "Thinking":
        if opening is not None:
            opening.wait(BOOK_FIRST)  # the layout is asked for before the first move
            import book.advice  # noqa: F401 - which there is little time for at the first move
        make_warm(note)
        return load_thinker(options, note, seed)

    engine = Engine(
        options,
        note,
        layouts=shelf.draw if shelf else None,
        opening=StoredMoves(shelf, options) if shelf else None,
        load=load,
        watch=lambda _view, decision: note.log(f"# {decision}") if note.log else None,
    )
    engine.start_loading()
    watch = PauseWatch()
    watch.start()
    session = Session(engine, options.name, seed=options.seed, note=note, watch=watch)
    lines = iter(sys.stdin.buffer.readline, b"")
    if is_answered:
        session.handle(first)  # to know it if it is sent twice
    else:
        lines = chain([first], lines)
    return serve(session, lines, replies, options.encoding, note.log)


def make_warm(note: Callable[[str], None]) -> None:
    """Have the kernels compiled if they are not, and load them."""
    from junqi.kernels.jit import cache_folder
    from junqi.warm import can_keep, is_warm, warm_up, warm_up_elsewhere

    if not can_keep():
        note(f"compiling here, at every start: {cache_folder()} cannot be written")
    elif not is_warm():
        note("the kernels are being compiled, once for this version and machine")
        try:
            warm_up_elsewhere()
        except (OSError, RuntimeError) as error:
            note(f"compiling here: {error}")
    warm_up()


def prepare_machine(options: EngineOptions) -> Iterator[str]:
    """Compile what the engine needs and open its book; what there is to say about it, bit by bit.

    Raises:
        JunqiError: if the kernels cannot be kept, or a book cannot be opened.
    """
    from junqi.errors import JunqiError
    from junqi.kernels.jit import cache_folder
    from junqi.warm import can_keep, warm_up

    if not can_keep():
        raise JunqiError(
            f"{cache_folder()}: cannot be written, so the engine would compile at every start; "
            "NUMBA_CACHE_DIR names another folder"
        )
    yield f"kernels  ready in {warm_up():.1f} s, kept in {cache_folder()}"
    if options.use_book:
        from book.default import open_layers

        with open_layers(options.book) as layers:
            for book in layers.books:
                count = len(book.mixture())
                yield f"book     {book.path}, {count} layouts to draw from"


def gather_options(
    environment: Mapping[str, str], note: Callable[[str], None], books: Sequence[str] = ()
) -> EngineOptions:
    """The options of engine.toml and, over them, of the environment.

    What cannot be is noted and left out.

    Args:
        environment: its variables ``JUNQI_...``.
        note: told what was left out.
        books: named on the command line; the file is looked for beside the first of them.
    """
    options = EngineOptions()
    file, table = _read_settings(books, note)
    for key, value in table.items():
        options = with_noted(options, key.replace("_", "-"), value, file, note)
    return with_environment(options, environment, note)


def _read_settings(
    books: Sequence[str], note: Callable[[str], None]
) -> tuple[str, dict[str, object]]:
    """The first settings file that is there, and what it says."""
    for folder in _settings_folders(books):
        path = folder / SETTINGS_FILE
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            note(f"{path}: cannot be read: {error}")
            continue
        import tomllib

        try:
            table = tomllib.loads(data.decode("utf-8-sig"))
            return str(path), {key: _beside(path, key, value) for key, value in table.items()}
        except ValueError as error:
            note(f"{path}: cannot be read: {error}")
    return "", {}


def _beside(file: Path, key: str, value: object) -> object:
    """A value of a settings file; paths in it are taken from its own folder."""
    if key == "log" and isinstance(value, str):
        return str(file.parent / Path(value).expanduser())
    if key == "book" and value not in (False, NO_BOOK):
        names = value if isinstance(value, list) else [value]
        return [str(file.parent / Path(str(name)).expanduser()) for name in names]
    return value


def _settings_folders(books: Sequence[str]) -> list[Path]:
    from platformdirs import user_config_path

    return [book_paths(books)[0].parent, user_config_path("junqi")]


class Shelf:
    """The books that layouts are drawn from: those that can be opened, the most trusted first."""

    def __init__(self, names: tuple[str, ...], note: Callable[[str], None]) -> None:
        self._paths = book_paths(names)
        self._note = note
        self._opened: dict[Path, Layers] = {}
        self._told: set[str] = set()
        self._lock = threading.Lock()

    def open(self) -> None:
        """Open the books that are not open yet; one that cannot be opened is noted, once."""
        from book.default import open_layers
        from book.errors import BookError

        with self._lock:
            for path in self._paths:
                if path not in self._opened:
                    try:
                        self._opened[path] = open_layers([path])
                    except (BookError, OSError) as error:
                        self._tell(str(error))

    def draw(self, seed: int, is_first: bool) -> str:
        """A layout drawn from the mixture of the first book that has one.

        Raises:
            BookError: if there is none.
        """
        from book.errors import BookError

        self.open()
        turn: Turn = "first" if is_first else "second"
        for path in self._paths:
            if path in self._opened:
                try:
                    return self._opened[path].sample(seed, 1, turn)[0].layout
                except BookError as error:
                    self._tell(str(error))
        raise BookError("no book with a mixture can be read")

    def advise(
        self, view: "View", legal: "Sequence[Move]", most_loss: float, lots: Random
    ) -> "Advice | None":
        """The stored move of the first book that has one which is good enough."""
        from functools import partial

        from book.advice import advise
        from book.errors import BookError
        from book.openings import spot_of

        self.open()
        spot = spot_of(view)
        for path in self._paths:
            if path in self._opened:
                lookup = partial(self._opened[path].lookup, disabled=True)
                try:
                    if (advice := advise(spot, lookup, legal, most_loss, lots)) is not None:
                        return advice
                except BookError as error:
                    self._tell(str(error))
        return None

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._note(text)


class StoredMoves:
    """Opening moves from the books, as the engine asks for them; an `engine.Opening`.

    A stored move is taken if it loses no more than is put up with, or than a search in the time at
    hand would err itself.
    """

    def __init__(self, shelf: Shelf, options: EngineOptions) -> None:
        self._shelf = shelf
        self._options = options
        self._seed = secrets.randbits(63) if options.seed is None else options.seed
        self._games = 0
        self._plies = sys.maxsize
        self.last: Advice | None = None
        """The last answer."""

    def __call__(self, view: "View") -> "Move | None":
        """A stored move, if there is one that is good enough."""
        # A game that goes back to an earlier ply is a new one.
        self._games += len(view.plies) <= self._plies
        self._plies = len(view.plies)
        # Other games draw other lots, or an opponent could play a won one once more.
        lots = Random(f"opening {self._seed} {self._games} {self._plies}")
        self.last = self._shelf.advise(view, view.legal_moves(), self._limit(view), lots)
        return None if self.last is None else self.last.move

    def _limit(self, view: "View") -> float:
        """The loss up to which a stored move is better than a search."""
        from book.advice import MOST_LOSS, loss_limit, worlds_in
        from junqi.clock import Clock

        options = self._options
        if options.effort is not None:
            worlds = float(options.effort)
        else:
            clock = Clock(options.movetime, options.time_fraction)
            left = view.rules.time - view.own_seconds
            budget = clock.plan(view.rules.time, left, len(view.plies) // 2)
            worlds = worlds_in(budget.soft, options.threads or os.cpu_count() or 1)
        most = MOST_LOSS if options.opening_loss is None else options.opening_loss
        return loss_limit(most, worlds)


if __name__ == "__main__":
    sys.exit(main())
