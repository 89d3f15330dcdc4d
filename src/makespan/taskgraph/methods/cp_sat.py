"""The optimum by constraint programming, for small graphs, also where transfers wait."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import CP_SAT, at_most, register
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Solution
from makespan.taskgraph import needs
from makespan.taskgraph.cp_sat import PROVES, proved
from makespan.taskgraph.cp_sat.model import OnMachines
from makespan.taskgraph.list_scheduling import occupied, schedule_of
from makespan.taskgraph.methods.heft import heft
from makespan.taskgraph.methods.local_search import local_search
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import machine_of_tasks, retimed

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import IntVar

    from makespan.backends.cp_sat import Scaling

MAX_CONSTRAINTS = 200_000
QUICKLY_MODELLED = 30_000


def _pairs_of_machines(problem: TaskGraph) -> int:
    """Return the tasks on machines, and the edges times their pairs of machines."""
    machines, edges = len(problem.network), len(problem.dag.source)
    pairs = 2 * machines if problem.network.routing.is_uniform else machines * machines
    return len(problem.dag) * machines + edges * pairs


FEW, QUICK = (
    at_most(most, "tasks on machines and edges between them", _pairs_of_machines)
    for most in (MAX_CONSTRAINTS, QUICKLY_MODELLED)
)


@register(
    needs=(
        CP_SAT,
        needs.NO_GIVEN_PLAN,
        needs.OVERLAP,
        needs.NO_CONTENTION,
        needs.NO_DUPLICATION,
        needs.FEW_CORES,
        FEW,
    ),
    reach=(QUICK,),
    proves=PROVES,
    complexity="exponential",
    source="optional intervals on machines, and a literal per edge and per pair of machines; "
    "OR-tools CP-SAT",
)
def cp_sat(problem: TaskGraph, control: Control) -> Solution:
    """Choose machines and starts together, from the best plan known or from ``local-search``.

    Times that have no common unit are rounded down: the optimum of that model is a lower bound,
    and the plan is timed with the true times.
    """
    start = control.known_or(lambda: local_search(problem, control))
    seconds = problem.network.routing.seconds_of(problem.dag.size)
    times = np.concatenate([problem.durations.ravel(), seconds.ravel(), problem.dag.release])
    return proved(problem, control, start, times, OnMachines)


QUICKLY_BUILT = 20_000


def _constraints(problem: TaskGraph) -> float:
    """Return the tasks on machines, and the hops of edges between all pairs of machines."""
    count = len(problem.network)
    hops = problem.network.routing.hops[:count, :count].sum()
    return float(len(problem.dag) * count + len(problem.dag.source) * (count + hops))


@register(
    needs=(
        CP_SAT,
        needs.TRANSFERS_WAIT,
        needs.NO_GIVEN_PLAN,
        needs.NO_PRICE_OF_WAITING,
        needs.FEW_CORES,
        at_most(MAX_CONSTRAINTS, "tasks on machines and hops between them", _constraints),
    ),
    reach=(at_most(QUICKLY_BUILT, "tasks on machines and hops between them", _constraints),),
    proves=PROVES,
    complexity="exponential",
    source="optional intervals of tasks on machines and of hops on links or ports, a literal per "
    "edge and pair of machines; OR-tools CP-SAT",
)
def cp_sat_transfers(problem: TaskGraph, control: Control) -> Solution:
    """Choose machines, starts of tasks and starts of transfers together, from the best plan known.

    A hop is an interval on its link, or on the ports of its ends. With blocking communication the
    interval of a task on its machine begins when the machine takes it, and its fetches exclude one
    another. Times that have no common unit are rounded down, as in ``cp-sat``.
    """
    start = control.known_or(lambda: heft(problem, control))
    routing, size = problem.network.routing, problem.dag.size
    tail, head = np.nonzero(routing.rates)
    hops = size[:, None] / routing.rates[tail, head] + routing.setup[tail]
    columns = problem.durations, hops, routing.delay, problem.dag.release
    times = np.concatenate([column.ravel() for column in columns])
    return proved(problem, control, start, times, _WithTransfers)


SLACK = 1e-9  # share of a time that may be rounding


class _WithTransfers(OnMachines):
    """The parts of the model that transfers add, in units of time.

    ``routes`` and ``hop`` are the hops of each pair of machines, and what each takes for each edge;
    ``begins`` the starts of the hops of edges that have them in the model; ``taken`` when machines
    take tasks, where they fetch the data themselves.
    """

    def __init__(
        self, problem: TaskGraph, control: Control, scaling: Scaling, plan: Schedule, until: float
    ) -> None:
        super().__init__(problem, control, scaling, plan, until)
        routing, size = problem.network.routing, problem.dag.size
        self.routes = {(a, b): routing.route(a, b) for a, b in permutations(self.machines, 2)}
        self.origin = machine_of_tasks(problem, plan)[problem.dag.source]
        self.delay = scaling.down(np.minimum(routing.delay, until))
        self.hop: dict[tuple[int, int], Integers] = {}
        for tail, head in dict.fromkeys(hop for route in self.routes.values() for hop in route):
            seconds = size / routing.rates[tail, head] + routing.setup[tail]
            self.hop[tail, head] = scaling.down(np.minimum(seconds, until))
        times = routing.seconds_of(size)
        for pair, route in self.routes.items():
            summed = sum(self.hop[hop] for hop in route) + self.delay[pair]
            late = times[:, *pair] > until * (1 + SLACK)
            self.transfer[:, *pair] = np.where(late, self.horizon + 1, summed)
        self.begins: dict[int, list[IntVar]] = {}
        self.taken: list[IntVar] = []
        self._fetches: list[list[Any]] = [[] for _ in range(len(problem.dag))]
        self._fetched: list[list[Any]] = [[] for _ in range(len(problem.dag))]
        self._things: defaultdict[int, list[Any]] = defaultdict(list)

    def rounded_starts(self, start: Any, item: Integers) -> Integers:
        """Return the starts of the plan, rounded down: a solution of the model."""
        found = np.zeros(len(self.problem.dag), dtype=np.int64)
        found[item] = self.scaling.down(start)
        return found

    def intervals(self, task: int, begin: IntVar, row: list[IntVar]) -> list[tuple[int, Any]]:
        """Return the intervals of a task on machines: with its fetches, where these block."""
        if not self.problem.is_blocking:
            return super().intervals(task, begin, row)
        model = self.model
        taken = model.new_int_var(int(self.release[task]), self.horizon, "")
        until = model.new_int_var(0, self.horizon, "")
        busy = model.new_int_var(0, self.horizon, "")
        self.taken.append(taken)
        model.add(taken <= begin)
        model.add(until == begin + self.duration(task, row))
        found, lasting = [], model.new_bool_var("")
        model.add(busy == 0).only_enforce_if(lasting.negated())
        for machine in self.machines:
            present = row[machine]
            if not self.seconds[task, machine]:  # it needs a core only if it fetches something
                present = model.new_bool_var("")
                model.add_bool_or(present, row[machine].negated(), lasting.negated())
            interval = model.new_optional_interval_var(taken, busy, until, present, "")
            found.append((machine, interval))
        model.add(taken + busy == until)
        return found

    def rules(self) -> None:
        self.transfers()
        self.symmetry()

    def transfers(self) -> None:
        """A task starts behind its predecessors, and behind their data from other machines."""
        from ortools.sat.python.cp_model import LinearExpr

        model, start, on, blocking = self.model, self.start, self.on, self.problem.is_blocking
        for edge, source, target, ended in self.edges():
            model.add((self.taken if blocking else start)[target] >= ended)
            if len(self.machines) > 1 and self.transfer[edge].any():
                pairs = self._pairs(edge, on[source], on[target])
                if self.problem.contention != "none":
                    after = self.taken[target] if blocking else ended
                    self._hops(edge, pairs, after, start[target])
                times = [int(self.transfer[(edge, *pair)]) for pair in pairs]
                self._fetched[target].append(LinearExpr.weighted_sum([*pairs.values()], times))
        for intervals in self._things.values():
            model.add_no_overlap(intervals)
        for target, fetched in enumerate(self._fetched):
            if blocking and fetched:
                model.add(start[target] >= self.taken[target] + LinearExpr.sum(fetched))
                if len(self._fetches[target]) > 1:
                    model.add_no_overlap(self._fetches[target])

    def _pairs(
        self, edge: int, source: list[IntVar], target: list[IntVar]
    ) -> dict[tuple[int, int], IntVar]:
        """Return a literal for each pair of different machines that the ends may be on."""
        model, dag = self.model, self.problem.dag
        known = self.machine_of[dag.source[edge]], self.machine_of[dag.target[edge]]
        pairs = {(a, b): model.new_bool_var("") for a in self.machines for b in self.machines}
        for machine in self.machines:
            model.add(sum(pairs[machine, other] for other in self.machines) == source[machine])
            model.add(sum(pairs[other, machine] for other in self.machines) == target[machine])
        for pair, literal in pairs.items():
            model.add_hint(literal, int(pair == known))
            if self.transfer[(edge, *pair)] > self.horizon:
                model.add(literal == 0)
        return {pair: literal for pair, literal in pairs.items() if pair[0] != pair[1]}

    def _hops(
        self, edge: int, pairs: dict[tuple[int, int], IntVar], after: Any, until: IntVar
    ) -> None:
        """Add the hops of an edge: each behind the one before, each alone on what it occupies."""
        from ortools.sat.python.cp_model import LinearExpr

        model = self.model
        target, literals = int(self.problem.dag.target[edge]), [*pairs.values()]
        most = max(len(self.routes[pair]) for pair in pairs)
        begins = [model.new_int_var(0, self.horizon, "") for _ in range(most)]
        self.begins[edge] = begins
        time = after
        for index, begin in enumerate(begins):
            model.add(time <= begin)
            alone: defaultdict[tuple[int, int], list[IntVar]] = defaultdict(list)
            lasts = []
            for pair, literal in pairs.items():
                route = self.routes[pair]
                hop = route[index] if index < len(route) else None
                lasts.append(0 if hop is None else int(self.hop[hop][edge]))
                if hop is not None and lasts[-1]:  # what takes no time is in nobody's way
                    for thing in occupied(self.problem, *hop):
                        alone[thing, lasts[-1]].append(literal)
            for (thing, seconds), users in alone.items():
                present = users[0]
                if len(users) > 1:
                    present = model.new_bool_var("")
                    model.add(sum(users) == present)
                self._things[thing].append(
                    model.new_optional_fixed_size_interval_var(begin, seconds, present, "")
                )
            time = begin + LinearExpr.weighted_sum(literals, lasts)
        delays = LinearExpr.weighted_sum(literals, [int(self.delay[pair]) for pair in pairs])
        model.add(time + delays <= until)
        if self.problem.is_blocking:
            there = model.new_int_var(0, self.horizon, "")
            lasts = model.new_int_var(0, self.horizon, "")
            model.add(time + delays <= there)
            model.add(there <= until)
            sent = model.new_bool_var("")
            model.add(sum(literals) == sent)
            self._fetches[target].append(
                model.new_optional_interval_var(begins[0], lasts, there, sent, "")
            )

    def hint(self) -> None:
        """Begin with the known plan, its transfers included."""
        super().hint()
        plan, routing = self.plan, self.problem.network.routing
        first: list[int] = self.start_of.tolist()
        for row in plan.rows_of(Activity.TRANSFER).tolist():
            edge = int(plan.item[row])
            begin = int(self.scaling.down(plan.start[row]))
            target = int(self.problem.dag.target[edge])
            first[target] = min(first[target], begin)
            if edge in self.begins:
                index = int(routing.hops[self.origin[edge], plan.machine[row]])
                self.model.add_hint(self.begins[edge][index], begin)
        for task, taken in enumerate(self.taken):
            self.model.add_hint(taken, first[task])

    def schedule(self, value: Callable[[Any], int]) -> Schedule:
        """Return the plan with these machines and these orders."""
        problem, dag, unit = self.problem, self.problem.dag, self.scaling.unit
        machine, starts = self.decisions(value)
        tasks = np.arange(len(dag))
        end = starts + self.seconds[tasks, machine]
        clock = [value(each) for each in self.taken]
        rows = []
        a, b = machine[dag.source], machine[dag.target]
        for edge in np.flatnonzero(problem.needs_rows(np.arange(len(dag.source)), a, b)).tolist():
            target = int(dag.target[edge])
            begins = self.begins.get(edge)
            for index, (tail, head) in enumerate(self.routes[int(a[edge]), int(b[edge])]):
                if begins is not None:
                    begin = value(begins[index])
                else:  # fetched one after another, in any order
                    begin = clock[target] if clock else int(end[dag.source[edge]])
                until = begin + int(self.hop[tail, head][edge])
                if begins is None and clock:
                    clock[target] = until
                rows.append((edge, tail, head, begin * unit, until * unit))
        columns = np.array(rows, dtype=np.float64).reshape(-1, 5).T
        return retimed(
            problem, schedule_of(problem, (tasks, machine, starts * unit, end * unit), (*columns,))
        )
