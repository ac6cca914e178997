"""The layout studio: legality in words, computations that can be stopped, and what is saved."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from book_samples import A_MIRRORED, A, B, make_book
from web_pages import client, eventually

from book.store import Book
from junqi.layout import layout_problems, mirror_layout, parse_layout, random_layouts
from junqi.panel import make_panel
from junqi.record import parse_record
from junqi.replay import check_record
from junqi.simulate import parse_judge
from junqi.web import studio_tasks
from junqi.web.events import Feed
from junqi.web.studio_bench import Bench, Stopped, Tell
from junqi.web.studio_check import good_swaps, judge_letters, swap_letters
from junqi.web.studio_tasks import StoppableThreads, counter_task, score_task, swaps_task
from layout_search.settings import Settings

SESSION = "0123456789abcdef"
CHINESE = {"Accept-Language": "zh-CN"}


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = make_book(tmp_path / "book.db")
    monkeypatch.setenv("JUNQI_BOOK", str(path))
    return path


@pytest.fixture
def asked(tmp_path: Path, book: Path) -> Iterator[Any]:
    with client(tmp_path) as asked:
        yield asked


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little work, so that it ends soon."""
    monkeypatch.setattr(studio_tasks, "PART", {False: 10, True: 1})
    monkeypatch.setattr(studio_tasks, "PAIRS", {False: 30, True: 2})
    monkeypatch.setattr(studio_tasks, "SECOND_OPINION", 2)
    monkeypatch.setattr(studio_tasks, "RACE", ((4, None), (10, 5)))
    few = Settings(population=8, generations=2, games=4, test_games=8)
    monkeypatch.setattr("layout_search.attack.FAST", few)
    monkeypatch.setattr("layout_search.attack.CERTIFICATE_GAMES", {True: 4, False: 40})


def check(asked: Any, letters: str, **options: Any) -> Any:
    return asked.post("/api/studio/check", json={"letters": letters}, **options)


def ran(task: Any) -> list[dict[str, Any]]:
    """All that a task tells, each with what was told before."""
    told: list[dict[str, Any]] = [{}]
    task(lambda **news: told.append(told[-1] | news), lambda: None)
    return told


# ---- legality


def test_a_legal_layout_is_drawn_and_known_by_the_book(asked: Any) -> None:
    answer = check(asked, A).json()
    assert (answer["problems"], answer["points"]) == ([], [])
    assert answer["mirror"] == A_MIRRORED
    assert answer["known"]["name"] == "Wall"
    assert answer["svg"].count('class="jq-piece') == 25
    assert check(asked, A_MIRRORED).json()["known"]["id"] == answer["known"]["id"]
    assert check(asked, swap_letters(A, 5, 10)).json()["known"] is None


def test_pieces_that_stand_wrong_are_named_and_explained_in_both_languages(asked: Any) -> None:
    wrong = swap_letters(swap_letters(A, 0, 23), 1, 18)
    assert wrong[0] == "l"
    answer = check(asked, wrong).json()
    assert answer["points"] == [problem.split(" at ")[1][:2] for problem in layout_problems(wrong)]
    assert "flag (l) at G0: must stand in a headquarters (L1 or L3)" in answer["problems"]
    chinese = check(asked, wrong, headers=CHINESE).json()
    assert "军旗在 G0：军旗必须放在大本营（L1 或 L3）" in chinese["problems"]
    assert "司令" in chinese["svg"]
    assert "司令" not in answer["svg"]


@pytest.mark.parametrize(
    ("wrong", "chinese"),
    [
        (swap_letters(A, 0, 21), "炸弹在 G0：炸弹不能放在第一行（G）"),
        (swap_letters(A, 0, 19), "地雷在 G0：地雷只能放在最后两行（K 或 L）"),
    ],
)
def test_each_rule_of_layouts_has_chinese_words(asked: Any, wrong: str, chinese: str) -> None:
    assert check(asked, wrong, headers=CHINESE).json()["problems"] == [chinese]


