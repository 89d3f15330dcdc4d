"""The least price, budgets for time, and fronts, against all plans of small problems."""

import doctest
import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from makespan import (
    Affine,
    DivisibleLoad,
    Master,
    Price,
    ProblemError,
    Star,
    Worker,
    check,
    read_problem,
    read_result,
    save,
    solve,
)
from makespan.core.system.startup import by_processor
from makespan.divisible.methods import pareto as front_method
from makespan.flow.kinds import KINDS
from tests.oracles.divisible_any import best, covers
from tests.oracles.divisible_random import random_problem
from tests.thorough import few


def priced(problem, rng):
    """The problem with a price for each worker, some of them for time."""
    columns = {
        "price_fixed": [rng.choice((0, 0, 1, 4)) for _ in problem.star.names],
        "price_per_unit": [rng.choice((0, 0.5, 1, 3)) for _ in problem.star.names],
        "price_per_second": [rng.choice((0, 0, 0.2, 1)) for _ in problem.star.names],
    }
    return replace(problem, platform=problem.star.changed(**columns))


def drawn(seed, *, transfers=False, **fields):
    """A random problem on a star with a load, prices and these fields."""
    rng = random.Random(seed)
    while True:
        problem = random_problem(rng)
        if not problem.is_star or not problem.load or problem.integral or not len(problem.star):
            continue
        if problem.chooses_master or (problem.transfers is not None) != transfers:
            continue
        try:
            found = replace(priced(problem, rng), **fields)
        except ProblemError:
            continue
        if covers(found):
            return found


