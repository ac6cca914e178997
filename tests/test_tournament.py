"""Tournaments: schedules, places and ties, ratings, files, and going on after any stop."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from junqi.crosstable import crosstable
from junqi.match_stats import elo_of_score
from junqi.pairings import draw_groups, round_robin
from junqi.pieces import BLACK, NOBODY, RED
from junqi.ratings import rate_players
from junqi.record import open_records
from junqi.record_log import RecordLog
from junqi.replay import check_record
from junqi.standings import Game, Ranking, Step, count_points, rank
from junqi.tournament import Report, Table, play_tournament, schedule
from junqi.tournament_file import (
    EXAMPLE,
    InvalidTournament,
    TournamentSettings,
    parse_tournament,
    read_tournament,
)

PLAYERS = ("Ant", "Bee", "Cat", "Dog", "Eel")


def tables_of(players: Sequence[str]) -> str:
    return "".join(f'[[players]]\nname = "{name}"\nplayer = "random"\n' for name in players)


def toml_of(players: Sequence[str] = PLAYERS[:4], head: str = "", game: str = "") -> str:
    return f"{head}\n[game]\nsteps = 10\n{game}\n{tables_of(players)}"


GROUPS = 'form = "groups"\ngroups = 2\nadvance = 1\n'


def settings_of(path: Path, *args: Any, **changes: Any) -> TournamentSettings:
    path.write_text(toml_of(*args, **changes), encoding="utf-8")
    return read_tournament(path)


def play(settings: TournamentSettings) -> Report:
    with RecordLog(settings.records, is_resumed=True) as log:
        return play_tournament(settings, log=log)


def untimed(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    text = re.sub(r' \(\S+\)|\[(?:Date|RedClock|BlackClock) ".*"\]\n', "", text)
    return re.sub(r" +", " ", text)


# Who meets whom


@pytest.mark.parametrize("players", range(2, 10))
def test_a_round_robin_has_every_pair_once_and_nobody_twice_in_a_round(players: int) -> None:
    rounds = round_robin(range(players))
    pairs = Counter(frozenset(pair) for games in rounds for pair in games)
    assert len(pairs) == players * (players - 1) // 2
    assert set(pairs.values()) == {1}
    assert len(rounds) == players - 1 + players % 2
    for games in rounds:
        assert len({player for pair in games for player in pair}) == 2 * len(games)
    firsts = Counter(pair[0] for games in rounds for pair in games)
    assert max(firsts.values()) - min(firsts[player] for player in range(players)) <= 1


@pytest.mark.parametrize("players", [2, 4, 5])
def test_a_schedule_has_every_pair_with_both_colours(tmp_path: Path, players: int) -> None:
    games = schedule(settings_of(tmp_path / "cup.toml", PLAYERS[:players]))
    colours = Counter((game.red, game.black) for game in games)
    assert len(colours) == players * (players - 1)
    assert set(colours.values()) == {1}
    for one, two in zip(games[::2], games[1::2], strict=True):
        assert (one.red, one.black) == (two.black, two.red), "both games in a row"


def test_a_schedule_of_groups_ends_with_a_final_of_places(tmp_path: Path) -> None:
    games = schedule(settings_of(tmp_path / "cup.toml", PLAYERS, head=GROUPS))
    stages = Counter(game.stage for game in games)
    assert stages == {"group A": 6, "group B": 2, "final": 2}
    assert [(game.red, game.black) for game in games[-2:]] == [("A1", "B1"), ("B1", "A1")]
    members = [{g.red for g in games if g.stage == f"group {letter}"} for letter in "AB"]
    assert members[0] | members[1] == set(PLAYERS)
    assert not members[0] & members[1]
    assert [game.round for game in games[:-2]] == sorted(game.round for game in games[:-2])


def test_groups_are_drawn_by_lot_but_for_those_with_a_place() -> None:
    players = [f"p{n}" for n in range(11)]
    draws = []
    for seed in range(20):
        drawn = draw_groups(players, 3, np.random.default_rng(seed), placed={"p0": 2, "p1": 1})
        assert [len(group) for group in drawn] == [4, 4, 3]
        assert sorted(player for group in drawn for player in group) == sorted(players)
        assert "p0" in drawn[2]
        assert "p1" in drawn[1]
        draws.append(str(drawn))
    assert len(set(draws)) > 15


def test_players_of_one_school_are_kept_apart() -> None:
    players = [f"p{n}" for n in range(8)]
    schools = {"p0": "x", "p1": "x", "p2": "y", "p3": "y", "p4": "z", "p5": "z"}
    for seed in range(10):
        for group in draw_groups(players, 2, np.random.default_rng(seed), schools=schools):
            found = [schools[player] for player in group if player in schools]
            assert sorted(found) == ["x", "y", "z"]


# Places and ties


def games_of(text: str) -> list[Game]:
    """Games like ``A>B`` (red won), ``A<B``, ``A=B``."""
    winners = {">": RED, "<": BLACK, "=": NOBODY}
    return [Game(word[0], word[2], winners[word[1]]) for word in text.split()]


def ranked(
    players: str, games: str, blitz: str = "", single: str = "", lots: str = "", **changes: Any
) -> tuple[list[str], list[str], list[tuple[Step, str]]]:
    """Places and the ties' texts, and which play-offs were asked for."""
    asked: list[tuple[Step, str]] = []

    def play_off(step: Step, level: Sequence[str]) -> list[Game]:
        asked.append((step, "".join(level)))
        among = games_of(blitz if step is Step.BLITZ else single)
        return [game for game in among if {game.red, game.black} <= set(level)]

    def draw_lots(level: Sequence[str]) -> list[str]:
        assert sorted(level) == sorted(lots)
        return list(lots)

    found = rank(list(players), games_of(games), play_off, draw_lots, **changes)
    return ["".join(place) for place in found.places], [str(tie) for tie in found.ties], asked


