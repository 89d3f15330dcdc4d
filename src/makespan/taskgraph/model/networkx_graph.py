"""The tasks and edges of networkx graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from makespan.core.errors import ProblemError
from makespan.core.inputs.mistakes import Mistakes, quoted
from makespan.taskgraph.model.attributes import SIZE, WORK, Column, Quantity


def arguments_of(
    graph: Any, *, work: str | None = None, size: str | None = None, default_work: float = 1.0
) -> dict[str, Any]:
    """Return a ``networkx.DiGraph`` as the arguments of :class:`Dag`; see there."""
    if not graph.is_directed():
        raise ProblemError("the graph has no directions; a graph of tasks is a DiGraph")
    nodes = list(graph.nodes(data=True))
    name = {node: str(node) for node, _ in nodes}
    links = [((name[a], name[b]), data) for a, b, data in graph.edges(data=True)]
    works = Column(
        replace(_asked(WORK, work), default=default_work),
        lambda node, key: f"nodes[{quoted(node)}].{key}",
    )
    sizes = Column(_asked(SIZE, size), lambda ends, key: f"edges[{quoted(ends)}].{key}")
    mistakes = Mistakes()
    entries = [works.entry(data.items(), node) for node, data in nodes]
    work_of = works.numbers(entries, mistakes)
    cores = works.cores(name.values(), entries, mistakes)
    size_of = sizes.numbers([sizes.entry(data.items(), ends) for ends, data in links], mistakes)
    mistakes.raise_if_any(ProblemError)
    return {
        "tasks": list(zip(name.values(), work_of, strict=True)),
        "edges": [(*ends, size) for (ends, _), size in zip(links, size_of, strict=True)],
        "cores": cores,
        "notes": (*works.notes, *sizes.notes),
    }


def _asked(quantity: Quantity, key: str | None) -> Quantity:
    """Return the quantity, looked for under the one key that was asked for."""
    return quantity if key is None else replace(quantity, keys=(key.lower(),))
