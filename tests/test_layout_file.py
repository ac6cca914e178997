from pathlib import Path

import pytest

from junqi.errors import InvalidLayout
from junqi.layout_file import FoundLayout, find_layouts, gather_layouts, read_layout_file
from junqi.textfile import decode_text

SAMPLE = "abccddeeffggghhhiiijjkklj"


@pytest.mark.parametrize(
    "text",
    [
        SAMPLE,
        f"{SAMPLE}\n",
        f"\n\n{SAMPLE}",
        f"layout,origin\n{SAMPLE},somewhere",
        f"layout\torigin\n{SAMPLE}\tsomewhere",
        f"LAYOUT\n{SAMPLE}  a remark",
        f"# remark\n  # another\n{SAMPLE}",
        f"   {SAMPLE}",
    ],
)
def test_the_first_field_of_a_line_is_the_layout(text: str) -> None:
    (found,) = find_layouts(text, "file")
    assert found.text == SAMPLE
    assert found.problems == []


def test_lines_are_counted_from_one() -> None:
    assert [found.line for found in find_layouts("a\n\n#\nb", "file")] == [1, 4]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_all_line_ends_and_a_byte_order_mark_are_fine(line_end: bytes) -> None:
    data = b"\xef\xbb\xbf" + line_end.join([b"a", b"b", b""])
    assert decode_text(data, "file") == "a\nb\n"


def test_a_file_with_the_name_of_a_layout_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / SAMPLE).write_text("abc")
    assert gather_layouts([SAMPLE]) == [FoundLayout(SAMPLE)]


def test_a_word_is_a_file_if_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert gather_layouts(["good"]) == [FoundLayout("good")]
    (tmp_path / "good").write_text(SAMPLE)
    assert gather_layouts(["good"]) == [FoundLayout(SAMPLE, "good", 1)]


def test_a_word_that_looks_like_a_file_is_missed_as_a_file() -> None:
    for word in ("layouts.txt", "some/where"):
        with pytest.raises(FileNotFoundError):
            gather_layouts([word])


def test_a_file_without_layouts_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "empty"
    file.touch()
    with pytest.raises(InvalidLayout, match="expected one layout a line, got none"):
        read_layout_file(str(file))


def test_a_found_layout_is_parsed_or_named_with_its_place() -> None:
    assert len(FoundLayout(SAMPLE).parse()) == 25
    with pytest.raises(InvalidLayout, match=r"^file:3: not a legal layout: 'abc'"):
        FoundLayout("abc", "file", 3).parse()
