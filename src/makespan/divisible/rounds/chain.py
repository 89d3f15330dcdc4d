"""Many rounds without idle time: chunks sized so that every one of them is critical.

For a given sequence of chunks, chunk k of worker j ends the plan no earlier than

    (sends up to k) + (computations of this and all later chunks of j) <= T.

Where all these hold with equality, a worker computes chunk k for as long as the sends last that
come after k up to its next chunk. Read backwards, every amount is then affine in one unknown,
``tail``: the time from the end of the last send to the end of the plan. Benoit 2016 and Yang and
Casanova 2003, eqs. 11 to 13, state this for equal workers; it holds as well for any star.

All of this works on floats and on fractions alike; long sequences of floats are compiled.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from makespan.backends.answer import WITHIN
from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers, readonly
from makespan.core.numeric.jit import Loop, loop
from makespan.core.steps import Step, number
from makespan.divisible.model.machines import Master
from makespan.divisible.model.plan import Plan
from makespan.divisible.model.platform import NUMBERS
from makespan.divisible.problem import DivisibleLoad

Number = Any  # float or Fraction
COMPILE_FROM = 2_000  # chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainCosts:
    """What sending and computing cost for each worker, and for the master (None: it doesn't)."""

    send_fixed: Sequence[Number]
    send_per_unit: Sequence[Number]
    compute_fixed: Sequence[Number]
    compute_per_unit: Sequence[Number]
    master: tuple[Number, Number] | None = None

    @property
    def zero(self) -> Number:
        """0 as a number of the kind that the costs are."""
        return self.compute_per_unit[0] * 0 if len(self.compute_per_unit) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chain:
    """The amounts with which every chunk is critical; some may be negative, then it is no plan.

    ``cancelled`` is the greatest of the parts of amounts that cancel out.
    """

    amounts: Any
    master: Number
    makespan: Number
    tail: Number
    cancelled: Number

    @property
    def is_plan(self) -> bool:
        """Whether no amount is negative."""
        if not (self.master >= 0 and self.tail >= 0 and self.makespan < math.inf):
            return False
        return not len(self.amounts) or bool(_extremes(self.amounts)[0] >= 0)


def chain(load: Number, sequence: Sequence[int], costs: ChainCosts) -> Chain:
    """Return the amounts with which every chunk of the sequence is critical.

    ``sequence``: the worker of each chunk in the order of sending; all have a positive compute cost
    per unit. ``costs``: what they cost.

    Backwards over the sequence: with ``after`` the sends after chunk k, and ``until`` the sends
    after the same worker's next chunk (``-tail`` where there is none), ``amount = (after - until -
    W) / w``. Complexity: O(chunks). Source: Benoit 2016, "No non-initial idle time", with +W on the
    right of "All workers finish at the same time" (corrected); Yang and Casanova 2003, eqs. 11 to
    13.

    >>> costs = ChainCosts(send_fixed=[0.0, 0.0], send_per_unit=[1.0, 1.0],
    ...               compute_fixed=[0.0, 0.0], compute_per_unit=[3.0, 3.0])
    >>> found = chain(103.0, [0, 1, 0, 1], costs)
    >>> [round(amount) for amount in found.amounts], round(found.makespan)
    ([19, 21, 36, 27], 184)
    """
    constant, slope, (sends, sends_slope, placed, placed_slope) = coefficients(sequence, costs)
    if costs.master is not None:
        start_up, per_unit = costs.master
        placed += (sends - start_up) / per_unit
        placed_slope += (sends_slope + 1) / per_unit
    tail = (load - placed) / placed_slope if placed_slope else costs.zero - 1
    makespan = sends + (sends_slope + 1) * tail
    if isinstance(constant, list):
        amounts: Any = [fixed + of * tail for fixed, of in zip(constant, slope, strict=True)]
    else:
        amounts = constant + slope * tail
    least, most = _extremes(constant) if len(sequence) else (costs.zero, costs.zero)
    return Chain(
        amounts=amounts,
        master=costs.zero if costs.master is None else (makespan - start_up) / per_unit,
        makespan=makespan,
        tail=tail,
        cancelled=max(-least, most),
    )


def _extremes(numbers: Any) -> tuple[Number, Number]:
    if isinstance(numbers, list):
        return min(numbers), max(numbers)
    return numbers.min(), numbers.max()


def coefficients(
    sequence: Sequence[int], costs: ChainCosts
) -> tuple[Any, Any, tuple[Number, Number, Number, Number]]:
    """Return amounts as ``constant + slope * tail`` for every chunk, and four sums.

    The sums are those of the sends and of the amounts, each a constant and a slope, too.
    """
    zero, workers = costs.zero, len(costs.send_fixed)
    inputs = (costs.send_fixed, costs.send_per_unit, costs.compute_fixed, costs.compute_per_unit)
    room = ((zero, workers), (zero - 1, workers), (zero, len(sequence)), (zero, len(sequence)))
    (_, _, constant, slope), sums = _run(_coefficients, sequence, inputs, room, zero)
    return constant, slope, sums


def _run(
    of: Loop,
    sequence: Sequence[int],
    columns: Sequence[Any],
    room: Sequence[tuple[Number, int]],
    *numbers: Number,
) -> tuple[list[Any], Any]:
    """Run a loop over a sequence, compiled where it is long; return its room and its value.

    ``room`` says what the columns that it writes to hold before, and how long they are.
    """
    if of.pays(len(sequence)) and all(isinstance(number, float) for number in numbers):
        filled: list[Any] = [np.full(length, float(value)) for value, length in room]
        inputs = readonly(np.asarray(sequence, np.int64), *(np.asarray(c, float) for c in columns))
        return filled, of.compiled(*inputs, *filled, *map(float, numbers))
    filled = [[value] * length for value, length in room]
    return filled, of.plain(_listed(sequence), *map(_listed, columns), *filled, *numbers)


def _listed(values: ArrayLike) -> Any:
    return values.tolist() if isinstance(values, np.ndarray) else values


@loop(pays_from=COMPILE_FROM)
def _coefficients(  # type: ignore[no-untyped-def]
    sequence, send_fixed, send, compute_fixed, compute, until, until_slope, constant, slope, zero
):
    after, after_slope, placed, placed_slope = zero, zero, zero, zero
    for position in range(len(sequence) - 1, -1, -1):
        worker = sequence[position]
        fixed = (after - until[worker] - compute_fixed[worker]) / compute[worker]
        per_tail = (after_slope - until_slope[worker]) / compute[worker]
        constant[position], slope[position] = fixed, per_tail
        until[worker], until_slope[worker] = after, after_slope
        after += send_fixed[worker] + send[worker] * fixed
        after_slope += send[worker] * per_tail
        placed += fixed
        placed_slope += per_tail
    return after, after_slope, placed, placed_slope


def is_optimal(sequence: Sequence[int], costs: ChainCosts, tolerance: Number = 0) -> bool:
    """Whether the chain of a sequence, where it is a plan, is the best plan for the sequence.

    It is, if the prices of the critical constraints (the dual of the linear programme) are not
    negative: chunk l of worker j gives ``c_j * (prices from l on) + w_j * (prices of j up to l)
    = value of a unit``, forwards over the sequence and affine in that value.
    """
    zero = costs.zero
    own = zero if costs.master is None else 1 / costs.master[1]
    room = 2 * ((zero, len(costs.send_fixed)),)
    columns = (costs.send_per_unit, costs.compute_per_unit)
    return bool(_run(_prices_are_sound, sequence, columns, room, own, zero + tolerance)[1])


@loop(pays_from=COMPILE_FROM)
def _prices_are_sound(  # type: ignore[no-untyped-def]
    sequence, send, compute, paid, paid_slope, own, tolerance
):
    """Whether no price is negative; in two passes without storing the prices.

    ``own`` are the units per second that the master computes.
    """
    zero = own - own
    unit = zero
    for second in range(2):
        left, left_slope = zero + 1, -own
        for worker in range(len(paid)):
            paid[worker], paid_slope[worker] = zero, zero
        for position in range(len(sequence)):
            worker = sequence[position]
            total = -send[worker] * left / compute[worker]
            total_slope = (1 - send[worker] * left_slope) / compute[worker]
            price, price_slope = total - paid[worker], total_slope - paid_slope[worker]
            if second == 1 and price + price_slope * unit < -tolerance:
                return False
            paid[worker], paid_slope[worker] = total, total_slope
            left -= price
            left_slope -= price_slope
        if left_slope == 0:
            return False
        unit = -left / left_slope
        if unit < 0:
            return False
    return True


MAX_CANCELLED = 1e5
"""How many times the load the parts of an amount may be that cancel out: beyond that, a chain
in floats has too few digits left to be trusted."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sized:
    """The best amounts for a sequence: a plan, when it ends, whether that is proved, and whether
    the search for the sequence ended before it was done.
    """

    plan: Plan
    makespan: float
    optimal: bool
    stopped: bool = False


def costs_of(problem: DivisibleLoad) -> ChainCosts:
    star = problem.star
    own = star.master_cost
    columns = {name: getattr(star, name) for name in NUMBERS[:4]}
    if len(star) < COMPILE_FROM:
        columns = {name: column.tolist() for name, column in columns.items()}
    return ChainCosts(
        **columns, master=(own.fixed, own.per_unit) if problem.master_computes else None
    )


def size_by_chain(problem: DivisibleLoad, sequence: Integers) -> Sized | None:
    """Return the plan in which every chunk is critical, or None; all compute at finite speeds."""
    if not problem.star.compute_per_unit[sequence].all():
        return None
    if problem.master_computes and problem.star.master_cost.per_unit == 0:
        return None
    costs = costs_of(problem)
    found = chain(problem.total, sequence, costs)  # type: ignore[arg-type]
    if not is_sound(problem.total, found) or not found.is_plan:
        return None
    plan = Plan.of(sequence, found.amounts, master=found.master)
    if not abs(plan.total - problem.total) <= WITHIN * problem.total:
        return None  # long sequences of shrinking chunks lose their digits
    plan = plan.fitted(problem.total)
    optimal = is_optimal(sequence, costs, 1e-9)  # type: ignore[arg-type]
    return Sized(plan=plan, makespan=float(found.makespan), optimal=optimal)


def is_sound(load: float, found: Chain) -> bool:
    """Whether a chain keeps enough digits in floats."""
    return bool(found.cancelled <= MAX_CANCELLED * load)


def with_idle_master(problem: DivisibleLoad) -> DivisibleLoad:
    star = problem.star
    assert isinstance(star.master, Master)
    return replace(problem, platform=star.changed(master=replace(star.master, compute=None)))


def only_costs(problem: DivisibleLoad) -> bool:
    """Whether nothing but costs limits the chunks."""
    star = problem.star
    return bool(np.isinf(star.memory).all() and not star.release.any())


def log_rounds(control: Control, rounds: int, end: float | None) -> None:
    """Log when a plan of so many rounds would end; None: a chunk of it would be negative."""
    if not control.log_steps:
        return
    said = "a negative chunk" if end is None else f"until {number(end)}"
    control.step(
        Step(
            text=f"rounds {rounds}: {said}",
            cells={"rounds": rounds, "end": "a negative chunk" if end is None else number(end)},
            values={"rounds": rounds} | ({} if end is None else {"end": end}),
        )
    )