def test_a_win_counts_two_points_and_a_draw_one() -> None:
    games = games_of("A>B B=A A<C C>A B>C C>B")
    assert count_points("ABC", games) == {"C": 6, "A": 3, "B": 3}
    assert count_points("AB", games) == {"A": 3, "B": 1}


def test_points_decide_first() -> None:
    places, ties, asked = ranked("ABC", "A>B B<A A>C C<A B>C C<B")
    assert places == ["A", "B", "C"]
    assert ties == []
    assert asked == []


def test_the_games_among_them_part_players_with_the_same_points() -> None:
    # A and B have 5 points each; A won 3:1 against B.
    places, ties, asked = ranked("BAC", "A>B B=A A<C C<A B>C C<B")
    assert places == ["A", "B", "C"]
    assert ties == ["direct result: A 3, B 1"]
    assert asked == []


def test_the_games_among_fewer_count_again() -> None:
    # A, B and C have 5 points each. Among the three A and B are level, and A has beaten B.
    games = "A>B A=B A=C A=C B>C B>C A<D A<D B<D B<D C>D C=D"
    places, ties, asked = ranked("CBAD", games)
    assert places == ["D", "A", "B", "C"]
    assert ties == ["direct result: B 5, A 5, C 2", "direct result: A 3, B 1"]
    assert asked == []


def test_a_blitz_pair_parts_players_that_are_still_level() -> None:
    places, ties, asked = ranked("AB", "A>B B>A", blitz="A=B B>A")
    assert places == ["B", "A"]
    assert ties == ["direct result: A 2, B 2", "blitz: B 3, A 1"]
    assert asked == [(Step.BLITZ, "AB")]


def test_a_single_game_follows_a_level_blitz() -> None:
    places, ties, asked = ranked("AB", "A=B B=A", blitz="A=B B=A", single="A<B")
    assert places == ["B", "A"]
    assert ties[-1] == "single game: B 2, A 0"
    assert asked == [(Step.BLITZ, "AB"), (Step.SINGLE, "AB")]


def test_lots_are_drawn_in_the_end() -> None:
    places, ties, _ = ranked("AB", "A=B B=A", blitz="A=B B=A", single="A=B", lots="BA")
    assert places == ["B", "A"]
    assert ties[-1] == "lot: B before A"


