"""What a programme shows only nearly, or of a narrower problem, is not called a proof."""

from __future__ import annotations

from typing import Any

import pytest

from makespan import ProblemError, solve
from makespan.divisible.file import read
from tests.oracles.divisible_any import best


def star(workers: list[dict[str, Any]], master: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"topology": "star", "master": {"name": "P0", **(master or {})}, "workers": workers}


@pytest.mark.parametrize(
    "problem",
    [
        {
            **{"load": 4, "activation": ["P1", "P2", "P1"]},
            "platform": star(
                [
                    {"send": 2.0, "compute": 5.0, "release": 4.0},
                    {"send": {"fixed": 3.0, "per_unit": 1.0}, "compute": 0.0},
                ],
                {"compute": {"fixed": 1.0, "per_unit": 0.3}},
            ),
        },
        {
            **{"load": 1, "activation": ["P2", "P1", "P2"], "deadline": 0.9},
            "platform": star(
                [{"send": 1.0, "compute": 0.0, "release": 1.0}, {"send": 5.0, "compute": 0.0}],
                {"compute": 1.0},
            ),
        },
    ],
    ids=["not optimal", "not infeasible"],
)
def test_workers_without_load_do_not_wait_for_their_release(problem: dict[str, Any]) -> None:
    """A plan that gives a worker nothing may end before its release."""
    stated = read({"kind": "divisible", **problem})
    least = best(stated)
    assert least is not None
    result = solve(stated, method="activation")
    assert result.status != "infeasible"
    if result.status == "optimal":
        assert result.makespan == pytest.approx(least)


@pytest.mark.parametrize("deadline", [None, 2.6])
def test_a_master_without_load_pays_no_start_up(deadline: float | None) -> None:
    """An idle master lets a plan end before the time that the master takes to start."""
    workers = [
        {"send": {"fixed": 0.5, "per_unit": 1.0}, "compute": 0.0},
        {"send": {"fixed": 0.5, "per_unit": 0.3}, "compute": {"fixed": 1.0, "per_unit": 2.0}},
        {"send": 0.0, "compute": {"fixed": 1.0, "per_unit": 2.0}},
    ]
    master = {"compute": {"fixed": 3.0, "per_unit": 0.3}}
    data = {"kind": "divisible", "load": 2, "activation": ["P3", "P1", "P2", "P1"]}
    problem = read({**data, "platform": star(workers, master), "deadline": deadline})
    result = solve(problem, method="activation")
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(best(problem))


def test_programmes_of_wide_magnitudes_prove_nothing() -> None:
    """A worker that is a thousand million times slower hides what the others gain."""
    workers = [
        {"send": {"fixed": 0.25, "per_unit": 1}, "compute": {"fixed": 1, "per_unit": 2}},
        {"send": 2.0, "compute": 1e9},
        {"send": 0.5, "compute": 4.0},
    ]
    workers[0].update(memory=8.0, release=1.0, deadline=60.0)
    data = {"kind": "divisible", "load": 12.0}
    problem = read({**data, "platform": star(workers, {"compute": {"fixed": 0.5, "per_unit": 3}})})
    greedy, milp = solve(problem, method="greedy"), solve(problem, method="milp")
    assert milp.status == "feasible" or milp.makespan <= greedy.makespan * (1 + 1e-6)


def test_whole_units_are_as_many_as_floats_count() -> None:
    """Beyond 2^53 a unit more or less makes no difference to a float."""
    data = {"kind": "divisible", "integral": True, "platform": star([{"send": 1, "compute": 3}])}
    with pytest.raises(ProblemError, match=r"load: 1e\+100 is too much; of whole units"):
        read({**data, "load": 1e100})
    assert read({**data, "load": 2.0**53}).load == 2.0**53
