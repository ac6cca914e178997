"""Records as text and as JSON: round trips, files of many, and every error with its place."""

import io
import json
import re
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from junqi.board import POINTS, parse_point
from junqi.errors import InvalidRecord
from junqi.pieces import BLACK, DEFENDER_WINS, NO_CONTACT, NOBODY, RED
from junqi.record import (
    MARK_OF_CONTACT,
    Ply,
    Record,
    format_ply,
    format_record,
    open_records,
    parse_record,
    read_records,
    record_from_json,
    record_to_json,
)
from junqi.replay import check_record, replay
from junqi.rules import Move, Outcome, Reason, Rules, parse_move
from junqi.tags import TAGS, format_rules, parse_rules

DOCS = Path(__file__).parents[1] / "docs"

SMALL = """\
[Red "红方"]
[Black "South"]
[RedLayout "?"]
[Result "0-1"]
[Reason "time"]

  1. G0F0= (0.12)      F4G4+ {a \\} b}
  2. I4G4=@A1@L3       B0C0
  3. H2H3
0-1

"""


def json_line(record: Record) -> str:
    return json.dumps(record_to_json(record), ensure_ascii=False) + "\n"


def error_of(text: str) -> str:
    with pytest.raises(InvalidRecord) as caught:
        list(read_records(text.splitlines()))
    return str(caught.value)


# Text


def test_small_record_reads_as_written() -> None:
    record = parse_record(SMALL)
    assert record.red == "红方"
    assert record.red_layout is None
    assert record.black_layout is None
    assert record.rules == Rules()
    assert record.outcome == Outcome(BLACK, Reason.TIME)
    assert [ply.seconds for ply in record.plies] == [0.12, None, None, None, None]
    assert record.plies[1].comment == "a } b"
    assert record.plies[2].flags == (parse_point("A1"), parse_point("L3"))
    assert record.plies[4] == Ply(parse_move("H2H3"), NO_CONTACT)


def test_plies_are_written_with_what_is_known() -> None:
    move = parse_move("G0F0")
    assert format_ply(Ply(move)) == "G0F0"
    assert format_ply(Ply(move, DEFENDER_WINS, (1, 58), 2.0, "x")) == "G0F0-@A1@L3 (2) {x}"


def test_unknown_layouts_and_the_result_are_always_written() -> None:
    assert format_record(Record()) == (
        '[Rules "steps=31 steps_loser=mover flag_first=yes time=1800"]\n'
        '[RedLayout "?"]\n[BlackLayout "?"]\n[Result "*"]\n\n*\n\n'
    )


@pytest.mark.parametrize(
    "value", ['"', "\\", "\\n", "\n", "\r\n", "]", '"]\n[Red "', "\ufeff", "  "]
)
def test_tags_and_comments_hold_any_text(value: str) -> None:
    record = Record((Ply(Move(30, 25), comment=value),), red=value, extra={"Note": value})
    assert parse_record(format_record(record)) == record
    assert len(format_record(record).split("\n")) == 11


def test_other_tags_are_kept_in_order() -> None:
    record = Record(extra={"Round": "3", "Annotator": "me", "A_1": ""})
    text = format_record(record)
    assert text.index("Round") < text.index("Annotator")
    assert list(parse_record(text).extra.items()) == [("Round", "3"), ("Annotator", "me")]


@pytest.mark.parametrize("name", ["round", "", "Two words", "Red", "Tag]"])
def test_other_tags_need_a_new_name(name: str) -> None:
    with pytest.raises(InvalidRecord, match="expected a new tag name"):
        Record(extra={name: "x"})


def test_rules_round_trip_and_missing_settings_are_as_usual() -> None:
    rules = Rules(10, "next", False, 0.5)
    assert parse_rules(format_rules(rules)) == rules
    assert parse_rules("steps=20 time=inf") == Rules(steps=20, time=float("inf"))


def test_the_reader_takes_crlf_byte_order_mark_and_other_spacing() -> None:
    record = parse_record(SMALL)
    assert parse_record("\ufeff" + SMALL.replace("\n", "\r\n")) == record
    assert parse_record(re.sub(" +([A-L])", r"\n \1", SMALL).replace(".\n", ".")) == record
    assert parse_record("\n\n  " + SMALL.replace("\n0-1", " 0-1") + "\n\n") == record
    assert parse_record(SMALL.replace('[Result "0-1"]\n', "")) == record


