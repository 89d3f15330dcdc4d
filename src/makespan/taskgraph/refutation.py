"""Makespans that no plan has, as tasks would have to be together that can't be.

A makespan is assumed, and what follows is collected until nothing more does, or a contradiction
(destructive improvement: Klein and Scholl 1999, "Computing lower bounds by destructive
improvement"). What follows from the assumption that a plan ends by ``until``:

1. *Heads and tails*: how early a task can start, and how much is at least behind its end. Some of
   its predecessors share its machine and are executed one after another there, the data of the
   others come over the network (Al-Mouhamed 1990). Where data need turns on the way into a machine
   (its port, its links, or the machine itself when communication blocks), each predecessor costs
   either its time on the machine or that of its data on the way in: the least of the greater sum,
   which is a fractional knapsack. Tails are heads of the graph turned round.
2. *Together*: the ends of an edge whose data can't cross any more between the head of its source
   and the tail of its target are on one machine.
3. *Apart*: tasks whose clusters take too long on any one machine are on different ones, so data
   between them cross.
4. A *contradiction*: a head, a task and its tail, or a cluster on one machine, or what all cores
   have to do, or what crosses on its way into or out of a machine takes longer than there is.
"""

from collections.abc import Sequence
from operator import add
from typing import NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.taskgraph.problem import TaskGraph

LARGEST = 4_000  # tasks and edges up to which makespans are refuted, in plain Python
MOST_DURATIONS = 200_000  # durations of tasks on machines up to which they are
STEPS = 60_000  # tasks and edges looked at in all, about, before the search for the least one stops
ADDED = 100  # durations on machines that are added up in the time in which an edge is looked at
ROUNDING, MARGIN = 1e-11, 1e-10
"""By how much, relative to it, a makespan is exceeded before that counts; and a bit more."""
RESOLVED = 1e-4  # the part of a makespan to which the least that isn't refuted is found
WIDEST_JOIN = 32  # neighbours of a task that are considered; more only raise the bound


def refuted_until(problem: TaskGraph, known: float, least: Floats) -> float:
    """Return a makespan, at least ``known``, that no plan is below; ``least`` are durations.

    ``known`` is raised by halving what is between it and the time that one machine takes for all.
    Complexity: O((n + e) log w) a round, w the widest join; in all a constant amount of work.
    """
    alone = float((problem.durations / problem.cores).sum(axis=0).min())
    alone += float(problem.dag.release.max(initial=0.0))
    if alone <= known * (1 + RESOLVED):
        return known
    facts, steps = _Facts(problem, least), 0
    low, high = known, alone
    guesses = [known * (1 + RESOLVED), alone * (1 - MARGIN)]
    while high - low > RESOLVED * high and steps <= STEPS:
        guess = guesses.pop() if guesses else (low + high) / 2
        attempt = _Attempt(facts, guess)
        if attempt.refuted():
            low = guess
        else:
            high = guess
        steps += attempt.steps
    return low


class _Side(NamedTuple):
    """A graph as it is, or turned round.

    ``edges`` are the edge and the neighbour of each task that come before it; ``hop`` is the least
    time of each edge's data on the link into (out of) a machine, of which there are ``lanes``.
    """

    order: Sequence[int]
    edges: list[list[tuple[int, int]]]
    hop: list[float]
    lanes: float


