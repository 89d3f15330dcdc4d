"""Plans that end soonest in random scenarios: the best of many, and local search."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.core.inputs.rules import refusal, whole
from makespan.core.noise import Noise, as_noise
from makespan.core.numeric.arrays import Floats
from makespan.core.registry import register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.taskgraph import needs
from makespan.taskgraph.limits import violation, worth
from makespan.taskgraph.local_search import Sample, improved, steps_of_a_move
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.scenarios import (
    Aim,
    Scenarios,
    affordable,
    candidates,
    chosen,
    estimated,
    reserved,
)

ERROR = 0.1
COUNT = whole("it is", 1, 1_000_000)


@register(
    needs=(needs.NO_GIVEN_PLAN, needs.LEAST_MAKESPAN),
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
    others. What is said of the plan is estimated in scenarios that chose nothing. ``noise`` is as
    :func:`makespan.simulate` takes it. Of a ``quantile`` such as 0.95, the makespan that this share
    of the runs does not exceed is to be least; None: the mean. ``plans``: for how many drawn
    durations ``heft`` plans. ``scenarios``: in how many each plan is replayed.
    """
    refuse_counts(plans=plans, scenarios=scenarios)
    return _planned(problem, control, noise, quantile, plans, scenarios)


def _planned(
    problem: TaskGraph, control: Control, given: Any, quantile: float | None, count: int,
    scenarios: int, *, searches: bool = False, moves: int | None = None,
) -> Solution:  # fmt: skip
    """Return the best of the candidates, and of what a search finds from the best of them."""
    noise, aim = as_noise(given), Aim.checked(quantile)
    with control.reserving(reserved(problem, control)):
        scenarios = affordable(problem, control, scenarios, count)
        if not scenarios:  # there is no time to try any plan
            first = next(candidates(problem, control, noise, 0))
            return estimated(problem, control, first, first, noise, aim)
        sample = Scenarios.drawn(problem, noise, scenarios, control.rng)
        plans, ends = [], []
        for plan in candidates(problem, control, noise, count):
            plans.append(plan)
            ends.append(sample.makespans(plan))
        if searches and not control.expired():
            plans.append(_searched(problem, control, sample, plans, ends, aim, moves))
            ends.append(sample.makespans(plans[-1]))
    best = chosen(problem, control, plans, ends, noise, aim)
    as_stated = min(plans, key=lambda plan: worth(problem, plan))
    return estimated(problem, control, best, as_stated, noise, aim)


def refuse_counts(**counts: Any) -> None:
    """Refuse options that are not whole numbers from 1."""
    for name, count in counts.items():
        text = refusal(count, COUNT)
        if text is not None:
            raise MethodError(f"{name}: {text}")


PLANS = 30
STEPS = 5_000_000_000
MOST = 200_000


@register(
    needs=(
        needs.NO_GIVEN_PLAN,
        needs.LEAST_MAKESPAN,
        needs.OVERLAP,
        needs.NO_CONTENTION,
        needs.NO_DUPLICATION,
    ),
    complexity="the plans of monte-carlo, then O(k s (n + e)), k the moves tried; compiled",
    source="Kleywegt, Shapiro and Homem-de-Mello 2002 (sample average approximation), "
    "threshold accepting (Dueck and Scheuer 1990)",
)
def sample_average(
    problem: TaskGraph,
    control: Control,
    *,
    noise: Noise | float | Mapping[str, Any] = ERROR,
    quantile: float | None = None,
    scenarios: int = 60,
    moves: int | None = None,
) -> Solution:
    """Where durations are uncertain: local search for the least mean over drawn scenarios.

    It moves tasks as ``local-search`` does, from the best plan of ``monte-carlo``; each plan is
    valued by its ends in the same scenarios. What it finds is compared with the plans of
    ``monte-carlo`` in others, and estimated in scenarios that chose nothing. ``noise`` and
    ``quantile`` are as of ``monte-carlo``. ``scenarios``: how many are searched in. ``moves``: how
    many to try; None: as many as take some seconds, at most 200,000.
    """
    refuse_counts(scenarios=scenarios, **({} if moves is None else {"moves": moves}))
    return _planned(problem, control, noise, quantile, PLANS, scenarios, searches=True, moves=moves)


def _searched(
    problem: TaskGraph,
    control: Control,
    sample: Scenarios,
    plans: list[Schedule],
    ends: list[Floats],
    aim: Aim,
    moves: int | None,
) -> Schedule:
    """Return what local search in a sample makes of the best of plans, by their ends there."""
    missed = np.array([violation(problem, plan) for plan in plans])
    best = int(np.lexsort((aim.of(np.array(ends)), missed))[0])
    if moves is None:
        moves = min(MOST, STEPS // ((1 + len(sample)) * max(1, steps_of_a_move(problem))))
    known = np.concatenate([[plans[best].makespan], ends[best]])
    start = Sample(*sample.tables(), known, aim.ranked_from(len(sample)))
    return improved(problem, control, plans[best], moves, start)
