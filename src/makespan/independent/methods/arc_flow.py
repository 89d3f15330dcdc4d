"""The optimum without preemption, by deciding one capacity after another as a flow."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.independent.needs import IDENTICAL, NO_PREEMPTION, NO_RELEASES
from makespan.independent.placing.arc_flow import flow_packed
from makespan.independent.placing.capacities import least_capacity
from makespan.independent.problem import IndependentTasks


@register(
    "independent",
    name="arc-flow",
    needs=(IDENTICAL, NO_PREEMPTION, NO_RELEASES),
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
