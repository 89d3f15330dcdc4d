"""Task graphs on a Dask cluster: watch, plan, run as planned."""

from __future__ import annotations

from makespan.execute.dask.graphs.batch import TasksFailed
from makespan.execute.dask.graphs.compute import compute, measure
from makespan.execute.dask.graphs.plan import plan_graph

__all__ = ["TasksFailed", "compute", "measure", "plan_graph"]
