"""What a picture of a reduction shows: three lanes a machine, segments as labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from makespan.core.errors import InputError
from makespan.core.picture import Bars, Groups, OnDemand, Picture, Role, Row
from makespan.core.schedule import Activity, Schedule
from makespan.reduction.pictures.graph import graph
from makespan.reduction.pictures.network import platform
from makespan.reduction.problem import Reduction, segment_name
from makespan.reduction.sends import reductions_of

VIEWS = {"graph": graph, "platform": platform}
LANES = ("reduce", "receive", "send")
REDUCE, RECEIVE, SEND = range(3)


def picture(problem: Reduction, schedule: Schedule) -> Picture:
    """Return three lanes per machine: reduction, reception, emission.

    So the array reduction notebook draws them. The label of a bar is the name of its segment; where
    there is room, with the other machine: ``S3→M1`` where it is sent, ``S3←M2`` where it arrives.
    A reception is the send's time shifted by the latency, but in what was measured
    it ends when the combination begins.
    """
    schedule = schedule.renamed(problem.machines)
    sends = schedule.rows_of(Activity.SEND)
    combined = schedule.rows_of(Activity.REDUCE)
    combined = combined[schedule.end[combined] > schedule.start[combined]]
    machine, peer = schedule.machine, schedule.peer
    matched = reductions_of(schedule, sends)
    slack = np.where(matched == sends, np.inf, schedule.start[matched] - schedule.end[sends])
    shift = np.minimum(problem.latencies[machine[sends], peer[sends]], np.maximum(slack, 0.0))
    received = Bars.of(schedule, sends, row=peer[sends], lane=RECEIVE, role=Role.RECEIVE)
    received = replace(received, start=received.start + shift, end=received.end + shift)
    bars = [
        Bars.of(schedule, combined, row=machine[combined], lane=REDUCE, role=Role.REDUCE),
        received,
        Bars.of(schedule, sends, row=machine[sends], lane=SEND, role=Role.SEND),
    ]
    return Picture(
        rows=tuple(Row(name, LANES) for name in problem.machines),
        bars=Bars.concatenate(bars),
        labels=OnDemand(len(schedule), lambda row: segment_name(int(schedule.item[row]))),
        fuller={
            Role.SEND: OnDemand(len(schedule), lambda row: _ends(problem, schedule, row, "→")),
            Role.RECEIVE: OnDemand(len(schedule), lambda row: _ends(problem, schedule, row, "←")),
            Role.REDUCE: OnDemand(len(schedule), lambda row: _ends(problem, schedule, row, "←")),
        },
    )


def grouped(problem: Reduction, schedule: Schedule, by: str, details: Mapping[str, Any]) -> Groups:
    """Return the activities of each transfer in a colour: its send, reception and combination."""
    if by != "transfer":
        raise InputError(f"by: {by!r} is not a way to tell activities apart; it is transfer")
    schedule = schedule.renamed(problem.machines)
    sends = schedule.rows_of(Activity.SEND)
    of = np.full(len(schedule), -1, dtype=np.int64)
    of[reductions_of(schedule, sends)] = of[sends] = np.arange(len(sends))
    names = OnDemand(len(sends), lambda each: _ends(problem, schedule, int(sends[each]), "→"))
    return Groups(of, names)


def _ends(problem: Reduction, schedule: Schedule, row: int, arrow: str) -> str:
    """Return the segment of an activity, and to or from whom it goes."""
    segment, other = segment_name(int(schedule.item[row])), int(schedule.peer[row])
    if arrow == "←" and schedule.kind[row] == Activity.SEND:
        other = int(schedule.machine[row])
    return f"{segment}{arrow}{problem.machines[other]}" if other >= 0 else segment
