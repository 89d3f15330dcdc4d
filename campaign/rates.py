"""Rates of plans against one-sided difference quotients of exact solutions, in the plan's order."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np

from campaign.oracles import module
from campaign.part import Defect, Part, Trial
from campaign.truth import given_to
from makespan import (
    Affine,
    DivisibleLoad,
    Master,
    MethodError,
    Price,
    ProblemError,
    Result,
    Star,
    Worker,
    sensitivity,
    solve,
)
from makespan.core.schedule import Activity
from makespan.core.sensitivity import Rate
from makespan.flow.files.files import as_text

LIMIT = 0.1
STEP = 1e-4
"""Of a number, or of 1 where it is less."""
CLOSE = 2e-3
"""What a quotient owes to the rounding of programmes, relative to the rate or to 1."""
TINY = 0.05
"""Units; chunks that are smaller are where a step of a number leads to another rate."""
MOST = 12
"""Rates of a plan that are compared."""


def attempt(trial: Trial) -> None:
    """Compare the rates of one plan."""
    given = given_to(trial)
    problem: Any = _drawn(trial.random("make")) if given is None else given[1]
    trial.holds("input.json", as_text(problem, ".json").encode())
    try:
        result = solve(problem, time_limit=LIMIT)
    except MethodError:
        trial.count("no method applies")
        return
    ordered = None if result.schedule is None else _in_order(problem, result)
    if ordered is None:
        trial.count("no plan, or of more than one order")
        return
    known = sensitivity(result, time_limit=1e-3)
    rates = [rate for rate in known.rates if "beyond" not in rate.cost]
    rng = trial.random("rates")
    for rate in rng.sample(rates, min(MOST, len(rates))):
        trial.count(_held(*ordered, rate))
    trial.count("plans")


def _held(problem: DivisibleLoad, own: bool, rate: Rate) -> str:
    """Hold a rate against the quotients of both sides; return which of them it is.

    Raises
    ------
    Defect
        If it is neither.
    """
    left, right = (_quotient(problem, own, rate, sign) for sign in (-1.0, 1.0))
    sides = {"left": left, "right": right}
    close = {
        side for side, found in sides.items() if found and abs(rate.change - found[0]) <= found[1]
    }
    if len(close) == 2:
        return "rates of both sides"
    if close:
        zero = "rates of zeros, " if rate.value == 0.0 else "rates, "
        return f"{zero}{close.pop()} side"
    if left is None or right is None:
        return "rates beside a kink"
    where = "between them" if left[0] <= rate.change <= right[0] else "beyond both"
    if right[0] <= rate.change <= left[0]:
        where = "between them"
    raise Defect(
        f"the rate of {rate.cost} of {rate.machine or 'the problem'} at {rate.value!r} is "
        f"{rate.change!r}, of neither side, {where}: {left[0]!r} and {right[0]!r}"
    )


def _quotient(
    problem: DivisibleLoad, own: bool, rate: Rate, sign: float
) -> tuple[float, float] | None:
    """Return the difference quotient of one side and what it may be off; None where there is none.

    Below 0 there is none: the quotient is then that of the other side. Nor is there one where a
    step of half the size says otherwise: a kink is near.
    """
    step = sign * STEP * max(1.0, abs(rate.value))
    if rate.value + step < 0.0:
        return _quotient(problem, own, rate, -sign)
    best = module("divisible_any").best_with
    values = [
        best(_with_number(problem, rate, rate.value + part * step), own) for part in (0.0, 0.5, 1.0)
    ]
    if any(value is None or not np.isfinite(value) for value in values):
        return None
    half, whole = 2 * (values[1] - values[0]) / step, (values[2] - values[0]) / step
    room = CLOSE * max(1.0, abs(half))
    if abs(half - whole) > room:
        return None
    return half, room + abs(half - whole)


def _with_number(problem: DivisibleLoad, rate: Rate, value: float) -> DivisibleLoad:
    """Return the problem with another number where the rate is of."""
    if not rate.machine:
        changed: Any = {rate.cost: value}
        return replace(problem, **changed)
    star = problem.star
    master: Any = star.master
    if rate.machine == master.name:
        compute = replace(master.compute, **{rate.cost.split(".")[1]: value})
        return replace(problem, platform=star.changed(master=replace(master, compute=compute)))
    column = rate.cost.replace(".", "_")
    numbers = getattr(star, column).copy()
    numbers[list(star.names).index(rate.machine)] = value
    return replace(problem, platform=star.changed(**{column: numbers}))


def _in_order(problem: DivisibleLoad, result: Result) -> tuple[DivisibleLoad, bool] | None:
    """Return the problem of the plan's order, and whether its master computes.

    None where transfers begin together, which says no order, or chunks are so small that a step
    is not small to them.
    """
    schedule = result.schedule
    assert schedule is not None
    rows = np.flatnonzero(schedule.kind != Activity.COMPUTE)
    if schedule.amount.min(initial=1.0) < TINY:
        return None
    starts = schedule.start[rows]
    if len(np.unique(starts)) < len(rows):
        return None
    transfers: list[Any] = []
    for row in rows[np.argsort(starts)].tolist():
        sends = schedule.kind[row] == Activity.SEND
        worker = schedule.peer[row] if sends else schedule.machine[row]
        transfers.append(("send" if sends else "return", problem.machines[worker]))
    own = bool(np.any((schedule.kind == Activity.COMPUTE) & (schedule.machine == 0)))
    return replace(problem, transfers=tuple(transfers), rounds=1, order=None), own


def _drawn(rng: random.Random) -> DivisibleLoad:
    """Return a star of one port, whole and decimal numbers and zeros among its costs."""
    while True:
        try:
            if rng.random() < 0.25:
                problem: DivisibleLoad = module("divisible_priced").priced_problem(rng)
                if not problem.integral and problem.ports == 1 and problem.front_end:
                    return problem
                continue
            return _plain(rng)
        except ProblemError:
            continue


def _plain(rng: random.Random) -> DivisibleLoad:
    count, fixed, back = rng.randint(1, 3), rng.random() < 0.6, rng.random() < 0.25

    def cost(zero: float) -> Affine:
        late = rng.choice((0.0, 0.0, 0.5, 1.0)) if fixed else 0.0
        unit = 0.0 if rng.random() < zero else rng.choice((0.5, 1.0, 2.0, 3.0, rng.uniform(0.2, 5)))
        return Affine(late, unit)

    workers = []
    for _ in range(count):
        more: dict[str, Any] = {}
        for share, name, values in (
            (0.1, "memory", (1.0, 2.0, 2.5)),
            (0.2, "release", (1.0, 3.0)),
            (0.1, "deadline", (6.0, 15.0)),
            (0.1, "price", (Price(1.0, 0.5, 0.5), Affine(0.0, 1.0))),
        ):
            if rng.random() < share:
                more[name] = rng.choice(values)
        workers.append(
            Worker(send=cost(0.2), compute=cost(0.0), return_=cost(0.1) if back else None, **more)
        )
    goal: dict[str, Any] = {"load": rng.choice((1.0, 4.0, 5.0, 10.0))}
    if rng.random() < 0.25:
        goal = {"deadline": rng.choice((5.0, 10.0, 15.0))}
    if rng.random() < 0.4:
        goal["rounds"] = rng.choice(("auto", 2))
    if rng.random() < 0.1:
        goal["budget"] = rng.choice((5.0, 10.0))
    own = cost(0.0) if rng.random() < 0.4 else None
    return DivisibleLoad(platform=Star(workers, master=Master(compute=own)), **goal)


PART = Part(
    name="rates",
    promise="Each rate of `sensitivity` is a one-sided difference quotient of the exact optimum in "
    "the order of the plan, rates of zeros among them.",
    attempt=attempt,
    goals={"plans": 5_000},
    share=0.5,
    patience=60.0,
)
