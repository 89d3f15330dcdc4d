"""The adapter of CP-SAT: exact integers, limits, Ctrl-C."""

import math
import os
import random
import signal
import threading
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st
from ortools.sat.python.cp_model import CpModel

from makespan.backends.cp_sat import LARGEST_SUM, Outcome, scaling_of, search
from makespan.core.control import Control

SECONDS = st.floats(0, 1e300, allow_subnormal=True)


@given(st.lists(st.decimals(0, 10**6, places=3), max_size=20))
def test_decimal_numbers_become_exact_integers(decimals):
    """Thousandths are counted without error, in the coarsest unit that fits them all."""
    scaling = scaling_of([float(value) for value in decimals])
    unit = Fraction(scaling.numerator, scaling.denominator)
    units = scaling.up([float(value) for value in decimals]).tolist()
    assert scaling.exact
    assert [Fraction(value) for value in decimals] == [count * unit for count in units]
    assert scaling.down([float(value) for value in decimals]).tolist() == units
    assert math.gcd(*units) in (0, 1)


@given(st.lists(SECONDS, min_size=1, max_size=20))
def test_rounding_is_on_the_right_side(values):
    """Up is never below, down never above, both within a unit, and the sum fits."""
    scaling = scaling_of(values)
    up, down = scaling.up(values).tolist(), scaling.down(values).tolist()
    assert sum(up) <= LARGEST_SUM
    unit = Fraction(scaling.numerator, scaling.denominator)
    for value, above, below in zip(values, up, down, strict=True):
        if scaling.exact:
            assert above == below
            assert scaling.seconds(above) == value
        else:
            assert below * unit <= Fraction(value) <= above * unit
            assert above - below <= 1


@given(st.lists(SECONDS, min_size=1, max_size=20), st.integers(0, LARGEST_SUM))
def test_bounds_are_carried_back_outward(values, units):
    """A bound in seconds is the nearest float below the units, and no higher."""
    scaling = scaling_of(values)
    exact = units * Fraction(scaling.numerator, scaling.denominator)
    bound = scaling.bound(units)
    assert Fraction(bound) <= exact
    assert math.isinf(math.nextafter(bound, math.inf)) or exact < Fraction(
        math.nextafter(bound, math.inf)
    )


def test_bounds_in_seconds_become_whole_units():
    """66 units are the least for 65.5 seconds; digits beyond a float's are not counted."""
    assert scaling_of([1.0, 3.0]).at_least(65.5) == 66
    assert scaling_of([1.0, 3.0]).at_least(66.0 * (1 + 1e-12)) == 66
    assert scaling_of([0.1]).at_least(0.1 + 0.2) == 3
    assert scaling_of([0.1]).at_least(0.0) == 0


def test_the_error_of_rounding_is_said():
    """Exact times need no words; others say how far the bound may be off."""
    assert scaling_of([0.1, 3.0]).note(7) == ()
    (note,) = scaling_of([1 / 3, 1.0]).note(7)
    assert "rounded to multiples" in note
    assert "too low" in note


def test_sums_beyond_the_floats_have_a_unit_too():
    """The unit of numbers near 1e308 is found without adding them up."""
    up = scaling_of([1e308, 1e308, 9.162962010651727]).up([1e308, 1e308, 9.162962010651727])
    assert sum(up.tolist()) <= LARGEST_SUM
    assert up[2] == 1


def test_floats_without_a_common_unit_are_rounded():
    """A third has no end in decimals: the unit is then a power of two, finer than 1e-14."""
    scaling = scaling_of([1 / 3, 0.25])
    assert not scaling.exact
    assert math.frexp(scaling.unit)[0] == 0.5
    assert scaling.unit < 1e-14


def test_a_sum_too_large_for_a_decimal_unit_is_rounded():
    """The sum of the integers is what is limited."""
    assert scaling_of([0.001, 1.0], largest_sum=1001).exact
    assert not scaling_of([0.001, 1.0], largest_sum=1000).exact


def test_more_numbers_than_the_sum_allows_are_refused():
    """Rounded up, each takes at least one unit."""
    with pytest.raises(ValueError, match="too many"):
        scaling_of([1 / 3] * 11, largest_sum=10)


