"""The console in a real browser, operated as at a contest."""

import re
from dataclasses import replace
from typing import Any

from book_samples import A, make_book
from web_pages import browser, eventually, needs_chromium, server, slow_server
from web_referee import Referee

from junqi.pieces import RED
from junqi.record import open_records
from junqi.replay import check_record
from junqi.rules import Outcome, Reason

pytestmark = needs_chromium

# Whether it is a link that is seen at a place.
TOP_AT = "([x, y]) => document.elementFromPoint(x, y)?.matches('header nav a')"
LAYOUT = "aibheeiggikcdghdkcjffhjlj"


class Operator:
    """Someone at the console."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def begin(self, address: str, choices: dict[str, str] | None = None, **fields: str) -> str:
        """Fill in the form of a new game, and start the clocks; the key of the game."""
        self.page.goto(f"{address}console")
        for name, value in {"layout": LAYOUT, **fields}.items():
            self.page.fill(f"[name={name}]", value)
        for name, value in (choices or {}).items():
            self.page.select_option(f"[name={name}]", value)
        self.page.click("#new-game button[type=submit]")
        self.page.wait_for_url("**/console?game=*")
        self.page.click("#run")
        return re.findall(r"game=([\w-]+)", self.page.url)[0]

    def wait(self, *phases: str) -> str:
        """Wait until the page waits for one of these; which of them."""
        table = ", ".join(f'#table[data-phase="{phase}"]' for phase in phases)
        return str(self.page.locator(table).first.get_attribute("data-phase"))

    @property
    def plies(self) -> list[str]:
        return [
            re.sub(r"[-−+=@].*", "", text)
            for text in self.page.locator("#plies li").all_inner_texts()
        ]

    def shown(self) -> str:
        """The move that is shown large."""
        return "".join(self.page.locator("#move").inner_text().split())

    def click_point(self, point: str) -> None:
        self.page.locator(f'#board [data-point="{point}"]').last.click()

    def phase(self) -> str:
        return str(self.page.get_attribute("#table", "data-phase"))

    def answer(self, told: dict[str, Any]) -> None:
        """Say what came of a contact, and where the flag is if that is asked."""
        self.wait("result")
        before = len(self.plies)
        self.page.keyboard.press("F" if told.get("taken") else str(told["result"]))
        eventually(lambda: self.phase() == "flag" or len(self.plies) > before)
        if self.phase() == "flag":
            self.page.keyboard.press(told["flag"][1] if told["flag"] else "0")

    def own_ply(self, referee: Referee) -> None:
        """Read the engine's move aloud, and enter what the referee says of it."""
        phase = self.wait("result", "move", "over")
        told = referee.play(self.shown() if phase != "over" else self.plies[-1])
        if "result" in told:
            self.answer(told)

    def enemy_ply(self, referee: Referee, by_keyboard: bool) -> None:
        """Enter the opponent's move."""
        self.wait("move")
        move = referee.enemy_move()
        told = referee.play(move)
        if by_keyboard:
            self.page.keyboard.type(move.lower())
            self.page.keyboard.press("Enter")
        else:
            self.click_point(move[:2])
            self.click_point(move[2:])
        if "result" in told:
            self.answer(told)

    def enemy_tiles(self) -> list[str]:
        """What can be read on the opponent's pieces."""
        return list(self.page.locator("#board .jq-piece.jq-black").all_text_contents())

    def end(self, winner: str, reason: str) -> None:
        """Enter the end that the referee has told."""
        self.page.click("#end-game")
        self.page.select_option("#end-dialog [name=winner]", winner)
        self.page.select_option("#end-dialog [name=reason]", reason)
        self.page.click("#end-dialog button[value=ok]")

    def play_on(self, referee: Referee, plies: int) -> None:
        for _ in range(plies):
            if referee.end is not None:
                return
            before = len(referee.plies)
            if referee.is_own_turn:
                self.own_ply(referee)
            else:
                self.enemy_ply(referee, by_keyboard=before % 4 < 2)
            eventually(lambda: len(self.plies) > before)  # noqa: B023


