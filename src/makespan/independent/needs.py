"""What methods for independent tasks need of a problem."""

from operator import attrgetter

from makespan.core.registry import Need, at_most, condition
from makespan.independent.problem import IndependentTasks

MAX_PAIRS = 100_000  # variables of a programme


def _unlike(problem: IndependentTasks) -> str | None:
    if problem.identical:
        return None
    return "speeds are given" if problem.speeds is not None else "durations depend on the machine"


def _released(problem: IndependentTasks) -> str | None:
    if problem.release is None:
        return None
    task = int(problem.release.argmax() if len(problem.release) else 0)
    return f"{problem.tasks[task]} is released at {problem.release[task]:g} s"


def _limited(problem: IndependentTasks) -> str | None:
    if not problem.limited:
        return None
    return f"{'counts' if problem.counts is not None else 'sizes'} are given"


def few_pairs(most: int) -> Need:
    """Need that there are no more pairs of a task and a machine: the reach of a method."""
    pairs = "pairs of a task and a machine"
    return at_most(most, pairs, lambda each: len(each.durations) * each.machine_count)


PROGRAMMES = few_pairs(MAX_PAIRS)
IDENTICAL = Need("identical machines", _unlike, decisive=True)
UNLIKE = condition(
    "machines that differ (speeds, or durations on each)",
    lambda problem: not problem.identical,
    "they are identical",
    decisive=True,
)
SPEEDS = condition(
    "speeds", lambda problem: problem.speeds is not None, "there are none", decisive=True
)
SAME_ORDER = condition(
    "machines that are identical, or differ by speeds",
    lambda problem: problem.durations.ndim == 1,
    "durations depend on the machine",
    decisive=True,
)
NO_LIMITS = Need("machines without limits on counts and sizes", _limited)
NO_SIZES = condition(
    "machines without limits on sizes", lambda problem: problem.sizes is None, "sizes are given"
)
NO_PREEMPTION = condition(
    "tasks that run in one piece", lambda problem: not problem.preemptive, "preemptive is true"
)
NO_RELEASES = Need("tasks that are there from the start", _released)
PREEMPTION = condition(
    "tasks that may be cut (preemptive = true)",
    lambda problem: problem.preemptive,
    "preemptive is false",
)
IN_ONE_PIECE = (IDENTICAL, NO_PREEMPTION, NO_RELEASES)


def useful_machines(most: int) -> Need:
    """Need that no more machines than that can be used: the reach of a method."""
    return at_most(most, "machines", attrgetter("useful_machines"), said="{} can be used")
