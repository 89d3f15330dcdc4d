"""Loads that lie at several sources: the flows of a bound in turn, a search, and a proof."""

import math

import numpy as np

from makespan.backends.answer import Answer, Verdict
from makespan.core.control import Control
from makespan.core.registry import condition, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.divisible.model.plan import computed
from makespan.divisible.needs import A_GOAL, SOURCES, at_most
from makespan.divisible.one_round.plans import NO_MAXIMUM, of_open_load, undated
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.referee import violations
from makespan.divisible.sources.programme import ChunksProgramme, Sequences, by_turns
from makespan.divisible.sources.sums import Scaled, Sums


def solution_of(
    problem: DivisibleLoad, plan: Schedule | None, answer: Answer | None, scaled: Scaled
) -> Solution:
    """Return a plan, and what a programme that no plan is better than proves of it.

    ``plan``: the best plan that is known, maybe beyond the deadline; None where there is none.
    ``answer``, ``scaled``: of that programme, and what it measures in; None: nothing is proved.
    """
    if plan is None or any(True for _ in violations(undated(problem), plan)):
        return Solution(schedule=None, stopped=True)
    if problem.load is None:
        value = float(computed(plan).sum())
        proved = answer is not None and answer.proves(-value / scaled.unit)
        most = math.inf if answer is None else -answer.bound * scaled.unit
        return of_open_load(plan, value, most, proved=proved)
    if answer is None:
        return Solution(schedule=plan)
    proved = answer.proves(plan.makespan / scaled.second)
    least = min(plan.makespan, max(0.0, answer.bound * scaled.second))
    return Solution(schedule=plan, lower_bound=least, optimal=proved)


PIECES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
MAX_LINKS = 5_000
A_PAIR = 5e-8  # seconds that the programme takes for each pair of links, where there are many
MOST_CHUNKS = 600  # chunks of a sequence that is cut into more pieces


def _links(problem: DivisibleLoad) -> int:
    return len(problem.holders) * len(problem.platform)


@register(
    needs=(SOURCES,),
    reach=(at_most(MAX_LINKS, "links", _links, verb="could be"),),
    complexity="linear programmes of as many variables as links, and as chunks",
    source="Wong, Yu, Veeravalli and Robertazzi 2003, the programme of a given order",
)
def source_flows(problem: DivisibleLoad, control: Control) -> Solution:
    """What goes over each link by the bound, the links in turn, sized by a linear programme."""
    links = _links(problem)
    if links > MAX_LINKS:
        control.claim(A_PAIR * links**2, f"the linear programme of {links:,} links")
    sums = Sums(problem)
    answer = sums.solve(control)
    if answer.verdict is Verdict.INFEASIBLE:
        return Solution(schedule=None, infeasible="no plan places the load within the limits")
    if answer.verdict is Verdict.UNBOUNDED:
        return NO_MAXIMUM
    search = Sequences(problem, Control())
    flows, own = sums.flows(answer)
    flows = np.where(flows > 1e-9 * flows.sum(), flows, 0.0)
    scaled, computing = search.scaled, own > 1e-9 * own.sum()
    able = scaled.able
    computing = computing if answer.found else able
    ways = [able] if bool((able == computing).all()) else [able, computing]
    work = flows * np.where(flows > 0, scaled.compute, 0.0)
    for key in (-work, np.where(scaled.linked, scaled.send, 0.0)):
        line = by_turns(flows, scaled, key)
        for pieces in PIECES:
            many = pieces * len(line)
            if pieces > search.most or (pieces > 1 and (many > MOST_CHUNKS or control.expired())):
                break
            for computes in ways:
                search.try_links(line * pieces, computes)
    every = sorted(search.links, key=lambda link: float(scaled.send[link]))
    if len(every) <= MOST_CHUNKS and not control.expired():
        search.try_links(every, ways[-1])
    return solution_of(problem, search.plan, answer, sums.scaled)


MAX_CHUNKS = 16
SHARE, ENOUGH = 0.5, 2.0  # of the time that is left, and seconds: the greater of both is spent


def _chunks(problem: DivisibleLoad) -> int:
    return int(problem.rounds) * int(Scaled(problem).linked.sum())


