"""``mpiexec -n N python -m makespan.execute.mpi run plan.json``, and ``calibrate``."""

from __future__ import annotations

import sys

from makespan.execute.mpi.commands import main

sys.exit(main(sys.argv[1:]))
