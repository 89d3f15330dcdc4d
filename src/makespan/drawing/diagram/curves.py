"""Curves → SVG, or matplotlib axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from makespan.core.display import Axes
from makespan.core.errors import InputError
from makespan.core.numeric.arrays import Floats
from makespan.core.picture import Curves, Line
from makespan.core.schedule import Schedule
from makespan.core.solution import gaps_in_words
from makespan.drawing.colours import CURVES, LIGHT, ON_PAGE, fills, legend_of
from makespan.drawing.svg import Canvas
from makespan.drawing.text import (
    Tick,
    decades,
    elided,
    elided_apart,
    in_rows,
    short,
    text_width,
    ticks,
)

FIGURE = (8.0, 4.6)
WIDTH, HEIGHT = 760.0, 420.0
PADDING, LINE, TITLE, SIZE = 14.0, 16.0, 14.0, 11.0
ASUNDER = 6.0  # how far apart points stand, so that they are seen one by one
DASHES = ("", "6 3", "2 3")  # lines beyond the colours that there are differ by their dashes


def curves_on(curves: Curves, ax: Axes) -> Axes:
    """Draw curves into ``ax`` and return it."""
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator

    for index, line in enumerate(curves.lines):
        colour, _ = _look(index)
        if line.look == "bars":
            ax.bar(line.x, line.y, width=0.9, color=_bar_colours(curves, line), label=line.name)
            for x, y, text in zip(line.x, line.y, line.labels, strict=False):
                ax.annotate(
                    text, (x, y), (0, 2), textcoords="offset points", ha="center", va="bottom",
                    fontsize=7, parse_math=False,
                )  # fmt: skip
            continue
        (drawn,) = ax.plot(line.x, line.y, color=colour, label=line.name, linewidth=1.4)
        drawn.set_linestyle(("-", "--", ":")[index // len(CURVES) % len(DASHES)])
        if line.look == "points":
            drawn.set(linestyle="none", marker="o", markersize=4)
        elif line.look == "steps":
            drawn.set_drawstyle("steps-post")
        ax.plot(line.x[line.given], line.y[line.given], "o", color=colour, markersize=3.5)
        ax.plot(line.x[line.chosen], line.y[line.chosen], "o", color=colour, markersize=8)
        for place in line.chosen.tolist() if len(line.labels) else ():
            at = line.x[place], line.y[place]
            ax.annotate(
                line.labels[place], at, (6, 5), textcoords="offset points", fontsize=8,
                parse_math=False,
            )  # fmt: skip
    for index, (name, level) in enumerate(curves.levels):
        side, align = ((1.0, "right"), (0.0, "left"))[index % 2]
        ax.axhline(level, linestyle="--", linewidth=1, color=LIGHT["limit"])
        ax.annotate(
            f"{name} {short(level)}", (side, level), (0, 3), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha=align, fontsize=8, color=LIGHT["limit"],
            parse_math=False,
        )  # fmt: skip
    ax.set_xlabel(curves.across)
    ax.set_ylabel(curves.up)
    if curves.title:
        pad = 18 if _labels_points(curves) else None
        ax.set_title(curves.title, loc="left", fontsize=11, parse_math=False, pad=pad)
    if len({line.name for line in curves.lines}) > 1:
        for entry in ax.legend(frameon=False, fontsize=8).get_texts():
            entry.set_parse_math(False)
    for border in ("top", "right"):
        ax.spines[border].set_visible(False)
    if curves.groups is not None:
        found = [Patch(color=fill, label=word) for word, fill in legend_of(curves.groups)]
        for entry in ax.legend(handles=found, frameon=False, fontsize=8).get_texts():
            entry.set_parse_math(False)
    if curves.across.startswith("tasks"):
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if "x" in curves.log:
        ax.set_xscale("log")
    if "y" in curves.log:
        ax.set_yscale("log")
    else:
        ax.set_ylim(0.0, 1.04 * ax.get_ylim()[1])
    return ax


def _look(index: int) -> tuple[str, str]:
    return CURVES[index % len(CURVES)], DASHES[index // len(CURVES) % len(DASHES)]


def _bar_colours(curves: Curves, line: Line) -> list[str]:
    if curves.groups is None:
        return [CURVES[5]] * len(line.x)
    palette = fills(curves.groups)
    return [palette[group] if group >= 0 else LIGHT["idle"] for group in curves.groups.of.tolist()]


@dataclass(frozen=True, slots=True)
class _Axis:
    """What an axis shows: from ``low`` on, in the powers of ten where it is logarithmic."""

    low: float
    span: float
    ticks: tuple[Tick, ...]
    log: bool = False

    def share(self, value: float) -> float:
        """Return where a value stands, from 0 to 1."""
        along = math.log10(value) if self.log else value
        return (along - self.low) / self.span

    @classmethod
    def logarithmic(cls, values: Floats, room: float) -> _Axis:
        """Return an axis for values above 0, and a factor of ``room`` around them."""
        known = values[np.isfinite(values)]
        low, high = (known.min() / room, known.max() * room) if len(known) else (1.0, 10.0)
        return cls(math.log10(low), math.log10(high / low), decades(low, high), log=True)

    @classmethod
    def upward(cls, values: Floats) -> _Axis:
        """Return an axis from 0."""
        most = float(values[np.isfinite(values)].max(initial=0.0)) * 1.06 or 1.0
        return cls(0.0, most, ticks(most, 8))

    @classmethod
    def along(cls, values: Floats, bars: bool, many: float) -> _Axis:
        """Return an axis from 0 unless all values are far from it; of bars, with their widths."""
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        start = min(0.0, low) if low < 0.25 * high else low
        if bars:
            start, high = low - 0.6, high + 0.6
        span = (high - start) * (1.0 if bars else 1.02) or 1.0
        wanted = many * (start + span) / span  # of those from 0 on, of which a part is seen
        found = [tick for tick in ticks(start + span, wanted) if start <= tick.time <= start + span]
        if bars:
            found = [tick for tick in found if tick.time == int(tick.time)]
        return cls(start, span, tuple(found))


class _Frame:
    """Where the axes are on the canvas, and what they show."""

    def __init__(self, curves: Curves, top: float, width: float) -> None:
        bars = any(line.look == "bars" for line in curves.lines)
        x = np.concatenate([np.empty(0), *(line.x for line in curves.lines)])
        levels = [level for _, level in curves.levels]
        y = np.concatenate([levels, *(line.y for line in curves.lines)])
        self.across = (
            _Axis.logarithmic(x, 1.1) if "x" in curves.log else _Axis.along(x, bars, width / 84)
        )
        self.up = _Axis.logarithmic(y, 1.3) if "y" in curves.log else _Axis.upward(y)
        widest = max((text_width(tick.label, SIZE) for tick in self.up.ticks), default=0.0)
        self.left, self.top = PADDING + widest + 10.0 + LINE, top
        self.right, self.bottom = width - PADDING, top + HEIGHT

    def x(self, value: float) -> float:
        return self.left + self.across.share(value) * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.bottom - self.up.share(value) * (self.bottom - self.top)


def curves_svg(curves: Curves, *, width: float = WIDTH, on_page: bool = False) -> str:
    """Return curves as an SVG element; each line is a group ``line`` with ``data-line``."""
    colours = ON_PAGE if on_page else LIGHT
    titled = bool(curves.title) and not on_page
    top = PADDING + (LINE + 10) * titled + 10 * _labels_points(curves)
    frame = _Frame(curves, top, width)
    canvas = Canvas(curves.title)
    legend = _legend(curves)
    places = in_rows((36.0 + text_width(word, 10.0) for word, *_ in legend), PADDING, width)
    below = frame.bottom + 3 * LINE + LINE * (places[-1][0] + 1 if places else 0)
    height = below + LINE * len(curves.notes) + PADDING / 2
    canvas.rectangle((0, 0, width, height), colours["paper"])
    if titled:
        title = elided(curves.title, TITLE, width - 2 * PADDING)
        canvas.text((PADDING, PADDING + 11), title, size=TITLE, fill=colours["ink"], bold=True)
    _axes(canvas, frame, curves, colours)
    for index, line in enumerate(curves.lines):
        with canvas.group("line", line.name, line=index):
            _line(canvas, frame, curves, line, index, colours)
    for index, (name, level) in enumerate(curves.levels):
        y = frame.y(level)
        canvas.line((frame.left, y), (frame.right, y), colours["limit"], width=1.3, dashes="5 3")
        x, anchor = ((frame.right, "end"), (frame.left + 4, "start"))[index % 2]
        said = f"{name} {short(level)}"
        canvas.text((x, y - 4), said, size=10.0, fill=colours["limit"], anchor=anchor, bold=True)
    for index, (row, x) in enumerate(places):
        y, (word, colour, dashes) = frame.bottom + LINE * (3 + row), legend[index]
        if dashes is None:
            canvas.rectangle((x, y - 9, 16, 10), colour, stroke=colours["faint"], radius=2.0)
        else:
            canvas.line((x, y - 4), (x + 18, y - 4), colour, width=2.0, dashes=dashes)
        canvas.text((x + 22, y), word, size=10.0, fill=colours["ink"])
    for row, note in enumerate(curves.notes):
        canvas.text((PADDING, below + LINE * row), note, size=9.0, fill=colours["faint"])
    return canvas.document(width, height)


def _legend(curves: Curves) -> list[tuple[str, str, str | None]]:
    """Return the words of a legend, with a colour, and the dashes where it is one of lines."""
    if curves.groups is not None:
        return [(elided(word, 10.0, 160.0), fill, None) for word, fill in legend_of(curves.groups)]
    names = [line.name for line in curves.lines]
    lines = names if len(set(names)) > 1 else []
    return [(name, *_look(at)) for at, name in enumerate(elided_apart(lines, 10.0, 160.0))]


def _axes(canvas: Canvas, frame: _Frame, curves: Curves, colours: Mapping[str, str]) -> None:
    for tick in frame.up.ticks:
        y = frame.y(tick.time)
        canvas.line((frame.left, y), (frame.right, y), colours["grid"], width=0.5)
        at = (frame.left - 6, y + 4)
        canvas.text(at, tick.label, size=SIZE, fill=colours["ink"], anchor="end")
    canvas.line((frame.left, frame.bottom), (frame.right, frame.bottom), colours["faint"])
    for tick in frame.across.ticks:
        x = frame.x(tick.time)
        canvas.line((x, frame.bottom), (x, frame.bottom + 4), colours["faint"])
        at = (x, frame.bottom + 16)
        canvas.text(at, tick.label, size=SIZE, fill=colours["ink"], anchor="middle")
    at = (frame.right, frame.bottom + 31)
    canvas.text(at, curves.across, size=SIZE, fill=colours["faint"], anchor="end")
    canvas.text((PADDING, frame.top - 2), curves.up, size=SIZE, fill=colours["faint"])


def _labels_points(curves: Curves) -> bool:
    """Whether a chosen point has a label, which stands above it."""
    return any(len(line.chosen) and len(line.labels) for line in curves.lines)


def _line(
    canvas: Canvas,
    frame: _Frame,
    curves: Curves,
    line: Line,
    index: int,
    colours: Mapping[str, str],
) -> None:
    colour, dashes = _look(index)
    known = np.isfinite(line.y)
    if line.look == "bars":
        _bars(canvas, frame, curves, line, colours)
        return
    if line.look == "points":
        last = -math.inf, -math.inf
        for place in np.flatnonzero(known).tolist():
            x, y = frame.x(float(line.x[place])), frame.y(float(line.y[place]))
            seen = math.dist(last, (x, y)) >= ASUNDER
            last = (x, y) if seen else last
            with canvas.group("point", line.labels[place] if len(line.labels) else "", point=place):
                opacity = 1.0 if seen else 0.0  # others there can be chosen, where that is possible
                canvas.rectangle((x - 2.5, y - 2.5, 5, 5), colour, radius=2.5, opacity=opacity)
    else:
        for part in np.split(np.arange(len(line.x)), np.flatnonzero(np.diff(known)) + 1):
            if len(part) and known[part[0]]:
                points = _points(frame, line.x[part], line.y[part], steps=line.look == "steps")
                if len(points) == 1:
                    points = points * 2
                canvas.way(points, colour, width=1.6, dashes=dashes)
    for place in line.given.tolist():
        x, y = frame.x(float(line.x[place])), frame.y(float(line.y[place]))
        canvas.rectangle((x - 2.5, y - 2.5, 5, 5), colour, radius=2.5)
    for place in line.chosen.tolist():
        x, y = frame.x(float(line.x[place])), frame.y(float(line.y[place]))
        box = (x - 4.5, y - 4.5, 9, 9)
        canvas.rectangle(box, colour, stroke=colours["ink"], thick=1.0, radius=4.5)
        if len(line.labels):
            canvas.text((x + 7, y - 6), line.labels[place], size=9.0, fill=colours["ink"])


def _points(frame: _Frame, x: Floats, y: Floats, *, steps: bool) -> list[tuple[float, float]]:
    if steps:
        x, y = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
    return [(frame.x(a), frame.y(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True)]


def _bars(
    canvas: Canvas, frame: _Frame, curves: Curves, line: Line, colours: Mapping[str, str]
) -> None:
    fill = _bar_colours(curves, line)
    wide = frame.x(0.9) - frame.x(0.0)
    for place, (x, y) in enumerate(zip(line.x.tolist(), line.y.tolist(), strict=True)):
        left, top = frame.x(x) - wide / 2, frame.y(y)
        outline = colours["faint"] if wide > 4 else ""
        with canvas.group("node", f"{short(y)}", task=place):
            canvas.rectangle((left, top, wide, frame.bottom - top), fill[place], stroke=outline)
        text = line.labels[place] if len(line.labels) else ""
        if text and text_width(text, 9.0) <= wide + 6:
            at = (left + wide / 2, top - 3)
            canvas.text(at, text, size=9.0, fill=colours["ink"], anchor="middle")


MAKESPAN = "makespan (s)"


def front_view(
    value: str, said: Callable[[Mapping[str, Any]], str] = lambda point: "", across: str = MAKESPAN
) -> Callable[..., Curves]:
    """Return the view of a front in the details of a result, the plan of a schedule marked.

    ``value`` is what the points hold beside their ``time``; ``said`` is added to what is said of a
    point, ``across`` what the time is; plans are marked where that is the makespan.
    """

    def front(
        problem: Any,
        schedule: Schedule | None = None,
        *,
        details: Mapping[str, Any] = MappingProxyType({}),
        **_: Any,
    ) -> Curves:
        if "front" not in details:
            raise InputError("view: 'front' needs a result with objective 'pareto'")
        points = sorted(details["front"], key=lambda point: point["time"])
        times, values = (
            np.array([point[name] for point in points], dtype=np.float64)
            for name in ("time", value)
        )
        chosen = np.empty(0, dtype=np.int64)
        if schedule is not None and len(times) and across == MAKESPAN:
            chosen = np.array([int(np.argmin(np.abs(times - schedule.makespan)))])
        marks = [f"{short(each['time'])} s, {short(each[value])}{said(each)}" for each in points]
        unknown = details.get("unknown", ())
        cut = f"; {gaps_in_words(unknown)}" if unknown else ""
        return Curves(
            lines=(
                Line(name="front", x=times, y=values, look="steps"),
                Line(name="front", x=times, y=values, look="points", chosen=chosen, labels=marks),
            ),
            across=across,
            up=value,
            title=f"Pareto front: {len(points)} point{'s' if len(points) != 1 else ''}{cut}",
        )

    return front
