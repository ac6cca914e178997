"""The viewer and the book in a real browser: what the page holds, was sent, and wrote."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from book_samples import make_book
from web_pages import browser, eventually, needs_chromium, server

from junqi.record import format_record, open_records
from junqi.replay import record_views, replay

pytestmark = needs_chromium


@dataclass
class Rooms:
    """A server and a browser, which both take their time to start."""

    folder: Path
    address: str
    chrome: Any


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rooms]:
    folder = tmp_path_factory.mktemp("rooms")
    book = make_book(folder / "book.db")
    with server(folder, "--book", str(book)) as web, browser(folder, locale="en-US") as chrome:
        yield Rooms(folder, web.address, chrome)


EXAMPLE = Path(__file__).parents[1] / "docs" / "example.junqi"
RECORD = next(open_records(EXAMPLE))
DROP = """([name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name));
    const how = { dataTransfer: data, bubbles: true, cancelable: true };
    document.getElementById("drop").dispatchEvent(new DragEvent("drop", how));
}"""
# Where the kernels are not compiled yet, that is done first; milliseconds.
COMPILING = 300_000
# The names on the pieces of a side, as the page holds them.
NAMES = """(side) =>
    [...document.querySelectorAll(`#board .jq-${side} text`)].map((text) => text.textContent)"""


def read_names(svg: str, side: str) -> list[str]:
    pieces = re.findall(rf'<g class="jq-piece jq-{side}[^"]*".*?</g>', svg)
    return [name for piece in pieces for name in re.findall(r"<text[^>]*>([^<]+)", piece)]


def step_through(page: Any, seat: str, other: str, plies: int) -> None:
    """Walk through the game with the keyboard, looking into the page at every ply."""
    page.keyboard.press("Home")
    for ply in range(plies):
        page.wait_for_selector(f"#said:has-text('Ply {ply} of')")
        assert set(page.evaluate(NAMES, other)) <= {"Flag"}, (seat, ply)
        assert len(page.evaluate(NAMES, seat)) > 0
        page.keyboard.press("ArrowRight")


def test_the_viewer_steps_from_both_seats_and_hides_the_other_side(rooms: Rooms) -> None:
    from playwright.sync_api import Error

    page = rooms.chrome.new_page()
    sent: list[tuple[str, str]] = []

    def hear(route: Any) -> None:
        """Hand an answer of the server on, and keep what it says."""
        with suppress(Error):  # the page may have left meanwhile
            answer = route.fetch()
            sent.append((route.request.url, answer.text()))
            route.fulfill(response=answer)

    page.route(re.compile("/api/viewer/files/opened/[0-9a-f]+/1(?!/estimate)"), hear)
    page.goto(f"{rooms.address}viewer")
    page.evaluate(DROP, ["broken.junqi", "[Event"])
    page.wait_for_selector("#upload-problem:has-text('broken.junqi: game 1, line 1')")
    page.evaluate(DROP, ["final.junqi", format_record(RECORD)])
    page.wait_for_selector("#board svg")
    for seat, other in (("red", "black"), ("black", "red")):
        if seat == "black":
            page.click("[data-seat=black]")
            page.wait_for_selector("[data-seat=black][aria-pressed=true]")
        step_through(page, seat, other, 6)
        page.keyboard.press("End")
        page.wait_for_selector(f"#said:has-text('Ply {len(RECORD.plies)} of')")
        page.keyboard.press("ArrowLeft")  # the last ply took the flag
        page.wait_for_selector(f"#said:has-text('Ply {len(RECORD.plies) - 1} of')")
        page.click("#heat")
        page.wait_for_selector("#board .heat")
        page.click("#heat")
        # Before a seat is chosen, it is red's.
        answers = [text for url, text in sent if seat in (url.partition("seat=")[2] or "red")]
        boards = [svg for text in answers if (svg := json.loads(text).get("board"))]
        assert len(boards) > 6
        assert len(answers) > len(boards) + 6
        views = list(record_views(RECORD, 0 if seat == "red" else 1))
        for text in answers:
            assert str(RECORD.red_layout) not in text
            assert str(RECORD.black_layout) not in text
        for svg in boards:
            assert set(read_names(svg, other)) <= {"Flag"}
        told = views[-1].enemy_flag is not None
        assert told == any(read_names(svg, other) for svg in boards)
    # Everything is shown only when that is asked for.
    assert not any("seat=all" in url for url, _ in sent)
    page.keyboard.press("Home")
    page.click("[data-seat=all]")
    eventually(lambda: page.locator("#board .jq-piece text").count() == 50)
    assert "seat=all" in page.url
    # Autoplay goes on by itself, and stops.
    page.select_option("#speed", "200")
    page.locator("#speed").blur()
    page.keyboard.press(" ")
    slider = page.locator("#slider")
    eventually(lambda: int(slider.input_value()) >= 3)
    page.keyboard.press(" ")
    # The place is in the address: a page that is loaded again shows the same board.
    page.keyboard.press("ArrowLeft")
    ply = int(slider.input_value())
    page.wait_for_selector(f"#said:has-text('Ply {ply} of')")
    shown = page.evaluate(NAMES, "black")
    page.reload()
    page.wait_for_selector(f"#said:has-text('Ply {ply} of')")
    assert page.evaluate(NAMES, "black") == shown
    assert len(shown) == len(list(replay(RECORD))[ply].points_of(1))
    # The engine's opinion of the ply.
    page.click("#tab-candidates")
    page.click("#think")
    page.wait_for_selector("#candidate-table tbody tr", timeout=COMPILING)
    assert page.locator("#board .mark.arrow").count() == 3
    page.click("#evaluate")
    page.wait_for_selector("#graph polyline.red")


def test_curation_on_the_page_lands_in_the_file(rooms: Rooms) -> None:
    path = rooms.folder / "book.db"

    def kept(column: str) -> Any:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
            return connection.execute(f"SELECT {column} FROM layouts WHERE id = 1").fetchone()[0]

    chinese = {"name": "junqi-language", "value": "zh", "url": rooms.address}
    rooms.chrome.add_cookies([chinese])
    page = rooms.chrome.new_page()
    page.goto(f"{rooms.address}book")
    page.wait_for_selector("#gallery .board svg")
    assert page.locator("#gallery .card").count() == 3
    page.select_option("[name=origin]", "evolved")
    eventually(lambda: page.locator("#gallery .card").count() == 1)
    page.click("#gallery .card .title")
    page.wait_for_selector("#detail-board svg")
    page.uncheck("#enabled")
    eventually(lambda: kept("enabled") == 0)
    page.wait_for_selector("#gallery .card.off")
    page.fill("#weight", "0.4")
    page.press("#weight", "Tab")
    eventually(lambda: kept("weight") == 0.4)
    page.fill("#note", "左翼空虚")
    page.press("#note", "Tab")
    eventually(lambda: kept("notes") == "左翼空虚")
    tags = "(SELECT group_concat(tag) FROM layout_tags WHERE layout_id = layouts.id)"
    page.fill("#new-tag", "决赛")
    page.press("#new-tag", "Enter")
    eventually(lambda: "决赛" in kept(tags))
    page.wait_for_selector("#tags .chip:has-text('决赛')")
    # An old tab does not undo what it does not show.
    old = rooms.chrome.new_page()
    old.goto(f"{rooms.address}book")
    old.wait_for_selector("#gallery .board svg")
    page.bring_to_front()
    for gone in (lambda: "决赛" not in kept(tags), lambda: kept("notes") == ""):
        page.click("#undo")
        eventually(gone)
        page.wait_for_selector(".notice.info:has-text('已撤销')")
        page.click(".notice button")
    old.bring_to_front()
    old.click("#undo")
    old.wait_for_selector(".notice.error:has-text('已被别处改动')")
    assert kept("weight") == 0.4
    page.bring_to_front()
    # What comes back while a note is typed is not written over, and the page is not closed over it.
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/api/book/layouts/1", hold)
    page.click("#redo")
    eventually(lambda: held or page.wait_for_timeout(20))
    assert kept("notes") == "左翼空虚"
    page.click("#note")
    page.keyboard.type("右翼")
    with page.expect_response("**/api/book/layouts/1"):
        held[0].continue_()
    page.unroute("**/api/book/layouts/1")
    warnings: list[str] = []

    def stay(dialog: Any) -> None:
        warnings.append(dialog.type)
        dialog.dismiss()

    page.once("dialog", stay)
    page.close(run_before_unload=True)
    eventually(lambda: warnings == ["beforeunload"] or page.wait_for_timeout(20))
    page.press("#note", "Tab")
    page.wait_for_selector(".notice.error:has-text('左翼空虚')")
    assert kept("notes") == "左翼空虚"
    assert page.input_value("#note") == "右翼"
    # A change that is refused leaves the fields as the book has them.
    page.fill("#new-tag", "two words")
    page.press("#new-tag", "Enter")
    page.wait_for_selector(".notice.error:has-text('标签应是一个词')")
    page.click(".notice button")
    # The opening moves with their board.
    page.click("#tree .move")
    page.wait_for_selector("#opening-board .jq-arrow")
    path.rename(rooms.folder / "away.db")
    page.reload()
    page.wait_for_selector("#problem-text:has-text('没有布局库')")
    (rooms.folder / "away.db").rename(path)
    page.click("#retry")
    page.wait_for_selector("#gallery .card")
