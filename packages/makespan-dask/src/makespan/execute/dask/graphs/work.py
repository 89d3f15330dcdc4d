"""What is to be computed: the tasks of a Dask collection after Dask's own optimisation."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from makespan.core.cached import cached_property
from makespan.core.errors import InputError
from makespan.core.inputs.rules import quoted
from makespan.core.numeric.sorting import inverse
from makespan.core.system.startup import optional
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.model.graph_objects import key_name, sorted_by

LOCKS = sys.version_info < (3, 12)
"""Whether a cached property locks all objects of its class while it is made.

Expressions take such locks inside each other. A thread of ours that works tasks out and the
caller's, which makes its next dataframe, would each wait for what the other holds, without end.
"""


class Work:
    """What is asked for; the tasks that make it are worked out when they are needed.

    ``packed`` makes the answer of the wanted results, in the order of ``keys``. ``handed`` hands
    all to Dask's scheduler as Dask itself would, and returns the futures of the wanted results.
    ``likeness`` is told quickly, and the same for what looks alike. ``locks``: the tasks come of
    expressions, as those of dataframes do.
    """

    def __init__(
        self,
        tasks: Callable[[], tuple[dict[Any, Any], tuple[Any, ...]]],
        packed: Callable[[Sequence[Any]], Any],
        handed: Callable[[Any], list[Any]],
        likeness: Callable[[], Hashable],
        *,
        locks: bool = False,
    ) -> None:
        self._tasks, self.packed, self.handed, self.likeness = tasks, packed, handed, likeness
        self._locks = locks and LOCKS

    @cached_property
    def _needed(self) -> tuple[dict[Any, Any], tuple[Any, ...]]:
        nodes, keys = self._tasks()
        return _needed(nodes, keys), keys

    @property
    def nodes(self) -> dict[Any, Any]:
        """The tasks by key, only those needed, in an order that does not depend on hashes."""
        return self._needed[0]

    def prepare_for_threads(self) -> None:
        """Work the tasks out now where another thread may not, see :data:`LOCKS`."""
        if self._locks:
            _ = self._needed

    @property
    def keys(self) -> tuple[Any, ...]:
        """The keys whose results are wanted."""
        return self._needed[1]

    @cached_property
    def tokens(self) -> dict[int, str]:
        """The tokens of finalising tasks, which Dask draws at random, by the place of their key."""
        places = {place: key for place, key in enumerate(self.keys) if isinstance(key, str)}
        return {
            place: key.rpartition("-")[2]
            for place, key in places.items()
            if key.startswith("finalize-")
        }

    @cached_property
    def shuffled(self) -> bool:
        """Whether there is a peer-to-peer shuffle, whose data do not pass along edges."""
        return any(type(node).__name__.startswith("P2P") for node in self.nodes.values())

    @cached_property
    def names(self) -> dict[Any, str]:
        """The name of each key, as in a :class:`makespan.TaskGraph` of it."""
        names = {key: key_name(key) for key in self.nodes}
        for place, token in self.tokens.items():
            names = {key: name.replace(token, str(place)) for key, name in names.items()}
        return names

    @cached_property
    def key_of(self) -> dict[str, Any]:
        """The key of each name."""
        return {name: key for key, name in self.names.items()}

    def named_as(self, wanted: Sequence[Any]) -> dict[Any, Any]:
        """Return each key's name where the wanted results are called so: with other tokens."""
        new = {t: str(wanted[place]).rpartition("-")[2] for place, t in self.tokens.items()}

        def renamed(key: Any) -> Any:
            if isinstance(key, tuple):
                return (renamed(key[0]), *key[1:])
            if isinstance(key, str) and "finalize-" in key:
                for token, other in new.items():
                    key = key.replace(token, other)
            return key

        return {key: renamed(key) for key in self.nodes}

    def inputs(self, key: Any) -> list[Any]:
        """Return the tasks whose results a task needs, in the order of the tasks."""
        before = self.nodes[key].dependencies
        return sorted((each for each in before if each in self.nodes), key=sorted_by)

    def edges(self) -> list[tuple[Any, Any]]:
        """Return (source, target) of all edges."""
        return [(source, key) for key in self.nodes for source in self.inputs(key)]


