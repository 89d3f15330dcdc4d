"""Steps of the constructive methods: each task is placed once, where the plan has it."""

from __future__ import annotations

import pytest

from makespan import Network, TaskGraph, solve
from makespan.taskgraph.generate.graphs import layered
from tests.taskgraph.list_scheduling.test_insertion import BY_INSERTION

PLACING = [*BY_INSERTION, "etf", "dls", "list-scheduling", "mapping-heuristic"]
CLUSTERING = ["edge-zeroing", "linear-clustering", "dominant-sequence-clustering"]


def problem(**more) -> TaskGraph:
    return TaskGraph(layered(30, rng=2), Network([1.0, 1.5, 2.0], rate=2.0), **more)


@pytest.mark.parametrize("contention", ["none", "ports"])
@pytest.mark.parametrize("method", PLACING)
def test_each_task_is_placed_once(method: str, contention: str) -> None:
    """The chosen slot of each step is the task's place in the plan, and the text says so."""
    result = solve(problem(contention=contention), method=method, log=True)
    schedule, names = result.schedule, result.problem.dag.names
    assert len(result.log) == len(result.steps) == len(names)
    seen = []
    for step in result.steps:
        (task,) = step.items["placed"]
        assert task in step.items["ready"]
        assert names[task] in step.text
        seen.append(task)
        slot = step.slots[-1]
        assert slot.state == "chosen"
        assert slot.machine == schedule.machines[schedule.machine[task]]
        assert slot.end - slot.start == pytest.approx(schedule.end[task] - schedule.start[task])
        if contention == "none":
            assert (slot.start, slot.end) == pytest.approx(
                (schedule.start[task], schedule.end[task])
            )
        ends = step.tables[1]
        assert ends.rows[ends.chosen][0] == slot.machine
    assert sorted(seen) == list(range(len(names)))


@pytest.mark.parametrize("method", BY_INSERTION)
def test_a_log_changes_no_plan(method: str) -> None:
    """With and without a log the plan is the same."""
    with_log, without = (solve(problem(), method=method, log=log) for log in (True, False))
    assert list(with_log.schedule.records()) == list(without.schedule.records())
    assert without.log == without.steps == ()


def test_gaps_that_were_filled() -> None:
    """A task inserted before others lies in the gap that its step names."""
    steps = solve(problem(), method="heft", log=True).steps
    filled = [step for step in steps if step.slots[0].state == "gap"]
    assert filled
    for step in filled:
        gap, chosen = step.slots[0], step.slots[-1]
        assert gap.machine == chosen.machine
        assert gap.start <= chosen.start < chosen.end <= gap.end
        assert "in the gap" in step.text


@pytest.mark.parametrize("method", CLUSTERING)
def test_clusters_grow_step_by_step(method: str) -> None:
    """The groups of all steps together are the clusters, and all tasks are placed in the end."""
    result = solve(problem(), method=method, log=True)
    names, group = result.problem.dag.names, {}
    placed = []
    for step in result.steps:
        if step.text.split(" clusters are merged")[0].isdigit():
            break
        group |= step.groups
    found: dict[int, set[str]] = {}
    for task, label in group.items():
        found.setdefault(label, set()).add(names[task])
    assert sorted(map(sorted, found.values())) == sorted(map(sorted, result.details["clusters"]))
    for step in result.steps:
        placed += step.items.get("placed", ())
    assert sorted(placed) == list(range(len(names)))


def test_methods_without_steps_say_so() -> None:
    """The log of a method that keeps none is one line."""
    assert solve(problem(), method="single-machine", log=True).log == (
        "single-machine logs no steps",
    )
