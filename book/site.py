"""A book as web pages: a gallery of drawn boards, a page for each layout, and the runs.

The pages work from any folder, without a network or a server; the style and the script lie beside
them. What stands in the book is shown as text, whatever it contains.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from book.errors import BookError
from book.rows import BookLayout, Evidence, Opening, Payoff, Run
from book.store import Book
from junqi import __version__
from junqi.layout import format_layout, mirror_layout, parse_layout
from junqi.render_sheet import SHEET_STYLE, render_layout_use, sheet
from junqi.stats import NORMAL_95

GENERATOR = "junqi book html"
LAYOUTS_FOLDER = "layouts"
OPENINGS_SHOWN = 200

_LAYOUT_PAGE = re.compile(r"[a-l]{25}\.html")


@dataclass(frozen=True)
class SiteReport:
    """What was written."""

    index: Path
    pages: int
    left_out: int
    """Layouts of the book that have no page."""


def write_site(
    book: Book,
    folder: str | Path,
    *,
    limit: int | None = None,
    title: str | None = None,
    force: bool = False,
) -> SiteReport:
    """Write the pages of a book into a folder, which is made if need be.

    Args:
        limit: at most so many layouts, the heaviest first.
        title: of the site; the name of the book's file if None.
        force: also into a folder that holds other files.

    Raises:
        BookError: if the folder is not empty and holds something else than an earlier site.
    """
    folder = Path(folder)
    _check_folder(folder, force)
    rows = book.layouts(sort="weight", descending=True, limit=limit)
    rows.sort(key=lambda row: not row.in_mixture)  # the weight of others does not count
    runs = book.runs()
    site = _Site(title or book.path.stem, book, rows, {run.key for run in runs})
    names = {_page_of(row.layout) for row in rows}
    (folder / LAYOUTS_FOLDER).mkdir(parents=True, exist_ok=True)
    for old in (folder / LAYOUTS_FOLDER).iterdir():
        if _LAYOUT_PAGE.fullmatch(old.name) and f"{LAYOUTS_FOLDER}/{old.name}" not in names:
            old.unlink()
    for row in rows:
        _write(folder / _page_of(row.layout), site.layout(row))
    _write(folder / "runs.html", site.runs(runs))
    _write(folder / "site.css", page_style())
    _write(folder / "site.js", _data("site.js"))
    _write(folder / "index.html", site.index())
    return SiteReport(folder / "index.html", len(rows) + 2, book.count_layouts() - len(rows))


def page_style() -> str:
    """The style of pages about a book: the boards, and the colours by day and by night."""
    return f"{SHEET_STYLE}\n{_data('site.css')}"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


class _Site:
    """The pages of one book."""

    def __init__(self, title: str, book: Book, rows: list[BookLayout], runs: set[str]) -> None:
        self.title = title
        self.book = book
        self.rows = rows
        self.run_keys = runs
        self.name_of = {row.layout: _name(row) for row in rows}
        self.total_weight = sum(row.weight for row in book.mixture())

    def index(self) -> str:
        """The gallery."""
        figures = self.book.stats()
        lead = (
            f"{_count(figures.layouts, 'layout')}, {figures.in_mixture:,} of them in the mixture; "
            f"{_count(figures.evidence, 'score')} from {_count(figures.evidence_games, 'game')}; "
            f"{_count(figures.openings, 'opening move')}."
        )
        controls = """
<label>order <select id="sort"><option value="weight">weight</option>
<option value="score">score</option><option value="name">name</option>
<option value="number">number</option></select></label>
<label>find <input id="find" type="search" placeholder="name, tag, letters" size="18"></label>
<label><input id="mixture" type="checkbox"> only the mixture</label>
<output id="shown"></output>"""
        cards = "\n".join(self._card(row) for row in self.rows)
        gallery = f'<main class="gallery">\n{cards}\n</main>'
        body = f'<p class="lead">{lead}</p>{_controls(controls)}{gallery}'
        return self._page(self.title, body, root="", has_boards=True)

    def _card(self, row: BookLayout) -> str:
        score = "" if row.score is None else f"{row.score:.6f}"
        return f"""<a class="card{"" if row.enabled else " off"}" href="{_page_of(row.layout)}" \
