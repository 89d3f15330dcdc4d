"""Minimum cuts between nodes of a directed graph, by igraph."""

import sys
from collections.abc import Sequence
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any

from makespan.core.system.startup import startup

COMPILED = "igraph._igraph"


class MinCuts:
    """A directed graph of so many nodes, whose capacities change; ``edges`` are pairs of nodes.

    >>> MinCuts(3, [(0, 1), (1, 2), (0, 2)]).between(0, 2, [1.0, 0.5, 0.25])
    (0.75, [2])
    """

    def __init__(self, nodes: int, edges: Sequence[Sequence[int]]) -> None:
        self._graph = _graphs()(n=nodes, edges=edges, directed=True)

    def between(
        self, source: int, target: int, capacity: Sequence[float]
    ) -> tuple[float, list[int]]:
        """Return the least capacity of a cut, and the nodes on the side of the target.

        Of igraph's algorithm, push and relabel: Goldberg and Tarjan 1988, O(n³).
        """
        value, _, *sides = self._graph.mincut(source, target, capacity)
        return value, next(side for side in sides if target in side)


@cache
def _graphs() -> Any:
    """Return igraph's compiled graphs.

    The package around them imports what draws, where that is installed, matplotlib with its
    windows: that takes half a second, a quarter of a short limit.
    """
    with startup():
        package = None if "igraph" in sys.modules else find_spec("igraph")
        folder = package and package.submodule_search_locations
        found = PathFinder.find_spec(COMPILED, folder) if folder else None
        if found is not None and found.loader is not None and COMPILED not in sys.modules:
            sys.modules[COMPILED] = module_from_spec(found)
            found.loader.exec_module(sys.modules[COMPILED])
        if COMPILED in sys.modules:
            return sys.modules[COMPILED].GraphBase
        from igraph import GraphBase

        return GraphBase