@pytest.mark.parametrize(
    ("letters", "english", "chinese"),
    [
        (A[:-1], "expected 25 letters, got 24", "应有 25 个字母，现有 24 个"),
        ("x" + A[1:], "unknown piece 'x' at G0", "G0 处的“x”不是棋子"),
        ("b" + A[1:], "2 x general (b): expected 1", "字母 b 应有 1 个，现有 2 个"),
        ("A" + A[1:], "capital A at G0: expected small letters", "应为小写字母"),
    ],
)
def test_what_is_no_set_of_pieces_is_refused_with_every_reason(
    asked: Any, letters: str, english: str, chinese: str
) -> None:
    refused = check(asked, letters)
    assert refused.status_code == 400
    assert english in refused.json()["error"]
    error = check(asked, letters, headers=CHINESE).json()["error"]
    assert chinese in error
    assert "expected" not in error


@pytest.mark.parametrize("letters", [None, 5, ["a"], "a" * 201, ""])
def test_what_is_no_text_is_refused(asked: Any, letters: Any) -> None:
    assert check(asked, letters).status_code == 400


def test_letters_may_be_pasted_in_rows(asked: Any) -> None:
    rows = f" {A[:5]}\n{A[5:8]}\r\n{A[8:]}\t"
    assert check(asked, rows).json()["letters"] == A


def test_targets_are_the_swaps_that_the_rules_allow(asked: Any) -> None:
    answer = check(asked, A).json()
    points = list(answer["targets"])
    for a, one in enumerate(points):
        for b, two in enumerate(points):
            swapped = swap_letters(A, a, b)
            is_good = A[a] != A[b] and not layout_problems(swapped)
            assert (two in answer["targets"][one]) == is_good


def test_from_an_illegal_layout_swaps_lead_back(asked: Any) -> None:
    wrong = swap_letters(A, 0, 23)
    assert "L3" in check(asked, wrong).json()["targets"]["G0"]
    assert (0, 23) in good_swaps(wrong)
    assert judge_letters(wrong).points == ["G0"]


def test_random_layouts_are_legal_and_differ(asked: Any) -> None:
    made = {asked.post("/api/studio/random", json={}).json()["letters"] for _ in range(3)}
    assert len(made) == 3
    assert not any(layout_problems(letters) for letters in made)


# ---- the book


def test_the_book_is_listed_with_the_mixture_first(asked: Any) -> None:
    rows = asked.get("/api/studio/book").json()["layouts"]
    assert [row["letters"] for row in rows[:2]] == [A, B]
    assert [row["weight"] for row in rows] == [0.75, 0.25, 0.0]


def test_heat_maps_tell_where_the_mixture_puts_each_kind(asked: Any) -> None:
    kinds = asked.get("/api/studio/standing").json()["kinds"]
    shares = {kind["letter"]: kind["shares"] for kind in kinds}
    # A has the marshal on G0, B on G2; each is mirrored in half of the games.
    assert shares["a"][0] == pytest.approx([0.375, 0, 0.25, 0, 0.375])
    assert shares["a"][1] == [0, None, 0, None, 0]


def test_saving_lands_in_the_file_and_can_be_taken_back(asked: Any, book: Path) -> None:
    letters = swap_letters(A, 5, 10)
    body = {"letters": letters, "name": "新阵", "tags": "mine, 试验 x"}
    saved = asked.post("/api/studio/save", json=body).json()
    assert saved["is_new"]
    with Book.open(book) as opened:
        row = opened.find_layout(letters)
        assert (row.id, row.name, row.tags) == (saved["id"], "新阵", ("mine", "x", "试验"))
        assert (row.origin, row.weight) == ("human", 0.0)
        assert opened.changes(1)[0].what == "save 新阵 from the studio"
    undone = asked.post("/api/studio/unsave", json={"change": saved["change"]})
    assert undone.json() == {"undone": "save 新阵 from the studio"}
    with Book.open(book) as opened:
        assert not opened.holds(letters)


def test_saving_a_known_layout_keeps_what_is_not_said(asked: Any, book: Path) -> None:
    body = {"letters": A_MIRRORED, "name": "Wall 2", "tags": "new"}
    assert not asked.post("/api/studio/save", json=body).json()["is_new"]
    with Book.open(book) as opened:
        row = opened.find_layout(A)
        assert (row.name, row.weight, row.origin) == ("Wall 2", 0.75, "evolved")
        assert row.tags == ("mine", "new", "old")
    again = asked.post("/api/studio/save", json=body).json()
    assert again["change"] is None


