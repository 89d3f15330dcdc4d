"""Uniform multi-round: all workers compute each round for the same time."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.result import Solution
from makespan.core.schedule import Floats, Integers
from makespan.divisible.linear import by_send_cost, problem_master_computes
from makespan.divisible.methods.multi_installment import SEQUENCE_OF_CHUNKS
from makespan.divisible.needs import ANY_WORKERS, NO_GIVEN_ORDER, NO_WINDOWS
from makespan.divisible.plan import Plan
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed

MOST_ROUNDS = 10_000
WORSE_ROUNDS = 20


def _no_link(problem: DivisibleLoad) -> str | None:
    if not len(problem.star):
        return "there is no worker"
    for name in ("send_per_unit", "compute_per_unit"):
        free = np.flatnonzero(getattr(problem.star, name) == 0)
        if len(free):
            return f"platform.workers[{free[0]}].{name.replace('_', '.', 1)} is 0"
    return None


def _master_computes(problem: DivisibleLoad) -> str | None:
    return "the master computes" if problem_master_computes(problem) else None


@register(
    "divisible",
    name="umr",
    needs=(
        *SEQUENCE_OF_CHUNKS,
        NO_GIVEN_ORDER,
        *NO_WINDOWS,
        ANY_WORKERS,
        Need("a master that does not compute", _master_computes),
        Need("positive costs per unit", _no_link),
    ),
    published=True,
    complexity="O(rounds tried) and the chunks of the best",
    source="Y. Yang and H. Casanova, UMR: a multi-round algorithm for scheduling divisible "
    "workloads, IPDPS 2003, and its extension to heterogeneous platforms",
)
def umr(problem: DivisibleLoad, control: Control) -> Solution:
    """Uniform multi-round (UMR): rounds of equal computing time, as many as the model says.

    Worker j computes round k for tau_k seconds, W_j + w_j chunk = tau_k, and round k + 1 is sent
    meanwhile: sum_j (C_j + c_j chunk_j of k + 1) = tau_k. Workers are taken by increasing c as
    long as the sum of c_j/w_j stays below 1, so that rounds can grow.
    """
    order = _selected(problem)
    best: tuple[float, Floats] | None = None
    worse, rounds = 0, 1
    most = MOST_ROUNDS if problem.rounds == "auto" else int(problem.rounds)
    while rounds <= most and worse < WORSE_ROUNDS and not control.expired():
        times = _round_times(problem, order, rounds)
        found = None if times is None else _predicted(problem, order, times)
        if times is not None and found is not None and (best is None or found < best[0]):
            best, worse = (found, times), 0
        else:
            worse += 1
        rounds += 1
    if best is None:
        return Solution(schedule=None, notes=("uniform rounds would need a negative chunk",))
    return Solution(schedule=timed(problem, _plan(problem, order, best[1])))


def _selected(problem: DivisibleLoad) -> Integers:
    """Return the workers by send cost whose shares of the port add up to less than 1."""
    star = problem.star
    order = by_send_cost(star)
    shares = np.cumsum(star.send_per_unit[order] / star.compute_per_unit[order])
    return order[: max(1, int(np.count_nonzero(shares < 1.0)))]


def _round_times(problem: DivisibleLoad, order: Integers, rounds: int) -> Floats | None:
    """Return tau of every round, or None where a chunk would be negative.

    tau_{k+1} = (tau_k - a)/rho, with rho = sum c/w and a = sum (C - c W/w); the chunks add up to
    the load.
    """
    star = problem.star
    assert problem.load is not None
    speed = 1.0 / star.compute_per_unit[order]
    rho = float((star.send_per_unit[order] * speed).sum())
    start_up = star.send_per_unit[order] * star.compute_fixed[order] * speed
    shift = float((star.send_fixed[order] - start_up).sum())
    power = rho ** -np.arange(rounds, dtype=np.float64)
    offset = np.empty(rounds)  # tau_k = power_k tau_0 - offset_k
    offset[0] = 0.0
    for k in range(1, rounds):
        offset[k] = (offset[k - 1] + shift) / rho
    wanted = problem.load / float(speed.sum())
    waste = float((star.compute_fixed[order] * speed).sum() / speed.sum())
    first = (wanted + float(offset.sum()) + rounds * waste) / float(power.sum())
    times: Floats = power * first - offset
    if not np.isfinite(times).all() or (times.min() < star.compute_fixed[order].max()):
        return None
    return times


def _chunks(problem: DivisibleLoad, order: Integers, times: Floats) -> Floats:
    """Return the chunks as an array (rounds, workers)."""
    star = problem.star
    chunks: Floats = (times[:, np.newaxis] - star.compute_fixed[order]) / star.compute_per_unit[
        order
    ]
    return chunks


def _predicted(problem: DivisibleLoad, order: Integers, times: Floats) -> float:
    """Return when the last worker ends: the sends of the first round, then all rounds."""
    star = problem.star
    first = _chunks(problem, order, times[:1])[0]
    sends = star.send_fixed[order] + star.send_per_unit[order] * first
    return float(sends.sum() + times.sum())


def _plan(problem: DivisibleLoad, order: Integers, times: Floats) -> Plan:
    assert problem.load is not None
    chunks = _chunks(problem, order, times)
    amounts = chunks.ravel() * (problem.load / chunks.sum() if chunks.sum() else 1.0)
    return Plan.of(np.tile(order, len(times)), amounts).without_empty()