data-weight="{self._share(row):.9f}" data-score="{score}" data-number="{row.id}" \
data-name="{escape(row.name.lower())}" data-mixture="{int(row.in_mixture)}">
{_board(row)}
<h3><span>{escape(row.name) or row.origin}</span><span class="number">#{row.id}</span></h3>
{self._figures(row)}
<code class="letters">{row.layout}</code>{_tags(row)}</a>"""

    def _figures(self, row: BookLayout) -> str:
        """Weight and score as bars."""
        share = self._share(row)
        drawn = _percent(share) if share else '<span class="soft">not drawn</span>'
        parts = [
            '<div class="figures"><span class="name">weight</span>',
            _bar(share),
            f'<span class="value">{drawn}</span>',
        ]
        if row.score is not None:
            parts += [
                '<span class="name">score</span>',
                _bar(row.score, "score"),
                f'<span class="value">{_score(row.score, row.error)}</span>',
            ]
        return "".join([*parts, "</div>"])

    def _share(self, row: BookLayout) -> float:
        """How often the engine draws a layout."""
        return row.weight / self.total_weight if row.in_mixture else 0.0

    def layout(self, row: BookLayout) -> str:
        """The page of a layout."""
        name = _name(row)
        sections = [
            self._facts(row),
            self._pooled(row),
            self._evidence(self.book.evidence(row.layout)),
            self._payoffs(self.book.payoffs(row.layout)),
            self._openings(row),
        ]
        body = _controls("") + "\n".join(sections)
        return self._page(name, body, root="../", has_boards=True)

    def _facts(self, row: BookLayout) -> str:
        share = self._share(row)
        drawn = {"both": "moving first or second"}.get(row.moves, f"only when moving {row.moves}")
        facts = {
            "letters": f"<code>{row.layout}</code>",
            "mirrored": f"<code>{_mirrored(row.layout)}</code>",
            "weight": f"{row.weight:g}, drawn in {_percent(share)} of games"
            if share
            else f"{row.weight:g}, not drawn",
            "score": f"{_score(row.score, row.error)} in {_count(row.games, 'game')}"
            if row.score is not None
            else "none yet",
            "played": drawn,
            "role": row.role,
            "origin": row.origin + (f", {self._run_link(row.run)}" if row.run else ""),
            "since": escape(row.created),
            "tags": " ".join(f'<span class="tag">{escape(tag)}</span>' for tag in row.tags),
            "notes": f'<span class="notes">{escape(row.notes)}</span>' if row.notes else "",
        }
        if not row.enabled:
            facts["state"] = '<span class="tag warn">disabled</span>'
        listed = "".join(f"<dt>{k}</dt><dd>{v}</dd>" for k, v in facts.items() if v)
        board = f"<div>{_board(row)}</div>"
        return f'<main class="sheet-of-layout">{board}<dl class="facts">{listed}</dl></main>'

    def _pooled(self, row: BookLayout) -> str:
        rows = self.book.pooled(row.layout)
        if not rows:
            return ""
        return _section(
            "Scores",
            _table(
                ["#score", "", "#games", "judge", "opponents", "kind"],
                [
                    [
                        _score(p.score, p.error),
                        _bar(p.score, "score"),
                        f"{p.games:,}",
                        escape(p.judge),
                        escape(p.opponents),
                        p.kind,
                    ]
                    for p in rows
                ],
            ),
        )

    def _evidence(self, rows: Sequence[Evidence]) -> str:
        if not rows:
            return ""
        columns = ["#score", "#games", "#won", "#drawn", "#lost", "judge", "opponents", "#seed",
                   "kind", "version", "made"]  # fmt: skip
        lines = [
            (
                [
                    _score(e.score, e.error),
                    f"{e.games:,}",
                    f"{e.wins:,}",
                    f"{e.draws:,}",
                    f"{e.losses:,}",
                    escape(e.judge),
                    escape(e.opponents),
                    "" if e.seed is None else str(e.seed),
                    e.kind,
                    escape(e.version),
                    _date(e.created),
                ],
                e.command,
            )
            for e in rows
        ]
        return _section(
            "Evidence",
            _table(columns, [line for line, _ in lines], commands=[c for _, c in lines]),
        )

    def _payoffs(self, rows: Sequence[Payoff]) -> str:
        if not rows:
            return ""
        return _section(
            "Against other layouts",
            _table(
                ["#score", "", "#games", "judge", "opponent"],
                [
                    [
                        _score(p.score, p.error),
                        _bar(p.score, "score"),
                        f"{p.games:,}",
                        escape(p.judge),
                        self._layout_link(p.opponent),
                    ]
                    for p in sorted(rows, key=lambda p: -p.score)
                ],
            ),
        )

    def _openings(self, row: BookLayout) -> str:
        rows = self.book.openings(row.layout, limit=OPENINGS_SHOWN + 1)
        if not rows:
            return ""
        more = (
            f'<p class="soft">The first {OPENINGS_SHOWN}; the book has more.</p>'
            if len(rows) > OPENINGS_SHOWN
            else ""
        )
        return _section("Openings", _openings_table(rows[:OPENINGS_SHOWN]) + more)

    def runs(self, runs: Sequence[Run]) -> str:
        """The page of all runs."""
        parts = [_run_section(run) for run in reversed(runs)]
        body = "\n".join(parts) or '<p class="lead">No run yet.</p>'
        return self._page("Runs", body, root="")

    def _run_link(self, key: str) -> str:
        if key not in self.run_keys:
            return escape(key)
        return f'<a href="../runs.html#{escape(key)}">{escape(key)}</a>'

    def _layout_link(self, layout: str) -> str:
        if layout not in self.name_of:
            return f"<code>{layout}</code>"
        name = self.name_of[layout]
        label = f"{escape(name)} " if name != layout else ""
        return f'<a href="{layout}.html">{label}<code>{layout}</code></a>'

    def _page(self, heading: str, body: str, *, root: str, has_boards: bool = False) -> str:
        """A whole page; `root` leads from it to the folder of the site."""
        title = heading if heading == self.title else f"{heading} - {self.title}"
        return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="{GENERATOR} {__version__}">
<title>{escape(title)}</title>
<link rel="stylesheet" href="{root}site.css">
<script src="{root}site.js" defer></script>
</head>
<body>
{sheet() if has_boards else ""}<header class="top"><h1>{escape(heading)}</h1>
<nav><a href="{root}index.html">layouts</a><a href="{root}runs.html">runs</a></nav></header>
{body}
</body>
</html>
"""


