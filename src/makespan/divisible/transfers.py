"""The linear programme for a whole sequence of transfers on one port.

Every send of the sequence has an amount; every transfer has a start and every computation an end.
A transfer waits for the one before it, a computation for its send and for the chunk before it on
the same worker, a return for its computation; and all have ended by T.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.backends.highs import Answer, Programme, Verdict, beside
from makespan.core.control import Control
from makespan.core.result import Objective, Solution
from makespan.core.schedule import Integers
from makespan.divisible.linear import with_deadline
from makespan.divisible.plan import Plan
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns import Terms
from makespan.divisible.sequences import next_of_worker
from makespan.divisible.timing import timed

MOST_AT_ONCE = 6_000
"""Transfers up to which the linear programme is tried however little time is left."""
SECONDS = 1e-3
"""A transfer, of what has to be left for longer ones: HiGHS looks at the clock late in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """A sequence of transfers: chunk k is sent (k) or returned (-1 - k).

    ``worker`` holds the worker of each chunk. The first return of a worker is that of its first
    chunk, and so on; returns of those who return nothing are left out.
    """

    worker: tuple[int, ...]
    transfers: tuple[int, ...]

    @classmethod
    def of(cls, problem: DivisibleLoad) -> Sequence:
        """Return the sequence of a problem."""
        assert problem.transfers is not None
        names = [name for _, name in problem.transfers]
        returns = problem.star.returns.tolist()
        worker: list[int] = []
        transfers: list[int] = []
        waiting: dict[int, list[int]] = {}
        indices = problem.workers_in(names).tolist()
        for (what, _), index in zip(problem.transfers, indices, strict=True):
            if what == "send":
                waiting.setdefault(index, []).append(len(worker))
                transfers.append(len(worker))
                worker.append(index)
            elif returns[index]:
                transfers.append(-1 - waiting[index].pop(0))
        return cls(worker=tuple(worker), transfers=tuple(transfers))


def solve_transfers(problem: DivisibleLoad, control: Control) -> Solution:
    """Return the best amounts for the given sequence of transfers, each of which is made."""
    sequence = Sequence.of(problem)
    transfers, left = len(sequence.transfers), control.remaining
    if transfers > MOST_AT_ONCE and left is not None and left < SECONDS * transfers:
        return _equal_chunks(problem, sequence)
    terms = Terms.of(problem)
    found: list[tuple[Answer, _Built]] = []
    for own in terms.own_choices():
        built = _Built(terms, sequence, own)
        answer = built.programme.solve(control)
        if answer.verdict is Verdict.UNBOUNDED:
            return Solution(schedule=None, notes=("the load by the deadline has no maximum",))
        if answer.verdict is Verdict.NOTHING:
            return _equal_chunks(problem, sequence)
        found.append((answer, built))
    answer, built = min(found, key=lambda each: each[0].value)
    if not answer.found:
        return Solution(schedule=None, infeasible="no plan makes these transfers within the limits")
    return _solution(problem, _plan(problem, built, answer), built.terms, answer)


