"""The mixed-integer programme of the slides, solved by HiGHS."""

from dataclasses import replace
from math import floor, isfinite

import numpy as np

from makespan.backends.answer import Answer, Verdict
from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible.model.plan import Plan
from makespan.divisible.needs import NO_RETURNS, OPEN_ONE_ROUND, at_most
from makespan.divisible.one_round.ending_together import AffineCosts, equal_finish
from makespan.divisible.one_round.masters import tries_masters
from makespan.divisible.one_round.plans import NO_MAXIMUM, as_optimal, of_open_load
from makespan.divisible.one_round.slots import SlotProgramme, build, is_unbounded
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import seconds_scale, units_scale
from makespan.divisible.referee import violations
from makespan.divisible.returns.decisions import Terms
from makespan.divisible.returns.transfer_programme import TransferProgramme
from makespan.divisible.returns.transfer_sequence import TransferSequence
from makespan.divisible.timing import timed

MAX_PAIRS = 20_000
NO_PLAN = "the search found no plan within the time limit, or the limit was too short to begin"


@register(
    needs=(*OPEN_ONE_ROUND, NO_RETURNS),
    reach=(
        at_most(
            MAX_PAIRS,
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
    if any(
        True for _ in violations(problem, schedule)
    ):  # HiGHS keeps limits by its tolerance, not by ours
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
