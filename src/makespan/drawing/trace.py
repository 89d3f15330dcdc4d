"""Picture → trace events: machines as processes, lanes as threads, bars as slices.

Source: Trace Event Format, the Chromium project; opened by https://ui.perfetto.dev.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.picture import Bars, Picture, Role
from makespan.core.schedule import Schedule
from makespan.drawing.colours import WORD
from makespan.drawing.gantt.marks import tracks

NANOSECONDS = 1_000_000_000
SHORTEST, LONGEST = 1e-3, 1e6  # seconds: what a viewer shows well
MAX_POWER = 300


def trace(picture: Picture, schedule: Schedule) -> dict[str, Any]:
    """Return a picture as an object of the Trace Event Format.

    A slice is a complete event with all that the schedule says of its activity. Where a transfer
    has a bar on either machine, an arrow leads from the sender's to the receiver's. Times are whole
    nanoseconds; a plan much shorter than a millisecond, or longer than 11 days, is scaled by a
    power of ten, which ``otherData`` states. Complexity: O(n log n) for n bars.
    """
    scale = trace_scale(schedule.makespan)
    bars = picture.bars
    track = tracks(bars, 1e-9 * schedule.makespan, most=len(bars))
    order = np.lexsort((bars.end, bars.start, track, bars.lane, bars.row))
    bars, track = bars.take(order), track[order]
    thread, first = _threads(bars, track)
    begin, end = _nanoseconds(bars, thread, scale)
    slices = _Slices(picture, schedule, bars, thread, begin, end)
    return {
        "traceEvents": [
            *_names(picture, bars, track, thread, first),
            *slices.events(),
            *slices.arrows(),
        ],
        "displayTimeUnit": "ms" if schedule.makespan * scale >= 1.0 else "ns",
        "otherData": {
            "title": picture.title,
            "makespan": schedule.makespan,
            "seconds of the plan per second of the trace": 1.0 / scale,
            "marks": {mark.label: mark.time for mark in picture.marks if math.isfinite(mark.time)},
        },
    }


def trace_scale(makespan: float) -> float:
    """Return the power of ten that brings a makespan to where nanoseconds tell its parts apart.

    >>> trace_scale(28.0), trace_scale(2e-6), trace_scale(3e9)
    (1.0, 1000.0, 0.0001)
    """
    if makespan <= 0 or SHORTEST <= makespan <= LONGEST:
        return 1.0
    edge = SHORTEST if makespan < SHORTEST else LONGEST
    power = math.log10(edge) - math.log10(makespan)
    whole = math.ceil(power) if power > 0 else math.floor(power)
    return float(10.0 ** min(whole, MAX_POWER))


def _threads(bars: Bars, track: Integers) -> tuple[Integers, Integers]:
    """Return the thread of each bar, counted from 1 in its row, and the first bar of each."""
    if len(bars) == 0:
        return track, track
    row_opens = np.concatenate([[True], bars.row[1:] != bars.row[:-1]])
    opens = row_opens.copy()
    opens[1:] |= (bars.lane[1:] != bars.lane[:-1]) | (track[1:] != track[:-1])
    count = np.cumsum(opens)
    before = np.maximum.accumulate(np.where(row_opens, count - 1, 0))
    return count - before, np.flatnonzero(opens)


def _nanoseconds(bars: Bars, thread: Integers, scale: float) -> tuple[Integers, Integers]:
    """Return starts and ends; what rounding lets overlap on one thread is cut."""
    begin = np.rint(bars.start * scale * NANOSECONDS).astype(np.int64)
    end = np.rint(bars.end * scale * NANOSECONDS).astype(np.int64)
    same = (bars.row[1:] == bars.row[:-1]) & (thread[1:] == thread[:-1])
    end[:-1][same] = np.minimum(end[:-1], begin[1:])[same]
    return begin, np.maximum(begin, end)


def _names(
    picture: Picture, bars: Bars, track: Integers, thread: Integers, first: Integers
) -> Iterator[dict[str, Any]]:
    """Yield the names of processes and threads, in the order of the picture."""
    for row in np.unique(bars.row).tolist():
        yield _name_event("process_name", row, 0, {"name": picture.rows[row].label})
        yield _name_event("process_sort_index", row, 0, {"sort_index": row})
    for bar in first.tolist():
        row, lane, number = int(bars.row[bar]), int(bars.lane[bar]), int(thread[bar])
        lanes = picture.rows[row].lanes
        name = lanes[lane] if lane < len(lanes) else ""
        name += f" {track[bar] + 1}" if track[bar] else ""
        yield _name_event("thread_name", row, number, {"name": name})
        yield _name_event("thread_sort_index", row, number, {"sort_index": number})


def _name_event(what: str, row: int, thread: int, args: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": row + 1, "tid": thread, "args": args}


class _Slices(NamedTuple):
    """The bars as events, and the arrows between them."""

    picture: Picture
    schedule: Schedule
    bars: Bars
    thread: Integers
    begin: Integers
    end: Integers

    def _place(self, bar: int) -> dict[str, Any]:
        return {
            "cat": WORD[Role(int(self.bars.role[bar]))],
            "pid": int(self.bars.row[bar]) + 1,
            "tid": int(self.thread[bar]),
            "ts": self.begin[bar] / 1000.0,
        }

    def events(self) -> Iterator[dict[str, Any]]:
        labels, facts = self.picture.labels, list(self.schedule)
        for bar, activity in enumerate(self.bars.activity.tolist()):
            place = self._place(bar)
            label = labels[activity] if len(labels) else ""
            yield {
                "ph": "X",
                "name": f"{place['cat']} {label}".rstrip(),
                **place,
                "dur": (self.end[bar] - self.begin[bar]) / 1000.0,
                "args": {k: v for k, v in facts[activity].items() if v is not None},
            }

    def arrows(self) -> Iterator[dict[str, Any]]:
        """Yield two events for each activity with a bar on its machine and one on its peer.

        An arrow leaves as its bar begins, and arrives as the other begins.
        """
        sender: dict[int, int] = {}
        receiver: dict[int, int] = {}
        names = self.schedule.machines
        for bar, activity in enumerate(self.bars.activity.tolist()):
            if self.schedule.peer[activity] < 0:
                continue
            label = self.picture.rows[int(self.bars.row[bar])].label
            at_sender = label == names[int(self.schedule.machine[activity])]
            (sender if at_sender else receiver)[activity] = bar
        for activity in sorted(sender.keys() & receiver.keys()):
            for phase, bar in (("s", sender[activity]), ("f", receiver[activity])):
                event = {"ph": phase, "name": "transfer", "id": activity, **self._place(bar)}
                yield event | {"cat": "transfer"} | ({"bp": "e"} if phase == "f" else {})