def test_a_whole_game_with_an_undo_a_killed_server_and_a_reload(tmp_path) -> None:
    games = tmp_path / "games"
    with browser(tmp_path) as opened:
        page = opened.new_page()
        with server(games, "--movetime", "0.05") as first:
            operator = Operator(page)
            key = operator.begin(first.address, own="铁军", enemy="北方")
            referee = Referee(RED, LAYOUT, seed=11)
            operator.play_on(referee, 7)

            # Three plies were entered wrongly: they are taken back, and the game goes on.
            for left in (6, 5, 4):
                page.click("#undo")
                eventually(lambda: len(operator.plies) == left)  # noqa: B023
            referee.undo(3)
            page.click("#run")
            operator.play_on(referee, 4)

            first.kill()
            page.wait_for_selector("#broken:not([hidden])")
        with server(games, "--movetime", "0.05", port=first.port) as second:
            page.wait_for_selector("#broken", state="hidden")
            page.wait_for_selector("#run.main")  # paused: the page has heard of it
            page.click("#run")
            operator.play_on(referee, 2)
            page.reload()

            # Another window sees the same, and what is entered in the first one at once.
            other = opened.new_page()
            other.goto(page.url)
            operator.play_on(referee, 9)
            if (end := referee.end) is None:
                operator.end("own", "aborted")
                end = Outcome(RED, Reason.ABORTED)
            operator.wait("over")
            other.wait_for_selector('#table[data-phase="over"]')
            assert Operator(other).plies == operator.plies

            assert set(operator.enemy_tiles()) <= {"", "军旗"}
            (record,) = open_records(games / f"{key}.junqi")
            assert [replace(ply, seconds=None) for ply in record.plies] == referee.plies
            assert record.outcome == end
            assert (record.red, record.black) == ("铁军", "北方")
            assert (record.red_layout, record.black_layout) == (LAYOUT, None)
            check_record(record)
            with page.expect_download() as download:
                page.click("#record")
            assert list(open_records(download.value.path())) == [record]
            other.click("#view")
            other.wait_for_selector("#red-name:has-text('铁军')")
            assert second.stop() == 130  # at once, though pages listen


def test_the_page_lives_while_the_engine_thinks_and_can_make_it_move(tmp_path) -> None:
    with browser(tmp_path, locale="en-GB") as opened, slow_server(tmp_path) as running:
        page = opened.new_page()
        operator = Operator(page)
        operator.begin(running.address, minutes="600")
        operator.wait("thinking")
        clock = page.locator("#clock-own .time")
        first = clock.inner_text()
        eventually(lambda: clock.inner_text() != first)
        assert operator.phase() == "thinking"
        page.select_option("#theme", "light")
        assert page.get_attribute("html", "data-theme") == "light"
        page.click("#now")
        operator.wait("result", "move")

        # Pieces that cannot move, and moves that cannot be, are explained.
        if operator.phase() == "result":
            page.keyboard.press("0")
        operator.wait("move")
        plies = operator.plies
        operator.click_point("L0")
        page.wait_for_selector(".notice.error:has-text('black has no piece')")
        edge = page.locator("#board").bounding_box()
        assert page.locator("#notices").bounding_box()["x"] > edge["x"] + edge["width"]
        page.fill("#entry-text", "A1B1")
        page.keyboard.press("Enter")
        page.wait_for_selector(".notice.error:has-text('no piece of black could move so')")
        assert operator.plies == plies
        page.reload()
        assert page.get_attribute("html", "data-theme") == "light"


def test_the_page_fits_a_phone_and_takes_moves_in_the_opponents_coordinates(tmp_path) -> None:
    def width() -> Any:
        return page.evaluate("document.documentElement.scrollWidth")

    with browser(tmp_path, width=390, height=844) as opened, server(tmp_path) as running:
        page = opened.new_page()
        operator = Operator(page)
        page.goto(f"{running.address}console?game=20200101-000000-abcd")
        page.wait_for_selector(".notice.error:has-text('20200101-000000-abcd')")
        page.wait_for_selector("#new-game")
        assert width() <= 390
        page.select_option("#language", "en")
        page.wait_for_selector("html[lang=en]")
        for link in page.locator("header nav a").all():
            box = link.bounding_box()
            assert page.evaluate(TOP_AT, [box["x"] + box["width"] - 4, box["y"] + 4])
        page.select_option("#language", "zh")
        page.wait_for_selector("html[lang=zh]")
        choices = {"first": "no", "turned": "yes"}
        operator.begin(running.address, choices, own="名字很长很长的一支代表队", movetime="0.05")
        operator.wait("move")
        assert width() <= 390
        page.fill("#entry-text", "g0h1")
        page.keyboard.press("Enter")
        eventually(lambda: operator.plies[:1] == ["F4E3"])
        operator.wait("result", "move")
        assert width() <= 390


