"""Engines as processes: whatever they do, nothing waits for ever and nothing is left behind."""

import os
import shlex
import sys
import time
from collections import deque
from pathlib import Path

import pytest

from junqi.engine_process import (
    LONGEST_LINE,
    MOST_STDERR,
    MOST_TRANSCRIPT,
    MOST_WAITING,
    CannotStart,
    EngineEnded,
    EngineLine,
    EngineProcess,
    split_command,
)

POSIX = pytest.mark.skipif(os.name == "nt", reason="process groups are a thing of POSIX")


def command(code: str) -> str:
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"


def soon() -> float:
    """Far later than anything in these tests takes, so that a deadline is met only by a fault."""
    return time.monotonic() + 20


def read(process: EngineProcess) -> EngineLine:
    line = process.read(soon())
    assert line is not None
    return line


def is_running(pid: int) -> bool:
    """Whether there is such a process; one that has ended and waits to be counted is none."""
    status = Path(f"/proc/{pid}/stat")
    if status.exists():
        return status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path("/proc/self").exists()


ECHO = "import sys\nfor line in sys.stdin: print('got', line.strip(), flush=True)"


def test_lines_go_both_ways() -> None:
    with EngineProcess(command(ECHO)) as process:
        process.send("INFO 1.0")
        assert read(process).text == "got INFO 1.0"
        process.send("END 1", "\r\n")
        assert read(process).text == "got END 1"
        transcript = [(line.is_sent, line.text) for line in process.transcript]
    assert transcript == [
        (True, "INFO 1.0"),
        (False, "got INFO 1.0"),
        (True, "END 1"),
        (False, "got END 1"),
    ]
    assert process.exit_code == 0


def test_both_line_ends_are_taken() -> None:
    with EngineProcess(command(r"import os; os.write(1, b'one\r\ntwo\n\nthree\r\n')")) as process:
        lines = [read(process) for _ in range(4)]
    assert [line.data for line in lines] == [b"one", b"two", b"", b"three"]
    assert [line.has_return for line in lines] == [True, False, False, True]


def test_the_environment_and_the_folder_are_handed_on(tmp_path: Path) -> None:
    code = "import os; print(os.environ['JUNQI_SEED'], os.getcwd(), 'PATH' in os.environ)"
    with EngineProcess(
        command(code), environment={"JUNQI_SEED": "7"}, folder=str(tmp_path)
    ) as process:
        assert read(process).text == f"7 {tmp_path.resolve()} True"


def test_a_silent_engine_is_not_waited_for() -> None:
    with EngineProcess(command("input()")) as process:
        assert process.read(time.monotonic() + 0.05) is None
        assert process.read(time.monotonic() - 1) is None


def test_a_line_is_not_taken_before_its_end_comes() -> None:
    code = "import os; os.write(1, b'BESTMOVE G0'); input(); os.write(1, b'F0\\n'); input()"
    with EngineProcess(command(code)) as process:
        while not process.half_line:
            assert process.read(time.monotonic() + 0.01) is None
        assert process.half_line == "BESTMOVE G0"
        process.send("go on")
        assert read(process).text == "BESTMOVE G0F0"


def test_half_a_line_at_the_end_is_marked() -> None:
    with EngineProcess(command("import os; os.write(1, b'whole\\nhalf')")) as process:
        assert read(process).is_whole
        assert read(process) == EngineLine(b"half", pytest.approx(time.monotonic(), abs=60), False)
        with pytest.raises(EngineEnded, match="exit code 0"):
            process.read(soon())


def test_the_end_of_the_output_is_told_with_its_cause() -> None:
    with EngineProcess(command("import sys; print('last'); sys.exit(3)")) as process:
        assert read(process).text == "last"
        for _ in range(2):
            with pytest.raises(EngineEnded, match="exit code 3"):
                process.read(soon())


