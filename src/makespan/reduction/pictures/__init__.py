"""What a picture of a reduction shows: three lanes a machine, segments as labels."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.picture import Bars, OnDemand, Picture, Role, Row
from makespan.core.schedule import Activity, Schedule
from makespan.reduction.pictures.graph import graph
from makespan.reduction.problem import Reduction, segment_name

VIEWS = {"graph": graph}
LANES = ("reduce", "receive", "send")
REDUCE, RECEIVE, SEND = range(3)


def picture(problem: Reduction, schedule: Schedule) -> Picture:
    """Return three lanes per machine: reduction, reception, emission.

    So the array reduction notebook draws them. The label of a bar is the name of its segment.
    A reception is the send's time shifted by the latency, but in what was measured
    it ends when the combination begins.
    """
    schedule = schedule.renamed(problem.machines)
    sends = schedule.rows_of(Activity.SEND)
    combined = schedule.rows_of(Activity.REDUCE)
    shift = _shift(problem, schedule, sends, combined)
    combined = combined[schedule.end[combined] > schedule.start[combined]]
    machine, peer = schedule.machine, schedule.peer
    received = Bars.of(schedule, sends, row=peer[sends], lane=RECEIVE, role=Role.RECEIVE)
    received = Bars(
        row=received.row,
        lane=received.lane,
        role=received.role,
        activity=received.activity,
        start=received.start + shift,
        end=received.end + shift,
    )
    bars = [
        Bars.of(schedule, combined, row=machine[combined], lane=REDUCE, role=Role.REDUCE),
        received,
        Bars.of(schedule, sends, row=machine[sends], lane=SEND, role=Role.SEND),
    ]
    return Picture(
        rows=tuple(Row(name, LANES) for name in problem.machines),
        bars=Bars.concatenate(bars),
        labels=OnDemand(len(schedule), lambda row: segment_name(int(schedule.item[row]))),
    )


def _shift(problem: Reduction, schedule: Schedule, sends: Integers, combined: Integers) -> Floats:
    """Return by how much each reception is later than its send."""
    machine, peer, item = schedule.machine, schedule.peer, schedule.item
    latency = np.array(problem.latencies[machine[sends], peer[sends]])
    if len(sends) == len(combined):
        ours = np.lexsort((item[sends], machine[sends], peer[sends]))
        theirs = np.lexsort((item[combined], peer[combined], machine[combined]))
        slack = schedule.start[combined[theirs]] - schedule.end[sends[ours]]
        latency[ours] = np.minimum(latency[ours], np.maximum(slack, 0.0))
    return latency