@pytest.mark.parametrize("seed", few(40, 2))
def test_least_price_is_that_of_all_plans(seed):
    problem = drawn(seed, objective="price")
    result = solve(problem, time_limit=20)
    least = best(problem)
    if least is None:
        assert result.status == "infeasible"
        return
    assert result.objective.name == "price"
    assert result.objective.value == pytest.approx(result.answer.get("price", 0.0), abs=1e-7)
    assert result.objective.value >= least - 1e-6 * max(1.0, least)
    if result.status == "optimal":
        assert result.objective.value == pytest.approx(least, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", few(30, 2))
def test_bounds_on_the_price_are_below_all_plans(seed):
    """What chunk-programme says of the least price is true of every plan."""
    problem = drawn(1000 + seed, objective="price")
    result = solve(problem, method="chunk-programme", time_limit=5)
    least = best(problem)
    assert (result.status == "infeasible") <= (least is None)
    if result.objective is not None:
        slack = 1e-6 * max(1.0, least)
        assert result.objective.bound is None or result.objective.bound <= least + slack
        assert result.objective.value >= least - slack


@pytest.mark.parametrize("seed", few(15, 3))
def test_given_transfers_have_a_least_price(seed):
    problem = drawn(2000 + seed, transfers=True, objective="price")
    result = solve(problem)
    least = best(problem)
    if least is None:
        assert result.status == "infeasible"
        return
    assert result.status == "optimal"
    assert result.objective.value == pytest.approx(least, rel=1e-6, abs=1e-6)
    front = solve(replace(problem, objective="pareto"), points=3)
    assert front.details["front"][-1]["price"] == pytest.approx(least, rel=1e-6, abs=1e-6)


@pytest.mark.thorough
def test_prices_of_more_workers_are_bounded():
    """Where sequences are too many to be tried, a programme bounds the price."""
    rng = random.Random(8)
    star = Star.from_arrays(
        send_per_unit=[rng.uniform(0.1, 1) for _ in range(10)],
        compute_per_unit=[rng.uniform(1, 4) for _ in range(10)],
        price_fixed=[rng.uniform(0, 5) for _ in range(10)],
        price_per_unit=[rng.uniform(0.1, 2) for _ in range(10)],
        price_per_second=[rng.choice((0, 0.1, 0.3)) for _ in range(10)],
    )
    problem = DivisibleLoad(load=20.0, platform=star, objective="price", deadline=12.0)
    with by_processor():  # as long on a busy machine
        result = solve(problem, time_limit=1)
    assert 0.8 * result.objective.value < result.objective.bound <= result.objective.value


def test_prices_and_open_loads_of_many_workers_are_bounded():
    """30 workers that hold a unit each: the five cheapest do 5 units; in two rounds all hold 2."""
    star = Star.from_arrays(
        send_per_unit=[0.01] * 30,
        compute_per_unit=[1.0] * 30,
        compute_fixed=[0.1] * 30,
        memory=[1.0] * 30,
        price_per_unit=np.random.default_rng(1).permutation(30) + 1.0,
    )
    cheapest = DivisibleLoad(load=5.0, platform=star, objective="price", deadline=20.0)
    goal = solve(cheapest, time_limit=20).objective
    assert goal.bound == pytest.approx(15.0, rel=1e-5)
    assert goal.bound <= 15.0 * (1 + 1e-9)
    assert goal.value >= 15.0 * (1 - 1e-9)
    most = DivisibleLoad(platform=star, rounds=2, deadline=20.0)
    goal = solve(most, time_limit=20).objective
    assert 60.0 * (1 - 1e-9) <= goal.bound <= 60.01


@pytest.mark.parametrize("seed", few(8, 1))
def test_the_master_that_is_cheapest_is_chosen(seed):
    """With an open master the least price is that of the best of all masters."""
    rng = random.Random(seed)
    machines = [
        Worker(compute=rng.uniform(1, 4), price=Price(rng.choice((0, 2)), rng.uniform(0, 2), 0.1))
        for _ in range(3)
    ]
    bus = Star.bus(send=0.4, workers=machines, master="choose")
    problem = DivisibleLoad(load=10.0, platform=bus, objective="price", deadline=16.0)
    result = solve(problem)
    assert result.status == "optimal"
    assert result.objective.value == pytest.approx(best(problem), rel=1e-6, abs=1e-6)
    front = solve(replace(problem, objective="pareto", deadline=None), points=3)
    assert front.status == "optimal"
    cheapest = best(replace(problem, deadline=None))
    assert front.details["front"][-1]["price"] == pytest.approx(cheapest, rel=1e-6, abs=1e-6)
    plans = KINDS["divisible"].pictures.alternatives(front.problem, front.details)
    for values, schedule in plans:
        assert schedule.makespan == pytest.approx(dict(values)["time"])
        assert check(replace(problem, objective="makespan", deadline=None), schedule).ok


@pytest.mark.parametrize("seed", few(20, 3))
def test_a_budget_pays_for_time(seed):
    """Within a budget for time, too, the fastest plan is that of all plans."""
    problem = drawn(100 + seed, budget=9.0, deadline=None)
    result = solve(problem, time_limit=20)
    least = best(problem)
    if least is None:
        assert result.status == "infeasible"
        return
    assert result.makespan >= least - 1e-6
    if result.status == "optimal":
        assert result.makespan == pytest.approx(least, rel=1e-6)


CLOUD = Star(
    [
        Worker(send=0.5, compute=1.0, price=Affine(5, 3)),
        Worker(send=0.4, compute=2.0, price=Price(1, 1, 0.5)),
        Worker(send=0.3, compute=3.0, price=Affine(0, 0.5)),
    ]
)


def test_the_front_is_made_of_optima():
    """Each point is the least price by its time, from the fastest plan to the cheapest one."""
    problem = DivisibleLoad(load=10.0, platform=CLOUD, objective="pareto")
    result = solve(problem, time_limit=120)
    assert result.status == "optimal"
    front = result.details["front"]
    assert result.details["unknown"] == []
    times = [point["time"] for point in front]
    prices = [point["price"] for point in front]
    assert times == sorted(times)
    assert prices == sorted(prices, reverse=True)
    one = replace(problem, objective="price")
    assert times[0] == pytest.approx(best(replace(problem, objective="makespan")))
    assert prices[-1] == pytest.approx(best(one))
    for point in front:
        by_then = replace(one, deadline=point["time"] * (1 + 1e-9))
        assert point["price"] == pytest.approx(best(by_then), rel=1e-6)


def test_the_plans_of_a_front_can_be_chosen(tmp_path):
    """A page shows the plan of each point, valid and of its time; a file keeps them."""
    problem = DivisibleLoad(load=10.0, platform=CLOUD, objective="pareto")
    result = solve(problem, points=3, time_limit=120)
    save(result, tmp_path / "front.json")
    again = read_result(tmp_path / "front.json")
    assert again.problem == problem
    plans = KINDS["divisible"].pictures.alternatives(again.problem, again.details)
    assert len(plans) == len(result.details["front"])
    for values, schedule in plans:
        assert schedule.makespan == pytest.approx(dict(values)["time"])
        assert check(replace(problem, objective="makespan"), schedule).ok
    assert "front" in save_text(result, tmp_path)


def save_text(result, folder):
    save(result, folder / "front.html")
    return (folder / "front.html").read_text(encoding="utf-8")


def test_more_points_lie_on_the_same_front():
    problem = DivisibleLoad(load=10.0, platform=CLOUD, objective="pareto")
    few, many = (solve(problem, points=points).details["front"] for points in (3, 9))
    times, prices = ([point[name] for point in many] for name in ("time", "price"))
    for point in few:
        place = int(np.argmin(np.abs(np.array(times) - point["time"])))
        assert times[place] == pytest.approx(point["time"])
        assert prices[place] == pytest.approx(point["price"])


def test_the_referee_counts_seconds():
    """A plan whose price for time is above the budget is not valid."""
    star = Star([Worker(send=1.0, compute=3.0, price=Price(1.0, 0.0, 2.0))])
    schedule = solve(DivisibleLoad(load=10.0, platform=star)).schedule  # ends at 40
    assert check(DivisibleLoad(load=10.0, platform=star, budget=81.0), schedule).ok
    report = check(DivisibleLoad(load=10.0, platform=star, budget=80.0), schedule)
    assert [violation.rule for violation in report.violations] == ["budget"]
    assert solve(DivisibleLoad(load=10.0, platform=star, budget=80.0)).status == "infeasible"


def test_a_master_that_computes_is_free():
    star = Star([Worker(send=1.0, compute=3.0, price=1.0)], master=Master(compute=10.0))
    result = solve(DivisibleLoad(load=10.0, platform=star, objective="price", deadline=50.0))
    assert result.answer["loads"] == pytest.approx({"P0": 5.0, "P1": 5.0})
    assert result.objective.value == pytest.approx(5.0)


def test_prices_keep_their_form(tmp_path):
    """A price for seconds stands in files, as rows and as columns."""
    problem = DivisibleLoad(load=10.0, platform=CLOUD, objective="price")
    data = KINDS["divisible"].file.write(problem)
    assert data["platform"]["workers"][1]["price"] == {
        "fixed": 1.0, "per_unit": 1.0, "per_second": 0.5,
    }  # fmt: skip
    assert KINDS["divisible"].file.read(data) == problem
    many = Star.from_arrays(
        send_per_unit=np.ones(1200), compute_per_unit=2.0, price_per_second=np.arange(1200.0)
    )
    large = DivisibleLoad(load=10.0, platform=many)
    written = KINDS["divisible"].file.write(large)
    assert "price_per_second" in written["platform"]["columns"]
    assert KINDS["divisible"].file.read(written) == large


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"objective": "price", "deadline": 3.0}, "'price' needs a load"),
        ({"objective": "cost", "load": 1.0}, "objective: 'cost' is not"),
    ],
)
def test_objectives_that_are_not_allowed(fields, text):
    with pytest.raises(ProblemError, match=text):
        DivisibleLoad(platform=CLOUD, **fields)


