"""One round with fixed costs (latencies): by send cost for large loads, and exact searches."""

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible import needs
from makespan.divisible.one_round.ending_together import AffineCosts, SubsetSearch, without_late
from makespan.divisible.one_round.layers import MAX_WORKERS
from makespan.divisible.one_round.plans import in_turn, log_service_order, one_round, service_order
from makespan.divisible.one_round.subsets import Selection, solve_latencies
from makespan.divisible.problem import DivisibleLoad


@register(
    needs=(
        *needs.SPLIT_ONE_ROUND,
        needs.FINITE_RATES,
        needs.NO_RETURNS,
        needs.ONE_SEND_AT_A_TIME,
        needs.ANY_WORKERS,
        needs.AFFINE_WORK,
    ),
    complexity="O(n log n + n log k) for k workers dropped",
    source="Benoit 2016, latencies, known results for large loads",
)
def large_load(problem: DivisibleLoad, control: Control) -> Solution:
    """All by non-decreasing send cost, ending together; right for large loads with latencies.

    Workers that would get less than nothing are dropped. A heuristic for small loads.
    """
    if problem.total == 0.0:
        return one_round(problem, np.zeros(len(problem.star)), 0.0)
    costs = AffineCosts.of(problem)
    end, workers, amount = without_late(costs, service_order(problem), problem.total)
    if np.isinf(end):
        return Solution(schedule=None, infeasible="there is no machine to compute the load")
    plan = in_turn(problem, workers, amount, costs.own_load(end))
    return log_service_order(problem, control, plan, problem.star.send_per_unit, "send cost")


@register(
    needs=(
        *needs.AFFINE_ONE_ROUND,
        needs.at_most(
            MAX_WORKERS,
            number=lambda problem: 0 if problem.order else len(problem.star),
            otherwise="an order, or ",
        ),
    ),
    reach=(needs.at_most(3_000),),
    proves="every ordered subset is tried or beaten, by its own kind or by a linear star's bound",
    complexity="exponential in the workers",
    source="Benoit 2016, latencies, corrected (all that take part end together in "
    "some optimum); lists of unbeaten pairs after Nemhauser and Ullmann 1969; Dinkelbach 1967",
)
def subset_dp(problem: DivisibleLoad, control: Control) -> Solution:
    """Exact search over the subsets of workers and their orders, with fixed costs.

    For a given end the load of a sequence is known in closed form. Sequences grow by one worker
    at a time; those of the same set compete in the time left and the load done. Newton's method
    finds the end at which the best sequence does just the load.
    """
    return solve_latencies(problem, control)


@register(
    needs=(
        *needs.AFFINE_ONE_ROUND,
        needs.NO_GIVEN_ORDER,
        needs.equal_workers("send_per_unit", what="equal send costs per unit"),
    ),
    reach=(needs.at_most(3_000),),
    proves="exchange of neighbours orders the workers; every subset is tried or beaten",
    complexity="exponential in the worst case, polynomial in the unbeaten subsets",
    source="exchange argument on Benoit 2016, latencies; lists of unbeaten pairs after Nemhauser "
    "and Ullmann 1969",
)
def bus_exchange(problem: DivisibleLoad, control: Control) -> Solution:
    """Serve by non-decreasing C w - c W, the best subset of the workers, with the best master.

    C and W are a worker's fixed costs of sending and computing, w its cost of computing a unit,
    and c what sending a unit costs for all.
    """
    star = problem.star
    key = star.send_fixed * star.compute_per_unit - star.send_per_unit * star.compute_fixed
    found = solve_latencies(problem, control, _search)
    return log_service_order(problem, control, found, key, "C w - c W")


def _search(costs: AffineCosts, order: Integers | None, control: Control) -> SubsetSearch:
    rank = costs.send_fixed * costs.compute - costs.send * costs.compute_fixed
    return Selection(costs, np.argsort(rank, kind="stable"), control)
