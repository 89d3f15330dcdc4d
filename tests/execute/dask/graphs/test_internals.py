"""What plans need of distributed: in which versions it was tried, and what happens without it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import distributed
import pytest

from makespan.execute import dask
from makespan.execute.dask.graphs import internals, runner
from tests.execute.dask.graphs import graphs


def test_this_version_was_tried() -> None:
    """A new version of distributed has to be tried before it is named."""
    assert distributed.__version__ in internals.TRIED
    assert internals.missing() == []


@pytest.mark.parametrize("name", internals.NEEDED)
def test_what_is_missing_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them."""
    monkeypatch.setattr(internals, "NEEDED", (name + "_gone", name))
    assert internals.missing() == [name + "_gone"]


def test_without_internals_dask_places_the_graph(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one note that says why."""
    monkeypatch.delattr("distributed.scheduler.Scheduler.set_restrictions")
    execution = dask.compute(graphs.tree(), client, progress=False)
    assert execution.results == 10
    assert execution.events == (
        "left to Dask: this version of distributed has no "
        "distributed.scheduler:Scheduler.set_restrictions",
    )


def test_where_a_worker_cannot_conduct_dask_places_the_graph(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has another version, or another makespan: nothing was computed yet."""
    compute = import_module("makespan.execute.dask.graphs.compute")

    async def refused(*_: Any, **__: Any) -> None:
        raise RuntimeError("no such plugin")

    plan = graphs.planned_tree(["0", "1", "2"])
    monkeypatch.setattr(runner, "begin", refused)
    monkeypatch.setattr(compute, "choose", lambda _, known, *__: setattr(known, "plan", plan))
    dask.forget(client)
    dask.compute(graphs.tree(), client, progress=False)
    execution = dask.compute(graphs.tree(), client, progress=False)
    assert execution.results == 10
    [event] = execution.events
    assert event.startswith("left to Dask: worker ")
    assert event.endswith("can't conduct: no such plugin")