def test_three_in_a_circle_play_blitz_and_those_left_go_one_step_on() -> None:
    circle = "A>B A>B B>C B>C C>A C>A"
    places, _, asked = ranked("ABC", circle, blitz="A>C C<A B>C C<B A>B B>A", single="B>A")
    assert places == ["B", "A", "C"]
    assert asked == [(Step.BLITZ, "ABC"), (Step.SINGLE, "AB")]


def test_only_ties_that_matter_are_played_off() -> None:
    # Two of four advance: A is through; B and C are level across the line.
    games = "A>B B<A A>C C<A A>D D<A B>C C>B B>D D<B C>D D<C"
    across = {"matters": lambda before, level: before < 2 < before + level}
    places, _, asked = ranked("ABCD", games, blitz="C>B B=C", **across)
    assert places == ["A", "C", "B", "D"]
    assert asked == [(Step.BLITZ, "BC")]
    # Three advance: B and C both do, and share their place.
    within = {"matters": lambda before, level: before < 3 < before + level}
    places, ties, asked = ranked("ABCD", games, **within)
    assert places == ["A", "BC", "D"]
    assert ties == ["direct result: B 2, C 2"]
    assert asked == []


def test_a_crosstable_has_the_points_as_red_and_as_black() -> None:
    games = games_of("A>B B=A A<C C<A B>C C<B")
    found = rank("ABC", games, lambda *_: [], lambda level: level)
    rows = crosstable(Table("final", tuple(games), found))
    assert [(row.place, row.name, row.points) for row in rows] == [
        (1, "A", 5),
        (2, "B", 5),
        (3, "C", 2),
    ]
    assert rows[0].against == {"B": (2, 1), "C": (0, 2)}
    assert rows[1].against == {"A": (1, 0), "C": (2, 2)}
    assert (rows[0].wins, rows[0].draws, rows[0].losses) == (2, 1, 1)


def test_players_that_share_a_place_have_its_number() -> None:
    table = Table("group A", tuple(games_of("A>C B>C")), Ranking((("A", "B"), ("C",)), ()))
    assert [row.place for row in crosstable(table)] == [1, 1, 3]


# Ratings


def test_two_players_are_as_far_apart_as_their_score_says() -> None:
    one, two = rate_players([[0, 30], [10, 0]], prior_games=0)
    assert one.mean - two.mean == pytest.approx(elo_of_score(0.75))
    assert one.mean == -two.mean
    # The odds' logarithm of a share p of n games has the variance 1 / (n p (1 - p)); each player
    # is half the difference from the mean.
    error = 400 / np.log(10) / np.sqrt(40 * 0.75 * 0.25) / 2
    assert one.high - one.mean == pytest.approx(1.959964 * error, rel=1e-6)


@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_ratings_are_found_again_from_what_they_let_expect(prior: float) -> None:
    true = np.array([250.0, 80.0, 0.0, -330.0])
    chances = 1 / (1 + 10 ** ((true[None, :] - true[:, None]) / 400))
    games = np.array([[0, 10, 20, 5], [10, 0, 8, 8], [20, 8, 0, 30], [5, 8, 30, 0]]) * 1e6
    found = rate_players(games * chances, prior_games=prior)
    # One drawn game in thought is nothing beside millions.
    assert [elo.mean for elo in found] == pytest.approx(list(true - true.mean()), abs=0.01)


def test_the_prior_bounds_clean_sweeps() -> None:
    # Of each player: (2 + 0.5) points expected = 2 s(2r) + s(r) with s the chance to win.
    one, two = rate_players([[0, 2], [0, 0]])
    rating = one.mean * np.log(10) / 400

    def chance(difference: float) -> float:
        return float(1 / (1 + np.exp(-difference)))

    assert 2 * chance(2 * rating) + chance(rating) == pytest.approx(2.5)
    assert one.mean == pytest.approx(-two.mean)
    many, _ = rate_players([[0, 200], [0, 0]])
    assert one.mean < many.mean < 1000
    assert many.low > 0


