"""WfFormat: workflow instances of WfCommons, versions 1.0 to 1.6.

A task's work is its runtime in seconds, so that a machine of speed 1 is the one it was measured
on; its cores are the core count, rounded up. The size of an edge is the sum of the files that its
source writes and its target reads, in bytes. Up to 1.4 a task holds its runtime and its files (in
1.0 under other names); since 1.5 what was to be done, the files, and what was measured stand in
tables of their own.

Source: Coleman et al. 2022; https://github.com/wfcommons/WfFormat.
"""

from collections.abc import Iterator, Mapping
from math import ceil, isnan
from typing import Any, NamedTuple

from makespan.core.errors import FileError
from makespan.core.inputs.documents import table_in
from makespan.core.inputs.rules import Mistakes, Rule, quoted
from makespan.taskgraph.model.columns import CORES
from makespan.taskgraph.model.dag import Dag

SHOWN = 20
RUNTIME = Rule("a runtime is 0 or more seconds")
BYTES = Rule("a size is 0 or more bytes")
MAKESPAN = Rule("a makespan is above 0 seconds", strictly=True)
COUNT = Rule("a core count is 0 or more", high=CORES.high)

Table = Mapping[str, Any]


def read(data: Table) -> Dag:
    """Return the graph of a WfFormat document.

    Raises FileError if it is not one, with every mistake found.

    >>> data = {"workflow": {"tasks": [
    ...     {"name": "a", "runtimeInSeconds": 2.0, "parents": [], "files": [
    ...         {"link": "output", "name": "x", "sizeInBytes": 8}]},
    ...     {"name": "b", "runtimeInSeconds": 3.0, "parents": ["a"], "files": [
    ...         {"link": "input", "name": "x", "sizeInBytes": 8}]}]}}
    >>> read(data).size.tolist()
    [8.0]
    """
    return _Reader(data).dag()


def read_json(text: str) -> Dag:
    """Return the graph in the text of a file; see :func:`read`."""
    try:
        data = table_in(text, "", ".json")
    except FileError as error:
        raise FileError(f"is not JSON{error}") from None
    return read(data)


class Run(NamedTuple):
    """A graph, what each task read, and what was measured of the whole: None and () if nothing."""

    dag: Dag
    reads: list[float]
    makespan: float | None
    machines: list[int]


def measured_in(text: str) -> Run:
    """Return the run in the text of a file.

    A task read its input files, or ``readBytes`` where these are more: it may read a file again,
    and some engines round the sizes of files. Of a machine its cores are returned.
    """
    try:
        reader = _Reader(table_in(text, "", ".json"))
    except FileError as error:
        raise FileError(f"is not WfFormat{error}") from None
    return reader.run()


