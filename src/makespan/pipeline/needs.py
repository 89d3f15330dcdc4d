"""What methods for pipelines need of a problem."""

from __future__ import annotations

from makespan.core.registry import Need
from makespan.pipeline.problem import Pipeline

MOST_BITS = 62
MOST_STATES = 4_000_000
"""Entries of tables of stages and machines, with the work of a pass over them."""


def _dealt(problem: Pipeline) -> str | None:
    return f"replicas is {problem.replicas}" if problem.replicas > 1 else None


def _not_dealt(problem: Pipeline) -> str | None:
    return "replicas is 1" if problem.replicas == 1 else None


def _unlike(problem: Pipeline) -> str | None:
    return None if problem.alike else "machines or links differ"


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


def _front(problem: Pipeline) -> str | None:
    return "objective is 'pareto'" if problem.objective == "pareto" else None


def entries(most: float) -> Need:
    """Need that a table of stages and machines has no more entries than that: a reach."""

    def unmet(problem: Pipeline) -> str | None:
        count = len(problem.stages) * len(problem.machines)
        return f"there are {count:,}" if count > most else None

    return Need(f"at most {most:,.0f} pairs of a stage and a machine", unmet)


ONE_EACH = Need("one machine for each interval (replicas = 1)", _dealt)
SEVERAL = Need("intervals that may be dealt to several machines (replicas)", _not_dealt)
ALIKE = Need("machines and links that are alike", _unlike, decisive=True)
PERIOD_ONLY = Need("the period alone as objective and limit", _more_than_period)
NO_TURNS = Need("transfers beside computing, or none", _busy_in_turn)
FEW_MACHINES = Need(f"at most {MOST_BITS} machines where their order is free", _many_machines)
ONE_VALUE = Need("an objective that is one value", _front)
