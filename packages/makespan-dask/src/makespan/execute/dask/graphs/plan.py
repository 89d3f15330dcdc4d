"""Planning a task graph for Dask: quick methods, then local search on what Dask will do."""

from __future__ import annotations

import time
from dataclasses import replace
from heapq import heapify, heappop, heappush
from operator import itemgetter

import numpy as np

from makespan.core.errors import InputError, MethodError
from makespan.core.inputs.suggest import suggesting
from makespan.core.numeric.sorting import inverse
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.execute.dask.graphs.forecast import Forecast, tasks_of
from makespan.execute.dask.graphs.placement import chains
from makespan.execute.progress import Progress, Tell, teller
from makespan.flow.result import Result
from makespan.flow.solve import refereed, solve
from makespan.taskgraph.levels import by_level
from makespan.taskgraph.problem import TaskGraph

METHODS = ("heft", "peft", "cpop", "mcp", "lookahead", "etf", "dls", "single-machine")
QUICK = ("heft", "single-machine")
LARGE = 1000  # tasks, from which only the quick methods are tried
TIME_LIMIT = 2.0
REACH = 0.05  # how much longer than the best a plan may be at first


@suggesting
def plan_graph(
    problem: TaskGraph,
    *,
    time_limit: float = TIME_LIMIT,
    rng: int | np.random.Generator | None = None,
    progress: Progress = True,
    start: tuple[list[int], list[int]] | None = None,
) -> Result:
    """Plan a task graph for :func:`makespan.execute.dask.compute`.

    Unlike :func:`makespan.solve`, it counts what Dask does: a result goes to a machine once,
    however many tasks need it there, and a task waits ``network.task_setup`` for the scheduler
    after the last of its inputs was computed. The plans of the quick methods are timed so, with
    and without contention; the best is improved by moving tasks to other machines and to other
    places in the order (threshold accepting).

    Parameters
    ----------
    problem
        As :func:`makespan.execute.dask.measure` gives it: overlapping communication, durations
        that hold the ``task_setup`` of the machine.
    time_limit, progress
        As everywhere in :mod:`makespan.execute.dask`.
    rng
        A seed or a generator; None is seed 0.
    start
        A plan to begin with: the tasks by number in an order, predecessors first, and the number of
        each task's machine. Beside it all tasks on one machine are tried, methods as long as the
        time lasts only.

    Returns
    -------
    Result
        A plan of the problem as it is run: with assignment and sequences, and without the edges
        whose data are brought to their machine by another edge.

    Source: Dueck and Scheuer 1990, for the search.

    >>> from dask import delayed
    >>> from makespan.execute import dask
    >>> total = delayed(sum)([delayed(pow)(base, 2) for base in range(3)])
    >>> plan = dask.plan_graph(dask.measure(total, client), time_limit=0.2)  # doctest: +SKIP
    >>> dask.compute(total, client, plan=plan).results  # doctest: +SKIP
    5
    """
    if problem.is_blocking:
        raise InputError("problem: communication is blocking; Dask's overlaps with computing")
    generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng or 0)
    forecast = Forecast(problem)
    until = time.monotonic() + time_limit
    if start is None:
        first, until = _first(problem, forecast), time.monotonic() + time_limit
    else:
        first = _first(problem, forecast, start, until)
    with teller(progress) as tell:
        left = max(0.0, until - time.monotonic())
        order, machine_of = _search(forecast, *first, left, generator, tell)
    forecast.run(order, machine_of)
    as_run, schedule = _as_run(forecast, order, machine_of)
    forecast.run(order, machine_of, chains(as_run, schedule, order, machine_of))
    as_run, schedule = _as_run(forecast, order, machine_of)
    return refereed(as_run, Solution(schedule=schedule), "dask-search")


def _as_run(
    forecast: Forecast, order: list[int], machine_of: list[int]
) -> tuple[TaskGraph, Schedule]:
    problem = forecast.problem_as_run(order, machine_of)
    return problem, forecast.schedule(problem, machine_of)


