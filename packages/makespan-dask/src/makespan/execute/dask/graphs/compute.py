"""A Dask graph in, results out: as Dask places it, or as planned from what was seen before."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import wait
from contextlib import asynccontextmanager
from typing import Any, cast

from makespan.core.errors import ExecutionError, InputError, MakespanError
from makespan.core.inputs.suggest import suggesting
from makespan.core.schedule import Schedule
from makespan.execute.dask.cluster.client import Client, checked_client, client_or_local, on_loop
from makespan.execute.dask.cluster.workers import WorkerPool, as_dask_waits
from makespan.execute.dask.graphs.batch import Batch, missing, raise_if_tasks_failed
from makespan.execute.dask.graphs.choice import COMPARED, NOT_SEEN, TINY, choose, problem_of, tiny
from makespan.execute.dask.graphs.history import Alike, GraphHistory, history_of
from makespan.execute.dask.graphs.placement import Pins, pins_of, refuse_other_tasks
from makespan.execute.dask.graphs.plan import TIME_LIMIT, plan_graph
from makespan.execute.dask.graphs.runner import CantConduct, GraphRun
from makespan.execute.dask.graphs.watch import Watch, WatchedExecution, begin_watching
from makespan.execute.dask.graphs.work import Structure, Work, structure_of, work_of
from makespan.execute.dealing.engine import WorkerInfo
from makespan.execute.execution import Execution
from makespan.execute.progress import Progress, Tell, teller
from makespan.flow.result import Result
from makespan.taskgraph.problem import TaskGraph

LOST = "a worker was lost, or results were on the cluster already"
LONGEST_LEARNING = 10.0  # seconds that a call waits for what the last one teaches
MANY = 1000  # tasks, from which on tiny ones are recognised without working them out
log = logging.getLogger("makespan")

PEER_TO_PEER = "has a peer-to-peer shuffle or rechunk, which can't be planned"


@suggesting
def compute(
    collection: Any,
    client: Client | None = None,
    *,
    plan: Result | TaskGraph | None = None,
    keys: Any = None,
    optimize_graph: bool = True,
    time_limit: float = TIME_LIMIT,
    keep_going: bool = False,
    progress: Progress = True,
) -> Execution:
    """Compute a Dask graph on a cluster: first as Dask places it, later as planned where that pays.

    The first two runs of a graph are Dask's own, and watched: what tasks took, how large results
    are, how long transfers lasted. Later runs of graphs of the same structure, on the same workers,
    are planned from that where the plan promises to be faster by a clear margin, and kept that
    promise when it was tried. What the first run took counts only until there is a second, as it
    may have to import and to compile; a first run that was long enough is planned from at once. The
    first of ``events`` says what was done and why.

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
    optimize_graph
        Whether Dask optimises collections first, as in ``dask.compute``.
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
    begun = time.perf_counter()
    work = work_of(collection, keys, optimize_graph=optimize_graph)
    with client_or_local(client) as own, teller(progress) as tell:
        job = _Job(own, work, tell, begun)
        if plan is None:
            execution = job.as_chosen(time_limit)
        else:
            if work.shuffled:
                raise InputError(f"collection: {PEER_TO_PEER}")
            pins, result = _pins(plan, time_limit, tell)
            refuse_other_tasks(pins, list(work.names.values()))
            execution = on_loop(own, lambda: job.as_told(pins, result))
        if client is None:
            execution.schedule  # noqa: B018 - brought while there is a cluster
    if not keep_going:
        raise_if_tasks_failed(execution)
    return execution


@suggesting
def measure(
    collection: Any,
    client: Client,
    *,
    keys: Any = None,
    optimize_graph: bool = True,
    progress: Progress = True,
) -> TaskGraph:
    """Compute a graph as Dask places it, and return what was seen as a problem to plan.

    Parameters
    ----------
    collection, client, keys, progress
        As everywhere in :mod:`makespan.execute.dask`.
    optimize_graph
        As in :func:`compute`.

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

    >>> from dask import delayed
    >>> from makespan.execute import dask
    >>> total = delayed(sum)([delayed(pow)(base, 2) for base in range(3)])
    >>> problem = dask.measure(total, client)  # doctest: +SKIP
    >>> len(problem.dag), problem.durations.shape  # doctest: +SKIP
    (4, (4, 3))
    """
    work = work_of(collection, keys, optimize_graph=optimize_graph)
    with teller(progress) as tell:
        return _Job(checked_client(client), work, tell, time.perf_counter()).as_problem()


