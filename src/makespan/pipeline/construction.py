"""First mappings: sequences of machines, and cuts of the stages between them."""

from collections.abc import Iterator, Sequence

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.solution import Objective, Solution
from makespan.pipeline.bounds import objective_bound, period_bounds
from makespan.pipeline.chains import Cutter, allowed_ends
from makespan.pipeline.mapping import Mapping, fits, mapping_of, ranked, values_of, worth
from makespan.pipeline.problem import Pipeline
from makespan.pipeline.state_space import Costs
from makespan.pipeline.timing import scheduled

HALVINGS = 24
SLOWER = (1.0, 1.02, 1.1, 1.3, 2.0, np.inf)
"""Periods, as multiples of a sequence's least, within which its least latency is looked for."""
MOST_PREFIXES = 40  # numbers of machines, the fastest of all, that are tried


def solution_of(
    problem: Pipeline, mapping: Mapping | None, *, bound: float | None = None, **others: object
) -> Solution:
    """Return the solution of a mapping: its schedule, its objective and a bound on that."""
    if mapping is None:
        return Solution(schedule=None, **others)  # type: ignore[arg-type]
    schedule = scheduled(problem, mapping)
    if problem.objective == "makespan":
        return Solution(schedule=schedule, lower_bound=bound, **others)  # type: ignore[arg-type]
    value = worth(problem, values_of(problem, mapping))
    floor = max(objective_bound(problem), 0.0 if bound is None else bound)
    floor = value if floor > value or others.get("optimal") else floor
    name = "period" if problem.objective == "pareto" else problem.objective
    if value - floor <= 1e-9 * value and problem.objective != "pareto":
        others["optimal"] = True
    objective = Objective(name=name, value=value, bound=floor)
    return Solution(schedule=schedule, objective=objective, **others)  # type: ignore[arg-type]


def known_mapping(problem: Pipeline, control: Control) -> Mapping | None:
    """Return the mapping of the incumbent, or else a first one; None where none is found."""
    if control.incumbent is not None and control.incumbent.schedule is not None:
        return mapping_of(problem, control.incumbent.schedule)
    return first_mapping(problem, Cutter(Costs.of(problem), problem.overlap), control)


class Best:
    """The best mapping so far, by its excess over limits, then by the objective."""

    def __init__(self, problem: Pipeline, mapping: Mapping | None = None) -> None:
        self.problem = problem
        self.mapping: Mapping | None = None
        self.rank = (np.inf, np.inf)
        if mapping is not None:
            self.offer(mapping)

    def offer(self, mapping: Mapping) -> bool:
        """Take a mapping that is better; return whether it is."""
        rank = ranked(self.problem, mapping)
        if rank < self.rank and fits(self.problem, mapping):
            self.rank, self.mapping = rank, mapping
            return True
        return False


def cuts(
    problem: Pipeline, cutter: Cutter, sequence: Sequence[int], most: float
) -> Iterator[Mapping]:
    """Yield cuts for a sequence of machines: of least period, or of least latency within some.

    ``most`` is a period that is not worth reaching.
    """
    cap = np.inf if problem.period_limit is None else problem.period_limit * (1 + 1e-12)
    if problem.objective == "latency" and problem.period_limit is None:
        _, edges = cutter(sequence, longest=False)
        if edges:
            yield Mapping.of(edges, sequence)
        return
    shortest, edges = cutter(sequence, most, longest=True)
    if not edges:
        return
    yield Mapping.of(edges, sequence)
    if only_period(problem):
        return
    for factor in SLOWER:
        _, edges = cutter(sequence, min(cap, shortest * factor * (1 + 1e-12)), longest=False)
        if edges:
            yield Mapping.of(edges, sequence)


def first_mapping(problem: Pipeline, cutter: Cutter, control: Control) -> Mapping | None:
    """Return the best cut of sequences by best fit and of the fastest machines; None for none."""
    best = Best(problem)
    for sequence in _sequences(problem, control):
        if best.mapping is not None and control.expired():
            break
        tried = sorted(sequence) if problem.order == "given" else sequence
        most = best.rank[1] if only_period(problem) and best.rank[0] == 0.0 else np.inf
        for mapping in cuts(problem, cutter, tried, most):
            best.offer(mapping)
    return best.mapping


def only_period(problem: Pipeline) -> bool:
    """Whether the period says all of a cut for a given sequence of machines."""
    return problem.objective == "period" and problem.latency_limit is None


def _sequences(problem: Pipeline, control: Control) -> Iterator[list[int]]:
    """Yield sequences of machines to be tried."""
    seconds = problem.pace
    order = np.argsort(seconds, kind="stable").tolist()
    room = np.argsort(-np.minimum(problem.memory, 1e300), kind="stable").tolist()
    most = min(len(order), len(problem.stages))
    numbers = np.unique(np.linspace(1, most, min(most, MOST_PREFIXES)).astype(np.int64)).tolist()
    yield order[:1]
    low, high = max(bound.value for bound in period_bounds(problem)), float(seconds.min())
    found = None
    for _ in range(HALVINGS):
        if high <= low * (1 + 1e-3) or (found is not None and control.expired()):
            break
        middle = (low + high) / 2
        tried = best_fit(problem, middle, seconds)
        if tried is None:
            low = middle
        else:
            found, high = tried, middle
            yield tried
    for number in numbers:
        yield order[:number]
        if problem.memory.min() < np.inf:
            yield room[:number]


def best_fit(problem: Pipeline, most: float, seconds: Floats) -> list[int] | None:
    """Return machines that cover the stages within a period, each the one that wastes least.

    Waste is the time left of the period, by the speed of the machine. None where machines don't
    suffice. Complexity: O(machines × (stages + machines)).
    """
    costs = Costs.of(problem, most)
    count, left = len(problem.stages), np.ones(len(problem.machines), dtype=bool)
    pairs = problem.per_unit[~np.eye(len(left), dtype=bool)]
    ends = allowed_ends(problem.moved * float(pairs.min(initial=np.inf)), most)
    sequence: list[int] = []
    stage = 0
    while stage < count:
        usable = left.copy()
        if problem.order == "given" and sequence:
            usable[: sequence[-1]] = False
        if sequence:
            usable &= problem.moved[stage] * problem.per_unit[sequence[-1]] <= most
        else:
            usable &= costs.enter <= most
        end = ends[costs.far[stage]]
        machines = np.flatnonzero(usable & (end > stage))
        if not len(machines):
            return None
        own = costs.sums[end[machines], machines] - costs.sums[stage, machines]
        waste = (most - own) / seconds[machines]
        waste[end[machines] == count] = -1.0
        chosen = int(machines[waste.argmin()])
        left[chosen] = False
        sequence.append(chosen)
        stage = int(end[chosen])
    return sequence
