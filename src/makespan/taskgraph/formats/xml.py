"""Formats of graphs in XML: DAX, GXL and GraphML.

DAX are the abstract workflows of Pegasus, versions 2 and 3. A job's work is its runtime in seconds.
The size of an edge is the sum of the files that its source writes and its target reads, in bytes;
edges are those of ``child`` and ``parent``. Of GXL, the graph exchange language, the nodes and
edges of one graph are read with their attributes, each a name and a value such as ``<int>``. Which
of them are works and sizes says :mod:`makespan.taskgraph.model.attributes`. A schedule that stands
beside them, as in Auckland's set of optimal schedules (Start time, Finish time, Processor), is not
read. GraphML is read by networkx.

Source: Deelman et al. 2015, https://pegasus.isi.edu, schema DAX 3.6; Winter, Kullbach and Riediger
2002, "An overview of the GXL graph exchange language".
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from makespan.core.errors import FileError
from makespan.core.inputs.documents import local, root_of
from makespan.core.inputs.rules import Mistakes, quoted
from makespan.core.system.startup import optional
from makespan.taskgraph.model.attributes import Column, Elements, Quantity
from makespan.taskgraph.model.dag import Dag

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

RUNTIME = Quantity("runtime", "job", ("runtime",), 1.0, "a runtime is 0 or more seconds")
BYTES = Quantity("size", "file", ("size",), 0.0, "a size is 0 or more bytes")
JOBS = ("job", "dax", "dag")


def read_dax(text: str) -> Dag:
    """Return the graph in ``text``.

    Raises FileError if it is not DAX, or a runtime or size is not a number.

    >>> dag = read_dax('''<adag>
    ...   <job id="a" runtime="2"><uses file="x" link="output" size="8"/></job>
    ...   <job id="b" runtime="3.5"><uses file="x" link="input" size="8"/></job>
    ...   <child ref="b"><parent ref="a"/></child></adag>''')
    >>> dag.work.tolist(), dag.size.tolist()
    ([2.0, 3.5], [8.0])
    """
    root, mistakes = root_of(text, "adag", "DAX"), Mistakes()
    jobs = [part for part in root if local(part) in JOBS]
    runtimes = Column(RUNTIME, lambda job, _: f"job {quoted(job)}")
    sizes = Column(BYTES, lambda file, _: f"file {quoted(file)}")
    names = [part.get("id", "") for part in jobs]
    entries = [runtimes.entry(_kept(part, "runtime"), part.get("id", "")) for part in jobs]
    parts = [(name, each) for name, job in zip(names, jobs, strict=True) for each in job]
    used = [(name, each) for name, each in parts if local(each) == "uses"]
    size = sizes.numbers([sizes.entry(_kept(e, "size"), _file(e)) for _, e in used], mistakes)
    work = runtimes.numbers(entries, mistakes)
    mistakes.raise_if_any(FileError)
    written: dict[str, dict[str, float]] = {}
    needed: dict[str, set[str]] = {}
    for (name, use), each in zip(used, size, strict=True):
        link = str(use.get("link", "")).lower()
        if link in ("output", "inout"):
            written.setdefault(name, {})[_file(use)] = each
        if link in ("input", "inout"):
            needed.setdefault(name, set()).add(_file(use))
    pairs = dict.fromkeys(
        (str(parent.get("ref", "")), str(child.get("ref", "")))
        for child in root
        if local(child) == "child"
        for parent in child
        if local(parent) == "parent"
    )
    edges = [
        (a, b, sum(s for file, s in written.get(a, {}).items() if file in needed.get(b, ())))
        for a, b in pairs
    ]
    return Dag(list(zip(names, work, strict=True)), edges, notes=(*runtimes.notes, *sizes.notes))


def _kept(part: Element, key: str) -> list[tuple[str, str]]:
    value = part.get(key)
    return [] if value is None else [(key, value)]


def _file(use: Element) -> str:
    return use.get("file") or use.get("name") or ""


def read_gxl(text: str) -> Dag:
    """Return the graph in ``text``.

    Raises FileError if it is not GXL, holds no graph or several, or a work or size is not a number.

    >>> dag = read_gxl('''<gxl><graph id="g">
    ...   <node id="a"><attr name="Weight"><int>2</int></attr></node> <node id="b"/>
    ...   <edge from="a" to="b"><attr name="Weight"><int>4</int></attr></edge></graph></gxl>''')
    >>> dag.names, dag.work.tolist(), dag.size.tolist()
    (('a', 'b'), [2.0, 1.0], [4.0])
    """
    root = root_of(text, "gxl", "GXL", typed=True)
    graphs = [each for each in root.iter() if local(each) == "graph"]
    if len(graphs) != 1:
        raise FileError(f"holds {len(graphs)} graphs; one is read, without graphs inside its nodes")
    mistakes = Mistakes()
    elements = Elements(
        lambda name, _: f"node {quoted(name)}", lambda ends, _: f"edge {quoted(ends)}"
    )
    nodes, edges = [], []
    for number, part in enumerate(graphs[0], start=1):
        if local(part) == "node":
            name = _attribute(part, "id", f"part {number}", mistakes)
            nodes.append((name, elements.works.entry(_attributes(part), name)))
        elif local(part) == "edge":
            a, b = (_attribute(part, key, f"part {number}", mistakes) for key in ("from", "to"))
            edges.append((a, b, elements.sizes.entry(_attributes(part), (a, b))))
    return Dag(**elements.arguments(nodes, edges, mistakes))


def _attribute(part: Element, key: str, place: str, mistakes: Mistakes) -> str:
    value = part.get(key)
    if value is None:
        mistakes.add(place, f"a {local(part)} of GXL has an attribute {key!r}")
    return value or ""


def _attributes(part: Element) -> Iterator[tuple[str, str]]:
    """Yield the names and values of the attributes of a node or an edge."""
    for each in part:
        name = each.get("name")
        if local(each) == "attr" and name is not None:
            yield name, "".join(each.itertext()).strip()


def read_graphml(text: str) -> Dag:
    """Return the graph of a GraphML document, or raise FileError; MissingExtra without networkx."""
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