class _Facts:
    """What holds for all plans, in lists."""

    def __init__(self, problem: TaskGraph, least: Floats) -> None:
        dag, network = problem.dag, problem.network
        count, size = len(network), dag.size
        routing, others = network.routing, ~np.eye(count, dtype=bool)
        across = routing.fixed_seconds[others].min() + (
            size * routing.seconds_per_unit[others].min()
        )
        self.across: list[float] = across.tolist()
        self.tasks = len(dag)
        self.least: list[float] = least.tolist()
        self.release: list[float] = dag.release.tolist()
        self.ends = list(zip(dag.source.tolist(), dag.target.tolist(), strict=True))
        self.blocking = problem.is_blocking
        self.cores = float(problem.cores.max())
        self.machines = count
        shares = np.unique(problem.durations * dag.cores[:, None] / problem.cores, axis=1)
        self.shares: list[list[float]] = shares.tolist()
        cores = float(problem.cores.sum())
        part, fetching = least * dag.cores / cores, 1.0 / cores
        if not len(dag.own) and len(np.unique(network.speed)) > 1:
            speeds = float((network.speed * problem.cores).sum())
            part, fetching = dag.work * dag.cores / speeds, float(network.speed.min()) / speeds
        self.part: list[float] = part.tolist()
        self.fetching = fetching
        into: list[list[tuple[int, int]]] = [[] for _ in range(len(dag))]
        out: list[list[tuple[int, int]]] = [[] for _ in range(len(dag))]
        for edge, (a, b) in enumerate(self.ends):
            into[b].append((edge, a))
            out[a].append((edge, b))
        arcs, setup = network.arcs, network.routing.setup
        ins = [np.flatnonzero(arcs[:, machine] > 0) for machine in range(count)]
        outs = [np.flatnonzero(arcs[machine] > 0) for machine in range(count)]
        fastest = max(float(arcs[each, m].max(initial=0.0)) for m, each in enumerate(ins))
        first = max(float(arcs[m, each].max(initial=0.0)) for m, each in enumerate(outs))
        lowest = min(float(setup[each].min(initial=np.inf)) for each in ins)
        order: list[int] = dag.order.tolist()
        self.sides = (
            _Side(order, into, (size / fastest + lowest).tolist(), self._lanes(problem, ins, 1)),
            _Side(
                order[::-1], out, (size / first + float(setup[:count].min())).tolist(),
                self._lanes(problem, outs, 0),
            ),
        )  # fmt: skip

    def _lanes(self, problem: TaskGraph, near: list[np.ndarray], end: int) -> float:
        """Return how many transfers come into a machine (go out of it) at a time, at most."""
        if problem.contention == "none":
            return np.inf
        if problem.contention == "ports":
            return 1.0
        medium = problem.network.medium
        return float(
            max(
                len(np.unique(medium[each, m] if end else medium[m, each]))
                for m, each in enumerate(near)
            )
        )


