"""Installments with output on equal workers and one channel: Yang and Casanova 2003, section 5.

After the first round, the master sends a worker its next chunk just before it has computed the
last one, and takes that one's results right after; after the last send the channel is idle for
``gap`` seconds before the last results come. Chunks are numbered backwards: 0 is sent last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from makespan.core.inputs.suggest import suggesting
from makespan.core.numeric.arrays import Floats, Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OutputRounds:
    """A solution of equation 17, in seconds of computation.

    Parameters
    ----------
    chunks
        g_0, g_1, …: the computation of each chunk without its start-up, numbered backwards.
    gap
        The idle time of the channel before the last results, Δ. Where it is negative two
        transfers overlap, and the solution is no schedule.
    makespan
        When the last result has arrived.
    """

    chunks: Floats
    gap: float
    makespan: float

    @property
    def is_plan(self) -> bool:
        """Whether no chunk is negative and no transfers overlap."""
        return bool(self.chunks.min() >= 0 and self.gap >= 0)


@suggesting
def output_rounds(
    workers: int,
    rounds: int,
    total: float,
    *,
    sends: float,
    returns: float,
    compute_fixed: float = 0.0,
    send_fixed: float = 0.0,
    return_fixed: float = 0.0,
) -> OutputRounds:
    """Return the solution of equation 17, in its affine form of section 5.3.

    Parameters
    ----------
    workers
        N.
    rounds
        M.
    total
        Seconds in which one worker computes everything, without start-ups.
    sends, returns
        Seconds of transfer per second of computation: 1/R and 1/R'.
    compute_fixed, send_fixed, return_fixed
        Start-ups: alpha, beta and beta'.

    Chunk i is computed while min(i, N) chunks are sent and the results of min(N, MN - 1 - i)
    come, each with its start-up; the last N chunks also while the channel is idle. (The
    source has other constants in section 5.3: corrected.)

    Complexity: O((MN)^3), a dense system.

    Source: Yang and Casanova 2003, eqs. 17 and 18, and section 5.3, corrected.

    >>> found = output_rounds(3, 1, 1.0, sends=1 / 8, returns=1 / 8)
    >>> round(found.gap, 12), round(found.makespan, 12)
    (0.25, 0.5)
    """
    count = workers * rounds
    index = np.arange(count)
    system = np.zeros((count + 1, count + 1))
    apart = index[:, np.newaxis] - index[np.newaxis, :]
    system[:count, :count] = np.eye(count)
    system[:count, :count] -= sends * ((apart > 0) & (apart <= workers))
    system[:count, :count] -= returns * ((apart < 0) & (apart >= -workers))
    system[: min(workers, count), count] = -1.0
    system[count, :count] = 1.0
    right = np.append(
        np.minimum(index, workers) * send_fixed
        + np.minimum(workers, count - 1 - index) * return_fixed
        - compute_fixed,
        total,
    )
    solved = np.linalg.solve(system, right)
    busy = (sends + returns) * total + count * (send_fixed + return_fixed)
    gap = float(solved[count])
    return OutputRounds(chunks=solved[:count], gap=gap, makespan=busy + gap)


def output_transfers(workers: int, rounds: int) -> Integers:
    """Return the order of transfers: ``k`` sends chunk k (in the order of sending), ``-1 - k``
    returns it.

    >>> output_transfers(2, 2).tolist()
    [0, 1, 2, -1, 3, -2, -3, -4]
    """
    count = workers * rounds
    first = list(range(workers))
    middle = [each for k in range(workers, count) for each in (k, -1 - (k - workers))]
    return np.array([*first, *middle, *(-1 - k for k in range(count - workers, count))])


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """The least R = R' at which all of N workers can be used in M rounds.

    Parameters
    ----------
    positive
        Above it no chunk is negative: what Yang and Casanova 2003 plot in figure 6.
    feasible
        From it on Δ >= 0 as well: only then is the solution a schedule.
    """

    positive: float
    feasible: float


@suggesting
def threshold(workers: int, rounds: int) -> Threshold:
    """Return R* of Yang and Casanova 2003, section 5.2, in both readings.

    Parameters
    ----------
    workers
        N.
    rounds
        M.

    Both come down from 2N, where the solution is a schedule, to where it stops being one.
    Complexity: some hundred dense systems of MN + 1 equations.

    >>> found = threshold(3, 2)
    >>> found.positive < found.feasible < 6
    True
    """

    def gap(ratio: float) -> float:
        return output_rounds(workers, rounds, 1.0, sends=1 / ratio, returns=1 / ratio).gap

    def least(ratio: float) -> float:
        found = output_rounds(workers, rounds, 1.0, sends=1 / ratio, returns=1 / ratio)
        return float(found.chunks.min())

    positive = _last_root(least, workers)
    return Threshold(positive=positive, feasible=max(positive, _last_root(gap, workers)))


def _last_root(of: Callable[[float], float], workers: int) -> float:
    """Return the largest ratio below 2N at which a function is not positive, by bisection."""
    high = 2.0 * workers
    step = high / 200
    low = high - step
    while low > step and of(low) > 0:
        high, low = low, low - step
    if low <= step:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if of(middle) > 0 else (middle, high)
    return high
