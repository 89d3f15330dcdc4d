"""Charts → one HTML page that needs nothing but a browser.

The page holds its data as columns, long ones packed, and draws them on a canvas, only what is
visible; its script and its look are files beside this one, put into the page when it is written.
The scripts are modules, which other pages load as they are.

A long column is written as the differences of its numbers, byte planes behind each other: first the
lowest byte of all, then the next, and so on. What hardly changes deflates to nearly nothing. All
columns are deflated together, and unpacked by ``DecompressionStream``, which Chromium knows from
version 80 on, Safari from 16.4 and Firefox from 113.
"""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from makespan.core.display import Table
from makespan.core.numeric.arrays import Floats
from makespan.core.picture import Groups, Picture, Role
from makespan.core.schedule import WORDS, Activity, Schedule
from makespan.core.steps import Step
from makespan.drawing.colours import (
    BESIDE_STATES,
    DARK,
    FILL,
    LIGHT,
    WORD,
    fills,
    ink_on,
    legend_of,
)
from makespan.drawing.gantt.marks import combined, horizon, tracks
from makespan.drawing.svg import escaped
from makespan.drawing.text import TOKEN, unit_of, without_hashes

SHORT = 200  # columns up to this length stay lists that people can read
LONG = 10_000  # characters up to which a text stays as it is
LARGEST = 2**31 - 1


class Packing:
    """Columns on their way into a page.

    >>> packing = Packing()
    >>> packing.packed({"few": [1, 2], "many": list(range(1000))})
    {'few': [1, 2], 'many': {'packed': 'whole', 'at': 0, 'count': 1000}}
    >>> len(packing.text()) < 100
    True
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def packed(self, value: Any) -> Any:
        """Return data with references in the place of all long columns."""
        if isinstance(value, Mapping):
            return {name: self.packed(part) for name, part in value.items()}
        if isinstance(value, np.ndarray):
            return value.tolist() if len(value) <= SHORT else self._column(value)
        if isinstance(value, str):
            return value if len(value) <= LONG else self._put("json", 1, _json(value))
        if not isinstance(value, Sequence):
            return value
        if len(value) <= SHORT:
            return [self.packed(part) for part in value]
        if all(type(part) is int and abs(part) <= LARGEST for part in value) or all(
            type(part) is float for part in value
        ):
            return self._column(np.array(value))
        return self._put("json", len(value), _json(value))

    def _column(self, values: NDArray[Any]) -> dict[str, Any]:
        if values.dtype.kind in "iub":
            differences = np.diff(values.astype(np.int64), prepend=0)
            return self._put("whole", len(values), _planes(differences.astype("<i4")))
        if values.dtype == np.float32:
            return self._put("single", len(values), _planes(values.astype("<f4")))
        distinct, index = np.unique(values, return_inverse=True)
        if 2 * len(distinct) < len(values) and len(distinct) > SHORT:
            return {"packed": "of", "values": self._column(distinct), "index": self._column(index)}
        return self._put("real", len(values), _planes(values.astype("<f8")))

    def _put(self, how: str, count: int, content: bytes) -> dict[str, Any]:
        reference = {"packed": how, "at": self._size, "count": count}
        if how == "json":
            reference["bytes"] = len(content)
        self._parts.append(content)
        self._size += len(content)
        return reference

    def text(self) -> str:
        """Return all columns, deflated, as text; nothing where there are none."""
        if not self._parts:
            return ""
        return base64.b64encode(zlib.compress(b"".join(self._parts))).decode("ascii")


def in_ticks(times: ArrayLike, tick: float) -> NDArray[np.int64]:
    """Return times as whole numbers of ticks."""
    return np.rint(np.asarray(times, dtype=np.float64) / tick).astype(np.int64)


def _planes(values: NDArray[Any]) -> bytes:
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1).T.tobytes()


def _json(value: Any) -> bytes:
    """Return what a page reads, the columns inside as lists."""
    lists = np.ndarray.tolist
    return json.dumps(value, allow_nan=False, separators=(",", ":"), default=lists).encode("ascii")


SCRIPTS = (
    *("data.js", "view.js", "draw.js", "facts.js"),
    *("diagrams.js", "player.js", "controls.js", "charts.js", "page.js"),
)
MAX_IDLE_ROWS = 1000
SHADES = 64  # colours of groups that have an order, at most
MOST_HASHED = 10_000  # names that stand a second time in a page, without their hashes
EXACT = 50_000  # activities up to which times and amounts are exact; beyond, times are whole ticks
TICKS = 2**31 - 1  # of the whole plan: more than a screen can show, or a fact says in eight digits
OF_MODULES = re.compile(r"^import .*;\n|^export ", re.MULTILINE)
"""What only modules say: nothing of it is needed in one script of all of them."""
UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chart:
    """A plan on a page.

    Diagrams are pictures of the problem, each with its title, as SVG elements in the colours of the
    page: boxes with ``data-task``, lines with ``data-edge``.
    """

    picture: Picture
    schedule: Schedule  # its activities, which the picture's bars index
    facts: tuple[tuple[str, str], ...] = ()  # what is known of it: names and values
    notes: tuple[str, ...] = ()  # sentences for the reader
    log: tuple[str, ...] = ()  # the steps of the method, a line each
    steps: tuple[Step, ...] = ()  # the same as data, for the player
    diagrams: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()  # the answer
    others: tuple[Chart, ...] = ()  # plans to choose from, in the order of the points of a diagram


def page(charts: Sequence[Chart], *, title: str) -> str:
    """Return the page of one plan, or of several above each other on one time axis."""
    data = page_data(charts)
    return Template(shared("page.html")).substitute(
        title=escaped(title),
        colours=colours(),
        style=shared("page.css"),
        tools=shared("tools.html"),
        data=embedded(data["data"]),
        packed=data["packed"],
        script="".join(OF_MODULES.sub("", shared(name)) for name in SCRIPTS),
    )


def page_data(charts: Sequence[Chart]) -> dict[str, Any]:
    """Return what the script of a page draws: ``data``, as JSON has it, and ``packed``, a text."""
    packing = Packing()
    ends = [float(chart.picture.bars.end.max(initial=0.0)) for chart in charts]
    unit, by = unit_of(max(ends, default=0.0))
    data = {
        "unit": [unit, by],
        "kinds": list(WORDS),
        "roles": [{"word": WORD[r], "fill": FILL[r], "ink": ink_on(FILL[r])} for r in Role],
        "clusters": BESIDE_STATES,
        "charts": [chart_data(chart, by) for chart in charts],
    }
    return {"data": packing.packed(data), "packed": packing.text()}


def shared(name: str) -> str:
    """Return a file beside this one that pages are made of."""
    return (files("makespan.drawing.page") / name).read_text("utf-8")


def colours() -> str:
    """Return the style sheet of a page's colours, by day and by night."""
    light, dark = _properties(LIGHT), _properties(DARK)
    return (
        f":root {{ color-scheme: light; {light}}}\n@media (prefers-color-scheme: dark) "
        f'{{ :root:not([data-theme="light"]) {{ color-scheme: dark; {dark}}} }}\n'
        f':root[data-theme="dark"] {{ color-scheme: dark; {dark}}}\n'
    )


