"""Methods of Pilla 2021 and 2022, for comparison: the table of totals, OLAR and MarIn."""

import heapq
import math
from collections.abc import Callable

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import pays
from makespan.core.registry import register
from makespan.core.solution import Objective, Solution
from makespan.core.steps import Step, number
from makespan.core.system.memory import claim
from makespan.partition import needs
from makespan.partition.least_sum.search import relaxation_at
from makespan.partition.model.allowed_counts import Allowed
from makespan.partition.model.table import Flags
from makespan.partition.plan import NOT_LOOKED_AT, no_count, no_plan, out_of_reach, plan, sum_at
from makespan.partition.problem import Partition
from makespan.partition.threshold.search import LARGEST
from makespan.partition.threshold.sums import Expired, Sums
from makespan.partition.threshold.target import Target, cap_of, plan_for_target
from makespan.partition.timing import timed

NOT_CONVEX = "the costs grow more slowly somewhere by less than rounding, and that matters"
BYTES_PER_ENTRY = 40  # a float of Python, and its place in a list

Key = Callable[[float, float], float]
"""From a resource's present cost and its cost with one more task to the key of that task."""


@register(
    needs=(
        needs.LEAST_MAKESPAN,
        needs.EVERY_TASK,
        needs.NO_DEADLINE,
        needs.LEXICOGRAPHIC,
        needs.MONOTONE,
    ),
    proves="exchange argument for costs that never fall (Pilla 2021, theorem 1)",
    published=True,
    complexity="O(n + T log n)",
    source="Pilla 2021, algorithm 1",
)
def olar(problem: Partition, control: Control) -> Solution:
    """Optimum where costs never fall, by a heap: each task goes where it ends first.

    Among equal ends the first resource is taken, which gives another optimum than the
    lexicographically least.
    """
    amounts = _handed_out(problem, lambda now, then: then, control)
    if isinstance(amounts, Solution):
        return amounts
    return Solution(schedule=timed(problem, amounts), optimal=True, notes=(NOT_LOOKED_AT,))


@register(
    needs=(
        needs.LEAST_TOTAL,
        needs.EVERY_TASK,
        needs.NO_DEADLINE,
        needs.NO_OTHER_PREFERENCE,
        needs.CONVEX,
    ),
    proves="exchange argument for marginal costs that never fall, to within rounding",
    published=True,
    complexity="O(n + T log n)",
    source="Pilla 2022 (federated learning), MarIn",
)
def marin(problem: Partition, control: Control) -> Solution:
    """Least sum of times where costs never grow more slowly: each task goes where it adds least."""
    amounts = _handed_out(problem, lambda now, then: then - now, control)
    if isinstance(amounts, Solution):
        return amounts
    value = math.fsum(problem.costs_of(amounts).tolist())
    proved = _is_least(problem, amounts)
    return Solution(
        schedule=timed(problem, amounts),
        optimal=proved,
        objective=Objective(name="total", value=value, bound=value if proved else None),
        notes=() if proved else (NOT_CONVEX,),
    )


def _is_least(problem: Partition, amounts: Integers) -> bool:
    """Whether at the price of the last task no count of any resource would be better."""
    choices, weights = problem.choices, problem.choices.table.values
    entries = choices.low + (amounts - choices.least_counts)
    taken = entries[entries > choices.low]
    price = float((weights[taken] - weights[taken - 1]).max(initial=0.0))
    return relaxation_at(choices, weights, LARGEST, problem.tasks, entries, price).supported


def _handed_out(problem: Partition, key: Key, control: Control) -> Integers | Solution:
    """Return the counts after every task went to the resource with the least key for it.

    Equal keys go to the first resource. Without a plan, the solution says whether the limits forbid
    one; else the time was up. The rows must be contiguous. Complexity: O(n + T log n).
    """
    choices = problem.choices
    if len(choices.empty_rows):
        return no_plan(no_count(problem, int(choices.empty_rows[0])))
    lower = choices.least_counts
    why = out_of_reach(problem, int(lower.sum()), int(choices.greatest_counts.sum()))
    if why is not None:
        return no_plan(why)
    claim(BYTES_PER_ENTRY * choices.size, f"lists of {choices.size:,} costs")
    rows = [
        choices.table.values[low:high].tolist()
        for low, high in zip(choices.low.tolist(), choices.high.tolist(), strict=True)
    ]
    given = [0] * len(rows)
    heap = [(key(row[0], row[1]), index) for index, row in enumerate(rows) if len(row) > 1]
    heapq.heapify(heap)
    for _ in range(problem.tasks - int(lower.sum())):
        if control.expired():
            return Solution(schedule=None)
        index = heap[0][1]
        given[index] += 1
        row, count = rows[index], given[index]
        if control.log_steps:
            _log(problem, control, sum(given), index, count, row[count])
        if count + 1 < len(row):
            heapq.heapreplace(heap, (key(row[count], row[count + 1]), index))
        else:
            heapq.heappop(heap)
    return lower + np.array(given, dtype=np.int64)


def _log(
    problem: Partition, control: Control, task: int, index: int, count: int, cost: float
) -> None:
    name = problem.machines[index]
    control.step(
        Step(
            text=f"task {task} to {name}: {count} there, which cost {number(cost)}",
            cells={"task": task, "to": name, "tasks there": count, "cost": cost},
            values={"tasks placed": task},
        )
    )


