"""Measure a Dask cluster, plan on what was measured, run the plan.

Arguments mean the same wherever they are taken, and come in this order:

function
    Applied to every item on the workers, or to every chunk where ``batched``.
data
    The items: a NumPy array (its rows), :class:`Files`, or what else has a length and items.
collection
    In place of both, for graphs: a Dask collection (a ``delayed``, an array, a dataframe, a bag, an
    object of xarray), a container that ``dask.compute`` looks into, with collections anywhere in
    it, or a graph (a mapping) with ``keys``, nested as the results shall be.
client
    A ``distributed.Client``; where it may be left out, a cluster is started on this machine, which
    ends with the call.
batched
    Whether the function takes a chunk (a list, or rows of an array) and returns one result an item.
keep_going
    Whether what failed is only noted in ``failures`` rather than raised.
repetitions
    How often a thing is measured.
time_limit
    Seconds that measuring, or searching, may take.
progress
    See :mod:`makespan.execute.progress`.

All raise :class:`makespan.MissingExtra` without Dask, and :class:`makespan.InputError` for what is
not a usable client, or can't be pickled.
"""

from __future__ import annotations

from makespan.execute.dask.cluster.calibrate import calibrate
from makespan.execute.dask.cluster.calibration import Calibration
from makespan.execute.dask.executors import Executor, register_joblib
from makespan.execute.dask.experiments import Workers
from makespan.execute.dask.graphs import TasksFailed, compute, measure, plan_graph
from makespan.execute.dask.graphs.history import forget
from makespan.execute.dask.maps.map import imap, map  # noqa: A004
from makespan.execute.dask.maps.rounds import plan
from makespan.execute.dask.maps.run import run
from makespan.execute.dealing.items import Files
from makespan.execute.execution import Execution, ItemsFailed

__all__ = [
    "Calibration",
    "Execution",
    "Executor",
    "Files",
    "ItemsFailed",
    "TasksFailed",
    "Workers",
    "calibrate",
    "compute",
    "forget",
    "imap",
    "map",
    "measure",
    "plan",
    "plan_graph",
    "register_joblib",
    "run",
]
