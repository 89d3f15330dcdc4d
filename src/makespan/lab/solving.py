"""One cell → one row, in this process."""

from __future__ import annotations

import pickle
import platform
import time
from collections.abc import Iterator

from makespan._version import __version__
from makespan.core.errors import MakespanError
from makespan.core.numeric import first_use
from makespan.core.problem import Pictured, Problem
from makespan.core.system import memory, startup
from makespan.flow.result import Result
from makespan.flow.solve import Attempt, attempt
from makespan.lab.experiment import Cell
from makespan.lab.instances import Instance
from makespan.lab.record import Record

SHORT = 1.0  # seconds of a solve that may be done again


def here(cells: Iterator[Cell]) -> Iterator[list[Record]]:
    """Solve in this process, one after another."""
    solver = Solver()
    for cell in cells:
        yield [solver.solve(cell)]


def row(cell: Cell, status: str, note: str) -> Record:
    """Return the row of a solve that brought no result."""
    return Record(
        instance=cell.instance.name,
        method=cell.method,
        options=cell.options_text,
        seed=cell.seed,
        time_limit=cell.time_limit,
        version=__version__,
        machine=platform.node(),
        status=status,
        note=note,
    )


class Solver:
    """Solves cells, and keeps the instance that it solved last.

    Each solve gets a copy of the instance as it was read: what one method works out of it is not
    there for the next, whose times could not be compared otherwise. A short solve that is the first
    of its method in this process is done again, and counts then: it imported and compiled.
    """

    def __init__(self) -> None:
        self._name: str | None = None
        self._pickled = b""
        self._fault = ""
        self._begun: set[tuple[str, str]] = set()

    def solve(self, cell: Cell) -> Record:
        """Return the row of a cell; Ctrl-C leaves none."""
        problem = self._problem(cell)
        if problem is None:
            return row(cell, "unreadable", self._fault)
        tried, cpu = _solve_timed(cell, problem)
        first = (problem.kind, cell.method) not in self._begun
        self._begun.add((problem.kind, cell.method))
        if first and tried.seconds < SHORT and not tried.interrupted:
            tried, cpu = _solve_timed(cell, pickle.loads(self._pickled))
        if tried.interrupted:
            raise KeyboardInterrupt
        result = tried.result
        return row(cell, tried.status, tried.note)._replace(
            kind=problem.kind,
            size=_size(problem),
            makespan=_float(result, "makespan"),
            bound=_float(result, "lower_bound"),
            gap=_float(result, "gap"),
            cpu_time=cpu,
            wall_time=tried.seconds,
            peak_memory=memory.peak(),
        )

    def _problem(self, cell: Cell) -> Problem | None:
        if self._name != cell.instance.name:
            self._name = cell.instance.name
            self._pickled, self._fault = pickled(cell.instance)
        if self._fault:
            return None
        problem: Problem = pickle.loads(self._pickled)
        return problem


def pickled(instance: Instance) -> tuple[bytes, str]:
    """Return the pickle of an instance's problem; or none, and why."""
    try:
        return pickle.dumps(instance.problem()), ""
    except MakespanError as error:
        return b"", str(error)
    except Exception as error:
        return b"", f"internal error: {type(error).__name__}: {error}"


def _solve_timed(cell: Cell, problem: Problem) -> tuple[Attempt, float]:
    """Return what a solve brought, and the seconds of CPU that it took."""
    memory.forget_peak()
    before, start = time.process_time(), startup.spent()
    with first_use.patiently():
        tried = attempt(
            problem, cell.method, time_limit=cell.time_limit, rng=cell.seed, options=cell.options
        )
    return tried, max(0.0, time.process_time() - before - (startup.spent() - start))


def _float(result: Result | None, name: str) -> float | None:
    value = getattr(result, name, None)
    return None if value is None else float(value)


def _size(problem: Problem) -> int | None:
    return next(iter(problem._counts().values())) if isinstance(problem, Pictured) else None
