"""Of many plans, the one that ends soonest in random scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.core.inputs.mistakes import refusal
from makespan.core.inputs.rules import whole
from makespan.core.noise import Noise, as_noise
from makespan.core.registry import register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.taskgraph.limits import worth
from makespan.taskgraph.needs import LEAST_MAKESPAN, NO_GIVEN_PLAN
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.scenarios.candidates import candidates
from makespan.taskgraph.scenarios.drawn import Scenarios
from makespan.taskgraph.scenarios.judged import Aim, affordable, chosen, estimated, reserved

ERROR = 0.1
COUNT = whole("it is", 1, 1_000_000)


@register(
    "taskgraph",
    name="monte-carlo",
    needs=(NO_GIVEN_PLAN, LEAST_MAKESPAN),
    complexity="k plans of HEFT, and O(k s (n + e)) to replay them in s scenarios",
    source="Zheng and Sakellariou 2013 (Monte-Carlo based DAG scheduling)",
)
def monte_carlo(
    problem: TaskGraph,
    control: Control,
    *,
    noise: Noise | float | Mapping[str, Any] = ERROR,
    quantile: float | None = None,
    plans: int = 100,
    scenarios: int = 200,
) -> Solution:
    """Where durations are uncertain: of plans for drawn durations, the best on average.

    The quick methods plan for the durations as stated, and for safe ones where errors differ;
    ``heft`` plans for drawn ones. All are replayed in the same scenarios, and the best few in
    others. What is said of the plan is estimated in scenarios that chose nothing.

    Parameters
    ----------
    noise
        As :func:`makespan.simulate` takes it.
    quantile
        None: the mean makespan is to be least. A share such as 0.95: the makespan that this share
        of the runs does not exceed.
    plans
        For how many drawn durations ``heft`` plans.
    scenarios
        In how many scenarios each plan is replayed.
    """
    noise, aim = as_noise(noise), Aim.checked(quantile)
    refuse_counts(plans=plans, scenarios=scenarios)
    every, ends = [], []
    with control.reserving(reserved(problem, control)):
        scenarios = affordable(problem, control, scenarios, plans)
        if not scenarios:
            return untried(problem, control, noise, aim)
        sample = Scenarios.drawn(problem, noise, scenarios, control.rng)
        for plan in candidates(problem, control, noise, plans):
            every.append(plan)
            ends.append(sample.makespans(plan))
    best = chosen(problem, control, every, ends, noise, aim)
    return estimated(problem, control, best, as_stated(problem, every), noise, aim)


def untried(problem: TaskGraph, control: Control, noise: Noise, aim: Aim) -> Solution:
    """Return the first plan, where there is no time to try any in scenarios."""
    first = next(candidates(problem, control, noise, 0))
    return estimated(problem, control, first, first, noise, aim)


def as_stated(problem: TaskGraph, plans: list[Schedule]) -> Schedule:
    """Return the best of plans for the durations as stated."""
    return min(plans, key=lambda plan: worth(problem, plan))


def refuse_counts(**counts: Any) -> None:
    """Refuse options that are not whole numbers from 1."""
    for name, count in counts.items():
        text = refusal(count, COUNT)
        if text is not None:
            raise MethodError(f"{name}: {text}")
