"""The statement of a task graph problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.cached import cached_property
from makespan.core.inputs.rules import DEADLINE, Mistakes, Rule, quoted
from makespan.core.names import index_by_name
from makespan.core.numeric.arrays import Floats, Integers, frozen
from makespan.core.problem import Pictured
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.model.given import Given
from makespan.taskgraph.model.network import Network

COMMUNICATIONS = ("overlap", "blocking")
CONTENTIONS = ("none", "links", "ports")
OBJECTIVES = ("makespan", "price", "pareto")
BUDGET = Rule("a budget is 0 or more")
SHOWN = 20  # tasks that no machine can execute, of which each is named


@dataclass(frozen=True, repr=False)
class TaskGraph(Pictured):
    """Tasks with precedences and data between them, to be executed on a network of machines.

    Task j takes ``work_j / speed_i + task_setup_i`` seconds on machine i, or its own duration
    there; all the time it holds as many cores of the machine as it needs, and a machine with fewer
    can't execute it. Data between tasks on one machine are free. Between machines they pass the
    hops of the route one after another (store and forward), each in ``size / rate +
    message_setup`` of the hop's sender, and are there after the ``delay`` of the pair.

    Parameters
    ----------
    dag
        The tasks and the data between them.
    network
        The machines and the links between them.
    communication
        ``"overlap"``: a transfer runs beside computation, at the earliest from the end of its
        source. ``"blocking"``: the machine takes a task when all its predecessors have ended,
        is busy with the incoming transfers one after another, then executes it.
    contention
        ``"none"``; ``"links"``: one transfer on a link at a time; ``"ports"``: a machine sends one
        transfer and receives one at a time (routers any number).
    assignment
        The machine of each task: with ``sequence``, a given plan, which is only timed.
    sequence
        The tasks of each machine in the order in which they start.
    duplication
        Whether a task may be executed on several machines, once on each. Each copy needs all its
        inputs: from a copy of the source that has ended on its own machine, or by a transfer from
        a machine where one has ended. Only with overlapping communication, no contention, links
        between all machines, and without a given plan.
    deadline
        The latest end of the plan, seconds.
    budget
        A limit on the price of the plan: what the seconds of all executions cost on their machines,
        for each core that a task holds (idle time and transfers cost nothing), and the start of
        each machine that executes any.
    objective
        ``"makespan"``, ``"price"`` (the least), or ``"pareto"`` (the whole front of both).
    options
        ``method`` and its options, as in the table ``[options]`` of a file.
    assumed
        What a reader assumed that the file did not say, for the notes of results.

    Raises
    ------
    ProblemError
        With every mistake found, each with its place; a cycle with its tasks.

    A schedule has one ``compute`` row per task (``item``: the task), and one ``transfer`` row per
    hop (``item``: the edge) of every edge whose data take time or have a size. ``machines`` are
    the network's machines, then its routers. With ``duplication`` a task has a row per copy, and
    an edge at most one transfer to each machine; all of them end before the makespan.

    Source: PB165 (Masaryk University), task graphs.

    >>> dag = Dag({"a": 2.0, "b": 3.0}, [("a", "b", 4.0)])
    >>> TaskGraph(dag, Network.complete(speeds=[1.0, 2.0])).durations_on([0, 1], [0, 1]).tolist()
    [2.0, 1.5]
    """

    kind: ClassVar[str] = "taskgraph"

    dag: Dag
    network: Network
    _: KW_ONLY
    communication: Literal["overlap", "blocking"] = "overlap"
    contention: Literal["none", "links", "ports"] = "none"
    assignment: Mapping[str, str] | None = None
    sequence: Mapping[str, Sequence[str]] | None = None
    duplication: bool = False
    deadline: float | None = None
    budget: float | None = None
    objective: Literal["makespan", "price", "pareto"] = "makespan"
    options: Mapping[str, Any] = field(default_factory=dict)
    assumed: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        mistakes = Mistakes()
        if not isinstance(self.dag, Dag):
            mistakes.add("dag", f"{quoted(self.dag)} is not a Dag")
        if not isinstance(self.network, Network):
            mistakes.add("network", f"{quoted(self.network)} is not a Network")
        mistakes.raise_if_any()
        if isinstance(self.sequence, Mapping):
            own = {
                name: tuple(tasks) if isinstance(tasks, list) else tasks
                for name, tasks in self.sequence.items()
            }
            object.__setattr__(self, "sequence", own)
        self.dag.collect_mistakes(mistakes)
        self.network.collect_mistakes(mistakes)
        self._choices(mistakes)
        if not mistakes:
            self.given.collect_mistakes(mistakes)
            self._copies(mistakes)
        mistakes.raise_if_any()

    def _choices(self, mistakes: Mistakes) -> None:
        mistakes.choice("communication", self.communication, COMMUNICATIONS)
        mistakes.choice("contention", self.contention, CONTENTIONS)
        mistakes.choice("objective", self.objective, OBJECTIVES)
        for name, rule in (("deadline", DEADLINE), ("budget", BUDGET)):
            if getattr(self, name) is not None:
                mistakes.number(name, getattr(self, name), rule)
        given = self.assignment is not None or self.sequence is not None
        if self.objective == "pareto" and given:
            mistakes.add("objective", "'pareto' is not allowed with a given plan, which is one")
        width = self.dag.durations.shape[1]
        if len(self.dag.own) and width != len(self.network):
            mistakes.add(
                f"tasks[{int(self.dag.own[0])}].durations",
                f"has {width} entries for {len(self.network)} machines",
            )
        most = int(self.network.cores.max(initial=1))
        for task in np.flatnonzero(self.dag.cores > most)[:SHOWN].tolist():
            cores = int(self.dag.cores[task])
            mistakes.add(f"tasks[{task}].cores", f"{cores} is above {most}, the most of a machine")

    def _copies(self, mistakes: Mistakes) -> None:
        """Note what copies of tasks can't be combined with."""
        mistakes.flag("duplication", self.duplication)
        if not self.duplication:
            return
        for name, needed in (("communication", "overlap"), ("contention", "none")):
            value = getattr(self, name)
            if value != needed:
                mistakes.add(name, f"{value!r} is not allowed with duplication; {needed!r} is")
        for name in ("assignment", "sequence"):
            if getattr(self, name) is not None:
                mistakes.add(name, "can't be given with duplication")
        count = len(self.network)
        far = np.argwhere(self.network.routing.hops[:count, :count] > 1)
        if len(far):
            a, b = (self.machines[each] for each in far[0].tolist())
            what = f"{a} has no link to {b}; duplication needs direct links between all machines"
            mistakes.add("network", what)

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
        deadline: ArrayLike = np.inf,
        cores: ArrayLike = 1,
        network: Network,
        **others: Any,
    ) -> TaskGraph:
        """Build a problem from the columns of :meth:`Dag.from_arrays`, a network, and the rest.

        One number as ``deadline`` is that of all tasks.
        """
        dag = Dag.from_arrays(
            work=work, source=source, target=target, size=size, names=names,
            durations=durations, release=release, deadline=deadline, cores=cores,
        )  # fmt: skip
        return cls(dag, network, **others)

    __hash__ = None  # type: ignore[assignment]

    def _counts(self) -> Mapping[str, int]:
        edges, machines = len(self.dag.source), len(self.network)
        return {"task": len(self.dag), "edge": edges, "machine": machines}

    @property
    def machines(self) -> Sequence[str]:
        """The machines, then the routers: the nodes between which transfers hop."""
        return self.network.nodes

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed where the graph and its file say nothing."""
        return (*self.dag.notes, *self.assumed)

    @cached_property
    def given(self) -> Given:
        """The given plan, as indices."""
        return Given(self.dag, self.network, self.assignment, self.sequence)

    @property
    def is_blocking(self) -> bool:
        return self.communication == "blocking"

    @property
    def transfers_wait(self) -> bool:
        """Whether transfers wait for links or ports, or for the machine that fetches them."""
        return self.is_blocking or self.contention != "none"

    @cached_property
    def is_simple(self) -> bool:
        """Whether tasks wait for data and their machine's one core, and transfers for nothing."""
        return not self.transfers_wait and bool((self.cores == 1).all())

    @cached_property
    def is_rigid(self) -> bool:
        """Whether any task needs several cores at the same time."""
        return bool((self.dag.cores > 1).any())

    @cached_property
    def cores(self) -> Integers:
        """The cores of each machine that can be of use: as many as all tasks need."""
        return frozen(np.minimum(self.network.cores, int(self.dag.cores.sum())))

    @cached_property
    def first_core(self) -> Integers:
        """The first core of each machine among those of all, and behind them how many there are."""
        return frozen(np.concatenate([[0], np.cumsum(self.cores)]))

    @cached_property
    def due(self) -> Floats:
        """When each task has to end: by its own deadline, and that of the plan."""
        whole = np.inf if self.deadline is None else self.deadline
        return frozen(np.minimum(self.dag.deadline, whole))

    @cached_property
    def has_deadlines(self) -> bool:
        """Whether any task has to end by some time."""
        return bool((self.due < np.inf).any())

    @cached_property
    def alike(self) -> list[list[int]]:
        """The machines in groups of those that can change places in any plan."""
        network = self.network
        uniform = network.routing.is_uniform
        if not uniform or (self.contention != "none" and not network.is_symmetric):
            return [[machine] for machine in range(len(self.network))]
        prices = self.network.price, self.network.start_price
        columns = np.vstack([self.durations, self.cores, *prices])
        group = np.unique(columns, axis=1, return_inverse=True)[1].ravel()
        return [np.flatnonzero(group == each).tolist() for each in range(int(group.max()) + 1)]

    @cached_property
    def stated(self) -> tuple[Integers, Floats]:
        """The tasks whose seconds are stated, or infinite on some machine; and these seconds.

        Infinite are those on machines with fewer cores than the task needs.
        """
        dag, network = self.dag, self.network
        few = dag.cores > network.cores.min()
        if not few.any():
            return dag.own, dag.durations
        own = np.zeros(len(dag), dtype=bool)
        own[dag.own] = True
        task = np.flatnonzero(few | own)
        table = dag.work[task, None] / network.speed + network.task_setup
        if len(dag.own):
            table[own[task]] = dag.durations
        table[dag.cores[task, None] > network.cores] = np.inf
        return frozen(task), frozen(table)

    @cached_property
    def stated_row(self) -> Integers:
        """The place of each task in ``stated``, -1 for those without one."""
        found = np.full(len(self.dag), -1, dtype=np.int64)
        found[self.stated[0]] = np.arange(len(self.stated[0]))
        return frozen(found)

    @cached_property
    def durations(self) -> Floats:
        """Seconds of each task on each machine, inf where it can't be; shape (tasks, machines)."""
        network, (own, rows) = self.network, self.stated
        table = self.dag.work[:, None] / network.speed[None, :] + network.task_setup[None, :]
        if len(own):
            table[own] = rows
        return frozen(table)

    @property
    def finite_durations(self) -> Floats:
        """The durations as a graph takes them: 0 where its cores say that a task can't be."""
        return np.where(np.isfinite(self.durations), self.durations, 0.0)

    @cached_property
    def charges(self) -> Floats:
        """What each task costs on each machine, inf where it can't be; shape (tasks, machines)."""
        paid = np.where(np.isfinite(self.durations), self.network.price, 1.0)
        return frozen(self.durations * self.dag.cores[:, None] * paid)

    @cached_property
    def seconds(self) -> Callable[[int, int], float]:
        """The seconds of a task on a machine, for loops in Python; without a table of all."""
        network = self.network
        work, speed = self.dag.work.tolist(), network.speed.tolist()
        setups, (tasks, rows) = network.task_setup.tolist(), self.stated
        own = {task: row for row, task in enumerate(tasks.tolist())}

        def found(task: int, machine: int) -> float:
            if task in own:
                return float(rows[own[task], machine])
            return float(work[task] / speed[machine] + setups[machine])

        return found

    def durations_on(self, tasks: ArrayLike, machines: ArrayLike) -> Floats:
        """Return the seconds of tasks on machines, entry by entry."""
        task, machine = np.asarray(tasks, dtype=np.int64), np.asarray(machines, dtype=np.int64)
        network = self.network
        seconds = self.dag.work[task] / network.speed[machine] + network.task_setup[machine]
        if len(self.stated[0]):
            row = self.stated_row[task]
            has = np.flatnonzero(row >= 0)
            seconds[has] = self.stated[1][row[has], machine[has]]
        return np.asarray(seconds)

    def needs_rows(self, edges: ArrayLike, start: ArrayLike, goal: ArrayLike) -> np.ndarray:
        """Return whether edges between pairs of machines have transfer rows.

        They do between different machines, where there are data or the transfer takes time.
        """
        edge, a, b = (np.asarray(column, dtype=np.int64) for column in (edges, start, goal))
        costs = (self.dag.size[edge] > 0) | (self.network.routing.fixed_seconds[a, b] > 0)
        return np.asarray((a != b) & costs)

    def named(self, tasks: Sequence[int]) -> list[str]:
        """Return the names of tasks."""
        names = self.dag.names
        if 2 * len(tasks) > len(names):
            names = list(names)  # names made on demand are made faster all at once
        return [names[task] for task in tasks]

    def task_named(self, name: str) -> int:
        """Return the index of a task.

        Raises
        ------
        KeyError
            If there is none of this name.
        """
        return index_by_name(self.dag.names)[name]
