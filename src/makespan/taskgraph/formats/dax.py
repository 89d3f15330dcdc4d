"""DAX: the abstract workflows of Pegasus, versions 2 and 3.

A job's work is its runtime in seconds. The size of an edge is the sum of the files that its source
writes and its target reads, in bytes; edges are those of ``child`` and ``parent``.

Source: Deelman et al. 2015; https://pegasus.isi.edu, schema DAX 3.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from makespan.core.errors import FileError
from makespan.core.inputs.documents import local, root_of
from makespan.core.inputs.mistakes import Mistakes, quoted
from makespan.taskgraph.model.attributes import Column, Quantity
from makespan.taskgraph.model.dag import Dag

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

RUNTIME = Quantity("runtime", "job", ("runtime",), 1.0, "a runtime is 0 or more seconds")
BYTES = Quantity("size", "file", ("size",), 0.0, "a size is 0 or more bytes")
JOBS = ("job", "dax", "dag")


def read(text: str) -> Dag:
    """Return the graph in ``text``.

    Raises
    ------
    FileError
        If it is not DAX, or a runtime or size is not a number.

    >>> dag = read('''<adag><job id="a" runtime="2"><uses file="x" link="output" size="8"/></job>
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
    used = [(name, each) for name, job in zip(names, jobs, strict=True) for each in _uses(job)]
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


def _uses(job: Element) -> list[Element]:
    return [part for part in job if local(part) == "uses"]


def _file(use: Element) -> str:
    return use.get("file") or use.get("name") or ""
