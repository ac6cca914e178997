"""What is concluded of the enemy's pieces, one deduction at a time and in whole games."""

import json
import random as python_random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_worlds import all_worlds, kinds_of, may_of

from junqi.behaviour import signs_of
from junqi.belief import Belief, Tables, learned
from junqi.belief_table import describe_belief, format_belief
from junqi.board import POINTS, parse_point, seen_from
from junqi.deduce import (
    AT_START,
    ENEMY_STARTS,
    FLAG_SLOTS,
    FLAG_TOLD,
    SLOTS,
    deduce,
    facts_of,
    possible_kinds,
)
from junqi.layout import Layout, format_layout, parse_layout, random_layouts
from junqi.pieces import (
    ATTACKER_WINS,
    BATTALION,
    BLACK,
    BOMB,
    BOTH_REMOVED,
    BRIGADE,
    COMPANY,
    DEFENDER_WINS,
    DIVISION,
    ENGINEER,
    FLAG,
    GENERAL,
    KINDS,
    MARSHAL,
    MINE,
    NO_CONTACT,
    PLATOON,
    RED,
    REGIMENT,
    Contact,
    Side,
)
from junqi.rules import Move, Position, parse_move, play
from junqi.simulate import parse_judge, play_game
from junqi.view import Told, View

# G0 is the marshal, G1 the general, G2 and G3 the divisions, G4 and H0 the brigades, H2 and H4 the
# regiments, J4 and K0 are platoons and so on to the flag on L3 and the last mine on L4.
LAYOUT = "abccddeeffggghhhiiijjkklj"
OFFICERS = set(range(ENGINEER, MARSHAL + 1))
MOVERS = OFFICERS | {BOMB}
FRONT = OFFICERS
EVERYTHING = {kind.piece for kind in KINDS}

Kinds = set[int]


class Story:
    """A view to which messages are added, whether or not the board would allow them."""

    def __init__(self, side: Side = RED) -> None:
        self.view = View.start(side, LAYOUT)
        self.log: list[str] = []

    def own(
        self, man: str, move: str, result: Contact, met: str | None = None, flag: str | None = None
    ) -> "Story":
        """The own piece that started at `man` moved, and perhaps met one that started at `met`."""
        return self._tell(self.view.side, man, move, result, met, flag)

    def enemy(
        self, man: str, move: str, result: Contact, met: str | None = None, flag: str | None = None
    ) -> "Story":
        """The enemy's piece that started at `man` moved, and perhaps met one of ours."""
        return self._tell(self.view.enemy, man, move, result, met, flag)

    def _tell(
        self, mover: Side, man: str, move: str, result: Contact, met: str | None, flag: str | None
    ) -> "Story":
        told = Told(
            mover,
            parse_move(move),
            result,
            parse_point(man),
            None if met is None else parse_point(met),
            None if flag is None else parse_point(flag),
            0.0,
        )
        self.view = replace(
            self.view,
            plies=(*self.view.plies, told),
            enemy_flag=self.view.enemy_flag if flag is None else parse_point(flag),
        )
        return self

    def kinds(self, start: str) -> Kinds:
        """What the enemy's piece that started on a point can be."""
        masks = deduce(self.view, self.log.append)
        return kinds_of(masks[ENEMY_STARTS.index(parse_point(start))])


def quiet() -> Story:
    """Nothing told so far."""
    return Story()


def without_corner() -> Story:
    """A regiment of ours has gone with the one on F0, and the rail is free from there to G0."""
    return quiet().own("H2", "G0F0", BOTH_REMOVED, "F0")


# Single facts


def test_at_the_start_only_the_rules_of_layouts_are_known() -> None:
    story = quiet()
    assert story.kinds("F2") == OFFICERS
    assert story.kinds("E2") == OFFICERS | {BOMB}
    assert story.kinds("B0") == EVERYTHING - {FLAG}
    assert story.kinds("A2") == EVERYTHING - {FLAG}
    assert story.kinds("A1") == story.kinds("A3") == EVERYTHING
    assert deduce(story.view) == list(AT_START)


def test_what_moves_is_no_mine() -> None:
    story = quiet().enemy("B0", "B0C1", NO_CONTACT)
    assert story.kinds("B0") == MOVERS


