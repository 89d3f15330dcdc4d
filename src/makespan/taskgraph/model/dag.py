"""Tasks and the data that pass between them, as arrays in compressed sparse rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.cached import cached_property
from makespan.core.inputs.rules import Mistakes
from makespan.core.names import Numbered
from makespan.core.numeric.arrays import Floats, Integers, equal_in, frozen
from makespan.core.numeric.sorting import inverse
from makespan.taskgraph.model.columns import (
    CORES,
    DURATION,
    PER_TASK,
    SIZE,
    WORK,
    Columns,
    by_name,
    columns_of,
    edges_of,
    pairs_of,
    works_of,
)
from makespan.taskgraph.model.loops import topological


class Dag:
    """A directed acyclic graph of tasks.

    Parameters
    ----------
    tasks
        Work by name; a list of numbers in place of the work holds the seconds on each machine
        (unrelated machines). A mapping, or pairs.
    edges
        ``(from, to, size)`` or ``(from, to)``: ``to`` starts after ``from`` has ended and its
        ``size`` units of data (0 if omitted) have arrived.
    release
        Seconds by name: no machine takes the task before; 0 if omitted.
    deadline
        Seconds by name: the task ends by then; infinity if omitted.
    cores
        By name: how many cores of one machine the task holds, all at once; 1 if omitted.
    notes
        What a reader of graphs of others assumed, for the notes of results.

    Attributes
    ----------
    names
        The tasks' names.
    work
        Units of work; of a task that has durations only, their mean.
    source, target, size
        One entry per edge, in the given order.
    release, deadline
        Seconds, one entry per task.
    cores
        Cores, one entry per task.
    own
        The tasks with durations of their own.
    durations
        Their durations, shape (len(own), machines).

    Notes
    -----
    Mistakes are reported by the :class:`makespan.TaskGraph` that uses the graph, all together.
    Source: PB165, "Úlohy a komunikace".

    >>> dag = Dag({"a": 2.0, "b": 3.0}, [("a", "b", 4.0)])
    >>> len(dag), dag.source.tolist(), dag.size.tolist()
    (2, [0], [4.0])
    """

    notes: tuple[str, ...] = ()

    def __init__(
        self,
        tasks: Mapping[str, Any] | Iterable[tuple[str, Any]],
        edges: Iterable[Sequence[Any]] = (),
        *,
        release: Mapping[str, float] | None = None,
        deadline: Mapping[str, float] | None = None,
        cores: Mapping[str, int] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        mistakes = Mistakes()
        pairs = pairs_of(tasks, mistakes)
        names = tuple(name for name, _ in pairs)
        works = works_of([value for _, value in pairs], mistakes)
        source, target, size, numbers = edges_of(list(edges), names, mistakes)
        given = {"release": release, "deadline": deadline, "cores": cores}
        others = [by_name(word, each, names, mistakes) for word, each in given.items()]
        self._set(names, Columns(*works, source, target, size, *others), mistakes)
        self.notes = tuple(notes)
        self._numbers: Sequence[int] = numbers  # edges as the user counts them

    def _set(self, names: Sequence[str], columns: Columns, mistakes: Mistakes) -> None:
        self.names: Sequence[str] = names
        self._mistakes = mistakes
        kept = Columns._make(frozen(column.copy()) for column in columns)
        self.work: Floats = kept.work
        self.own: Integers = kept.own
        self.durations: Floats = kept.durations
        self.source: Integers = kept.source
        self.target: Integers = kept.target
        self.size: Floats = kept.size
        self.release: Floats = kept.release
        self.deadline: Floats = kept.deadline
        before = len(mistakes.found)
        mistakes.column("tasks[{}].cores".format, columns.cores, CORES)
        cores = columns.cores if len(mistakes.found) == before else np.ones(len(columns.cores))
        self.cores: Integers = frozen(cores.astype(np.int64))
        self._numbers = range(len(columns.source))

    @classmethod
    def from_arrays(
        cls,
        *,
        work: ArrayLike | None = None,
        source: ArrayLike = (),
        target: ArrayLike = (),
        size: ArrayLike = 0.0,
        names: Sequence[str] | None = None,
        durations: ArrayLike | None = None,
        release: ArrayLike = 0.0,
        deadline: ArrayLike = inf,
        cores: ArrayLike = 1,
    ) -> Dag:
        """Build a graph from columns.

        Parameters
        ----------
        work
            Units of work of each task; may be omitted beside ``durations``.
        source, target
            Indices of tasks, one pair per edge.
        size
            Units of data of each edge, or one number for all.
        names
            ``T1``, ``T2``, … if omitted.
        durations
            Seconds of each task on each machine, shape (tasks, machines), in place of
            work / speed.
        release, deadline, cores
            Of each task, or one number for all: as in :class:`Dag`.

        >>> Dag.from_arrays(work=[1, 2], source=[0], target=[1], size=3.0).names[1]
        'T2'
        """
        mistakes = Mistakes()
        given = {"release": release, "deadline": deadline, "cores": cores}
        columns = columns_of(work, durations, source, target, size, given, mistakes)
        count = len(columns.work)
        if names is not None and len(names) != count:
            mistakes.add("names", f"there are {len(names)} names for {count} tasks")
            names = None
        chosen = Numbered("T", count, first=1) if names is None else names
        dag = cls.__new__(cls)
        dag._set(tuple(chosen) if isinstance(chosen, list) else chosen, columns, mistakes)
        return dag

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        *,
        work: str | None = None,
        size: str | None = None,
        default_work: float = 1.0,
    ) -> Dag:
        """Build a graph from a ``networkx.DiGraph``: nodes are named by their ``str``.

        Parameters
        ----------
        work, size
            The attributes of nodes and edges that hold work and size. If omitted, the first that
            an element has of ``work``, ``weight``, ``cost``, ``duration``, ``time`` and ``size``,
            and of ``size``, ``data``, ``weight``, ``cost``, ``volume``, ``work`` and
            ``duration``, in letters of any case, or where there are none a number as ``label``.
        default_work
            The work of nodes that have no such attribute; edges without a size have 0. The notes
            of results say how many there are, and which attributes are not read.

        Raises
        ------
        ProblemError
            If a value is not a number, or there are numbers, but under other names only.
        """
        from makespan.taskgraph.model.graph_objects import arguments_of

        return cls(**arguments_of(graph, work=work, size=size, default_work=default_work))

    @classmethod
    def from_dask(cls, graph: Any, *, work: Any = None, size: Any = None) -> Dag:
        """Build a graph from a Dask collection or its graph.

        Parameters
        ----------
        work
            ``work(key)`` gives the work of a task; 1 for every task if omitted.
        size
            ``size(key)`` gives the size of a task's result; 1 for every task if omitted.
        """
        from makespan.taskgraph.model.graph_objects import tasks_and_edges

        return cls(*tasks_and_edges(graph, work=work, size=size))

    def __len__(self) -> int:
        return len(self.work)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dag):
            return NotImplemented
        columns = ("work", "source", "target", "size", "own", "durations", *PER_TASK)
        return self.names == other.names and equal_in(columns, self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Dag of {len(self)} tasks and {len(self.source)} edges>"

    @cached_property
    def out_edges(self) -> Integers:
        """The edges by source, in the given order for each."""
        return frozen(np.argsort(self.source, kind="stable"))

    @cached_property
    def in_edges(self) -> Integers:
        """The edges by target, in the given order for each."""
        return frozen(np.argsort(self.target, kind="stable"))

    @cached_property
    def first_out(self) -> Integers:
        """Where each task's part of ``out_edges`` begins; one entry more than tasks."""
        return _first(self.source, len(self))

    @cached_property
    def first_in(self) -> Integers:
        """Where each task's part of ``in_edges`` begins; one entry more than tasks."""
        return _first(self.target, len(self))

    @cached_property
    def successors(self) -> Integers:
        """The targets in the order of ``out_edges``."""
        return frozen(self.target[self.out_edges])

    @cached_property
    def predecessors(self) -> Integers:
        """The sources in the order of ``in_edges``."""
        return frozen(self.source[self.in_edges])

    @cached_property
    def order(self) -> Integers:
        """A topological order; it stops short of tasks on and behind a cycle."""
        order = np.zeros(len(self), dtype=np.int64)
        reached = topological.run(
            len(self) + len(self.source),
            (self.first_out, self.successors),
            (np.diff(self.first_in), order),
        )
        return frozen(order[:reached])

    @cached_property
    def position(self) -> Integers:
        """The place of each task in ``order``."""
        return frozen(inverse(self.order))

    def reversed(self) -> Dag:
        """Return the graph with its edges turned round."""
        return Dag.from_arrays(
            work=self.work, source=self.target, target=self.source, size=self.size
        )

    def cycle(self) -> tuple[int, ...]:
        """Return the tasks of a cycle, the lowest first; empty where there is none."""
        if len(self.order) == len(self):
            return ()
        stuck = np.ones(len(self), dtype=bool)
        stuck[self.order] = False
        inside = stuck[self.source] & stuck[self.target]
        ends = zip(self.target[inside].tolist(), self.source[inside].tolist(), strict=True)
        before = dict(reversed(list(ends)))  # the first edge to each
        path: dict[int, None] = {}
        task = min(before)
        while task not in path:
            path[task] = None
            task = before[task]
        circle = [*path][[*path].index(task) :][::-1]
        lowest = circle.index(min(circle))
        return tuple(circle[lowest:] + circle[:lowest])

    def collect_mistakes(self, mistakes: Mistakes) -> None:
        """Note everything that is wrong with this graph."""
        mistakes.extend(self._mistakes.found)
        known = frozenset(mistake.place for mistake in self._mistakes.found)
        if not len(self) and not self._mistakes:
            mistakes.add("tasks", "is empty; a task graph has at least one task")
        mistakes.column(lambda index: f"tasks[{index}].work", self.work, WORK, known=known)
        mistakes.column(lambda index: f"edges[{index}].size", self.size, SIZE, known=known)
        for name, (rule, _) in PER_TASK.items():
            place = f"tasks[{{}}].{name}".format
            mistakes.column(place, getattr(self, name), rule, known=known)
        for row, task in enumerate(self.own.tolist()):
            place = f"tasks[{task}].durations[{{}}]".format
            mistakes.column(place, self.durations[row], DURATION, known=known)
        if not isinstance(self.names, Numbered):
            mistakes.names("tasks[{}].name".format, self.names)
        if not self._edge_ends_are_wrong(mistakes):
            self._check_edges(mistakes)

    def _edge_ends_are_wrong(self, mistakes: Mistakes) -> bool:
        wrong = False
        for name, column in (("from", self.source), ("to", self.target)):
            outside = np.flatnonzero(column >= len(self))
            wrong = wrong or bool(len(outside) or (column < 0).any())
            for edge in outside[:20].tolist():
                found = int(column[edge])
                mistakes.add(f"edges[{edge}].{name}", f"{found} is not the index of a task")
        return wrong

    def _check_edges(self, mistakes: Mistakes) -> None:
        names, numbers = self.names, self._numbers
        for edge in np.flatnonzero(self.source == self.target)[:20].tolist():
            name = names[int(self.source[edge])]
            mistakes.add(f"edges[{numbers[edge]}]", f"goes from {name!r} to itself")
        pairs = self.source * max(len(self), 1) + self.target
        by_pair = np.argsort(pairs, kind="stable")
        for index in np.flatnonzero(np.diff(pairs[by_pair]) == 0)[:20].tolist():
            first, second = int(by_pair[index]), int(by_pair[index + 1])
            ends = f"{names[int(self.source[first])]!r} to {names[int(self.target[first])]!r}"
            place = f"edges[{numbers[second]}]"
            mistakes.add(place, f"goes from {ends} like edges[{numbers[first]}]")
        circle = self.cycle()
        if len(circle) > 1:
            path = " → ".join(str(names[task]) for task in [*circle, circle[0]])
            mistakes.add("edges", f"form a cycle: {path}; a task graph has none")


def rows_of(first: Integers, column: Integers) -> list[list[int]]:
    """Return the part of each task in a column in the order of tasks, as lists.

    >>> rows_of(np.array([0, 2, 2, 3]), np.array([4, 5, 6]))
    [[4, 5], [], [6]]
    """
    entries = column.tolist()
    return [entries[begin:end] for begin, end in pairwise(first.tolist())]


def _first(ends: Integers, count: int) -> Integers:
    first = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(ends, minlength=count), out=first[1:])
    return frozen(first)