HIDE = """() => {
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""
SHOW = """() => {
    delete document.hidden;
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_many_tabs_do_not_use_up_the_connections_of_the_browser(tmp_path) -> None:
    with browser(tmp_path) as opened, server(tmp_path, "--movetime", "0.05") as running:
        page = opened.new_page()
        operator = Operator(page)
        operator.begin(running.address, choices={"first": "no"})
        for _ in range(7):
            other = opened.new_page()
            other.goto(page.url)
            other.wait_for_selector("#table:not([hidden])")
            other.evaluate(HIDE)  # here every page believes to be in front
        operator.page.fill("#entry-text", "F0E1")
        page.keyboard.press("Enter")
        eventually(lambda: operator.plies[:1] == ["F0E1"])
        # One that comes to the front again shows how the game stands.
        assert Operator(other).plies == []
        other.evaluate(SHOW)
        eventually(lambda: Operator(other).plies[:1] == ["F0E1"])


def test_an_opponents_contact_outlives_the_tab_and_undo_takes_back_nothing_else(tmp_path) -> None:
    with browser(tmp_path) as opened, server(tmp_path, "--movetime", "0.05") as running:
        page = opened.new_page()
        operator = Operator(page)
        operator.begin(running.address, choices={"first": "no"})
        page.wait_for_selector("#clock-enemy.running")
        operator.click_point("F0")
        page.click("#run")  # a click that stops the clocks does not undo the one before it
        page.wait_for_selector("#clock-enemy:not(.running)")
        operator.click_point("G0")
        operator.wait("result")
        page.close()
        page = opened.new_page()
        page.goto(f"{running.address}console")
        page.click("#games .button")
        operator = Operator(page)
        operator.wait("result")
        assert operator.shown() == "F0G0"
        page.click("#undo")
        operator.wait("move")
        # Our marshal stands on G0.
        page.keyboard.type("f0g0")
        page.keyboard.press("Enter")
        operator.wait("result")
        page.keyboard.press("2")
        operator.wait("flag")
        page.keyboard.press("1")
        eventually(lambda: operator.plies[:1] == ["F0G0"])
        # Our flag has to be shown, and stays among the facts.
        page.wait_for_selector("#tell:has-text('L3')")
        page.wait_for_selector("#facts:has-text('A1'):has-text('L3')")


def test_pieces_stay_covered_on_the_form_in_the_game_and_after_a_reload(tmp_path) -> None:
    def names() -> set[str]:
        return set(page.locator("#board .jq-piece text").all_text_contents())

    with browser(tmp_path) as opened, server(tmp_path, "--movetime", "0.05") as running:
        page = opened.new_page()
        operator = Operator(page)
        page.goto(f"{running.address}console")
        page.wait_for_selector("#layout-board svg")
        page.check("#cover-layout")
        page.reload()
        page.wait_for_selector("#layout-board svg", state="attached")
        assert not page.locator("#layout-board svg").is_visible()
        assert page.get_attribute("[name=layout]", "type") == "password"
        page.fill("[name=layout]", LAYOUT)
        page.select_option("[name=first]", "no")
        page.click("#new-game button[type=submit]")
        operator.wait("move")
        assert page.is_checked("#cover")
        assert names() <= {""}
        page.uncheck("#cover")
        eventually(lambda: "司令" in names())
        page.check("#cover")
        eventually(lambda: names() <= {""})
        page.reload()
        operator.wait("move")
        assert names() <= {""}
        # Whether the flag is asked for tells nothing of our piece; and a key that is held down too
        # long does not answer that question as well.
        page.keyboard.type("f0g0")
        page.keyboard.press("Enter")
        operator.wait("result")
        for _ in range(3):
            page.keyboard.down("0")
        page.keyboard.up("0")
        page.wait_for_timeout(300)
        assert operator.phase() == "flag"
        assert operator.plies == []
        page.keyboard.press("0")
        eventually(lambda: operator.plies[:1] == ["F0G0"])


def test_a_contact_is_announced_in_the_opponents_coordinates_too(tmp_path) -> None:
    with browser(tmp_path) as opened, server(tmp_path, "--movetime", "0.05") as running:
        page = opened.new_page()
        operator = Operator(page)
        operator.begin(running.address, choices={"turned": "yes"})
        page.click("#run")  # whatever the engine thinks of, another move is played
        operator.wait("start", "result", "move")
        if operator.plies:
            page.click("#undo")
        page.click("#other")
        operator.click_point("G0")
        operator.click_point("F0")
        operator.wait("result")
        assert operator.shown() == "G0F0"
        assert "F4G4" in page.inner_text("#headline")


def test_a_new_game_takes_its_terms_from_the_last_one_and_a_layout_from_the_book(tmp_path) -> None:
    book = make_book(tmp_path / "book.db")
    with browser(tmp_path) as opened, server(tmp_path / "games", "--book", str(book)) as running:
        page = opened.new_page()
        choices = {"first": "no", "turned": "yes", "steps_loser": "next"}
        terms = {"own": "铁军", "enemy": "北方", "event": "决赛", "minutes": "12.5", "steps": "20"}
        Operator(page).begin(running.address, choices, **terms)
        page.goto(f"{running.address}console")
        page.wait_for_selector("#games li")
        page.wait_for_selector("#from-book optgroup", state="attached")
        fields = ("own", "enemy", "event", "minutes", "steps", "movetime", "turned", "steps_loser")
        filled = {name: page.input_value(f"[name={name}]") for name in fields}
        kept = {**terms, "enemy": "", "movetime": "", "turned": "yes", "steps_loser": "next"}
        assert filled == kept
        page.select_option("#from-book", A)
        eventually(lambda: page.input_value("[name=layout]") == A)
        page.fill("[name=layout]", A[:-1])
        page.click("#new-game h1")
        page.wait_for_selector("#layout-problem:has-text('25')")
        assert page.locator("#layout-problem").bounding_box()["y"] < 700
