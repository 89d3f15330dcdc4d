"""Published plans of many rounds: uniform rounds, installments with output, and all rounds merged.

In uniform rounds (UMR) all workers compute a round for the same time.

Worker j computes round k for tau_k seconds, ``W_j + w_j chunk = tau_k``, and round k + 1 is sent
meanwhile: the sum of ``C_j + c_j chunk_j`` over round k + 1 is tau_k.

Source: Y. Yang and H. Casanova, UMR: a multi-round algorithm for scheduling divisible workloads,
IPDPS 2003, and its extension to heterogeneous platforms.

Installments with output, on equal workers and one channel, are section 5 of Yang and Casanova 2003.
After the first round, the master sends a worker its next chunk just before it has computed the
last one, and takes that one's results right after; after the last send the channel is idle for
``gap`` seconds before the last results come. Chunks are numbered backwards: 0 is sent last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from makespan.core.control import Control
from makespan.core.inputs.suggest import suggesting
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.plan import Plan, computed
from makespan.divisible.model.platform import Star
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.rounds.chain import log_rounds
from makespan.divisible.timing import timed

MAX_ROUNDS = 10_000
WORSE_ROUNDS = 20


def uniform_rounds(
    star: Star, load: float, most: int = MAX_ROUNDS, control: Control | None = None
) -> Plan | None:
    """Return the plan with the number of rounds, at most ``most``, that the model predicts to be
    best.

    Costs per unit are positive. None where every number would need a negative chunk. Complexity:
    O(rounds tried^2), and the chunks of the best.
    """
    order = _selected(star)
    best: tuple[float, Floats] | None = None
    worse = 0
    for rounds in range(1, min(most, MAX_ROUNDS) + 1):
        times = _round_times(star, order, load, rounds)
        end = np.inf if times is None else _predicted(star, order, times)
        if control is not None:
            log_rounds(control, rounds, None if times is None else end)
        if times is not None and (best is None or end < best[0]):
            best, worse = (end, times), 0
        else:
            worse += 1
        if worse >= WORSE_ROUNDS:
            break
    if best is None:
        return None
    chunks = _chunks(star, order, best[1])
    amounts = chunks.ravel() * (load / chunks.sum() if chunks.sum() else 1.0)
    return Plan.of(np.tile(order, len(best[1])), amounts).without_empty()


def _selected(star: Star) -> Integers:
    """Return the workers by send cost whose shares of the port add up to less than 1.

    Only then can rounds grow.
    """
    order = star.by_send_cost
    shares = np.cumsum(star.send_per_unit[order] / star.compute_per_unit[order])
    return order[: max(1, int(np.count_nonzero(shares < 1.0)))]


def _round_times(star: Star, order: Integers, load: float, rounds: int) -> Floats | None:
    """Return tau of every round, or None where a chunk would be negative.

    tau_{k+1} = (tau_k - a)/rho, with rho = sum c/w and a = sum (C - c W/w); the chunks add up to
    the load.
    """
    speed = 1.0 / star.compute_per_unit[order]
    rho = float((star.send_per_unit[order] * speed).sum())
    start_up = star.send_per_unit[order] * star.compute_fixed[order] * speed
    shift = float((star.send_fixed[order] - start_up).sum())
    power, offset = np.ones(rounds), np.zeros(rounds)  # tau_k = power_k tau_0 - offset_k
    for k in range(1, rounds):
        power[k] = power[k - 1] / rho
        offset[k] = (offset[k - 1] + shift) / rho
    waste = float((star.compute_fixed[order] * speed).sum() / speed.sum())
    wanted = load / float(speed.sum()) + rounds * waste
    times: Floats = power * ((wanted + offset.sum()) / power.sum()) - offset
    sound = np.isfinite(times).all() and times.min() >= star.compute_fixed[order].max()
    return times if sound else None


def _chunks(star: Star, order: Integers, times: Floats) -> Floats:
    seconds = times[:, np.newaxis] - star.compute_fixed[order]
    chunks: Floats = seconds / star.compute_per_unit[order]
    return chunks


def _predicted(star: Star, order: Integers, times: Floats) -> float:
    """Return when the last worker ends: the sends of the first round, then all rounds."""
    first = _chunks(star, order, times[:1])[0]
    sends = star.send_fixed[order] + star.send_per_unit[order] * first
    return float(sends.sum() + times.sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OutputRounds:
    """A solution of equation 17, in seconds of computation.

    ``chunks``: g_0, g_1, …: the computation of each chunk without its start-up, numbered backwards.
    ``gap``: the idle time of the channel before the last results, Δ. Where it is negative two
    transfers overlap, and the solution is no schedule. ``makespan``: when the last result has
    arrived.
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

    ``positive``: above it no chunk is negative: what Yang and Casanova 2003 plot in figure 6.
    ``feasible``: from it on Δ >= 0 as well: only then is the solution a schedule.
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


@suggesting
def merge_rounds(problem: DivisibleLoad, schedule: Schedule) -> Schedule:
    """Return the one-round schedule that sends each worker all its load in one message.

    The workers are served in the order of their first chunks. It ends at most twice as late as
    ``schedule``: the master sends no longer than before, so that all load has arrived by the old
    makespan, and no worker computes longer than before. Hence many rounds gain at most a factor
    2 over the best single round.

    Parameters
    ----------
    problem
        A star with a given master and one send at a time, without returns and release times; its
        ``rounds`` do not matter.
    schedule
        A schedule of it, in any number of rounds.

    Source: Benoit 2016, multi-round scheduling, "An interesting theoretical result".

    >>> from makespan import Star, Worker, solve
    >>> star = Star([Worker(send=1.0, compute=3.0), Worker(send=1.0, compute=3.0)])
    >>> many = solve(DivisibleLoad(load=103.0, platform=star, rounds=2))
    >>> merged = merge_rounds(many.problem, many.schedule)
    >>> round(many.makespan, 9), merged.makespan <= 2 * many.makespan, len(merged)
    (184.0, True, 4)
    """
    schedule = schedule.renamed(problem.machines)
    workers, first = np.unique(schedule.peer[schedule.rows_of(Activity.SEND)], return_index=True)
    order = workers[np.argsort(first, kind="stable")]
    loads = computed(schedule)
    plan = Plan.of(order - 1, loads[order], master=float(loads[MASTER]))
    return timed(problem, plan.without_empty())
