"""Trees: validation, the equivalent processor against the linear programme, the reference case."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from makespan import (
    DivisibleLoad,
    Master,
    MethodError,
    ProblemError,
    Star,
    Tree,
    Worker,
    solve,
)
from tests.oracles.divisible_tree import best_makespan


def random_tree(generator, count):
    """Random parents and costs."""
    parent = [-1, *(int(generator.integers(0, node)) for node in range(1, count))]
    return parent, generator.uniform(0.01, 0.3, count), generator.uniform(0.1, 0.5, count)


def sorted_children(parent, send):
    """The children of each node by non-decreasing link cost."""
    children = [[] for _ in parent]
    for node, above in enumerate(parent):
        if above >= 0:
            children[above].append(node)
    return [sorted(nodes, key=lambda node: send[node]) for nodes in children]


def planned(load, parent, send, compute):
    tree = Tree.from_arrays(parent=parent, send_per_unit=send, compute_per_unit=compute)
    return solve(DivisibleLoad(load=load, platform=tree))


def test_the_case_of_five_nodes():
    """The reference tree ends at 1805100/12983; serving by index would end at 144.4."""
    nodes = [
        (0.3, 0.0, None),
        (0.25, 0.2, "0"),
        (0.4, 0.15, "0"),
        (0.5, 0.3, "1"),
        (0.35, 0.25, "1"),
    ]
    tree = Tree(
        [
            Tree.Node(name=str(index), compute=w, send=c, parent=parent)
            for index, (w, c, parent) in enumerate(nodes)
        ]
    )
    result = solve(DivisibleLoad(load=1000, platform=tree))
    assert (result.method, result.status) == ("tree", "optimal")
    assert result.makespan == pytest.approx(1805100 / 12983, rel=1e-12)
    by_index = [[1, 2], [3, 4], [], [], []]
    w, c, _ = zip(*nodes, strict=True)
    assert best_makespan(1000, [-1, 0, 0, 1, 1], c, w, by_index) == pytest.approx(
        144.41662, rel=1e-6
    )


def test_300_nodes_against_the_linear_programme():
    """A random tree of 300 nodes is as good as the linear programme in the sorted order."""
    parent, send, compute = random_tree(np.random.default_rng(1), 300)
    result = planned(1000, parent, send, compute)
    expected = best_makespan(1000, parent, send, compute, sorted_children(parent, send))
    assert result.makespan == pytest.approx(expected, rel=1e-7)


def test_small_trees_against_all_orders():
    """On small random trees no order of service beats the sorted one."""
    generator = np.random.default_rng(2)
    for _ in range(20):
        parent, send, compute = random_tree(generator, 5)
        children = sorted_children(parent, send)
        best = min(
            best_makespan(10, parent, send, compute, orders)
            for orders in itertools.product(*(itertools.permutations(nodes) for nodes in children))
        )
        assert planned(10, parent, send, compute).makespan == pytest.approx(best, rel=1e-7)


def test_a_tree_of_depth_one_is_a_star():
    """A root with leaves plans like the star."""
    send, compute = [1.0, 2.0, 0.5], [3.0, 1.0, 4.0]
    result = planned(10, [-1, 0, 0, 0], [0.0, *send], [2.0, *compute])
    workers = [Worker(send=c, compute=w) for c, w in zip(send, compute, strict=True)]
    star = solve(DivisibleLoad(load=10, platform=Star(workers, master=Master(compute=2.0))))
    assert result.makespan == pytest.approx(star.makespan, rel=1e-12)


def test_nodes_that_only_forward():
    """A root without a compute cost forwards everything; leaves without one get nothing."""
    tree = Tree(
        [
            Tree.Node(name="R"),
            Tree.Node(name="A", parent="R", send=1, compute=1),
            Tree.Node(name="B", parent="R", send=0.5),
        ]
    )
    result = solve(DivisibleLoad(load=3, platform=tree))
    assert result.makespan == 6
    assert result.answer["loads"] == {"A": 3}
    most = solve(DivisibleLoad(deadline=6, platform=tree))
    assert most.objective.value == pytest.approx(3)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([("A", None), ("B", None)], "has 2 nodes without a parent"),
        ([("A", None), ("B", "C"), ("C", "B")], "'B' is its own ancestor"),
        ([("A", None), ("A", "A")], "also the name of platform.nodes[0]"),
        ([("A", None), ("B", "Z")], "platform.nodes[1].parent: 'Z' is not a node"),
    ],
)
def test_mistakes_in_trees(nodes, expected):
    """Two roots, cycles, repeated and unknown names are refused with their place."""
    tree = Tree([Tree.Node(name=name, parent=parent, compute=1) for name, parent in nodes])
    with pytest.raises(ProblemError) as caught:
        DivisibleLoad(load=1, platform=tree)
    assert expected in str(caught.value)


def test_what_only_stars_can_have():
    """Options of stars are refused on trees by name, and so are methods for stars."""
    tree = Tree([Tree.Node(compute=1)])
    with pytest.raises(ProblemError, match="rounds: is for stars"):
        DivisibleLoad(load=1, platform=tree, rounds=2)
    with pytest.raises(MethodError, match=r"needs a star, .*it is a tree"):
        solve(DivisibleLoad(load=1, platform=tree), method="star")
