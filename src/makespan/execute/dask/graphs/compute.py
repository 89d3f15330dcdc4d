"""A Dask graph in, results out: as Dask places it, or as planned from what was seen before."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np

from makespan.core.errors import ExecutionError, InputError, MakespanError
from makespan.core.inputs.suggest import suggesting
from makespan.execute.dask.cluster.client import checked_client, client_or_local, on_loop
from makespan.execute.dask.cluster.crew import Crew, refuse_no_worker
from makespan.execute.dask.execution import Execution
from makespan.execute.dask.graphs.batch import Batch
from makespan.execute.dask.graphs.failures import raise_if_tasks_failed
from makespan.execute.dask.graphs.internals import missing
from makespan.execute.dask.graphs.learning.choice import Choice, choose
from makespan.execute.dask.graphs.learning.costs import problem_of
from makespan.execute.dask.graphs.learning.known import CLUSTERS, Cluster
from makespan.execute.dask.graphs.learning.structure import structure_of
from makespan.execute.dask.graphs.placement import Pins, pins_of, refuse_other_tasks
from makespan.execute.dask.graphs.plan import TIME_LIMIT, plan_graph
from makespan.execute.dask.graphs.runner import CantConduct, GraphRun
from makespan.execute.dask.graphs.work import Work, work_of
from makespan.execute.progress import Progress, Tell, teller
from makespan.flow.result import Result
from makespan.taskgraph.problem import TaskGraph

PEER_TO_PEER = "has a peer-to-peer shuffle or rechunk, which can't be planned"


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
    """Compute a Dask graph on a cluster: first as Dask places it, later as planned where that pays.

    The first run of a graph is Dask's own, and watched: what tasks took, how large results are, how
    long transfers lasted. Later runs of graphs of the same structure, on the same workers, are
    planned from that where the plan promises to be faster by a clear margin, and did not take
    longer when it was tried. The first of ``events`` says what was done and why.

    In a planned run each task is pinned to its worker, with a priority in the order of the plan.
    Where a task might overtake one that is planned before it, it is made to wait for it (a chain
    edge). Results leave a worker as soon as they are there, in the order of the plan.

    Parameters
    ----------
    collection, client, keys, keep_going, progress
        As everywhere in :mod:`makespan.execute.dask`.
    plan
        A plan of the graph: its tasks are named by the keys after Dask's optimisation, a tuple as
        ``name[0,1]``; its machines are workers. Or a problem, which is planned. Either is carried
        out whatever it promises. None: as above.
    time_limit
        Of the search for a plan, seconds; without a plan given at most 3 % of the time expected.

    Returns
    -------
    Execution
        The results in the shape of what came in, and the measured schedule, with the numbers of
        the plan's tasks and edges where there was one. Bringing results to the client is not part
        of it; ``seconds`` has it.

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
        if plan is None:
            execution = on_loop(own, lambda: _Job(own, work, tell).as_chosen(time_limit))
        else:
            if work.shuffled:
                raise InputError(f"collection: {PEER_TO_PEER}")
            pins, result = _pins(plan, time_limit, tell)
            refuse_other_tasks(pins, list(work.names.values()))
            execution = on_loop(own, lambda: _Job(own, work, tell).as_told(pins, result))
    if not keep_going:
        raise_if_tasks_failed(execution)
    return execution


@suggesting
def measure(
    collection: Any,
    client: Any,
    *,
    keys: Any = None,
    progress: Progress = True,
) -> TaskGraph:
    """Compute a graph as Dask places it, and return what was seen as a problem to plan.

    Parameters
    ----------
    collection, client, keys, progress
        As everywhere in :mod:`makespan.execute.dask`.

    Returns
    -------
    TaskGraph
        Tasks named by their keys, with seconds on each worker; sizes in bytes; a line from each
        worker to a switch, in bytes per second. ``network.task_setup`` is what passes between a
        task and the next that waits for it; durations hold it.

    Raises
    ------
    ExecutionError
        If there is no worker, a task fails, or a worker is lost meanwhile.
    """
    work = work_of(collection, keys)

    with teller(progress) as tell:
        return on_loop(checked_client(client), lambda: _Job(client, work, tell).as_problem())


def forget_graphs(client: Any) -> None:
    """Forget what was seen, and planned, of graphs on a client's cluster."""
    CLUSTERS.pop(client.scheduler.address, None)


def _pins(plan: Result | TaskGraph, time_limit: float, tell: Tell) -> tuple[Pins, Result]:
    if isinstance(plan, TaskGraph):
        plan = plan_graph(plan, time_limit=time_limit, progress=tell)
    if not isinstance(plan, Result):
        raise InputError(f"plan: {plan!r} is neither a Result nor a TaskGraph")
    return pins_of(plan), plan