def test_a_turn_on_rail_is_an_engineers() -> None:
    # F0, and with it G0, are gone and E0 has stepped aside: from F1 round the corner to E0.
    story = without_corner().enemy("E0", "E0E1", NO_CONTACT)
    story.own("K0", "K0J1", NO_CONTACT).enemy("F1", "F1E0", NO_CONTACT)
    assert story.kinds("F1") == {ENGINEER}
    assert ENGINEER in story.kinds("E0")


def test_a_turn_on_rail_may_end_in_a_contact() -> None:
    story = without_corner().enemy("F1", "F1H0", ATTACKER_WINS, "K4")
    assert story.kinds("F1") == {ENGINEER}


def test_a_straight_move_on_rail_tells_nothing_more() -> None:
    story = without_corner().enemy("E0", "E0G0", NO_CONTACT)
    assert story.kinds("E0") == MOVERS


def test_a_straight_move_over_a_piece_is_no_engineers_either() -> None:
    # A message that no piece could obey: nothing is concluded from how it went.
    story = quiet().enemy("E0", "E0J0", NO_CONTACT)
    assert story.kinds("E0") == MOVERS


@pytest.mark.parametrize(
    ("result", "kinds"),
    [
        (DEFENDER_WINS, {MARSHAL, GENERAL}),
        (ATTACKER_WINS, {BRIGADE, REGIMENT, BATTALION, COMPANY, PLATOON, ENGINEER}),
        (BOTH_REMOVED, {DIVISION}),  # no bomb in the front row
    ],
)
def test_a_contact_tells_whom_we_attacked(result: Contact, kinds: Kinds) -> None:
    assert quiet().own("G2", "G2F2", result, "F2").kinds("F2") == kinds


@pytest.mark.parametrize(
    ("result", "kinds"),
    [
        (DEFENDER_WINS, {MARSHAL, GENERAL, MINE}),
        (ATTACKER_WINS, {BRIGADE, REGIMENT, BATTALION, COMPANY, PLATOON, ENGINEER}),
        (BOTH_REMOVED, {DIVISION, BOMB}),
    ],
)
def test_mines_and_bombs_defend_in_their_way(result: Contact, kinds: Kinds) -> None:
    assert quiet().own("G2", "G2B2", result, "B2").kinds("B2") == kinds


def test_what_an_engineer_of_ours_removes_is_a_mine() -> None:
    # L0 and L4 are mines; I-row letters are the engineers K1, K2, K3.
    assert quiet().own("K1", "K1B1", ATTACKER_WINS, "B1").kinds("B1") == {MINE}
    assert quiet().own("K1", "K1B1", BOTH_REMOVED, "B1").kinds("B1") == {ENGINEER, BOMB}


@pytest.mark.parametrize(
    ("result", "kinds"),
    [
        (DEFENDER_WINS, {BRIGADE, REGIMENT, BATTALION, COMPANY, PLATOON, ENGINEER}),
        (ATTACKER_WINS, {MARSHAL, GENERAL}),
        (BOTH_REMOVED, {DIVISION, BOMB}),
    ],
)
def test_a_contact_tells_who_attacked_us(result: Contact, kinds: Kinds) -> None:
    assert quiet().enemy("E2", "E2G2", result, "G2").kinds("E2") == kinds


def test_only_an_engineer_removes_our_mine_and_only_a_bomb_goes_with_it() -> None:
    assert quiet().enemy("E0", "E0K4", ATTACKER_WINS, "K4").kinds("E0") == {ENGINEER}
    assert quiet().enemy("E0", "E0K4", BOTH_REMOVED, "K4").kinds("E0") == {BOMB}
    lost = quiet().enemy("E0", "E0K4", DEFENDER_WINS, "K4").kinds("E0")
    assert lost == OFFICERS - {ENGINEER, MARSHAL}  # and no flag was told


def test_the_piece_that_goes_when_the_flag_is_told_was_the_marshal() -> None:
    story = quiet().own("G0", "G0F0", BOTH_REMOVED, "F0", flag="A1")
    assert story.kinds("F0") == {MARSHAL}
    assert story.kinds("A1") == {FLAG}
    assert FLAG not in story.kinds("A3")
    assert MARSHAL not in story.kinds("F1")
    bombed = quiet().enemy("E2", "E2H1", BOTH_REMOVED, "L1", flag="A3")
    assert bombed.kinds("E2") == {MARSHAL}


def test_what_goes_without_a_word_was_no_marshal() -> None:
    assert quiet().enemy("E2", "E2G2", BOTH_REMOVED, "L1").kinds("E2") == MOVERS - {MARSHAL}
    # Our marshal went with something that was no marshal, and not from the front row.
    assert quiet().own("G0", "G0E0", BOTH_REMOVED, "E0").kinds("E0") == {BOMB}