def test_negative_prices_are_refused():
    star = Star([Worker(send=1.0, compute=1.0, price=Price(0.0, 0.0, -1.0))])
    with pytest.raises(ProblemError, match=r"price\.per_second: -1\.0 is negative"):
        DivisibleLoad(load=1.0, platform=star)


def test_energy_by_states_is_a_price():
    """What DLT-Studio counts, state by state, is the price that the page says."""
    idle, start, network = 2.0, 5.0, 3.0
    joules = (9.0, 7.0)
    workers = [
        Worker(send=Affine(0.5, 0.4), compute=1.0), Worker(send=Affine(0.3, 0.6), compute=1.5),
    ]  # fmt: skip
    priced = [
        replace(
            each,
            price=Price(
                (start - idle) * each.send.fixed - idle * each.compute.fixed,
                (network - idle) * each.send.per_unit + of_unit - idle * each.compute.per_unit,
                idle,
            ),
        )
        for each, of_unit in zip(workers, joules, strict=True)
    ]
    result = solve(DivisibleLoad(load=10.0, platform=Star(priced), objective="price"))
    energy = 0.0
    for worker, name, of_unit in zip(workers, ("P1", "P2"), joules, strict=True):
        load = result.answer["loads"][name]
        if load > 0:
            sending, computing = worker.send.per_unit * load, worker.compute.per_unit * load
            busy = worker.send.fixed + sending + computing
            energy += start * worker.send.fixed + network * sending + of_unit * load
            energy += idle * (result.makespan - busy)
    assert result.objective.value == pytest.approx(energy)


