"""Rules that look at when each machine would start or end ready tasks: MCT, MinMin, ETF and kin."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.numeric.binding import bind
from makespan.core.numeric.sorting import inverse
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.core.system.memory import claim
from makespan.taskgraph.levels import levels, weights
from makespan.taskgraph.list_scheduling import AppendSchedule, Placement
from makespan.taskgraph.list_scheduling.assigned import (
    cannot_end,
    fallback_plan,
    planned,
    steps_of_cores,
)
from makespan.taskgraph.list_scheduling.insertion import inserted
from makespan.taskgraph.list_scheduling.steps import placing_step
from makespan.taskgraph.model.dag import rows_of
from makespan.taskgraph.model.loops import graph_loop, hold_in_order
from makespan.taskgraph.needs import by_insertion, by_tries
from makespan.taskgraph.problem import TaskGraph

by_rule = partial(
    by_tries,
    complexity="O(n w + e m), w the widest queue of ready tasks, compiled; times m where "
    "transfers wait",
)
SOURCE = "Ibarra and Kim 1977; Maheswaran et al. 1999; for task graphs Blythe et al. 2005"


@by_insertion(
    name="mct",
    published=True,
    complexity="O(n m + e), compiled; O(n m g + e m h) under contention",
    source="Ibarra and Kim 1977 (algorithm D); Maheswaran et al. 1999: minimum completion time",
)
def mct(problem: TaskGraph, control: Control) -> Solution:
    """Tasks in the order in which they become ready, each on the machine that ends it first.

    They are inserted into the first gap that is long enough.
    """
    order = problem.dag.order
    place = (1 + inverse(order)).astype(float)
    return Solution(schedule=inserted(problem, control, order, logged=(place, "place", "")))


@by_rule(name="min-min", published=True, source=SOURCE)
def min_min(problem: TaskGraph, control: Control) -> Solution:
    """Of all ready tasks, next the one that can end first, on the machine that ends it first."""
    return Solution(schedule=_by_ends(problem, control, LEAST))


@by_rule(name="max-min", published=True, source=SOURCE)
def max_min(problem: TaskGraph, control: Control) -> Solution:
    """Of all ready tasks, next the one whose earliest end is latest, on the machine of that end."""
    return Solution(schedule=_by_ends(problem, control, GREATEST))


@by_rule(name="duplex", published=True, source="Braun et al. 2001")
def duplex(problem: TaskGraph, control: Control) -> Solution:
    """The better of the plans of ``min-min`` and ``max-min``."""
    plans = [_by_ends(problem, control, chooses) for chooses in (LEAST, GREATEST)]
    return Solution(schedule=min(plans, key=lambda plan: plan.makespan))


@by_rule(name="sufferage", source="Maheswaran et al. 1999, one task at a time")
def sufferage(problem: TaskGraph, control: Control) -> Solution:
    """Next the ready task that would lose most by its second-best machine, on its best."""
    return Solution(schedule=_by_ends(problem, control, SUFFERS))


@by_rule(name="dls", published=True, source="Sih and Lee 1993")
def dls(problem: TaskGraph, control: Control) -> Solution:
    """Of all ready tasks on all machines, the pair of greatest dynamic level is next.

    The dynamic level is the static level (the longest path to an exit task in mean durations,
    without communication), less the time at which data and machine are there, plus what the
    machine is faster than the mean. Ties go to the greater static level.
    """
    mean, edge = weights(problem)
    level = levels(problem.dag, mean, np.zeros(len(edge)))
    rule = Rule(bias=-(level + mean), level=level, shown="dynamic level")
    return Solution(schedule=best_pairs(problem, control, rule))


@by_rule(name="etf", source="Hwang, Chow, Anger and Lee 1989")
def etf(problem: TaskGraph, control: Control) -> Solution:
    """Of all ready tasks on all machines, the pair that can start first is next.

    Ties go to the task of higher static level: the longest path to an exit task in mean durations,
    without communication.
    """
    task, edge = weights(problem)
    level = levels(problem.dag, task, np.zeros(len(edge)))
    rule = Rule(counts_seconds=False, bias=np.zeros(len(level)), level=level)
    return Solution(schedule=best_pairs(problem, control, rule))


def _by_ends(problem: TaskGraph, control: Control, chooses: int) -> Schedule:
    """Return the plan of a rule over ends; ties go to the longest path to an exit task."""
    level = levels(problem.dag, *weights(problem))
    return best_pairs(
        problem, control, Rule(chooses=chooses, bias=np.zeros(len(level)), level=level)
    )


LEAST, GREATEST, SUFFERS = range(3)
"""Which ready task is next: that of the least best value, of the greatest, or the one that would
lose most by its second-best machine."""

NEVER = float("inf")  # the seconds of a task on a machine that can't execute it
SLICE = 20_000_000  # looks at a ready task between two looks at the clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Which pair of a ready task and a machine is placed next.

    The value of a pair is the start of the task there, with ``counts_seconds`` its end, and the
    ``bias`` of the task added. Each task's best machine is that of least value, ties by the lowest.
    ``chooses`` says which task is next; ties go to the greatest ``level``, then to the lowest.
    ``shown`` names the value negated in the log, where it is shown.
    """

    chooses: int = LEAST
    counts_seconds: bool = True
    bias: Floats
    level: Floats
    shown: str = ""

    def value(self, task: int, option: Placement) -> float:
        """Return the value of a pair."""
        start = option.end if self.counts_seconds else option.start
        return start + float(self.bias[task])

    def key(self, task: int, values: Sequence[float]) -> tuple[float, float, int]:
        """Return what is least for the task that is next, given its value on each machine."""
        best, second = sorted(values)[:2] if len(values) > 1 else (values[0], values[0])
        loss = best - second if second < NEVER else 0.0
        return (best, -best, loss)[self.chooses], -float(self.level[task]), task