class _Job:
    """A graph that is computed on a cluster."""

    def __init__(self, client: Any, work: Work, tell: Tell) -> None:
        self.client, self.work, self.tell = client, work, tell
        self.cluster = CLUSTERS.setdefault(client.scheduler.address, Cluster())
        self.run: GraphRun | None = None
        self.plan: Result | None = None
        self.why: tuple[str, ...] = ()
        self.begun, self.ended = time.perf_counter(), 0.0

    @asynccontextmanager
    async def _crew(self) -> AsyncIterator[Crew]:
        """Enter the workers; any error takes along what there is."""
        try:
            async with Crew(self.client, expels=True) as crew:
                refuse_no_worker(crew)
                yield crew
        except MakespanError as error:
            if self.run is not None:
                error.execution = self._execution()
            raise

    async def as_told(self, pins: Pins, plan: Result) -> Execution:
        """Carry out a plan that the caller gave."""
        keys = [self.work.key_of[name] for name in pins.problem.dag.names]
        async with self._crew() as crew:
            if not set(pins.machines) & set(crew.names):
                expected, there = ", ".join(pins.machines), ", ".join(crew.names)
                raise ExecutionError(f"plan: is for {expected}; those that are there: {there}")
            self.plan = plan
            self.run = GraphRun(crew, Batch(self.client, self.work), keys, pins, self.tell)
            return await self._carried_out()

    async def as_chosen(self, time_limit: float) -> Execution:
        """Compute it as seems best."""
        async with self._crew() as crew:
            self._recall(crew)
            choice = await self._choice(time_limit)
            if choice.plan is not None:
                try:
                    return await self._planned(crew, choice)
                except CantConduct as error:
                    choice = Choice(None, f"left to Dask: {error}")
            return await self._as_it_is(crew, choice.why)

    async def as_problem(self) -> TaskGraph:
        """Compute it as Dask places it, and return the problem that was seen."""
        async with self._crew() as crew:
            self._recall(crew)
            raise_if_tasks_failed(await self._as_it_is(crew))
            if len(self.known.took) < len(self.structure.keys):
                raise ExecutionError("a worker was lost, or results were on the cluster already")
            return problem_of(self.cluster, self.known, self.structure, self.members)

    def _recall(self, crew: Crew) -> None:
        self.members = tuple(crew.members.values())
        self.structure = structure_of(self.work)
        there = tuple((member.name, member.threads) for member in self.members)
        self.known = self.cluster.known(self.structure, there)

    async def _choice(self, time_limit: float) -> Choice:
        lacking = missing()
        if lacking:
            return Choice(None, f"left to Dask: this version of distributed has no {lacking[0]}")
        if self.work.shuffled:
            return Choice(None, f"left to Dask: it {PEER_TO_PEER}")
        return await asyncio.to_thread(
            choose, self.cluster, self.known, self.structure, self.members, time_limit, self.tell
        )

    async def _planned(self, crew: Crew, choice: Choice) -> Execution:
        """Carry out a plan whose tasks have the structure's numbers."""
        assert choice.plan is not None
        self.plan, self.why = choice.plan, (choice.why,)
        batch, pins = Batch(self.client, self.work), pins_of(choice.plan)
        self.run = GraphRun(crew, batch, self.structure.keys, pins, self.tell)
        return self._learnt(await self._carried_out())

    async def _as_it_is(self, crew: Crew, *why: str) -> Execution:
        """Let Dask place it, and watch."""
        self.plan, self.why = None, why
        batch = Batch(self.client, self.work, as_it_is=True)
        self.run = GraphRun(crew, batch, self.structure.keys, None, self.tell)
        return self._learnt(await self._carried_out())

    def _learnt(self, execution: Execution) -> Execution:
        assert self.run is not None
        if self.run.undisturbed and not execution.failures and len(execution.schedule):
            own, seen = self.plan is None, self.run.record
            self.cluster.learn(self.known, self.structure, seen.number, seen.found, own=own)
            runs = self.known.own if own else self.known.planned
            runs.add(execution.seconds, min(execution.seconds, execution.measured))
            self.known.seen += 1
        return execution

    async def _carried_out(self) -> Execution:
        assert self.run is not None
        try:
            await self.run.go()
            self.ended = time.perf_counter()
        finally:
            await self.run.close()
        return self._execution()

    def _execution(self) -> Execution:
        run, plan = self.run, self.plan
        assert run is not None
        if plan is None:
            sizes = np.zeros(len(self.structure.keys))
            for seen in run.record.found.values():
                for key, size in seen.sizes.items():
                    sizes[run.record.number[key]] = size
            dag = self.structure.dag(sizes=sizes)
            schedule = run.record.schedule(dag, [member.name for member in self.members])
        else:
            assert isinstance(plan.problem, TaskGraph)
            machines = tuple(plan.problem.machines)
            schedule = run.record.schedule(plan.problem.dag, machines, plan.schedule)
        return Execution(
            results=self.work.packed(run.results),
            schedule=schedule,
            plan=plan,
            failures=run.failures,
            events=(*self.why, *run.events),
            seconds=(self.ended or time.perf_counter()) - self.begun,
        )
