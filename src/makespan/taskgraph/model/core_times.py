"""The rule by which tasks take cores of a machine, for loops.

``free`` holds when each core is free, and ``core_last`` the task that had it last; those of a
machine stand from ``first_core[machine]`` on. Where tasks are rigid, some need several cores: then
the times of a machine's cores are in their order, and a task takes the first ones.
"""

from __future__ import annotations

from makespan.core.numeric.jit import part


@part
def first_free(machine, width, rigid, first_core, free):  # type: ignore[no-untyped-def]
    """Return the core whose time a task waits for that takes ``width`` cores of a machine."""
    core = first_core[machine]
    if rigid:
        return core + width - 1
    for other in range(core + 1, first_core[machine + 1]):
        if free[other] < free[core]:
            core = other
    return core


@part
def hold(  # type: ignore[no-untyped-def]
    task, machine, core, width, until, rigid, first_core, free, core_last
):
    """Let a task hold ``core``, or the first ``width`` ones where tasks are rigid."""
    if rigid:
        core, behind = first_core[machine], first_core[machine + 1]
        while core + width < behind and free[core + width] < until:
            free[core], core_last[core] = free[core + width], core_last[core + width]
            core += 1
        for other in range(core + 1, core + width):
            free[other], core_last[other] = until, task
    free[core], core_last[core] = until, task


@part
def replace_first(first, count, until, heap):  # type: ignore[no-untyped-def]
    """Replace the least of the ``count`` times from ``first`` on, which are a heap."""
    hole = 0
    while 2 * hole + 1 < count:
        one = two = first + 2 * hole + 1
        if two - first + 1 < count:
            two += 1
        below = two if heap[two] < heap[one] else one
        if until <= heap[below]:
            break
        heap[first + hole] = heap[below]
        hole = below - first
    heap[first + hole] = until
