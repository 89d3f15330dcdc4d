"""Plans whose machines are decided: those that are given, or one for all tasks."""

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.taskgraph.limits import missed
from makespan.taskgraph.list_scheduling.assigned import on_one_machine, timed
from makespan.taskgraph.needs import A_GIVEN_PLAN, NO_GIVEN_PLAN
from makespan.taskgraph.problem import TaskGraph


@register(
    needs=(A_GIVEN_PLAN,),
    proves="without contention, earliest starts in the given sequences on single cores can't be "
    "beaten: every start is a longest path",
    complexity="O(n log n + n log c + e), c the cores of a machine; compiled unless transfers wait",
    source="definition: a given plan is timed and checked only",
)
def given_plan(problem: TaskGraph, control: Control) -> Solution:
    """Times the given assignment and sequences; tasks without a sequence go by level."""
    given, dag = problem.given, problem.dag
    machine_of = given.machine_of
    assert machine_of is not None
    ordered = np.isin(machine_of, np.array(list(given.sequences), dtype=np.int64)).all()
    schedule = timed(problem)
    decided = bool(ordered) and problem.contention == "none"
    single = bool((problem.cores[machine_of] == 1).all())
    if problem.is_blocking:  # what is fetched and executed in no time could be in between
        single &= bool((problem.durations_on(np.arange(len(dag)), machine_of) > 0).all())
    late = missed(problem, schedule) if decided and single else None
    if late is not None:
        return Solution(schedule=None, infeasible=f"as given, as early as possible: {late}")
    return Solution(schedule=schedule, optimal=decided and single)


@register(
    needs=(NO_GIVEN_PLAN,),
    complexity="O(n (log n + m) + e)",
    source="the sum of durations over the cores; shorter than what list scheduling gives where "
    "data are large",
)
def single_machine(problem: TaskGraph, control: Control) -> Solution:
    """Puts all tasks on the machine that executes them soonest: there data are free."""
    return Solution(schedule=on_one_machine(problem))