def test_a_save_is_not_taken_back_from_under_a_later_change(asked: Any, book: Path) -> None:
    saved = asked.post("/api/studio/save", json={"letters": A, "name": "one"}).json()
    with Book.open(book) as opened:
        opened.set_name(1, "two")
    refused = asked.post("/api/studio/unsave", json={"change": saved["change"]})
    assert refused.status_code == 409
    with Book.open(book) as opened:
        assert opened.find_layout(A).name == "two"


@pytest.mark.parametrize("body", [{"letters": swap_letters(A, 0, 23)}, {"letters": A, "tags": '"'}])
def test_what_cannot_be_saved_changes_nothing(asked: Any, book: Path, body: Any) -> None:
    with Book.open(book) as opened:
        before = opened.changes()
    assert asked.post("/api/studio/save", json=body).status_code == 400
    with Book.open(book) as opened:
        assert opened.changes() == before


def test_without_a_book_there_is_a_message_and_the_rest_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUNQI_BOOK", str(tmp_path / "none.db"))
    with client(tmp_path) as asked:
        assert "none.db" in asked.get("/api/studio/book").json()["error"]
        assert check(asked, A).json()["known"] is None
        assert asked.post("/api/studio/save", json={"letters": A}).status_code == 400


# ---- computations


def test_a_score_grows_with_its_games_and_is_the_same_again(short: None) -> None:
    panels = {"one": make_panel("one", [B]), "two": make_panel("two", [A])}
    told = ran(score_task(A, panels, "policy", 7, 1))
    assert len(told) > 3
    assert [row["games"] for row in told[-1]["rows"].values()] == [60, 60]
    last = told[-1]["rows"]
    assert last == ran(score_task(A, panels, "policy", 7, 2))[-1]["rows"]
    assert last != ran(score_task(A, panels, "policy", 8, 1))[-1]["rows"]
    for row in last.values():
        assert 0 <= row["low"] <= row["score"] <= row["high"] <= 1
        assert row["score"] == pytest.approx((row["first"] + row["second"]) / 2)


def test_a_layout_scores_one_half_against_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studio_tasks, "PAIRS", {False: 2000, True: 2})
    row = ran(score_task(A, {"it": make_panel("it", [A])}, "policy", 7, 1))[-1]["rows"]["it"]
    assert row["low"] < 0.5 < row["high"]
    assert row["high"] - row["low"] < 0.1


def test_a_counter_comes_with_fresh_scores_and_a_game_that_can_be_replayed(short: None) -> None:
    told = ran(counter_task(A, [B], 0.01, 7, 1))[-1]
    assert not layout_problems(told["counter"])
    assert {judge: row["games"] for judge, row in told["scores"].items()} == {
        "policy": 40,
        "search:3x3": 4,
    }
    record = parse_record(told["record"])
    check_record(record)
    assert (record.red_layout, record.black_layout) == (told["counter"], A)
    assert len(record.plies) == told["plies"]
    assert told["is_won"] == (record.result == "1-0")


def test_swaps_are_raced_with_common_seeds_and_sorted(short: None) -> None:
    told = ran(swaps_task(A, make_panel("it", [B]), 7, 1))
    first = next(one for one in told if "rows" in one)
    assert len(first["rows"]) == len(good_swaps(A)) == first["swaps"]
    rows = told[-1]["rows"]
    assert len(rows) == 10
    assert [row["gain"] for row in rows] == sorted((row["gain"] for row in rows), reverse=True)
    assert told[-1]["games"] == 20
    for row in first["rows"]:
        assert not layout_problems(row["letters"])
        assert row["low"] <= row["gain"] <= row["high"]
    assert rows == ran(swaps_task(A, make_panel("it", [B]), 7, 2))[-1]["rows"]


def test_the_race_finds_swaps_that_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    # Like the marshal in a headquarters, who never moves again.
    monkeypatch.setattr(studio_tasks, "RACE", ((40, None), (100, 5)))
    worst = ran(swaps_task(A, make_panel("it", [B]), 7, 1))[-1]["rows"][-1]
    assert worst["high"] < 0


def test_games_stop_when_they_are_not_wanted() -> None:
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += 1
        if looks > 2:
            raise Stopped

    layouts = random_layouts(2, 1)
    rows, seeds = layouts[[0] * 9000], list(range(9000))
    with pytest.raises(Stopped):
        StoppableThreads(2, look).play(rows, mirror_layout(rows), seeds, parse_judge("policy"))


