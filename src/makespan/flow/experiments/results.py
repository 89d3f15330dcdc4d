"""What an experiment brought: its rows, and how each method did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from makespan.core.display import Displayable, HasFrame, Table, counted
from makespan.flow.experiments.journal import read_records
from makespan.flow.experiments.record import COLUMNS, Record


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
        self._of: dict[str, _Sums] = {}
        self.rows = 0

    def add(self, record: Record) -> None:
        """Count a row."""
        self.rows += 1
        sums = self._of.setdefault(record.solver, _Sums())
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

    @property
    def methods(self) -> int:
        return len(self._of)

    def table(self) -> Table:
        """Return a line a method."""
        columns: dict[str, list[str]] = {"method": list(self._of)}
        all_ = list(self._of.values())
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
        return [counted(len(self), "solve"), counted(self.tally.methods, "method")]

    def _notes(self) -> Sequence[str]:
        return self.notes

    def _tables(self) -> Sequence[Table]:
        return [self.tally.table()]

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        rows = [record.as_dict() for record in self]
        return {name: [row[name] for row in rows] for name in COLUMNS}
