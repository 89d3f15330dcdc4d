"""Times of tasks whose machines and order are known, and plans that are there at once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers, frozen, readonly
from makespan.core.numeric.binding import bind
from makespan.core.numeric.jit import pays
from makespan.core.numeric.sorting import inverse, sorted_by
from makespan.core.schedule import Activity, Schedule
from makespan.core.system.memory import claim
from makespan.taskgraph.levels import by_level, levels, ranks, weights
from makespan.taskgraph.list_scheduling import append_in_order
from makespan.taskgraph.model.loops import LOADED_FROM, graph_loop, hold_in_order, replace_first
from makespan.taskgraph.problem import TaskGraph


def one_by_one(
    problem: TaskGraph,
    machine: Integers,
    order: Integers,
    *,
    in_turn: bool = False,
    expired: Callable[[], bool] = lambda: False,
) -> Schedule | None:
    """Return the plan that places the tasks of ``order`` on their machines, one after another.

    Where transfers wait, no task starts before the one that its machine took before it, and there
    is no plan once ``expired``; else see :func:`in_order`.
    """
    if problem.transfers_wait:
        return append_in_order(problem, machine, order, expired)
    return in_order(problem, machine, inverse(order), in_turn=in_turn)


def timed(problem: TaskGraph) -> Schedule:
    """Return the given plan, as early as possible; tasks without a sequence go by level."""
    given = problem.given
    assert given.machine_of is not None
    order = by_level(given.chained, ranks(problem))
    schedule = one_by_one(problem, given.machine_of, order, in_turn=True)
    assert schedule is not None
    return schedule


def steps_of_cores(problem: TaskGraph) -> int:
    """Return the steps that loops take over cores where tasks hold several of them."""
    return len(problem.dag) * int(problem.cores.max()) if problem.is_rigid else 0


COMPILE_FROM = 300_000  # tries of a task on a machine, and edges, from which compiling pays off


def is_compiled(problem: TaskGraph) -> bool:
    """Whether there is enough for compiled loops: of single cores, where no transfer waits."""
    steps = len(problem.dag) * len(problem.network) + len(problem.dag.source)
    made = not problem.transfers_wait and not problem.is_rigid
    return made and pays(steps, COMPILE_FROM, LOADED_FROM, of=("taskgraph",))


def columns(problem: TaskGraph) -> dict[str, Any]:
    """Return what compiled loops read of a problem, by the names of their arguments."""
    dag, network = problem.dag, problem.network
    read = {
        "work": dag.work, "release": dag.release, "own_row": problem.stated_row,
        "own": problem.stated[1], "speed": network.speed, "setup": network.task_setup,
        "first_core": problem.first_core, "first_in": dag.first_in,
        "predecessors": dag.predecessors, "size": dag.size[dag.in_edges],
        "fixed": network.routing.fixed_seconds, "per_unit": network.routing.seconds_per_unit,
    }  # fmt: skip
    return dict(zip(read, readonly(*read.values()), strict=True))


def placed(problem: TaskGraph, pinned: Integers | None = None) -> dict[str, Any]:
    """Return what compiled loops write of a plan, by the names of their arguments."""
    count, nowhere = len(problem.dag), np.full(len(problem.dag), -1, dtype=np.int64)
    (given,) = readonly(nowhere if pinned is None else pinned)
    return {
        "pinned": given, "machine": nowhere.copy(), "start": np.zeros(count),
        "end": np.zeros(count), "tail": np.zeros(int(problem.cores.sum())),
    }  # fmt: skip


def in_order(
    problem: TaskGraph, machine: Integers, key: Integers, *, in_turn: bool = False
) -> Schedule:
    """Return the plan that executes tasks on their machines in the order of ``key``.

    Nothing is inserted, and no transfer waits. With ``in_turn`` tasks also start in that order
    where a machine has several cores, or they take no time. Complexity: O(n log n + n log c + e), c
    the cores of a machine; compiled for large graphs.
    """
    dag, network = problem.dag, problem.network
    count, routing = len(dag), network.routing
    start, end = np.zeros(count), np.zeros(count)
    in_sequence.run_by_name(
        count + len(dag.source) + routing.delay.size + steps_of_cores(problem),
        {
            "order": sorted_by(key, dag.position), "machine": machine,
            "seconds": problem.durations_on(np.arange(count), machine),
            "held": np.minimum(dag.cores, problem.cores[machine]),
            "first_core": problem.first_core, "release": dag.release, "first_in": dag.first_in,
            "predecessors": dag.predecessors, "size": dag.size[dag.in_edges],
            "fixed": routing.fixed_seconds.ravel(), "per_unit": routing.seconds_per_unit.ravel(),
        },
        {
            "core_free": np.zeros(int(problem.cores.sum())), "latest": np.zeros(len(network)),
            "start": start, "end": end,
        },
        machines=len(network), in_turn=in_turn, rigid=problem.is_rigid,
    )  # fmt: skip
    return planned(problem, machine, start, end)


def planned(
    problem: TaskGraph,
    machine: Sequence[int] | Integers,
    start: Sequence[float] | Floats,
    end: Sequence[float] | Floats,
) -> Schedule:
    """Return the plan with these tasks and transfers that wait for nothing, each behind another.

    Tasks start as soon as their data and a core are there. On single cores that are all busy with
    them, nothing could then start earlier: what was inserted before others delayed none of them.
    Complexity: O(n + e h), h the hops of the longest route; compiled for large graphs.
    """
    dag, routing, count = problem.dag, problem.network.routing, len(problem.dag)
    place, ends = np.asarray(machine, dtype=np.int64), np.asarray(end, dtype=np.float64)
    steps = count + 4 * len(dag.source) + routing.rates.size
    sent = {
        "source": dag.source, "target": dag.target, "size": dag.size, "place": place, "end": ends,
        "fixed": routing.fixed_seconds.ravel(), "following": routing.following.ravel(),
    }  # fmt: skip
    links = {"rates": routing.rates.ravel(), "setup": routing.setup}
    pairs = {"machines": len(routing.delay), "nodes": len(routing.rates)}
    room = 0
    if len(routing.rates) > 1:
        room = count_hops.run(steps, (*sent.values(),), (), (*pairs.values(),))
    values = {
        "machine": place, "peer": -1, "item": np.arange(count), "amount": dag.work,
        "start": start, "end": ends,
    }  # fmt: skip
    columns: dict[str, Any] = {}
    for name, value in values.items():
        whole = name in ("machine", "peer", "item")
        columns[name] = np.empty(count + room, dtype=np.int64 if whole else np.float64)
        columns[name][:count] = value
    names = {"machine": "tail", "peer": "head", "end": "until"}
    written = {names.get(name, name): column for name, column in columns.items()}
    transfer_rows.run_by_name(steps, sent | links, written, **pairs, row=count)
    columns = {name: frozen(column) for name, column in columns.items()}
    kind = np.full(count + room, Activity.TRANSFER, dtype=np.int8)
    kind[:count] = Activity.COMPUTE
    earliest = problem.is_simple and bool((ends > np.asarray(start)).all())
    return Schedule.of_columns(problem.machines, kind=frozen(kind), earliest=earliest, **columns)


SECONDS_A_STEP = 1e-6  # what a method that is not compiled takes at the least for a task or an edge


def cannot_end(problem: TaskGraph, control: Control) -> bool:
    """Whether the time that is left is too short for a method that is not compiled."""
    left = control.remaining
    least = SECONDS_A_STEP * (len(problem.dag) + len(problem.dag.source))
    return control.expired() or (left is not None and left < least)


def fallback_plan(problem: TaskGraph, control: Control) -> Schedule:
    """Return the best plan known, or else one that is made in a pass or two.

    That is everything on one machine, or where large graphs wait for no transfers each task on the
    core that is free first, if that ends sooner. Complexity: O(n log n + n log c + e), c the cores
    of all machines; compiled for large graphs.
    """
    if control.incumbent is not None and control.incumbent.schedule is not None:
        return control.incumbent.schedule
    alone = on_one_machine(problem)
    plans = [alone, appended(problem)] if is_compiled(problem) else [alone]
    return min(plans, key=lambda plan: plan.makespan)


def appended(problem: TaskGraph) -> Schedule:
    """Return the plan that gives each task, by falling level, to the core that is free first."""
    from makespan.taskgraph.list_scheduling.insertion_kernels import append_some

    dag, cores = problem.dag, int(problem.cores.sum())
    claim(64 * cores, f"when {cores:,} cores are free")
    (order,), written = readonly(by_level(dag, levels(dag, *weights(problem)))), placed(problem)
    bind(append_some, **columns(problem), **written)(order)
    return planned(problem, written["machine"], written["start"], written["end"])


def on_one_machine(problem: TaskGraph) -> Schedule:
    """Return the plan that has everything on the machine on which that ends soonest."""
    dag, network = problem.dag, problem.network
    plain = np.ones(len(dag), dtype=bool)
    plain[problem.stated[0]] = False
    work, count = (dag.work * dag.cores)[plain].sum(), dag.cores[plain].sum()
    total = work / network.speed + count * network.task_setup
    if not plain.all():
        own, seconds = problem.stated
        total = total + dag.cores[own] @ seconds
    machine = int(np.argmin(total / problem.cores))
    place = dag.position
    if problem.cores[machine] > 1:
        place = inverse(by_level(dag, levels(dag, *weights(problem, w2=0.0))))
    return in_order(problem, np.full(len(dag), machine), place)


@graph_loop
def in_sequence(  # type: ignore[no-untyped-def]
    order, machine, seconds, held, first_core, release, first_in, predecessors, size, fixed,
    per_unit,
    core_free, latest, start, end,
    machines, in_turn, rigid,
):  # fmt: skip
    """Write the starts and ends of tasks on their machines, one behind another in ``order``.

    What takes no time needs no core. With ``in_turn`` no task starts before the one that its
    machine took before it: ``latest`` holds when. ``core_free`` holds a heap of the times at which
    the cores of a machine are free, for each machine; these times in their order where ``rigid``
    tasks hold several cores. ``size`` is in the order of ``predecessors``; tables are flat.
    """
    for index in range(len(order)):
        task = order[index]
        place = machine[task]
        first, cores = first_core[place], first_core[place + 1] - first_core[place]
        begin = release[task]
        if seconds[task] > 0.0:
            begin = max(begin, core_free[first + held[task] - 1])
        for position in range(first_in[task], first_in[task + 1]):
            source = predecessors[position]
            arrival = end[source]
            if machine[source] != place:
                pair = machine[source] * machines + place
                arrival += fixed[pair] + per_unit[pair] * size[position]
            begin = max(begin, arrival)
        if in_turn:
            begin = latest[place] = max(begin, latest[place])
        start[task] = begin
        end[task] = begin + seconds[task]
        if seconds[task] > 0.0 and rigid:
            hold_in_order(first, first + cores, held[task], end[task], core_free)
        elif seconds[task] > 0.0:
            replace_first(first, cores, end[task], core_free)


@graph_loop
def count_hops(source, target, size, place, end, fixed, following, machines, nodes):  # type: ignore[no-untyped-def]
    """Return how many rows the transfers of a plan take; see :func:`transfer_rows`."""
    count = 0
    for edge in range(len(source)):
        at, goal = place[source[edge]], place[target[edge]]
        if at != goal and (size[edge] > 0.0 or fixed[at * machines + goal] > 0.0):
            while at != goal:
                at = following[at * nodes + goal]
                count += 1
    return count


@graph_loop
def transfer_rows(  # type: ignore[no-untyped-def]
    source, target, size, place, end, fixed, following, rates, setup,
    tail, head, item, amount, start, until,
    machines, nodes, row,
):  # fmt: skip
    """Write the hops of all transfers, from ``row`` on, each as soon as its data are there."""
    for edge in range(len(source)):
        at, goal = place[source[edge]], place[target[edge]]
        if at != goal and (size[edge] > 0.0 or fixed[at * machines + goal] > 0.0):
            time = end[source[edge]]
            while at != goal:
                via = following[at * nodes + goal]
                tail[row], head[row], item[row] = at, via, edge
                amount[row], start[row] = size[edge], time
                time += size[edge] / rates[at * nodes + via] + setup[at]
                until[row] = time
                at = via
                row += 1
