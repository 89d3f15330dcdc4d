"""Prices of the ports' time: no tree does more than they say, and large trees nearly as much."""

from __future__ import annotations

import random

import numpy as np
import pytest

from makespan import Affine, DivisibleLoad, Tree, solve
from makespan.divisible.timing import timed_tree
from makespan.divisible.trees.prices import most_by, price_bound, seconds_for
from tests.oracles.divisible_any_tree import best_of_tree, covers_tree
from tests.thorough import few


def _tree(rng: random.Random) -> Tree:
    """Return up to five nodes, many of them under one, some that only forward."""
    nodes = [Tree.Node(compute=_cost(rng) if rng.random() < 0.5 else None)]
    for index in range(1, rng.randint(2, 5)):
        parent = f"N{rng.choice((0, 0, rng.randrange(index)))}"
        compute = _cost(rng) if index == 1 or rng.random() < 0.85 else None
        nodes.append(Tree.Node(parent=parent, send=_cost(rng, free=True), compute=compute))
    return Tree(nodes)


def _cost(rng: random.Random, *, free: bool = False) -> Affine:
    least = (0.0,) if free else ()
    fixed = rng.choice((0.0, 0.0, 0.5, 1.0, 3.0, rng.uniform(0.0, 1.0)))
    return Affine(fixed, rng.choice((*least, 0.3, 1.0, 2.0, rng.uniform(0.1, 3.0))))


@pytest.mark.parametrize("seed", few(16, 1, thorough=6))
def test_no_tree_does_better(seed: int) -> None:
    """All choices of nodes and orders of service, of a load and of the most by several ends."""
    rng = random.Random(seed)
    for _ in range(6):
        tree = _tree(rng)
        load = rng.choice((0.5, 1.0, 4.0, 20.0))
        problem = DivisibleLoad(load=load, platform=tree)
        best = best_of_tree(problem)
        if not covers_tree(problem) or best is None:
            continue
        for factor in (1.0, 1.3, 2.5):
            assert price_bound(tree, load, factor * best) <= best * (1 + 1e-9)
        end = best * rng.uniform(0.5, 3.0)
        most = most_by(tree, end)
        assert np.all(np.diff(most) >= 0.0)
        for share in (0.3, 0.7, 1.0):
            by = DivisibleLoad(deadline=share * end, platform=tree)
            assert most[round(share * len(most)) - 1] >= best_of_tree(by) * (1 - 1e-7) - 1e-9


def test_a_path_is_bounded_to_within_its_cells() -> None:
    """Where each node has one child, nothing is given away but the cells of the time."""
    nodes = [Tree.Node(compute=Affine(0.5, 3.0))]
    nodes += [
        Tree.Node(parent=f"N{at}", send=Affine(0.25, 0.5), compute=Affine(1.0, 2.0))
        for at in range(3)
    ]
    problem = DivisibleLoad(load=12.0, platform=Tree(nodes))
    best = best_of_tree(problem)
    assert price_bound(problem.platform, 12.0, best) == pytest.approx(best, rel=3e-3)


def _large(seed: int, count: int) -> Tree:
    rng = random.Random(seed)
    nodes = [Tree.Node(compute=Affine(0.2, 5.0))]
    for index in range(1, count):
        parent = f"N{rng.randrange(max(0, index - 8), index)}"
        send = Affine(rng.uniform(0, 0.3), rng.uniform(0.1, 1))
        compute = Affine(rng.uniform(0, 0.5), rng.uniform(1, 10))
        nodes.append(Tree.Node(parent=parent, send=send, compute=compute))
    return Tree(nodes)


@pytest.mark.parametrize("load", few([30.0, 10.0], 0, thorough=2))
def test_a_thousand_nodes_are_within_two_percent(load: float) -> None:
    """Also where little load makes start-ups weigh more."""
    problem = DivisibleLoad(load=load, platform=_large(1, 1000))
    assert solve(problem, time_limit=30).gap < 0.02


@pytest.mark.parametrize("seed", range(4))
def test_any_plan_is_within_the_bound_of_its_end(seed: int) -> None:
    """Random loads of the nodes of larger trees do no more than the bound by when they end."""
    tree = _large(seed, 30)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        amount = rng.exponential(1.0, len(tree)) * (rng.random(len(tree)) < rng.random())
        total = float(amount.sum())
        if total == 0.0:
            continue
        schedule = timed_tree(DivisibleLoad(load=total, platform=tree), amount)
        assert most_by(tree, schedule.makespan)[-1] >= total * (1 - 1e-9)


def test_whoever_computes_in_no_time_has_no_bound() -> None:
    """Then nothing is asked of the prices."""
    tree = Tree([Tree.Node(compute=Affine(1.0, 0.0))])
    assert seconds_for(tree, 10.0) == np.inf
    assert seconds_for(_large(1, 20), 0.0) == np.inf
