"""Lower bounds for task graphs."""

from dataclasses import replace
from itertools import chain

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.solution import Bound, Objective, Solution
from makespan.taskgraph.levels import colevels, levels, longest
from makespan.taskgraph.limits import (
    ALLOWED,
    latest_ends,
    least_price,
    missed,
    most_allowed,
    price_of,
)
from makespan.taskgraph.model.loops import graph_loop
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.refutation import LARGEST, MOST_DURATIONS, refuted_until

MOST_WIDTHS = 64  # numbers of cores that tasks need, of which so many are looked at

WIDEST_JOIN = 32
"""Predecessors of a task that are considered for sharing its machine; more only raise the bound."""

MAX_NODES, MAX_RATES = 512, 32  # up to which it is looked whether all times are whole

PATH = "every path is executed in sequence, in the least duration of each task"
AREA = (
    "all cores together work no faster than all speeds together; tasks of many cores only on "
    "machines that have them"
)
FORCED = (
    "a task waits for all data but those of the predecessors that share its machine, which are "
    "executed one after another there (Al-Mouhamed 1990)"
)
WINDOW = (
    "tasks that can start late and have much behind them share the cores for the time between "
    "(Carlier 1987, Dell'Amico and Martello 1995)"
)
REFUTED = (
    "a shorter plan would have tasks together that take too long on one machine, or data that "
    "cross too late: destructive improvement (Klein and Scholl 1999)"
)
GIVEN = "the longest path under the given assignment, and the work of each machine"


def bounds(problem: TaskGraph) -> tuple[Bound, ...]:
    """Return the longest path, the area, the longest path with forced communication, and more.

    All hold with copies of tasks too. Longest path: whichever copy of a task ends first has waited
    for some copy of each predecessor. Area: every task is executed at least once. Forced
    communication: no copy of a predecessor ends before that predecessor's bound, and its data come
    over the network, or a copy of it is executed on the machine before the task. Windows:
    :func:`least_makespan`. Where transfers wait, up to some thousand tasks and edges, shorter
    makespans are refuted, too (:mod:`makespan.taskgraph.refutation`). They are worked out once for
    a problem. Complexity: O(n m + n log n + e), compiled for large graphs.
    """
    found: tuple[Bound, ...] | None = vars(problem).get("bounds")
    if found is None:
        found = vars(problem)["bounds"] = _bounds(problem)
    return found


def _bounds(problem: TaskGraph) -> tuple[Bound, ...]:
    if problem.given.machine_of is not None:
        return (_given_plan(problem),)
    least, transfer = least_durations(problem), _least_transfers(problem)
    ends = _earliest_ends(problem, least, transfer)
    behind = _least_behind(problem, least, transfer)
    path, area = _longest(problem, least), _area(problem, least)
    forced = float((ends + behind - least).max(initial=0.0))
    known = max(path, area, forced)
    window = least_makespan(problem, ends - least, least, behind - least, known)
    found = (
        Bound(value=path, name="longest path", source=PATH),
        Bound(value=area, name="area", source=AREA),
        Bound(value=forced, name="forced communication", source=FORCED),
        Bound(value=window, name="windows", source=WINDOW),
    )
    if not problem.transfers_wait or len(problem.network) == 1:
        return found
    return (*found, Bound(value=_refuted(problem, window, least), name="refuted", source=REFUTED))


def grain(problem: TaskGraph) -> float | None:
    """Return 1 where every duration, release, hop, set-up and delay is whole, else None.

    The makespan of a plan without needless waiting is a sum of them. Where there are many speeds,
    rates or machines nothing is said. Complexity: O(n + e).
    """
    dag, network = problem.dag, problem.network
    if len(network.nodes) > MAX_NODES:
        return None
    speeds, rates = np.unique(network.speed), np.unique(network.arcs[network.arcs > 0])
    if max(len(speeds), len(rates)) > MAX_RATES:
        return None
    work = np.delete(dag.work, dag.own)
    columns = chain(
        (
            network.task_setup, network.message_setup, network.routing.delay,
            dag.durations, dag.release,
        ),
        (work / speed for speed in speeds),
        (dag.size / rate for rate in rates),
    )  # fmt: skip
    return 1.0 if all((column == np.floor(column)).all() for column in columns) else None


def least_durations(problem: TaskGraph) -> Floats:
    """Return the least seconds of each task over the machines, in memory for the tasks only."""
    dag, network = problem.dag, problem.network
    least = np.full(len(dag), np.inf)
    for machine in range(len(network)):
        seconds = dag.work / network.speed[machine] + network.task_setup[machine]
        np.minimum(least, seconds, out=least)
    own, rows = problem.stated
    if len(own):
        least[own] = rows.min(axis=1)
    return least


