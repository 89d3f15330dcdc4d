"""Measure the ranks of MPI."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from makespan.core.errors import InputError
from makespan.core.inputs.suggest import suggesting
from makespan.execute.collectives.calibration import Calibration
from makespan.execute.collectives.measuring import Measuring
from makespan.execute.collectives.together import ROOT
from makespan.execute.mpi.run import TYPES
from makespan.execute.mpi.world import all_or_none, mpi, private
from makespan.execute.progress import Progress, teller

if TYPE_CHECKING:
    from mpi4py.MPI import Comm


@suggesting
def calibrate(
    comm: Comm | None = None,
    *,
    seconds: float = 10.0,
    type: str = "float64",  # noqa: A002
    progress: Progress = True,
) -> Calibration:
    """Measure what messages between all pairs cost, and combinations; every rank calls this.

    Pairs without a common rank are measured at the same time, in n - 1 rounds (n for an odd
    number of ranks): round trips of 8 bytes, a stream of such messages, and single messages each
    way whose size grows until their share of the time is used. The time per byte is the slope
    between the two largest. Then each rank sends to all others at once, and receives from all; the
    pairs of a round are measured alone, and those that are faster so by twos. Least times count,
    so that what disturbs does not.

    Parameters
    ----------
    comm
        The communicator; None: that of all ranks.
    seconds
        How long it may take, about. With more ranks each pair gets less of it.
    type
        Of the elements that are added.
    progress
        See :mod:`makespan.execute.progress`.

    Returns
    -------
    Calibration
        The same on all ranks.

    Raises
    ------
    InputError
        On all ranks alike, if there is only one, if the type is not one that can be combined, or
        the time is not above 0.
    MissingExtra
        If mpi4py or an MPI library is not installed.

    Source of the rounds: the circle method, Kirkman 1847.

    >>> import makespan
    >>> from makespan.execute import mpi
    >>> costs = mpi.calibrate(seconds=0.5)  # doctest: +SKIP
    >>> plan = makespan.solve(costs.problem(8e6), time_limit=1)  # doctest: +SKIP
    """
    world = mpi().COMM_WORLD if comm is None else comm
    with all_or_none(world):
        if type not in TYPES:
            raise InputError(f"type: {type!r} can't be combined; allowed is {', '.join(TYPES)}")
        if not isinstance(seconds, (int, float)) or not 0 < seconds < np.inf:
            raise InputError(f"seconds: {seconds!r} is not a time above 0")
        if world.size < 2:
            raise InputError("calibrate needs two ranks at least; start it with 'mpiexec -n 2'")
        with teller(progress if world.rank == ROOT else False) as tell:
            return Measuring(private(world), float(seconds), tell).all(type)
