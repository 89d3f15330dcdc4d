"""The reference cases: the notebook's searches and the true optima."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import makespan
from makespan import Reduction
from makespan.core.schedule import Schedule
from makespan.reduction import evaluate
from makespan.reduction.bounds import bounds
from tests.thorough import few

CASES = Path(__file__).parents[2] / "cases" / "reduction.json"


@cache
def cases() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(CASES.read_text())
    return data


def named(case: dict[str, Any]) -> str:
    return "-".join(str(case[key]) for key in ("n", "m", "alpha", "beta", "gamma"))


def problem_of(case: dict[str, Any], **more: Any) -> Reduction:
    return Reduction(
        machines=case["n"],
        segments=case["m"],
        latency=case["alpha"],
        transfer=case["beta"],
        reduce=case["gamma"],
        **more,
    )


@pytest.mark.parametrize("case", cases()["evaluate"], ids=lambda case: str(case["solution"]))
def test_evaluate_is_that_of_the_notebook(case: dict[str, Any]) -> None:
    """Every value is the notebook's, to the bit, infinities included."""
    value = evaluate(case["solution"], case["alpha"], case["beta"], case["gamma"], compatible=True)
    assert value == float(case["value"])


@pytest.mark.parametrize("case", few(cases()["find_min"], 20), ids=named)
def test_search_is_that_of_the_notebook(case: dict[str, Any]) -> None:
    """Value, counts and solutions in order are the notebook's, to the bit."""
    result = makespan.solve(problem_of(case, order="greedy"), method="exhaustive", compatible=True)
    found = result.details["exhaustive"]
    assert found["makespan"] == case["mks"]
    assert (found["tested"], found["valid"]) == (case["nb"], case["valid"])
    assert (found["optimal"], len(found["distinct"])) == (case["min"], case["distinct"])
    listed = {json.dumps(solution) for solution in found["distinct"]}
    if case["sols_truncated"]:
        assert {json.dumps(solution) for solution in case["sols"]} <= listed
    else:
        assert found["distinct"] == case["sols"]


@pytest.mark.parametrize(
    "case", [case for case in cases()["find_min"] if "note" in case], ids=named
)
def test_exact_counts_do_not_split_on_rounding(case: dict[str, Any]) -> None:
    """Where the notebook's count is an artefact of floats, exact arithmetic counts all optima."""
    result = makespan.solve(problem_of(case, order="greedy"))
    assert result.status == "optimal"
    assert result.details["exhaustive"]["optimal"] == case["true_count_within_1e-9"]


@pytest.mark.parametrize("case", few(cases()["order_aware_optimum"], 30), ids=named)
def test_true_optimum(case: dict[str, Any]) -> None:
    """Auto proves the reference optimum, and the referee accepts its schedule."""
    result = makespan.solve(problem_of(case), time_limit=60)
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(case["optimum"], rel=1e-12)
    assert makespan.check(result).ok


@pytest.mark.parametrize("case", cases()["order_aware_optimum"], ids=named)
def test_reference_schedule_and_bounds(case: dict[str, Any]) -> None:
    """The reference sends are a valid schedule that ends at the optimum; the bounds agree."""
    problem = problem_of(case)
    a, b, c = case["int_alpha"], case["int_beta"], case["int_gamma"]
    scale, n = case["int_scale"], case["n"]
    rows: list[tuple[str, int, int, int, float, float, float]] = []
    free = [0] * n
    by_arrival = sorted(case["sends_start_from_segment_to"])
    for start, sender, segment, receiver in by_arrival:
        i, j, k = sender - 1, receiver - 1, segment - 1
        rows.append(("send", i, j, k, 1.0, start / scale, (start + b) / scale))
        free[j] = max(free[j], start + a + b) + c
        rows.append(("reduce", j, i, k, 1.0, (free[j] - c) / scale, free[j] / scale))
    schedule = Schedule.of_rows(problem.machines, rows)
    report = makespan.check(problem, schedule)
    assert report.ok, report
    assert schedule.makespan == pytest.approx(case["optimum"], rel=1e-12)
    values = {bound.name: bound.value for bound in bounds(problem)}
    assert values["growth"] == pytest.approx(case["lb_root"], rel=1e-12)
    assert values["capacity"] >= case["lb_capacity"] * (1 - 1e-12)  # counts by segments, too


@pytest.mark.parametrize(
    ("n", "m", "times", "paper", "true"),
    [
        (3, 2, (0.1, 1, 0.3), 3.8, 3.4),
        (3, 2, (0.1, 1, 1.3), 5.8, 5.0),
        (3, 2, (1.1, 1, 0.3), 5.4, 4.8),
        (3, 2, (1.1, 1, 1.3), 7.3, 6.8),
        (4, 4, (1, 1, 1), 11.0, 9.0),
        (4, 2, (0, 1, 0), 4.0, 3.0),
    ],
)
def test_order_matters(
    n: int, m: int, times: tuple[float, float, float], paper: float, true: float
) -> None:
    """The optimum of the notebook's representation is not the optimum."""
    given = {"machines": n, "segments": m}
    given |= dict(zip(("latency", "transfer", "reduce"), times, strict=True))
    assert makespan.solve(Reduction(**given, order="greedy")).makespan == paper  # type: ignore[arg-type]
    best = makespan.solve(Reduction(**given))  # type: ignore[arg-type]
    assert (best.status, best.makespan) == ("optimal", true)
