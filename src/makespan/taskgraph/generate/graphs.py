"""Graphs to try methods on: random ones, seeded, and those of well-known computations.

``ccr`` is the communication-to-computation ratio: the mean size of an edge over the mean work of
a task.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.errors import ProblemError
from makespan.core.inputs.rules import quoted
from makespan.core.numeric.arrays import Floats, Integers
from makespan.taskgraph.model.dag import Dag

SPARSE = 0.02  # the chance of an edge below which it is quicker not to ask for each pair of tasks

Seed = int | np.random.Generator | None
Edge = tuple[str, str, float]


def layered(
    tasks: int,
    *,
    width: int | None = None,
    density: float | None = None,
    ccr: float = 1.0,
    rng: Seed = None,
) -> Dag:
    """Return a random graph of layers, each task with at least one predecessor a layer above.

    Parameters
    ----------
    tasks
        How many tasks.
    width
        Mean tasks of a layer; the root of ``tasks`` if omitted.
    density
        Chance of each further edge from a layer to the next; if omitted 0.3, and in layers of more
        than ten tasks as much as makes about three further edges a task.
    rng
        Seed of layers, edges, works (uniform from 1 to 19) and sizes; None is 0.

    >>> len(layered(20, rng=1))
    20
    """
    _whole(tasks=tasks)
    generator = _generator(rng)
    wide = max(1, round(tasks**0.5)) if width is None else width
    _whole(width=wide)
    bounds = [0]
    while bounds[-1] < tasks:
        bounds.append(min(tasks, bounds[-1] + int(generator.integers(1, 2 * wide))))
    chance = min(0.3, 3.0 / wide) if density is None else density
    pairs = [np.zeros((2, 0), dtype=np.int64)]
    for above, first, last in zip(bounds, bounds[1:], bounds[2:], strict=False):
        ends = _between(first - above, last - first, chance, generator)
        pairs.append(ends + np.array([[above], [first]]))
    source, target = np.concatenate(pairs, axis=1)
    work = generator.uniform(1.0, 19.0, tasks)
    size = scaled_sizes(work, len(source), ccr, generator)
    return Dag.from_arrays(work=work, source=source, target=target, size=size)


def _between(above: int, below: int, chance: float, rng: np.random.Generator) -> Integers:
    """Return edges from a layer to the next as two rows, one to each task below and more by chance.

    Where they are few, how many there are is drawn first, and then which.
    """
    sure = np.arange(below) * above + rng.integers(0, above, below)
    if chance < SPARSE:
        more = rng.integers(0, above * below, rng.binomial(above * below, max(chance, 0.0)))
        return np.stack(np.divmod(np.union1d(sure, more), above))[::-1]
    chosen = rng.random((below, above)) < chance
    chosen.ravel()[sure] = True
    return np.stack(np.nonzero(chosen))[::-1]


def fork_join(branches: int, *, stages: int = 1, ccr: float = 1.0, rng: Seed = None) -> Dag:
    """Return stages that each fork into branches and join again."""
    _whole(branches=branches, stages=stages)
    edges: list[tuple[str, str]] = []
    for stage in range(stages):
        for branch in range(branches):
            name = f"b{stage}.{branch}"
            edges += [(f"j{stage}", name), (name, f"j{stage + 1}")]
    return _random_weights(edges, ccr, rng)


def tree(levels: int, *, children: int = 2, inwards: bool = False, ccr: float = 1.0,
         rng: Seed = None) -> Dag:  # fmt: skip
    """Return a complete tree, its edges away from the root, or ``inwards``."""
    _whole(levels=levels, children=children)
    count = sum(children**level for level in range(levels))
    pairs = [(f"n{(node - 1) // children}", f"n{node}") for node in range(1, count)]
    return _random_weights([(b, a) for a, b in pairs] if inwards else pairs, ccr, rng, alone="n0")


def gaussian_elimination(order: int, *, ccr: float = 1.0) -> Dag:
    """Return the graph of eliminating a matrix column by column.

    Work and size are the numbers of entries touched. Source: Cosnard, Marrakchi, Robert and
    Trystram 1988.
    """
    _whole(2, order=order)
    work: dict[str, float] = {}
    edges: list[Edge] = []
    for k in range(1, order):
        length = float(order - k)
        pivot = f"p{k}"
        work[pivot] = length + 1
        if k > 1:
            edges.append((f"u{k - 1}.{k}", pivot, length + 1))
        for column in range(k + 1, order + 1):
            update = f"u{k}.{column}"
            work[update] = 2 * length
            edges.append((pivot, update, length))
            if k > 1:
                edges.append((f"u{k - 1}.{column}", update, length + 1))
    return _scaled(work, edges, ccr)


def fft(points: int, *, ccr: float = 1.0) -> Dag:
    """Return the butterfly graph of a fast Fourier transform of ``points``, a power of two."""
    _whole(points=points)
    if points & (points - 1):
        raise ProblemError(f"points: {points} is not a power of two")
    ranks = points.bit_length()
    work = {f"f{rank}.{point}": 1.0 for rank in range(ranks) for point in range(points)}
    edges: list[Edge] = []
    for rank in range(1, ranks):
        for point in range(points):
            for before in (point, point ^ (1 << rank - 1)):
                edges.append((f"f{rank - 1}.{before}", f"f{rank}.{point}", 1.0))
    return _scaled(work, edges, ccr)


def cholesky(tiles: int, *, ccr: float = 1.0) -> Dag:
    """Return the graph of a tiled Cholesky factorisation; work in flops of a tile, per third.

    Source: Buttari, Langou, Kurzak and Dongarra 2009.
    """
    _whole(tiles=tiles)
    work: dict[str, float] = {}
    edges: list[Edge] = []
    last: dict[tuple[int, int], str] = {}

    def add(name: str, flops: float, writes: tuple[int, int], *reads: str) -> None:
        work[name] = flops
        sources = [*reads, *([last[writes]] if writes in last else [])]
        edges.extend((source, name, 1.0) for source in sources)
        last[writes] = name

    for k in range(tiles):
        add(f"potrf{k}", 1.0, (k, k))
        for row in range(k + 1, tiles):
            add(f"trsm{k}.{row}", 3.0, (row, k), f"potrf{k}")
        for row in range(k + 1, tiles):
            add(f"syrk{k}.{row}", 3.0, (row, row), f"trsm{k}.{row}")
            for column in range(k + 1, row):
                update = f"gemm{k}.{row}.{column}"
                add(update, 6.0, (row, column), f"trsm{k}.{row}", f"trsm{k}.{column}")
    return _scaled(work, edges, ccr)


def stencil(steps: int, cells: int, *, ccr: float = 1.0) -> Dag:
    """Return the graph of a one-dimensional stencil: a cell reads itself and its neighbours."""
    _whole(steps=steps, cells=cells)
    work = {f"s{step}.{cell}": 1.0 for step in range(steps) for cell in range(cells)}
    edges = [
        (f"s{step - 1}.{before}", f"s{step}.{cell}", 1.0)
        for step in range(1, steps)
        for cell in range(cells)
        for before in range(max(0, cell - 1), min(cells, cell + 2))
    ]
    return _scaled(work, edges, ccr)


GENERATORS: dict[str, Callable[..., Dag]] = {
    "layered": layered,
    "fork-join": fork_join,
    "tree": tree,
    "gaussian-elimination": gaussian_elimination,
    "fft": fft,
    "cholesky": cholesky,
    "stencil": stencil,
}
"""The generators by name."""


def scaled_sizes(work: ArrayLike, edges: int, ccr: float, rng: Seed = None) -> Floats:
    """Return random sizes whose mean is ``ccr`` times the mean work, uniform from 0 to twice it."""
    drawn = _generator(rng).uniform(0.0, 2.0, edges)
    return _to_ratio(np.asarray(work, dtype=np.float64), drawn, ccr)


def _to_ratio(work: Floats, size: Floats, ccr: float) -> Floats:
    if not ccr >= 0:
        raise ProblemError(f"ccr: {quoted(ccr)} is not allowed; a ratio is 0 or more")
    mean = float(size.mean()) if len(size) else 0.0
    if mean == 0.0 or ccr == 0.0:
        return np.zeros(len(size))
    return np.asarray(size * (ccr * float(work.mean()) / mean))


def _random_weights(
    edges: Sequence[tuple[str, str]], ccr: float, rng: Seed, alone: str | None = None
) -> Dag:
    """Give works uniform from 1 to 19, and sizes, to tasks in the order of their names."""
    generator = _generator(rng)
    names = dict.fromkeys([*([alone] if alone else []), *(end for edge in edges for end in edge)])
    work = generator.uniform(1.0, 19.0, len(names))
    size = scaled_sizes(work, len(edges), ccr, generator)
    return Dag(
        zip(names, work.tolist(), strict=True),
        [(a, b, amount) for (a, b), amount in zip(edges, size.tolist(), strict=True)],
    )


def _scaled(work: dict[str, float], edges: Sequence[Edge], ccr: float) -> Dag:
    size = _to_ratio(np.array(list(work.values())), np.array([edge[2] for edge in edges]), ccr)
    return Dag(work, [(a, b, s) for (a, b, _), s in zip(edges, size.tolist(), strict=True)])


def _generator(rng: Seed) -> np.random.Generator:
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng or 0)


def _whole(low: int = 1, **given: int) -> None:
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
            raise ProblemError(f"{name}: {quoted(value)} is not allowed; a whole number from {low}")
