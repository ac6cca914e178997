"""A best response: a genetic algorithm looks for the layout that does best against opponents.

Games are allotted by racing: every newborn layout plays a few, the better quarter of them four
times as many more, and who lives on is scored again in each generation, so that no layout lives
on one lucky series. What is told of the best in the end comes from games of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np
from deap import base, tools
from numpy.typing import NDArray

from junqi.layout import Layout, mirror_layout, random_layouts
from junqi.simulate import Judge
from layout_search.fitness import Opponents, score
from layout_search.genome import Individual, mate, mutate, to_array
from layout_search.settings import TESTED, Settings
from layout_search.workers import ALL_CORES, Workers

# Shares of a first population: as they are given, changed, and random ones for the rest.
PARENTS_SHARE = 0.25
MUTANTS_SHARE = 0.5
MATING = 0.6
TOURNAMENT = 3
# A score of few games is drawn towards this one, as if so many games had been played with it.
PRIOR_SCORE = 0.45
PRIOR_GAMES = 100


Bonus = Callable[[Layout], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Response:
    """A layout found, and its score in games that did not choose it."""

    layout: Layout
    score: float
    games: int


def respond(
    opponents: Opponents,
    parents: Layout,
    settings: Settings,
    seed: tuple[int, ...],
    judge: Judge,
    workers: Workers = ALL_CORES,
    report: Callable[[int, float, int], None] = lambda generation, best, games: None,
    bonus: Bonus | None = None,
) -> list[Response]:
    """Breed layouts against opponents; the best ones, best first.

    Args:
        parents: layouts to begin with, ``int8[n, 25]``; the rest of the population is random.
        seed: any numbers that name this call within the run.
        bonus: what layouts are worth beside what they score.
        report: told of each generation: its number, the best estimate, games played in it.
    """
    random = Random(repr(seed))
    toolbox = _toolbox(random)
    population = _first_population(parents, settings, seed, toolbox)
    survivors = max(2, settings.population // 4)
    living: list[Individual] = []
    for generation in range(settings.generations):
        newborn = population if generation == 0 else _offspring(living, settings, toolbox)
        if bonus is not None:
            for individual, value in zip(newborn, bonus(to_array(newborn)).tolist(), strict=True):
                individual.bonus = value
        played = _race(newborn, living, opponents, settings, (*seed, generation), judge, workers)
        living = tools.selBest(_unlike(living + newborn), survivors)
        report(generation, living[0].fitness.values[0] - living[0].bonus, played)
    best = to_array(living[:TESTED])
    tested = score(
        best, opponents, settings.test_games, (*seed, settings.generations), judge, workers
    )
    worth = tested if bonus is None else tested + bonus(best)
    order = np.argsort(-worth, kind="stable")
    return [Response(best[i], float(tested[i]), settings.test_games) for i in order]


def _toolbox(random: Random) -> base.Toolbox:
    toolbox = base.Toolbox()
    toolbox.register("mate", mate, random=random)
    toolbox.register("mutate", mutate, random=random)
    toolbox.register("choose", _choose, random=random)
    toolbox.register("chance", random.random)
    return toolbox


def _first_population(
    parents: Layout, settings: Settings, seed: tuple[int, ...], toolbox: base.Toolbox
) -> list[Individual]:
    population = [Individual(p) for p in parents[: int(PARENTS_SHARE * settings.population)]]
    for index in range(int(MUTANTS_SHARE * settings.population) if len(parents) else 0):
        mutant = Individual(parents[index % len(parents)])
        toolbox.mutate(mutant)
        population.append(mutant)
    missing = settings.population - len(population)
    number = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
    return population + [Individual(layout) for layout in random_layouts(missing, number)]


def _offspring(
    living: list[Individual], settings: Settings, toolbox: base.Toolbox
) -> list[Individual]:
    children: list[Individual] = []
    while len(children) < settings.population:
        one, two = toolbox.choose(living), toolbox.choose(living)
        child = toolbox.mate(one, two) if toolbox.chance() < MATING else Individual(one)
        if child == one or toolbox.chance() < 0.5:
            toolbox.mutate(child)
        children.append(child)
    return _unlike(children)


def _choose(living: list[Individual], random: Random) -> Individual:
    """The best of a few drawn ones."""
    drawn = (random.choice(living) for _ in range(TOURNAMENT))
    return max(drawn, key=lambda one: one.fitness.values[0])


def _race(
    newborn: list[Individual],
    living: list[Individual],
    opponents: Opponents,
    settings: Settings,
    seed: tuple[int, ...],
    judge: Judge,
    workers: Workers,
) -> int:
    """Play the games of a generation; returns how many there were."""
    _play(newborn, opponents, settings.games, (*seed, 0), judge, workers)
    better = tools.selBest(newborn, max(1, len(newborn) // 4))
    _play(better + living, opponents, 4 * settings.games, (*seed, 1), judge, workers)
    return settings.games * (len(newborn) + 4 * (len(better) + len(living)))


def _play(
    individuals: list[Individual],
    opponents: Opponents,
    games: int,
    seed: tuple[int, ...],
    judge: Judge,
    workers: Workers,
) -> None:
    """Add games to the scores of individuals."""
    means = score(to_array(individuals), opponents, games, seed, judge, workers)
    for individual, mean in zip(individuals, means.tolist(), strict=True):
        individual.points += games * mean
        individual.games += games
        points = individual.points + PRIOR_GAMES * PRIOR_SCORE
        shrunk = points / (individual.games + PRIOR_GAMES)
        individual.fitness.values = (shrunk + individual.bonus,)


def _unlike(individuals: list[Individual]) -> list[Individual]:
    """No layout twice, nor its mirror image: opponents are mirrored anyway."""
    layouts = to_array(individuals)
    seen: dict[bytes, Individual] = {}
    for individual, *images in zip(individuals, layouts, mirror_layout(layouts), strict=True):
        seen.setdefault(min(image.tobytes() for image in images), individual)
    return list(seen.values())
