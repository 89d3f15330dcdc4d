"""Traces of Nextflow, Snakemake, ninja and Dask, and the graphs beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaign import traces as campaign
from campaign.part import Trial
from makespan.core.errors import InputError
from makespan.taskgraph.formats.precedence import Timed, ordered
from makespan.taskgraph.formats.traces import Trace, is_trace, read
from tests.thorough import up_to

TRACES = Path(__file__).parents[3] / "campaign" / "corpus" / "traces"


def text(name: str) -> str:
    return (TRACES / name).read_text("utf-8")


def run(name: str, graph: str | None = None) -> Trace:
    return read({name: text(name)}).run(None if graph is None else text(graph))


def edges(found: Trace) -> set[tuple[str, str]]:
    names = found.dag.names
    return {(names[a], names[b]) for a, b in zip(found.dag.source, found.dag.target, strict=True)}


def test_commands_of_a_build_wait_as_ninja_says():
    """A command with two outputs is one task; order-only inputs count, phony targets pass on."""
    found = run("ninja_log.txt", "ninja.dot")
    assert dict(zip(found.dag.names, found.dag.work.tolist(), strict=True)) == {
        "out.h": 0.113, "b.o": 0.219, "out.o": 0.053, "a.o": 0.344, "lib": 0.153, "prog": 0.157,
    }  # fmt: skip
    assert edges(found) == {
        ("out.h", "a.o"), ("out.h", "b.o"), ("out.h", "out.o"), ("a.o", "lib"), ("b.o", "lib"),
        ("lib", "prog"), ("out.o", "prog"),
    }  # fmt: skip
    assert (found.makespan, list(found.machines)) == (0.767, [2])


def test_an_output_that_was_built_twice_counts_once():
    log = text("ninja_log.txt") + "5\t8\t0\tlib\tff\n"
    found = read({"log": log}).run()
    assert found.dag.work[found.dag.names.index("lib")] == 0.003
    assert found.makespan is None


def test_jobs_of_snakemake_have_numbers_or_the_mean_of_their_rule():
    paths = sorted((TRACES / "bench").rglob("*.tsv"))
    files = {path.relative_to(TRACES).as_posix(): path.read_text() for path in paths}
    found = read(files).run(text("snakemake.dot"))
    work = dict(zip(found.dag.names, found.dag.work.tolist(), strict=True))
    assert work["bench/align/a.tsv"] == 1.22
    assert found.dag.cores[found.dag.names.index("bench/align/a.tsv")] == 2
    assert ("bench/align/a.tsv", "bench/sort.a.tsv") in edges(found)
    short = {
        name: "\n".join("\t".join(line.split("\t")[:10]) for line in each.splitlines())
        for name, each in files.items()
        if name != "bench/sort.b.tsv"
    }
    plain = read(short).run(text("snakemake.dot"))
    assert dict(zip(plain.dag.names, plain.dag.work.tolist(), strict=True)) == pytest.approx(
        {"report 1": 0.32, "sort 2": 0.51, "align 3": 1.215, "sort 4": 0.51, "align 5": 1.215}
    )
    assert len(edges(plain)) == 4


def test_tasks_of_nextflow_wait_for_their_sample_or_for_all():
    found = run("nextflow.txt", "nextflow.dot")
    assert found.dag.names == (
        "RNA:FASTQC (s1)", "RNA:FASTQC (s2)", "RNA:ALIGN (s1)", "RNA:ALIGN (s2)", "RNA:MULTIQC",
    )  # fmt: skip
    assert ("RNA:FASTQC (s1)", "RNA:ALIGN (s1)") in edges(found)
    assert ("RNA:FASTQC (s1)", "RNA:ALIGN (s2)") not in edges(found)
    assert {(each, "RNA:MULTIQC") for each in found.dag.names[:4]} <= edges(found)
    assert found.dag.cores.tolist() == [1, 1, 2, 2, 1]
    assert found.reads[0] == 1.5 * 1024**3
    assert found.setup == 2.5


def test_raw_times_of_nextflow_are_milliseconds():
    head = "name\tstatus\tsubmit\tduration\trealtime\trchar\n"
    found = read({"t": f"{head}A\tCOMPLETED\t1711019422123\t2500\t2000\t4096\n"}).run()
    assert (found.dag.work.tolist(), found.reads, found.makespan) == ([2.0], [4096.0], 2.5)


def test_tasks_of_dask_have_the_seconds_they_computed():
    found = run("stream.json", "stream_graph.json")
    assert found.dag.names == ("f-1", "f-2", "f-3", "g-1")
    assert found.dag.work[3] == pytest.approx(0.08)
    assert edges(found) == {("f-1", "g-1"), ("f-2", "g-1"), ("f-3", "g-1")}
    assert list(found.machines) == [1, 1]
    assert found.makespan == pytest.approx(0.205)


def test_what_took_no_time_passes_on_or_joins():
    """Few edges go around a node, of many the node stays."""
    first = [Timed(f"a{index}", 1.0) for index in range(20)]
    last = [Timed(f"b{index}", 1.0) for index in range(20)]
    tasks = {task.name: [task] for task in [*first, *last]}
    lines = [f"{a.name} -> m" for a in first] + [f"m -> n; n -> {b.name}" for b in last]
    found = ordered(f"digraph {{ {'; '.join(lines)} }}", lambda _: tasks)
    assert found.joins == ["join 1"]
    assert set(found.edges) == {
        *((a.name, "join 1") for a in first), *(("join 1", b.name) for b in last),
    }  # fmt: skip
    few = ordered("digraph { a0 -> m -> n -> b0 }", lambda _: tasks)
    assert few.edges == [("a0", "b0")]


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("ninja_log.txt", "114\t333", "333\t114", "line 4: 114 is not allowed; an end is not"),
        (
            "ninja_log.txt",
            "114\t333",
            "x\t333",
            "line 4: .* is not allowed; it is start, end, time",
        ),
        ("nextflow.txt", "\t10s\t", "\tlong\t", "line 2.realtime: 'long' is not allowed; a time"),
        ("nextflow.txt", "2024-03-21 11:10:22.200\t15.5s", "noon\t15.5s", "line 3.start: 'noon'"),
        ("nextflow.txt", "3 GB", "3 apples", "line 5.rchar: '3 apples' is not allowed; a size is"),
        ("nextflow.txt", "180%\t2", "180%\t-2", "line 5.cpus: '-2' is not allowed; the cores of"),
        ("nextflow.txt", "\t12 MB", "", "line 7: has 12 columns; line 1 names 13"),
        ("nextflow.txt", "COMPLETED", "ABORTED", "holds no task that was completed"),
        ("bench/report.tsv", "0.32", "soon", "line 2.s: 'soon' is not allowed; a time is 0 or"),
        ("bench/report.tsv", "\t1\t0\t", "\tmany\t0\t", "line 2.threads: 'many' is not allowed"),
        ("stream.json", '"startstops"', '"spans"', r"\[0\]: .* is not allowed; it is an object"),
        ("stream.json", "1795710861.076", "1", r"\[0\].startstops\[0\].stop: 1.0 is not allowed"),
        ("stream.json", "]\n", "", "is not JSON"),
        ("workflow.json", "24.0", "-24.0", "makespanInSeconds: -24.0 is negative; a makespan is"),
        ("workflow.json", '"coreCount": 2', '"coreCount": "a"', "coreCount: 'a' is not a number"),
    ],
)
def test_what_is_broken_is_refused_with_its_place(name, old, new, said):
    changed = text(name).replace(old, new)
    assert changed != text(name)
    with pytest.raises(InputError, match=said):
        read({name: changed})


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        ("digraph { x -> y }", "the graph has no task of the trace; it has 'x', 'y'"),
        ("graph { x -- y }", "begins with 'graph'; a graph of tasks is a digraph"),
        ('{"lib": "prog"}', "lib: 'prog' is not allowed; it is a list of the names"),
        ('{"lib": ', "is not JSON"),
    ],
)
def test_graphs_that_are_none_are_refused(graph, said):
    with pytest.raises(InputError, match=said):
        read({"log": text("ninja_log.txt")}).run(graph)


def test_texts_that_are_no_traces_are_told_apart():
    assert all(map(is_trace, map(text, campaign.GRAPHS)))
    assert not any(map(is_trace, ["", '{"a.py::x": 1}', "<testsuites/>", "name,seconds\na,1\n"]))


@pytest.mark.parametrize("count", up_to(60, 600))
def test_changed_bytes_are_read_or_refused(tmp_path, count):
    for seed in range(count):
        campaign.attempt(Trial(seed=f"{seed}", folder=tmp_path))
