"""The layout studio in a real browser: dragging, pasting, scores as they come, saving."""

from pathlib import Path
from typing import Any

import pytest
from book_samples import A_MIRRORED, A, make_book
from web_pages import browser, eventually, needs_chromium, server

from book.store import Book
from junqi.web.studio_check import swap_letters

pytestmark = needs_chromium

# The flag of A stands on L3, its marshal on G0; L1 is a bomb.
FLAG_IN_FRONT = swap_letters(A, 0, 23)


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_book(tmp_path_factory.mktemp("studio") / "book.db")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, book: Path) -> Any:
    with server(tmp_path_factory.mktemp("games"), "--book", str(book)) as running:
        yield running.address + "studio"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One browser for all tests: to start one takes longer than most of them."""
    with browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture
def page(opened: Any, address: str) -> Any:
    page = opened.new_page()
    page.goto(f"{address}#{A}")
    eventually(lambda: letters_of(page) == A)
    yield page
    page.close()


def letters_of(page: Any) -> str:
    return page.input_value("#letters")


def middle(page: Any, point: str) -> tuple[float, float]:
    """Where a point is on the screen."""
    box = page.locator(f'#board .jq-point[data-point="{point}"]').bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Any, origin: str, target: str, *, drops: bool = True) -> None:
    page.mouse.move(*middle(page, origin))
    page.mouse.down()
    page.mouse.move(*middle(page, target), steps=4)
    if drops:
        page.mouse.up()


def paste(page: Any, text: str) -> None:
    page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            data.setData("text", text);
            const event = new ClipboardEvent("paste", { clipboardData: data, cancelable: true });
            document.getElementById("letters").dispatchEvent(event);
        }""",
        text,
    )


def test_a_drag_that_becomes_illegal_is_explained_and_marked(page: Any) -> None:
    verdict = page.locator("#verdict")
    drag(page, "L3", "G0", drops=False)
    # The reason is told before the piece is let go.
    verdict.get_by_text("军旗在 G0：军旗必须放在大本营（L1 或 L3）").wait_for()
    page.mouse.up()
    eventually(lambda: letters_of(page) == FLAG_IN_FRONT)
    assert verdict.get_attribute("class") == "bad"
    assert page.locator("#board .mark.bad").count() == 1
    assert page.locator("#score").is_disabled()
    assert page.locator('#board .jq-piece[data-point="G0"]').text_content() == "军旗"
    page.keyboard.press("Control+z")
    eventually(lambda: letters_of(page) == A)
    assert verdict.get_attribute("class") == "fine"
    page.click("#redo")
    eventually(lambda: letters_of(page) == FLAG_IN_FRONT)
    # The undone and the redone are still there in another window.
    page.reload()
    eventually(lambda: letters_of(page) == FLAG_IN_FRONT)
    page.click("#undo")
    eventually(lambda: letters_of(page) == A)


def test_camps_stay_empty_and_a_drag_beside_the_board_changes_nothing(page: Any) -> None:
    drag(page, "G0", "H1")
    page.locator("#verdict").get_by_text("行营").wait_for()
    page.mouse.move(*middle(page, "G0"))
    page.mouse.down()
    page.mouse.move(1200, 500, steps=3)
    page.mouse.up()
    page.locator("#verdict").get_by_text("25 个位置").wait_for()
    assert letters_of(page) == A


def test_pieces_are_swapped_by_clicks_and_by_keyboard(page: Any) -> None:
    page.mouse.click(*middle(page, "G0"))
    assert page.locator("#board .mark.chosen").count() == 1
    assert page.locator("#board .mark.may").count() > 10
    page.mouse.click(*middle(page, "G1"))
    eventually(lambda: letters_of(page) == swap_letters(A, 0, 1))
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    eventually(lambda: letters_of(page) == A)


def test_a_finger_drags_too_on_a_narrow_screen(opened: Any, page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    devtools = opened.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        places = [{"x": x, "y": y} for x, y in points]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    touch("touchStart", middle(page, "G0"))
    touch("touchMove", middle(page, "G1"))
    touch("touchMove", middle(page, "H2"))
    touch("touchEnd")
    eventually(lambda: letters_of(page) == swap_letters(A, 0, 6))


def test_letters_are_pasted_and_what_is_wrong_with_them_is_told(page: Any) -> None:
    paste(page, f"{A_MIRRORED[:5]}\n{A_MIRRORED[5:]}")
    eventually(lambda: letters_of(page) == A_MIRRORED)
    paste(page, "a" * 25)
    page.locator(".notice.error").get_by_text("字母 a 应有 1 个，现有 25 个").wait_for()
    assert letters_of(page) == A_MIRRORED
    page.click("#mirror")
    eventually(lambda: letters_of(page) == A)


def test_a_score_appears_while_games_run_and_can_be_stopped(page: Any) -> None:
    page.select_option("#score-judge", "search:3x3")
    page.click("#score")
    page.locator("#score-rows .dot").first.wait_for()
    # The page is alive meanwhile.
    page.click("#mirror")
    eventually(lambda: letters_of(page) == A_MIRRORED)
    page.click("#room-score .stop")
    page.locator("#score-about").get_by_text("已停止").wait_for()
    assert " ± " in page.locator("#score-rows b").first.text_content()
    # It comes back when the page is loaded anew.
    page.reload()
    page.locator("#score-rows .dot").first.wait_for()


def test_swaps_are_listed_and_applied_by_a_click(page: Any) -> None:
    page.click("#tab-swaps")
    page.click("#swaps")
    page.locator("#costs .swap").first.wait_for()
    page.click("#room-swaps .stop")
    page.locator("#room-swaps .stop:disabled").wait_for()
    page.locator("#costs .swap").first.click()
    eventually(lambda: letters_of(page) != A)
    assert page.locator("#verdict").get_attribute("class") == "fine"
    page.click("#undo")
    eventually(lambda: letters_of(page) == A)


def test_heat_maps_frame_the_layout_on_the_board(page: Any) -> None:
    page.click("#tab-heat")
    page.locator("#heat figure").first.wait_for()
    assert page.locator("#heat figure").count() == 12
    assert page.locator("#heat .here").count() == 25
    assert page.locator('#heat [data-letter="a"] .here').get_attribute("data-point") == "G0"


def test_saving_lands_in_the_file_and_is_undone_from_the_page(page: Any, book: Path) -> None:
    letters = swap_letters(A, 5, 10)
    paste(page, letters)
    eventually(lambda: letters_of(page) == letters)
    page.click("#tab-save")
    page.fill("#save-name", "浏览器")
    page.fill("#save-tags", "web 试验")
    page.click("#save")
    page.locator("#saved").get_by_text("已存为").wait_for()
    with Book.open(book, read_only=True) as opened:
        row = opened.find_layout(letters)
        assert (row.name, row.tags) == ("浏览器", ("web", "试验"))
    assert "浏览器" in page.locator("#verdict").text_content()
    page.click("#unsave")
    page.locator("#verdict").get_by_text("布局库中没有").wait_for()
    with Book.open(book, read_only=True) as opened:
        assert not opened.holds(letters)
