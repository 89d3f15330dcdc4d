"""Lower bounds where the number of segments is open: they hold for each of them."""

import math
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any

import numpy as np

from makespan.reduction.bounding.cuts import cuts
from makespan.reduction.bounding.growth import ROUNDING, last_arrival
from makespan.reduction.model.validation import most_segments
from makespan.reduction.problem import Reduction

MAX_SPLITS = 48


def open_count(problem: Reduction) -> dict[str, float]:
    """Return bounds for all numbers of segments by name, in seconds.

    From a to b segments, the first term of the bound is least at a and the second at b. The range
    with the least such sum is split until it is a single number, or often enough.
    """
    found = {}
    if problem.links is not None or problem.shared is not None or problem.ports is not None:
        found["cuts"] = cuts(problem.undivided, divisible=True)
    if problem.ports is not None:  # others count what one port a machine can do
        return found

    def least(low: int, high: int) -> tuple[float, int, int]:
        passing, (there, back) = _passing(problem, low), _growing(problem, high)
        first = max(passing, there) if problem.collective == "all-reduce" else passing + there
        return first + back, low, high

    ranges = [least(1, most_segments(len(problem.machines)))]
    for _ in range(MAX_SPLITS):
        value, low, high = heappop(ranges)
        if low == high:
            heappush(ranges, (value, low, high))
            break
        middle = math.isqrt(low * high)
        heappush(ranges, least(low, middle))
        heappush(ranges, least(middle + 1, high))
    found["growth over all segment counts"] = ranges[0][0] * (1 - ROUNDING)
    if isinstance(problem.transfer_per_byte, np.ndarray):
        found["ports"] = _all_bytes(problem) * (1 - ROUNDING)
    return found


def _all_bytes(problem: Reduction) -> float:
    """Return the time of all bytes at the slowest port that they must pass, seconds.

    All machines but the root send all bytes in a reduction, and the root receives them; in a
    broadcast it is the other way round. In an all-reduce every machine does both.
    """
    table = np.asarray(problem.transfer_per_byte)
    apart = ~np.eye(len(table), dtype=bool)
    if problem.collective == "broadcast":
        table = table.T
    sent, taken = (table.min(axis=axis, where=apart, initial=np.inf) for axis in (1, 0))
    if problem.collective != "all-reduce":
        sent, taken = sent[1:], taken[:1]
    return max(float(sent.max()), float(taken.max())) * float(problem.bytes or 0.0)


def _shares(problem: Reduction, segments: int) -> tuple[Fraction, Fraction, Fraction]:
    """Return least latency, transfer and reduce time for a number of segments."""
    share = Fraction(problem.bytes or 0) / segments
    transfer, reduce = (
        Fraction(least_between(fixed)) + Fraction(least_between(per_byte)) * share
        for fixed, per_byte in (
            (problem.message_overhead, problem.transfer_per_byte),
            (problem.reduce_overhead, problem.reduce_per_byte),
        )
    )
    return Fraction(least_between(problem.latency)), transfer, reduce


def _passing(problem: Reduction, segments: int) -> float:
    """Return what the root's bottleneck needs for all segments but one, seconds.

    In an all-reduce, what a port needs at least for all segments one way.
    """
    _, transfer, reduce = _shares(problem, segments)
    if problem.collective == "all-reduce":
        machines = len(problem.machines)
        return float(segments * transfer * (machines - 1) / machines)
    one_way = transfer if problem.collective == "broadcast" else max(transfer, reduce)
    return float((segments - 1) * one_way)


def _growing(problem: Reduction, segments: int) -> tuple[float, float]:
    """Return how long one segment takes to one machine, and from one to all, seconds."""
    latency, transfer, reduce = _shares(problem, segments)
    found = {"reduce": 0.0, "broadcast": 0.0}
    for part, combine in (("reduce", reduce), ("broadcast", Fraction(0))):
        if problem.collective in (part, "all-reduce"):
            length, period = latency + transfer + combine, max(transfer, combine)
            parts = math.lcm(length.denominator, period.denominator)
            last = last_arrival(len(problem.machines), int(length * parts), int(period * parts))
            found[part] = float(Fraction(last, parts))
    return found["reduce"], found["broadcast"]


def least_between(table: Any) -> float:
    """Return the least entry off the diagonal of a table, or of a column, or the number itself."""
    if np.ndim(table) < 2:
        return 0.0 if table is None else float(np.min(table))
    return float(np.min(table, where=~np.eye(len(table), dtype=bool), initial=np.inf))