# Errors


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('[Red "', "[Red ", "line 1: expected a tag like"),
        ("[Red", "hello [Red", "line 1: expected a tag like"),
        ('South"', 'South\\x"', "line 2: expected a tag like"),
        ("Black", "Red", "line 2: tag Red came a second time"),
        ('RedLayout "?"', 'Rules "steps=x"', "line 3: Rules: expected a whole number, got 'x'"),
        ('RedLayout "?"', 'Rules "steps=0"', "line 3: Rules: expected steps of at least 1, got 0"),
        ('RedLayout "?"', 'Rules "tempo=1"', "line 3: Rules: expected rules like steps=31"),
        ('RedLayout "?"', 'Rules "flag_first=1"', "line 3: Rules: expected one of yes no, got '1'"),
        ('RedLayout "?"', 'Rules "time=1e999"', "line 3: Rules: expected seconds like 0.12"),
        ('RedLayout "?"', 'Seed "1.5"', "line 3: Seed: expected a whole number, got '1.5'"),
        ('RedLayout "?"', f'Seed "{"1" * 5000}"', "line 3: Seed: expected a whole number"),
        (
            'RedLayout "?"',
            'RedClock "-1"',
            "line 3: RedClock: expected seconds like 0.12, got '-1'",
        ),
        ('Result "0-1"', 'Result "2-0"', "line 4: Result: expected one of 1-0 0-1 1/2-1/2 *,"),
        ('Result "0-1"', 'Result "1-0"', "line 10, column 1: expected 1-0 as in the tag Result"),
        ('"time"', '"tired"', "line 5: Reason: expected one of flag no-moves"),
        ('[Reason "time"]', "", "line 10, column 1: expected a Reason with 0-1, got none"),
        ("0-1", "*", "line 10, column 1: expected no Reason with *, got time"),
        ("  2.", "  3.", "line 8, column 3: expected move 2. or the result"),
        ("  1. ", "", "line 7, column 1: expected move 1. or the result"),
        ("G0F0", "G0M0", "line 7, column 6: expected a ply like G0F0+@A1 (0.12) {comment}"),
        ("F4G4+", "F4G4x", "line 7, column 24: expected a ply like"),
        ("F4G4+", "F4G4++", "line 7, column 24: expected a ply like"),
        ("@A1", "@", "line 8, column 6: expected a ply like"),
        ("0.12", "0,12", "line 7, column 6: expected seconds like 0.12, got '0,12'"),
        ("b}", "b", "line 7, column 30: expected move 2. or the result"),
        ("H2H3", "H2H3 H2H3 (1) oh", "line 9, column 20: expected move 4. or the result"),
        ("H2H3\n0-1", '[Red "x"]', "line 9, column 6: expected a ply like"),
        ("  3. H2H3\n0-1", '[Red "x"]', "got a new record: is this one cut?"),
        (
            "\n0-1\n",
            "\n",
            "line 10: expected a ply of black or the result (1-0 0-1 1/2-1/2 *), got",
        ),
        ("0-1\n", "0-1 0-1\n", "line 10, column 1: expected a ply like"),
    ],
)
def test_errors_name_the_line_and_what_was_expected(old: str, new: str, message: str) -> None:
    text = SMALL.replace(old, new)
    assert text != SMALL
    error = error_of(text)
    assert error.startswith("game 1, line ")
    assert message in error
    assert "\n" not in error
    assert len(error) < 250
    assert error_of(SMALL + text).startswith("game 2, line ")


def test_parse_record_wants_one_record() -> None:
    for text in ("", "\n \n", "\ufeff"):
        with pytest.raises(InvalidRecord, match="expected a game record, got an empty text"):
            parse_record(text)
    with pytest.raises(InvalidRecord, match="expected one game record, got more"):
        parse_record(SMALL + SMALL)


def test_a_record_cut_anywhere_is_noticed() -> None:
    end = len(SMALL.rstrip())
    for cut in range(1, end):
        with pytest.raises(InvalidRecord, match=r"the text ends here: is the record cut\?$"):
            parse_record(SMALL[:cut])
    for cut in range(1, end + 1):
        with pytest.raises(InvalidRecord):
            list(read_records((SMALL[:cut] + SMALL).split("\n")))
    assert parse_record(SMALL[:end]) == parse_record(SMALL)


