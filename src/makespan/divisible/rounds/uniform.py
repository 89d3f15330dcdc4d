"""Uniform multi-round (UMR): rounds that all workers compute for the same time.

Worker j computes round k for tau_k seconds, ``W_j + w_j chunk = tau_k``, and round k + 1 is sent
meanwhile: the sum of ``C_j + c_j chunk_j`` over round k + 1 is tau_k.

Source: Y. Yang and H. Casanova, UMR: a multi-round algorithm for scheduling divisible workloads,
IPDPS 2003, and its extension to heterogeneous platforms.
"""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.divisible.model.plan import Plan
from makespan.divisible.model.platform import Star
from makespan.divisible.rounds.log import log_rounds

MAX_ROUNDS = 10_000
WORSE_ROUNDS = 20


def uniform_rounds(
    star: Star, load: float, most: int = MAX_ROUNDS, control: Control | None = None
) -> Plan | None:
    """Return the plan with the number of rounds that the model predicts to be best.

    Parameters
    ----------
    star
        All costs per unit are positive.
    load
        Units.
    most
        The most rounds.
    control
        Keeps a log of the numbers of rounds that are tried.

    None where every number of rounds would need a negative chunk. Complexity: O(rounds tried^2),
    and the chunks of the best.
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
    """Return the chunks as an array (rounds, workers)."""
    seconds = times[:, np.newaxis] - star.compute_fixed[order]
    chunks: Floats = seconds / star.compute_per_unit[order]
    return chunks


def _predicted(star: Star, order: Integers, times: Floats) -> float:
    """Return when the last worker ends: the sends of the first round, then all rounds."""
    first = _chunks(star, order, times[:1])[0]
    sends = star.send_fixed[order] + star.send_per_unit[order] * first
    return float(sends.sum() + times.sum())
