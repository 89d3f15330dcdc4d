"""Tasks on their way to the scheduler and back, and what is called there outside of tasks."""

from __future__ import annotations

import asyncio
import logging
import traceback
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

from makespan.core.cached import cached_property
from makespan.core.errors import ExecutionError, InputError
from makespan.execute.dask.cluster.client import LONGEST_TIDYING, forgotten
from makespan.execute.dask.graphs import remote
from makespan.execute.dask.graphs.work import Work
from makespan.execute.dealing.engine import Failure
from makespan.execute.pickles import pickled
from makespan.execute.remote import Sent
from makespan.execute.travel import travels

if TYPE_CHECKING:
    from makespan.execute.execution import Execution

log = logging.getLogger("makespan")

TRIED = ("2026.8.0",)  # the versions of distributed that plans were carried out with
NEEDED = (
    "distributed.worker_state_machine:AcquireReplicasEvent",
    "distributed.worker_state_machine:TaskState.get_nbytes",
    "distributed.worker:Worker.get_data",
    "distributed.worker:Worker.handle_stimulus",
    "distributed.worker:Worker.plugin_add",
    "distributed.scheduler:Scheduler.set_restrictions",
    "distributed.scheduler:Scheduler.transitions",
    "distributed.scheduler:Scheduler.get_task_status",
)


class Batch:
    """The tasks of one run, under keys of their own unless they go ``as_it_is``."""

    def __init__(self, client: Any, work: Work, *, as_it_is: bool = False) -> None:
        self.client = client
        self.work = work
        self.as_it_is = as_it_is
        self.run = uuid.uuid4().hex[:12]
        self.futures: list[Any] = []
        self.wanted: list[Any] = []

    @cached_property
    def number(self) -> dict[Any, int]:
        """The number of each key."""
        return {key: index for index, key in enumerate(self.work.nodes)}

    @cached_property
    def sent(self) -> dict[Any, Any]:
        """The key under which each task is known to the scheduler."""
        from dask.utils import key_split

        if self.as_it_is:
            return self.work.named_as(self.wanted)
        return {k: f"{key_split(k)}-{self.run}-{index}" for k, index in self.number.items()}

    @cached_property
    def key_of(self) -> dict[Any, Any]:
        """The key of each that was sent."""
        return {sent: key for key, sent in self.sent.items()}

    def hand_over(self) -> None:
        """Let Dask do it all, as it would."""
        try:
            self.futures = self.work.handed(self.client)
        except Exception as error:
            raise self._refused(error) from error
        self.wanted = [future.key for future in self.futures]

    def submit(
        self,
        after: Mapping[Any, Iterable[Any]],
        workers: Mapping[Any, Sequence[str]],
        priority: Mapping[Any, int],
    ) -> None:
        """Hand all tasks to the scheduler in one message.

        ``after``: tasks that each task waits for without needing their results. ``workers``: the
        addresses of each task's. ``priority``: the higher the sooner.
        """
        import dask

        graph = {
            self.sent[key]: self.task(self.sent[key], key, after.get(key, ()))
            for key in self.work.nodes
        }
        place = {self.sent[key]: where for key, where in workers.items()}
        rank = {self.sent[key]: each for key, each in priority.items()}
        self.wanted = [self.sent[key] for key in self.work.keys]
        try:  # plain methods: the scheduler need not know makespan
            with dask.annotate(
                workers=place.__getitem__, allow_other_workers=False, priority=rank.__getitem__
            ):
                self.futures = list(self.client.get(graph, self.wanted, sync=False))
        except Exception as error:
            raise self._refused(error) from error

    def _refused(self, error: Exception) -> InputError:
        """Return what to say where something can't be sent: which task, if it is one."""
        for key, node in self.work.nodes.items():
            pickled(node, f"task {self.work.names[key]}")
        return InputError(f"collection: can't be sent: {error}")

    def task(self, sent: str, key: Any, after: Iterable[Any]) -> Any:
        """Return a task as it is sent."""
        from dask._task_spec import Task, TaskRef

        node = self.work.nodes[key]
        inputs = tuple(sorted(node.dependencies, key=str))
        awaited = bool(getattr(node, "is_coro", False))
        function = partial(step_awaited if awaited else step, node, inputs)
        names = [self.sent.get(each, each) for each in inputs]
        names += [self.sent[each] for each in after]
        return Task(sent, function, *(TaskRef(name) for name in names))

    async def close(self) -> None:
        """Give up what is still wanted; return when the scheduler has forgotten all of it.

        Releasing is enough, also for what is under way: nobody wants it then. (Cancelling by
        force fails in Dask where a task has dependents that nobody wants.)
        """
        for future in self.futures:
            future.release()
        self.futures = []
        if self.as_it_is:  # somebody else may want the same keys
            return
        try:
            async with asyncio.timeout(LONGEST_TIDYING):
                await forgotten(self.client, list(self.sent.values()))
        except (OSError, TimeoutError) as error:
            log.warning("the scheduler did not confirm that nothing is left on it: %s", error)


