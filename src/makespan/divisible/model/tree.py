"""Trees: load is handed down from a root, every node computes and forwards."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.costs import Affine, as_affine
from makespan.core.inputs.mistakes import Mistakes, listed, number_fault, shown
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.names import Numbered, index_by_name
from makespan.core.numeric.arrays import Floats, Integers
from makespan.divisible.model.tree_loops import breadth_first

ROOT = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeNode:
    """A machine of a tree.

    Parameters
    ----------
    name
        Unique; ``N0``, ``N1``, … by position where it is empty.
    parent
        The name of the node that sends to it; None for the root, which holds the load.
    send, compute
        Costs of the message from the parent and of computing: :class:`Affine` or seconds per
        unit. Without ``compute`` the node only forwards.

    >>> TreeNode(name="A", parent="R", send=0.2).send
    Affine(fixed=0.0, per_unit=0.2)
    """

    name: str = ""
    parent: str | None = None
    send: Affine | float = Affine()
    compute: Affine | float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "send", as_affine(self.send))
        if self.compute is not None:
            object.__setattr__(self, "compute", as_affine(self.compute))


NUMBERS = ("send_fixed", "send_per_unit", "compute_fixed", "compute_per_unit")
ALLOWED = "a cost is 0 or more seconds"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Levels:
    """The nodes of a tree level by level, siblings in the order of service; columns to match.

    At place p stands ``node[p]``; its children stand at ``first[p]`` to ``first[p + 1] - 1``.
    """

    node: Integers
    first: Integers
    send_fixed: Floats
    send_per_unit: Floats
    compute_fixed: Floats
    compute_per_unit: Floats

    @classmethod
    def of(cls, tree: Tree, rank: np.ndarray) -> Levels:
        """Line up the nodes that the root reaches, siblings by ``rank`` and then by index."""
        child = np.flatnonzero(tree.parent != ROOT)
        child = child[np.lexsort((rank[child], tree.parent[child]))]
        below, first = np.zeros((2, len(tree) + 1), dtype=np.int64)
        np.cumsum(np.bincount(tree.parent[child], minlength=len(tree)), out=below[1:])
        node = np.zeros(len(tree), dtype=np.int64)
        count = breadth_first.run(len(tree), (below, child), (node, first), (tree.root,))
        return cls(
            node=node[:count],
            first=first[: count + 1],
            **{name: getattr(tree, name)[node[:count]] for name in NUMBERS},
        )


class Tree:
    """Nodes that receive load from their parent, compute a part and forward the rest.

    One message per edge carries the load of the whole subtree; a node forwards after it has
    received everything, to one child at a time, and computes meanwhile.

    The numbers are kept in read-only columns, one entry a node; ``compute_per_unit`` is infinite
    for a node that only forwards. ``parent`` holds indices, -1 for the root.

    Parameters
    ----------
    nodes
        The nodes, in the order that indexes them; exactly one has no parent.

    >>> tree = Tree([Tree.Node(name="R", compute=3), Tree.Node(parent="R", send=1, compute=2)])
    >>> list(tree.names), tree.parent.tolist()
    (['R', 'N1'], [-1, 0])
    """

    topology = "tree"
    Node: ClassVar[type[TreeNode]] = TreeNode
    master = None

    names: Sequence[str]
    parent: Integers
    send_fixed: Floats
    send_per_unit: Floats
    compute_fixed: Floats
    compute_per_unit: Floats

    def __init__(self, nodes: Iterable[TreeNode]) -> None:
        crew = listed(nodes, TreeNode, "platform.nodes", "nodes")
        self.names = tuple(node.name or f"N{index}" for index, node in enumerate(crew))
        self._mistakes = Mistakes()
        position = index_by_name(self.names)
        parents = []
        for index, node in enumerate(crew):
            if node.parent is not None and node.parent not in position:
                hint = did_you_mean(node.parent, position)
                self._mistakes.add(
                    f"platform.nodes[{index}].parent", f"{shown(node.parent)} is not a node{hint}"
                )
            parents.append(ROOT if node.parent is None else position.get(node.parent, ROOT))
        table = {
            name: [self._number(name, index, _part(node, name)) for index, node in enumerate(crew)]
            for name in NUMBERS
        }
        self._set(parents, table)

    @classmethod
    def from_arrays(
        cls,
        *,
        parent: ArrayLike,
        send_per_unit: ArrayLike,
        compute_per_unit: ArrayLike,
        send_fixed: ArrayLike = 0.0,
        compute_fixed: ArrayLike = 0.0,
        names: Sequence[str] | None = None,
    ) -> Tree:
        """Build a tree from columns of n entries, without an object per node.

        Parameters
        ----------
        parent
            Index of each node's parent, -1 for the root.
        send_per_unit, compute_per_unit, send_fixed, compute_fixed
            Arrays of length n or scalars; an infinite ``compute_per_unit`` is a node that only
            forwards.
        names
            n names; ``N0``, ``N1``, … by default.

        >>> Tree.from_arrays(parent=[-1, 0], send_per_unit=1, compute_per_unit=2).names[1]
        'N1'
        """
        tree = cls(())
        indices = np.asarray(parent, dtype=np.int64)
        tree.names = Numbered("N", indices.size) if names is None else tuple(names)
        table = dict(
            send_fixed=send_fixed,
            send_per_unit=send_per_unit,
            compute_fixed=compute_fixed,
            compute_per_unit=compute_per_unit,
        )
        columns: dict[str, Floats] = {}
        for name, values in table.items():
            try:
                columns[name] = np.asarray(values, dtype=np.float64)
            except (TypeError, ValueError):
                columns[name] = np.zeros(())
                tree._mistakes.add(
                    f"platform.{name}", f"{shown(values)} is not an array of numbers"
                )
            if columns[name].shape not in ((), indices.shape):
                tree._mistakes.add(
                    f"platform.{name}", f"has shape {np.shape(values)}; parent has {indices.shape}"
                )
        if len(tree.names) != indices.size:
            tree._mistakes.add("platform.names", f"has {len(tree.names)} for {indices.size} nodes")
        tree._mistakes.raise_if_any()
        tree._set(indices, columns)
        return tree

    def _set(self, parent: ArrayLike, table: Mapping[str, ArrayLike]) -> None:
        self.parent = np.array(parent, dtype=np.int64)
        self.parent.flags.writeable = False
        for name, values in table.items():
            column = np.array(np.broadcast_to(values, self.parent.shape), dtype=np.float64)
            column.flags.writeable = False
            setattr(self, name, column)

    def _number(self, name: str, index: int, value: Any) -> float:
        fault = number_fault(value, low=-math.inf, infinite=True)
        if fault is None:
            return float(value)
        self._mistakes.add(_place(name, index), f"{shown(value)} {fault}; {ALLOWED}")
        return math.nan

    def __len__(self) -> int:
        return len(self.parent)

    def __repr__(self) -> str:
        return f"Tree({len(self)} nodes)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        columns = ("parent", *NUMBERS)
        return self.names == other.names and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in columns
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def nodes(self) -> tuple[TreeNode, ...]:
        """The nodes as objects, made on demand."""
        return tuple(
            TreeNode(
                name=self.names[index],
                parent=None if parent == ROOT else self.names[parent],
                send=Affine(float(self.send_fixed[index]), float(self.send_per_unit[index])),
                compute=Affine(
                    float(self.compute_fixed[index]), float(self.compute_per_unit[index])
                )
                if self.computes[index]
                else None,
            )
            for index, parent in enumerate(self.parent.tolist())
        )

    @cached_property
    def computes(self) -> np.ndarray:
        """Whether each node computes."""
        return np.isfinite(self.compute_per_unit)

    @cached_property
    def root(self) -> int:
        """The index of the node that holds the load."""
        return int(np.flatnonzero(self.parent == ROOT)[0])

    @property
    def has_fixed_costs(self) -> bool:
        """Whether any message or computation has a fixed cost."""
        return bool(self.send_fixed.any() or self.compute_fixed.any())

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node, by index."""
        lists: list[list[int]] = [[] for _ in range(len(self))]
        for node, parent in enumerate(self.parent.tolist()):
            if parent != ROOT:
                lists[parent].append(node)
        return tuple(map(tuple, lists))

    @cached_property
    def levels(self) -> Levels:
        """The nodes level by level, siblings by non-decreasing link cost per unit."""
        return Levels.of(self, self.send_per_unit)

    def collect_mistakes(self, mistakes: Mistakes) -> None:
        """Note everything that is wrong with this platform."""
        mistakes.extend(self._mistakes.found)
        known = frozenset(mistake.place for mistake in self._mistakes.found)
        for name in NUMBERS:
            mistakes.column(
                partial(_place, name),
                getattr(self, name),
                ALLOWED,
                infinite=name == "compute_per_unit",
                known=known,
            )
        if not isinstance(self.names, Numbered):
            seen: dict[str, int] = {}
            for index, name in enumerate(self.names):
                place = f"platform.nodes[{index}].name"
                if not name:
                    mistakes.add(place, f"{name!r} is not a name; a name is a text, not empty")
                elif name in seen:
                    mistakes.add(
                        place, f"{name!r} is also the name of platform.nodes[{seen[name]}]"
                    )
                seen.setdefault(name, index)
        roots = np.flatnonzero(self.parent == ROOT)
        count = len(self)
        wrong = np.flatnonzero((self.parent < ROOT) | (self.parent >= count))
        for index in wrong[:20].tolist():
            mistakes.add(f"platform.nodes[{index}].parent", f"{self.parent[index]} is not a node")
        if len(roots) != 1 and not self._mistakes:
            mistakes.add(
                "platform.nodes", f"has {len(roots)} nodes without a parent; a tree has one root"
            )
        elif not len(wrong) and len(roots) == 1 and len(self.levels.node) < count:
            lost = int(np.setdiff1d(np.arange(count), self.levels.node)[0])
            mistakes.add(
                f"platform.nodes[{lost}].parent", f"{self.names[lost]!r} is its own ancestor"
            )


def _place(name: str, index: int) -> str:
    return f"platform.nodes[{index}].{name.replace('_', '.', 1)}"


def _part(node: TreeNode, name: str) -> Any:
    of, _, part = name.partition("_")
    if of == "compute" and node.compute is None:
        return math.inf if part == "per_unit" else 0.0
    return getattr(getattr(node, of), part)
