"""What methods for independent tasks need of a problem."""

from __future__ import annotations

from makespan.core.registry import Need
from makespan.independent.problem import IndependentTasks

MAX_PAIRS = 100_000
"""Variables of a programme."""


def _preemptive(problem: IndependentTasks) -> str | None:
    return "preemptive is true" if problem.preemptive else None


def _not_preemptive(problem: IndependentTasks) -> str | None:
    return None if problem.preemptive else "preemptive is false"


def _unlike(problem: IndependentTasks) -> str | None:
    if problem.identical:
        return None
    return "speeds are given" if problem.speeds is not None else "durations depend on the machine"


def _identical(problem: IndependentTasks) -> str | None:
    return "they are identical" if problem.identical else None


def _no_speeds(problem: IndependentTasks) -> str | None:
    return "there are none" if problem.speeds is None else None


def _many_pairs(problem: IndependentTasks) -> str | None:
    pairs = len(problem.durations) * problem.machine_count
    return f"there are {pairs}" if pairs > MAX_PAIRS else None


def _released(problem: IndependentTasks) -> str | None:
    if problem.release is None:
        return None
    task = int(problem.release.argmax() if len(problem.release) else 0)
    return f"{problem.tasks[task]} is released at {problem.release[task]:g} s"


def _table(problem: IndependentTasks) -> str | None:
    return "durations depend on the machine" if problem.durations.ndim == 2 else None


def _limited(problem: IndependentTasks) -> str | None:
    if not problem.limited:
        return None
    return f"{'counts' if problem.counts is not None else 'sizes'} are given"


def _sized(problem: IndependentTasks) -> str | None:
    return None if problem.sizes is None else "sizes are given"


PROGRAMMES = Need(f"at most {MAX_PAIRS} pairs of a task and a machine", _many_pairs)
IDENTICAL = Need("identical machines", _unlike, decisive=True)
UNLIKE = Need("machines that differ (speeds, or durations on each)", _identical, decisive=True)
SPEEDS = Need("speeds", _no_speeds, decisive=True)
SAME_ORDER = Need("machines that are identical, or differ by speeds", _table, decisive=True)
NO_LIMITS = Need("machines without limits on counts and sizes", _limited)
NO_SIZES = Need("machines without limits on sizes", _sized)
NO_PREEMPTION = Need("tasks that run in one piece", _preemptive)
NO_RELEASES = Need("tasks that are there from the start", _released)
PREEMPTION = Need("tasks that may be cut (preemptive = true)", _not_preemptive)
IN_ONE_PIECE = (IDENTICAL, NO_PREEMPTION, NO_RELEASES)


def useful_machines(most: int) -> Need:
    """Need that no more machines than that can be used: the reach of a method."""

    def unmet(problem: IndependentTasks) -> str | None:
        count = problem.useful_machines
        return f"{count} can be used" if count > most else None

    return Need(f"at most {most} machines", unmet)
