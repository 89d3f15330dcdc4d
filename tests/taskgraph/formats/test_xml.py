"""GXL and DAX: graphs and workflows in XML."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.sets import auckland, known, run
from makespan import FileError, Network, ProblemError, read_problem, solve
from makespan.taskgraph import formats
from makespan.taskgraph.formats import dot
from makespan.taskgraph.generate import graphs as generators

GXL = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE gxl SYSTEM "http://www.gupro.de/GXL/gxl-1.0.dtd">
<gxl><graph id="fork_schedule.gxl">
  <attr name="Number of processors"><int>2</int></attr>
  <attr name="Total schedule length">
    <int>6</int>
  </attr>
  <node id="0">
    <attr name="Start time"><int>0</int></attr><attr name="Weight"><int>2</int></attr>
  </node>
  <node id="1">
    <attr name="Start time"><int>2</int></attr><attr name="Weight"><int>4</int></attr>
  </node>
  <node id="2">
    <attr name="Start time"><int>3</int></attr><attr name="Weight"><int>3</int></attr>
  </node>
  <edge from="0" to="1"><attr name="Weight"><int>3</int></attr></edge>
  <edge from="0" to="2"><attr name="Weight"><int>1</int></attr></edge>
</graph></gxl>
"""
DAX = """<?xml version="1.0"?>
<!-- made by hand -->
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1" jobCount="3">
  <job id="ID1" name="split" runtime="2.5">
    <uses file="x" link="output" size="100"/><uses file="y" link="output" size="7"/>
  </job>
  <job id="ID2" runtime="3"><uses file="x" link="input" size="100"/></job>
  <job id="ID3" runtime="4">
    <uses name="x" link="input" size="100"/><uses file="y" link="inout" size="7"/>
  </job>
  <child ref="ID2"><parent ref="ID1"/></child>
  <child ref="ID3"><parent ref="ID1"/><parent ref="ID2"/></child>
</adag>
"""


def test_gxl(tmp_path: Path) -> None:
    """Works and sizes are weights; a schedule beside them is noted as not read."""
    path = tmp_path / "fork.gxl"
    path.write_text(GXL)
    problem = formats.read(path, Network([1.0, 1.0]))
    assert problem.dag.names == ("0", "1", "2")
    assert problem.dag.work.tolist() == [2.0, 4.0, 3.0]
    assert problem.dag.size.tolist() == [3.0, 1.0]
    assert "'Start time'" in problem.notes[0]
    assert solve(problem).makespan == 6.0


def test_gxl_says_what_dot_says() -> None:
    """A graph written by hand in both is the same graph."""
    dag = generators.layered(20, rng=1)
    nodes = "".join(
        f'<node id="{name}"><attr name="Weight"><float>{work!r}</float></attr></node>'
        for name, work in zip(dag.names, dag.work.tolist(), strict=True)
    )
    edges = "".join(
        f'<edge from="{dag.names[a]}" to="{dag.names[b]}"><attr name="Weight">'
        f"<float>{size!r}</float></attr></edge>"
        for a, b, size in zip(
            dag.source.tolist(), dag.target.tolist(), dag.size.tolist(), strict=True
        )
    )
    text = f"<gxl><graph>{nodes}{edges}</graph></gxl>"
    one = formats.problem_in(text, ".gxl", "x.gxl").dag
    other = formats.problem_in(dot.write(dag), ".dot", "x.dot").dag
    assert one.names == other.names
    for column in ("work", "source", "target", "size"):
        assert np.array_equal(getattr(one, column), getattr(other, column))


def test_dax(tmp_path: Path) -> None:
    """Files that a job writes and another reads are the size of the edge between them."""
    for name in ("work.dax", "work.xml", "work.txt"):
        path = tmp_path / name
        path.write_text(DAX)
        problem = read_problem(path)
        assert problem.dag.names == ("ID1", "ID2", "ID3")
        assert problem.dag.work.tolist() == [2.5, 3.0, 4.0]
        edges = zip(problem.dag.source, problem.dag.target, problem.dag.size, strict=True)
        assert sorted(edges) == [(0, 1, 100.0), (0, 2, 107.0), (1, 2, 0.0)]
        assert "1.25e" in problem.notes[0] or "125000000" in problem.notes[0]


@pytest.mark.parametrize(
    ("suffix", "text", "said"),
    [
        (".gxl", "<gxl", "is not GXL"),
        (".gxl", "<graphml/>", "is XML ('graphml'), but not GXL"),
        (".gxl", "<gxl/>", "holds 0 graphs"),
        (".gxl", '<!DOCTYPE gxl [<!ENTITY a "b">]><gxl/>', "declares entities"),
        (".gxl", "<gxl><graph><node/></graph></gxl>", "a node of GXL has an attribute 'id'"),
        (
            ".gxl",
            '<gxl><graph><node id="a"><attr name="Weight"><string>far</string></attr></node>'
            "</graph></gxl>",
            "node 'a': weight 'far' is not a number; work is a number, 0 or more",
        ),
        (".dax", '<adag><job id="a" runtime="soon"/></adag>', "job 'a': runtime 'soon'"),
        (".dax", "<gxl/>", "is XML ('gxl'), but not DAX"),
        (".xml", "<!DOCTYPE adag><adag/>", "declares entities or a document type"),
    ],
)
def test_what_is_wrong_is_said(suffix: str, text: str, said: str) -> None:
    """Each mistake names the place and what is allowed."""
    with pytest.raises(FileError) as error:
        formats.problem_in(text, suffix, f"graph{suffix}")
    assert said in str(error.value)


def test_edges_to_nowhere_are_mistakes() -> None:
    """A child or parent that is no job is named."""
    with pytest.raises(ProblemError, match="b"):
        formats.problem_in(
            '<adag><job id="a" runtime="1"/><child ref="b"><parent ref="a"/></child></adag>',
            ".dax",
            "x.dax",
        )


def test_a_set_is_run_row_by_row(tmp_path: Path) -> None:
    """What has a row is not solved again; the published optimum stands beside ours."""
    (tmp_path / "fork.gxl").write_text(GXL)
    rows = tmp_path / "rows.csv"
    for _ in range(2):
        run(auckland(tmp_path), rows, seconds=5.0, within=100.0, again=True, plans=None)
    assert len(rows.read_text().splitlines()) == 2
    row = known(rows)["fork", 2]
    assert (row["published"], row["makespan"], row["status"]) == ("6.0", "6.0", "optimal")
