"""Random independent tasks of all characters, and what is true of them, in fractions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from makespan import IndependentTasks, lower_bound
from makespan.independent.bounds import grain
from tests.oracles import independent_counts, independent_preemptive, independent_unlike

MAX_TASKS = 7
MAX_ASSIGNMENTS = 5_000
CLOSE = Fraction(1, 10**9)
"""Makespans, which are sums, are claimed to be least to within this share."""
ROUNDING = Fraction(1, 10**12)
"""What a bound may owe to the rounding of sums."""


def random_problem(rng: random.Random) -> IndependentTasks:
    """Return a few tasks: ties, zeros, near ties, decimals, or of very different magnitudes.

    A third is on machines that differ, some are released later, some may be cut; of some, the
    machines have limits.
    """
    if rng.random() < 0.15:
        limited = independent_counts.limited_problem(rng)
        if independent_counts.least_makespan(limited) is not None:
            return limited
    found = _started_at_once(rng)
    cut, late = found.preemptive or rng.random() < 0.2, rng.random() < 0.4
    if cut and (late or not found.identical):  # compared with a linear programme
        found = independent_unlike.unlike_problem(rng, rng.choice(MILD))
        if rng.random() < 0.4:
            draw = rng.choice(MILD)
            tasks = [draw(rng) for _ in range(rng.randint(0, MAX_TASKS))]
            found = IndependentTasks(rng.randint(1, 4), tasks)
    longest = float(found.least_seconds.max(initial=0.0)) or 1.0
    release = rng.choice(
        [
            lambda: rng.choice([0, 1, 2, 5]) * longest / 4,
            lambda: rng.choice([0.0, 0.0, longest]),
            lambda: float(rng.randint(0, 9)),
            lambda: 2 * longest * rng.random(),
        ]
    )
    return IndependentTasks(
        min(3, found.machine_count) if late else found.machine_count,
        found.durations,
        speeds=found.speeds,
        release=[release() for _ in found.tasks] if late else 0.0,
        preemptive=cut,
    )


MILD = (
    lambda rng: rng.random() + 0.01,
    lambda rng: rng.randint(0, 9),
    lambda rng: rng.randint(1, 50) / 4,
    lambda rng: rng.choice([0.0, 1.0, rng.random() + 0.1]),
)


def _started_at_once(rng: random.Random) -> IndependentTasks:
    if rng.random() < 1 / 3:
        return independent_unlike.unlike_problem(rng)
    count, size = rng.randint(0, MAX_TASKS), 10.0 ** rng.randint(-80, 80)
    draw = rng.choice(
        [
            rng.random,
            lambda: rng.randint(0, 5),
            lambda: rng.randint(20, 40),
            lambda: rng.randint(1, 40) * 0.25,
            lambda: rng.randint(0, 30) / 10,
            lambda: rng.choice([0.0, 1.0, rng.random()]),
            lambda: 1.0 + rng.randint(0, 5) * 2.0**-52,
            lambda: float(2**50 + rng.randint(0, 9)),
            lambda: rng.random() * 10.0 ** rng.randint(-20, 20),
            lambda: rng.choice([0.0, 1e98, 1e-98, 1.0]),
            lambda: size * rng.random(),
        ]
    )
    return IndependentTasks(
        machines=rng.choice([1, 2, 2, 3, 3, 4, 9]),
        durations=[draw() for _ in range(count)],
        preemptive=rng.random() < 0.25,
    )


def covers(problem: Any) -> bool:
    """Whether the problem is small enough to be enumerated."""
    if not isinstance(problem, IndependentTasks) or len(problem.durations) > MAX_TASKS:
        return False
    plans = problem.machine_count ** len(problem.durations)
    if problem.limited:
        some = plans <= MAX_ASSIGNMENTS
        return some and independent_counts.least_makespan(problem) is not None
    return (
        (problem.identical and problem.release is None)
        or problem.preemptive
        or plans <= MAX_ASSIGNMENTS
    )


def best(problem: IndependentTasks) -> Fraction:
    """Return the least makespan: all assignments, or theorems on tasks that may be cut."""
    return _best(problem)[0]


def _best(problem: IndependentTasks) -> tuple[Fraction, Fraction]:
    """Return the least makespan, and how far, relative to it, that may be off."""
    if problem.limited:
        least = independent_counts.least_makespan(problem)
        assert least is not None
        return least, Fraction(0)
    if problem.preemptive:
        return independent_preemptive.least_makespan(problem)
    if not problem.identical or problem.release is not None:
        return independent_unlike.least_makespan(problem), Fraction(0)
    seconds = [Fraction(value) for value in problem.durations.tolist()]
    return _least(seconds, problem.machine_count), Fraction(0)


def _least(seconds: list[Fraction], machines: int) -> Fraction:
    """Try every assignment; machines are alike, so a task opens at most one new machine."""
    found = sum(seconds, Fraction(0))

    def place(task: int, loads: tuple[Fraction, ...]) -> None:
        nonlocal found
        if task == len(seconds):
            found = min(found, max(loads, default=Fraction(0)))
            return
        for index in range(len(loads)):
            place(task + 1, (*loads[:index], loads[index] + seconds[task], *loads[index + 1 :]))
        if len(loads) < machines:
            place(task + 1, (*loads, seconds[task]))

    place(0, ())
    return found


def false_claims(problem: IndependentTasks, result: Any) -> Iterator[str]:
    """Yield what a result says that enumeration contradicts."""
    least, off = _best(problem)
    if result.status == "infeasible":
        yield "infeasible, though any tasks can be run"
    if result.status == "optimal" and Fraction(result.makespan) > least * (
        1 + CLOSE + ROUNDING + off
    ):
        yield f"a makespan of {result.makespan!r}, but {float(least)!r} is possible"
    for bound in (result.lower_bound, lower_bound(problem).value):
        slack = off + ROUNDING + (CLOSE if result.status == "optimal" else 0)
        if bound is not None and Fraction(bound) > least * (1 + slack):
            yield f"a bound of {bound!r}, but the least makespan is {float(least)!r}"
    unit = grain(problem)
    if unit is not None and problem.speeds is None and least % Fraction(unit):
        yield f"a grain of {unit!r}, but the least makespan is {float(least)!r}"
