"""Measure a graph on a cluster: what its tasks take, how large results are, what wires cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from makespan.core.inputs.suggest import suggesting
from makespan.execute.dask.cluster.client import checked_client, on_loop
from makespan.execute.dask.cluster.crew import Crew, Member, WorkerLost, measure_whole
from makespan.execute.dask.graphs import steps
from makespan.execute.dask.graphs.batch import Batch
from makespan.execute.dask.graphs.failures import raise_failed
from makespan.execute.dask.graphs.links import Probe, Wires
from makespan.execute.dask.graphs.steps import Taken
from makespan.execute.dask.graphs.work import Work, work_of
from makespan.execute.progress import Progress, Tell, teller
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.problem import TaskGraph

Members = tuple[Member, ...]  # those that are measured; others may join meanwhile

MAX_KINDS = 8  # of tasks that are tried on every worker: those that take longest in all
MIN_SECONDS = 2e-3  # what takes less tells nothing about speeds

_WIRES: WeakKeyDictionary[Any, dict[Any, Wires]] = WeakKeyDictionary()


@suggesting
def measure(
    collection: Any,
    client: Any,
    *,
    keys: Any = None,
    progress: Progress = True,
) -> TaskGraph:
    """Measure what a graph costs on a cluster, as a problem to plan.

    The graph is computed once, placed by Dask, with a clock around each task; one task of each
    kind (tasks of one name) is then computed on every other worker. Transfers between workers are
    measured pair by pair, as Dask does them, and two from one worker, and to one, together. The
    network is measured once per client and crew. When a worker is lost meanwhile, the others are
    measured anew.

    Parameters
    ----------
    collection, client, keys, progress
        As everywhere in :mod:`makespan.execute.dask`.

    Returns
    -------
    TaskGraph
        Tasks named by their keys, with seconds on each worker; sizes in bytes as sent; rates in
        bytes per second; the contention that was found. ``network.task_setup`` is what passes
        between a task and the next that waits for it; durations hold it.

    Raises
    ------
    ExecutionError
        If there is no worker, a task fails, or workers are lost again and again.
    """
    with teller(progress) as tell:
        return measure_work(work_of(collection, keys), checked_client(client), tell)


def measure_work(work: Work, client: Any, tell: Tell) -> TaskGraph:
    """Measure tasks, as :func:`measure` does those of a collection."""

    async def once(crew: Crew) -> TaskGraph:
        members = tuple(crew.members.values())
        return await crew.while_there(members, _measured(crew, members, work, tell))

    async def found() -> TaskGraph:
        async with Crew(client, expels=True) as crew:
            return await measure_whole(crew, lambda: once(crew), tell)

    return on_loop(client, found)


async def _measured(crew: Crew, members: Members, work: Work, tell: Tell) -> TaskGraph:
    wires = await _wires(crew, members, tell)
    return await _Measurement(crew, members, work, wires, tell).run()


def forget_wires(client: Any) -> None:
    """Forget what was measured of a client's network."""
    _WIRES.pop(client, None)


async def _wires(crew: Crew, members: Members, tell: Tell) -> Wires:
    known = _WIRES.setdefault(crew.client, {})
    key = tuple((member.name, member.address) for member in members)
    if key not in known:
        known[key] = await Probe(crew, members, tell).run()
    return known[key]


