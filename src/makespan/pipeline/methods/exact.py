"""The optimum: parametric search on identical machines; labels of the first stages on any."""

from dataclasses import replace

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution, front_in_words
from makespan.pipeline.bounds import period_bounds
from makespan.pipeline.chains import chains
from makespan.pipeline.construction import Best, known_mapping, solution_of
from makespan.pipeline.labels import STRICTLY, Aim, behind, covering, searched, visiting
from makespan.pipeline.mapping import Mapping, values_of
from makespan.pipeline.needs import (
    ALIKE,
    FEW_MACHINES,
    MOST_STATES,
    NO_TURNS,
    ONE_EACH,
    PERIOD_ONLY,
    entries,
)
from makespan.pipeline.problem import Pipeline
from makespan.pipeline.state_space import Costs


@register(
    needs=(ALIKE, PERIOD_ONLY, NO_TURNS, ONE_EACH),
    proves="the longest intervals within a period cover most stages, and no shorter one lets any "
    "of them grow",
    complexity="O(m log n) a probe, a few dozen probes; O(n) each where transfers matter",
    source="Pınar and Aykanat 2004",
)
def chains_to_chains(problem: Pipeline, control: Control) -> Solution:
    """The least period on identical machines, proved, for millions of stages."""
    stages, capacity = problem.stages, float(problem.memory[0])
    if stages.durations is None:
        seconds = stages.work / problem.speeds[0]
    else:
        seconds = stages.durations[:, 0]
    if not np.isfinite(seconds).all():
        return Solution(schedule=None, infeasible="a stage can run on no machine")
    work, held = (np.concatenate([[0.0], np.cumsum(column)]) for column in (seconds, problem.held))
    machines = min(len(problem.machines), len(stages))
    per_unit = float(problem.per_unit[0, 1]) if len(problem.machines) > 1 else 0.0
    transfer = problem.moved * per_unit
    low = max(bound.value for bound in period_bounds(problem))
    room = capacity * (1 + 1e-12)
    found = chains(work, held, room, machines, transfer, low * (1 - 1e-12))
    best = None if found is None else found[1]
    if held[-1] <= room and (found is None or work[-1] <= found[0]):
        best = [0, len(stages)]  # alone, it has nothing to hand over
    if best is None:
        return Solution(
            schedule=None, infeasible="no interval mapping keeps within the machines' memory"
        )
    return solution_of(problem, Mapping.of(best, range(len(best) - 1)), optimal=True)


CLOSE = 1e-6  # the relative distance of bounds from which only the value itself is tried
NEARLY = 0.981  # the share of the best value to be undercut first: if nothing does, that bounds
NO_PLAN = "no interval mapping keeps within memory and limits"


@register(
    needs=(FEW_MACHINES, ONE_EACH),
    reach=(entries(MOST_STATES),),
    proves="all labels that are left were extended: complete enumeration but for what dominance "
    "and bounds exclude",
    complexity="O(n² m + n m²) where the order is given and one value counts; exponential else",
    source="Benoit and Robert 2008 for the model; labels of Feillet et al. 2004 "
    "with the bounds of Christofides, Mingozzi and Toth 1981; sets of Held and Karp 1962",
)
def dynamic_programming(problem: Pipeline, control: Control) -> Solution:
    """The best mapping within memory and limits, proved; or the front of period and latency."""
    if problem.objective == "pareto":
        return _front(problem, control)
    best = Best(problem, known_mapping(problem, control))
    if best.rank[0] > 0.0:
        best = Best(problem)  # it exceeds a limit
    alone = Aim.of(problem).limits[1:] == (np.inf, np.inf)
    if problem.objective == "period" and alone and problem.order == "free":
        complete, bound = _bisected(problem, control, best)
    else:
        complete, bound = _at_once(problem, control, best)
    if best.mapping is None:
        return Solution(
            schedule=None, infeasible=NO_PLAN if complete else None, stopped=not complete
        )
    return solution_of(problem, best.mapping, bound=bound, optimal=complete, stopped=not complete)


def _at_once(problem: Pipeline, control: Control, best: Best) -> tuple[bool, float]:
    """Search all that is better than the best mapping known; return whether to the end, a bound."""
    aim = Aim.of(problem)
    if best.mapping is not None:
        aim = replace(aim, better_than=best.rank[1] * STRICTLY)
    costs = Costs.of(problem, aim.longest)
    visited = visiting(problem, costs, control)
    if visited is not None and visited.complete:
        for mapping in visited.mappings:
            best.offer(mapping)
        return True, best.rank[1]
    rest = behind(problem, costs, aim, control)
    control.report(None if best.mapping is None else best.rank[1], rest.bound)
    if rest.bound >= aim.better_than:
        return True, best.rank[1]
    if best.mapping is not None and rest.bound < best.rank[1] * NEARLY:
        some = replace(aim, better_than=best.rank[1] * NEARLY)
        with control.sharing(0.8):
            found = searched(problem, costs, some, rest, control)
        for mapping in found.mappings:
            best.offer(mapping)
        if found.complete and not found.mappings:
            rest = replace(rest, bound=some.better_than)
        aim = replace(aim, better_than=best.rank[1] * STRICTLY)
    found = searched(problem, costs, aim, rest, control)
    for mapping in found.mappings:
        best.offer(mapping)
    return found.complete, rest.bound


