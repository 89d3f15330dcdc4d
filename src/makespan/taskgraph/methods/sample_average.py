"""Local search for the plan that ends soonest in a sample of scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.noise import Noise, as_noise
from makespan.core.numeric.arrays import Floats
from makespan.core.registry import register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.taskgraph.limits import violation
from makespan.taskgraph.methods.local_search import Sample, improved, steps_of_a_move
from makespan.taskgraph.methods.monte_carlo import ERROR, as_stated, refuse_counts, untried
from makespan.taskgraph.needs import (
    LEAST_MAKESPAN,
    NO_CONTENTION,
    NO_DUPLICATION,
    NO_GIVEN_PLAN,
    OVERLAP,
)
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.scenarios.candidates import candidates
from makespan.taskgraph.scenarios.drawn import Scenarios
from makespan.taskgraph.scenarios.judged import Aim, affordable, chosen, estimated, reserved

PLANS = 30
STEPS = 5_000_000_000
MOST = 200_000


@register(
    "taskgraph",
    name="sample-average",
    needs=(NO_GIVEN_PLAN, LEAST_MAKESPAN, OVERLAP, NO_CONTENTION, NO_DUPLICATION),
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
    ``monte-carlo`` in others, and estimated in scenarios that chose nothing.

    Parameters
    ----------
    noise, quantile
        As of ``monte-carlo``.
    scenarios
        How many are searched in.
    moves
        How many to try; None: as many as take some seconds, at most 200,000.
    """
    noise, aim = as_noise(noise), Aim.checked(quantile)
    refuse_counts(scenarios=scenarios, **({} if moves is None else {"moves": moves}))
    with control.reserving(reserved(problem, control)):
        scenarios = affordable(problem, control, scenarios, PLANS)
        if not scenarios:
            return untried(problem, control, noise, aim)
        sample = Scenarios.drawn(problem, noise, scenarios, control.rng)
        every = list(candidates(problem, control, noise, PLANS))
        ends = [sample.makespans(plan) for plan in every]
        if not control.expired():
            every.append(_searched(problem, control, sample, every, ends, aim, moves))
            ends.append(sample.makespans(every[-1]))
    best = chosen(problem, control, every, ends, noise, aim)
    return estimated(problem, control, best, as_stated(problem, every), noise, aim)


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
