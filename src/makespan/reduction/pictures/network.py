"""The network of a collective, and what a plan sends over its links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from makespan.core.errors import InputError
from makespan.core.picture import Diagram
from makespan.core.schedule import Activity, Schedule
from makespan.drawing.diagram.network import MOST_SHOWN, network_diagram
from makespan.drawing.text import short
from makespan.reduction.pictures.graph import NO_DETAILS
from makespan.reduction.problem import Reduction


def platform(
    problem: Reduction,
    schedule: Schedule | None = None,
    *,
    by: str | None = None,
    details: Mapping[str, Any] = NO_DETAILS,
) -> Diagram:
    """Return the machines and routers with their links, and of a plan the data on each.

    Raises
    ------
    InputError
        Where the problem states no network, or one too large to be drawn.
    """
    network = problem.network
    if network is None:
        raise InputError("view: 'platform' needs a network, and the problem states none")
    count = len(network.nodes)
    if count > MOST_SHOWN:
        raise InputError(f"view: 'platform' shows up to {MOST_SHOWN} nodes, and there are {count}")
    reduces = problem.reduces.tolist() if problem.statement.combining else []
    notes = [f"reduce {short(each)}" for each in reduces] or [""] * len(network)
    notes += ["router"] * len(network.routers)
    carried = None
    if schedule is not None:
        schedule = schedule.renamed(problem.machines)
        carried = np.zeros((count, count))
        for row in schedule.rows_of(Activity.SEND).tolist():
            start, node = int(schedule.machine[row]), int(schedule.peer[row])
            while node != start:
                before = int(network.ways.via[start, node])
                carried[before, node] += float(schedule.amount[row])
                node = before
    title = f"network: {len(network):,} machines, {network.topology}"
    title += "" if problem.ports is None else ", a port for each link"
    shared = () if problem.shared is None else ("one transfer at a time: " + _listed(problem),)
    return network_diagram(network, title, notes, carried, shared)


def _listed(problem: Reduction) -> str:
    assert problem.shared is not None
    names = [name.removeprefix("the link ") for name in problem.shared.names]
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
