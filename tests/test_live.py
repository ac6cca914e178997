"""What is shown of a search while it runs."""

import json

import pytest

from junqi.cli.live import Watch, event_log, watching
from junqi.layout import parse_layouts
from layout_search.run import RoundReport, Run
from layout_search.settings import Settings

PEOPLE = parse_layouts(["cigdcegkefkfaibgidjhhhjlj"])


def watched(settings: Settings) -> tuple[Run, Watch, list[str], list[dict[str, object]]]:
    run, lines, events = Run(settings, PEOPLE), [], []
    watch = Watch(
        run, lambda event, **figures: events.append({"event": event} | figures), lines.append
    )
    return run, watch, lines, events


def test_the_line_tells_where_the_search_is() -> None:
    run, watch, lines, events = watched(Settings(rounds=4))
    watch.generation(0, 0.61, 100)
    assert lines == ["round 1 of 4, generation 1 at 61.0 %"]
    report = RoundReport(1, 0.7, archive=2, mixture=1, games=5000, seconds=10.0)
    run.rounds.append(report)
    run.games, run.seconds = 5000, 10.0
    watch.round(report)
    watch.generation(2, 0.55, 100)
    assert lines[-1].startswith(
        "round 2 of 4, generation 3 at 55.0 %, last counter 70.0 %, mixture of 1 in 2 layouts, "
    )
    assert lines[-1].endswith("games/s, 0:30 left")
    watch.finals(8, 40)
    watch.finals(8, 40)
    assert "finals by search:3x3: 16 of 40 games" in lines[-1]
    assert [event["event"] for event in events] == ["generation", "round", "generation"] + 2 * [
        "finals"
    ]
    assert events[-1] == {"event": "finals", "games": 16, "planned": 40}


def test_with_a_time_the_line_tells_what_is_left_of_it() -> None:
    _, watch, lines, _ = watched(Settings(minutes=2))
    watch.generation(0, 0.61, 100)
    assert lines == ["round 1, generation 1 at 61.0 %, 2:00 left"]


def test_a_resumed_run_has_less_time_left() -> None:
    run, _, lines, _ = watched(Settings(minutes=2))
    run.seconds = 90.0
    Watch(run, lambda event, **figures: None, lines.append).generation(0, 0.5, 10)
    assert lines[-1].endswith(", 0:30 left")


def test_nothing_is_shown_if_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with watching(Run(Settings(), PEOPLE), lambda event, **figures: None) as watch:
        watch.generation(0, 0.5, 10)
    assert capsys.readouterr() == ("", "")


def test_events_are_added_to_the_file(tmp_path) -> None:
    path = tmp_path / "log.jsonl"
    for number in (1, 2):
        with event_log(path) as log:
            log("round", number=number)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert rows == [{"event": "round", "number": 1}, {"event": "round", "number": 2}]
    with event_log(None) as log:
        log("round", number=3)
