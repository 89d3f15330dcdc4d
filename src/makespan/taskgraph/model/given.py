"""A given plan: who executes what, in which order."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from makespan.core.cached import cached_property
from makespan.core.inputs.rules import Mistakes, quoted
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.names import index_by_name
from makespan.core.numeric.arrays import Integers
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.model.network import Network

SUGGESTED_FROM, SHOWN = 200, 20


class Given:
    """The assignment and the sequences of a problem, as indices."""

    def __init__(
        self,
        dag: Dag,
        network: Network,
        assignment: Mapping[str, str] | None,
        sequence: Mapping[str, Sequence[str]] | None,
    ) -> None:
        self.dag, self.network = dag, network
        self.assignment, self.sequence = assignment, sequence

    @property
    def anything(self) -> bool:
        """Whether the problem gives any part of a plan."""
        return self.assignment is not None or self.sequence is not None

    @cached_property
    def _task(self) -> dict[str, int]:
        return index_by_name(self.dag.names)

    @cached_property
    def _machine(self) -> dict[str, int]:
        return index_by_name(self.network.names)

    @cached_property
    def machine_of(self) -> Integers | None:
        """The machine of each task; None where nothing is given."""
        if not self.anything:
            return None
        task, machine = self._task, self._machine
        found = np.full(len(self.dag), -1, dtype=np.int64)
        for name, tasks in (self.sequence or {}).items():
            found[_looked_up(task, tasks)] = machine[name]
        assignment = self.assignment or {}
        found[_looked_up(task, assignment)] = _looked_up(machine, assignment.values())
        return found

    @cached_property
    def sequences(self) -> dict[int, Integers]:
        """The tasks of each machine that has a sequence."""
        if not self.sequence:
            return {}
        task, machine = self._task, self._machine
        return {machine[name]: _looked_up(task, tasks) for name, tasks in self.sequence.items()}

    @cached_property
    def chained(self) -> Dag:
        """The graph with an edge from task to task in each sequence, too."""
        dag = self.dag
        chains = [tasks for tasks in self.sequences.values() if len(tasks) > 1]
        if not chains:
            return dag
        return Dag.from_arrays(
            work=dag.work,
            source=np.concatenate([dag.source, *(tasks[:-1] for tasks in chains)]),
            target=np.concatenate([dag.target, *(tasks[1:] for tasks in chains)]),
        )

    def collect_mistakes(self, mistakes: Mistakes) -> None:
        """Note unknown names, missing tasks, contradictions, and deadlocks."""
        if not self.anything:
            return
        before = len(mistakes.found)
        for place in ("assignment", "sequence"):
            value = getattr(self, place)
            if value is not None and not isinstance(value, Mapping):
                mistakes.add(place, f"{quoted(value)} is not a table")
        if len(mistakes.found) == before:
            self._check_names(mistakes)
        if len(mistakes.found) == before:
            self._check_deadlock(mistakes)

    def _check_names(self, mistakes: Mistakes) -> None:
        seen: dict[Any, str] = {}
        for name, machine in (self.assignment or {}).items():
            self._known("task", f"assignment.{name}", name, mistakes)
            self._known("machine", f"assignment.{name}", machine, mistakes)
        for machine, tasks in (self.sequence or {}).items():
            place = f"sequence.{machine}"
            self._known("machine", place, machine, mistakes)
            if not isinstance(tasks, (list, tuple)):
                mistakes.add(place, f"{quoted(tasks)} is not a list of tasks")
                continue
            for index, name in enumerate(tasks):
                self._known("task", f"{place}[{index}]", name, mistakes)
                if name in seen:
                    mistakes.add(f"{place}[{index}]", f"{name!r} stands in {seen[name]} too")
                seen[name] = place
                assigned = (self.assignment or {}).get(name, machine)
                if assigned != machine:
                    message = f"{name!r} is assigned to {assigned!r}, not to {machine!r}"
                    mistakes.add(f"{place}[{index}]", message)
        placed = seen.keys() | set(self.assignment or {})
        missing = [name for name in self.dag.names if name not in placed]
        if missing:
            few = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
            where = "sequence" if self.assignment is None else "assignment"
            mistakes.add(where, f"lacks {few}; a given plan places every task")
        self._check_sequences_whole(seen, mistakes)
        if not mistakes and self.machine_of is not None:
            self._check_cores(self.machine_of, mistakes)

    def _check_cores(self, machine_of: Integers, mistakes: Mistakes) -> None:
        """Note tasks on machines with fewer cores than they need."""
        needed, cores = self.dag.cores, self.network.cores[machine_of]
        where = "sequence" if self.assignment is None else "assignment"
        for task in np.flatnonzero(needed > cores)[:SHOWN].tolist():
            name = self.network.names[int(machine_of[task])]
            text = f"the task needs {needed[task]} cores, {name!r} has {cores[task]}"
            mistakes.add(f"{where}.{self.dag.names[task]}", text)

    def _check_sequences_whole(self, seen: Mapping[Any, str], mistakes: Mistakes) -> None:
        """Note tasks that the assignment puts on a machine whose sequence lacks them."""
        sequence = self.sequence or {}
        for name, machine in (self.assignment or {}).items():
            if machine in sequence and name not in seen:
                mistakes.add(f"sequence.{machine}", f"lacks {name!r}, which is assigned to it")

    def _known(self, what: str, place: str, name: Any, mistakes: Mistakes) -> None:
        names = self.dag.names if what == "task" else self.network.names
        known = self._task if what == "task" else self._machine
        if not isinstance(name, str) or name not in known:
            hint = did_you_mean(name, list(names[:SUGGESTED_FROM]))
            mistakes.add(place, f"there is no {what} {quoted(name)}{hint}")

    def _check_deadlock(self, mistakes: Mistakes) -> None:
        circle = self.chained.cycle()
        if circle:
            names = [self.dag.names[task] for task in (*circle, circle[0])]
            mistakes.add("sequence", f"waits for itself: {' → '.join(names)}")


def _looked_up(index: Mapping[str, int], names: Collection[str]) -> Integers:
    return np.fromiter(map(index.__getitem__, names), dtype=np.int64, count=len(names))
