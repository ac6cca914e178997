"""The search for layouts: fitness, best response, rounds, checkpoints, finals, attack."""

from dataclasses import replace

import numpy as np
import pytest

from junqi.layout import (
    format_layout,
    layout_problems,
    mirror_layout,
    parse_layouts,
    random_layouts,
)
from junqi.simulate import parse_judge
from layout_search.archive import Archive
from layout_search.attack import attack
from layout_search.evolve import STEADY_ROUNDS, _finals_are_due, search
from layout_search.finals import (
    blend,
    choose_finalists,
    draw_pairs,
    finals_of,
    hold_finals,
    planned_games,
)
from layout_search.fitness import draw, mix_opponents, score
from layout_search.respond import respond
from layout_search.rounds import (
    ASKED,
    ASKED_TIMES,
    SINGLE_EVERY,
    ask,
    expected_scores,
    panel_of,
    solution_of,
)
from layout_search.run import CannotResume, RoundReport, Run, load, save, start
from layout_search.settings import THINKING_COSTS, InvalidSettings, Settings, read_settings
from layout_search.workers import ALL_CORES, Threads, Workers

POLICY = parse_judge("policy")
PEOPLE = parse_layouts(["cigdcegkefkfaibgidjhhhjlj", "hcgcgkikgfdfdabejiiejljhh"])
SMALL = Settings(
    rounds=3,
    population=12,
    generations=3,
    games=16,
    pair_games=16,
    support_games=16,
    test_games=64,
    finals="search:1x1",
    finalists=3,
    finalist_games=8,
)


def state(run: Run) -> tuple[object, ...]:
    archive = run.archive
    texts = [format_layout(layout) for layout in archive.layouts]
    return texts, archive.points.tolist(), run.shares.tolist(), run.panel_scores.tolist(), run.games


def searched(settings: Settings = SMALL, workers: Workers = ALL_CORES) -> Run:
    run = start(settings, PEOPLE)
    search(run, workers)
    return run


def test_opponents_are_met_as_often_as_their_shares_say_and_mirrored_half_the_time() -> None:
    opponents = mix_opponents([(0.75, PEOPLE[:1], None), (0.25, PEOPLE[1:], None)])
    drawn = draw(opponents, 4000, (1,))
    is_first = (drawn == PEOPLE[0]).all(axis=1)
    is_image = (drawn == mirror_layout(PEOPLE[0])).all(axis=1)
    assert (is_first | is_image).sum() == pytest.approx(3000, abs=1)
    assert is_image.sum() == pytest.approx(1500, abs=150)


def test_a_layout_and_its_mirror_image_score_alike() -> None:
    opponents = mix_opponents([(1.0, random_layouts(50, 1), None)])
    both = np.stack([PEOPLE[0], mirror_layout(PEOPLE[0])])
    scores = score(both, opponents, 4000, (3,), POLICY)
    assert scores[0] == pytest.approx(scores[1], abs=0.04)


def test_a_best_response_beats_what_it_was_bred_against() -> None:
    opponents = mix_opponents([(1.0, PEOPLE[:1], None)])
    settings = replace(SMALL, population=24, generations=8, games=32)
    found = respond(opponents, PEOPLE[:0], settings, (1,), POLICY)
    assert found[0].score == max(response.score for response in found)
    fresh = score(found[0].layout[None], opponents, 2000, (99,), POLICY)[0]
    assert fresh > 0.6


def test_payoffs_are_antisymmetric_and_extended_never_recomputed() -> None:
    archive = Archive()
    for layout in random_layouts(3, 2):
        archive.add(layout)
    archive.play([(0, 1), (2, 0)], 40, (1,), POLICY)
    before = archive.payoff()[:2, :2]
    archive.add(random_layouts(1, 9)[0])
    archive.play([(3, 1)], 40, (2,), POLICY)
    payoff = archive.payoff()
    assert np.array_equal(payoff, -payoff.T)
    assert np.array_equal(payoff[:2, :2], before)
    assert archive.games.sum() == 120


def test_rounds_grow_an_archive_of_legal_layouts_and_a_mixture() -> None:
    reports = []
    run = start(SMALL, PEOPLE)
    search(run, report=reports.append)
    assert [report.number for report in reports] == [1, 2, 3]
    assert 3 <= len(run.archive) <= 1 + 2 * (SMALL.counters + 1)
    assert all(layout_problems(format_layout(x)) == [] for x in run.archive.layouts)
    assert run.shares.sum() == pytest.approx(1)


