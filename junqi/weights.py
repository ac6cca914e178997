"""The judgement of the simulated players: a handful of named weights, and the tables they make.

All values are in the same unit, about a sixteenth of a platoon. The tables are handed to the
kernels, so that two sets of weights can play each other without compiling anything again.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from junqi.board import (
    HEADQUARTERS_POINTS,
    IS_CAMP,
    IS_HEADQUARTERS,
    IS_RAIL,
    NEIGHBOURS,
    POINTS,
    REACHED,
    distances,
    rotate_point,
)
from junqi.kernels.knowledge import (
    IS_ENGINEER,
    IS_FLAG,
    MAY_BE_FLAG,
    MAY_BE_MINE,
    NO_BOMB,
    STRONGER_THAN,
)
from junqi.pieces import (
    ATTACKER_WINS,
    BLACK,
    BOMB,
    BOTH_REMOVED,
    DEFENDER_WINS,
    ENGINEER,
    FLAG,
    KINDS,
    MARSHAL,
    MINE,
    RED,
    Piece,
    contact,
)


@dataclass(frozen=True)
class PolicyWeights:
    """How the cheap policy judges a move."""

    officers: tuple[int, ...] = (39, 21, 29, 41, 50, 77, 113, 163, 208)
    """Worth of an engineer, a platoon, ... a marshal."""
    bomb: int = 92
    mine: int = 60
    flag: int = 1200
    suspicion: int = 155
    """Weight, in per cent, of the chance that a back-row piece which never moved is a mine."""
    boldness: int = -4
    """The least expected gain of a contact that is sought, while there is time."""
    patience: int = 24
    """Plies without contact before contacts are sought that gain less."""
    haste: int = 10
    """How much less they may then gain, for each further ply."""
    candidates: int = 3
    """Quiet moves looked at before one is chosen: more is stronger and slower."""
    defence: int = 257
    """Bonus for a contact next to the own flag."""
    advance: int = 4
    """For each step nearer to the enemy's headquarters, officers."""
    engineer_advance: int = -1
    camp: int = 12
    """For standing in a camp."""
    rail: int = 5
    guard: int = 43
    """For each piece that stays next to the own flag."""
    run: int = 15
    """For each step nearer to the enemy flag, once its place is told."""
    trap: int = 127
    """Against entering a headquarters, which no piece leaves again."""


@dataclass(frozen=True)
class PolicyTables:
    """The arrays a policy player is handed."""

    gain: NDArray[np.int32]
    """``int32[16 * 256]``: expected gain of an attacker meeting a piece known so."""
    place: NDArray[np.int32]
    """``int32[2 * 2 * 3 * 16 * 64]``: worth of a piece on a point, by own side, own flag's
    headquarters, and the enemy flag's (not told, or told)."""
    limits: NDArray[np.int32]
    """``int32[5]``: boldness, patience, haste, defence, candidates."""


def piece_values(weights: PolicyWeights) -> dict[Piece, int]:
    """The worth of each kind."""
    values = dict(enumerate(weights.officers, start=ENGINEER))
    return values | {BOMB: weights.bomb, MINE: weights.mine, FLAG: weights.flag}


def possible_kinds(known: int, weights: PolicyWeights) -> dict[Piece, float]:
    """The chances of each kind for a piece of which this byte is known."""
    bound = known & STRONGER_THAN
    if bound == IS_FLAG:
        return {FLAG: 1.0}
    if bound == IS_ENGINEER:
        return {ENGINEER: 1.0}
    chances: dict[Piece, float] = {}
    for kind in KINDS:
        if kind.piece == FLAG:
            # Half of all headquarters hold a flag: as likely as all else together.
            chances[FLAG] = 21.0 if known & MAY_BE_FLAG and not bound else 0.0
        elif kind.piece == MINE:
            chances[MINE] = 10.5 * weights.suspicion / 100 if known & MAY_BE_MINE else 0.0
        elif kind.piece == BOMB:
            chances[BOMB] = 0.0 if known & NO_BOMB else kind.count
        else:
            chances[kind.piece] = kind.count if kind.piece > bound else 0.0
    total = sum(chances.values())
    return {piece: chance / total for piece, chance in chances.items()} if total else {}


def policy_tables(weights: PolicyWeights) -> PolicyTables:
    """Everything that follows from the weights, worked out once."""
    return PolicyTables(
        _gain_table(weights),
        _place_table(weights),
        np.array(
            [
                weights.boldness,
                weights.patience,
                weights.haste,
                weights.defence,
                weights.candidates,
            ],
            dtype=np.int32,
        ),
    )


def _gain_table(weights: PolicyWeights) -> NDArray[np.int32]:
    values = piece_values(weights)
    table = np.zeros((16, 256), dtype=np.int32)
    for known in range(256):
        chances = possible_kinds(known, weights)
        for attacker in (*range(ENGINEER, MARSHAL + 1), BOMB):
            gain = 0.0
            for defender, chance in chances.items():
                result = contact(attacker, defender)
                if result in (ATTACKER_WINS, BOTH_REMOVED):
                    gain += chance * values[defender]
                if result in (DEFENDER_WINS, BOTH_REMOVED):
                    gain -= chance * values[attacker]
            table[attacker, known] = round(gain)
    return table.ravel()


