"""Local search where transfers wait for links, ports or machines."""

from collections.abc import Callable

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers, repeated
from makespan.core.numeric.jit import next_minimal, part
from makespan.core.schedule import Activity, Schedule
from makespan.core.system.memory import claim
from makespan.taskgraph.answer import taken
from makespan.taskgraph.limits import violation
from makespan.taskgraph.list_scheduling import schedule_of
from makespan.taskgraph.local_search.overlap import (
    NEVER,
    draw_task,
    room_in_order,
    search_columns,
    searched,
    shift,
)
from makespan.taskgraph.model.loops import first_free, graph_loop, hold
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import machine_of_tasks, occupied, retimed, times_of_tasks

FEW, MANY = 500, 500_000
MIN_STEPS, MAX_STEPS = 4_000_000, 200_000_000
SLICE = 1_000_000
TINY = 24
LATE = 1e4  # the makespans that a plan which misses a limit counts besides

Reach = Callable[[int], float]


def improved_under_contention(
    problem: TaskGraph, control: Control, schedule: Schedule, moves: int | None, reach: Reach
) -> Schedule:
    """Return the best plan that so many moves of tasks lead to from ``schedule``.

    Without ``moves``, these are 500 for graphs of up to 24 tasks and edges, else 100 for each pair
    of tasks, but as many as compiling pays for, and at most as many as take about a second.
    ``reach`` says, from the number of moves, by which share a plan may get longer at first.
    """
    dag, network, routing = problem.dag, problem.network, problem.network.routing
    count, machines, edges = len(dag), len(network), len(dag.source)
    claim(32.0 * count * machines, f"the durations of {count:,} tasks on all machines")
    routes = _Routes(problem)
    steps = int(problem.cores.max()) * count + edges * (1 + 8 * routes.most)
    if moves is None:
        moves = (
            FEW
            if count + edges <= TINY
            else min(MANY, max(100 * count**2, MIN_STEPS // steps), MAX_STEPS // steps)
        )
    order, fetch = _orders(problem, schedule)
    shared = search_columns(problem, machine_of_tasks(problem, schedule), order)
    nodes = routes.things + 2 * edges * routes.most
    most = max(1, routes.most)
    seed = 1 + int(control.rng.integers(2**31 - 3))
    late, makespan = violation(problem, schedule), schedule.makespan
    start = LATE * makespan + late if late else makespan
    numbers = np.array([0.0, float(seed), start, start, LATE * makespan, makespan])
    given = {
        **shared, **routes.columns, "source": dag.predecessors, "size": dag.size[dag.in_edges],
        "edge": dag.in_edges, "delay": routing.delay.ravel(), "fetch": fetch,
        **{f"new_{name}": shared[name] for name in ("order", "place", "machine")},
        "new_fetch": fetch, "begins": np.zeros(edges * most),
        "last": np.zeros(routes.things, dtype=np.int64), "spot": np.zeros(2, dtype=np.int64),
        "left": np.zeros(nodes, dtype=np.int64), "right": np.zeros(nodes, dtype=np.int64),
        "opens": np.zeros(nodes), "closes": np.zeros(nodes),
        "owner": np.zeros(nodes, dtype=np.int64),
        "best_begins": np.zeros(edges * most), "best_end": np.zeros(count), "numbers": numbers,
    }  # fmt: skip
    columns = searched(
        accept_under_contention, given, moves, steps, SLICE, control, reach=reach,
        machines=machines, hops=most, things=routes.things, blocking=problem.is_blocking,
        rigid=problem.is_rigid,
    )  # fmt: skip
    machine, begins, end, numbers = (
        np.asarray(columns[name]) for name in ("best_machine", "best_begins", "best_end", "numbers")
    )
    if not numbers[2] < start:
        return schedule
    return retimed(problem, routes.schedule(machine, end, begins.reshape(edges, most)))


def _orders(problem: TaskGraph, schedule: Schedule) -> tuple[Integers, Integers]:
    """Return the tasks by start, and for each the edges into it, as positions, by theirs."""
    dag = problem.dag
    rows = schedule.rows_of(Activity.TRANSFER)
    start, end = times_of_tasks(problem, schedule)
    leaves = end[dag.source]
    first = np.full(len(leaves), np.inf)
    np.minimum.at(first, schedule.item[rows], schedule.start[rows])
    leaves = np.where(first < np.inf, first, leaves)[dag.in_edges]
    order = np.lexsort((dag.position, start, taken(problem, schedule)))
    return order, np.lexsort((leaves, dag.target[dag.in_edges]))


class _Routes:
    """The hops between all pairs of machines as flat columns, and what each occupies.

    ``columns`` are the first hop of each pair, and rate, set-up, and the two things of each hop, -1
    for none, by the names of the parameters of the loop.
    """

    def __init__(self, problem: TaskGraph) -> None:
        routing, machines = problem.network.routing, len(problem.network)
        self.problem = problem
        lengths = routing.hops[:machines, :machines].ravel()
        self.first = np.concatenate([[0], np.cumsum(lengths)])
        self.most = int(lengths.max())
        at, goal = np.divmod(np.arange(machines**2), machines)
        self.tail, self.head = np.zeros((2, self.first[-1]), dtype=np.int64)
        for level in range(self.most):
            on = np.flatnonzero(lengths > level)
            self.tail[self.first[on] + level] = at[on]
            at[on] = routing.following[at[on], goal[on]]
            self.head[self.first[on] + level] = at[on]
        self.rate, self.setup = routing.rates[self.tail, self.head], routing.setup[self.tail]
        *ends, self.things = occupied(problem, self.tail, self.head)
        sending, receiving = ends
        self.columns = {
            "first_hop": self.first, "rate": self.rate, "setup": self.setup, "sending": sending,
            "receiving": receiving,
        }  # fmt: skip

    def schedule(self, machine: Integers, end: np.ndarray, begins: np.ndarray) -> Schedule:
        """Return the plan with these machines and ends of tasks, and these starts of hops."""
        problem, dag = self.problem, self.problem.dag
        tasks, edges = np.arange(len(dag)), np.arange(len(dag.source))
        a, b = machine[dag.source], machine[dag.target]
        sent = np.flatnonzero(problem.needs_rows(edges, a, b))
        pair = a[sent] * len(problem.network) + b[sent]
        lengths = self.first[pair + 1] - self.first[pair]
        place, index = repeated(lengths)
        edge = sent[place]
        hop = np.repeat(self.first[pair], lengths) + index
        start = begins[edge, index]
        until = start + (dag.size[edge] / self.rate[hop] + self.setup[hop])
        begin = end - problem.durations_on(tasks, machine)
        # not before what it waits for, by rounding: rows are timed in the order of their starts
        np.maximum.at(begin, dag.target, end[dag.source])
        np.maximum.at(begin, dag.target[edge], until)
        rows = (edge, self.tail[hop], self.head[hop], start, until)
        return schedule_of(problem, (tasks, machine, begin, end), rows)


@part
def _propose(  # type: ignore[no-untyped-def]
    task, state, machines, first_in, source, first_out, successors, seconds, place, machine, fetch,
    new_order, new_place, new_machine, new_fetch,
):  # fmt: skip
    """Change the new plan by a move of a task; return the state of the generator.

    Kind 0 is another machine, 1 another place in the order, 2 both; with 3 its predecessors, with
    4 its successors go along to the machine; 5 exchanges two of its fetches, or is as 0.
    """
    from_in, to_in = first_in[task], first_in[task + 1]
    state = next_minimal(state)
    kind = state % 6
    if kind == 5 and to_in - from_in > 1:
        state = next_minimal(state)
        one = from_in + state % (to_in - from_in)
        state = next_minimal(state)
        two = from_in + state % (to_in - from_in)
        new_fetch[one], new_fetch[two] = fetch[two], fetch[one]
    if kind in (1, 2):
        low, high = room_in_order(task, first_in, source, first_out, successors, place)
        state = next_minimal(state)
        goal = low + state % (high - low + 1)
        shift(task, goal, new_order, new_place)
    if kind not in (1, 5) and machines > 1:
        state = next_minimal(state)
        to = (machine[task] + 1 + state % (machines - 1)) % machines
        if seconds[task * machines + to] < NEVER:
            new_machine[task] = to
        if kind == 3:
            for position in range(from_in, to_in):
                if seconds[source[position] * machines + to] < NEVER:
                    new_machine[source[position]] = to
        elif kind == 4:
            for position in range(first_out[task], first_out[task + 1]):
                if seconds[successors[position] * machines + to] < NEVER:
                    new_machine[successors[position]] = to
    return state


@part
def _first_gap(  # type: ignore[no-untyped-def]
    begin, length, reason, task, one, two, things, last, spot, left, right, opens, closes, owner
):
    """Return when a hop begins, in the first gap of all it takes; ``spot`` gets what is before."""
    moves = length > 0.0
    while moves:
        moves = False
        for side in range(2):
            thing = one if side == 0 else two
            if thing < 0:
                continue
            at = last[thing]
            while at >= things and opens[at] > begin:
                at = left[at]
            later = max(begin, closes[at])
            behind = right[at]
            while behind >= 0 and later + length > opens[behind]:
                at = behind
                later = max(later, closes[at])
                behind = right[at]
            spot[side] = at
            if later > begin:
                begin, moves = later, True
                if at >= things and owner[at] != task:
                    reason = owner[at]
    return begin, reason


@part
def _occupy(  # type: ignore[no-untyped-def]
    thing, behind_of, node, begin, until, task, last, left, right, opens, closes, owner
):
    """Enter a hop into the list of what a thing does; return the next free node."""
    behind = right[behind_of]
    left[node], right[node], right[behind_of] = behind_of, behind, node
    if behind >= 0:
        left[behind] = node
    else:
        last[thing] = node
    opens[node], closes[node], owner[node] = begin, until, task
    return node + 1


@part
def _begin_anew(things, free, core_last, last, right, opens, closes):  # type: ignore[no-untyped-def]
    """Empty all cores, and the lists of what each thing does."""
    for core in range(len(free)):
        free[core] = 0.0
        core_last[core] = -1
    for thing in range(things):
        last[thing] = thing
        right[thing] = -1
        opens[thing] = closes[thing] = 0.0


@part
def _copy(source, target):  # type: ignore[no-untyped-def]
    """Copy a column, which may be a list."""
    for each in range(len(source)):
        target[each] = source[each]


@graph_loop
def accept_under_contention(  # type: ignore[no-untyped-def]
    first_in, source, size, edge, first_out, successors, seconds, first_core, held,
    release, due, first_hop, rate, setup, sending, receiving, delay,
    order, place, machine, fetch, new_order, new_place, new_machine, new_fetch,
    begins, end, cause, free, core_last, last, spot, left, right, opens, closes, owner,
    best_machine, best_begins, best_end, numbers,
    evaluations, all_evaluations, reach, machines, hops, things, blocking, rigid,
):  # fmt: skip
    """Try ``evaluations`` moves of a task; write the best plan found.

    A plan is an order of the tasks, the machine of each, and the order in which each fetches its
    data. Tasks are placed in that order, each behind what its machine has; before it every hop of
    its data goes into the first gap of the link, or of both ports, that is long enough (edge
    scheduling, Sinnen and Sousa 2005). A ``blocking`` machine takes the task first, and fetches
    one after another. A plan is kept if it is no longer than the present one by more than a
    threshold (threshold accepting), which falls with the square of the moves that are left, from
    the share ``reach`` of the best to nothing.

    ``source``, ``size`` and ``edge`` are in the order of the edges into each task, ``fetch`` holds
    positions in them. What each thing does is a list from ``things`` nodes on: ``left`` and
    ``right`` neighbours, ``opens`` and ``closes`` times, and ``owner``, the task it is for.
    ``numbers`` holds the moves tried, the state of the generator, the best makespan, the present
    one, what a plan that is late counts besides, and the makespan at the start; the first plan that
    is timed is the given one. Cores are those of :mod:`~makespan.taskgraph.model.loops`;
    tables are flat.
    """
    tried, state, best, present = numbers[0], int(numbers[1]), numbers[2], numbers[3]
    late = 0.0
    for _ in range(evaluations):
        _copy(order, new_order)
        _copy(place, new_place)
        _copy(machine, new_machine)
        _copy(fetch, new_fetch)
        if tried > 0.0:
            task, state = draw_task(state, order, end, due, cause, late)
            state = _propose(
                task, state, machines, first_in, source, first_out, successors, seconds, place,
                machine, fetch, new_order, new_place, new_machine, new_fetch,
            )  # fmt: skip
        tried += 1.0
        # judge: place all tasks in the new order
        _begin_anew(things, free, core_last, last, right, opens, closes)
        node = things
        total = late = 0.0
        for index in range(len(order)):
            task = new_order[index]
            here = new_machine[task]
            lasts = seconds[task * machines + here]
            start, because, core = release[task], -1, -1
            if blocking or lasts > 0.0:  # what takes no time needs no core
                core = first_free(here, held[task], rigid, first_core, free)
                if free[core] > start:
                    start, because = free[core], core_last[core]
            if blocking:
                for position in range(first_in[task], first_in[task + 1]):
                    if end[source[position]] > start:
                        start, because = end[source[position]], source[position]
            for index_in in range(first_in[task], first_in[task + 1]):  # fetch its data
                position = new_fetch[index_in]
                origin = source[position]
                pair = new_machine[origin] * machines + here
                time, reason = end[origin], origin
                if blocking:
                    time, reason = start, because
                for hop in range(first_hop[pair], first_hop[pair + 1]):
                    length = size[position] / rate[hop] + setup[hop]
                    one, two = sending[hop], receiving[hop]
                    begin, reason = _first_gap(
                        time, length, reason, task, one, two, things, last, spot, left, right,
                        opens, closes, owner,
                    )  # fmt: skip
                    time = begin + length
                    for side in range(2):
                        thing = one if side == 0 else two
                        if thing >= 0 and length != 0.0:
                            node = _occupy(
                                thing, spot[side], node, begin, time, task, last, left, right,
                                opens, closes, owner,
                            )  # fmt: skip
                    begins[edge[position] * hops + hop - first_hop[pair]] = begin
                time += delay[pair]
                if time > start:
                    start, because = time, reason
            end[task] = start + lasts
            cause[task] = because
            if core >= 0:
                hold(task, here, core, held[task], end[task], rigid, first_core, free, core_last)
            total = max(total, end[task])
            late = max(late, end[task] - due[task])
        if late > 0.0:
            total = numbers[4] + late
        remaining = 1.0 - tried / all_evaluations
        if tried == 1.0 or total <= present + min(best, numbers[5]) * reach * remaining * remaining:
            present = total  # accept
            _copy(new_order, order)
            _copy(new_place, place)
            _copy(new_machine, machine)
            _copy(new_fetch, fetch)
            if total < best:
                best = total
                _copy(new_machine, best_machine)
                _copy(end, best_end)
                _copy(begins, best_begins)
    numbers[0], numbers[1], numbers[2], numbers[3] = tried, float(state), best, present
