"""Graphs drawn as those of the standard task graph set are said to be, larger than those at hand.

``python -m benchmarks.stg_generated FOLDER``, then ``python -m benchmarks.sets stg-large FOLDER …``

Each file of the set states how it was drawn (Tobita and Kasahara 2002): edges are pairs of tasks
chosen with one probability, 0.05 to 0.2, for all (``sameprob``), or with that of 1 to 20
predecessors a task in the mean (``samepred``), among all tasks or among those of different layers,
ten tasks wide in the mean (``layrprob``, ``layrpred``). Times are uniform, exponential or normal,
with the mean 10, or 5 for half of the tasks (``2pks``). What the files don't state, such as the
spread of the layers' widths, is chosen here.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.taskgraph.formats import stg
from makespan.taskgraph.model.dag import Dag

SIZES = (1500, 2000, 3000, 5000)
SHAPES = ("sameprob", "samepred", "layrprob", "layrpred")
TIMES = ("unifproc", "expoproc", "normproc", "unif2pks", "expo2pks", "norm2pks")
WIDTH = 10


def drawn(tasks: int, shape: str, times: str, rng: np.random.Generator) -> Dag:
    """Return a graph of so many tasks."""
    layer = np.arange(tasks)
    if shape.startswith("layr"):
        layer = np.sort(rng.integers(0, tasks // WIDTH, tasks))
    first = np.searchsorted(layer, layer)
    pairs = int(first.sum())
    chance = rng.uniform(0.05, 0.2)
    if shape.endswith("pred"):
        chance = int(rng.integers(1, 21)) * tasks / pairs
    sources = [np.flatnonzero(rng.random(count) < chance) for count in first.tolist()]
    return Dag.from_arrays(
        work=_work(tasks, times, rng),
        source=np.concatenate(sources),
        target=np.repeat(np.arange(tasks), [len(each) for each in sources]),
    )


def _work(tasks: int, times: str, rng: np.random.Generator) -> Floats:
    mean: Integers = np.full(tasks, 10)
    if times.endswith("2pks"):
        mean[rng.random(tasks) < 0.5] = 5
    if times.startswith("unif"):
        found = rng.integers(1, 2 * mean).astype(float)
    elif times.startswith("expo"):
        found = rng.exponential(mean)
    else:
        found = rng.normal(mean, 0.3 * mean)
    whole: Floats = np.maximum(1.0, np.rint(found))
    return whole


def main(folder: Path) -> None:
    """Write a graph of each size and shape; the times go round."""
    for turn, (tasks, shape) in enumerate((tasks, shape) for tasks in SIZES for shape in SHAPES):
        times = TIMES[turn % len(TIMES)]
        dag = drawn(tasks, shape, times, np.random.default_rng(turn))
        path = folder / str(tasks) / f"generated-{shape}-{times}.stg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(stg.write(dag))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
