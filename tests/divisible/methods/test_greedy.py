"""Greedy plans: valid whatever is asked, never below a bound, and there whenever one worker is."""

from __future__ import annotations

import numpy as np
import pytest

from makespan import Affine, DivisibleLoad, Master, Star, Worker, lower_bound, solve
from makespan.divisible.one_round.filling import Filling, walk


def _problem(seed: int) -> DivisibleLoad:
    """Return a star with some fields of every sort."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 6))
    columns = {
        "send_per_unit": rng.choice([0.0, 1.0, 0.3, 2.0], count),
        "compute_per_unit": rng.choice([1.0, 3.0, 2.5], count),
    }
    optional = ["send_fixed", "compute_fixed", "memory"]
    optional += rng.choice(
        [["return_per_unit", "return_fixed"], ["release", "price_fixed"]]
    ).tolist()
    for name in optional:
        if rng.random() < 0.5:
            columns[name] = rng.choice([0.0, 1.0, 2.0, 0.5], count) + 5.0 * (name == "memory")
    fields = {
        "load": float(rng.choice([3.0, 7.0, 10.0])),
        "use": str(rng.choice(["any", "all"])),
        "ports": int(rng.choice([1, 2])),
        "integral": bool(rng.random() < 0.3),
        "discipline": rng.choice([None, "fifo", "lifo"]),
        "budget": 4.0 if rng.random() < 0.2 else None,
    }
    if rng.random() < 0.3:
        fields |= {"load": None, "deadline": 20.0}
    star = Star.from_arrays(master=Master(compute=rng.choice([None, 4.0])), **columns)
    return DivisibleLoad(platform=star, **fields)


@pytest.mark.parametrize("seed", range(60))
def test_plans_are_valid_and_no_better_than_the_bound(seed):
    """``solve`` puts every plan before the referee; a plan below a bound would be a false bound."""
    problem = _problem(seed)
    result = solve(problem, method="greedy")
    if result.schedule is not None and problem.load is not None:
        assert result.makespan >= lower_bound(problem).value * (1 - 1e-9)
    if result.schedule is None:  # something has to stand in the way
        star = problem.star
        limited = np.isfinite(star.memory).any() or problem.budget or problem.deadline
        assert limited


def test_one_worker_alone_is_planned_exactly():
    """Bisection ends where the worker has just done the load."""
    star = Star.from_arrays(
        send_per_unit=[2.0], compute_per_unit=3.0, send_fixed=1.0, compute_fixed=4.0
    )
    result = solve(DivisibleLoad(load=10.0, platform=star), method="greedy")
    assert result.makespan == pytest.approx(1.0 + 20.0 + 4.0 + 30.0, rel=1e-9)


def test_a_release_and_a_memory_delay_the_least_that_they_can():
    """P1 takes its 2 units, released at 5; P2 the other 4, after P1's send: 2 + 4 + 4."""
    star = Star.from_arrays(
        send_per_unit=[1.0, 1.0], compute_per_unit=1.0, memory=[2.0, 9.0], release=[5.0, 0.0]
    )
    problem = DivisibleLoad(load=6.0, platform=star, order=("P1", "P2"))
    assert solve(problem, method="greedy").makespan == pytest.approx(10.0, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_everyone_takes_part_in_the_most_by_a_deadline_where_it_can_be(seed):
    """Empty chunks by Jackson's rule say by when everyone can have taken part, and no earlier."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 80))
    names = ("send_per_unit", "compute_per_unit", "send_fixed", "compute_fixed")
    star = Star.from_arrays(**{name: rng.uniform(0.1, 1.0, count) for name in names})
    order = np.argsort(-star.compute_fixed)
    least = float((np.cumsum(star.send_fixed[order]) + star.compute_fixed[order]).max())
    for factor in (0.999, 1.0 + 1e-9, 1.3):
        problem = DivisibleLoad(deadline=factor * least, platform=star, use="all")
        result = solve(problem, method="greedy")
        assert (result.schedule is not None) == (factor > 1)
        if result.schedule is not None:
            assert len(set(result.schedule.machine.tolist()) - {0}) == count
            assert (result.objective.value > 0) == (factor > 1.1) or result.objective.value < 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_everyone_within_every_limit_as_the_programme_has_it(seed):
    """A plan with everyone exists for the programme where the walk has one, and is as good."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 5))
    names = ("send_per_unit", "compute_per_unit", "send_fixed", "compute_fixed", "release")
    columns = {name: rng.choice([0.0, 0.5, 1.0, 2.0], count) for name in names}
    columns["compute_per_unit"] = columns["compute_per_unit"] + 0.5
    columns["deadline"] = rng.choice([np.inf, 5.0, 8.0], count)
    columns["price_fixed"] = rng.choice([0.0, 1.0], count)
    problem = DivisibleLoad(
        deadline=10.0, platform=Star.from_arrays(**columns), use="all", budget=3.0
    )
    greedy, exact = solve(problem, method="greedy"), solve(problem, method="milp")
    if greedy.schedule is not None:
        assert exact.schedule is not None
        assert greedy.objective.value <= exact.objective.value * (1 + 1e-6)
    elif problem.star.release.max() == 0.0 and np.isinf(problem.star.deadline).all():
        assert exact.schedule is None


def test_no_time_is_enough_for_a_worker_that_is_always_late():
    """With everyone, ends are doubled in vain: rounding of the end is none of a deadline."""
    star = Star.from_arrays(
        send_per_unit=[0.3], compute_per_unit=1.0, compute_fixed=3.0, deadline=2.0
    )
    result = solve(DivisibleLoad(load=6.0, platform=star, use="all"), method="greedy")
    assert result.schedule is None


@pytest.mark.kernels
def test_the_compiled_walk_does_what_its_plain_twin_does():
    """The same amounts, bit by bit, for a star with every limit."""
    rng = np.random.default_rng(1)
    count = 50
    star = Star.from_arrays(
        **{
            name: rng.uniform(0.0, 1.0, count)
            for name in ("send_per_unit", "compute_per_unit", "send_fixed", "compute_fixed")
        },
        memory=rng.uniform(1.0, 3.0, count),
        release=rng.uniform(0.0, 5.0, count),
        price_per_unit=rng.uniform(0.0, 1.0, count),
        compute_beyond=[((0.2, 2.0), (1.0, 5.0)) if worker % 2 else () for worker in range(count)],
    )
    problem = DivisibleLoad(load=40.0, platform=star, budget=15.0)
    filling = Filling.of(problem, np.arange(count)).choosy()
    given = (20.0, 40.0, 15.0, False, False, filling.after, filling.reserve)
    plain, compiled = np.empty(count), np.empty(count)
    done = [
        run(*given, amount, *filling.columns)
        for run, amount in ((walk.plain, plain), (walk.compiled, compiled))
    ]
    assert done[0] == done[1]
    assert plain.tolist() == compiled.tolist()


@pytest.mark.parametrize("count", [1_000, 20_000])
def test_auto_plans_large_stars_with_fixed_costs_within_any_limit(count):
    """With no time at all there is still a plan, and nothing is built that would not fit."""
    rng = np.random.default_rng(count)
    columns = {
        name: rng.uniform(0.01, 1.0, count)
        for name in ("send_per_unit", "compute_per_unit", "send_fixed", "compute_fixed")
    }
    problem = DivisibleLoad(load=100.0, platform=Star.from_arrays(**columns))
    result = solve(problem, time_limit=0.0)
    assert result.schedule is not None
    assert result.makespan >= lower_bound(problem).value * (1 - 1e-9)


@pytest.mark.parametrize("fixed", [0.0, 3.0])
def test_a_master_that_computes_in_no_time_does_any_load(fixed: float) -> None:
    """Also where the deadline leaves it nothing but its start-up."""
    master = Master(compute=Affine(fixed, 0.0))
    star = Star([Worker(send=1.0, compute=1.0)], master=master)
    result = solve(DivisibleLoad(deadline=fixed, platform=star))
    assert result.schedule is None
    assert "no maximum" in " ".join(result.notes)
