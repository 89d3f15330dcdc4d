"""Measure a Dask cluster, plan on what was measured, run the plan."""

from __future__ import annotations

from makespan.execute.dask.calibrate import calibrate
from makespan.execute.dask.calibration import Calibration
from makespan.execute.dask.items import Files

__all__ = ["Calibration", "Files", "calibrate"]