def _longest(problem: TaskGraph, seconds: Floats, edge: Floats | None = None) -> float:
    edge = np.zeros(len(problem.dag.source)) if edge is None else edge
    return float(colevels(problem.dag, seconds, edge, problem.dag.release).max(initial=0.0))


def _area(problem: TaskGraph, least: Floats) -> float:
    """Return the work over the speed of all cores, or the least durations over the cores.

    Tasks of so many cores, or more, are on machines that have as many: these execute the work of
    all their cores, and so many tasks at a time. Where a task takes more than half of the cores of
    any machine, that is one after another.
    """
    dag, speed, cores = problem.dag, problem.network.speed, problem.cores
    widths, found = np.unique(dag.cores), 0.0
    for width in widths[:: 1 + len(widths) // MOST_WIDTHS].tolist():
        wide, lanes = dag.cores >= width, cores // width
        for held, at_once in ((dag.cores[wide], np.where(lanes, cores, 0)), (1, lanes)):
            found = max(found, float((least[wide] * held).sum()) / float(at_once.sum()))
            if not len(dag.own):
                work = float((dag.work[wide] * held).sum())
                found = max(found, work / float((speed * at_once).sum()))
    return found


def earliest_ends(problem: TaskGraph) -> Floats:
    """Return when each task ends at the earliest: the longest path to it, with forced data."""
    return _earliest_ends(problem, least_durations(problem), _least_transfers(problem))


def _earliest_ends(problem: TaskGraph, least: Floats, transfer: Floats) -> Floats:
    dag = problem.dag
    along = dag.order, dag.first_in, dag.predecessors
    return _ends(problem, along, least, transfer[dag.in_edges], dag.release)


def _least_behind(problem: TaskGraph, least: Floats, transfer: Floats) -> Floats:
    """Return the least time from the start of each task to the end of the plan.

    Turned round in time, a plan is one of the graph turned round: data are forced to cross behind
    a task, too. With copies they are not, as each successor may have one beside it.
    """
    dag = problem.dag
    if problem.duplication:
        return levels(dag, least, np.zeros(len(dag.source)))
    along = np.ascontiguousarray(dag.order[::-1]), dag.first_out, dag.successors
    return _ends(problem, along, least, transfer[dag.out_edges], np.zeros(len(dag)))


def _least_transfers(problem: TaskGraph) -> Floats:
    """Return the least seconds that the data of each edge take between two machines."""
    network, dag = problem.network, problem.dag
    if len(network) == 1:
        return np.zeros(len(dag.source))
    others, routing = ~np.eye(len(network), dtype=bool), network.routing
    fixed, each = routing.fixed_seconds[others].min(), routing.seconds_per_unit[others].min()
    return np.asarray(fixed + dag.size * each)


def _ends(
    problem: TaskGraph, along: tuple[Integers, Integers, Integers], least: Floats,
    transfer: Floats, release: Floats,
) -> Floats:  # fmt: skip
    """Return the longest path to each task with forced data.

    ``along`` are the tasks in order, where the neighbours of each begin, and the neighbours;
    ``transfer`` is in the order of these.
    """
    dag, joins = problem.dag, np.diff(along[1])
    width = int(min(WIDEST_JOIN, joins.max(initial=0))) if transfer.any() else 0
    if not width:
        return longest(*along, least, transfer, release)
    ends = np.zeros(len(dag))
    forced_ends.run(
        len(dag) + int((joins * (8 + np.minimum(joins, width) // 4)).sum()),
        (*along, transfer, least, least * dag.cores, release),
        (ends, np.zeros(width), np.zeros(width, dtype=np.int64)),
        (float(problem.cores.max()),),
    )
    return ends


def _refuted(problem: TaskGraph, known: float, least: Floats) -> float:
    """Return what is refuted, or ``known``."""
    small = len(problem.dag) + len(problem.dag.source) <= LARGEST
    small &= len(problem.dag) * len(problem.network) <= MOST_DURATIONS
    return refuted_until(problem, known, least) if small else known


def _given_plan(problem: TaskGraph) -> Bound:
    dag, network, routing = problem.dag, problem.network, problem.network.routing
    machine = problem.given.machine_of
    assert machine is not None
    seconds = problem.durations_on(np.arange(len(dag)), machine)
    a, b = machine[dag.source], machine[dag.target]
    edge = routing.fixed_seconds[a, b] + routing.seconds_per_unit[a, b] * dag.size
    edge[a == b] = 0.0
    work = np.bincount(machine, weights=seconds * dag.cores, minlength=len(network)) / problem.cores
    value = max(_longest(problem, seconds, edge), float(work.max()))
    return Bound(value=value, name="given plan", source=GIVEN)


def impossible(problem: TaskGraph) -> str | None:
    """Say why no plan keeps the limits, where bounds show that; None else.

    A task can end no earlier than the longest path to it allows; and all that has to be done by a
    deadline, in the least durations, takes no longer than all cores together have until then. What
    comes before others has to be done by their deadline less what is between. Complexity: O(n log n
    + e).
    """
    if problem.given.anything:
        return None
    if problem.budget is not None:
        cheapest = least_price(problem)
        if cheapest > most_allowed(problem):
            return (
                f"the budget is {problem.budget:.12g}, but no plan costs less than {cheapest:.12g}"
            )
    if not problem.has_deadlines:
        return None
    dag, due = problem.dag, latest_ends(problem)
    early = earliest_ends(problem)
    task = int(np.argmax(early - due))
    if early[task] > due[task]:
        name, at = dag.names[task], float(problem.due[task])
        return f"{name} ends at {early[task]:.12g} at the earliest, its deadline is {at:.12g}"
    least = least_durations(problem)
    last = float(due[due < np.inf].max())
    behind = levels(dag, least, np.zeros(len(dag.source)), last - due) - least
    by = last - behind  # inf where neither a task nor what follows it has a deadline
    order = np.argsort(by, kind="stable")[: np.count_nonzero(by < np.inf)]
    work = np.cumsum((least * dag.cores)[order]) / float(problem.cores.sum())
    over = np.flatnonzero(work > by[order] * (1 + ALLOWED))
    if not len(over):
        return None
    at = int(over[0])
    return f"what has to end by {by[order[at]]:.12g} takes all cores together {work[at]:.12g} s"


def undated(problem: TaskGraph) -> TaskGraph:
    """Return the problem to end early without the deadline of the whole plan."""
    if problem.deadline is None or problem.objective != "makespan":
        return problem
    return replace(problem, deadline=None)


def enforce_limits(problem: TaskGraph, solution: Solution) -> Solution:
    """Return the solution, without its plan where that misses a limit.

    Where the least price is sought, methods that seek the least makespan make plans, too; what
    they prove counts nothing.
    """
    schedule = solution.schedule
    if solution.infeasible is not None:
        return solution
    why = None if schedule is None else missed(problem, schedule)
    if schedule is None or why is not None:
        infeasible = impossible(problem)
        said = [] if why is None or infeasible else [f"a plan that is not valid was found: {why}"]
        least = solution.makespan if solution.optimal else solution.lower_bound
        return Solution(
            schedule=None,
            lower_bound=least if problem.objective == "makespan" else None,
            infeasible=infeasible,
            stopped=solution.stopped,
            notes=(*solution.notes, *said),
        )
    if problem.objective != "price":
        return solution
    price, least = price_of(problem, schedule), least_price(problem)
    proved = problem.given.anything  # its assignment decides the price
    if solution.objective is not None:
        proved = solution.optimal
        least = max(least, solution.objective.bound or 0.0)
    proved = proved or price <= least * (1 + ALLOWED)
    objective = Objective(name="price", value=price, bound=price if proved else min(least, price))
    return replace(solution, lower_bound=None, optimal=proved, objective=objective)


@graph_loop
def forced_ends(  # type: ignore[no-untyped-def]
    order, first_in, predecessors, in_weight, least, area, release, ends, arrival, member, cores
):
    """Write the earliest end of each task that any plan on any machines allows.

    The predecessors whose data would come last are those worth sharing a machine with: for each
    number of them, the machine executes them (on ``cores`` at most) and waits for the data of the
    others. ``area`` is what tasks take of cores; ``arrival`` and ``member`` are room for the last
    arrivals, falling.
    """
    width = len(arrival)
    for index in range(len(order)):
        task = order[index]
        kept = 0
        for position in range(first_in[task], first_in[task + 1]):
            source = predecessors[position]
            time = ends[source] + in_weight[position]
            hole = kept
            if kept == width:
                if time <= arrival[width - 1]:
                    continue
                hole = width - 1
            else:
                kept += 1
            while hole > 0 and arrival[hole - 1] < time:
                arrival[hole] = arrival[hole - 1]
                member[hole] = member[hole - 1]
                hole -= 1
            arrival[hole] = time
            member[hole] = source
        begin = arrival[0] if kept > 0 else 0.0
        work = 0.0
        latest = 0.0
        earliest_start = 0.0
        for shared in range(kept):
            source = member[shared]
            own_start = ends[source] - least[source]
            earliest_start = own_start if shared == 0 else min(earliest_start, own_start)
            work += area[source]
            latest = max(latest, ends[source])
            local = max(latest, earliest_start + work / cores)
            others = arrival[shared + 1] if shared + 1 < kept else 0.0
            begin = min(begin, max(local, others))
        ends[task] = max(begin, release[task]) + least[task]


STEPS = 96  # earliest starts, and as many tails, that windows begin and end at
LOOKS = 8  # windows that are packed


def least_makespan(
    problem: TaskGraph, head: Floats, least: Floats, tail: Floats, known: float
) -> float:
    """Return a makespan that no plan can beat, at least ``known``.

    No task starts before its ``head``, and ``tail`` passes from its end to that of the plan. So
    all tasks with a head of ``a`` or more and a tail of ``c`` or more are executed within a window
    that is shorter than the plan by ``a + c``. Their work takes all cores a time, and of the ``k m
    + 1`` longest, ``k + 1`` share one of ``m`` cores. Source: Carlier 1987 for windows, Dell'Amico
    and Martello 1995 for tasks that share. With copies, all of this holds for that copy of each
    task which ends first. Complexity: O(n log n), and O(n) for each of a few windows.
    """
    dag, speed, count = problem.dag, problem.network.speed, int(problem.cores.sum())
    alike = bool((speed == speed[0]).all())
    if alike and int(dag.cores.sum()) <= count:
        return known  # a path is as long
    begins, row = _steps(head)
    ends, column = _steps(tail)
    cell, shape = row * len(ends) + column, (len(begins), len(ends))

    def inside(amount: Floats | Integers | None) -> Floats:
        """Sum over the tasks of every window."""
        table = np.bincount(cell, amount, shape[0] * shape[1]).reshape(shape)
        return np.asarray(table.cumsum(axis=0).cumsum(axis=1))

    tasks = inside(None)
    busy = tasks if dag.cores.max() == 1 else np.rint(inside(dag.cores)).astype(np.int64)
    busy = np.minimum(busy, count)
    outside = np.where(tasks, begins[:, None] + ends, -np.inf)
    used = least * dag.cores
    area = inside(used)
    works = [(used, area, np.arange(1.0, count + 1.0))]
    if not (alike or len(dag.own)):
        fastest, used = np.sort(np.repeat(speed, problem.cores))[::-1], dag.work * dag.cores
        works.append((used, inside(used), np.cumsum(fastest)))
    for amount, total, rate in works:
        found = outside + total / rate[busy - 1]
        i, j = divmod(int(found.argmax()), shape[1])
        if found[i, j] > known:  # summed again, as sums of all windows at once are rounded
            within = (head >= begins[i]) & (tail >= ends[j])
            length = amount[within].sum() / rate[busy[i, j] - 1]
            known = max(known, float(outside[i, j] + length))
    most = outside + np.minimum(-(-tasks // count) * least.max(), area / count + least.max())
    worth = np.flatnonzero(most > known)
    falling = np.argsort(-least, kind="stable")
    for window in worth[np.argsort(-most.flat[worth], kind="stable")][:LOOKS].tolist():
        i, j = divmod(window, shape[1])
        if most[i, j] <= known:
            break
        within = (head[falling] >= begins[i]) & (tail[falling] >= ends[j])
        known = max(known, float(outside[i, j]) + _packed(least[falling[within]], count))
    return known


def _steps(times: Floats) -> tuple[Floats, Integers]:
    """Return some of the times, falling, and for each time the first that is not later."""
    steps = np.unique(times)
    if len(steps) > STEPS:
        steps = steps[np.linspace(0, len(steps) - 1, STEPS).astype(np.int64)]
    return steps[::-1], len(steps) - np.searchsorted(steps, times, side="right")


def _packed(least: Floats, cores: int) -> float:
    """Return how long one of the cores is busy at least; the least durations fall."""
    total = np.concatenate(([0.0], np.cumsum(least)))
    shared = np.arange(1, (len(least) - 1) // cores + 1)
    last = shared * cores + 1
    return float((total[last] - total[last - shared - 1]).max(initial=0.0))
