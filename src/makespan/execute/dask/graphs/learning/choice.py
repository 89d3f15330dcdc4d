"""Whether a graph is planned, or left to Dask, and why."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

import numpy as np

from makespan.execute.dask.cluster.crew import Member
from makespan.execute.dask.graphs.forecast import Forecast
from makespan.execute.dask.graphs.learning.costs import durations, problem_of
from makespan.execute.dask.graphs.learning.known import Cluster, Known
from makespan.execute.dask.graphs.learning.structure import Structure
from makespan.execute.dask.graphs.plan import plan_graph, topological
from makespan.flow.result import Result
from makespan.taskgraph.levels import colevels
from makespan.taskgraph.problem import TaskGraph

NOT_SEEN = "run by Dask and watched: it was not seen on these workers before"
MARGIN = 1.25  # times: a plan has to promise so much less than Dask's placement takes
TINY = 5e-3  # seconds: tasks that take less in the mean are as long as the scheduler's own work
PLANNING = 0.03  # of what Dask's placement takes: so long a plan may be searched for
PER_TASK = 5e-4  # seconds of planning that each task takes at least, and
ONCE = 0.2  # of what Dask's placement takes: so long that may be
STARTING = 0.05  # seconds, and
SENDING = 5e-4  # seconds for each task: what carrying out a plan costs beside it


def tiny(mean: float) -> str:
    """Say that tasks are too short, seconds in the mean."""
    why = f"its tasks take {1e3 * mean:.2g} ms, about as long as Dask's scheduler itself"
    return f"left to Dask: {why}"


def choose(
    cluster: Cluster,
    known: Known,
    structure: Structure,
    members: Sequence[Member],
    time_limit: float,
) -> None:
    """Decide whether to plan a graph: the plan, or None, and why, are noted in what is known.

    A plan is made after the first run that was seen, and anew, or the one that is kept improved,
    each time that twice as many were seen.
    """
    if known.planned.whole and not _was_faster(cluster, known, structure, members):
        known.plan = None
    elif known.seen >= 2 * known.asked:
        known.asked = known.seen
        plan, why = _planned(cluster, known, structure, members, time_limit)
        if plan is not None or not known.planned.whole:
            known.plan, known.why = plan, why


def _was_faster(
    cluster: Cluster, known: Known, structure: Structure, members: Sequence[Member]
) -> bool:
    """Say whether planned runs took less than Dask's own, and note it."""
    ours, own = median(known.planned.whole), median(known.own.whole)
    if len(known.own.whole) == 1:  # it may have had to import and to compile first
        problem = problem_of(cluster, known, structure, members)
        around = own - known.own.inner[-1]
        own = min(own, around + _as_dask_has_it(problem, _placed(known, problem, members)))
    done = "planned" if ours < own else "left to Dask"
    known.why = f"{done}: planned, it took {ours:.3g} s, as Dask places it {own:.3g} s"
    return ours < own


def _planned(
    cluster: Cluster,
    known: Known,
    structure: Structure,
    members: Sequence[Member],
    time_limit: float,
) -> tuple[Result | None, str]:
    count = len(structure.keys)
    unseen = count - len(known.placed)
    if unseen:
        return None, f"left to Dask: {unseen} of its {count} tasks were not seen when it ran"
    threads = sum(member.threads for member in members)
    if len(members) < 2:
        return None, "left to Dask: there is one worker, and nothing to place"
    seconds = durations(known, structure, [member.name for member in members])
    mean = known.busy / count
    if mean < TINY:
        return None, tiny(mean)
    fastest, own = seconds.min(axis=1), median(known.own.inner)
    dag = structure.dag(fastest)
    critical = float(colevels(dag, dag.work, np.zeros(len(dag.source))).max())
    least = max(float(fastest.sum()) / threads, critical)
    beside = STARTING + SENDING * count
    if (least + beside) * MARGIN >= own:
        return None, f"left to Dask: its {own:.3g} s are near the {least:.3g} s of computing alone"
    budget = min(time_limit, PLANNING * own)
    if PER_TASK * count > ONCE * own:
        return None, f"left to Dask: to plan {count} tasks takes too long for {own:.3g} s"
    problem = problem_of(cluster, known, structure, members)
    placed = _placed(known, problem, members)
    own = min(own, _as_dask_has_it(problem, placed))
    begun = time.perf_counter()
    plan = plan_graph(problem, time_limit=budget, start=placed, progress=False)
    spent = time.perf_counter() - begun
    promised = (plan.makespan or 0.0) + beside
    both = f"planned, it takes {promised:.3g} s, as Dask places it {own:.3g} s"
    if promised * MARGIN >= own:
        return None, f"left to Dask: {both}"
    return plan, f"planned in {spent:.2g} s: {both}"


def _placed(
    known: Known, problem: TaskGraph, members: Sequence[Member]
) -> tuple[list[int], list[int]]:
    """Return the order and the machines of Dask's own run."""
    place = {member.name: index for index, member in enumerate(members)}
    order = topological(problem, sorted(known.placed, key=lambda task: known.placed[task][0]))
    return order, [place[known.placed[task][1]] for task in range(len(order))]


def _as_dask_has_it(problem: TaskGraph, placed: tuple[list[int], list[int]]) -> float:
    """Predict what Dask's own placement takes."""
    return Forecast(problem).run(*placed, late=True)
