"""The rows of a book as Python values: what is written into it, and what is read out of it.

A layout is always named by its 25 letters, a run by its key: both mean the same in every book,
where the integer ids are a book's own.
"""

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Origin = Literal["evolved", "human", "imported", "seen"]
Role = Literal["own", "opponent", "both"]
Moves = Literal["both", "first", "second"]
Turn = Literal["first", "second"]
EvidenceKind = Literal["fresh", "selection", "attack"]
RunStatus = Literal["running", "done", "interrupted", "failed"]

ORIGINS: tuple[str, ...] = get_args(Origin)
ROLES: tuple[str, ...] = get_args(Role)
MOVES: tuple[str, ...] = get_args(Moves)
EVIDENCE_KINDS: tuple[str, ...] = get_args(EvidenceKind)
RUN_STATUSES: tuple[str, ...] = get_args(RunStatus)


@dataclass(frozen=True)
class NewLayout:
    """A layout to be added; None is what is not said, and leaves a known layout as it is."""

    layout: str
    """25 letters, either of the two mirror images; the book keeps the canonical one."""
    origin: Origin | None = None
    """``imported`` for a new layout if not said."""
    role: Role | None = None
    """``both`` for a new layout if not said."""
    weight: float | None = None
    """0 for a new layout if not said: it is not in the mixture."""
    moves: Moves | None = None
    enabled: bool | None = None
    name: str | None = None
    notes: str | None = None
    tags: tuple[str, ...] = ()
    created: str | None = None
    """Like ``2026-11-16T03:01:26Z``; now if not said."""
    run: str | None = None
    """The key of the run that found it."""


@dataclass(frozen=True)
class BookLayout:
    """A layout as the book holds it."""

    id: int
    layout: str
    name: str
    origin: Origin
    role: Role
    weight: float
    moves: Moves
    enabled: bool
    notes: str
    created: str
    run: str | None
    tags: tuple[str, ...] = ()
    """In alphabetical order."""
    games: int = 0
    """Of the fresh evidence that score and error are pooled from."""
    score: float | None = None
    error: float | None = None

    @property
    def in_mixture(self) -> bool:
        """Whether the engine may draw it."""
        return self.enabled and self.weight > 0 and self.role != "opponent"


@dataclass(frozen=True)
class Evidence:
    """One score of a layout: who judged it, against whom, and how to get it again to the bit."""

    layout: str
    opponents: str
    """What it met, in words a person and a program understand, like ``human`` or ``random:100``."""
    judge: str
    """Like ``policy`` or ``search:3x3``."""
    games: int
    wins: int
    draws: int
    losses: int
    error: float
    """The standard error of the score."""
    seed: int | None = None
    kind: EvidenceKind = "fresh"
    """``selection`` if the layout was chosen by this score, which is then too high; ``attack`` for
    the best counter that an attack found to what `opponents` names."""
    version: str = ""
    """Of the software."""
    command: str = ""
    """What reproduces it."""
    run: str | None = None
    created: str | None = None
    """Now if not said."""
    id: int | None = None
    """Of the row, when read from a book."""

    @property
    def score(self) -> float:
        """The mean of the games' results, from 0 to 1."""
        return (self.wins + self.draws / 2) / self.games


@dataclass(frozen=True)
class Payoff:
    """How a layout fared against another; kept once for the pair, whichever way it is asked."""

    layout: str
    opponent: str
    judge: str
    games: int
    wins: int
    draws: int
    losses: int
    error: float
    seed: int | None = None
    version: str = ""
    command: str = ""
    run: str | None = None
    created: str | None = None
    id: int | None = None

    @property
    def score(self) -> float:
        """The mean of the games' results for `layout`, from 0 to 1."""
        return (self.wins + self.draws / 2) / self.games

    def turned(self) -> "Payoff":
        """The same games, told by the opponent."""
        values = vars(self) | {
            "layout": self.opponent,
            "opponent": self.layout,
            "wins": self.losses,
            "losses": self.wins,
        }
        return Payoff(**values)


@dataclass(frozen=True)
class PooledScore:
    """All evidence of one layout, or of one pair, by one judge against the same opponents."""

    layout: str
    opponents: str
    """For a pair the opponent's letters."""
    judge: str
    kind: str
    scores: int
    """How many rows were pooled."""
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    error: float


@dataclass(frozen=True)
class Run:
    """One run of a search or another long job."""

    key: str
    """Names the run in every book, like ``evolve-20261116-030126-9f2c``."""
    command: str
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None
    started: str | None = None
    """Now if not said."""
    seconds: float | None = None
    games: int | None = None
    machine: str = ""
    version: str = ""
    status: RunStatus = "running"
    notes: str = ""
    id: int | None = None


@dataclass(frozen=True)
class Opening:
    """One candidate move where the player knows what the key tells."""

    layout: str
    """The own layout, canonical; key and move are told for this one, not for its mirror image."""
    key: str
    """What the player knows besides the own layout; one word, no white space."""
    move: str
    """Like ``G0F0``, in own coordinates."""
    ply: int = 0
    """Plies of both sides before the move."""
    visits: int = 0
    score: float | None = None
    error: float | None = None
    weight: float = 1.0
    enabled: bool = True
    notes: str = ""
    source: str = ""
    """How it was found, like ``search:5x24 60s`` or ``game``."""
    run: str | None = None
    id: int | None = None


@dataclass(frozen=True)
class Game:
    """A game that was played, and what was seen of the opponent."""

    record: str
    """As docs/records.md tells."""
    side: Literal["red", "black"] | None = None
    """The own side; None for a game between others."""
    layout: str | None = None
    """The own layout, if the book holds it; canonical."""
    seen: str = ""
    """The opponent's 25 letters in their own coordinates, ``?`` where nothing certain was seen."""
    played: str = ""
    """The date."""
    opponent: str = ""
    """The opponent's name."""
    result: str = "*"
    """As in the record: 1-0, 0-1, 1/2-1/2 or *."""
    reason: str = ""
    plies: int = 0
    source: str = ""
    notes: str = ""
    created: str | None = None
    id: int | None = None


@dataclass(frozen=True)
class Draw:
    """A layout that was drawn from the mixture."""

    layout: str
    """The letters to play, mirrored already if the coin said so."""
    entry: str
    """The canonical letters, as the book has them."""
    is_mirrored: bool
    name: str = ""


@dataclass(frozen=True)
class Counts:
    """What a change did to one table."""

    added: int = 0
    changed: int = 0
    removed: int = 0

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


@dataclass(frozen=True)
class ChangeEntry:
    """One line of the change log."""

    id: int
    made: str
    what: str
    """What the user did."""
    summary: str
    """What came of it, like ``2 layouts added, 1 tag removed``."""
    undoes: int | None
    """The change that this one took back."""
    is_undone: bool
    can_undo: bool
    """Whether the rows as they were before are still kept."""


@dataclass(frozen=True)
class BookStats:
    """What a book holds, in numbers."""

    schema_version: int
    bytes: int
    layouts: int
    enabled: int
    in_mixture: int
    total_weight: float
    """Of the mixture."""
    by_origin: dict[str, int]
    by_role: dict[str, int]
    tags: dict[str, int]
    """How many layouts have each tag."""
    evidence: int
    evidence_games: int
    by_judge: dict[str, int]
    """Evidence games by judge."""
    payoffs: int
    payoff_games: int
    runs: int
    openings: int
    opening_positions: int
    opening_layouts: int
    """Layouts that have opening rows."""
    games: int
    changes: int
    last_change: str | None
