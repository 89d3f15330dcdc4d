"""Closed forms in exact rational numbers: fractions in, fractions out.

Anything that :class:`fractions.Fraction` takes is a number here: integers, fractions, texts such
as ``"1/3"``, and floats, each at its exact binary value. The functions share their parameters:

load
    Units to divide.
send, compute
    Seconds per unit to each worker (on a bus: to any), and of each worker.
master
    Seconds per unit of the master; None if it does not compute.

They raise a ValueError if a cost or the load is negative, or there is a load and no machine.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

Number = int | float | str | Fraction


class ExactPlan(NamedTuple):
    """The end of a plan, and who does how much.

    ``makespan``: seconds. ``loads``: units of load of each worker, in the order in which the
    workers were given. ``master``: units that the master computes.
    """

    makespan: Fraction
    loads: tuple[Fraction, ...]
    master: Fraction = Fraction(0)


def bus(
    load: Number, send: Number, compute: Sequence[Number], *, master: Number | None = None
) -> ExactPlan:
    """Return the optimum of a linear bus: all machines end together.

    Source: Benoit 2016, bus-shaped platforms. Complexity: O(n) fractions.

    >>> plan = bus(10000, 1, [3, 5, "3/2"], master=3)
    >>> plan.makespan, plan.loads[0]
    (Fraction(240000, 23), Fraction(60000, 23))
    """
    return _together(load, [send] * len(compute), compute, range(len(compute)), master)


def star(
    load: Number, send: Sequence[Number], compute: Sequence[Number], *, master: Number | None = None
) -> ExactPlan:
    """Return the optimum of a linear star: served by non-decreasing send cost, all end together.

    Source: Benoit 2016, star-shaped platforms. Complexity: O(n log n) fractions.

    >>> star(1, [2, 1, 4, 3], [5, 8, 2, 6]).makespan
    Fraction(567, 215)
    """
    order = sorted(range(len(send)), key=lambda worker: (Fraction(send[worker]), worker))
    return _together(load, send, compute, order, master)


def fixed_order(
    load: Number, send: Sequence[Number], compute: Sequence[Number], *, master: Number | None = None
) -> ExactPlan:
    """Return the optimum of a linear star whose workers are served in the order given.

    Backwards over the order, with the rate s of the workers after k: worker k is used only if ``c_k
    s < 1``, and then the rate becomes ``(1 + s w_k)/(c_k + w_k)``. Source: Benoit 2016, star
    recursion, corrected: workers may be dropped.

    >>> fixed_order(1, [4, 3, 2, 1], [2, 6, 5, 8]).makespan
    Fraction(27, 7)
    """
    costs = _checked(send, compute)
    rate, used = Fraction(0), []
    for worker in range(len(costs) - 1, -1, -1):
        c, w = costs[worker]
        if c + w == 0:
            return _together(load, send, compute, [worker], master)
        if c * rate < 1:
            rate = (1 + rate * w) / (c + w)
            used.append(worker)
    return _together(load, send, compute, used[::-1], master)


def affine_order(
    load: Number,
    send_fixed: Sequence[Number],
    send: Sequence[Number],
    compute_fixed: Sequence[Number],
    compute: Sequence[Number],
    *,
    master: tuple[Number, Number] | None = None,
) -> ExactPlan:
    """Return the plan of an affine star in which all given workers take part and end together.

    ``load``: units to divide. ``send_fixed``, ``send``, ``compute_fixed``, ``compute``: seconds,
    and seconds per unit, of each worker that takes part, in the order of service. The costs per
    unit of a worker do not both vanish. ``master``: fixed seconds, and positive seconds per unit,
    of a master that computes; None if it does not. Raises ValueError if a number is negative, or
    these workers can't all take part and end together because one of them would get less than
    nothing.

    Each load is affine in the end T: worker j gets ``(r - C - W)/(c + w)`` where r is the time that
    is left when its transfer starts. Source: Benoit 2016, latencies. Complexity: O(n) fractions.

    >>> affine_order(2, [1, 4], [2, 1], [4, 1], [3, 6]).makespan
    Fraction(25, 2)
    """
    total = _nonnegative("load", load)
    costs, fixed = _checked(send, compute), _checked(send_fixed, compute_fixed)
    own = None if master is None else _checked(master[:1], master[1:])[0]
    if any(c + w == 0 for c, w in costs) or (own is not None and own[1] == 0):
        raise ValueError("costs per unit: both are 0; a machine without them ends at once")
    if not costs and own is None:
        if total:
            raise ValueError("there is a load, but no machine to compute it")
        return ExactPlan(total, ())
    left, spent = Fraction(1), Fraction(0)
    lines = []
    for (c, w), (latency, start_up) in zip(costs, fixed, strict=True):
        slope, offset = left / (c + w), (spent + latency + start_up) / (c + w)
        lines.append((slope, offset))
        left, spent = left - c * slope, spent + latency - c * offset
    if own is not None:
        lines.append((1 / own[1], own[0] / own[1]))
    end = (total + sum(offset for _, offset in lines)) / sum(slope for slope, _ in lines)
    loads = [slope * end - offset for slope, offset in lines]
    for place, amount in enumerate(loads):
        if amount < 0:
            who = "the master" if place == len(costs) else f"the worker served at place {place}"
            raise ValueError(f"{who} would get {amount}: they can't all take part and end together")
    return ExactPlan(end, tuple(loads[: len(costs)]), loads[-1] if own else Fraction(0))


def _together(
    load: Number,
    send: Sequence[Number],
    compute: Sequence[Number],
    order: Sequence[int],
    master: Number | None,
) -> ExactPlan:
    """Return the plan in which the workers of ``order`` and the master end together."""
    total, costs = _nonnegative("load", load), _checked(send, compute)
    own = None if master is None else _nonnegative("master", master)
    loads = [Fraction(0)] * len(costs)
    if own == 0:
        return ExactPlan(Fraction(0), tuple(loads), total)
    for worker in order:
        if sum(costs[worker]) == 0:
            loads[worker] = total
            return ExactPlan(Fraction(0), tuple(loads))
    none = [0] * len(order)
    columns = [[costs[worker][part] for worker in order] for part in (0, 1)]
    plan = affine_order(
        total, none, columns[0], none, columns[1], master=None if own is None else (0, own)
    )
    for worker, amount in zip(order, plan.loads, strict=True):
        loads[worker] = amount
    return ExactPlan(plan.makespan, tuple(loads), plan.master)


def _checked(first: Sequence[Number], second: Sequence[Number]) -> list[tuple[Fraction, Fraction]]:
    """Return the pairs of two columns of costs."""
    if len(first) != len(second):
        raise ValueError(f"the columns of costs have {len(first)} and {len(second)} entries")
    return [
        (_nonnegative("a cost", a), _nonnegative("a cost", b))
        for a, b in zip(first, second, strict=True)
    ]


def _nonnegative(name: str, number: Number) -> Fraction:
    value = Fraction(number)
    if value < 0:
        raise ValueError(f"{name}: {number!r} is negative")
    return value