class _Reader:
    """Gathers tasks, files and parents, and every mistake on the way."""

    def __init__(self, data: Table) -> None:
        self.mistakes = Mistakes()
        self.unsized: dict[str, None] = {}
        workflow = data.get("workflow") if isinstance(data, Mapping) else None
        if not isinstance(workflow, Mapping):
            raise FileError("workflow: is missing; this is not WfFormat")
        specification = workflow.get("specification")
        self.has_tables = isinstance(specification, Mapping)
        self.runtimes: dict[str, Any] = {}
        self.counts: dict[str, Any] = {}
        self.sizes: dict[str, float] = {}
        self.reads: dict[str, Any] = {}
        self.workflow: Table = workflow
        if isinstance(specification, Mapping):
            self.place, found = "workflow.specification.tasks", specification.get("tasks")
            self._measured(workflow.get("execution"))
            self._table_of_files(specification.get("files"))
        else:
            word = "tasks" if "tasks" in workflow else "jobs"
            self.place, found = f"workflow.{word}", workflow.get(word)
        if not isinstance(found, list):
            raise FileError(f"{self.place}: {quoted(found)} is not a list of tasks")
        self.tasks = [task for _, task in self._tables(self.place, found, "a task")]

    def dag(self) -> Dag:
        self._raise_if_any()
        names = [self._name(index, task) for index, task in enumerate(self.tasks)]
        self._raise_if_any()
        position = {name: task for task, name in enumerate(names)}
        for index, task in enumerate(self.tasks):  # parents may be named by id or by name
            if isinstance(task.get("name"), str):
                position.setdefault(task["name"], index)
        work = [self._work(index, names[index], task) for index, task in enumerate(self.tasks)]
        cores = {n: self._cores(i, n, self.tasks[i]) for i, n in enumerate(names)}
        files = [self._files(f"{self.place}[{i}]", task) for i, task in enumerate(self.tasks)]
        pairs: dict[tuple[int, int], None] = {}
        for index, task in enumerate(self.tasks):
            for parent in self._ends(index, task, "parents", position):
                pairs[parent, index] = None
            for child in self._ends(index, task, "children", position):
                pairs[index, child] = None
        self._raise_if_any()
        edges = []
        for source, target in sorted(pairs):
            written, wanted = files[source]["output"], files[target]["input"]
            size = sum(amount for name, amount in written.items() if name in wanted)
            edges.append((names[source], names[target], size))
        notes = [f"{len(self.unsized)} files have no sizeInBytes: 0 is assumed"]
        notes = notes if self.unsized else []
        return Dag(list(zip(names, work, strict=True)), edges, cores=cores, notes=notes)

    def run(self) -> Run:
        dag = self.dag()
        execution = self.workflow.get("execution") or self.workflow
        reads = []
        for index, (name, task) in enumerate(zip(dag.names, self.tasks, strict=True)):
            place = f"{self.place}[{index}]"
            asked = self.reads.get(name, task.get("readBytes")) or 0
            known = sum(self._files(place, task)["input"].values())
            reads.append(max(known, self.mistakes.number(f"{place}.readBytes", asked, BYTES)))
        makespan, machines = execution.get("makespanInSeconds", execution.get("makespan")), []
        if makespan is not None:
            self.mistakes.number("workflow.makespanInSeconds", makespan, MAKESPAN)
        for place, machine in self._tables("workflow.machines", execution.get("machines"), "one"):
            cpu = machine.get("cpu")
            cores = cpu.get("coreCount", cpu.get("count")) if isinstance(cpu, Mapping) else None
            if cores is not None:
                number = self.mistakes.number(f"{place}.cpu.coreCount", cores, COUNT)
                machines.append(1 if isnan(number) else max(1, int(number)))
        self._raise_if_any()
        return Run(dag, reads, makespan, machines)

    def _raise_if_any(self) -> None:
        if self.mistakes:
            raise FileError(self.mistakes.found[:SHOWN])

    def _entries(self, place: str, value: Any) -> list[Any]:
        """Return a list, which may be missing."""
        if value is None or isinstance(value, list):
            return value or []
        self.mistakes.add(place, f"{quoted(value)} is not a list")
        return []

    def _tables(self, place: str, value: Any, what: str) -> Iterator[tuple[str, Table]]:
        """Yield the tables of a list, each with its place."""
        for index, entry in enumerate(self._entries(place, value)):
            if isinstance(entry, Mapping):
                yield f"{place}[{index}]", entry
            else:
                self.mistakes.add(f"{place}[{index}]", f"{quoted(entry)} is not {what}")

    def _text(self, place: str, value: Any) -> str | None:
        """Return a name; a number stands for itself."""
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            try:
                return str(value)
            except ValueError:  # thousands of digits
                pass
        fault = "is missing" if value is None else f"{quoted(value)} is not a text"
        self.mistakes.add(place, fault)
        return None

    def _name(self, index: int, task: Table) -> str:
        key = "id" if task.get("id") not in (None, "") else "name"
        return self._text(f"{self.place}[{index}].{key}", task.get(key)) or ""

    def _work(self, index: int, name: str, task: Table) -> float:
        value = self.runtimes.get(name, task.get("runtimeInSeconds", task.get("runtime")))
        place = f"{self.place}[{index}].runtimeInSeconds"
        if value is None:
            self.mistakes.add(place, "is missing")
            return 0.0
        return self.mistakes.number(place, value, RUNTIME)

    def _cores(self, index: int, name: str, task: Table) -> int:
        """Return the cores of a task: ``coreCount``, which may be fractional, before ``cores``."""
        key = "coreCount" if self.counts.get(name, task.get("coreCount")) is not None else "cores"
        value = self.counts.get(name, task.get(key))
        if value is None:
            return 1
        count = self.mistakes.number(f"{self.place}[{index}].{key}", value, COUNT)
        return 1 if isnan(count) else max(1, ceil(count))

    def _ends(
        self, index: int, task: Table, key: str, position: Mapping[str, int]
    ) -> Iterator[int]:
        """Yield the tasks that a task names as its parents or children."""
        place = f"{self.place}[{index}].{key}"
        for named in self._entries(place, task.get(key)):
            name = self._text(place, named)
            if name is not None and name in position:
                yield position[name]
            elif name is not None:
                self.mistakes.add(place, f"there is no task {quoted(named)}")

    def _measured(self, execution: Any) -> None:
        """Read the runtimes of the tasks, since 1.5 in a table of their own."""
        if execution is not None and not isinstance(execution, Mapping):
            self.mistakes.add("workflow.execution", f"{quoted(execution)} is not a table")
            return
        found = (execution or {}).get("tasks")
        for place, task in self._tables("workflow.execution.tasks", found, "a task"):
            name = self._text(f"{place}.id", task.get("id"))
            if name is not None:
                self.runtimes[name] = task.get("runtimeInSeconds")
                self.reads[name] = task.get("readBytes")
                if task.get("coreCount") is not None:
                    self.counts[name] = task["coreCount"]

    def _table_of_files(self, found: Any) -> None:
        """Read the sizes of files, since 1.5 in a table of their own."""
        for place, file in self._tables("workflow.specification.files", found, "a file"):
            name = self._text(f"{place}.id", file.get("id"))
            if name is not None:
                self.sizes[name] = self._size(place, name, file.get("sizeInBytes"))

    def _size(self, place: str, name: str, value: Any) -> float:
        if value is None:
            self.unsized[name] = None
            return 0.0
        return self.mistakes.number(f"{place}.sizeInBytes", value, BYTES)

    def _files(self, place: str, task: Table) -> dict[str, dict[str, float]]:
        """Return the sizes of the files that a task reads (``input``) and writes (``output``)."""
        found: dict[str, dict[str, float]] = {"input": {}, "output": {}}
        for link in found if self.has_tables else ():
            at = f"{place}.{link}Files"
            for index, named in enumerate(self._entries(at, task.get(f"{link}Files"))):
                name = self._text(f"{at}[{index}]", named)
                if name is not None and name in self.sizes:
                    found[link][name] = self.sizes[name]
                elif name is not None:
                    fault = f"there is no file {quoted(named)} in workflow.specification.files"
                    self.mistakes.add(f"{at}[{index}]", fault)
        for at, file in self._tables(f"{place}.files", task.get("files"), "a file"):
            key = "name" if file.get("name") is not None else "id"
            name = self._text(f"{at}.{key}", file.get(key))
            way = file.get("link")
            if way not in ("input", "output"):
                fault = f"{quoted(way)} is not allowed; it is 'input' or 'output'"
                self.mistakes.add(f"{at}.link", fault)
            elif name is not None:
                found[way][name] = self._size(at, name, file.get("sizeInBytes", file.get("size")))
        return found
