"""Every kernel compiled ahead, for images of machines and for continuous integration.

What a kernel is compiled for are the types of its arguments, not their sizes. So the samples are
small: while they are solved, every loop takes its compiled form, which it else takes for large
problems alone.
"""

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from makespan.core.errors import MakespanError
from makespan.core.kind import Kind
from makespan.core.numeric import first_use, jit
from makespan.core.problem import Problem
from makespan.core.system.startup import by_processor
from makespan.flow.kinds import KINDS, generate, kind_named, kind_of, methods
from makespan.flow.simulate import simulate
from makespan.flow.solve import solve

SECONDS = 0.1  # of CPU time for each method and sample, once its kernels are compiled
LONGEST, AGAIN = 60, 2.0  # seconds of filling a cache, and of the solve that is done again there
REPETITIONS = 3
POLICIES = ("self-scheduling", "guided")
WORKERS = 8
NAMES = [f"P{worker}" for worker in range(1, WORKERS + 1)]
Sample = tuple[dict[str, Any], dict[str, Any]]
SAMPLES: dict[str, tuple[Sample, ...]] = {
    "divisible": tuple(
        ({"workers": WORKERS, **options}, changes)
        for options, changes in (
            ({}, {}),
            ({"latency": 0.2}, {}),
            ({"latency": 0.2}, {"rounds": 3}),
            ({"latency": 0.2}, {"rounds": "auto"}),
            ({"returns": 0.3, "latency": 0.2}, {}),
            ({"topology": "bus", "latency": 0.2}, {}),
            ({"topology": "bus", "master_computes": True}, {}),
            ({"topology": "tree"}, {}),
            ({}, {"integral": True}),
            ({"latency": 0.2}, {"ports": "many"}),
            ({}, {"ports": "many", "platform": {"master": {"uplink": 2.0}}}),
            ({}, {"activation": NAMES * 3}),
            ({}, {"order": NAMES[::-1]}),
        )
    ),
    "independent": tuple(
        ({"tasks": 30, "preemptive": preemptive, "environment": environment}, {})
        for environment in ("identical", "uniform", "unrelated")
        for preemptive in (False, True)
    ),
    "partition": tuple(
        ({"resources": 5, "tasks": 50, "energy": energy, "objective": objective}, {})
        for energy, objective in (
            *((False, "makespan"), (False, "total")),
            *((True, "time-then-energy"), (True, "energy-then-time"), (True, "pareto")),
        )
    ),
    "pipeline": (
        ({"stages": 8, "machines": 4}, {"machines": [{} for _ in range(4)]}),
        *(
            ({"stages": 8, "machines": 4, "objective": objective, "overlap": overlap, **more}, {})
            for objective in ("period", "latency", "makespan", "pareto")
            for overlap in (True, False)
            for more in ({}, {"order": "given"}, {"fastest": 1, "rate": 1e6, "memory_used": 0.1})
        ),
    ),
    "reduction": (
        ({"machines": 4, "segments": 5}, {"order": "greedy"}),
        ({"machines": 6, "segments": 2, "latency": 0.0, "reduce": 0.0}, {}),
        (
            {
                **{"machines": 6, "segments": 6, "collective": "all-gather"},
                **{"network": "nodes", "devices": 3},
            },
            {},
        ),
        *(
            ({"machines": 6, "segments": 6, "collective": collective, **more}, {})
            for collective in ("reduce", "broadcast", "all-reduce")
            for more in ({}, {"spread": 0.5})
        ),
        ({"machines": 16, "segments": 16, "collective": "all-to-all", "spread": 0.5}, {}),
    ),
    "taskgraph": (
        *(
            ({"size": 30, "contention": contention, "communication": communication}, {})
            for contention in ("none", "links", "ports")
            for communication in ("overlap", "blocking")
        ),
        ({"size": 30}, {"duplication": True}),
        ({"size": 30, "topology": "ring"}, {}),
    ),
}
"""Options of the generators, and keys of the problem that are then changed."""

Tell = Callable[[str, int, int], object]
"""Takes a kind, how many of its samples are solved, and how many there are."""


def compile_ahead(tell: Tell = lambda kind, done, count: None) -> tuple[jit.Compiled, ...]:
    """Compile the kernels of all kinds into Numba's cache, by solving samples.

    ``tell`` is called before each sample, and when a kind is done. Returns every kernel, with its
    number of signatures and what that took. Raises MakespanError if the cache can't be written.
    """
    try:
        with first_use.lock():
            _compile(KINDS, tell)
    except OSError as error:
        where = f"{first_use.folder()}: the cache of kernels can't be written ({error.strerror})"
        raise MakespanError(f"{where}; NUMBA_CACHE_DIR may name another folder") from error
    return jit.compiled()


def fill() -> None:
    """Fill the cache beside a solve, in a process of low priority that ends after :data:`LONGEST`.

    It does first what that solve did: standard input has it. Then come the samples of its kind, and
    of the others.
    """
    with suppress(AttributeError):  # not on every system
        signal.alarm(LONGEST)
        os.nice(19)
    kinds = list(KINDS)
    with suppress(Exception), by_processor():
        problem, method, options, limit = pickle.load(sys.stdin.buffer)
        kinds.sort(key=lambda kind: kind != problem.kind)
        solve(problem, method=method, time_limit=min(limit, AGAIN), **options)
    _compile([kind for kind in kinds if not first_use.listed(kind)])


def _compile(kinds: Iterable[str], tell: Tell = lambda kind, done, count: None) -> None:
    with jit.always(), by_processor():
        for name in kinds:
            for done, problem in enumerate(_samples(kind_named(name))):
                tell(name, done, len(SAMPLES[name]))
                _enter(problem)
            tell(name, len(SAMPLES[name]), len(SAMPLES[name]))
            first_use.enter(name)
        first_use.enter("core")  # what all of them use


def _samples(kind: Kind) -> Iterator[Problem]:
    for options, changes in SAMPLES[kind.name]:
        problem = generate(kind.name, options=options)
        yield kind.read(_merged(kind.file.write(problem), changes)) if changes else problem


def _merged(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return tables with other values, those of tables inside merged alike."""
    inside = {key: value for key, value in changes.items() if isinstance(value, Mapping)}
    return {**data, **changes, **{key: _merged(data[key], inside[key]) for key in inside}}


def _enter(problem: Problem) -> None:
    """Run every method on ``problem``, ``auto`` in time and out of it, and disturbed runs."""
    solve(problem, time_limit=0.0)
    for verdict in methods(problem):
        if verdict.applies:
            with suppress(MakespanError):  # of a method that is not for this size
                solve(problem, method=verdict.name, time_limit=SECONDS)
    plan = solve(problem, time_limit=SECONDS)
    if plan.schedule is not None:
        kind_of(problem).timing.retimed(problem, plan.schedule)
        simulate(plan, noise=0.1, repetitions=REPETITIONS)
    for name in POLICIES:
        with suppress(MakespanError):  # of a policy that is not for this problem
            simulate(problem, policy=name, noise=0.1, repetitions=REPETITIONS)
