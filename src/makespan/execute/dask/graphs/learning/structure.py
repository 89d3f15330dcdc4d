"""What makes two graphs the same: kinds of tasks, how they hang together, sizes of what goes in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from makespan.execute.dask.graphs.work import Work
from makespan.taskgraph.model.dag import Dag


@dataclass(frozen=True, kw_only=True)
class Structure:
    """A graph whose tasks are numbered alike whatever tokens its keys hold.

    Parameters
    ----------
    work
        The tasks.
    keys
        Their keys, by number.
    edges
        (source, target) by number.
    kinds
        The name of each task without tokens and indices.
    sources
        What tells the tasks without inputs from others: how large what they hold is.
    """

    work: Work
    keys: tuple[Any, ...]
    edges: tuple[tuple[int, int], ...]
    kinds: tuple[str, ...]
    sources: tuple[Any, ...]

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

    Each task gets a colour of its kind and of its inputs' colours, then one of that and of those
    of the tasks that need it. They are numbered on a walk from the last ones back, by colour, those
    of one colour by name; where that numbers edges otherwise than before, the graph counts as
    another one.

    Source: B. Weisfeiler and A. Leman, The reduction of a graph to canonical form and the algebra
    which appears therein, 1968, for the colours.
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
