"""What if costs change, or there is one worker more: rates of a plan, and problems with a copy."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from makespan.core.schedule import Schedule
from makespan.core.sensitivity import Copied, Varied
from makespan.divisible.model.platform import Star
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.tree import RULES as OF_NODES, Tree
from makespan.divisible.problem import DivisibleLoad

GIVEN = ("activation", "transfers", "loads")


def varied(problem: DivisibleLoad, schedule: Schedule, machines: Sequence[str]) -> Varied:
    """Return the dual values of the programme of the plan's sequence, a rate for each number."""
    from makespan.divisible.what_if import dual_values

    if problem.is_star:
        return dual_values.varied_star(problem, schedule, machines)
    if isinstance(problem.platform, Sources):
        return dual_values.varied_sources(problem, problem.platform, schedule, machines)
    return dual_values.varied_tree(problem, schedule, machines)


def copies(
    problem: DivisibleLoad, machines: Sequence[str], *, named: bool
) -> tuple[list[Copied], tuple[str, ...]]:
    """Return the problem with a copy of each worker, behind it, or of each node, without children.

    A given ``order`` serves the copy right behind the worker.
    """
    given = next((name for name in GIVEN if getattr(problem, name) is not None), None)
    if given is not None:
        return [], (f"a worker more: {given} says who is served, and has no place for one",)
    platform = problem.platform
    columns = [getattr(platform, name) for name in platform.RULES]
    if isinstance(platform, Tree):
        columns.append(platform.parent)
    if isinstance(platform, Sources):
        columns += [*platform.send_fixed, *platform.send_per_unit]
    position = problem._position
    found, known = [], set()
    for name in machines:
        index = position.get(name)
        if index is None or (isinstance(platform, Tree) and index == platform.root):
            continue  # what holds the load is not doubled
        alike: tuple[object, ...] = tuple(float(column[index]) for column in columns)
        if isinstance(platform, Star):
            alike = (*alike, platform.beyond.of_worker(index))
        if problem.order is not None or problem.return_order is not None or named:
            alike = (float(index),)
        if alike not in known:
            known.add(alike)
            more = _with_copy(problem, index)
            found.append(Copied(machine=name, problem=more, optional=problem.use == "any"))
    return found, ()


def _with_copy(problem: DivisibleLoad, index: int) -> DivisibleLoad:
    platform, at = problem.platform, index + 1
    own = platform.names[index]
    name = f"{own} (copy)"
    while name in problem.machines:
        name += "'"
    if isinstance(platform, Sources):
        return replace(problem, platform=platform.with_copy(index, name))
    names = (*platform.names[:at], name, *platform.names[at:])
    rows = np.insert(np.arange(len(platform)), at, index)
    if isinstance(platform, Tree):
        above = (platform.parent + (platform.parent > index))[rows]
        more = {name: getattr(platform, name)[rows] for name in OF_NODES}
        return replace(problem, platform=Tree.from_arrays(names=names, parent=above, **more))
    star = platform.at(rows, names=names, master=platform.master)

    def behind(order: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if order is None:
            return None
        place = order.index(own) + 1
        return (*order[:place], name, *order[place:])

    return replace(
        problem,
        platform=star,
        order=behind(problem.order),
        return_order=behind(problem.return_order),
    )