class _Attempt:
    """What follows from a makespan.

    ``heads`` and ``tails``: when tasks are executed at the earliest, and what is at least behind
    their ends. ``taken``: when machines take tasks at the earliest, with their fetches, where
    communication blocks. ``busy``: the least time for which a task has a core, with what it
    fetches. ``apart``: whether the data of each edge cross.
    """

    def __init__(self, facts: _Facts, until: float) -> None:
        self.facts, self.until = facts, until * (1 + ROUNDING)
        self.heads, self.tails = facts.release.copy(), [0.0] * facts.tasks
        self.taken = facts.release.copy()
        self.busy = facts.least.copy()
        self.apart = [False] * len(facts.ends)
        self.parent = list(range(facts.tasks))
        self.members = {task: [task] for task in self.parent}
        self.shares = dict(enumerate(facts.shares))
        self.steps = 0

    def refuted(self) -> bool:
        """Whether there is a contradiction."""
        while True:
            edges = len(self.facts.ends)
            self.steps += self.facts.tasks + edges + edges * self.facts.machines // ADDED
            changed = self._look_back()
            changed |= self._look_ahead()
            if self._too_long():
                return True
            joined = self._join()
            if joined is None or self._clusters_too_long():
                return True
            if not (self._part() or joined or changed):
                return False

    def _of(self, task: int) -> int:
        """Return the task that stands for a task's cluster."""
        parent = self.parent
        while parent[task] != task:
            parent[task] = parent[parent[task]]
            task = parent[task]
        return task

    def _look_back(self) -> bool:
        """Raise the heads; return whether any was."""
        facts, changed = self.facts, False
        side, least = facts.sides[0], facts.least
        ends = self._ends = [0.0] * facts.tasks
        for task in side.order:
            head = self.heads[task]
            if side.edges[task]:
                if facts.blocking:
                    ended = max([ends[each] for _, each in side.edges[task]])
                    self.taken[task] = max(self.taken[task], ended)
                found = self._earliest(side, task, self.taken, ends)
                if found > head * (1 + ROUNDING):
                    self.heads[task] = head = found
                    changed = True
                if not facts.blocking:
                    self.taken[task] = head
            ends[task] = head + least[task]
        return changed

    def _look_ahead(self) -> bool:
        """Raise the tails; return whether any was."""
        changed, side = False, self.facts.sides[1]
        behind = self._behind = [0.0] * self.facts.tasks
        for task in side.order:
            tail = self.tails[task]
            if side.edges[task]:
                found = self._earliest(side, task, self.tails, behind)
                if found > tail * (1 + ROUNDING):
                    self.tails[task] = tail = found
                    changed = True
            behind[task] = tail + self.busy[task]
        return changed

    def _earliest(self, side: _Side, task: int, since: list[float], ends: list[float]) -> float:
        """Return when what comes before a task is done and there, from its begins and ends."""
        facts, own, ahead = self.facts, self._of(task), side is self.facts.sides[0]
        across, busy, cores = facts.across, self.busy, facts.cores
        fetches = facts.blocking and ahead
        carried = facts.blocking and not ahead  # ends behind have these fetches in them
        latest, earliest, work, there, first = 0.0, np.inf, 0.0, 0.0, np.inf
        fetched = crossing = 0.0
        free = []
        for edge, other in side.edges[task]:
            if self._of(other) == own:
                latest, work = max(latest, ends[other]), work + busy[other]
                earliest = min(earliest, since[other])
            elif self.apart[edge]:
                there = max(there, ends[other] + (0.0 if carried else across[edge]))
                fetched += across[edge]
                crossing += side.hop[edge]
                first = min(first, ends[other])
            else:
                free.append((ends[other] + across[edge], edge, other))
        free.sort(reverse=True)
        del free[WIDEST_JOIN:]
        shared = latest, earliest, work
        best = np.inf
        for place in range(len(free) + 1):  # so many share the machine
            local = max(latest, earliest + work / cores if work else 0.0)
            best = min(best, max(local, free[place][0] if place < len(free) else 0.0))
            if place < len(free):
                other = free[place][2]
                latest, work = max(latest, ends[other]), work + busy[other]
                earliest = min(earliest, since[other])
        best = max(best, there)
        latest, earliest, work = shared
        earliest = min([earliest, *(since[other] for _, _, other in free)])
        own_work = earliest + work / cores if work or free else 0.0
        if fetches:
            begin = max(self.taken[task], latest, own_work if work else 0.0)
            items = [(across[edge], busy[other] / cores) for _, edge, other in free]
            return max(best, begin + fetched + _least_sum(items, begin - own_work))
        if side.lanes < np.inf and (free or crossing):
            first = min([first, *(ends[other] for _, _, other in free)])
            first = 0.0 if carried else first  # they are fetched while their tasks have a core
            items = [(side.hop[edge] / side.lanes, busy[other] / cores) for _, edge, other in free]
            best = max(best, _balanced(items, first + crossing / side.lanes, own_work))
        return best

    def _too_long(self) -> bool:
        """Whether a task, or all of them, end too late."""
        facts = self.facts
        if any(a + b > self.until for a, b in zip(self._ends, self.tails, strict=True)):
            return True
        tasks = range(facts.tasks)
        if facts.blocking:
            return self._crowded(
                tasks,
                [facts.part[t] + facts.fetching * (self.busy[t] - facts.least[t]) for t in tasks],
            )
        return self._crowded(tasks, facts.part)

    def _crowded(self, tasks: Sequence[int], part: Sequence[float]) -> bool:
        """Whether those that are taken late, or end early, take too long where these parts fit."""
        for one, other in ((self.taken, self.tails), (self.tails, self.taken)):
            done, least = 0.0, np.inf
            for task in sorted(tasks, key=one.__getitem__, reverse=True):
                done += part[task]
                least = min(least, other[task])
                if one[task] + done + least > self.until:
                    return True
        return False

    def _join(self) -> bool | None:
        """Put together what can't be apart; None where it has to be."""
        joined = False
        for edge, (a, b) in enumerate(self.facts.ends):
            across, one, other = self.facts.across[edge], self._of(a), self._of(b)
            if one == other:
                continue
            begin = max(self._ends[a], self.taken[b]) if self.facts.blocking else self._ends[a]
            fetched = self.facts.blocking and self.apart[edge]
            if begin + (0.0 if fetched else across) + self._behind[b] > self.until:
                if self.apart[edge]:
                    return None
                self.parent[one] = other
                self.members[other] += self.members.pop(one)
                gone = self.shares.pop(one)
                self.shares[other] = [x + y for x, y in zip(self.shares[other], gone, strict=True)]
                joined = True
        return joined

    def _clusters_too_long(self) -> bool:
        """Whether a cluster takes too long on any machine, with what comes in and goes out."""
        facts, separate = self.facts, 0
        part = [each / facts.cores for each in self.busy]
        for own, tasks in self.members.items():
            head, tail = self._window(tasks)
            fetched = sum(self.busy[t] - facts.least[t] for t in tasks) / facts.cores
            load = min(self.shares[own]) + fetched
            if head + load + tail > self.until:
                return True
            separate += 2 * load > self.until
            if len(tasks) > 1 and self._crowded(tasks, part):
                return True
        return separate > facts.machines

    def _window(self, tasks: Sequence[int]) -> tuple[float, float]:
        """Return the least head and tail of tasks on one machine."""
        taken, tails = self.taken, self.tails
        return min([taken[each] for each in tasks]), min([tails[each] for each in tasks])

    def _part(self) -> bool:
        """Note whose data have to cross; return whether there are any more."""
        parted = False
        for edge, (a, b) in enumerate(self.facts.ends):
            one, other = self._of(a), self._of(b)
            if one == other or self.apart[edge]:
                continue
            both = min(map(add, self.shares[one], self.shares[other]))
            heads, tails = zip(*map(self._window, (self.members[one], self.members[other])),
                               strict=True)  # fmt: skip
            if min(heads) + both + min(tails) > self.until:
                self.apart[edge] = parted = True
                if self.facts.blocking:
                    self.busy[b] += self.facts.across[edge]
        return parted