class Slow:
    """A task that goes on until it is stopped."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self.has_ended = threading.Event()

    def __call__(self, tell: Tell, look: Any) -> None:
        self.has_begun.set()
        try:
            for step in range(100_000):
                tell(step=step)
                time.sleep(0.001)
        finally:
            self.has_ended.set()


def test_a_new_computation_takes_the_place_of_the_old_one() -> None:
    bench = Bench(Feed())
    one, two = Slow(), Slow()
    bench.start(one, kind="one")
    assert one.has_begun.wait(5)
    bench.start(two, kind="two")
    # It begins only when the other has ended: never two at a time.
    assert two.has_begun.wait(5)
    assert one.has_ended.is_set()
    assert bench.state["kind"] == "two"
    bench.close()
    assert two.has_ended.is_set()
    state = bench.state
    assert (state["is_running"], state["is_stopped"]) == (False, True)
    assert "step" in state


def test_what_goes_wrong_in_a_computation_is_told() -> None:
    def fail(tell: Tell, look: Any) -> None:
        parse_layout("abc")

    bench = Bench(Feed())
    bench.start(fail, lambda text: text.upper())
    eventually(lambda: not bench.state["is_running"])
    assert "NOT A LEGAL LAYOUT" in bench.state["error"]


def test_a_score_runs_behind_the_page_and_the_feed_tells_of_it(
    asked: Any, short: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    published: list[dict[str, Any]] = []
    publish = Feed.publish
    monkeypatch.setattr(
        Feed, "publish", lambda feed, data: (published.append(dict(data)), publish(feed, data))
    )
    body = {"session": SESSION, "letters": A, "judge": "policy"}
    assert asked.post("/api/studio/score", json=body).json() == {"run": 1}
    last = eventually(lambda: published and not published[-1]["is_running"] and published[-1])
    assert (last["kind"], last["letters"], last["run"]) == ("score", A, 1)
    assert list(last["rows"]) == last["opponents"] == ["book", "human", "random"]
    assert all(row["games"] == 60 for row in last["rows"].values())


def test_the_sample_game_can_be_downloaded(asked: Any, short: None) -> None:
    address = f"/api/studio/record?session={SESSION}"
    assert asked.get(address).status_code == 404
    asked.post("/api/studio/attack", json={"session": SESSION, "letters": A, "seconds": 0.01})
    answer = eventually(lambda: (got := asked.get(address)).status_code == 200 and got)
    assert "counter.junqi" in answer.headers["content-disposition"]
    check_record(parse_record(answer.text))


def test_the_server_answers_while_it_computes_and_ends_at_once(tmp_path: Path, book: Path) -> None:
    with client(tmp_path) as asked:
        body = {"session": SESSION, "letters": A, "judge": "search:3x3"}
        asked.post("/api/studio/score", json=body)
        assert check(asked, B).json()["problems"] == []
        assert asked.post("/api/studio/stop", json={"session": SESSION}).json() == {}
        asked.post("/api/studio/swaps", json={"session": SESSION, "letters": A})
    names = [thread.name for thread in threading.enumerate() if "_work" in thread.name]
    assert not names


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("score", {"session": "X", "letters": A}),
        ("score", {"session": SESSION, "letters": A, "judge": "search:9x9"}),
        ("score", {"session": SESSION, "letters": A, "opponents": "me"}),
        ("score", {"session": SESSION, "letters": swap_letters(A, 0, 23)}),
        ("attack", {"session": SESSION, "letters": A, "seconds": 1e9}),
        ("attack", {"session": SESSION, "letters": A, "minutes": 1}),
        ("swaps", {"session": SESSION, "letters": "abc"}),
        ("unsave", {"change": "1"}),
    ],
)
def test_bad_questions_are_refused(asked: Any, path: str, body: Any) -> None:
    answer = asked.post(f"/api/studio/{path}", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_without_a_mixture_the_other_opponents_are_met(
    tmp_path: Path, short: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "empty.db"
    Book.create(path).close()
    monkeypatch.setenv("JUNQI_BOOK", str(path))
    with client(tmp_path) as asked:
        body = {"session": SESSION, "letters": A}
        assert asked.post("/api/studio/score", json=body).status_code == 200
        alone = asked.post("/api/studio/swaps", json=body, headers=CHINESE)
        assert alone.status_code == 400
        assert "没有混合策略" in alone.json()["error"]
