"""Problems of random sizes with small limits: how long a method really takes."""

from __future__ import annotations

import math
import random
import time
from contextlib import suppress
from typing import Any

from campaign.part import Defect, Part, Trial
from makespan import MethodError, methods, solve
from makespan.core.problem import Problem
from makespan.flow.kinds import KINDS, generate

LARGEST = 3000


def attempt(trial: Trial) -> None:
    """Solve one problem by one method with one limit."""
    rng = trial.random("make")
    kind = rng.choice(list(KINDS))
    options = _options(kind, rng)
    problem = generate(kind, seed=rng.getrandbits(30), options=options)
    names = [verdict.name for verdict in methods(problem) if verdict.applies]
    method = rng.choice([*names, "auto", "auto"])
    limit = rng.choice((0.05, 0.2, 0.5))
    allowed = 1.2 * limit + 0.5
    took = _took(problem, method, limit)
    for _ in range(2):  # the first time, kernels may have been compiled
        if took > allowed:
            took = min(took, _took(problem, method, limit))
    if took > allowed:
        raise Defect(f"{kind} {method} takes {took:.1f} s of {limit} s: {options}")
    trial.count("solves")


def _took(problem: Problem, method: str, limit: float) -> float:
    """Return the seconds on that clock which shows fewer: others may use the processor."""
    wall, processor = time.monotonic(), time.process_time()
    with suppress(MethodError):  # too large, say
        solve(problem, method=method, time_limit=limit)
    return min(time.monotonic() - wall, time.process_time() - processor)


def _options(kind: str, rng: random.Random) -> dict[str, Any]:
    """Return options of the kind's generator, sizes evenly over magnitudes."""
    size = int(math.exp(rng.uniform(0.7, math.log(LARGEST))))
    small = max(2, int(math.sqrt(size)))
    options: dict[str, dict[str, Any]] = {
        "divisible": {
            "workers": size,
            **rng.choice(({"topology": "tree"}, {}, {"topology": "bus"}, {"slowdown": 4.0})),
            "latency": rng.choice((0.0, 0.5)),
            "master_computes": rng.random() < 0.5,
        },
        "independent": {
            "tasks": size,
            "machines": rng.randint(1, small),
            "preemptive": rng.random() < 0.2,
        },
        "partition": {"resources": rng.randint(2, small), "tasks": size},
        "pipeline": {
            "stages": size,
            "machines": rng.randint(1, small),
            "objective": rng.choice(("period", "latency", "makespan")),
            "order": rng.choice(("free", "given")),
            "overlap": rng.random() < 0.5,
        },
        "reduction": {
            "machines": small,
            "segments": rng.randint(1, small),
            "spread": rng.choice((0.0, 0.5)),
            "collective": rng.choice(("reduce", "broadcast", "all-reduce")),
        },
        "taskgraph": {
            "graph": "layered",
            "size": size,
            "machines": rng.randint(1, small),
            "contention": rng.choice(("none", "none", "links", "ports")),
        },
    }
    return options[kind]


PART = Part(
    name="limits",
    promise="With a limit of t, each method and `auto` end within 1.2 t + 0.5 s, at any size.",
    attempt=attempt,
    goals={"solves": 2_000},
    share=1.0,
    patience=60.0,
)
