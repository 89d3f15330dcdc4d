"""Pictures of task graphs: the plan over time, and the graph itself."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from makespan.core.errors import InputError
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.picture import Bars, Links, Picture, Role, Row
from makespan.core.schedule import Activity, Schedule
from makespan.core.system.extras import optional
from makespan.taskgraph.clustering.clusters import Clustering
from makespan.taskgraph.model.copies import Copies
from makespan.taskgraph.pictures.layout import layered
from makespan.taskgraph.problem import TaskGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_LANES = 4
"""Lanes of one role on a machine; what overlaps more shares the last."""
LABELLED = 60
"""Tasks up to which the graph shows names with works, and sizes on edges."""
COPY = " (copy)"
"""What is added to the name of a task where another copy of it ends first."""
HASH = re.compile(r"-[0-9a-f]{8,}")
"""What tells the keys of Dask collections apart."""


def picture(problem: TaskGraph, schedule: Schedule) -> Picture:
    """Return a row per machine: what it sends, what it executes, what it receives.

    What happens at the same time stands in lanes of its own, up to four of a role. Copies of a
    task are marked, but for the one that ends first.
    """
    schedule = schedule.renamed(problem.machines)
    _refuse_unknown(problem, schedule)
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
    labels = [
        names[item] if kind == Activity.COMPUTE else f"{names[source[item]]}→{names[target[item]]}"
        for kind, item in zip(schedule.kind.tolist(), schedule.item.tolist(), strict=True)
    ]
    for row in _later_copies(problem, schedule):
        labels[row] += COPY
    machines = (Row(name, tuple(lanes[index])) for index, name in enumerate(problem.machines))
    return Picture(
        rows=tuple(machines),
        bars=Bars.concatenate(parts),
        labels=tuple(labels),
        links=Links(names, source, target),
    )


def _refuse_unknown(problem: TaskGraph, schedule: Schedule) -> None:
    """Refuse activities of tasks or edges that the graph does not have."""
    dag = problem.dag
    is_task = schedule.kind == Activity.COMPUTE
    count = np.where(is_task, len(dag), len(dag.source))
    wrong = np.flatnonzero((schedule.item < 0) | (schedule.item >= count))
    if len(wrong):
        row = int(wrong[0])
        word = "task" if is_task[row] else "edge"
        raise InputError(
            f"the schedule can't be drawn: activity {row} names {word} {schedule.item[row]}; "
            "there is none"
        )


def _later_copies(problem: TaskGraph, schedule: Schedule) -> list[int]:
    """Return the rows of the copies of tasks of which another one ends first."""
    if not problem.duplication:
        return []
    copies = Copies(problem, schedule)
    later: list[int] = np.delete(copies.row, copies.earliest[copies.earliest >= 0]).tolist()
    return later


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
        free = min(free, MAX_LANES - 1)
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
        As :func:`makespan.taskgraph.clustering.clusters.clustering_of` gives it; None: the bare
        graph. Edges inside clusters are dashed: they are zeroed. A bold dashed line without an edge
        says that two tasks follow one another in their cluster.
    ax
        Axes to draw into; new ones, as large as the graph needs, if omitted.

    Works stand in the tasks and sizes at the edges where there are few. Names too long for the
    space between two tasks are shortened (see :func:`short`).
    """
    plt = optional("matplotlib.pyplot")

    dag = problem.dag
    x, y = layered(dag)
    small = len(dag) <= LABELLED
    if ax is None:
        ax = _new_axes(np.ptp(x) + 2, np.ptp(y) + 2, small=small)
    dominant = clustering.dominant_sequence if clustering is not None else ()
    cluster = clustering.cluster if clustering is not None else np.zeros(len(dag), dtype=np.int64)
    _draw_edges(ax, problem, cluster if clustering is not None else None, dominant, x, y)
    bold = np.isin(np.arange(len(dag)), dominant)
    ax.scatter(
        x,
        -y,
        s=700.0 if small else 260.0,
        c=plt.get_cmap("Set3")(cluster % 12),
        edgecolors=np.where(bold, "black", "gray").tolist(),
        linewidths=np.where(bold, 2.2, 0.5).tolist(),
        zorder=3,
    )
    for task, name in enumerate(dag.names):
        text = f"{short(name, 12)}\n{dag.work[task]:g}" if small else short(name, 8)
        size = 8 if small else 5
        ax.text(x[task], -y[task], text, ha="center", va="center", zorder=4, fontsize=size)
    ax.set_xlim(x.min() - 1, x.max() + 1)
    ax.set_ylim(-y.max() - 0.7, 0.7)
    ax.set_axis_off()
    return ax


def short(name: str, room: int) -> str:
    """Return a name in ``room`` characters: without hashes, then without its middle.

    >>> short("sum-aggregate-0123456789abcdef0123456789abcdef[0,1]", 12)
    'sum-agg…0,1]'
    """
    if len(name) > room:
        name = HASH.sub("", name)
    if len(name) > room:
        name = f"{name[: (room + 2) // 2]}…{name[-(room - 1 - (room + 2) // 2) :]}"
    return name


def _new_axes(width: float, height: float, *, small: bool) -> Axes:
    plt = optional("matplotlib.pyplot")

    across, down = (1.0, 0.9) if small else (0.36, 0.9)
    figure = plt.figure(figsize=(min(across * width, 40.0), min(down * height, 40.0)))
    ax: Axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    return ax


def _draw_edges(
    ax: Axes,
    problem: TaskGraph,
    cluster: Integers | None,
    dominant: tuple[int, ...],
    x: Floats,
    y: Floats,
) -> None:
    """Draw the edges, those of the dominant sequence bold, and its steps inside clusters."""
    from matplotlib.collections import LineCollection

    dag = problem.dag
    small = len(dag) <= LABELLED
    inside = np.zeros(len(dag.source), dtype=bool)
    if cluster is not None:
        inside = cluster[dag.source] == cluster[dag.target]
    ends = np.stack([np.column_stack([x[at], -y[at]]) for at in (dag.source, dag.target)], axis=1)
    for mask, style in ((~inside, "-"), (inside, "--")):
        lines = LineCollection(
            list(ends[mask]),
            linestyles=style,
            colors="gray" if small else "silver",
            linewidths=0.8 if small else 0.4,
            zorder=1,
        )
        ax.add_collection(lines)
    for source, target in pairwise(dominant):
        same = cluster is not None and cluster[source] == cluster[target]
        _arrow(ax, (x[source], -y[source]), (x[target], -y[target]), dashed=bool(same))
    if small:
        for edge, (start, end) in enumerate(ends):
            size = 0.0 if inside[edge] else float(dag.size[edge])
            middle = (start + end) / 2
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
            ax.text(
                middle[0],
                middle[1],
                f"{size:g}",
                fontsize=7,
                ha="center",
                va="center",
                zorder=2,
                bbox=box,
            )


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], *, dashed: bool) -> None:
    style = {
        "arrowstyle": "-|>",
        "linewidth": 1.8,
        "linestyle": "--" if dashed else "-",
        "color": "black",
        "shrinkA": 8,
        "shrinkB": 12,
    }
    ax.annotate("", xy=end, xytext=start, arrowprops=style, zorder=2)
