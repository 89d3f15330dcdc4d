"""Run by every rank: the examples of what runs on MPI, as they stand in docstrings."""

from __future__ import annotations

import doctest

import makespan
from makespan.execute import mpi

TIMES = {"latency": 1e-6, "transfer": 1e-4, "reduce": 1e-5}

if __name__ == "__main__":
    plan = makespan.solve(makespan.Reduction(machines=3, segments=4, collective="reduce", **TIMES))
    for name in mpi.__all__:
        text = (getattr(mpi, name).__doc__ or "").replace("# doctest: +SKIP", "")
        given = {"makespan": makespan, "mpi": mpi, "plan": plan}
        test = doctest.DocTestParser().get_doctest(text, given, name, None, None)
        assert test.examples, name
        for example in test.examples:
            exec(compile(example.source, name, "single"), test.globs)
