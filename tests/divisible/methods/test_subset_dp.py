"""subset-dp against every ordered subset in exact fractions, the slides' programme, and itself."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import Affine, DivisibleLoad, Master, MethodError, Star, Worker, solve
from makespan.core.control import Control
from makespan.core.numeric import jit
from makespan.divisible.one_round import ending_together, layers
from makespan.divisible.one_round.ending_together import AffineCosts, Remainder, least_end, lines
from makespan.divisible.one_round.layers import Layers
from tests.oracles.divisible_affine import least_makespan, most_load
from tests.thorough import few

CASES = [
    case
    for case in json.loads(
        (Path(__file__).parents[2] / "cases" / "divisible.json").read_text(encoding="utf-8")
    )
    if case["name"].startswith("affine")
]


def star_of(workers, master=None):
    """A star of workers (C, c, W, w), named P1, P2, …"""
    return Star(
        [Worker(send=Affine(C, c), compute=Affine(W, w)) for C, c, W, w in workers],
        master=Master(compute=master) if master is not None else None,
    )


def workers_of(inputs):
    zeros = [0.0] * len(inputs["C"])
    columns = inputs["C"], inputs["c"], inputs.get("Wlat", zeros), inputs.get("w", zeros)
    return list(zip(*columns, strict=True))


def random_workers(generator, count, *, small_integers, smallest_w=0):
    if small_integers:
        table = generator.integers([0, 0, 0, smallest_w], 4, (count, 4))
    else:
        table = generator.uniform([0, 0.05, 0, 0.5], [10, 1, 10, 5], (count, 4))
    return [tuple(float(value) for value in row) for row in table]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_cases(case):
    """Every affine case gives its exact makespan, order and loads, proved."""
    expected, workers = case["expected"], workers_of(case["inputs"])
    problem = DivisibleLoad(load=case["inputs"]["W"], platform=star_of(workers))
    result = solve(problem, method="subset-dp")
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(expected["makespan"], rel=1e-9)
    if "loads_in_order" in expected:
        order = [f"P{worker + 1}" for worker in expected["order"]]
        assert result.answer["order"] == order
        loads = [result.answer["loads"][name] for name in order]
        assert loads == pytest.approx(expected["loads_in_order"], rel=1e-9)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_deadline_inverts_the_makespan(case):
    """By the least makespan of a load, the most load is that load."""
    star = star_of(workers_of(case["inputs"]))
    makespan = solve(DivisibleLoad(load=case["inputs"]["W"], platform=star)).makespan
    most = solve(DivisibleLoad(deadline=makespan, platform=star), method="subset-dp")
    assert most.status == "optimal"
    assert most.objective.value == pytest.approx(case["inputs"]["W"], rel=1e-9)


@pytest.mark.parametrize("small_integers", [False, True])
@pytest.mark.parametrize("seed", few(60, 10))
def test_equal_to_every_ordered_subset(seed, small_integers):
    """Random stars, half of them with many zeros and ties: the optimum of all ordered subsets."""
    generator = np.random.default_rng([seed, small_integers])
    count = int(generator.integers(1, 5))
    workers = random_workers(generator, count, small_integers=small_integers)
    load = float(generator.choice([0.5, 3.0, 20.0, 100.0]))
    master = None
    if seed % 3 == 0:
        master = Affine(float(generator.integers(0, 9)), float(generator.integers(0, 4)))
    exact = least_makespan(workers, load, master=master)
    problem = DivisibleLoad(load=load, platform=star_of(workers, master))
    result = solve(problem, method="subset-dp")
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(float(exact), rel=1e-9)
    assert result.lower_bound <= result.makespan


@pytest.mark.parametrize("seed", range(60))
def test_most_load_of_every_ordered_subset(seed):
    """By a deadline, the most load of all ordered subsets; also before any worker could start."""
    generator = np.random.default_rng([seed, 7])
    small = bool(seed % 2)
    workers = random_workers(generator, 4, small_integers=small, smallest_w=1)
    deadline = float(generator.choice([0.0, 0.5, 4.0, 25.0, 200.0]))
    master = Affine(3.0, 2.0) if seed % 3 == 0 else None
    exact = most_load(workers, deadline, master=master)
    problem = DivisibleLoad(deadline=deadline, platform=star_of(workers, master))
    result = solve(problem, method="subset-dp")
    assert result.status == "optimal"
    assert result.objective.value == pytest.approx(float(exact), rel=1e-9)
    assert result.schedule.makespan <= deadline * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_given_order(seed):
    """In a given order, the optimum of all subsets in that order."""
    generator = np.random.default_rng([seed, 11])
    workers = random_workers(generator, 6, small_integers=bool(seed % 2), smallest_w=1)
    order = generator.permutation(6).tolist()
    load = float(generator.choice([1.0, 10.0, 100.0]))
    names = tuple(f"P{worker + 1}" for worker in order)
    problem = DivisibleLoad(load=load, platform=star_of(workers), order=names)
    result = solve(problem, method="subset-dp")
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(
        float(least_makespan(workers, load, order=order)), rel=1e-9
    )
    served = [names.index(name) for name in result.answer["order"]]
    assert served == sorted(served)


@pytest.mark.parametrize("seed", few(4, 2))
def test_equal_to_the_programme(seed):
    """The mixed-integer programme of the slides finds the same optimum."""
    generator = np.random.default_rng([seed, 3])
    workers = random_workers(generator, 6, small_integers=False)
    problem = DivisibleLoad(load=float([5, 50][seed % 2]), platform=star_of(workers))
    ours, theirs = solve(problem, method="subset-dp"), solve(problem, method="milp")
    assert ours.makespan == pytest.approx(theirs.makespan, rel=1e-6)
    assert ours.makespan <= theirs.makespan * (1 + 1e-9)


def test_no_load_takes_no_time():
    """A load of 0 is done at 0, with nobody."""
    result = solve(DivisibleLoad(load=0.0, platform=star_of([(1, 2, 3, 4)])), method="subset-dp")
    assert (result.status, result.makespan, len(result.schedule)) == ("optimal", 0.0, 0)


def test_nobody():
    """A load without a machine is infeasible; the master alone can do it."""
    problem = DivisibleLoad(load=1.0, platform=Star([]))
    assert solve(problem, method="subset-dp").status == "infeasible"
    alone = DivisibleLoad(load=4.0, platform=Star([], master=Master(compute=Affine(1.0, 2.0))))
    assert solve(alone, method="subset-dp").makespan == 9.0


def test_latencies_longer_than_everything_else():
    """Where fixed costs dwarf the work, only the least fixed costs matter."""
    workers = [(1e6, 1, 1, 1), (1e3, 2, 0, 3), (1e6, 1, 0, 1)]
    result = solve(DivisibleLoad(load=2.0, platform=star_of(workers)), method="subset-dp")
    assert result.answer["order"] == ["P2"]
    assert result.makespan == pytest.approx(1010.0, rel=1e-12)


def test_equal_workers():
    """Forty equal workers: those that pay are served by index, and the proof takes no search."""
    problem = DivisibleLoad(load=60.0, platform=star_of([(1.0, 0.1, 2.0, 3.0)] * 40))
    result = solve(problem, method="subset-dp")
    used = len(result.answer["order"])
    assert result.status == "optimal"
    assert result.answer["order"] == [f"P{index + 1}" for index in range(used)]
    ends = [_common_end([(1.0, 0.1, 2.0, 3.0)] * size, 60.0) for size in range(1, 41)]
    best = min(end for end in ends if end is not None)
    assert result.makespan == pytest.approx(best, rel=1e-9)


def _common_end(workers, load):
    costs = _costs(workers)
    slope, offset = lines(costs, list(range(len(workers))))
    end = (load + offset.sum()) / slope.sum()
    return end if (slope * end >= offset).all() else None


def _costs(workers):
    columns = np.array(workers, dtype=float).T.copy()
    return AffineCosts(
        send_fixed=columns[0], send=columns[1], compute_fixed=columns[2], compute=columns[3]
    )


numbers = st.floats(0.0, 8.0).map(lambda value: round(value, 2))
stars = st.lists(
    st.tuples(numbers, numbers, numbers, numbers.map(lambda value: value + 0.25)),
    min_size=1,
    max_size=6,
)


@given(workers=stars, load=st.floats(0.1, 100.0), factor=st.sampled_from([1e-7, 0.5, 3.0, 1e6]))
def test_scaling_time_and_load(workers, load, factor):
    """With all seconds times f the makespan is times f; costs a smaller unit give the same."""
    plain = solve(DivisibleLoad(load=load, platform=star_of(workers)), method="subset-dp")
    slower = [tuple(value * factor for value in worker) for worker in workers]
    finer = [(C, c / factor, W, w / factor) for C, c, W, w in workers]
    scaled = solve(DivisibleLoad(load=load, platform=star_of(slower)), method="subset-dp")
    assert scaled.makespan == pytest.approx(plain.makespan * factor, rel=1e-9)
    units = solve(DivisibleLoad(load=load * factor, platform=star_of(finer)), method="subset-dp")
    assert units.makespan == pytest.approx(plain.makespan, rel=1e-9)


@given(workers=stars, load=st.floats(0.1, 100.0), data=st.data())
def test_renaming(workers, load, data):
    """The makespan does not depend on the order in which the workers are listed."""
    mixed = data.draw(st.permutations(workers))
    first, second = (
        solve(DivisibleLoad(load=load, platform=star_of(listed)), method="subset-dp")
        for listed in (workers, mixed)
    )
    assert first.makespan == pytest.approx(second.makespan, rel=1e-9)


@given(workers=stars, load=st.floats(0.1, 100.0))
def test_auto_is_never_worse_than_a_heuristic(workers, load):
    """auto proves its plan, valid and never behind the plan for large loads or one worker."""
    problem = DivisibleLoad(load=load, platform=star_of(workers))
    result = solve(problem)
    assert result.status == "optimal"
    assert result.makespan <= solve(problem, method="large-load").makespan * (1 + 1e-12)
    alone = min(C + W + (c + w) * load for C, c, W, w in workers)
    assert result.makespan <= alone * (1 + 1e-12)


@given(workers=stars, horizon=st.floats(0.5, 60.0), data=st.data())
def test_remainder_is_an_upper_bound(workers, horizon, data):
    """What a sequence does in the time left is never above the tabulated bound."""
    costs = _costs(workers)
    order = data.draw(st.permutations(range(len(workers))))
    left = data.draw(st.floats(0.01, 1.0)) * horizon
    remainder = Remainder.within(costs, horizon, 16)
    cell = min(15, int(left * 16 / horizon))
    bound = remainder.per_second(np.ones(len(workers), dtype=bool))[cell] * left
    done, room = 0.0, left
    for worker in order:
        C, c, W, w = workers[worker]
        amount = (room - C - W) / (c + w)
        if amount > 0:
            done, room = done + amount, room - C - c * amount
    assert done <= bound * (1 + 1e-9) + 1e-12


@pytest.mark.kernels
@pytest.mark.parametrize("seed", range(8))
def test_compiled_and_plain_agree(seed, monkeypatch):
    """The compiled loop keeps the same states as the plain one."""
    generator = np.random.default_rng([seed, 5])
    costs = _costs(random_workers(generator, 9, small_integers=bool(seed % 2), smallest_w=1))
    end = least_end(costs, list(range(9)), 40.0)[0]
    found = []
    for plain in (True, False):
        monkeypatch.setattr(jit, "forced", not plain)
        found.append(Layers(costs, Control())(end, 0.0, 10**9))
    assert found[0] == found[1]


def test_small_widths_keep_a_valid_bound():
    """A narrow search states a bound that is not below the optimum of a wide one."""
    generator = np.random.default_rng(2)
    costs = _costs(random_workers(generator, 12, small_integers=False))
    wide = Layers(costs, Control())(60.0, 0.0, 10**9)
    for width in (1, 3, 20):
        narrow = Layers(costs, Control())(60.0, 0.0, width)
        assert narrow.load <= wide.load * (1 + 1e-12) <= narrow.upper * (1 + 1e-11)


def test_full_memory_keeps_a_valid_bound(monkeypatch):
    """Where the states do not fit, what was given up is in the bound."""
    monkeypatch.setattr(layers, "MAX_STATES", 1024)
    generator = np.random.default_rng(9)
    workers = random_workers(generator, 30, small_integers=False)
    problem = DivisibleLoad(load=1000.0, platform=star_of(workers))
    short = solve(problem, method="subset-dp")
    monkeypatch.undo()
    full = solve(problem, method="subset-dp")
    assert short.status == "feasible"
    assert full.status == "optimal"
    assert short.lower_bound <= full.makespan * (1 + 1e-9) <= short.makespan * (1 + 2e-9)


def test_no_time_gives_a_plan_and_a_bound():
    """At the time limit the simple plan stays, valid, with a bound below the optimum."""
    generator = np.random.default_rng(1)
    workers = random_workers(generator, 20, small_integers=False)
    problem = DivisibleLoad(load=100.0, platform=star_of(workers))
    stopped = solve(problem, method="subset-dp", time_limit=0.0)
    full = solve(problem, method="subset-dp")
    assert stopped.status == "feasible"
    assert stopped.lower_bound <= full.makespan * (1 + 1e-9)
    assert full.makespan <= stopped.makespan * (1 + 1e-9)


def test_deadline_with_a_load():
    """A deadline that the optimum meets is met; an earlier one is proved infeasible."""
    problem = DivisibleLoad(load=4.0, platform=star_of([(0, 4, 4, 3), (6, 3, 0, 6), (2, 2, 2, 8)]))
    optimum = float(Fraction(3536, 159))
    assert (
        solve(replace(problem, deadline=optimum * 1.001), method="subset-dp").makespan
        <= optimum * 1.001
    )
    late = solve(replace(problem, deadline=optimum * 0.999), method="subset-dp")
    assert late.status == "infeasible"


def test_no_maximum():
    """A worker without a cost per unit does any load once it has started."""
    star = star_of([(1.0, 0.0, 1.0, 0.0)])
    assert solve(DivisibleLoad(deadline=3.0, platform=star), method="subset-dp").status == "limit"
    early = solve(DivisibleLoad(deadline=1.0, platform=star), method="subset-dp")
    assert early.objective.value == 0.0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"use": "all", "load": None, "deadline": 9.0}, "use is 'all' and load is open"),
        ({"rounds": 2}, "rounds is 2"),
        ({"ports": "many"}, "ports is 'many'"),
        ({"integral": True}, "integral is True"),
        ({"budget": 3.0}, "budget is given"),
    ],
)
def test_refused_by_name(change, reason):
    """What the search can't honour is refused, with the reason."""
    problem = DivisibleLoad(**{"load": 1.0, "platform": star_of([(1, 1, 1, 1)]), **change})
    with pytest.raises(MethodError, match=reason):
        solve(problem, method="subset-dp")


