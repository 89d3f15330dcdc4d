"""Measure a Dask cluster, plan on what was measured, run the plan."""

from __future__ import annotations

from makespan.execute.dask.cluster.calibrate import calibrate
from makespan.execute.dask.cluster.calibration import Calibration
from makespan.execute.dask.cluster.items import Files
from makespan.execute.dask.execution import Execution, ItemsFailed
from makespan.execute.dask.graphs import TasksFailed, compute, measure, planned
from makespan.execute.dask.maps.map import forget, map  # noqa: A004
from makespan.execute.dask.maps.rounds import plan
from makespan.execute.dask.maps.run import run

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
