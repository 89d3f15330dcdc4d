"""What the tests of compiling ahead run in processes of their own: ``python -m``, and a part."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import numpy as np

import makespan
from makespan import solve
from makespan.cli.main import run
from makespan.core.numeric import jit
from makespan.core.problem import Problem
from makespan.flow.kinds import KINDS, generate, kind_named

SIZES: dict[str, tuple[dict[str, Any], ...]] = {
    "divisible": (
        *({"workers": workers} for workers in (5, 60_000)),
        *({"workers": workers, "latency": 0.2, "returns": 0.3} for workers in (5, 3_000)),
        *({"workers": workers, "topology": "tree"} for workers in (5, 3_000)),
    ),
    "independent": tuple(
        {"tasks": tasks, "environment": environment, "preemptive": preemptive}
        for tasks in (20, 100_000)
        for environment in ("identical", "uniform")
        for preemptive in (False, True)
    ),
    "partition": tuple(
        {"resources": resources, "tasks": tasks, "objective": objective}
        for resources, tasks in ((3, 20), (100, 10_000))
        for objective in ("makespan", "total")
    ),
    "pipeline": tuple(
        {"stages": stages, "machines": machines, "objective": objective}
        for stages, machines in ((8, 4), (60, 8))
        for objective in ("period", "latency")
    ),
    "reduction": tuple(
        {"machines": machines, "segments": segments, "spread": spread, "collective": collective}
        for machines, segments in ((3, 4), (60, 60))
        for spread in (0.0, 0.5)
        for collective in ("reduce", "all-reduce")
    ),
    "taskgraph": tuple(
        {"size": size, "contention": contention}
        for size in (20, 3_000)
        for contention in ("none", "links", "ports")
    ),
}


def compiled_ahead() -> dict[str, Any]:
    """Compile everything; say what it took, and which kernels of the source it did not meet."""
    with redirect_stdout(sys.stderr):
        run(["compile", "--verbose"])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    missed = sorted(name for name, signatures in _all_kernels() if not signatures)
    return {"gigabytes": most / 1e9, "never met": missed, "compiled": _compiled()}


def solved_by_auto() -> dict[str, Any]:
    """Solve small and large problems; say which kernels had to be compiled."""
    for problem in _problems():
        solve(problem, time_limit=1.0)
    return {"compiled": _compiled()}


def solved_once() -> dict[str, Any]:
    """Solve a star, and say when its plan ends."""
    problem = generate("divisible", options={"workers": 8, "latency": 0.2})
    return {"makespan": solve(problem, time_limit=5.0).makespan}


def one_kernel() -> dict[str, Any]:
    """Sort a few numbers by a kernel."""
    from makespan.core.numeric.sorting import grouped

    with jit.always():
        grouped(np.array([1, 0]), np.array([1.0, 2.0]))
    return {"compiled": _compiled()}


def _problems() -> Iterator[Problem]:
    for name in KINDS:
        for options in SIZES[name]:
            yield generate(name, options=options)
        several = (
            generate(name, options={**SIZES[name][0], "latency": 0.2})
            if name == "divisible"
            else None
        )
        if several is not None:
            kind = kind_named(name)
            yield kind.read({**kind.file.write(several), "rounds": "auto"})


def _compiled() -> list[str]:
    """Return the kernels that this process compiled, not those that it found on disk."""
    return sorted(each.name for each in jit.compiled() if each.seconds > 0.0)


def _all_kernels() -> Iterator[tuple[str, int]]:
    """Yield the kernels and loops of the source, and for how many signatures each is compiled."""
    for module in walk_packages(makespan.__path__, "makespan."):
        if ".execute" not in module.name and not module.name.endswith("__main__"):
            import_module(module.name)
    known = {each.name: each.signatures for each in jit.compiled()}
    for name, module in list(sys.modules.items()):
        for each in vars(module).values() if name.startswith("makespan.") else ():
            function = each.plain if isinstance(each, jit.Loop) else getattr(each, "py_func", None)
            if function is not None and function.__module__ == name:
                full = f"{name}.{function.__name__}"
                yield full, known.get(full, 0)


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    part.__name__: part for part in (compiled_ahead, solved_by_auto, solved_once, one_kernel)
}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(PARTS[sys.argv[1]]()))