def embedded(data: Any) -> str:
    r"""Return ``data`` as JSON that can stand in a script element: no end tag, ASCII only.

    >>> embedded(["</script>", 1.5])
    '["\\u003c/script\\u003e",1.5]'
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for character, code in UNSAFE.items():
        text = text.replace(character, code)
    return text


def _properties(colours: dict[str, str]) -> str:
    return "".join(f"--{name}: {value}; " for name, value in colours.items())


def chart_data(chart: Chart, by: float = 1.0) -> dict[str, Any]:
    """Return a chart as the script reads it: columns, texts once each, marks in ``by`` a second."""
    picture, schedule = chart.picture, chart.schedule
    last_end = float(picture.bars.end.max(initial=0.0))
    end = horizon(last_end, picture.marks)
    # all rows that bars stand in, and some idle ones
    busy = int(picture.bars.row.max(initial=-1)) + 1
    count = max(busy, min(len(picture.rows), MAX_IDLE_ROWS))
    rows = picture.rows[:count]
    lane_sets: dict[tuple[str, ...], int] = {}
    told = any(step.is_told for step in chart.steps)
    lanes = [lane_sets.setdefault(row.lanes or ("",), len(lane_sets)) for row in rows]
    return {
        "title": picture.title,
        "facts": [list(fact) for fact in chart.facts],
        "notes": list(chart.notes),
        "log": list(chart.log),
        "steps": [step.as_dict() for step in chart.steps] if told else [],
        "diagrams": [list(diagram) for diagram in chart.diagrams],
        "tables": [table.as_dict() for table in chart.tables],
        "others": [chart_data(other, by) for other in chart.others],
        "horizon": end,
        "busy": last_end,
        "marks": [
            {"label": mark.label, "time": mark.time, "limit": mark.limit, "beyond": mark.beyond}
            for mark in combined(picture.marks, end, by)
        ],
        "rows": [row.label for row in rows],
        "notesOfRows": [row.note for row in rows],
        "laneSets": [list(names) for names in lane_sets],
        "lanesOf": lanes,
        "hidden": len(picture.rows) - count,
        "groups": None if picture.groups is None else _groups(picture.groups),
        "bars": _bar_columns(picture, schedule, end),
        **_activity_columns(picture, schedule),
    }


def _groups(groups: Groups) -> dict[str, Any]:
    """Return the colour of each activity, -1 for that of its role, and what some colours mean."""
    colours, of, count = fills(groups), groups.of, len(groups.names)
    if groups.ordered and count > SHADES:
        of = np.where(of >= 0, of * SHADES // count, -1)
        colours = [colours[shade * count // SHADES] for shade in range(SHADES)]
    return {
        "of": of,
        "fills": colours,
        "inks": [ink_on(colour) for colour in colours],
        "legend": legend_of(groups),
        "ordered": groups.ordered,
    }


def _bar_columns(picture: Picture, schedule: Schedule, end: float) -> dict[str, Any]:
    """Return the bars; the script puts them in the order of row, lane, track and start."""
    bars = picture.bars
    columns: dict[str, Any] = {
        "row": bars.row,
        "lane": bars.lane,
        "track": tracks(bars, 1e-9 * end),
        "role": bars.role,
        "activity": bars.activity,
    }
    own = schedule.start[bars.activity], schedule.end[bars.activity]
    if not (np.array_equal(bars.start, own[0]) and np.array_equal(bars.end, own[1])):
        columns |= _times(bars.start, bars.end, len(bars) <= EXACT)
    return columns


def _times(start: Floats, end: Floats, exact: bool) -> dict[str, Any]:
    """Return when things start and end; large columns as ticks, and the ticks from start to end."""
    if exact:
        return {"start": start, "end": end}
    tick = float(end.max()) / TICKS or 1.0
    begin = in_ticks(start, tick)
    return {"tick": tick, "start": begin, "length": in_ticks(end, tick) - begin}


def _activity_columns(picture: Picture, schedule: Schedule) -> dict[str, Any]:
    """Return the schedule's columns, with machines counted among those in use."""
    used, index = np.unique(np.concatenate([schedule.machine, schedule.peer]), return_inverse=True)
    used_names = [schedule.machines[position] for position in used.tolist() if position >= 0]
    index = index - int(len(used) > 0 and used[0] < 0)
    exact = len(schedule) <= EXACT
    texts, labels = _labels(picture, schedule)
    amount: Any = schedule.amount if exact else _in_four_digits(schedule.amount)
    if not np.isfinite(amount).all():
        amount = [value if math.isfinite(value) else None for value in amount.tolist()]
    return {
        "machines": used_names,
        "activities": {
            "kind": schedule.kind,
            "machine": index[: len(schedule)],
            "peer": index[len(schedule) :],
            "item": schedule.item,
            "amount": amount,
            **_times(schedule.start, schedule.end, exact),
            "label": labels,
        },
        "texts": texts,
        "shorter": _shorter((*texts, *(picture.links.names if picture.links else ()))),
        "links": None if picture.links is None else asdict(picture.links),
    }