def test_a_file_cut_at_any_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "cut.junqi"
    for whole in (SMALL.encode(), json_line(parse_record(SMALL)).encode()):
        for cut in range(len(whole.rstrip())):
            path.write_bytes(whole[:cut])
            with pytest.raises(InvalidRecord, match=r"cut\.junqi: "):
                list(open_records(path))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_spoilt_record_gives_a_record_or_one_clear_error(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([SMALL, json_line(parse_record(SMALL))]))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 5)))
    spoilt = text[:start] + data.draw(st.text(max_size=5)) + text[end:]
    try:
        for record in read_records(spoilt.split("\n")):
            check_record(record)
    except InvalidRecord as error:
        assert "\n" not in str(error)  # noqa: PT017


# Files


def test_records_stand_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "many.junqi"
    records = [replace(parse_record(SMALL), seed=seed) for seed in range(5)]
    for record in records:
        with path.open("a", encoding="utf-8") as file:
            file.write(format_record(record))
    assert list(open_records(path)) == records
    assert list(open_records(str(path))) == records


def test_json_lines_are_noticed_and_may_be_mixed_with_text(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    record = parse_record(SMALL)
    path.write_text("\ufeff\n" + json_line(record) * 2 + SMALL + json_line(record), "utf-8")
    assert list(open_records(path)) == [record] * 4


def test_standard_input_is_read_for_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SMALL.encode())))
    assert list(open_records("-")) == [parse_record(SMALL)]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InvalidRecord, match=r"^standard input: expected a game record"):
        list(open_records("-"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\n \r\n", "the file is empty"),
        (SMALL.encode("gbk"), "line 1: expected text in UTF-8, got the byte 0xba"),
        (SMALL.encode() + SMALL.encode("gbk"), "line 12: expected text in UTF-8"),
        (SMALL.encode("utf-16"), "line 1: expected text in UTF-8, got the byte 0xff"),
        (b"\x7fELF\x02\x01\x01\x00\n\x00", "game 1, line 1: expected a tag like"),
        (bytes(100_000), "game 1, line 1: expected a tag like"),
    ],
)
def test_files_of_something_else_give_one_clear_line(
    content: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InvalidRecord) as caught:
        list(open_records(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 200


def test_reading_many_records_holds_one_at_a_time() -> None:
    def lines(games: int) -> Iterator[str]:
        for _ in range(games):
            yield from SMALL.splitlines(keepends=True)

    tracemalloc.start()
    assert sum(1 for _ in read_records(lines(3000))) == 3000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 300_000  # all of them would take 6 MB


# JSON


def test_json_keeps_the_tags_by_their_names() -> None:
    data = record_to_json(replace(parse_record(SMALL), seed=7, extra={"Round": "2"}))
    assert list(data) == [*TAGS, "Round", "plies"]
    assert data["Seed"] == 7
    assert data["RedLayout"] is None
    assert data["plies"][0] == {"move": "G0F0", "result": 2, "seconds": 0.12}
    assert data["plies"][2] == {"move": "I4G4", "result": 2, "flags": ["A1", "L3"]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"plies": None}, "expected a list of plies, got None"),
        ({"plies": {}}, "expected a list of plies"),
        ({"plies": [3]}, "ply 1: expected an object, got 3"),
        ({"plies": [{}]}, "ply 1: expected result 0, 1, 2 or 3, got None"),
        ({"plies": [{"move": "G0F0", "result": True}]}, "ply 1: expected result 0, 1, 2 or 3"),
        ({"plies": [{"move": "G0F0", "result": [3]}]}, "ply 1: expected result 0, 1, 2 or 3"),
        ({"plies": [{"result": 3}]}, "ply 1: expected a move like G0F0, got 'None'"),
        ({"plies": [{"move": ["G0"], "result": 3}]}, "ply 1: expected a move like G0F0"),
        ({"plies": [{"move": "G0F0", "result": 2, "flags": "A1"}]}, "ply 1: expected a list of"),
        ({"plies": [{"move": "G0F0", "result": 2, "flags": [1]}]}, "ply 1: expected a point"),
        ({"plies": [{"move": "G0F0", "result": 3, "seconds": "x"}]}, "ply 1: expected seconds"),
        ({"plies": [{"move": "G0F0", "result": 3, "comment": 5}]}, "ply 1: expected a list of"),
        ({"Result": None}, "expected a Result, got none"),
        ({"Result": 1}, "Result: expected a text, got 1"),
        ({"Reason": None}, "expected a Reason with 0-1, got none"),
        ({"Seed": 1.5}, "Seed: expected a whole number, got '1.5'"),
        ({"Seed": True}, "Seed: expected a text, got True"),
        ({"RedClock": float("nan")}, "RedClock: expected seconds like 0.12, got 'nan'"),
        ({"round": "2"}, "expected the name of a tag like Event, got 'round'"),
    ],
)
def test_errors_in_json_name_the_tag_or_the_ply(change: dict[str, object], message: str) -> None:
    data = {**record_to_json(parse_record(SMALL)), **change}
    with pytest.raises(InvalidRecord, match="^" + re.escape(message)):
        record_from_json(data)
    assert f"game 2, line 12: {message}" in error_of(SMALL + json.dumps(data))


