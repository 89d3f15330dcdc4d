"""What people read of a plan."""

import numpy as np

from makespan import IndependentTasks, solve
from makespan.independent.answer import answer, lines
from makespan.independent.pictures import picture, tasks

SLIDE = [4, 4, 4, 4, 3, 2]


def test_machines_and_times_of_the_tasks():
    """By the names of tasks; one of no duration is on the first machine from 0 to 0."""
    problem = IndependentTasks(2, [1.0, 0.0, 3.0, 2.0])
    assert answer(problem, solve(problem, method="lpt").schedule) == {
        "machine_of": {"T1": "M2", "T2": "M1", "T3": "M1", "T4": "M2"},
        "start": {"T1": 2.0, "T2": 0.0, "T3": 0.0, "T4": 0.0},
        "end": {"T1": 3.0, "T2": 0.0, "T3": 3.0, "T4": 2.0},
    }


def test_pieces_of_the_tasks():
    """With preemption, the pieces by task and start; a task of no duration has none."""
    problem = IndependentTasks(2, [0.0, 3.0, 3.0, 2.0], preemptive=True)
    assert answer(problem, solve(problem).schedule) == {
        "pieces": [
            {"task": "T2", "machine": "M1", "start": 0.0, "end": 3.0},
            {"task": "T3", "machine": "M2", "start": 0.0, "end": 2.0},
            {"task": "T3", "machine": "M1", "start": 3.0, "end": 4.0},
            {"task": "T4", "machine": "M2", "start": 2.0, "end": 4.0},
        ]
    }


def test_the_table_lists_machines_in_use():
    """One line a machine, its tasks in order, and how many are idle."""
    problem = IndependentTasks(4, [2.0, 1.0, 1.0, 3.0])
    table = lines(problem, solve(IndependentTasks(2, [2.0, 1.0, 1.0, 3.0])).schedule)
    assert [line.split() for line in table] == [
        ["machine", "tasks", "done", "order"],
        ["M1", "2", "4", "T4", "T3"],
        ["M2", "2", "3", "T1", "T2"],
        ["2", "of", "4", "machines", "idle"],
    ]


def test_the_table_of_a_large_plan_is_short():
    """Many machines and tasks are counted, not listed."""
    problem = IndependentTasks(500, np.ones(10_000))
    table = lines(problem, solve(problem).schedule)
    assert len(table) == 22
    assert table[-1] == "… and 480 more machines"
    assert all(line.endswith("…") for line in table[1:-1])


def test_the_picture_has_a_bar_for_every_piece():
    """Rows are the machines, labels the tasks."""
    problem = IndependentTasks(4, SLIDE, preemptive=True)
    plan = solve(problem).schedule
    drawn = picture(problem, plan)
    assert [row.label for row in drawn.rows] == ["M1", "M2", "M3", "M4"]
    assert drawn.bars.row.tolist() == plan.machine.tolist()
    assert list(drawn.labels) == [f"T{task + 1}" for task in plan.item.tolist()]


def test_the_picture_of_very_many_machines_shows_those_in_use():
    """A billion machines, three of them with a task; beside an idle one stands that it is."""
    problem = IndependentTasks(10**9, [1.0, 2.0, 4.0])
    drawn = picture(problem, solve(problem).schedule)
    assert [(row.label, row.note) for row in drawn.rows] == [
        ("M1", "busy 100 %"),
        ("M2", "busy 50 %"),
        ("M3", "busy 25 %"),
    ]
    few = IndependentTasks(2, [1.0])
    assert picture(few, solve(few).schedule).rows[1].note == "idle"


def test_durations_are_drawn_the_longest_first():
    """A bar for each of few tasks; of many, a line of bounded length to the shortest."""
    few = tasks(IndependentTasks(machines=2, durations=[1.0, 3.0, 2.0]))
    (line,) = few.lines
    assert (line.look, line.y.tolist(), list(line.labels)) == (
        "bars",
        [3, 2, 1],
        ["T2", "T3", "T1"],
    )
    assert few.levels == (("mean load of a machine", 3.0),)
    (line,) = tasks(IndependentTasks(machines=2, durations=np.arange(100_000.0))).lines
    assert (line.look, line.x[0], line.x[-1]) == ("steps", 1, 100_000)
    assert len(line.x) <= 2000
