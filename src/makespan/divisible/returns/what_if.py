"""Rates of a plan on a star: dual values of the programme that sizes the chunks of its sequence.

Every number of the problem stands linearly in the rows and limits of that programme; so a step of
one number, with everything else in place, gives the change of the optimum by the dual values of
that side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from makespan.backends.highs import Programme
from makespan.backends.one_sided import SECONDS, Number, Sides, one_sided
from makespan.core.control import Control
from makespan.core.costs import Affine
from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Schedule
from makespan.core.sensitivity import Varied
from makespan.divisible.model.plan import computed, price_of
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.returns.decided import Decided
from makespan.divisible.returns.decisions import Terms
from makespan.divisible.returns.transfer_programme import TransferProgramme
from makespan.divisible.timing import matched

AT_ALL = 1e-30
"""A release time that delays nothing, but has its row in the programme."""
SAME = 1e-6
"""Relative: amounts as near as that to the best are the best."""
COSTS = {
    "send.fixed": "send_fixed",
    "send.per_unit": "send",
    "compute.fixed": "compute_fixed",
    "compute.per_unit": "compute",
    "return.fixed": "back_fixed",
    "return.per_unit": "back",
    "memory": "memory",
    "release": "release",
    "deadline": "deadline",
    "price.fixed": "price_fixed",
    "price.per_unit": "price",
    "price.per_second": "rent",
}
"""The terms of the costs of a worker, by the names that these have in files."""
Step = Callable[[float], Terms]
"""Returns the terms with so much more of a number."""


def varied_star(problem: DivisibleLoad, schedule: Schedule, machines: Sequence[str]) -> Varied:
    """Return the rates of a plan on a star.

    Complexity: a linear programme, O(chunks) for each number, and a few pivots where it has a kink.
    """
    problem, schedule = matched(problem, schedule)
    if getattr(problem.star.master, "uplink", None) is not None:
        return Varied(rates=(), notes=("costs: the shares of an uplink have no dual values",))
    plan = Decided.of(problem, schedule)
    base = Terms.of(problem)
    base = replace(base, whole=False, release=np.where(base.release > 0, base.release, AT_ALL))
    fixed = plan.amount / base.unit if problem.integral else None
    sides = Sides(_built(plan, base, fixed).programme)
    if not sides.answer.found:
        return Varied(rates=(), notes=("costs: the programme of the plan has no optimum",))
    if problem.objective == "price":
        out, value = base.paid, price_of(problem.star, schedule)
    elif problem.load is not None:
        out, value = base.second, schedule.makespan
    else:
        out, value = -base.unit, float(computed(schedule).sum())
    notes: list[str] = []
    best = sides.answer.value * out
    if abs(best - value) > SAME * value:
        notes.append(f"costs: of the best amounts in the order of the plan, which give {best:.8g}")
    if problem.integral:
        notes.append("costs: the amounts, whole units, stay as they are")

    def numbers() -> Iterator[Number]:
        for machine, cost, value, scale, step in _steps(problem, base, machines):
            used = machine in plan.used or not machine

            def stepped(by: float, step: Step = step) -> Programme:
                return _built(plan, step(by), fixed).programme

            yield Number(machine, cost, value, out * scale, stepped if used else None)

    rates, more = one_sided(sides, numbers(), Control(time_limit=SECONDS))
    return Varied(rates=tuple(rates), notes=(*notes, *more))


def _built(plan: Decided, terms: Terms, fixed: Floats | None) -> TransferProgramme:
    """Return the programme of a sequence; of ``fixed`` amounts only the times are open."""
    found = TransferProgramme(terms, plan.transfers, own=plan.own, behind=plan.behind)
    if fixed is not None:
        found.programme.rows(found.amount[:, np.newaxis], 1.0, low=fixed, high=fixed)
    return found


def _steps(
    problem: DivisibleLoad, base: Terms, machines: Sequence[str]
) -> Iterator[tuple[str, str, float, float, Step]]:
    """Yield machine, cost, its value, what 1 in the programme is worth, and the steps of it."""
    second, unit = 1.0 / base.second, 1.0 / base.unit
    rate = second * base.unit
    scales = dict.fromkeys(COSTS, second)
    scales |= dict.fromkeys(("send.per_unit", "compute.per_unit", "return.per_unit"), rate)
    scales |= {"memory": unit, "price.fixed": 1.0 / base.paid}
    scales |= {
        "price.per_unit": base.unit / base.paid,
        "price.per_second": base.second / base.paid,
    }

    def whole(cost: str, value: float, scale: float, term: str) -> Any:
        def step(by: float) -> Terms:
            return replace(base, **{term: getattr(base, term) + by})

        return "", cost, value, scale, step

    if np.isfinite(base.end):
        yield whole("deadline", base.end * base.second, second, "end")
    if problem.load is not None and problem.loads is None and not problem.integral:
        yield whole("load", problem.load, unit, "load")
    if problem.budget is not None:
        yield whole("budget", problem.budget, 1.0 / base.paid, "budget")
    position = {name: index for index, name in enumerate(problem.machines)}
    for name in machines:
        index = position[name]
        if index == MASTER:
            yield from _own_steps(name, base, second, rate, problem)
            continue
        for cost, term in COSTS.items():
            if _is_there(problem, base, cost, index - 1):
                value = float(getattr(problem.star, _column(cost))[index - 1])
                yield name, cost, value, scales[cost], _step_of(base, term, index - 1)
        yield from _beyond_steps(name, base, index - 1, (unit, rate), problem)


def _step_of(base: Terms, term: str, worker: int) -> Step:
    """Return the steps of one entry of a column of the terms."""

    def step(by: float) -> Terms:
        stepped: Floats = getattr(base, term).copy()
        stepped[worker] += by
        one: dict[str, Any] = {term: stepped}
        return replace(base, **one)

    return step


def _beyond_steps(
    name: str, base: Terms, worker: int, scales: tuple[float, float], problem: DivisibleLoad
) -> Iterator[tuple[str, str, float, float, Step]]:
    """Yield the sizes beyond which a worker is slower, and the costs there."""
    for level, pair in enumerate(problem.star.beyond.of_worker(worker)):
        for part, column in enumerate(("above", "per_unit")):

            def step(by: float, level: int = level, column: str = column) -> Terms:
                stepped = getattr(base.beyond, column).copy()
                stepped[level, worker] += by
                one: dict[str, Any] = {column: stepped}
                return replace(base, beyond=replace(base.beyond, **one))

            yield name, f"compute.beyond[{level}][{part}]", pair[part], scales[part], step


def _own_steps(
    name: str, base: Terms, second: float, rate: float, problem: DivisibleLoad
) -> Iterator[tuple[str, str, float, float, Step]]:
    """Yield the costs of a master that computes."""
    own, cost = base.own, problem.star.master_cost
    if own is not None:
        yield (
            *(name, "compute.fixed", cost.fixed, second),
            lambda by: replace(base, own=Affine(own.fixed + by, own.per_unit)),
        )
        yield (
            *(name, "compute.per_unit", cost.per_unit, rate),
            lambda by: replace(base, own=Affine(own.fixed, own.per_unit + by)),
        )


def _is_there(problem: DivisibleLoad, base: Terms, cost: str, worker: int) -> bool:
    """Whether a cost is one of the problem: limits where there are any, returns where there are."""
    if cost.startswith("return"):
        return bool(base.returns[worker])
    if cost.startswith("price"):
        return problem.budget is not None or base.by_price
    if cost in ("memory", "deadline"):
        return bool(np.isfinite(getattr(base, cost)[worker]))
    return True


def _column(cost: str) -> str:
    """Return the column of a star that holds a cost.

    >>> _column("send.per_unit"), _column("release")
    ('send_per_unit', 'release')
    """
    return cost.replace(".", "_")