def test_windows_and_crowds_are_refused():
    """Memory and release times are refused by name, and more workers than a set has bits."""
    limited = Star([Worker(send=1.0, compute=1.0, memory=2.0)])
    with pytest.raises(MethodError, match=r"memory is 2\.0"):
        solve(DivisibleLoad(load=1.0, platform=limited), method="subset-dp")
    later = Star([Worker(send=1.0, compute=1.0, release=2.0)])
    with pytest.raises(MethodError, match=r"release is 2\.0"):
        solve(DivisibleLoad(load=1.0, platform=later), method="subset-dp")
    crowd = star_of([(1.0, 1.0, 1.0, 1.0)] * 63)
    with pytest.raises(MethodError, match="there are 63"):
        solve(DivisibleLoad(load=1.0, platform=crowd), method="subset-dp")


def test_everyone_takes_part_in_a_large_load():
    """Where the optimum uses every worker, it is proved for use = 'all' as well."""
    generator = np.random.default_rng(8)
    star = star_of(random_workers(generator, 20, small_integers=False))
    problem = DivisibleLoad(load=1e5, platform=star, use="all")
    result = solve(problem, method="subset-dp")
    assert result.status == "optimal"
    assert len(result.answer["order"]) == 20
    assert result.makespan == solve(replace(problem, use="any")).makespan


