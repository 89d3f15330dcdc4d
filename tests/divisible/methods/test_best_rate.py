"""Memory limits in several rounds."""

from __future__ import annotations

import numpy as np
import pytest

from makespan import DivisibleLoad, Master, MethodError, Star, Worker, solve
from tests.oracles.divisible_sequence import best_of_sequence
from tests.thorough import few


def random_star(generator, count, memory, **master):
    return Star.from_arrays(
        send_per_unit=generator.uniform(0.05, 0.4, count),
        compute_per_unit=generator.uniform(0.5, 2.0, count),
        send_fixed=generator.uniform(0.0, 0.02, count),
        compute_fixed=generator.uniform(0.0, 0.05, count),
        memory=memory,
        master=Master(**master),
    )


@pytest.mark.parametrize("seed", few(8, 1))
@pytest.mark.parametrize("memory", [0.8, 3.0])
def test_chunks_fit(seed, memory):
    """Amounts are nearly the best for their sequence; the plan is near the steady state's bound.

    They were the best before chunks of nothing were left out.
    """
    generator = np.random.default_rng(seed)
    star = random_star(generator, 4, [memory, memory, 2 * memory, np.inf])
    result = solve(DivisibleLoad(load=40.0, platform=star, rounds="auto"))
    assert result.method == "best-rate"
    sequence = [star.names.index(chunk["worker"]) for chunk in result.answer["chunks"]]
    workers = list(
        zip(
            *(star.send_fixed, star.send_per_unit, star.compute_fixed, star.compute_per_unit),
            strict=True,
        )
    )
    least, _ = best_of_sequence(40.0, sequence, workers, memory=star.memory)
    assert least * (1 - 1e-7) <= result.makespan <= 1.05 * least
    assert result.makespan <= 1.25 * result.lower_bound


@pytest.mark.parametrize("seed", few(4, 1))
def test_less_memory_is_no_better(seed):
    """A plan with little memory ends no earlier than the best known without limits."""
    generator = np.random.default_rng(seed)
    wide = random_star(generator, 3, np.inf)
    columns = {
        name: getattr(wide, name)
        for name in ("send_per_unit", "compute_per_unit", "send_fixed", "compute_fixed")
    }
    narrow = Star.from_arrays(**columns, memory=1.0)
    free = solve(DivisibleLoad(load=30.0, platform=wide, rounds="auto"), effort=0.1)
    tight = solve(DivisibleLoad(load=30.0, platform=narrow, rounds="auto"))
    assert tight.makespan >= free.makespan * (1 - 1e-2)


def test_given_rounds():
    """Rounds given: their number is kept; too little room is infeasible and says why."""
    star = random_star(np.random.default_rng(0), 3, 4.0)
    result = solve(DivisibleLoad(load=20.0, platform=star, rounds=2))
    assert result.answer["rounds"] <= 2
    none = solve(DivisibleLoad(load=50.0, platform=star, rounds=2))
    assert none.status == "infeasible"
    assert "room for 24" in none.notes[0]


@pytest.mark.thorough
def test_a_master_that_computes():
    """The master, who needs no memory, computes a unit a second until the plan ends."""
    star = random_star(np.random.default_rng(2), 3, 1.0, compute=1.0)
    result = solve(DivisibleLoad(load=30.0, platform=star, rounds="auto"), time_limit=1)
    assert result.answer["loads"]["P0"] == pytest.approx(result.makespan, rel=1e-6)


def test_refusals():
    """Without memory limits other methods are meant."""
    star = random_star(np.random.default_rng(2), 3, np.inf)
    with pytest.raises(MethodError, match="no memory is limited"):
        solve(DivisibleLoad(load=1.0, platform=star, rounds=2), method="best-rate")


def test_a_deadline_that_the_bounds_exclude_is_infeasible_for_any_named_method():
    """No method needs to look: the machines together can't be as fast."""
    workers = [Worker(send=1.0, compute=2.0, memory=2.0) for _ in range(2)]
    problem = DivisibleLoad(load=10.0, platform=Star(workers), rounds="auto", deadline=5.0)
    assert solve(problem, method="best-rate").status == "infeasible"


def test_small_memories_mean_many_chunks():
    """What is too many chunks for a programme is planned all the same, at the rates."""
    star = Star.from_arrays(
        send_per_unit=[0.1, 0.2], compute_per_unit=[1.0, 2.0], memory=[1.0, 0.5]
    )
    result = solve(DivisibleLoad(load=200_000.0, platform=star, rounds="auto"), time_limit=1.0)
    assert result.method == "best-rate"
    assert len(result.schedule) >= 2 * 200_000
    assert result.makespan <= 1.01 * result.lower_bound
