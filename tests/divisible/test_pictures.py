"""What pictures of divisible loads show."""

import numpy as np
import pytest

from makespan.core.picture import Role
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.machines import Master, Worker
from makespan.divisible.model.plan import Plan, sends_then_returns
from makespan.divisible.model.platform import Star
from makespan.divisible.model.tree import Tree
from makespan.divisible.pictures import picture
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed


def bars_in(drawn, machine):
    """Return (lane, role, start, end) of a machine's bars by name."""
    row = [row.label for row in drawn.rows].index(machine)
    bars = drawn.bars.take(drawn.bars.row == row)
    return sorted(
        (drawn.rows[row].lanes[lane], Role(role).name, start, end)
        for lane, role, start, end in zip(
            bars.lane.tolist(),
            bars.role.tolist(),
            bars.start.tolist(),
            bars.end.tolist(),
            strict=True,
        )
    )


def two_workers(**more):
    return DivisibleLoad(
        load=4.0,
        platform=Star([Worker(send=2.0, compute=3.0), Worker(send=1.0, compute=2.0)]),
        **more,
    )


def test_chunk_is_sent_received_and_computed():
    """A chunk is a bar on the master's sends, on its worker's receives, and a computation."""
    problem = two_workers()
    drawn = picture(problem, timed(problem, Plan.of([1, 0], [3.0, 1.0])))
    assert bars_in(drawn, "P0") == [("send", "SEND", 0.0, 3.0), ("send", "SEND", 3.0, 5.0)]
    assert bars_in(drawn, "P2") == [
        ("compute", "COMPUTE", 3.0, 9.0),
        ("receive", "RECEIVE", 0.0, 3.0),
    ]
    assert bars_in(drawn, "P1") == [
        ("compute", "COMPUTE", 5.0, 8.0),
        ("receive", "RECEIVE", 3.0, 5.0),
    ]


def test_rows_are_master_then_workers_by_service_then_idle():
    """Who is served first stands first; who gets nothing stays visible at the end."""
    star = Star([Worker(name=name, send=1.0, compute=1.0) for name in "abcd"])
    problem = DivisibleLoad(load=2.0, platform=star)
    drawn = picture(problem, timed(problem, Plan.of([3, 1], [1.0, 1.0])))
    assert [row.label for row in drawn.rows] == ["P0", "d", "b", "a", "c"]
    assert [row.note for row in drawn.rows] == ["", "1 (50 %)", "1 (50 %)", "idle", "idle"]


def test_returns_are_seen_on_both_sides():
    """A result that returns is in the worker's lane of sends and the master's of receives."""
    star = Star([Worker(send=1.0, compute=1.0, return_=1.0)])
    problem = DivisibleLoad(load=2.0, platform=star)
    plan = Plan.of([0], [2.0], transfers=sends_then_returns(1, [0]))
    drawn = picture(problem, timed(problem, plan))
    assert ("receive", "RETURN", 4.0, 6.0) in bars_in(drawn, "P0")
    assert ("send", "RETURN", 4.0, 6.0) in bars_in(drawn, "P1")
    assert drawn.rows[1].lanes == ("receive", "compute", "send")


def test_machines_have_only_the_lanes_they_use():
    """A master that computes has a lane for it, one that does not has none."""
    plain = picture(two_workers(), timed(two_workers(), Plan.of([0], [4.0])))
    assert plain.rows[0].lanes == ("send",)
    star = Star([Worker(send=1.0, compute=1.0)], master=Master(compute=1.0))
    problem = DivisibleLoad(load=2.0, platform=star)
    working = picture(problem, timed(problem, Plan.of([0], [1.0], master=1.0)))
    assert working.rows[0].lanes == ("send", "compute")
    assert working.rows[0].note == "1 (50 %)"


