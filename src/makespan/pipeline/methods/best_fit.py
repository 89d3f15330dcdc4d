"""First mappings: best fit within a period, and the fastest machines."""

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.pipeline.chains import Cutter
from makespan.pipeline.construction import first_mapping, solution_of
from makespan.pipeline.needs import entries
from makespan.pipeline.problem import Pipeline
from makespan.pipeline.state_space import Costs


@register(
    reach=(entries(4e6),),
    complexity="O(k m (n + m)) for some dozen periods, and a dynamic programme for each sequence",
    source="bisection on the period as in Benoit and Robert 2008; of the machines left the one "
    "that wastes least",
)
def best_fit(problem: Pipeline, control: Control) -> Solution:
    """Machines one after another, each the one that wastes least of a period; stages cut optimally.

    Sequences of the fastest machines, and of those with most memory, are cut, too. With limits, or
    another objective, the best of these cuts is taken.
    """
    cutter = Cutter(Costs.of(problem), problem.overlap)
    return solution_of(problem, first_mapping(problem, cutter, control))
