"""Any star: a mixed-integer programme of its first chunks, to prove plans and to bound them."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import floor, inf, isfinite

from makespan.backends.answer import SLACK, Answer, Verdict
from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.methods.sequence_search import SequenceSearch
from makespan.divisible.needs import ANY_STAR, ONE_GOAL, is_given
from makespan.divisible.one_round.masters import tries_masters
from makespan.divisible.one_round.plans import of_open_load
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.chunk_programme import ChunkProgramme
from makespan.divisible.rounds.uplink import simpler
from makespan.divisible.timing.dispatch import shares_links

SLOTS = (0, 2, 4, 6, 8, 11, 15, 20)
"""How many sends have slots of their own, one number after another, where they are not given."""
GAIN, STALE = 0.1, 2
"""More slots are tried until that often in a row they close less than such a share of the gap."""
SHARE, ENOUGH = 0.3, 2.0
"""Of the time that is left, and seconds: the greater of both is spent. Bounds rise ever slower."""
HALF = 0.5  # of the time that is left: for the first of two programmes of the same chunks
MAX_PAIRS = 120  # pairs of a slot and a worker up to which there are slots
A_PAIR = 3.3e-6  # seconds that writing the programme takes for each pair of workers
FEW, MANY = 16, 200  # workers up to which it is tried, and where nothing else bounds what is asked


def _beyond_reach(problem: DivisibleLoad) -> str | None:
    bounded = problem.objective == "makespan" and problem.load is not None
    count = len(problem.platform)
    return f"there are {count:,}" if count > (FEW if bounded else MANY) else None


@register(
    needs=(ANY_STAR, ONE_GOAL, Need("no transfers", is_given("transfers"))),
    reach=(Need(f"at most {FEW} workers, or {MANY} and a price or an open load", _beyond_reach),),
    proves="the dual bound of the branch and bound meets the plan",
    complexity="exponential in the chunks of a plan",
    source="Benoit 2016, mixed linear program for DL with latencies, made one for several rounds, "
    "results and any limits (see the module)",
)
@tries_masters
def chunk_programme(problem: DivisibleLoad, control: Control) -> Solution:
    """Branch and bound over the first chunks, the rest being fluid, for more and more of them.

    It takes every field of a star but given transfers, starts from the plan that is known, and
    ends where its bound meets a plan.
    """
    count = len(problem.star)
    control.claim(A_PAIR * count**2, f"the programme of chunks of {count:,} workers")
    with control.sharing(SHARE, least=ENOUGH):
        return _Proof(simpler(problem), control).solution()


class _Proof:
    """The plan that is known, and what was proved of it."""

    def __init__(self, problem: DivisibleLoad, control: Control) -> None:
        self.problem = problem
        self.control = control
        known = control.incumbent or Solution(schedule=None)
        self.by_price = problem.objective == "price"
        by_end = problem.load is not None and not self.by_price
        limit = inf if problem.deadline is None else problem.deadline
        self.horizon = min(known.makespan, limit) if by_end else inf
        if known.schedule is None or known.schedule.machines != problem.machines:
            known = Solution(schedule=None)  # of another master
        self.best: Solution = replace(known, lower_bound=None, notes=(), details={})
        self.bound = 0.0 if problem.load is not None else inf

    def solution(self) -> Solution:
        """Return the best plan and the best bound."""
        stale = 0
        shares = (False, True) if shares_links(self.problem) else (False,)
        for slots, by_end in product(self._numbers(), shares):
            if by_end and not slots:
                continue
            if self.control.expired() or stale == STALE * len(shares):
                return self._with_bound(stopped=True)
            before = self.gap
            built = ChunkProgramme(self.problem, horizon=self.horizon, slots=slots, by_end=by_end)
            if self.problem.load is None:
                self.bound = min(self.bound, built.most)
            other = len(shares) > 1 and not by_end and slots > 0
            with self.control.reserving(HALF * (self.control.remaining or 0.0) if other else 0.0):
                answer = built.programme.solve(self.control)
            if answer.verdict is Verdict.INFEASIBLE and self.best.schedule is None:
                if isfinite(self.horizon):
                    return Solution(schedule=None, lower_bound=self.reach)
                return Solution(schedule=None, infeasible="no chunks keep the limits")
            self._learn(built, answer)
            if self.best.optimal or answer.verdict is Verdict.UNBOUNDED or self.gap < 0:
                break
            if answer.verdict is Verdict.NOTHING and not other:
                break
            stale = stale + 1 if self.gap > (1 - GAIN) * before else 0
        return self._with_bound(stopped=self.control.expired())

    @property
    def reach(self) -> float:
        """The end up to which the programme knows all plans: beyond the deadline, to exclude it."""
        return self.horizon if self.best.schedule is not None else self.horizon * (1 + SLACK / 2)

    @property
    def gap(self) -> float:
        """How far plan and bound are apart."""
        if self.problem.load is not None:
            return (self.best.rank if self.by_price else self.reach) - self.bound
        return self.bound - (self.best.objective.value if self.best.objective else 0.0)

    def _numbers(self) -> Iterator[int]:
        """Yield numbers of slots: one where the problem says how many chunks there are."""
        problem, count = self.problem, max(1, len(self.problem.star))
        if problem.rounds != "auto":
            rounds = int(problem.rounds)
            chunks = rounds * count if problem.activation is None else len(problem.activation)
            yield 0
            if 0 < chunks * count <= MAX_PAIRS:
                yield chunks
            return
        yield from (slots for slots in SLOTS if slots * count <= MAX_PAIRS)

    def _learn(self, built: ChunkProgramme, answer: Answer) -> None:
        """Take the bound of an answer, and the plan of its sequence where that is better."""
        problem, terms = self.problem, built.terms
        if answer.found and built.uplink is None:
            found = SequenceSearch(
                problem, self.control, programmes=1 + len(built.sends(answer.values))
            ).sized(built.sends(answer.values))
            if found is not None and found.rank < self.best.rank:
                self.best = replace(found, optimal=False, lower_bound=None)
                if problem.load is not None and not self.by_price:
                    self.horizon = min(self.horizon, found.makespan)
        if problem.load is not None:
            scale = terms.paid if self.by_price else terms.second
            self.bound = max(self.bound, answer.bound * scale)
            proved = answer.proves(self.best.rank / scale)
        else:
            self.bound = min(self.bound, -answer.bound * terms.unit)
            value = self.best.objective.value if self.best.objective is not None else -inf
            most = floor(self.bound) if problem.integral and isfinite(self.bound) else self.bound
            proved = most <= value or answer.proves(-value / terms.unit)
        if proved and self.best.schedule is not None:
            self.best = replace(self.best, optimal=True)

    def _with_bound(self, *, stopped: bool) -> Solution:
        best, bound = self.best, self.bound
        if self.by_price:
            least = best.rank if best.optimal else min(best.rank, bound)
            goal = best.objective and replace(best.objective, bound=least)
            return replace(best, objective=goal, stopped=stopped)
        if self.problem.load is not None:
            return replace(best, lower_bound=min(bound, self.reach), stopped=stopped)
        if best.objective is None or best.schedule is None:
            return replace(best, stopped=stopped)
        load = best.objective.value
        return of_open_load(best.schedule, load, bound, proved=best.optimal, stopped=stopped)