def small_model():
    model = CpModel()
    x, y = model.new_int_var(0, 10, "x"), model.new_int_var(0, 10, "y")
    model.add(2 * x + 3 * y >= 12)
    model.minimize(x + 2 * y)
    return model, x, y


def endless_model():
    """Return a hard packing: equal parts of large numbers over six machines."""
    rng = random.Random(0)
    numbers = [rng.randrange(10**9, 2 * 10**9) for _ in range(48)]
    model = CpModel()
    end = model.new_int_var(0, sum(numbers), "end")
    on = [[model.new_bool_var("") for _ in range(6)] for _ in numbers]
    for row in on:
        model.add_exactly_one(row)
    for machine in range(6):
        parts = zip(numbers, on, strict=True)
        model.add(sum(number * row[machine] for number, row in parts) <= end)
    model.minimize(end)
    return model, -(-sum(numbers) // 6)


def test_a_solved_model_is_read_back():
    """Objective, bound and values are those of the optimum."""
    model, x, y = small_model()
    found = search(model, Control())
    assert found.outcome is Outcome.OPTIMAL
    assert (found.objective, found.bound) == (6, 6)
    assert (found.value(x), found.value(y)) == (6, 0)


def test_an_infeasible_model_has_neither_value_nor_bound():
    """The outcome says so."""
    model, x, _ = small_model()
    model.add(x >= 11)
    found = search(model, Control())
    assert (found.outcome, found.solved) == (Outcome.INFEASIBLE, False)
    assert found.objective is None
    assert found.bound is None
    assert not found.stopped


def test_a_model_without_an_objective_is_satisfied():
    """There is a solution, and nothing to bound."""
    model = CpModel()
    x = model.new_int_var(3, 9, "x")
    model.add(x <= 3)
    found = search(model, Control())
    assert found.solved
    assert (found.value(x), found.objective, found.bound) == (3, None, None)


def test_an_invalid_model_is_our_mistake():
    """It raises, with what the solver says about it."""
    model = CpModel()
    x = model.new_int_var(0, 2**62, "x")
    model.add(2**10 * x <= 5)
    with pytest.raises(RuntimeError, match="CP-SAT refuses the model"):
        search(model, Control())


def test_no_time_gives_no_bound_out_of_nothing():
    """Where the search never began, nothing is claimed."""
    model, _ = endless_model()
    found = search(model, Control(time_limit=0.0))
    assert found.stopped
    assert (found.solved, found.objective, found.bound) == (False, None, None)


def test_a_limit_ends_the_search_with_incumbent_bound_and_progress():
    """The best solution and a valid bound come back, and were reported in this thread."""
    model, least = endless_model()
    seen = []
    control = Control(
        time_limit=1.5, progress=lambda *values: seen.append((values, threading.current_thread()))
    )
    found = search(model, control, in_seconds=lambda units: units / 10)
    assert found.outcome is Outcome.FEASIBLE
    assert found.bound <= found.objective
    assert found.objective >= least
    assert seen
    assert all(thread is threading.current_thread() for _, thread in seen)
    incumbents = [values[0] for values, _ in seen if values[0] is not None]
    assert incumbents == sorted(incumbents, reverse=True)
    assert incumbents[-1] >= found.objective / 10


@pytest.mark.usefixtures("usual_signals")
def test_ctrl_c_ends_the_search_with_the_incumbent():
    """The first Ctrl-C is noted by the control, and the search returns what it has."""
    model, _ = endless_model()
    control = Control(time_limit=60.0)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with control.interruptible():
        found = search(model, control)
    assert control.interrupted
    assert control.remaining > 30.0
    assert found.outcome is Outcome.FEASIBLE


def test_an_error_in_the_progress_callback_stops_the_search():
    """It is raised here, and the solver's thread has ended."""

    def fail(*_):
        raise ZeroDivisionError

    model, _ = endless_model()
    with pytest.raises(ZeroDivisionError):
        search(model, Control(time_limit=60.0, progress=fail), in_seconds=float)
    assert not [thread for thread in threading.enumerate() if thread.name == "cp-sat"]
