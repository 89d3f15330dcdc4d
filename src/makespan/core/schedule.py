"""Schedules: what every machine does when, as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from makespan.core.display import Axes, Displayable, HasFrame, Table, counted, renderers
from makespan.core.names import finder
from makespan.core.numeric.arrays import SHORT, Floats, Integers


class Activity(IntEnum):
    """What a row of a schedule is; the value is its code in the column ``kind``."""

    SEND = 0
    RETURN = 1
    TRANSFER = 2
    COMPUTE = 3
    REDUCE = 4

    @property
    def word(self) -> str:
        return self.name.lower()


WORDS = tuple(activity.word for activity in Activity)
SHOWN = 20  # rows, in a notebook


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Schedule(Displayable, HasFrame):
    """The activities of a plan, one row each, in columns of equal length.

    A transfer is one row on the machine that sends, with the receiver as ``peer``. All columns
    are read-only arrays; times are seconds. Iterating gives the rows, see :meth:`records`; two
    schedules are equal where all rows are.

    Parameters
    ----------
    machines
        The names of the machines that ``machine`` and ``peer`` index.
    kind
        Codes of :class:`Activity` (int8).
    machine, peer
        Indices of machines; ``peer`` is -1 where there is none.
    item
        The chunk, task or segment that the activity handles; -1 where there is none.
    amount
        Units of load, work or data.
    start, end
        Seconds.
    earliest
        Whether the timing of the kind made it, so that timing it again would change nothing.

    >>> schedule = Schedule.of_rows(["A", "B"], [("send", 0, 1, 0, 2.0, 0.0, 2.0)])
    >>> schedule.makespan, schedule.words()
    (2.0, ('send',))
    """

    machines: Sequence[str]
    kind: NDArray[np.int8]
    machine: Integers
    peer: Integers
    item: Integers
    amount: Floats
    start: Floats
    end: Floats
    earliest: bool = False
    parts: tuple[Schedule, ...] = field(default=(), init=False, repr=False)
    """The schedules that :meth:`joined` made this one of; none for others."""

    @classmethod
    def of_columns(
        cls,
        machines: Sequence[str],
        *,
        kind: ArrayLike,
        machine: ArrayLike,
        peer: ArrayLike,
        item: ArrayLike,
        amount: ArrayLike,
        start: ArrayLike,
        end: ArrayLike,
        earliest: bool = False,
        copy: bool = True,
    ) -> Schedule:
        """Build a schedule from columns; a scalar stands for a whole column.

        Arrays that the caller could write to are copied; with ``copy=False`` they become the
        schedule's, and read-only, where they have the right type.
        """
        length = max(np.size(column) for column in (kind, machine, peer, item, amount, start, end))
        if any(np.ndim(c) and not np.size(c) for c in (machine, item, amount, start, end)):
            length = 0

        def column(values: ArrayLike, dtype: type) -> NDArray[Any]:
            array: NDArray[Any] = np.asarray(values, dtype=dtype)
            if array is values and array.flags.writeable and array.shape == (length,):
                array = array.copy() if copy else array
            elif array.shape != (length,):
                array = np.array(np.broadcast_to(array, (length,)))
            array.flags.writeable = False
            return array

        return cls(
            machines=machines if not isinstance(machines, list) else tuple(machines),
            kind=column(kind, np.int8),
            machine=column(machine, np.int64),
            peer=column(peer, np.int64),
            item=column(item, np.int64),
            amount=column(amount, np.float64),
            start=column(start, np.float64),
            end=column(end, np.float64),
            earliest=earliest,
        )

    @classmethod
    def of_rows(
        cls, machines: Sequence[str], rows: Iterable[tuple[str, int, int, int, float, float, float]]
    ) -> Schedule:
        """Build a schedule from (kind, machine, peer, item, amount, start, end) tuples."""
        table = list(rows)
        values = zip(*table, strict=True) if table else [()] * len(COLUMNS)
        columns: dict[str, Any] = dict(zip(COLUMNS, values, strict=True))
        columns["kind"] = [WORDS.index(word) for word in columns["kind"]]
        return cls.of_columns(machines, **columns)

    @classmethod
    def concatenate(cls, parts: Sequence[Schedule]) -> Schedule:
        """Join schedules over the same machines, rows in the order of the parts."""
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS
        }
        return cls.of_columns(parts[0].machines, copy=False, **columns)

    @classmethod
    def joined(cls, parts: Sequence[Schedule], *, earliest: bool = False) -> Schedule:
        """Like :meth:`concatenate`, but a column takes no memory until it is first asked for.

        Of ten million chunks, the columns take a gigabyte, and the parts may share what is alike.

        >>> one = Schedule.of_rows(["A", "B"], [("send", 0, 1, 0, 2.0, 0.0, 2.0)])
        >>> both = Schedule.joined([one, one])
        >>> len(both), both.end.tolist()
        (2, [2.0, 2.0])
        """
        schedule = cls.__new__(cls)
        for name, value in (
            ("machines", parts[0].machines),
            ("earliest", earliest),
            ("parts", tuple(parts)),
        ):
            object.__setattr__(schedule, name, value)
        return schedule

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Write a column of a joined schedule down, when it is first asked for."""
            if name not in COLUMNS:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            column = np.concatenate([getattr(part, name) for part in self.parts])
            column.flags.writeable = False
            object.__setattr__(self, name, column)
            return column

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what copies and pickles hold: columns, not the parts that they are of."""
        state = [() if each.name == "parts" else getattr(self, each.name) for each in fields(self)]
        return object.__new__, (type(self),), state

    def cut(self, lengths: Sequence[int]) -> tuple[Schedule, ...]:
        """Return the rows as schedules of so many each, which share their columns with this one.

        The lengths add up to that of the schedule.
        """
        if list(lengths) == [len(part) for part in self.parts]:
            return self.parts
        edges = np.cumsum([0, *lengths]).tolist()
        return tuple(
            Schedule(
                machines=self.machines,
                **{name: getattr(self, name)[first:last] for name in COLUMNS},
            )
            for first, last in pairwise(edges)
        )

    def plot(self, *, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw its Gantt chart with matplotlib; see :func:`makespan.plot`."""
        return renderers().plot(self, ax, **options)

    def __len__(self) -> int:
        return sum(map(len, self.parts)) if self.parts else len(self.kind)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.records()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schedule):
            return NotImplemented
        return (
            len(self) == len(other)
            and self.machines == other.machines
            and all(
                np.array_equal(getattr(self, name), getattr(other, name), equal_nan=True)
                for name in COLUMNS
            )
        )

    def __hash__(self) -> int:
        return hash((len(self.machines), len(self)))

    @property
    def makespan(self) -> float:
        """The time at which the last activity ends, 0 for an empty schedule."""
        if self.parts and len(self) >= SHORT:  # whose columns take memory
            return max(part.makespan for part in self.parts)
        return float(self.end.max()) if len(self) else 0.0

    def words(self) -> tuple[str, ...]:
        """Return the kind of every row as a word."""
        return tuple(WORDS[code] for code in self.kind.tolist())

    def take(self, rows: ArrayLike) -> Schedule:
        """Return the schedule of some rows: indices or a mask."""
        index = np.asarray(rows)
        return Schedule.of_columns(
            self.machines, **{name: getattr(self, name)[index] for name in COLUMNS}, copy=False
        )

    def timed(self, start: Floats, end: Floats, *, earliest: bool = True) -> Schedule:
        """Return the same activities at other times, by default their earliest.

        The two arrays become read-only.
        """
        return Schedule.of_columns(
            self.machines,
            **{**{name: getattr(self, name) for name in COLUMNS}, "start": start, "end": end},
            earliest=earliest,
            copy=False,
        )

    def rows_of(self, activity: Activity) -> Integers:
        """Return the indices of the rows of one kind, in the order of their start.

        Ties keep the order of their ends, then of the rows.
        """
        rows = np.flatnonzero(self.kind == activity)
        start, end = self.start[rows], self.end[rows]
        if np.all(start[1:] >= start[:-1]) and np.all(end[1:] >= end[:-1]):
            return rows
        from makespan.core.numeric.sorting import sorted_by

        return rows[sorted_by(start, end)]

    def span_of(self, activity: Activity) -> slice | Integers:
        """Return the rows of one kind as they stand: a slice where they lie side by side."""
        found = self.kind == activity
        first = int(found.argmax()) if len(found) else 0
        count = int(np.count_nonzero(found))
        if found[first : first + count].all():
            return slice(first, first + count)
        return np.flatnonzero(found)

    def renamed(self, machines: Sequence[str]) -> Schedule:
        """Return the same schedule over ``machines``, matched by name.

        Raises
        ------
        KeyError
            If a machine that the schedule uses is not among ``machines``.
        """
        if self.machines == machines:
            return self
        find = finder(machines)
        used = np.unique(np.concatenate([self.machine, self.peer[self.peer >= 0]]))
        mapping = np.full(len(self.machines) + 1, -1, dtype=np.int64)
        for index in used.tolist():
            mapping[index] = find(self.machines[index])
        columns = {name: getattr(self, name) for name in COLUMNS}
        columns["machine"] = mapping[self.machine]
        columns["peer"] = mapping[self.peer]
        return Schedule.of_columns(machines, **columns)

    def records(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows as dictionaries with names in place of indices."""
        names = self.machines
        columns = (getattr(self, name).tolist() for name in COLUMNS)
        for kind, machine, peer, item, amount, start, end in zip(*columns, strict=True):
            yield {
                "kind": WORDS[kind],
                "machine": names[machine],
                "peer": names[peer] if peer >= 0 else None,
                "item": item,
                "amount": amount,
                "start": start,
                "end": end,
            }

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        records = list(self)
        return {name: [record[name] for record in records] for name in COLUMNS}

    def _facts(self) -> Sequence[str]:
        rows, machines = counted(len(self), "activity", "activities"), len(self.machines)
        return [rows, f"on {counted(machines, 'machine')}", f"makespan {self.makespan:.6g}"]

    def _tables(self) -> Sequence[Table]:
        first = self.take(np.arange(min(SHOWN, len(self))))
        return [Table.of(first._columns(), length=len(self))]


COLUMNS = ("kind", "machine", "peer", "item", "amount", "start", "end")
