"""A mapping of intervals onto machines: what it takes, holds and costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.schedule import Activity, Schedule
from makespan.pipeline.problem import Pipeline

WITHIN = 1 + 1e-9  # by which factor a limit may be exceeded: referees let plans do so


@dataclass(frozen=True, slots=True)
class Mapping:
    """Intervals in order: ``edges[j]`` to ``edges[j + 1]`` are dealt to the machines ``groups[j]``.

    >>> Mapping((0, 2, 5), ((1,), (0, 3))).machines
    [1, 0, 3]
    """

    edges: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, edges: Sequence[int], machines: Sequence[int]) -> Mapping:
        """Return the mapping in which each interval has a machine."""
        return cls(tuple(map(int, edges)), tuple((int(each),) for each in machines))

    @property
    def machines(self) -> list[int]:
        """All machines in use, interval by interval."""
        return [machine for group in self.groups for machine in group]


class Steps(NamedTuple):
    """Of each interval the longest computation, and of each hand-over, the first from outside and
    the last to it, how long it holds a sender, a receiver, and takes in all.
    """

    compute: list[float]
    sending: list[float]
    receiving: list[float]
    transfer: list[float]


class Values(NamedTuple):
    """What a mapping reaches: seconds between data sets, seconds of one, and the price."""

    period: float
    latency: float
    price: float


def steps_of(problem: Pipeline, mapping: Mapping) -> Steps:
    """Return what the machines of a mapping do with a data set, and how long."""
    edges, groups, moved = mapping.edges, mapping.groups, problem.moved
    own, work = problem.stages.durations, problem.stages.work
    compute = []
    for first, last, group in zip(edges, edges[1:], groups, strict=False):
        part = slice(first, last)
        if own is None:
            compute.append(float(work[part].sum()) / float(min(problem.speeds[list(group)])))
        else:
            compute.append(float(max(own[part, machine].sum() for machine in group)))
    ends = [
        float(max(units / problem.outside[machine] for machine in group))
        for units, group in ((moved[0], groups[0]), (moved[-1], groups[-1]))
    ]
    sending, receiving, transfer = [ends[0]], [ends[0]], [ends[0]]
    for at, (one, other) in enumerate(pairwise(groups), start=1):
        pairs = np.ix_(one, other)
        seconds, delay = problem.per_unit[pairs] * moved[edges[at]], problem.delay[pairs]
        whole = float((seconds + delay).max())
        sending.append(float(seconds.max()))
        receiving.append(sending[-1] if seconds.size == 1 else whole - float(delay.min()))
        transfer.append(whole)
    return Steps(compute, *([*row, ends[1]] for row in (sending, receiving, transfer)))


def values_of(problem: Pipeline, mapping: Mapping, steps: Steps | None = None) -> Values:
    """Return the period, the latency and the price of a mapping.

    The slowest machine and link of a group sets its pace: a group of r takes a data set every
    r periods on each machine.
    """
    steps = steps_of(problem, mapping) if steps is None else steps
    loads = []
    for at, group in enumerate(mapping.groups):
        own = (steps.receiving[at], steps.compute[at], steps.sending[at + 1])
        loads.append((max(own) if problem.overlap else sum(own)) / len(group))
    latency = sum(steps.compute) + sum(steps.transfer)
    return Values(max(loads), latency, float(problem.price[mapping.machines].sum()))


def worth(problem: Pipeline, values: Values) -> float:
    """Return what the objective makes of a mapping: less is better."""
    if problem.objective == "makespan":
        return values.latency + (problem.items - 1) * values.period
    if problem.objective == "pareto":
        return values.period
    return float(getattr(values, problem.objective))


def fits(problem: Pipeline, mapping: Mapping) -> bool:
    """Whether all machines hold what their stages need, and can run them."""
    own = problem.stages.durations
    for first, last, group in zip(mapping.edges, mapping.edges[1:], mapping.groups, strict=False):
        held = float(problem.held[first:last].sum())
        if held > float(problem.memory[list(group)].min()) * WITHIN:
            return False
        if own is not None and not np.isfinite(own[first:last, list(group)]).all():
            return False
    return True


def excess(problem: Pipeline, values: Values) -> float:
    """Return by which share of a limit a mapping exceeds it, the most; 0 where it keeps all."""
    limits = (problem.period_limit, problem.latency_limit, problem.budget)
    over = 0.0
    for value, limit in zip(values, limits, strict=True):
        if limit is not None and value > limit * WITHIN:
            over = max(over, (value - limit) / limit if limit else np.inf)
    return over


def ranked(problem: Pipeline, mapping: Mapping) -> tuple[float, float]:
    """Return what mappings that fit are compared by: limits first, then the objective."""
    values = values_of(problem, mapping)
    return excess(problem, values), worth(problem, values)


def turns_of(schedule: Schedule) -> tuple[tuple[int, ...], Integers]:
    """Return the edges of the intervals of a schedule, and who computes them, (items, intervals).

    Raises ValueError if not every data set is computed in the same number of intervals.
    """
    rows = np.flatnonzero(schedule.kind == Activity.COMPUTE)
    rows = rows[np.lexsort((rows, schedule.end[rows], schedule.start[rows], schedule.item[rows]))]
    table = schedule.machine[rows].reshape(len(np.unique(schedule.item[rows])), -1)
    counts = schedule.amount[rows[: table.shape[1]]]
    return tuple(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64).tolist()), table


def mapping_of(problem: Pipeline, schedule: Schedule) -> Mapping:
    """Return the mapping that a schedule over the problem's machines follows.

    >>> from makespan.pipeline.timing import scheduled
    >>> problem = Pipeline([1.0, 1.0, 1.0], machines=2)
    >>> mapping_of(problem, scheduled(problem, Mapping.of([0, 1, 3], [1, 0])))
    Mapping(edges=(0, 1, 3), groups=((1,), (0,)))
    """
    edges, table = turns_of(schedule)
    groups = []
    for column in table.T:
        again = np.flatnonzero(column[1:] == column[0])
        groups.append(tuple(column[: 1 + again[0] if len(again) else len(column)].tolist()))
    return Mapping(edges, tuple(groups))
