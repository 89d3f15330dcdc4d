"""fifo, lifo, given orders and the search over pairs, against all pairs by linear programme."""

from __future__ import annotations

import json
import runpy
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import (
    Affine,
    DivisibleLoad,
    Master,
    MethodError,
    Star,
    Worker,
    lower_bound,
    save,
    solve,
)
from makespan.cli.main import run
from makespan.divisible.rates import quick as shares
from tests.oracles import divisible_returns as oracle
from tests.thorough import examples, few, up_to

CASES = {
    case["name"]: case
    for case in json.loads(
        (Path(__file__).parents[2] / "cases" / "divisible.json").read_text(encoding="utf-8")
    )
}
NEITHER = ["return_neither_fifo_nor_lifo_6_6_2", "return_neither_fifo_nor_lifo_7_6_3"]
ALLOWED = {None: lambda send, back: True, "fifo": oracle.is_fifo, "lifo": oracle.is_lifo}


def linear(send, compute, back, **options):
    """A linear star with returns."""
    rows = zip(send, compute, back, strict=True)
    return Star([Worker(send=c, compute=w, return_=d) for c, w, d in rows], **options)


def star_of(costs):
    """The star of an oracle's costs."""
    memory = costs.memory or [float("inf")] * len(costs.send)
    workers = [
        Worker(
            send=Affine(*send),
            compute=Affine(*compute),
            return_=None if back is None else Affine(*back),
            memory=limit,
        )
        for send, compute, back, limit in zip(
            costs.send, costs.compute, costs.back, memory, strict=True
        )
    ]
    own = None if costs.own is None else Affine(*costs.own)
    return Star(workers, master=Master(compute=own))


def case_problems(name):
    """The problems of a case, with the makespan of a unit load and the status of each."""
    given_, expected = CASES[name]["inputs"], CASES[name]["expected"]
    count = len(given_["w"])
    columns = [
        given_[key] if isinstance(given_[key], list) else [given_[key]] * count
        for key in ("c", "w", "d")
    ]
    star = linear(*columns)

    def of(discipline, makespan):
        return DivisibleLoad(load=1.0, platform=star, discipline=discipline), makespan

    if name in NEITHER:
        kinds = ((None, "optimal"), ("fifo", "fifo"), ("lifo", "lifo"))
        return [
            of(kind, 1 / float(Fraction(expected[key]["throughput_T1"]))) for kind, key in kinds
        ]
    if "throughput" in expected:
        return [of("fifo", 1 / expected["throughput"])]
    return [of("fifo", 1 / expected["best_fifo"]), of("lifo", 1 / expected["best_lifo"])]


CASE_NAMES = [*NEITHER, "bus_fifo_returns", "bus_fifo_returns_saturated", "returns_fifo_lifo_z0.5"]


@pytest.mark.parametrize("name", CASE_NAMES)
def test_cases(name):
    """Every case gives its makespan, proved, for each discipline that it states."""
    for problem, makespan in case_problems(name):
        result = solve(problem)
        assert result.status == "optimal"
        assert result.makespan == pytest.approx(makespan, rel=1e-9)


