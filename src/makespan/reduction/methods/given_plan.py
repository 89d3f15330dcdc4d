"""The plan that the problem gives, evaluated."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.reduction.needs import A_REDUCTION, GIVEN_COUNT, GIVEN_PLAN
from makespan.reduction.problem import Reduction
from makespan.reduction.rules.order import given_sends
from makespan.reduction.timing import in_order


@register(
    "reduction",
    name="given-plan",
    needs=(A_REDUCTION, GIVEN_COUNT, GIVEN_PLAN),
    proves="destinations with a rule leave nothing to choose",
    complexity="O(n m log(n m))",
    source="array reduction notebook, evaluate, and its last section for sequences",
)
def given_plan(problem: Reduction, control: Control) -> Solution:
    """Start the sends of the given plan in the order of its rule, as early as possible.

    With sequences, the send that can start first goes first; on ties the lowest segment, then the
    lowest machine. A deadlock is reported with its cycle.
    """
    sends, _, why = given_sends(problem)
    if sends is None:
        return Solution(schedule=None, infeasible=why)
    settled = problem.order != "free" and problem.sequences is None
    return Solution(schedule=in_order(problem, sends), optimal=settled)
