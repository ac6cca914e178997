"""What is certain of the enemy's pieces: the kinds each can still be, from all that was told.

A side's 25 pieces are its slots, in the order of a layout's letters; a slot keeps its number when
the piece moves and after it is gone. The own pieces are known, so everything a player is told
speaks of one enemy piece at a time: it is a fact, a slot and the set of kinds it leaves. Sets of
kinds are words: bit k stands for the kind with code k. The numbers of each kind then tie the slots
together (if two pieces must be the two bombs, nobody else is one), and `possible_kinds` draws every
conclusion that follows.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from junqi.board import NEIGHBOURS, POINTS, RAIL_RAYS, point_name, rotate_point
from junqi.history import Scene, scenes
from junqi.layout import ALLOWED, LAYOUT_POINTS
from junqi.pieces import (
    ATTACKER_WINS,
    BOTH_REMOVED,
    DEFENDER_WINS,
    ENGINEER,
    FLAG,
    HIDDEN,
    KINDS,
    MARSHAL,
    MINE,
    NOBODY,
    Contact,
    Piece,
    contact,
    piece_name,
)
from junqi.rules import Position, format_move, targets
from junqi.view import ENEMY_HEADQUARTERS, Told, View

Kinds: TypeAlias = int
Log: TypeAlias = Callable[[str], None]

SLOTS = len(LAYOUT_POINTS)
# Where the enemy's slots start, in the coordinates of the player who looks at them.
ENEMY_STARTS = tuple(rotate_point(p) for p in LAYOUT_POINTS)
# The slots of the headquarters L1 and L3, as the enemy calls them.
FLAG_SLOTS = tuple(LAYOUT_POINTS.index(p) for p in sorted(ALLOWED[FLAG]))
SLOT_OF_START = {point: slot for slot, point in enumerate(ENEMY_STARTS)}

# How much a fact is trusted where facts contradict each other, the most trusted first. A referee
# that tells the flag knows it; a turn on rail depends on everything that was told before it.
FLAG_TOLD, MOVED, CONTACT, DEATH, TURN = range(5)

_BIT = {kind.piece: 1 << kind.piece for kind in KINDS}
ANY_KIND: Kinds = sum(_BIT.values())
_MOVERS = ANY_KIND & ~(_BIT[MINE] | _BIT[FLAG])
_COUNT = [0] * 16
for _kind in KINDS:
    _COUNT[_kind.piece] = _kind.count
_CODES = [kind.piece for kind in KINDS]

# By two points on one straight line of rail, the set of those between them.
_BETWEEN = {
    (origin, target): sum(1 << p for p in ray[:index])
    for origin in range(POINTS)
    for ray in RAIL_RAYS[origin]
    for index, target in enumerate(ray)
}

_RESULTS = (DEFENDER_WINS, ATTACKER_WINS, BOTH_REMOVED)
_ATTACKER_GONE = (DEFENDER_WINS, BOTH_REMOVED)
_DEFENDER_GONE = (ATTACKER_WINS, BOTH_REMOVED)

AT_START: tuple[Kinds, ...] = tuple(
    sum(_BIT[k] for k in _CODES if k not in ALLOWED or point in ALLOWED[k])
    for point in LAYOUT_POINTS
)


def _consistent(is_attacker: bool) -> dict[tuple[Piece, Contact], Kinds]:
    """By own kind and result, what the enemy may be as attacker, or as defender."""
    table: dict[tuple[Piece, Contact], Kinds] = {
        (own, result): 0 for own in _CODES for result in _RESULTS
    }
    for own in _CODES:
        for enemy in _CODES:
            pair = (enemy, own) if is_attacker else (own, enemy)
            if pair[0] not in (MINE, FLAG):
                table[own, contact(*pair)] |= _BIT[enemy]
    return table


_OF_ATTACKER = _consistent(is_attacker=True)
_OF_DEFENDER = _consistent(is_attacker=False)


class Fact(NamedTuple):
    """What one message says of one enemy piece."""

    slot: int
    kinds: Kinds
    trust: int
    """One of the constants above; small is good."""
    ply: int
    """Number of the ply that told it, from 0."""
    why: str


def deduce(view: View, log: Log | None = None) -> list[Kinds]:
    """The kinds that each of the enemy's slots can be: exactly those of some possible world.

    Never raises: facts that contradict more trusted ones are left out, and told to `log`.
    """
    facts = facts_of(view)
    masks = list(AT_START)
    for fact in facts:
        masks[fact.slot] &= fact.kinds
    exact = possible_kinds(masks)
    return _relaxed(facts, log or (lambda _text: None)) if exact is None else exact


def facts_of(view: View) -> list[Fact]:
    """Everything that was told of single enemy pieces, in the order of the plies."""
    return _Witness(view).facts


class _Witness:
    """Goes through the plies of a view and notes the facts."""

    def __init__(self, view: View) -> None:
        self.facts: list[Fact] = []
        self.enemy = view.enemy
        self.own_kinds = {man.start: man.piece for man in view.men if man.side == view.side}
        self.moved: set[int] = set()
        self.gone: set[int] = set()
        self.is_flag_told = False
        last = len(view.plies) - 1
        for scene in scenes(view):
            self._hear(scene, is_last=scene.ply == last)
        if view.enemy_flag in ENEMY_HEADQUARTERS:
            self._note(SLOT_OF_START[view.enemy_flag], _BIT[FLAG], FLAG_TOLD, last, "flag told")

    def _note(self, slot: int, kinds: Kinds, trust: int, ply: int, why: str) -> None:
        self.facts.append(Fact(slot, kinds, trust, ply, why))

    def _hear(self, scene: Scene, is_last: bool) -> None:
        ply, told = scene.ply, scene.told
        is_enemy = told.mover == self.enemy
        if is_enemy:
            self._hear_move(scene)
        # Where a message was believed against the rules, a side may have met its own piece.
        pair = (told.attacker, told.defender) if is_enemy else (told.defender, told.attacker)
        slot = None if pair[0] is None else SLOT_OF_START.get(pair[0])
        own = None if pair[1] is None else self.own_kinds.get(pair[1])
        if slot is not None and own is not None and told.result in _RESULTS:
            kinds = (_OF_ATTACKER if is_enemy else _OF_DEFENDER)[own, told.result]
            if not is_last:
                kinds &= ~_BIT[FLAG]  # the game went on
            self._note(slot, kinds, CONTACT, ply, f"met {piece_name(own)}, result {told.result}")
        is_gone = told.result in (_ATTACKER_GONE if is_enemy else _DEFENDER_GONE)
        self._hear_flag(ply, told, slot if is_gone else None)

    def _hear_move(self, scene: Scene) -> None:
        move = scene.told.move
        slot = SLOT_OF_START[scene.told.attacker]
        if slot not in self.moved:
            self.moved.add(slot)
            self._note(slot, _MOVERS, MOVED, scene.ply, "moved")
        if move.target not in NEIGHBOURS[move.origin] and self._is_turn(scene):
            self._note(slot, _BIT[ENGINEER], TURN, scene.ply, f"turned on rail {format_move(move)}")

    def _is_turn(self, scene: Scene) -> bool:
        """Whether of all pieces only an engineer could make this move."""
        origin, target = scene.told.move
        between = _BETWEEN.get(scene.told.move)
        if between is not None and not between & (scene.own | scene.enemy):
            return False
        pieces, owners = [HIDDEN] * POINTS, [NOBODY] * POINTS
        for point in range(POINTS):
            if scene.own >> point & 1:
                owners[point] = 1 - self.enemy
            elif scene.enemy >> point & 1:
                owners[point] = self.enemy
        pieces[origin], owners[origin] = ENGINEER, self.enemy
        return target in targets(Position(tuple(pieces), tuple(owners)), origin)

    def _hear_flag(self, ply: int, told: Told, gone: int | None) -> None:
        """A marshal's death tells the flag, so any other death tells that it was no marshal."""
        if self.is_flag_told:
            return
        if gone is not None:
            self.gone.add(gone)
        self.is_flag_told = told.flag in ENEMY_HEADQUARTERS
        if gone is not None and self.is_flag_told:
            self._note(gone, _BIT[MARSHAL], DEATH, ply, "gone when the flag was told")
        elif gone is not None:
            self._note(gone, ANY_KIND & ~_BIT[MARSHAL], DEATH, ply, "gone, no flag told")
        elif self.is_flag_told:
            # Told later than it should be: the marshal is one of those that are gone.
            self.facts = [fact for fact in self.facts if fact.trust != DEATH]
            for slot in set(range(SLOTS)) - self.gone:
                self._note(slot, ANY_KIND & ~_BIT[MARSHAL], DEATH, ply, "outlived the marshal")


