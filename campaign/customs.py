"""Custom collectives whose segments begin and end on machines of their own, by every method."""

from __future__ import annotations

import math
import random
from itertools import permutations
from typing import Any

from campaign import cuts
from campaign.agreeing import agree, results_of_all
from campaign.oracles import module, oracles
from campaign.part import Part, Trial
from campaign.truth import Truth, given_to
from makespan import ProblemError, Reduction
from makespan.flow.files.files import as_text

SMALL = 0.7  # of the problems are so small that all can be tried


def attempt(trial: Trial) -> None:
    """Ask every method for one collective, and hold what it says against enumeration."""
    given = given_to(trial)
    problem: Any = _drawn(trial.random("make")) if given is None else given[1]
    trial.holds("input.json", as_text(problem, ".json").encode())
    found = results_of_all(trial, problem, cuts.drawn(trial.random("solves")))
    agree(found)
    trial.count("collectives")
    (oracle,) = (each for each in oracles() if each.kind == "reduction")
    truth = Truth.of(oracle, problem)
    if truth is None:
        trial.count("beyond the oracle")
        return
    for name, result in found.items():
        truth.holds(name, result)


def _drawn(rng: random.Random) -> Reduction:
    """Return a custom collective; what contradicts itself is drawn anew."""
    while True:
        try:
            return _custom(rng)
        except ProblemError:
            continue


def _custom(rng: random.Random) -> Reduction:
    small = rng.random() < SMALL
    shape = ((2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)) if small else ((3, 3), (4, 3), (5, 4))
    machines, segments = rng.choice(shape)
    everyone = list(range(1, machines + 1))
    combine = rng.random() < 0.6
    before = [_some(rng, everyone) for _ in range(segments)]
    after = [
        _some(rng, row if combine and rng.random() < 0.7 else everyone, least=rng.random() < 0.9)
        for row in before
    ]
    fields: dict[str, Any] = {"segments": segments}
    if rng.random() < 0.2:
        fields["network"] = module("reduction_brute").random_network(rng, machines)
    else:
        missing = rng.choice((0.0, 0.0, 0.0, 0.2))
        fields["machines"] = machines
        fields |= {name: _times(rng, machines, missing) for name in ("latency", "transfer")}
    fields["reduce"] = rng.choice((0.0, 1.0, [float(rng.randint(0, 4)) for _ in everyone]))
    if rng.random() < 0.25:
        fields["segment_sizes"] = [rng.choice((0.5, 1.0, 2.0, 3.0)) for _ in range(segments)]
    return Reduction(collective="custom", before=before, after=after, combine=combine, **fields)


def _some(rng: random.Random, machines: list[int], *, least: bool = True) -> list[int]:
    """Return one machine, all, or any; none only where that is allowed."""
    share = rng.random()
    if share < 0.3:
        return [rng.choice(machines)]
    if share < 0.55:
        return machines
    return rng.sample(machines, rng.randint(int(least), len(machines)))


def _times(rng: random.Random, machines: int, missing: float) -> Any:
    """Return a time for all pairs, or one for each, of which so many have no link."""
    if rng.random() < 0.4:
        return float(rng.choice((0, 0, 1, 2)))
    times = [[float(rng.randint(0, 5)) for _ in range(machines)] for _ in range(machines)]
    for a, b in permutations(range(machines), 2):
        if rng.random() < missing:
            times[a][b] = math.inf
    return times


PART = Part(
    name="customs",
    promise="Custom collectives, each segment with ends of its own, combined or not: every method "
    "plans or refuses by its needs, no claim is beaten by a plan of another, and small ones agree "
    "with enumeration.",
    attempt=attempt,
    goals={"collectives": 5_000},
    share=1.0,
    patience=60.0,
)
