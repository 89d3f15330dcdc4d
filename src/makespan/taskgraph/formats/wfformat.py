"""WfFormat: workflow instances of WfCommons, versions 1.0 to 1.6.

A task's work is its runtime in seconds, so that a machine of speed 1 is the one it was measured
on. The size of an edge is the sum of the files that its source writes and its target reads, in
bytes. Up to 1.4 a task holds its runtime and its files (in 1.0 under other names); since 1.5 what
was to be done, the files, and what was measured stand in tables of their own.

Source: T. Coleman, H. Casanova, L. Pottier, M. Kaushik, E. Deelman and R. Ferreira da Silva,
WfCommons: a framework for enabling scientific workflow research and development, Future
Generation Computer Systems 128, 2022; https://github.com/wfcommons/WfFormat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from makespan.core.errors import FileError, Mistake
from makespan.core.mistakes import number_fault, shown
from makespan.taskgraph.dag import Dag

SHOWN = 20

Table = Mapping[str, Any]


def read(data: Table) -> Dag:
    """Return the graph of a WfFormat document.

    Raises
    ------
    FileError
        If it is not one, with every mistake found.

    >>> data = {"workflow": {"tasks": [
    ...     {"name": "a", "runtimeInSeconds": 2.0, "parents": [], "files": [
    ...         {"link": "output", "name": "x", "sizeInBytes": 8}]},
    ...     {"name": "b", "runtimeInSeconds": 3.0, "parents": ["a"], "files": [
    ...         {"link": "input", "name": "x", "sizeInBytes": 8}]}]}}
    >>> read(data).size.tolist()
    [8.0]
    """
    return _Reader(data).dag()


class _Reader:
    """Gathers tasks, files and parents, and every mistake on the way."""

    def __init__(self, data: Table) -> None:
        self.mistakes: list[Mistake] = []
        workflow = data.get("workflow") if isinstance(data, Mapping) else None
        if not isinstance(workflow, Mapping):
            raise FileError("workflow: is missing; this is not WfFormat")
        specification = workflow.get("specification")
        if isinstance(specification, Mapping):
            self.place, self.tasks = "workflow.specification.tasks", specification.get("tasks")
            self.runtimes = self._runtimes(workflow)
            self.sizes = self._sizes(specification.get("files", []))
        else:
            word = "tasks" if "tasks" in workflow else "jobs"
            self.place, self.tasks = f"workflow.{word}", workflow.get(word)
            self.runtimes, self.sizes = {}, {}
        if not isinstance(self.tasks, list):
            raise FileError(f"{self.place}: {shown(self.tasks)} is not a list of tasks")
        for index, task in enumerate(self.tasks):
            if not isinstance(task, Mapping):
                raise FileError(f"{self.place}[{index}]: {shown(task)} is not a task")

    def dag(self) -> Dag:
        assert isinstance(self.tasks, list)
        names = [self._id(task) for task in self.tasks]
        index = {name: task for task, name in enumerate(names)}
        for task, entry in enumerate(self.tasks):  # parents may be named by id or by name
            index.setdefault(str(entry.get("name")), task)
        work = [self._work(task, entry) for task, entry in enumerate(self.tasks)]
        written = [self._files(entry, "output") for entry in self.tasks]
        pairs: dict[tuple[int, int], None] = {}
        for task, entry in enumerate(self.tasks):
            for name in entry.get("parents") or ():
                pairs.setdefault((self._known(index, task, "parents", name), task))
            for name in entry.get("children") or ():
                pairs.setdefault((task, self._known(index, task, "children", name)))
        if self.mistakes:
            raise FileError(self.mistakes[:SHOWN])
        edges = []
        read_by = [self._files(entry, "input") for entry in self.tasks]
        for source, target in sorted(pairs):
            size = sum(
                amount for name, amount in written[source].items() if name in read_by[target]
            )
            edges.append((names[source], names[target], size))
        return Dag(list(zip(names, work, strict=True)), edges)

    def _known(self, index: dict[str, int], task: int, key: str, name: Any) -> int:
        if name not in index:
            self._mistake(f"{self.place}[{task}].{key}", f"there is no task {shown(name)}")
            return task
        return index[name]

    def _mistake(self, place: str, message: str) -> None:
        self.mistakes.append(Mistake(place, message))

    def _id(self, task: Table) -> str:
        """Return the name of a task: its id, or with ids that repeat a name, that."""
        return str(task.get("id") or task.get("name"))

    def _number(self, place: str, value: Any) -> float:
        fault = number_fault(value)
        if fault is not None:
            self._mistake(place, f"{shown(value)} {fault}; it is 0 or more")
            return 0.0
        return float(value)

    def _runtimes(self, workflow: Table) -> dict[str, Any]:
        execution = workflow.get("execution")
        tasks = execution.get("tasks", []) if isinstance(execution, Mapping) else []
        return {str(task.get("id")): task.get("runtimeInSeconds") for task in tasks}

    def _work(self, index: int, task: Table) -> float:
        own = task.get("runtimeInSeconds", task.get("runtime"))
        value = self.runtimes.get(self._id(task), own)
        if value is None:
            self._mistake(f"{self.place}[{index}].runtimeInSeconds", "is missing")
            return 0.0
        return self._number(f"{self.place}[{index}].runtimeInSeconds", value)

    def _sizes(self, files: Any) -> dict[str, float]:
        place = "workflow.specification.files"
        return {
            str(file.get("id")): self._number(f"{place}[{index}].sizeInBytes", size)
            for index, file in enumerate(files)
            if (size := file.get("sizeInBytes")) is not None
        }

    def _files(self, task: Table, link: str) -> dict[str, float]:
        """Return the sizes of the files that a task reads or writes."""
        if isinstance(task.get(f"{link}Files"), list):
            return {str(name): self.sizes.get(str(name), 0.0) for name in task[f"{link}Files"]}
        found: dict[str, float] = {}
        for file in task.get("files") or ():
            if file.get("link") == link:
                size = file.get("sizeInBytes", file.get("size")) or 0.0
                name = str(file.get("name") or file.get("id"))
                found[name] = self._number(f"{self.place}.files.{name}", size)
        return found
