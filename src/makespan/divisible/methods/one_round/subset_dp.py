"""The exact search over ordered subsets, for fixed costs in one round."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.needs import AFFINE_ONE_ROUND, at_most
from makespan.divisible.one_round.layers import MAX_WORKERS
from makespan.divisible.one_round.subsets import solve_latencies
from makespan.divisible.problem import DivisibleLoad


def _too_many(problem: DivisibleLoad) -> str | None:
    count = len(problem.star)
    if problem.order is not None or count <= MAX_WORKERS:
        return None
    return f"platform.workers has {count}"


@register(
    "divisible",
    name="subset-dp",
    needs=(
        *AFFINE_ONE_ROUND,
        Need(f"at most {MAX_WORKERS} workers, or an order", _too_many),
    ),
    reach=(at_most(3_000),),
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