def test_labels_name_workers_and_amounts():
    """Transfers carry the worker's name, computations the amount."""
    problem = two_workers()
    schedule = timed(problem, Plan.of([1, 0], [3.0, 1.0]))
    drawn = picture(problem, schedule)
    labels = {
        (Activity(kind).word, label)
        for kind, label in zip(schedule.kind.tolist(), drawn.labels, strict=True)
    }
    assert labels == {("send", "P2"), ("send", "P1"), ("compute", "3"), ("compute", "1")}


def test_deadline_is_marked():
    """A problem with a deadline shows it as a limit."""
    problem = two_workers(deadline=20.0)
    (mark,) = picture(problem, timed(problem, Plan.of([0], [4.0]))).marks
    assert (mark.label, mark.time, mark.limit) == ("deadline", 20.0, True)


def test_chosen_master_stands_first():
    """Where the schedule chose the master, that machine heads the picture."""
    star = Star.bus(
        send=1.0, workers=[Worker(name="A", compute=3.0), Worker(name="B", compute=1.0)],
        master="choose",
    )  # fmt: skip
    problem = DivisibleLoad(load=2.0, platform=star)
    chosen = problem.with_master(1)
    schedule = timed(chosen, Plan.of([0], [1.0], master=1.0))
    drawn = picture(problem, schedule)
    assert [row.label for row in drawn.rows] == ["B", "A"]


def test_inner_nodes_of_trees_forward():
    """A tree's root heads the picture, and inner nodes have a lane for what they pass on."""
    nodes = [
        Tree.Node(name="leaf", parent="inner", send=1.0, compute=1.0),
        Tree.Node(name="root", compute=1.0),
        Tree.Node(name="inner", parent="root", send=1.0, compute=1.0),
    ]
    problem = DivisibleLoad(load=3.0, platform=Tree(nodes))
    schedule = Schedule.of_rows(
        ["leaf", "root", "inner"],
        [
            ("send", 1, 2, 0, 2.0, 0.0, 2.0),
            ("send", 2, 0, 1, 1.0, 2.0, 3.0),
            ("compute", 1, -1, 2, 1.0, 0.0, 1.0),
            ("compute", 2, -1, 0, 1.0, 2.0, 3.0),
            ("compute", 0, -1, 1, 1.0, 3.0, 4.0),
        ],
    )
    drawn = picture(problem, schedule)
    assert [row.label for row in drawn.rows] == ["root", "inner", "leaf"]
    assert drawn.rows[0].lanes == ("send", "compute")
    assert drawn.rows[1].lanes == ("receive", "compute", "forward")
    assert ("forward", "SEND", 2.0, 3.0) in bars_in(drawn, "inner")


def test_empty_schedule_shows_idle_machines():
    """A load of 0 has a picture of idle machines."""
    problem = DivisibleLoad(load=0.0, platform=Star([Worker(send=1.0, compute=1.0)]))
    drawn = picture(problem, Schedule.of_rows(["P0", "P1"], []))
    assert len(drawn.bars) == 0
    assert [row.note for row in drawn.rows] == ["idle", "idle"]


@pytest.mark.parametrize("count", [1, 300])
def test_every_send_has_two_bars_and_every_computation_one(count):
    """No activity is lost on the way to the picture."""
    generator = np.random.default_rng(count)
    star = Star.from_arrays(
        send_per_unit=generator.uniform(0.1, 1.0, count),
        compute_per_unit=generator.uniform(1.0, 5.0, count),
    )
    problem = DivisibleLoad(load=1.0, rounds=3, platform=star)
    worker = np.tile(np.arange(count), 3)
    schedule = timed(problem, Plan.of(worker, np.full(3 * count, 1.0 / (3 * count))))
    bars = picture(problem, schedule).bars
    seen = np.bincount(bars.activity, minlength=len(schedule))
    assert (seen[schedule.kind == Activity.SEND] == 2).all()
    assert (seen[schedule.kind == Activity.COMPUTE] == 1).all()
