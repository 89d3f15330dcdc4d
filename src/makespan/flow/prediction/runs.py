"""Files → runs, and on which machines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from makespan.core.errors import FileError, InputError, headed
from makespan.core.inputs.files import PathLike, read_text, shown_path
from makespan.core.inputs.rules import Mistakes, quoted
from makespan.flow.prediction.replay import Engine
from makespan.flow.timings import readers, splitting
from makespan.taskgraph.formats import traces
from makespan.taskgraph.formats.precedence import Timed
from makespan.taskgraph.formats.traces import Trace
from makespan.taskgraph.model.network import Network

MOST = 100_000  # machines
MACHINES = re.compile(r"(\d{1,6})(?:x(\d{1,6}))?(?:@(\d+(?:\.\d+)?))?", re.ASCII)
ALLOWED = "it is as 4, 4x48 (of 48 cores) or 2x8@1.5,4x8 (two 1.5 times as fast)"


def read_run(path: PathLike, graph: PathLike | None = None) -> Trace:
    """Return the run in a file, or in the benchmarks of a folder; see :func:`makespan.predict`."""
    name = shown_path(path)
    if name != "-" and Path(path).is_dir():
        inside = [each for each in sorted(Path(path).rglob("*")) if each.is_file()]
        texts = {each.relative_to(path).as_posix(): read_text(each) for each in inside}
        files = {each: text for each, text in texts.items() if traces.is_benchmark(text)}
    else:
        files = {name: read_text(path, pipes=True)}
    first = next(iter(files.values()), "")
    with headed(name):
        if not first.strip():
            raise FileError("is empty" if files else "holds no benchmark of Snakemake")
        if traces.is_trace(first):
            log = traces.read(files)
        else:
            taken = splitting.times_of(readers.read(first), None, None)
            log = traces.Log([Timed(test, seconds) for test, seconds in taken.items()])
    text = None if graph is None else read_text(graph, pipes=True)
    mistakes = Mistakes()
    with headed(name if graph is None else shown_path(graph)):
        run = log.run(text)
        run.dag.collect_mistakes(mistakes)
        mistakes.raise_if_any(FileError)
        if not len(run.dag):
            raise FileError("holds no task")
    return run


def machines_of(machines: int | str | Network | None, run: Trace) -> Network:
    """Return machines of some speeds and cores; of a number each has as many as a task takes."""
    if isinstance(machines, Network):
        return machines
    if machines is None:
        if not run.machines:
            raise InputError("machines: are missing: the trace does not say on how many it ran")
        return Network([1.0] * len(run.machines), cores=run.machines)
    cores: list[int] = []
    speeds: list[float] = []
    for part in str(machines).split(","):
        found = MACHINES.fullmatch(part)
        count, each, speed = found.groups() if found else (0, None, None)
        number, held = int(count), int(run.dag.cores.max()) if each is None else int(each)
        if not 0 < number <= MOST - len(cores) or not held or not float(speed or 1):
            raise InputError(f"machines: {quoted(machines)} is not allowed; {ALLOWED}")
        cores += [held] * number
        speeds += [float(speed or 1)] * number
    return Network(speeds, cores=cores)


def engine_of(run: Trace, network: Network, rank: Sequence[float] | None = None) -> Engine:
    """Return the tasks of a run on machines, of which one has the cores that a task takes."""
    task, most = int(run.dag.cores.argmax()), int(network.cores.max())
    if (cores := int(run.dag.cores[task])) > most:
        text = f"{quoted(run.dag.names[task])} takes {cores} cores, and no machine has above {most}"
        raise InputError(f"machines: {text}")
    return Engine(run.dag, network, run.reads, run.joins, rank)
