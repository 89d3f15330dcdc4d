"""Tasks on their way to the scheduler and back."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from makespan.core.errors import InputError
from makespan.execute.dask.cluster.cleanup import LONGEST_TIDYING, forgotten
from makespan.execute.dask.cluster.client import pickled
from makespan.execute.dask.graphs import steps
from makespan.execute.dask.graphs.work import Work

log = logging.getLogger("makespan")


class Batch:
    """The tasks of one run.

    Parameters
    ----------
    client
        A ``distributed.Client``.
    work
        The tasks.
    as_it_is
        Whether the tasks go as Dask would send them; else under keys of their own.
    """

    def __init__(self, client: Any, work: Work, *, as_it_is: bool = False) -> None:
        from dask.utils import key_split

        self.client = client
        self.work = work
        self.as_it_is = as_it_is
        self.run = uuid.uuid4().hex[:12]
        self.number = {key: index for index, key in enumerate(work.nodes)}
        self.sent: dict[Any, Any] = {
            key: key if as_it_is else f"{key_split(key)}-{self.run}-{index}"
            for key, index in self.number.items()
        }
        self.key_of = {sent: key for key, sent in self.sent.items()}
        self.futures: dict[Any, Any] = {}

    def submit(
        self,
        wanted: Iterable[Any],
        *,
        after: Mapping[Any, Iterable[Any]] | None = None,
        workers: Mapping[Any, Sequence[str]] | None = None,
        priority: Mapping[Any, int] | None = None,
    ) -> None:
        """Hand all tasks to the scheduler in one message.

        Parameters
        ----------
        wanted
            The keys whose results are kept.
        after
            Tasks that each task waits for without needing their results.
        workers
            The addresses of each task's workers; None: Dask places them.
        priority
            The higher the sooner.
        """
        after = after or {}
        graph = {
            self.sent[key]: self.task(self.sent[key], key, after.get(key, ()))
            for key in self.work.nodes
        }
        keys = {key: self.sent[key] for key in wanted}
        place = None if workers is None else {self.sent[k]: workers[k] for k in workers}
        rank = None if priority is None else {self.sent[k]: priority[k] for k in priority}
        self._send(graph, keys, place, rank)

    def task(self, sent: str, key: Any, after: Iterable[Any]) -> Any:
        """Return a task as it is sent."""
        from dask._task_spec import Task, TaskRef

        node = self.work.nodes[key]
        if self.as_it_is:
            return node
        inputs = tuple(sorted(node.dependencies, key=str))
        awaited = bool(getattr(node, "is_coro", False))
        function = partial(steps.step_awaited if awaited else steps.step, node, inputs)
        names = [self.sent.get(each, each) for each in inputs]
        names += [self.sent[each] for each in after]
        return Task(sent, function, *(TaskRef(name) for name in names))

    def _send(
        self,
        graph: dict[str, Any],
        keys: Mapping[Any, str],
        place: Mapping[str, Sequence[str]] | None,
        rank: Mapping[str, int] | None,
    ) -> None:
        import dask

        annotations: dict[str, Any] = {}
        if place is not None:  # plain methods: the scheduler need not know makespan
            annotations |= {"workers": place.__getitem__, "allow_other_workers": False}
        if rank is not None:
            annotations |= {"priority": rank.__getitem__}
        names = list(keys.values())
        try:
            with dask.annotate(**annotations):
                futures = self.client.get(graph, names, sync=False)
        except Exception as error:
            for key, node in self.work.nodes.items():
                pickled(node, f"task {self.work.names[key]}")
            raise InputError(f"collection: can't be sent: {error}") from error
        self.futures.update(zip(keys, futures, strict=True))

    async def close(self) -> None:
        """Give up what is still wanted; return when the scheduler has forgotten all of it.

        Releasing is enough, also for what is under way: nobody wants it then. (Cancelling by
        force fails in Dask where a task has dependents that nobody wants.)
        """
        futures = list(self.futures.values())
        self.futures.clear()
        for future in futures:
            future.release()
        if self.as_it_is:  # somebody else may want the same keys
            return
        try:
            async with asyncio.timeout(LONGEST_TIDYING):
                await forgotten(self.client, list(self.sent.values()))
        except (OSError, TimeoutError) as error:
            log.warning("the scheduler did not confirm that nothing is left on it: %s", error)
