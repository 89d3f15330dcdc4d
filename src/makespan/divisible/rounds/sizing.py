"""Sequences of chunks on a star: their best amounts, by the chain or by a linear programme."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from makespan.backends.answer import WITHIN, Verdict
from makespan.backends.highs import Programme, beside
from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.divisible.model.machines import Master
from makespan.divisible.model.plan import Plan
from makespan.divisible.model.platform import NUMBERS
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rounds.chain import COMPILE_FROM, Chain, ChainCosts, chain, is_optimal
from makespan.divisible.timing import timed

MAX_CANCELLED = 1e5
"""How many times the load the parts of an amount may be that cancel out: beyond that, a chain
in floats has too few digits left to be trusted."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sized:
    """The best amounts for a sequence: a plan, when it ends, whether that is proved, and whether
    the search for the sequence ended before it was done.
    """

    plan: Plan
    makespan: float
    optimal: bool
    stopped: bool = False


def costs_of(problem: DivisibleLoad) -> ChainCosts:
    """Return what the workers and the master cost."""
    star = problem.star
    own = star.master_cost
    columns = {name: getattr(star, name) for name in NUMBERS[:4]}
    if len(star) < COMPILE_FROM:
        columns = {name: column.tolist() for name, column in columns.items()}
    return ChainCosts(
        **columns,
        master=(own.fixed, own.per_unit) if problem.master_computes else None,
    )


def chained(problem: DivisibleLoad, sequence: Integers) -> Sized | None:
    """Return the plan in which every chunk is critical, or None where there is none.

    All workers of the sequence compute at a finite speed. Complexity: O(chunks).
    """
    assert problem.load is not None
    if not problem.star.compute_per_unit[sequence].all():
        return None
    if problem.master_computes and problem.star.master_cost.per_unit == 0:
        return None
    costs = costs_of(problem)
    found = chain(problem.load, sequence, costs)  # type: ignore[arg-type]
    if not is_sound(problem.load, found) or not found.is_plan:
        return None
    plan = Plan.of(sequence, found.amounts, master=found.master)
    if not abs(plan.total - problem.load) <= WITHIN * problem.load:
        return None  # long sequences of shrinking chunks lose their digits
    plan = plan.fitted(problem.load)
    optimal = is_optimal(sequence, costs, 1e-9)  # type: ignore[arg-type]
    return Sized(plan=plan, makespan=float(found.makespan), optimal=optimal)


def is_sound(load: float, found: Chain) -> bool:
    """Whether a chain keeps enough digits in floats."""
    return bool(found.cancelled <= MAX_CANCELLED * load)


def programmed(
    problem: DivisibleLoad, sequence: Integers, control: Control
) -> tuple[Sized | None, Verdict]:
    """Return the best amounts of a sequence by linear programme, and how the programme ended.

    A master that computes may also be idle: in the programme it then pays its start-up still, so
    where no plan ends later than that, one of an idle master is sought, too.
    """
    sized, verdict = _programmed(problem, sequence, control)
    start_up = problem.star.master_cost.fixed
    if start_up == 0 or (sized is not None and sized.makespan > start_up * (1 + WITHIN)):
        return sized, verdict
    idle, its_verdict = _programmed(with_idle_master(problem), sequence, control)
    if idle is not None and (sized is None or idle.makespan < sized.makespan):
        return replace(idle, optimal=idle.optimal and idle.makespan <= start_up), its_verdict
    if its_verdict is Verdict.INFEASIBLE or (idle is not None and idle.optimal):
        return sized, verdict
    unproved = None if sized is None else replace(sized, optimal=False)
    return unproved, its_verdict if verdict is Verdict.INFEASIBLE else verdict


def with_idle_master(problem: DivisibleLoad) -> DivisibleLoad:
    """Return the problem with a master that does not compute."""
    star = problem.star
    assert isinstance(star.master, Master)
    idle = star.changed(master=replace(star.master, compute=None))
    return replace(problem, platform=idle)