def work_of(collection: Any, keys: Any = None, *, optimize_graph: bool = True) -> Work:
    """Return the tasks of a collection, of collections in containers, or of a graph.

    Containers are those that ``dask.compute`` looks into, with a collection in them at any depth. A
    graph is a mapping, with the key, or (nested) list of ``keys``, that are wanted.
    ``optimize_graph``: Dask optimises collections first.
    """
    optional("dask._task_spec")
    optional("dask._expr")
    from dask._expr import Expr
    from dask.base import is_dask_collection, unpack_collections

    if keys is not None:
        if not isinstance(collection, Mapping) or is_dask_collection(collection):
            raise InputError("keys: belong to a graph; a collection is computed as a whole")
        return _of_graph(collection, keys)
    found, repack = unpack_collections(collection)
    if not found and isinstance(collection, Mapping):
        raise InputError("keys: are missing; a graph is computed for keys of it")
    if not found:
        raise InputError(
            f"collection: {quoted(collection)} is not a Dask collection, a container of them "
            "or a graph"
        )
    many, place = _grouped(found, optimize_graph)

    def packed(results: Sequence[Any]) -> Any:
        return repack([results[each] for each in place])[0]

    return Work(
        partial(_optimised, many, optimize_graph),
        packed,
        lambda client: list(client.compute(many, optimize_graph=optimize_graph)),
        lambda: (optimize_graph, *map(_likeness, many)),
        locks=any(isinstance(getattr(one, "expr", None), Expr) for one in many),
    )


def _grouped(found: Sequence[Any], optimize_graph: bool) -> tuple[list[Any], list[int]]:
    """Return collections by what optimises them, and the place of each that was found there.

    Dask puts those together that one function optimises, and returns results in that order, not
    in that of the call: in version 2026.8 ``dask.compute(array, delayed, array)`` swaps two.
    """
    from dask._expr import HLGExpr
    from dask.base import collections_to_expr

    groups: dict[Any, list[int]] = {}
    for number, each in enumerate(collections_to_expr(found, optimize_graph).operands):
        optimiser = each.low_level_optimizer if isinstance(each, HLGExpr) else None
        groups.setdefault(optimiser, []).append(number)
    order = [number for group in groups.values() for number in group]
    return [found[number] for number in order], inverse(np.array(order)).tolist()


def _optimised(many: list[Any], optimize_graph: bool) -> tuple[dict[Any, Any], tuple[Any, ...]]:
    """Return what Dask makes of collections, and the wanted keys."""
    from dask._expr import FinalizeCompute
    from dask._task_spec import convert_legacy_graph
    from dask.base import collections_to_expr
    from dask.core import flatten

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # Dask has warned when it was handed over
        expression = FinalizeCompute(collections_to_expr(many, optimize_graph)).optimize()
    nodes = convert_legacy_graph(expression.__dask_graph__())
    return nodes, tuple(flatten(expression.__dask_keys__()))


def _likeness(collection: Any) -> Hashable:
    """Return what a collection looks like, without working out its tasks."""
    from dask._expr import Expr
    from dask.blockwise import Blockwise
    from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
    from dask.utils import key_split

    found = (getattr(collection, name, None) for name in ("chunks", "npartitions"))
    shape = str([each for each in found if isinstance(each, (tuple, int))])
    inside: Any = getattr(collection, "__dask_exprs__", tuple)() or ()  # of what holds arrays
    expressions = [e for e in (getattr(collection, "expr", None), *inside) if isinstance(e, Expr)]
    if expressions:
        parts = [type(each).__name__ for expression in expressions for each in expression.walk()]
    elif isinstance(graph := collection.__dask_graph__(), HighLevelGraph):
        parts = [
            f"{key_split(name)} {len(layer) if counted else ''}"
            for name, layer in graph.layers.items()
            for counted in [isinstance(layer, (Blockwise, MaterializedLayer))]  # from the start on
        ]
    else:
        parts = [str(key_split(key)) for key in graph]
    return type(collection).__name__, shape, tuple(sorted(Counter(parts).items()))


def _of_graph(graph: Mapping[Any, Any], keys: Any) -> Work:
    from dask._task_spec import convert_legacy_graph
    from dask.core import flatten
    from dask.utils import key_split

    wanted = tuple(flatten([keys]))
    missing = [key for key in wanted if key not in graph]
    if missing:
        raise InputError(f"keys: {quoted(missing[0])} is not a key of the graph")

    def packed(results: Sequence[Any]) -> Any:
        return _nested(keys, iter(results))

    return Work(
        lambda: (convert_legacy_graph(dict(graph)), wanted),
        packed,
        lambda client: list(client.get(dict(graph), list(wanted), sync=False)),
        lambda: (len(wanted), *sorted(Counter(str(key_split(key)) for key in graph).items())),
    )


def _nested(keys: Any, results: Iterator[Any]) -> Any:
    if isinstance(keys, list):
        return [_nested(each, results) for each in keys]
    return next(results)


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


