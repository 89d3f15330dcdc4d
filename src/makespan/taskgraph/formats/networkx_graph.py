"""networkx graphs, and GraphML, which networkx reads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from makespan.core.errors import FileError, ProblemError
from makespan.core.inputs.mistakes import Mistakes, shown
from makespan.core.inputs.xml import root_of
from makespan.core.system.extras import optional
from makespan.taskgraph.formats.attributes import SIZE, WORK, Column, Quantity
from makespan.taskgraph.model.dag import Dag


def dag_of(
    graph: Any, *, work: str | None = None, size: str | None = None, default_work: float = 1.0
) -> Dag:
    """Return the graph of a ``networkx.DiGraph``; see :meth:`Dag.from_networkx`."""
    if not graph.is_directed():
        raise ProblemError("the graph has no directions; a graph of tasks is a DiGraph")
    nodes = list(graph.nodes(data=True))
    name = {node: str(node) for node, _ in nodes}
    links = [((name[a], name[b]), data) for a, b, data in graph.edges(data=True)]
    works = Column(
        replace(_asked(WORK, work), default=default_work),
        lambda node, key: f"nodes[{shown(node)}].{key}",
    )
    sizes = Column(_asked(SIZE, size), lambda ends, key: f"edges[{shown(ends)}].{key}")
    mistakes = Mistakes()
    entries = [works.entry(data.items(), node) for node, data in nodes]
    work_of = works.numbers(entries, mistakes)
    cores = works.cores(name.values(), entries, mistakes)
    size_of = sizes.numbers([sizes.entry(data.items(), ends) for ends, data in links], mistakes)
    mistakes.raise_if_any(ProblemError)
    return Dag(
        list(zip(name.values(), work_of, strict=True)),
        [(*ends, size) for (ends, _), size in zip(links, size_of, strict=True)],
        cores=cores,
        notes=(*works.notes, *sizes.notes),
    )


def _asked(quantity: Quantity, key: str | None) -> Quantity:
    """Return the quantity, looked for under the one key that was asked for."""
    return quantity if key is None else replace(quantity, keys=(key.lower(),))


def read_graphml(text: str) -> Dag:
    """Return the graph of a GraphML document.

    Raises
    ------
    FileError
        If it is not one, or holds what a graph of tasks can't be.
    MissingExtra
        If networkx is not installed.
    """
    import warnings

    networkx = optional("networkx")
    root = root_of(text, "graphml", "GraphML")
    if (count := sum(each.tag.endswith("}graph") for each in root.iter())) != 1:
        raise FileError(f"holds {count} graphs; one is read, without graphs inside its nodes")
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            graph = networkx.parse_graphml(text)
    except networkx.NetworkXError as error:
        raise FileError(f"is not GraphML: {error}") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise FileError(f"is not GraphML as networkx reads it: {shown(error)}") from None
    dag = dag_of(graph)
    dag.notes = (*(f"networkx: {warning.message}" for warning in told), *dag.notes)
    return dag
