"""Every kernel compiled ahead, for images of machines and for continuous integration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from makespan.core.errors import MakespanError
from makespan.core.kind import Kind
from makespan.core.numeric.jit import Compiled, compiled
from makespan.core.problem import Problem
from makespan.flow.generate import generate
from makespan.flow.kinds import KINDS, kind_named
from makespan.flow.methods import methods
from makespan.flow.simulate import simulate
from makespan.flow.solve import solve

SECONDS = 0.2  # of search for each method and sample, once its kernels are compiled
REPETITIONS = 300
POLICIES = ("self-scheduling", "guided")
SAMPLES: dict[str, tuple[tuple[dict[str, Any], dict[str, Any]], ...]] = {
    "divisible": (
        ({"workers": 6}, {}),
        ({"workers": 12, "latency": 0.2}, {"rounds": 10}),
        ({"workers": 12, "latency": 0.2}, {"rounds": "auto"}),
        ({"workers": 100, "latency": 0.2}, {"rounds": 60}),
        ({"workers": 12, "returns": 0.3, "latency": 0.2}, {}),
        ({"workers": 40, "topology": "bus", "latency": 0.2}, {}),
        ({"workers": 40, "topology": "tree"}, {}),
        ({"workers": 40}, {"integral": True}),
        ({"workers": 40, "latency": 0.2}, {"ports": "many"}),
        ({"workers": 12, "latency": 0.02}, {"rounds": 400}),
        ({"workers": 12}, {"activation": [f"P{1 + chunk % 12}" for chunk in range(2400)]}),
        ({"workers": 60_000}, {}),
        ({"workers": 6000}, {"order": [f"P{worker}" for worker in range(6000, 0, -1)]}),
        ({"workers": 6000, "topology": "bus", "master_computes": True}, {}),
    ),
    "independent": tuple(
        ({"tasks": tasks, "preemptive": preemptive}, {})
        for tasks in (30, 200_000)
        for preemptive in (False, True)
    ),
    "partition": tuple(
        ({"resources": 100, "tasks": 10_000, "energy": energy, "objective": objective}, {})
        for energy, objective in (
            *((False, "makespan"), (False, "total")),
            *((True, "time-then-energy"), (True, "energy-then-time"), (True, "pareto")),
        )
    ),
    "reduction": (
        ({"machines": 4, "segments": 5}, {"order": "greedy"}),
        ({"machines": 60, "segments": 60}, {"order": "greedy"}),
        ({"machines": 2000, "segments": 2, "latency": 0.0, "reduce": 0.0}, {}),
        *(
            ({"machines": machines, "segments": segments, "collective": collective, **more}, {})
            for machines, segments in ((4, 3), (8, 6), (150, 150))
            for collective in ("reduce", "broadcast", "all-reduce")
            for more in ({}, {"spread": 0.5})
        ),
    ),
    "taskgraph": (
        *(
            ({"size": size, "contention": contention, "communication": communication}, {})
            for size in (50, 2000)
            for contention in ("none", "links", "ports")
            for communication in ("overlap", "blocking")
        ),
        ({"size": 2000}, {"duplication": True}),
    ),
}
"""Options of the generators, and keys of the problem that are then changed.

The sizes are such that small twins of kernels don't step in for them.
"""


def compile_ahead(told: Callable[[str], None] = lambda kind: None) -> tuple[Compiled, ...]:
    """Compile the kernels of all kinds into Numba's cache, by solving samples.

    Parameters
    ----------
    told
        Called with the name of each kind that begins.

    Returns
    -------
    tuple of Compiled
        Every kernel, and for how many signatures it is compiled.
    """
    for name in KINDS:
        told(name)
        kind = kind_named(name)
        for problem in _samples(kind):
            _enter(problem)
    return compiled()


def _samples(kind: Kind) -> Iterator[Problem]:
    for options, changes in SAMPLES[kind.name]:
        problem = generate(kind.name, options=options)
        yield kind.read({**kind.file.write(problem), **changes}) if changes else problem


def _enter(problem: Problem) -> None:
    """Run every method on ``problem``, ``auto`` in time and out of it, and disturbed runs."""
    solve(problem, time_limit=0.0)
    for verdict in methods(problem):
        if verdict.applies:
            with suppress(MakespanError):  # of a method that is not for this size
                solve(problem, method=verdict.name, time_limit=SECONDS)
    plan = solve(problem, time_limit=SECONDS)
    if plan.schedule is not None:
        simulate(plan, noise=0.1, repetitions=REPETITIONS)
    for name in POLICIES:
        with suppress(MakespanError):  # of a policy that is not for this problem
            simulate(problem, policy=name, noise=0.1, repetitions=REPETITIONS)
