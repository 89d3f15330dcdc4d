"""STG: the standard task graph set's format.

The first number is the count of tasks (two dummy tasks of no work may come in addition); each
line after it holds a task, its processing time, the number of its predecessors, and these. What
follows ``#`` is a comment. The format has no sizes: they are generated, seeded. Its variants with
communication, whose first line holds more than one number, are not read.

Source: Tobita and Kasahara 2002.
"""

import numpy as np

from makespan.core.errors import FileError
from makespan.core.inputs.rules import SECONDS, quoted
from makespan.taskgraph.generate.graphs import scaled_sizes
from makespan.taskgraph.model.dag import Dag

MAX_DIGITS = 18  # digits of a whole number that is read: those that an index can have


def read(text: str, *, ccr: float = 0.0, rng: int | np.random.Generator | None = None) -> Dag:
    """Return the graph in ``text``.

    ``ccr`` is the communication-to-computation ratio, mean size over mean work, 0 for no data at
    all; ``rng`` the seed of the sizes, uniform around their mean, None for 0. Raises FileError if a
    line does not hold a task.

    >>> read('''2
    ... 0 3 0
    ... 1 4 1 0''').work.tolist()
    [3.0, 4.0]
    """
    work: list[float] = []
    source: list[int] = []
    target: list[int] = []
    lines = [line.partition("#")[0].split() for line in text.split("\n")]
    numbered = [(number, words) for number, words in enumerate(lines, start=1) if words]
    if not numbered:
        raise FileError("is empty; an STG file begins with the number of tasks")
    head, words = numbered[0]
    count = _whole(head, words[0], "the number of tasks")
    if len(words) > 1:
        raise FileError(
            f"line {head}: holds {len(words)} numbers, but STG begins with the number of tasks "
            "alone; variants with communication are not read. Graphs with sizes are read from "
            "WfFormat (.json), DOT (.dot, .gv), GraphML (.graphml), GXL (.gxl), TOML and JSON"
        )
    for number, words in numbered[1:]:
        values = [_whole(number, word, "an entry") for word in words[:1] + words[2:]]
        if len(words) < 3 or values[1] != len(words) - 3:
            raise FileError(
                f"line {number}: is not a task: number, time, count of predecessors, predecessors"
            )
        if values[0] != len(work):
            raise FileError(f"line {number}: is task {values[0]}, but {len(work)} comes next")
        work.append(_time(number, words[1]))
        source += values[2:]
        target += [values[0]] * values[1]
    if len(work) not in (count, count + 2):
        raise FileError(f"holds {len(work)} tasks, but says {count}")
    size = scaled_sizes(np.array(work), len(source), ccr, rng)
    dag = Dag.from_arrays(
        work=work, source=source, target=target, size=size, names=list(map(str, range(len(work))))
    )
    if source and not ccr:
        dag.notes = ("STG has no sizes: edges carry no data",)
    return dag


def write(dag: Dag) -> str:
    """Return the graph in STG; sizes are lost, works have to be whole numbers.

    Raises FileError if a work is not whole, or a task needs several cores.
    """
    if (dag.cores > 1).any():
        task = int(np.argmax(dag.cores > 1))
        raise FileError(f"tasks[{task}].cores: {dag.cores[task]} can't be said in STG; 1 can")
    if (dag.work != np.floor(dag.work)).any():
        task = int(np.argmax(dag.work != np.floor(dag.work)))
        raise FileError(f"tasks[{task}].work: {dag.work[task]:g} is not whole, as STG needs")
    lines = [str(len(dag))]
    first, before = dag.first_in.tolist(), dag.predecessors.tolist()
    for task, work in enumerate(dag.work.tolist()):
        sources = before[first[task] : first[task + 1]]
        lines.append(" ".join(map(str, [task, int(work), len(sources), *sources])))
    return "\n".join(lines) + "\n"


def _whole(number: int, word: str, what: str) -> int:
    if not (word.isascii() and word.isdigit()):
        raise FileError(f"line {number}: {quoted(word)} is not {what}, a whole number from 0")
    if len(word) > MAX_DIGITS:
        raise FileError(f"line {number}: {quoted(word)} has more than {MAX_DIGITS} digits")
    return int(word)


def _time(number: int, word: str) -> float:
    try:
        time = float(word)
    except ValueError:
        raise FileError(f"line {number}: {quoted(word)} is not a processing time") from None
    fault = SECONDS.fault(time)
    if fault is not None:
        raise FileError(f"line {number}: processing time {quoted(word)} {fault}; it is 0 or more")
    return time