def _least_sum(items: list[tuple[float, float]], room: float) -> float:
    """Return the least of what is fetched, and of work beyond ``room``.

    An item is fetched, in its first number of seconds, or executed, in its second, or both in
    parts.

    >>> _least_sum([(4.0, 2.0), (1.0, 3.0)], 1.0)
    2.0
    """
    total = 0.0
    for fetch, work in sorted(items, key=lambda item: -item[0] / item[1] if item[1] else -np.inf):
        left = max(0.0, work - max(room, 0.0))
        room -= work
        if work:
            total += min(left, fetch * left / work)
    return total


def _balanced(items: list[tuple[float, float]], came: float, done: float) -> float:
    """Return the least end of two queues, to one of which each item goes, or parts of it to both.

    ``came`` is the end of the first without items, ``done`` that of the second; an item takes its
    first number of seconds in the first queue, its second in the second.

    >>> _balanced([(4.0, 2.0), (4.0, 4.0)], 0.0, 0.0)
    3.0
    """
    came += sum(fetch for fetch, _ in items)
    for fetch, work in sorted(items, key=lambda item: -item[0] / item[1] if item[1] else -np.inf):
        if came - fetch < done + work:
            part = (came - done) / (fetch + work) if came > done else 0.0
            return max(done, came - part * fetch)
        came, done = came - fetch, done + work
    return max(came, done)
