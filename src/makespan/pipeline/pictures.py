"""What pictures of a pipeline show: data sets on machines, and who takes which stages."""

from collections.abc import Callable, Mapping as Table
from dataclasses import replace
from typing import Any

import numpy as np

from makespan.core.errors import InputError
from makespan.core.picture import (
    Bars,
    Diagram,
    Drawn,
    Edges,
    Groups,
    Nodes,
    OnDemand,
    Picture,
    Role,
    Row,
)
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import FrontValues, front_points
from makespan.drawing.diagram.curves import front_view
from makespan.drawing.diagram.network import network_diagram
from makespan.drawing.text import percent, short
from makespan.pipeline.mapping import Mapping, mapping_of, steps_of, values_of
from makespan.pipeline.problem import Pipeline
from makespan.pipeline.timing import scheduled

LANES = ("receive", "compute", "send")
RECEIVE, COMPUTE, SEND = range(3)
MOST_BOXES = 60


def picture(problem: Pipeline, schedule: Schedule) -> Picture:
    """Return three lanes of data sets for each machine in use, by interval, and then idle ones."""
    schedule = schedule.renamed(problem.machines)
    mapping = mapping_of(problem, schedule)
    used = mapping.machines
    order = np.array(
        used + [each for each in range(len(problem.machines)) if each not in set(used)]
    )
    row_of = np.empty(len(order), dtype=np.int64)
    row_of[order] = np.arange(len(order))
    said: dict[int, str] = {}
    for first, last, group in zip(mapping.edges, mapping.edges[1:], mapping.groups, strict=False):
        said |= dict.fromkeys(group, _stages(problem, first, last))
    kind, machine, peer = schedule.kind, schedule.machine, schedule.peer
    between = np.flatnonzero(kind == Activity.TRANSFER)
    delay = problem.delay[machine[between], peer[between]]
    sent = Bars.of(schedule, between, row=row_of[machine[between]], lane=SEND, role=Role.SEND)
    came = Bars.of(schedule, between, row=row_of[peer[between]], lane=RECEIVE, role=Role.RECEIVE)
    parts = [replace(sent, end=sent.end - delay), replace(came, start=came.start + delay)]
    for activity, lane, role in (
        (Activity.SEND, RECEIVE, Role.RECEIVE),
        (Activity.COMPUTE, COMPUTE, Role.COMPUTE),
        (Activity.RETURN, SEND, Role.RETURN),
    ):
        rows = np.flatnonzero(kind == activity)
        parts.append(Bars.of(schedule, rows, row=row_of[machine[rows]], lane=lane, role=role))

    def row_at(position: int) -> Row:
        own = int(order[position])
        return Row(problem.machines[own], LANES if own in said else ("",), said.get(own, "idle"))

    return Picture(
        rows=OnDemand(len(order), row_at),
        bars=Bars.concatenate(parts),
        labels=OnDemand(len(schedule), lambda row: str(int(schedule.item[row]) + 1)),
    )


def grouped(problem: Pipeline, schedule: Schedule, by: str, details: Table[str, Any]) -> Groups:
    """Return the activities of each data set in a colour."""
    if by != "item":
        raise InputError(f"by: {by!r} is not a way to tell activities apart; it is item")
    return Groups(schedule.item, OnDemand(problem.items, lambda item: f"data set {item + 1}"))


def _stages(problem: Pipeline, first: int, last: int) -> str:
    names = problem.stages.names
    return names[first] if last - first == 1 else f"{names[first]}–{names[last - 1]}"


def mapping(problem: Pipeline, schedule: Schedule | None = None, **_: Any) -> Diagram:
    """Return the chain of stages; of a plan the chain of machines, with loads and transfers.

    In the box of a machine stand its stages, its seconds for a data set, and their share of the
    period; at a line the seconds of the transfer.
    """
    if schedule is None:
        return _chain(problem)
    found = mapping_of(problem, schedule.renamed(problem.machines))
    steps, values = steps_of(problem, found), values_of(problem, found)
    period = values.period or 1.0
    labels, notes, items = [], [], []
    shares = zip(steps.compute, found.groups, strict=True)
    busy = [load / len(group) >= period * (1 - 1e-9) for load, group in shares]
    for at, group in enumerate(found.groups[:MOST_BOXES]):
        names = " + ".join(problem.machines[each] for each in group)
        labels.append(f"{names}: {_stages(problem, found.edges[at], found.edges[at + 1])}")
        load = steps.compute[at]
        notes.append(f"{short(load)} s, {percent(load / len(group) / period)} busy")
        items.append(group[0])
    count = len(labels)
    sent = [f"{short(steps.transfer[at])} s" for at in range(1, count)]
    hidden = len(found.groups) - count
    return Diagram(
        nodes=Nodes(
            label=labels, note=notes, item=np.array(items), layer=np.arange(count),
            bold=np.array(busy[:count]),
        ),
        edges=Edges(source=np.arange(count - 1), target=np.arange(1, count), label=sent),
        title=f"period {short(values.period)} s, latency {short(values.latency)} s",
        stands_for="machine",
        bold="computes all the time",
        notes=(f"and {hidden} more intervals",) if hidden else (),
    )  # fmt: skip


def _chain(problem: Pipeline) -> Diagram:
    """Return the stages, with their seconds and the data between them."""
    count = min(len(problem.stages), MOST_BOXES)
    table = problem.table[:count]
    low, high = table.min(axis=1).tolist(), table.max(axis=1).tolist()
    notes = [
        f"{short(least)} s" if least == most else f"{short(least)} to {short(most)} s"
        for least, most in zip(low, high, strict=True)
    ]
    hidden = len(problem.stages) - count
    return Diagram(
        nodes=Nodes(label=list(problem.stages.names[:count]), note=notes, layer=np.arange(count)),
        edges=Edges(
            source=np.arange(count - 1), target=np.arange(1, count),
            label=[short(units) if units else "" for units in problem.moved[1:count].tolist()],
        ),
        title=f"{len(problem.stages):,} stages, {len(problem.machines):,} machines",
        notes=(f"and {hidden:,} more stages",) if hidden else (),
    )  # fmt: skip


def platform(problem: Pipeline, schedule: Schedule | None = None, **_: Any) -> Diagram:
    """Return the machines with speeds and memories, and the links between them."""
    if problem.network is None:
        raise InputError("view: 'platform' needs a network; without one, transfers take no time")
    notes = []
    for speed, memory in zip(problem.speeds.tolist(), problem.memory.tolist(), strict=True):
        held = f", memory {short(memory)}" if memory < np.inf else ""
        notes.append(f"speed {short(speed)}{held}")
    notes += [""] * len(problem.network.routers)
    return network_diagram(problem.network, "machines and links", notes)


def alternatives(problem: Pipeline, details: Table[str, Any]) -> list[tuple[FrontValues, Schedule]]:
    """Return the plans of a front, with what each reaches, by increasing period."""
    at = {name: index for index, name in enumerate(problem.machines)}
    names = {name: index for index, name in enumerate(problem.stages.names)}
    found = []
    for values, point in front_points(details, "latency"):
        edges = [0] + [names[last] + 1 for _, _, last in point["intervals"]]
        groups = tuple(tuple(at[each] for each in own) for own, _, _ in point["intervals"])
        found.append((values, scheduled(problem, Mapping(tuple(edges), groups))))
    return found


VIEWS: Table[str, Callable[..., Drawn]] = {
    "mapping": mapping,
    "platform": platform,
    "front": front_view("latency", across="period (s)"),
}