def _check_folder(folder: Path, force: bool) -> None:
    if force or not folder.exists():
        return
    if not folder.is_dir():
        raise BookError(f"{folder}: expected a folder, got a file")
    index = folder / "index.html"
    is_ours = index.is_file() and f'content="{GENERATOR} ' in index.read_text(
        encoding="utf-8", errors="replace"
    )
    if not is_ours and any(folder.iterdir()):
        raise BookError(
            f"{folder}: expected an empty folder or an earlier site; --force writes beside the rest"
        )


def _data(name: str) -> str:
    return files("book").joinpath("data", name).read_text(encoding="utf-8")


def _page_of(layout: str) -> str:
    return f"{LAYOUTS_FOLDER}/{layout}.html"


def _name(row: BookLayout) -> str:
    return row.name or f"#{row.id}"


def _board(row: BookLayout) -> str:
    return render_layout_use(parse_layout(row.layout), f"layout {_name(row)}")


def _mirrored(layout: str) -> str:
    return format_layout(mirror_layout(parse_layout(layout)))


def _count(number: int, one: str) -> str:
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _score(score: float | None, error: float | None) -> str:
    if score is None:
        return ""
    reach = f" ± {100 * NORMAL_95 * error:.1f}" if error is not None else ""
    return f'<span class="nowrap">{100 * score:.1f}{reach} %</span>'


