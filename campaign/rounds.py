"""Rounds of many tiny chunks, on equal and unequal workers: no more of them than asked for."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from campaign import cuts
from campaign.agreeing import agree, results_of
from campaign.part import Defect, Part, Trial
from campaign.truth import given_to
from makespan import Affine, DivisibleLoad, Master, Result, Star, Worker, methods
from makespan.core.schedule import Activity
from makespan.flow.files.files import as_text

FEWEST, MOST = 30, 300
LONG = 2.0
"""Seconds that half of the searches have: what is wrong with tiny chunks may take its time."""
METHODS = 2
"""Methods by name that are asked for a problem, beside ``auto``."""


def attempt(trial: Trial) -> None:
    """Ask ``auto`` and some methods for one problem."""
    given = given_to(trial)
    problem: Any = _drawn(trial.random("make")) if given is None else given[1]
    trial.holds("input.json", as_text(problem, ".json").encode())
    rng = trial.random("solves")
    names = [verdict.name for verdict in methods(problem) if verdict.applies]
    chosen = rng.sample(names, min(METHODS, len(names)))
    cut = cuts.drawn(rng) if rng.random() < 0.5 else cuts.Cut(seconds=LONG)
    found = results_of(trial, problem, cut, ["auto", *chosen])
    for name, result in found.items():
        _keeps_rounds(name, result)
    agree(found)
    trial.count("problems")


def _keeps_rounds(name: str, result: Result) -> None:
    """Hold the chunks of each worker against the rounds that were asked for."""
    asked, schedule = getattr(result.problem, "rounds", "auto"), result.schedule
    if schedule is None or asked == "auto":
        return
    sends = schedule.kind == Activity.SEND
    chunks = np.bincount(schedule.peer[sends], minlength=1)
    if chunks.max() > asked:
        raise Defect(f"{name} sends a worker {chunks.max()} chunks in {asked} rounds")


def _drawn(rng: random.Random) -> DivisibleLoad:
    """Return a problem of 30 to 300 chunks, where the rounds are given."""
    chunks = math.exp(rng.uniform(math.log(FEWEST), math.log(MOST)))
    count = int(math.exp(rng.uniform(math.log(2), math.log(chunks / 1.5))))
    rounds = max(2, round(chunks / count))
    cost = rng.choice((_whole, _decimal, lambda rng: rng.choice((1.0, 2.0, 4.0, 5.0, 10.0))))
    fixed = rng.choice((0.0, 0.0, 0.5, 1e-3))
    equal = rng.random() < 0.5

    def costs() -> tuple[Affine, Affine]:
        return Affine(fixed and cost(rng) * fixed, cost(rng)), Affine(0.0, cost(rng))

    same, bus = costs(), rng.random() < 0.4
    workers = []
    for _ in range(count):
        send, compute = same if equal else costs()
        workers.append(Worker(send=same[0] if bus else send, compute=compute))
    own = Affine(0.0, cost(rng)) if rng.random() < 0.5 else None
    return DivisibleLoad(
        load=rng.choice((1e-3, 1.0, 2.0 * count, 2.0 * count, 1e4)),
        rounds="auto" if rng.random() < 0.15 else rounds,
        ports=rng.choice((1, 1, 1, 2)),
        platform=Star(workers, master=Master(compute=own)),
    )


def _whole(rng: random.Random) -> float:
    return float(rng.randint(1, 12))


def _decimal(rng: random.Random) -> float:
    return rng.uniform(0.1, 10.0)


PART = Part(
    name="rounds",
    promise="Several rounds of 30 to 300 chunks, many of them tiny, on equal and unequal workers, "
    "with and without a master that computes: every plan is valid, has no more rounds than asked "
    "for, and beats nobody's bound.",
    attempt=attempt,
    goals={"problems": 5_000},
    share=1.0,
    patience=60.0,
)
