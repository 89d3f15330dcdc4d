"""Trees with fixed costs against all choices of nodes and orders."""

from __future__ import annotations

import random

import numpy as np
import pytest

from makespan import Affine, DivisibleLoad, ProblemError, Tree, solve
from tests.oracles.divisible_any_tree import best_of_tree, covers_tree
from tests.oracles.divisible_random import random_tree_problem
from tests.thorough import few


@pytest.mark.parametrize("seed", few(6, 2))
def test_small_trees_are_proved(seed: int) -> None:
    """Of up to five nodes, with a load, a deadline or both: as good as all choices, and said so."""
    rng = random.Random(seed)
    for _ in range(15):
        try:
            problem = random_tree_problem(rng)
        except ProblemError:
            continue
        known = best_of_tree(problem)
        result = solve(problem, time_limit=20)
        assert covers_tree(problem)
        if known is None or known == np.inf:
            assert result.schedule is None
            continue
        value = result.makespan if result.objective is None else result.objective.value
        assert result.status == "optimal"
        assert value == pytest.approx(known, rel=3e-6, abs=3e-6)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_six_nodes_at_any_scale(scale: float) -> None:
    """Costs and loads a million times as large or small prove as well."""
    generator = np.random.default_rng(1)
    tree = Tree.from_arrays(
        parent=[-1, 0, 0, 1, 1, 2],
        send_per_unit=np.append(0.0, generator.uniform(0.05, 0.5, 5)) * scale,
        compute_per_unit=generator.uniform(0.5, 3.0, 6) * scale,
        send_fixed=np.append(0.0, generator.uniform(0.0, 0.5, 5)),
        compute_fixed=generator.uniform(0.0, 0.5, 6),
    )
    result = solve(DivisibleLoad(load=4.0 / scale, platform=tree), time_limit=30)
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(best_of_tree(result.problem), rel=1e-6)


def test_a_chain_with_one_plan_is_proved() -> None:
    """Only the last of three nodes computes: all its way's start-ups are in the bound."""
    nodes = [
        Tree.Node(name="root"),
        Tree.Node(name="A", parent="root", send=Affine(1.0, 1.0)),
        Tree.Node(name="B", parent="A", send=Affine(1.0, 1.0), compute=Affine(0.5, 1.0)),
    ]
    result = solve(DivisibleLoad(load=2.0, platform=Tree(nodes)))
    assert (result.status, result.makespan) == ("optimal", pytest.approx(8.5))
