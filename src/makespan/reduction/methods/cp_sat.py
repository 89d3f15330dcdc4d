"""The order-aware optimum by constraint programming."""

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.reduction.exact.cp_sat_allreduce import AllreduceModel
from makespan.reduction.halves.merging import reduce_then_broadcast
from makespan.reduction.halves.proofs import best_by_cp_sat, copies_by_cp_sat
from makespan.reduction.needs import BY_CP_SAT
from makespan.reduction.problem import Reduction


@register(
    **BY_CP_SAT._asdict(),
    proves="CP-SAT's optimality certificate, in whole units of time",
    complexity="exponential; (n - 1)² m optional transfers",
    source="optional intervals on ports and units; OR-tools CP-SAT",
)
def cp_sat(problem: Reduction, control: Control) -> Solution:
    """Choose destinations and times together; start from the best plan known.

    Combinations may first follow in any order, which gives a bound and mostly the optimum. Where
    the order of arrival then ends later, it is asked for and the search repeated.
    """
    if problem.statement.one_way or len(problem.machines) == 1:
        return copies_by_cp_sat(problem, control)
    return best_by_cp_sat(
        problem,
        control,
        AllreduceModel,
        lambda: reduce_then_broadcast(problem, control, restarts=1),
    )