def test_intervals_hold_what_they_say() -> None:
    rng = np.random.default_rng(5)
    true = np.array([120.0, 0.0, -120.0])
    chances = 1 / (1 + 10 ** ((true[None, :] - true[:, None]) / 400))
    inside = 0
    for _ in range(300):
        wins = np.triu(rng.binomial(40, chances), 1)
        wins = wins + np.tril(40 - wins.T, -1)
        inside += sum(
            elo.low <= rating <= elo.high
            for elo, rating in zip(rate_players(wins), true, strict=True)
        )
    assert 0.92 < inside / 900 < 0.98


def test_wins_that_are_no_square_are_refused() -> None:
    with pytest.raises(ValueError, match=r"expected a square .* got shape \(1, 2\)"):
        rate_players([[0, 1]])


# Files


def test_the_example_is_a_tournament() -> None:
    settings = parse_tournament(EXAMPLE, Path("cup.toml"))
    assert [entrant.name for entrant in settings.entrants] == ["Careful", "Lucky", "Deep"]
    plain = TournamentSettings(settings.entrants, Path("cup.junqi"), event="My cup")
    assert settings == plain, "the example shows the defaults"


def test_every_key_of_the_example_can_be_used() -> None:
    """What stands in a comment is right as well."""
    text = re.sub(r"^# (\w+ = )", r"\1", EXAMPLE, flags=re.M).replace(
        'form = "double-round-robin"', 'form = "groups"'
    )
    text = text.replace("group_size = 4", "") + tables_of("456")
    settings = parse_tournament(text, Path("a/cup.toml"))
    assert (settings.groups, settings.advance) == (2, 2)
    assert settings.records == Path("a/cup.junqi")
    assert settings.log == Path("a/talk")
    assert settings.game.movetime == 30
    assert settings.entrants[1].group == "A"
    assert settings.blitz.rules.time == 600


@pytest.mark.parametrize(
    ("head", "game", "tail", "message"),
    [
        ("sed = 1", "", "", r"expected one of event, form, .*, got 'sed'"),
        ("form = 'swiss'", "", "", "expected one of double-round-robin, groups for form, got"),
        ("seed = -1", "", "", "expected an integer of at least 0 for seed, got -1"),
        ("seed = true", "", "", "expected an integer of at least 0 for seed, got True"),
        ("groups = 2", "", "", 'expected form = "groups" with groups'),
        ("form = 'groups'", "", "", "expected advance and either groups or group_size"),
        (GROUPS + "group_size = 2", "", "", "expected advance and either groups or group_size"),
        (GROUPS.replace("2", "3"), "", "", "expected 2 to 26 groups of at least 2 players, got 3"),
        (GROUPS.replace("1", "2"), "", "", "expected advance .* below the 2 players of a group"),
        ("", "time = 0", "", "game: expected seconds above 0 for time, got 0"),
        ("", "time = inf", "", "game: expected seconds above 0 for time, got inf"),
        ("", "greeting = 'HI'", "", "game: expected one of INFO, INFORMATION for greeting"),
        ("", "tme = 5", "", "game: expected one of time, blitz_time, .*, got 'tme'"),
        ("", "", "[[players]]\nname = 'X'", "player 'X': expected a player, got none"),
        ("", "", "[[players]]\nplayer = 'random'", "player 5: expected a name, got none"),
        ("", "", "[[players]]\nname = 'Ant'\nplayer = 'random'", "different names, got 'Ant' twic"),
        ("", "", "color = 3", "player 'Dog': expected one of name, player, .*, got 'color'"),
        ("", "", "group = 'A'", 'expected form = "groups" with a group of a player'),
        (GROUPS, "", "group = 'Z'", "player 'Dog': expected a group of A, B, got 'Z'"),
        (
            "",
            "",
            "[[players]]\nname = 'X'\nplayer = 'no-such-program 3'",
            "player 'X': expected the command line of a program, got 'no-such-program 3'",
        ),
        (
            "",
            "",
            "[[players]]\nname = 'X'\nplayer = 'random:7'",
            "player 'X': expected random, got 'random:7'",
        ),
        ("seed = = 1", "", "", "expected TOML: "),
    ],
)
def test_what_is_wrong_in_a_file_is_told(
    tmp_path: Path, head: str, game: str, tail: str, message: str
) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(toml_of(head=head, game=game) + tail + "\n", encoding="utf-8")
    with pytest.raises(InvalidTournament, match=rf"cup\.toml: .*{message}"):
        read_tournament(path)


