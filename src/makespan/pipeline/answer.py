"""Schedule → which machine takes which stages."""

from typing import Any

from makespan.core.schedule import Schedule
from makespan.pipeline.mapping import mapping_of, steps_of, values_of
from makespan.pipeline.problem import Pipeline

SHOWN = 20


def answer(problem: Pipeline, schedule: Schedule) -> dict[str, Any]:
    """Return the intervals, each with its machines and its first and last stage, and the values."""
    mapping = mapping_of(problem, schedule.renamed(problem.machines))
    values, names = values_of(problem, mapping), problem.stages.names
    intervals = [
        {
            "machine": problem.machines[group[0]],
            "first": names[first],
            "last": names[last - 1],
            "stages": last - first,
            **({"machines": [problem.machines[each] for each in group]} if group[1:] else {}),
        }
        for first, last, group in zip(
            mapping.edges, mapping.edges[1:], mapping.groups, strict=False
        )
    ]
    return {
        "intervals": intervals,
        "period": values.period,
        "latency": values.latency,
        "price": values.price,
    }


def lines(problem: Pipeline, schedule: Schedule, *, most: int = SHOWN) -> list[str]:
    """Return the mapping as a table: machine, stages, and what a data set takes there."""
    mapping = mapping_of(problem, schedule.renamed(problem.machines))
    values, steps, names = (
        values_of(problem, mapping),
        steps_of(problem, mapping),
        problem.stages.names,
    )
    labels = [" + ".join(problem.machines[each] for each in group) for group in mapping.groups]
    width = max([7, *map(len, labels[:most])])
    table = [
        f"{'machine':<{width}}  {'stages':>8}  {'receive':>10}  {'compute':>10}  {'send':>10}"
        "  which"
    ]
    for at, label in enumerate(labels[:most]):
        first, last = mapping.edges[at], mapping.edges[at + 1]
        which = names[first] if last - first == 1 else f"{names[first]} … {names[last - 1]}"
        seconds = (steps.receiving[at], steps.compute[at], steps.sending[at + 1])
        columns = "  ".join(f"{each:>10.5g}" for each in seconds)
        table.append(f"{label:<{width}}  {last - first:>8}  {columns}  {which}")
    if len(labels) > most:
        table.append(f"… and {len(labels) - most} more intervals")
    idle = len(problem.machines) - len(mapping.machines)
    if idle:
        table.append(f"{idle} of {len(problem.machines)} machines idle")
    table.append(f"period {values.period:.8g} s, latency {values.latency:.8g} s")
    return table
