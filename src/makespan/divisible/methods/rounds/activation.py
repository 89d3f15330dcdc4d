"""The linear programme for a given sequence of chunks."""

from __future__ import annotations

from makespan.backends.answer import WITHIN, Verdict
from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.model.plan import Plan
from makespan.divisible.needs import NO_BUDGET, NO_WORKER_DEADLINES, SEQUENCE_OF_CHUNKS
from makespan.divisible.one_round.linear import with_deadline
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.transfer_programme import programmed
from makespan.divisible.returns.transfers import UNSOLVED, by_speed
from makespan.divisible.rounds.sizing import Sized, chained, only_costs
from makespan.divisible.timing import timed

MAX_PROGRAMMED = 30_000
"""Chunks up to which the linear programme is solved; HiGHS looks at the clock late in longer ones.
"""


def _no_activation(problem: DivisibleLoad) -> str | None:
    return "activation is not given" if problem.activation is None else None


@register(
    "divisible",
    name="activation",
    needs=(
        *SEQUENCE_OF_CHUNKS,
        Need("an activation", _no_activation),
        NO_WORKER_DEADLINES,
        NO_BUDGET,
    ),
    proves="linear programme of the sequence, or its chain with non-negative prices",
    complexity="a sparse linear programme; O(chunks) where the chain is proved",
    source="Benoit 2016, multi-round scheduling, for a given order of chunks",
)
def activation(problem: DivisibleLoad, control: Control) -> Solution:
    """Best amounts for the given sequence of chunks, empty chunks paying their fixed costs."""
    assert problem.activation is not None
    sequence = problem.workers_in(problem.activation)
    if not len(sequence):
        return _by_the_master(problem)
    sized = chained(problem, sequence) if only_costs(problem) else None
    if sized is None or not sized.optimal:
        if len(sequence) > MAX_PROGRAMMED:
            return _unsolved(problem, sequence, sized)
        programme, verdict = programmed(problem, sequence, control)
        if verdict is Verdict.INFEASIBLE and not _may_be_left_waiting(problem, problem.deadline):
            why = "no amounts for this activation keep the limits"
            return Solution(schedule=None, infeasible=why)
        if programme is None:
            return _unsolved(problem, sequence, sized)
        sized = programme
    schedule = timed(problem, sized.plan)
    optimal = sized.optimal and schedule.makespan <= sized.makespan * (1 + WITHIN)
    optimal = optimal and not _may_be_left_waiting(problem, schedule.makespan)
    solution = Solution(schedule=schedule, optimal=optimal)
    return with_deadline(problem, solution)


def _by_the_master(problem: DivisibleLoad) -> Solution:
    """Return the only plan in which nobody is sent anything."""
    assert problem.load is not None
    if problem.load and not problem.master_computes:
        return Solution(schedule=None, infeasible="activation is empty, the master can't compute")
    plan = Plan.of([], [], master=problem.load)
    return with_deadline(problem, Solution(schedule=timed(problem, plan), optimal=True))


def _may_be_left_waiting(problem: DivisibleLoad, time: float | None) -> bool:
    """Whether a plan that ends before ``time`` may leave a worker without load until its release.

    A chunk without load, of a worker without fixed costs, takes no time and waits for nothing; the
    programme lets all wait. A plan that ends after the last release keeps to the programme, too.
    """
    if time is None:
        return False
    star, sequence = problem.star, problem.workers_in(problem.activation or ())
    idle = sequence[(star.compute_fixed[sequence] == 0) & (star.release[sequence] > 0)]
    return bool((star.release[idle] >= time * (1 - WITHIN)).any())


def _unsolved(problem: DivisibleLoad, sequence: Integers, sized: Sized | None) -> Solution:
    """Return a plan that is not the best: that of the chain, or chunks by the workers' speeds."""
    if sized is None:
        return by_speed(problem, sequence)
    schedule = timed(problem, sized.plan)
    return with_deadline(problem, Solution(schedule=schedule, notes=(UNSOLVED,), stopped=True))
