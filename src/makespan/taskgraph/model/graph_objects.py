"""The tasks and edges of networkx graphs, of Dask collections and of Dask graphs."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from makespan.core.errors import ProblemError
from makespan.core.inputs.rules import Mistakes, quoted
from makespan.core.system.startup import optional
from makespan.taskgraph.model.attributes import SIZE, WORK, Elements, Quantity


def arguments_of(
    graph: Any, *, work: str | None = None, size: str | None = None, default_work: float = 1.0
) -> dict[str, Any]:
    """Return a ``networkx.DiGraph`` as the arguments of :class:`Dag`; see there."""
    if not graph.is_directed():
        raise ProblemError("the graph has no directions; a graph of tasks is a DiGraph")
    nodes = list(graph.nodes(data=True))
    name = {node: str(node) for node, _ in nodes}
    elements = Elements(
        lambda node, key: f"nodes[{quoted(node)}].{key}",
        lambda ends, key: f"edges[{quoted(ends)}].{key}",
        replace(_asked(WORK, work), default=default_work),
        _asked(SIZE, size),
    )
    entries = [(name[node], elements.works.entry(data.items(), node)) for node, data in nodes]
    links = [
        (*ends, elements.sizes.entry(data.items(), ends))
        for a, b, data in graph.edges(data=True)
        for ends in [(name[a], name[b])]
    ]
    return elements.arguments(entries, links, Mistakes(), ProblemError)


def _asked(quantity: Quantity, key: str | None) -> Quantity:
    """Return the quantity, looked for under the one key that was asked for."""
    return quantity if key is None else replace(quantity, keys=(key.lower(),))


Measure = Callable[[Any], float]


def tasks_and_edges(
    graph: Any, *, work: Measure | None = None, size: Measure | None = None
) -> tuple[list[tuple[str, float]], list[tuple[str, str, float]]]:
    """Return the tasks and edges of a Dask collection or graph, as :class:`Dag` takes them.

    Names are the keys: a text as it is, a tuple as ``name[0,1]``. An edge has the size of the
    result of its source.
    Raises MissingExtra if Dask is not installed.
    """
    names, dependencies = _graph(graph)
    tasks = [(name, 1.0 if work is None else work(key)) for key, name in names.items()]
    edges = []
    for key, name in names.items():
        before = sorted(names[each] for each in dependencies[key])
        by_name = {names[each]: each for each in dependencies[key]}
        for source in before:
            edges.append((source, name, 1.0 if size is None else size(by_name[source])))
    return tasks, edges


def _graph(graph: Any) -> tuple[dict[Any, str], dict[Any, set[Any]]]:
    """Return names of keys, and what each key depends on.

    A given graph keeps its order. The keys of a collection are sorted by name and indices: their
    own order follows from the seed of hashes.
    """
    get_dependencies = optional("dask.core").get_dependencies
    is_collection = optional("dask.base").is_dask_collection(graph)
    if is_collection:
        graph = graph.__dask_graph__()
    if not isinstance(graph, Mapping):
        raise ProblemError(f"{quoted(graph)} is neither a Dask collection nor a Dask graph")
    nodes = dict(graph)
    keys = sorted(nodes, key=sorted_by) if is_collection else list(nodes)
    return {key: key_name(key) for key in keys}, {key: get_dependencies(nodes, key) for key in keys}


def sorted_by(key: Any) -> tuple[str, tuple[tuple[int, str], ...]]:
    """Return the prefix and the indices of a key, numbers in the order of their values."""
    if not isinstance(key, tuple) or not key:
        return str(key), ()
    return str(key[0]), tuple(
        (part, "") if isinstance(part, int) else (-1, str(part)) for part in key[1:]
    )


def key_name(key: Any) -> str:
    """Return the name of a key.

    >>> key_name(("sum", 0, 1)), key_name("x")
    ('sum[0,1]', 'x')
    """
    if isinstance(key, tuple) and key:
        return f"{key[0]}[{','.join(map(str, key[1:]))}]"
    return str(key)
