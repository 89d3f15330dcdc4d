"""networkx graphs."""

from __future__ import annotations

from typing import Any

from makespan.taskgraph.dag import Dag


def dag_of(graph: Any, *, work: str = "work", size: str = "size", default_work: float = 1.0) -> Dag:
    """Return the graph of a ``networkx.DiGraph``; see :meth:`Dag.from_networkx`."""
    nodes = list(graph.nodes(data=True))
    name = {node: str(node) for node, _ in nodes}
    edges = [(name[a], name[b], data.get(size, 0.0)) for a, b, data in graph.edges(data=True)]
    return Dag([(name[node], data.get(work, default_work)) for node, data in nodes], edges)


def graph_of(dag: Dag) -> Any:
    """Return a ``networkx.DiGraph`` with the attributes ``work`` and ``size``.

    Raises
    ------
    MissingExtra
        If networkx is not installed.
    """
    from makespan.core.errors import MissingExtra

    try:
        import networkx
    except ImportError as error:
        raise MissingExtra("networkx is not installed; 'pip install networkx' brings it") from error
    graph = networkx.DiGraph()
    for name, work in zip(dag.names, dag.work.tolist(), strict=True):
        graph.add_node(name, work=work)
    for a, b, size in zip(dag.source.tolist(), dag.target.tolist(), dag.size.tolist(), strict=True):
        graph.add_edge(dag.names[a], dag.names[b], size=size)
    return graph
