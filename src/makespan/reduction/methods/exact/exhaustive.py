"""The segmented reduction notebook's search over all destinations, segment after segment."""

from __future__ import annotations

from typing import Any

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.reduction.needs import A_REDUCTION, GIVEN_COUNT, GREEDY_ORDER, OPEN_PLAN, at_most
from makespan.reduction.problem import Reduction
from makespan.reduction.rules.order import ordered
from makespan.reduction.search.exhaustion import MAX_LISTED, search
from makespan.reduction.sends import claim_sends, float_tables_of, tables_of
from makespan.reduction.timing import in_order

MAX_MACHINES = 8
FEW_MACHINES = at_most(MAX_MACHINES, "machines", lambda problem: len(problem.machines))


@register(
    "reduction",
    name="exhaustive",
    needs=(A_REDUCTION, GIVEN_COUNT, OPEN_PLAN, GREEDY_ORDER, FEW_MACHINES),
    proves="all n^((n-2)m) valid solutions, merged where they meet (order = 'greedy')",
    complexity="O(S n^n) for S distinct states a segment",
    source="array reduction notebook, find_min; corrected: exact ties, the root keeps its name",
)
def exhaustive(
    problem: Reduction,
    control: Control,
    *,
    compatible: bool = False,
    listed: int = MAX_LISTED,
) -> Solution:
    """Search all destinations under the greedy rule, with the counts of the notebook.

    ``compatible`` computes in floats as the notebook does, to the bit. The distinct optima are
    listed where there are at most ``listed`` optima.
    """
    claim_sends(problem)
    if control.expired():
        return Solution(schedule=None, notes=("the time was up before the search began",))
    tables = float_tables_of(problem) if compatible else tables_of(problem)
    tables = tables.over(len(problem.machines))
    transfer, latency, reduce, size, unit = tables
    found = search(
        transfer, latency, reduce, size, control=control, listed=listed, compatible=compatible
    )
    if found is None:
        return Solution(schedule=None, notes=("the time was up before the search was through",))
    sends, _ = ordered(problem, found.best, "greedy")
    value = float(found.value) if unit is None else float(int(found.value) * unit)
    told: dict[str, Any] = {  # what the notebook prints
        "makespan": value,
        "tested": found.tested,
        "valid": found.valid,
        "optimal": found.optimal,
    }
    counted = (
        f"of {found.tested} destinations tested, {found.valid} are valid, {found.optimal} optimal"
    )
    if found.solutions is not None:  # as ``destinations`` takes them: counted from 1
        counted += f", {len(found.solutions)} of these distinct up to renaming machines"
        told["distinct"] = [(solution + 1).tolist() for solution in found.solutions]
    return Solution(
        schedule=in_order(problem, sends),
        optimal=problem.order == "greedy" and not compatible,
        details={"exhaustive": told},
        notes=(counted,),
    )
