"""The mapping of a pipeline, run: data sets flow through the intervals of its stages.

The loop that deals chunks out (``dealing``) chooses a worker for each item, and takes waiting items
back. A mapping leaves nothing to choose: it says which machine gets which data set, and after which
one. So each machine of a mapping has a thread here that takes its data sets in order, has its
stages called on the executor or cluster that was given, and hands over. A machine holds the data
set that it computes and the next one, as in the model.
"""

from __future__ import annotations

import operator
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent import futures
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from inspect import signature
from threading import Condition
from typing import Any
from weakref import WeakSet

import cloudpickle
import numpy as np

from makespan.core.errors import ExecutionError, InputError
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import suggesting
from makespan.core.schedule import Schedule
from makespan.execute.execution import Execution, WorkerShare
from makespan.execute.pickles import pickled
from makespan.execute.pools.executors import Executors
from makespan.execute.pools.map import Executor, dask_client
from makespan.flow.result import Result
from makespan.flow.solve import solve
from makespan.pipeline.mapping import Mapping, Values, mapping_of, values_of
from makespan.pipeline.problem import Pipeline

LOOK_EVERY = 1.0  # seconds until it is asked again whether a worker is still there
STAGE = "in stage "

Function = Callable[[Any], Any]
Calls = Callable[[int, int, Any], Any]
"""Calls an interval, on the machine at a place of the mapping, with a data set."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PipelineExecution(Execution):
    """A run of a pipeline, as :class:`makespan.execute.Execution`, with what was promised.

    Parameters
    ----------
    period
        Seconds between two data sets that leave the last interval, their mean; 0 for one data set.
    latency
        Seconds that all intervals take for a data set, the ways there included, the median. Waits
        behind earlier data sets are not in it.

    >>> from makespan import Pipeline
    >>> from makespan.execute import run_pipeline
    >>> done = run_pipeline(Pipeline([1.0, 1.0], 2), [abs, str], [-1, -2])    # doctest: +SKIP
    >>> done.promised.period, done.period < 0.1    # doctest: +SKIP
    (1.0, True)
    """

    period: float
    latency: float

    @property
    def promised(self) -> Values:
        """The period, the latency and the price of the plan."""
        assert self.plan is not None
        return values_of(*_mapped(self.plan))

    @property
    def predicted(self) -> float:
        """The seconds that so many data sets take by the plan."""
        return self.promised.latency + (len(self.results) - 1) * self.promised.period

    def __str__(self) -> str:
        first, *others = Execution.__str__(self).split("\n")
        lines = [
            f"{name} {getattr(self, name):.4g} s, promised {getattr(self.promised, name):.4g} s"
            for name in ("period", "latency")
        ]
        return "\n".join([first, *lines, *others])


@suggesting
def run_pipeline(
    plan: Result | Pipeline, functions: Sequence[Function], data: Iterable[Any], *, on: Any = None
) -> PipelineExecution:
    """Run the mapping of a pipeline: data sets flow through functions on the plan's machines.

    Parameters
    ----------
    plan
        The result of a pipeline, or a :class:`makespan.Pipeline`, which is solved first.
    functions
        One for each stage, or one for each interval of the plan. The first gets a data set, each
        other one what the function before it returned.
    data
        The data sets. An iterator is read as the first machine takes them.
    on
        Where machines are: None for a process of this computer for each; an executor of
        ``concurrent.futures`` with as many workers, among them :class:`makespan.execute.Executor`;
        a ``distributed.Client``, ``"dask"``, or the address of a scheduler. Workers of Dask that
        have the names of the plan's machines take their intervals; where a name is missing, workers
        take intervals in turn. Data sets go from worker to worker of Dask, and through this process
        elsewhere.

    Returns
    -------
    PipelineExecution
        ``results`` in the order of the data, and ``period`` and ``latency`` beside ``promised``.

    Raises
    ------
    ExecutionError
        If a function raises, or a worker is lost; it names the data set and the stage or interval.
        Calls that were begun have ended by then, and no other is begun.
    InputError
        If there is no plan, or the functions are neither one for each stage nor for each interval.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from makespan import Pipeline, execute
    >>> problem = Pipeline([1.0, 2.0, 1.0], machines=["left", "right"])
    >>> with ThreadPoolExecutor(2) as threads:
    ...     execute.run_pipeline(problem, [abs, float, str], [-1, 2, -3], on=threads).results
    ['1.0', '2.0', '3.0']
    """
    result = solve(plan) if isinstance(plan, Pipeline) else plan
    problem, mapping = _mapped(result)
    parts = list(_parts(problem, mapping, functions))
    begun = time.perf_counter()
    with _place(on, problem, mapping, parts) as (call, fetch):
        flow = _Flow(problem, mapping, call)
        flow.through(data)
        results = fetch([flow.arrived[len(parts), item] for item in range(flow.count)])
    rows = sorted(flow.rows, key=lambda row: row[5:])
    zero = rows[0][5] if rows else 0.0
    rows = [(*row[:5], row[5] - zero, row[6] - zero) for row in rows]
    last = [row[6] for row in rows if row[1] in mapping.groups[-1]]
    seconds = np.array([row[6] - row[5] for row in rows])
    took = np.zeros(flow.count)
    np.add.at(took, [row[3] for row in rows], seconds)
    own = np.array([row[1] for row in rows], np.int64)
    items, busy = np.bincount(own).tolist(), np.bincount(own, seconds).tolist()
    shares = zip(problem.machines, items, busy, strict=False)
    return PipelineExecution(
        results=results, plan=result, schedule=Schedule.of_rows(problem.machines, rows),
        seconds=time.perf_counter() - begun, took=took,
        period=(max(last) - min(last)) / (len(last) - 1) if len(last) > 1 else 0.0,
        latency=statistics.median(took.tolist() or [0.0]),
        workers=tuple(WorkerShare(*share) for share in shares if share[1]),
    )  # fmt: skip


class _Flow:
    """Data sets on their way; ``arrived`` holds each by the interval that is to take it next.

    A machine gets a data set once it has begun the one before. The earliest data set of all never
    waits for that, so that no machines can wait for each other in a circle.
    """

    def __init__(self, problem: Pipeline, mapping: Mapping, call: Calls) -> None:
        self.problem, self.mapping, self.call = problem, mapping, call
        self.arrived: dict[tuple[int, int], Any] = {}
        self.rows: list[tuple[Any, ...]] = []
        self.count = sys.maxsize
        self._wanted = [list(range(len(group))) for group in mapping.groups]
        self._changed = Condition()
        self._error: BaseException | None = None

    def through(self, data: Iterable[Any]) -> None:
        """Send all data sets through; nothing runs any more when this ends."""
        groups, item = self.mapping.groups, -1
        with futures.ThreadPoolExecutor(len(self.mapping.machines), "makespan pipeline") as threads:
            try:
                for at, group in enumerate(groups):
                    for turn in range(len(group)):
                        threads.submit(self._machine, at, turn)
                for item, value in enumerate(data):
                    if not self._hand_over(0, item, value):
                        break
                self._note(count=item + 1)
                self._wait(lambda: len(self.rows) == self.count * len(groups))
            except BaseException as error:
                self._note(error=error)
        if self._error is not None:
            raise self._error

    def _machine(self, at: int, turn: int) -> None:
        """Take the data sets of a machine in order, and hand them over."""
        group = self.mapping.groups[at]
        place = sum(map(len, self.mapping.groups[:at])) + turn
        stages = self.mapping.edges[at + 1] - self.mapping.edges[at]
        item = turn
        try:
            while self._comes(at, item):
                with self._changed:
                    value = self.arrived.pop((at, item))
                    self._wanted[at][turn] += len(group)
                    self._changed.notify_all()
                begun = time.perf_counter()
                value = self.call(at, place, value)
                times = begun, time.perf_counter()
                self.rows.append(("compute", group[turn], -1, item, stages, *times))
                if not self._hand_over(at + 1, item, value):
                    return
                item += len(group)
        except BaseException as error:
            self._note(error=self._named(error, at, group[turn], item))

    def _comes(self, at: int, item: int) -> bool:
        """Wait for a data set at an interval; return whether there is one."""
        known = self._wait(lambda: (at, item) in self.arrived or item >= self.count)
        return known and item < self.count

    def _hand_over(self, at: int, item: int, value: Any) -> bool:
        """Give a data set to an interval, or to the results, once there is room; return whether."""
        wanted = self._wanted[at] if at < len(self._wanted) else [sys.maxsize]
        turn = item % len(wanted)
        with self._changed:
            if not self._wait(lambda: item <= wanted[turn]):
                return False
            self.arrived[at, item] = value
            self._changed.notify_all()
        return True

    def _wait(self, ready: Callable[[], bool]) -> bool:
        """Wait until something is so; return False where the run has failed before."""
        with self._changed:
            self._changed.wait_for(lambda: self._error is not None or ready())
            return self._error is None

    def _note(self, *, count: int = sys.maxsize, error: BaseException | None = None) -> None:
        with self._changed:
            self.count = min(self.count, count)
            self._error = self._error or error
            self._changed.notify_all()

    def _named(self, error: BaseException, at: int, machine: int, item: int) -> BaseException:
        """Return an error that says which stage failed on which data set."""
        notes = (note for note in getattr(error, "__notes__", ()) if note.startswith(STAGE))
        names, edges = self.problem.stages.names, self.mapping.edges
        first, last = names[edges[at]], names[edges[at + 1] - 1]
        where = next(notes, f"in {first!r}" if first == last else f"in {first!r} to {last!r}")
        text = f"data set {item}, on {self.problem.machines[machine]}, {where}: "
        named = ExecutionError(f"{text}{type(error).__name__}: {error}")
        named.__cause__ = error
        return named


def _mapped(result: Result) -> tuple[Pipeline, Mapping]:
    """Return the problem and the mapping of a result."""
    problem = result.problem
    if not isinstance(problem, Pipeline) or result.schedule is None:
        raise InputError("plan: a run needs the plan of a pipeline")
    return problem, mapping_of(problem, result.schedule.renamed(problem.machines))


def _parts(
    problem: Pipeline, mapping: Mapping, functions: Sequence[Function]
) -> Iterator[Function]:
    """Yield the function of each interval."""
    intervals, stages = len(mapping.groups), len(problem.stages)
    for at, function in enumerate(functions):
        if not callable(function):
            raise InputError(f"functions[{at}]: {function!r} can't be called")
    if len(functions) not in (intervals, stages):
        text = f"{stages} stages and {intervals} intervals; give a function for each of either"
        raise InputError(f"functions: there are {len(functions)}, for {text}")
    if len(functions) != stages:
        yield from functions
        return
    for first, last in zip(mapping.edges, mapping.edges[1:], strict=False):
        yield _in_turn(functions[first:last], problem.stages.names[first:last])


def _in_turn(functions: Sequence[Function], stages: Sequence[str]) -> Function:
    """Return stages as one function that notes where it fails: a closure, for any Dask worker."""
    pairs = list(zip(functions, map(repr, stages), strict=True))

    def part(value: Any) -> Any:
        stage = ""
        try:
            for function, stage in pairs:  # noqa: B007
                value = function(value)
        except Exception as error:
            error.add_note(f"in stage {stage}")
            raise
        return value

    return part


@contextmanager
def _place(
    on: Any, problem: Pipeline, mapping: Mapping, parts: Sequence[Function]
) -> Iterator[tuple[Calls, Callable[[list[Any]], list[Any]]]]:
    """Give what calls an interval with a data set, and what brings results here."""
    with dask_client(on) as client, ExitStack() as held:
        if client is not None:
            machines = [problem.machines[each] for each in mapping.machines]
            futures_there: WeakSet[Any] = WeakSet()
            try:
                yield _on_dask(client, machines, parts, futures_there), client.gather
            finally:  # errors keep the frames that hold them
                for future in futures_there:
                    future.release()
        elif on is None or isinstance(on, futures.Executor):
            own = [on or held.enter_context(Executor(1)) for _ in mapping.machines]
            inside = isinstance(on, futures.ThreadPoolExecutor) and Executors(on).inside
            sent = [
                part if inside else partial(_called, pickled(part, "functions")) for part in parts
            ]
            yield lambda at, place, value: own[place].submit(sent[at], value).result(), list
        else:
            text = "None, an executor of concurrent.futures, a distributed.Client, or 'dask' is"
            raise InputError(f"on: {quoted(on)} can't run a pipeline; {text}")


def _on_dask(
    client: Any, machines: Sequence[str], parts: Sequence[Function], futures_there: WeakSet[Any]
) -> Calls:
    """Return what calls an interval on a worker, and leaves the result there."""

    def workers() -> dict[str, str]:
        wants = "n_workers" in signature(client.scheduler_info).parameters
        found = client.scheduler_info(**({"n_workers": -1} if wants else {}))["workers"]
        return {str(worker["name"]): address for address, worker in found.items()}

    there = workers()
    if not there:
        raise ExecutionError("on: the cluster has no worker")
    turns = list(there.values())
    if set(machines) <= there.keys():
        turns = [there[name] for name in machines]
    sent: dict[int, Any] = {}  # by place: a part that goes to its worker once

    def call(at: int, place: int, value: Any) -> Any:
        where = turns[place % len(turns)]
        if place not in sent:
            (sent[place],) = client.scatter([parts[at]], workers=[where], hash=False)
            futures_there.add(sent[place])
        future = client.submit(operator.call, sent[place], value, workers=[where], pure=False)
        futures_there.add(future)
        while not future.done():
            try:
                future.exception(timeout=LOOK_EVERY)
            except TimeoutError:
                if where not in workers().values():
                    future.cancel()
                    raise ExecutionError(f"worker {where} is gone") from None
        if future.status != "finished":
            future.result()
        return future

    return call


@lru_cache(maxsize=8)
def _part_of(sent: bytes) -> Function:
    part: Function = cloudpickle.loads(sent)
    return part


def _called(sent: bytes, value: Any) -> Any:
    """Call an interval, whose functions a process reads once."""
    return _part_of(sent)(value)
