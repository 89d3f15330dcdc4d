"""Small task graphs with all fields mixed, and their optima by trying every plan.

Sorted by start, the activities of a plan are a sequence in which each begins as soon as what it
needs is there, behind what its core, link or ports did before. All such sequences are tried whose
starts don't fall and whose end is before the best one known: :func:`best`. Where tasks may have
copies, the activities are the copies, and their data come from where they are there first.
Nothing of the library is used but the statement: columns, arcs, and :mod:`taskgraph_rules`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from makespan import Dag, Network, TaskGraph
from tests.oracles.taskgraph_rules import SLACK, seconds_on, shortest_route

MAX_STEPS = 400_000


def random_problem(rng: np.random.Generator) -> TaskGraph:
    """Return a problem of a few tasks and machines, everything that can be stated mixed."""
    more = rng.spawn(1)[0]  # what came later than the rest, without changing that
    network = _network(rng, wide=1 + int(more.random() < 0.3))
    count = int(rng.integers(1, 6))
    pairs = [(a, b) for b in range(count) for a in range(b) if rng.random() < 0.45]
    names = [f"t{task}" for task in rng.permutation(count)]
    work = _amounts(rng, count)
    tasks: dict[str, Any] = {}
    for task, name in enumerate(names):
        own = rng.random() < 0.15
        tasks[name] = _amounts(rng, len(network)).tolist() if own else float(work[task])
    sizes = _amounts(rng, len(pairs))
    edges = [(names[a], names[b], float(size)) for (a, b), size in zip(pairs, sizes, strict=True)]
    times = _times(np.random.default_rng(rng.integers(2**32)), names)
    copies = rng.random() < 0.2 and network.topology in ("complete", "bus")
    if copies:
        cores = _cores(more, names, network, {})
        return TaskGraph(Dag(tasks, edges, **times, cores=cores), network, duplication=True)
    communication = ("overlap", "blocking")[int(rng.random() < 0.3)]
    contention = ("none", "links", "ports")[int(rng.choice(3, p=[0.6, 0.2, 0.2]))]
    given, limits = _given(rng, names, pairs, network), _limits(rng, network)
    dag = Dag(tasks, edges, **times, cores=_cores(more, names, network, given))
    return TaskGraph(
        dag,
        network,
        communication=communication,
        contention=contention,
        **given,
        **limits,
    )


def _limits(rng: np.random.Generator, network: Network) -> dict[str, Any]:
    """Return limits of the whole plan, and what is to be least."""
    found: dict[str, Any] = {}
    if rng.random() < 0.15:
        found["deadline"] = float(np.round(rng.uniform(2.0, 30.0)))
    if network.is_priced and rng.random() < 0.5:
        found["budget"] = float(np.round(rng.uniform(2.0, 40.0)))
    if network.is_priced and rng.random() < 0.5:
        found["objective"] = "price"
    return found


def _times(rng: np.random.Generator, names: list[str]) -> dict[str, dict[str, float]]:
    """Return releases and deadlines of some tasks, in a third of the problems each."""
    found: dict[str, dict[str, float]] = {}
    for word, longest in (("release", 8.0), ("deadline", 25.0)):
        if rng.random() < 0.35:
            seconds = rng.uniform(0.0, longest, len(names))
            if rng.random() < 0.7:
                seconds = np.round(seconds)
            some = [name for name in names if rng.random() < 0.5]
            found[word] = dict(zip(some, seconds.tolist(), strict=False))
    return found


def _cores(
    rng: np.random.Generator, names: list[str], network: Network, given: dict[str, Any]
) -> dict[str, int]:
    """Return the cores of some tasks, where some machine, or the given one, has several."""
    if rng.random() < 0.3:
        return {}
    place = {name: m for m, tasks in given.get("sequence", {}).items() for name in tasks}
    place |= given.get("assignment", {})
    cores = dict(zip(network.names, network.cores.tolist(), strict=True))
    most = {name: cores[place[name]] if name in place else max(cores.values()) for name in names}
    return {name: int(rng.integers(1, most[name] + 1)) for name in names if rng.random() < 0.7}


def _amounts(rng: np.random.Generator, count: int) -> np.ndarray:
    """Return whole numbers, tenths, or any: some of them 0, or all the same."""
    style = rng.integers(4)
    values = rng.integers(1, 7, count).astype(float)
    if style == 1:
        values = values / 10
    if style == 2:
        values = rng.uniform(0.1, 6.0, count)
    if style == 3:
        values = np.full(count, float(rng.integers(0, 4)))
    return np.where(rng.random(count) < 0.1, 0.0, values)


def _network(rng: np.random.Generator, wide: int) -> Network:
    topology = str(rng.choice(["complete", "complete", "bus", "star", "ring", "tree", "links"]))
    count = int(rng.integers(1, 4))
    names = [f"M{index}" for index in range(count)]
    more: dict[str, Any] = {"duplex": bool(rng.random() < 0.6)}
    for field in ("task_setup", "message_setup"):
        if rng.random() < 0.3:
            more[field] = _amounts(rng, count)
    if rng.random() < 0.3:
        more["cores"] = rng.integers(1, 3, count) * wide
    if count > 1 and rng.random() < 0.3:
        more["delays"] = {(names[0], names[1]): float(_amounts(rng, 1)[0])}
    rate: Any = float(rng.choice([0.5, 1.0, 2.0, 3.0, np.inf]))
    if topology in ("complete", "bus") and rng.random() < 0.4:
        rate = rng.choice([0.5, 1.0, 3.0, np.inf], (count, count))
    if topology == "star" and rng.random() < 0.5:
        more["routers"] = ["R"]
    if topology == "links":
        more["routers"] = ["R"]
        more["links"] = [(name, "R", float(rng.choice([0.5, 1.0, 2.0]))) for name in names]
        if count > 1 and rng.random() < 0.5:
            more["one_way_links"] = [(names[0], names[1], 0.25)]
    if rng.random() < 0.3:
        more["price"] = _amounts(rng, count)
        more["start_price"] = _amounts(rng, count) if rng.random() < 0.5 else 0.0
    speeds = rng.choice([1.0, 1.0, 2.0, 3.0], count) if rng.random() < 0.6 else np.ones(count)
    return Network(speeds, names=names, topology=topology, rate=rate, **more)


def _given(
    rng: np.random.Generator, names: list[str], pairs: list[tuple[int, int]], network: Network
) -> dict[str, Any]:
    if rng.random() < 0.75:
        return {}
    machine = rng.integers(len(network), size=len(names))
    orders: dict[str, list[str]] = {}
    for task, name in enumerate(names):  # by index: no deadlock, as edges go upwards
        orders.setdefault(network.names[machine[task]], []).append(name)
    assignment = {
        name: network.names[each] for name, each in zip(names, machine.tolist(), strict=True)
    }
    chosen = {name: order for name, order in orders.items() if rng.random() < 0.7}
    if rng.random() < 0.3:
        return {"sequence": orders}
    return {"assignment": assignment, **({"sequence": chosen} if chosen else {})}


def covers(problem: TaskGraph) -> bool:
    """Whether the problem is small enough to try everything (most of those that are)."""
    tasks, machines = len(problem.dag), len(problem.network)
    return tasks <= 5 and machines <= 3 and machines**tasks * len(problem.dag.source) <= 1000


def best(problem: TaskGraph) -> float | None:
    """Return the least makespan, or price, of all plans, inf where none keeps the limits.

    None where there are too many of them.
    """
    if problem.objective == "price":
        points = front(problem)
        return None if points is None else min((price for _, price in points), default=float("inf"))
    search = _Copies(problem) if problem.duplication else _Plans(problem)
    try:
        return search.least()
    except _TooManyError:
        return None


def front(problem: TaskGraph) -> list[tuple[float, float]] | None:
    """Return time and price of the plans that no other beats in both; None where too many are.

    The price follows from the machines of the tasks alone: of each assignment the fastest plan
    counts.
    """
    search = _Plans(problem)
    try:
        found = sorted((search.fastest(place), search.price(place)) for place in search.places())
    except _TooManyError:
        return None
    points: list[tuple[float, float]] = []
    for time, price in found:
        if time < float("inf") and (not points or price < points[-1][1] * (1 - SLACK)):
            points.append((time, price))
    return points


class _TooManyError(Exception):
    """More sequences than anyone wants to wait for."""


class _Hop(NamedTuple):
    """A hop of an edge: seconds, what it occupies, and the seconds behind it (the delay)."""

    seconds: float
    occupies: tuple[Any, ...]
    after: float


class _Search:
    """What both searches need: seconds, routes, and the budget."""

    def __init__(self, problem: TaskGraph) -> None:
        self.problem, self.network = problem, problem.network
        self.tasks, self.machines = range(len(problem.dag)), range(len(problem.network))
        dag = problem.dag
        self.ends = list(zip(dag.source.tolist(), dag.target.tolist(), strict=True))
        self.size = dag.size.tolist()
        self.release = dag.release.tolist()
        whole = float("inf") if problem.deadline is None else problem.deadline
        self.due = [min(each, whole) * (1 + SLACK) for each in dag.deadline.tolist()]
        self.seconds = [[seconds_on(problem, t, m) for m in self.machines] for t in self.tasks]
        self.least_end, self.steps = float("inf"), 0
        self.routes = {
            (a, b): shortest_route(problem, a, b)
            for a, b in product(self.machines, repeat=2)
            if a != b
        }

    def count(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise _TooManyError

    def hops(self, edge: int, a: int, b: int) -> list[_Hop]:
        """Return the hops of an edge between machines, none where nothing takes time."""
        if a == b:
            return []
        network, path = self.network, self.routes[a, b]
        setups = [*network.message_setup.tolist(), *(0.0 for _ in network.routers)]
        delay = network.delays.get((network.names[a], network.names[b]), 0.0)
        if not self.size[edge] and not delay and not any(setups[node] for node in path[:-1]):
            return []
        found = []
        for tail, head in pairwise(path):
            seconds = self.size[edge] / float(network.arcs[tail, head]) + setups[tail]
            found.append(
                _Hop(seconds, self.occupied(tail, head), delay if head == path[-1] else 0.0)
            )
        return found

    def occupied(self, tail: int, head: int) -> tuple[Any, ...]:
        if self.problem.contention == "links":
            if self.network.topology == "bus":
                return ("bus",)
            return ((tail, head) if self.network.duplex else (min(tail, head), max(tail, head)),)
        if self.problem.contention == "ports":
            ports = (("out", tail), ("in", head))
            return tuple(port for port in ports if port[1] < len(self.machines))
        return ()


class _Plans(_Search):
    """Plans in which each task is executed once.

    Activities are numbered: tasks first, then the hops of all edges. A task that fetches its data
    itself (blocking) takes a core with its first hop, and its edges come in any order.
    """

    def places(self) -> Iterator[tuple[int, ...]]:
        """Yield the assignments within the budget."""
        fixed = self.problem.given.machine_of
        options = [
            [m for m in self.machines if self.seconds[task][m] < float("inf")]
            if fixed is None
            else [int(fixed[task])]
            for task in self.tasks
        ]
        budget = float("inf") if self.problem.budget is None else self.problem.budget
        yield from (p for p in product(*options) if self.price(p) <= budget * (1 + SLACK))

    def price(self, place: tuple[int, ...]) -> float:
        """Return what the tasks cost on their machines, and the machines that have any."""
        held = self.problem.dag.cores
        each = (held[t] * self.seconds[t][m] * self.network.price[m] for t, m in enumerate(place))
        return float(sum(each) + sum(self.network.start_price[m] for m in set(place)))

    def fastest(self, place: tuple[int, ...]) -> float:
        self.least_end = float("inf")
        return self.least([place])

    def least(self, places: Iterable[tuple[int, ...]] | None = None) -> float:
        for place in self.places() if places is None else places:
            self.place = place
            self.hop_of = [self.hops(e, place[a], place[b]) for e, (a, b) in enumerate(self.ends)]
            self.incoming = [
                [e for e, (_, b) in enumerate(self.ends) if b == task] for task in self.tasks
            ]
            self.before = {}
            for name, order in (self.problem.sequence or {}).items():
                del name
                numbers = [self.problem.dag.names.index(task) for task in order]
                self.before.update(zip(numbers[1:], numbers, strict=False))
            self.done = [0] * len(self.ends)  # hops begun
            self.arrived = [0.0] * len(self.ends)
            self.end: dict[int, float] = {}
            self.taken: dict[int, tuple[list[int], float]] = {}  # cores, time until it has fetched
            self.since: dict[int, float] = {}  # when it was taken
            self.free = [[0.0] * int(cores) for cores in self.network.cores.tolist()]
            self.busy: dict[Any, float] = {}
            self.grow(0.0, 0.0)
        return self.least_end

    def grow(self, last: float, latest: float) -> None:
        self.count()
        if len(self.end) == len(self.tasks):
            self.least_end = min(self.least_end, latest)
            return
        for task in self.tasks:
            if task not in self.end:
                self.try_task(task, last, latest)
        for edge in range(len(self.ends)):
            if self.done[edge] < len(self.hop_of[edge]):
                self.try_hop(edge, last, latest)

    def try_task(self, task: int, last: float, latest: float) -> None:
        edges = self.incoming[task]
        if any(self.done[e] < len(self.hop_of[e]) or self.ends[e][0] not in self.end
               for e in edges):  # fmt: skip
            return
        ended = max((self.end[self.ends[e][0]] for e in edges), default=0.0)
        lasting = self.seconds[task][self.place[task]] > 0
        found = self.cores_for(task, ended, occupies=lasting)
        if found is None:
            return
        taken, begin = found
        begin = max(begin, *(self.arrived[e] for e in edges), 0.0)
        end = begin + self.seconds[task][self.place[task]]
        if begin < last or max(end, latest) >= self.least_end or end > self.due[task]:
            return
        fetching, cores = self.taken.get(task), self.free[self.place[task]]
        kept = list(cores)
        if fetching is None:
            self.since[task] = begin
        self.taken[task] = (taken, begin)
        self.end[task] = end
        if lasting or fetching is not None:
            for core in taken:
                cores[core] = end
        self.grow(begin, max(end, latest))
        cores[:] = kept
        del self.end[task]
        if fetching is None:
            del self.taken[task]
        else:
            self.taken[task] = fetching

    def cores_for(
        self, task: int, ready: float, *, occupies: bool
    ) -> tuple[list[int], float] | None:
        """Return cores and the time from which the task may have them; None for not yet."""
        if task in self.taken:
            return self.taken[task]
        before = self.before.get(task)
        ready = max(ready, self.release[task])
        if before is not None:
            if before not in self.taken:
                return None
            ready = max(ready, self.since[before])
        free = self.free[self.place[task]]
        cores = sorted(range(len(free)), key=free.__getitem__)[: self.problem.dag.cores[task]]
        return cores, max(ready, free[cores[-1]]) if occupies else ready

    def try_hop(self, edge: int, last: float, latest: float) -> None:
        source, task = self.ends[edge]
        if source not in self.end:
            return
        number, hop = self.done[edge], self.hop_of[edge][self.done[edge]]
        cores, begin = [], self.end[source]
        if number:
            begin = self.arrived[edge]
        elif self.problem.is_blocking:
            others = [self.ends[e][0] for e in self.incoming[task]]
            if any(other not in self.end for other in others) or any(
                0 < self.done[e] < len(self.hop_of[e]) for e in self.incoming[task]
            ):
                return
            begin = max(self.end[other] for other in others)
            found = self.cores_for(task, begin, occupies=True)
            if found is None:
                return
            cores, begin = found
        for thing in hop.occupies:
            if hop.seconds > 0:
                begin = max(begin, self.busy.get(thing, 0.0))
        end = begin + hop.seconds
        if begin < last or max(end, latest) >= self.least_end:
            return
        kept = {thing: self.busy.get(thing, 0.0) for thing in hop.occupies}
        arrived, taken = self.arrived[edge], self.taken.get(task)
        if hop.seconds > 0:
            self.busy.update(dict.fromkeys(hop.occupies, end))
        self.arrived[edge] = end + hop.after
        self.done[edge] += 1
        if self.problem.is_blocking:
            if taken is None:
                self.since[task] = begin
            else:
                cores = taken[0]
            self.taken[task] = (cores, self.arrived[edge])
            held = list(self.free[self.place[task]])
            for core in cores:  # nobody else gets them before the task has ended
                self.free[self.place[task]][core] = float("inf")
        self.grow(begin, max(self.arrived[edge], latest))
        if self.problem.is_blocking:
            self.free[self.place[task]][:] = held
            if taken is None:
                del self.taken[task]
            else:
                self.taken[task] = taken
        self.done[edge] -= 1
        self.arrived[edge] = arrived
        self.busy.update(kept)


class _Copies(_Search):
    """Plans in which a task may have a copy on each machine."""

    def least(self) -> float:
        self.incoming = [
            [(e, a) for e, (a, b) in enumerate(self.ends) if b == task] for task in self.tasks
        ]
        self.exits = {task for task in self.tasks if all(a != task for a, _ in self.ends)}
        free = [[0.0] * int(cores) for cores in self.network.cores.tolist()]
        self.grow({}, free, 0.0, 0.0)
        return self.least_end

    def ready(self, ends: dict[tuple[int, int], float], task: int, machine: int) -> float:
        arrivals = [
            min(
                (
                    end + sum(h.seconds + h.after for h in self.hops(edge, place, machine))
                    for (other, place), end in ends.items()
                    if other == source
                ),
                default=float("inf"),
            )
            for edge, source in self.incoming[task]
        ]
        return max([self.release[task], *arrivals])

    def grow(
        self, ends: dict[tuple[int, int], float], free: list[list[float]], last: float, end: float
    ) -> None:
        self.count()
        done = {task for task, _ in ends}
        if len(done) == len(self.tasks):
            firsts = (min(ends[t, m] for t, m in ends if t == task) for task in self.tasks)
            if all(first <= due for first, due in zip(firsts, self.due, strict=True)):
                self.least_end = min(self.least_end, end)
                return
        for task, machine in product(self.tasks, self.machines):
            if (task, machine) in ends or (task in done and task in self.exits):
                continue
            start, lasts = self.ready(ends, task, machine), self.seconds[task][machine]
            first = sorted(range(len(free[machine])), key=free[machine].__getitem__)
            cores = first[: self.problem.dag.cores[task]]
            if lasts > 0:
                start = max(start, free[machine][cores[-1]])
            if start < last or max(start + lasts, end) >= self.least_end:
                continue
            after = [list(cores) for cores in free]
            if lasts > 0:
                for core in cores:
                    after[machine][core] = start + lasts
            later = {**ends, (task, machine): start + lasts}
            self.grow(later, after, start, max(end, start + lasts))
