"""The pages of a book: complete, linked, harmless whatever the book contains."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from book_samples import LETTERS, RUN, A, B, C, make_book

from book.errors import BookError
from book.rows import NewLayout
from book.site import SiteReport, write_site
from book.store import Book

VOID = {"meta", "link", "input", "br", "use", "rect", "circle", "path"}


class Page(HTMLParser):
    """What is in a page, and whether every element ends where it should."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src"):
                self.links.append(value or "")
            if name == "id":
                self.ids.append(value or "")
            assert not name.startswith("on") or name == "onsubmit"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def build(path: Path, folder: Path, **options: object) -> SiteReport:
    with Book.open(path, read_only=True) as book:
        return write_site(book, folder, **options)  # type: ignore[arg-type]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    report = build(make_book(tmp_path / "sample.db"), tmp_path / "site")
    assert report == SiteReport(tmp_path / "site" / "index.html", 5, 0)
    return tmp_path / "site"


def pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def test_there_is_a_page_for_each_layout_and_two_more(site: Path) -> None:
    names = {page.relative_to(site).as_posix() for page in pages(site)}
    assert names == {"index.html", "runs.html", *(f"layouts/{letters}.html" for letters in LETTERS)}


def test_all_links_lead_to_files_of_the_site_itself(site: Path) -> None:
    for page in pages(site):
        parsed = Page(page.read_text(encoding="utf-8"))
        assert len(parsed.ids) == len(set(parsed.ids))
        for link in parsed.links:
            target, _, place = link.partition("#")
            assert ":" not in target
            assert not target.startswith("/")
            if not target:
                assert place in parsed.ids
                continue
            file = page.parent / target
            assert file.is_file(), link
            if place:
                assert place in Page(file.read_text(encoding="utf-8")).ids


def test_nothing_comes_from_elsewhere(site: Path) -> None:
    for file in site.rglob("*.*"):
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "://" not in text, file
        assert '"//' not in text, file
        assert "@import" not in text
        assert "url(" not in text


def test_the_gallery_begins_with_the_heaviest_of_the_mixture(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'href="layouts/([a-l]{25})\.html"', text) == [A, B, C]
    assert re.findall(r'data-weight="([^"]+)"', text) == [
        "0.750000000",
        "0.250000000",
        "0.000000000",
    ]
    assert re.findall(r'data-score="([^"]*)"', text) == ["0.650000", "0.400000", ""]
    parsed = Page(text)
    assert "3 layouts, 2 of them in the mixture; 2 scores from 200 games" in parsed.text
    assert "65.0 ± 9.8 %" in parsed.text


def test_a_layouts_page_tells_all_that_is_known(site: Path) -> None:
    text = Page((site / "layouts" / f"{A}.html").read_text(encoding="utf-8")).text
    for known in (
        *(A, "Wall", "0.75, drawn in 75.0 % of games", "65.0 ± 9.8 % in 100 games", "mine", RUN),
        f"junqi book evaluate {A} --panel random:10 --games 100 --seed 7",
        *("Against other layouts", B, "65.0 ± 29.4 %", "G0F0", "search:5x24", "too slow"),
    ):
        assert known in text
    text = Page((site / "layouts" / f"{B}.html").read_text(encoding="utf-8")).text
    assert "weak on the left lost twice" in text
    text = Page((site / "layouts" / f"{C}.html").read_text(encoding="utf-8")).text
    assert "左翼" in text
    assert "0, not drawn" in text
    assert "none yet" in text


def test_runs_have_their_settings(site: Path) -> None:
    text = Page((site / "runs.html").read_text(encoding="utf-8")).text
    for known in (RUN, "junqi layout evolve --seed 1", '"rounds": 3', "2.5 s"):
        assert known in text


def test_what_stands_in_the_book_does_nothing_to_the_page(tmp_path: Path) -> None:
    path = make_book(tmp_path / "sample.db")
    bad = '"><script>alert(1)</script>'
    with Book.open(path) as book:
        book.add_layouts([NewLayout(A, name=bad, notes=bad, tags=("<b>",))])
    build(path, tmp_path / "site", title=bad)
    for page in pages(tmp_path / "site"):
        text = page.read_text(encoding="utf-8")
        assert "<script>" not in text
        assert "<b>" not in text
        Page(text)


def test_a_second_site_takes_the_place_of_the_first(tmp_path: Path) -> None:
    path = make_book(tmp_path / "sample.db")
    build(path, tmp_path / "site")
    (tmp_path / "site" / "layouts" / "mine.html").write_text("kept")
    report = build(path, tmp_path / "site", limit=1)
    assert (report.pages, report.left_out) == (3, 2)
    kept = {page.name for page in (tmp_path / "site" / "layouts").iterdir()}
    assert kept == {f"{A}.html", "mine.html"}


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    path = make_book(tmp_path / "sample.db")
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "index.html").write_text("my page")
    with pytest.raises(BookError, match="expected an empty folder or an earlier site; --force"):
        build(path, folder)
    assert [file.name for file in folder.iterdir()] == ["index.html"]
    build(path, folder, force=True)
    assert (folder / "runs.html").exists()
    with pytest.raises(BookError, match="expected a folder, got a file"):
        build(path, folder / "index.html")


def test_an_empty_book_has_pages_too(tmp_path: Path) -> None:
    Book.create(tmp_path / "empty.db").close()
    assert build(tmp_path / "empty.db", tmp_path / "site").pages == 2
    assert "No run yet" in (tmp_path / "site" / "runs.html").read_text(encoding="utf-8")
