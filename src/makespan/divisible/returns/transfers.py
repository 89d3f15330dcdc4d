"""The best amounts for a whole sequence of transfers on one port.

Where a worker can't compute while it receives, when it does is decided, too.
"""

import numpy as np
from numpy.typing import ArrayLike

from makespan.backends.answer import WITHIN, Answer, Verdict
from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.solution import Objective, Solution
from makespan.divisible.model.plan import Plan, price_of
from makespan.divisible.one_round.plans import (
    NO_MAXIMUM,
    by_the_deadline,
    enforce_limits,
    of_open_load,
)
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.referee import violations
from makespan.divisible.returns.decisions import Terms
from makespan.divisible.returns.transfer_programme import TransferProgramme
from makespan.divisible.returns.transfer_sequence import (
    Behind,
    Receptions,
    TransferSequence,
    at_once,
)
from makespan.divisible.timing import timed

MAX_AT_ONCE = 6_000  # transfers up to which the programme is tried however little time is left
SECONDS = 1e-3
"""A transfer, of what has to be left for longer ones: HiGHS looks at the clock late in them."""

UNSOLVED = "the amounts are valid, but not the best: the programme for them was not solved"


def sequence_of(problem: DivisibleLoad) -> TransferSequence:
    assert problem.transfers is not None
    names = [name for _, name in problem.transfers]
    returns = problem.star.returns.tolist()
    worker: list[int] = []
    transfers: list[int] = []
    waiting: dict[int, list[int]] = {}
    for (what, _), index in zip(problem.transfers, problem.workers_in(names).tolist(), strict=True):
        if what == "send":
            waiting.setdefault(index, []).append(len(worker))
            transfers.append(len(worker))
            worker.append(index)
        elif returns[index]:
            transfers.append(-1 - waiting[index].pop(0))
    return TransferSequence(worker=tuple(worker), transfers=tuple(transfers))


def solve_transfers(problem: DivisibleLoad, control: Control) -> Solution:
    """Return the best amounts for the given sequence of transfers, each of which is made.

    Without a front end, also when each worker computes what it has received.
    """
    sequence = sequence_of(problem)
    transfers, left = len(sequence.transfers), control.remaining
    if transfers > MAX_AT_ONCE and left is not None and left < SECONDS * transfers:
        return plan_by_speed(problem, np.array(sequence.worker, dtype=np.int64), sequence.transfers)
    search = _ReceptionSearch(problem, control)
    for own in search.terms.own_choices():
        search.run(sequence, own)
    if search.unbounded:
        return NO_MAXIMUM
    if search.best is not None:
        answer, built = search.best
        found = solution_of_answer(
            problem,
            built.plan(answer, problem.load),
            built.behind,
            answer,
            search.terms,
            complete=not search.stopped,
            stopped=search.stopped,
            bound=search.bound,
        )
        return if_valid(problem, found)
    if search.stopped:
        return plan_by_speed(problem, np.array(sequence.worker, dtype=np.int64), sequence.transfers)
    return Solution(schedule=None, infeasible="no plan makes these transfers within the limits")


class _ReceptionSearch:
    """The best programme of several: with and without the master's work, by receptions.

    ``bound`` bounds all of them; ``stopped`` says that not all were solved.
    """

    def __init__(self, problem: DivisibleLoad, control: Control) -> None:
        self.terms = Terms.of(problem)
        self.control = control
        self.decides = not problem.front_end
        self.best: tuple[Answer, TransferProgramme] | None = None
        self.bound = np.inf
        self.stopped = False
        self.unbounded = False

    def run(self, sequence: TransferSequence, own: bool) -> None:
        """Solve the programmes of a sequence, those with few decisions first."""
        receptions = Receptions(sequence)
        whole = at_once(sequence)
        root = receptions.forced(()) if self.decides else whole
        open_ = [whole] if root == whole else [root, whole]
        while open_:
            if self.control.expired():
                self.stopped = True
                return
            behind = open_.pop()
            built = TransferProgramme(
                self.terms, sequence, own=own, behind=behind if self.decides else ()
            )
            answer = built.programme.solve(self.control)
            if answer.verdict in (Verdict.NOTHING, Verdict.FEASIBLE):
                self.stopped = True
            if behind == root:
                none = answer.verdict is Verdict.INFEASIBLE
                self.bound = min(self.bound, np.inf if none else answer.bound)
            if answer.verdict is Verdict.UNBOUNDED and len(behind) == len(whole):
                self.unbounded = True
                return
            if not answer.found and answer.verdict is not Verdict.UNBOUNDED:
                continue
            if self.best is not None and not _beats(answer, self.best[0]):
                continue
            if len(behind) == len(whole):
                self.best = answer, built
            else:
                open_ += [receptions.forced(way) for way in reversed(receptions.ways(behind))]


