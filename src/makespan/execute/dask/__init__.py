"""Measure a Dask cluster, plan on what was measured, run the plan."""

from __future__ import annotations

from makespan.execute.dask.cluster.calibrate import calibrate
from makespan.execute.dask.cluster.calibration import Calibration
from makespan.execute.dask.execution import Execution, ItemsFailed
from makespan.execute.dask.graphs import TasksFailed, compute, measure, planned
from makespan.execute.dask.maps.following import run
from makespan.execute.dask.maps.items import Files
from makespan.execute.dask.maps.mapping import forget, map  # noqa: A004
from makespan.execute.dask.maps.planning import plan

__all__ = [
    "Calibration",
    "Execution",
    "Files",
    "ItemsFailed",
    "TasksFailed",
    "calibrate",
    "compute",
    "forget",
    "map",
    "measure",
    "plan",
    "planned",
    "run",
]
