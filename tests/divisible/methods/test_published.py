"""Many rounds with results: published equations, their limits, programmes that beat them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from makespan import DivisibleLoad, MethodError, Star, solve
from makespan.core.control import Control
from makespan.divisible.model.plan import Plan
from makespan.divisible.published.rounds import output_rounds, output_transfers, threshold
from makespan.divisible.returns.transfer_programme import size_by_programme
from makespan.divisible.timing import timed

ROOT = Path(__file__).parents[2]
CASES = {
    case["name"]: case
    for case in json.loads((ROOT / "cases" / "divisible.json").read_text(encoding="utf-8"))
}
EQUATIONS = [name for name in CASES if name.startswith(("eq17_N", "eq17_affine"))]


def solved(inputs):
    return output_rounds(
        inputs["N"],
        inputs["M"],
        inputs["T_total"],
        sends=1 / inputs["R"],
        returns=1 / inputs["Rprime"],
        compute_fixed=inputs.get("alpha", 0.0),
        send_fixed=inputs.get("beta", 0.0),
        return_fixed=inputs.get("betap", 0.0),
    )


def problem_of(inputs, **fields):
    star = Star.from_arrays(
        send_per_unit=[1 / inputs["R"]] * inputs["N"],
        compute_per_unit=1.0,
        return_per_unit=1 / inputs["Rprime"],
        compute_fixed=inputs.get("alpha", 0.0),
        send_fixed=inputs.get("beta", 0.0),
        return_fixed=inputs.get("betap", 0.0),
    )
    fields.setdefault("rounds", inputs["M"])
    return DivisibleLoad(load=inputs["T_total"], platform=star, **fields)


@pytest.mark.parametrize("name", EQUATIONS)
def test_equations(name):
    """Chunks, idle time and makespan of every case; timed, a plan ends when the formula says."""
    inputs, expected = CASES[name]["inputs"], CASES[name]["expected"]
    found = solved(inputs)
    chunks = expected.get("eq17_g", expected.get("g"))
    assert found.chunks == pytest.approx(chunks, rel=1e-9)
    gap = expected.get("eq17_Delta", expected.get("Delta"))
    assert found.gap == pytest.approx(gap, rel=1e-9)
    formula = expected.get("eq17_formula_makespan", expected.get("makespan"))
    assert found.makespan == pytest.approx(formula, rel=1e-9)
    problem = problem_of(inputs)
    transfers = output_transfers(inputs["N"], inputs["M"])
    sequence = np.tile(np.arange(inputs["N"]), inputs["M"])
    schedule = timed(problem, Plan.of(sequence, found.chunks[::-1], transfers=transfers))
    simulated = expected.get("eq17_simulated_makespan", formula)
    assert schedule.makespan == pytest.approx(simulated, rel=1e-9)
    assert found.is_plan == (gap >= 0)


@pytest.mark.parametrize("name", EQUATIONS)
def test_programmes_for_orders(name):
    """The programme beats the equations for their own order of transfers, as the cases say."""
    inputs, expected = CASES[name]["inputs"], CASES[name]["expected"]
    problem = problem_of(inputs)
    sequence = np.tile(np.arange(inputs["N"]), inputs["M"])
    transfers = output_transfers(inputs["N"], inputs["M"])
    same, _ = size_by_programme(problem, sequence, Control(), transfers)
    assert same.makespan == pytest.approx(expected["lp_same_interleaving"], rel=1e-7)
    assert timed(problem, same.plan).makespan == pytest.approx(same.makespan, rel=1e-7)
    if inputs["M"] > 1 and "lp_all_sends_first_fifo_returns" in expected:
        first = solve(problem, method="sends-first")
        best = expected["lp_all_sends_first_fifo_returns"]
        assert first.makespan <= best * (1 + 1e-7)
        assert first.makespan <= same.makespan * (1 + 1e-7)


@pytest.mark.thorough
def test_more_rounds_help():
    """Eight rounds of sends first end before five: 0.100477 for N = 10, R = R' = 20."""
    inputs = CASES["eq17_N10_M5_R20_Rp20"]["inputs"]
    eight = solve(problem_of(inputs, rounds=8), method="sends-first")
    assert eight.makespan == pytest.approx(0.100477, abs=1e-6)
    auto = solve(problem_of(inputs, rounds="auto"), method="sends-first")
    assert auto.makespan <= eight.makespan * (1 + 1e-9)


@pytest.mark.thorough
def test_the_published_method():
    """Where the equations have no plan, fewer rounds are used and a note says so."""
    good, bad = (CASES[f"eq17_N10_M5_R{r}_Rp{r}"]["inputs"] for r in ("20", "18.7"))
    result = solve(problem_of(good), method="multi-installment-output")
    assert result.makespan == pytest.approx(0.10962172425826126, rel=1e-9)
    fewer = solve(problem_of(bad), method="multi-installment-output")
    assert fewer.answer["rounds"] == 4
    assert "5 rounds give no plan: 4 are used" in fewer.notes
    none = solve(problem_of({**good, "R": 3.0, "Rprime": 3.0}), method="multi-installment-output")
    assert none.schedule is None
    auto = solve(problem_of(good, rounds="auto"), method="multi-installment-output")
    assert auto.makespan <= result.makespan * (1 + 1e-9)


