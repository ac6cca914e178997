"""The pages without a browser: who may ask, the console's games, and what is never told."""

import asyncio
import errno
import json
import re
import socket
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from web_pages import BASE, client, eventually
from web_referee import Referee

from junqi.layout import parse_layout
from junqi.pieces import BLACK, RED
from junqi.record import open_records, parse_record
from junqi.replay import check_record
from junqi.rules import format_move
from junqi.web.events import Feed
from junqi.web.page import THEMES, static_path
from junqi.web.words import LANGUAGES, translate, words_of

LAYOUT = "aibheeiggikcdghdkcjffhjlj"
# The same pieces with an engineer in the marshal's place.
OTHER_FRONT = "igbheeaigikcdghdkcjffhjlj"
GAMES = "/api/console/games"
STATIC = Path(__file__).parents[1] / "junqi" / "web"


class Console:
    """A game at the console, asked as the page asks."""

    def __init__(self, asked: Any, key: str | None = None, **terms: Any) -> None:
        self.asked = asked
        if key is None:
            body = {"first": True, "layout": LAYOUT, "own": "我们", "enemy": "他们", **terms}
            key = asked.post(GAMES, json=body).json()["key"]
        self.key = key
        self.path = f"{GAMES}/{key}"

    @property
    def state(self) -> Any:
        return self.asked.get(self.path).json()

    def send(self, action: str, **body: Any) -> Any:
        return self.asked.post(f"{self.path}/{action}", json=body)

    def do(self, action: str, **body: Any) -> Any:
        """Do something to the present version; the new state, or what is asked."""
        if action not in ("resume", "pause", "now"):
            body = {"version": self.state["version"], **body}
        response = self.send(action, **body)
        assert response.status_code == 200, response.text
        return response.json()

    def own_move(self) -> str:
        """The engine's next move, announced or made."""
        state = eventually(lambda: None if (s := self.state)["is_thinking"] else s)
        return state["announced"] or state["plies"][-1]["move"]

    def play_on(self, referee: Referee, plies: int) -> None:
        """Go on for so many plies, or to the end."""
        for _ in range(plies):
            if referee.end is not None:
                return
            if referee.is_own_turn:
                told = referee.play(self.own_move())
                if "result" in told:
                    self.do("move", **told)
            else:
                self.do("move", **referee.play(referee.enemy_move()))


@pytest.fixture
def asked(tmp_path):
    with client(tmp_path, load=None) as found:
        yield found


@pytest.fixture
def game(asked):
    return Console(asked)


# ---------------------------------------------------------------------------------------- the frame


def test_the_start_page_is_the_console(asked) -> None:
    page = asked.get("/", headers={"accept-language": "zh-CN,zh;q=0.9,en;q=0.8"})
    assert page.url == f"{BASE}/console"
    assert '<html lang="zh"' in page.text
    assert "新对局" in page.text
    assert "{{" not in page.text


def test_the_language_is_the_chosen_one_before_that_of_the_browser(asked) -> None:
    asked.cookies.set("junqi-language", "en")
    page = asked.get("/console", headers={"accept-language": "zh"})
    assert "New game" in page.text


def test_an_unknown_language_or_theme_is_the_default(asked) -> None:
    asked.cookies.set("junqi-language", '"><script>')
    asked.cookies.set("junqi-theme", '"><script>')
    page = asked.get("/console", headers={"accept-language": "fr"}).text
    assert '<html lang="en" data-theme="dark">' in page


def test_both_languages_have_the_same_words() -> None:
    for file in (STATIC / "words").glob("*.json"):
        words = json.loads(file.read_text(encoding="utf-8"))
        if file.stem != "errors":
            assert set(words) == set(LANGUAGES), file
            assert set(words["zh"]) == set(words["en"]), file
            for key, text in words["en"].items():
                places = re.findall(r"\{\w+\}", text)
                assert sorted(places) == sorted(re.findall(r"\{\w+\}", words["zh"][key])), key


def test_scripts_and_pages_use_words_that_there_are() -> None:
    for page in (STATIC / "pages").glob("*.html"):
        if page.stem != "frame":
            words = words_of(page.stem)["en"]
            script = (STATIC / "static" / f"{page.stem}.js").read_text(encoding="utf-8")
            used = set(re.findall(r"\bt\(\"([a-z_]+)\"", script))
            used |= set(re.findall(r"\{\{([a-z_]+)\}\}", page.read_text(encoding="utf-8")))
            assert used
            assert used <= set(words), page


