"""Loops over graphs: run as they are on lists where little is to do, compiled on arrays else.

What they count as the size of their work are elementary steps. Tasks take cores of a machine by
one rule: ``free`` holds when each core is free, and ``core_last`` the task that had it last; those
of a machine stand from ``first_core[machine]`` on. Where tasks are rigid, some need several cores:
then the times of a machine's cores are in their order, and a task takes the first ones.
"""

from makespan.core.numeric.jit import loop, part

PAYS_FROM = 2_000_000  # elementary steps from which loading a compiler pays off
LOADED_FROM = 1_000
"""Elementary steps from which compiled loops are used where the compiler is there already."""

graph_loop = loop(pays_from=PAYS_FROM, loaded_from=LOADED_FROM)


@graph_loop
def topological(first_out, target, waiting, order):  # type: ignore[no-untyped-def]
    """Write a topological order, using ``waiting`` up; return how many tasks it holds."""
    tail = 0
    for task in range(len(order)):
        if waiting[task] == 0:
            order[tail] = task
            tail += 1
    head = 0
    while head < tail:
        task = order[head]
        head += 1
        for position in range(first_out[task], first_out[task + 1]):
            successor = target[position]
            waiting[successor] -= 1
            if waiting[successor] == 0:
                order[tail] = successor
                tail += 1
    return tail


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
def hold_in_order(core, behind, width, until, core_free):  # type: ignore[no-untyped-def]
    """Let a task hold the first ``width`` cores of a machine, whose times are in their order."""
    while core + width < behind and core_free[core + width] < until:
        core_free[core] = core_free[core + width]
        core += 1
    for each in range(core, core + width):
        core_free[each] = until


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