@pytest.mark.parametrize("seed", range(12))
def test_everyone_is_bounded(seed):
    """For use = 'all' the plan is valid; the programme's optimum is between it and its bound."""
    generator = np.random.default_rng([seed, 41])
    scale = np.array([[1, 1, 1, 1], [0.1, 1, 0.2, 1]][seed % 2])
    table = generator.uniform([0, 0.05, 0, 0.5], [3, 1, 10, 5], (3, 4)) * scale
    load = float(generator.choice([0.5, 3.0, 10.0, 40.0]))
    problem = DivisibleLoad(load=load, platform=star_of(table.tolist()), use="all")
    if seed % 3 == 0:
        problem = replace(problem, order=("P2", "P3", "P1"))
    ours, theirs = solve(problem, method="subset-dp"), solve(problem, method="milp")
    assert ours.lower_bound <= theirs.makespan * (1 + 1e-9)
    assert theirs.makespan <= ours.makespan * (1 + 1e-6)
    if ours.status == "optimal":
        assert ours.makespan <= theirs.makespan * (1 + 1e-9)
    assert solve(problem).makespan == pytest.approx(theirs.makespan, rel=1e-6)


def test_newton_is_short():
    """Few searches suffice: each one that finds more lowers the end to its own."""
    calls = []

    class Counted(Layers):
        def __call__(self, horizon, target, width):
            calls.append(horizon)
            return super().__call__(horizon, target, width)

    generator = np.random.default_rng(4)
    costs = _costs(random_workers(generator, 12, small_integers=False))
    end, sequence = least_end(costs, np.argsort(costs.send).tolist(), 100.0)
    start = ending_together.BestSubset(value=end, sequence=sequence, bound=0.0)
    best = ending_together.least_time(costs, 100.0, Counted(costs, Control()), Control(), start)
    assert best.proved
    assert calls == sorted(calls, reverse=True)
    assert len(set(calls)) <= 5
