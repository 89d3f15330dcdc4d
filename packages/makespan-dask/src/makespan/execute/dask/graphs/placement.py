"""A plan as Dask gets it: workers, priorities, chain edges, order on the wires; and its rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from makespan.core.errors import InputError
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.schedule import Activity, Schedule
from makespan.execute.dask.graphs.forecast import Forecast, tasks_of
from makespan.flow.result import Result
from makespan.taskgraph.problem import TaskGraph

MARGIN = 0.03  # of the makespan: tasks that are ready so much before others may overtake them
WORTH = 2.0  # times the time of handing a task out: shorter tasks may overtake


@dataclass(frozen=True, slots=True)
class Carried:
    """A transfer of the plan: a task's result goes from a machine to another; seconds."""

    task: int
    sender: str
    receiver: str
    start: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Pins:
    """A plan, by the numbers of the problem's tasks."""

    problem: TaskGraph
    order: tuple[int, ...]  # the tasks in the order of their starts
    machine_of: tuple[str, ...]  # the name of each task's machine
    after: Mapping[int, tuple[int, ...]]  # for each task those before it that it must wait for
    carried: tuple[Carried, ...]  # in the order of their starts, one for each result and machine

    @property
    def machines(self) -> tuple[str, ...]:
        """The machines that compute something."""
        used = set(self.machine_of)
        return tuple(name for name in self.problem.network.names if name in used)

    @property
    def in_turn(self) -> bool:
        """Whether what a machine sends, to whomever, takes turns on a port or a line of its own."""
        problem = self.problem
        if problem.contention != "links":
            return problem.contention == "ports"
        network, routing = problem.network, problem.network.routing
        for machine in range(len(network)):
            others = [goal for goal in range(len(network)) if goal != machine]
            first = [int(routing.following[machine, goal]) for goal in others]
            slow = [head for head in first if np.isfinite(routing.rates[machine, head])]
            if len({int(network.medium[machine, head]) for head in slow}) < len(slow):
                return True
        return False


def pins_of(plan: Result) -> Pins:
    """Return what Dask is told of a plan."""
    problem, schedule = plan.problem, plan.schedule
    if not isinstance(problem, TaskGraph):
        raise InputError(f"plan: is one for a problem of kind {problem.kind!r}, not 'taskgraph'")
    if schedule is None:
        raise InputError(f"plan: has no schedule, its status is {plan.status}")
    if np.count_nonzero(schedule.kind == Activity.COMPUTE) > len(problem.dag):
        raise InputError("plan: has copies of tasks; Dask computes each task once")
    order, machine = tasks_of(schedule, len(problem.dag))
    names = problem.network.names
    return Pins(
        problem=problem,
        order=tuple(order),
        machine_of=tuple(names[each] for each in machine),
        after=chains(problem, schedule, order, machine),
        carried=_carried(plan, machine),
    )


def refuse_other_tasks(pins: Pins, names: list[str]) -> None:
    """Refuse a plan whose tasks are not those of the graph."""
    planned, given = set(pins.problem.dag.names), set(names)
    for name in names:
        if name not in planned:
            hint = did_you_mean(name, pins.problem.dag.names)
            raise InputError(f"plan: has no task {name!r}, a key of the graph{hint}")
    for name in pins.problem.dag.names:
        if name not in given:
            hint = did_you_mean(name, names)
            raise InputError(f"plan: has a task {name!r}, which is not a key of the graph{hint}")


def _carried(plan: Result, machine: list[int]) -> tuple[Carried, ...]:
    """Return the first transfer of each result to each machine."""
    problem, schedule = plan.problem, plan.schedule
    assert isinstance(problem, TaskGraph)
    assert schedule is not None
    dag, names = problem.dag, problem.network.names
    rows = np.flatnonzero(schedule.kind == Activity.TRANSFER)
    times: dict[int, tuple[float, float]] = {}
    for row in rows.tolist():  # of all hops
        edge, start, end = int(schedule.item[row]), schedule.start[row], schedule.end[row]
        before = times.get(edge, (start, end))
        times[edge] = min(before[0], float(start)), max(before[1], float(end))
    found: dict[tuple[int, int], Carried] = {}
    for edge, (start, end) in sorted(times.items(), key=lambda entry: (entry[1], entry[0])):
        source, goal = int(dag.source[edge]), machine[int(dag.target[edge])]
        sender = names[machine[source]]
        one = Carried(source, sender, names[goal], float(start), float(end - start))
        found.setdefault((source, goal), one)
    return tuple(found.values())


