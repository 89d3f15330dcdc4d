"""What pictures of a schedule and of a problem show, before anything is laid out or drawn.

A :class:`Picture` has rows and bars over time, a :class:`Diagram` boxes and the lines between
them, :class:`Curves` lines over an axis. All are columns and indices, so that ten thousand tasks
and their edges take little room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from typing import Any, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import inverse
from makespan.core.schedule import Schedule

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """What colours tell apart: the group of each item (-1: none), and the groups' names.

    ``ordered`` groups, such as levels, are coloured from light to dark.
    """

    of: Integers
    names: Sequence[str]
    ordered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nodes:
    """The boxes, in columns; what is left out is empty, and ``item`` the index of the box."""

    label: Sequence[str]  # what is written in a box
    note: Sequence[str] = ()  # below it there, smaller
    bold: Flags | None = None  # whether it has a thick outline
    bar: Flags | None = None  # whether it is a bus: a bar as long as what is linked to it
    item: Integers | None = None  # the task or machine that it stands for
    layer: Integers | None = None  # its layer, where that is known; edges lead to higher ones
    x: Floats | None = None  # where it stands, in any unit, where that is known
    y: Floats | None = None  # the same

    def __len__(self) -> int:
        return len(self.label)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Edges:
    """The lines from ``source`` to ``target``, indices of boxes, in columns.

    ``item`` is the edge or activity that a line stands for, -1 for none; ``arrow`` says whether
    the lines have heads.
    """

    source: Integers
    target: Integers
    label: Sequence[str] = ()
    bold: Flags | None = None
    dashed: Flags | None = None
    item: Integers | None = None
    arrow: bool = True

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Diagram:
    """Boxes, and the lines between them."""

    nodes: Nodes
    edges: Edges
    title: str = ""
    groups: Groups | None = None  # the colours of the boxes; the outline alone where there are none
    stands_for: str = "task"  # what an item of a box is: ``task`` or ``machine``
    carries: str = "edge"  # what an item of a line is: ``edge`` or ``activity``
    bold: str = ""  # what bold lines mean, for the legend
    dashed: str = ""  # what dashed ones mean
    notes: tuple[str, ...] = ()  # lines below
    members: Sequence[Integers] = ()  # the items of each box, where a box stands for many
    landscape: bool = False

    def items_of(self, node: int) -> list[int]:
        """Return the tasks or machines that a box stands for."""
        if len(self.members):
            return [int(item) for item in self.members[node]]
        item = node if self.nodes.item is None else int(self.nodes.item[node])
        return [item] if item >= 0 else []


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Line:
    """A line of :class:`Curves`: its points, those that were chosen, and those that were given.

    ``look`` is ``line``, ``steps`` (after each point), ``points`` or ``bars``.
    """

    name: str
    x: Floats
    y: Floats
    look: str = "line"
    chosen: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    labels: Sequence[str] = ()
    given: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curves:
    """Lines over an axis, such as costs over counts; ``levels`` are horizontal lines with names.

    ``log`` names the axes, ``x``, ``y`` or both, that are logarithmic; values there are above 0.
    """

    lines: Sequence[Line]
    across: str
    up: str
    title: str = ""
    levels: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = ()
    groups: Groups | None = None
    log: str = ""


Drawn = Diagram | Curves


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

    def with_limits_of(self, other: Picture) -> Picture:
        """Mark the limits of another picture, such as the bound of the plan that was run."""
        own = [mark for mark in self.marks if not mark.limit]
        return replace(self, marks=(*own, *(mark for mark in other.marks if mark.limit)))

    def with_rows_as(self, other: Picture) -> Picture:
        """Put the machines in the order that they have in another picture; others follow."""
        place = {row.label: index for index, row in enumerate(other.rows)}
        labels = [row.label for row in self.rows]
        order = sorted(range(len(labels)), key=lambda old: place.get(labels[old], len(place)))
        new = inverse(np.array(order, dtype=np.int64))
        bars = replace(self.bars, row=new[self.bars.row])
        return replace(self, rows=[self.rows[old] for old in order], bars=bars)
