"""GXL: the graph exchange language, as far as graphs of tasks need it.

Read are the nodes and edges of one graph with their attributes, each a name and a value such as
``<int>``. Which of them are works and sizes says :mod:`makespan.taskgraph.model.attributes`. A
schedule that stands beside them, as in Auckland's set of optimal schedules (Start time, Finish
time, Processor), is not read.

Source: Winter, Kullbach and Riediger 2002, "An overview of the GXL graph exchange language".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from makespan.core.errors import FileError
from makespan.core.inputs.documents import local, root_of
from makespan.core.inputs.mistakes import Mistakes, quoted
from makespan.taskgraph.model.attributes import SIZE, WORK, Column
from makespan.taskgraph.model.dag import Dag

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def read(text: str) -> Dag:
    """Return the graph in ``text``.

    Raises
    ------
    FileError
        If it is not GXL, holds no graph or several, or a work or size is not a number.

    >>> dag = read('''<gxl><graph id="g">
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
    works = Column(WORK, lambda name, _: f"node {quoted(name)}")
    sizes = Column(SIZE, lambda ends, _: f"edge {quoted(ends)}")
    names, nodes, ends, edges = [], [], [], []
    for number, part in enumerate(graphs[0], start=1):
        if local(part) == "node":
            names.append(_attribute(part, "id", f"part {number}", mistakes))
            nodes.append(works.entry(_attributes(part), names[-1]))
        elif local(part) == "edge":
            pair = [_attribute(part, key, f"part {number}", mistakes) for key in ("from", "to")]
            ends.append((pair[0], pair[1]))
            edges.append(sizes.entry(_attributes(part), ends[-1]))
    work, size = works.numbers(nodes, mistakes), sizes.numbers(edges, mistakes)
    cores = works.cores(names, nodes, mistakes)
    mistakes.raise_if_any(FileError)
    return Dag(
        list(zip(names, work, strict=True)),
        [(a, b, each) for (a, b), each in zip(ends, size, strict=True)],
        cores=cores,
        notes=(*works.notes, *sizes.notes),
    )


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
