"""Task graphs in the formats of others: WfFormat, STG, DOT, GraphML, GXL, DAX, networkx, Dask."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from makespan.core.errors import FileError, headed
from makespan.core.inputs.files import PathLike, read_text, shown_path

if TYPE_CHECKING:
    from makespan.taskgraph.model.dag import Dag
    from makespan.taskgraph.model.network import Network
    from makespan.taskgraph.problem import TaskGraph

MACHINES = 4
IN_BYTES = (".json", ".dax", ".xml")
BYTES_PER_SECOND = 1.25e8
"""The default network of files that name none: equal machines; for bytes, 1 Gbit/s links."""


def read(path: PathLike, network: Network | None = None) -> TaskGraph:
    """Read a task graph from a file in a format of others.

    That is WfFormat (``.json``), STG, DOT (``.dot``, ``.gv``), GraphML, GXL or DAX (``.dax``,
    ``.xml``).

    Parameters
    ----------
    network
        The machines; four equal ones, completely linked, if omitted (WfFormat, DAX: 1 Gbit/s).

    Raises
    ------
    FileError
        If the file can't be read, or is not what its suffix says.
    ProblemError
        If the graph in it breaks the statement of task graphs.
    MissingExtra
        If networkx, which reads GraphML, is not installed.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in READERS:
        raise FileError(f"{path}: no graph has suffix {suffix!r}; known are {', '.join(READERS)}")
    return problem_in(read_text(path, pipes=True), suffix, shown_path(path), network)


def problem_in(text: str, suffix: str, name: str, network: Network | None = None) -> TaskGraph:
    """Return the problem in the text of a file called ``name``; see :func:`read`."""
    from makespan.taskgraph.problem import TaskGraph

    with headed(name):
        if not text.strip():
            raise FileError("is empty")
        module, _, reader = READERS[suffix].partition(":")
        dag: Dag = getattr(import_module(f"{__name__}.{module}"), reader)(text)
        if network is not None:
            return TaskGraph(dag, network)
        return on_equal_machines(dag, BYTES_PER_SECOND if suffix in IN_BYTES else 1.0)


def on_equal_machines(dag: Dag, rate: float) -> TaskGraph:
    """Return the problem of a graph that came without machines."""
    from makespan.taskgraph.model.network import Network
    from makespan.taskgraph.problem import TaskGraph

    cores = int(dag.cores.max(initial=1))
    several = f" with {cores} cores" if cores > 1 else ""
    said = (
        f"the file names no machines: {MACHINES} of speed 1{several} are assumed, "
        f"each linked to each at a rate of {rate:.10g} a second",
    )
    return TaskGraph(dag, Network([1.0] * MACHINES, cores=cores, rate=rate), assumed=said)


READERS = {
    ".json": "wfformat:read_json",
    ".stg": "stg:read",
    ".dot": "dot:read",
    ".gv": "dot:read",
    ".graphml": "xml:read_graphml",
    ".gxl": "xml:read_gxl",
    ".dax": "xml:read_dax",
    ".xml": "xml:read_dax",
}
"""Module and function that read a text, by suffix."""