def _place_table(weights: PolicyWeights) -> NDArray[np.int32]:
    table = np.zeros((2, 2, 3, 16, 64), dtype=np.int32)
    enemy_headquarters = HEADQUARTERS_POINTS[BLACK]
    goals = (enemy_headquarters, enemy_headquarters[:1], enemy_headquarters[1:])
    for own_index, own_flag in enumerate(HEADQUARTERS_POINTS[RED]):
        for told, goal in enumerate(goals):
            distance = distances(goal, NEIGHBOURS)
            for piece in (*range(ENGINEER, MARSHAL + 1), BOMB):
                step = weights.engineer_advance if piece == ENGINEER else weights.advance
                step += weights.run if told else 0
                for p in range(POINTS):
                    worth = -step * distance[p]
                    worth += weights.camp * IS_CAMP[p] + weights.rail * IS_RAIL[p]
                    worth += weights.guard * (p in NEIGHBOURS[own_flag])
                    worth -= weights.trap * IS_HEADQUARTERS[p]
                    table[0, own_index, told, piece, p] = worth
                    # The side at the top sees its own flag and the enemy's turned round.
                    turned = (1, 1 - own_index, (0, 2, 1)[told], piece, rotate_point(p))
                    table[turned] = worth
    return table.ravel()


@dataclass(frozen=True)
class SearchWeights:
    """How the searching player judges a position."""

    officers: tuple[int, ...] = (40, 22, 30, 44, 64, 90, 120, 156, 190)
    bomb: int = 80
    mine: int = 40
    advance: int = 1
    camp: int = 6
    rail: int = 2
    guard: int = 5
    trap: int = 30
    raid: tuple[int, ...] = (30, 15, 6)
    """For a piece that is one, two or three moves from the enemy flag."""
    wariness: int = 200
    """How much the chance of meeting a mine counts beyond what the sampled worlds show, in per
    cent. 0, 50, 100, 200 and 400 scored 77.6, 78.6, 80.0, 79.3 and 78.2 +- 3.7 % against the
    policy."""
    clip: int = 2000
    """No sampled world counts more than this for or against a move."""
    margin: int = 2000
    """In a world, a move counts as worse than the best by no more than this."""


@dataclass(frozen=True)
class SearchTables:
    """The arrays a searching player is handed."""

    worths: NDArray[np.int32]
    """``int32[2, 2, 2048]``: worth of each side's kinds on each point, by the two flags' places."""
    limits: NDArray[np.int32]
    """``int32[4]``: clip, margin, the most that a quiet move gains, wariness."""


def search_tables(weights: SearchWeights) -> SearchTables:
    """Everything that follows from the weights, worked out once."""
    values = dict(enumerate(weights.officers, start=ENGINEER))
    values |= {BOMB: weights.bomb, MINE: weights.mine, FLAG: 0}
    table = np.zeros((2, 2, 2, 16, 64), dtype=np.int32)
    for red_index, red_flag in enumerate(HEADQUARTERS_POINTS[RED]):
        for black_index, black_flag in enumerate(HEADQUARTERS_POINTS[BLACK]):
            for side, own_flag, enemy_flag in (
                (RED, red_flag, black_flag),
                (BLACK, black_flag, red_flag),
            ):
                distance = distances((enemy_flag,), NEIGHBOURS)
                away = distances((enemy_flag,), REACHED)
                for piece, value in values.items():
                    for p in range(POINTS):
                        worth = value
                        if piece not in (MINE, FLAG):
                            worth -= weights.advance * distance[p]
                            worth += weights.camp * IS_CAMP[p] + weights.rail * IS_RAIL[p]
                            worth -= weights.trap * IS_HEADQUARTERS[p]
                            if away[p] <= len(weights.raid):
                                worth += weights.raid[away[p] - 1]
                        worth += weights.guard * (p in NEIGHBOURS[own_flag])
                        table[red_index, black_index, side, piece, p] = worth
    limits = [weights.clip, weights.margin, most_quiet_gain(table), weights.wariness]
    return SearchTables(table.reshape(2, 2, 2048), np.array(limits, dtype=np.int32))


def most_quiet_gain(worths: NDArray[np.int32]) -> int:
    """What no quiet move gains more than, by the worths ``int32[2, 2, 2, 16, 64]`` of pieces."""
    movers = worths[:, :, :, [*range(ENGINEER, MARSHAL + 1), BOMB], :POINTS]
    leaving = np.where(IS_HEADQUARTERS, np.iinfo(np.int32).max, movers).min(axis=-1)
    return int((movers.max(axis=-1) - leaving).max())