def test_the_strong_judge_is_asked_about_what_carries_the_mixture() -> None:
    run = searched()
    asked = run.strong_games.copy()
    asked[run.final.members] -= SMALL.final_games()
    assert asked.sum() == len(run.rounds) * ASKED * SMALL.asked_games()
    assert asked.max() <= ASKED_TIMES * SMALL.asked_games()
    assert (run.strong_points <= run.strong_games).all()
    assert (asked > 0).sum() < len(run.archive)


def test_a_layout_that_answers_a_threat_is_played_though_nobody_plays_the_threat() -> None:
    run = searched()
    payoff = np.array([[0, 0.1, -0.2], [-0.1, 0, 0.2], [0.2, -0.2, 0]])
    run.archive = Archive(run.archive.layouts[:3], np.tril(payoff + 0.5, -1), np.tri(3, k=-1))
    run.settings = replace(SMALL, greed=0.5, spread=0.001)
    rows, columns = solution_of(run, np.array([0.7, 0.7, 0.3]))
    assert rows[2] < 0.01 < columns[2]
    assert rows[1] > 0.3


def test_rounds_leave_time_for_finals_and_evidence() -> None:
    run = searched(replace(SMALL, rounds=1))
    run.settings, run.final = replace(SMALL, rounds=None, minutes=1), None
    # Half a minute is left, and the strong judge's games will take a minute.
    run.seconds = 30
    after = planned_games(run) + run.settings.fresh_games()
    run.strong_seconds = run.strong_played * 60 / after
    search(run)
    assert len(run.rounds) == 1
    assert run.final is not None


@pytest.mark.parametrize(("rounds", "before"), [(1, 1), (3, 3), (4, 3), (8, 6)])
def test_finals_come_before_the_last_quarter_of_the_rounds(rounds, before) -> None:
    run = searched(replace(SMALL, rounds=rounds))
    assert len(run.rounds) == rounds
    assert run.final.rounds == before


def test_finals_come_before_the_last_quarter_of_the_time() -> None:
    run = searched(replace(SMALL, rounds=2))
    run.settings, run.final = replace(SMALL, rounds=None, minutes=10), None
    run.strong_seconds = run.strong_played / 1e6
    for seconds, is_due in ((100, False), (440, False), (460, True)):
        run.seconds = seconds
        assert _finals_are_due(run) is is_due


def test_a_search_ends_when_counters_stay_within_the_margin() -> None:
    run = searched(replace(SMALL, rounds=30, margin=0.5))
    # Before the finals and after them, which made another mixture.
    assert run.final.rounds == STEADY_ROUNDS
    assert len(run.rounds) == 2 * STEADY_ROUNDS
    assert (
        len(searched(replace(SMALL, rounds=30, margin=0.5, finals="none")).rounds) == STEADY_ROUNDS
    )


def test_a_seed_gives_the_same_search_for_any_number_of_threads() -> None:
    assert state(searched(workers=Threads(1))) == state(searched(workers=Threads(2)))
    assert state(searched()) != state(searched(replace(SMALL, seed=2)))


@pytest.mark.parametrize("after", [1, 3, 4])
def test_a_resumed_search_ends_like_an_uninterrupted_one(after, tmp_path) -> None:
    settings = replace(SMALL, rounds=5)  # with finals after the fourth
    checkpoint = tmp_path / "run.json"

    def stop(report: RoundReport) -> None:
        if report.number > after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(start(settings, PEOPLE), report=stop, checkpoint=checkpoint)
    resumed = load(checkpoint)
    assert (len(resumed.rounds), resumed.final is not None) == (after, after == 4)
    search(resumed)
    whole = searched(settings)
    assert state(resumed) == state(whole)
    assert np.array_equal(finals_of(resumed).payoff, finals_of(whole).payoff)


def test_a_checkpoint_that_does_not_fit_is_refused(tmp_path) -> None:
    path = tmp_path / "run.json"
    with pytest.raises(CannotResume, match="no checkpoint"):
        load(path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(CannotResume, match="expected a checkpoint"):
        load(path)
    save(start(SMALL, PEOPLE), path)
    text = path.read_text(encoding="utf-8").replace('"version": "', '"version": "9')
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CannotResume, match="made by version 9"):
        load(path)


def test_finals_choose_among_carriers_and_the_greedy_and_solve_anew() -> None:
    run = searched(replace(SMALL, finals="none"))
    run.settings = SMALL
    assert finals_of(run) is None
    members, planned, games = choose_finalists(run), planned_games(run), run.games
    told = []
    hold_finals(run, Threads(1), lambda games, planned: told.append((games, planned)))
    final = run.final
    assert final.members == members
    assert len(set(members)) == len(members)
    assert final.games == planned == run.games - games == run.strong_played
    assert final.games == final.strong.games.sum() + 8 * len(members)
    assert sum(games for games, _ in told) == planned
    assert {of for _, of in told} == {planned}
    assert run.shares.sum() == pytest.approx(1)
    assert np.array_equal(run.shares, solution_of(run, expected_scores(run)).rows)
    payoff = finals_of(run).payoff
    assert np.allclose(payoff, -payoff.T)