def _pins(plan: Result | TaskGraph, time_limit: float, tell: Tell) -> tuple[Pins, Result]:
    if isinstance(plan, TaskGraph):
        plan = plan_graph(plan, time_limit=time_limit, progress=tell)
    if not isinstance(plan, Result):
        raise InputError(f"plan: {plan!r} is neither a Result nor a TaskGraph")
    return pins_of(plan), plan


class _Job:
    """A graph that is computed on a cluster."""

    def __init__(self, client: Any, work: Work, tell: Tell, begun: float) -> None:
        self.client, self.work, self.tell = client, work, tell
        self.cluster = history_of(client)
        self.run: GraphRun | None = None
        self.watch: Watch | None = None
        self.plan: Result | None = None
        self.why: tuple[str, ...] = ()
        self.begun, self.ended = begun, 0.0

    def as_chosen(self, time_limit: float) -> Execution:
        """Compute it as seems best."""
        alike = self.cluster.alike(self.work.likeness())
        self._settle(alike)
        known = alike.known
        why = NOT_SEEN if known is None else known.why
        if lacking := missing():
            why = f"left to Dask: this version of distributed has no {lacking[0]}"
        elif known is not None and known.compared:
            why = COMPARED
        elif known is not None and known.plan is not None:
            found = on_loop(self.client, lambda: self._as_planned(alike, time_limit))
            if isinstance(found, Execution):
                return found
            why = found
        execution = self._as_it_is(why)
        if self._teaches(execution):
            if known is None or known.due:
                self.work.prepare_for_threads()
                self._in_background(alike, lambda: self._learn(alike, execution, time_limit))
            else:
                known.seen += 1
        return execution

    async def as_told(self, pins: Pins, plan: Result) -> Execution:
        """Carry out a plan that the caller gave."""
        keys = [self.work.key_of[name] for name in pins.problem.dag.names]
        async with self._pool() as pool:
            if not set(pins.machines) & set(pool.names):
                expected, there = ", ".join(pins.machines), ", ".join(pool.names)
                raise ExecutionError(f"plan: is for {expected}; those that are there: {there}")
            self.plan = plan
            batch = Batch(self.client, self.work)
            return await self._carried_out(GraphRun(pool, batch, self.tell, keys, pins))

    def as_problem(self) -> TaskGraph:
        """Compute it as Dask places it, and return the problem that was seen."""
        execution = self._as_it_is(at_once=True)
        raise_if_tasks_failed(execution)
        known, structure, members = on_loop(self.client, lambda: self._seen(execution))
        if len(known.took) < len(structure.keys):
            raise ExecutionError(LOST)
        return problem_of(self.cluster, known, structure, members)

    async def _as_planned(self, alike: Alike, time_limit: float) -> Execution | str:
        """Carry out what was planned for the graph; or say why not."""
        async with self._pool() as pool:
            members = tuple(pool.members.values())
            structure = structure_of(self.work)
            known = self.cluster.known(structure, members)
            if known.plan is None:
                return known.why or NOT_SEEN
            self.plan, self.why = known.plan, (known.why,)
            batch, pins = Batch(self.client, self.work), pins_of(known.plan)
            run = GraphRun(pool, batch, self.tell, structure.keys, pins)
            try:
                execution = await self._carried_out(run)
            except CantConduct as error:
                return f"left to Dask: {error}"
        alike.known = known
        if self._teaches(execution) and len(execution.schedule):
            self.cluster.learn(known, structure, run.record.number, run.record.found, own=False)
            known.planned.add(execution.seconds, min(execution.seconds, execution.measured))
            known.seen += 1
            self._in_background(alike, lambda: self._choose(known, structure, members, time_limit))
        return execution

    def _as_it_is(self, *why: str, at_once: bool = False) -> Execution:
        """Let Dask do it, as it does without us."""
        self.plan, self.why = None, why
        if not self.cluster.watching:
            on_loop(self.client, lambda: begin_watching(self.client))
            self.cluster.watching = True
        batch = Batch(self.client, self.work, as_it_is=True)
        self.watch = Watch(batch)
        batch.hand_over()
        return on_loop(self.client, lambda: self._waited(batch, at_once))

    async def _waited(self, batch: Batch, at_once: bool) -> Execution:
        async with self._pool(at_once=at_once) as pool:
            return await self._carried_out(GraphRun(pool, batch, self.tell))

    def _teaches(self, execution: Execution) -> bool:
        return self.run is not None and self.run.undisturbed and not execution.failures

    def _in_background(self, alike: Alike, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        async def done() -> None:
            try:
                await work()
            except (MakespanError, OSError, TimeoutError) as error:
                log.info("nothing was learnt from a run: %s", error)

        alike.pending = asyncio.run_coroutine_threadsafe(done(), self.client.loop.asyncio_loop)

    def _settle(self, alike: Alike) -> None:
        """Wait until all is known that the last run of such a graph has taught."""
        if alike.pending is not None:
            wait([alike.pending], timeout=LONGEST_LEARNING)
            alike.pending = None

    async def _learn(self, alike: Alike, execution: Execution, time_limit: float) -> None:
        """Look at what Dask did, and decide how to go on."""
        assert self.watch is not None
        noted = await self.watch.noted()
        if len(noted.stream) >= MANY and noted.mean < TINY:  # they need not be worked out
            known = alike.known or GraphHistory()
            known.seen, known.why, known.plan = known.seen + 1, tiny(noted.mean), None
            known.asked = known.seen
        else:
            known, structure, members = await self._seen(execution)
            await self._choose(known, structure, members, time_limit)
        alike.known = known

    async def _seen(
        self, execution: Execution
    ) -> tuple[GraphHistory, Structure, tuple[WorkerInfo, ...]]:
        """Add what was seen of a run as Dask has it to what is known; return that."""
        watch = self.watch
        assert watch is not None
        noted = await watch.noted()
        record = await asyncio.to_thread(watch.record, noted)
        by = {entry["worker"] for entry in noted.stream if entry["key"] in record.number}
        if not (self.run and self.run.undisturbed) or not by <= record.names.keys():
            raise ExecutionError(LOST)
        known = self.cluster.known(watch.structure, noted.members)
        self.cluster.learn(known, watch.structure, record.number, record.found, own=True)
        times = [time for seen in record.found.values() for time in seen.computed.values()]
        inner = max((end for _, end in times), default=0.0) - min(
            (t for t, _ in times), default=0.0
        )
        known.add_own(execution.seconds, min(execution.seconds, inner))
        known.seen += 1
        return known, watch.structure, noted.members

    async def _choose(
        self,
        known: GraphHistory,
        structure: Structure,
        members: tuple[WorkerInfo, ...],
        time_limit: float,
    ) -> None:
        if self.work.shuffled:
            known.plan, known.why = None, f"left to Dask: it {PEER_TO_PEER}"
            known.asked = known.seen
            return
        await asyncio.to_thread(choose, self.cluster, known, structure, members, time_limit)

    @asynccontextmanager
    async def _pool(self, *, at_once: bool = True) -> AsyncIterator[WorkerPool]:
        """Enter the workers; any error takes along what there is."""
        try:
            pool = WorkerPool(self.client, expels=True, at_once=at_once, patience=as_dask_waits())
            async with pool:
                if at_once:
                    await pool.wait_for_one()
                yield pool
        except MakespanError as error:
            if self.run is not None:
                error.execution = self._execution()
            raise

    async def _carried_out(self, run: GraphRun) -> Execution:
        self.run = run
        try:
            await run.go()
            self.ended = time.perf_counter()
        finally:
            if self.watch is not None:
                self.watch.ended = time.monotonic()
            await run.close()
        return self._execution()

    def _execution(self) -> Execution:
        run, plan = self.run, self.plan
        assert run is not None
        wanted = run.batch.wanted
        results = self.work.packed(run.results or [None] * len(wanted)) if wanted else None
        kind = Execution
        if plan is None:  # brought when somebody looks at it
            assert self.watch is not None
            kind, schedule = WatchedExecution, cast("Schedule", self.watch.schedule)
        else:
            assert isinstance(plan.problem, TaskGraph)
            machines = tuple(plan.problem.machines)
            schedule = run.record.schedule(plan.problem.dag, machines, plan.schedule)
        return kind(
            results=results,
            schedule=schedule,
            plan=plan,
            failures=run.failures,
            events=(*self.why, *run.events),
            seconds=(self.ended or time.perf_counter()) - self.begun,
        )