@POSIX
def test_a_signal_is_told() -> None:
    with (
        EngineProcess(command("import os; os.kill(os.getpid(), 11)")) as process,
        pytest.raises(EngineEnded, match="signal 11"),
    ):
        process.read(soon())


def test_a_closed_output_is_told_from_an_ended_program() -> None:
    with EngineProcess(command("import os; os.close(1); input()")) as process:
        with pytest.raises(EngineEnded, match="has closed its output") as ended:
            process.read(soon())
        assert ended.value.exit_code is None
        assert process.exit_code is None


def test_sending_to_an_ended_program_is_an_error_of_its_own() -> None:
    with EngineProcess(command("")) as process:
        with pytest.raises(EngineEnded):
            process.read(soon())
        with pytest.raises(EngineEnded, match="ended with exit code 0"):
            process.send("INFO 1.0")


@POSIX
def test_a_program_that_never_reads_does_not_stop_us() -> None:
    with EngineProcess(command("import time; time.sleep(60)")) as process:
        with pytest.raises(EngineEnded, match="does not read its input"):
            deque(map(process.send, ["GO F0G0 3 00"] * 100_000), maxlen=0)
        process.kill()


def test_a_flood_of_lines_takes_bounded_memory() -> None:
    code = "import os\nwhile True: os.write(1, b'noise\\n' * 1000)"
    with EngineProcess(command(code)) as process:
        for _ in range(5 * MOST_WAITING):
            assert read(process).data == b"noise"
        assert len(process._lines) <= MOST_WAITING
        assert len(process.transcript) <= MOST_TRANSCRIPT
        process.kill()


def test_a_flood_without_line_ends_is_cut() -> None:
    code = f"import os\nfor _ in range(100): os.write(1, b'x' * {LONGEST_LINE})\nprint(); print(1)"
    with EngineProcess(command(code)) as process:
        line = read(process)
        assert line.data == b"x" * LONGEST_LINE
        assert not line.is_whole
        assert read(process).data == b"1"


def test_stderr_is_kept_up_to_a_bound_and_never_stops_the_engine() -> None:
    code = (
        "import os\nfor _ in range(50): os.write(2, b'x' * 65536)\n"
        "os.write(2, b'the end'); print('done')"
    )
    with EngineProcess(command(code)) as process:
        assert read(process).text == "done"
    assert len(process.stderr) == MOST_STDERR
    assert process.stderr.endswith("the end")


def test_bytes_that_are_no_text_are_read() -> None:
    with EngineProcess(command("import os; os.write(1, b'\\xff\\xfe\\x00\\n')")) as process:
        line = read(process)
        assert line.data == b"\xff\xfe\x00"
        assert isinstance(line.text, str)


@POSIX
def test_nothing_is_left_behind() -> None:
    code = (
        "import subprocess, sys, signal\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid, flush=True)\n"
        "import time; time.sleep(60)"
    )
    with EngineProcess(command(code)) as process:
        child = int(read(process).text)
        assert is_running(child)
        process.close(grace=0)
    assert not is_running(process.pid)
    deadline = soon()
    while is_running(child):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@POSIX
def test_children_of_a_program_that_has_ended_are_not_left_behind_either() -> None:
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid, flush=True)"
    )
    with EngineProcess(command(code)) as process:
        child = int(read(process).text)
    deadline = soon()
    while is_running(child):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_closing_twice_does_no_harm() -> None:
    process = EngineProcess(command(ECHO))
    process.close()
    process.close()
    assert process.exit_code == 0


@pytest.mark.parametrize("text", ["", "  ", "no-such-program-at-all --fast"])
def test_a_command_that_starts_nothing_is_a_clear_error(text: str) -> None:
    with pytest.raises(CannotStart, match="expected the command line of a program, got"):
        EngineProcess(text)


@POSIX
def test_command_lines_may_have_quotes() -> None:
    assert split_command("'my engine' --depth 3") == ["my engine", "--depth", "3"]
    with pytest.raises(CannotStart, match="No closing quotation"):
        EngineProcess("'my engine")
