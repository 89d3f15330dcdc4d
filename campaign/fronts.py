"""Fronts, cut short anywhere: what is claimed as known is true, the rest is listed as unknown."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from campaign import cuts
from campaign.oracles import module
from campaign.part import Defect, Part, Trial
from campaign.truth import given_to, sound
from makespan import Dag, DivisibleLoad, Network, Partition, Result, TaskGraph
from makespan.core.problem import Problem
from makespan.flow.files.files import as_text

POINTS = 4
"""Points of a divisible load's front that are held against enumeration, beside its ends."""
SOLVES = 3
EXACT, PROGRAMMED, APART = 1e-9, 1e-7, 3e-5
"""Relative: what sums, programmes, and programmes of programmes owe to rounding."""
OTHER = {"divisible": "price", "taskgraph": "price", "partition": "energy"}
"""What a front has beside the time."""

Point = tuple[float, float]


class Known(NamedTuple):
    """What is true of a front: some of its points, and the least of the other value by a time.

    ``points``: all that there are, or the ends of a curve; ``least``: None where there is no plan.
    """

    points: Sequence[Point]
    least: Callable[[float], float | None]
    slack: float
    at: float  # what times are multiplied by where a point is said to be known


def attempt(trial: Trial) -> None:
    """Ask for one front several times, and cut the search somewhere."""
    given = given_to(trial)
    problem = _drawn(trial.random("make")) if given is None else given[1]
    trial.holds("input.json", as_text(problem, ".json").encode())
    known = _truth(problem)
    if known is None:
        trial.count("beyond the oracle")
        return
    rng = trial.random("solves")
    trial.count("problems")
    for _ in range(SOLVES):
        cut = cuts.drawn(rng, most_looks=20_000)
        result = cut.solve(problem, "auto")
        try:
            sound(result.method, result)
            holds(result, known, rng)
        except Defect as defect:
            raise Defect(f"{problem.kind}: {defect} ({cut})") from defect
        trial.count("fronts")
        trial.count(f"{problem.kind}: {result.status}")


def holds(result: Result, known: Known, rng: random.Random) -> None:
    """Hold a front against what is true.

    Raises
    ------
    Defect
        If a point is better than can be, or is not proved, or a true one is neither on the front
        nor in a range that is said to be unknown.
    """
    if result.schedule is None:
        if result.status == "infeasible" and known.points:
            raise Defect(f"says infeasible; {known.points[0]} is there")
        return
    if not known.points:
        raise Defect("has a plan that the referee accepts, but the oracle has none")
    front = [
        (point["time"], point[OTHER[result.problem.kind]]) for point in result.details["front"]
    ]
    unknown = result.details["unknown"]
    if result.status == "optimal" and unknown:
        raise Defect(f"is optimal, but {unknown} is unknown")
    if result.makespan != front[0][0]:
        raise Defect(f"the plan takes {result.makespan!r}, the first point {front[0][0]!r}")
    _falls(front)
    more, less = 1.0 + known.slack, 1.0 - known.slack

    def open_(time: float) -> bool:
        return any(
            low * less <= time and (high is None or time <= high * more) for low, high in unknown
        )

    for time, other in known.points:
        on_it = any(t <= time * more and o <= other * more + known.slack for t, o in front)
        if not on_it and not open_(time):
            raise Defect(f"{(time, other)} is missing; unknown are {unknown} of {front}")
    for time, other in _some(front, rng):
        least = known.least(time * more)
        if least is None or other < least * less - known.slack:
            raise Defect(f"{(time, other)} is better than the best by then, {least!r}")
        then = None if open_(time) else known.least(time * known.at)
        if then is not None and other > then * more + known.slack:
            raise Defect(f"{(time, other)} counts as known; {then!r} is there by then")


def _falls(front: Sequence[Point]) -> None:
    for (one, more), (other, less) in pairwise(front):
        if one >= other or less >= more:
            raise Defect(f"the front does not fall from {(one, more)} to {(other, less)}")