def by_value(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of builtins alone that is sent with its code: it is short, tasks many."""
    assert isinstance(function, FunctionType)
    own = FunctionType(function.__code__, {}, function.__name__)
    own.__module__ = "__main__"
    return own


@by_value
def step(node: Any, inputs: tuple[Any, ...], *values: Any) -> Any:
    """Compute a node of a graph; values beyond its inputs are only waited for."""
    return node(dict(zip(inputs, values, strict=False)))


@by_value
async def step_awaited(node: Any, inputs: tuple[Any, ...], *values: Any) -> Any:
    """Compute a node whose function is a coroutine."""
    return await node(dict(zip(inputs, values, strict=False)))


@dataclass(frozen=True, slots=True)
class TaskFailure(Failure):
    """A task that raised: its number and name, and what was raised where."""

    name: str = ""

    def __str__(self) -> str:
        text = str(self.error)
        return f"task {self.name}: {type(self.error).__name__}{': ' if text else ''}{text}"


class TasksFailed(ExecutionError):
    """Tasks raised; ``execution`` holds the results that do not need them.

    Its cause is the first error, with the worker's traceback.

    >>> from dask import delayed
    >>> from makespan.execute import dask
    >>> try:  # doctest: +SKIP
    ...     dask.compute({"one": delayed(pow)(2, 5), "other": delayed(pow)(0, -1)}, client)
    ... except dask.TasksFailed as error:
    ...     print(error.execution.results)
    {'one': 32, 'other': None}
    """

    def __init__(
        self, failures: tuple[TaskFailure, ...], execution: Execution | None = None
    ) -> None:
        self.failures = failures
        self.execution = execution
        lines = [f"{len(failures)} tasks failed" if len(failures) > 1 else "a task failed"]
        lines += [f"  {failure}" for failure in failures[:10]]
        if len(failures) > 10:
            lines.append(f"  and {len(failures) - 10} more")
        lines += ["on the worker:", failures[0].traceback.rstrip()]
        super().__init__("\n".join(lines))


def raise_if_tasks_failed(execution: Any) -> None:
    """Raise :class:`TasksFailed` if a task raised in an execution."""
    if execution.failures:
        raise TasksFailed(execution.failures, execution) from execution.failures[0].error


async def failures_of(batch: Batch) -> tuple[TaskFailure, ...]:
    """Return the tasks that raised, as far as they are known from wanted results."""
    found: dict[Any, TaskFailure] = {}
    for future in batch.futures:
        if future.status != "error":
            continue
        error = await future.exception()
        where = await future.traceback()
        cause = await batch.client.scheduler.get_error_cause(keys=[future.key])
        key = batch.key_of.get(cause, batch.key_of.get(future.key))
        if key is None or key in found:
            continue
        text = "".join(traceback.format_exception(type(error), error, where))
        number = batch.number[key]
        found[key] = TaskFailure(number, number, error, text, batch.work.names[key])
    return tuple(sorted(found.values(), key=lambda failure: failure.first))


travels(remote)
begin, end, loosen = Sent(remote.begin), Sent(remote.end), Sent(remote.loosen)
moved, progress_of, unpinned = Sent(remote.moved), Sent(remote.progress_of), Sent(remote.unpinned)


def missing() -> list[str]:
    """Return what of :data:`NEEDED` this version does not have."""
    return [name for name in NEEDED if not _is_there(name)]


def _is_there(name: str) -> bool:
    module, _, path = name.partition(":")
    try:
        value = import_module(module)
        for part in path.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError):
        return False
    return True