def test_a_flag_told_late_says_that_the_marshal_is_among_the_dead() -> None:
    story = quiet().enemy("E2", "E2G2", BOTH_REMOVED, "L1").own("K0", "K0J1", NO_CONTACT)
    story.enemy("F0", "F0E1", NO_CONTACT, flag="A1")
    assert MARSHAL not in story.kinds("F0")
    assert story.kinds("E2") == {MARSHAL}
    assert story.log == []


def test_a_headquarters_taken_without_an_end_held_no_flag() -> None:
    taken = quiet().own("G1", "G1A1", ATTACKER_WINS, "A1")
    assert FLAG in taken.kinds("A1")  # it may have ended
    taken.enemy("F0", "F0E1", NO_CONTACT)
    assert FLAG not in taken.kinds("A1")
    assert taken.kinds("A3") == {FLAG}
    bombed = quiet().own("L1", "L1A3", BOTH_REMOVED, "A3").enemy("F0", "F0E1", NO_CONTACT)
    assert bombed.kinds("A1") == {FLAG}
    lost = quiet().own("G1", "G1A1", DEFENDER_WINS, "A1")
    assert lost.kinds("A1") == {MARSHAL, MINE}


def test_black_concludes_the_same_as_red() -> None:
    for side in (RED, BLACK):
        story = Story(side).own("G2", "G2F2", BOTH_REMOVED, "F2").enemy("E0", "E0E1", NO_CONTACT)
        assert story.kinds("F2") == {DIVISION}
        assert story.kinds("E0") == MOVERS


# Numbers of each kind


def test_a_kind_that_is_used_up_is_nobody_elses() -> None:
    story = quiet().own("G2", "G2F2", BOTH_REMOVED, "F2").own("G3", "G3F4", BOTH_REMOVED, "F4")
    assert story.kinds("F2") == story.kinds("F4") == {DIVISION}
    assert all(DIVISION not in story.kinds(start) for start in ("F0", "E2", "B3", "A0"))


def test_two_that_must_be_two_kinds_leave_them_to_nobody() -> None:
    # Both beat a division: they are the marshal and the general, in some order.
    story = quiet().own("G2", "G2F2", DEFENDER_WINS, "F2").own("G3", "G3F4", DEFENDER_WINS, "F4")
    assert story.kinds("F2") == story.kinds("F4") == {MARSHAL, GENERAL}
    assert not {MARSHAL, GENERAL} & story.kinds("F0")
    # One of them beats the general too.
    story.own("G1", "G1F2", DEFENDER_WINS, "F2")
    assert story.kinds("F2") == {MARSHAL}
    assert story.kinds("F4") == {GENERAL}


def test_four_pieces_left_for_three_mines_and_the_flag_are_just_these() -> None:
    story = quiet()
    for start, aside in zip(
        ("B0", "B1", "B2", "B3", "B4"), ("C0", "C1", "C2", "C3", "C4"), strict=True
    ):
        story.enemy(start, start + aside, NO_CONTACT)
    assert story.kinds("A4") == EVERYTHING - {FLAG}
    story.enemy("A0", "A0B0", NO_CONTACT)
    assert story.kinds("A2") == story.kinds("A4") == {MINE}
    assert story.kinds("A1") == story.kinds("A3") == {MINE, FLAG}


@settings(max_examples=80)
@given(st.randoms(use_true_random=False))
def test_conclusions_from_numbers_are_those_of_all_worlds(random: python_random.Random) -> None:
    truth = parse_layout(LAYOUT).tolist()
    loose = random.sample(range(SLOTS), 7)
    slots = [
        {kind} | (set(random.sample(truth, random.randint(0, 3))) if slot in loose else set())
        for slot, kind in enumerate(truth)
    ]
    if random.random() < 0.3:
        slots[loose[0]].discard(truth[loose[0]])
    worlds = list(all_worlds(slots))
    found = possible_kinds(may_of(slots).tolist())
    if not worlds:
        assert found is None
    else:
        assert found is not None
        expected = [set(column) for column in zip(*worlds, strict=True)]
        assert [kinds_of(mask) for mask in found] == expected


def test_numbers_that_cannot_be_are_noticed() -> None:
    masks = list(AT_START)
    masks[0] = masks[1] = 1 << MARSHAL
    assert possible_kinds(masks) is None


# Contradictions


