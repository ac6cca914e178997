"""What a searching player concludes, and the worlds it draws from that."""

import random
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from following import first_state, follow
from hypothesis import given, settings
from hypothesis import strategies as st

from junqi.board import parse_point
from junqi.kernels.worlds import (
    ALL_KINDS,
    GONE_POINT,
    MAY_AT_START,
    SLOTS,
    mend_world,
    mix_world,
    start_tracking,
    track,
)
from junqi.layout import format_layout, layout_problems, random_layouts
from junqi.pieces import (
    BATTALION,
    BLACK,
    BOMB,
    BRIGADE,
    COMPANY,
    DIVISION,
    ENGINEER,
    FLAG,
    GENERAL,
    KINDS,
    MARSHAL,
    MINE,
    PLATOON,
    RED,
    REGIMENT,
)
from junqi.rules import Position, parse_move
from junqi.simulate import parse_judge

At = Callable[..., Position]
Kinds = set[int]
May = np.ndarray

EVERYTHING = {kind.piece for kind in KINDS}
OFFICERS = set(range(ENGINEER, MARSHAL + 1))
MOVERS = OFFICERS | {BOMB}


def kinds_of(word: int) -> Kinds:
    return {kind for kind in EVERYTHING if int(word) >> kind & 1}


def may_of(slots: list[Kinds]) -> May:
    return np.array([sum(1 << kind for kind in kinds) for kinds in slots], np.uint16)


def is_allowed(may: May, world: np.ndarray) -> bool:
    return all(int(may[slot]) >> kind & 1 for slot, kind in enumerate(world.tolist()))


def all_worlds(slots: list[Kinds]) -> Iterator[tuple[int, ...]]:
    """Every assignment that is allowed, by trying."""
    left = Counter(ALL_KINDS.tolist())

    def fill(slot: int) -> Iterator[tuple[int, ...]]:
        if slot == SLOTS:
            yield ()
            return
        for kind in sorted(slots[slot]):
            if left[kind]:
                left[kind] -= 1
                yield from ((kind, *rest) for rest in fill(slot + 1))
                left[kind] += 1

    return fill(0)


def tight(truth: list[int], loose: dict[int, Kinds]) -> list[Kinds]:
    """Everything known of a layout but for a few slots."""
    return [loose.get(slot, set()) | {kind} for slot, kind in enumerate(truth)]


def draw(may: May, world: np.ndarray, draws: int, seed: int = 1) -> Counter[tuple[int, ...]]:
    """Worlds drawn so far apart that they are independent."""
    state = first_state(seed)
    drawn: Counter[tuple[int, ...]] = Counter()
    for _ in range(draws):
        state = np.uint64(mix_world(may, world, 2000, state))
        drawn[tuple(world.tolist())] += 1
    return drawn


def assert_equally_likely(slots: list[Kinds]) -> int:
    """Draw worlds and compare with all that there are; returns their number."""
    worlds = list(all_worlds(slots))
    may = may_of(slots)
    world = ALL_KINDS.copy()
    assert mend_world(may, world)
    expected = 100
    drawn = draw(may, world, expected * len(worlds))
    assert set(drawn) == set(worlds)
    chi_square = sum((count - expected) ** 2 / expected for count in drawn.values())
    free = len(worlds) - 1
    assert abs(chi_square - free) < 5 * np.sqrt(2 * free) + 5
    return len(worlds)


# Drawing


# A layout in which everything is known but what a case leaves open: the marshal in slot 0, ...
TRUTH = [kind.piece for kind in KINDS for _ in range(kind.count)]


