"""Pipelines that run: results in order, what was promised, and nothing left after a fault."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from makespan import ExecutionError, InputError, Partition, Pipeline, save, solve
from makespan.execute import run_pipeline

STAGES = Pipeline([1.0, 2.0, 1.0, 3.0], ["left", "middle", "right"])
DEALT = Pipeline([1.0, 6.0, 1.0], 5, replicas=3)


def threads_of_runs() -> list[str]:
    """Return the threads that drive machines."""
    return [one.name for one in threading.enumerate() if one.name.startswith("makespan pipeline")]


@pytest.fixture(params=["processes", "threads", "executor of processes"])
def place(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Each place that runs pipelines."""
    with ExitStack() as held:
        if request.param == "processes":
            yield None
        elif request.param == "threads":
            yield held.enter_context(ThreadPoolExecutor(5))
        else:
            yield held.enter_context(ProcessPoolExecutor(3))
    assert not threads_of_runs()


@pytest.mark.parametrize("problem", [STAGES, DEALT])
def test_results_come_in_the_order_of_the_data(place: Any, problem: Pipeline) -> None:
    """A function for each stage; each gets what the one before returned."""
    letters = "abcd"[: len(problem.stages)]
    functions = [lambda value, letter=letter: value + letter for letter in letters]
    done = run_pipeline(problem, functions, (str(item) for item in range(9)), on=place)
    assert done.results == [f"{item}{letters}" for item in range(9)]
    intervals = solve(problem).answer["intervals"]
    assert len(done.schedule) == 9 * len(intervals) == sum(one.items for one in done.workers)


def test_a_function_for_each_interval_and_machines_apart() -> None:
    """Each machine is a process of its own."""
    plan = solve(STAGES)
    done = run_pipeline(plan, [lambda _: [os.getpid()]] + [add_process] * 2, range(4))
    assert len({tuple(result) for result in done.results}) == 1
    assert len({*done.results[0], os.getpid()}) == 4


def add_process(value: list[int]) -> list[int]:
    """Return the list with the process that runs this."""
    return [*value, os.getpid()]


def test_replicas_take_data_sets_in_turn() -> None:
    """As the plan deals them."""
    with ThreadPoolExecutor(5) as threads:
        done = run_pipeline(DEALT, [abs, abs, abs], range(8), on=threads)
    groups = [interval.get("machines", [interval["machine"]]) for interval in
              solve(DEALT).answer["intervals"]]  # fmt: skip
    assert any(len(group) > 1 for group in groups)
    for group in groups:
        machines = {row["item"]: row["machine"] for row in done.schedule if row["machine"] in group}
        assert machines == {item: group[item % len(group)] for item in range(8)}


def test_a_machine_holds_two_data_sets_at_most() -> None:
    """The one that it computes, and the next one: the first machine does not run ahead."""
    begun: list[int] = []
    go_on = threading.Event()

    def first(item: int) -> int:
        begun.append(item)
        if len(begun) == 3:  # one is computed behind, one waits there, one is to be handed over
            go_on.set()
        return item

    def last(item: int) -> int:
        assert go_on.wait(30.0)
        if item == 0:
            assert len(begun) == 3
        return item

    problem = Pipeline([1.0, 1.0], 2)
    with ThreadPoolExecutor(2) as threads:
        done = run_pipeline(problem, [first, last], range(4), on=threads)
    assert done.results == [0, 1, 2, 3]


def test_what_was_measured_stands_beside_what_was_promised(tmp_path: Any) -> None:
    """Period and latency, and the makespan of so many data sets."""
    with ThreadPoolExecutor(3) as threads:
        done = run_pipeline(STAGES, [abs] * 4, range(20), on=threads)
    assert done.promised.period == 3.0
    assert done.promised.latency == 7.0
    assert done.predicted == 7.0 + 19 * 3.0
    rows = list(done.schedule)
    ends = [row["end"] for row in rows if row["machine"] == "right" or row["amount"] == 1]
    assert 0.0 < done.period <= max(ends)
    assert done.latency == pytest.approx(sorted(done.took)[9] / 2 + sorted(done.took)[10] / 2)
    assert "promised 3 s" in str(done)
    assert "promised 7 s" in str(done)
    save(done, tmp_path / "run.html")
    assert "promised 3 s" in (tmp_path / "run.html").read_text("utf-8")


def test_no_data_and_one_data_set() -> None:
    """Neither has a period."""
    with ThreadPoolExecutor(3) as threads:
        none = run_pipeline(STAGES, [abs] * 4, [], on=threads)
        one = run_pipeline(STAGES, [abs] * 4, [-1], on=threads)
    assert (none.results, none.period, none.latency) == ([], 0.0, 0.0)
    assert (one.results, one.period) == ([1], 0.0)


def test_a_function_that_raises_names_stage_and_item(place: Any) -> None:
    """Nothing is left running, and no item behind it is begun after that."""
    functions: list[Callable[[Any], Any]] = [abs, abs, lambda item: 1 // (item - 5), abs]
    with pytest.raises(ExecutionError, match=r"data set 5, on \w+, in stage 'S3': Zero") as caught:
        run_pipeline(STAGES, functions, iter(range(10**9)), on=place)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_data_that_raise_end_the_run() -> None:
    """The error is theirs."""

    def data() -> Iterator[int]:
        yield 1
        raise OSError("no more frames")

    with ThreadPoolExecutor(3) as threads, pytest.raises(OSError, match="no more frames"):
        run_pipeline(STAGES, [abs] * 4, data(), on=threads)
    assert not threads_of_runs()


def test_a_process_that_dies_is_named() -> None:
    """An executor that breaks ends the run."""
    broken = pytest.raises(ExecutionError, match=r"data set 0, on \w+, in 'S\d'.*BrokenProcess")
    with ProcessPoolExecutor(3) as pool, broken:
        run_pipeline(STAGES, [abs, abs, lambda _: os._exit(1), abs], range(4), on=pool)
    assert not threads_of_runs()


@pytest.mark.parametrize(
    ("plan", "functions", "on", "text"),
    [
        (STAGES, [abs], None, "functions: there are 1, for 4 stages and 3 intervals"),
        (STAGES, [abs, 1, abs], None, r"functions\[1\]: 1 can't be called"),
        (STAGES, [abs] * 3, "ray", "on: 'ray' can't run a pipeline"),
        (STAGES, [abs] * 3, 3, "on: 3 can't run a pipeline"),
        (STAGES, [abs, abs, threading.Lock().acquire], None, "can't be pickled"),
        (solve(Partition(tasks=1, costs=[[0.0, 1.0]])), [abs], None, "plan: a run needs the plan"),
    ],
)
def test_what_can_not_run_is_refused(plan: Any, functions: Any, on: Any, text: str) -> None:
    """Before anything runs."""
    with pytest.raises(InputError, match=text):
        run_pipeline(plan, functions, [1], on=on)