def test_of_two_facts_that_contradict_each_other_the_trusted_one_is_believed() -> None:
    story = without_corner().enemy("E0", "E0E1", NO_CONTACT)
    story.enemy("F1", "F1E0", NO_CONTACT)
    assert story.kinds("F1") == {ENGINEER}
    assert story.log == []
    story.enemy("F1", "E0G2", ATTACKER_WINS, "G2")  # it beats a division
    assert story.kinds("F1") == {MARSHAL, GENERAL}
    assert story.log == ["left out: ply 3: piece from F1: turned on rail F1E0"]


def test_of_two_contacts_the_newer_one_is_believed() -> None:
    story = quiet().enemy("E2", "E2G2", ATTACKER_WINS, "G2")
    story.enemy("E2", "G2J4", DEFENDER_WINS, "J4")
    assert story.kinds("E2") == {ENGINEER}
    assert len(story.log) == 1
    assert "ply 1: piece from E2: met division (c), result 1" in story.log[0]


def test_a_flag_that_was_told_is_believed_against_all() -> None:
    story = quiet().enemy("A1", "A1B1", NO_CONTACT).own("G0", "G0F0", BOTH_REMOVED, "F0", "A1")
    assert story.kinds("A1") == {FLAG}
    assert story.log


@settings(max_examples=60)
@given(st.randoms(use_true_random=False))
def test_whatever_is_told_there_is_a_belief_and_a_world(random: python_random.Random) -> None:
    view = View.start(random.choice((RED, BLACK)), LAYOUT)
    for _ in range(30):
        move = Move(random.randrange(POINTS), random.randrange(POINTS))
        flag = random.choice((None, None, None, random.randrange(POINTS), 1, 3))
        view = view.forced(random.choice((RED, BLACK)), move, random.randrange(4), flag)
    belief = Belief.of(view, lambda _line: None)
    assert possible_kinds(belief.masks.tolist()) == belief.masks.tolist()


# Whole games


def views_of(pair: tuple[Layout, Layout], moves: list[Move], side: Side) -> Iterator[View]:
    """What a side is told in a game, ply by ply, up to the last but one."""
    position = Position.from_layouts(*pair)
    view = View.start(side, format_layout(pair[side]))
    for move in moves[:-1]:
        yield view
        position, result = play(position, move)
        flag = position.told_flag(1 - side)
        view = view.after(
            move if side == RED else move.rotated(),
            result,
            None if flag is None else seen_from(flag, side),
        )
    yield view


def test_the_truth_is_possible_at_every_ply_of_many_games() -> None:
    pool = random_layouts(600, 11)
    log: list[str] = []
    certain = 0
    for game in range(300):
        pair = (pool[2 * game], pool[2 * game + 1])
        judge = parse_judge("policy" if game % 2 else "random")
        side = game // 2 % 2
        truth = pair[1 - side].tolist()
        views = list(views_of(pair, play_game(*pair, game, judge)[0], side))
        # What is known at a ply are the facts up to it: if they are true, it is at every ply.
        assert all(fact.kinds >> truth[fact.slot] & 1 for fact in facts_of(views[-1]))
        for view in (*views[5:-1:25], views[-1]):
            masks = deduce(view, log.append)
            assert all(mask >> kind & 1 for mask, kind in zip(masks, truth, strict=True))
        certain += sum(mask & (mask - 1) == 0 for mask in masks)
    assert log == []
    assert certain > 300  # and something was concluded


def test_facts_only_grow_in_number() -> None:
    pair = tuple(random_layouts(2, 6))
    views = list(views_of(pair, play_game(*pair, 6, parse_judge("policy"))[0], RED))
    all_facts = facts_of(views[-1])
    assert len(all_facts) > 20
    for view in views:
        earlier = [fact for fact in facts_of(view) if fact.trust != FLAG_TOLD]
        # Of the last contact it is not known yet whether it ended the game.
        assert [f[0:1] + f[2:] for f in earlier] == [
            f[0:1] + f[2:] for f in all_facts[: len(earlier)]
        ]


