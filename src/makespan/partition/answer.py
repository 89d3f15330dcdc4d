"""Schedule → who gets how many tasks, at which cost."""

from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.schedule import Schedule
from makespan.partition.problem import Partition

SHOWN = 20


def counts_of(problem: Partition, schedule: Schedule) -> Integers:
    schedule = schedule.renamed(problem.machines)
    counts = np.zeros(len(problem.machines), dtype=np.int64)
    np.add.at(counts, schedule.machine, np.rint(schedule.amount).astype(np.int64))
    return counts


def answer(problem: Partition, schedule: Schedule) -> dict[str, Any]:
    """Return the counts and costs of all resources by name, and energies where there are any."""
    counts = counts_of(problem, schedule)
    names = problem.machines
    found = {
        "counts": dict(zip(names, counts.tolist(), strict=True)),
        "costs": dict(zip(names, problem.costs_of(counts).tolist(), strict=True)),
    }
    if problem.has_energy:
        found["energy"] = dict(zip(names, problem.energies_of(counts).tolist(), strict=True))
    return found


def lines(problem: Partition, schedule: Schedule, *, most: int = SHOWN) -> list[str]:
    """Return the counts as a table: name, tasks, share, time, and energy where there is one."""
    counts = counts_of(problem, schedule)
    costs = problem.costs_of(counts)
    energies = problem.energies_of(counts) if problem.has_energy else None
    names = problem.machines
    shown = range(min(len(names), most))
    width = max([8, *(len(names[index]) for index in shown)])
    total = int(counts.sum())
    heading = f"{'resource':<{width}}  {'tasks':>12}  {'share':>7}  {'time':>14}"
    table = [heading + (f"  {'energy':>14}" if energies is not None else "")]
    for index in shown:
        share = 100 * counts[index] / (total or 1)
        line = (
            f"{names[index]:<{width}}  {counts[index]:>12}  {share:>6.2f}%  {costs[index]:>14.8g}"
        )
        table.append(line + (f"  {energies[index]:>14.8g}" if energies is not None else ""))
    if len(names) > len(shown):
        table.append(f"… and {len(names) - len(shown)} more resources")
    sums = f"total time {costs.sum():.8g}"
    table.append(sums + (f", energy {energies.sum():.8g}" if energies is not None else ""))
    return table