class _Measurement:
    """One measuring run."""

    def __init__(self, crew: Crew, members: Members, work: Work, wires: Wires, tell: Tell) -> None:
        self.crew, self.work, self.wires, self.tell = crew, work, wires, tell
        self.client = crew.client
        self.members = members
        self.batch = Batch(self.client, work, timed=True)

    async def run(self) -> TaskGraph:
        """Compute the graph, then samples of it everywhere."""
        from dask.utils import key_split

        kinds: dict[str, list[Any]] = {}
        for key in self.work.nodes:
            kinds.setdefault(str(key_split(key)), []).append(key)
        samples = [found[len(found) // 2] for found in kinds.values()]
        needed = {each for key in samples for each in self.work.inputs(key)}
        batch = self.batch
        try:
            self.tell(0.5, "computing the graph once")
            batch.submit({*self.work.keys, *needed})
            await self._finished()
            whole = await self._collected()
            samples = self._long_ones(kinds, samples, whole)
            self.tell(0.8, "computing samples of it everywhere")
            others = {
                (key, number): member.address
                for key in samples
                for number, member in enumerate(self.members)
                if member.name != whole[batch.number[key]][0]
            }
            if others:
                batch.submit_copies(others)
                await self._finished()
            again = await self._collected(every=True)
        finally:
            await batch.close()
        table = self._durations(kinds, samples, whole, again)
        return self._problem(table, whole)

    async def _finished(self) -> None:
        from distributed import wait

        with self.client.as_current():
            waiting = wait(list(self.batch.futures.values()))
        await waiting
        await raise_failed(self.batch)

    async def _collected(self, *, every: bool = False) -> Any:
        """Return (worker, what was taken) by task; a list of them where ``every``."""
        found = await self.client.run(steps.collected, self.batch.run)
        name_of = {member.address: member.name for member in self.members}
        entries = [
            (task, (name_of[address], taken))
            for address, all_taken in found.items()
            if address in name_of
            for task, taken in all_taken.items()
        ]
        if every:
            return entries
        by_task = dict(entries)
        if len(by_task) < len(self.work.nodes):  # a worker computed something and left
            raise WorkerLost(self.members[0].name)
        return by_task

    def _long_ones(
        self, kinds: dict[str, list[Any]], samples: Sequence[Any], whole: dict[int, Any]
    ) -> list[Any]:
        """Return the samples of the kinds that take longest in all."""
        number = self.batch.number

        def seconds(key: Any) -> float:
            taken: Taken = whole[number[key]][1]
            return taken.end - taken.start

        totals = []
        for sample, members in zip(samples, kinds.values(), strict=True):
            if seconds(sample) >= MIN_SECONDS:
                totals.append((sum(map(seconds, members)), sample))
        totals.sort(key=lambda entry: (-entry[0], number[entry[1]]))
        return [sample for _, sample in totals[:MAX_KINDS]]

    def _durations(
        self,
        kinds: dict[str, list[Any]],
        samples: Sequence[Any],
        whole: dict[int, tuple[str, Taken]],
        again: Sequence[tuple[int, tuple[str, Taken]]],
    ) -> dict[Any, list[float]]:
        """Return the seconds of each task on each worker."""
        number, names = self.batch.number, [member.name for member in self.members]
        relative: dict[Any, dict[str, float]] = {}
        for key in samples:
            tried = [whole[number[key]], *(each for task, each in again if task == number[key])]
            relative[key] = {name: taken.end - taken.start for name, taken in tried}
        usual = {
            name: float(np.exp(np.mean([np.log(row[name] / _middle(row)) for row in rows] or [0])))
            for name in names
            for rows in [[row for row in relative.values() if name in row]]
        }
        table = {}
        for members in kinds.values():
            own = next((relative[key] for key in samples if key in members), usual)
            for key in members:
                where, taken = whole[number[key]]
                base = (taken.end - taken.start) / own.get(where, usual[where])
                table[key] = [base * own.get(name, usual[name]) for name in names]
        return table

    def _problem(
        self, table: dict[Any, list[float]], whole: dict[int, tuple[str, Taken]]
    ) -> TaskGraph:
        work, number = self.work, self.batch.number
        setup = [self.wires.handing[member.name] for member in self.members]
        tasks = [
            (work.names[key], [t + more for t, more in zip(table[key], setup, strict=True)])
            for key in work.nodes
        ]
        edges = [
            (work.names[source], work.names[target], float(whole[number[source]][1].size))
            for source, target in work.edges()
        ]
        network = self.wires.network([member.threads for member in self.members])
        return TaskGraph(Dag(tasks, edges), network, contention=self.wires.contention)


def _middle(row: dict[str, float]) -> float:
    return float(np.exp(np.mean(np.log(list(row.values())))))
