"""GraphML, which networkx reads."""

from __future__ import annotations

import warnings

from makespan.core.errors import FileError
from makespan.core.inputs.documents import root_of
from makespan.core.inputs.mistakes import quoted
from makespan.core.system.startup import optional
from makespan.taskgraph.model.dag import Dag


def read(text: str) -> Dag:
    """Return the graph of a GraphML document.

    Raises
    ------
    FileError
        If it is not one, or holds what a graph of tasks can't be.
    MissingExtra
        If networkx is not installed.
    """
    networkx = optional("networkx")
    root = root_of(text, "graphml", "GraphML")
    if (count := sum(each.tag.endswith("}graph") for each in root.iter())) != 1:
        raise FileError(f"holds {count} graphs; one is read, without graphs inside its nodes")
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            graph = networkx.parse_graphml(text)
    except networkx.NetworkXError as error:
        raise FileError(f"is not GraphML: {error}") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise FileError(f"is not GraphML as networkx reads it: {quoted(error)}") from None
    dag = Dag.from_networkx(graph)
    dag.notes = (*(f"networkx: {warning.message}" for warning in told), *dag.notes)
    return dag
