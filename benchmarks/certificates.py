"""Lower bounds of task graphs on identical machines, shown by other means than OR-tools.

``python -m benchmarks.certificates FOLDER ROWS.csv [--seconds 120] [--cnf TO]``, with the folder
and the rows of ``benchmarks.sets stg``. For each graph that the published table leaves open and a
plan closes, it shows that no plan ends a unit earlier:

1. Without a search. *Heads and tails*: a task, what comes before it and what comes behind it take
   longer, all work before (behind) it on all machines at once (Carlier 1987). *Tasks at a time*:
   every plan would execute more tasks at some time than there are machines. *Energy*: between two
   times every plan would execute more than the machines have time for, whether tasks start as early
   or as late as they can; a task for which that holds only if it starts as early as it can starts
   later, and so on (Erschler and Lopez 1990; Baptiste, Le Pape and Nuijten 1999).
2. else, in windows of starts that are narrower by that, by a SAT solver, CaDiCaL of python-sat
   (``pip install python-sat``): a literal says that a task starts by some time, another that it is
   executed then; of these as many are true at a time as there are machines (Sinz 2005). ``--cnf``
   writes the clauses in DIMACS form, for any other solver.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.sets import known
from benchmarks.table import Table
from makespan import Dag, Network
from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.taskgraph import formats
from makespan.taskgraph.levels import heads
from makespan.taskgraph.methods.equal_tasks import transitive_reduction


@dataclass(frozen=True, slots=True)
class Question:
    """Whether a plan on so many machines ends by a time: windows of starts, and predecessors."""

    machines: int
    until: int
    seconds: list[int]
    before: list[list[int]]
    order: list[int]
    first: Integers
    last: Integers

    def refusal(self) -> str | None:
        """Say what shows that there is none, without a search."""
        if any(a > b for a, b in zip(self.first, self.last, strict=True)):
            return "heads and tails"
        busy = np.zeros(self.until + 1, dtype=int)
        for first, last, lasts in zip(self.first, self.last, self.seconds, strict=True):
            busy[last : first + lasts] += 1
        if busy.max() > self.machines:
            return "tasks at a time"
        while self._in_sequence() and (changed := self._in_room()) is not False:
            if changed is None:
                return None
        return "energy"

    def _in_sequence(self) -> bool:
        """Narrow the windows by what is before and behind; say whether none is empty."""
        for task in self.order:
            for each in self.before[task]:
                self.first[task] = max(self.first[task], self.first[each] + self.seconds[each])
        for task in reversed(self.order):
            for each in self.before[task]:
                self.last[each] = min(self.last[each], self.last[task] - self.seconds[each])
        return bool((self.first <= self.last).all())

    def _in_room(self) -> bool | None:
        """Narrow windows by the work between any two times; None: no more, False: it is too much.

        Of a task that starts in a window, at least as much is between two times as if it starts as
        early, or as late, as it can.
        """
        time, lasts = np.arange(self.until + 1), np.array(self.seconds)
        since, until = time[:, None, None], time[None, :, None]
        early, late = (
            np.maximum(np.minimum(until, start + lasts) - np.maximum(since, start), 0)
            for start in (self.first, self.last)
        )
        least = np.minimum(early, late)
        room = self.machines * np.maximum(until - since, 0) - least.sum(axis=2, keepdims=True)
        if (room < 0).any():
            return False
        later, sooner = ((each - least > room).any(axis=(0, 1)) for each in (early, late))
        self.first[:] += later
        self.last[:] -= sooner
        return True if later.any() or sooner.any() else None

    def clauses(self) -> Iterator[list[int]]:
        """Yield the clauses; names are numbers, a negative one the opposite."""
        from pysat.card import CardEnc, EncType
        from pysat.formula import IDPool

        pool = IDPool()

        def by(task: int, time: int) -> int | None:
            """Return the literal of a start by ``time``; None: never, 0: always."""
            if time < self.first[task]:
                return None
            return 0 if time >= self.last[task] else int(pool.id((task, int(time))))

        def implied(given: int | None, *then: int | None) -> Iterator[list[int]]:
            if given is not None and 0 not in then:
                yield [*([-given] if given else []), *(each for each in then if each)]

        running: list[list[int]] = [[] for _ in range(self.until)]
        for task, lasts in enumerate(self.seconds):
            for time in range(self.first[task], self.last[task] + 1):
                yield from implied(by(task, time), by(task, time + 1))
                for each in self.before[task]:
                    yield from implied(by(task, time), by(each, time - self.seconds[each]))
            for time in range(self.first[task], self.last[task] + lasts if lasts else 0):
                now = int(pool.id((task, time, "runs")))
                running[time].append(now)
                yield from implied(by(task, time), by(task, time - lasts), now)
        for names in running:
            if len(names) > self.machines:
                yield from CardEnc.atmost(
                    names, self.machines, vpool=pool, encoding=EncType.seqcounter
                ).clauses


def question(dag: Dag, machines: int, until: int) -> Question:
    """Return the question with windows by heads and tails."""
    reduced = transitive_reduction(dag, Control())
    assert reduced is not None
    before: list[list[int]] = [[] for _ in reduced]
    for task, after in enumerate(reduced):
        for each in after:
            before[each].append(task)
    seconds = dag.work.astype(np.int64)
    order = dag.order.tolist()
    first, _ = heads(order, before, seconds, machines)
    behind, _ = heads(order[::-1], reduced, seconds, machines)
    last = until - behind - seconds
    return Question(machines, until, seconds.tolist(), before, order, first, last)


def _searched(asked: Question, cnf: Path | None, answer: multiprocessing.SimpleQueue[bool]) -> None:
    from pysat.formula import CNF
    from pysat.solvers import Solver

    clauses = list(asked.clauses())
    if cnf is not None:
        CNF(from_clauses=clauses).to_file(str(cnf))
    with Solver(name="cadical153", bootstrap_with=clauses) as solver:
        answer.put(bool(solver.solve()))


def shown(asked: Question, seconds: float, cnf: Path | None) -> str:
    """Return what shows that there is no plan; "open" if nothing does in time."""
    found = asked.refusal()
    if found is not None:
        return found
    answer: multiprocessing.SimpleQueue[bool] = multiprocessing.SimpleQueue()
    process = multiprocessing.Process(target=_searched, args=(asked, cnf, answer))
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.kill()
        process.join()
        return "open"
    assert not answer.get(), "there is a shorter plan"
    return "CaDiCaL"


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description="Lower bounds, shown by other means.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--cnf", type=Path)
    given = parser.parse_args()
    if given.cnf is not None:
        given.cnf.mkdir(parents=True, exist_ok=True)
    table = Table(
        "stg_certificates",
        "The standard task graph set: what shows the new optima",
        "`python -m benchmarks.certificates`: of the graphs that the published table leaves "
        "open, what shows without OR-tools that no plan is a unit shorter. Heads and tails, the "
        "tasks that every plan executes at some time, and energy are bounds without a search; "
        f"CaDiCaL 1.5.3 (python-sat) had {given.seconds:g} s for the clauses that `--cnf` writes. "
        "`benchmarks.sets stg --plans` writes the plans.",
        ("graph", "machines", "optimum", "shown by"),
        clock="wall-clock time",
    )
    rows = known(given.rows)
    closed = [row for row in rows.values() if row["status"] == "optimal"]
    closed = [row for row in closed if float(row["published bound"]) < float(row["published"])]
    for row in sorted(
        closed, key=lambda row: (len(row["graph"]), row["graph"], int(row["machines"]))
    ):
        machines, optimum = int(row["machines"]), int(float(row["makespan"]))
        problem = formats.read(given.folder / row["graph"], Network([1.0] * machines))
        asked = question(problem.dag, machines, optimum - 1)
        name = f"{row['graph'].replace('/', '-')}-{machines}.cnf"
        cnf = None if given.cnf is None else given.cnf / name
        table.add(row["graph"], machines, optimum, shown(asked, given.seconds, cnf))
    table.write()


if __name__ == "__main__":
    main()
