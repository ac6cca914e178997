"""The viewer: records opened, looked at from seats, and thought about; nothing hidden gets out."""

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from book_samples import make_book
from web_pages import client

from book.default import VARIABLE
from book.store import Book, game_from_record
from junqi.engine import Thinking
from junqi.pieces import BLACK, RED
from junqi.record import Record, format_record, open_records, parse_record
from junqi.rules import Move
from junqi.view import View
from junqi.web import viewer_files
from junqi.web.room import Setup
from junqi.web.viewer_game import ShownGame
from junqi.web.viewer_thoughts import Curves

EXAMPLE = Path(__file__).parents[1] / "docs" / "example.junqi"
RECORD = next(open_records(EXAMPLE))
TEXT = EXAMPLE.read_bytes()
FILES = "/api/viewer/files"
OCTETS = {"Content-Type": "application/octet-stream"}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv(VARIABLE, str(make_book(tmp_path / "book.db")))
    with client(tmp_path) as opened:
        yield opened


def send(asked: Any, data: bytes) -> Any:
    return asked.post(FILES, content=data, headers=OCTETS)


def opened(asked: Any, record: Record = RECORD) -> str:
    """Where a record is, once it has been opened."""
    answer = send(asked, format_record(record).encode())
    assert answer.status_code == 200, answer.text
    return f"{FILES}/{answer.json()['kind']}/{answer.json()['name']}/1"


def error_of(answer: Any, status: int = 400) -> str:
    assert answer.status_code == status, answer.text
    return str(answer.json()["error"])


def names_of(svg: str, color: str) -> list[str]:
    """What is written on the pieces of a side."""
    pieces = re.findall(rf'<g class="jq-piece jq-{color}[^"]*".*?</g>', svg)
    return [name for piece in pieces for name in re.findall(r"<text[^>]*>([^<]+)", piece)]


def test_an_opened_file_with_several_games_is_kept_and_listed(asked: Any, tmp_path: Path) -> None:
    other = replace(RECORD, red="East", outcome=None, plies=RECORD.plies[:9])
    answer = send(asked, TEXT + format_record(other).encode())
    where = f"{FILES}/opened/{answer.json()['name']}"
    games = asked.get(where).json()
    assert [(game["number"], game["red"], game["plies"]) for game in games] == [
        (1, "North", len(RECORD.plies)),
        (2, "East", 9),
    ]
    assert "layout" not in json.dumps(games).lower()
    assert asked.get(f"{where}/2").json()["result"] == "*"
    listed = asked.get(FILES).json()
    assert [(row["kind"], row["title"]) for row in listed] == [("opened", "North – South")]
    assert len(list((tmp_path / "opened").iterdir())) == 1


def test_files_of_the_games_folder_are_listed(asked: Any, tmp_path: Path) -> None:
    (tmp_path / "终局.junqi").write_bytes(TEXT)
    (tmp_path / "notes.txt").write_text("no record")
    listed = asked.get(FILES).json()
    assert [(row["kind"], row["name"]) for row in listed] == [("folder", "终局.junqi")]
    assert asked.get(f"{FILES}/folder/终局.junqi/1").json()["red"] == "North"
    for name in ("notes.txt", "book.db", "终局.junqi%00", "%2e%2e"):
        assert "there is no file" in error_of(asked.get(f"{FILES}/folder/{name}"), 404)


def test_only_the_last_opened_files_are_kept(
    asked: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer_files, "MOST_OPENED", 2)
    for name in ("a", "b", "c"):
        opened(asked, replace(RECORD, red=name))
    assert len(list((tmp_path / "opened").iterdir())) == 2


def test_what_is_no_record_is_refused_with_its_place(asked: Any, tmp_path: Path) -> None:
    assert "empty" in error_of(send(asked, b""))
    assert "expected text in UTF-8" in error_of(send(asked, b"\xff\xfe\x00"))
    assert "line 1" in error_of(send(asked, b"hello"))
    broken = TEXT.replace(b"  2. G4F4+", b"  2. G4F9+")
    assert "line 15" in error_of(send(asked, broken))
    too_long = error_of(send(asked, b"x" * (8 * 1024 * 1024 + 1)), 413)
    assert "expected at most 8192 KiB" in too_long
    assert not (tmp_path / "opened").exists()
    # A game that reads well but cannot have been played is refused when it is looked at.
    ply = replace(RECORD.plies[0], result=3)
    where = opened(asked, replace(RECORD, plies=(ply, *RECORD.plies[1:])))
    assert "ply 1 (red G2F2)" in error_of(asked.get(where))
    # A broken game does not hide the others.
    name = send(asked, broken + TEXT).json()["name"]
    games = asked.get(f"{FILES}/opened/{name}").json()
    assert "line 15" in games[0]["fault"]
    assert games[1]["red"] == "North"
    assert "line 15" in error_of(asked.get(f"{FILES}/opened/{name}/1"))
    assert "from 1 to 2, got 3" in error_of(asked.get(f"{FILES}/opened/{name}/3"), 404)