def test_the_page_is_true():
    """What the page shows is what happens, and its example is the file's."""
    root = Path(__file__).parents[2]
    assert doctest.testfile(str(root / "docs/divisible.md"), module_relative=False).failed == 0
    stated = read_problem(root / "examples/prices/rented_workers.toml")
    assert stated.star.changed() == Star(
        [replace(each, name=n) for each, n in zip(CLOUD.workers, stated.star.names, strict=True)]
    )


def test_many_workers_have_a_price_in_time():
    """With many workers and little time there is a plan by the deadline, without a false proof."""
    rng = random.Random(3)
    star = Star.from_arrays(
        send_per_unit=[rng.uniform(0.001, 0.01) for _ in range(300)],
        compute_per_unit=[rng.uniform(1, 4) for _ in range(300)],
        price_per_unit=[rng.uniform(0.1, 2) for _ in range(300)],
    )
    problem = DivisibleLoad(load=200.0, platform=star, objective="price", deadline=20.0)
    result = solve(problem, time_limit=1)
    assert result.makespan <= 20.0 * (1 + 1e-9)
    assert result.status == "feasible"
    assert check(problem, result.schedule).ok


def cut_after(searches, monkeypatch):
    """Let each search for a point of a front but the first few end without a proof or a plan."""
    real, left = front_method.sequence_search, iter(range(searches))

    def search(problem, control, **options):
        found = real(problem, control, **options)
        if next(left, None) is not None:
            return found
        plan = None if problem.deadline is not None and searches % 2 else found.schedule
        return replace(found, schedule=plan, optimal=False, lower_bound=None)

    monkeypatch.setattr(front_method, "sequence_search", search)


UNEVEN = Star(
    [
        Worker(send=1.0, compute=11.0),
        Worker(send=4.0, compute=12.0, price=Price(0, 4.0)),
        Worker(send=3.0, compute=2.0, price=Price(2.0, 1.0, per_second=2.0)),
    ]
)


@pytest.mark.parametrize(
    ("searches", "deadline"),
    few(
        [(1, 60.0), (1, None), (3, None), (3, 60.0), (0, None), (2, None), (4, None), (5, None)],
        4,
        thorough=8,
    ),
)
def test_a_front_cut_short_says_what_is_unknown(searches, deadline, monkeypatch):
    """Wherever the time is up: outside the unknown times no plan beats the points."""
    problem = DivisibleLoad(load=6.0, platform=UNEVEN, objective="pareto", deadline=deadline)
    cut_after(searches, monkeypatch)
    result = solve(problem, points=3, time_limit=120)
    front, unknown = result.details["front"], result.details["unknown"]
    assert (result.status == "optimal") == (unknown == []) == (searches == 5)
    ranges = [(low, math.inf if high is None else high) for low, high in unknown]
    assert all(low <= high for low, high in ranges)
    fastest = best(replace(problem, objective="makespan"))
    if front[0]["time"] > fastest * (1 + 1e-6):
        assert any(low <= fastest * (1 + 1e-6) <= high for low, high in ranges)
    one = replace(problem, objective="price")
    for time in (*(point["time"] for point in front), deadline or 200.0):
        least = best(replace(one, deadline=time * (1 + 1e-9)))
        reached = min(point["price"] for point in front if point["time"] <= time)
        missing = (
            any(low <= time for low, _ in ranges)
            if time > front[-1]["time"]
            else any(low <= time <= high for low, high in ranges)
        )
        assert missing or least == pytest.approx(reached, rel=1e-6, abs=1e-6)
    told = "others may lie" in result.notes[0]
    drawn_front = KINDS["divisible"].pictures.VIEWS["front"]
    title = drawn_front(problem, result.schedule, by=None, details=result.details).title
    assert told == ("others may lie" in title) == bool(unknown)


RENTED = Star([Worker(send=1.0, compute=1.0, price=Price(0, 0, per_second=2.0))])


