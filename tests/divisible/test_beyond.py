"""Computing costs that grow beyond some sizes of chunks, against all plans."""

import doctest
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from makespan import (
    Affine,
    Convex,
    DivisibleLoad,
    Master,
    ProblemError,
    Star,
    Tree,
    Worker,
    check,
    read_problem,
    sensitivity,
    solve,
)
from makespan.core.schedule import Activity
from makespan.divisible.bounds import bounds
from makespan.divisible.file import read, write
from makespan.divisible.generate import generate
from makespan.divisible.rates.piecewise import beyond_bound
from tests.divisible.test_any_problem import WITHIN, all_checked
from tests.oracles.divisible_any import best, covers
from tests.oracles.divisible_random import random_problem
from tests.thorough import few

ROOT = Path(__file__).parents[2]


def drawn(seed):
    """A random problem of all fields, whose workers are slower beyond some size."""
    rng = random.Random(seed)
    while True:
        problem = random_problem(rng)
        if problem.is_star and problem.star.beyond:
            return problem


@pytest.mark.parametrize("seed", few(40, 1))
def test_whatever_applies_says_what_is_true(seed):
    """No optimum that a plan beats, no plan better than all, no bound above a plan."""
    assert all_checked(drawn(seed))


@pytest.mark.parametrize("seed", few(20, 3))
def test_few_workers_in_one_round_are_proved(seed):
    """Stars of up to four workers, without other fields: the plan is the best of all plans."""
    rng = random.Random(seed)
    workers = []
    for _ in range(rng.randint(1, 4)):
        fixed, per_unit = rng.choice((0, 0, 1)), rng.choice((0.5, 1, 2, 3))
        beyond = ((rng.choice((0.5, 1, 2)), 2 * per_unit), (3, 5 * per_unit))
        cost = Convex(fixed, per_unit, beyond[: rng.randint(1, 2)])
        workers.append(
            Worker(send=Affine(rng.choice((0, 0.5)), rng.choice((0.5, 1))), compute=cost)
        )
    problem = DivisibleLoad(load=rng.choice((2, 5, 9)), platform=Star(workers))
    result = solve(problem, time_limit=10)
    assert covers(problem)
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(best(problem), rel=WITHIN)


@pytest.mark.parametrize("seed", few(30, 2))
def test_bounds_of_one_round_lie_below_the_best_plan(seed):
    """With start-ups, results, releases and a master that computes; never above, of all plans."""
    rng = random.Random(seed)
    workers = []
    for _ in range(rng.randint(1, 3)):
        per_unit = rng.choice((0, 0.5, 1, 3))
        beyond = ((rng.choice((0.5, 1, 2)), per_unit + rng.choice((0.5, 2, 6))),)
        worker = Worker(
            send=Affine(rng.choice((0, 0.5, 2)), rng.choice((0, 0.3, 1, 2))),
            compute=Convex(rng.choice((0, 1)), per_unit, beyond),
            return_=rng.choice((None, None, Affine(0.5, 0.5))),
            release=rng.choice((0, 0, 1)),
        )
        workers.append(worker)
    master = Master(compute=rng.choice((None, 2.0, Affine(1.0, 4.0))))
    star, load, ports = Star(workers, master=master), rng.choice((1, 4, 9)), rng.choice((1, 1, 2))
    problem = DivisibleLoad(load=load, platform=star, ports=ports)
    known = best(problem)
    found = {bound.name: bound.value for bound in bounds(problem)}
    assert all(value <= known * (1 + 1e-7) for value in found.values())
    if star.send_per_unit.any() and "beyond" in found:
        assert found["waiting"] >= found["beyond"]


@pytest.mark.parametrize("latency", [0.0, 0.1])
def test_sixteen_workers_are_close_to_their_bound(latency):
    """What waits for its turn is known to the bound: without it, a fifth of the plan is left."""
    problem = generate(np.random.default_rng(1), workers=16, slowdown=4.0, latency=latency)
    assert solve(problem, method="greedy").gap < 0.05


def test_without_anything_beyond_costs_are_affine():
    worker = Worker(compute=Convex(1.0, 2.0))
    assert worker.compute == Affine(1.0, 2.0)
    assert not Star([worker]).beyond


def test_a_size_that_no_chunk_reaches_changes_nothing():
    workers = [Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)]
    plain = DivisibleLoad(load=10.0, platform=Star(workers))
    steep = [
        replace(each, compute=Convex(0, each.compute.per_unit, ((99, 100),))) for each in workers
    ]
    found = solve(replace(plain, platform=Star(steep)))
    assert found.makespan == pytest.approx(solve(plain).makespan, rel=1e-9)


def test_durations_are_those_of_the_cost():
    """What a plan's computations last is what ``Convex.of`` says, piece by piece."""
    problem = read_problem(ROOT / "examples/memory_hierarchy/cache_and_disk.toml")
    schedule = solve(problem).schedule
    for row in schedule.rows_of(Activity.COMPUTE):
        cost = problem.star.workers[schedule.machine[row] - 1].compute
        lasted = schedule.end[row] - schedule.start[row]
        assert lasted == pytest.approx(cost.of(schedule.amount[row]))