@pytest.mark.parametrize(
    ("loose", "worlds"),
    [
        ({0: {GENERAL}, 1: {MARSHAL}}, 2),
        ({slot: {MARSHAL, GENERAL, DIVISION} for slot in range(4)}, 12),
        ({slot: {GENERAL, DIVISION, BRIGADE, BOMB} for slot in (1, 2, 4, 22)}, 24),
        ({18: {MINE, FLAG}, 19: {ENGINEER, FLAG}, 24: {ENGINEER, MINE}}, 6),
        ({slot: {BRIGADE, REGIMENT} for slot in (4, 5, 6, 7)}, 6),
        ({8: {REGIMENT, COMPANY}, 9: {REGIMENT}, 6: {BATTALION}, 10: {BATTALION, PLATOON}}, 5),
        ({0: {DIVISION}, 1: {DIVISION}, 2: {MARSHAL, GENERAL}}, 3),
    ],
)
def test_all_worlds_are_equally_likely(loose: dict[int, Kinds], worlds: int) -> None:
    assert assert_equally_likely(tight(TRUTH, loose)) == worlds


def test_three_pieces_pass_their_kinds_round_where_no_two_could_exchange_them() -> None:
    # A brigade and a regiment of ours were removed together with what they met, and a third
    # piece is between the two: either of the first may have been the bomb.
    loose = {4: {BOMB}, 22: {REGIMENT}, 6: {BRIGADE}}
    slots = [{kind} for kind in TRUTH]
    slots[4], slots[22], slots[6] = {BRIGADE, BOMB}, {REGIMENT, BOMB}, {BRIGADE, REGIMENT}
    assert slots == tight(TRUTH, loose)
    assert assert_equally_likely(slots) == 2


@pytest.mark.parametrize("seed", range(12))
def test_all_worlds_are_equally_likely_when_ranks_are_bounded(seed: int) -> None:
    """Slots as messages leave them: a rank between two others, or equal to one or a bomb."""
    rng = random.Random(seed)
    while True:
        truth = rng.sample(TRUTH, SLOTS)
        loose = {}
        for slot in rng.sample([s for s in range(SLOTS) if truth[s] in MOVERS], 7):
            kind = truth[slot]
            rank = rng.choice(sorted(OFFICERS)) if kind == BOMB else kind
            if kind == BOMB or rng.random() < 0.3:
                loose[slot] = {rank, BOMB}
            else:
                loose[slot] = set(range(rng.randint(1, rank), rng.randint(rank, MARSHAL) + 1))
        slots = tight(truth, loose)
        if 6 <= sum(1 for _ in zip(all_worlds(slots), range(61), strict=False)) <= 60:
            break
    assert_equally_likely(slots)


def test_the_first_worlds_of_a_game_are_like_random_layouts() -> None:
    world = ALL_KINDS.copy()
    assert mend_world(MAY_AT_START, world)
    draws = 2000
    drawn = draw(MAY_AT_START, world, draws, seed=3)
    worlds = np.array([w for w, count in drawn.items() for _ in range(count)])
    layouts = random_layouts(20_000, 4)
    for kind in EVERYTHING:
        share = (layouts == kind).mean(axis=0)
        error = np.sqrt(share * (1 - share) * (1 / draws + 1 / len(layouts)))
        difference = (worlds == kind).mean(axis=0) - share
        assert (np.abs(difference) <= 4.5 * error).all(), kind


def test_drawing_keeps_to_what_is_allowed_and_to_the_counts() -> None:
    slots = tight(TRUTH, {slot: {DIVISION, BRIGADE, ENGINEER} for slot in range(16)})
    world = np.array(TRUTH, np.uint8)
    state = first_state(5)
    for _ in range(2000):
        state = np.uint64(mix_world(may_of(slots), world, 1, state))
        assert is_allowed(may_of(slots), world)
        assert sorted(world.tolist()) == sorted(TRUTH)


def test_the_same_state_draws_the_same_world() -> None:
    one, two = np.array(TRUTH, np.uint8), np.array(TRUTH, np.uint8)
    everything = may_of([EVERYTHING] * SLOTS)
    assert mix_world(everything, one, 80, np.uint64(9)) == mix_world(
        everything, two, 80, np.uint64(9)
    )
    assert (one == two).all()
    assert mix_world(everything, two, 0, np.uint64(9)) == 9
    assert (one == two).all()