def test_errors_are_told_in_chinese(asked: Any) -> None:
    answer = asked.post(FILES, content=b"", headers=OCTETS | {"Accept-Language": "zh"})
    assert error_of(answer) == "文件是空的，没有棋谱"


def test_games_of_the_book_are_listed_and_shown(asked: Any, tmp_path: Path) -> None:
    with Book.open(tmp_path / "book.db") as book:
        game = replace(game_from_record(RECORD, BLACK, "final"), layout=None)
        book.add_games([game])
        assert book.game(1) == book.games()[0]
        assert book.game(2) is None
    page = asked.get("/api/viewer/book").json()
    assert [(row["name"], row["side"], row["opponent"]) for row in page["games"]] == [
        ("1", "black", "North")
    ]
    assert page["next"] is None
    assert asked.get(f"{FILES}/book/1/1").json()["black"] == "South"
    assert "there is no game 7" in error_of(asked.get(f"{FILES}/book/7"), 404)
    (tmp_path / "book.db").write_bytes(b"no book")
    assert "is not a book" in error_of(asked.get("/api/viewer/book"))


def test_a_seat_is_shown_only_what_its_player_was_told(asked: Any) -> None:
    where = opened(asked)
    told = {"red": "black", "black": "red"}
    for seat, hidden in told.items():
        facts = asked.get(f"{where}?seat={seat}")
        assert facts.json()["seats"] == ["red", "black", "all"]
        for ply in range(len(RECORD.plies) + 1):
            svg = asked.get(f"{where}/board?seat={seat}&ply={ply}").json()["board"]
            seen = names_of(svg, hidden)
            # A flag is seen once the marshal is gone.
            assert set(seen) <= {"Flag"}, (seat, ply)
            assert len(names_of(svg, seat)) > 0
    flag_is_told = {
        seat: "Flag"
        in names_of(asked.get(f"{where}/board?seat={seat}&ply=30").json()["board"], hid)
        for seat, hid in told.items()
    }
    assert flag_is_told == {"red": True, "black": True}
    everything = asked.get(f"{where}/board?seat=all&ply=0").json()["board"]
    assert len(names_of(everything, "black")) == len(names_of(everything, "red")) == 25


def test_all_answers_of_a_seat_are_the_same_whatever_is_hidden(asked: Any) -> None:
    """Two games that differ only in black's untouched pieces look the same from red's seat."""
    plies = RECORD.plies[:10]
    black = RECORD.black_layout
    assert black is not None
    # Pieces that have met nobody in these plies, exchanged.
    swapped = list(black)
    swapped[22], swapped[20] = swapped[20], swapped[22]
    first = replace(RECORD, plies=plies, outcome=None)
    second = replace(first, black_layout="".join(swapped))
    assert first.black_layout != second.black_layout

    def answers(where: str) -> list[Any]:
        found = [asked.get(f"{where}?seat=red").json()]
        for ply in (0, 5, 10):
            found.append(asked.get(f"{where}/board?seat=red&ply={ply}").json())
            found.append(asked.get(f"{where}/belief?seat=red&side=red&ply={ply}").json())
        found.append(asked.post(f"{where}/candidates", json={"seat": "red", "ply": 10}).json())
        return found

    one, two = opened(asked, first), opened(asked, second)
    assert one != two
    assert answers(one) == answers(two)
    assert asked.get(f"{one}/board?seat=all&ply=0").json() != (
        asked.get(f"{two}/board?seat=all&ply=0").json()
    )


def test_comments_are_told_only_with_everything_shown(asked: Any) -> None:
    first = replace(RECORD.plies[0], comment="his marshal is on A0")
    where = opened(asked, replace(RECORD, plies=(first, *RECORD.plies[1:])))
    assert "marshal" not in asked.get(f"{where}?seat=red").text
    assert "marshal" in asked.get(f"{where}?seat=all").text


