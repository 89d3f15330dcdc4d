"""What plans need of distributed: in which versions it was tried, and what happens without it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import distributed
import pytest

from makespan.execute import dask
from makespan.execute.dask.graphs import batch, choice, runner
from tests.execute.dask.graphs import graphs


def test_this_version_was_tried() -> None:
    """A new version of distributed has to be tried before it is named."""
    assert distributed.__version__ in batch.TRIED
    assert batch.missing() == []


@pytest.mark.parametrize("name", batch.NEEDED)
def test_what_is_missing_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them."""
    monkeypatch.setattr(batch, "NEEDED", (name + "_gone", name))
    assert batch.missing() == [name + "_gone"]


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


def test_a_plan_is_compared_with_a_run_by_dask(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is watched, as it is one more of Dask's own."""
    compute = import_module("makespan.execute.dask.graphs.compute")
    plan = graphs.planned_tree(["0", "1", "2"])
    own: list[int] = []

    def chosen(_: Any, known: Any, *__: Any) -> None:
        known.plan, known.compared, known.why = plan, known.seen == 2, "planned"
        own.append(len(known.own.whole))

    monkeypatch.setattr(compute, "choose", chosen)
    dask.forget(client)
    found = [dask.compute(graphs.tree(), client, progress=False) for _ in range(4)]
    assert [each.plan is plan for each in found] == [False, True, False, True]
    assert found[2].events == (choice.COMPARED,)
    assert [each.results for each in found] == [10] * 4
    dask.forget(client)
    assert own[:3] == [1, 1, 1], "the first run does not count beside another"
