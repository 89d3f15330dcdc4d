"""From clusters to machines: merging, physical mapping, and the order on each machine.

Source: PB165, "Spojování shluků", "Plánování pomocí shlukovací heuristiky"; merged clusters are
moved by what their plan takes, as Sarkar 1989 assigns them (chapter 5).
"""

from itertools import permutations
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.core.steps import Step, listed, number
from makespan.taskgraph.clustering import (
    Clustering,
    clustering_of,
    clustering_seconds,
    members_of,
    numbered,
)
from makespan.taskgraph.levels import by_level
from makespan.taskgraph.list_scheduling.assigned import cannot_end, fallback_plan, one_by_one
from makespan.taskgraph.list_scheduling.steps import Steps, braced
from makespan.taskgraph.problem import TaskGraph

EXACT_UP_TO = 7  # machines up to which every mapping is tried
MOVING_STEPS = 300_000
"""Tasks and edges in all plans that are tried while clusters that were merged are moved."""


def planned(
    problem: TaskGraph,
    control: Control,
    steps: Steps,
    clustering: Clustering,
    weights: tuple[Floats, Floats],
    priority: Floats | None = None,
) -> Solution:
    """Return the plan that a clustering gives on the machines of the problem.

    Tasks follow one another by level; by ``priority``, if given, where no clusters are merged.
    Where the time is up, the names of the tasks in each cluster are left out.
    """
    with control.reserving(clustering_seconds(problem.dag)):
        if control.expired():
            return Solution(schedule=fallback_plan(problem, control))
        merged_clusters = merged(problem, control, clustering.cluster, weights[0], steps)
        machine_of = mapped(problem, control, merged_clusters, steps)
    level = priority
    if level is None or merged_clusters is not clustering.cluster:
        level = clustering_of(problem.dag, *weights, machine_of).level
    if merged_clusters is not clustering.cluster:
        machine_of = moved(problem, control, clustering.cluster, machine_of, level, steps)
    schedule = ordered(problem, control, machine_of, level)
    if cannot_end(problem, control):
        return Solution(schedule=schedule)
    names = problem.named
    _log_order(problem, steps, schedule)
    details: dict[str, Any] = {
        "clusters": [names(tasks) for tasks in members_of(clustering.cluster)],
        "parallel_time": clustering.parallel_time,
        "dominant_sequence": names(clustering.dominant_sequence),
        **steps.details(),
    }
    return Solution(schedule=schedule, details=details)


def merged(
    problem: TaskGraph, control: Control, cluster: Integers, task: Floats, steps: Steps
) -> Integers:
    """Merge clusters until there is at most one per machine, so that the sums are alike.

    The largest cluster that is left goes to the bin that is least full for the speed and the
    cores of its machine (longest processing time first). When the time is up, the rest is dealt
    round. Bins are numbered by lowest task.
    """
    count, machines = int(cluster.max(initial=-1)) + 1, len(problem.network)
    if count <= machines:
        return cluster
    sums = np.bincount(cluster, weights=task, minlength=count)
    rate = problem.network.speed * problem.cores
    filled = np.zeros(machines)
    bin_of = np.zeros(count, dtype=np.int64)
    largest = np.argsort(-sums, kind="stable")
    for index, each in enumerate(largest.tolist()):
        if control.expired():
            bin_of[largest[index:]] = np.arange(count - index) % machines
            break
        best = int(np.argmin((filled + sums[each]) / rate))
        filled[best] += sums[each]
        bin_of[each] = best
    result = numbered(bin_of[cluster])
    if steps.wanted:
        groups = [problem.named(tasks) for tasks in members_of(result)]
        text = f"{count} clusters are merged into {len(groups)}: {listed(map(braced, groups))}"
        steps.add(Step(text=text, groups=dict(enumerate(result.tolist()))), merged=groups)
    return result


def moved(
    problem: TaskGraph, control: Control, cluster: Integers, machine_of: Integers, level: Floats,
    steps: Steps,
) -> Integers:  # fmt: skip
    """Move clusters that were merged to other machines while the plan gets shorter.

    What comes of merging by sums is not known before the tasks are ordered, so each move is judged
    by its plan: of each cluster, those with the largest sums of levels first, the best machine is
    kept, until no move betters the plan or so many plans were tried that it takes too long.
    """
    count, machines = int(cluster.max()) + 1, len(problem.network)
    of_cluster = np.empty(count, dtype=np.int64)
    of_cluster[cluster] = machine_of
    urgent = np.argsort(-np.bincount(cluster, weights=level, minlength=count), kind="stable")
    left = MOVING_STEPS // (len(problem.dag) + len(problem.dag.source))
    best, unchanged, index = np.inf, 0, 0
    if left:
        best = ordered(problem, control, machine_of, level).makespan
    first = best
    while left > 0 and unchanged < count:
        each, unchanged = urgent[index % count], unchanged + 1
        index += 1
        stays = int(of_cluster[each])
        for machine in range(machines):
            if machine == stays or left <= 0 or control.expired():
                continue
            left -= 1
            before = of_cluster[each]
            of_cluster[each] = machine
            makespan = ordered(problem, control, of_cluster[cluster], level).makespan
            if makespan < best:
                best, unchanged = makespan, 0
            else:
                of_cluster[each] = before
        if control.expired():
            break
    if steps.wanted and best < first:
        members = [np.flatnonzero(of_cluster[cluster] == each).tolist() for each in range(machines)]
        groups = [problem.named(tasks) for tasks in members]
        text = f"clusters move until the plan takes {number(best)}: {listed(map(braced, groups))}"
        steps.add(text, moved=groups)
    return of_cluster[cluster]


