"""Local search where transfers wait for links, ports or machines."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.numeric.sorting import inverse
from makespan.core.schedule import Activity, Schedule
from makespan.core.system.memory import claim
from makespan.taskgraph.improving.moves import NEVER
from makespan.taskgraph.limits import latest_ends, violation
from makespan.taskgraph.model.loops import graph_loop
from makespan.taskgraph.placing.board import schedule_of
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import machine_of_tasks, occupied, retimed

FEW, MANY = 500, 500_000
MIN_STEPS, MAX_STEPS = 4_000_000, 200_000_000
SLICE = 1_000_000
TINY = 24
LATE = 1e4
"""The makespans that a plan which misses a limit counts besides."""

Reach = Callable[[int], float]


def improved_waiting(
    problem: TaskGraph, control: Control, schedule: Schedule, moves: int | None, reach: Reach
) -> Schedule:
    """Return the best plan that so many moves of tasks lead to from ``schedule``.

    Parameters
    ----------
    moves
        None: 500 for graphs of up to 24 tasks and edges, else 100 for each pair of tasks, but as
        many as compiling pays for, and at most as many as take about a second.
    reach
        Says, from the number of moves, by which share a plan may get longer at first.
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
    cores = int(problem.cores.sum())
    machine = machine_of_tasks(problem, schedule)
    order, fetch = _orders(problem, schedule)
    place = inverse(order)
    nodes = routes.things + 2 * edges * routes.most
    most = max(1, routes.most)
    seed = 1 + int(control.rng.integers(2**31 - 3))
    late, makespan = violation(problem, schedule), schedule.makespan
    start = LATE * makespan + late if late else makespan
    numbers = np.array([0.0, float(seed), start, start, LATE * makespan, makespan])
    decisions = (order, place, machine, fetch)
    rooms = (
        np.zeros(edges * most), np.zeros(count), np.full(count, -1), np.zeros(cores),
        np.full(cores, -1), np.zeros(routes.things, dtype=np.int64), np.zeros(2, dtype=np.int64),
        np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64),
        np.zeros(nodes), np.zeros(nodes), np.zeros(nodes, dtype=np.int64),
        machine, np.zeros(edges * most), np.zeros(count), numbers,
    )  # fmt: skip
    loop, column = improve_waiting.chosen(moves * steps)
    columns = [
        column(each)
        for each in (
            dag.first_in, dag.predecessors, dag.size[dag.in_edges], dag.in_edges, dag.first_out,
            dag.successors, problem.durations.ravel(), problem.first_core, dag.cores, dag.release,
            latest_ends(problem), *routes.columns, routing.delay.ravel(),
            *decisions, *decisions, *rooms,
        )
    ]  # fmt: skip
    step = max(1, SLICE // steps)
    for first, after in pairwise([*range(0, moves, step), moves]):
        loop(
            *columns, after - first, moves, reach(moves), machines, most, routes.things,
            problem.is_blocking, problem.is_rigid,
        )  # fmt: skip
        if control.expired():
            break
    machine, begins, end, numbers = map(np.asarray, columns[-4:])
    if not numbers[2] < start:
        return schedule
    return retimed(problem, routes.schedule(machine, end, begins.reshape(edges, most)))


def _orders(problem: TaskGraph, schedule: Schedule) -> tuple[Integers, Integers]:
    """Return the tasks by start, and for each the edges into it, as positions, by theirs."""
    dag = problem.dag
    computes = schedule.kind == Activity.COMPUTE
    rows = schedule.rows_of(Activity.TRANSFER)
    start, end = np.zeros(len(dag)), np.zeros(len(dag))
    start[schedule.item[computes]] = schedule.start[computes]
    end[schedule.item[computes]] = schedule.end[computes]
    leaves = end[dag.source]
    first = np.full(len(leaves), np.inf)
    np.minimum.at(first, schedule.item[rows], schedule.start[rows])
    taken = start.copy()
    if problem.is_blocking:
        np.minimum.at(taken, dag.target, first)
    leaves = np.where(first < np.inf, first, leaves)[dag.in_edges]
    order = np.lexsort((dag.position, start, taken))
    return order, np.lexsort((leaves, dag.target[dag.in_edges]))


class _Routes:
    """The hops between all pairs of machines as flat columns, and what each occupies.

    ``columns`` are the first hop of each pair, then rate, set-up, and the two things of each hop,
    -1 for none.
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
        self.columns = (self.first, self.rate, self.setup, *ends)

    def schedule(self, machine: Integers, end: np.ndarray, begins: np.ndarray) -> Schedule:
        """Return the plan with these machines and ends of tasks, and these starts of hops."""
        problem, dag = self.problem, self.problem.dag
        tasks, edges = np.arange(len(dag)), np.arange(len(dag.source))
        a, b = machine[dag.source], machine[dag.target]
        sent = np.flatnonzero(problem.needs_rows(edges, a, b))
        pair = a[sent] * len(problem.network) + b[sent]
        lengths = self.first[pair + 1] - self.first[pair]
        edge = np.repeat(sent, lengths)
        index = np.arange(len(edge)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        hop = np.repeat(self.first[pair], lengths) + index
        start = begins[edge, index]
        until = start + (dag.size[edge] / self.rate[hop] + self.setup[hop])
        begin = end - problem.durations_on(tasks, machine)
        # not before what it waits for, by rounding: rows are timed in the order of their starts
        np.maximum.at(begin, dag.target, end[dag.source])
        np.maximum.at(begin, dag.target[edge], until)
        rows = (edge, self.tail[hop], self.head[hop], start, until)
        return schedule_of(problem, (tasks, machine, begin, end), rows)


@graph_loop
def improve_waiting(  # type: ignore[no-untyped-def]
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
    one after another.

    A move puts a task on another machine, or elsewhere in the order, or both; or it takes all its
    predecessors or successors along, where they can be there; or it exchanges two of its fetches.
    On its machine it takes as many cores as ``held`` says; where tasks are ``rigid``, ``free`` has
    the times of the cores of each machine in their order. Half of the tasks are
    drawn from a chain of causes that ends last. A plan is kept if it is no longer than the present
    one by more than a threshold (threshold accepting), which falls with the square of the moves
    that are left, from the share ``reach`` of the best to nothing.

    ``source``, ``size`` and ``edge`` are in the order of the edges into each task, ``fetch`` holds
    positions in them. What each thing does is a list from ``things`` nodes on: ``left`` and
    ``right`` neighbours, ``opens`` and ``closes`` times, and ``owner``, the task it is for.
    ``numbers`` holds the moves tried, the state of the generator, the best makespan, the present
    one, what a plan that is late counts besides, and the makespan at the start; the first plan that
    is timed is the given one. Tables are flat.
    """
    count = len(order)
    tried, state, best, present = numbers[0], int(numbers[1]), numbers[2], numbers[3]
    late = 0.0
    for _ in range(evaluations):
        for each in range(count):
            new_order[each], new_place[each] = order[each], place[each]
            new_machine[each] = machine[each]
        for each in range(len(fetch)):
            new_fetch[each] = fetch[each]
        if tried > 0.0:
            state = state * 48271 % 2147483647
            task = state % count
            if state // count % 2 == 0:  # a random one of the chain that ends last
                latest = order[0]
                for other in range(count):
                    if late > 0.0:
                        if end[other] - due[other] > end[latest] - due[latest]:
                            latest = other
                    elif end[other] > end[latest]:
                        latest = other
                seen = 0
                while latest >= 0:
                    seen += 1
                    state = state * 48271 % 2147483647
                    if state % seen == 0:
                        task = latest
                    latest = cause[latest]
            from_in, to_in = first_in[task], first_in[task + 1]
            state = state * 48271 % 2147483647
            kind = state % 6
            if kind == 5 and to_in - from_in > 1:
                state = state * 48271 % 2147483647
                one = from_in + state % (to_in - from_in)
                state = state * 48271 % 2147483647
                two = from_in + state % (to_in - from_in)
                new_fetch[one], new_fetch[two] = fetch[two], fetch[one]
            if kind in (1, 2):
                low, high = 0, count - 1
                for position in range(from_in, to_in):
                    low = max(low, place[source[position]] + 1)
                for position in range(first_out[task], first_out[task + 1]):
                    high = min(high, place[successors[position]] - 1)
                state = state * 48271 % 2147483647
                goal = low + state % (high - low + 1)
                step = 1 if goal > place[task] else -1
                for position in range(place[task], goal, step):
                    new_order[position] = order[position + step]
                    new_place[order[position + step]] = position
                new_order[goal], new_place[task] = task, goal
            if kind not in (1, 5) and machines > 1:
                state = state * 48271 % 2147483647
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
        tried += 1.0
        for core in range(len(free)):
            free[core] = 0.0
            core_last[core] = -1
        for thing in range(things):
            last[thing] = thing
            right[thing] = -1
            opens[thing] = closes[thing] = 0.0
        node = things
        total = late = 0.0
        for index in range(count):
            task = new_order[index]
            here = new_machine[task]
            lasts = seconds[task * machines + here]
            start, because, core = release[task], -1, -1
            if blocking or lasts > 0.0:  # what takes no time needs no core
                core = first_core[here]
                if rigid:
                    core += held[task] - 1
                else:
                    for other in range(core + 1, first_core[here + 1]):
                        if free[other] < free[core]:
                            core = other
                if free[core] > start:
                    start, because = free[core], core_last[core]
            if blocking:
                for position in range(first_in[task], first_in[task + 1]):
                    if end[source[position]] > start:
                        start, because = end[source[position]], source[position]
            for index_in in range(first_in[task], first_in[task + 1]):
                position = new_fetch[index_in]
                origin = source[position]
                pair = new_machine[origin] * machines + here
                time, reason = end[origin], origin
                if blocking:
                    time, reason = start, because
                for hop in range(first_hop[pair], first_hop[pair + 1]):
                    length = size[position] / rate[hop] + setup[hop]
                    begin, moves = time, length > 0.0
                    while moves:
                        moves = False
                        for side in range(2):
                            thing = sending[hop] if side == 0 else receiving[hop]
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
                    for side in range(2):
                        thing = sending[hop] if side == 0 else receiving[hop]
                        if thing < 0 or length == 0.0:
                            continue
                        at, behind = spot[side], right[spot[side]]
                        left[node], right[node], right[at] = at, behind, node
                        if behind >= 0:
                            left[behind] = node
                        else:
                            last[thing] = node
                        opens[node], closes[node], owner[node] = begin, begin + length, task
                        node += 1
                    begins[edge[position] * hops + hop - first_hop[pair]] = begin
                    time = begin + length
                time += delay[pair]
                if time > start:
                    start, because = time, reason
            end[task] = start + lasts
            cause[task] = because
            if core >= 0:
                if rigid:
                    core, width, behind = first_core[here], held[task], first_core[here + 1]
                    while core + width < behind and free[core + width] < end[task]:
                        free[core], core_last[core] = free[core + width], core_last[core + width]
                        core += 1
                    for other in range(core + 1, core + width):
                        free[other], core_last[other] = end[task], task
                free[core] = end[task]
                core_last[core] = task
            total = max(total, end[task])
            late = max(late, end[task] - due[task])
        if late > 0.0:
            total = numbers[4] + late
        remaining = 1.0 - tried / all_evaluations
        if tried == 1.0 or total <= present + min(best, numbers[5]) * reach * remaining * remaining:
            present = total
            for each in range(count):
                order[each], place[each] = new_order[each], new_place[each]
                machine[each] = new_machine[each]
            for each in range(len(fetch)):
                fetch[each] = new_fetch[each]
            if total < best:
                best = total
                for each in range(count):
                    best_machine[each] = new_machine[each]
                    best_end[each] = end[each]
                for each in range(len(begins)):
                    best_begins[each] = begins[each]
    numbers[0], numbers[1], numbers[2], numbers[3] = tried, float(state), best, present
