"""Ranks that share cores: a run that is late says so."""

from __future__ import annotations

from dataclasses import replace

from makespan import Reduction, solve
from makespan.execute.mpi.execution import Execution

RUN = Execution(
    values=None, schedule=solve(Reduction(machines=2, segments=1, transfer=1)).schedule,
    collective="all-reduce", operation="sum", type="float64", length=8, ranks=4,
    predicted=0.003185, planned=(0.029,), classical=(0.027,), exact=True, difference=0.0,
)  # fmt: skip


def test_a_late_run_says_that_ranks_share_cores() -> None:
    """Only where it is late, and where ranks share cores."""
    late = replace(RUN, crowd=4, cores=2)
    said = "the plan took 9.1 times as long as predicted: up to 4 ranks share 2 cores"
    assert said in str(late)
    assert "share" not in str(RUN)
    assert "share" not in str(replace(late, planned=(0.0033,)))
