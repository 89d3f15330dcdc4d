"""Generated graphs."""

from __future__ import annotations

import numpy as np
import pytest

from makespan import Network, ProblemError, TaskGraph
from makespan.taskgraph.generate import generate, graphs as generators
from makespan.taskgraph.generate.graphs import GENERATORS

ARGUMENTS: dict[str, tuple[int, ...]] = {
    "layered": (40,),
    "fork-join": (5,),
    "tree": (4,),
    "gaussian-elimination": (6,),
    "fft": (8,),
    "cholesky": (5,),
    "stencil": (4, 6),
}


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("ccr", [0.0, 0.1, 5.0])
def test_valid_and_with_the_ratio_asked_for(name: str, ccr: float) -> None:
    """Every generated graph is a valid problem, and mean size over mean work is the ratio."""
    dag = GENERATORS[name](*ARGUMENTS[name], ccr=ccr)
    TaskGraph(dag, Network([1.0]))
    assert dag.size.mean() == pytest.approx(ccr * dag.work.mean())


@pytest.mark.parametrize("name", ["layered", "fork-join", "tree"])
def test_seeds(name: str) -> None:
    """The same seed gives the same graph, another seed another one."""
    one, two, three = (GENERATORS[name](*ARGUMENTS[name], rng=seed) for seed in (1, 1, 2))
    assert one == two != three


@pytest.mark.parametrize(
    ("dag", "tasks", "edges"),
    [
        (generators.fork_join(5, stages=2), 13, 20),
        (generators.tree(4, children=3), 40, 39),
        (generators.fft(8), 32, 48),
        (generators.gaussian_elimination(5), 14, 19),
        (generators.stencil(3, 4), 12, 20),
    ],
)
def test_counts(dag: object, tasks: int, edges: int) -> None:
    """Tasks and edges are as many as the closed forms say."""
    assert (len(dag), len(dag.source)) == (tasks, edges)  # type: ignore[attr-defined, arg-type]


def test_cholesky_counts() -> None:
    """A factorisation of t × t tiles has t, t(t-1)/2 twice, and t(t-1)(t-2)/6 tasks."""
    t = 6
    dag = generators.cholesky(t)
    assert len(dag) == t + t * (t - 1) + t * (t - 1) * (t - 2) // 6
    assert dag.work.sum() == t + 6 * t * (t - 1) / 2 + t * (t - 1) * (t - 2)


def test_trees_turn_around() -> None:
    """Inwards, every task but one has one successor."""
    dag = generators.tree(4, inwards=True)
    assert np.diff(dag.first_out).max() == 1
    assert np.diff(generators.tree(4).first_in).max() == 1


@pytest.mark.parametrize(
    ("name", "arguments", "options", "message"),
    [
        ("fft", (6,), {}, "points: 6 is not a power of two"),
        ("layered", (0,), {}, "tasks: 0 is not allowed"),
        ("gaussian-elimination", (1,), {}, "order: 1 is not allowed; a whole number from 2"),
        ("stencil", (2, 2.5), {}, "cells: 2.5 is not allowed"),
        ("cholesky", (3,), {"ccr": -1.0}, "ccr: -1.0 is not allowed"),
    ],
)
def test_refusals(
    name: str, arguments: tuple[int, ...], options: dict[str, float], message: str
) -> None:
    """Numbers that make no graph are refused by name."""
    with pytest.raises(ProblemError, match=message):
        GENERATORS[name](*arguments, **options)


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("topology", ["complete", "torus", "hypercube", "tree"])
def test_problems_by_name(name: str, topology: str) -> None:
    """Every graph on every topology is a problem, the same for the same seed."""
    one, two = (
        generate(np.random.default_rng(5), graph=name, topology=topology, machines=8)
        for _ in range(2)
    )
    assert one == two
    assert len(one.network) == 8
    assert 1.0 <= one.network.speed.min() <= one.network.speed.max() <= 2.0


def test_options_that_make_no_problem() -> None:
    """All wrong options are reported together."""
    with pytest.raises(ProblemError) as caught:
        generate(
            np.random.default_rng(0), graph="layerd", size=0, machines=True, ccr=-1.0,
            heterogeneity=0.5,
        )  # fmt: skip
    places = [mistake.place for mistake in caught.value.mistakes]
    assert places == ["graph", "size", "machines", "ccr", "heterogeneity"]


@pytest.mark.parametrize("density", [0.0, 0.004, 0.019, 0.021, 0.3, 1.0])
def test_density_is_the_share_of_pairs(density: float) -> None:
    """Of a layer and the next, that share of pairs are edges and one to each task; none twice."""
    dag = generators.layered(6_000, width=100, density=density, rng=5)
    layer = np.zeros(len(dag), dtype=np.int64)
    for task in dag.order.tolist():
        before = dag.predecessors[dag.first_in[task] : dag.first_in[task + 1]]
        layer[task] = layer[before].max() + 1 if len(before) else 0
    assert (layer[dag.target] == layer[dag.source] + 1).all()
    assert len(np.unique(dag.source * len(dag) + dag.target)) == len(dag.source)
    counts = np.bincount(layer)
    pairs, below = int((counts[1:] * counts[:-1]).sum()), int(counts[1:].sum())
    expected = below + density * (pairs - below)
    assert abs(len(dag.source) - expected) <= 6 * np.sqrt(pairs * density * (1 - density)) + 1


def test_large_layered_graphs_are_sparse() -> None:
    """Left out, the density makes about four edges a task; small graphs keep 0.3."""
    assert 3.0 < len(generators.layered(10_000).source) / 10_000 < 4.5
    assert generators.layered(60, rng=3) == generators.layered(60, density=0.3, rng=3)


def test_tasks_on_several_cores() -> None:
    """A share of them, on powers of two up to a machine's; the graph is what it is without."""
    options = {"graph": "layered", "size": 4000, "cores": 12}
    plain, rigid = (
        generate(np.random.default_rng(3), rigid=share, **options) for share in (0.0, 0.6)
    )
    assert not plain.is_rigid
    assert set(rigid.dag.cores.tolist()) == {1, 2, 4, 8}
    assert (rigid.dag.cores > 1).mean() == pytest.approx(0.6, abs=0.03)
    assert (rigid.dag.cores == 8).mean() == pytest.approx(0.2, abs=0.03)
    assert np.array_equal(plain.dag.work, rigid.dag.work)
    assert plain.network.cores.tolist() == [12] * 4
    with pytest.raises(ProblemError, match=r"rigid: 1.5 is above 1.0; a share is 0 to 1"):
        generate(np.random.default_rng(3), rigid=1.5)
