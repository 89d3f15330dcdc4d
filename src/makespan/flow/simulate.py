"""schedule → what becomes of it when predictions are wrong."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import InputError, MethodError
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import suggesting
from makespan.core.kind import Policy
from makespan.core.noise import Noise, as_noise
from makespan.core.problem import Problem
from makespan.core.registry import applicability, find_method
from makespan.core.schedule import Schedule
from makespan.core.simulation import Simulation
from makespan.flow.check import referee
from makespan.flow.kinds import kind_of
from makespan.flow.result import Result


@suggesting
def simulate(
    problem: Problem | Result,
    schedule: Schedule | None = None,
    *,
    policy: str | None = None,
    noise: Noise | float | Mapping[str, Any],
    repetitions: int = 1000,
    rng: int | np.random.Generator | None = None,
) -> Simulation:
    """Carry out a plan many times with durations that differ from the predicted ones.

    Parameters
    ----------
    problem
        The problem, or a result, which brings its schedule.
    schedule
        The schedule to replay: its decisions and orders stay, and everything starts as early as
        they allow.
    policy
        In place of a schedule, the name of a policy that decides while it runs, for the kinds
        that have any (``"self-scheduling"``, ``"guided"``, ``"factoring"``,
        ``"weighted-factoring"``, ``"rumr"`` for divisible loads).
    noise
        A :class:`Noise`, or a table of its parameters; a number is a normal relative error per
        activity, 0.2 for 20 %.
    repetitions
        How many times.
    rng
        A seed or a generator; None is seed 0.

    Returns
    -------
    Simulation
        The makespans, their mean and quantiles. Without noise, every makespan is the planned one.

    Raises
    ------
    InputError
        If there is nothing to replay, or repetitions or noise are not allowed.
    InvalidSchedule
        If the schedule is not valid.
    MethodError
        If there is no such policy, or it does not apply.

    Complexity: O(repetitions * rows), compiled where there is much to do.

    >>> from makespan import DivisibleLoad, Star, Worker, solve
    >>> star = Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
    >>> result = solve(DivisibleLoad(load=10.0, platform=star))
    >>> simulation = simulate(result, noise=0.1, repetitions=200)
    >>> simulation.nominal, bool(simulation.mean > 28.0)
    (28.0, True)
    """
    noise = as_noise(noise)
    count = checked_count(repetitions)
    if schedule is not None and policy is not None:
        raise InputError("schedule, policy: only one of them can be simulated")
    if isinstance(problem, Result):
        if schedule is None:
            schedule = problem.schedule
        problem = problem.problem
    control = Control(rng=rng)
    if policy is not None:
        makespans, nominal = _policy(problem, policy)(problem, noise, count, control.rng)
    elif schedule is None:
        raise InputError("there is no schedule to replay")
    else:
        kind = kind_of(problem)
        referee(kind, problem, schedule).raise_if_invalid()
        schedule = schedule.renamed(problem.machines)
        replay = kind.replay(problem, schedule, count)
        makespans = replay.disturbed(schedule, noise, count, control.rng, kind.tasks(problem))
        nominal = replay.end(np.ones(len(schedule)))
    makespans.flags.writeable = False
    return Simulation(makespans=makespans, nominal=nominal, noise=noise, seed=control.seed)


def _policy(problem: Problem, name: str) -> Policy:
    """Return what simulates a policy; refuse one that is unknown, or does not apply."""
    kind = kind_of(problem)
    simulated = kind.policy(name)
    if simulated is None:
        raise MethodError(f"there is no policy {name!r} for {kind.name} problems")
    verdict = applicability(find_method(kind.name, name), problem)
    if not verdict.applies:
        raise MethodError(str(verdict))
    return simulated


def checked_count(repetitions: int) -> int:
    try:
        count = operator.index(repetitions)
    except TypeError:
        count = 0
    if count < 1 or isinstance(repetitions, bool):
        found = quoted(repetitions)
        raise InputError(f"repetitions: {found} is not allowed; it is a whole number from 1")
    return count
