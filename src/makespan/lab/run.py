"""experiment → rows, in a file that is gone on with."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from makespan._version import __version__
from makespan.core.display import Displayable, HasFrame, Table, counted
from makespan.core.errors import FileError
from makespan.core.inputs.files import PathLike
from makespan.core.inputs.suggest import suggesting
from makespan.core.problem import NO_MACHINES, assumed_machines
from makespan.lab.experiment import Cell, Experiment, Where
from makespan.lab.journal import Journal, read_records
from makespan.lab.processes import Processes, checked_jobs
from makespan.lab.record import COLUMNS, Record
from makespan.lab.solving import here


@dataclass(slots=True)
class _Sums:
    solves: int = 0
    plans: int = 0
    proved: int = 0
    gaps: int = 0
    gap: float = 0.0
    worst: float = 0.0
    seconds: float = 0.0
    others: dict[str, int] = field(default_factory=dict)


class Tally:
    """Sums over rows, by method and options: of any number of rows it takes the same memory."""

    def __init__(self) -> None:
        self.of: dict[str, _Sums] = {}
        self.rows = 0
        self.assumed: set[str] = set()

    def add(self, record: Record) -> None:
        self.rows += 1
        if NO_MACHINES in record.note:
            self.assumed.add(record.instance)
        sums = self.of.setdefault(record.solver, _Sums())
        sums.solves += 1
        sums.proved += record.status == "optimal"
        sums.seconds += record.wall_time or 0.0
        if record.is_plan:
            sums.plans += 1
        else:
            sums.others[record.status] = sums.others.get(record.status, 0) + 1
        if record.gap is not None:
            sums.gaps += 1
            sums.gap += record.gap
            sums.worst = max(sums.worst, record.gap)

    def table(self) -> Table:
        """Return a line a method."""
        columns: dict[str, list[str]] = {"method": list(self.of)}
        all_ = list(self.of.values())
        columns["solves"] = [f"{one.solves:,}" for one in all_]
        columns["plans"] = [f"{one.plans:,}" for one in all_]
        columns["proved"] = [f"{one.proved:,}" for one in all_]
        columns["mean gap"] = [
            f"{100 * one.gap / one.gaps:.2f} %" if one.gaps else "" for one in all_
        ]
        columns["worst gap"] = [f"{100 * one.worst:.2f} %" if one.gaps else "" for one in all_]
        columns["time"] = [f"{one.seconds:.3f} s" for one in all_]
        columns["others"] = [
            ", ".join(f"{count:,} {status}" for status, count in one.others.items()) for one in all_
        ]
        return Table.of(columns)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Results(Displayable, HasFrame):
    """The rows of an experiment.

    Parameters
    ----------
    path
        The file they are in; None where they are in memory.
    tally
        Sums by method.
    before
        How many of the rows were in the file when the experiment began.
    notes
        What there is to say.
    interrupted
        Whether the user stopped it before all was solved.

    Iterating gives each :class:`makespan.Record`, from the file where there is one.

    >>> import makespan
    >>> grid = makespan.Grid("independent", seeds=5)
    >>> asked = makespan.Experiment(grid, methods=["lpt", "multifit"])
    >>> results = makespan.experiment(asked)
    >>> sorted({record.method for record in results})
    ['lpt', 'multifit']
    """

    path: Path | None
    tally: Tally
    before: int = 0
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    kept: Sequence[Record] = ()

    def __len__(self) -> int:
        return self.tally.rows

    def __iter__(self) -> Iterator[Record]:
        return iter(self.kept) if self.path is None else read_records(self.path)

    def __str__(self) -> str:
        return str(self.tally.table())

    def _facts(self) -> Sequence[str]:
        return [counted(len(self), "solve"), counted(len(self.tally.of), "method")]

    def _notes(self) -> Sequence[str]:
        return self.notes

    def _tables(self) -> Sequence[Table]:
        return [self.tally.table()]

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        rows = [record.as_dict() for record in self]
        return {name: [row[name] for row in rows] for name in COLUMNS}


TellProgress = Callable[[int, int, float | None], None]
"""Called with the solves that are done, how many there are, and about the seconds left."""


@suggesting
def records(
    asked: Experiment,
    *,
    jobs: int | None = None,
    where: Where | None = None,
    imports: Sequence[str] = (),
) -> Iterator[Record]:
    """Solve what an experiment asks for, and yield a row for each solve when it is there.

    Parameters
    ----------
    asked
        The experiment.
    jobs
        Processes of this machine, each single-threaded and pinned to a core where the system can:
        a solve that crashes, or takes far too much memory or time, is a row. None solves in this
        process.
    where
        What solves instead: called with the cells, it yields lists of rows in any order.
    imports
        Modules to import first, which register methods of your own.

    >>> from makespan import Experiment, Grid
    >>> asked = Experiment(Grid("independent"), methods=["lpt", "multifit"])
    >>> [(row.method, row.status) for row in records(asked)]
    [('lpt', 'feasible'), ('multifit', 'feasible')]
    """
    for rows in _chosen(jobs, where, imports)(asked.cells()):
        yield from rows


@suggesting
def experiment(
    asked: Experiment,
    *,
    output: PathLike | None = None,
    jobs: int | None = None,
    where: Where | None = None,
    imports: Sequence[str] = (),
    progress: TellProgress | None = None,
) -> Results:
    """Solve what an experiment asks for, and write a row for each solve when it is there.

    Started again with the same file, it goes on: what stands there is not solved again.

    Parameters
    ----------
    asked
        The experiment.
    output
        ``.csv`` or ``.jsonl``, which grow; ``.json`` or ``.parquet``, made at the end, or when it
        is interrupted, of a journal beside it. None keeps the rows in memory.
    jobs, where, imports
        As in :func:`makespan.records`.
    progress
        Called with the solves done, how many there are, and about how many seconds are left (None
        while that is unknown).

    Returns
    -------
    Results
        Ctrl-C ends it early, with what was done by then.

    Raises
    ------
    FileError
        If the file can't be written, or holds another table, or rows of another version of
        makespan or another time limit.
    ExecutionError
        If no process can be started.

    >>> from makespan import Experiment, Grid
    >>> asked = Experiment(Grid("independent", seeds=5), methods=["lpt", "multifit"])
    >>> experiment(asked)
    <Results: 10 solves, 2 methods>
    """
    place = _chosen(jobs, where, imports)
    tally, kept, before = Tally(), [], set[bytes]()
    with nullcontext() if output is None else Journal(output) as journal:
        for record in () if journal is None else journal:
            _refuse_other(record, asked, str(output))
            before.add(record.key)
            tally.add(record)
        there, interrupted = tally.rows, False
        tell = _teller(progress, tally, len(asked))
        try:
            with closing(_rows(place, _missing(asked, before))) as batches:
                for rows in batches:
                    if journal is None:
                        kept += rows
                    else:
                        journal.add(rows)
                    for record in rows:
                        tally.add(record)
                    tell()
        except KeyboardInterrupt:
            interrupted = True
        if journal is not None:
            journal.complete = not interrupted
    others = f"{counted(len(before), 'row')} of the file: of no solve of this experiment"
    return Results(
        path=None if output is None else Path(output),
        tally=tally,
        before=there,
        notes=(
            *([others] if before and not interrupted else []),
            *assumed_machines(len(tally.assumed)),
        ),
        interrupted=interrupted,
        kept=kept,
    )


def _teller(progress: TellProgress | None, tally: Tally, total: int) -> Callable[[], None]:
    """Return what tells how much is done, and how many seconds are left."""
    there, began = tally.rows, time.monotonic()

    def tell() -> None:
        if progress is not None:
            new, rest = tally.rows - there, max(0, total - tally.rows)
            left = rest * (time.monotonic() - began) / new if new else None
            progress(total - rest, total, left)

    return tell


def _missing(asked: Experiment, before: set[bytes]) -> Iterator[Cell]:
    """Yield the cells of an experiment that are not done, each once.

    What is done is taken out of ``before``; what is left there in the end is of no cell.
    """
    begun: set[bytes] = set()
    for cell in asked.cells():
        key = cell.key
        if key in before:
            before.discard(key)
        elif key not in begun:
            yield cell
        begun.add(key)


def _rows(place: Where, cells: Iterator[Cell]) -> Generator[list[Record], None, None]:
    """Yield what a place yields, which need not be a generator."""
    yield from place(cells)


def _chosen(jobs: int | None, where: Where | None, imports: Sequence[str]) -> Where:
    for name in imports:
        import_module(name)
    if where is not None:
        return where
    return here if jobs is None else Processes(checked_jobs(jobs), imports=imports)


def _refuse_other(record: Record, asked: Experiment, path: str) -> None:
    """Refuse to go on with a table whose rows can't stand beside new ones."""
    if record.version != __version__:
        raise FileError(
            f"{path}: its rows are of makespan {record.version}, this is {__version__}; "
            "write to another file"
        )
    limit = asked.limit
    if record.time_limit != limit:
        was, now = ("none" if t is None else f"{t:g} s" for t in (record.time_limit, limit))
        raise FileError(
            f"{path}: its solves had a time limit of {was}, the experiment asks for {now}; "
            "write to another file"
        )
