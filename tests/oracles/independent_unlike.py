"""Slow, obvious answers for independent tasks on machines that differ, in fractions."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from fractions import Fraction

from makespan import IndependentTasks

MAX_TASKS = 6


def unlike_problem(
    rng: random.Random, drawn: Callable[[random.Random], float] | None = None
) -> IndependentTasks:
    """Return a few tasks on a few uniform or unrelated machines, of durations that are drawn."""
    machines, count = rng.randint(1, 3), rng.randint(0, MAX_TASKS)
    draw = (
        (lambda: drawn(rng))
        if drawn is not None
        else rng.choice(
            [
                rng.random,
                lambda: rng.randint(0, 9),
                lambda: rng.randint(1, 50) / 4,
                lambda: rng.choice([0.0, 1e-9, 1e9, 1.0]),
                lambda: 1e60 * rng.random(),
            ]
        )
    )
    if rng.random() < 0.4 or not count:
        speeds = [rng.choice([1, 2, 3, 0.5, rng.uniform(0.1, 9)]) for _ in range(machines)]
        return IndependentTasks(machines, [draw() for _ in range(count)], speeds=speeds)
    rows = [[draw() for _ in range(machines)] for _ in range(count)]
    for row in rows:
        for index in rng.sample(range(machines), rng.randint(0, machines - 1)):
            if rng.random() < 0.4:
                row[index] = float("inf")
    return IndependentTasks(machines, rows)


def least_makespan(problem: IndependentTasks) -> Fraction:
    """Try every assignment; a machine takes tasks as they are released."""
    machines = range(problem.machine_count)
    seconds = []
    for task in range(len(problem.durations)):
        if problem.identical:
            row = [Fraction(float(problem.durations[task]))] * len(machines)
        elif problem.speeds is None:
            row = [float(each) for each in problem.durations[task]]
        else:
            row = [
                Fraction(float(problem.durations[task])) / Fraction(float(speed))
                for speed in problem.speeds
            ]
        seconds.append([None if each == float("inf") else Fraction(each) for each in row])
    release = [Fraction(0)] * len(seconds)
    if problem.release is not None:
        release = [Fraction(each) for each in problem.release.tolist()]
    order = sorted(range(len(seconds)), key=lambda task: release[task])
    best = None
    for places in itertools.product(machines, repeat=len(seconds)):
        loads = [Fraction(0)] * len(machines)
        for task in order:
            place = places[task]
            taken = seconds[task][place]
            if taken is None:
                break
            if taken or release[task]:
                loads[place] = max(loads[place], release[task]) + taken
        else:
            best = max(loads) if best is None else min(best, max(loads))
    assert best is not None
    return best
