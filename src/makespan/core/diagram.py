"""What a picture of a problem shows, or of a plan as a graph, before anything is placed or drawn.

A :class:`Diagram` has boxes and the lines between them, :class:`Curves` lines over an axis. Both
are columns and indices, so that ten thousand tasks and their edges take little room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from makespan.core.numeric.arrays import Floats, Integers

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
    """The boxes, in columns; what is left out is empty, and ``item`` the index of the box.

    Parameters
    ----------
    label, note
        What is written in a box, and below it there, smaller.
    bold
        Whether it has a thick outline.
    bar
        Whether it is a bus: a bar as long as what is linked to it.
    item
        The task or machine that it stands for.
    layer
        Its layer, where that is known; edges lead to higher ones.
    x, y
        Where it stands, in any unit, where that is known.
    """

    label: Sequence[str]
    note: Sequence[str] = ()
    bold: Flags | None = None
    bar: Flags | None = None
    item: Integers | None = None
    layer: Integers | None = None
    x: Floats | None = None
    y: Floats | None = None

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
    """Boxes, and the lines between them.

    Parameters
    ----------
    nodes, edges
        What is drawn.
    title
        The title.
    groups
        The colours of the boxes; the outline alone where there are none.
    stands_for
        What an item of a box is: ``task`` or ``machine``.
    carries
        What an item of a line is: ``edge`` or ``activity``.
    bold, dashed
        What bold and dashed lines mean, for the legend.
    notes
        Lines below.
    members
        The items of each box, where a box stands for many.
    """

    nodes: Nodes
    edges: Edges
    title: str = ""
    groups: Groups | None = None
    stands_for: str = "task"
    carries: str = "edge"
    bold: str = ""
    dashed: str = ""
    notes: tuple[str, ...] = ()
    members: Sequence[Integers] = ()

    def items_of(self, node: int) -> list[int]:
        """Return the tasks or machines that a box stands for."""
        if len(self.members):
            return [int(item) for item in self.members[node]]
        item = node if self.nodes.item is None else int(self.nodes.item[node])
        return [item] if item >= 0 else []


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Line:
    """A line of :class:`Curves`: its points, and those of them that were chosen.

    ``look`` is ``line``, ``steps`` (after each point), ``points`` or ``bars``.
    """

    name: str
    x: Floats
    y: Floats
    look: str = "line"
    chosen: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    labels: Sequence[str] = ()


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
