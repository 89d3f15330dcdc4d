"""What methods for pipelines need of a problem."""

from makespan.core.registry import Need, at_most, condition, one_of
from makespan.pipeline.problem import Pipeline

MOST_BITS = 62
MOST_STATES = 4_000_000  # entries of tables of stages and machines, with the work of a pass


def _more_than_period(problem: Pipeline) -> str | None:
    if problem.objective != "period":
        return f"objective is {problem.objective!r}"
    for name in ("latency_limit", "budget"):
        if getattr(problem, name) is not None:
            return f"{name} is {getattr(problem, name):g}"
    return None


def _busy_in_turn(problem: Pipeline) -> str | None:
    free = not problem.per_unit.any() and not (problem.moved[[0, -1]] / problem.outside[0]).any()
    return None if problem.overlap or free else "overlap is false"


def _many_machines(problem: Pipeline) -> str | None:
    if problem.order == "given" or len(problem.machines) <= MOST_BITS:
        return None
    return f"there are {len(problem.machines)}"


def entries(most: float) -> Need:
    """Need that a table of stages and machines has no more entries than that: a reach."""
    pairs = "pairs of a stage and a machine"
    return at_most(most, pairs, lambda each: len(each.stages) * len(each.machines))


ONE_EACH = one_of("replicas", 1, text="one machine for each interval (replicas = 1)")
SEVERAL = condition(
    "intervals that may be dealt to several machines (replicas)",
    lambda problem: problem.replicas > 1,
    "replicas is 1",
)
ALIKE = condition(
    "machines and links that are alike",
    lambda problem: problem.alike,
    "machines or links differ",
    decisive=True,
)
PERIOD_ONLY = Need("the period alone as objective and limit", _more_than_period)
NO_TURNS = Need("transfers beside computing, or none", _busy_in_turn)
FEW_MACHINES = Need(f"at most {MOST_BITS} machines where their order is free", _many_machines)
ONE_VALUE = condition(
    "an objective that is one value",
    lambda problem: problem.objective != "pareto",
    "objective is 'pareto'",
)
