"""Trees: load is handed down from a root, every node computes and forwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.cached import cached_property
from makespan.core.costs import Affine, as_affine, convert
from makespan.core.inputs.rules import FIXED_COST, UNIT_COST, Mistakes, Rule, quoted, whole
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.names import index_by_name
from makespan.core.numeric.arrays import Floats, Integers, frozen
from makespan.core.numeric.jit import loop
from makespan.divisible.model.columns import Columns

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
        convert(self, send=as_affine, compute=as_affine)


RULES = {
    "send_fixed": FIXED_COST,
    "send_per_unit": UNIT_COST,
    "compute_fixed": FIXED_COST,
    "compute_per_unit": Rule(f"{UNIT_COST.allowed}, or inf where nothing computes", infinite=True),
}
PARENT = whole("a parent is an index from 0, or -1 for the root:", ROOT, 2**31 - 1)


node_loop = loop(pays_from=1_000)  # nodes
"""Loops over places, level by level from the root, at place 0: the children of place p are places
``first[p]`` to ``first[p + 1] - 1``, in the order of service, and lie side by side in memory."""


@node_loop
def breadth_first(below, child, node, first, root):  # type: ignore[no-untyped-def]
    """Fill in the nodes from the root, level by level; return how many are reached.

    The children of node k are ``child[below[k]]`` to ``child[below[k + 1] - 1]``.
    """
    node[0] = root
    count = 1
    place = 0
    while place < count:
        first[place] = count
        for k in range(below[node[place]], below[node[place] + 1]):
            node[count] = child[k]
            count += 1
        place += 1
    first[count] = count
    return count


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
            **{name: getattr(tree, name)[node[:count]] for name in RULES},
        )

    @property
    def costs(self) -> tuple[Floats, Floats, Floats, Floats]:
        """What messages and computations cost, as the loops take it."""
        return self.send_fixed, self.send_per_unit, self.compute_fixed, self.compute_per_unit


class Tree(Columns):
    """Nodes that receive load from their parent, compute a part and forward the rest.

    One message per edge carries the load of the whole subtree; a node forwards after it has
    received everything, to one child at a time, and computes meanwhile.

    The numbers are kept in read-only columns, one entry a node; ``compute_per_unit`` is infinite
    for a node that only forwards. ``parent`` holds indices, -1 for the root.

    Parameters
    ----------
    nodes
        The nodes, in the order that indexes them, objects or tables as in files; exactly one
        has no parent.

    >>> tree = Tree([Tree.Node(name="R", compute=3), Tree.Node(parent="R", send=1, compute=2)])
    >>> list(tree.names), tree.parent.tolist()
    (['R', 'N1'], [-1, 0])
    >>> Tree([{"name": "R", "compute": 3}, {"parent": "R", "send": 1, "compute": 2}]) == tree
    True
    """

    topology = "tree"
    ENTRIES = "nodes"
    IS = "it is a tree"
    FIELDS = ("load", "deadline", "options")
    RULES = RULES
    Node: ClassVar[type[TreeNode]] = TreeNode
    master = None

    parent: Integers
    send_fixed: Floats
    send_per_unit: Floats
    compute_fixed: Floats
    compute_per_unit: Floats

    def __init__(self, nodes: Iterable[TreeNode | Mapping[str, Any]]) -> None:
        crew = self._read(nodes, TreeNode, "N")
        position = index_by_name(self.names)
        parents = []
        for index, node in enumerate(crew):
            parent = node.parent if isinstance(node.parent, str) else str(node.parent)
            if node.parent is not None and parent not in position:
                hint = did_you_mean(parent, position)
                place = f"platform.nodes[{index}].parent"
                self._mistakes.add(place, f"{quoted(node.parent)} is not a node{hint}")
            parents.append(ROOT if node.parent is None else position.get(parent, ROOT))
        self._hang(parents)

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
        given = {name: value for name, value in locals().items() if name in RULES}
        tree = cls(())
        checked = tree._mistakes.column(
            "platform.nodes[{}].parent".format, np.atleast_1d(np.asarray(parent)), PARENT
        )
        tree._mistakes.raise_if_any()
        tree._hang(checked)
        tree._take(given, names, "N", count=tree.parent.size)
        return tree

    def _hang(self, parent: ArrayLike) -> None:
        self.parent = frozen(np.array(parent, dtype=np.int64))

    def __repr__(self) -> str:
        return f"Tree({len(self)} nodes)"

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Tree) and np.array_equal(self.parent, other.parent)
        return same and bool(super().__eq__(other))

    __hash__ = None

    @property
    def nodes(self) -> tuple[TreeNode, ...]:
        """The nodes as objects, made on demand."""
        return tuple(
            TreeNode(
                name=self.names[index],
                parent=None if parent == ROOT else self.names[parent],
                send=self._cost("send", index),
                compute=self._cost("compute", index) if self.computes[index] else None,
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
        super().collect_mistakes(mistakes)
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
