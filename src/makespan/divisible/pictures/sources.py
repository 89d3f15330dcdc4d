"""The platform of several sources: these above, the workers below, a line for each link."""

from __future__ import annotations

import numpy as np

from makespan.core.picture import Diagram, Edges, Nodes
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.plan import computed
from makespan.divisible.model.sources import Sources
from makespan.divisible.pictures.machines import AMOUNTS, cost, share, title
from makespan.divisible.problem import DivisibleLoad
from makespan.drawing.text import short

MOST_SOURCES, MOST_WORKERS = 6, 12
COSTS = "at a link: seconds to send x units; in a box: to compute them"


def of_sources(problem: DivisibleLoad, platform: Sources, schedule: Schedule | None) -> Diagram:
    """Return the sources and the workers, up to 6 and 12; the others are counted."""
    count = len(platform.source_names)
    above = np.arange(min(count, MOST_SOURCES))
    below = np.arange(min(len(platform), MOST_WORKERS))
    shown = np.concatenate([above, below + count])
    linked = np.isfinite(platform.send_per_unit[: len(above), : len(below)])
    source, worker = np.nonzero(linked)
    used = None
    if schedule is None:
        labels = [
            cost(platform.send_fixed[link], platform.send_per_unit[link])
            for link in zip(source.tolist(), worker.tolist(), strict=True)
        ]
        fixed = np.concatenate([platform.own_fixed, platform.compute_fixed])
        per_unit = np.concatenate([platform.own_per_unit, platform.compute_per_unit])
        notes = [cost(fixed[machine], per_unit[machine]) for machine in shown.tolist()]
        for index in above[~platform.computes[above]].tolist():
            notes[index] = "" if platform.held is None else f"holds {short(platform.held[index])}"
    else:
        sends = schedule.rows_of(Activity.SEND)
        carried = np.zeros(platform.send_fixed.shape)
        link = schedule.machine[sends], schedule.peer[sends] - count
        np.add.at(carried, link, schedule.amount[sends])
        used = carried[source, worker] > 0
        labels = [short(units) if units else "" for units in carried[source, worker].tolist()]
        loads = computed(schedule)
        notes = [share(loads, machine) for machine in shown.tolist()]
    hidden = len(problem.machines) - len(shown)
    return Diagram(
        nodes=Nodes(
            label=[problem.machines[machine] for machine in shown.tolist()],
            note=notes,
            item=shown,
            layer=np.repeat([0, 1], [len(above), len(below)]),
        ),
        edges=Edges(source=source, target=worker + len(above), label=labels, bold=used),
        title=title(problem, f"{count:,} sources, {len(platform):,} workers"),
        stands_for="machine",
        carries="link",
        bold="used by the plan",
        notes=(
            COSTS if schedule is None else AMOUNTS,
            *([f"and {hidden:,} more machines"] if hidden else []),
        ),
    )
