"""Lower bounds for divisible loads on stars."""

from dataclasses import replace

import numpy as np

from makespan.backends.answer import Answer, Verdict
from makespan.core.control import Control
from makespan.core.solution import Bound
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.tree import Tree
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates import piecewise
from makespan.divisible.rates.quick import quick_bounds, seconds_scale, units_scale
from makespan.divisible.rounds.uplink import simpler

RELAXATION = "Benoit 2016, mixed linear program for DL with latencies, choices relaxed"


CHUNKS = "the mixed-integer programme of chunks as a linear one of sums (chunk-programme)"
START_UP = "price of the port's time, with the start-up of every worker used (see the function)"
BEYOND = "convex costs shared among the chunks, and the port's time (see the function)"
WAITING = "waits for the sends before, times the sends, summed up; at prices (see the function)"
SPREAD = (
    "equivalent processors (Cheng and Robertazzi 1990); fixed costs spread over the most that each "
    "node could do"
)
SOURCES = "sums of ports, receptions and processors, and tangents (see divisible.sources.sums)"
MAX_WORKERS_TO_RELAX = 16
MAX_LINKS = 1_000
MAX_WORKERS_TO_START = 20_000


def bounds(problem: DivisibleLoad) -> tuple[Bound, ...]:
    """Return lower bounds on the makespan, whatever is to be least; none for an open load."""
    problem = simpler(problem)
    if problem.objective == "price":
        problem = replace(problem, objective="makespan")
    found = quick_bounds(problem)
    known = max((bound.value for bound in found), default=0.0)
    if 0 < known < np.inf and piecewise.has_beyond_bound(problem):
        known = piecewise.beyond_bound(problem, known)
        found += (Bound(value=known, name="beyond", source=BEYOND),)
    if 0 < known < np.inf and piecewise.has_waiting_bound(problem):
        known = piecewise.waiting_bound(problem, known)
        found += (Bound(value=known, name="waiting", source=WAITING),)
    if found and _has_relaxation(problem):
        found += _relaxation(problem)
    if found and _has_sums(problem):
        found += _sums(problem)
    platform = problem.platform
    if isinstance(platform, Sources) and problem.load and platform.send_fixed.size <= MAX_LINKS:
        from makespan.divisible.sources.sums import Sums

        built = Sums(problem)
        answer = built.solve(Control())
        found += _of_programme("sums of links", SOURCES, answer, built.scaled.second)
    if isinstance(problem.platform, Tree) and problem.has_latencies and 0 < known < np.inf:
        from makespan.divisible.trees.equivalent import spread_bound

        value = spread_bound(problem.platform, problem.total, known)
        found += (Bound(value=value, name="spread tree", source=SPREAD),)
    if _has_start_up(problem, known):
        from makespan.divisible.rates.start_up import start_up_bound

        value = start_up_bound(problem, max(bound.value for bound in found))
        found += (Bound(value=value, name="start-up", source=START_UP),)
    return found


def _has_start_up(problem: DivisibleLoad, known: float) -> bool:
    """Whether fixed costs delay workers that several rounds may serve, one send at a time."""
    return (
        problem.is_star
        and not problem.chooses_master
        and 0 < len(problem.star) <= MAX_WORKERS_TO_START
        and problem.rounds != 1
        and problem.ports in (1, 2)
        and problem.loads is None
        and problem.has_latencies
        and 0 < known < np.inf
        and bool(problem.star.compute_per_unit.all())
        and not (problem.master_computes and problem.star.master_cost.per_unit == 0)
    )


def _has_relaxation(problem: DivisibleLoad) -> bool:
    """Whether the mixed-integer programme states the problem and has more to say."""
    return (
        problem.is_star
        and not problem.chooses_master
        and 0 < len(problem.star) <= MAX_WORKERS_TO_RELAX
        and problem.rounds == 1
        and problem.ports in (1, 2)
        and problem.loads is None
        and problem.activation is None
        and problem.transfers is None
        and bool(problem.has_latencies or problem.budget or problem.star.release.any())
    )


def _has_sums(problem: DivisibleLoad) -> bool:
    """Whether the linear programme of sums states the problem and has more to say."""
    if not problem.is_star or problem.chooses_master or problem.transfers is not None:
        return False
    star = problem.star
    limited = problem.budget or problem.loads is not None or star.release.any()
    limited = limited or np.isfinite(star.deadline).any() or problem.ports == "many"
    return 0 < len(star) <= MAX_WORKERS_TO_RELAX and bool(
        problem.has_latencies or problem.has_returns or limited
    )


def _sums(problem: DivisibleLoad) -> tuple[Bound, ...]:
    """Return the bound of the programme without slots, whose choices may be fractions."""
    from makespan.divisible.returns.chunk_programme import ChunkProgramme

    built = ChunkProgramme(problem, horizon=np.inf, relaxed=True)
    answer = built.programme.solve(Control())
    return _of_programme("sums of chunks", CHUNKS, answer, built.terms.second)


def _relaxation(problem: DivisibleLoad) -> tuple[Bound, ...]:
    """Return the bound of the programme whose choices may be fractions."""
    from makespan.divisible.one_round.slots import build

    second, unit = seconds_scale(problem), units_scale(problem)
    built = build(problem, second=second, unit=unit, relaxed=True)
    return _of_programme("relaxation", RELAXATION, built.programme.solve(Control()), second)


def _of_programme(name: str, source: str, answer: Answer, second: float) -> tuple[Bound, ...]:
    """Return the optimum of a programme that measures in so many seconds, where there is one."""
    if answer.verdict is not Verdict.OPTIMAL:
        return ()
    return (Bound(value=answer.bound * second, name=name, source=source),)
