"""Every collection of Dask: the same results as from ``dask.compute``, in the same containers."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from dask import delayed

from makespan import InputError
from makespan.execute.dask import compute, measure
from makespan.execute.dask.graphs import work
from makespan.execute.dask.graphs.work import work_of
from tests.execute.dask.graphs import graphs
from tests.execute.dask.graphs.test_work import computed

DRAWN = np.random.default_rng(0).random((400, 6))
TABLE = pd.DataFrame({"k": np.arange(400) % 7, "g": np.arange(400) % 3, "v": DRAWN[:, 0]})
SMALL = pd.DataFrame({"k": np.arange(7), "w": np.arange(7) * 2.0})
DAYS = pd.date_range("2000-01-01", periods=400)


def table() -> Any:
    return dd.from_pandas(TABLE, npartitions=4)


def values() -> Any:
    return da.from_array(DRAWN, chunks=(100, 6))


def weather() -> Any:
    coordinates = {"time": DAYS, "x": range(6)}
    found = xr.Dataset({"t": (("time", "x"), DRAWN)}, coordinates, {"unit": "K"})
    return found.chunk({"time": 200})


def anomaly() -> Any:
    by_month = weather().t[190:220].groupby("time.month")
    return (by_month - by_month.mean("time")).mean("x")


# ruff: noqa: PLW0108 - all are lambdas: most can't do without
PIPELINES: dict[str, Callable[[], Any]] = {
    "dataframe": lambda: table()[table().v > 0.5],
    "series": lambda: table().groupby("k").v.sum(),
    "scalar": lambda: table().v.mean(),
    "index": lambda: table().index,
    "aggregated": lambda: table().groupby("k").agg({"v": ["mean", "std"]}, split_out=2),
    "merged": lambda: table().merge(dd.from_pandas(SMALL, npartitions=2), on="k").w.sum(),
    "described": lambda: table().describe(),
    "optimised": lambda: table().v.sum().optimize(),
    "apart": lambda: table().to_delayed(),
    "array": lambda: values() @ values().T,
    "svd": lambda: da.linalg.svd(values())[1],
    "overlap": lambda: values().map_overlap(lambda block: block * 2, depth=2).mean(),
    "of a dataframe": lambda: table().v.to_dask_array(lengths=True),
    "bag": lambda: db.from_sequence(range(60), npartitions=4).map(lambda i: i % 5).frequencies(),
    "item": lambda: db.from_sequence(range(60), npartitions=4).sum(),
    "delayed": lambda: delayed(sum)([delayed(abs)(-each) for each in range(5)]),
    "chain": lambda: reduce(lambda value, _: delayed(abs)(value), range(5), delayed(abs)(-3)),
    "dataset": lambda: weather().mean("x"),
    "dataarray": lambda: weather().t.rolling(time=3).mean(),
    "anomaly": anomaly,
    "kept": lambda: weather().t.persist(scheduler="sync").max(),
    "several": lambda: [values().sum(), delayed(abs)(-3), values().mean(axis=0)],
    "mixed": lambda: (table().v.sum(), values().sum(), table().g, delayed(abs)(-3), weather().t),
}


def same(ours: Any, theirs: Any) -> None:
    """Assert that two results are equal, and of one type."""
    assert type(ours) is type(theirs)
    if isinstance(ours, (list, tuple)):
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
    elif isinstance(ours, (xr.Dataset, xr.DataArray)):
        xr.testing.assert_allclose(ours, theirs, rtol=1e-12)
        assert ours.attrs == theirs.attrs
    elif isinstance(ours, pd.DataFrame):
        pd.testing.assert_frame_equal(ours.sort_index(), theirs.sort_index())
    elif isinstance(ours, pd.Series):
        pd.testing.assert_series_equal(ours.sort_index(), theirs.sort_index())
    elif isinstance(ours, (float, np.ndarray)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    else:
        assert np.array_equal(ours, theirs)


def by_dask(collection: Any) -> Any:
    """Return what Dask itself computes: each alone, as it swaps those of unlike kinds."""
    if isinstance(collection, (list, tuple)):
        return type(collection)(map(by_dask, collection))
    with dask.config.set({"dataframe.shuffle.method": "tasks"}):  # else as a client is there
        return dask.compute(collection, scheduler="sync")[0]


@pytest.mark.filterwarnings("ignore:Computing mixed collections")
@pytest.mark.parametrize("name", PIPELINES)
def test_results_are_those_of_dask(name: str, client: Any) -> None:
    """Run by Dask; worked out again from the tasks that would be planned; looking alike twice."""
    make = PIPELINES[name]
    expected = by_dask(make())
    same(compute(make(), client, progress=False).results, expected)
    with dask.config.set({"dataframe.shuffle.method": "tasks"}):
        same(computed(work_of(make())), expected)
    assert work_of(make()).likeness() == work_of(make()).likeness()


def test_likeness_does_not_change_when_tasks_are_worked_out() -> None:
    """A call finds what the last one has taught, also of layers that are lazy at first."""
    rolled = weather().t.rolling(time=3).mean()
    before = work_of(rolled).likeness()
    assert len(work_of(rolled).nodes) > 4
    assert work_of(rolled).likeness() == before


@dataclass
class Pair:
    """Two things."""

    first: Any
    second: Any


class Named(NamedTuple):
    """Two things by name."""

    first: Any
    second: Any


def test_containers_are_looked_into(client: Any) -> None:
    """As deep as Dask does; what is no collection stays what it is, equal ones count once."""
    one, two = delayed(abs)(-1, dask_key_name="one"), values().sum()
    total = DRAWN.sum()
    nested = {"a": one, "b": (two, [one, 3]), "c": {1}, "d": OrderedDict(e=one), "f": "word"}
    found = compute(nested, client, progress=False)
    assert found.results == {
        **{"a": 1, "b": (pytest.approx(total), [1, 3])},
        **{"c": {1}, "d": OrderedDict(e=1), "f": "word"},
    }
    assert isinstance(found.results["d"], OrderedDict)
    assert compute(Pair(one, 2), client, progress=False).results == Pair(1, 2)
    assert compute(Named(2, one), client, progress=False).results == Named(2, 1)
    assert compute(iter([one, 2]), client, progress=False).results == [1, 2]
    assert compute({one: "key"}, client, progress=False).results == {1: "key"}


def test_the_graph_is_optimised_unless_that_is_not_wanted(client: Any) -> None:
    """Without, no chain is fused; measured and planned graphs have those tasks, too."""
    chain = ((da.ones(4, chunks=2) + 1) * 2).sum()
    as_it_is = work_of(chain, optimize_graph=False)
    assert len(as_it_is.nodes) > len(work_of(chain).nodes)
    assert as_it_is.likeness() != work_of(chain).likeness()
    assert compute(chain, client, optimize_graph=False, progress=False).results == 16.0
    problem = measure(chain, client, optimize_graph=False, progress=False)
    assert len(problem.dag) == len(as_it_is.nodes)


@pytest.mark.parametrize("name", ["series", "dataset", "several"])
def test_planned_collections_have_the_same_results(name: str, client: Any) -> None:
    """Pinned to workers, with results finalised there."""
    collection = PIPELINES[name]()
    problem = measure(collection, client, progress=False)
    execution = compute(collection, client, plan=problem, time_limit=0.05, progress=False)
    assert execution.plan is not None
    same(execution.results, by_dask(collection))


def test_a_graph_has_keys_and_a_collection_has_none(client: Any) -> None:
    """A Dataset is a mapping, too."""
    with pytest.raises(InputError, match="keys: belong to a graph"):
        compute(weather(), client, keys="t")
    assert compute(graphs.raw_tree(), client, keys="sum", progress=False).results == 10


@pytest.mark.filterwarnings("ignore:Computing mixed collections")
def test_no_thread_works_expressions_out_beside_the_caller(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each would hold a lock of Dask's classes that the other waits for, before Python 3.12."""
    threads, optimised = [], work._optimised

    def noted(*arguments: Any) -> Any:
        threads.append(threading.current_thread())
        return optimised(*arguments)

    monkeypatch.setattr(work, "LOCKS", True)
    monkeypatch.setattr(work, "_optimised", noted)
    frame = dd.from_pandas(pd.DataFrame({"a": range(40), "b": 1.5}), npartitions=4)
    for _ in range(2):
        compute(frame.groupby("a").b.sum(), client, progress=False)
    assert set(threads) == {threading.main_thread()}