def _programmed(
    problem: DivisibleLoad, sequence: Integers, control: Control
) -> tuple[Sized | None, Verdict]:
    """Return the best amounts beside a master that computes, if it can.

    Chunk k of worker j arrives with the sends up to it, and the plan ends no earlier than that
    plus the computations of this and all later chunks of j; both sums are variables, so that the
    programme is sparse. Memory limits and release times are constraints.

    Source: Benoit 2016, multi-round scheduling, for a given order of chunks.
    """
    from makespan.divisible.rates.scale import seconds_scale, units_scale

    star = problem.star
    assert problem.load is not None
    second, unit = seconds_scale(problem), units_scale(problem)
    scale = unit / second
    count = len(sequence)
    programme = Programme()
    memory = np.minimum(star.memory[sequence], problem.load) / unit
    amount = programme.variables(count, upper=memory)
    arrival = programme.variables(count)
    work = programme.variables(count)
    own = programme.variables(int(problem.master_computes))
    limit = np.inf if problem.deadline is None else problem.deadline / second
    end = int(programme.variables(1, cost=1.0, upper=limit)[0])
    nobody = np.full(count, -1, dtype=np.int64)
    before = np.where(np.arange(count) > 0, arrival - 1, nobody)
    later = next_of_worker(sequence)
    after = np.where(later >= 0, work[later], nobody)
    for total, earlier, of in ((arrival, before, "send"), (work, after, "compute")):
        per_unit = getattr(star, f"{of}_per_unit")[sequence] * scale
        fixed = getattr(star, f"{of}_fixed")[sequence] / second
        table = beside(total, amount, earlier)
        programme.rows(table, beside(1.0, -per_unit, -1.0), low=fixed, high=fixed)
    programme.rows(beside(arrival, work, end), [1.0, 1.0, -1.0], high=0.0)
    waits = np.flatnonzero(star.release[sequence] > 0)
    release = -star.release[sequence[waits]] / second
    programme.rows(beside(work[waits], end), [1.0, -1.0], high=release)
    cost = star.master_cost
    programme.rows(beside(own, end), [cost.per_unit * scale, -1.0], high=-cost.fixed / second)
    everything = np.concatenate([amount, own])[np.newaxis]
    programme.rows(everything, 1.0, low=problem.load / unit, high=problem.load / unit)
    answer = programme.solve(control)
    if answer.verdict is not Verdict.OPTIMAL:
        return None, answer.verdict
    amounts = np.maximum(answer.values[amount], 0.0) * unit
    master = float(np.maximum(answer.values[own], 0.0).sum()) * unit
    plan = Plan.of(sequence, amounts, master=master).fitted(problem.load)
    makespan = timed(problem, plan).makespan
    optimal = answer.proves(makespan / second)
    sized = Sized(plan=plan, makespan=makespan, optimal=optimal)
    return sized, answer.verdict


def next_of_worker(sequence: Integers) -> Integers:
    """Return for each chunk the next one of its worker, -1 where there is none.

    >>> next_of_worker(np.array([0, 1, 0, 0])).tolist()
    [2, -1, 3, -1]
    """
    by_worker = np.argsort(sequence, kind="stable")
    same = sequence[by_worker[1:]] == sequence[by_worker[:-1]]
    later = np.full(len(sequence), -1, dtype=np.int64)
    later[by_worker[:-1][same]] = by_worker[1:][same]
    return later


def best_amounts(problem: DivisibleLoad, sequence: Integers, control: Control) -> Sized | None:
    """Return the best amounts of a sequence: the chain where it is proved, else the programme."""
    sized = chained(problem, sequence) if only_costs(problem) else None
    if sized is not None and sized.optimal:
        return sized
    return programmed(problem, sequence, control)[0]


def only_costs(problem: DivisibleLoad) -> bool:
    """Whether nothing but costs limits the chunks."""
    star = problem.star
    return bool(np.isinf(star.memory).all() and not star.release.any())
