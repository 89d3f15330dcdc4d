"""What is to be computed: the tasks of a Dask collection after Dask's own optimisation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from makespan.core.errors import InputError
from makespan.core.inputs.mistakes import shown
from makespan.core.system.extras import optional
from makespan.taskgraph.formats.dask_graph import key_name, sorted_by


@dataclass(frozen=True, kw_only=True)
class Work:
    """Tasks, and how their results become what was asked for.

    Parameters
    ----------
    nodes
        The tasks by key, only those that are needed, in an order that does not depend on hashes.
    keys
        The keys whose results are wanted.
    packed
        Makes the answer of the results by key.
    tokens
        Parts of keys that differ from call to call, and what stands for them in names.
    """

    nodes: Mapping[Any, Any]
    keys: tuple[Any, ...]
    packed: Callable[[Mapping[Any, Any]], Any]
    tokens: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def shuffled(self) -> bool:
        """Whether there is a peer-to-peer shuffle, whose data do not pass along edges."""
        return any(type(node).__name__.startswith("P2P") for node in self.nodes.values())

    @cached_property
    def names(self) -> dict[Any, str]:
        """The name of each key, as in a :class:`makespan.TaskGraph` of it."""
        names = {key: key_name(key) for key in self.nodes}
        for token, stable in self.tokens.items():
            names = {key: name.replace(token, stable) for key, name in names.items()}
        return names

    @cached_property
    def key_of(self) -> dict[str, Any]:
        """The key of each name."""
        return {name: key for key, name in self.names.items()}

    def inputs(self, key: Any) -> list[Any]:
        """Return the tasks whose results a task needs, in the order of the tasks."""
        before = self.nodes[key].dependencies
        return sorted((each for each in before if each in self.nodes), key=sorted_by)

    def edges(self) -> list[tuple[Any, Any]]:
        """Return (source, target) of all edges."""
        return [(source, key) for key in self.nodes for source in self.inputs(key)]


def work_of(collection: Any, keys: Any = None) -> Work:
    """Return the tasks of a collection, of a list of collections, or of a graph.

    Parameters
    ----------
    collection
        A Dask collection, a list or tuple of them, or a graph (a mapping) with ``keys``.
    keys
        The key, or (nested) list of keys, of a graph that are wanted.

    Raises
    ------
    InputError
        If it is none of these.
    MissingExtra
        Without a Dask that plans expressions (2025.1).
    """
    optional("dask._task_spec")
    optional("dask._expr")
    from dask._task_spec import convert_legacy_graph
    from dask.base import collections_to_expr, is_dask_collection

    if isinstance(collection, Mapping):
        if keys is None:
            raise InputError("keys: are missing; a graph is computed for keys of it")
        return _of_graph(convert_legacy_graph(dict(collection)), keys)
    if keys is not None:
        raise InputError("keys: belong to a graph; a collection is computed as a whole")
    single = is_dask_collection(collection)
    many = [collection] if single else collection
    if not isinstance(many, (list, tuple)) or not many or not all(map(is_dask_collection, many)):
        raise InputError(
            f"collection: {shown(collection)} is not a Dask collection, a list of them or a graph"
        )
    from dask._expr import FinalizeCompute
    from dask.core import flatten

    expression = FinalizeCompute(collections_to_expr(list(many))).optimize()
    wanted = tuple(flatten(expression.__dask_keys__()))
    kind = type(many)

    def packed(results: Mapping[Any, Any]) -> Any:
        found = [results.get(key) for key in wanted]
        return found[0] if single else kind(found)

    nodes = _needed(convert_legacy_graph(expression.__dask_graph__()), wanted)
    return Work(nodes=nodes, keys=wanted, packed=packed, tokens=_tokens(wanted))


def _tokens(keys: tuple[Any, ...]) -> dict[str, str]:
    """Return the tokens of finalising tasks, which Dask draws at random."""
    return {
        key.rpartition("-")[2]: str(number)
        for number, key in enumerate(keys)
        if isinstance(key, str) and key.startswith("finalize-")
    }


def _of_graph(nodes: dict[Any, Any], keys: Any) -> Work:
    from dask.core import flatten

    wanted = tuple(flatten([keys]))
    missing = [key for key in wanted if key not in nodes]
    if missing:
        raise InputError(f"keys: {shown(missing[0])} is not a key of the graph")

    def packed(results: Mapping[Any, Any]) -> Any:
        return _nested(keys, results)

    return Work(nodes=_needed(nodes, wanted), keys=wanted, packed=packed)


def _nested(keys: Any, results: Mapping[Any, Any]) -> Any:
    if isinstance(keys, list):
        return [_nested(each, results) for each in keys]
    return results.get(keys)


def _needed(nodes: Mapping[Any, Any], keys: tuple[Any, ...]) -> dict[Any, Any]:
    """Return the tasks that the wanted ones need, in the order of their keys."""
    seen: set[Any] = set()
    waiting = list(keys)
    while waiting:
        key = waiting.pop()
        if key not in seen and key in nodes:
            seen.add(key)
            waiting += nodes[key].dependencies
    return {key: nodes[key] for key in sorted(seen, key=sorted_by)}
