"""Workers who all end together: where fixed costs are so large that a load is rounding."""

from __future__ import annotations

import pytest

from makespan import Affine, DivisibleLoad, Star, Worker, solve


@pytest.mark.parametrize("fixed", [1e3, 2.0**53, 9.3e18, 1e60])
def test_no_fixed_cost_is_a_proof_that_there_is_no_plan(fixed: float) -> None:
    """The heuristic gives some plan; the optimum avoids the worker."""
    dear = Worker(name="dear", send=Affine(fixed, 1.0), compute=Affine(2.0, 3.0))
    problem = DivisibleLoad(load=1.0, platform=Star([dear, Worker(send=2.0, compute=5.0)]))
    assert solve(problem, method="large-load").schedule is not None
    best = solve(problem)
    assert best.makespan == pytest.approx(7.0, rel=1e-12)
    assert not any("not believed" in note for note in best.notes)
