"""Mixed-integer programmes of a star, by HiGHS: of one round, and of the first chunks of any."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import floor, inf, isfinite

import numpy as np

from makespan.backends.answer import SLACK, Answer, Verdict
from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.methods.sequence_search import SequenceSearch
from makespan.divisible.model.plan import Plan
from makespan.divisible.needs import (
    ANY_STAR,
    NO_RETURNS,
    ONE_GOAL,
    OPEN_ONE_ROUND,
    at_most,
    is_given,
)
from makespan.divisible.one_round.ending_together import AffineCosts, equal_finish
from makespan.divisible.one_round.masters import tries_masters
from makespan.divisible.one_round.plans import NO_MAXIMUM, as_optimal, of_open_load
from makespan.divisible.one_round.slots import SlotProgramme, build, is_unbounded
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import seconds_scale, units_scale
from makespan.divisible.referee import violations
from makespan.divisible.returns.chunk_programme import ChunkProgramme
from makespan.divisible.returns.decisions import Terms
from makespan.divisible.returns.transfer_programme import TransferProgramme
from makespan.divisible.returns.transfer_sequence import TransferSequence
from makespan.divisible.rounds.uplink import simpler
from makespan.divisible.timing import timed
from makespan.divisible.timing.dispatch import shares_links

ALL_PAIRS = 20_000
NO_PLAN = "the search found no plan within the time limit, or the limit was too short to begin"


@register(
    needs=(*OPEN_ONE_ROUND, NO_RETURNS),
    reach=(
        at_most(
            ALL_PAIRS,
            "pairs of a slot and a worker",
            lambda problem: len(problem.star) ** (1 if problem.order else 2),
        ),
    ),
    proves="the dual bound of the branch and bound meets the plan",
    complexity="exponential in the workers",
    source="Benoit 2016, mixed linear program for DL with latencies, corrected",
)
@tries_masters
def milp(problem: DivisibleLoad, control: Control) -> Solution:
    """Mixed-integer programme with HiGHS: fixed costs, memory, windows, budget, whole units."""
    if len(problem.star) == 0 and not problem.master_computes:
        if problem.load:
            return Solution(schedule=None, infeasible="there is no machine to compute the load")
        return as_optimal(problem, Plan.of([], []))
    if problem.load is None and is_unbounded(problem):
        return NO_MAXIMUM
    second, unit = seconds_scale(problem), units_scale(problem)
    built = build(problem, second=second, unit=unit)
    answer = built.programme.solve(control)
    if answer.verdict is Verdict.INFEASIBLE:
        return Solution(schedule=None, infeasible=_why_infeasible(problem))
    if answer.verdict is Verdict.UNBOUNDED:
        return NO_MAXIMUM
    if not answer.found:
        bound = answer.bound * second if problem.load is not None else None
        return Solution(schedule=None, lower_bound=bound, notes=(NO_PLAN,))
    return _solution(built, answer, _polished(built, answer))


def _polished(built: SlotProgramme, answer: Answer) -> Plan:
    """Return the plan for the choices of the answer, its amounts as exact as they can be."""
    problem = built.problem
    plan = built.plan(answer)
    if problem.integral:
        return Plan.of(plan.worker, np.rint(plan.amount), master=np.rint(plan.master))
    plans = [plan]
    again = _sized(problem, plan)
    if again is not None:
        plans.append(again)
    if problem.load is not None and not problem.has_limits:
        costs = AffineCosts.of(problem)
        if costs.own is not None and (plan.master == 0 or costs.own.per_unit == 0):
            costs = replace(costs, own=None)
        end, amount = equal_finish(costs, plan.worker, problem.load)
        if (amount >= 0).all() and np.isfinite(end):
            plans.append(Plan.of(plan.worker, amount, master=costs.own_load(end)))
        return min(plans[1:] or plans, key=lambda each: timed(problem, each).makespan)
    return plans[-1]


def _sized(problem: DivisibleLoad, plan: Plan) -> Plan | None:
    """Return the plan that serves the same workers with amounts to the accuracy of an LP."""
    sequence = TransferSequence(
        worker=tuple(plan.worker.tolist()), transfers=tuple(range(len(plan)))
    )
    fixed = TransferProgramme(Terms.of(problem), sequence, own=plan.master > 0)
    answer = fixed.programme.solve(Control())
    return replace(fixed.plan(answer, problem.load), transfers=None) if answer.found else None


def _solution(built: SlotProgramme, answer: Answer, plan: Plan) -> Solution:
    problem = built.problem
    if problem.use == "any":
        plan = plan.without_empty()
    schedule = timed(problem, plan)
    # HiGHS keeps limits by its tolerance, not by ours
    if any(True for _ in violations(problem, schedule)):
        bound = None if problem.load is None else answer.bound * built.second
        return Solution(schedule=None, lower_bound=bound)
    if problem.load is None:
        most = -answer.bound * built.unit
        if problem.integral and isfinite(most):  # stopped early, HiGHS may know no bound
            most = floor(most)
        optimal = (
            most <= plan.total if problem.integral else answer.proves(-plan.total / built.unit)
        )
        return of_open_load(schedule, plan.total, most, proved=optimal)
    bound = min(answer.bound * built.second, schedule.makespan)
    optimal = answer.proves(schedule.makespan / built.second)
    return Solution(schedule=schedule, optimal=optimal, lower_bound=bound)


def _why_infeasible(problem: DivisibleLoad) -> str:
    star = problem.star
    limits = {
        "memory": np.isfinite(star.memory).any(),
        "deadlines of workers": np.isfinite(star.deadline).any(),
        f"the deadline {problem.deadline or 0:.12g}": problem.deadline is not None,
        f"the budget {problem.budget or 0:.12g}": problem.budget is not None,
        "whole units": problem.integral,
        "use = 'all'": problem.use == "all",
    }
    named = [limit for limit, given in limits.items() if given]
    return f"no plan places the load within {' and '.join(named) or 'the platform'}"


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
        self.horizon = min(known.makespan, problem.latest) if by_end else inf
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
