"""A Dask graph in, results out: as planned, and measured."""

from __future__ import annotations

import time
from typing import Any
from weakref import WeakKeyDictionary

from makespan.core.errors import ExecutionError, InputError, MakespanError
from makespan.core.inputs.suggest import suggesting
from makespan.execute.dask.cluster.client import client_or_local, on_loop
from makespan.execute.dask.cluster.crew import Crew, present, refuse_no_worker
from makespan.execute.dask.execution import Execution
from makespan.execute.dask.graphs.batch import Batch
from makespan.execute.dask.graphs.failures import raise_if_tasks_failed
from makespan.execute.dask.graphs.measure import forget_wires, measure_work
from makespan.execute.dask.graphs.placement import Pins, pins_of, refuse_other_tasks
from makespan.execute.dask.graphs.plan import TIME_LIMIT, plan_graph
from makespan.execute.dask.graphs.runner import GraphRun
from makespan.execute.dask.graphs.work import Work, work_of
from makespan.execute.progress import Progress, Tell, teller
from makespan.flow.result import Result
from makespan.taskgraph.problem import TaskGraph

_PLANS: WeakKeyDictionary[Any, dict[Any, Result]] = WeakKeyDictionary()


@suggesting
def compute(
    collection: Any,
    client: Any = None,
    *,
    plan: Result | TaskGraph | None = None,
    keys: Any = None,
    time_limit: float = TIME_LIMIT,
    keep_going: bool = False,
    progress: Progress = True,
) -> Execution:
    """Compute a Dask graph on a cluster as planned.

    Each task is pinned to its worker, with a priority in the order of the plan. Where a task
    might overtake one that is planned before it, it is made to wait for it (a chain edge). Results
    leave a worker as soon as they are there, in the order of the plan.

    Parameters
    ----------
    collection, client, keys, keep_going, progress
        As everywhere in :mod:`makespan.execute.dask`.
    plan
        A plan of the graph: its tasks are named by the keys after Dask's optimisation, a tuple as
        ``name[0,1]``; its machines are workers. Or a problem, which is planned. None: the graph
        is measured and planned, once per client, workers and keys.
    time_limit
        Of the search for a plan, seconds.

    Returns
    -------
    Execution
        The results in the shape of what came in, and the measured schedule with the numbers of
        the plan's tasks and edges. Bringing results to the client is not part of it; ``seconds``
        has it.

    Raises
    ------
    TasksFailed
        If tasks raised; the other results are in its ``execution``.
    ExecutionError
        If there is no worker, none of the plan's is there, none is left, the scheduler is lost, the
        client is closed or tasks are cancelled meanwhile; ``execution`` has what there is.
    InputError
        If the plan does not fit the graph, or something can't be pickled.

    >>> from dask import delayed
    >>> from makespan.execute import dask
    >>> total = delayed(sum)([delayed(pow)(base, 2) for base in range(3)])
    >>> dask.compute(total, client).results     # doctest: +SKIP
    5
    """
    work = work_of(collection, keys)
    with client_or_local(client) as own, teller(progress) as tell:
        pins, result = _pins(work, own, plan, time_limit, tell)
        refuse_other_tasks(pins, list(work.names.values()))
        execution = on_loop(own, lambda: _carry_out(own, work, pins, result, tell))
    if not keep_going:
        raise_if_tasks_failed(execution)
    return execution


def forget_graphs(client: Any) -> None:
    """Forget what was measured, and planned, for graphs on a client's cluster."""
    forget_wires(client)
    _PLANS.pop(client, None)


def _pins(
    work: Work, client: Any, plan: Result | TaskGraph | None, time_limit: float, tell: Tell
) -> tuple[Pins, Result]:
    if plan is None:
        plan = _known_plan(work, client, time_limit, tell)
    elif isinstance(plan, TaskGraph):
        plan = plan_graph(plan, time_limit=time_limit, progress=tell)
    if not isinstance(plan, Result):
        raise InputError(f"plan: {plan!r} is neither a Result nor a TaskGraph")
    return pins_of(plan), plan


def _known_plan(work: Work, client: Any, time_limit: float, tell: Tell) -> Result:
    """Return the plan for these tasks on these workers, measured and made if need be."""
    known = _PLANS.setdefault(client, {})
    there = on_loop(client, lambda: present(client))
    key = (tuple(work.names.values()), tuple(sorted(there)))
    if key not in known:
        problem = measure_work(work, client, tell)
        known[key] = plan_graph(problem, time_limit=time_limit, progress=tell)
    return known[key]


async def _carry_out(client: Any, work: Work, pins: Pins, plan: Result, tell: Tell) -> Execution:
    run, started, ended = None, time.perf_counter(), None

    def execution(run: GraphRun) -> Execution:
        return Execution(
            results=work.packed(run.results),
            schedule=run.record.schedule(plan),
            plan=plan,
            failures=run.failures,
            events=tuple(run.events),
            seconds=(ended or time.perf_counter()) - started,
        )

    try:
        async with Crew(client, expels=True) as crew:
            refuse_no_worker(crew)
            if not set(pins.machines) & set(crew.names):
                expected, there = ", ".join(pins.machines), ", ".join(crew.names)
                raise ExecutionError(f"plan: is for {expected}; those that are there: {there}")
            run = GraphRun(crew, Batch(client, work), pins, tell)
            try:
                await run.go()
                ended = time.perf_counter()
            finally:
                await run.close()
    except MakespanError as error:
        if run is not None:
            error.execution = execution(run)
        raise
    return execution(run)