def test_pages_name_no_other_host() -> None:
    for file in STATIC.rglob("*"):
        if file.suffix in (".html", ".css", ".js", ".json"):
            text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
            assert "//" not in re.sub(r"(?m)^\s*//.*| // .*", "", text), file


def test_static_files_are_kept_under_a_path_that_changes_with_them(asked) -> None:
    page = asked.get("/console").text
    assert f"{static_path()}/console.js" in page
    kept = asked.get(f"{static_path()}/console.js")
    assert "immutable" in kept.headers["cache-control"]
    assert kept.headers["content-type"].startswith("text/javascript")
    assert asked.get("/static/0123/console.js").headers["cache-control"] == "no-store"
    assert asked.get(f"{static_path()}/nothing.js").status_code == 404
    assert asked.get("/static/x/..%2fapp.py").status_code == 404


def test_pages_may_load_nothing_from_elsewhere(asked) -> None:
    for path in ("/console", GAMES, f"{static_path()}/frame.js"):
        headers = asked.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
    assert asked.get(GAMES).headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/nothing", "/api/nothing", "/api/console/nothing", "/console/x"])
def test_an_address_with_nothing_is_told_in_json(asked, path) -> None:
    response = asked.get(path)
    assert response.status_code == 404
    assert "error" in response.json()


def test_errors_are_told_in_chinese_where_there_are_words() -> None:
    text = "G0G1: G1 holds a piece of the same side"
    assert translate(text, "en") == text
    assert "G1" in translate(text, "zh")
    assert translate(text, "zh") != text


def test_a_feed_tells_the_latest_state_to_whoever_listens() -> None:
    feed = Feed()
    feed.publish({"n": 1})
    heard: list[list[str]] = []

    async def listen() -> list[str]:
        stream = feed.stream()
        texts = [await anext(stream), await anext(stream)]
        # From another thread, faster than anybody reads: only the last one matters.
        threading.Thread(target=lambda: [feed.publish({"n": n}) for n in range(2, 50)]).start()
        while texts[-1] != 'data: {"n": 49}\n\n':
            texts.append(await anext(stream))
        feed.close()
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
        heard.append([text async for text in feed.stream()])
        return texts

    texts = asyncio.run(listen())
    assert texts[0].startswith("retry:")
    assert texts[1] == 'data: {"n": 1}\n\n'
    assert heard == [[texts[0], 'data: {"n": 49}\n\n']]


def test_a_feed_that_is_silent_shows_that_it_lives(monkeypatch) -> None:
    monkeypatch.setattr("junqi.web.events.HEARTBEAT", 0.01)

    async def listen() -> str:
        stream = Feed().stream()
        await anext(stream)
        return await anext(stream)

    assert asyncio.run(listen()).startswith(":")


def test_without_the_extra_the_command_says_what_to_install(cli, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "junqi.web.server", raising=False)
    ran = cli("web", "--no-browser")
    assert ran.code == 1
    assert "pip install 'junqi[web]'" in ran.err


def test_a_port_in_use_is_told(cli, tmp_path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = cli("web", "--no-browser", "--games", tmp_path, "--port", port)
    assert ran.code == 2
    assert f"127.0.0.1:{port}" in ran.err


# ---------------------------------------------------------------------------------------- the guard


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8425", "127.0.0.1.evil.example", ""]
)
def test_a_name_that_is_not_ours_is_refused(asked, host) -> None:
    response = asked.get("/console", headers={"host": host})
    assert response.status_code == 421
    assert "Host" in response.json()["error"]


