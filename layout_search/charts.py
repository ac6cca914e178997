"""Small charts as SVG, written by hand: lines, columns, dots and tables of colours.

A chart is one element for a page that has `CHART_STYLE`; its colours are custom properties, so that
it is light or dark with the page. Labels and hints are escaped here.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from junqi.render_svg import xml_text

CHART_STYLE = """
:root{--ch-one:#a3271f;--ch-two:#2f5f9e;--ch-heat:#d98a2b;--ch-good:#3f8f5a;--ch-bad:#c4473a}
@media (prefers-color-scheme:dark){
:root{--ch-one:#f08a7c;--ch-two:#86b1ea;--ch-heat:#c9762a;--ch-good:#3f9460;--ch-bad:#c5564a}}
.ch{display:block;width:100%;height:auto;font-size:13px;font-variant-numeric:tabular-nums}
.ch text{fill:var(--soft)}
.ch .ch-value{fill:var(--ink)}
.ch-grid{stroke:var(--line);stroke-width:1}
.ch-mark{stroke:var(--soft);stroke-width:1;stroke-dasharray:4 4;opacity:.7}
.ch-line{fill:none;stroke-width:2.4;stroke-linejoin:round;stroke-linecap:round}
.ch-one .ch-line,.ch-one .ch-reach{stroke:var(--ch-one)}
.ch-two .ch-line,.ch-two .ch-reach{stroke:var(--ch-two)}
.ch-one .ch-dot{fill:var(--ch-one)}
.ch-two .ch-dot{fill:var(--ch-two)}
.ch-dot{opacity:.55}
.ch-reach{stroke-width:1;opacity:.3}
.ch-back{fill:var(--bar-back)}
.ch-bar{fill:var(--bar)}
.ch-heat{fill:var(--ch-heat)}
.ch-good{fill:var(--ch-good)}
.ch-bad{fill:var(--ch-bad)}
.ch-none{fill:var(--bar-back)}
.ch-start{text-anchor:start}
.ch-end{text-anchor:end}
.ch-middle{text-anchor:middle}
"""

Format = Callable[[float], str]

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 26, 14, 44
WIDEST_COLUMN = 44
CELL = 34
# How far a chart may be blown up on a wide page.
LARGEST = 1.2
# The strongest colour of a cell, so that the number on it can still be read.
DEEPEST = 0.85


@dataclass(frozen=True)
class Dot:
    """A point of a chart, with what is told when one points at it."""

    x: float
    y: float
    hint: str = ""
    x_error: float = 0.0
    y_error: float = 0.0


def percent(share: float) -> str:
    """A share in whole percents.

    >>> percent(0.5049)
    '50 %'
    """
    return f"{100 * share:.0f} %"


def line_chart(
    title: str,
    x_label: str,
    series: Sequence[Sequence[tuple[float, float]]],
    *,
    dots: Sequence[Dot] = (),
    mark: float | None = None,
    y_format: Format = percent,
) -> str:
    """Lines of one or two colours over one axis.

    Args:
        series: the points of each line.
        dots: drawn below the lines, in the first colour.
        mark: a height that is marked by a broken line.
    """
    points = [*(point for line in series for point in line), *((d.x, d.y) for d in dots)]
    axes = _Axes.around(points, [] if mark is None else [mark], y_format=y_format)
    parts = [axes.drawn(x_label, "")]
    if mark is not None:
        y = axes.y(mark)
        parts.append(f'<path class="ch-mark" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
    parts.append(f'<g class="ch-one">{"".join(axes.dot(dot, 2.6) for dot in dots)}</g>')
    for colour, line in zip(("ch-one", "ch-two"), series, strict=False):
        path = "L".join(f"{axes.x(x):.1f} {axes.y(y):.1f}" for x, y in line)
        parts.append(f'<g class="{colour}"><path class="ch-line" d="M{path}"/></g>')
    return _svg(WIDTH, HEIGHT, title, parts)


def scatter_chart(title: str, x_label: str, y_label: str, dots: Sequence[Dot]) -> str:
    """Dots with their errors, and the diagonal on which both axes agree."""
    reach = [(d.x + s * d.x_error, d.y + s * d.y_error) for d in dots for s in (-1, 1)]
    axes = _Axes.around(reach, [], x_format=percent)
    low, high = max(axes.left, axes.low), min(axes.right, axes.high)
    parts = [axes.drawn(x_label, y_label)]
    if low < high:
        parts.append(
            f'<path class="ch-mark" d="M{axes.x(low):.1f} {axes.y(low):.1f}'
            f'L{axes.x(high):.1f} {axes.y(high):.1f}"/>'
        )
    for dot in dots:
        x, y = axes.x(dot.x), axes.y(dot.y)
        across, up = axes.x(dot.x + dot.x_error) - x, y - axes.y(dot.y + dot.y_error)
        cross = f"M{x - across:.1f} {y:.1f}h{2 * across:.1f}M{x:.1f} {y - up:.1f}v{2 * up:.1f}"
        reach_drawn = f'<path class="ch-reach" d="{cross}"/>'
        parts.append(f'<g class="ch-two">{reach_drawn}{axes.dot(dot, 4)}</g>')
    return _svg(WIDTH, HEIGHT, title, parts)


def column_chart(title: str, columns: Sequence[tuple[str, float, str]]) -> str:
    """Columns side by side, each with a label below, its height, and a hint."""
    axes = _Axes.around([(0.0, height) for _, height, _ in columns], [0.0])
    pitch = (WIDTH - LEFT - RIGHT) / max(len(columns), 1)
    width = min(0.8 * pitch, WIDEST_COLUMN)
    parts = [axes.drawn("", "", has_x=False)]
    for number, (label, height, hint) in enumerate(columns):
        middle, top = LEFT + pitch * (number + 0.5), axes.y(height)
        box = _box("ch-bar", middle - width / 2, top, width, axes.y(0) - top)
        told = f"<title>{xml_text(hint)}</title>"
        parts.append(f"<g>{box}{told}</g>")
        parts.append(_text(middle, HEIGHT - BOTTOM + 18, label, "ch-middle"))
    return _svg(WIDTH, HEIGHT, title, parts)


def heat_board(title: str, shares: Sequence[Sequence[float | None]], deepest: float) -> str:
    """A small board: how often something stands at each point, row by row; None is no point of it.

    Args:
        deepest: the share that gets the strongest colour.
    """
    parts = []
    for line, row in enumerate(shares):
        for column, share in enumerate(row):
            x, y = CELL * column, CELL * line
            if share is None:
                parts.append(
                    f'<circle class="ch-none" cx="{x + CELL / 2}" cy="{y + CELL / 2}" r="5"/>'
                )
                continue
            text = f"{100 * share:.0f}" if share >= 0.005 else ""
            depth = DEEPEST * math.sqrt(share / deepest) if deepest else 0.0
            parts.append(_cell(x, y, "ch-heat", depth, text, ""))
    size = (CELL * max(map(len, shares)), CELL * len(shares))
    return _svg(*size, title, parts)


def heat_matrix(
    title: str,
    labels: Sequence[str],
    values: Sequence[Sequence[float | None]],
    *,
    deepest: float,
    hint: Callable[[int, int], str],
) -> str:
    """A table of payoffs, row against column: above 0 in one colour, below in the other.

    Args:
        values: what row scores above one half; None is not known.
        deepest: the value that gets the strongest colour.
        hint: what is told when one points at a row and a column.
    """
    parts = []
    for row, label in enumerate(labels):
        middle = CELL * row + CELL / 2
        parts += [
            _text(CELL - 8, middle + CELL + 4.5, label, "ch-end"),
            _text(middle + CELL, CELL - 9, label, "ch-middle"),
        ]
        for column, value in enumerate(values[row]):
            x, y = CELL * (column + 1), CELL * (row + 1)
            if value is None:
                parts.append(_cell(x, y, "ch-none", 1.0, "", ""))
                continue
            kind = "ch-good" if value > 0 else "ch-bad"
            depth = DEEPEST * min(1.0, abs(value) / deepest) if deepest else 0.0
            parts.append(_cell(x, y, kind, depth, f"{50 + 100 * value:.0f}", hint(row, column)))
    side = CELL * (len(labels) + 1)
    return _svg(side, side, title, parts)


def smoothed(values: Sequence[float], reach: int) -> list[float]:
    """The mean of each value and up to so many before and after it, as many on both sides."""
    means = []
    for place in range(len(values)):
        near = min(reach, place, len(values) - 1 - place)
        part = values[place - near : place + near + 1]
        means.append(sum(part) / len(part))
    return means


@dataclass(frozen=True)
class _Axes:
    """From values to places on the picture."""

    left: float
    right: float
    low: float
    high: float
    x_step: float
    y_step: float
    x_format: Format
    y_format: Format

    @classmethod
    def around(
        cls,
        points: Sequence[tuple[float, float]],
        heights: Sequence[float],
        *,
        x_format: Format = "{:g}".format,
        y_format: Format = percent,
    ) -> "_Axes":
        """Axes that have all points on them, and these heights."""
        xs = [x for x, _ in points] or [0.0]
        ys = [*(y for _, y in points), *heights] or [0.0]
        x_step, y_step = _step(max(xs) - min(xs)), _step(max(ys) - min(ys))
        left, right = _ends(min(xs), max(xs), x_step)
        low, high = _ends(min(ys), max(ys), y_step)
        return cls(left, right, low, high, x_step, y_step, x_format, y_format)

    def x(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - self.left) / (self.right - self.left)

    def y(self, value: float) -> float:
        return (
            HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - self.low) / (self.high - self.low)
        )

    def dot(self, dot: Dot, radius: float) -> str:
        hint = f"<title>{xml_text(dot.hint)}</title>" if dot.hint else ""
        place = f'cx="{self.x(dot.x):.1f}" cy="{self.y(dot.y):.1f}"'
        return f'<circle class="ch-dot" {place} r="{radius}">{hint}</circle>'

    def drawn(self, x_label: str, y_label: str, *, has_x: bool = True) -> str:
        parts = []
        for value in _ticks(self.low, self.high, self.y_step):
            y = self.y(value)
            parts += [
                f'<path class="ch-grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>',
                _text(LEFT - 8, y + 4.5, self.y_format(value), "ch-end"),
            ]
        for value in _ticks(self.left, self.right, self.x_step) if has_x else ():
            text = self.x_format(value)
            parts.append(_text(self.x(value), HEIGHT - BOTTOM + 18, text, "ch-middle"))
        parts.append(_text(WIDTH - RIGHT, HEIGHT - 6, x_label, "ch-end"))
        if y_label:
            parts.append(_text(LEFT + 8, TOP + 12, y_label, "ch-start"))
        return "".join(parts)


def _step(span: float) -> float:
    """A round distance between marks, of which there are about five."""
    if span <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(span / 5))
    return next(power * f for f in (1, 2, 5, 10) if power * f >= span / 5)


def _ends(low: float, high: float, step: float) -> tuple[float, float]:
    """The marks around all values, at least one step apart."""
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return first * step, max(last, first + 1) * step


def _ticks(low: float, high: float, step: float) -> list[float]:
    return [low + step * n for n in range(round((high - low) / step) + 1)]


def _cell(x: float, y: float, kind: str, depth: float, text: str, hint: str) -> str:
    """A coloured square with a number on it."""
    place = (x + 1, y + 1, CELL - 2, CELL - 2)
    number = _text(x + CELL / 2, y + CELL / 2 + 4.5, text, "ch-value ch-middle") if text else ""
    told = f"<title>{xml_text(hint)}</title>" if hint else ""
    return f"<g>{_box('ch-back', *place)}{_box(kind, *place, depth)}{number}{told}</g>"


def _box(
    kind: str, x: float, y: float, width: float, height: float, depth: float | None = None
) -> str:
    opacity = "" if depth is None else f' fill-opacity="{depth:.3f}"'
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" {size} rx="4"{opacity}/>'


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{xml_text(text)}</text>'


def _svg(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    name = xml_text(title)
    return (
        f'<svg class="ch" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{name}"'
        f' style="max-width:{LARGEST * width:g}px">'
        f"{''.join(parts)}</svg>"
    )