def test_asking_for_the_best_single_layout_leaves_the_panel_scores_alone() -> None:
    # While nothing is foreseen they are what is expected, and were once written into.
    run = start(SMALL, random_layouts(2, 1))
    for layout in random_layouts(3, 2):
        run.archive.add(layout)
    run.panel_scores, run.shares = np.array([0.7, 0.6, 0.5]), np.full(3, 1 / 3)
    run.strong_points = np.zeros(3)
    run.strong_games = np.array([ASKED_TIMES * SMALL.asked_games(), 0.0, 0.0])
    run.rounds = [RoundReport(n, 0.5, 1, 1, 0, 0.0) for n in range(SINGLE_EVERY - 1)]
    ask(run, panel_of(run, (1,)), (1,), ALL_CORES)
    assert run.panel_scores.tolist() == [0.7, 0.6, 0.5]


def test_the_engine_as_judge_of_the_finals_plays_fewer_games() -> None:
    usual, slow = Settings(), Settings(finals="think:8")
    assert slow.asked_games() == usual.asked_games() // THINKING_COSTS
    assert slow.fresh_games() == usual.fresh_games() / THINKING_COSTS
    assert 4 <= slow.final_games() <= usual.final_games() / THINKING_COSTS + 4
    assert Settings(finals="think:8", strong_games=10).asked_games() == 10


def test_the_engine_holds_finals() -> None:
    settings = replace(SMALL, rounds=1, finals="think:1", strong_games=2, finalist_games=4)
    run = searched(settings)
    assert run.strong_games.sum() == ASKED * 2 + 4 * len(run.final.members)
    assert run.final.games == planned_games(run)
    assert run.shares.sum() == pytest.approx(1)


def test_a_blend_follows_few_strong_games_halfway_and_many_fully() -> None:
    fast = np.array([[0, 0.2, 0.1], [-0.2, 0, 0.1], [-0.1, -0.1, 0]])
    strengths = np.array([-0.1, 0.1, 0.0])
    wanted = 0.5 * fast + strengths[:, None] - strengths[None, :]
    blends = []
    for games in (4, 1_000_000):
        strong = Archive()
        for layout in random_layouts(3, 2):
            strong.add(layout)
        strong.games = np.tril(np.full((3, 3), float(games)), -1)
        strong.points = strong.games * (0.5 + wanted)
        blends.append(blend(fast, np.full(3, 0.5), strong, [0, 1, 2]))
    few, many = (np.abs(found - wanted).max() for found in blends)
    assert many < 0.005 < few
    assert all(np.allclose(found, -found.T) for found in blends)


def test_finalists_meet_each_other_in_pairs_without_doubles_at_once() -> None:
    pairs = draw_pairs(np.array([0.9, 0.1, 0.0]), 10, (1,))
    assert len(pairs) == 30
    assert all(one > other for one, other in pairs)
    assert {member for pair in pairs for member in pair} == {0, 1, 2}
    assert draw_pairs(np.ones(1), 10, (1,)) == []


def test_an_attack_tells_the_score_of_fresh_games() -> None:
    target = mix_opponents([(1.0, PEOPLE[:1], None)])
    found = attack(target, PEOPLE, minutes=1, attempts=1, seed=1, judge="policy")
    assert found.attempts == 1
    assert found.score.mean > 0.6
    assert found.score.error < 0.01


@pytest.mark.parametrize(
    "wrong",
    [
        {"minutes": 0},
        {"rounds": 0},
        {"greed": 2},
        {"margin": -0.1},
        {"spread": 2},
        {"population": 1},
        {"judge": "me"},
        {"finals": "search:0x0"},
        {"against_people": -1},
        {"counters": 0},
    ],
)
def test_settings_that_cannot_work_are_refused(wrong) -> None:
    with pytest.raises(ValueError, match="expected"):
        Settings(**wrong)


def test_settings_are_read_from_toml_and_replaced_by_name(tmp_path) -> None:
    path = tmp_path / "search.toml"
    path.write_text("minutes = 3\npopulation = 20\n", encoding="utf-8")
    assert read_settings(path, population=30) == Settings(minutes=3, population=30)
    path.write_text("minuets = 3\n", encoding="utf-8")
    with pytest.raises(InvalidSettings, match="unknown setting 'minuets'"):
        read_settings(path)
    path.write_text("minutes = \n", encoding="utf-8")
    with pytest.raises(InvalidSettings, match="expected TOML"):
        read_settings(path)