@pytest.mark.parametrize("host", ["localhost:9000", "127.0.0.1", "[::1]:8425", "192.168.1.7:8425"])
def test_our_names_and_plain_addresses_are_answered(asked, host) -> None:
    assert asked.get("/console", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999", ""])
def test_a_request_of_another_page_is_refused(asked, origin) -> None:
    response = asked.post(GAMES, json={"first": True}, headers={"origin": origin})
    assert response.status_code == 403
    assert asked.get(GAMES).json() == []


def test_a_request_of_our_own_page_is_answered(asked) -> None:
    assert asked.post(GAMES, json={"first": True}, headers={"origin": BASE}).status_code == 200


def test_a_browser_that_says_the_request_is_from_elsewhere_is_believed(asked) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert asked.get(GAMES, headers=headers).status_code == 403
    assert asked.get("/console", headers=headers | {"sec-fetch-mode": "navigate"}).is_success


def test_beyond_this_machine_the_token_is_needed(tmp_path) -> None:
    with client(tmp_path, token="secret") as asked:
        for path in ("/console", GAMES, "/?token=wrong", f"{static_path()}/frame.js"):
            assert asked.get(path).status_code == 401
        opened = asked.get("/console?game=x&token=secret", follow_redirects=False)
        assert opened.status_code == 303
        assert opened.headers["location"] == "/console?game=x"
        cookie = opened.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert asked.get("/console").status_code == 200


def test_a_name_given_to_the_server_is_its_own(tmp_path) -> None:
    with client(tmp_path, names=["Board.local"]) as asked:
        assert asked.get("/console", headers={"host": "board.local:1"}).status_code == 200


def test_what_is_too_long_or_no_json_is_refused(asked) -> None:
    def post(body: bytes, kind: str = "application/json") -> Any:
        return asked.post(GAMES, content=body, headers={"content-type": kind})

    assert post(b"x" * 70_000).status_code == 413
    assert post(b"{").status_code == 400
    assert post(b"[]").status_code == 400
    assert post(b"[" * 50_000).status_code == 400
    assert post(b"\xff\xfe").status_code == 400
    assert post(b"{}", "text/plain").status_code == 415
    assert asked.put(GAMES).status_code == 405
    assert asked.get(GAMES).json() == []


# -------------------------------------------------------------------------------------- the console


def brightness(colour: str) -> float:
    """How bright a colour like #fff or #a0b1c2 is, from 0 to 1, as contrast is reckoned."""
    digits = colour.lstrip("#")
    pairs = [d * 2 for d in digits] if len(digits) == 3 else re.findall("..", digits)
    parts = [int(pair, 16) / 255 for pair in pairs]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((brightness(one), brightness(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_text_can_be_told_from_its_ground_in_every_theme(theme) -> None:
    style = (STATIC / "static" / "frame.css").read_text(encoding="utf-8")
    start = ":root {" if theme == THEMES[0] else f':root[data-theme="{theme}"] {{'
    colours = dict(re.findall(r"--([\w-]+): (#\w+);", style.split(start)[1].split("}")[0]))
    pairs = [(name, "panel") for name in ("text", "soft", "accent", "good", "bad", "enemy")]
    for name, ground in [*pairs, ("on-accent", "accent"), ("label", "paper")]:
        assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)


@pytest.mark.parametrize(
    ("terms", "word"),
    [
        ({"first": "yes"}, "true or false"),
        ({"first": None}, "first"),
        ({"time": 0}, "time"),
        ({"time": "long"}, "a number"),
        ({"time": float("1e400")}, "number"),
        ({"steps": 1.5}, "whole number"),
        ({"steps_loser": "nobody"}, "mover, next"),
        ({"own": "x" * 500}, "at most"),
        ({"own": "a\nb"}, "one line"),
        ({"layout": "abc"}, "25"),
        ({"layout": LAYOUT.replace("a", "b")}, "marshal"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_terms_that_cannot_be_are_refused_with_the_reason(asked, terms, word) -> None:
    body = json.dumps({"first": True, "layout": LAYOUT, **terms})
    headers = {"content-type": "application/json"}
    response = asked.post(GAMES, content=body, headers=headers)
    assert response.status_code == 400
    assert word in response.json()["error"]
    assert asked.get(GAMES).json() == []


def test_a_layout_is_drawn_shown_and_checked(asked) -> None:
    drawn = asked.post("/api/console/layout", json={"first": True}).json()
    parse_layout(drawn["layout"])
    assert drawn["board"].startswith("<svg")
    assert "<style" not in drawn["board"]
    others = [asked.post("/api/console/layout", json={"first": True}).json() for _ in range(9)]
    assert {other["layout"] for other in others} != {drawn["layout"]}
    refused = asked.post("/api/console/layout", json={"first": True, "layout": "abc"})
    assert refused.status_code == 400


def test_a_book_that_cannot_be_read_is_told_and_a_layout_comes_all_the_same(asked) -> None:
    drawn = asked.post("/api/console/layout", json={"first": True}).json()
    parse_layout(drawn["layout"])
    assert any("there-is-none.db" in note for note in drawn["notes"])
    again = asked.post("/api/console/layout", json={"first": True}).json()
    assert any("book" in note for note in again["notes"])


def test_a_game_that_is_not_there_is_not_found(asked) -> None:
    for key in ("20200101-000000-abcd", "nothing", "..%2f..%2fx"):
        assert asked.get(f"{GAMES}/{key}").status_code == 404


@pytest.mark.parametrize("is_first", [True, False])
def test_a_whole_game_is_recorded_as_it_was_played(asked, tmp_path, is_first) -> None:
    side = RED if is_first else BLACK
    console = Console(asked, first=is_first, time=600)
    referee = Referee(side, LAYOUT, seed=5)
    console.do("resume")
    console.play_on(referee, 2000)
    state = console.state
    assert state["is_over"]
    assert referee.end is not None
    (record,) = open_records(tmp_path / f"{console.key}.junqi")
    assert record == parse_record(asked.get(f"{console.path}/record").text)
    assert [replace(ply, seconds=None) for ply in record.plies] == referee.plies
    assert record.outcome == referee.end
    assert record.layout_of(side) == LAYOUT
    assert record.layout_of(1 - side) is None
    assert (record.name_of(side), record.name_of(1 - side)) == ("我们", "他们")
    check_record(record)
    (listed,) = asked.get(GAMES).json()
    assert listed["is_over"]
    assert listed["plies"] == len(referee.plies)


def test_what_the_opponent_has_is_in_no_answer(asked, tmp_path) -> None:
    console = Console(asked)
    referee = Referee(RED, LAYOUT, seed=3)
    console.do("resume")
    texts = []
    for _ in range(30):
        console.play_on(referee, 1)
        texts += [asked.get(console.path).text, asked.get(f"{console.path}/record").text]
        board = console.state["board"]
        for tag, face in re.findall(r'class="jq-piece jq-black([^>]*)>(.*?)</g>', board):
            assert "jq-hidden" in tag or "Flag" in face
            assert "<text" not in face or "Flag" in face
    texts.append((tmp_path / f"{console.key}.game").read_text(encoding="utf-8"))
    assert len(console.state["plies"]) > 20
    assert not any(referee.enemy_layout in text for text in texts)


def test_the_own_pieces_can_be_covered(asked, game) -> None:
    assert "司令" in asked.get(game.path, headers={"accept-language": "zh"}).text
    covered = asked.get(f"{game.path}?cover=1", headers={"accept-language": "zh"})
    assert "司令" not in covered.text
    assert LAYOUT not in covered.text
    assert covered.json()["moves"] == {}
    # The marshal on G0 cannot lose to a piece; that it cannot would tell what it is.
    body = {"version": 0, "move": "G0F0"}
    asked_openly = asked.post(f"{game.path}/move", json=body).json()["asked"]
    asked_covered = asked.post(f"{game.path}/move?cover=1", json=body).json()["asked"]
    assert asked_openly["expected"] == [1, 2]
    assert asked_covered["expected"] == [1, 0, 2]
    # Whether the flag is asked for does not depend on our piece either.
    assert asked_openly["flag_results"] == [2]
    assert asked_covered["flag_results"] == [2, 1]


def test_covered_questions_are_the_same_whatever_our_pieces_are(asked) -> None:
    for move, is_first in (("G0F0", True), ("F0G0", False)):
        told = []
        for layout in (LAYOUT, OTHER_FRONT):
            console = Console(asked, layout=layout, first=is_first)
            answer = asked.post(f"{console.path}/move?cover=1", json={"version": 0, "move": move})
            told.append(answer.json()["asked"])
        assert told[0] == told[1]


def test_a_covered_page_does_not_tell_which_piece_takes_the_flag(asked, tmp_path) -> None:
    console = Console(asked)
    # The general clears the way, the bomb from I3 follows; the opponent goes to and fro.
    way = "G2F2+ F2E1 E1D2 D2C1 C1B1+ B1B0+ I3H3 H3G2 G2F2 F2E1 E1D2 D2C1 C1B1"
    for number, move in enumerate(way.split()):
        is_contact = move.endswith("+")
        told = {"result": 1, "flag": ""} if is_contact else {}
        console.do("move", move=move[:4], **told)
        console.do("move", move=("F4E3", "E3F4")[number % 2])
    body = {"version": console.state["version"], "move": "B1A1"}
    question = asked.post(f"{console.path}/move?cover=1", json=body).json()["asked"]
    assert question["taken_results"] == [1]  # that it is a bomb would say 2
    console.do("move", move="B1A1", result=1, flag="", taken=True)
    (record,) = open_records(tmp_path / f"{console.key}.junqi")
    check_record(record)
    assert record.plies[-1].result == 2
    assert record.result == "1-0"


def test_a_result_is_asked_only_of_a_contact(game) -> None:
    asked = game.do("move", move="G4F4")
    assert asked["asked"]["move"] == "G4F4"
    assert asked["state"]["plies"] == []
    game.do("move", move="G4F4", result=0)
    for move in ("F0E1", "G0F0"):
        answer = game.do("move", move=move)
        assert "asked" not in answer
        assert answer["state"]["plies"][-1]["result"] == 3
    wrong = game.send("move", version=game.state["version"], move="E1D2", result=1)
    assert "without a contact" in wrong.json()["error"]


def test_an_opponents_contact_is_kept_while_the_referee_is_asked(tmp_path) -> None:
    with client(tmp_path, load=None) as asked:
        console = Console(asked)
        console.do("move", move="G4F4", result=0)
        console.do("resume")
        state = console.do("move", move="F0G0")["state"]
        # The opponent has moved: its clock stands, and any other tab asks for the result too.
        assert state["clocks"]["running"] is None
        assert console.state["question"]["move"] == "F0G0"
        assert console.state["clocks"] == state["clocks"]
        data = (tmp_path / f"{console.key}.game").read_bytes()
    (tmp_path / f"{console.key}.game").write_bytes(data)  # without the pause of a server that ends
    with client(tmp_path, load=None) as asked:
        console = Console(asked, console.key)
        assert console.state["question"]["move"] == "F0G0"
        # It was entered wrongly; nothing but that is taken back.
        state = console.do("retract")["state"]
        assert state["question"] is None
        assert [ply["move"] for ply in state["plies"]] == ["G4F4"]
        assert "no move" in console.send("retract", version=state["version"]).json()["error"]
        console.do("move", move="F2G2")
        state = console.do("move", move="F2G2", result=0, flag="")["state"]
        assert [ply["move"] for ply in state["plies"]] == ["G4F4", "F2G2"]
        assert state["question"] is None


def test_the_flag_is_asked_for_where_the_marshal_may_have_died(game) -> None:
    # The own marshal stands on G0: only another marshal or a bomb goes with it.
    asked = game.do("move", move="G0F0")["asked"]
    assert asked["expected"] == [1, 2]
    assert asked["flag_results"] == [2]
    assert asked["flag_places"] == ["A1", "A3"]
    again = game.do("move", move="G0F0", result=2)
    assert again["asked"] == asked
    assert again["state"]["plies"] == []
    state = game.do("move", move="G0F0", result=2, flag="A3")["state"]
    assert state["enemy_flag"] == "A3"
    # It was our marshal too: our flag has to be told.
    assert state["own_flag"] == "L3"
    assert state["plies"][-1]["shows_own_flag"]
    record = game.asked.get(f"{game.path}/record").text
    assert "G0F0=@A3@L3" in record


def test_illegal_entries_are_refused_with_the_reason(game) -> None:
    version = game.state["version"]
    for move, word in [
        ("G0G1", "same side"),
        ("L1K1", "headquarters"),
        ("G0E0", "no free road"),
        ("A0B0", "red has no piece"),
        ("H1G1", "it is empty"),
        ("Z9", "expected a move like"),
    ]:
        response = game.send("move", version=version, move=move)
        assert response.status_code == 400
        assert word in response.json()["error"]
    response = game.send("move", version=version, move="G0F0", result=1, flag="B2")
    assert "headquarters" in response.json()["error"]
    assert game.state["version"] == version
    assert game.send("move", version=version, move="G0F0", result=7).status_code == 400


def test_the_opponents_illegal_moves_are_refused(game) -> None:
    game.do("move", move="G4F4", result=0)
    version = game.state["version"]
    for move, word in [("G0F0", "black has no piece"), ("A1B1", "could move"), ("F0D0", "could")]:
        response = game.send("move", version=version, move=move)
        assert response.status_code == 400
        assert word in response.json()["error"]


def test_undo_and_redo_any_number_of_plies(game) -> None:
    referee = Referee(RED, LAYOUT, seed=2)
    game.do("resume")
    game.play_on(referee, 12)
    board, plies = game.state["board"], game.state["plies"]
    state = game.do("undo", plies=7)["state"]
    assert state["plies"] == plies[:5]
    assert state["undone"] == 7
    assert not state["is_running"]
    state = game.do("redo", plies=7)["state"]
    assert state["plies"] == plies
    assert state["board"] == board
    game.do("undo", plies=4)
    referee.undo(4)
    game.do("resume")
    game.play_on(referee, 3)
    state = game.state
    assert state["plies"][:8] == plies[:8]
    told = [(ply["move"], ply["result"]) for ply in state["plies"]]
    assert told == [(format_move(ply.move), ply.result) for ply in referee.plies][: len(told)]
    assert game.send("undo", version=state["version"], plies=999).status_code == 400
    assert game.send("redo", version=state["version"], plies=999).status_code == 400


def test_an_old_tab_gets_the_new_state_and_loses_nothing(game) -> None:
    old = game.state["version"]
    game.do("move", move="G4F4", result=0)
    for action, body in [
        ("move", {"move": "G0F0", "result": 1, "flag": ""}),
        ("undo", {"plies": 1}),
        ("redo", {"plies": 1}),
        ("end", {"winner": "own", "reason": "time"}),
        ("clock", {"own": 1, "enemy": 1}),
    ]:
        response = game.send(action, version=old, **body)
        assert response.status_code == 409
        answer = response.json()
        assert "gone on" in answer["error"]
        assert [ply["move"] for ply in answer["state"]["plies"]] == ["G4F4"]
    assert game.state["version"] == old + 1


def test_after_a_crash_the_game_goes_on(tmp_path) -> None:
    referee = Referee(RED, LAYOUT, seed=9)
    with client(tmp_path, load=None) as asked:
        first = Console(asked)
        first.do("resume")
        first.play_on(referee, 8)
        before = first.state
        data = (tmp_path / f"{first.key}.game").read_bytes()
    # What a killed process leaves: no pause at the end, and the last line torn.
    (tmp_path / f"{first.key}.game").write_bytes(data + b'{"do": "ply", "mo')
    with client(tmp_path, load=None) as asked:
        second = Console(asked, first.key)
        state = second.state
        assert state["plies"] == before["plies"]
        assert state["announced"] == before["announced"]
        assert state["was_interrupted"]
        assert not state["is_running"]
        second.do("resume")
        second.play_on(referee, 2)
        assert len(second.state["plies"]) >= 9


def test_a_game_that_is_ended_after_a_crash_does_not_ask_to_be_gone_on_with(tmp_path) -> None:
    with client(tmp_path, load=None) as asked:
        first = Console(asked, first=False)
        first.do("resume")
        data = (tmp_path / f"{first.key}.game").read_bytes()
    (tmp_path / f"{first.key}.game").write_bytes(data)
    with client(tmp_path, load=None) as asked:
        second = Console(asked, first.key)
        assert second.state["was_interrupted"]
        state = second.do("end", winner="own", reason="time")["state"]
        assert not state["was_interrupted"]


def test_a_game_that_another_server_has_gone_on_with_is_read_again(tmp_path) -> None:
    with client(tmp_path, load=None) as one, client(tmp_path, load=None) as two:
        here = Console(one)
        there = Console(two, here.key)
        assert here.state["version"] == there.state["version"]
        there.do("move", move="G4F4", result=0)
        response = here.send("move", version=0, move="G0F0", result=1, flag="")
        assert response.status_code == 409
        assert [ply["move"] for ply in response.json()["state"]["plies"]] == ["G4F4"]


def test_the_tabs_of_a_server_whose_game_goes_on_elsewhere_hear_of_it(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("junqi.web.console.TICK", 0.02)
    with client(tmp_path, load=None) as one, client(tmp_path, load=None) as two:
        here = Console(one)
        here.do("move", move="G4F4", result=0)
        here.do("resume")
        assert here.state["clocks"]["running"] == "enemy"
        there = Console(two, here.key)
        there.do("move", move="F0E1")
        # Nobody has done anything here.
        eventually(lambda: len(here.state["plies"]) == 2)
        assert here.state["clocks"]["running"] is None


def test_only_one_of_two_servers_lets_its_engine_think_about_a_game(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("junqi.web.console.TICK", 0.02)
    search = SlowSearch()
    with (
        client(tmp_path, load=None) as one,
        client(tmp_path, load=lambda options, note, seed: search, movetime=None) as two,
    ):
        here = Console(one, time=36000)
        there = Console(two, here.key)
        assert not here.state["is_running"]
        there.do("resume")
        eventually(lambda: here.state["is_running"])
        time.sleep(0.2)  # a few more ticks of both
        assert there.state["is_thinking"]
        assert not here.state["is_thinking"]
        # Whoever does something goes on with the game, but for what comes in between.
        eventually(lambda: here.send("pause").status_code == 200)
        eventually(lambda: not there.state["is_thinking"])
        here.do("resume")
        assert here.own_move()
        search.stopped.set()


def test_a_broken_file_is_told_and_does_not_hide_the_others(asked, game, tmp_path) -> None:
    broken = tmp_path / "20200101-000000-abcd.game"
    broken.write_text('{"junqi": "game", "format": 1}\n')
    first, second = asked.get(GAMES).json()
    assert first["key"] == game.key
    assert "line 1" in second["error"]
    response = asked.get(f"{GAMES}/20200101-000000-abcd")
    assert response.status_code == 400
    assert "line 1" in response.json()["error"]
    chinese = asked.get(GAMES, headers={"accept-language": "zh"}).json()
    assert "第 1 行" in chinese[1]["error"]


def test_a_full_disk_is_told_and_nothing_is_half_done(game, tmp_path, monkeypatch) -> None:
    file = tmp_path / f"{game.key}.game"
    before = file.read_bytes()

    def fail(number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        response = game.send("move", version=0, move="G4F4", result=0)
        assert response.status_code == 500
        assert "no space left" in response.json()["error"]
        assert translate(response.json()["error"], "zh").startswith("磁盘已满")
    assert file.read_bytes() == before
    assert game.state["plies"] == []
    assert len(game.do("move", move="G4F4", result=0)["state"]["plies"]) == 1


def test_an_engine_that_fails_is_told(tmp_path, monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError("no memory")

    monkeypatch.setattr("junqi.web.console_desk.Engine.move", fail)
    with client(tmp_path, load=None) as asked:
        console = Console(asked)
        console.do("resume")
        state = eventually(lambda: (s := console.state)["trouble"] and s)
        assert "no memory" in state["trouble"]
        assert not state["is_thinking"]


def test_an_engine_that_is_not_ready_is_told_until_it_is(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("junqi.web.console.TICK", 0.02)
    is_compiled = threading.Event()

    def load(*_: object) -> SlowSearch:
        is_compiled.wait(20)
        return SlowSearch()

    with client(tmp_path, load=load) as asked:
        console = Console(asked)
        state = console.state
        assert state["is_loading"]
        is_compiled.set()
        # The tabs hear of it though nothing has happened in the game.
        eventually(lambda: console.state["serial"] > state["serial"])
        assert not console.state["is_loading"]


def test_clocks_run_pause_and_can_be_put_right(game) -> None:
    assert game.state["clocks"]["running"] is None
    game.do("move", move="G4F4", result=0)
    game.do("resume")
    assert game.state["clocks"]["running"] == "enemy"
    first = game.state["clocks"]["enemy"]
    later = eventually(lambda: (n := game.state["clocks"]["enemy"]) > first and n)
    game.do("pause")
    stopped = game.state["clocks"]
    assert stopped["running"] is None
    assert stopped["enemy"] >= later
    assert game.state["clocks"] == stopped
    state = game.do("clock", own=100, enemy=50.5)["state"]
    assert (state["clocks"]["own"], state["clocks"]["enemy"]) == (100, 50.5)
    record = parse_record(game.asked.get(f"{game.path}/record").text)
    assert (record.red_clock, record.black_clock) == (100, 50.5)


@pytest.mark.parametrize(
    ("winner", "reason", "result"),
    [
        ("own", "aborted", "1-0"),
        ("enemy", "time", "0-1"),
        ("nobody", "aborted", "1/2-1/2"),
        ("unfinished", "aborted", "*"),
    ],
)
def test_the_operator_can_end_a_game(game, tmp_path, winner, reason, result) -> None:
    game.do("move", move="G4F4", result=0)
    state = game.do("end", winner=winner, reason=reason)["state"]
    assert state["is_over"]
    saved = tmp_path / f"{game.key}.junqi"
    (record,) = open_records(saved)
    assert record.result == result
    version = game.state["version"]
    assert game.send("move", version=version, move="F0E1").status_code == 400
    assert game.send("resume").status_code == 400
    assert not game.do("undo", plies=1)["state"]["is_over"]
    assert not saved.exists()


def test_a_record_that_a_killed_server_left_is_not_taken_for_that_of_the_game(
    game, tmp_path
) -> None:
    saved = tmp_path / f"{game.key}.junqi"
    saved.write_text("an end that was undone", encoding="utf-8")
    game.do("move", move="G4F4", result=0)
    assert not saved.exists()
    saved.write_text("an end that was undone", encoding="utf-8")
    game.do("end", winner="own", reason="aborted")
    (record,) = open_records(saved)
    assert len(record.plies) == 1


def test_an_end_that_the_rules_do_not_allow_is_refused(game) -> None:
    response = game.send("end", version=game.state["version"], winner="own", reason="flag")
    assert response.status_code == 400
    assert not game.state["is_over"]


class SlowSearch:
    """Thinks until it is stopped, if it can be."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def think(self, view, seconds, hard):
        self.stopped.wait(hard)
        raise RuntimeError("nothing found")

    def stop(self) -> None:
        self.stopped.set()


class DeafSearch(SlowSearch):
    stop = None  # type: ignore[assignment]


@pytest.mark.parametrize("kind", [SlowSearch, DeafSearch])
def test_move_now_makes_a_thinking_engine_move(tmp_path, kind) -> None:
    search = kind()
    with client(tmp_path, load=lambda options, note, seed: search, movetime=None) as asked:
        console = Console(asked, time=36000)
        assert "not thinking" in console.send("now").json()["error"]
        console.do("resume")
        assert console.state["is_thinking"]
        state = console.do("now")["state"]
        assert not state["is_thinking"]
        assert state["announced"] or state["plies"]
        assert search.stopped.is_set() == (kind is SlowSearch)
        search.stopped.set()


def test_pause_and_undo_make_the_engine_forget_what_it_was_thinking(tmp_path) -> None:
    search = SlowSearch()
    with client(tmp_path, load=lambda options, note, seed: search, movetime=None) as asked:
        console = Console(asked, first=False, time=36000)
        console.do("move", move="F0E1")
        console.do("resume")
        assert console.state["is_thinking"]
        state = console.do("undo", plies=1)["state"]
        assert not state["is_thinking"]
        assert search.stopped.wait(5)
        console.do("move", move="F4E3")
        console.do("resume")
        console.do("pause")
        state = console.state
        assert not state["is_thinking"]
        assert [ply["move"] for ply in state["plies"][:1]] == ["F4E3"]


def test_the_operator_may_have_played_another_move_than_the_engines(tmp_path) -> None:
    search = SlowSearch()
    with client(tmp_path, load=lambda options, note, seed: search, movetime=None) as asked:
        console = Console(asked, time=36000)
        console.do("resume")
        state = console.do("move", move="G4F4", result=0)["state"]
        assert [ply["move"] for ply in state["plies"]] == ["G4F4"]
        assert not state["is_thinking"]
        assert state["clocks"]["running"] == "enemy"
        search.stopped.set()