@pytest.mark.parametrize("name", CASE_NAMES)
def test_cases_by_command_line(name, tmp_path, capsys):
    """The same makespans come from files through the command line."""
    for problem, makespan in case_problems(name):
        save(problem, tmp_path / "problem.toml")
        assert run(["solve", str(tmp_path / "problem.toml"), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["status"] == "optimal"
        assert told["makespan"] == pytest.approx(makespan, rel=1e-9)


@pytest.mark.parametrize("name", NEITHER)
def test_neither_fifo_nor_lifo(name):
    """The optimum returns neither in the order of sending nor in its reverse."""
    star = case_problems(name)[0][0].platform
    answer = solve(DivisibleLoad(load=1.0, platform=star)).answer
    assert answer["return_order"] not in (answer["order"], answer["order"][::-1])


def random_costs(generator, count):
    """Costs with or without fixed parts, with zeros and ties or without, now and then a limit."""
    whole, latencies = generator.random() < 0.5, generator.random() < 0.4

    def cost(least=0.0):
        fixed = float(generator.choice([0, 0, 1, 4, 30])) if latencies else 0.0
        drawn = generator.choice([0, 1, 1, 3, 8]) if whole else generator.uniform(0.1, 9)
        return fixed, float(drawn) + least

    back = [cost() if generator.random() < 0.85 else None for _ in range(count)]
    back = [None if each == (0.0, 0.0) else each for each in back]
    if not any(back):
        back[0] = (0.0, 1.0)
    return oracle.Costs(
        send=[cost() for _ in range(count)],
        compute=[cost(0.25) for _ in range(count)],
        back=back,
        own=cost(1.0) if generator.random() < 0.3 else None,
        ports=1 if generator.random() < 0.6 else 2,
        memory=generator.choice([1.0, 2.0, 4.0], count).tolist()
        if generator.random() < 0.2
        else None,
    )


def compare_to_oracle(costs, discipline, *, load=None, end=None, everyone=False):
    """Solve by the method of the discipline and compare with all pairs of orders."""
    problem = DivisibleLoad(
        platform=star_of(costs),
        load=load,
        deadline=end,
        discipline=discipline,
        ports=costs.ports,
        use="all" if everyone else "any",
    )
    result = solve(problem, method=discipline or "return-orders")
    exact = oracle.best_pair(
        costs, load=load, end=end, allowed=ALLOWED[discipline], everyone=everyone
    )
    if exact is None:
        assert result.status == "infeasible"
        return
    assert result.status == "optimal"
    value = result.makespan if load is not None else result.objective.value
    assert value == pytest.approx(exact, rel=1e-7)
    if load is not None:
        assert lower_bound(problem).value <= result.makespan * (1 + 1e-9)


@pytest.mark.parametrize("discipline", [None, "fifo", "lifo"])
@pytest.mark.parametrize("seed", few(80, 10))
def test_equal_to_all_pairs(seed, discipline):
    """Random stars of 1 to 3 workers, one and two ports: the optimum of all sets and orders."""
    generator = np.random.default_rng([seed, 1])
    costs = random_costs(generator, int(generator.integers(1, 4)))
    everyone = bool(generator.random() < 0.2)
    if seed % 3:
        load = float(generator.choice([1.0, 3.0, 10.0]))
        compare_to_oracle(costs, discipline, load=load, everyone=everyone)
    else:
        end = float(generator.choice([2.0, 10.0, 60.0]))
        compare_to_oracle(costs, discipline, end=end, everyone=everyone)


@pytest.mark.parametrize("seed", range(4))
def test_equal_to_all_pairs_of_four(seed):
    """Four workers with one port: the optimum of all 576 pairs."""
    send, compute, back = np.random.default_rng([seed, 2]).uniform(0.5, 9.0, (3, 4)).tolist()
    result = solve(DivisibleLoad(load=1.0, platform=linear(send, compute, back)))
    assert result.status == "optimal"
    least = oracle.least_end_of_all_pairs(send, compute, back)
    assert result.makespan == pytest.approx(least, rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "count"), [(0, 5), (1, 5), (2, 5), (3, 5), (0, 6)])
def test_equal_to_all_pairs_of_six(seed, count):
    """Five and six workers with one port: the optimum of all pairs of orders."""
    generator = np.random.default_rng([seed, count])
    send, compute, back = generator.uniform(0.5, 9.0, (3, count)).tolist()
    result = solve(DivisibleLoad(load=1.0, platform=linear(send, compute, back)), time_limit=600)
    assert result.status == "optimal"
    least = oracle.least_end_of_all_pairs(send, compute, back)
    assert result.makespan == pytest.approx(least, rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("discipline", [None, "fifo", "lifo"])
@pytest.mark.parametrize("seed", range(6))
def test_equal_to_all_pairs_of_four_with_fixed_costs(seed, discipline):
    """Four workers with fixed costs, one and two ports: the optimum of all sets and orders."""
    costs = random_costs(np.random.default_rng([seed, 3]), 4)
    compare_to_oracle(costs, discipline, load=5.0)


def test_quick_oracle_agrees():
    """The oracle with changing numbers agrees with the one that is written out."""
    send, compute, back = np.random.default_rng(4).uniform(0.5, 9.0, (3, 3)).tolist()
    costs = oracle.Costs(
        send=[(0.0, c) for c in send],
        compute=[(0.0, w) for w in compute],
        back=[(0.0, d) for d in back],
    )
    least = oracle.least_end_of_all_pairs(send, compute, back)
    assert least == pytest.approx(oracle.best_pair(costs, load=1.0), rel=1e-7)


@pytest.mark.parametrize("ratio", [0.25, 1.0, 1.5, 4.0])
@pytest.mark.parametrize("seed", range(5))
def test_fifo_theorem(seed, ratio):
    """With d = z c, the order by send cost is the best of all FIFO orders."""
    generator = np.random.default_rng([seed, 5])
    send = generator.uniform(0.5, 9.0, 4)
    compute = generator.uniform(0.5, 9.0, 4)
    star = linear(send.tolist(), compute.tolist(), (ratio * send).tolist())
    result = solve(DivisibleLoad(load=1.0, platform=star, discipline="fifo"))
    costs = oracle.Costs(
        send=[(0.0, float(c)) for c in send],
        compute=[(0.0, float(w)) for w in compute],
        back=[(0.0, float(ratio * c)) for c in send],
    )
    assert (result.method, result.status) == ("fifo", "optimal")
    exact = oracle.best_pair(costs, load=1.0, allowed=oracle.is_fifo)
    assert result.makespan == pytest.approx(exact, rel=1e-7)


def test_no_sorted_order_for_general_returns():
    """On some stars no order sorted by c or d is the best FIFO order; the search finds it."""
    found = 0
    for seed in range(10):
        generator = np.random.default_rng([seed, 6])
        send, compute, back = generator.uniform(0.5, 9.0, (3, 4))
        star = linear(send.tolist(), compute.tolist(), back.tolist())
        best = solve(DivisibleLoad(load=1.0, platform=star, discipline="fifo")).makespan
        ends = []
        for key in (send, -send, back, -back):
            names = tuple(f"P{worker + 1}" for worker in np.argsort(key))
            problem = DivisibleLoad(load=1.0, platform=star, discipline="fifo", order=names)
            ends.append(solve(problem).makespan)
        assert best <= min(ends) * (1 + 1e-9)
        found += best < min(ends) * (1 - 1e-6)
    assert found > 0


def test_lifo_without_fixed_costs_is_a_plain_star():
    """LIFO on a thousand workers is the plain star with c + d, to the last digits."""
    generator = np.random.default_rng(7)
    send, compute, back = generator.uniform(0.5, 9.0, (3, 1000))
    star = Star.from_arrays(send_per_unit=send, compute_per_unit=compute, return_per_unit=back)
    plain = Star.from_arrays(send_per_unit=send + back, compute_per_unit=compute)
    result = solve(DivisibleLoad(load=5.0, platform=star, discipline="lifo"))
    assert (result.method, result.status) == ("lifo", "optimal")
    expected = solve(DivisibleLoad(load=5.0, platform=plain)).makespan
    assert result.makespan == pytest.approx(expected, rel=1e-12)


def test_fifo_with_many_workers():
    """The best FIFO order of 300 workers with d = c / 2 is a sparse programme, proved."""
    generator = np.random.default_rng(8)
    send, compute = generator.uniform(0.5, 9.0, (2, 300))
    star = Star.from_arrays(
        send_per_unit=send, compute_per_unit=compute * 100, return_per_unit=send / 2
    )
    result = solve(DivisibleLoad(load=5.0, platform=star, discipline="fifo"))
    assert result.status == "optimal"
    assert result.answer["order"] == result.answer["return_order"]


@pytest.mark.parametrize("scale", up_to(3, 5))
@pytest.mark.parametrize("ports", [1, 2])
def test_large_stars_get_a_plan_and_a_bound(ports, scale):
    """Sparse programmes plan 60 or 100 workers; local search 12 or 20; both with a bound below."""
    generator = np.random.default_rng(9)
    for count in (20 * scale, 4 * scale):
        send, compute, back = generator.uniform(0.5, 9.0, (3, count))
        star = Star.from_arrays(
            send_per_unit=send, compute_per_unit=10 * compute, return_per_unit=back
        )
        problem = DivisibleLoad(load=5.0, platform=star, ports=ports)
        result = solve(problem, time_limit=0.3)
        assert result.status in ("feasible", "optimal")
        assert result.lower_bound <= result.makespan
        assert result.gap < 0.5


numbers = st.floats(0.0, 8.0).map(lambda value: round(value, 2))
positive = numbers.map(lambda value: value + 0.25)
stars = st.lists(st.tuples(numbers, positive, positive), min_size=1, max_size=4)


@examples(10)
@given(workers=stars, load=st.floats(0.1, 100.0), factor=st.sampled_from([1e-7, 0.5, 3.0, 1e6]))
def test_scaling(workers, load, factor):
    """With all seconds times f the makespan is times f; costs of a smaller unit give the same."""
    plain = solve(DivisibleLoad(load=load, platform=linear(*zip(*workers, strict=True))))
    slower = linear(*zip(*[[value * factor for value in each] for each in workers], strict=True))
    finer = linear(*zip(*[[value / factor for value in each] for each in workers], strict=True))
    scaled = solve(DivisibleLoad(load=load, platform=slower))
    assert scaled.makespan == pytest.approx(plain.makespan * factor, rel=1e-7)
    units = solve(DivisibleLoad(load=load * factor, platform=finer))
    assert units.makespan == pytest.approx(plain.makespan, rel=1e-7)


@examples(10)
@given(workers=stars, data=st.data())
def test_renaming_and_reversing_time(workers, data):
    """The optimum depends neither on the names nor, with c and d exchanged, on time's direction."""
    mixed = data.draw(st.permutations(workers))
    workers = [(c + 0.01, w, d) for c, w, d in workers]
    reverse = [(d, w, c) for c, w, d in workers]
    mixed = [(c + 0.01, w, d) for c, w, d in mixed]
    ends = [
        solve(DivisibleLoad(load=1.0, platform=linear(*zip(*each, strict=True)))).makespan
        for each in (workers, mixed, reverse)
    ]
    assert ends[1:] == pytest.approx([ends[0]] * 2, rel=1e-7)


@examples(10)
@given(workers=stars, ports=st.sampled_from([1, 2]))
def test_the_search_is_never_behind_a_discipline(workers, ports):
    """The best pair is not behind the best FIFO and LIFO, nor ahead of two ports or no returns."""
    star = linear(*zip(*workers, strict=True))
    free = solve(DivisibleLoad(load=4.0, platform=star, ports=ports))
    assert free.status == "optimal"
    for discipline in ("fifo", "lifo"):
        bound = solve(DivisibleLoad(load=4.0, platform=star, ports=ports, discipline=discipline))
        assert free.makespan <= bound.makespan * (1 + 1e-8)
    plain = Star([Worker(send=c, compute=w) for c, w, _ in workers])
    assert free.makespan >= solve(DivisibleLoad(load=4.0, platform=plain)).makespan * (1 - 1e-8)
    wider = solve(DivisibleLoad(load=4.0, platform=star, ports=2))
    assert free.makespan >= wider.makespan * (1 - 1e-8)


def test_deadline_inverts_the_makespan():
    """By the least makespan of a load, the most load is that load; a little earlier it is not."""
    star = linear([2.0, 5.0, 3.0], [4.0, 1.0, 6.0], [1.0, 4.5, 1.5])
    end = solve(DivisibleLoad(load=6.0, platform=star)).makespan
    most = solve(DivisibleLoad(deadline=end, platform=star))
    assert most.status == "optimal"
    assert most.objective.value == pytest.approx(6.0, rel=1e-8)
    late = solve(DivisibleLoad(load=6.0, platform=star, deadline=0.99 * end))
    assert late.status == "infeasible"


def test_equal_workers():
    """Five equal workers are served by index."""
    star = linear([1.0] * 5, [20.0] * 5, [0.5] * 5)
    result = solve(DivisibleLoad(load=8.0, platform=star), method="return-orders")
    assert result.status == "optimal"
    assert result.answer["order"] == [f"P{index + 1}" for index in range(5)]


def test_no_time_gives_a_plan_and_a_bound():
    """At the time limit a simple plan stays, valid, with a bound below the optimum."""
    generator = np.random.default_rng(10)
    star = linear(*generator.uniform(0.5, 9.0, (3, 5)).tolist())
    problem = DivisibleLoad(load=10.0, platform=star)
    stopped = solve(problem, method="return-orders", time_limit=0.0)
    full = solve(problem, method="return-orders")
    assert stopped.lower_bound <= full.makespan * (1 + 1e-9)
    assert full.makespan <= stopped.makespan * (1 + 1e-9)


def test_no_load_and_nobody():
    """A load of 0 is done at 0 with nobody; a load that memory can't hold has no plan."""
    star = linear([1.0], [1.0], [1.0])
    idle = solve(DivisibleLoad(load=0.0, platform=star))
    assert (idle.status, idle.makespan, len(idle.schedule)) == ("optimal", 0.0, 0)
    small = Star([Worker(send=1.0, compute=1.0, return_=1.0, memory=0.5)])
    full = solve(DivisibleLoad(load=1.0, platform=small))
    assert full.status == "infeasible"
    assert "memory" in full.notes[0]


def test_no_maximum():
    """A worker whose costs are all fixed does any load once there is time for them."""
    back = Affine(1.0, 0.0)
    star = Star([Worker(send=0.0, compute=0.0, return_=back)])
    late = solve(DivisibleLoad(deadline=3.0, platform=star))
    assert late.status == "limit"
    assert "no maximum" in late.notes[0]
    early = solve(DivisibleLoad(deadline=0.5, platform=star), method="return-orders")
    assert early.objective.value == 0.0


@pytest.mark.parametrize(
    ("method", "change", "reason"),
    [
        ("return-orders", {"rounds": 2}, "rounds is 2"),
        ("return-orders", {"ports": "many"}, "ports is 'many'"),
        ("return-orders", {"integral": True}, "integral is True"),
        ("return-orders", {"budget": 3.0}, "budget is given"),
        ("return-orders", {"discipline": "fifo"}, "discipline is 'fifo'"),
        ("fifo", {"discipline": "lifo"}, "discipline is 'lifo'"),
        ("lifo", {"return_order": ("P1", "P2")}, "return_order is given"),
        ("return-programme", {}, "order is not given"),
        ("return-programme", {"order": ("P1", "P2")}, "neither return_order nor discipline"),
    ],
)
def test_refused_by_name(method, change, reason):
    """What a method can't honour is refused, with the reason."""
    problem = DivisibleLoad(load=1.0, platform=linear([1.0, 2.0], [1.0, 1.0], [1.0, 1.0]), **change)
    with pytest.raises(MethodError, match=reason):
        solve(problem, method=method)


def test_windows_are_refused():
    """Release times and deadlines of workers are refused by name."""
    for window, value in (("release", 2.0), ("deadline", 9.0)):
        worker = Worker(send=1.0, compute=1.0, return_=1.0, **{window: value})
        with pytest.raises(MethodError, match=rf"{window} is {value}"):
            solve(DivisibleLoad(load=1.0, platform=Star([worker])), method="return-orders")


def test_example_counts_every_star(capsys):
    """The script of the docs' table counts each star once, and two workers never need a mixture."""
    script = Path(__file__).parents[3] / "examples" / "neither_fifo_nor_lifo.py"
    table = runpy.run_path(str(script))
    table["main"](3)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    counts = [[int(cell) for cell in row[-5:-1]] for row in rows]
    assert len(rows) == len(table["ROWS"])
    assert [sum(each) for each in counts] == [3] * len(rows)
    assert counts[0][-1] == 0


@pytest.mark.parametrize("discipline", ["fifo", "lifo"])
def test_a_programme_without_a_verdict_is_no_error(discipline):
    """HiGHS refuses coefficients like 4e69: there is a plan or none, and nothing false."""
    star = Star([Worker(send=cost, compute=3.0, return_=1.0) for cost in (4e69, 2.0)])
    problem = DivisibleLoad(platform=star, deadline=20.0, discipline=discipline, order=["P1", "P2"])
    for method in ("return-programme", "auto"):
        assert solve(problem, method=method).status != "infeasible"


def test_results_of_nothing_return_in_the_order_of_the_plan():
    """Returns that last no time tie; the referee tells them apart by their rows."""
    star = Star([Worker(send=Affine(1, 1), compute=1.0, return_=1.0) for _ in range(3)])
    problem = DivisibleLoad(load=0.0, platform=star, use="all", discipline="lifo")
    assert solve(problem, method="greedy").makespan == 3.0  # three sends of a second each


@pytest.mark.parametrize("one_port", [True, False])
def test_bounds_of_the_cheapest_workers_are_those_of_all(one_port: bool) -> None:
    """The dearer workers are looked at only where the cheaper ones leave them anything."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(1, 60))
        columns = {
            f"{of}_per_unit": rng.integers(low, 4, count) * scale
            for of, low, scale in (("send", 1, 0.2), ("compute", 0, 0.1), ("return", 0, 0.1))
        }
        star = Star.from_arrays(**columns)
        at_once = shares.rate_with_returns(star, one_port=one_port)
        with patch.object(shares, "FEW", (3, 12)):
            by_and_by = shares.rate_with_returns(star, one_port=one_port)
        assert by_and_by == pytest.approx(at_once, rel=1e-12)


@pytest.mark.parametrize("looks", [1, 3, 10])
def test_fifo_without_time_claims_nothing(looks: int) -> None:
    """An order whose amounts could not be found in time is no proof that there are none."""
    star = Star([Worker(send=1.0, compute=1.0, return_=1.0)], master=Master(compute=0.0))
    problem = DivisibleLoad(load=5.5, platform=star)
    for limit in (0.0, 1e-4 * looks):
        result = solve(problem, method="fifo", time_limit=limit)
        assert result.status != "infeasible"
        assert result.schedule is None or result.makespan == 0.0