def test_a_belief_weighs_what_is_possible_and_nothing_else() -> None:
    pair = tuple(random_layouts(2, 4))
    moves = play_game(*pair, 4, parse_judge("policy"))[0]
    for view in list(views_of(pair, moves, RED))[::10]:
        belief = Belief.of(view)
        is_possible = (belief.masks[:, None] >> np.arange(16)) & 1 > 0
        assert not belief.weights[:, ~is_possible].any()
        others = is_possible.copy()
        others[list(FLAG_SLOTS)] = False
        assert (belief.weights[:, others] > 0).all()
        for side, slot in enumerate(FLAG_SLOTS):
            assert np.flatnonzero(belief.weights[side, slot]).tolist() in ([FLAG], [])
            assert belief.weights[1 - side, slot, FLAG] == 0
        points = [-1 if man.point is None else man.point for man in view.men[SLOTS:]]
        assert belief.slots.tolist() == points


# What is likely


def test_the_prior_is_the_same_from_left_and_right() -> None:
    belief = Belief.of(View.start(RED, LAYOUT))
    mirrored = [4, 3, 2, 1, 0, 7, 6, 5, 11, 10, 9, 8, 14, 13, 12, 19, 18, 17, 16, 15]
    mirrored += [24, 23, 22, 21, 20]
    np.testing.assert_array_equal(belief.weights[0], belief.weights[1][mirrored])


def test_every_sign_has_been_learned() -> None:
    signs = set(learned().signs)
    for seed in range(3):
        pair = tuple(random_layouts(2, seed))
        moves = play_game(*pair, seed, parse_judge("policy"))[0]
        for view in views_of(pair, moves, BLACK):
            assert {sign for row in signs_of(view) for sign in row} <= signs


def test_a_piece_that_stays_has_had_so_many_chances() -> None:
    story = quiet()
    assert signs_of(story.view)[0] == ["G stayed 0"]
    story.enemy("E0", "E0E1", NO_CONTACT)
    story.enemy("E4", "E4E3", NO_CONTACT)
    signs = signs_of(story.view)
    assert signs[0] == ["G stayed 2"]  # F4 could attack, or go to the camp
    assert signs[7] == ["H left 1"]  # E0
    assert signs[5] == ["H left 2"]  # E4
    # B1 is shut in: only the camp in front of it is free.
    assert signs[FLAG_SLOTS[0]] == []
    assert signs[22] == ["L stayed 0"]


def test_attacks_are_told_apart_by_what_was_known_of_us() -> None:
    story = quiet().enemy("F0", "F0G0", DEFENDER_WINS, "G0")
    story.own("H2", "H2H1", NO_CONTACT)
    story.enemy("F2", "F2G0", DEFENDER_WINS, "G0")
    story.enemy("F4", "F4H1", DEFENDER_WINS, "H2")
    signs = signs_of(story.view)
    assert signs[4][1:] == ["attacked unmoved"]
    assert signs[2][1:] == ["attacked known"]
    assert signs[0][1:] == ["attacked moved"]


def test_a_back_piece_that_stays_is_more_and_more_likely_a_mine() -> None:
    story = quiet()
    shares = []
    for _ in range(3):
        for _ in range(12):
            story.enemy("F0", "F0E1", NO_CONTACT)
        belief = describe_belief(story.view)
        (piece,) = [p for p in belief["pieces"] if p["start"] == "B0"]
        shares.append(piece["kinds"]["mine"])
    assert shares[0] < shares[1] < shares[2]


def test_without_tables_all_that_is_possible_is_equally_likely() -> None:
    belief = Belief.of(View.start(RED, LAYOUT), tables=Tables.uniform())
    assert set(np.unique(belief.weights)) == {0.0, 1.0}


# Tables for people


def test_tables_hold_all_probabilities() -> None:
    story = quiet().own("G2", "G2F2", BOTH_REMOVED, "F2").enemy("E0", "E0E1", NO_CONTACT)
    belief = json.loads(json.dumps(describe_belief(story.view)))
    assert [piece["start"] for piece in belief["pieces"]][:2] == ["F4", "F3"]
    for piece in belief["pieces"]:
        assert sum(piece["kinds"].values()) == pytest.approx(1)
    for kind in KINDS:
        assert sum(belief["kinds"][kind.english].values()) == pytest.approx(kind.count)
    assert belief["kinds"]["flag"] == pytest.approx({"A3": 0.5, "A1": 0.5}, abs=0.2)


def test_tables_read_like_this() -> None:
    view = View.start(RED, LAYOUT).after(parse_move("G2F2"), BOTH_REMOVED)
    lines = format_belief(view).splitlines()
    assert lines[0].split()[:4] == ["piece", "now", "mars", "gene"]
    assert lines[3] == "F2     gone     .    .  100    .    .    .    .    .    .    .    .    ."
    assert lines[-1].startswith("1 flag")
