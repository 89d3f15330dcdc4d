"""Whether a graph is planned, or left to Dask, and why."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median, median_low

import numpy as np

from makespan.core.costs import Affine
from makespan.core.numeric.arrays import Floats
from makespan.execute.dask.cluster.fit import fit
from makespan.execute.dask.graphs.forecast import Forecast
from makespan.execute.dask.graphs.history import ClusterHistory, GraphHistory
from makespan.execute.dask.graphs.plan import plan_graph, topological
from makespan.execute.dask.graphs.work import Structure
from makespan.execute.dealing.engine import WorkerInfo
from makespan.flow.result import Result
from makespan.taskgraph.levels import colevels
from makespan.taskgraph.model.network import Network
from makespan.taskgraph.problem import TaskGraph

SWITCH = "switch"
HANDING = 3e-3  # seconds between tasks that wait for one another, where none were seen
BANDWIDTH = 1e8  # bytes per second, where nothing was sent: what Dask assumes
MIN_SECONDS = 2e-3  # what takes less tells nothing about speeds
MIN_SEEN = 3  # tasks of a kind on a worker, from which their own ratio is believed
ALIKE = 0.1  # of the logarithm of a ratio: nearer to 1, workers count as equally fast
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


def problem_of(
    cluster: ClusterHistory,
    known: GraphHistory,
    structure: Structure,
    members: Sequence[WorkerInfo],
) -> TaskGraph:
    """Return the problem: seconds on each worker, bytes, and a line from each to a switch.

    What a worker sends shares its line. A task that was seen on one worker takes on others what
    tasks of its kind took there beside it; of a kind that they have not computed, what all kinds
    took. Of several runs the median counts.
    """
    setup = cluster.handing
    setup = HANDING if setup is None else setup
    seconds = durations(known, structure, [member.name for member in members]) + setup
    sizes = np.zeros(len(structure.keys))
    for task, size in known.size.items():
        sizes[task] = size
    return TaskGraph(
        structure.dag(seconds, sizes), _network(cluster, members, setup), contention="links"
    )


def durations(known: GraphHistory, structure: Structure, names: Sequence[str]) -> Floats:
    """Return the seconds of each task on each worker; of what was never seen 0."""
    kinds: dict[str, list[tuple[str, float]]] = {}
    for task, times in known.took.items():
        kinds.setdefault(structure.kinds[task], []).extend(
            (worker, float(np.log(seconds))) for worker, seconds in times if seconds > MIN_SECONDS
        )
    usual: dict[str, list[float]] = {}
    of_kind: dict[tuple[str, str], list[float]] = {}
    for kind, seen in kinds.items():
        by_worker: dict[str, list[float]] = {}
        for worker, value in seen:
            by_worker.setdefault(worker, []).append(value)
        if len(by_worker) < 2:
            continue
        middle = float(np.mean([median(values) for values in by_worker.values()]))
        for worker, values in by_worker.items():
            of_kind[kind, worker] = [value - middle for value in values]
            usual.setdefault(worker, []).extend(of_kind[kind, worker])
    general = {worker: median(values) for worker, values in usual.items()}

    def ratio(kind: str, worker: str) -> float:
        own = of_kind.get((kind, worker), ())
        found = median(own) if len(own) >= MIN_SEEN else general.get(worker, 0.0)
        return float(np.exp(found)) if abs(found) > ALIKE else 1.0

    table = np.zeros((len(structure.keys), len(names)))
    ratios = {kind: np.array([ratio(kind, n) for n in names]) for kind in set(structure.kinds)}
    for task, times in known.took.items():
        kind = structure.kinds[task]
        base = median(seconds / ratio(kind, worker) for worker, seconds in times)
        table[task] = max(0.0, base) * ratios[kind]
    return table


def line_of(cluster: ClusterHistory, name: str) -> Affine | None:
    """Return what sending bytes costs a worker; None where it has sent nothing worth measuring."""
    periods = [period for period in cluster.sent.get(name, ()) if period[1] > 0.0]
    if not periods:
        return None
    found = fit(*zip(*periods, strict=True)).cost
    if found.per_unit > 0.0:
        return found
    return Affine(0.0, sum(p[1] for p in periods) / max(1.0, sum(p[0] for p in periods)))


def _network(cluster: ClusterHistory, members: Sequence[WorkerInfo], setup: float) -> Network:
    names = [member.name for member in members]
    lines = [line_of(cluster, name) for name in names]
    seen = [line for line in lines if line is not None]
    usual = Affine(0.0, 1.0 / BANDWIDTH)
    if seen:
        usual = Affine(median(x.fixed for x in seen), median(x.per_unit for x in seen))
    costs = [usual if line is None else line for line in lines]
    links = []
    for name, cost in zip(names, costs, strict=True):
        links += [(name, SWITCH, 1.0 / cost.per_unit), (SWITCH, name, float("inf"))]
    return Network(
        np.ones(len(names)),
        names=names,
        cores=[member.threads for member in members],
        task_setup=setup,
        message_setup=[cost.fixed for cost in costs],
        topology="links",
        routers=[SWITCH],
        one_way_links=links,
    )


def tiny(mean: float) -> str:
    """Say that tasks are too short, seconds in the mean."""
    why = f"its tasks take {1e3 * mean:.2g} ms, about as long as Dask's scheduler itself"
    return f"left to Dask: {why}"


def choose(
    cluster: ClusterHistory,
    known: GraphHistory,
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


def _kept(known: GraphHistory, ours: float, own: float) -> bool:
    """Say whether planned runs took less than Dask's own: clearly less, where more than promised.

    >>> known = GraphHistory(warm=True, promised=1.0)
    >>> known.planned.add(2.0, 2.0)
    >>> _kept(known, 2.0, 2.2), _kept(known, 2.0, 3.0)
    (False, True)
    """
    broken = median(known.planned.inner) > MARGIN * known.promised
    return ours * (MARGIN if broken else 1.0) < own - _doubt(known)


def _doubt(known: GraphHistory) -> float:
    """Return the seconds of Dask's own runs that may not come again."""
    return 0.0 if known.warm else FIRST_USE


def _planned(
    cluster: ClusterHistory,
    known: GraphHistory,
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
        said = f"its run took {own:.3g} s, computing alone takes {least:.3g} s"
        return None, f"left to Dask: {said}, so a plan could save little"
    if (least + beside) * MARGIN >= own - _doubt(known):
        return None, ONCE_MORE
    budget = min(time_limit, PLANNING * own)
    if PER_TASK * count > ONCE * own:
        return None, f"left to Dask: to plan {count} tasks takes too long for {own:.3g} s"
    problem = problem_of(cluster, known, structure, members)
    placed = _placed(known, problem, members)
    # what Dask's own placement takes
    own = min(own, Forecast(problem).run(*placed, late=True))
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
    known: GraphHistory, problem: TaskGraph, members: Sequence[WorkerInfo]
) -> tuple[list[int], list[int]]:
    """Return the order and the machines of Dask's own run."""
    place = {member.name: index for index, member in enumerate(members)}
    order = topological(problem, sorted(known.placed, key=lambda task: known.placed[task][0]))
    return order, [place[known.placed[task][1]] for task in range(len(order))]
