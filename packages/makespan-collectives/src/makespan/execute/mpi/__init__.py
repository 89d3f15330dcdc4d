"""Collectives on MPI: measure its ranks, carry out a plan, compare.

``mpiexec -n 4 makespan run --mpi plan.json`` does it from a shell. Needs mpi4py and
an MPI library: ``makespan[mpi]``.
"""

from __future__ import annotations

from makespan.execute.collectives.calibration import Calibration
from makespan.execute.mpi.collective import Collective, prepare
from makespan.execute.mpi.execution import Execution
from makespan.execute.mpi.measuring import calibrate
from makespan.execute.mpi.run import run
from makespan.execute.mpi.tuned import Tuned, tuned

__all__ = [
    "Calibration",
    "Collective",
    "Execution",
    "Tuned",
    "calibrate",
    "prepare",
    "run",
    "tuned",
]