def _beats(answer: Answer, other: Answer) -> bool:
    return answer.verdict is Verdict.UNBOUNDED or (
        answer.value < other.value - WITHIN * max(1.0, abs(other.value))
    )


def plan_by_speed(
    problem: DivisibleLoad, sequence: Integers, transfers: ArrayLike | None = None
) -> Solution:
    """Return a plan for a sequence of chunks whose programme was not solved; None if it breaks a
    limit.

    Chunks are in proportion to the speeds of their workers; where that is too much for some, to
    the workers' memory.
    """
    star = problem.star
    if problem.load is None or not len(sequence):
        return Solution(schedule=None, stopped=True)
    speed = 1.0 / np.maximum(star.send_per_unit + star.compute_per_unit, 1e-300)
    weight = np.minimum((speed / speed.max())[sequence], 1.0)
    memory = np.minimum(star.memory[sequence], problem.load)
    if (weight * (problem.load / weight.sum()) > memory).any():
        weight = memory
    if not weight.sum() > 0.0:
        return Solution(schedule=None, stopped=True)
    plan = Plan.of(sequence, weight * (problem.load / weight.sum()), transfers=transfers)
    found = Solution(schedule=timed(problem, plan), notes=(UNSOLVED,), stopped=True)
    return if_valid(problem, found)


def solution_of_answer(
    problem: DivisibleLoad,
    plan: Plan,
    behind: Behind,
    answer: Answer,
    terms: Terms,
    *,
    complete: bool,
    stopped: bool,
    bound: float = -np.inf,
) -> Solution:
    """Return the solution of a plan that a programme was solved for, by its ``answer``.

    ``complete``: whether no other programme has a better optimum: then the answer may prove the
    plan. ``bound``: else no programme has less, in the numbers of ``terms``.
    """
    if problem.load is None:
        plan, schedule = by_the_deadline(problem, plan, behind or None)
        proved = complete and answer.proves(-plan.total / terms.unit)
        most = -bound * terms.unit
        return of_open_load(schedule, plan.total, most, proved=proved, stopped=stopped)
    schedule = timed(problem, plan, behind=behind or None)
    if terms.by_price:
        price = price_of(problem.star, schedule)
        proved = complete and answer.proves(price / terms.paid)
        least = price if proved else min(price, bound * terms.paid)
        goal = Objective(name="price", value=price, bound=least if np.isfinite(least) else None)
        return Solution(schedule=schedule, objective=goal, optimal=proved, stopped=stopped)
    proved = complete and answer.proves(schedule.makespan / terms.second)
    known = None if complete or np.isinf(bound) else bound * terms.second
    solution = Solution(schedule=schedule, optimal=proved, lower_bound=known, stopped=stopped)
    return enforce_limits(problem, solution)


def if_valid(problem: DivisibleLoad, solution: Solution) -> Solution:
    """Return a solution, without a plan that by a programme's tolerance breaks a limit."""
    schedule = solution.schedule
    if schedule is None or not any(True for _ in violations(problem, schedule)):
        return solution
    return Solution(schedule=None, stopped=True)
