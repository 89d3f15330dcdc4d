"""Places of tasks in a drawing: layers from entry to exit, few crossings.

Source: Sugiyama, Tagawa and Toda 1981 (layers and barycentres; long edges are drawn straight).
"""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.placing.levels import colevels

SWEEPS = 8


def layered(dag: Dag) -> tuple[Floats, Floats]:
    """Return x and y of each task: y is its layer from 0, x its place there, centred.

    >>> x, y = layered(Dag({"a": 1, "b": 1, "c": 1}, [("a", "b"), ("a", "c")]))
    >>> x.tolist(), y.tolist()
    ([0.0, -0.5, 0.5], [0.0, 1.0, 1.0])
    """
    layer = colevels(dag, np.ones(len(dag)), np.zeros(len(dag.source))).astype(np.int64) - 1
    x = _centred(layer, np.arange(len(dag), dtype=np.float64))
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        above, below = (dag.source, dag.target) if downwards else (dag.target, dag.source)
        degree = np.bincount(below, minlength=len(dag))
        sums = np.bincount(below, weights=x[above], minlength=len(dag))
        wanted = np.where(degree > 0, sums / np.maximum(degree, 1), x)
        x = _centred(layer, wanted)
    return x, layer.astype(np.float64)


def _centred(layer: Integers, wanted: Floats) -> Floats:
    """Return places one apart in each layer, in the order that is wanted there."""
    order = np.lexsort((np.arange(len(layer)), wanted, layer))
    counts = np.bincount(layer)
    first = np.cumsum(counts) - counts
    x = np.empty(len(layer))
    place = np.arange(len(layer)) - first[layer[order]]
    x[order] = place - (counts[layer[order]] - 1) / 2
    return x
