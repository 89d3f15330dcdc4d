"""What is to be computed: collections and graphs as tasks."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import dask
import numpy as np
import pytest
from dask import delayed

from makespan import InputError
from makespan.execute.dask import compute
from makespan.execute.dask.graphs.work import work_of
from tests.execute.conftest import in_process
from tests.execute.dask.graphs import graphs


def computed(work: Any) -> Any:
    """Compute the tasks one after another, and pack the results."""
    results: dict[Any, Any] = {}
    waiting = dict(work.nodes)
    while waiting:
        ready = [key for key, node in waiting.items() if set(node.dependencies) <= results.keys()]
        for key in ready:
            node = waiting.pop(key)
            results[key] = node({each: results[each] for each in node.dependencies})
    return work.packed([results[key] for key in work.keys])


def test_a_delayed_gives_its_value() -> None:
    """One collection in, one result out."""
    work = work_of(graphs.tree())
    assert sorted(work.names.values()) == ["leaf-0", "leaf-1", "leaf-2", "leaf-3", "sum"]
    assert computed(work) == 10


def test_lists_and_tuples_stay_what_they_are() -> None:
    """Several collections give their results in the same container."""
    both = [delayed(graphs.increment)(1), delayed(graphs.increment)(2)]
    assert computed(work_of(both)) == [2, 3]
    assert computed(work_of(tuple(both))) == (2, 3)


def test_arrays_and_bags_are_finalised() -> None:
    """A result is what ``compute`` would give."""
    array = pytest.importorskip("dask.array")
    bag = pytest.importorskip("dask.bag")
    ones = array.ones((6, 4), chunks=(3, 2))
    assert np.array_equal(computed(work_of(ones + 1)), np.full((6, 4), 2.0))
    assert computed(work_of(bag.from_sequence(range(6), npartitions=3).map(abs).sum())) == 15


def test_a_graph_gives_the_keys_that_are_asked_for() -> None:
    """In their nesting; what nobody needs is left out."""
    graph = {**graphs.raw_tree(), "unused": (graphs.increment, 1)}
    work = work_of(graph, ["sum", ["leaf-1"]])
    assert "unused" not in work.names.values()
    assert computed(work) == [10, [2]]
    assert computed(work_of(graph, "sum")) == 10


def test_edges_go_from_inputs_to_tasks() -> None:
    """In an order that does not depend on hashes."""
    work = work_of(graphs.raw_tree(3), "sum")
    assert work.edges() == [("leaf-0", "sum"), ("leaf-1", "sum"), ("leaf-2", "sum")]


@pytest.mark.parametrize(
    ("collection", "keys", "message"),
    [
        (3, None, "not a Dask collection"),
        ([], None, "not a Dask collection"),
        ({"a": 1}, None, "keys: are missing"),
        ({"a": 1}, "b", "'b' is not a key"),
        (delayed(1), "a", "keys: belong to a graph"),
    ],
)
def test_what_is_no_graph_is_refused(collection: Any, keys: Any, message: str) -> None:
    """By name."""
    with pytest.raises(InputError, match=message):
        work_of(collection, keys)


def test_fused_chains_are_one_task() -> None:
    """Dask optimises before anything is planned."""
    array = pytest.importorskip("dask.array")
    chain = ((array.ones(4, chunks=2) + 1) * 2).sum()
    with dask.config.set({"optimization.fuse.active": True}):
        assert len(work_of(chain).nodes) < 10


def test_peer_to_peer_shuffles_are_left_to_dask() -> None:
    """Their data do not pass along edges; with a plan they are refused."""
    array = pytest.importorskip("dask.array")
    from distributed import Client

    values = array.ones((40, 40), chunks=(1, 40))
    with (
        in_process(1) as cluster,
        Client(cluster) as client,
        dask.config.set({"array.rechunk.method": "p2p"}),
    ):
        rechunked = values.rechunk((40, 1))
        execution = compute(rechunked, client, progress=False)
        assert np.array_equal(execution.results, np.ones((40, 40)))
        execution = compute(rechunked, client, progress=False)
        assert "peer-to-peer" in execution.events[0]
        with pytest.raises(InputError, match="peer-to-peer"):
            compute(rechunked, client, plan=graphs.planned_tree(["0"]), progress=False)
    with dask.config.set({"array.rechunk.method": "tasks"}):
        assert len(work_of(values.rechunk((40, 1))).nodes) > 40


def test_nothing_of_dask_is_imported_before_it_is_needed() -> None:
    """Without it, ``makespan.execute.dask`` can be imported, and says what is missing."""
    program = (
        "import sys; sys.modules['distributed'] = sys.modules['dask'] = None\n"
        "from makespan import MissingExtra\n"
        "from makespan.execute import dask\n"
        "for attempt in (lambda: dask.compute(3), lambda: dask.measure(3, 3)):\n"
        "    try:\n"
        "        attempt()\n"
        "    except MissingExtra as error:\n"
        "        print('makespan[dask]' in str(error))\n"
    )
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.stdout == "True\nTrue\n", found.stderr
