"""The report of a run as one web page, with its pictures in it."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from junqi import __version__
from junqi.layout import parse_layout
from junqi.pieces import KINDS
from junqi.render_sheet import render_layout_use, sheet
from junqi.stats import NORMAL_95
from layout_search.charts import (
    CHART_STYLE,
    Dot,
    column_chart,
    heat_board,
    heat_matrix,
    line_chart,
    percent,
    scatter_chart,
    smoothed,
)
from layout_search.report import LEAST_TOLD, SMOOTHING, Judged, Matrix, Report, Scored, standing

# Drawn at once; the others when they are asked for.
CARDS = 12
# Finalists in the table of payoffs, and from how many on it needs the width of the page.
MATRIX = 24
NARROW = 16

PAGE_STYLE = """
html:has(#names-zh:checked){--jq-zh:inline;--jq-en:none}
.figures-row{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:1rem;
margin:1.4rem 0}
.figure{padding:.8rem 1rem;background:var(--card);border:1px solid var(--line);border-radius:.8rem}
.figure b{display:block;font-size:1.5rem;font-weight:600;font-variant-numeric:tabular-nums}
.figure b small{font-size:.9rem;font-weight:400;color:var(--soft)}
.figure span{color:var(--soft);font-size:.9rem}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(26rem,100%),1fr));gap:1.2rem}
.panel{margin:0;padding:1rem;background:var(--card);border:1px solid var(--line);
border-radius:.8rem;break-inside:avoid}
.panel figcaption{margin:0 0 .7rem;font-size:.92rem}
.panel figcaption b{display:block}
.panel figcaption span{color:var(--soft)}
.wide{display:grid;gap:1.2rem}
.boards{display:grid;grid-template-columns:repeat(auto-fill,minmax(10.5rem,1fr));gap:1rem}
.key i{display:inline-block;width:.8em;height:.8em;border-radius:.2em;margin:0 .35em 0 .8em}
section>p{max-width:60rem;margin:.2rem 0 1rem}
"""


def render_page(
    report: Report, *, title: str, facts: Mapping[str, str], settings: Mapping[str, Any], style: str
) -> str:
    """Draw a report.

    Args:
        facts: of the run, by name, as they are to be read.
        settings: of the run.
        style: of the pages of a book, which has the colours.
    """
    names = _names(report)
    sections = [
        _figures(report),
        _mixture(report, names),
        _progress(report),
        _standing(report),
        _payoffs(report, names),
        _transfer(report, names),
        _evidence(report, names),
        _about(facts, settings),
    ]
    body = "\n".join(filter(None, sections))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="junqi layout report {__version__}">
<title>{escape(title)}</title>
<style>{style}{CHART_STYLE}{PAGE_STYLE}</style>
</head>
<body>
{sheet()}<header class="top"><h1>{escape(title)}</h1>
<nav><label><input type="radio" name="names" id="names-en" checked> English</label>
<label><input type="radio" name="names" id="names-zh"> 中文</label></nav></header>
<p class="lead">{escape(_lead(report, facts))}</p>
{body}
</body>
</html>
"""


def _names(report: Report) -> dict[str, str]:
    """A number for each layout, the heaviest first: 25 letters are no label."""
    known = dict.fromkeys([*report.mixture, *report.finalists])
    return {layout: str(number) for number, layout in enumerate(known, start=1)}


def _lead(report: Report, facts: Mapping[str, str]) -> str:
    last = report.rounds[-1]
    return (
        f"A mixture of {len(report.mixture)} layouts, after {last.number} rounds and "
        f"{facts.get('games', f'{last.games:,}')} games in {facts.get('time', 'some time')}."
    )


def _figures(report: Report) -> str:
    """The few numbers that matter, on top."""
    cells = []
    for row in report.mixture_scores():
        told = f"the mixture against {_whose(row)} layouts, by {row.judge}"
        cells.append((_with_reach(row), told))
    for row in report.evidence:
        if row.layout == report.greediest:
            told = f"the best single layout against {_whose(row)} layouts, by {row.judge}"
            cells.append((_with_reach(row), told))
    cells.append(
        (percent(report.last_counter()), "what the counters of the last five rounds scored")
    )
    cells += [
        (_with_reach(row), f"the best counter of an attack, by {row.judge}")
        for row in report.attacks
    ]
    shown = "".join(
        f'<div class="figure"><b>{value}</b><span>{escape(what)}</span></div>'
        for value, what in cells
    )
    return f'<div class="figures-row">{shown}</div>'


