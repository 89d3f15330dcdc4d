"""Fixed costs spread over what could be done at most: bounds no plan of a tree is better than."""

from __future__ import annotations

import random

import numpy as np
import pytest

from makespan import Affine, DivisibleLoad, ProblemError, Tree, solve
from makespan.divisible.bounds import bounds
from makespan.divisible.trees.equivalent import spread_tree
from tests.oracles.divisible_any_tree import best_of_tree
from tests.oracles.divisible_random import random_tree_problem
from tests.thorough import few


@pytest.mark.parametrize("seed", few(6, 1))
def test_no_tree_does_better(seed: int) -> None:
    """All choices of nodes and orders, with a load or the most by a deadline."""
    rng = random.Random(40 + seed)
    for _ in range(25):
        try:
            problem = random_tree_problem(rng)
        except ProblemError:
            continue
        known = best_of_tree(problem)
        if known is None or known == np.inf:
            continue
        if problem.load is not None:
            assert all(each.value <= known * (1 + 1e-7) + 1e-9 for each in bounds(problem))
        elif problem.deadline:
            done, most = spread_tree(problem.platform, problem.deadline, np.inf)
            assert done >= known * (1 - 1e-7) - 1e-9
            assert most[problem.platform.root] >= known * (1 - 1e-7) - 1e-9 or done == np.inf


def test_a_single_node_is_bounded_exactly() -> None:
    """One node alone: 2 s to start, then 3 s a unit."""
    problem = DivisibleLoad(load=4.0, platform=Tree([Tree.Node(compute=Affine(2.0, 3.0))]))
    found = {each.name: each.value for each in bounds(problem)}
    assert found["linear tree"] == pytest.approx(12.0)
    assert found["spread tree"] == pytest.approx(14.0)


@pytest.mark.thorough
def test_a_thousand_nodes_are_within_two_percent() -> None:
    """Start-ups of up to half a second in plans of some 20 s: without them the bound is 5 % off."""
    rng = random.Random(1)
    nodes = [Tree.Node(compute=Affine(0.2, 5.0))]
    for index in range(1, 1000):
        parent = f"N{rng.randrange(max(0, index - 8), index)}"
        send = Affine(rng.uniform(0, 0.3), rng.uniform(0.1, 1))
        compute = Affine(rng.uniform(0, 0.5), rng.uniform(1, 10))
        nodes.append(Tree.Node(parent=parent, send=send, compute=compute))
    assert solve(DivisibleLoad(load=30.0, platform=Tree(nodes)), time_limit=5).gap < 0.02
