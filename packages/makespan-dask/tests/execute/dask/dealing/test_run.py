"""Running plans, on the engine inside this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from makespan import (
    DivisibleLoad,
    InputError,
    Master,
    Partition,
    Result,
    Star,
    Worker,
    plot,
    save,
    solve,
)
from makespan.core.schedule import Activity
from makespan.execute.dask import Files, ItemsFailed, run
from tests.execute import functions
from tests.execute.dealing.engine import InProcess

CREW = [Worker(name=str(index), send=1e-4, compute=1e-3 * (index + 1)) for index in range(3)]


def planned(load: float, **options: Any) -> Result:
    """A plan for the three workers of the local cluster."""
    return solve(DivisibleLoad(platform=Star(CREW), load=load, **options))


@pytest.mark.parametrize("options", [{}, {"rounds": 4}, {"activation": ["0", "1", "0", "2", "1"]}])
def test_results_come_in_the_order_of_the_data(client: Any, options: dict[str, Any]) -> None:
    """One round, several, or a given sequence of chunks: every item once, in order."""
    plan = planned(100, **options)
    execution = run(plan, functions.squared, list(range(100)), client)
    assert execution.results == [item * item for item in range(100)]
    assert execution.failures == ()
    assert execution.events == ()


def test_sends_follow_the_plan_one_at_a_time(client: Any) -> None:
    """The measured sends have the order of the plan and do not overlap; so do computations."""
    plan = planned(300, rounds=5)
    measured = run(plan, functions.squared, list(range(300)), client).schedule
    assert plan.schedule is not None
    sends, expected = measured.rows_of(Activity.SEND), plan.schedule.rows_of(Activity.SEND)
    carried = set(measured.item[sends].tolist())  # chunks of less than half an item are not
    in_order = [item for item in plan.schedule.item[expected].tolist() if item in carried]
    assert len(in_order) >= 6
    assert measured.item[sends].tolist() == in_order
    assert (measured.start[sends][1:] >= measured.end[sends][:-1]).all()
    computes = measured.rows_of(Activity.COMPUTE)
    for machine in range(1, 4):
        rows = computes[measured.machine[computes] == machine]
        assert (measured.start[rows][1:] >= measured.end[rows][:-1] - 1e-3).all()
        assert measured.item[rows].tolist() == sorted(measured.item[rows].tolist())


def test_returns_follow_the_plan(client: Any) -> None:
    """With returns on one port no two transfers overlap, and they come as planned."""
    crew = [Worker(name=str(index), send=1e-4, compute=1e-3, return_=1e-4) for index in range(3)]
    problem = DivisibleLoad(platform=Star(crew), load=60, discipline="lifo")
    plan = solve(problem)
    execution = run(plan, functions.squared, list(range(60)), client)
    assert execution.results == [item * item for item in range(60)]
    measured = execution.schedule
    moving = np.flatnonzero(measured.kind != Activity.COMPUTE)
    order = moving[np.argsort(measured.start[moving], kind="stable")]
    assert (measured.start[order][1:] >= measured.end[order][:-1]).all()
    assert plan.schedule is not None
    back = plan.schedule.rows_of(Activity.RETURN)
    assert measured.item[measured.rows_of(Activity.RETURN)].tolist() == (
        plan.schedule.item[back].tolist()
    )


def test_arrays_go_in_and_come_out(client: Any) -> None:
    """Rows are the items; a batched function gets slices and its arrays are joined."""
    data = np.arange(400.0).reshape(100, 4)
    execution = run(planned(100, rounds=3), functions.doubled, data, client, batched=True)
    assert isinstance(execution.results, np.ndarray)
    assert np.array_equal(execution.results, 2 * data)


def test_files_travel_with_their_contents(client: Any, tmp_path: Path) -> None:
    """The load is their bytes, and an item is a file."""
    for index in range(6):
        (tmp_path / f"{index}.txt").write_text(str(index) * (10 + index))
    data = Files(sorted(tmp_path.iterdir()))
    execution = run(planned(sum(data.sizes)), functions.text_of, data, client)
    assert execution.results == [(path.name, path.read_text()) for path in data]


def test_plan_and_measurement_can_be_compared(client: Any) -> None:
    """Every activity of the plan has a deviation, and the text sums them up."""
    plan = planned(90, rounds=2)
    execution = run(plan, functions.squared, list(range(90)), client)
    assert plan.schedule is not None
    assert len(execution.errors) == len(plan.schedule)
    assert {one.kind for one in execution.errors} == {"send", "compute"}
    assert execution.predicted == plan.makespan
    assert execution.error == pytest.approx(execution.measured / plan.makespan - 1.0)
    first = execution.errors[0]
    assert first.relative == pytest.approx(first.measured / first.planned - 1.0)
    assert "predicted" in str(execution)
    assert "compute:" in str(execution)


def test_the_measurement_can_be_drawn_and_saved(client: Any, tmp_path: Path) -> None:
    """It is a schedule like any other."""
    from matplotlib.figure import Figure

    plan = planned(90)
    execution = run(plan, functions.squared, list(range(90)), client)
    axes = plot(execution.schedule, problem=plan.problem, ax=Figure().add_subplot())
    assert axes.get_xlabel() in ("time (s)", "time (ms)")  # as long as it took
    upper, lower = execution.plot(axes=Figure().subplots(2))
    assert "makespan" in upper.get_title(loc="left") + upper.get_title()
    assert "measured" in lower.get_title(loc="left") + lower.get_title()
    save(execution.schedule, tmp_path / "measured.json")
    save(plan, tmp_path / "plan.html", beside=execution.schedule)
    assert (tmp_path / "plan.html").stat().st_size > 1000


def test_progress_is_told(client: Any) -> None:
    """The share done ends at 1."""
    told: list[float] = []
    run(
        planned(90),
        functions.squared,
        list(range(90)),
        client,
        progress=lambda share, what: told.append(share),
    )
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_a_function_may_be_made_here(client: Any) -> None:
    """Lambdas and closures travel, too."""
    offset = 5
    execution = run(planned(30), lambda item: item + offset, list(range(30)), client)
    assert execution.results == list(range(5, 35))


def test_a_worker_with_several_threads_uses_them(client: Any) -> None:
    """A chunk is computed in as many parts as the worker has threads."""
    engine = InProcess(1, threads=3)
    star = Star([Worker(name="0", compute=1.0)])
    plan = solve(DivisibleLoad(platform=star, load=21))
    execution = run(plan, functions.slow_square, list(range(21)), engine)
    assert execution.results == [item * item for item in range(21)]
    assert execution.schedule.words().count("compute") == 1
    computes = execution.schedule.rows_of(Activity.COMPUTE)
    took = execution.schedule.end[computes] - execution.schedule.start[computes]
    assert took == pytest.approx(7 * 0.01)


def test_a_partition_is_run(client: Any) -> None:
    """Each resource gets as many items as its count says; all are sent to at once."""
    costs = {"0": [0.0, 1.0, 2.0, 3.0], "1": [0.0, 1.0, 2.0, 3.0], "2": [0.0, 9.0]}
    plan = solve(Partition(tasks=5, costs=costs))
    execution = run(plan, functions.squared, list(range(5)), client)
    assert execution.results == [0, 1, 4, 9, 16]
    assert plan.schedule is not None
    computes = execution.schedule.rows_of(Activity.COMPUTE)
    amounts = dict(
        zip(
            [execution.schedule.machines[m] for m in execution.schedule.machine[computes]],
            execution.schedule.amount[computes].tolist(),
            strict=True,
        )
    )
    assert amounts == {name: n for name, n in plan.answer["counts"].items() if n}


def test_no_items_are_no_work(client: Any) -> None:
    """A plan for nothing gives no results."""
    execution = run(planned(0), functions.squared, [], client)
    assert execution.results == []
    assert execution.measured == 0.0


def test_a_failing_item_leaves_the_others(client: Any) -> None:
    """The error names the item and keeps the results of the rest and the original error."""
    data = list(range(30))
    with pytest.raises(ItemsFailed, match="failed on 1 of 30 items") as caught:
        run(planned(30, rounds=2), functions.fails_on_seven, data, client)
    assert caught.value.execution.results == [None if item == 7 else item for item in data]
    assert isinstance(caught.value.__cause__, ValueError)
    assert "in fails_on_seven" in str(caught.value)
    kept = run(planned(30), functions.fails_on_seven, data, client, keep_going=True)
    assert [failure.first for failure in kept.failures] == [7]


@pytest.mark.parametrize(
    ("plan", "data", "message"),
    [
        (planned(100), list(range(90)), "is for a load of 100 units, but the data has 90"),
        (
            solve(DivisibleLoad(platform=Star(CREW, master=Master(compute=1e-3)), load=9)),
            list(range(9)),
            "lets the master compute",
        ),
        (solve(DivisibleLoad(platform=Star([]), load=9)), list(range(9)), "without a schedule"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(
    client: Any, plan: Result, data: list[int], message: str
) -> None:
    """Before anything is sent."""
    with pytest.raises(InputError, match=message):
        run(plan, functions.squared, data, client)


def test_other_kinds_are_refused(client: Any) -> None:
    """Only loads on stars and partitions can be run."""
    from makespan import IndependentTasks

    plan = solve(IndependentTasks(machines=2, durations=[1, 2]))
    with pytest.raises(InputError, match="divisible load on a star, nor for a partition"):
        run(plan, functions.squared, [1, 2], client)


@pytest.mark.parametrize("given", [None, 3, "tcp://127.0.0.1:1"])
def test_what_is_no_client_is_refused(given: object) -> None:
    """An address is not enough."""
    with pytest.raises(InputError, match="client:"):
        run(planned(3), functions.squared, [1, 2, 3], given)  # type: ignore[arg-type]
