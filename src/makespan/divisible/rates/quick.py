"""Rates of linear stars, lower bounds without a solver, and scales for a solver's numbers."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import loop
from makespan.core.numeric.sorting import least_of
from makespan.core.solution import Bound
from makespan.divisible.model.machines import Master
from makespan.divisible.model.platform import NUMBERS, Star
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.tree import Tree
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.trees.equivalent import equivalent_tree

BLOCK = 30_000  # workers whose shares are computed at a time
FEW = (3 * BLOCK, 12 * BLOCK)  # how many, the cheapest, are asked for their shares before all are
RETURNS = (
    "least of: the star theorem with compute costs w + d, the same in reverse, and with one port "
    "load / max{sum x_i : (c_i + w_i + d_i) x_i <= 1, sum (c_i + d_i) x_i <= 1}"
)
NOTHING = float(np.finfo(np.float64).tiny)
"""Products below it lose their digits, and rounding keeps them from ever becoming 0."""


def equal_finish_shares(send: Floats, compute: Floats) -> Floats:
    """Return the loads with which all workers, served in the given order, end after 1 s.

    ``send``, ``compute``: seconds per unit, in the order of service; their sum is positive for
    every worker.

    Worker j gets ``1/(c_j + w_j)`` of the time that the workers before it leave of the second,
    ``prod_{k<j} w_k/(c_k + w_k)``. Those to whom less is left than any float can tell from nothing
    get 0. Source: Benoit 2016, theorems on buses and stars. Complexity: O(workers with a share).

    >>> equal_finish_shares(np.array([1.0, 2.0]), np.array([3.0, 6.0])).tolist()
    [0.25, 0.09375]
    """
    shares = np.zeros(len(send))
    left = 1.0
    for first in range(0, len(send), BLOCK):
        block = slice(first, first + BLOCK)
        total = send[block] + compute[block]
        after = left * np.cumprod(compute[block] / total)
        before = np.concatenate([[left], after[:-1]])
        shares[block] = np.where(before >= NOTHING, before, 0.0) / total
        left = float(after[-1])
        if left < NOTHING:
            break
    return shares


def best_shares(send: Floats, compute: Floats) -> Floats:
    """Return the loads that add up to the most in 1 s for the given order of service.

    Where the order is not by non-decreasing send cost, equal finish is not optimal: a worker is
    used only if the load that the workers after it could do in the same port time is less.
    Backwards over the order, with rate s of the workers after k: worker k is used iff ``c_k s <
    1``, and then ``s = (1 + s w_k)/(c_k + w_k)``. Source: Benoit 2016, bus and star theorems,
    corrected (a given order that is not sorted may drop workers). Complexity: O(n).

    >>> best_shares(np.array([4.0, 1.0]), np.array([2.0, 2.0])).tolist()
    [0.0, 0.3333333333333333]
    """
    used = np.zeros(len(send), dtype=bool)
    _uses.at(len(send))(np.asarray(send), np.asarray(compute), used)
    shares = np.zeros(len(send))
    shares[used] = equal_finish_shares(send[used], compute[used])
    return shares


@loop(pays_from=3_000)
def _uses(send, compute, used):  # type: ignore[no-untyped-def]
    """Fill in who is used, from the last worker to the first."""
    rate = 0.0
    for position in range(len(send) - 1, -1, -1):
        c, w = send[position], compute[position]
        if c * rate < 1.0:
            rate = (1.0 + rate * w) / (c + w)
            used[position] = True


def one_round_rate(send: Floats, compute: Floats, by_send: Integers | None = None) -> float:
    """Return the load a second of a linear star in one round, the order being the best one.

    ``by_send`` is that order, the workers by send cost, where it is known.
    """
    for order in _cheapest(send, by_send):
        shares = equal_finish_shares(send[order], compute[order])
        if not shares[-1:].all():  # nothing is left for those behind
            break
    return float(shares.sum())


def sustained_rate(port: Floats, alone: Floats, by_port: Integers | None = None) -> float:
    """Return the most load a second: max{sum x : x_j <= 1/alone_j, sum port_j x_j <= 1}.

    The cheapest for the port come first; ``by_port`` is their order, where it is known.
    """
    for order in _cheapest(port, by_port):
        rate, used = 0.0, 0.0
        for first in range(0, len(order), BLOCK):
            worker = order[first : first + BLOCK]
            seconds, free = port[worker], port[worker] == 0
            with np.errstate(divide="ignore", invalid="ignore"):
                speed = 1.0 / alone[worker]
                wanted = np.cumsum(np.where(free, 0.0, seconds * speed))
                room = np.maximum(0.0, 1.0 - (used + np.concatenate([[0.0], wanted[:-1]])))
                rate += float(np.where(free, speed, np.minimum(speed, room / seconds)).sum())
            used += float(wanted[-1])
            if used >= 1.0:  # those behind find no room
                return rate
    return rate


def _cheapest(costs: Floats, order: Integers | None) -> Iterator[Integers]:
    """Yield the few that cost least, by cost, then more of them, then all: no more are sorted than
    are asked for.
    """
    for few in (*FEW, len(costs)):
        found = least_of(costs, few) if order is None else order[:few]
        yield found
        if len(found) == len(costs):
            return


def rate_with_returns(star: Star, *, one_port: bool) -> float:
    """Return the load per second that no one-round plan of the workers exceeds.

    A result that returns keeps its worker's part of the plan from ending: without the port, it
    is as good as more computation. In reverse, results are sent and loads return.

    >>> from makespan import Worker
    >>> star = Star([Worker(send=1.0, compute=2.0, return_=1.0)] * 2)
    >>> rate_with_returns(star, one_port=True)
    0.4375
    """
    send, compute, back = star.send_per_unit, star.compute_per_unit, star.return_per_unit
    if not (send.all() or (send + compute + back).all()):
        return np.inf
    rate = min(one_round_rate(send, compute + back), one_round_rate(back, compute + send))
    port = send + back
    return min(rate, sustained_rate(port, port + compute)) if one_port else rate


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
        return (Bound(value=machines_bound(problem), name="machines", source=MACHINES),)
    if isinstance(problem.platform, Tree):
        return (_bound(problem, equivalent_tree(problem.platform)[0], "linear tree", TREE),)
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
    """Return when all machines would be done that compute from their first chunk on; O(n log n)."""
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
