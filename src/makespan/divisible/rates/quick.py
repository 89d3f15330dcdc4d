"""Lower bounds that need no solver, and scales that bring a solver's numbers near 1."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from makespan.core.solution import Bound
from makespan.divisible.model.machines import Master
from makespan.divisible.model.platform import NUMBERS, Star
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.tree import Tree
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.shares import (
    RETURNS,
    one_round_rate,
    rate_with_returns,
    sustained_rate,
)
from makespan.divisible.trees.equivalent import equivalent_tree

STAR = "Benoit 2016, star theorem, on the problem without fixed costs, limits and returns"
TREE = "equivalent processors (Cheng and Robertazzi 1990), without the fixed costs"
BANDWIDTH_CENTRIC = (
    "load / max{sum x_i : x_i <= 1/w_i, sum c_i x_i <= 1}: no machine and no port is ever idle"
)
MACHINES = "all machines compute from when each can begin: water-filling"
MAX_MASTERS = 200


def quick_bounds(problem: DivisibleLoad) -> tuple[Bound, ...]:
    """Return the bounds that need no solver."""
    if problem.load is None:
        return ()
    if isinstance(problem.platform, Sources):
        value = machines_bound(problem)
        return (Bound(value=value, name="machines", source=MACHINES),)
    if isinstance(problem.platform, Tree):
        rate = equivalent_tree(problem.platform)[0]
        return (_bound(problem, rate, "linear tree", TREE),)
    if problem.chooses_master and problem.has_returns and len(problem.star) > MAX_MASTERS:
        star = problem.star  # all machines become workers of a master that is as fast as any
        master = Master(compute=float(star.compute_per_unit.min()))
        columns: dict[str, Any] = {name: getattr(star, name) for name in NUMBERS}
        more = Star.from_arrays(master=master, **columns)
        return quick_bounds(replace(problem, platform=more, order=None, return_order=None))
    if problem.chooses_master:
        masters: Iterable[int] = range(len(problem.star))
        if not problem.has_returns:  # the fastest gives the least bounds (Lemma 2)
            masters = (int(np.argmin(problem.star.compute_per_unit)),)
        every = (quick_bounds(problem.with_master(index)) for index in masters)
        return min(every, key=lambda found: max(bound.value for bound in found))
    if problem.loads is not None:
        return (_given_loads(problem),)
    found = [_bound(problem, _steady_rate(problem), "bandwidth-centric", BANDWIDTH_CENTRIC)]
    if problem.rounds == 1 and problem.activation is None and problem.transfers is None:
        found.append(_bound(problem, _one_round_rate(problem), "linear star", STAR))
        if problem.has_returns and problem.ports in (1, 2):
            rate = rate_with_returns(problem.star, one_port=problem.ports == 1)
            found.append(_bound(problem, rate + _own_rate(problem), "returns", RETURNS))
    return tuple(found)


def quick_bound(problem: DivisibleLoad, otherwise: float = 0.0) -> float:
    """Return the greatest of the bounds that need no solver; ``otherwise`` where there is none."""
    return max((bound.value for bound in quick_bounds(problem)), default=otherwise)


def _bound(problem: DivisibleLoad, rate: float, name: str, source: str) -> Bound:
    """Return when the load is done at a rate."""
    idle = np.inf if problem.total > 0 else 0.0
    return Bound(value=problem.total / rate if rate else idle, name=name, source=source)


def _own_rate(problem: DivisibleLoad) -> float:
    if not problem.master_computes:
        return 0.0
    per_unit = problem.star.master_cost.per_unit
    return 1.0 / per_unit if per_unit > 0 else np.inf


def _steady_rate(problem: DivisibleLoad) -> float:
    """Return the greatest load per second that machines and ports could sustain."""
    star = problem.star
    port = star.send_per_unit
    if problem.ports == 1 and problem.has_returns:
        port = port + star.return_per_unit
    if problem.ports == "many":
        with np.errstate(divide="ignore"):
            rate = float((1.0 / np.maximum(star.compute_per_unit, port)).sum())
        uplink = getattr(star.master, "uplink", None)
        return _own_rate(problem) + (rate if uplink is None else min(rate, uplink))
    by_port = star.by_send_cost if port is star.send_per_unit else None
    return _own_rate(problem) + sustained_rate(port, star.compute_per_unit, by_port)


def _one_round_rate(problem: DivisibleLoad) -> float:
    star = problem.star
    total = star.send_per_unit + star.compute_per_unit
    if not total.all():
        return np.inf
    if problem.ports == "many":
        return float((1.0 / total).sum()) + _own_rate(problem)
    send, compute = star.send_per_unit, star.compute_per_unit
    return one_round_rate(send, compute, star.by_send_cost) + _own_rate(problem)


def _given_loads(problem: DivisibleLoad) -> Bound:
    """Return the bound for given loads: every machine's own work, and the port's.

    In one chunk, a worker's load is sent, then computed, then returned; in several, these go on
    side by side but for a first and a last chunk, of which only the fixed costs are sure.
    """
    assert problem.loads is not None
    star = problem.star
    amount = problem.given_amounts
    busy = amount > 0
    send, compute, back = (
        np.where(busy, per_unit * amount, 0.0)
        for per_unit in (star.send_per_unit, star.compute_per_unit, star.return_per_unit)
    )
    start_up = np.where(busy, star.compute_fixed + star.return_fixed, 0.0)
    latency = np.where(busy, star.send_fixed, 0.0)
    if problem.served_once:
        start_up = start_up + compute + back
        alone = latency + send + start_up
    else:
        alone = latency + start_up + np.maximum(send, np.maximum(compute, back))
    least = float(alone.max(initial=0.0))
    if problem.ports != "many" and busy.any():
        least = max(least, float((latency + send).sum()) + float(start_up[busy].min()))
    if not isinstance(star.master, str):
        least = max(least, star.master_cost.of(problem.loads.get(star.master.name, 0.0)))
    return Bound(
        value=least,
        name="given loads",
        source="each machine's own transfers and computation, and the port's sends",
    )


def machines_bound(problem: DivisibleLoad) -> float:
    """Return when all machines that compute from when they can on would be done with the load.

    A worker begins when its first chunk can have come. Complexity: O(n log n).
    """
    platform, load = problem.platform, problem.load
    assert isinstance(platform, Sources)
    assert load is not None
    if load == 0:
        return 0.0
    arrival = platform.source_release[:, np.newaxis] + platform.send_fixed
    arrival = np.where(np.isfinite(platform.send_per_unit), arrival, np.inf)
    first = np.maximum(arrival.min(axis=0, initial=np.inf), platform.release)
    first = np.concatenate(
        [first + platform.compute_fixed, platform.source_release + platform.own_fixed]
    )
    cost = np.concatenate([platform.compute_per_unit, platform.own_per_unit])
    able = np.isfinite(first) & np.isfinite(cost)
    order = np.flatnonzero(able)[np.argsort(first[able], kind="stable")]
    end, rate, done = math.inf, 0.0, 0.0
    for begin, per_unit in zip(first[order].tolist(), cost[order].tolist(), strict=True):
        if begin >= end:
            break
        if per_unit == 0.0:
            return float(min(end, begin))
        rate += 1.0 / per_unit
        done += begin / per_unit
        end = (load + done) / rate
    return end


def units_scale(problem: DivisibleLoad) -> float:
    """Return the units of load that count as 1: the load, or what a second's work could be."""
    if problem.integral:
        return 1.0
    if problem.load is not None:
        return problem.load or 1.0
    star = problem.star
    per_unit = star.send_per_unit + star.compute_per_unit
    fastest = float(per_unit[per_unit > 0].min(initial=math.inf))
    return problem.latest / fastest if math.isfinite(fastest) and problem.latest else 1.0


def seconds_scale(problem: DivisibleLoad) -> float:
    """Return the seconds that count as 1: the deadline, or a lower bound on the makespan.

    The bounds know nothing of fixed costs; some machine's are paid where there is a load.
    """
    if problem.load is None:
        return problem.latest or 1.0
    value = quick_bound(problem, 1.0)
    if problem.is_star and not problem.chooses_master and len(problem.star):
        star = problem.star
        start_up = float((star.send_fixed + star.compute_fixed + star.return_fixed).min())
        own = star.master_cost.fixed if problem.master_computes else math.inf
        value = max(value, min(start_up, own))
    return value if 0 < value < math.inf else 1.0