def test_the_referee_refuses_a_computation_at_the_least_cost():
    fast = DivisibleLoad(load=6.0, platform=Star([Worker(send=1.0, compute=1.0)]))
    slow = replace(fast, platform=Star([Worker(send=1.0, compute=Convex(0, 1.0, ((2, 3),)))]))
    report = check(slow, solve(fast).schedule)
    assert [violation.rule for violation in report.violations] == ["duration"]
    assert report.violations[0].excess == pytest.approx(8.0)


@pytest.mark.parametrize("seed", few(12, 1))
def test_many_workers_within_the_referee_and_the_bound(seed):
    """Of more workers than can be tried, the referee in solve takes plans; bounds lie below."""
    options = {"latency": 0.1 * (seed % 2), "returns": 0.2 * (seed % 3 == 0), "slowdown": 4.0}
    problem = generate(np.random.default_rng(seed), workers=60, **options)
    for each in (problem, replace(problem, ports="many"), replace(problem, rounds=2)):
        result = solve(each, time_limit=1)
        assert result.lower_bound <= result.makespan * (1 + 1e-9)
        if problem.load is not None:
            assert beyond_bound(each, 1.0) <= result.makespan * (1 + 1e-9)


@pytest.mark.parametrize("seed", few(8, 1))
def test_rates_are_finite_differences(seed):
    """A small step of a size, or of a cost beyond it, changes the makespan by its rate."""
    rng = random.Random(seed)
    costs = [
        Convex(0.3, rng.uniform(1, 2), ((rng.uniform(1, 2), rng.uniform(3, 5)),)) for _ in "ab"
    ]
    names = ("P1", "P2")

    def problem(costs):
        workers = [Worker(send=0.5 + k, compute=cost) for k, cost in enumerate(costs)]
        return DivisibleLoad(load=9.0, platform=Star(workers), order=names, use="all")

    found = sensitivity(solve(problem(costs)))
    rates = {(rate.machine, rate.cost): rate.change for rate in found.rates}
    for index, name in enumerate(names):
        for part in (0, 1):
            ends = []
            for step in (-1e-6, 1e-6):
                pair = list(costs[index].beyond[0])
                pair[part] += step
                changed = list(costs)
                changed[index] = replace(costs[index], beyond=(tuple(pair),))
                ends.append(solve(problem(changed)).makespan)
            slope = (ends[1] - ends[0]) / 2e-6
            assert rates[name, f"compute.beyond[0][{part}]"] == pytest.approx(slope, abs=1e-4)


def test_one_round_of_large_chunks_says_what_several_would_reach():
    problem = read_problem(ROOT / "examples/memory_hierarchy/cache_and_disk.toml")
    assert any("rounds = " in note for note in solve(problem).notes)


@pytest.mark.parametrize(
    ("beyond", "place", "text"),
    [
        ([(2, 0.5)], "[0][1]", "is below 1.0"),
        ([(2, 3), (2, 4)], "[1][0]", "is not above 2.0"),
        ([(-1, 3)], "[0][0]", "is negative"),
        ([(2, float("inf"))], "[0][1]", "is infinite"),
        ([(2,)], "[0]", "is not a pair"),
        ("steep", "", "it is a list of pairs"),
    ],
)
def test_mistakes_have_their_place(beyond, place, text):
    with pytest.raises(ProblemError) as raised:
        DivisibleLoad(load=1.0, platform=Star([Worker(compute=Convex(0.0, 1.0, beyond))]))
    assert raised.value.mistakes[0].place == f"platform.workers[0].compute.beyond{place}"
    assert text in raised.value.mistakes[0].message


def test_other_costs_are_affine():
    steep = Convex(0.0, 1.0, ((2.0, 3.0),))
    for wrong in (
        lambda: Worker(send=steep),
        lambda: Worker(return_=steep),
        lambda: Master(compute=steep),
        lambda: Tree([Tree.Node(compute=steep)]),
    ):
        with pytest.raises(ProblemError, match="other costs are affine"):
            wrong()


def test_files_hold_lists_and_columns():
    columns = {"send_per_unit": 0.5, "compute_per_unit": [1, 2], "compute_beyond": [[[2, 4]], []]}
    data = {"kind": "divisible", "load": 1, "platform": {"topology": "star", "columns": columns}}
    problem = read(data)
    assert problem.star.workers[0].compute == Convex(0.0, 1.0, ((2.0, 4.0),))
    assert read(write(problem)) == problem
    many = generate(np.random.default_rng(0), workers=1001, slowdown=2.0)
    assert read(write(many)) == many
    columns["compute_beyond"] = [[[2, 0.5]], []]
    with pytest.raises(ProblemError, match=r"platform.columns.compute_beyond\[0\]\[0\]\[1\]"):
        read(data)


def test_a_chosen_master_computes_all_at_its_cost_per_unit():
    machine = Worker(send=1.0, compute=Convex(0.0, 1.0, ((1.0, 9.0),)))
    problem = DivisibleLoad(load=6.0, platform=Star([machine], master="choose"))
    assert solve(problem).makespan == pytest.approx(6.0)


def test_the_documented_example():
    text = (ROOT / "docs/divisible.md").read_text()
    part = text[text.index("## Memory hierarchy") : text.index("## Prices")]
    example = doctest.DocTestParser().get_doctest(part, {}, "hierarchy", None, 0)
    assert doctest.DocTestRunner().run(example).failed == 0