def chains(
    problem: TaskGraph, schedule: Schedule, order: Sequence[int], machine: Sequence[int]
) -> dict[int, tuple[int, ...]]:
    """Return, for each task, the task that it might overtake and must not.

    Of tasks that are ready a worker takes the first by priority. A task overtakes another only
    where it is ready and the worker is idle before the other is ready; in the plan or nearly so.
    Of several such tasks the last is waited for. A chain edge costs the scheduler a moment, so
    that short tasks may overtake all the same; and where a worker has several cores, all may.
    """
    network = problem.network
    ready = _ready(problem, schedule)
    seconds, ends = np.zeros(len(problem.dag)), np.zeros(len(problem.dag))
    rows = np.flatnonzero(schedule.kind == Activity.COMPUTE)
    seconds[schedule.item[rows]] = schedule.end[rows] - schedule.start[rows]
    ends[schedule.item[rows]] = schedule.end[rows]
    margin = MARGIN * schedule.makespan
    after: dict[int, tuple[int, ...]] = {}
    for index in range(len(network)):
        if network.cores[index] > 1:
            continue
        tasks = [task for task in order if machine[task] == index]
        worth = WORTH * float(network.task_setup[index])
        free = 0.0
        for place, task in enumerate(tasks):
            late = ready[task] > free - margin
            free = float(ends[task])
            for other in tasks[place + 1 :] if late else ():
                if ready[other] < ready[task] + margin and seconds[other] > worth:
                    after[other] = (task,)
    return after


def _ready(problem: TaskGraph, schedule: Schedule) -> list[float]:
    """Return when the plan has all inputs of each task on its machine."""
    dag = problem.dag
    ready = [0.0] * len(dag)
    computes = schedule.kind == Activity.COMPUTE
    for row in np.flatnonzero(computes).tolist():
        task = int(schedule.item[row])
        for edge in dag.out_edges[dag.first_out[task] : dag.first_out[task + 1]].tolist():
            target = int(dag.target[edge])
            ready[target] = max(ready[target], float(schedule.end[row]))
    for row in np.flatnonzero(~computes).tolist():
        target = int(dag.target[schedule.item[row]])
        ready[target] = max(ready[target], float(schedule.end[row]))
    return ready


def rest_planned(
    pins: Pins, states: Mapping[int, tuple[str, str]], there: Sequence[str]
) -> dict[int, str]:
    """Return the machine of each task that nobody has begun, of those that are ``there``.

    Task after task in the order of the plan goes to the machine that ends it first, behind what
    that machine has, when its inputs have come: those that are there already from where they are.
    ``states`` say of each known task how it is, and which machine holds or computes it. Source: H.
    Topcuoglu, S. Hariri, M.-Y. Wu, Performance-effective and low-complexity task scheduling for
    heterogeneous computing, IEEE TPDS 13, 2002, section 5: the rule of HEFT.
    """
    forecast, names = Forecast(pins.problem), pins.problem.network.names
    place = {names.index(name): name for name in there}
    free = {machine: [0.0] * forecast.cores[machine] for machine in place}
    line = dict.fromkeys(place, 0.0)  # when what a machine sends has left
    begun, end, at, needed = {}, {}, {}, set()
    for task in range(forecast.count):
        state, name = states.get(task, ("forgotten", ""))
        if state == "memory" and name in there:
            begun[task] = names.index(name), 0.0
        elif state == "processing" and name in there:
            machine = names.index(name)
            begun[task] = machine, forecast.seconds[task][machine]
        elif state not in ("forgotten", "released"):
            needed.add(task)
    found = {}
    for task in (*begun, *(task for task in pins.order if task in needed)):
        if task in begun:
            at[task], seconds = begun[task]
            end[task] = min(free[at[task]]) + seconds if seconds else 0.0
        else:
            best, sent = (inf, -1), line
            for machine in place:
                ready, lines = _inputs_ready(forecast, task, machine, at, end, line)
                done = max(ready, min(free[machine])) + forecast.seconds[task][machine]
                if done < best[0]:
                    best, sent = (done, machine), lines
            (end[task], at[task]), line = best, sent
            found[task] = place[at[task]]
        cores = free[at[task]]
        cores[cores.index(min(cores))] = max(min(cores), end[task])
    return found


def _inputs_ready(
    forecast: Forecast,
    task: int,
    machine: int,
    at: Mapping[int, int],
    end: Mapping[int, float],
    line: Mapping[int, float],
) -> tuple[float, dict[int, float]]:
    """Return when a task's inputs are on a machine, and when what each sends has left then."""
    ready, lines = 0.0, dict(line)
    for edge in forecast.incoming[task]:
        before = forecast.source[edge]
        if before not in at:  # was forgotten: nobody knows where it will be
            continue
        arrival = end[before]
        for hop in forecast.routes[at[before]][machine]:
            length = forecast.size[edge] / hop.rate + hop.setup
            if length and hop.occupied and hop.tail == at[before]:
                arrival = max(arrival, lines[hop.tail])
                lines[hop.tail] = arrival + length
            arrival += length
        ready = max(ready, arrival)
    return ready, lines
