"""Tasks that raised."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from makespan.core.errors import ExecutionError
from makespan.execute.dask.graphs.batch import Batch
from makespan.execute.dealing.engine import Failure

if TYPE_CHECKING:
    from makespan.execute.dask.execution import Execution


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
