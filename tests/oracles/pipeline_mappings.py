"""Every mapping of a small pipeline, by enumeration; and what it takes, stage by stage."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise, permutations
from typing import NamedTuple

import numpy as np

from makespan import Pipeline


class Found(NamedTuple):
    period: float
    latency: float
    price: float
    edges: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]


def mappings(problem: Pipeline) -> Iterator[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]]:
    """Yield edges and groups of all interval mappings, dealt to up to ``replicas`` machines."""
    stages, machines = len(problem.stages), len(problem.machines)
    most = min(problem.replicas, problem.items)
    for count in range(1, min(stages, machines) + 1):
        for inner in combinations(range(1, stages), count - 1):
            for groups in _groups(count, tuple(range(machines)), most):
                if problem.order == "given" and any(
                    max(one) > min(other) for one, other in pairwise(groups)
                ):
                    continue
                yield (0, *inner, stages), groups


def _groups(count: int, left: tuple[int, ...], most: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    if most == 1:
        for order in permutations(left, count):
            yield tuple((each,) for each in order)
        return
    if count == 0:
        yield ()
        return
    for size in range(1, min(most, len(left)) + 1):
        for group in combinations(left, size):
            rest = tuple(each for each in left if each not in group)
            for others in _groups(count - 1, rest, most):
                yield (group, *others)


def transfer(problem: Pipeline, one: int, other: int, units: float) -> tuple[float, float]:
    """Return the seconds that a transfer holds a port, and the latency before it arrives.

    Only for networks with a link of its own between every two machines.
    """
    network = problem.network
    if network is None:
        return 0.0, 0.0
    rate = network.rate if network.rate.ndim == 0 else network.rate[one, other]
    return units / float(rate), float(network.latency)


def values(problem: Pipeline, edges: tuple[int, ...], groups: tuple[tuple[int, ...], ...]) -> Found:
    """Return what a mapping takes and costs; infinite where it doesn't fit."""
    stages, latency, period = problem.stages, 0.0, 0.0
    work = []
    for at, group in enumerate(groups):
        own = range(edges[at], edges[at + 1])
        for machine in group:
            held = sum(
                stages.memory[s] + problem.in_flight * stages.memory_per_item[s] for s in own
            )
            if held > problem.memory[machine] * (1 + 1e-9):
                return Found(np.inf, np.inf, np.inf, edges, groups)
        work.append(
            max(
                sum(
                    stages.work[s] / problem.speeds[machine]
                    if stages.durations is None
                    else stages.durations[s, machine]
                    for s in own
                )
                for machine in group
            )
        )
    count = len(groups)
    receive, send = [0.0] * count, [0.0] * count
    receive[0] = max(problem.input / problem.outside[machine] for machine in groups[0])
    send[-1] = max(problem.output / problem.outside[machine] for machine in groups[-1])
    latency = sum(work) + receive[0] + send[-1]
    for at in range(count - 1):
        units = stages.data[edges[at + 1] - 1]
        pairs = [
            transfer(problem, one, other, units) for one in groups[at] for other in groups[at + 1]
        ]
        send[at] = max(seconds for seconds, _ in pairs)
        whole = max(seconds + wait for seconds, wait in pairs)
        receive[at + 1] = whole - min(wait for _, wait in pairs)
        latency += whole
    for at, group in enumerate(groups):
        own = (receive[at], work[at], send[at])
        period = max(period, (max(own) if problem.overlap else sum(own)) / len(group))
    price = sum(problem.price[machine] for group in groups for machine in group)
    return Found(float(period), float(latency), float(price), edges, groups)


def allowed(problem: Pipeline) -> list[Found]:
    """Return all mappings within memory and limits."""
    limits = (problem.period_limit, problem.latency_limit, problem.budget)
    found = [values(problem, *mapping) for mapping in mappings(problem)]
    return [
        each
        for each in found
        if np.isfinite(each.period)
        and all(
            limit is None or value <= limit * (1 + 1e-9)
            for value, limit in zip(each[:3], limits, strict=True)
        )
    ]


def objective(problem: Pipeline, found: Found) -> float:
    """Return what the objective makes of a mapping."""
    return {
        "period": found.period,
        "latency": found.latency,
        "price": found.price,
        "makespan": found.latency + (problem.items - 1) * found.period,
        "pareto": found.period,
    }[problem.objective]


def covers(problem: Pipeline) -> bool:
    """Whether every mapping can be tried, and one value is sought."""
    few = len(problem.stages) <= 6 and len(problem.machines) <= 4
    return few and problem.objective != "pareto"


def best(problem: Pipeline) -> float | None:
    """Return the least value of all mappings, None where none is allowed."""
    return min((objective(problem, each) for each in allowed(problem)), default=None)


def front(problem: Pipeline) -> list[tuple[float, float]]:
    """Return the pairs of period and latency that no mapping beats in both."""
    points = sorted({each[:2] for each in allowed(problem)})
    best: list[tuple[float, float]] = []
    for period, latency in points:
        if not best or latency < best[-1][1] * (1 - 1e-9):
            best.append((period, latency))
    return best
