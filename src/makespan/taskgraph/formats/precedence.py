"""Who waits for whom, from a graph that an engine writes beside its times.

A graph is DOT, as ``nextflow run -with-dag``, ``snakemake --dag`` and ``ninja -t graph`` write it,
or a table in JSON: under each name, the names that it waits for. A node that took no time in the
run (a channel, a source, a phony target) passes on who waits for whom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from makespan.core.errors import FileError, InputError, Mistake
from makespan.core.inputs.documents import table_in
from makespan.core.inputs.rules import quoted
from makespan.taskgraph.formats.dot import labelled

SLACK = 0.01  # seconds by which times that are written in milliseconds may be off
MORE = 16  # edges more than before, up to which a node without time is left out
MAX_PAIRS = 1_000_000  # edges between the tasks of processes


@dataclass(frozen=True, slots=True)
class Timed:
    """What a task took: seconds on so many cores, and the bytes of its inputs.

    ``begin`` is when it was submitted; ``key`` its tag, or the number of its job; ``rule`` its
    rule.
    """

    name: str
    seconds: float
    cores: int = 1
    read: float = 0.0
    begin: float | None = None
    end: float | None = None
    key: str = ""
    rule: str = ""


class Order(NamedTuple):
    """The tasks in a graph, which wait for which, and what only waits for others."""

    tasks: list[Timed]
    edges: list[tuple[str, str]]
    joins: list[str]


def ordered(text: str, tasks_of: Callable[[dict[str, str]], dict[str, list[Timed]]]) -> Order:
    """Return the tasks of a graph and their order.

    ``tasks_of``: returns the tasks of nodes, by the label of each node. Raises InputError if the
    text is no graph, or has none of the tasks.
    """
    labels, pairs = _graph(text)
    found = {node: tasks for node, tasks in tasks_of(labels).items() if tasks}
    if not found:
        named = ", ".join(map(quoted, [*labels.values()][:3]))
        raise InputError(f"the graph has no task of the trace; it has {named or 'no node'}")
    tasks = {task.name: task for each in found.values() for task in each}
    after = _left(labels, pairs, found)
    joins: list[str] = []
    for node in after:
        if node not in found:
            name = f"join {len(joins) + 1}"
            while name in tasks:
                name += "'"
            joins.append(name)
            found[node] = [Timed(name, 0.0)]
    edges: dict[tuple[str, str], None] = {}
    for node, others in after.items():
        for other in others:
            for before, behind in _pairs(found[node], found[other]):
                if before != behind or node == other:
                    edges[before, behind] = None
            if len(edges) > MAX_PAIRS:
                text = f"the tasks of the graph wait for more than {MAX_PAIRS} others"
                raise InputError(f"{text}, the most that are read")
    return Order([*tasks.values()], [*edges], joins)


def _graph(text: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the label of each node, and the edges."""
    text = text.lstrip("\ufeff \t\r\n")
    if not text.startswith("{"):
        return labelled(text)
    try:
        table = table_in(text, "", ".json")
    except FileError as error:
        raise FileError(f"is not JSON{error}") from None
    pairs = []
    for name, before in table.items():
        if not isinstance(before, list) or not all(isinstance(each, str) for each in before):
            message = f"{quoted(before)} is not allowed; it is a list of the names it waits for"
            raise FileError([Mistake(name, message)])
        pairs += [(each, name) for each in before]
    return {name: name for pair in pairs for name in pair} | {name: name for name in table}, pairs


def _left(
    labels: dict[str, str], pairs: Sequence[tuple[str, str]], found: dict[str, list[Timed]]
) -> dict[str, dict[str, None]]:
    """Return the nodes after each node, without most of those that have no tasks.

    A node stays where it would become many more edges than it has.
    """
    after: dict[str, dict[str, None]] = {node: {} for node in labels}
    before: dict[str, dict[str, None]] = {node: {} for node in labels}
    for a, b in pairs:
        after[a][b] = before[b][a] = None
    for node in labels:
        sources, targets = before[node], after[node]
        edges = len(sources) + len(targets)
        if node in found or node in sources or len(sources) * len(targets) > edges + MORE:
            continue
        for source in sources:
            del after[source][node]
            after[source].update(targets)
        for target in targets:
            del before[target][node]
            before[target].update(sources)
        del after[node], before[node]
    return after


def _pairs(before: Sequence[Timed], after: Sequence[Timed]) -> Iterator[tuple[str, str]]:
    """Yield which tasks of one node wait for which of another.

    A task waits for those of its tag, or else for those that had ended when it was submitted.
    """
    alike: dict[str, list[Timed]] = {}
    for task in before:
        alike.setdefault(task.key, []).append(task)
    for task in after:
        same = alike.get(task.key, ()) if task.key else ()
        for each in same or before:
            late = None not in (each.end, task.begin) and each.end > task.begin + SLACK  # type: ignore[operator]
            if same or not late:
                yield each.name, task.name
