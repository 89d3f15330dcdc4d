"""The optimum without preemption: one capacity after another, decided by search or as a flow."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.independent.needs import IN_ONE_PIECE
from makespan.independent.placing.arc_flow import flow_packed
from makespan.independent.placing.capacities import least_capacity
from makespan.independent.placing.completion import Completion, Group, Unfinished
from makespan.independent.problem import IndependentTasks

MAX_MACHINES, MAX_TASKS = 200, 5_000
ARCS_FROM = 3200
"""The budget of fillings at which a flow is asked as well, for half of the time left."""


def _few(problem: IndependentTasks) -> str | None:
    tasks = len(problem.durations)
    if tasks <= MAX_TASKS and problem.useful_machines <= MAX_MACHINES:
        return None
    return f"there are {tasks} tasks and {problem.useful_machines} machines"


@register(
    "independent",
    name="bin-completion",
    needs=(
        *IN_ONE_PIECE,
        Need(f"at most {MAX_TASKS} tasks and {MAX_MACHINES} machines", _few, decisive=True),
    ),
    proves="every shorter capacity is refuted by complete search",
    complexity="exponential",
    source="Korf 2003, Schreiber and Korf 2014: capacities from the bound upward, each by bin "
    "completion; dominance of Martello and Toth 1990. Between tries, a few machines are packed "
    "anew",
)
def bin_completion(problem: IndependentTasks, control: Control) -> Solution:
    """Pack the tasks within the least capacity, from the bound up; refute each that is short.

    A capacity that is not decided soon is handed to ``arc-flow`` once, where there are few loads.
    """

    def decide(tasks: Group, machines: int, capacity: int, budget: int) -> list[Group] | None:
        if budget == ARCS_FROM:
            with control.sharing(1 / 2):
                try:
                    return flow_packed(tasks, machines, capacity, control)
                except Unfinished:
                    pass
        return Completion(capacity, budget, control).packed(tasks, machines)

    return least_capacity(problem, control, decide)


@register(
    "independent",
    name="arc-flow",
    needs=IN_ONE_PIECE,
    proves="every shorter capacity is refuted by a bound of HiGHS on the tasks that don't fit",
    complexity="exponential; a capacity C has at most C arcs for each distinct duration",
    source="Valério de Carvalho 1999, for capacities from the bound upward: Mrad and Souayah 2018",
)
def arc_flow(problem: IndependentTasks, control: Control) -> Solution:
    """Pack the tasks within the least capacity, from the bound up, each decided by HiGHS as a flow.

    Of many loads a flow is too large: then a few machines at a time are packed anew.
    """
    return least_capacity(
        problem,
        control,
        lambda tasks, machines, capacity, _: flow_packed(tasks, machines, capacity, control),
    )