def test_json_that_is_none_gives_one_clear_line() -> None:
    assert error_of('{"Red": ') == (
        "game 1, line 1, column 8: expected JSON (Expecting value), got '{\"Red\":'; "
        "the text ends here: is the record cut?"
    )
    assert error_of('{"plies": ' + "[" * 100_000).startswith("game 1, line 1: expected a record")
    assert error_of('{"Seed": ' + "1" * 5000 + "}").startswith("game 1, line 1")
    with pytest.raises(InvalidRecord, match="expected an object with tags and plies, got 5"):
        record_from_json(5)


# Properties

plies = st.builds(
    Ply,
    st.builds(Move, st.integers(0, POINTS - 1), st.integers(0, POINTS - 1)),
    st.sampled_from(list(MARK_OF_CONTACT)),
    st.lists(st.integers(0, POINTS - 1), max_size=2).map(tuple),
    st.none() | st.floats(0, allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
)
layouts = st.none() | st.text(min_size=1).filter(lambda text: text != "?")
clocks = st.none() | st.floats(0, allow_nan=False, allow_infinity=False)
extras = st.dictionaries(
    st.from_regex("[A-Z][A-Za-z0-9_]{0,8}", fullmatch=True).filter(lambda name: name not in TAGS),
    st.text(min_size=1, max_size=20),
    max_size=3,
)
records = st.builds(
    Record,
    plies=st.lists(plies, max_size=5).map(tuple),
    outcome=st.none()
    | st.builds(Outcome, st.sampled_from([RED, BLACK, NOBODY]), st.sampled_from(Reason)),
    red_layout=layouts,
    black_layout=layouts,
    rules=st.builds(
        Rules,
        st.integers(1, 1000),
        st.sampled_from(["mover", "next"]),
        st.booleans(),
        st.floats(0, exclude_min=True, allow_nan=False),
    ),
    red=st.text(max_size=20),
    black=st.text(max_size=20),
    event=st.text(max_size=20),
    date=st.text(max_size=20),
    seed=st.none() | st.integers(-(2**128), 2**128),
    red_clock=clocks,
    black_clock=clocks,
    extra=extras,
)


@settings(max_examples=150, deadline=None)
@given(record=records)
def test_any_record_round_trips_through_text_and_json(record: Record) -> None:
    text = format_record(record)
    assert parse_record(text) == record
    assert format_record(parse_record(text)) == text
    assert parse_record(json_line(record)) == record
    assert list(read_records((text + json_line(record) + text).split("\n"))) == [record] * 3


# Documents


def code_blocks(language: str) -> list[str]:
    text = (DOCS / "records.md").read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_example_of_the_document_replays_and_begins_the_json_example() -> None:
    [text] = code_blocks("junqi")
    record = parse_record(text)
    check_record(record)
    assert text + "\n" == format_record(record)
    [example] = code_blocks("json")
    data = record_to_json(record)
    assert json.loads(example) == {**data, "plies": data["plies"][:2]}


def test_the_document_names_every_tag_and_reason() -> None:
    text = (DOCS / "records.md").read_text("utf-8")
    for word in (*TAGS, *(reason.text for reason in Reason)):
        assert f"`{word}`" in text


def test_the_python_of_the_document_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(DOCS.parent)
    [source] = code_blocks("python")
    exec(compile(source, "records.md", "exec"), {})
    assert capsys.readouterr().out == "North 1-0 South 73\n"


def test_the_example_file_is_a_whole_game() -> None:
    [record] = open_records(DOCS / "example.junqi")
    assert (DOCS / "example.junqi").read_text("utf-8") == format_record(record)
    *_, last = replay(record)
    assert record.outcome == Outcome(RED, Reason.FLAG)
    assert 60 <= len(record.plies) <= 200
    assert all(ply.seconds is not None for ply in record.plies)
    assert any(ply.flags for ply in record.plies)
    assert last.told_flag(RED) == parse_point("L3")
