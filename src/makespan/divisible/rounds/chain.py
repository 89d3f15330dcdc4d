"""Many rounds without idle time: chunks sized so that every one of them is critical.

For a given sequence of chunks, chunk k of worker j ends the plan no earlier than

    (sends up to k) + (computations of this and all later chunks of j) <= T.

Where all these hold with equality, a worker computes chunk k for as long as the sends last that
come after k up to its next chunk. Read backwards, every amount is then affine in one unknown,
``tail``: the time from the end of the last send to the end of the plan. Benoit 2016 and Yang and
Casanova 2003, eqs. 11 to 13, state this for equal workers; it holds as well for any star.

All of this works on floats and on fractions alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Number = Any  # float or Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainCosts:
    """What sending and computing cost for each worker, and for the master (None: it doesn't)."""

    send_fixed: Sequence[Number]
    send_per_unit: Sequence[Number]
    compute_fixed: Sequence[Number]
    compute_per_unit: Sequence[Number]
    master: tuple[Number, Number] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The amounts with which every chunk is critical; some may be negative, then it is no plan."""

    amounts: Sequence[Number]
    master: Number
    makespan: Number
    tail: Number

    @property
    def is_plan(self) -> bool:
        """Whether no amount is negative."""
        return self.master >= 0 and self.tail >= 0 and min(self.amounts, default=0) >= 0


def chain(load: Number, sequence: Sequence[int], costs: ChainCosts) -> Chain:
    """Return the amounts with which every chunk of the sequence is critical.

    Parameters
    ----------
    load
        Units of load.
    sequence
        The worker of each chunk in the order of sending; all have a positive compute cost per
        unit.
    costs
        What they cost.

    Backwards over the sequence: with ``after`` the sends after chunk k, and ``until`` the sends
    after the same worker's next chunk (``-tail`` where there is none),
    ``amount = (after - until - W) / w``.

    Complexity: O(chunks). Source: Benoit 2016, "No non-initial idle time", with +W on the right of
    "All workers finish at the same time" (corrected); Yang and Casanova 2003, eqs. 11 to 13.

    >>> costs = ChainCosts(send_fixed=[0.0, 0.0], send_per_unit=[1.0, 1.0],
    ...               compute_fixed=[0.0, 0.0], compute_per_unit=[3.0, 3.0])
    >>> found = chain(103.0, [0, 1, 0, 1], costs)
    >>> [round(amount) for amount in found.amounts], round(found.makespan)
    ([19, 21, 36, 27], 184)
    """
    constant, slope = coefficients(sequence, costs)
    zero = load * 0
    sends, sends_slope = zero, zero
    for worker, fixed, per_tail in zip(sequence, constant, slope, strict=True):
        sends += costs.send_fixed[worker] + costs.send_per_unit[worker] * fixed
        sends_slope += costs.send_per_unit[worker] * per_tail
    placed, placed_slope = sum(constant, zero), sum(slope, zero)
    if costs.master is not None:
        start_up, per_unit = costs.master
        placed += (sends - start_up) / per_unit
        placed_slope += (sends_slope + 1) / per_unit
    tail = (load - placed) / placed_slope
    makespan = sends + (sends_slope + 1) * tail
    return Chain(
        amounts=[fixed + per_tail * tail for fixed, per_tail in zip(constant, slope, strict=True)],
        master=zero if costs.master is None else (makespan - costs.master[0]) / costs.master[1],
        makespan=makespan,
        tail=tail,
    )


def coefficients(sequence: Sequence[int], costs: ChainCosts) -> tuple[list[Number], list[Number]]:
    """Return amounts as ``constant + slope * tail`` for every chunk."""
    zero = costs.compute_per_unit[0] * 0 if len(costs.compute_per_unit) else 0.0
    after, after_slope = zero, zero
    until = [zero] * len(costs.send_fixed)
    until_slope = [zero - 1] * len(costs.send_fixed)
    constant, slope = [zero] * len(sequence), [zero] * len(sequence)
    for position in range(len(sequence) - 1, -1, -1):
        worker = sequence[position]
        speed = costs.compute_per_unit[worker]
        fixed = (after - until[worker] - costs.compute_fixed[worker]) / speed
        per_tail = (after_slope - until_slope[worker]) / speed
        constant[position], slope[position] = fixed, per_tail
        until[worker], until_slope[worker] = after, after_slope
        after += costs.send_fixed[worker] + costs.send_per_unit[worker] * fixed
        after_slope += costs.send_per_unit[worker] * per_tail
    return constant, slope


def is_optimal(sequence: Sequence[int], costs: ChainCosts, tolerance: Number = 0) -> bool:
    """Whether the chain of a sequence, where it is a plan, is the best plan for the sequence.

    It is, if the prices of the critical constraints (the dual of the linear programme) are not
    negative: chunk l of worker j gives ``c_j * (prices from l on) + w_j * (prices of j up to l)
    = value of a unit``, forwards over the sequence and affine in that value.
    """
    zero = costs.compute_per_unit[0] * 0
    left, left_slope = zero + 1, zero
    if costs.master is not None:
        left_slope -= 1 / costs.master[1]
    paid = [zero] * len(costs.send_fixed)
    paid_slope = [zero] * len(costs.send_fixed)
    price, price_slope = [], []
    for worker in sequence:
        speed, send = costs.compute_per_unit[worker], costs.send_per_unit[worker]
        total, total_slope = -send * left / speed, (1 - send * left_slope) / speed
        price.append(total - paid[worker])
        price_slope.append(total_slope - paid_slope[worker])
        paid[worker], paid_slope[worker] = total, total_slope
        left -= price[-1]
        left_slope -= price_slope[-1]
    if left_slope == 0:
        return False
    unit = -left / left_slope
    return unit >= 0 and all(
        fixed + per_unit * unit >= -tolerance
        for fixed, per_unit in zip(price, price_slope, strict=True)
    )
