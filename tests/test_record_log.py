"""Files of records that grow by whole games."""

from pathlib import Path

import pytest

from junqi.errors import InvalidRecord
from junqi.layout import format_layout, random_layouts
from junqi.record import Record, format_record
from junqi.record_log import FileInUse, RecordLog
from junqi.replay import record_game


@pytest.fixture(scope="module")
def records() -> list[Record]:
    layouts = [format_layout(layout) for layout in random_layouts(4, 1)]
    return [record_game(*layouts[i : i + 2], lambda _, moves: moves[0]) for i in range(3)]


def test_records_are_written_one_after_the_other(tmp_path: Path, records: list[Record]) -> None:
    path = tmp_path / "games.junqi"
    with RecordLog(path, is_resumed=False) as log:
        assert log.records == []
        for record in records:
            log.append(record)
    assert path.read_text(encoding="utf-8") == "".join(map(format_record, records))
    with RecordLog(path, is_resumed=True) as log:
        assert log.records == records


def test_a_record_torn_anywhere_is_cut_off(tmp_path: Path, records: list[Record]) -> None:
    path = tmp_path / "games.junqi"
    whole = "".join(map(format_record, records[:2])).encode()
    last = format_record(records[2]).encode()
    for cut in range(0, len(last), 7):
        path.write_bytes(whole + last[:cut])
        with RecordLog(path, is_resumed=True) as log:
            assert log.records == records[:2], cut
            log.append(records[2])
        assert path.read_bytes() == whole + last


def test_a_last_line_end_that_is_missing_makes_a_record_torn(
    tmp_path: Path, records: list[Record]
) -> None:
    path = tmp_path / "games.junqi"
    path.write_bytes(format_record(records[0]).encode()[:-1])
    with RecordLog(path, is_resumed=True) as log:
        assert log.records == []
    assert path.read_bytes() == b""


def test_records_are_never_overwritten(tmp_path: Path, records: list[Record]) -> None:
    path = tmp_path / "games.junqi"
    path.write_text(format_record(records[0]), encoding="utf-8", newline="\n")
    with pytest.raises(FileInUse, match="--resume goes on with this one"):
        RecordLog(path, is_resumed=False)
    assert path.read_text(encoding="utf-8") == format_record(records[0])


@pytest.mark.parametrize("text", ["my diary\n", "\x00\x01", '[Red "x"]\n\nnonsense\n1-0\n\n'])
def test_a_file_of_something_else_is_not_touched(tmp_path: Path, text: str) -> None:
    path = tmp_path / "diary.txt"
    path.write_text(text, encoding="utf-8", newline="\n")
    with pytest.raises(InvalidRecord, match=r"diary\.txt: "):
        RecordLog(path, is_resumed=True)
    assert path.read_text(encoding="utf-8") == text


def test_an_empty_file_is_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "games.junqi"
    path.touch()
    with RecordLog(path, is_resumed=False) as log:
        assert log.records == []
