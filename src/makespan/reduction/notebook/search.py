"""The segmented reduction notebook's search: least makespan, number of solutions, solutions."""

import math
import time
from typing import Any, NamedTuple

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers, repeated
from makespan.core.numeric.binding import bind
from makespan.core.system.memory import claim
from makespan.reduction.notebook.trees import (
    DONE,
    FULL_STATES,
    advance,
    all_trees,
    first_of_each_class,
)

SLICE_SECONDS = 0.1
MAX_COLOURED = 3 * 10**8  # entries that are compared to tell which optima are alike
BEAM = 200
MAX_LISTED = 200_000
CLOSE = 1e-9
SAME = 1e-15  # what the notebook takes for equal


class Search(NamedTuple):
    """What the search found.

    ``value`` is in the unit of the costs. ``solutions`` has a row per machine and a column per
    segment, counted from 0, one for each class of optima under renaming, in the order in which
    the notebook meets them; None where there are too many to list.
    """

    value: Any
    tested: int
    valid: int
    optimal: int
    best: Integers
    solutions: list[Integers] | None


class _Layer(NamedTuple):
    """The states after a column, and how they are reached: (state before, tree, state)."""

    states: Any
    edges: Any


class Columns:
    """The walk over the columns for one problem's costs: whole numbers, or floats."""

    def __init__(
        self, transfer: Any, latency: Any, reduce: Any, size: Any, control: Control
    ) -> None:
        self.transfer, self.latency, self.reduce = transfer, latency, reduce
        self.size = size
        self.control = control
        self.machines = len(reduce)
        self.links = (self.transfer >= 0) & ~np.eye(self.machines, dtype=bool)
        self.trees = all_trees(self.machines, self.links)
        self.children = np.zeros_like(self.trees)
        for machine in range(1, self.machines):
            self.children[np.arange(len(self.trees)), self.trees[:, machine]] += 1
        self.children[:, 0] += 1  # the root never sends
        self.whole = np.asarray(latency).dtype.kind == "i"
        work = len(self.trees) ** min(2, len(size)) * len(size)
        self.advance = advance.form(work)

    def layers(self, cut: Any, beam: int | None = None) -> list[_Layer] | None:
        """Return the states after every column that can end by ``cut``; None when time is up.

        With ``beam``, only so many states of each column are kept, the most promising.
        """
        width = 3 * self.machines
        states = np.zeros((1, width), dtype=np.asarray(self.latency).dtype)
        found = []
        for column in range(len(self.size)):
            layer = self._next(states, column, cut)
            if layer is None:
                return None
            states = layer.states
            if beam is not None and len(states) > beam:
                order = np.argsort(self._promise(states, column), kind="stable")[:beam]
                states = states[order]
            found.append(layer)
        return found

    def _next(self, states: Any, column: int, cut: Any) -> _Layer | None:
        size = self.size[column]
        rest = self.size[column + 1 :]
        apart = self.links
        transfer, latency = self.transfer * size, self.latency
        reduce = self.reduce * size
        least = self.transfer[apart].min() * rest.sum() if self.machines > 1 else 0
        lag = latency[apart].min() if self.machines > 1 else 0
        # an arrival is combined, and then so are those of the later columns
        last = self.reduce.min() * (rest.min() if len(rest) else size)
        tail = np.full(self.machines, lag + least + last)
        combine_all = self.reduce[0] * rest.sum()
        clamps = self.whole and len(rest) and apart.any()
        clamp = self.transfer[apart].min() * rest.min() if clamps else 0
        room = 4 * len(self.trees) + 64
        out = np.empty((room, states.shape[1]), dtype=states.dtype)
        edges = np.empty((room, 3), dtype=np.int32)
        table = np.full(_power_of_two(4 * room), -1, dtype=np.int64)
        counts = np.zeros(2, dtype=np.int64)
        first, at_once = 0, 1
        step = bind(
            self.advance, states=states, trees=self.trees, children=self.children,
            transfer=transfer, latency=latency, reduce=reduce, tail=tail,
            root_receives=least + last, root_combines=combine_all, cut=cut, clamp=clamp,
        )  # fmt: skip
        while first < len(states):
            end = min(first + at_once, len(states))
            began = time.perf_counter()
            code, first = step(
                first=first, last=end, out=out, out_bits=out.view(np.int64), table=table,
                edges=edges, counts=counts,
            )  # fmt: skip
            if code == FULL_STATES:
                out = _grown(out)
                table = _rehashed(out, int(counts[0]), len(out))
            elif code != DONE:
                edges = _grown(edges)
            if self.control.expired():
                return None
            quick = time.perf_counter() - began < SLICE_SECONDS / 2
            at_once = 2 * at_once if quick else max(1, at_once // 2)
        return _Layer(out[: counts[0]].copy(), edges[: counts[1]])

    def _promise(self, states: Any, column: int) -> Any:
        machines = self.machines
        busy = states[:, 2 * machines :].max(axis=1) + states[:, :machines].max(axis=1)
        return states[:, 2 * machines] * (2 * machines) + busy


def _grown(array: Any) -> Any:
    claim(3.0 * array.nbytes, "the states of a search over all destinations")
    return np.concatenate([array, np.empty_like(array)])


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()


def _rehashed(out: Any, count: int, room: int) -> Any:
    """Return a larger table of the states so far, placed as ``advance`` places them."""
    table = np.full(_power_of_two(4 * room), -1, dtype=np.int64)
    mask = len(table) - 1
    bits = out.view(np.int64)[:count]
    mixed = np.ones(count, dtype=np.int64)
    for place in range(bits.shape[1]):
        low, high = bits[:, place] & 0x7FFFFFFF, (bits[:, place] >> 31) & 0x7FFFFFFF
        mixed = (mixed * 1000003 + low + 131 * high) % 2147483647
    waiting, slots = np.arange(count), mixed & mask
    while len(waiting):
        free = table[slots] < 0
        # of several states for one slot, the first gets it
        taken, winner = np.unique(slots[free], return_index=True)
        table[taken] = waiting[free][winner]
        placed = table[slots] == waiting
        waiting, slots = waiting[~placed], (slots[~placed] + 1) & mask
    return table


def search(
    transfer: Any,
    latency: Any,
    reduce: Any,
    size: Any,
    *,
    control: Control,
    listed: int = MAX_LISTED,
    compatible: bool = False,
) -> Search | None:
    """Search all solutions of the notebook's representation; None when time is up.

    Costs are n × n, n × n, n and m; whole numbers, or floats. ``compatible`` merges floats as the
    notebook does, level by level, 1e-15 apart. Complexity: O(S n^(n-2) n²) for S states a column; S
    is small where many solutions meet. Source: array reduction notebook, ``find_min``; Cayley's
    formula for the number of valid solutions.
    """
    machines, segments = len(reduce), len(size)
    columns = Columns(transfer, latency, reduce, size, control)
    cut = _first_cut(columns)
    if cut is None:
        return None
    layers = columns.layers(cut)
    if layers is None:
        return None
    ends = layers[-1].states[:, 2 * machines]
    value = ends.min()
    final = np.flatnonzero(ends == value if columns.whole else ends <= value * (1 + CLOSE))
    good = _leading_to(layers, final)
    optimal = _count(layers, good)
    tested = math.prod(columns.links[1:].sum(axis=1).tolist()) ** segments
    valid = len(columns.trees) ** segments
    coloured = optimal * machines**2 * segments
    many = optimal > max(listed, 1) or coloured > MAX_COLOURED or control.expired()
    solutions, values = _solutions(columns, layers, good, first_only=many)
    if many:
        return Search(value, tested, valid, optimal, solutions[0], None)
    if compatible:
        value, optimal, chosen = merged_as_in_notebook(solutions, values)
        solutions = solutions[chosen]
    distinct = [solutions[index] for index in first_of_each_class(solutions)]
    return Search(value, tested, valid, optimal, distinct[0], distinct)


def _first_cut(columns: Columns) -> Any:
    """Return a makespan that a narrow walk reaches, with room for rounding."""
    total = columns.transfer.max() + columns.latency.max() + columns.reduce.max()
    huge = total * (columns.size.sum() + columns.size.max() + 1) * 4 * columns.machines + 1
    layers = columns.layers(huge, beam=BEAM)
    if layers is None:
        return None
    reached = layers[-1].states[:, 2 * columns.machines].min()
    return reached if columns.whole else reached * (1 + CLOSE)


def _leading_to(layers: list[_Layer], final: Integers) -> list[Any]:
    """Return, for each layer, the edges on walks to the final states."""
    good: list[Any] = []
    wanted = final
    for layer in reversed(layers):
        mark = np.zeros(len(layer.states), dtype=bool)
        mark[wanted] = True
        edges = layer.edges[mark[layer.edges[:, 2]]]
        good.append(edges)
        wanted = np.unique(edges[:, 0])
    return good[::-1]


def _count(layers: list[_Layer], good: list[Any]) -> int:
    """Return the number of walks along the good edges."""
    ways: Any = np.ones(1, dtype=object)
    for layer, edges in zip(layers, good, strict=True):
        into, before = edges[:, 2].astype(np.int64), ways[edges[:, 0]]
        rough = np.bincount(into, weights=before.astype(float), minlength=len(layer.states))
        if rough.max() < 2.0**52:
            ways = rough.astype(np.int64).astype(object)
        else:
            ways = np.zeros(len(layer.states), dtype=object)
            np.add.at(ways, into, before)
    return int(sum(ways[np.unique(good[-1][:, 2])]))


def _solutions(
    columns: Columns, layers: list[_Layer], good: list[Any], *, first_only: bool = False
) -> tuple[Integers, Any]:
    """Return the solutions along the good edges, in the order of the notebook, and their ends."""
    at = np.unique(good[-1][:, 2]).astype(np.int64)
    if first_only:
        at = at[:1]
    ends = layers[-1].states[at, 2 * columns.machines]
    walks = np.empty((len(at), 0), dtype=np.int64)
    for unsorted in reversed(good):
        edges = unsorted[np.argsort(unsorted[:, 2], kind="stable")]
        low = np.searchsorted(edges[:, 2], at, side="left")
        high = np.searchsorted(edges[:, 2], at, side="right")
        if first_only:
            high = low + 1
        many = high - low
        index, inside = repeated(many)
        rows = low[index] + inside
        walks = np.column_stack([edges[rows, 1], np.repeat(walks, many, axis=0)])
        ends, at = np.repeat(ends, many), edges[rows, 0].astype(np.int64)
    solutions = np.ascontiguousarray(columns.trees[walks].transpose(0, 2, 1))
    flat = solutions.reshape(len(solutions), -1)
    order = np.lexsort(flat.T[::-1])
    return solutions[order], ends[order]


def merged_as_in_notebook(solutions: Integers, values: Any) -> tuple[float, int, Integers]:
    """Return value, number and rows of the optima as the notebook's recursion merges them.

    Each level takes a value for equal when it is within 1e-15 of the first one found there, so
    what is kept depends on the order and on the levels (docs/reduction.md, corrections).
    """
    flat = solutions[:, 1:, :].reshape(len(solutions), -1)

    def merge(first: int, last: int, depth: int) -> tuple[float, list[int]]:
        if depth == flat.shape[1] or last - first == 1:
            return float(values[first]), [first]
        steps = np.flatnonzero(np.diff(flat[first:last, depth])) + first + 1
        best = float("inf")
        rows: list[int] = []
        for low, high in zip([first, *steps], [*steps, last], strict=True):
            value, found = merge(int(low), int(high), depth + 1)
            if abs(value - best) < SAME:
                rows = rows + found
            elif value < best:
                best, rows = value, found
        return best, rows

    value, rows = merge(0, len(flat), 0)
    return value, len(rows), np.array(rows)