def _bar(share: float, kind: str = "") -> str:
    return f'<div class="bar {kind}"><i style="width:{100 * min(max(share, 0), 1):.1f}%"></i></div>'


def _date(moment: str | None) -> str:
    """The day of a moment like ``2026-11-16T03:01:26Z``; the rest on pointing at it."""
    if not moment:
        return ""
    day = moment.partition("T")[0]
    return f'<time class="nowrap" title="{escape(moment)}">{escape(day)}</time>'


def _tags(row: BookLayout) -> str:
    texts = [f'<span class="tag">{escape(tag)}</span>' for tag in row.tags]
    if not row.enabled:
        texts.insert(0, '<span class="tag warn">disabled</span>')
    if row.moves != "both":
        texts.insert(0, f'<span class="tag">moving {row.moves}</span>')
    return f'<div class="tags">{"".join(texts)}</div>' if texts else ""


def _controls(more: str) -> str:
    return f"""<form class="controls" onsubmit="return false">
<label>pieces <select id="names"><option value="en">English</option>
<option value="zh">中文</option><option value="letter">letters</option></select></label>{more}
</form>"""


def _section(heading: str, content: str) -> str:
    return f"<section><h2>{heading}</h2>{content}</section>"


def _table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    commands: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
) -> str:
    """A table of cells that are HTML already; a heading with ``#`` before it is of numbers."""
    kinds = [' class="number"' if column.startswith("#") else "" for column in columns]
    head = "".join(
        f"<th{kind}>{column.removeprefix('#')}</th>"
        for kind, column in zip(kinds, columns, strict=True)
    )
    lines = []
    for number, row in enumerate(rows):
        cells = "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True))
        command = commands[number] if commands else ""
        kind = "has-command" if command else classes[number] if classes else ""
        lines.append(f'<tr class="{kind}">{cells}</tr>' if kind else f"<tr>{cells}</tr>")
        if command:
            lines.append(
                f'<tr><td class="command" colspan="{len(columns)}">'
                f"<code>{escape(command)}</code></td></tr>"
            )
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>'
        f"{''.join(lines)}</tbody></table></div>"
    )


def _openings_table(rows: Sequence[Opening]) -> str:
    """Candidates of one position below each other, the position named once."""
    cells, classes, last = [], [], ""
    for o in rows:
        cells.append(
            [
                str(o.ply) if o.key != last else "",
                f"<code>{escape(o.key)}</code>" if o.key != last else "",
                f"<code>{o.move}</code>",
                f"{o.weight:g}",
                _score(o.score, o.error),
                f"{o.visits:,}",
                escape(o.source),
                escape(o.notes),
            ]
        )
        classes.append("" if o.enabled else "off")
        last = o.key
    columns = ["#ply", "what is known", "move", "#weight", "#score", "#visits", "found by", "notes"]
    return _table(columns, cells, classes=classes)


def _run_section(run: Run) -> str:
    seconds = f"{run.seconds:,.1f} s" if run.seconds is not None else ""
    facts = {
        "command": f"<code>{escape(run.command)}</code>",
        "started": escape(run.started or ""),
        "took": seconds,
        "games": f"{run.games:,}" if run.games is not None else "",
        "seed": "" if run.seed is None else str(run.seed),
        "machine": escape(run.machine),
        "version": escape(run.version),
        "status": "" if run.status == "done" else f'<span class="tag warn">{run.status}</span>',
        "notes": f'<span class="notes">{escape(run.notes)}</span>' if run.notes else "",
    }
    listed = "".join(f"<dt>{k}</dt><dd>{v}</dd>" for k, v in facts.items() if v)
    told = {name: value for name, value in run.settings.items() if name != "report"}
    settings = json.dumps(told, indent=2, ensure_ascii=False)
    return (
        f'<section id="{escape(run.key)}"><h2>{escape(run.key)}</h2><dl class="facts">{listed}</dl>'
        f'<details><summary>settings</summary><pre class="settings">{escape(settings)}</pre>'
        "</details></section>"
    )
