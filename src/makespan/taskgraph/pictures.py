"""Pictures of task graphs: the plan over time, and the graph itself."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from makespan.core.picture import Bars, Picture, Role, Row
from makespan.core.schedule import Activity, Integers, Schedule
from makespan.taskgraph.clustering import Clustering
from makespan.taskgraph.layout import layered
from makespan.taskgraph.problem import TaskGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LANES = 4
"""Lanes of one role on a machine; what overlaps more shares the last."""
LABELLED = 60
"""Tasks up to which the graph shows names with works, and sizes on edges."""


def picture(problem: TaskGraph, schedule: Schedule) -> Picture:
    """Return a row per machine: what it sends, what it executes, what it receives.

    What happens at the same time stands in lanes of its own, up to four of a role.
    """
    transfers = np.flatnonzero(schedule.kind == Activity.TRANSFER)
    computes = np.flatnonzero(schedule.kind == Activity.COMPUTE)
    groups = [
        ("send", Role.SEND, transfers, schedule.machine[transfers]),
        ("compute", Role.COMPUTE, computes, schedule.machine[computes]),
        ("receive", Role.RECEIVE, transfers, schedule.peer[transfers]),
    ]
    lanes: list[list[str]] = [[] for _ in problem.machines]
    parts = []
    for word, role, activities, rows in groups:
        lane = _lanes(schedule, activities, rows)
        base = np.array([len(names) for names in lanes], dtype=np.int64)
        for row in range(len(lanes)):
            used = int(lane[rows == row].max(initial=-1)) + 1
            least = 1 if role is Role.COMPUTE and row < len(problem.network) else 0
            lanes[row] += _numbered(word, max(used, least))
        bars = Bars.of(schedule, activities, row=rows, lane=0, role=role)
        parts.append(_in_lanes(bars, base[rows] + lane))
    names = problem.dag.names
    source, target = problem.dag.source, problem.dag.target
    labels = tuple(
        names[item] if kind == Activity.COMPUTE else f"{names[source[item]]}→{names[target[item]]}"
        for kind, item in zip(schedule.kind.tolist(), schedule.item.tolist(), strict=True)
    )
    machines = (Row(name, tuple(lanes[index])) for index, name in enumerate(problem.machines))
    return Picture(rows=tuple(machines), bars=Bars.concatenate(parts), labels=labels)


def _numbered(word: str, count: int) -> list[str]:
    return [word] if count == 1 else [f"{word} {number + 1}" for number in range(count)]


def _in_lanes(bars: Bars, lane: Integers) -> Bars:
    return Bars(
        row=bars.row,
        lane=lane,
        role=bars.role,
        activity=bars.activity,
        start=bars.start,
        end=bars.end,
    )


def _lanes(schedule: Schedule, activities: Integers, rows: Integers) -> Integers:
    """Return the lowest free lane of each activity in its row."""
    order = np.lexsort((activities, schedule.end[activities], schedule.start[activities]))
    lane = np.zeros(len(activities), dtype=np.int64)
    ends: dict[int, list[float]] = {}
    for index in order.tolist():
        row, start = int(rows[index]), float(schedule.start[activities[index]])
        until = ends.setdefault(row, [])
        free = next((each for each, end in enumerate(until) if end <= start), len(until))
        free = min(free, MOST_LANES - 1)
        end = float(schedule.end[activities[index]])
        if free == len(until):
            until.append(end)
        else:
            until[free] = max(until[free], end)
        lane[index] = free
    return lane


def draw_graph(
    problem: TaskGraph, clustering: Clustering | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw the tasks in layers, with their clusters as colours and the dominant sequence bold.

    Parameters
    ----------
    clustering
        As :func:`makespan.taskgraph.clustering.clustering_of` gives it; None: the bare graph.
        Edges inside clusters are dashed: they are zeroed.
    ax
        Axes to draw into; new ones if omitted.
    """
    import matplotlib.pyplot as plt

    dag = problem.dag
    x, y = layered(dag)
    if ax is None:
        width, height = max(4.0, 0.9 * np.ptp(x) + 2), max(3.0, 0.9 * np.ptp(y) + 2)
        _, ax = plt.subplots(figsize=(min(width, 24.0), min(height, 24.0)))
    dominant = clustering.dominant_sequence if clustering is not None else ()
    _edges(ax, problem, clustering, dominant, x, y)
    cluster = clustering.cluster if clustering is not None else np.zeros(len(dag), dtype=np.int64)
    colours = plt.get_cmap("tab20")(cluster % 20)
    size = 900.0 if len(dag) <= LABELLED else max(12.0, 6000.0 / len(dag))
    bold = np.isin(np.arange(len(dag)), dominant)
    ax.scatter(
        x, -y, s=size, c=colours, zorder=3, edgecolors=np.where(bold, "black", "white").tolist(),
        linewidths=np.where(bold, 2.5, 0.8).tolist(),
    )  # fmt: skip
    small = len(dag) <= LABELLED
    for task, name in enumerate(dag.names):
        text = f"{name}\n{dag.work[task]:g}" if small else name
        ax.text(
            x[task], -y[task], text, ha="center", va="center", zorder=4, fontsize=8 if small else 4
        )
    ax.set_axis_off()
    ax.margins(0.1)
    return ax


def _edges(
    ax: Axes,
    problem: TaskGraph,
    clustering: Clustering | None,
    dominant: tuple[int, ...],
    x: Any,
    y: Any,
) -> None:
    """Draw the edges, and with a clustering the steps of the dominant sequence."""
    dag = problem.dag
    steps = set(pairwise(dominant))
    pairs = list(zip(dag.source.tolist(), dag.target.tolist(), strict=True))
    for (source, target), size in zip(pairs, dag.size.tolist(), strict=True):
        inside = clustering is not None and clustering.cluster[source] == clustering.cluster[target]
        _arrow(ax, x, y, source, target, bold=(source, target) in steps, dashed=inside)
        if len(dag) <= LABELLED:
            middle = ((x[source] + x[target]) / 2, -(y[source] + y[target]) / 2)
            ax.text(*middle, f"{0 if inside else size:g}", fontsize=7, color="dimgray", zorder=2)
    for source, target in sorted(steps - set(pairs)):
        _arrow(ax, x, y, source, target, bold=True, dashed=True)


def _arrow(ax: Axes, x: Any, y: Any, source: int, target: int, *, bold: bool, dashed: bool) -> None:
    style = {
        "arrowstyle": "-|>",
        "linewidth": 2.0 if bold else 0.7,
        "linestyle": "--" if dashed else "-",
        "color": "black" if bold else "gray",
        "shrinkA": 12,
        "shrinkB": 12,
    }
    ax.annotate(
        "", xy=(x[target], -y[target]), xytext=(x[source], -y[source]), arrowprops=style, zorder=1
    )
