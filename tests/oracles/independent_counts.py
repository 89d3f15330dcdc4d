"""Independent tasks with limits on counts and sizes: every assignment, in fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product

from makespan import IndependentTasks

# sums of decimals are compared as floats are: to within rounding


def least_makespan(problem: IndependentTasks) -> Fraction | None:
    """Try every machine for every task; None where no assignment keeps the limits."""
    tasks, machines = len(problem.durations), problem.machine_count
    low, high = stated_limits(problem.counts, tasks, machines)
    sizes = [0.0] * tasks if problem.sizes is None else problem.sizes.tolist()
    rooms = [math.inf] * machines if problem.capacity is None else problem.capacity.tolist()
    best = None
    for chosen in product(range(machines), repeat=tasks):
        loads = [Fraction(0)] * machines
        for task, machine in enumerate(chosen):
            seconds = seconds_on(problem, task, machine)
            if seconds is None:
                break
            loads[machine] += seconds
        else:
            counts = [chosen.count(machine) for machine in range(machines)]
            if not all(map(within, low, counts, high)):
                continue
            if all(
                sum(Fraction(sizes[task]) for task in range(tasks) if chosen[task] == machine)
                <= room * (1 + 1e-12)
                for machine, room in enumerate(rooms)
            ):
                best = max(loads) if best is None else min(best, max(loads))
    return best


def within(low: int, count: int, high: int) -> bool:
    return low <= count <= high


def seconds_on(problem: IndependentTasks, task: int, machine: int) -> Fraction | None:
    if problem.durations.ndim == 2:
        value = float(problem.durations[task, machine])
        return None if math.isinf(value) else Fraction(value)
    speed = 1.0 if problem.speeds is None else float(problem.speeds[machine])
    return Fraction(float(problem.durations[task])) / Fraction(speed)


def stated_limits(counts: object, tasks: int, machines: int) -> tuple[list[int], list[int]]:
    """Return the least and the greatest number of tasks of each machine, as they are stated."""
    if counts == "equal":
        return [tasks // machines] * machines, [math.ceil(tasks / machines)] * machines
    told = counts if isinstance(counts, dict) else {}
    both = []
    for name, default in (("least", 0), ("most", tasks)):
        value = told.get(name, default)
        both.append(list(value) if isinstance(value, list) else [value] * machines)
    return both[0], both[1]


def limited_problem(rng: random.Random) -> IndependentTasks:
    """Return a few tasks on two or three machines, of any kind, with limits of any kind."""
    machines = rng.choice([2, 2, 3])
    tasks = rng.randint(0, 7 if machines == 2 else 6)
    draw = rng.choice(
        [
            lambda: rng.randint(0, 9),
            lambda: rng.randint(20, 40),
            lambda: rng.randint(0, 30) / 10,
            lambda: rng.random() + 0.01,
            lambda: rng.choice([0.0, 1.0, 5.0]),
        ]
    )
    kind = rng.choice(["identical", "identical", "uniform", "unrelated"]) if tasks else "identical"
    durations: list = [draw() for _ in range(tasks)]
    if kind == "unrelated":
        durations = [[draw() for _ in range(machines)] for _ in range(tasks)]
        for row in durations:
            if rng.random() < 0.2:
                row[rng.randrange(machines)] = math.inf
    sizes = [rng.choice([rng.randint(0, 5), rng.randint(0, 20) / 10]) for _ in range(tasks)]
    enough = max([*sizes, sum(sizes) / machines, 0.5]) * rng.choice([1.0, 1.2, 2.0])
    limited = rng.random() < 0.4
    return IndependentTasks(
        machines,
        durations,
        speeds=[rng.choice([1, 2, 3]) for _ in range(machines)] if kind == "uniform" else None,
        counts=None if limited and rng.random() < 0.3 else random_counts(rng, tasks, machines),
        sizes=sizes if limited else None,
        capacity=rng.choice([enough, [enough, *[2 * enough] * (machines - 1)]])
        if limited
        else None,
    )


def random_counts(rng: random.Random, tasks: int, machines: int) -> object:
    """Return limits that some numbers of tasks keep."""
    cuts = sorted(rng.randint(0, tasks) for _ in range(machines - 1))
    some = [after - before for before, after in zip([0, *cuts], [*cuts, tasks], strict=True)]
    least = [max(0, each - rng.randint(0, 2)) for each in some]
    most = [each + rng.randint(0, 2) for each in some]
    tables = [{"least": least}, {"least": least, "most": most}, {"least": tasks // machines}]
    return rng.choice(["equal", "equal", -(-tasks // machines) + rng.randint(0, 1), most, *tables])