def test_a_lonely_player_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidTournament, match="expected at least 2 players, got 1"):
        settings_of(tmp_path / "cup.toml", PLAYERS[:1])


def test_too_many_players_in_a_group_are_told(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    text = toml_of(head=GROUPS).replace('player = "random"', 'player = "random"\ngroup = "B"')
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidTournament, match="expected at most 2 players in group B, got 4"):
        read_tournament(path)


# Playing


def test_a_tournament_is_played_and_written_down(tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "cup.toml", PLAYERS[:3], head='event = "Zoo"')
    report = play(settings)
    (table,) = report.tables
    records = list(open_records(settings.records))
    assert len(records) == report.games >= 6
    assert sorted(table.ranking.order) == sorted(PLAYERS[:3])
    assert [len(place) for place in table.ranking.places] == [1, 1, 1]
    for number, (record, game) in enumerate(zip(records, table.games, strict=False), 1):
        check_record(record)
        assert record.event == "Zoo"
        assert (record.red, record.black) == (game.red, game.black)
        assert record.extra["Round"] == str(number)
        assert record.extra["Stage"] == "round robin"
        assert record.extra["RedPlayer"] == "random"
    assert len({record.seed for record in records}) == len(records)
    assert ["Tournament" in record.extra for record in records[:2]] == [True, False]
    points = count_points(PLAYERS[:3], table.games)
    assert list(points.values()) == [points[name] for name in table.ranking.order]
    moves = sum(tally.moves for tally in report.players.values())
    assert moves == sum(len(record.plies) for record in records)
    assert sum(elo.mean for elo in report.ratings.values()) == pytest.approx(0)


def with_play_offs(path: Path, **changes: Any) -> TournamentSettings:
    """A tournament of groups in which players had to be parted by games."""
    for seed in range(1, 50):
        settings = settings_of(path, head=f"{GROUPS}seed = {seed}\n", **changes)
        play(settings)
        text = settings.records.read_text(encoding="utf-8")
        if "group A, blitz" in text and "final, single game" in text:
            return settings
        settings.records.unlink()
    raise AssertionError("expected a tie with one of these seeds")


def test_groups_a_final_and_play_offs(tmp_path: Path) -> None:
    settings = with_play_offs(tmp_path / "cup.toml")
    records = list(open_records(settings.records))
    report = play(settings)
    assert [table.stage for table in report.tables] == ["group A", "group B", "final"]
    final = report.tables[-1]
    assert set(final.ranking.order) == {table.ranking.order[0] for table in report.tables[:2]}
    assert len(final.games) == 2, "play-offs are not in the table"
    for record in records:
        is_play_off = "," in record.extra["Stage"]
        assert record.rules.time == (600 if is_play_off else 1800)
        assert record.rules.steps == 10
    stages = [record.extra["Stage"] for record in records]
    assert stages.count("group A, blitz") == 2
    assert stages.count("final, blitz") == 2
    assert stages.count("final, single game") == 1
    steps = [tie.step for tie in final.ranking.ties]
    assert steps[:3] == [Step.DIRECT, Step.BLITZ, Step.SINGLE]


def test_a_tie_below_those_who_advance_is_not_played_off(tmp_path: Path) -> None:
    for seed in range(1, 50):
        path = tmp_path / f"{seed}.toml"
        settings = settings_of(path, [*PLAYERS, "Fox"], head=f"{GROUPS}seed = {seed}\n")
        places = play(settings).tables[0].ranking.places
        if len(places) == 2 and len(places[0]) == 1:
            break
    else:
        raise AssertionError("expected such a tie with one of these seeds")
    assert "group A, blitz" not in settings.records.read_text(encoding="utf-8")


