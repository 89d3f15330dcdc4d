"""What a picture of a reduction shows: three lanes a machine, segments as labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from makespan.core.picture import Bars, OnDemand, Picture, Role, Row
from makespan.core.schedule import Activity, Schedule
from makespan.reduction.pictures.graph import graph
from makespan.reduction.problem import Reduction, segment_name
from makespan.reduction.sends import reductions_of

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
    )