@register(
    needs=(
        SOURCES,
        condition("given rounds", lambda problem: problem.rounds != "auto", "rounds is 'auto'"),
        A_GOAL,
    ),
    reach=(at_most(MAX_CHUNKS, "chunks", _chunks, verb="could be"),),
    proves="the dual bound of the branch and bound meets the plan",
    complexity="exponential in the chunks",
    source="Wong, Yu, Veeravalli and Robertazzi 2003, with the order as choices",
)
def source_programme(problem: DivisibleLoad, control: Control) -> Solution:
    """Branch and bound over which chunks are sent, and in which order."""
    plan = (control.incumbent or source_flows(problem, control)).schedule
    horizon = problem.latest if problem.load is None else _horizon(problem, plan)
    scaled = Scaled(problem, horizon)
    source, worker = np.repeat(np.nonzero(scaled.linked), int(problem.rounds), axis=1)
    built = ChunksProgramme(scaled, source, worker, scaled.able, chooses=True)
    if not built.is_bounded:
        return solution_of(problem, plan, None, scaled)
    with control.sharing(SHARE, least=ENOUGH):
        answer = built.programme.solve(control)
    if answer.verdict is Verdict.INFEASIBLE and plan is None:
        return Solution(schedule=None, infeasible="no chunks keep the limits")
    search = Sequences(problem, Control())
    if plan is not None:
        search.try_plan(plan)
    if answer.found:
        order = built.order(answer)
        links = zip(source[order].tolist(), worker[order].tolist(), strict=True)
        search.try_links(list(links), built.computing(answer))
    return solution_of(problem, search.plan, answer, scaled)


def _horizon(problem: DivisibleLoad, plan: Schedule | None) -> float:
    """Return the end of a plan; without one, when all is done if nothing goes on side by side."""
    if plan is not None and plan.makespan > 0:
        return plan.makespan
    scaled = Scaled(problem, 1.0)
    linked, rounds = scaled.linked, int(problem.rounds)
    send = np.where(linked, scaled.send_fixed + np.where(linked, scaled.send, 0.0), 0.0)
    compute = scaled.compute_fixed + scaled.compute
    own = np.where(scaled.able, scaled.own_fixed + np.where(scaled.able, scaled.own, 0.0), 0.0)
    begun = max(scaled.begin.max(initial=0.0), scaled.release.max(initial=0.0))
    return float(begun + rounds * (send.sum() + compute.sum() * len(send)) + own.sum()) or 1.0


MAX_WORKERS = 200
PROVING = 0.3  # of the time that is left, for what proves the plan
MAX_TIGHTENED, MAX_WHOLE = 1_000, 60
"""Links up to which the end of a plan tightens its bound, and whole numbers do."""


@register(
    needs=(SOURCES,),
    reach=(at_most(MAX_WORKERS),),
    complexity="a linear programme for each sequence tried",
    source="Wong, Yu, Veeravalli and Robertazzi 2003, the programme of a given order; local search",
)
def source_search(problem: DivisibleLoad, control: Control) -> Solution:
    """Chunks moved, left out, taken in and sent by others; amounts by a linear programme each."""
    plan = (control.incumbent or source_flows(problem, control)).schedule
    search = Sequences(problem, control)
    if plan is None:
        return Solution(schedule=None, stopped=True)
    search.try_plan(plan)
    with control.reserving(PROVING * (control.remaining or 0.0)):
        search.improve()
    best = search.plan or plan
    answer, scaled = _proof_of(problem, best.makespan, control)
    return solution_of(problem, best, answer, scaled)


def _proof_of(
    problem: DivisibleLoad, makespan: float, control: Control
) -> tuple[Answer | None, Scaled]:
    """Return the best programme of sums for plans that end before one that is known.

    None where it says no more than the bounds do. Complexity: linear programmes of as many
    variables as links, and up to 60 links a mixed-integer one, to the limit of ``control``.
    """
    horizon = makespan if problem.load is not None else np.inf
    links = int(Scaled(problem).linked.sum())
    if not problem.has_latencies or links > MAX_TIGHTENED or control.expired():
        return None, Scaled(problem)
    sums = Sums(problem, horizon=horizon)
    answer = sums.solve(control)
    if links <= MAX_WHOLE and answer.verdict is Verdict.OPTIMAL:
        better = Sums(problem, horizon=horizon, relaxed=sums).programme.solve(control)
        if better.bound > answer.bound:
            answer = better
    return answer, sums.scaled