class _Built:
    """The programme of a sequence, with or without the master's work, and where its amounts are."""

    def __init__(self, terms: Terms, sequence: Sequence, own: bool) -> None:
        self.terms = terms
        self.sequence = sequence
        self.programme = programme = Programme()
        worker = list(sequence.worker)
        weight = -1.0 if terms.load is None else 0.0
        self.amount = programme.variables(len(worker), cost=weight, upper=terms.memory[worker])
        self.own = programme.variables(int(own), cost=weight)
        start = programme.variables(len(sequence.transfers))
        computed = programme.variables(len(worker))
        at_least = 0.0 if terms.load is not None else terms.end
        end = programme.variables(
            1, cost=0.0 if terms.load is None else 1.0, lower=at_least, upper=terms.end
        )
        if terms.load is not None:
            everything = np.concatenate([self.amount, self.own])
            programme.rows(everything[np.newaxis], 1.0, low=terms.load, high=terms.load)
        self._transfers(programme, start, computed, int(end[0]))
        self._computations(programme, start, computed, int(end[0]))
        if own and terms.own is not None:
            row = [self.own[0], end[0]]
            programme.row(row, [terms.own.per_unit, -1.0], high=-terms.own.fixed)

    def _transfers(
        self, programme: Programme, start: Integers, computed: Integers, end: int
    ) -> None:
        """Each transfer is followed by the next, the last by the end; returns have to wait."""
        terms = self.terms
        code = np.array(self.sequence.transfers, dtype=np.int64)
        sends = code >= 0
        chunk = np.where(sends, code, -1 - code)
        mine = np.array(self.sequence.worker, dtype=np.int64)[chunk]
        fixed = np.where(sends, terms.send_fixed[mine], terms.back_fixed[mine])
        per_unit = np.where(sends, terms.send[mine], terms.back[mine])
        followers = np.append(start, end)[1:]
        table = beside(followers, start, self.amount[chunk])
        programme.rows(table, beside(1.0, -1.0, -per_unit), low=fixed)
        table = beside(start[~sends], computed[chunk[~sends]])
        programme.rows(table, [1.0, -1.0], low=0.0)

    def _computations(
        self, programme: Programme, start: Integers, computed: Integers, end: int
    ) -> None:
        """Each chunk is computed after it came and after the chunk before it, and by the end."""
        terms, amount = self.terms, self.amount
        code = np.array(self.sequence.transfers, dtype=np.int64)
        mine = np.array(self.sequence.worker, dtype=np.int64)
        begin = np.empty(len(mine), dtype=np.int64)
        begin[code[code >= 0]] = start[code >= 0]
        fixed = terms.send_fixed[mine] + terms.compute_fixed[mine]
        per_unit = terms.send[mine] + terms.compute[mine]
        table = beside(computed, begin, amount)
        programme.rows(table, beside(1.0, -1.0, -per_unit), low=fixed)
        later = next_of_worker(mine)
        before = np.flatnonzero(later >= 0)
        after = later[before]
        table = beside(computed[after], computed[before], amount[after])
        per_unit, fixed = terms.compute[mine[after]], terms.compute_fixed[mine[after]]
        programme.rows(table, beside(1.0, -1.0, -per_unit), low=fixed)
        programme.rows(beside(end, computed), [1.0, -1.0], low=0.0)


def _plan(problem: DivisibleLoad, built: _Built, answer: Answer) -> Plan:
    unit, sequence = built.terms.unit, built.sequence
    amount = np.maximum(0.0, answer.values[built.amount]) * unit
    master = max(0.0, float(answer.values[built.own].sum())) * unit
    total = float(amount.sum()) + master
    if problem.load is not None and total > 0:
        factor = problem.load / total  # 1 but for rounding
        amount, master = amount * factor, master * factor
    return Plan.of(sequence.worker, amount, master=master, transfers=sequence.transfers)


def _equal_chunks(problem: DivisibleLoad, sequence: Sequence) -> Solution:
    """Return a plan with equal chunks, where there was no time for better ones; None if it fails
    the limits.
    """
    if problem.load is None or not sequence.worker:
        return Solution(schedule=None, stopped=True)
    worker = np.array(sequence.worker)
    amount = np.full(len(worker), problem.load / len(worker))
    schedule = timed(problem, Plan.of(worker, amount, transfers=sequence.transfers))
    late = problem.deadline is not None and schedule.makespan > problem.deadline
    if late or (amount > problem.star.memory[worker]).any():
        return Solution(schedule=None, stopped=True)
    note = "equal chunks: there was no time for better ones"
    return Solution(schedule=schedule, notes=(note,), stopped=True)


def _solution(problem: DivisibleLoad, plan: Plan, terms: Terms, answer: Answer) -> Solution:
    schedule = timed(problem, plan)
    if problem.load is not None:
        optimal = answer.proves(schedule.makespan / terms.second)
        return with_deadline(problem, Solution(schedule=schedule, optimal=optimal))
    objective = Objective(name="load", value=plan.total, bound=plan.total, maximise=True)
    return Solution(schedule=schedule, optimal=True, objective=objective)
