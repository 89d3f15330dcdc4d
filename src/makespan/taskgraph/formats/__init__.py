"""Task graphs in the formats of others: WfFormat, STG, DOT, GraphML, GXL, DAX, networkx, Dask."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from makespan.core.errors import FileError, ProblemError, headed
from makespan.core.inputs.files import PathLike, read_text, shown_path
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.problem import NO_MACHINES

if TYPE_CHECKING:
    from makespan.taskgraph.model.dag import Dag
    from makespan.taskgraph.model.network import Network
    from makespan.taskgraph.problem import TaskGraph

MACHINES = 4
IN_BYTES = (".json", ".dax", ".xml")
BYTES_PER_SECOND = 1.25e8
"""The default network of files that name none: equal machines; for bytes, 1 Gbit/s links."""
BESIDE_GRAPH = (
    *("network", "machines", "speeds", "communication", "contention", "assignment", "sequence"),
    *("duplication", "deadline", "budget", "objective", "options"),
)
"""What may be given beside a graph whose format has no word for it."""


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


def problem_in(
    text: str,
    suffix: str,
    name: str,
    network: Network | None = None,
    given: Mapping[str, Any] | None = None,
) -> TaskGraph:
    """Return the problem in the text of a file called ``name``; see :func:`read`.

    ``given`` are the parts of a problem that the format lacks, see :func:`on_machines`.
    """
    from makespan.taskgraph.problem import TaskGraph

    with headed(name):
        checked = beside_graph(given or {})
        if not text.strip():
            raise FileError("is empty")
        module, _, reader = READERS[suffix].partition(":")
        dag: Dag = getattr(import_module(f"{__name__}.{module}"), reader)(text)
        if network is not None:
            return TaskGraph(dag, network)
        return on_machines(dag, BYTES_PER_SECOND if suffix in IN_BYTES else 1.0, checked)


def beside_graph(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is given beside a graph that came without machines, refusing all else."""
    for name in given:
        if name not in BESIDE_GRAPH:
            hint = did_you_mean(name, BESIDE_GRAPH)
            raise ProblemError(f"{name}: can't be given beside a graph{hint}")
    return given


def on_machines(dag: Dag, rate: float, given: Mapping[str, Any]) -> TaskGraph:
    """Return the problem of a graph that came without machines.

    ``rate`` is in units of data per second of each link, where no network says it. ``given`` is
    what files of task graphs hold besides the graph: ``network`` as a table, or ``machines`` (how
    many) or ``speeds``, and ``contention``, ``deadline`` and the like. Raises ProblemError if what
    it holds is not allowed.
    """
    from makespan.taskgraph.model.network import Network
    from makespan.taskgraph.model.network_forms import network_of
    from makespan.taskgraph.problem import TaskGraph

    fields = dict(given)
    table, machines = fields.pop("network", None), fields.pop("machines", None)
    speeds = fields.pop("speeds", None)
    if table is not None:
        return TaskGraph(dag, network_of(table), **fields)
    named = speeds is not None or machines is not None
    count = MACHINES if machines is None else machines
    speeds = [1.0] * count if speeds is None else speeds
    cores = int(dag.cores.max(initial=1))
    several = f" with {cores} cores" if cores > 1 else ""
    speed = f"{rate:.10g} a second"
    said = (
        f"the file names no links: each machine{several} is linked to each at a rate of {speed}"
        if named
        else f"{NO_MACHINES}: {MACHINES} of speed 1{several} are assumed, "
        f"each linked to each at a rate of {speed}"
    )
    return TaskGraph(dag, Network(speeds, cores=cores, rate=rate), assumed=(said,), **fields)


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
