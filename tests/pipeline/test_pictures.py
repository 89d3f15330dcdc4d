"""Pictures of pipelines, the steps of the bisection, and what stands in answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from makespan import Interconnect, Pipeline, Stage, plot, save, solve
from makespan.core.errors import InputError
from makespan.flow.kinds import KINDS

PROBLEM = Pipeline(
    [Stage(2.0, data=1.0), Stage(6.0, data=1.0), Stage(4.0)],
    Interconnect(["a", "b", "c"], rate=2.0, latency=0.1), speeds=[1.0, 3.0, 2.0], memory=9.0,
)  # fmt: skip
VIEWS = KINDS["pipeline"].pictures.VIEWS


def test_the_chain_of_machines() -> None:
    """Each machine stands with its stages, the busiest is bold; before a plan, the stages."""
    result = solve(PROBLEM)
    drawn = VIEWS["mapping"](PROBLEM, result.schedule, by=None, details={})
    assert [label.partition(":")[0] for label in drawn.nodes.label] == [
        interval["machine"] for interval in result.answer["intervals"]
    ]
    assert drawn.nodes.bold.any()
    assert list(VIEWS["mapping"](PROBLEM, None, by=None, details={}).nodes.label) == [
        "S1",
        "S2",
        "S3",
    ]


def test_rows_are_in_the_order_of_intervals() -> None:
    """Data flow downwards; a transfer has a bar on both machines."""
    result = solve(PROBLEM)
    picture = KINDS["pipeline"].pictures.picture(PROBLEM, result.schedule)
    used = [interval["machine"] for interval in result.answer["intervals"]]
    assert [row.label for row in picture.rows][: len(used)] == used
    transfers = int((result.schedule.kind == 2).sum())
    assert len(picture.bars) == len(result.schedule) + transfers


def test_views_that_need_more() -> None:
    """A platform needs a network, a front a result that has one."""
    with pytest.raises(InputError, match="needs a network"):
        VIEWS["platform"](Pipeline([1.0], 2), None, by=None, details={})
    with pytest.raises(InputError, match="needs a result with objective 'pareto'"):
        VIEWS["front"](PROBLEM, None, by=None, details={})


def test_the_front_has_plans() -> None:
    """Each point of a front is a plan that reaches it."""
    problem = Pipeline(PROBLEM.stages, PROBLEM.network, speeds=[1.0, 3.0, 2.0], objective="pareto")
    result = solve(problem)
    plans = KINDS["pipeline"].pictures.alternatives(problem, result.details)
    assert len(plans) == len(result.details["front"]) > 1
    for values, schedule in plans:
        found = KINDS["pipeline"].answer.answer(problem, schedule)
        assert (found["period"], found["latency"]) == pytest.approx([value for _, value in values])


def test_files(tmp_path: Path) -> None:
    """Plans and views are written."""
    result = solve(PROBLEM)
    save(result, tmp_path / "plan.svg")
    assert "compute" in (tmp_path / "plan.svg").read_text()
    assert plot(result, by="item") is not None


def test_steps() -> None:
    """The bisection on the period is logged, a line for each period that was tried."""
    result = solve(PROBLEM, method="dynamic-programming", log=True)
    assert result.log
    assert all(" s" in line for line in result.log)
