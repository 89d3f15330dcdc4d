"""Task graphs in the formats of others: WfFormat, STG, DOT, networkx, Dask."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from makespan.core.errors import FileError

if TYPE_CHECKING:
    from makespan.taskgraph.dag import Dag
    from makespan.taskgraph.network import Network
    from makespan.taskgraph.problem import TaskGraph

MACHINES = 4
BYTES_PER_SECOND = 1.25e8
"""The default network of files that name none: equal machines; for bytes, 1 Gbit/s links."""


def read(path: str | os.PathLike[str], network: Network | None = None) -> TaskGraph:
    """Read a task graph from a WfFormat (``.json``), STG or DOT (``.dot``, ``.gv``) file.

    Parameters
    ----------
    network
        The machines; four equal ones, completely linked, if omitted (WfFormat: 1 Gbit/s).

    Raises
    ------
    FileError
        If the file can't be read, or is not what its suffix says.
    ProblemError
        If the graph in it breaks the statement of task graphs.
    """
    from makespan.taskgraph.problem import TaskGraph

    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in READERS:
        raise FileError(f"{path}: no graph has suffix {suffix!r}; known are {', '.join(READERS)}")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: can't be read: {error}") from error
    try:
        dag = READERS[suffix](text)
    except FileError as error:
        raise FileError(error.mistakes, heading=str(path)) from None
    if network is None:
        return on_equal_machines(dag, BYTES_PER_SECOND if suffix == ".json" else 1.0)
    return TaskGraph(dag, network)


def on_equal_machines(dag: Dag, rate: float) -> TaskGraph:
    """Return the problem of a graph that came without machines."""
    from makespan.taskgraph.network import Network
    from makespan.taskgraph.problem import TaskGraph

    return TaskGraph(dag, Network([1.0] * MACHINES, rate=rate))


def _wfformat(text: str) -> Dag:
    import json

    from makespan.taskgraph.formats import wfformat

    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"is not JSON: {error}") from None
    return wfformat.read(data)


def _stg(text: str) -> Dag:
    from makespan.taskgraph.formats import stg

    return stg.read(text)


def _dot(text: str) -> Dag:
    from makespan.taskgraph.formats import dot

    return dot.read(text)


READERS: dict[str, Callable[[str], Dag]] = {
    ".json": _wfformat,
    ".stg": _stg,
    ".dot": _dot,
    ".gv": _dot,
}
"""Readers of texts by suffix."""