# Mending


restrictions = st.lists(
    st.sets(st.sampled_from(sorted(EVERYTHING)), max_size=6), min_size=SLOTS, max_size=SLOTS
)
orders = st.permutations(TRUTH)


@given(orders, restrictions, orders)
def test_a_world_is_mended_whenever_there_is_one(
    truth: list[int], noise: list[Kinds], start: list[int]
) -> None:
    may = may_of([kinds | {kind} for kinds, kind in zip(noise, truth, strict=True)])
    world = np.array(start, np.uint8)
    assert mend_world(may, world)
    assert is_allowed(may, world)
    assert sorted(world.tolist()) == sorted(TRUTH)


@given(orders, restrictions)
def test_a_world_that_is_allowed_is_left_alone(truth: list[int], noise: list[Kinds]) -> None:
    may = may_of([kinds | {kind} for kinds, kind in zip(noise, truth, strict=True)])
    world = np.array(truth, np.uint8)
    assert mend_world(may, world)
    assert world.tolist() == truth


def has_world(slots: list[Kinds]) -> bool:
    """Whether any assignment is allowed: each piece finds a slot, by augmenting paths."""
    holder: dict[int, int] = {}

    def settle(piece: int, tried: set[int]) -> bool:
        for slot in range(SLOTS):
            if TRUTH[piece] in slots[slot] and slot not in tried:
                tried.add(slot)
                if slot not in holder or settle(holder[slot], tried):
                    holder[slot] = piece
                    return True
        return False

    return all(settle(piece, set()) for piece in range(SLOTS))


@settings(max_examples=200)
@given(orders, restrictions, orders, st.integers(0, SLOTS))
def test_mending_tells_whether_there_is_a_world(
    truth: list[int], noise: list[Kinds], start: list[int], told: int
) -> None:
    slots = [
        kinds | ({kind} if slot >= told else set())
        for slot, (kinds, kind) in enumerate(zip(noise, truth, strict=True))
    ]
    world = np.array(start, np.uint8)
    is_mended = mend_world(may_of(slots), world)
    assert is_mended == has_world(slots)
    assert sorted(world.tolist()) == sorted(TRUTH)
    assert not is_mended or is_allowed(may_of(slots), world)


def test_two_marshals_make_no_world() -> None:
    slots = [EVERYTHING] * SLOTS
    assert mend_world(may_of(slots), ALL_KINDS.copy())
    slots = [{MARSHAL}, {MARSHAL}, *[EVERYTHING] * (SLOTS - 2)]
    assert not mend_world(may_of(slots), ALL_KINDS.copy())


# Concluding


