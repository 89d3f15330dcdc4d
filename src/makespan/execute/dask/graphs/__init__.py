"""Task graphs on a Dask cluster: measure, plan, run as planned."""

from __future__ import annotations

from makespan.execute.dask.graphs.compute import compute
from makespan.execute.dask.graphs.failures import TasksFailed
from makespan.execute.dask.graphs.measure import measure
from makespan.execute.dask.graphs.plan import plan_graph

__all__ = ["TasksFailed", "compute", "measure", "plan_graph"]