def _mixture(report: Report, names: Mapping[str, str]) -> str:
    largest = max(report.mixture.values())
    cards = []
    for layout, share in report.mixture.items():
        scores = "".join(
            f'<span class="name">{escape(_opponents(row))}</span>{_bar(row.score.mean, "score")}'
            f'<span class="value">{row.score}</span>'
            for row in report.evidence
            if row.layout == layout and row.games >= LEAST_TOLD
        )
        best = '<span class="tag">best single</span>' if layout == report.greediest else ""
        cards.append(
            f'<div class="card">{render_layout_use(parse_layout(layout), f"layout {layout}")}'
            f"<h3><span>{names[layout]}</span>{best}</h3>"
            f'<div class="figures"><span class="name">share</span>{_bar(share / largest)}'
            f'<span class="value">{100 * share:.1f} %</span>{scores}</div>'
            f'<code class="letters">{layout}</code></div>'
        )
    columns = [
        (names[k], share, f"{k}: {100 * share:.1f} %") for k, share in report.mixture.items()
    ]
    chart = column_chart("Shares of the mixture", columns)
    rest = ""
    if len(cards) > CARDS:
        rest = (
            f"<details><summary>{len(cards) - CARDS} more layouts</summary><br>"
            f'<div class="gallery">{"".join(cards[CARDS:])}</div></details>'
        )
    return _section(
        "The mixture",
        "How often each layout is played; in every game a coin decides whether it is mirrored.",
        f'<div class="gallery">{"".join(cards[:CARDS])}</div><br>{rest}'
        f'<div class="charts">{_figure("Shares", "by number", chart)}</div>',
    )


def _progress(report: Report) -> str:
    rounds = report.rounds
    dots = [
        Dot(row.number, row.counter, f"round {row.number}: {100 * row.counter:.1f} %")
        for row in rounds
    ]
    means = smoothed([row.counter for row in rounds], SMOOTHING)
    counters = [(row.number, mean) for row, mean in zip(rounds, means, strict=True)]
    carrying = [(row.number, float(row.mixture)) for row in rounds]
    archive = [(row.number, float(row.archive)) for row in rounds]
    charts = [
        _figure(
            "The best counter of each round",
            "What the best response scored against the mixture before it, and the mean of "
            "neighbouring rounds. At 50 % nothing is left to find.",
            line_chart("Score of the counter by round", "round", [counters], dots=dots, mark=0.5),
        ),
        _figure(
            "Layouts",
            '<span class="key"><i style="background:var(--ch-one)"></i>carrying the mixture'
            '<i style="background:var(--ch-two)"></i>in the archive</span>',
            line_chart(
                "Layouts by round", "round", [carrying, archive], y_format="{:g}".format, mark=0
            ),
        ),
    ]
    return _section("Progress", "", f'<div class="charts">{"".join(charts)}</div>')


def _standing(report: Report) -> str:
    boards = standing(report.mixture)
    deepest = max(x for board in boards.values() for row in board for x in row if x is not None)
    figures = "".join(
        _figure(
            f"{kind.english} {kind.chinese}",
            "",
            heat_board(f"Where the {kind.english} stands", boards[kind.letter], deepest),
        )
        for kind in KINDS
    )
    return _section(
        "Where each kind stands",
        "In percent of the games, seen from its own side: the front row on top, the headquarters "
        "in the last row. The dots are camps.",
        f'<div class="boards">{figures}</div>',
    )


def _payoffs(report: Report, names: Mapping[str, str]) -> str:
    labels = [names[layout] for layout in report.finalists][:MATRIX]
    fast, strong = report.fast, report.strong
    shown = [(f"by {fast.judge}", _games_a_pair(fast), fast.payoff)]
    if strong is not None:
        told = f"{fast.judge}'s payoffs, corrected by {_games_a_pair(strong)} of {strong.judge}"
        shown.insert(0, (f"by {strong.judge}, as far as all games tell", told, report.payoff))
    figures = "".join(
        _figure(heading, escape(told), _matrix(heading, labels, payoff))
        for heading, told, payoff in shown
    )
    first = f" The first {MATRIX} finalists." if len(report.finalists) > MATRIX else ""
    return _section(
        "Who beats whom",
        "What a row scores against a column, in percent: green wins, red loses. The game of "
        f"layouts goes in circles, which is why there is a mixture.{first}",
        f'<div class="{"charts" if len(labels) <= NARROW else "wide"}">{figures}</div>',
    )


def _matrix(heading: str, labels: Sequence[str], payoff: Matrix) -> str:
    part = payoff[: len(labels), : len(labels)]
    rows = [
        [float(x) if row != column else None for column, x in enumerate(values)]
        for row, values in enumerate(part)
    ]

    def hint(row: int, column: int) -> str:
        return f"{labels[row]} against {labels[column]}: {50 + 100 * part[row, column]:.1f} %"

    deepest = float(np.abs(part).max(initial=0.0))
    return heat_matrix(f"Payoffs {heading}", labels, rows, deepest=deepest, hint=hint)


def _games_a_pair(judged: Judged) -> str:
    games = judged.games[np.tril_indices(len(judged.games), -1)]
    low, high = int(games.min(initial=games.max(initial=0))), int(games.max(initial=0))
    return f"{low:,} games a pair" if low == high else f"{low:,} to {high:,} games a pair"