def mapped(problem: TaskGraph, control: Control, cluster: Integers, steps: Steps) -> Integers:
    """Return the machine of each task: clusters to machines, least communication first.

    The cost of a mapping is the sum over the edges between clusters of the seconds that their
    transfers take; among mappings of equal cost, the one whose fullest machine computes least,
    then the first. Every mapping is tried for few machines, exchanges of pairs for many.
    """
    places = _Mapping(problem, cluster)
    few = len(problem.network) <= EXACT_UP_TO
    place = places.exact() if few else places.local_search(control)
    if steps.wanted:
        machines = [problem.machines[each] for each in place]
        groups = [braced(problem.named(tasks)) for tasks in members_of(cluster)]
        pairs = (f"{group} to {machine}" for group, machine in zip(groups, machines, strict=True))
        steps.add(f"clusters to machines: {listed(pairs)}", mapping=machines)
    return np.array(place, dtype=np.int64)[cluster]


class _Mapping:
    """Communication between clusters, seconds between machines, and work."""

    def __init__(self, problem: TaskGraph, cluster: Integers) -> None:
        dag, routing = problem.dag, problem.network.routing
        self.count = int(cluster.max(initial=-1)) + 1
        self.machines = len(problem.network)
        a, b = cluster[dag.source], cluster[dag.target]
        crosses = a != b
        pairs = a[crosses] * self.count + b[crosses]
        square = (self.count, self.count)
        length = self.count * self.count
        self.data = np.bincount(pairs, dag.size[crosses], length).reshape(square)
        self.messages = np.bincount(pairs, minlength=length).reshape(square).astype(float)
        self.per_unit, self.fixed = routing.seconds_per_unit, routing.fixed_seconds
        tasks = np.arange(len(dag))
        self.work = np.empty((self.count, self.machines))
        for machine in range(self.machines):
            seconds = problem.durations_on(tasks, np.full(len(tasks), machine))
            self.work[:, machine] = np.bincount(cluster, seconds, self.count)
        self.work /= problem.cores

    def cost(self, place: Any) -> tuple[float, float]:
        """Return the seconds of communication, and the greatest sum of work on a machine."""
        index = np.asarray(place)
        grid = np.ix_(index, index)
        data = float((self.data * self.per_unit[grid]).sum())
        messages = float((self.messages * self.fixed[grid]).sum())
        work = float(self.work[np.arange(self.count), index].max(initial=0.0))
        return _rounded(data + messages), _rounded(work)

    def exact(self) -> tuple[int, ...]:
        """Return the best of all mappings."""
        return min(permutations(range(self.machines), self.count), key=self.cost)

    def local_search(self, control: Control) -> tuple[int, ...]:
        """Return a mapping that no exchange of two machines betters.

        It begins with the fullest clusters on the fastest machines.
        """
        fastest = np.argsort(self.work.sum(axis=0), kind="stable")
        fullest = np.argsort(-self.work.sum(axis=1), kind="stable")
        place = np.full(self.machines, -1)
        place[fullest] = fastest[: self.count]
        place[self.count :] = fastest[self.count :]
        best = self.cost(place[: self.count])
        improved = True
        while improved:
            improved = False
            for one in range(self.count):
                for other in range(one + 1, self.machines):
                    if control.expired():
                        return tuple(place[: self.count].tolist())
                    place[[one, other]] = place[[other, one]]
                    cost = self.cost(place[: self.count])
                    if cost < best:
                        best, improved = cost, True
                    else:
                        place[[one, other]] = place[[other, one]]
        return tuple(place[: self.count].tolist())


def _rounded(value: float) -> float:
    """Return a value without its last bits, so that sums in another order compare equal."""
    return float(f"{value:.12g}")


def ordered(problem: TaskGraph, control: Control, machine_of: Integers, level: Floats) -> Schedule:
    """Place the tasks on their machines by level; transfers start as soon as the source ends."""
    order = by_level(problem.dag, level)
    schedule = one_by_one(problem, machine_of, order, expired=control.expired)
    return fallback_plan(problem, control) if schedule is None else schedule


def _log_order(problem: TaskGraph, steps: Steps, schedule: Schedule) -> None:
    if not steps.wanted:
        return
    columns = (schedule.machine, schedule.start, schedule.end)  # tasks come first
    place, start, end = (column[: len(problem.dag)].tolist() for column in columns)
    for machine in range(len(problem.network)):
        tasks = [task for task in range(len(problem.dag)) if place[task] == machine]
        tasks.sort(key=lambda task: (start[task], end[task], task))
        if not tasks:
            continue
        shown = listed(
            f"{problem.dag.names[task]} ({number(start[task])} to {number(end[task])})"
            for task in tasks
        )
        name = problem.machines[machine]
        step = Step(text=f"order on {name}: {shown}", items={"chosen": tasks, "placed": tasks})
        steps.add(step, machine=name, tasks=problem.named(tasks))
