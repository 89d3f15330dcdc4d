"""The slots of equal tasks by trying all sets, and the scheduled graph spelled out."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np

from makespan import Dag


def slots_needed(dag: Dag, processors: int) -> int:
    """Return the least number of slots for equal tasks, by dynamic programming over sets done."""
    count = len(dag)
    before = [0] * count
    for a, b in zip(dag.source.tolist(), dag.target.tolist(), strict=True):
        before[b] |= 1 << a
    everything = (1 << count) - 1

    @cache
    def least(done: int) -> int:
        if done == everything:
            return 0
        ready = [t for t in range(count) if not done >> t & 1 and before[t] & ~done == 0]
        if len(ready) <= processors:
            return 1 + least(done | sum(1 << task for task in ready))
        from itertools import combinations

        choices = combinations(ready, processors)
        return 1 + min(least(done | sum(1 << task for task in chosen)) for chosen in choices)

    return least(0)


def scheduled_graph_length(
    dag: Dag, task: np.ndarray, edge: np.ndarray, cluster: list[int], *, zeroed: bool = True
) -> float:
    """Return the parallel time of a clustering: build the scheduled graph, walk all its paths."""
    edges = list(zip(dag.source.tolist(), dag.target.tolist(), edge.tolist(), strict=True))
    count = len(dag)

    def level(node: int) -> float:
        ahead = [
            (0.0 if zeroed and cluster[a] == cluster[b] else size) + level(b)
            for a, b, size in edges
            if a == node
        ]
        return float(task[node]) + max(ahead, default=0.0)

    heights = [level(node) for node in range(count)]
    follows: list[tuple[int, int, float]] = [
        (a, b, 0.0 if cluster[a] == cluster[b] else size) for a, b, size in edges
    ]
    for label in set(cluster):
        inside = sorted(
            (n for n in range(count) if cluster[n] == label), key=lambda n: (-heights[n], n)
        )
        follows += [(a, b, 0.0) for a, b in pairwise(inside)]

    @cache
    def longest_from(node: int) -> float:
        ahead = (size + longest_from(b) for a, b, size in follows if a == node)
        return float(task[node]) + max(ahead, default=0.0)

    return max(longest_from(node) for node in range(count))
