"""Whether a graph is planned, or left to Dask, and why."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median, median_low

import numpy as np

from makespan.execute.dask.graphs.forecast import Forecast
from makespan.execute.dask.graphs.learning.costs import durations, problem_of
from makespan.execute.dask.graphs.learning.known import Cluster, Known
from makespan.execute.dask.graphs.learning.structure import Structure
from makespan.execute.dask.graphs.plan import plan_graph, topological
from makespan.execute.dealing.engine import WorkerInfo
from makespan.flow.result import Result
from makespan.taskgraph.levels import colevels
from makespan.taskgraph.problem import TaskGraph

NOT_SEEN = "run by Dask and watched: it was not seen on these workers before"
ONCE_MORE = "run by Dask and watched: a first run may have to import and to compile"
COMPARED = "run by Dask and watched: to compare that with the plan"
MARGIN = 1.25  # times: a plan has to promise so much less than Dask's placement takes
TINY = 5e-3  # seconds: tasks that take less in the mean are as long as the scheduler's own work
FIRST_USE = 10.0  # seconds of a first run that may have been importing and compiling
SURE = 2.0  # times: a plan that takes so much less needs no run by Dask to compare it with
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
    members: Sequence[WorkerInfo],
    time_limit: float,
) -> None:
    """Decide whether to plan a graph: the plan, or None, and why, are noted in what is known.

    A plan is made after the second run that was seen, after the first where that was long, and
    anew, or the one that is kept improved, each time that twice as many were seen.
    """
    due, again = known.seen >= 2 * known.asked, known.compared
    known.compared = False
    if known.planned.whole:
        ours, own = median(known.planned.whole), median_low(known.own.whole)
        kept = _kept(known, ours, own)
        known.plan = known.plan if kept else None
        done = "planned" if known.plan else "left to Dask"
        known.why = f"{done}: planned, it took {ours:.3g} s, as Dask places it {own:.3g} s"
        if not kept:
            return
        unsure = ours * SURE >= own and not again
        known.compared = unsure and bool(known.plan) and (due or len(known.planned.whole) == 1)
    if due:
        known.asked = known.seen
        plan, why = _planned(cluster, known, structure, members, time_limit)
        if plan is not None or known.plan is None:
            known.plan, known.why = plan, why


def _kept(known: Known, ours: float, own: float) -> bool:
    """Say whether planned runs took less than Dask's own: clearly less, where more than promised.

    >>> known = Known(warm=True, promised=1.0)
    >>> known.planned.add(2.0, 2.0)
    >>> _kept(known, 2.0, 2.2), _kept(known, 2.0, 3.0)
    (False, True)
    """
    broken = median(known.planned.inner) > MARGIN * known.promised
    return ours * (MARGIN if broken else 1.0) < own - _doubt(known)


def _doubt(known: Known) -> float:
    """Return the seconds of Dask's own runs that may not come again."""
    return 0.0 if known.warm else FIRST_USE


def _planned(
    cluster: Cluster,
    known: Known,
    structure: Structure,
    members: Sequence[WorkerInfo],
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
    fastest, own = seconds.min(axis=1), median_low(known.own.inner)
    dag = structure.dag(fastest)
    critical = float(colevels(dag, dag.work, np.zeros(len(dag.source))).max())
    least = max(float(fastest.sum()) / threads, critical)
    beside = STARTING + SENDING * count
    if (least + beside) * MARGIN >= own:
        return None, f"left to Dask: its {own:.3g} s are near the {least:.3g} s of computing alone"
    if (least + beside) * MARGIN >= own - _doubt(known):
        return None, ONCE_MORE
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
    if promised * MARGIN >= own - _doubt(known):
        return None, ONCE_MORE if promised * MARGIN < own else f"left to Dask: {both}"
    known.promised = promised
    return plan, f"planned in {spent:.2g} s: {both}"


def _placed(
    known: Known, problem: TaskGraph, members: Sequence[WorkerInfo]
) -> tuple[list[int], list[int]]:
    """Return the order and the machines of Dask's own run."""
    place = {member.name: index for index, member in enumerate(members)}
    order = topological(problem, sorted(known.placed, key=lambda task: known.placed[task][0]))
    return order, [place[known.placed[task][1]] for task in range(len(order))]


def _as_dask_has_it(problem: TaskGraph, placed: tuple[list[int], list[int]]) -> float:
    """Predict what Dask's own placement takes."""
    return Forecast(problem).run(*placed, late=True)
