"""Two binary trees, pipelined."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.reduction.needs import FREE_ORDER, GIVEN_COUNT, ONE_WAY, OPEN_PLAN
from makespan.reduction.problem import Reduction
from makespan.reduction.rules import classical

LEADS = (0, 2, 4, 6, 8)  # how much earlier deeper machines send a segment


@register(
    "reduction",
    name="two-tree",
    needs=(ONE_WAY, GIVEN_COUNT, OPEN_PLAN, FREE_ORDER),
    complexity="O(n m log n)",
    source="Sanders, Speck and Träff 2009",
)
def two_tree(problem: Reduction, control: Control) -> Solution:
    """Send odd and even segments up two binary trees, the leaves of one inside the other."""
    return classical.pipelined(problem, classical.two_tree, control, LEADS)