def _shorter(names: Sequence[str]) -> dict[str, str]:
    """Return names with hashes, and what stands on bars for them: what tells them apart."""
    hashed = [name for name in names if TOKEN.search(name)]
    if len(hashed) > MOST_HASHED:
        return {}
    return dict(zip(hashed, without_hashes(hashed), strict=True))


def _in_four_digits(amount: Floats) -> NDArray[np.float32]:
    """Return amounts to within 6e-5, the last ten bits zero: they take no room in a page."""
    bits = amount.astype(np.float32).view(np.int32)
    return ((bits + 0x200) & ~0x3FF).view(np.float32)


def _labels(picture: Picture, schedule: Schedule) -> tuple[list[str], list[int]]:
    """Return the texts on activities and the index of each; -1 where links say what it is."""
    links, texts = picture.links, dict[str, int]()
    if links is None or not len(picture.labels):
        labels = (
            [picture.labels[row] for row in range(len(schedule))] if len(picture.labels) else []
        )
        index = [texts.setdefault(label, len(texts)) for label in labels]
        return list(texts), index
    index = [-1] * len(schedule)
    for row in np.flatnonzero(schedule.kind == Activity.COMPUTE).tolist():
        label = picture.labels[row]
        if label != links.names[schedule.item[row]]:
            index[row] = texts.setdefault(label, len(texts))
    return list(texts), index