def test_a_tournament_goes_on_from_wherever_its_records_end(tmp_path: Path) -> None:
    settings = with_play_offs(tmp_path / "cup.toml")
    data = settings.records.read_bytes()
    whole, expected = untimed(settings.records), play(settings)
    ends = [match.end() for match in re.finditer(rb"\n(?:1-0|0-1|1/2-1/2)\n\n", data)]
    assert len(ends) == expected.games
    for cut in [0, 50, *ends, *(end - 30 for end in ends)]:
        settings.records.write_bytes(data[:cut])
        found = play(settings)
        assert untimed(settings.records) == whole, cut
        assert found.tables == expected.tables
        assert found.ratings == expected.ratings


def test_records_do_not_depend_on_the_concurrency(tmp_path: Path) -> None:
    texts = []
    for concurrency in (1, 3):
        folder = tmp_path / str(concurrency)
        folder.mkdir()
        head = f"{GROUPS}concurrency = {concurrency}"
        settings = settings_of(folder / "cup.toml", PLAYERS, head=head)
        play(settings)
        texts.append(untimed(settings.records))
    assert texts[0] == texts[1]


def test_concurrency_and_log_may_change_between_runs(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    games = play(settings_of(path)).games
    again = play(settings_of(path, head='concurrency = 2\nlog = "talk"'))
    assert again.games == games


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "seed = 2\n" + text, "expected seed 1, got 2"),
        (lambda text: text.replace("steps = 10", "steps = 11"), "expected steps 10, got 11"),
        (
            lambda text: text.replace("steps = 10", "steps = 10\nlast_go = true"),
            "expected last_go False, got True",
        ),
        (lambda text: GROUPS + text, "expected form 'double-round-robin', got 'groups'"),
        (lambda text: text.replace("Bee", "Bat"), "expected player 2 {.*'Bee'.*, got {.*'Bat'"),
        (
            lambda text: text + '[[players]]\nname = "Eel"\nplayer = "random"\n',
            "expected player 5 None, got {'name': 'Eel'",
        ),
    ],
)
def test_a_changed_tournament_does_not_go_on(
    tmp_path: Path, change: Callable[[str], str], message: str
) -> None:
    path = tmp_path / "cup.toml"
    settings = settings_of(path)
    play(settings)
    before = settings.records.read_bytes()
    path.write_text(change(toml_of()), encoding="utf-8")
    with pytest.raises(InvalidTournament, match=rf"with other settings: {message}"):
        play(read_tournament(path))
    assert settings.records.read_bytes() == before


def test_records_in_another_order_or_too_many_are_refused(tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "cup.toml", PLAYERS[:3])
    games = play(settings).games
    data = settings.records.read_text(encoding="utf-8")
    parts = re.split(r"(?=\[Event )", data)[1:]
    settings.records.write_text(parts[0] + parts[2] + parts[1], encoding="utf-8")
    with pytest.raises(InvalidTournament, match=r"game 2 is of another .* expected Round '2', got"):
        play(settings)
    settings.records.write_text(data + parts[-1], encoding="utf-8")
    with pytest.raises(InvalidTournament, match=f"expected {games} games, got {games + 1}"):
        play(settings)


# The command


def without_clocks(figures: dict[str, Any]) -> dict[str, Any]:
    for player in figures["players"]:
        del player["mean_seconds"], player["worst_seconds"]
    return figures


def test_the_command_prints_tables_and_json(tmp_path: Path, cli) -> None:
    path = tmp_path / "cup.toml"
    settings = settings_of(path, PLAYERS[:3])
    ran = cli("tournament", path)
    assert ran.code == 0, ran.err
    assert ran.err == ""
    assert ran.out.startswith("round robin\nplace  player  points  won  drawn  lost  1")
    assert "ratings from all" in ran.out
    again = cli("tournament", path, "--json")
    figures = json.loads(again.out)
    assert f"{figures['games']} games have been played" in again.err
    (table,) = figures["tables"]
    assert [row["place"] for row in table["rows"]] == [1, 2, 3]
    assert table["rows"][0]["name"] == play(settings).tables[0].ranking.order[0]
    assert {player["name"] for player in figures["players"]} == set(PLAYERS[:3])
    assert all(p["elo_low"] < p["elo"] < p["elo_high"] for p in figures["players"])
    assert figures["players"][0]["faults"] == {}