def _some(front: Sequence[Point], rng: random.Random) -> Sequence[Point]:
    """Return the ends and some points between."""
    if len(front) <= POINTS + 2:
        return front
    return [front[0], *rng.sample(front[1:-1], POINTS), front[-1]]


# ---- what is true


def _truth(problem: Any) -> Known | None:
    """Return what enumeration says of a front; None where there is too much of it."""
    if isinstance(problem, DivisibleLoad):
        return _of_curve(problem)
    if isinstance(problem, TaskGraph):
        answers, near = module("taskgraph_enumeration"), 1.0 + EXACT
    else:  # times are among those that are given
        answers, near = module("partition_claims"), 1.0
    points = answers.front(problem) if answers.covers(problem) else None
    if points is None:
        return None

    def least(time: float) -> float | None:
        return min((other for at, other in points or () if at <= time), default=None)

    return Known(points, least, EXACT, near)


def _of_curve(problem: DivisibleLoad) -> Known | None:
    """Return the ends of the front of a divisible load, and a programme for what is between."""
    loads = module("divisible_any")
    if not loads.covers(problem):
        return None
    by_time = replace(problem, objective="makespan", options={})
    by_price = replace(problem, objective="price", options={})

    def least_price(time: float) -> float | None:
        latest = time if problem.deadline is None else min(time, problem.deadline)
        price: float | None = loads.best(replace(by_price, deadline=latest))
        return price

    fastest, cheapest = loads.best(by_time), loads.best(by_price)
    if fastest is None or cheapest is None:
        return Known([], least_price, PROGRAMMED, 1.0)
    first = least_price(fastest * (1 + PROGRAMMED))
    budget = cheapest * (1 + PROGRAMMED) + PROGRAMMED
    if problem.budget is not None:
        budget = min(budget, problem.budget)
    last = loads.best(replace(by_time, budget=budget))
    ends = [(fastest, first)] if first is not None else []
    if last is not None and (first is None or cheapest < first * (1 - APART) - APART):
        ends.append((last, cheapest))
    return Known(ends, least_price, APART, 1.0 - APART)


# ---- problems


def _drawn(rng: random.Random) -> Problem:
    return rng.choice((_load, _graph, _parts))(rng)


def _load(rng: random.Random) -> Problem:
    problem: Problem = module("divisible_priced").priced_problem(rng, "pareto")
    return problem


def _graph(rng: random.Random) -> Problem:
    """Return a graph of a few tasks on machines of which each has a price of its own."""
    count, machines = rng.randint(1, 4), rng.randint(1, 3)
    names = [f"t{task}" for task in range(count)]
    edges = [
        (names[a], names[b], float(rng.randint(0, 4)))
        for b in range(count)
        for a in range(b)
        if rng.random() < 0.4
    ]
    work = {name: float(rng.randint(1, 8)) for name in names}
    start = rng.random() < 0.4
    network = Network(
        [rng.choice((1.0, 1.0, 2.0, 3.0)) for _ in range(machines)],
        rate=rng.choice((0.5, 1.0, 2.0)),
        price=[float(rng.randint(0, 5)) for _ in range(machines)],
        start_price=[float(start * rng.randint(0, 3)) for _ in range(machines)],
    )
    limits: dict[str, Any] = {"contention": rng.choice(("none", "none", "links", "ports"))}
    if rng.random() < 0.2:
        limits["deadline"] = float(rng.randint(4, 30))
    if rng.random() < 0.2:
        limits["budget"] = float(rng.randint(4, 60))
    return TaskGraph(Dag(work, edges), network, objective="pareto", **limits)


def _parts(rng: random.Random) -> Problem:
    while True:
        parts, _ = module("partition_claims").random_parts(rng)
        if parts["objective"] == "pareto":
            return Partition(**parts)


PART = Part(
    name="fronts",
    promise="Of a front that is cut short anywhere, what is claimed as known is true, and what is "
    "not known is listed in `unknown`; a whole one lacks nothing.",
    attempt=attempt,
    goals={"fronts": 15_000},
    share=1.0,
    patience=60.0,
)