def test_a_seat_without_a_layout_cannot_be_taken(asked: Any) -> None:
    where = opened(asked, replace(RECORD, black_layout=None))
    assert asked.get(where).json()["seat"] == "red"
    assert asked.get(where).json()["seats"] == ["red", "all"]
    for path in ("?seat=black", "/board?seat=black&ply=3", "/belief?seat=all&side=black&ply=3"):
        assert "layout, which is unknown" in error_of(asked.get(where + path))
    unseen = asked.get(f"{where}/board?seat=all&ply=0").json()["board"]
    assert names_of(unseen, "black") == []


def test_moves_and_flags_are_named_as_the_seat_names_them(asked: Any) -> None:
    where = opened(asked)
    red, black, everything = (
        asked.get(f"{where}?seat={seat}").json()["plies"] for seat in ("red", "black", "all")
    )
    assert [(p["move"], p["result"], p["side"]) for p in red[:2]] == [
        ("G2F2", 1, "red"),
        ("F3F2", 1, "black"),
    ]
    assert [p["move"] for p in black[:2]] == ["F2G2", "G1G2"]
    assert red == everything
    told = next(ply for ply in red if ply["flags"])
    assert told["flags"] == ["A1"]
    assert black[red.index(told)]["flags"] == ["L3"]


def test_from_a_seat_the_other_sides_thoughts_cannot_be_had(asked: Any) -> None:
    where = opened(asked)
    refused = "side: expected red from this seat, got 'black'"
    assert error_of(asked.get(f"{where}/belief?seat=red&side=black&ply=3")) == refused
    body = {"seat": "red", "side": "black", "go": True}
    assert error_of(asked.post(f"{where}/estimate", json=body)) == refused
    assert error_of(asked.get(f"{where}/estimate?seat=red&side=black")) == refused
    answer = asked.post(f"{where}/candidates", json={"seat": "red", "ply": 1})
    assert "at which red is to move" in error_of(answer)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/board?seat=white&ply=1", "seat: expected one of red, black, all"),
        ("/board?seat=red&ply=-1", "ply: expected a whole number"),
        ("/board?ply=1", "seat: expected one of"),
        ("/belief?seat=all&side=white&ply=1", "side: expected red or black"),
    ],
)
def test_odd_questions_are_refused(asked: Any, path: str, expected: str) -> None:
    assert expected in error_of(asked.get(opened(asked) + path))


def test_a_ply_that_is_not_there(asked: Any) -> None:
    where = opened(asked)
    last = len(RECORD.plies)
    answer = asked.get(f"{where}/board?seat=red&ply={last + 1}")
    assert f"from 0 to {last}" in error_of(answer, 404)
    end = {"seat": "all", "ply": last}
    assert "before the end" in error_of(asked.post(f"{where}/candidates", json=end))


def test_beliefs_are_chances_on_the_points_of_the_seat(asked: Any) -> None:
    where = opened(asked)
    own = asked.get(f"{where}/belief?seat=black&side=black&ply=20").json()
    turned = asked.get(f"{where}/belief?seat=all&side=black&ply=20").json()
    assert own["enemy"] == "red"
    assert [kind["letter"] for kind in own["kinds"]] == list("abcdefghijkl")
    for piece in own["pieces"]:
        assert sum(piece["chances"]) == pytest.approx(1.0, abs=0.01)
    pieces = ShownGame(RECORD).positions[20].points_of(RED)
    assert len(own["pieces"]) == len(pieces)
    # From the seat of black the enemy begins at the top, with everything shown red is below.
    assert {piece["start"][0] for piece in own["pieces"]} <= set("ABCDEF")
    assert {piece["start"][0] for piece in turned["pieces"]} <= set("GHIJKL")


def test_candidates_are_moves_of_the_side_to_move(asked: Any) -> None:
    where = opened(asked)
    found = asked.post(f"{where}/candidates", json={"seat": "all", "ply": 1}).json()
    own = asked.post(f"{where}/candidates", json={"seat": "black", "ply": 1}).json()
    assert found["side"] == own["side"] == "black"
    assert [row["win"] for row in found["candidates"]] == [row["win"] for row in own["candidates"]]
    for as_red, as_black in zip(found["candidates"], own["candidates"], strict=True):
        assert as_red["move"][0] in "ABCDEFGHIJKL"
        assert as_red["move"] != as_black["move"]
        assert 0 <= as_red["win"] <= 1
    played = [row for row in found["candidates"] if row["is_played"]]
    assert [row["move"] for row in played] == ["F3F2"]


