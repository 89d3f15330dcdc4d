"""The published and constructed cases of ``cases/partition.json``."""

from __future__ import annotations

import json
from math import inf, isclose
from pathlib import Path

import pytest

from makespan import Partition, solve
from makespan.flow.files.files import problem_of

CASES = json.loads((Path(__file__).parents[1] / "cases" / "partition.json").read_text())
FEASIBLE = [case for case in CASES if case["expected"]["feasible"]]


def parts_of(case):
    """Return tasks, costs and energies with the limits written into the tables."""
    rows, energies = [], []
    for resource in case["inputs"]["resources"]:
        low, high = resource.get("lower", 0), resource.get("upper", inf)
        times = zip(resource["x"], resource["time"], strict=True)
        rows.append({x: inf if t is None else t for x, t in times if low <= x <= high})
        if "energy" in resource:
            energies.append(dict(zip(resource["x"], resource["energy"], strict=True)))
    return {"tasks": case["inputs"]["T"], "costs": rows, "energy": energies or None}


def from_file(case, **more):
    """Build the problem from the form in files, with the limits as limits."""
    resources = [
        {
            "counts": r["x"],
            **{key: r[key] for key in ("time", "energy", "lower", "upper") if key in r},
        }
        for r in case["inputs"]["resources"]
    ]
    return problem_of(
        {"kind": "partition", "tasks": case["inputs"]["T"], "resources": resources, **more}
    )


def schedule_of(result):
    return list(result.answer["counts"].values())


@pytest.mark.parametrize("method", ["auto", "threshold", "dynamic-programming"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_least_makespan(case, method):
    """The makespan is that of the case, the plan one of its optima."""
    expected = case["expected"]
    for problem in (Partition(**parts_of(case)), from_file(case)):
        result = solve(problem, method=method)
        if not expected["feasible"]:
            assert result.status == "infeasible"
            continue
        assert result.status == "optimal"
        assert result.makespan == expected["min_makespan"]
        assert schedule_of(result) in expected["makespan_schedules"]


@pytest.mark.parametrize("method", ["auto", "dynamic-programming"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_least_total(case, method):
    """The sum is that of the case; where sums are exact, the plan is one of its optima."""
    expected = case["expected"]
    direct = Partition(objective="total", **parts_of(case))
    for problem in (direct, from_file(case, objective="total")):
        result = solve(problem, method=method)
        if not expected["feasible"]:
            assert result.status == "infeasible"
            continue
        assert result.status == "optimal"
        assert isclose(result.objective.value, expected["min_total_cost"], rel_tol=1e-12)
        if case["name"] not in ("tiny_differences",):
            assert schedule_of(result) in expected["total_cost_schedules"]


@pytest.mark.parametrize("case", FEASIBLE, ids=lambda case: case["name"])
def test_the_front(case):
    """The front and its two lexicographic ends, for the cases with energies."""
    expected = case["expected"]
    if "pareto_time_energy" not in expected:
        assert Partition(**parts_of(case)).has_energy is False
        return
    front = solve(from_file(case, objective="pareto")).details["front"]
    assert [[p["time"], p["energy"]] for p in front] == expected["pareto_time_energy"]
    first = solve(from_file(case, objective="time-then-energy"))
    assert [first.makespan, first.objective.value] == expected["lex_time_then_energy"]
    last = solve(from_file(case, objective="energy-then-time"))
    assert [last.objective.value, last.makespan] == expected["lex_energy_then_time"]