def possible_kinds(masks: Sequence[Kinds]) -> list[Kinds] | None:
    """The kinds each slot has in some full assignment; None if there is none.

    One assignment is made. Another one differs from it by slots that pass their kinds round, so
    a slot can change from kind a to kind b if and only if slots lead back from b to a: if both
    lie in one strongly connected part of the graph in which a slot links the kind it has to every
    kind it may have.
    """
    world = any_world(masks)
    if world is None:
        return None
    reach = [0] * 16
    for mask, kind in zip(masks, world, strict=True):
        reach[kind] |= mask
    for middle in _CODES:
        bit, more = 1 << middle, reach[middle]
        for kind in _CODES:
            if reach[kind] & bit:
                reach[kind] |= more
    back = [0] * 16
    for kind in _CODES:
        bit = 1 << kind
        back[kind] = bit | sum(1 << k for k in _CODES if k != kind and reach[k] & bit)
    return [mask & back[kind] for mask, kind in zip(masks, world, strict=True)]


def any_world(masks: Sequence[Kinds]) -> list[Piece] | None:
    """Some assignment of kinds to slots with the right number of each; None if there is none."""
    world = [0] * SLOTS
    holders: list[list[int]] = [[] for _ in range(16)]
    for slot in sorted(range(SLOTS), key=lambda s: masks[s].bit_count()):
        if not _place(slot, masks, world, holders):
            return None
    return world


