"""What a picture of a schedule shows, before anything is laid out or drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from typing import Any, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from makespan.core.diagram import Groups
from makespan.core.numeric.sorting import inverse
from makespan.core.schedule import Schedule

Item = TypeVar("Item")


class OnDemand(Sequence[Item]):
    """Items made when they are asked for: of a million rows, a picture shows a few.

    >>> squares = OnDemand(4, lambda index: index * index)
    >>> squares[3], len(squares), list(squares[1:3])
    (9, 4, [1, 4])
    """

    __slots__ = ("_count", "_make")

    def __init__(self, count: int, make: Callable[[int], Item]) -> None:
        self._count = count
        self._make = make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        positions = range(self._count)[index]
        if isinstance(positions, range):
            return tuple(self._make(position) for position in positions)
        return self._make(positions)


class Role(IntEnum):
    """What a bar stands for; its colour follows from it."""

    SEND = 0
    RECEIVE = 1
    RETURN = 2
    COMPUTE = 3
    REDUCE = 4


@dataclass(frozen=True, slots=True)
class Row:
    """A machine: its name, its lanes from top to bottom, and what is said of it beside them."""

    label: str
    lanes: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A vertical line: the makespan, or a ``limit`` to it, such as a bound or a deadline."""

    label: str
    time: float
    limit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bars:
    """The bars in columns: where they are, what they stand for, and the activity behind them.

    ``row`` indexes the picture's rows, ``lane`` the row's lanes, ``role`` is a :class:`Role`,
    ``activity`` the row of the schedule; ``start`` and ``end`` are seconds.
    """

    row: NDArray[np.int64]
    lane: NDArray[np.int64]
    role: NDArray[np.integer[Any]]
    activity: NDArray[np.int64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.row)

    def take(self, index: NDArray[np.int64] | NDArray[np.bool_]) -> Self:
        return replace(
            self, **{each.name: getattr(self, each.name)[index] for each in fields(self)}
        )

    @classmethod
    def of(
        cls,
        schedule: Schedule,
        activities: NDArray[np.int64],
        *,
        row: NDArray[np.int64],
        lane: int,
        role: Role,
    ) -> Bars:
        """Make one bar per activity, all in the same lane of their rows."""
        count = len(activities)
        return cls(
            row=row,
            lane=np.full(count, lane, dtype=np.int64),
            role=np.full(count, role, dtype=np.int8),
            activity=activities,
            start=schedule.start[activities],
            end=schedule.end[activities],
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        names = [each.name for each in fields(cls)]
        return cls(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in names})


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """The items that computing activities carry, by name, and what each needs of which other.

    A transfer carries the index of a link; ``source`` and ``target`` are indices of items.
    """

    names: Sequence[str]
    source: NDArray[np.int64]
    target: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Picture:
    """Rows of bars over time, with marks; ``labels`` name the items that bars carry.

    ``labels`` is parallel to the schedule's rows: the short text to write on an activity's bar,
    or empty where there is none to write. The first rows are the ones shown where there are many.
    With ``links``, the labels of transfers are the names of both ends: ``a→b``. ``fuller`` texts,
    by role, stand on bars that have room for them. ``groups`` of activities have colours of their
    own, in place of those of the roles.
    """

    rows: Sequence[Row]
    bars: Bars
    labels: Sequence[str] = ()
    fuller: Mapping[Role, Sequence[str]] = field(default_factory=dict)
    groups: Groups | None = None
    links: Links | None = None
    title: str = ""
    marks: tuple[Mark, ...] = ()

    def with_marks(self, title: str, marks: tuple[Mark, ...]) -> Picture:
        return replace(self, title=title, marks=marks)

    def folded(self) -> Picture:
        """Return the picture without transfers: the lanes of what machines compute and combine."""
        kept = np.isin(self.bars.role, (Role.COMPUTE, Role.REDUCE))
        bars = self.bars.take(kept)
        stride = int(bars.lane.max(initial=0)) + 1
        places, index = np.unique(bars.row * stride + bars.lane, return_inverse=True)
        row, lane = np.divmod(places, stride)
        first = np.searchsorted(row, np.arange(len(self.rows) + 1))

        def row_at(position: int) -> Row:
            here, lanes = self.rows[position], lane[first[position] : first[position + 1]].tolist()
            return replace(here, lanes=tuple(here.lanes[each] for each in lanes) or ("",))

        place = index.ravel() - first[bars.row]
        rows = OnDemand(len(self.rows), row_at)
        return replace(self, rows=rows, bars=replace(bars, lane=place.astype(np.int64)))

    def with_rows_as(self, other: Picture) -> Picture:
        """Put the machines in the order that they have in another picture; others follow."""
        place = {row.label: index for index, row in enumerate(other.rows)}
        labels = [row.label for row in self.rows]
        order = sorted(range(len(labels)), key=lambda old: place.get(labels[old], len(place)))
        new = inverse(np.array(order, dtype=np.int64))
        bars = replace(self.bars, row=new[self.bars.row])
        return replace(self, rows=[self.rows[old] for old in order], bars=bars)