@pytest.mark.parametrize("method", ["auto", "sequence-search", "chunk-programme"])
@pytest.mark.parametrize("use", ["any", "all"])
def test_rent_is_paid_until_the_plan_ends(use, method):
    """Of an open load, too: 2 units end at 4 s, long before the deadline, and cost the budget."""
    problem = DivisibleLoad(platform=RENTED, deadline=10.0, budget=8.0, use=use)
    result = solve(problem, method=method)
    assert result.status != "infeasible"
    assert result.objective.bound == pytest.approx(2.0, rel=1e-5)
    if method != "chunk-programme":  # which leaves plans of so few sequences to the search
        assert (result.status, result.objective.value) == ("optimal", pytest.approx(2.0))


def test_a_budget_is_kept_by_the_one_worker_that_can_afford_the_load() -> None:
    """It is neither the cheapest to begin with, by the unit, nor by the second."""
    prices = [Price(0.5, 0.15), Price(2.0, 0.02, per_second=0.2), Price(3.0, 0.04, per_second=0.01)]
    others = [Price(0.6 + 0.1 * i, 0.1, per_second=0.02 * (i + 1)) for i in range(8)]
    star = Star([Worker(send=0.01, compute=1.0, price=price) for price in [*others, *prices]])
    problem = DivisibleLoad(load=100.0, platform=star, budget=8.1)
    alone = [price.fixed + 100 * price.per_unit + 101 * price.per_second for price in prices]
    assert [price <= 8.1 for price in alone] == [False, False, True]
    result = solve(problem, time_limit=3)
    assert (result.status, check(problem, result.schedule).ok) == ("optimal", True)


def test_a_master_that_would_start_late_stays_out_where_seconds_cost() -> None:
    """Of an open load, too: with the master's 3 s of start-up both rents are above the budget."""
    problem = DivisibleLoad(
        platform=Star(
            [
                Worker(
                    send=Affine(0.5, 5.0),
                    compute=Affine(0.25, 1.0),
                    price=Price(4, 2, per_second=2),
                ),
                Worker(send=3.0, compute=Affine(0.5, 3.0), price=Price(0, 4, per_second=4)),
            ],
            master=Master(compute=Affine(3.0, 1.0)),
        ),
        deadline=7.5,
        budget=20.0,
        use="all",
    )
    result = solve(problem)
    assert result.objective.value == pytest.approx(best(problem), rel=1e-6)
    assert result.status == "optimal"


def test_no_price_is_taken_for_a_bound_on_the_time() -> None:
    """The least price of this problem is 8.97, and some plan of this price ends at 9.95."""
    worker = Worker(
        send=Affine(0.25, 0.3), compute=1.0, return_=Affine(1.0, 2.0), price=Price(2.0, 0.0)
    )
    other = Worker(
        send=Affine(0.5, 2.0), compute=0.5, return_=Affine(3.0, 3.0),
        price=Price(2.0, 0.0, per_second=0.5),
    )  # fmt: skip
    problem = DivisibleLoad(
        load=6.0, deadline=10.0, ports=2, use="all", objective="price",
        platform=Star([worker, other], master=Master(compute=Affine(3.0, 2.0))),
    )  # fmt: skip
    result = solve(problem)
    assert result.status == "optimal"
    assert result.objective.value == pytest.approx(8.972631578947368)
    for bound in KINDS["divisible"].bounds.bounds(problem):
        assert bound.value <= result.makespan
    assert solve(problem, method="chunk-programme").status != "infeasible"


@pytest.mark.parametrize("seed", few(60, 3))
def test_open_loads_within_budgets_are_those_of_all_plans(seed):
    """With every part of a price, everybody or not, whole units, releases: the most, or none."""
    whole, use = seed % 3 == 0, ("any", "any", "all")[seed % 3]
    limits = {"deadline": 6.0 if whole else 12.0, "budget": 5.0}
    problem = drawn(3000 + seed, load=None, loads=None, integral=whole, use=use, **limits)
    most, result = best(problem), solve(problem, time_limit=20)
    if most is None:
        assert result.status in ("infeasible", "limit")
        return
    assert result.status != "infeasible"
    if most < math.inf and result.objective is not None:
        slack = 3e-6 * max(1.0, most)
        assert result.objective.value <= most + slack
        assert result.objective.bound is None or result.objective.bound >= most - slack
        assert result.status != "optimal" or result.objective.value >= most - slack