@dataclass(frozen=True, kw_only=True)
class Structure:
    """A graph whose tasks are numbered alike whatever tokens its keys hold."""

    work: Work
    keys: tuple[Any, ...]  # of the tasks, by number
    edges: tuple[tuple[int, int], ...]  # (source, target) by number
    kinds: tuple[str, ...]  # the name of each task without tokens and indices
    sources: tuple[Any, ...]  # of tasks without inputs from others: how large what they hold is

    @property
    def same(self) -> int:
        """A number that is the same for the same structure."""
        return hash((self.kinds, self.edges, self.sources))

    def dag(self, seconds: Any = 0.0, sizes: Any = 0.0) -> Dag:
        """Return the graph with seconds of each task (on each worker), and bytes of each result."""
        source, target = np.array(self.edges, dtype=np.int64).reshape(-1, 2).T
        count = len(self.keys)
        table = np.asarray(seconds, dtype=np.float64)
        given = {"durations": table} if table.ndim == 2 else {"work": np.broadcast_to(table, count)}
        return Dag.from_arrays(
            **given,
            source=source,
            target=target,
            size=np.broadcast_to(sizes, count)[source],
            names=[self.work.names[key] for key in self.keys],
        )


def structure_of(work: Work) -> Structure:
    """Number the tasks by what they need and by what needs them; O(n + e log e).

    Each task gets a colour of its kind and of its inputs' colours, then one of that and of those of
    the tasks that need it. They are numbered on a walk from the last ones back, by colour, those of
    one colour by name; where that numbers edges otherwise than before, the graph counts as another
    one. Source: B. Weisfeiler and A. Leman, The reduction of a graph to canonical form and the
    algebra which appears therein, 1968, for the colours.
    """
    from dask.utils import key_split

    nodes = work.nodes
    before = {key: [each for each in nodes[key].dependencies if each in nodes] for key in nodes}
    after: dict[Any, list[Any]] = {key: [] for key in nodes}
    for key, inputs in before.items():
        for each in inputs:
            after[each].append(key)
    waits = {key: len(inputs) for key, inputs in before.items()}
    order = [key for key, count in waits.items() if not count]
    for key in order:
        for each in after[key]:
            waits[each] -= 1
            if not waits[each]:
                order.append(each)
    kind = {key: str(key_split(key)) for key in order}
    held = {key: None if before[key] else _extent(nodes[key]) for key in order}
    up: dict[Any, int] = {}
    for key in order:
        place = key[1:] if isinstance(key, tuple) else ()
        inputs = sorted(up[each] for each in before[key])
        up[key] = hash((kind[key], place, held[key], tuple(inputs)))
    colour: dict[Any, int] = {}
    for key in reversed(order):
        colour[key] = hash((up[key], tuple(sorted(colour[each] for each in after[key]))))
    keys = _walked(colour, before, after)
    number = {key: index for index, key in enumerate(keys)}
    edges = sorted((number[each], number[key]) for key in keys for each in before[key])
    return Structure(
        work=work,
        keys=tuple(keys),
        edges=tuple(edges),
        kinds=tuple(kind[key] for key in keys),
        sources=tuple(held[key] for key in keys),
    )


def _walked(
    colour: dict[Any, int], before: dict[Any, list[Any]], after: dict[Any, list[Any]]
) -> list[Any]:
    """Return the tasks, each behind all that it needs, as a walk from the last ones meets them."""
    found: dict[Any, None] = {}
    waiting = sorted((key for key in colour if not after[key]), key=colour.__getitem__)[::-1]
    while waiting:
        key = waiting[-1]
        left = [each for each in before[key] if each not in found]
        if left and key not in found:
            waiting += sorted(left, key=colour.__getitem__, reverse=True)
        else:
            found[waiting.pop()] = None
    return list(found)


def _extent(node: Any) -> tuple[Any, ...]:
    """Return how large the plain values are that a task holds."""
    values = node.args if hasattr(node, "args") else (getattr(node, "value", None),)
    return tuple(_size(value) for value in values)


def _size(value: Any) -> Any:
    if hasattr(value, "shape"):
        return tuple(value.shape)
    if isinstance(value, slice):
        plain = isinstance(value.start, int) and isinstance(value.stop, int)
        return value.stop - value.start if plain else None
    if isinstance(value, tuple):
        whole = value and all(isinstance(each, int) for each in value)
        return value if whole else tuple(_size(each) for each in value)
    return len(value) if isinstance(value, (str, bytes, list)) else None
