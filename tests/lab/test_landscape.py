"""A map of instances: features, the projection, who is best where, corners."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest

import makespan
from makespan import Dag, Experiment, FileError, Grid, InputError, Network, TaskGraph
from makespan.cli.main import run
from makespan.drawing.scatter import scatter_svg
from makespan.flow.kinds import KINDS, generate
from makespan.lab.features import features
from makespan.lab.landscape import _regions, problem_named
from makespan.lab.record import Record

GRID = Grid("taskgraph", options={"size": [4, 8], "machines": [2, 3]}, seeds=3)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table of three methods on twelve graphs, and the state of a search."""
    folder = tmp_path_factory.mktemp("landscape")
    path = folder / "results.jsonl"
    makespan.experiment(Experiment(GRID, methods=["heft", "cpop", "mct"]), output=path)
    makespan.adversary("mct", "taskgraph", chains=2, iterations=12, state=folder / "search.json")
    return path


def test_features_of_a_graph():
    """Counted and measured by hand."""
    dag = Dag({"a": 2.0, "b": 4.0, "c": 6.0}, [("a", "b", 8.0), ("a", "c", 4.0)])
    found = features(TaskGraph(dag, Network.complete(speeds=[1.0, 1.0])))
    assert found["number of tasks"] == pytest.approx(np.log10(3))
    assert found["spread of tasks.*.work"] == pytest.approx(np.std([2, 4, 6]) / 4)
    assert found["width"] == 1.5
    assert found["data to work"] == 0.0
    assert found["edges of a task"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("kind", KINDS)
def test_features_know_no_units(kind):
    """Numbers that are finite; another unit of time changes none of a collective."""
    found = features(generate(kind))
    assert len(found) >= 3
    assert np.isfinite(list(found.values())).all()
    if kind == "reduction":
        one, other = (
            makespan.Reduction(machines=3, segments=2, latency=t, transfer=2 * t, reduce=t / 2)
            for t in (1.5, 150.5)
        )
        assert features(one) == pytest.approx(features(other))


def test_a_graph_has_the_same_features_as_columns():
    """Above a thousand tasks a file has columns; the names of features stay."""
    few, many = (generate("taskgraph", options={"size": 1, "machines": 2}) for _ in range(2))
    names = [f"n{at}" for at in range(1001)]
    dag = Dag(dict.fromkeys(names, 1.0) | {"n0": 3.0}, [("n0", "n1", 1.0), ("n0", "n2", 2.0)])
    large = features(TaskGraph(dag, few.network))
    assert {"spread of tasks.*.work", "spread of edges.*.size"} <= set(large)
    assert not any("columns.work" in name for name in large)
    assert features(many)


def test_the_projection_is_that_of_the_covariance(table):
    """Eigenvectors of the correlation matrix, up to sign: an oracle that knows no SVD."""
    found = makespan.landscape(table)
    scaled = (found.values - found.values.mean(axis=0)) / found.values.std(axis=0)
    values, vectors = np.linalg.eigh(scaled.T @ scaled / len(scaled))
    assert found.shares == pytest.approx((values[::-1] / values.sum())[:2])
    for number in (0, 1):
        away = np.abs(vectors[:, -1 - number] @ found.axes[number])
        assert away == pytest.approx(1.0)
    assert found.points == pytest.approx(scaled @ found.axes.T)


def test_who_is_best(table):
    """As the rows say: the least makespan, or several."""
    found = makespan.landscape(table)
    rows = [json.loads(line) for line in table.read_text().splitlines()]
    for name, best in zip(found.instances, found.best.tolist(), strict=True):
        reached = {row["method"]: row["makespan"] for row in rows if row["instance"] == name}
        least = [m for m, value in reached.items() if value <= min(reached.values()) * (1 + 1e-9)]
        assert ([found.methods[best]] if best >= 0 else "several") == (
            least if len(least) == 1 else "several"
        )


def test_regions_are_of_the_nearest():
    """Two clouds, and a point of another group in one: it is outvoted but beside itself."""
    points = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [1.0, 1.0], [0.9, 1.0], [1.0, 0.9]])
    best = np.array([0, 0, 0, 1, 1, 1])
    cells = _regions(points, best, np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    assert cells[0, 0] == 0
    assert cells[1, 1] == 1


def test_corners_are_marked(table):
    """The worst of each chain, by its ratio; a file of a problem, by its name."""
    search = table.parent / "search.json"
    worst = makespan.adversary("mct", "taskgraph", chains=1, iterations=5)
    given = [search, generate("taskgraph", seed=9), worst]
    found = makespan.landscape(table, corners=given)
    chains = json.loads(search.read_text())["chains"]
    labels = [f"mct {chain['best_ratio']:.3g}" for chain in chains if chain["best"]]
    assert [label for label, *_ in found.corners] == [
        *labels,
        "given",
        f"mct {worst.ratio:.3g}",
    ]
    drawn = scatter_svg(found.scatter())
    assert all(label in drawn for label in labels)
    assert len(re.findall('class="point"', drawn)) == 12
    with pytest.raises(InputError, match="corners: given is of kind independent"):
        makespan.landscape(table, corners=[generate("independent")])


def test_instances_are_found_again(tmp_path, monkeypatch):
    """Generated ones by their names, files from here and from the table's folder, given ones."""
    for one in GRID:
        assert problem_named(one.name, {}, tmp_path) == one.problem()
    problem = generate("independent", seed=3)
    makespan.save(problem, tmp_path / "a.json")
    assert problem_named("a.json", {}, tmp_path) == problem
    assert problem_named("x", {"x": problem}, tmp_path) is problem
    with pytest.raises(InputError, match=r"b\.json: there is no such file"):
        problem_named("b.json", {}, tmp_path)


def record(name, kind="independent"):
    return Record(name, "lpt", "", 0, 1.0, "1", "here", "feasible", kind, 3, 1.0)


def test_what_can_not_be_mapped():
    names = [f"independent machines=2 tasks=4 seed={seed}" for seed in range(3)]
    with pytest.raises(InputError, match="a map needs 3 instances, and 2 are there: gone: there"):
        makespan.landscape([record(name) for name in (*names[:2], "gone")])
    with pytest.raises(InputError, match="kind: the tables hold independent, partition"):
        makespan.landscape([record(names[0]), record("x", "partition")])
    with pytest.raises(InputError, match="kind: 'flow' is not in the tables"):
        makespan.landscape([record(names[0])], kind="flow")
    same = {name: makespan.IndependentTasks(2, [1.0, 2.0]) for name in "abc"}
    with pytest.raises(InputError, match="all instances are alike"):
        makespan.landscape([record(name) for name in same], instances=same)
    with pytest.raises(InputError, match="there is no row"):
        makespan.landscape([])
    some = makespan.landscape([record(name) for name in (*names, "gone")])
    assert "1 instance left out: gone" in some.notes[0]


def test_the_command(table, capsys):
    """A summary, a page without scripts, pictures, and the points as a table."""
    outputs = [
        table.parent / f"map{suffix}" for suffix in (".html", ".svg", ".png", ".pdf", ".csv")
    ]
    asked = [word for path in outputs for word in ("-o", str(path))]
    assert run(["landscape", str(table), *asked]) == 0
    assert "of the variance" in capsys.readouterr().out
    page = outputs[0].read_text()
    assert "<script" not in page
    assert "prefers-color-scheme: dark" in page
    assert outputs[2].read_bytes().startswith(b"\x89PNG")
    assert outputs[3].read_bytes().startswith(b"%PDF")
    rows = list(csv.DictReader(outputs[4].read_text().splitlines()))
    assert len(rows) == 12
    assert set(rows[0]) >= {"instance", "best", "x", "y", "data to work"}
    assert run(["landscape", str(table), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"]["instance"] == [
        row["instance"] for row in rows
    ]


def test_a_broken_corner(table, tmp_path):
    path = tmp_path / "broken.json"
    path.write_text("{")
    with pytest.raises(FileError, match=r"broken\.json"):
        makespan.landscape(table, corners=[path])