def _bisected(problem: Pipeline, control: Control, best: Best) -> tuple[bool, float]:
    """Ask for mappings of shorter and shorter periods; return whether to the end, and a bound.

    The value of the best mapping comes first: where nothing undercuts it, that ends the search.
    """
    low = max(bound.value for bound in period_bounds(problem))
    limit = np.inf if problem.period_limit is None else problem.period_limit * (1 + 1e-12)
    if best.mapping is not None:
        low = _relaxed(problem, control, best, low)
    most = best.rank[1] * STRICTLY if best.mapping is not None else min(limit, 1e299)
    while True:
        if best.mapping is not None and best.rank[1] * STRICTLY <= low:
            return True, best.rank[1]
        if control.expired():
            return False, low
        found = _within(problem, control, most)
        if found is None:
            return False, low
        mapping, complete = found
        control.step(f"{most:.6g} s: {_said(mapping)}")
        if mapping is not None:
            best.offer(mapping)
        elif complete:
            low = max(low, most)
            if best.mapping is None or most >= best.rank[1] * STRICTLY:
                return True, best.rank[1]
        if best.mapping is None:
            return False, low
        control.report(best.rank[1], low)
        high = best.rank[1] * STRICTLY
        most = high if high <= low * (1 + CLOSE) else (low + high) / 2


def _relaxed(problem: Pipeline, control: Control, best: Best, low: float) -> float:
    """Return the least period of mappings whose transfers take no time, or a bound on it."""
    high = best.rank[1]
    while high > low * (1 + CLOSE) and not control.expired():
        most = (low + high) / 2
        covered = covering(problem, _computing(problem, most), control)
        if covered is None or not (covered.mappings or covered.complete):
            break
        first = covered.mappings[0] if covered.mappings else None
        control.step(f"{most:.6g} s, if transfers take no time: {_said(first)}")
        if first is None:
            low = most
        else:
            high = most
            best.offer(first)
    return low


def _said(mapping: Mapping | None) -> str:
    """Return what a step of the bisection found."""
    return "no mapping" if mapping is None else f"{len(mapping.groups)} intervals"


def _within(problem: Pipeline, control: Control, most: float) -> tuple[Mapping | None, bool] | None:
    """Return a mapping of a period of at most ``most``, or that there is none; None: stopped."""
    covered = covering(problem, _computing(problem, most), control)
    if covered is not None:
        if not covered.mappings:  # not even without transfers
            return (None, True) if covered.complete else None
        if values_of(problem, covered.mappings[0]).period <= most * (1 + 1e-12):
            return covered.mappings[0], True
    costs = Costs.of(problem, most)
    aim = Aim((0.0, 0.0, 0.0), (most, np.inf, np.inf), 1.0)
    rest = behind(problem, costs, aim, control)
    if rest.bound == np.inf:
        return None, True
    found = searched(problem, costs, aim, rest, control)
    if not found.mappings and not found.complete:
        return None
    return (found.mappings or [None])[0], found.complete  # type: ignore[list-item]


def _computing(problem: Pipeline, most: float) -> Costs:
    """Return costs of intervals within a period, with one transfer where nothing overlaps."""
    several = len(problem.machines) > 1 and bool((problem.pace > most).all())
    if problem.overlap or not several:
        return Costs.of(problem, most)
    apart = np.where(np.eye(len(problem.machines), dtype=bool), np.inf, problem.per_unit)
    units = float(problem.moved[1:-1].min())
    return Costs.of(problem, most - units * np.minimum(apart.min(axis=0), apart.min(axis=1)))


def _front(problem: Pipeline, control: Control) -> Solution:
    """Return all pairs of period and latency that no mapping beats in both."""
    aim = Aim.of(problem)
    costs = Costs.of(problem, aim.longest)
    found = searched(problem, costs, aim, behind(problem, costs, aim, control), control)
    if not found.mappings:
        if found.complete:
            return Solution(schedule=None, infeasible=NO_PLAN)
        return solution_of(problem, known_mapping(problem, control), stopped=True)
    points = [(*values_of(problem, mapping)[:2], mapping) for mapping in found.mappings]
    points.sort(key=lambda point: point[:2])
    front = [points[0]]
    for point in points[1:]:
        if point[1] < front[-1][1] * (1 - 1e-12):
            if point[0] <= front[-1][0] * (1 + 1e-12):  # the same period, but for rounding
                front.pop()
            front.append(point)
    entries = [
        {"time": period, "latency": latency, "intervals": intervals(problem, mapping)}
        for period, latency, mapping in front
    ]
    unknown = [] if found.complete else [[front[0][0], None]]
    note = front_in_words([point[:2] for point in front], "latency", unknown)
    return solution_of(
        problem, front[0][2], optimal=found.complete, stopped=not found.complete,
        notes=(note,), details={"front": entries, "unknown": unknown},
    )  # fmt: skip


def intervals(problem: Pipeline, mapping: Mapping) -> list[list[object]]:
    """Return machines, first and last stage of each interval, by names."""
    names = problem.stages.names
    return [
        [[problem.machines[each] for each in group], names[first], names[last - 1]]
        for first, last, group in zip(
            mapping.edges, mapping.edges[1:], mapping.groups, strict=False
        )
    ]