CRASHING = (
    f"'{sys.executable}' -c 'import sys; input(); print(\\\"NAME x\\\", flush=True); sys.exit(3)'"
)


@pytest.mark.skipif(os.name == "nt", reason="quotes are others on Windows")
def test_faults_are_told_and_counted(tmp_path: Path, cli) -> None:
    path = tmp_path / "cup.toml"
    fly = f'[[players]]\nname = "Fly"\nplayer = "{CRASHING}"\n'
    text = toml_of(PLAYERS[:2], head='log = "talk"') + fly
    path.write_text(text, encoding="utf-8")
    ran = cli("tournament", path)
    assert ran.code == 0, ran.err
    assert "Fly lost by crash: the program ended with exit code 3" in ran.err
    assert re.search(r"^Fly .* 4 x crash$", ran.out, flags=re.M)
    assert len(list((tmp_path / "talk").iterdir())) == 4


def test_a_dry_run_plays_nothing(tmp_path: Path, cli) -> None:
    path = tmp_path / "cup.toml"
    settings = settings_of(path, PLAYERS, head=GROUPS)
    ran = cli("tournament", path, "--dry-run")
    assert ran.code == 0
    assert len(ran.out.splitlines()) == 1 + 6 + 2 + 2
    assert ran.out.splitlines()[-1].split() == ["final", "1", "B1", "A1"]
    games = json.loads(cli("tournament", path, "--dry-run", "--json").out)
    assert games[-1] == {"stage": "final", "round": 1, "red": "B1", "black": "A1"}
    assert not settings.records.exists()


def test_the_example_is_printed(cli) -> None:
    assert cli("tournament", "--example").out == EXAMPLE


def test_wrong_usage_is_told(tmp_path: Path, cli) -> None:
    ran = cli("tournament")
    assert (ran.code, ran.out) == (2, "")
    assert "expected FILE or --example" in ran.err
    assert cli("tournament", tmp_path / "none.toml").code == 1
    path = tmp_path / "cup.toml"
    settings = settings_of(path)
    settings.records.write_text('[Red "x"]\n\n1-0\n\n'.replace("[Red", '[Reason "flag"]\n[Red'))
    ran = cli("tournament", path)
    assert ran.code == 2
    assert "expected the games of a tournament" in ran.err


@pytest.mark.skipif(os.name == "nt", reason="signals are a thing of POSIX")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_tournament_that_was_ended_goes_on_and_ends_the_same(
    tmp_path: Path, end: int, cli
) -> None:
    whole, part = tmp_path / "whole.toml", tmp_path / "part.toml"
    head = GROUPS + "concurrency = 2\n"
    for path in (whole, part):
        path.write_text(toml_of([f"p{n}" for n in range(12)], head=head), encoding="utf-8")
    expected = cli("tournament", whole, "--json")
    records = part.with_suffix(".junqi")
    with subprocess.Popen(
        [sys.executable, "-m", "junqi", "tournament", str(part)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        deadline = time.monotonic() + 60
        while not records.exists() or records.stat().st_size < 5000:
            assert time.monotonic() < deadline
            time.sleep(0.001)
        process.send_signal(end)
        code = process.wait(timeout=60)
    assert code == (-signal.SIGKILL if end == signal.SIGKILL else 130)
    played = records.read_bytes().count(b"[Round ")
    figures = json.loads(expected.out)
    assert 1 <= played < figures["games"], "the tournament was over before it was ended"
    again = cli("tournament", part, "--json")
    assert again.code == 0, again.err
    assert without_clocks(json.loads(again.out)) == without_clocks(figures)
    assert untimed(records) == untimed(whole.with_suffix(".junqi"))
