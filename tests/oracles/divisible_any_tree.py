"""Any small tree, by trying who computes and in which order every node serves its children."""

from __future__ import annotations

import math
from itertools import chain, combinations, islice, permutations, product

import numpy as np
from scipy.optimize import linprog

from makespan import DivisibleLoad, Tree

MAX_CHOICES = 700


def covers_tree(problem: DivisibleLoad) -> bool:
    """Whether all choices are tried."""
    return sum(1 for _ in islice(_choices(problem.platform), MAX_CHOICES + 1)) <= MAX_CHOICES


def best_of_tree(problem: DivisibleLoad) -> float | None:
    """Return the least makespan, or the most load by the deadline; None where there is no plan."""
    tried = islice(_choices(problem.platform), MAX_CHOICES)
    reached = [value for choice in tried if (value := _value(problem, *choice)) is not None]
    if not reached:
        return None
    return max(reached) if problem.load is None else min(reached)


def _above(tree: Tree, node: int) -> list[int]:
    """Return the nodes on the way from a node to the root, without the root."""
    return [] if node == tree.root else [node, *_above(tree, int(tree.parent[node]))]


def _choices(tree: Tree):
    """Iterate over who computes, and the served children of every node in order."""
    able = np.flatnonzero(tree.computes).tolist()
    for busy in chain(*(combinations(able, size) for size in range(len(able) + 1))):
        reached = set(chain(*(_above(tree, node) for node in busy)))
        served = [[child for child in children if child in reached] for children in tree.children]
        for orders in product(*(permutations(children) for children in served)):
            yield busy, orders


def _value(problem: DivisibleLoad, busy: tuple[int, ...], orders) -> float | None:
    """Return the best value by linear programme: amounts, arrivals and the makespan."""
    tree = problem.platform
    count = len(tree)
    end = 2 * count
    rows, limits = [], []
    below = [[each for each in busy if node in _above(tree, each)] for node in range(count)]

    def at_most(terms, limit):
        row = np.zeros(end + 1)
        for column, value in terms:
            row[column] += value
        rows.append(row)
        limits.append(limit)

    for node, served in enumerate(orders):
        before = node  # whose arrival the next message waits for
        for child in served:
            data = [(each, tree.send_per_unit[child]) for each in below[child]]
            at_most([(count + before, 1.0), *data, (count + child, -1.0)], -tree.send_fixed[child])
            before = child
    for node in busy:
        done = [(count + node, 1.0), (node, tree.compute_per_unit[node]), (end, -1.0)]
        at_most(done, -tree.compute_fixed[node])
    bounds = [(0, math.inf if node in busy else 0) for node in range(count)]
    bounds += [(0, 0 if node == tree.root else math.inf) for node in range(count)]
    bounds.append((0, math.inf if problem.deadline is None else problem.deadline))
    total = np.zeros(end + 1)
    total[:count] = 1.0
    cost, equal = -total, {}
    if problem.load is not None:
        cost = np.zeros(end + 1)
        cost[end] = 1.0
        equal = {"A_eq": [total], "b_eq": [problem.load]}
    matrix = {"A_ub": np.array(rows), "b_ub": limits} if rows else {}
    solved = linprog(cost, **matrix, **equal, bounds=bounds)
    if solved.status == 2:
        return None
    if solved.status in (3, 4) and problem.load is None:
        return math.inf
    assert solved.status == 0, solved.message
    return abs(float(solved.fun))