COMPILED_FROM = 1_000_000  # from this many steps on, the compiled loop is worth loading
STEPS = 50_000_000  # after so many steps the clock is read


@register(
    needs=(needs.LEAST_MAKESPAN_OR_TOTAL, needs.LEXICOGRAPHIC),
    proves="induction over the resources (Pilla 2022, theorem 1)",
    complexity="O(n T^2) time, O(n T) memory",
    source="Pilla 2022, algorithm 1, corrected: limits clamped to T, windows on the totals, "
    "infeasible problems recognised",
)
def dynamic_programming(problem: Partition, control: Control) -> Solution:
    """Optimum for any costs by the published table: all totals, resource after resource.

    The resources are taken from the last to the first, and only the values are kept, so that
    the plan is the lexicographically least among the optima.
    """
    summed, cap = problem.objective == "total", cap_of(problem)

    def search(_: Sums, target: Target) -> Solution | None:
        table = _table(problem.choices, target.tasks, cap, summed, control)
        if table is None:
            raise Expired(0)
        if table[0][target.tasks] == np.inf:
            return None
        entries = _trace(problem.choices, table, target.tasks, cap, summed)
        objective = None
        if summed:
            value = sum_at(problem.choices.table.values, entries)
            objective = Objective(name="total", value=value, bound=value)
        return plan(problem, entries, optimal=True, notes=target.notes, objective=objective)

    return plan_for_target(problem, control, search)


def _table(
    choices: Allowed, tasks: int, cap: int, summed: bool, control: Control
) -> list[Floats] | None:
    """Return per row the best value of every total of the rows from it on that can be needed."""
    least = np.concatenate([[0], np.cumsum(choices.least_counts)]).tolist()
    most = np.concatenate([[0], np.cumsum(choices.greatest_counts)]).tolist()
    claim(8 * (len(choices) + 1) * (tasks + 1), f"a table of {len(choices):,} x {tasks:,} totals")
    row_function = _row_function(choices, tasks, control)
    values = np.full(tasks + 1, np.inf)
    values[0] = 0.0 if summed else -np.inf
    rows = [values]
    for row in range(len(choices) - 1, -1, -1):
        if control.expired():
            return None
        low, high = max(0, tasks - most[row]), tasks - least[row]
        values = np.full(tasks + 1, np.inf)
        if high >= low:
            row_function(row, rows[-1], cap, low, high, summed, values)
            if control.expired():
                return None
        rows.append(values)
    return rows[::-1]


RowFunction = Callable[[int, Floats, int, int, int, bool, Floats], None]


def _row_function(choices: Allowed, tasks: int, control: Control) -> RowFunction:
    """Return what fills one row; where the time is up, the row is left unfinished."""
    if not pays(choices.size * (tasks + 1), COMPILED_FROM, of=("partition",)):
        return lambda *arguments: _plain_row(choices, *arguments)
    from makespan.partition.least_sum.kernels import table_row

    table = choices.table
    slice_ = max(1, STEPS // (tasks + 1))

    def compiled(
        row: int, old: Floats, cap: int, low: int, high: int, summed: bool, new: Floats
    ) -> None:
        for begin in range(int(choices.low[row]), int(choices.high[row]), slice_):
            end = min(begin + slice_, int(choices.high[row]))
            table_row(
                old, table.values, choices.bits, cap, table.listed, table.base[row], begin, end,
                low, high, summed, new,
            )  # fmt: skip
            if control.expired():
                return

    return compiled


def _plain_row(
    choices: Allowed,
    row: int,
    old: Floats,
    cap: int,
    low: int,
    high: int,
    summed: bool,
    new: Floats,
) -> None:
    counts, costs, _ = _allowed(choices, row, cap)
    for count, cost in zip(counts.tolist(), costs.tolist(), strict=True):
        begin = max(low, count)
        if begin > high:
            break
        source = old[begin - count : high + 1 - count]
        extended = source + cost if summed else np.maximum(source, cost)
        np.minimum(new[begin : high + 1], extended, out=new[begin : high + 1])


def _allowed(choices: Allowed, row: int, cap: int) -> tuple[Integers, Floats, Integers]:
    entries = choices.allowed(row, cap)
    return choices.table.counts_at(entries, row), choices.table.values[entries], entries


def _reaches(later: Floats, costs: Floats, value: float, summed: bool) -> Flags:
    """Return with which counts a value is reached, given the values of the later rows."""
    found: Flags = later + costs == value if summed else np.maximum(later, costs) <= value
    return found


def _trace(choices: Allowed, table: list[Floats], tasks: int, cap: int, summed: bool) -> Integers:
    """Return each row's least count with which the value of the whole is still reached."""
    best = table[0][tasks]
    chosen, rest = [], tasks
    for row in range(len(choices)):
        counts, costs, entries = _allowed(choices, row, cap)
        fitting = counts <= rest
        counts, costs, entries = counts[fitting], costs[fitting], entries[fitting]
        later = table[row + 1][rest - counts]
        at = int(np.argmax(_reaches(later, costs, table[row][rest] if summed else best, summed)))
        chosen.append(int(entries[at]))
        rest -= int(counts[at])
    return np.array(chosen, dtype=np.int64)
