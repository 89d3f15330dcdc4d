"""Layers from tables of measurements, and mappings as options of systems that run models.

A table is CSV with a line for each layer. Columns: ``layer``, its name; ``bytes``, which it hands
to the next one; ``memory``; ``memory_per_item``; and either ``work``, or a column of seconds for
each machine, by the machine's name. Only seconds or ``work`` must be there; an empty entry of
seconds forbids the layer on that machine. Timers around the modules of a model fill it.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Mapping
from io import StringIO
from typing import Any

from makespan.core.errors import FileError, InputError, ProblemError
from makespan.core.inputs.files import PathLike, read_text, shown_path
from makespan.core.inputs.rules import Mistakes, quoted
from makespan.core.inputs.suggest import did_you_mean, suggesting
from makespan.core.schedule import Schedule
from makespan.pipeline.mapping import mapping_of
from makespan.pipeline.problem import Pipeline

KNOWN = {
    "layer": "names",
    "bytes": "data",
    "memory": "memory",
    "memory_per_item": "memory_per_item",
    "work": "work",
}
"""Columns of tables, and what they are of stages; others are machines."""


@suggesting
def read_layers(path: PathLike) -> tuple[dict[str, Any], tuple[str, ...]]:
    r"""Read the stages of a pipeline from a table of measured layers.

    Parameters
    ----------
    path
        A CSV file: ``layer, A, B, bytes, memory``, with the seconds of each layer on the machines A
        and B; or ``layer, work, bytes, memory``.

    Returns
    -------
    columns, machines
        What :class:`makespan.Pipeline` takes as ``stages``, and the names of the machines, none
        where the table has works.

    Raises
    ------
    FileError
        With every mistake found, each with its line.

    >>> from io import StringIO
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w+", suffix=".csv") as file:
    ...     _ = file.write("layer,gpu,cpu,bytes\nembed,1.0,2.5,8\nhead,2.0,,0\n")
    ...     file.flush()
    ...     columns, machines = read_layers(file.name)
    >>> machines, columns["durations"]
    (('gpu', 'cpu'), [[1.0, 2.5], [2.0, inf]])
    """
    mistakes = Mistakes()
    table = csv.reader(StringIO(read_text(path, pipes=True), newline=""), skipinitialspace=True)
    try:
        lines = [(table.line_num, row) for row in table if any(row)]
    except csv.Error as error:
        raise FileError(f"{shown_path(path)}: line {table.line_num} is not CSV ({error})") from None
    header = [name.strip() for name in lines[0][1]] if lines else []
    machines = tuple(name for name in header if name not in KNOWN)
    if len(set(header)) < len(header):
        mistakes.add("line 1", "names a column twice")
    if bool(machines) == ("work" in header):
        mistakes.add("line 1", "has either a column 'work', or a column of seconds a machine")
    columns: dict[str, list[Any]] = {name: [] for name in header}
    for number, row in lines[1:]:
        if len(row) != len(header):
            mistakes.add(
                f"line {number}", f"has {len(row)} entries; the first line has {len(header)}"
            )
            continue
        for name, entry in zip(header, row, strict=True):
            columns[name].append(_entry(entry.strip(), name, number, mistakes))
    mistakes.raise_if_any(FileError, shown_path(path))
    found = {own: columns[name] for name, own in KNOWN.items() if name in columns}
    if machines:
        found["durations"] = [
            list(row) for row in zip(*(columns[each] for each in machines), strict=True)
        ]
    return found, machines


def _entry(entry: str, name: str, line: int, mistakes: Mistakes) -> Any:
    if name == "layer":
        return entry
    if not entry and name not in KNOWN:
        return math.inf
    try:
        return float(entry)
    except ValueError:
        mistakes.add(f"line {line}", f"{name}: {quoted(entry)} is not a number")
        return 0.0


Intervals = list[tuple[str, int, int]]
"""Of each interval the machine, its first stage, and the stage behind its last."""


def _vllm(problem: Pipeline, intervals: Intervals) -> str:
    counts = ",".join(str(last - first) for _, first, last in intervals)
    return f"VLLM_PP_LAYER_PARTITION={counts} --pipeline-parallel-size {len(intervals)}"


def _llama_cpp(problem: Pipeline, intervals: Intervals) -> str:
    devices = ",".join(machine for machine, _, _ in intervals)
    counts = ",".join(str(last - first) for _, first, last in intervals)
    return f"--split-mode layer --device {devices} --tensor-split {counts}"


def _exo(problem: Pipeline, intervals: Intervals) -> str:
    shards = {
        machine: {"start_layer": first, "end_layer": last, "n_layers": len(problem.stages)}
        for machine, first, last in intervals
    }
    return json.dumps(shards)


def _torch(problem: Pipeline, intervals: Intervals) -> str:
    names = [problem.stages.names[first] for _, first, _ in intervals[1:]]
    entries = ", ".join(f"{json.dumps(name)}: SplitPoint.BEGINNING" for name in names)
    return f"split_spec = {{{entries}}}"


SYSTEMS: Mapping[str, Callable[[Pipeline, Intervals], str]] = {
    "vllm": _vllm, "llama.cpp": _llama_cpp, "exo": _exo, "torch": _torch,
}  # fmt: skip


@suggesting
def options_for(system: str, problem: Pipeline, schedule: Schedule) -> str:
    """Return a mapping as the options of a system that runs models.

    Parameters
    ----------
    system
        ``"vllm"``: the variable ``VLLM_PP_LAYER_PARTITION``, the layers of each rank.
        ``"llama.cpp"``: ``--tensor-split``, the layers of each device in the order of ``--device``.
        ``"exo"``: JSON, first layer and layer behind the last one of each node.
        ``"torch"``: the ``split_spec`` of ``torch.distributed.pipelining.pipeline``, for stages
        that have the names of modules.
    problem, schedule
        A pipeline, and a plan of it. Stages are layers, and ranks the machines in their order.

    Raises
    ------
    InputError
        If there is no such system, or an interval is dealt to several machines.
    InvalidSchedule
        If the schedule is not one of the problem.

    >>> from makespan import solve
    >>> problem = Pipeline([1.0, 1.0, 1.0, 1.0], ["a", "b"], speeds=[1.0, 3.0])
    >>> options_for("vllm", problem, solve(problem).schedule)
    'VLLM_PP_LAYER_PARTITION=1,3 --pipeline-parallel-size 2'
    """
    if system not in SYSTEMS:
        raise InputError(f"system: {quoted(system)} is not known{did_you_mean(system, SYSTEMS)}")
    if not isinstance(problem, Pipeline):
        raise ProblemError("options for other systems are those of pipelines")
    mapping = mapping_of(problem, schedule.renamed(problem.machines))
    if any(len(group) > 1 for group in mapping.groups):
        raise InputError(
            f"{system} can't deal an interval to several machines; replicas is 1 there"
        )
    spans = zip(mapping.machines, mapping.edges, mapping.edges[1:], strict=False)
    intervals = [(problem.machines[machine], first, last) for machine, first, last in spans]
    return SYSTEMS[system](problem, intervals)
