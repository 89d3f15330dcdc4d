"""The linear programme of a tree for given orders of service."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_matrix


def best_makespan(load, parent, send, compute, order):
    """Return the least makespan of a linear tree.

    Variables: what each node computes, when the message to each node has arrived, the makespan.
    ``order[v]`` is the order in which v serves its children; a message carries the subtree's load.
    """
    count = len(parent)
    below = [[node] for node in range(count)]  # every node of the subtree
    depth_first = sorted(range(count), key=lambda node: -_depth(parent, node))
    for node in depth_first:
        if parent[node] >= 0:
            below[parent[node]] += below[node]
    width = 2 * count + 1
    rows = lil_matrix((sum(len(children) for children in order) + count, width))
    row = 0
    for node in range(count):
        before = node  # the arrival that a message waits for: the parent's, then its sibling's
        for child in order[node]:
            rows[row, count + before] = 1.0
            for member in below[child]:
                rows[row, member] += send[child]
            rows[row, count + child] = -1.0
            before = child
            row += 1
        rows[row, count + node] = 1.0
        rows[row, node] = compute[node]
        rows[row, 2 * count] = -1.0
        row += 1
    total = np.zeros((1, width))
    total[0, :count] = 1.0
    cost = np.zeros(width)
    cost[-1] = 1.0
    solved = linprog(
        cost, A_ub=rows.tocsr(), b_ub=np.zeros(row), A_eq=total, b_eq=[load], bounds=(0, None)
    )
    assert solved.status == 0, solved.message
    return float(solved.fun)


def _depth(parent, node):
    steps = 0
    while parent[node] >= 0:
        node, steps = parent[node], steps + 1
    return steps