def best_pairs(problem: TaskGraph, control: Control, rule: Rule) -> Schedule:
    """Return the plan that places the ready task that ``rule`` chooses on its best machine.

    Tasks go behind what their machine has. When the time is up, :func:`fallback_plan` takes over.
    Complexity: O(n w + e m), w the widest queue of ready tasks, compiled for large graphs; where
    transfers wait, and for the log, O((n w + e) m) tries on a partial schedule.
    """
    if cannot_end(problem, control):
        return fallback_plan(problem, control)
    if problem.transfers_wait:
        return best_pairs_by_trial(problem, control, rule)
    if control.log_steps:  # the same decisions, one by one
        best_pairs_by_trial(problem, control, rule)
    dag, machines, count = problem.dag, len(problem.network), len(problem.dag)
    claim(16.0 * count * machines, f"starts and durations of {count:,} tasks on all machines")
    routing = problem.network.routing
    entries = np.flatnonzero(dag.first_in[1:] == dag.first_in[:-1])
    ready = np.concatenate([entries, np.zeros(count - len(entries), dtype=np.int64)])
    loop, column = place_pairs.chosen(
        (2 * count + len(dag.source)) * machines + steps_of_cores(problem)
    )
    arrival = np.where(problem.durations < NEVER, dag.release[:, None], NEVER)
    given = {
        "first_in": dag.first_in, "predecessors": dag.predecessors,
        "size": dag.size[dag.in_edges], "first_out": dag.first_out,
        "successors": dag.successors, "seconds": problem.durations.ravel(),
        "fixed": routing.fixed_seconds.ravel(), "per_unit": routing.seconds_per_unit.ravel(),
        "first_core": problem.first_core, "bias": rule.bias, "level": rule.level,
        "held": dag.cores, "waiting": np.diff(dag.first_in), "ready": ready,
        "arrival": arrival.ravel(), "urgency": np.full(count, np.inf),
        "best": np.zeros(count, dtype=np.int64), "second": np.zeros(count, dtype=np.int64),
        "core_free": np.zeros(int(problem.cores.sum() + dag.cores.max())),
        "machine": np.zeros(count, dtype=np.int64), "start": np.zeros(count),
        "end": np.zeros(count),
    }  # fmt: skip
    columns = {name: column(each) for name, each in given.items()}
    run = bind(
        loop, **columns, chooses=rule.chooses, counts_seconds=rule.counts_seconds,
        machines=machines, most=max(1, SLICE // count),
    )  # fmt: skip
    left = len(entries)
    while left:
        if control.expired():
            return fallback_plan(problem, control)
        left = run(left)
    return planned(problem, *(np.asarray(columns[name]) for name in ("machine", "start", "end")))


def best_pairs_by_trial(problem: TaskGraph, control: Control, rule: Rule) -> Schedule:
    """Like :func:`best_pairs`, task by task: with contention, blocking and a log."""
    dag, partial = problem.dag, AppendSchedule(problem)
    machines = range(len(problem.network))
    successors = rows_of(dag.first_out, dag.successors)
    waiting = np.diff(dag.first_in).tolist()
    ready = [task for task in range(len(dag)) if not waiting[task]]
    values: dict[int, list[float]] = {}
    contended = problem.contention != "none"
    while ready:
        for task in ready:
            if control.expired():
                return fallback_plan(problem, control)
            if contended or task not in values:
                values[task] = [rule.value(task, partial.try_on(task, each)) for each in machines]
        keys = {task: rule.key(task, values[task]) for task in ready}
        task = min(ready, key=keys.__getitem__)
        machine = int(np.argmin(values[task]))
        if control.log_steps:
            options = [partial.try_on(task, each) for each in machines]
            of = {each: -values[task][each] for each in machines} if rule.shown else None
            control.step(
                placing_step(
                    problem, options[machine], task, queue=sorted(ready, key=keys.__getitem__),
                    priority=rule.level, word="level", options=options, values=of,
                    value=rule.shown,
                )
            )  # fmt: skip
        partial.place(task, machine)
        ready.remove(task)
        for other in ready:
            if not contended:
                values[other][machine] = rule.value(other, partial.try_on(other, machine))
        for successor in successors[task]:
            waiting[successor] -= 1
            if not waiting[successor]:
                ready.append(successor)
    return partial.schedule()


@graph_loop
def place_pairs(  # type: ignore[no-untyped-def]
    first_in, predecessors, size, first_out, successors, seconds, fixed, per_unit, first_core,
    bias, level, held,
    waiting, ready, arrival, urgency, best, second, core_free, machine, start, end,
    count, chooses, counts_seconds, machines, most,
):  # fmt: skip
    """Place up to ``most`` tasks, the first of which are ``count`` ready ones; return how many are.

    A start on a machine only grows when a task is placed there, so that a task's best machine, and
    its second, remain until a task goes to one of them. ``arrival`` holds when the data of a ready
    task are on each machine, ``urgency`` what is least for the next one, infinite where it is to be
    found anew; ``core_free`` when the cores of each machine are free, in their order, of which a
    task takes as many as ``held`` says, and room behind, for what is read where a task can't be.
    Tables are flat, a row per task; ``size`` is in the order of ``predecessors``.
    """
    while count > 0 and most > 0:
        most -= 1
        place = 0
        for index in range(count):
            task = ready[index]
            row = task * machines
            if urgency[task] == np.inf:
                low = lower = np.inf
                others = held[task] - 1
                best[task] = second[task] = -1
                for each in range(machines):
                    begin = arrival[row + each]
                    if seconds[row + each] > 0.0:
                        begin = max(begin, core_free[first_core[each] + others])
                    value = begin + bias[task]
                    if counts_seconds:
                        value = begin + seconds[row + each] + bias[task]
                    if value < low:
                        lower, second[task] = low, best[task]
                        low, best[task] = value, each
                    elif value < lower:
                        lower, second[task] = value, each
                if chooses == 0:
                    urgency[task] = low
                elif chooses == 1:
                    urgency[task] = -low
                else:
                    urgency[task] = low - lower if second[task] >= 0 else 0.0
            other = ready[place]
            if urgency[task] < urgency[other] or (
                urgency[task] == urgency[other]
                and (level[task] > level[other] or (level[task] == level[other] and task < other))
            ):
                place = index
        task = ready[place]
        count -= 1
        ready[place] = ready[count]
        where = best[task]
        here = task * machines + where
        machine[task] = where
        start[task] = arrival[here]
        if seconds[here] > 0.0:
            start[task] = max(arrival[here], core_free[first_core[where] + held[task] - 1])
        end[task] = start[task] + seconds[here]
        if end[task] > start[task]:
            core, behind = first_core[where], first_core[where + 1]
            hold_in_order(core, behind, held[task], end[task], core_free)
            for index in range(count):
                other = ready[index]
                if best[other] == where or (chooses == 2 and second[other] == where):
                    urgency[other] = np.inf
        for position in range(first_out[task], first_out[task + 1]):
            other = successors[position]
            waiting[other] -= 1
            if waiting[other] > 0:
                continue
            ready[count] = other
            count += 1
            row = other * machines
            for each in range(first_in[other], first_in[other + 1]):
                source = predecessors[each]
                for there in range(machines):
                    time = end[source]
                    if machine[source] != there:
                        pair = machine[source] * machines + there
                        time += fixed[pair] + per_unit[pair] * size[each]
                    arrival[row + there] = max(arrival[row + there], time)
    return count
