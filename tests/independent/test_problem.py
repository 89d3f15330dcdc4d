"""The statement of independent tasks."""

import numpy as np
import pytest

from makespan import IndependentTasks, ProblemError


def mistakes(*args, **kwargs):
    with pytest.raises(ProblemError) as caught:
        IndependentTasks(*args, **kwargs)
    return {mistake.place: mistake.message for mistake in caught.value.mistakes}


def test_machines_are_names_and_a_count():
    """The constructor takes a count; schedules index names."""
    problem = IndependentTasks(machines=3, durations=[1, 2])
    assert list(problem.machines) == ["M1", "M2", "M3"]
    assert (problem.machine_count, problem.useful_machines) == (3, 2)


def test_durations_are_a_read_only_copy():
    """Changing the array that was given changes nothing, and the problem's can't be changed."""
    given = np.array([1.0, 2.0])
    problem = IndependentTasks(2, given)
    given[0] = 9.0
    assert problem.durations.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        problem.durations[0] = 3.0


@pytest.mark.parametrize("given", [(1, 2), np.array([1, 2]), np.float32([1, 2]), range(1, 3)])
def test_any_sequence_of_numbers_is_taken(given):
    """Tuples, ranges and arrays of any number type give the same problem."""
    assert IndependentTasks(2, given) == IndependentTasks(2, [1.0, 2.0])


def test_equality_sees_every_part():
    """Two problems are equal only if machines, durations, preemption and options are."""
    base = IndependentTasks(2, [1, 2])
    others = [
        IndependentTasks(3, [1, 2]),
        IndependentTasks(2, [2, 1]),
        IndependentTasks(2, [1, 2], preemptive=True),
        IndependentTasks(2, [1, 2], options={"method": "lpt"}),
    ]
    assert base == IndependentTasks(2, [1, 2])
    assert all(base != other for other in others)


def test_all_mistakes_are_reported_together():
    """One error names every wrong place."""
    found = mistakes(0, [1.0, -2.0, "x", float("nan"), True, 10**400], preemptive=1, options=3)
    assert set(found) == {
        "machines",
        *(f"durations[{index}]" for index in range(1, 6)),
        "preemptive",
        "options",
    }
    assert found["durations[1]"] == "-2.0 is negative; a duration is 0 or more seconds"


@pytest.mark.parametrize("count", [2.5, True, "3", None, -1, 10**12])
def test_a_count_of_machines_is_whole_and_positive(count):
    """Anything else is refused at its place."""
    assert "machines" in mistakes(count, [1.0])


@pytest.mark.parametrize("given", [3.0, "12", None, np.zeros((2, 2, 2))])
def test_durations_are_a_list(given):
    """A number, a text and a cube are refused."""
    assert "durations" in mistakes(2, given)


def test_many_mistakes_are_counted():
    """Of very many wrong entries the first are listed, the others counted."""
    found = mistakes(2, np.full(1000, -1.0))
    assert "and 980 more such entries" in found.values()
    found = mistakes(2, ["x"] * 1000)
    assert "and 980 more such entries" in found.values()


def test_magnitudes_are_bounded():
    """What could overflow or underflow when it is added up is refused at its place."""
    found = mistakes(2, [1e308, 1e-308, 1e100])
    assert found.keys() == {"durations[0]", "durations[1]"}
    assert "1e+100, the greatest magnitude allowed" in found["durations[0]"]
    assert "1e-100, the least magnitude allowed" in found["durations[1]"]


def test_the_representation_is_short():
    """A million durations do not fill the screen."""
    assert repr(IndependentTasks(2, [1.0])) == "<IndependentTasks: 1 task, 2 machines>"
    assert len(repr(IndependentTasks(2, np.ones(10**5)))) < 300