class Told:
    """What both sides conclude from moves on a board where nothing was known."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.board = np.zeros(64, np.uint8)
        self.board[:60] = position.pieces
        self.slots = np.zeros(64, np.uint8)
        self.where = np.full((2, SLOTS), GONE_POINT, np.uint8)
        self.may = np.array([may_of([EVERYTHING] * SLOTS)] * 2)
        self.sets = []
        for side in (RED, BLACK):
            points = position.points_of(side)
            self.sets.append(np.uint64(sum(1 << point for point in points)))
            for slot, point in enumerate(points):
                self.slots[point], self.where[side, slot] = slot, point

    def after(self, text: str) -> "Told":
        """Let the owner of the piece on the origin make a move."""
        move = parse_move(text)
        side = self.position.owners[move.origin]
        self.mover, self.attacker = side, self.slots[move.origin]
        self.defender = self.slots[move.target]
        track(
            self.board,
            self.slots,
            self.where,
            self.may,
            np.uint64(move.origin),
            np.uint64(move.target),
            side,
            self.sets[side],
            self.sets[1 - side],
        )
        return self

    def of_attacker(self) -> Kinds:
        return kinds_of(self.may[self.mover, self.attacker])

    def of_defender(self) -> Kinds:
        return kinds_of(self.may[1 - self.mover, self.defender])

    def of(self, name: str) -> Kinds:
        point = parse_point(name)
        side = self.position.owners[point]
        slot = self.position.points_of(side).index(point)
        return kinds_of(self.may[side, slot])


def test_at_the_start_a_piece_may_be_what_the_layout_rules_allow() -> None:
    slots, where = np.zeros(64, np.uint8), np.zeros((2, SLOTS), np.uint8)
    may = np.zeros((2, SLOTS), np.uint16)
    start_tracking(slots, where, may)
    assert (may[0] == may[1]).all()
    assert (where[0].astype(int) + where[1] == 59).all()
    for index in range(SLOTS):
        assert slots[where[0, index]] == slots[where[1, index]] == index
        allowed = {
            kind.piece
            for kind in KINDS
            if not any(
                text.startswith(f"{kind.english} ") and " must " in text
                for text in layout_problems("m" * index + kind.letter + "m" * (24 - index))
            )
        }
        assert kinds_of(may[0, index]) == allowed


def test_what_moves_is_neither_mine_nor_flag(at: At) -> None:
    assert Told(at("aG0 LA1")).after("G0F0").of_attacker() == MOVERS


def test_what_turns_on_rail_is_an_engineer(at: At) -> None:
    assert Told(at("iK0 LA1")).after("K0G4").of_attacker() == {ENGINEER}


def test_what_turns_on_rail_to_attack_is_an_engineer(at: At) -> None:
    told = Told(at("iK0 CG4 LA1")).after("K0G4")
    assert told.of_attacker() == {ENGINEER}
    assert told.of_defender() == {*OFFICERS} - {ENGINEER}


@pytest.mark.parametrize("move", ["K0K1", "K0G0", "K0F0", "K0K4"])
def test_an_engineer_that_goes_straight_may_be_anything_that_moves(at: At, move: str) -> None:
    assert Told(at("iK0 LA1")).after(move).of_attacker() == MOVERS


def test_a_straight_way_that_is_blocked_is_no_straight_way(at: At) -> None:
    # The engineer reaches its target on its own line, but only round what stands between.
    assert Told(at("iK0 jI0 LA1")).after("K0G0").of_attacker() == {ENGINEER}
    assert Told(at("iK0 LA1")).after("K0G0").of_attacker() == MOVERS


@pytest.mark.parametrize(
    ("attacker", "defender", "of_attacker", "of_defender"),
    [
        # The attacker stays: it is stronger than what it met; an engineer has met a mine.
        ("c", "e", {DIVISION, GENERAL, MARSHAL, BRIGADE}, OFFICERS - {MARSHAL, GENERAL, DIVISION}),
        ("a", "i", OFFICERS - {ENGINEER}, OFFICERS - {MARSHAL}),
        ("i", "j", {ENGINEER}, {MINE}),
        # The attacker is gone: the defender is stronger, or a mine.
        ("e", "c", OFFICERS - {MARSHAL, GENERAL, DIVISION}, {BRIGADE, DIVISION, GENERAL, MARSHAL,
                                                             MINE}),
        ("i", "h", {ENGINEER}, OFFICERS - {ENGINEER}),
        ("c", "j", OFFICERS - {ENGINEER, MARSHAL}, {GENERAL, MARSHAL, MINE}),
        # Both are gone: they were equal, or one of them was a bomb.
        ("e", "e", {REGIMENT, BOMB}, {REGIMENT, BOMB}),
        ("k", "e", {REGIMENT, BOMB}, (OFFICERS | {BOMB, MINE}) - {MARSHAL}),
        ("e", "k", (OFFICERS | {BOMB}) - {MARSHAL}, {REGIMENT, BOMB}),
        ("k", "k", (OFFICERS | {BOMB}) - {MARSHAL}, (OFFICERS | {BOMB, MINE}) - {MARSHAL}),
        ("k", "j", {BOMB}, (OFFICERS | {BOMB, MINE}) - {MARSHAL}),
    ],
)  # fmt: skip
def test_a_contact_tells_each_side_by_what_it_lost_or_beat(
    at: At, attacker: str, defender: str, of_attacker: Kinds, of_defender: Kinds
) -> None:
    told = Told(at(f"{attacker}G0 {defender.upper()}F0 LA1 lL1")).after("G0F0")
    assert told.of_attacker() == of_attacker
    assert told.of_defender() == of_defender


def test_what_is_concluded_adds_up(at: At) -> None:
    told = Told(at("dG0 EF0 CE0 LA1 lL1"))
    told.after("G0F0")
    assert told.of_attacker() == {BRIGADE, DIVISION, GENERAL, MARSHAL}
    told.board[[parse_point("G0"), parse_point("F0")]] = 0, BRIGADE
    told.position = at("dF0 CE0 LA1 lL1")
    told.after("F0E0")
    assert told.of_attacker() == {BRIGADE}


def test_a_marshal_that_dies_is_known_and_shows_its_flag(at: At) -> None:
    told = Told(at("kG0 AF0 LA1 KA3 FB2 cH0 lL1")).after("G0F0")
    assert told.of_defender() == {MARSHAL}
    assert told.of("A1") == {FLAG}
    assert told.of("A3") == told.of("B2") == EVERYTHING - {FLAG}
    # Of the other side nothing is told but what the contact was.
    assert told.of_attacker() == {MARSHAL, BOMB} - {MARSHAL}
    assert told.of("L1") == told.of("H0") == EVERYTHING


def test_both_marshals_dying_show_both_flags(at: At) -> None:
    told = Told(at("aG0 AF0 LA1 KA3 cH0 lL1")).after("G0F0")
    assert told.of_attacker() == told.of_defender() == {MARSHAL}
    assert told.of("A1") == told.of("L1") == {FLAG}
    assert FLAG not in told.of("A3") | told.of("H0")


def test_a_marshal_that_dies_attacking_shows_its_flag(at: At) -> None:
    told = Told(at("aG0 JF0 LA1 lL1 hL3")).after("G0F0")
    assert told.of_attacker() == {MARSHAL}
    assert told.of_defender() == {MINE}
    assert told.of("L1") == {FLAG}
    assert FLAG not in told.of("L3")
    assert told.of("A1") == EVERYTHING


def test_what_dies_without_a_word_was_no_marshal(at: At) -> None:
    assert MARSHAL not in Told(at("aG0 BF0 LA1 lL1")).after("G0F0").of_defender()


def test_pieces_are_followed_to_where_they_stand(at: At) -> None:
    told = Told(at("cG0 EF0 HE0 LA1 lL1")).after("G0F0")
    red, black = told.where.tolist()
    assert red[0] == parse_point("F0")
    assert told.slots[parse_point("F0")] == 0
    assert black[told.position.points_of(BLACK).index(parse_point("F0"))] == GONE_POINT
    told = Told(at("eG0 CF0 LA1 lL1")).after("G0F0")
    assert told.where[RED, 0] == GONE_POINT
    assert parse_point("F0") in told.where[BLACK]
    told = Told(at("eG0 EF0 LA1 lL1")).after("G0F0")
    assert told.where[RED, 0] == GONE_POINT
    assert parse_point("F0") not in told.where[BLACK]


@pytest.mark.parametrize("judge", ["policy", "search:2x2"])
def test_there_is_a_world_at_every_ply_of_a_game(judge: str) -> None:
    worlds = np.array([ALL_KINDS, ALL_KINDS])
    for seed in range(90, 96):
        red, black = random_layouts(2, seed)
        for follower, _ in follow((red, black), seed, parse_judge(judge)):
            for side in (RED, BLACK):
                assert mend_world(follower.may[side], worlds[side])
                assert is_allowed(follower.may[side], worlds[side])
                assert layout_problems(format_layout(worlds[side])) == []
