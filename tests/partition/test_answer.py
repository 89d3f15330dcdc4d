"""What people read and see."""

from __future__ import annotations

import numpy as np
import pytest

import makespan
from makespan import Affine, Partition, solve
from makespan.partition.answer import lines
from makespan.partition.pictures import cost_curves, pareto_front, picture
from makespan.partition.timing import retimed

ROWS = [[0.0, 2.0, 3.0, 5.0], [1.0, 4.0, 5.0, 6.0]]
ENERGY = [[0.0, 9.0, 10.0, 11.0], [0.0, 1.0, 3.0, 3.0]]


def test_the_answer_holds_counts_costs_and_energies():
    """By name, for all resources, also idle ones."""
    problem = Partition(tasks=3, costs={"a": ROWS[0], "b": ROWS[1]}, energy=ENERGY)
    result = solve(problem)
    assert result.answer == {
        "counts": {"a": 2, "b": 1},
        "costs": {"a": 3.0, "b": 4.0},
        "energy": {"a": 10.0, "b": 1.0},
    }
    text = "\n".join(lines(problem, result.schedule))
    assert "66.67%" in text
    assert "total time 7, energy 11" in text
    many = Partition(tasks=0, costs=np.zeros((30, 1)))
    assert "… and 10 more resources" in lines(many, solve(many).schedule)
    assert list(solve(many).answer["counts"]) == [f"R{number}" for number in range(1, 31)]


def test_bounds_are_named_and_tight_where_ends_decide():
    """The bound of the extreme counts is the optimum of monotone costs."""
    bound = makespan.lower_bound(Partition(tasks=3, costs=[[0.0, 1.0, 2.0], [0.0, 3.0, 4.0]]))
    assert (bound.value, bound.name) == (3.0, "extreme counts")
    curves = makespan.lower_bound(Partition(tasks=3, costs=[Affine(1.0, 1.0)], lower=2))
    assert (curves.value, curves.name) == (3.0, "least counts")


def test_disturbed_durations_start_at_zero():
    """Factors stretch each share; nothing waits for anything."""
    problem = Partition(tasks=3, costs=ROWS)
    schedule = solve(problem).schedule
    slow = retimed(problem, schedule, np.full(len(schedule), 2.0))
    assert slow.start.tolist() == [0.0, 0.0]
    assert slow.makespan == 2 * schedule.makespan


def test_the_picture_has_a_bar_per_resource():
    """Bars as long as the costs, with the tasks on them."""
    problem = Partition(tasks=3, costs=ROWS, deadline=9.0)
    schedule = solve(problem).schedule
    drawn = picture(problem, schedule)
    assert [row.label for row in drawn.rows] == ["R1", "R2"]
    assert drawn.bars.end.tolist() == schedule.end.tolist()
    assert list(drawn.labels) == ["2", "1"]
    assert [mark.label for mark in drawn.marks] == ["deadline"]


def test_cost_curves_and_the_front_are_drawn():
    """Both take axes and give them back."""
    figure = pytest.importorskip("matplotlib.figure").Figure()
    problem = Partition(tasks=3, costs=ROWS, energy=ENERGY, objective="pareto")
    result = solve(problem)
    axes = figure.add_subplot()
    assert cost_curves(problem, result.schedule, ax=axes) is axes
    assert len(axes.lines) == 2 * len(ROWS) + 1
    affine = Partition(tasks=10**7, costs=[Affine(1.0, 1.0)] * 2)
    axes = cost_curves(affine, solve(affine).schedule, ax=figure.add_subplot())
    assert axes.lines[0].get_xdata()[-1] == 10**7
    front = result.details["front"]
    drawn = pareto_front(front, ax=figure.add_subplot())
    assert drawn.lines[1].get_xdata().tolist() == [point["time"] for point in front]
