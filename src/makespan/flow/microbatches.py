"""pipeline → the task graph of a training step: micro-batches forward and backward."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from makespan.core.errors import InputError
from makespan.core.inputs.rules import Mistakes, Rule, quoted, whole
from makespan.core.inputs.suggest import did_you_mean, suggesting
from makespan.core.schedule import Activity, Schedule
from makespan.flow.result import Result
from makespan.pipeline.mapping import Mapping, mapping_of
from makespan.pipeline.problem import Pipeline
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.model.network import Network
from makespan.taskgraph.problem import TaskGraph

COUNT = whole("micro-batches are", high=10_000)
BACKWARD = Rule("what backward takes is 0 or more times what forward takes")
Order = list[str]


@suggesting
def microbatches(
    result: Result, count: int, *, order: str = "1f1b", backward: float = 2.0
) -> TaskGraph:
    """Return the task graph of a training step on a pipeline's plan, with an order as given plan.

    Every micro-batch goes forward through all intervals, then backward. Its tasks are ``F1.3``,
    the forward part of interval 1 for micro-batch 3, and ``B1.3``; with ``"zero-bubble"`` also
    ``W1.3``, the gradients of weights, for which nobody waits.

    Parameters
    ----------
    result
        A plan of a :class:`makespan.Pipeline`, one machine for each interval.
    count
        Micro-batches, 1 or more.
    order
        ``"gpipe"``: all forward, then all backward (Huang et al. 2019). ``"1f1b"``: one backward
        and one forward in turn, at most K - s + 1 in flight at interval s of K (Narayanan et al.
        2021). ``"zero-bubble"``: the same, but half of backward, ``W``, is put off until a machine
        would wait (Qi et al. 2024). ``"free"``: none, for ``solve`` to find one.
    backward
        What the backward part takes, in times of the forward part.

    Returns
    -------
    TaskGraph
        With the machines in use, and the order as a given plan, which ``solve`` times.

    Raises
    ------
    InputError
        If the plan is not one of a pipeline, or an argument is not allowed.

    >>> from makespan import solve
    >>> stages = solve(Pipeline([1.0, 1.0], machines=2))
    >>> step = microbatches(stages, 4, order="gpipe", backward=1.0)
    >>> plan = solve(step)
    >>> plan.makespan, round(bubble(plan), 6)  # (K - 1) / (m + K - 1)
    (10.0, 0.2)
    """
    mistakes = Mistakes()
    mistakes.number("count", count, COUNT)
    mistakes.number("backward", backward, BACKWARD)
    if order not in (*ORDERS, "free"):
        mistakes.add(
            "order", f"{quoted(order)} is not known{did_you_mean(order, [*ORDERS, 'free'])}"
        )
    mistakes.raise_if_any(InputError)
    problem = result.problem
    if not isinstance(problem, Pipeline) or result.schedule is None:
        raise InputError("result: micro-batches need the plan of a pipeline")
    mapping = mapping_of(problem, result.schedule.renamed(problem.machines))
    if any(len(group) > 1 for group in mapping.groups):
        raise InputError("result: micro-batches need one machine for each interval")
    seconds = _seconds(problem, mapping)
    parts = _parts(order, backward)
    names = [problem.machines[each] for each in mapping.machines]
    tasks = [
        (f"{part}{at + 1}.{batch + 1}", (seconds[at] * times).tolist())
        for at in range(len(names)) for batch in range(count) for part, times in parts.items()
    ]  # fmt: skip
    sizes = [float(problem.moved[edge]) for edge in mapping.edges[1:]]
    edges = list(_edges(sizes, count, apart="W" in parts))
    more: dict[str, Any] = {}
    if order != "free":
        rows = ORDERS[order](np.diagonal(seconds).tolist(), count, backward)
        more["sequence"] = dict(zip(names, rows, strict=True))
        more["assignment"] = {task: name for name, row in more["sequence"].items() for task in row}
    return TaskGraph(
        Dag(tasks, edges), _network(problem, mapping, names), contention="ports",
        communication="overlap" if problem.overlap else "blocking", **more,
    )  # fmt: skip


def _edges(sizes: list[float], count: int, *, apart: bool) -> Iterator[tuple[str, str, float]]:
    """Yield forward, then backward, between intervals, and to the gradients that are ``apart``."""
    for at, size in enumerate(sizes, start=1):
        for batch in range(1, count + 1):
            own, after = f"{at}.{batch}", f"{at + 1}.{batch}"
            yield f"F{own}", f"B{own}", 0.0
            if apart:
                yield f"B{own}", f"W{own}", 0.0
            if at < len(sizes):
                yield f"F{own}", f"F{after}", size
                yield f"B{after}", f"B{own}", size


@suggesting
def bubble(plan: Result | Schedule) -> float:
    """Return the share of their time that the machines in use don't compute, until the plan ends.

    >>> bubble(Schedule.of_rows(["A", "B"], [("compute", 0, -1, 0, 1, 0.0, 4.0),
    ...                                      ("compute", 1, -1, 1, 1, 0.0, 2.0)]))
    0.25
    """
    schedule = plan if isinstance(plan, Schedule) else plan.schedule
    if schedule is None or not len(schedule):
        return 0.0
    rows = schedule.kind == Activity.COMPUTE
    busy = float((schedule.end - schedule.start)[rows].sum())
    return 1.0 - busy / (len(np.unique(schedule.machine[rows])) * schedule.makespan)


def _seconds(problem: Pipeline, mapping: Mapping) -> np.ndarray:
    """Return the seconds of each interval on each machine in use."""
    edges = mapping.edges
    return np.array(
        [problem.table[first:last, mapping.machines].sum(axis=0) for first, last in pairwise(edges)]
    )


def _parts(order: str, backward: float) -> dict[str, float]:
    """Return what the parts of a micro-batch take, in times of forward."""
    if order == "zero-bubble":
        return {"F": 1.0, "B": backward / 2, "W": backward / 2}
    return {"F": 1.0, "B": backward}


def _network(problem: Pipeline, mapping: Mapping, names: list[str]) -> Network:
    """Return the machines in use, each linked to each as in the pipeline."""
    pairs = np.ix_(mapping.machines, mapping.machines)
    per_unit, delay = problem.per_unit[pairs], problem.delay[pairs]
    with np.errstate(divide="ignore"):
        rate = 1.0 / per_unit
    delays = {(names[a], names[b]): float(delay[a, b]) for a, b in np.argwhere(delay > 0).tolist()}
    return Network([1.0] * len(names), names=names, rate=rate, delays=delays)


def _named(part: str, at: int, batches: Any) -> Order:
    return [f"{part}{at + 1}.{batch + 1}" for batch in batches]


def _gpipe(seconds: list[float], count: int, backward: float) -> list[Order]:
    return [
        _named("F", at, range(count)) + _named("B", at, reversed(range(count)))
        for at in range(len(seconds))
    ]


def _one_forward_one_backward(seconds: list[float], count: int, backward: float) -> list[Order]:
    rows = []
    for at in range(len(seconds)):
        first = min(len(seconds) - at, count)  # in flight at most
        row = _named("F", at, range(first))
        for batch in range(count):
            row += _named("B", at, [batch])
            if first + batch < count:
                row += _named("F", at, [first + batch])
        rows.append(row)
    return rows


def _zero_bubble(seconds: list[float], count: int, backward: float) -> list[Order]:
    """Let every machine take backward before forward, and weights only where it would wait."""
    number = len(seconds)
    times = {"F": seconds, "B": [backward / 2 * each for each in seconds]}
    times["W"] = times["B"]
    rows: list[Order] = [[] for _ in range(number)]
    done = {part: [0] * number for part in "FBW"}
    ready = {"F": [[0.0] * count] + [[np.inf] * count for _ in range(number - 1)]}
    ready["B"] = [[np.inf] * count for _ in range(number)]
    free = [0.0] * number
    for _ in range(3 * count * number):
        starts = []
        for at in range(number):
            batch = done["B"][at]
            if batch < count:
                starts.append((max(free[at], ready["B"][at][batch]), 0, at, "B"))
            batch = done["F"][at]
            if batch < count and batch - done["B"][at] < number - at:
                starts.append((max(free[at], ready["F"][at][batch]), 1, at, "F"))
            if done["W"][at] < done["B"][at]:
                starts.append((free[at], 2, at, "W"))
        start, _, at, part = min(starts)
        batch = done[part][at]
        rows[at] += _named(part, at, [batch])
        done[part][at] += 1
        free[at] = end = start + times[part][at]
        if part == "F" and at + 1 < number:
            ready["F"][at + 1][batch] = end
        elif part == "F":
            ready["B"][at][batch] = end
        elif part == "B" and at:
            ready["B"][at - 1][batch] = end
    return rows


ORDERS: dict[str, Callable[[list[float], int, float], list[Order]]] = {
    "gpipe": _gpipe,
    "1f1b": _one_forward_one_backward,
    "zero-bubble": _zero_bubble,
}
