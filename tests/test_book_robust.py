"""A book in bad company: killed and concurrent processes, full disks, locks, damaged files.

What must never happen is a book between two states. The processes here are real ones.
"""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from book_samples import A, B, make_book

from book.default import default_text
from book.errors import BookError, BookFileError
from book.layers import Layers
from book.rows import NewLayout, Opening
from book.store import Book
from book.transfer import export_lines, import_lines
from junqi.layout import format_layout, random_layouts

PYTHON = sys.executable
WINDOWS = os.name == "nt"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_book(tmp_path / "book.db")


def text_of(path: Path) -> str:
    with Book.open(path, read_only=True) as book:
        return "".join(export_lines(book))


def faults_of(path: Path) -> list[str]:
    with Book.open(path, read_only=True) as book:
        return list(book.check())


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    """A Python program in a process of its own."""
    return subprocess.Popen(
        [PYTHON, "-c", program, *(str(argument) for argument in arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(program: str, *arguments: object) -> str:
    """What a Python program prints, which must not fail."""
    process = start(program, *arguments)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


@contextmanager
def killed_at_the_end(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def many_rows(count: int) -> list[str]:
    """Lines of a book with so many layouts and opening moves."""
    layouts = [format_layout(row) for row in random_layouts(count, 5)]
    lines = [f"layout {row} weight=1 tags=t" for row in layouts]
    lines += [f"opening {row} key{n} G0F0 visits={n}" for n, row in enumerate(layouts)]
    return lines


# Killed in the middle

# With a small cache, rows of an unfinished change get into the file beside the book early.
IMPORT = """
import sys
from book.store import Book
from book.transfer import import_lines
with Book.open(sys.argv[1]) as book:
    book.connection.execute("PRAGMA cache_size = 20")
    book.connection.execute("PRAGMA wal_autocheckpoint = 10")
    def lines():
        for number, line in enumerate(sys.stdin):
            if number % 500 == 0:
                print(number, flush=True)
            yield line
    import_lines(book, lines(), "stdin")
print("done", flush=True)
"""


@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_a_book_survives_a_kill_in_the_middle_of_an_import(path: Path, share: float) -> None:
    before = text_of(path)
    lines = many_rows(15_000)
    with killed_at_the_end(start(IMPORT, path)) as process:
        assert process.stdin
        assert process.stdout
        half = lines[: int(len(lines) * share)]
        feeder = threading.Thread(target=_feed, args=(process, half))
        feeder.start()
        last = (len(half) - 1) // 500 * 500
        while process.stdout.readline().strip() != str(last):
            assert process.poll() is None
        feeder.join()
        process.kill()
        process.wait()
    assert faults_of(path) == []
    assert text_of(path) == before
    with Book.open(path) as book:  # and it can be changed again
        import_lines(book, lines, "lines")
        assert book.count_layouts() == 15_003
        book.undo()
    assert text_of(path) == before


def _feed(process: subprocess.Popen[str], lines: list[str]) -> None:
    assert process.stdin
    with contextlib.suppress(OSError):
        process.stdin.write("".join(f"{line}\n" for line in lines))
        process.stdin.flush()


CHANGE = """
import sys
from book.store import Book
from book.transfer import import_file, merge
with Book.open(sys.argv[1]) as book:
    book.connection.execute("PRAGMA cache_size = 20")
    book.connection.execute("PRAGMA wal_autocheckpoint = 10")
    print("go", flush=True)
    if sys.argv[2] == "merge":
        merge(book, [sys.argv[3]])
    elif sys.argv[2] == "import":
        import_file(book, sys.argv[3])
    else:
        book.undo()
print("done", flush=True)
"""


@pytest.mark.parametrize("what", ["import", "merge", "undo"])
def test_a_kill_at_any_moment_leaves_the_state_before_or_after(
    tmp_path: Path, path: Path, what: str
) -> None:
    text = tmp_path / "many.txt"
    text.write_text("# junqi book 1\n" + "\n".join(many_rows(1_500)))
    other = tmp_path / "other.db"
    with Book.create(other) as book:
        import_lines(book, text.read_text().splitlines(), "many.txt")
    if what == "undo":
        run(CHANGE, path, "import", text)
    before = text_of(path)
    source = text if what == "import" else other

    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    began = time.perf_counter()
    with killed_at_the_end(start(CHANGE, copy, what, source)) as process:
        assert process.stdout
        assert process.stdout.readline() == "go\n"
        began = time.perf_counter()
        assert process.stdout.readline() == "done\n"
        took = time.perf_counter() - began
    after = text_of(copy)
    assert without_times(after) != without_times(before)

    seen = set()
    for n in range(8):
        shutil.copy(path, copy)
        for ending in ("-wal", "-shm"):
            Path(f"{copy}{ending}").unlink(missing_ok=True)
        with killed_at_the_end(start(CHANGE, copy, what, source)) as process:
            assert process.stdout
            assert process.stdout.readline() == "go\n"
            time.sleep(took * n / 7)
            process.kill()
            process.wait()
        assert faults_of(copy) == []
        now = without_times(text_of(copy))
        assert now in (without_times(before), without_times(after))
        seen.add(now == without_times(before))
    assert True in seen


def without_times(text: str) -> str:
    """The text of a book without when its rows were made."""
    return " ".join(word for word in text.split() if not word.startswith("created="))


# Several at once

WRITER = """
import sys
from book.store import Book
from book.rows import Opening
path, name, changes = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Book.open(path, wait=60) as book:
    for n in range(changes):
        with book.change(f"{name} {n}"):
            share = (n % 100) / 100
            book.set_weight([1], share)
            book.set_weight([2], 1 - share)
            book.set_note([1], f"{name}-{n}", append=True)
            book.add_openings([Opening(book.layouts()[0].layout, f"{name}-{n}", "G0F0")])
"""


def test_a_reader_never_fails_or_waits_and_no_change_is_lost(path: Path) -> None:
    changes = 100
    writers = [start(WRITER, path, name, changes) for name in ("one", "two")]
    slowest, rounds = 0.0, 0
    with Book.open(path, read_only=True) as engine:
        while any(writer.poll() is None for writer in writers):
            began = time.perf_counter()
            mixture = engine.mixture()
            assert sum(row.weight for row in mixture) == pytest.approx(1)
            assert engine.sample(rounds, 1)
            assert engine.lookup(A, "start")[0].move == "G0F0"
            slowest = max(slowest, time.perf_counter() - began)
            rounds += 1
            with Book.open(path, read_only=True) as late:
                assert late.count_layouts() == 3
    for writer in writers:
        assert writer.communicate()[1] == ""
        assert writer.returncode == 0
    assert rounds > 10
    # A writer's lock would be felt for longer; the machine itself may be busy.
    assert slowest < 2.0
    with Book.open(path, read_only=True) as book:
        notes = book.find_layout("1").notes.split("\n")
        expected = {f"{name}-{n}" for name in ("one", "two") for n in range(changes)}
        assert set(notes) - {""} == expected
        assert len(book.openings(A)) == 2 + 2 * changes
        assert len(book.changes()) == 1 + 2 * changes
        assert list(book.check()) == []


def test_a_reader_sees_changes_of_others_between_its_questions(path: Path) -> None:
    with Book.open(path, read_only=True) as reader, Book.open(path) as writer:
        with writer.change("half"):
            writer.set_weight([1], 5)
            assert reader.find_layout(A).weight == 0.75
        assert reader.find_layout(A).weight == 5


def test_a_file_copied_alone_has_all_changes_once_the_writer_is_done(path: Path) -> None:
    copy = path.with_name("copy.db")
    with Book.open(path, read_only=True) as engine:
        assert engine.sample(1)
        with Book.open(path) as writer:
            writer.set_weight([1], 2)
        assert Path(f"{path}-wal").stat().st_size == 0
        shutil.copy(path, copy)
        assert engine.find_layout(A).weight == 2
    with Book.open(copy, read_only=True) as book:
        assert book.find_layout(A).weight == 2


def test_an_export_shows_one_state_whatever_happens_meanwhile(path: Path) -> None:
    before = text_of(path)
    with Book.open(path, read_only=True) as reader, Book.open(path) as writer:
        lines = export_lines(reader)
        first, second = next(lines), next(lines)
        writer.remove_layouts([1, 2, 3])
        assert first + second + "".join(lines) == before
        assert "\nlayout " not in "".join(export_lines(reader))


DEFAULT = """
import sys
from pathlib import Path
from book import default
default.default_path = lambda: Path(sys.argv[1])
sys.stdin.readline()
with default.open_book() as book:
    print(book.count_layouts())
"""


def test_processes_that_make_the_default_book_at_once_all_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUNQI_BOOK", raising=False)
    path = tmp_path / "home" / "book.db"
    processes = [start(DEFAULT, path) for _ in range(4)]
    time.sleep(0.5)
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert (out, err) == ("36\n", "")
    assert text_of(path) == default_text()
    left = {file.name for file in path.parent.iterdir()}
    assert left <= {"book.db", "book.db-wal", "book.db-shm"}


def test_a_locked_book_is_told_after_a_while(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with Book.open(path, wait=0.1) as book:
            began = time.perf_counter()
            with pytest.raises(BookFileError, match="is locked: another program is changing it"):
                book.set_weight([1], 2)
            assert time.perf_counter() - began < 5
            assert book.find_layout(A).weight == 0.75  # reading goes on
        other.execute("ROLLBACK")
        with Book.open(path, wait=0.1) as book:
            book.set_weight([1], 2)


def test_a_book_that_somebody_has_for_himself_is_told(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("UPDATE layouts SET name = 'x'")
        for read_only in (True, False):
            with pytest.raises(BookFileError, match="is locked"):
                Book.open(path, read_only, wait=0.1)


def test_a_writer_waits_for_another(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE layouts SET name = 'theirs' WHERE id = 2")
        timer = threading.Timer(0.3, lambda: other.execute("COMMIT"))
        timer.start()
        with Book.open(path, wait=30) as book:
            book.set_weight([1], 2)
        timer.join()
    with Book.open(path, read_only=True) as book:
        assert [(row.name, row.weight) for row in book.layouts()[:2]] == [
            ("Wall", 2),
            ("theirs", 0.25),
        ]


# A full disk


def test_a_full_disk_takes_the_change_back(path: Path) -> None:
    before = text_of(path)
    lines = many_rows(5_000)
    with Book.open(path) as book:
        pages = book.connection.execute("PRAGMA page_count").fetchone()[0]
        book.connection.execute(f"PRAGMA max_page_count = {pages + 50}")
        for keep_going in (False, True):
            with pytest.raises(BookFileError, match="the disk is full; the book is as it was"):
                import_lines(book, lines, "lines", keep_going=keep_going)
            assert list(book.check()) == []
        book.set_weight([1], 0.75)
    assert text_of(path) == before


LIMITED = """
import resource, sys
from book.store import Book
from book.errors import BookError
from book.transfer import import_file
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    with Book.open(sys.argv[1]) as book:
        book.connection.execute("PRAGMA cache_size = 20")
        import_file(book, sys.argv[2])
except BookError as error:
    print(error)
"""


@pytest.mark.skipif(WINDOWS, reason="no limits of this kind")
def test_a_file_that_may_not_grow_stays_as_it_was(path: Path, tmp_path: Path) -> None:
    before = text_of(path)
    text = tmp_path / "many.txt"
    text.write_text("# junqi book 1\n" + "\n".join(many_rows(5_000)))
    message = run(LIMITED, path, text)
    assert message.startswith(f"{path}: ")
    assert "disk" in message
    assert faults_of(path) == []
    assert text_of(path) == before


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a megabyte, where one can be had."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the right to mount a file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_full_in_truth(small_disk: Path) -> None:
    path = make_book(small_disk / "book.db")
    before = text_of(path)
    with Book.open(path) as book:
        with pytest.raises(BookFileError, match="disk"):
            import_lines(book, many_rows(5_000), "lines")
        free = shutil.disk_usage(small_disk).free
        (small_disk / "filler").write_bytes(bytes(max(0, free - 50_000)))
        with pytest.raises(BookFileError, match="disk"):
            book.backup(small_disk / "copy.db")
        (small_disk / "filler").unlink()
    assert faults_of(path) == []
    assert text_of(path) == before
    assert not list(small_disk.glob("*.part*"))


def test_a_read_only_medium_is_enough_for_an_engine(small_disk: Path) -> None:
    path = make_book(small_disk / "book.db")
    with Book.open(path) as book:
        copy = book.backup(small_disk / "copy.db")
        text = "".join(export_lines(book))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for medium in (path, copy):
        with Book.open(medium, read_only=True) as engine:
            assert engine.lookup(A, "start")
            assert engine.sample(1)
            assert "".join(export_lines(engine)) == text
            assert list(engine.check()) == []
        with Layers([medium]) as layers:
            assert layers.sample(1)
        with pytest.raises(BookFileError, match=r"read-only|cannot be opened"):
            Book.open(medium).set_weight([1], 2)
    with pytest.raises(BookError, match=r"cannot be written|cannot be opened"):
        Book.create(small_disk / "new.db")


def test_changes_that_only_the_wal_holds_are_not_ignored_on_a_read_only_medium(
    small_disk: Path,
) -> None:
    path = make_book(small_disk / "book.db")
    with Book.open(path) as book:
        book.set_weight([1], 2)
        for name in ("book.db", "book.db-wal"):
            shutil.copy(small_disk / name, small_disk / f"crashed-{name}")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(BookError, match=r"its last changes are still in crashed-book.db-wal"):
        Book.open(small_disk / "crashed-book.db", read_only=True)


READ = """
import os, sys
from book.store import Book
from book.errors import BookError
if os.geteuid() == 0:  # who may write everywhere
    os.setuid(65534)
with Book.open(sys.argv[1], read_only=True) as book:
    print(book.count_layouts(), book.sample(1)[0].entry)
try:
    with Book.open(sys.argv[1]) as book:
        book.set_weight([1], 2)
except BookError as error:
    print(error)
"""


@pytest.mark.skipif(WINDOWS, reason="folders have no such permissions")
def test_a_folder_that_may_not_be_written_to_is_enough_for_an_engine(tmp_path: Path) -> None:
    folder = Path("/tmp") / f"junqi-test-{os.getpid()}-{os.urandom(4).hex()}"
    folder.mkdir()
    try:
        path = make_book(folder / "book.db")
        path.chmod(0o444)
        folder.chmod(0o555)
        count, _, rest = run(READ, path).partition(" ")
        entry, message = rest.split("\n", 1)
        assert count == "3"
        assert entry in (A, B)
        assert "read-only" in message or "cannot be opened" in message
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


# Bad files


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a book: the file is empty"),
        (b"hello, this is text\n" * 100, "expected an SQLite database; `junqi book import` reads"),
        (bytes(range(256)) * 50, "is not a book: expected an SQLite database"),
        (b"SQLite format 3\0", "is cut short"),
        (b"SQLite format 3\0" + b"\xff" * 2000, "is cut short"),
        (b"SQLite format 3\0" + bytes(2000), "is not a book|is damaged"),
    ],
)
def test_what_is_no_book_is_told(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "file.db"
    path.write_bytes(data)
    for read_only in (True, False):
        with pytest.raises(BookError, match=message):
            Book.open(path, read_only)
    assert path.read_bytes() == data
    assert [file.name for file in tmp_path.iterdir()] == ["file.db"]


def test_places_without_a_book_are_told(tmp_path: Path) -> None:
    for read_only in (True, False):
        with pytest.raises(BookError, match="no such book; `junqi book init` makes one"):
            Book.open(tmp_path / "none.db", read_only)
        with pytest.raises(BookError, match="cannot be opened"):
            Book.open(tmp_path, read_only)
    with pytest.raises(BookError, match="cannot be written"):
        Book.create(tmp_path / "no" / "folder.db")
    assert list(tmp_path.iterdir()) == []


def test_a_database_of_another_program_is_told(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE layouts (x)")
    for read_only in (True, False):
        with pytest.raises(BookError, match="is an SQLite database, but not a book of Junqi"):
            Book.open(path, read_only)


def test_a_book_cut_short_is_told(path: Path) -> None:
    data = path.read_bytes()
    for size in (50, 512, 4096, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        for read_only in (True, False):
            with pytest.raises(BookError, match="is cut short"):
                Book.open(path, read_only)
    path.write_bytes(data)
    assert faults_of(path) == []


def test_a_book_is_opened_by_sqlite_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # To close a file of one's own would take away SQLite's locks on it, in all of the process.
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the file is opened")

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr(os, "open", refuse)
    with Book.open(path) as book, Book.open(path, read_only=True) as reader:
        book.set_weight([1], 2)
        assert reader.find_layout(A).weight == 2


def test_a_damaged_page_is_found_by_check(path: Path) -> None:
    with Book.open(path) as book:
        book.add_openings(Opening(A, f"k{n}", "G0F0") for n in range(2_000))
    data = bytearray(path.read_bytes())
    for page in range(20, len(data) // 4096, 3):
        data[page * 4096 : page * 4096 + 200] = os.urandom(200)
    path.write_bytes(data)
    try:
        with Book.open(path, read_only=True) as book:
            faults = list(book.check())
    except BookFileError as error:
        faults = [str(error)]
    assert any("damaged" in fault for fault in faults)
    assert all("\n" not in fault for fault in faults)


def test_changes_of_a_book_that_is_gone_do_not_get_into_a_new_one(
    path: Path, tmp_path: Path
) -> None:
    with Book.open(path) as book:
        book.set_weight([1], 2)
        shutil.copy(f"{path}-wal", tmp_path / "new.db-wal")
    with pytest.raises(BookError, match="holds changes of a book of that name"):
        Book.create(tmp_path / "new.db")
    with Book.open(path) as book, pytest.raises(BookError, match="holds changes of a book"):
        book.backup(tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


def test_a_book_is_made_without_links_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("as on a stick")

    monkeypatch.setattr(os, "link", refuse)
    Book.create(tmp_path / "book.db").close()
    with pytest.raises(BookError, match="is there already"):
        Book.create(tmp_path / "book.db")


def test_names_of_files_are_only_names(tmp_path: Path) -> None:
    for name in ("a b.db", "100%.db", "a?mode=memory.db", "#1.db", "军棋.db", "a&b=c.db"):
        path = tmp_path / name
        with Book.create(path) as book:
            book.add_layouts([NewLayout(A, weight=1)])
        with Book.open(path, read_only=True) as book:
            assert book.count_layouts() == 1
        assert path.exists()


def test_a_reader_may_be_used_by_another_thread(path: Path) -> None:
    with Book.open(path, read_only=True) as book:
        found: list[int] = []
        thread = threading.Thread(target=lambda: found.append(len(book.lookup(A, "start"))))
        thread.start()
        thread.join()
    assert found == [1]


# Other tools


def sqlite_utils(*arguments: object) -> str:
    command = [PYTHON, "-m", "sqlite_utils", *(str(argument) for argument in arguments)]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, encoding="utf-8"
    ).stdout


def test_sqlite_utils_reads_and_changes_a_book(path: Path) -> None:
    assert '"layouts"' in sqlite_utils("tables", path)
    assert '"mixture"' in sqlite_utils("views", path)
    assert '"count": 3' in sqlite_utils("tables", path, "--counts")
    assert A in sqlite_utils("rows", path, "layouts", "--csv")
    assert '"share": 0.75' in sqlite_utils("query", path, "SELECT * FROM mixture")
    assert "STRICT" in sqlite_utils("schema", path, "layouts")
    sqlite_utils("query", path, "UPDATE layouts SET weight = 2 WHERE id = 2")
    with Book.open(path) as book:
        assert book.layouts()[1].weight == 2
        assert list(book.check()) == []


def test_sqlite_utils_is_held_to_the_rules_of_the_tables(path: Path) -> None:
    command = [PYTHON, "-m", "sqlite_utils", "query", str(path), "UPDATE layouts SET weight = -1"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert "CHECK constraint failed" in done.stderr


def test_plain_sqlite_reads_a_book(path: Path) -> None:
    program = shutil.which("sqlite3")
    if program is None:
        pytest.skip("needs the program sqlite3")
    query = "SELECT layout, share FROM mixture; PRAGMA user_version; PRAGMA integrity_check;"
    done = subprocess.run([program, str(path), query], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == [f"{A}|0.75", f"{B}|0.25", "1", "ok", ""]
    dump = subprocess.run([program, str(path), ".dump"], capture_output=True, check=True).stdout
    copy = path.with_name("copy.db")
    subprocess.run([program, str(copy)], input=dump, check=True)
    assert text_of(copy) == text_of(path)
    assert faults_of(copy) == []


@pytest.mark.skipif(WINDOWS, reason="measures memory as Unix does")
def test_the_benchmark_of_large_books_runs_on_a_small_one(tmp_path: Path) -> None:
    script = Path(__file__).parents[1] / "scripts" / "bench_book.py"
    command = [PYTHON, str(script), "--layouts=200", "--openings=600", f"--keep={tmp_path}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "look-up, found" in done.stdout
    assert faults_of(tmp_path / "large.db") == []
