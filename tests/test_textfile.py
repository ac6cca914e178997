"""Text files are written whole or not at all."""

import os

import pytest

from junqi.textfile import read_text, write_whole


def test_a_written_file_is_read_again(tmp_path) -> None:
    path = tmp_path / "a.txt"
    write_whole(path, "one\n军棋\n")
    write_whole(path, "two\n军棋\n")
    assert read_text(str(path)) == "two\n军棋\n"
    assert list(tmp_path.iterdir()) == [path]


def test_what_was_there_stays_if_the_new_text_cannot_be_written(tmp_path) -> None:
    path = tmp_path / "a.txt"
    write_whole(path, "one\n")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "two \ud800\n")
    assert path.read_text(encoding="utf-8") == "one\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_stays_a_link(tmp_path) -> None:
    target, link = tmp_path / "a.txt", tmp_path / "b.txt"
    link.symlink_to(target)
    write_whole(link, "one\n")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "one\n"
