"""What people read and see."""

from __future__ import annotations

import numpy as np
import pytest

import makespan
from makespan import Affine, Partition, solve
from makespan.core.errors import InputError
from makespan.partition.answer import lines
from makespan.partition.pictures import costs, front, picture
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


def test_cost_curves_show_the_counts_that_a_plan_chose():
    """A line for each resource with its costs; the chosen counts are marked at their costs."""
    problem = Partition(tasks=3, costs=ROWS, energy=ENERGY, objective="pareto")
    result = solve(problem)
    drawn = costs(problem, result.schedule)
    assert [line.y.tolist() for line in drawn.lines] == [list(map(float, row)) for row in ROWS]
    chosen = [int(line.x[line.chosen[0]]) for line in drawn.lines]
    assert chosen == list(result.answer["counts"].values())
    assert drawn.levels == (("makespan", result.makespan),)
    affine = Partition(tasks=10**7, costs=[Affine(1.0, 1.0)] * 2)
    line = costs(affine, solve(affine).schedule).lines[0]
    assert line.x[-1] == 10**7
    assert line.y[line.chosen[0]] == 1.0 + line.x[line.chosen[0]]


def test_the_front_shows_its_points_and_the_plan():
    """Each point stands there with time and energy; without a front there is no picture."""
    problem = Partition(tasks=3, costs=ROWS, energy=ENERGY, objective="pareto")
    result = solve(problem)
    points = result.details["front"]
    drawn = front(problem, result.schedule, details=result.details)
    assert drawn.lines[1].x.tolist() == sorted(point["time"] for point in points)
    assert drawn.lines[1].x[drawn.lines[1].chosen].tolist() == [result.makespan]
    with pytest.raises(InputError, match="needs a result with objective 'pareto'"):
        front(problem)