def test_the_sum_of_ratios_is_no_condition():
    """R + R' > 4N does not keep chunks positive: the published claim's counterexample."""
    inputs = CASES["eq17_RplusRprime_counterexample"]["inputs"]
    least = CASES["eq17_RplusRprime_counterexample"]["expected"]["min_g"]
    for (sends, returns), expected in zip(inputs["pairs"], least, strict=True):
        found = output_rounds(10, 20, 1.0, sends=1 / sends, returns=1 / returns)
        assert sends + returns > 4 * inputs["N"]
        assert found.chunks.min() == pytest.approx(expected, rel=1e-6)
        assert not found.is_plan


def test_the_threshold_in_both_readings():
    """The published threshold is where chunks are positive; a schedule needs a larger ratio."""
    expected = CASES["Rstar_N10_M5"]["expected"]
    found = threshold(10, 5)
    assert found.positive == pytest.approx(expected["Rstar_g_only"], rel=1e-9)
    assert found.feasible == pytest.approx(expected["Rstar_with_Delta"], rel=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("workers", "rounds"),
    [
        *((workers, rounds) for workers in range(5, 11) for rounds in (2, 3, 5, 10)),
        (5, 20),
        (6, 20),
    ],
)
def test_the_table_of_thresholds(workers, rounds):
    """Figure 6 as numbers."""
    positive, feasible = CASES["Rstar_table_fig6"]["expected"][str(workers)][str(rounds)]
    found = threshold(workers, rounds)
    assert found.positive == pytest.approx(positive, rel=1e-7)
    assert found.feasible == pytest.approx(feasible, rel=1e-7)


def test_the_threshold_of_one_round():
    """With one round all chunks are equal, and the channel is free in time from N - 1 on."""
    assert threshold(6, 1).feasible == pytest.approx(5.0, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_output_only_mirrors_input_only(seed):
    """Results without input take as long as the same transfers as input: time reversed."""
    generator = np.random.default_rng(seed)
    count = int(generator.integers(2, 5))
    port = generator.uniform(0.05, 0.5, count)
    fixed = generator.uniform(0.0, 0.2, count)
    compute = generator.uniform(0.5, 2.0, count)
    back = Star.from_arrays(
        send_per_unit=0.0, compute_per_unit=compute, return_per_unit=port, return_fixed=fixed
    )
    out = Star.from_arrays(send_per_unit=port, compute_per_unit=compute, send_fixed=fixed)
    results = solve(DivisibleLoad(load=20.0, platform=back, rounds=3), method="output-only")
    inputs = solve(DivisibleLoad(load=20.0, platform=out, rounds=3), method="multi-round")
    assert results.makespan == pytest.approx(inputs.makespan, rel=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("send", "back", "bottleneck"),
    [(0.5, 0.1, "input"), (0.1, 0.5, "output"), (0.05, 0.05, "computation")],
)
def test_two_channels(send, back, bottleneck):
    """On two channels the plan says what limits it, and is no later than on one."""
    star = Star.from_arrays(send_per_unit=[send] * 3, compute_per_unit=1.0, return_per_unit=back)
    two = solve(DivisibleLoad(load=30.0, platform=star, rounds=3, ports=2))
    assert two.details["bottleneck"] == bottleneck
    one = solve(DivisibleLoad(load=30.0, platform=star, rounds=3))
    assert two.makespan <= one.makespan * (1 + 1e-7)


@pytest.mark.thorough
def test_input_and_output_mirror_each_other_on_two_channels():
    """Swapping the costs of sends and results, time reversed, changes nothing."""
    ends = []
    for send, back in ((0.3, 0.1), (0.1, 0.3)):
        star = Star.from_arrays(
            send_per_unit=[send] * 3, compute_per_unit=1.0, return_per_unit=back
        )
        ends.append(solve(DivisibleLoad(load=30.0, platform=star, rounds=2, ports=2)).makespan)
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)


@pytest.mark.thorough
def test_unequal_workers_with_results():
    """sends-first plans unequal stars, each round at least as good as fewer."""
    star = Star.from_arrays(
        send_per_unit=[0.2, 0.1, 0.3],
        compute_per_unit=[1.0, 2.0, 0.7],
        return_per_unit=[0.1, 0.05, 0.15],
        send_fixed=0.01,
        return_fixed=0.01,
    )
    ends = []
    for rounds in (2, 4, "auto"):
        result = solve(DivisibleLoad(load=30.0, platform=star, rounds=rounds))
        assert result.makespan >= result.lower_bound
        ends.append(result.makespan)
    assert ends == sorted(ends, reverse=True)


def test_refusals():
    """What the equations do not state is refused by name."""
    inputs = CASES["eq17_N3_M3_R8_Rp8"]["inputs"]
    with pytest.raises(MethodError, match="discipline is 'lifo'"):
        solve(problem_of(inputs, discipline="lifo"), method="multi-installment-output")
    with pytest.raises(MethodError, match="ports is 2"):
        solve(problem_of(inputs, ports=2), method="multi-installment-output")


@pytest.mark.slow
def test_figures(tmp_path):
    """The example redraws the paper's figures from plans."""
    path = ROOT.parent / "examples" / "yang_casanova_2003.py"
    spec = importlib.util.spec_from_file_location("yang_casanova_2003", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.main(str(tmp_path), most_workers=6, most_rounds=4)
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names == [f"figure_{name}.svg" for name in ("2", "3", "5", "6", "7", "8a", "8b")]
    assert all("</svg>" in each.read_text(encoding="utf-8") for each in tmp_path.iterdir())
    details = {name: result.details.get("bottleneck") for name, result in example.plans().items()}
    assert (details["8a"], details["8b"]) == ("input", "output")
