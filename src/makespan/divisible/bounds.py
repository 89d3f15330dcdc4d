"""Lower bounds for divisible loads on stars."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import least_of, sorted_by
from makespan.core.solution import Bound
from makespan.divisible.equivalent import equivalent_tree
from makespan.divisible.linear import (
    BLOCK,
    by_send_cost,
    equal_finish_shares,
    problem_master_computes,
)
from makespan.divisible.platform import NUMBERS, Master, Star
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.return_bounds import RETURNS, rate_with_returns
from makespan.divisible.timing import master_cost
from makespan.divisible.tree import Tree

STAR = "paper 002, star theorem, on the problem without fixed costs, limits and returns"
TREE = "equivalent processors (Cheng and Robertazzi 1990), without the fixed costs"
RELAXATION = "paper 002, mixed linear program for DL with latencies, choices relaxed"
BANDWIDTH_CENTRIC = (
    "load / max{sum x_i : x_i <= 1/w_i, sum c_i x_i <= 1}: no machine and no port is ever idle"
)


START_UP = "price of the port's time, with the start-up of every worker used (see the function)"
MOST_WORKERS_TO_RELAX = 16
MOST_WORKERS_TO_START = 20_000
MOST_MASTERS = 200


def bounds(problem: DivisibleLoad) -> tuple[Bound, ...]:
    """Return lower bounds on the makespan; none where the load is what is maximised."""
    found = quick_bounds(problem)
    known = max((bound.value for bound in found), default=0.0)
    if found and _has_relaxation(problem):
        found += _relaxation(problem)
    if _has_start_up(problem, known):
        from makespan.divisible.rounds_bound import start_up_bound

        value = start_up_bound(problem, max(bound.value for bound in found))
        found += (Bound(value=value, name="start-up", source=START_UP),)
    return found


def _has_start_up(problem: DivisibleLoad, known: float) -> bool:
    """Whether fixed costs delay workers that several rounds may serve, one send at a time."""
    return (
        problem.is_star
        and not problem.chooses_master
        and 0 < len(problem.star) <= MOST_WORKERS_TO_START
        and problem.rounds != 1
        and problem.ports in (1, 2)
        and problem.loads is None
        and problem.has_latencies
        and 0 < known < np.inf
        and bool(problem.star.compute_per_unit.all())
        and not (problem_master_computes(problem) and master_cost(problem.star).per_unit == 0)
    )


def _has_relaxation(problem: DivisibleLoad) -> bool:
    """Whether the mixed-integer programme states the problem and has more to say."""
    return (
        problem.is_star
        and not problem.chooses_master
        and 0 < len(problem.star) <= MOST_WORKERS_TO_RELAX
        and problem.rounds == 1
        and problem.ports in (1, 2)
        and problem.loads is None
        and problem.activation is None
        and problem.transfers is None
        and bool(problem.has_latencies or problem.budget or problem.star.release.any())
    )


def _relaxation(problem: DivisibleLoad) -> tuple[Bound, ...]:
    """Return the bound of the programme whose choices may be fractions."""
    from makespan.backends.highs import Verdict
    from makespan.divisible.scale import seconds_scale, units_scale
    from makespan.divisible.slots import build

    second, unit = seconds_scale(problem), units_scale(problem)
    built = build(problem, second=second, unit=unit, relaxed=True)
    answer = built.programme.solve(Control())
    if answer.verdict is not Verdict.OPTIMAL:
        return ()
    return (Bound(value=answer.bound * second, name="relaxation", source=RELAXATION),)


def quick_bounds(problem: DivisibleLoad) -> tuple[Bound, ...]:
    """Return the bounds that need no solver."""
    if problem.load is None:
        return ()
    if isinstance(problem.platform, Tree):
        rate = equivalent_tree(problem.platform).rate
        return (Bound(value=_seconds(problem, rate), name="linear tree", source=TREE),)
    if problem.chooses_master and problem.has_returns and len(problem.star) > MOST_MASTERS:
        return quick_bounds(_with_a_machine_more(problem))
    if problem.chooses_master:
        every = (quick_bounds(problem.with_master(index)) for index in _masters(problem))
        return min(every, key=lambda found: max(bound.value for bound in found))
    if problem.loads is not None:
        return (_given_loads(problem),)
    found = [
        Bound(
            value=_seconds(problem, _steady_rate(problem)),
            name="bandwidth-centric",
            source=BANDWIDTH_CENTRIC,
        )
    ]
    if problem.rounds == 1 and problem.activation is None and problem.transfers is None:
        found.append(
            Bound(
                value=_seconds(problem, _one_round_rate(problem)), name="linear star", source=STAR
            )
        )
        if problem.has_returns and problem.ports in (1, 2):
            rate = rate_with_returns(problem.star, one_port=problem.ports == 1)
            seconds = _seconds(problem, rate + _own_rate(problem))
            found.append(Bound(value=seconds, name="returns", source=RETURNS))
    return tuple(found)


def _masters(problem: DivisibleLoad) -> range:
    """Return the masters to try: without returns, the fastest gives the least bounds (Lemma 2)."""
    if problem.has_returns:
        return range(len(problem.star))
    fastest = int(np.argmin(problem.star.compute_per_unit))
    return range(fastest, fastest + 1)


def _with_a_machine_more(problem: DivisibleLoad) -> DivisibleLoad:
    """Return the problem in which all machines are workers of a master that is as fast as any."""
    star = problem.star
    master = Master(compute=float(star.compute_per_unit.min()))
    columns = {name: getattr(star, name) for name in NUMBERS}
    platform = Star.from_arrays(master=master, **columns)
    return replace(problem, platform=platform, order=None, return_order=None)


def _seconds(problem: DivisibleLoad, rate: float) -> float:
    assert problem.load is not None
    if rate == 0.0:
        return np.inf if problem.load > 0 else 0.0
    return problem.load / rate


def _own_rate(problem: DivisibleLoad) -> float:
    if not problem_master_computes(problem):
        return 0.0
    per_unit = master_cost(problem.star).per_unit
    return 1.0 / per_unit if per_unit > 0 else np.inf


def _inverse(seconds: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        rate: Floats = 1.0 / seconds
    return rate


def _steady_rate(problem: DivisibleLoad) -> float:
    """Return the greatest load per second that machines and ports could sustain."""
    star = problem.star
    port = star.send_per_unit
    if problem.ports == 1 and problem.has_returns:
        port = port + star.return_per_unit
    if problem.ports == "many":
        speed = _inverse(star.compute_per_unit)
        rate = float(np.minimum(speed, _inverse(star.send_per_unit)).sum())
        uplink = getattr(star.master, "uplink", None)
        return _own_rate(problem) + (rate if uplink is None else min(rate, uplink))
    if port is star.send_per_unit:
        return _own_rate(problem) + _rate_of(star, port, by_send_cost(star))[0]
    rate, used = _rate_of(star, port, least_of(port, 3 * BLOCK))
    if used < 1.0:
        rate, used = _rate_of(star, port, sorted_by(port))
    return _own_rate(problem) + rate


def _rate_of(star: Star, port: Floats, order: Integers) -> tuple[float, float]:
    """Return the greatest load per second that the workers sustain in this order, by what a unit
    costs the port, and how much of the port's time they use, 1 or more where all.
    """
    rate, used = 0.0, 0.0
    for first in range(0, len(order), BLOCK):
        worker = order[first : first + BLOCK]
        seconds, speed = port[worker], _inverse(star.compute_per_unit[worker])
        free = seconds == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            wanted = np.cumsum(np.where(free, 0.0, seconds * speed))
            room = np.maximum(0.0, 1.0 - (used + np.concatenate([[0.0], wanted[:-1]])))
            rate += float(np.where(free, speed, np.minimum(speed, room / seconds)).sum())
        used += float(wanted[-1])
        if used >= 1.0:
            break
    return rate, used


def _one_round_rate(problem: DivisibleLoad) -> float:
    """Return the load per second of the linear one-round optimum."""
    star = problem.star
    total = star.send_per_unit + star.compute_per_unit
    if not total.all():
        return np.inf
    if problem.ports == "many":
        rate = float((1.0 / total).sum())
    else:
        order = by_send_cost(star)
        for worker in (order[: 3 * BLOCK], order):
            shares = equal_finish_shares(star.send_per_unit[worker], star.compute_per_unit[worker])
            if not shares[-1:].all():  # nothing is left for those behind
                break
        rate = float(shares.sum())
    return rate + _own_rate(problem)


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
    if served_once(problem):
        start_up = start_up + compute + back
        alone = latency + send + start_up
    else:
        alone = latency + start_up + np.maximum(send, np.maximum(compute, back))
    least = float(alone.max(initial=0.0))
    if problem.ports != "many" and busy.any():
        least = max(least, float((latency + send).sum()) + float(start_up[busy].min()))
    if not isinstance(star.master, str):
        least = max(least, master_cost(star).of(problem.loads.get(star.master.name, 0.0)))
    return Bound(
        value=least,
        name="given loads",
        source="each machine's own transfers and computation, and the port's sends",
    )


def given_sends(problem: DivisibleLoad) -> tuple[str, ...] | None:
    """Return the workers of all chunks in the order of sending, where they are given."""
    if problem.transfers is not None:
        return tuple(name for what, name in problem.transfers if what == "send")
    return problem.activation


def served_once(problem: DivisibleLoad) -> bool:
    """Whether no worker gets more than one chunk."""
    sent = given_sends(problem)
    return problem.rounds == 1 if sent is None else len(set(sent)) == len(sent)