def _place(slot: int, masks: Sequence[Kinds], world: list[Piece], holders: list[list[int]]) -> bool:
    """Give a slot a kind; others change theirs if need be, along a shortest chain."""
    givers: dict[Piece, int] = {}
    queue = [slot]
    for taker in queue:
        for kind in _CODES:
            if kind in givers or not masks[taker] >> kind & 1:
                continue
            givers[kind] = taker
            if len(holders[kind]) < _COUNT[kind]:
                _pass_on(slot, kind, givers, world, holders)
                return True
            queue += holders[kind]
    return False


def _pass_on(
    slot: int, kind: Piece, givers: dict[Piece, int], world: list[Piece], holders: list[list[int]]
) -> None:
    """Follow a chain back from a kind that is free to the slot that had none."""
    while True:
        taker = givers[kind]
        holders[kind].append(taker)
        former, world[taker] = world[taker], kind
        if taker == slot:
            return
        holders[former].remove(taker)
        kind = former


def _relaxed(facts: list[Fact], log: Log) -> list[Kinds]:
    """The conclusions from as many facts as go together, the trusted and the newer ones first."""
    masks = list(AT_START)
    exact = possible_kinds(masks)
    assert exact is not None  # there are legal layouts
    for fact in sorted(facts, key=lambda fact: (fact.trust, -fact.ply)):
        trial = list(exact)
        trial[fact.slot] &= fact.kinds
        closer = possible_kinds(trial)
        if closer is None:
            where = point_name(ENEMY_STARTS[fact.slot])
            log(f"left out: ply {fact.ply + 1}: piece from {where}: {fact.why}")
        else:
            exact = closer
    return exact
