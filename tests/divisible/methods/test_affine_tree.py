"""Trees with start-ups against trees without, stars, and every subset of the nodes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from makespan import Affine, DivisibleLoad, Master, Star, Tree, solve
from makespan.divisible.trees.equivalent import equal_finish
from tests.oracles.divisible_any_tree import best_of_tree
from tests.thorough import few


def random_tree(generator, count, scale=0.5):
    parent = [-1, *(int(generator.integers(0, k)) for k in range(1, count))]
    return Tree.from_arrays(
        parent=parent,
        send_per_unit=np.append(0.0, generator.uniform(0.05, 0.5, count - 1)),
        compute_per_unit=generator.uniform(0.5, 3.0, count),
        send_fixed=np.append(0.0, scale * generator.uniform(0.0, 1.0, count - 1)),
        compute_fixed=scale * generator.uniform(0.0, 1.0, count),
    )


@pytest.mark.parametrize("seed", range(20))
def test_against_every_set_of_nodes(seed):
    """Valid, above the bound, and near the best of all sets of nodes that end together."""
    generator = np.random.default_rng(seed)
    tree = random_tree(generator, int(generator.integers(2, 8)))
    load = float(generator.choice([2.0, 10.0, 60.0]))
    result = solve(DivisibleLoad(load=load, platform=tree), method="affine-tree")
    assert result.lower_bound <= result.makespan
    best = np.inf
    for flags in product([False, True], repeat=len(tree)):
        found = equal_finish(tree, np.array(flags), load) if any(flags) else None
        if found is not None and found.amount.min() >= 0:
            best = min(best, found.end)
    assert best <= result.makespan * (1 + 1e-9)
    assert result.makespan <= best * 1.02


@pytest.mark.parametrize("seed", range(6))
def test_without_start_ups_it_is_the_linear_tree(seed):
    """Tiny start-ups change the optimum of the linear tree by as little."""
    tree = random_tree(np.random.default_rng(seed), 9, scale=1e-9)
    affine = solve(DivisibleLoad(load=20.0, platform=tree))
    assert affine.makespan == pytest.approx(affine.lower_bound, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_of_one_level_is_a_star(seed):
    """On one level it is no better than the exact star, whose order is free, and near it."""
    generator = np.random.default_rng(seed)
    send, compute = generator.uniform(0.05, 0.5, 4), generator.uniform(0.5, 3.0, 5)
    fixed, start = generator.uniform(0.0, 0.5, 4), generator.uniform(0.0, 0.5, 5)
    tree = Tree.from_arrays(
        parent=[-1, 0, 0, 0, 0],
        send_per_unit=np.append(0.0, send),
        compute_per_unit=compute,
        send_fixed=np.append(0.0, fixed),
        compute_fixed=start,
    )
    star = Star.from_arrays(
        send_per_unit=send,
        compute_per_unit=compute[1:],
        send_fixed=fixed,
        compute_fixed=start[1:],
        master=Master(compute=(start[0], compute[0])),
    )
    exact = solve(DivisibleLoad(load=10.0, platform=star))
    found = solve(DivisibleLoad(load=10.0, platform=tree))
    assert exact.status == "optimal"
    assert exact.makespan * (1 - 1e-9) <= found.makespan <= exact.makespan * 1.05


def test_a_large_tree():
    """Three hundred nodes: valid, and within the start-ups of the bound."""
    tree = random_tree(np.random.default_rng(1), 300, scale=0.01)
    result = solve(DivisibleLoad(load=1000.0, platform=tree), time_limit=5)
    assert result.gap < 0.05


def test_nothing_to_do_and_deadlines():
    """No load is no plan's work; a missed deadline gives no plan."""
    tree = random_tree(np.random.default_rng(1), 4)
    assert solve(DivisibleLoad(load=0.0, platform=tree)).makespan == 0.0
    late = solve(DivisibleLoad(load=9.0, platform=tree, deadline=0.1))
    assert late.schedule is None


@pytest.mark.parametrize("seed", few(12, 2))
def test_the_most_by_a_deadline_takes_as_long(seed):
    """The most load by a deadline, as a load, ends at it; and no set of nodes does 2 % more."""
    generator = np.random.default_rng(seed)
    tree = random_tree(generator, int(generator.integers(2, 6)))
    most = solve(DivisibleLoad(platform=tree, deadline=6.0))
    load = most.objective.value
    assert load <= most.objective.bound
    assert solve(DivisibleLoad(platform=tree, load=load)).makespan <= 6.0 * (1 + 1e-9)
    best = best_of_tree(DivisibleLoad(platform=tree, deadline=6.0))
    assert best * 0.98 <= load <= best * (1 + 1e-9)


def test_a_node_that_computes_in_no_time():
    """The root does what it can until the rest has come to a node that needs no time for it."""
    nodes = [
        Tree.Node(compute=Affine(0.0, 2.0)),
        Tree.Node(parent="N0", send=Affine(1.0, 0.5), compute=Affine(0.0, 0.0)),
    ]
    assert solve(DivisibleLoad(platform=Tree(nodes), load=4.0)).makespan == pytest.approx(2.4)
    assert solve(DivisibleLoad(platform=Tree(nodes), load=0.1)).makespan == pytest.approx(0.2)
