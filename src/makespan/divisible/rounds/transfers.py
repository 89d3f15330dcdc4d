"""The linear programme for a whole sequence of transfers on one port.

Every send of the sequence has an amount; every transfer has a start and every computation an end.
A transfer waits for the one before it, a computation for its send and for the chunk before it on
the same worker, a return for its computation; and all have ended by T. Where a worker can't compute
while it receives, when it does is decided, too.
"""

from __future__ import annotations

import numpy as np

from makespan.backends.highs import WITHIN, Answer, Programme, Verdict, beside
from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.solution import Objective, Solution
from makespan.divisible.model.plan import Plan
from makespan.divisible.one_round.linear import by_the_deadline, with_deadline
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.decisions import Terms
from makespan.divisible.rounds.sizing import next_of_worker
from makespan.divisible.timing import timed
from makespan.divisible.timing.receptions import Behind, Receptions, Sequence, at_once

MAX_AT_ONCE = 6_000
"""Transfers up to which the linear programme is tried however little time is left."""
SECONDS = 1e-3
"""A transfer, of what has to be left for longer ones: HiGHS looks at the clock late in them."""


def sequence_of(problem: DivisibleLoad) -> Sequence:
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
    return Sequence(worker=tuple(worker), transfers=tuple(transfers))


def solve_transfers(problem: DivisibleLoad, control: Control) -> Solution:
    """Return the best amounts for the given sequence of transfers, each of which is made.

    Without a front end, also when each worker computes what it has received.
    """
    sequence = sequence_of(problem)
    transfers, left = len(sequence.transfers), control.remaining
    if transfers > MAX_AT_ONCE and left is not None and left < SECONDS * transfers:
        return _equal_chunks(problem, sequence)
    search = _Search(problem, control)
    for own in search.terms.own_choices():
        search.run(sequence, own)
    if search.unbounded:
        return Solution(schedule=None, notes=("the load by the deadline has no maximum",))
    if search.best is not None:
        return _solution(problem, search, *search.best)
    if search.stopped:
        return _equal_chunks(problem, sequence)
    return Solution(schedule=None, infeasible="no plan makes these transfers within the limits")


class _Search:
    """The best programme of several: with and without the master's work, by receptions.

    ``bound`` bounds all of them; ``stopped`` says that not all were solved.
    """

    def __init__(self, problem: DivisibleLoad, control: Control) -> None:
        self.terms = Terms.of(problem)
        self.control = control
        self.decides = not problem.front_end
        self.best: tuple[Answer, _Built] | None = None
        self.bound = np.inf
        self.stopped = False
        self.unbounded = False

    def run(self, sequence: Sequence, own: bool) -> None:
        """Solve the programmes of a sequence, those with few decisions first."""
        receptions = Receptions(sequence)
        whole = at_once(sequence)
        root = receptions.forced(()) if self.decides else whole
        open_ = [whole] if root == whole else [root, whole]
        while open_:
            behind = open_.pop()
            built = _Built(self.terms, sequence, own, behind if self.decides else ())
            answer = built.programme.solve(self.control)
            if answer.verdict is Verdict.NOTHING:
                self.stopped = True
            if behind == root:
                none = answer.verdict is Verdict.INFEASIBLE
                self.bound = min(self.bound, np.inf if none else answer.bound)
            if answer.verdict is Verdict.UNBOUNDED and len(behind) == len(whole):
                self.unbounded = True
                return
            if answer.verdict not in (Verdict.OPTIMAL, Verdict.UNBOUNDED):
                continue
            if self.best is not None and not _beats(answer, self.best[0]):
                continue
            if len(behind) == len(whole):
                self.best = answer, built
            else:
                ways = receptions.ways(behind)
                open_ += [receptions.forced(way) for way in reversed(ways)]


def _beats(answer: Answer, other: Answer) -> bool:
    """Whether a programme has a better value than another, by more than rounding."""
    return answer.verdict is Verdict.UNBOUNDED or (
        answer.value < other.value - WITHIN * max(1.0, abs(other.value))
    )


class _Built:
    """The programme of a sequence, with or without the master's work, and where its amounts are.

    ``behind`` says of the first chunks when they are computed by a worker without a front end.
    """

    def __init__(self, terms: Terms, sequence: Sequence, own: bool, behind: Behind) -> None:
        self.terms = terms
        self.sequence = sequence
        self.behind = behind
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
        self._receptions(programme, begin, computed, later)
        before = np.flatnonzero(later >= 0)
        after = later[before]
        table = beside(computed[after], computed[before], amount[after])
        per_unit, fixed = terms.compute[mine[after]], terms.compute_fixed[mine[after]]
        programme.rows(table, beside(1.0, -1.0, -per_unit), low=fixed)
        programme.rows(beside(end, computed), [1.0, -1.0], low=0.0)

    def _receptions(
        self, programme: Programme, begin: Integers, computed: Integers, later: Integers
    ) -> None:
        """Without a front end a chunk is computed between two receptions of its worker."""
        if not self.behind:
            return
        terms, count = self.terms, len(self.behind)
        behind = np.array(self.behind, dtype=np.int64)
        mine = np.array(self.sequence.worker, dtype=np.int64)
        waits = np.flatnonzero(behind > np.arange(count))
        last = behind[waits]
        table = beside(computed[waits], begin[last], self.amount[last], self.amount[waits])
        fixed = terms.send_fixed[mine[last]] + terms.compute_fixed[mine[waits]]
        factors = beside(1.0, -1.0, -terms.send[mine[last]], -terms.compute[mine[waits]])
        programme.rows(table, factors, low=fixed)
        following = later[behind]
        first = np.flatnonzero(following >= 0)
        table = beside(begin[following[first]], computed[first])
        programme.rows(table, [1.0, -1.0], low=0.0)


def _plan(problem: DivisibleLoad, built: _Built, answer: Answer) -> Plan:
    unit, sequence = built.terms.unit, built.sequence
    amount = np.maximum(0.0, answer.values[built.amount]) * unit
    master = max(0.0, float(answer.values[built.own].sum())) * unit
    plan = Plan.of(sequence.worker, amount, master=master, transfers=sequence.transfers)
    return plan if problem.load is None else plan.fitted(problem.load)


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


def _solution(problem: DivisibleLoad, search: _Search, answer: Answer, built: _Built) -> Solution:
    terms = search.terms
    plan = _plan(problem, built, answer)
    if problem.load is not None:
        schedule = timed(problem, plan, behind=built.behind or None)
        optimal = not search.stopped and answer.proves(schedule.makespan / terms.second)
        bound = search.bound * terms.second if np.isfinite(search.bound) else None
        bound = bound if search.stopped else None
        solution = Solution(
            schedule=schedule, optimal=optimal, lower_bound=bound, stopped=search.stopped
        )
        return with_deadline(problem, solution)
    plan, schedule = by_the_deadline(problem, plan, built.behind or None)
    optimal = not search.stopped and answer.proves(-plan.total / terms.unit)
    bound = plan.total if optimal else max(plan.total, -search.bound * terms.unit)
    objective = Objective(
        name="load", value=plan.total, bound=bound if np.isfinite(bound) else None, maximise=True
    )
    return Solution(schedule=schedule, optimal=optimal, objective=objective, stopped=search.stopped)