def _transfer(report: Report, names: Mapping[str, str]) -> str:
    if report.strong is None:
        return ""
    fast, strong = report.fast, report.strong
    labels = [names[layout] for layout in report.finalists]
    panel = [
        Dot(x, y, f"layout {label}", _error(x, fast.panel_games), _error(y, strong.panel_games))
        for x, y, label in zip(
            fast.panel_scores.tolist(), strong.panel_scores.tolist(), labels, strict=True
        )
    ]
    payoffs = []
    for pair in zip(*np.tril_indices(len(labels), -1), strict=True):
        if fast.games[pair] and strong.games[pair]:
            # Told of the one that the fast judge prefers, so that the order does not matter.
            row, column = pair if fast.payoff[pair] >= 0 else pair[::-1]
            x, y = 0.5 + fast.payoff[row, column], 0.5 + strong.payoff[row, column]
            payoffs.append(Dot(float(x), float(y), f"{labels[row]} against {labels[column]}"))
    axes = f"by {fast.judge}", f"by {strong.judge}"
    figures = [
        _figure(
            "Scores against people's and random layouts",
            f"Correlation: {report.panel_transfer() or 'too few layouts'}.",
            scatter_chart("Panel scores by both judges", *axes, panel),
        ),
        _figure(
            f"Scores of the finalist of each two that {fast.judge} prefers",
            f"Correlation: {report.payoff_transfer() or 'too few layouts'}.",
            scatter_chart("Payoffs by both judges", *axes, payoffs),
        ),
    ]
    return _section(
        "Does the fast judge foretell the stronger one?",
        "Correlations with the noise of few games removed, and their 95 % intervals. Finalists are "
        "alike, which makes them hard to tell apart; on a broad pool judges agree more.",
        f'<div class="charts">{"".join(figures)}</div>',
    )


def _evidence(report: Report, names: Mapping[str, str]) -> str:
    rows = [*report.mixture_scores(), *report.evidence, *report.attacks]
    if not rows:
        return ""
    cells = "".join(
        f"<tr><td>{_who(row, names)}</td><td>{escape(row.opponents)}</td>"
        f'<td class="number">{row.score}</td><td class="number">{row.games:,}</td>'
        f"<td>{escape(row.judge)}</td></tr>"
        for row in rows
    )
    commands = "\n".join(row.command for row in rows if row.command)
    return _section(
        "Evidence",
        "Every score comes from games with new seeds that have chosen nothing; 95 % intervals.",
        '<div class="scroll"><table><thead><tr><th>layout</th><th>opponents</th>'
        '<th class="number">score</th><th class="number">games</th><th>judge</th></tr></thead>'
        f"<tbody>{cells}</tbody></table></div><br>"
        f'<details><summary>commands that give the scores again</summary><pre class="settings">'
        f"{escape(commands)}</pre></details>",
    )


def _who(row: Scored, names: Mapping[str, str]) -> str:
    if not row.layout:
        return "the mixture"
    name = names.get(row.layout)
    return (f"{name} " if name else "counter ") + f"<code>{row.layout}</code>"


def _about(facts: Mapping[str, str], settings: Mapping[str, Any]) -> str:
    listed = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items()
    )
    text = json.dumps(settings, indent=2, ensure_ascii=False)
    return _section(
        "The run",
        "",
        f'<dl class="facts">{listed}</dl><details><summary>settings</summary>'
        f'<pre class="settings">{escape(text)}</pre></details>',
    )


def _section(heading: str, text: str, content: str) -> str:
    told = f'<p class="soft">{escape(text)}</p>' if text else ""
    return f"<section><h2>{escape(heading)}</h2>{told}{content}</section>"


def _figure(heading: str, told: str, chart: str) -> str:
    """A chart with its caption; what is told of it is HTML already."""
    caption = f"<b>{escape(heading)}</b>" + (f"<span>{told}</span>" if told else "")
    return f'<figure class="panel"><figcaption>{caption}</figcaption>{chart}</figure>'


def _bar(share: float, kind: str = "") -> str:
    return f'<div class="bar {kind}"><i style="width:{100 * share:.1f}%"></i></div>'


def _with_reach(row: Scored) -> str:
    reach = 100 * NORMAL_95 * row.score.error
    return f"{100 * row.score.mean:.1f} % <small>± {reach:.1f}</small>"


def _opponents(row: Scored) -> str:
    """Opponents in a word, without the digest that tells them apart from others of that name."""
    word = row.opponents.partition("@")[0]
    return {"human": "people", "random": "random"}.get(word.partition(":")[0], word)


def _whose(row: Scored) -> str:
    """Opponents as an adjective."""
    return _opponents(row).replace("people", "people's")


def _error(score: float, games: float) -> float:
    return float(np.sqrt(max(score * (1 - score), 0.01) / games))