def _first(
    problem: TaskGraph,
    forecast: Forecast,
    start: tuple[list[int], list[int]] | None = None,
    until: float = np.inf,
) -> tuple[list[int], list[int]]:
    """Return the best plan of the quick methods, as an order and machines."""
    names = METHODS if len(problem.dag) < LARGE else QUICK
    problems = [problem]
    if problem.contention != "none":
        problems.append(replace(problem, contention="none"))
    best: tuple[float, list[int], list[int]] | None = None
    if start is not None:
        together = _as_ready(forecast, start[0])
        alone = ((together, [machine] * len(together)) for machine in range(forecast.machines))
        best = min(((forecast.run(*each), *each) for each in (start, *alone)), key=itemgetter(0))
    for each in reversed(problems):
        for name in names if not problem.given.anything else ("given-plan",):
            if best is not None and time.monotonic() >= until:
                continue
            try:
                found = solve(each, method=name)
            except MethodError:
                continue
            assert found.schedule is not None
            order, machine_of = tasks_of(found.schedule, len(problem.dag))
            order = topological(problem, order)
            end = forecast.run(order, machine_of)
            if best is None or end < best[0]:
                best = (end, order, machine_of)
    assert best is not None
    return best[1], best[2]


def _as_ready(forecast: Forecast, order: list[int]) -> list[int]:
    """Return the tasks as one machine starts them: the first of the order that may, at any time."""
    setup, seconds = min(forecast.setup), np.min(forecast.seconds, axis=1).tolist()
    rank = {task: place for place, task in enumerate(order)}
    waits = [len(edges) for edges in forecast.incoming]
    known = [(0.0, rank[task]) for task in order if not waits[task]]
    ready: list[int] = []
    now, found = 0.0, []
    heapify(known)
    while known or ready:
        now = now if ready else max(now, known[0][0])
        while known and known[0][0] <= now:
            heappush(ready, heappop(known)[1])
        task = order[heappop(ready)]
        now += seconds[task]
        found.append(task)
        for edge in forecast.outgoing[task]:
            after = forecast.target[edge]
            waits[after] -= 1
            if not waits[after]:
                heappush(known, (now + setup, rank[after]))
    return found


def topological(problem: TaskGraph, order: list[int]) -> list[int]:
    """Return the order with predecessors first, also where tasks take no time."""
    found: list[int] = by_level(problem.dag, -inverse(np.array(order, dtype=np.int64))).tolist()
    return found


def _search(
    forecast: Forecast,
    order: list[int],
    machine_of: list[int],
    seconds: float,
    generator: np.random.Generator,
    tell: Tell,
) -> tuple[list[int], list[int]]:
    """Move tasks for so many seconds; return the best order and machines."""
    count, machines = forecast.count, forecast.machines
    value = best = forecast.run(order, machine_of)
    found = (list(order), list(machine_of))
    started = time.monotonic()
    if forecast.problem.given.anything or count < 2:
        return found
    draw = _Draws(generator)
    while True:
        spent = time.monotonic() - started
        if spent >= seconds:
            return found
        tell(spent / seconds, "planning")
        task = _chosen(forecast, order, draw)
        new_order, new_machine = list(order), list(machine_of)
        kind = draw.below(4)
        if kind and machines > 1:
            goal = (machine_of[task] + 1 + draw.below(machines - 1)) % machines
            new_machine[task] = goal
            if kind == 3:
                for edge in forecast.incoming[task] if draw.below(2) else forecast.outgoing[task]:
                    ends = (forecast.source[edge], forecast.target[edge])
                    new_machine[ends[0] if ends[1] == task else ends[1]] = goal
        if kind < 2:
            _moved(forecast, new_order, task, draw)
        end = forecast.run(new_order, new_machine)
        if end <= best * (1.0 + REACH * max(0.0, 1.0 - spent / (0.9 * seconds))):
            order, machine_of, value = new_order, new_machine, end
            if value < best:
                best, found = value, (list(order), list(machine_of))


class _Draws:
    """Random whole numbers, drawn many at a time."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._left: list[float] = []

    def below(self, bound: int) -> int:
        if not self._left:
            self._left = self._generator.random(4096).tolist()
        return int(self._left.pop() * bound)


def _chosen(forecast: Forecast, order: list[int], draw: _Draws) -> int:
    """Return a task: any, or one of the chain that ends last."""
    if draw.below(2):
        return order[draw.below(len(order))]
    end, cause = forecast.end, forecast.cause
    task = max(range(len(end)), key=end.__getitem__)
    chain = [task]
    while cause[task] >= 0:
        task = cause[task]
        chain.append(task)
    return chain[draw.below(len(chain))]


def _moved(forecast: Forecast, order: list[int], task: int, draw: _Draws) -> None:
    """Put a task elsewhere between its predecessors and successors."""
    place = {each: index for index, each in enumerate(order)}
    low = max((place[forecast.source[e]] + 1 for e in forecast.incoming[task]), default=0)
    high = min((place[forecast.target[e]] for e in forecast.outgoing[task]), default=len(order))
    old = place[task]
    new = low + draw.below(max(1, high - low))
    order.pop(old)
    order.insert(new if new < old else min(new, high - 1), task)
