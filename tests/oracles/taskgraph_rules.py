"""The statement of task graphs once more, slow and obvious: pairs of activities in loops."""

from __future__ import annotations

from itertools import combinations

from makespan import Schedule, TaskGraph
from makespan.core.schedule import Activity

SLACK = 1e-9


def seconds_on(problem: TaskGraph, task: int, machine: int) -> float:
    if problem.dag.cores[task] > problem.network.cores[machine]:
        return float("inf")
    if task in problem.dag.own.tolist():
        return float(problem.dag.durations[problem.dag.own.tolist().index(task), machine])
    network = problem.network
    return float(problem.dag.work[task] / network.speed[machine] + network.task_setup[machine])


def shortest_route(problem: TaskGraph, start: int, goal: int) -> list[int]:
    """Return the first of the shortest paths in lexicographic order, by trying all prefixes."""
    arcs = problem.network.arcs
    paths = [[start]]
    while not any(path[-1] == goal for path in paths):
        paths = [
            [*path, node]
            for path in paths
            for node in range(len(arcs))
            if arcs[path[-1], node] > 0 and node not in path
        ]
    return min(path for path in paths if path[-1] == goal)


def is_valid(problem: TaskGraph, schedule: Schedule) -> bool:
    """Whether every rule of the statement holds."""
    return not broken_rule(problem, schedule)


def broken_rule(problem: TaskGraph, schedule: Schedule) -> str:
    """Return the first rule found broken, empty if none is."""
    dag, network = problem.dag, problem.network
    slack = SLACK * schedule.makespan
    names = list(problem.machines)
    rows = list(schedule.renamed(problem.machines).records())
    computes = [row for row in rows if row["kind"] == "compute"]
    where = {row["item"]: names.index(row["machine"]) for row in computes}
    if sorted(row["item"] for row in computes) != list(range(len(dag))):
        return "every task once"
    begin = {row["item"]: row["start"] for row in computes}
    end = {row["item"]: row["end"] for row in computes}
    for task in range(len(dag)):
        if dag.cores[task] > network.cores[where[task]]:
            return "cores"
        if abs(end[task] - begin[task] - seconds_on(problem, task, where[task])) > slack:
            return "duration"
    taken = dict(begin)
    fetched: dict[int, list[tuple[float, float]]] = {}
    for edge in range(len(dag.source)):
        source, target = int(dag.source[edge]), int(dag.target[edge])
        a, b, size = where[source], where[target], float(dag.size[edge])
        hops = [row for row in rows if row["kind"] == "transfer" and row["item"] == edge]
        ready, first = end[source], None
        if a == b:
            if hops:
                return "rows on one machine"
        else:
            path = shortest_route(problem, a, b)
            setups = [float(network.message_setup[n]) if n < len(network) else 0.0 for n in path]
            delay = network.delays.get((names[a], names[b]), 0.0)
            needed = size > 0 or sum(setups[:-1]) > 0 or delay > 0
            if hops or needed:
                if len(hops) != len(path) - 1:
                    return "route"
                for here, there, setup in zip(path, path[1:], setups, strict=False):
                    found = [row for row in hops if row["machine"] == names[here]]
                    if len(found) != 1 or found[0]["peer"] != names[there]:
                        return "route"
                    row = found[0]
                    due = size / float(network.arcs[here, there]) + setup
                    if abs(row["end"] - row["start"] - due) > slack:
                        return "transfer duration"
                    if row["start"] < ready - slack:
                        return "transfer too early"
                    first = row["start"] if first is None else first
                    ready = row["end"]
                ready += delay
        if begin[target] < ready - slack:
            return "task too early"
        if first is not None and problem.is_blocking:
            taken[target] = min(taken[target], first)
            fetched.setdefault(target, []).append((first, ready))
    if problem.deadline is not None and schedule.makespan > problem.deadline + slack:
        return "deadline"
    paid = sum(float(network.start_price[machine]) for machine in set(where.values()))
    for task, machine in where.items():
        held = int(dag.cores[task])
        paid += held * seconds_on(problem, task, machine) * float(network.price[machine])
    if problem.budget is not None and paid > problem.budget * (1 + SLACK):
        return "budget"
    for task in range(len(dag)):
        if taken[task] < dag.release[task] - slack:
            return "release"
        if end[task] > dag.deadline[task] + slack:
            return "deadline"
    if problem.is_blocking:
        for edge in range(len(dag.source)):
            if taken[int(dag.target[edge])] < end[int(dag.source[edge])] - slack:
                return "taken too early"
        if any(
            _collide(a, b, slack) for each in fetched.values() for a, b in combinations(each, 2)
        ):
            return "two fetches at a time"
    for machine in range(len(network)):
        here = [task for task in where if where[task] == machine]
        busy = [(taken[task], end[task]) for task in here for _ in range(dag.cores[task])]
        if most_at_a_time(busy, slack) > network.cores[machine]:
            return "cores"
    transfers = [row for row in rows if row["kind"] == "transfer"]
    for one, other in combinations(transfers, 2):
        if _share(problem, one, other) and _collide(
            (one["start"], one["end"]), (other["start"], other["end"]), slack
        ):
            return "contention"
    return ""


def _share(problem: TaskGraph, one: dict[str, object], other: dict[str, object]) -> bool:
    ends, others = (one["machine"], one["peer"]), (other["machine"], other["peer"])
    if problem.contention == "links":
        if problem.network.topology == "bus":
            return True
        return ends == others or (not problem.network.duplex and ends == others[::-1])
    if problem.contention == "ports":
        return any(
            a == b and a not in problem.network.routers for a, b in zip(ends, others, strict=True)
        )
    return False


def _collide(one: tuple[float, float], other: tuple[float, float], slack: float) -> bool:
    if one[1] <= one[0] or other[1] <= other[0]:
        return False
    return min(one[1], other[1]) - max(one[0], other[0]) > slack


def most_at_a_time(busy: list[tuple[float, float]], slack: float) -> int:
    lasting = [(start, end) for start, end in busy if end > start]
    return max(
        (sum(a <= start and end > start + slack for a, end in lasting) for start, _ in lasting),
        default=0,
    )


def transfer_rows(schedule: Schedule) -> list[int]:
    """Return the rows that are transfers."""
    return [row for row, kind in enumerate(schedule.kind.tolist()) if kind == Activity.TRANSFER]