class Slow:
    """A search that waits to be let go on before each thought."""

    def __init__(self) -> None:
        self.views: list[View] = []
        self.go = threading.Semaphore(0)

    def think(self, view: View, seconds: float, hard: float) -> Any:
        assert self.go.acquire(timeout=10)
        self.views.append(view)
        return Thought(view.legal_moves()[0], 0.25 + 0.01 * len(self.views))


class Thought:
    def __init__(self, move: Move, value: float) -> None:
        self.move, self.value, self.candidates = move, value, ()


def curves_with(tmp_path: Path, search: Thinking) -> tuple[Setup, Curves]:
    setup = Setup(tmp_path, load=lambda options, note, seed: search)
    return setup, Curves(setup)


def wait_for(curve: Any, state: str) -> None:
    for _ in range(1000):
        if curve.state == state:
            return
        threading.Event().wait(0.01)
    raise AssertionError(f"expected {state}, got {curve.as_json()}")


def test_a_curve_is_worked_out_from_what_the_side_knew(tmp_path: Path) -> None:
    search = Slow()
    setup, curves = curves_with(tmp_path, search)
    short = ShownGame(replace(RECORD, plies=RECORD.plies[:8], outcome=None))
    with setup.closing:
        curve = curves.curve("game", short, BLACK)
        assert curve.as_json() == {"state": "idle", "total": 4, "values": [], "problem": ""}
        curves.start(curve)
        curves.start(curve)  # once is enough
        search.go.release(4)
        wait_for(curve, "done")
    assert [ply for ply, _ in curve.values] == [1, 3, 5, 7]
    assert all(view.side == BLACK for view in search.views)
    assert curves.curve("game", short, BLACK) is curve
    assert curves.curve("game", ShownGame(RECORD), BLACK) is not curve


def test_a_curve_can_be_stopped_and_gone_on_with(tmp_path: Path) -> None:
    search = Slow()
    setup, curves = curves_with(tmp_path, search)
    with setup.closing:
        curve = curves.curve("game", ShownGame(RECORD), RED)
        curves.start(curve)
        search.go.release(2)
        wait_for(curve, "running")
        curves.stop(curve)
        search.go.release(1)
        assert curve.state == "idle"
        curves.start(curve)
        search.go.release(100)
        wait_for(curve, "done")
    assert [ply for ply, _ in curve.values] == curve.game.decisions(RED)


def test_a_search_that_fails_is_told(tmp_path: Path) -> None:
    class Broken:
        def think(self, view: View, seconds: float, hard: float) -> Any:
            raise RuntimeError("no luck")

    setup, curves = curves_with(tmp_path, Broken())
    with setup.closing:
        curve = curves.curve("game", ShownGame(RECORD), RED)
        curves.start(curve)
        wait_for(curve, "failed")
    assert curve.problem == "no luck"


def test_the_curve_of_the_real_engine_is_told_to_the_page(asked: Any) -> None:
    where = opened(asked, replace(RECORD, plies=RECORD.plies[:4], outcome=None))
    body = {"seat": "all", "side": "red", "go": True}
    for _ in range(1000):
        curve = asked.post(f"{where}/estimate", json=body).json()
        if curve["state"] == "done":
            break
        threading.Event().wait(0.02)
    assert [ply for ply, _ in curve["values"]] == [0, 2, 4]
    assert all(0 < value < 1 for _, value in curve["values"])


def test_a_record_that_is_written_anew_is_shown_anew(asked: Any, tmp_path: Path) -> None:
    path = tmp_path / "live.junqi"
    path.write_text(format_record(replace(RECORD, plies=RECORD.plies[:2], outcome=None)))
    assert len(asked.get(f"{FILES}/folder/live.junqi/1").json()["plies"]) == 2
    path.write_text(format_record(replace(RECORD, plies=RECORD.plies[:6], outcome=None)))
    assert len(asked.get(f"{FILES}/folder/live.junqi/1").json()["plies"]) == 6
    assert parse_record(path.read_text()).red == "North"


def test_a_file_with_too_many_games_is_refused(
    asked: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer_files, "MOST_GAMES", 2)
    assert "at most 2 games" in error_of(send(asked, 3 * TEXT))
    (tmp_path / "match.junqi").write_bytes(3 * TEXT)
    assert [row["title"] for row in asked.get(FILES).json()] == ["North – South"]
    assert "at most 2 games" in error_of(asked.get(f"{FILES}/folder/match.junqi"))
    monkeypatch.setattr(viewer_files, "LONGEST_UPLOAD", 1 << 10)
    assert "expected at most 0 MiB" in error_of(asked.get(f"{FILES}/folder/match.junqi"))
