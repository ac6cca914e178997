"""How fast a large book is: makes one of 100,000 layouts and 1,000,000 opening rows, and measures.

Run it in the project's environment, on a machine that does little else::

    .venv/bin/python scripts/bench_book.py
    .venv/bin/python scripts/bench_book.py --layouts 1000 --openings 10000 --shuffled

The text that is imported is written first, and does not count. The import runs in a process of its
own, whose memory is what the process had at most. `--keep FOLDER` keeps the files.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Callable

CREATED = "2026-11-16T00:00:00Z"
JUDGES = ("policy", "search:3x3")
MOVES_A_POSITION = 3
LOOKUPS = 5_000

IMPORT = """
import resource, sys, time
from book import transfer
from book.store import Book
begin = time.perf_counter()
with Book.create(sys.argv[1]) as book:
    report = transfer.import_file(book, sys.argv[2])
seconds = time.perf_counter() - begin
print(seconds, report.rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
LOOKUP = """
import sys, time
from book.store import Book
begin = time.perf_counter()
with Book.open(sys.argv[1], read_only=True) as book:
    opened = time.perf_counter()
    book.lookup(sys.argv[2], sys.argv[3])
    print(opened - begin, time.perf_counter() - opened)
"""


def main() -> None:
    """Make the book and print the figures."""
    parser = argparse.ArgumentParser(description="How fast a large book is.")
    parser.add_argument("--layouts", type=int, default=100_000)
    parser.add_argument("--openings", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shuffled", action="store_true", help="Opening rows in random order.")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        measure(options, options.keep)
        return
    with tempfile.TemporaryDirectory() as folder:
        measure(options, Path(folder))


def measure(options: argparse.Namespace, folder: Path) -> None:
    """Make the book in a folder and print the figures."""
    layouts = make_layouts(options.layouts, options.seed)
    keys = make_keys(layouts, options.openings)
    text, path = folder / "large.txt", folder / "large.db"
    write_text(text, layouts, keys, options.seed, options.shuffled)
    show("text", f"{text.stat().st_size / 1e6:.0f} MB")
    seconds, rows, memory = run(IMPORT, path, text)
    show("import", f"{float(seconds):.1f} s, {int(rows):,} rows, {float(memory) / 1024:.0f} MB")
    show("file", f"{path.stat().st_size / 1e6:.0f} MB")
    layout, key = keys[len(keys) // 2]
    opened, first = run(LOOKUP, path, layout, key)
    show("cold process", f"open {1e3 * float(opened):.1f} ms, look-up {1e3 * float(first):.2f} ms")
    measure_reading(path, keys)
    measure_writing(path, folder)


def measure_reading(path: Path, keys: list[tuple[str, str]]) -> None:
    """What an engine and a person who reads wait for."""
    from book.store import Book, Filter
    from book.transfer import export_lines

    rng = random.Random(1)
    with Book.open(path, read_only=True) as book:
        chosen = rng.choices(keys, k=LOOKUPS)
        times = [timed(partial(book.lookup, *pair)) for pair in chosen]
        worst = sorted(times)[-len(times) // 100 or -1]
        show("look-up, found", f"median {1e6 * median(times):.0f} us, 99 % {1e6 * worst:.0f} us")
        times = [timed(partial(book.lookup, layout, "no")) for layout, _ in chosen]
        show("look-up, not found", f"median {1e6 * median(times):.0f} us")
        show_time("sample of 1", lambda: book.sample(1, 1, "first"))
        show_time("stats", book.stats)
        by_score = Filter(min_score=0.6, judge="policy")
        several = Filter(origin=("human",), role="own", tags=("even",), enabled=True)
        show_time("list, score >= 60 %, best 50", lambda: book.layouts(by_score, "score", limit=50))
        show_time("list, origin, role, tag, 50", lambda: book.layouts(several, limit=50))
        paged = partial(book.layouts, sort="weight", offset=50_000, limit=50)
        show_time("list by weight, page 1,000", paged)
        show_time("list, all layouts", lambda: book.layouts(sort="score"), 1)
        show_time("mixture", book.mixture)
        show_time("export", lambda: sum(len(line) for line in export_lines(book)), 1)
        show_time("check", lambda: list(book.check()), 1)


def measure_writing(path: Path, folder: Path) -> None:
    """What a person who curates waits for."""
    from book.store import Book

    with Book.open(path) as book:
        show_time("weight of one layout", lambda: book.set_weight([1], random.random()))
        show_time("weight of 10,000 layouts", lambda: book.set_weight(range(1, 10_001), 0.5), 1)
        show_time("undo of that", book.undo, 1)
        show_time("backup", lambda: book.backup(folder / "copy.db", overwrite=True), 1)
        while not book.undo().undone.what.startswith("import"):
            pass
        show_time("redo of the import", book.redo, 1)
        show_time("undo of the import", book.undo, 1)


def make_layouts(count: int, seed: int) -> list[str]:
    """So many different layouts in canonical form."""
    from book.letters import canonical_letters
    from junqi.layout import format_layout, random_layouts

    layouts = {canonical_letters(format_layout(row)) for row in random_layouts(count, seed)}
    return sorted(layouts)


def make_keys(layouts: list[str], openings: int) -> list[tuple[str, str]]:
    """Positions of a part of the layouts, with keys as long as those of real positions."""
    owners = layouts[:: max(1, len(layouts) // 200)]
    positions = -(-openings // MOVES_A_POSITION)
    return [
        (owners[n % len(owners)], hashlib.sha256(b"%d" % n).hexdigest()) for n in range(positions)
    ]


def write_text(
    path: Path, layouts: list[str], keys: list[tuple[str, str]], seed: int, shuffled: bool
) -> None:
    """Write what is to be imported."""
    rng = random.Random(seed)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write("# junqi book 1\n")
        for n, layout in enumerate(layouts):
            weight = 1 if n % 100 == 0 else 0
            file.write(
                f"layout {layout} origin={('human', 'evolved')[n % 2]} role=both weight={weight} "
                f"tags={'even' if n % 4 == 0 else 'odd'} created={CREATED}\n"
            )
        for layout in layouts:
            for judge in JUDGES:
                wins = rng.randint(20, 80)
                file.write(
                    f"evidence {layout} judge={judge} opponents=human seed={rng.getrandbits(32)} "
                    f"games=100 wins={wins} draws=0 losses={100 - wins} error=0.05 version=0.1.0 "
                    f"created={CREATED}\n"
                )
        in_order = rng.sample(keys, len(keys)) if shuffled else sorted(keys)
        for layout, key in in_order:
            for move in ("G0F0", "G2F2", "G4F4")[:MOVES_A_POSITION]:
                file.write(
                    f"opening {layout} {key} {move} ply={rng.randint(2, 20)} "
                    f"visits={rng.randint(1, 10_000)} score={rng.random():.6f} "
                    f"error={rng.random() / 10:.6f} weight={rng.random():.6f} source=search:5x24\n"
                )


def run(program: str, *arguments: object) -> list[str]:
    """The words that a program prints in a process of its own."""
    command = [sys.executable, "-c", program, *(str(argument) for argument in arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def timed(call: Callable[[], object]) -> float:
    """How many seconds a call takes."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def show_time(name: str, call: Callable[[], Any], times: int = 5) -> None:
    """Print how long a call takes, the median of several."""
    seconds = median(timed(call) for _ in range(times))
    show(name, f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.1f} ms")


def show(name: str, value: str) -> None:
    """Print one line of the table."""
    print(f"{name:30} {value}", flush=True)


if __name__ == "__main__":
    main()
